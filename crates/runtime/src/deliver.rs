//! How an input from outside reaches a thread: it is written into the thread's log, and the driver is told to look there.
//!
//! The way is the same for every sender and wherever the thread is driven. A driver of this process is told at once; one of another
//! process finds the wake that is written with the input.

use agent::{Event, InputId, Outside, ThreadId};
use store::{Selection, replay_until};
use tokio::sync::oneshot;

use crate::driver::DriverMessage;
use crate::runtime::Inner;

/// Writes an input into a thread's log, once for each id. False where it needs a run and none goes on that would read it.
pub async fn deliver(runtime: &Inner, thread: &ThreadId, id: &InputId, input: &Outside) -> Result<bool, store::Error> {
    let needs_run = !input.needs_no_run();
    if needs_run && !is_live(runtime, thread).await? {
        return Ok(false);
    }
    let arrived = runtime.store.arrive(thread, id.clone(), input.clone(), runtime.clock.now(), true).await?;
    if let Some(driver) = runtime.sender(thread) {
        // A driver that has let go of the thread has read everything that it will.
        let _ = driver.send(DriverMessage::Look(None));
    }
    if !needs_run || is_live(runtime, thread).await? {
        return Ok(true);
    }
    // The run has ended meanwhile: with the input, if its report was written after it.
    let report = |event: &Event| matches!(event, Event::Reported(_));
    let after = Selection::thread(thread).after(arrived.n);
    let found = replay_until(&*runtime.store, after, |record| match report(&record.event) {
        true => std::ops::ControlFlow::Break(()),
        false => std::ops::ControlFlow::Continue(()),
    });
    Ok(found.await?.is_some())
}

/// Whether a thread is driven here and its driver has read everything that is in the log.
pub async fn is_read(runtime: &Inner, thread: &ThreadId) -> bool {
    let (read, was_read) = oneshot::channel();
    let is_sent = runtime.sender(thread).is_some_and(|sender| sender.send(DriverMessage::Look(Some(read))).is_ok());
    is_sent && was_read.await.is_ok()
}

async fn is_live(runtime: &Inner, thread: &ThreadId) -> Result<bool, store::Error> {
    let row = runtime.store.thread(thread).await?;
    row.map(|row| row.state.is_live()).ok_or_else(|| store::Error::UnknownThread(thread.as_str().into()))
}
