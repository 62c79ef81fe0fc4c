//! Children begin, hear from their parents, and hand up their reports. Everything passes through their logs.

use std::sync::Arc;

use agent::event::ThreadCreated;
use agent::{Input, InputId, Outside, Report, ThreadId};
use tokio::sync::oneshot;
use tool::Workspace;

use crate::driver::{Driver, Letter};
use crate::error::Error;
use crate::heart::{self, Inner};

/// Begins a child; after a restart, goes on with it, or fetches the report that it has already handed in.
pub fn start(heart: &Arc<Inner>, birth: ThreadCreated, workspace: Arc<Workspace>, reopening: bool) {
    let driver = Driver::new(heart.clone(), birth.id.clone(), workspace);
    let heart = heart.clone();
    heart.tasks.clone().spawn(async move {
        let id = driver.id.clone();
        if let Err(error) = begin(&heart, driver, birth, reopening).await {
            tracing::error!(thread = %id, %error, "the sub-agent could not be begun");
            heart.exit(&id);
        }
    });
}

/// Gives a child's report to its parent, if the parent lives here; otherwise it will ask when it is resumed.
pub fn deliver(heart: &Inner, parent: &ThreadId, child: ThreadId, report: Report) {
    if let Some(sender) = heart.sender(parent) {
        // A parent that has just let go asks again when it is resumed.
        let _ = sender.send(Letter::Input(Input::ChildReported { child, report }));
    }
}

/// Writes something into a thread's log; whether the thread will still read it.
pub async fn tell(heart: Arc<Inner>, thread: ThreadId, id: InputId, input: Outside) -> bool {
    if let Some(sender) = heart.sender(&thread) {
        let (done, written) = oneshot::channel();
        let letter = Letter::Outside { id: id.clone(), input: input.clone(), done: Some(done) };
        if sender.send(letter).is_ok()
            && let Ok(delivered) = written.await
        {
            return delivered;
        }
    }
    match heart.store.thread(&thread).await {
        Ok(Some(row)) if row.state.is_live() => {
            heart.store.arrive(&thread, id, input, heart.clock.now(), true).await.is_ok()
        }
        Ok(_) => false,
        Err(error) => {
            tracing::warn!(%thread, %error, "a message could not be delivered");
            false
        }
    }
}

async fn begin(heart: &Arc<Inner>, mut driver: Driver, birth: ThreadCreated, reopening: bool) -> Result<(), Error> {
    let id = driver.id.clone();
    if !reopening {
        driver.create(birth, None).await?;
        driver.live().await;
        return Ok(());
    }
    match heart.store.thread(&id).await? {
        None => driver.create(birth, None).await?,
        Some(_) => {
            let (thread, n) = heart::read(&*heart.store, &id).await?;
            if thread.is_over() {
                if let (Some(parent), Some(report)) = (id.parent(), heart::last_report(&*heart.store, &id, n).await?) {
                    deliver(heart, &parent, id.clone(), report);
                }
                heart.exit(&id);
                return Ok(());
            }
            let epoch = heart.store.adopt(&id, &heart.process, heart.clock.now()).await?;
            driver.adopt(thread, n, epoch);
            driver.reopen().await?;
        }
    }
    driver.live().await;
    Ok(())
}
