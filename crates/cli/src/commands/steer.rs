//! `majordomo steer`.

use agent::Outside;
use majordomo::config::Flags;
use majordomo::staff::Options;
use majordomo::threads;

use super::{configured, staff, thread};
use crate::error::Failure;
use crate::out;

/// `majordomo steer`.
pub async fn steer(name: &str, text: &str, flags: &Flags) -> Result<u8, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage("there is nothing to tell it"));
    }
    let (surroundings, config) = configured(flags)?;
    let house = staff(&surroundings, config, Options::default()).await?;
    let runtime = house.runtime();
    let (id, row) = thread::find(&**runtime.store(), name).await?;
    let now = runtime.clock().now();
    let sent = if row.state.is_live() {
        let input = Outside::person_steers(text);
        runtime.send(&id, input).await.map_err(Failure::from)
    } else {
        Err(Failure::failed(format!("nothing runs in thread {id}, so nobody would read it")))
    };
    runtime.leave().await;
    sent?;
    if threads::word(&row, now) == "interrupted" {
        out::note(&format!(
            "kept for {id}, whose process is gone; it reads it after: majordomo thread resume {}",
            id.root()
        ));
    } else {
        out::note(&format!("{id} reads it at its next step"));
    }
    Ok(0)
}
