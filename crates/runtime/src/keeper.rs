//! Says that this process is alive, and passes on what other processes sent to its threads.

use std::sync::Arc;
use std::time::Duration;

use agent::ThreadId;
use store::{LEASE_MS, Wake};
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use crate::driver::{Letter, Opening};
use crate::error::Error;
use crate::heart::Inner;
use crate::seat::Seat;

/// How often the process says that it is alive.
const BEAT: Duration = Duration::from_secs(5);
/// How often, at the most, it looks for wakes.
const LOOK: Duration = Duration::from_millis(30);
/// Between two attempts to have something read.
const TRY_AGAIN: Duration = Duration::from_millis(200);
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

async fn pass_on(heart: &Arc<Inner>) {
    let wakes = match heart.store.claim(&heart.process, heart.clock.now(), WAKES).await {
        Ok(wakes) => wakes,
        Err(error) => {
            tracing::debug!(%error, "wakes could not be looked for");
            return;
        }
    };
    for wake in wakes {
        heart.tasks.spawn(wake_up(heart.clone(), wake));
    }
}

/// Has a thread of this process read what was sent to it, and only then forgets that it has to. What is not read while the wake is
/// ours comes back to whoever looks for wakes then.
async fn wake_up(heart: Arc<Inner>, wake: Wake) {
    let until_read = async {
        while !is_read(&heart, &wake.thread).await && !go_on(&heart, &wake.thread).await {
            tokio::time::sleep(TRY_AGAIN).await;
        }
    };
    tokio::select! {
        () = heart.leaving.cancelled() => return,
        () = tokio::time::sleep(Duration::from_millis(LEASE_MS)) => return,
        () = until_read => {}
    }
    if let Err(error) = heart.store.done(wake).await {
        tracing::debug!(%error, "a wake could not be forgotten");
    }
}

/// Whether somebody drives the thread here and has read what was sent.
async fn is_read(heart: &Inner, thread: &ThreadId) -> bool {
    let (read, was_read) = oneshot::channel();
    let is_sent = heart.sender(thread).is_some_and(|sender| sender.send(Letter::Look(Some(read))).is_ok());
    is_sent && was_read.await.is_ok()
}

/// Takes up what was sent to a thread of this process that nobody drives any more: whether that is done, or there is nothing to do.
async fn go_on(heart: &Arc<Inner>, thread: &ThreadId) -> bool {
    // Whoever sits there has read it, or is about to leave.
    let Some(seat) = Seat::take(heart, thread) else { return false };
    // Looked at behind the seat: whoever sits when the process begins to leave is told, and nobody may sit down after that.
    if heart.leaving.is_cancelled() {
        return false;
    }
    match heart.load(seat).await {
        Ok(driver) => {
            heart.run(driver, Opening::Left { sent: None });
            true
        }
        Err(Error::Idle(_) | Error::Store(store::Error::Owned { .. })) => true,
        Err(error) => {
            let is_passing = matches!(&error, Error::Store(error) if error.is_passing());
            tracing::warn!(%thread, %error, "what was sent to the thread lies in its log");
            !is_passing
        }
    }
}
