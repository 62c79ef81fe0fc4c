//! `majordomo steer`.

use majordomo::config::Flags;
use majordomo::staff::Options;
use majordomo::threads;

use super::{configured, staff, thread};
use crate::error::Failure;
use crate::out;

/// `majordomo steer`.
pub async fn steer(name: &str, text: &str, flags: &Flags) -> Result<u8, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage("the message is empty"));
    }
    let (surroundings, config) = configured(flags)?;
    let staff = staff(&surroundings, config, Options::default()).await?;
    let runtime = staff.runtime();
    let (id, row) = thread::find(&**runtime.store(), name).await?;
    let living = runtime.store().living(runtime.clock().now()).await?;
    let sent = if row.state.is_live() {
        staff.session_of(&id).steer(&id, text).await.map_err(Failure::from)
    } else {
        Err(Failure::failed(format!("thread {id} is not running, so the message would not be read")))
    };
    runtime.leave().await;
    sent?;
    if threads::is_left(&row, &living) {
        out::note(&format!(
            "recorded for {id}, whose process has ended; it is read after: majordomo thread resume {}",
            id.root()
        ));
    } else {
        out::note(&format!("{id} reads the message before its next step"));
    }
    Ok(0)
}
