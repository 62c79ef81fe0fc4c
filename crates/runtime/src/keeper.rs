//! Says that this process is alive, and passes on what other processes sent to its threads.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::driver::Letter;
use crate::heart::Inner;

/// How often the process says that it is alive.
const BEAT: Duration = Duration::from_secs(5);
/// How often, at the most, it looks for wakes.
const LOOK: Duration = Duration::from_millis(30);
/// Wakes that are taken at once.
const WAKES: usize = 256;

/// Keeps the process known until it leaves.
pub async fn keep(heart: Arc<Inner>) {
    let mut tail = heart.store.tail();
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat.reset();
    loop {
        tokio::select! {
            () = heart.leaving.cancelled() => return,
            _ = beat.tick() => {
                if let Err(error) = heart.store.heartbeat(&heart.process, heart.clock.now()).await {
                    tracing::warn!(%error, "the heartbeat could not be written");
                }
                // A look that failed is made up for, even if nothing is written meanwhile.
                pass_on(&heart).await;
            }
            changed = tail.changed() => {
                if changed.is_err() {
                    return;
                }
                pass_on(&heart).await;
                tokio::select! {
                    () = heart.leaving.cancelled() => return,
                    () = tokio::time::sleep(LOOK) => {}
                }
            }
        }
    }
}

async fn pass_on(heart: &Inner) {
    let wakes = match heart.store.claim(&heart.process, heart.clock.now(), WAKES).await {
        Ok(wakes) => wakes,
        Err(error) => {
            tracing::debug!(%error, "wakes could not be looked for");
            return;
        }
    };
    for wake in wakes {
        if let Some(sender) = heart.sender(&wake.thread) {
            // A driver that has just let go leaves the input in the log.
            let _ = sender.send(Letter::Look);
        }
        if let Err(error) = heart.store.done(wake).await {
            tracing::debug!(%error, "a wake could not be forgotten");
        }
    }
}
