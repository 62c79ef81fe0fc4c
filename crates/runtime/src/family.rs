//! Children begin, hear from their parents, and hand up their reports. Everything passes through their logs.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use agent::event::ThreadCreated;
use agent::{Input, InputId, Outcome, Outside, Report, Strength, ThreadId};
use futures_util::FutureExt;
use tool::Workspace;

use crate::attach::attach;
use crate::deliver;
use crate::driver::{Driver, DriverMessage, Exit, Opening, message_of};
use crate::error::Error;
use crate::facts::Gatherer;
use crate::live_slot::LiveSlot;
use crate::perform::readable;
use crate::retry::retry_transient;
use crate::runtime::{self, Inner};

/// How long a child that another process drives is left alone before it is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Begins a child.
pub fn start(runtime: &Arc<Inner>, created: ThreadCreated, workspace: Arc<Workspace>) {
    let id = created.id.clone();
    let live_slot = LiveSlot::take(runtime, &id);
    look_after(runtime, id, None, create(live_slot, created, workspace, None));
}

/// After a restart: begins a child that never was, goes on with one that was left, or fetches the report that is already in its
/// log. A stop that its parent had asked for comes before anything else. One that another process drives is followed to its report.
pub fn restart(
    runtime: &Arc<Inner>,
    created: ThreadCreated,
    workspace: Arc<Workspace>,
    stop: Option<(InputId, Outside)>,
) {
    let (inner, id) = (runtime.clone(), created.id.clone());
    let live_slot = LiveSlot::take(runtime, &id);
    look_after(runtime, created.id.clone(), stop.clone(), async move {
        match retry_transient(&inner, &id, || inner.store.thread(&id)).await? {
            Some(_) => Err(Error::Taken(id)),
            None => create(live_slot, created, workspace, stop).await,
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
pub fn deliver(runtime: &Inner, parent: &ThreadId, child: ThreadId, report: Report) {
    tell_parent(runtime, parent, Input::ChildReported { child, report: Box::new(report) });
}

/// Lets a parent that lives here know something of its child. What no parent receives is in the child's log, and is told again when
/// the parent is resumed.
pub fn tell_parent(runtime: &Inner, parent: &ThreadId, input: Input) {
    if let Some(sender) = runtime.sender(parent) {
        let _ = sender.send(DriverMessage::Input(Box::new(input)));
    }
}

/// Writes something into a thread's log; whether the thread will still read it.
pub async fn tell(runtime: Arc<Inner>, thread: ThreadId, id: InputId, input: Outside) -> bool {
    match retry_transient(&runtime, &thread, || deliver::deliver(&runtime, &thread, &id, &input)).await {
        Ok(is_delivered) => is_delivered,
        // It was never created.
        Err(Some(store::Error::UnknownThread(_))) => false,
        Err(error) => {
            let error = error.map_or_else(|| "this process leaves".to_owned(), |error| error.to_string());
            tracing::warn!(%thread, error, "a message could not be delivered");
            false
        }
    }
}

/// Lets a child live in a task of its own, and follows it where it lives elsewhere. One that cannot live is reported to its
/// parent, who would wait for ever.
fn look_after(
    runtime: &Arc<Inner>,
    id: ThreadId,
    stop: Option<(InputId, Outside)>,
    life: impl Future<Output = Result<Exit, Error>> + Send + 'static,
) {
    let runtime = runtime.clone();
    let life = life.boxed();
    runtime.tasks.clone().spawn(async move {
        let to_its_report = async {
            match life.await {
                Ok(Exit::Done) => Ok(()),
                // Boxed, for it hardly ever happens.
                Ok(Exit::Replaced) | Err(Error::Taken(_)) => Box::pin(follow(&runtime, &id, stop)).await,
                Err(error) => Err(error),
            }
        };
        let why = match AssertUnwindSafe(to_its_report).catch_unwind().await {
            Ok(Ok(()) | Err(Error::Left)) => return,
            Ok(Err(error)) => error.to_string(),
            Err(panic) => message_of(&*panic),
        };
        tracing::error!(thread = %id, why, "the sub-agent could not live");
        let ending = AssertUnwindSafe(Box::pin(end(&runtime, &id, &why))).catch_unwind().await;
        if !matches!(ending, Ok(Ok(()) | Err(Error::Left)))
            && let Some(parent) = id.parent()
        {
            deliver(&runtime, &parent, id, without_life(&why));
        }
    });
}

/// Sees to it that the parent of a child that could not go on hears how it ended: as its log says, if that has its report, and
/// else by one that is written there now, if the store takes it. Without any, the child would seem to run for ever.
async fn end(runtime: &Arc<Inner>, id: &ThreadId, why: &str) -> Result<(), Error> {
    let log = retry_transient(runtime, id, || runtime::read(&*runtime.store, id)).await?;
    if let (Some(report), Some(parent)) = (log.report, id.parent()) {
        deliver(runtime, &parent, id.clone(), report);
        return Ok(());
    }
    let Some(live_slot) = LiveSlot::take(runtime, id) else { return follow(runtime, id, None).await };
    match runtime.load(live_slot).await {
        Ok(driver) => match driver.live(Opening::Failed { message: why.to_owned() }).await? {
            Exit::Done => Ok(()),
            Exit::Replaced => follow(runtime, id, None).await,
        },
        Err(Error::Idle(_) | Error::Store(store::Error::Owned { .. })) => follow(runtime, id, None).await,
        Err(Error::Store(error)) if error.is_passing() => follow(runtime, id, None).await,
        Err(error) => Err(error),
    }
}

async fn create(
    live_slot: Option<LiveSlot>,
    mut created: ThreadCreated,
    workspace: Arc<Workspace>,
    sent: Option<(InputId, Outside)>,
) -> Result<Exit, Error> {
    let Some(live_slot) = live_slot else { return Err(Error::Taken(created.id)) };
    let mut driver = Driver::new(live_slot, workspace.clone());
    attach_files(&driver.runtime.facts.clone(), workspace, &mut created).await;
    // Boxed, for it is over soon and would be held for a whole life.
    Box::pin(driver.create(created, sent)).await?;
    driver.live(Opening::Created).await
}

/// Sees to it that the report of a child which exists reaches its parent, whichever process drives the child, and that the parent knows
/// when it waits for a person; where no process drives it, it is driven here. No live_slot is held for a child that lives elsewhere, so that what is sent to it goes into its log.
async fn follow(runtime: &Arc<Inner>, id: &ThreadId, stop: Option<(InputId, Outside)>) -> Result<(), Error> {
    let Some(parent) = id.parent() else { return Ok(()) };
    let mut tail = runtime.store.tail();
    let mut seen = 0;
    // A parent that has left its own live_slot asks again when it is gone on with.
    while runtime.sender(&parent).is_some() {
        tail.borrow_and_update();
        let read = || retry_transient(runtime, id, || runtime::read(&*runtime.store, id));
        let row = retry_transient(runtime, id, || runtime.store.thread(id)).await?;
        if row.as_ref().is_some_and(|row| row.outcome.is_some()) {
            if let Some(report) = read().await?.report {
                deliver(runtime, &parent, id.clone(), report);
            }
            return Ok(());
        }
        match LiveSlot::take(runtime, id) {
            Some(live_slot) => match runtime.load(live_slot).await {
                Ok(driver) => match driver.live(Opening::Left { sent: stop.clone() }).await? {
                    Exit::Done => return Ok(()),
                    Exit::Replaced => {}
                },
                Err(Error::Idle(_) | Error::Store(store::Error::Owned { .. })) => {
                    let head = row.map_or(0, |row| row.head);
                    if std::mem::replace(&mut seen, head) != head {
                        let paused = read().await?.thread.is_paused();
                        tell_parent(runtime, &parent, Input::ChildPaused { child: id.clone(), paused });
                    }
                }
                Err(Error::Store(error)) if error.is_passing() => {}
                Err(error) => return Err(error),
            },
            // The driver in this process says how it does, and hands the report up or frees the live slot.
            None => {
                if let Some(driven) = runtime.sender(id) {
                    let _ = driven.send(DriverMessage::Look(None));
                    tokio::select! {
                        () = runtime.leaving.cancelled() => return Err(Error::Left),
                        () = driven.closed() => {}
                    }
                }
                continue;
            }
        }
        tokio::select! {
            () = runtime.leaving.cancelled() => return Err(Error::Left),
            _ = tokio::time::timeout(LOOK_AGAIN, tail.changed()) => {}
        }
    }
    Ok(())
}

/// Puts the files that its parent names into a child's brief, as far as the child may read them.
async fn attach_files(facts: &Gatherer, workspace: Arc<Workspace>, created: &mut ThreadCreated) {
    if created.brief.as_ref().is_none_or(|brief| brief.files.is_empty()) {
        return;
    }
    let chain = created.chain();
    let Some(brief) = &mut created.brief else { return };
    attach(readable(workspace, &chain, &facts.rules()), brief).await;
    created.write_texts();
}

/// The report of a child that could not be begun, or not be ended in good order.
fn without_life(why: &str) -> Report {
    let reason = format!("an error of ours ended this agent: {why}");
    Report { cause: Some("panic".into()), ..Report::empty(Outcome::Error, reason) }
}
