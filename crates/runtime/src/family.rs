//! Children begin, hear from their parents, and hand up their reports. Everything passes through their logs.

use std::sync::Arc;

use agent::event::ThreadCreated;
use agent::{Input, InputId, Outside, Report, Strength, ThreadId};
use tokio::sync::oneshot;
use tool::Workspace;

use crate::driver::{Driver, Letter};
use crate::error::Error;
use crate::heart::{self, Inner};

/// Begins a child.
pub fn start(heart: &Arc<Inner>, birth: ThreadCreated, workspace: Arc<Workspace>) {
    let mut driver = Driver::new(heart.clone(), birth.id.clone(), workspace);
    heart.tasks.spawn(async move {
        match driver.create(birth, None).await {
            Ok(()) => driver.live().await,
            Err(error) => tracing::error!(thread = %driver.id, %error, "the sub-agent could not be begun"),
        }
    });
}

/// After a restart: begins a child that never was, goes on with one that was left, or fetches the report that is already in its
/// log. A stop that its parent had asked for comes before anything else.
pub fn restart(heart: &Arc<Inner>, birth: ThreadCreated, workspace: Arc<Workspace>, stop: Option<(InputId, Outside)>) {
    let driver = Driver::new(heart.clone(), birth.id.clone(), workspace);
    let heart = heart.clone();
    heart.tasks.clone().spawn(async move {
        let id = driver.id.clone();
        if let Err(error) = go_on(&heart, driver, birth, stop).await {
            tracing::error!(thread = %id, %error, "the sub-agent could not be gone on with");
        }
    });
}

/// A parent's stop as it stands in the child's log, once for each strength.
pub fn stop_letter(strength: Strength, reason: Arc<str>) -> (InputId, Outside) {
    let name = match strength {
        Strength::Cancel => "stop-cancel",
        Strength::Kill => "stop-kill",
    };
    (InputId::new(name), Outside::Stopped { strength, reason })
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

async fn go_on(
    heart: &Arc<Inner>,
    mut driver: Driver,
    birth: ThreadCreated,
    stop: Option<(InputId, Outside)>,
) -> Result<(), Error> {
    let id = driver.id.clone();
    if heart.store.thread(&id).await?.is_none() {
        driver.create(birth, stop).await?;
    } else {
        let (thread, n) = heart::read(&*heart.store, &id).await?;
        if thread.is_over() {
            if let (Some(parent), Some(report)) = (id.parent(), heart::last_report(&*heart.store, &id, n).await?) {
                deliver(heart, &parent, id, report);
            }
            return Ok(());
        }
        let epoch = heart.store.adopt(&id, &heart.process, heart.clock.now()).await?;
        driver.adopt(thread, n, epoch);
        driver.reopen(stop).await?;
    }
    driver.live().await;
    Ok(())
}
