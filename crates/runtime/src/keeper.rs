//! Says that this process is alive, and passes on what other processes sent to its threads. Where it was not heard of for so long that others
//! may have taken its threads over, it has its drivers look.

use std::sync::Arc;
use std::time::Duration;

use agent::ThreadId;
use store::{LEASE_MS, Wake};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::deliver::is_read;
use crate::driver::{DriverMessage, Opening};
use crate::error::Error;
use crate::live_slot::LiveSlot;
use crate::runtime::Inner;

/// How often the process says that it is alive.
const BEAT: Duration = Duration::from_secs(5);
/// How often, at the most, it looks for wakes.
const LOOK: Duration = Duration::from_millis(30);
/// Between two attempts to have something read.
const TRY_AGAIN: Duration = Duration::from_millis(200);
/// Wakes that are taken at once.
const WAKES: usize = 256;
/// What others had begun to take over when this process was heard of again is theirs after so long.
const TAKEN: Duration = Duration::from_secs(2);

/// Keeps the process known until it leaves.
pub async fn keep(runtime: Arc<Inner>) {
    let mut tail = runtime.store.tail();
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat.reset();
    let mut lapses = runtime.store.lapses();
    loop {
        tokio::select! {
            () = runtime.leaving.cancelled() => return,
            () = lapse(&mut lapses) => {
                runtime.tasks.spawn(check_owners(runtime.clone()));
            }
            _ = beat.tick() => {
                // A store of several machines does it by itself.
                if !runtime.is_shared()
                    && let Err(error) = runtime.store.heartbeat(&runtime.process, runtime.clock.now()).await
                {
                    tracing::warn!(%error, "the heartbeat could not be written");
                }
                // A look that failed is made up for, even if nothing is written meanwhile.
                pass_on(&runtime).await;
            }
            changed = tail.changed() => {
                if changed.is_err() {
                    return;
                }
                pass_on(&runtime).await;
                tokio::select! {
                    () = runtime.leaving.cancelled() => return,
                    () = tokio::time::sleep(LOOK) => {}
                }
            }
        }
    }
}

/// Waits until the process is heard of again that was not for a while.
async fn lapse(lapses: &mut Option<watch::Receiver<u64>>) {
    match lapses {
        Some(changed) => match changed.changed().await {
            Ok(()) => {}
            Err(_) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

/// Has every driver look whether its thread is still this process's, at once and once more a little later.
async fn check_owners(runtime: Arc<Inner>) {
    tracing::warn!("this process was not heard of for a while; what others have taken over meanwhile ends here");
    runtime.tell_all(|| DriverMessage::CheckOwner);
    tokio::select! {
        () = runtime.leaving.cancelled() => {}
        () = tokio::time::sleep(TAKEN) => runtime.tell_all(|| DriverMessage::CheckOwner),
    }
}

async fn pass_on(runtime: &Arc<Inner>) {
    let wakes = match runtime.store.claim(&runtime.process, runtime.clock.now(), WAKES).await {
        Ok(wakes) => wakes,
        Err(error) => {
            tracing::debug!(%error, "wakes could not be looked for");
            return;
        }
    };
    for wake in wakes {
        runtime.tasks.spawn(wake_up(runtime.clone(), wake));
    }
}

/// Has a thread of this process read what was sent to it, and only then forgets that it has to. What is not read while the wake is
/// ours is found by the process that looks for wakes then.
async fn wake_up(runtime: Arc<Inner>, wake: Wake) {
    if let Some(child) = &wake.about {
        runtime.machines.tell_of(child);
        return forget(&runtime, wake).await;
    }
    let until_read = async {
        while !is_read(&runtime, &wake.thread).await && !go_on(&runtime, &wake.thread).await {
            tokio::time::sleep(TRY_AGAIN).await;
        }
    };
    tokio::select! {
        () = runtime.leaving.cancelled() => return,
        () = tokio::time::sleep(Duration::from_millis(LEASE_MS)) => return,
        () = until_read => {}
    }
    forget(&runtime, wake).await;
}

async fn forget(runtime: &Inner, wake: Wake) {
    if let Err(error) = runtime.store.done(wake).await {
        tracing::debug!(%error, "a wake could not be forgotten");
    }
}

/// Takes up what was sent to a thread of this process that no driver runs any more: whether that is done, or there is nothing to do.
async fn go_on(runtime: &Arc<Inner>, thread: &ThreadId) -> bool {
    // A driver that holds the slot has read it, or is about to exit.
    let Some(live_slot) = LiveSlot::take(runtime, thread) else { return false };
    // Checked while the live slot is held: a driver that runs when the shutdown begins is told of it, and none may start after that.
    if runtime.leaving.is_cancelled() {
        return false;
    }
    match runtime.load(live_slot).await {
        Ok(driver) => {
            runtime.run(driver, Opening::Left { sent: None });
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
