//! Inputs that begin a run in a thread. The process that drives the thread takes them up; where none does, this one begins to.
//!
//! They are written and taken up in one commit, so that nothing lies in a log without a process to answer it, whenever this process is
//! killed. What is handed in twice under one name is one input.

use std::sync::Arc;

use agent::{InputId, Outside, ThreadId};

use crate::deliver::{deliver, is_read};
use crate::driver::{Driver, Exit, Opening};
use crate::error::Error;
use crate::live_slot::LiveSlot;
use crate::runtime::Inner;

/// Hands inputs to a thread. A driver is returned where this process has taken the thread up: it is to be run.
pub async fn take_up(
    runtime: &Arc<Inner>,
    thread: &ThreadId,
    inputs: &[(InputId, Outside)],
) -> Result<Option<(Box<Driver>, Opening)>, Error> {
    loop {
        let Some(live_slot) = LiveSlot::take(runtime, thread) else {
            send(runtime, thread, inputs).await?;
            if is_read(runtime, thread).await {
                return Ok(None);
            }
            // The driver let go of the thread before it read the inputs: its place is free.
            continue;
        };
        let mut driver = match runtime.own(live_slot).await {
            Ok(driver) => driver,
            Err(Error::Store(store::Error::Owned { .. })) => {
                // Its owner works on it, and is woken; it may have come to its end in between.
                send(runtime, thread, inputs).await?;
                let Some(live_slot) = LiveSlot::take(runtime, thread) else { return Ok(None) };
                return match runtime.load(live_slot).await {
                    Ok(driver) => Ok(Some((driver, Opening::Left { sent: None }))),
                    Err(Error::Idle(_) | Error::Store(store::Error::Owned { .. })) => Ok(None),
                    Err(error) => Err(error),
                };
            }
            // The input lies in the log for a process of that machine to claim.
            Err(Error::Elsewhere { .. }) if runtime.has_worker_for(&runtime.created(thread).await?).await => {
                send(runtime, thread, inputs).await?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match driver.take_up(inputs.to_vec()).await {
            None => return Ok(Some((driver, Opening::Created))),
            // Another process was quicker, and will be found to work on it.
            Some(Exit::Replaced) => {}
            Some(Exit::Done) => return Err(Error::Left),
        }
    }
}

async fn send(runtime: &Inner, thread: &ThreadId, inputs: &[(InputId, Outside)]) -> Result<(), store::Error> {
    for (id, input) in inputs {
        deliver(runtime, thread, id, input).await?;
    }
    Ok(())
}
