//! `majordomo stop`.

use agent::Strength;
use majordomo::config::Flags;
use majordomo::staff::Options;

use super::{configured, staff, thread};
use crate::error::Failure;
use crate::out;

/// `majordomo stop`.
pub async fn stop(name: &str, now: bool, reason: &str, flags: &Flags) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let staff = staff(&surroundings, config, Options::default()).await?;
    let runtime = staff.runtime();
    let (id, row) = thread::find(&**runtime.store(), name).await?;
    if !row.state.is_live() {
        runtime.leave().await;
        return Err(Failure::failed(format!("thread {id} is not running")));
    }
    let strength = if now { Strength::Kill } else { Strength::Cancel };
    let stopped = staff.session_of(&id).stop(&id, strength, reason).await;
    let row = runtime.store().thread(&id).await?;
    runtime.leave().await;
    stopped?;
    let outcome = row.and_then(|row| row.outcome).map_or_else(|| "over".to_owned(), |outcome| outcome.to_string());
    out::note(&format!("{id} is {outcome}"));
    Ok(0)
}
