//! Children begin, hear from their parents, and hand up their reports. Everything passes through their logs.

use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::event::ThreadCreated;
use agent::{Event, Input, InputId, Outcome, Outside, Report, State, Strength, ThreadId};
use futures_util::FutureExt;
use store::{Selection, ThreadRow, replay_until};
use tool::Workspace;

use crate::attach::attach;
use crate::deliver;
use crate::driver::{Driver, DriverMessage, Exit, Opening, message_of};
use crate::error::Error;
use crate::facts::Gatherer;
use crate::hooks::{HookKind, HookMoment};
use crate::live_slot::LiveSlot;
use crate::perform::readable;
use crate::retry::retry_transient;
use crate::runtime::{self, Inner};
use crate::take_up::take_up;

/// How long a child that another process drives is left alone before it is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// How often a child of another machine is looked at of which nothing is heard: what it reports is told.
const LOOK_RARELY: Duration = Duration::from_secs(10);

/// How long a child that no process drives is left to be claimed by others before it is driven here.
const LEFT_ALONE: Duration = Duration::from_secs(3);

/// How long a child that is about to begin is left alone before it is told to end.
const UNTIL_BEGUN: Duration = Duration::from_millis(20);

/// Begins a child.
pub fn start(runtime: &Arc<Inner>, created: ThreadCreated, workspace: Arc<Workspace>) {
    let id = created.id.clone();
    let live_slot = LiveSlot::take(runtime, &id);
    let turn = Turn { child: id, asked: None, stop: None };
    look_after(runtime, turn, create(live_slot, created, workspace, None));
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
    let turn = Turn { child: id.clone(), asked: None, stop: stop.clone() };
    look_after(runtime, turn, async move {
        match retry_transient(&inner, &id, || inner.store.thread(&id)).await? {
            Some(_) => Err(Error::Taken(id)),
            None => create(live_slot, created, workspace, stop).await,
        }
    });
}

/// Asks a child something more that has reported; after a restart, fetches the answer that is already in its log. A stop that its parent
/// had asked for is taken up with it.
pub fn ask(runtime: &Arc<Inner>, child: ThreadId, question: (InputId, Outside), stop: Option<(InputId, Outside)>) {
    let (inner, id, asked) = (runtime.clone(), child.clone(), Some(question.0.clone()));
    let inputs: Vec<(InputId, Outside)> = std::iter::once(question).chain(stop.clone()).collect();
    let turn = Turn { child, asked: asked.clone(), stop };
    look_after(runtime, turn, async move {
        if Answers::new(&id, asked.as_ref()).find(&inner).await?.is_some() {
            return Err(Error::Taken(id));
        }
        let taken_up = loop {
            match take_up(&inner, &id, &inputs).await {
                Err(Error::Store(error)) if error.is_passing() => tokio::select! {
                    () = inner.leaving.cancelled() => return Err(Error::Left),
                    () = tokio::time::sleep(LOOK_AGAIN) => {}
                },
                taken_up => break taken_up?,
            }
        };
        match taken_up {
            Some((driver, opening)) => driver.live(opening).await,
            None => Err(Error::Taken(id)),
        }
    });
}

/// A parent's stop as it stands in the child's log, once for each strength and each thing that the child was asked.
pub fn stop_letter(strength: Strength, reason: Arc<str>, asked: Option<&InputId>) -> (InputId, Outside) {
    let name = match strength {
        Strength::Cancel => "stop-cancel",
        Strength::Kill => "stop-kill",
    };
    let name = asked.map_or_else(|| name.to_owned(), |asked| format!("{name}/{}", asked.0));
    (InputId::new(name), Outside::Stopped { strength, reason, run: asked.cloned() })
}

/// Tells a child to end. One that is about to begin is told once it has.
pub async fn stop(runtime: Arc<Inner>, child: ThreadId, asked: Option<InputId>, letter: (InputId, Outside)) {
    let mut answers = Answers::new(&child, asked.as_ref());
    let (id, stop) = letter;
    // A parent that has left its own live slot says it again when it is gone on with.
    while child.parent().is_some_and(|parent| runtime.sender(&parent).is_some()) {
        if tell(runtime.clone(), child.clone(), id.clone(), stop.clone()).await
            || !matches!(answers.find(&runtime).await, Ok(None) | Err(Some(store::Error::UnknownThread(_))))
        {
            // One that no process drives is looked at rarely.
            runtime.machines.tell_of(&child);
            return;
        }
        tokio::select! {
            () = runtime.leaving.cancelled() => return,
            () = tokio::time::sleep(UNTIL_BEGUN) => {}
        }
    }
}

/// What a child was asked, until its parent has the report on it.
struct Turn {
    child: ThreadId,
    /// The message that the report answers; none where that is the brief.
    asked: Option<InputId>,
    /// A stop that its parent had asked for when it was restarted.
    stop: Option<(InputId, Outside)>,
}

/// Looks through a child's log for the report on what it was asked, reading each event once.
struct Answers<'a> {
    child: &'a ThreadId,
    asked: Option<&'a InputId>,
    read: u64,
}

impl<'a> Answers<'a> {
    fn new(child: &'a ThreadId, asked: Option<&'a InputId>) -> Self {
        Self { child, asked, read: 0 }
    }

    /// The report, if it is there by now. A question that its child was told to drop is answered by that.
    async fn find(&mut self, runtime: &Inner) -> Result<Option<Report>, Option<store::Error>> {
        let (child, asked, after) = (self.child, self.asked, self.read);
        let look = || async move {
            let mut read = after;
            let news = Selection::thread(child).after(after);
            let found = replay_until(&*runtime.store, news, |record| {
                read = record.n;
                match &*record.event {
                    Event::Reported(report) if report.asked.as_ref() == asked => ControlFlow::Break((**report).clone()),
                    Event::InputDropped { input, reason } if Some(input) == asked => {
                        ControlFlow::Break(Report::never_begun(input.clone(), reason))
                    }
                    _ => ControlFlow::Continue(()),
                }
            });
            Ok((found.await?, read))
        };
        let (found, read) = retry_transient(runtime, child, look).await?;
        self.read = read;
        Ok(found)
    }
}

/// Gives a child's report to its parent, if the parent lives here; otherwise it will ask when it is resumed.
pub fn deliver(runtime: &Inner, parent: &ThreadId, child: ThreadId, report: Report) {
    tell_parent(runtime, parent, Input::ChildReported { child, report: Box::new(report) });
}

/// Lets a parent that lives here know something of its child. What no parent receives is in the child's log, and is told again when
/// the parent is resumed.
pub fn tell_parent(runtime: &Inner, parent: &ThreadId, input: Input) {
    if let Some(sender) = runtime.sender(parent) {
        if let Input::ChildReported { child, .. } = &input {
            runtime.machines.tell_of(child);
        }
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
fn look_after(runtime: &Arc<Inner>, turn: Turn, life: impl Future<Output = Result<Exit, Error>> + Send + 'static) {
    let runtime = runtime.clone();
    let life = life.boxed();
    runtime.tasks.clone().spawn(async move {
        let to_its_report = async {
            let mut ended = life.await;
            loop {
                match ended {
                    Ok(Exit::Done) => return Ok(()),
                    // Boxed, for it hardly ever happens. What the store cannot do now is no end of a sub-agent.
                    Ok(Exit::Replaced) | Err(Error::Taken(_)) => {}
                    Err(Error::Store(error)) if error.is_passing() => tokio::select! {
                        () = runtime.leaving.cancelled() => return Err(Error::Left),
                        () = tokio::time::sleep(LOOK_AGAIN) => {}
                    },
                    Err(error) => return Err(error),
                }
                ended = Box::pin(follow(&runtime, &turn)).await.map(|()| Exit::Done);
            }
        };
        let why = match AssertUnwindSafe(to_its_report).catch_unwind().await {
            Ok(Ok(()) | Err(Error::Left)) => return,
            Ok(Err(error)) => error.to_string(),
            Err(panic) => message_of(&*panic),
        };
        tracing::error!(thread = %turn.child, why, "the sub-agent could not live");
        let ending = AssertUnwindSafe(Box::pin(end(&runtime, &turn, &why))).catch_unwind().await;
        if !matches!(ending, Ok(Ok(()) | Err(Error::Left)))
            && let Some(parent) = turn.child.parent()
        {
            deliver(&runtime, &parent, turn.child, Report { asked: turn.asked, ..without_life(&why) });
        }
    });
}

/// Sees to it that the parent of a child that could not go on hears how it ended: as its log says, if that has its report, and
/// else by one that is written there now, if the store takes it. Without any, the child would seem to run for ever.
async fn end(runtime: &Arc<Inner>, turn: &Turn, why: &str) -> Result<(), Error> {
    let id = &turn.child;
    if let (Some(report), Some(parent)) = (Answers::new(id, turn.asked.as_ref()).find(runtime).await?, id.parent()) {
        deliver(runtime, &parent, id.clone(), report);
        return Ok(());
    }
    let turn = &Turn { child: id.clone(), asked: turn.asked.clone(), stop: None };
    let Some(live_slot) = LiveSlot::take(runtime, id) else { return follow(runtime, turn).await };
    match runtime.load(live_slot).await {
        Ok(driver) => match driver.live(Opening::Failed { message: why.to_owned() }).await? {
            Exit::Done => Ok(()),
            Exit::Replaced => follow(runtime, turn).await,
        },
        // A question that was never written into its log has no answer there.
        Err(Error::Idle(_)) if turn.asked.is_some() => Err(Error::Broken(why.to_owned())),
        Err(Error::Idle(_) | Error::Store(store::Error::Owned { .. })) => follow(runtime, turn).await,
        Err(Error::Store(error)) if error.is_passing() => follow(runtime, turn).await,
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
    let facts = driver.runtime.facts.clone();
    attach_files(&facts, workspace, &mut created).await;
    let task = created.brief.as_ref().map(|brief| brief.task.clone()).unwrap_or_default();
    let hooks = facts.hooks(HookMoment::new(&created, HookKind::ChildStarts { task }));
    let refused = match hooks {
        Some(hooks) => hooks.await.refused,
        None => None,
    };
    if sent.is_none() && refused.is_none() && !driver.runtime.begins(&created).await {
        let id = created.id.clone();
        Box::pin(driver.offer(created)).await?;
        return Err(Error::Taken(id));
    }
    // One that is refused begins and ends at once, so that its log and its report say why.
    let sent =
        sent.or_else(|| Some(stop_letter(Strength::Kill, format!("refused by a hook: {}", refused?).into(), None)));
    // Boxed, for it is over soon and would be held for a whole life.
    Box::pin(driver.create(created, sent)).await?;
    driver.live(Opening::Created).await
}

/// Sees to it that the report of a child which exists reaches its parent, whichever process drives the child, and that the parent knows
/// when it waits for a person; where no process drives it, it is driven here. No live_slot is held for a child that lives elsewhere, so that what is sent to it goes into its log.
async fn follow(runtime: &Arc<Inner>, turn: &Turn) -> Result<(), Error> {
    if runtime.is_shared() {
        return follow_elsewhere(runtime, turn).await;
    }
    let id = &turn.child;
    let Some(parent) = id.parent() else { return Ok(()) };
    let mut tail = runtime.store.tail();
    let mut answers = Answers::new(id, turn.asked.as_ref());
    let (mut seen, mut has_looked) = (0, false);
    // A parent that has left its own live_slot asks again when it is gone on with.
    while runtime.sender(&parent).is_some() {
        tail.borrow_and_update();
        let read = || retry_transient(runtime, id, || runtime::read(&*runtime.store, id));
        let row = retry_transient(runtime, id, || runtime.store.thread(id)).await?;
        if let Some(report) = answers.find(runtime).await? {
            deliver(runtime, &parent, id.clone(), report);
            return Ok(());
        }
        match LiveSlot::take(runtime, id) {
            Some(live_slot) => match runtime.load(live_slot).await {
                Ok(driver) => match driver.live(Opening::Left { sent: turn.stop.clone() }).await? {
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
                    if !std::mem::replace(&mut has_looked, true) {
                        let _ = driven.send(DriverMessage::Look(None));
                    }
                    tokio::select! {
                        () = runtime.leaving.cancelled() => return Err(Error::Left),
                        () = driven.closed() => has_looked = false,
                        // A question may be answered while the driver goes on with something else.
                        _ = tail.changed(), if turn.asked.is_some() => {}
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

/// The same where several machines share the store. The process that drives the child leaves a wake for the parent with what the parent
/// is to know, so that nothing is read meanwhile. A child that no process has taken for a while is driven here, if it may be.
async fn follow_elsewhere(runtime: &Arc<Inner>, turn: &Turn) -> Result<(), Error> {
    let id = &turn.child;
    let Some(parent) = id.parent() else { return Ok(()) };
    let followed = runtime.machines.follow(id);
    let mut answers = Answers::new(id, turn.asked.as_ref());
    let (mut left_since, mut seen, mut was_paused, mut pause) = (None, 0, false, LEFT_ALONE);
    // A parent that has left its own live slot asks again when it is gone on with.
    while runtime.sender(&parent).is_some() {
        let row = retry_transient(runtime, id, || runtime.store.thread(id)).await?;
        // With a thousand children that wait for a process, what has not changed is not read again.
        if row.as_ref().is_none_or(|row| row.head > answers.read)
            && let Some(report) = answers.find(runtime).await?
        {
            deliver(runtime, &parent, id.clone(), report);
            return Ok(());
        }
        // Asked after the row was read: a process that is not known yet would else be taken for dead.
        let living = retry_transient(runtime, id, || runtime.living()).await?;
        // A driver in this process says itself how it does; a thread of this process that has none is left, too.
        let row = row.filter(|_| runtime.sender(id).is_none());
        let is_own = |row: &ThreadRow| row.owner.as_ref().is_some_and(|owner| owner.process.id == runtime.process);
        let is_left = row.as_ref().is_some_and(|row| !living.owns(row) || is_own(row));
        let head = row.as_ref().map_or(0, |row| row.head);
        let since = if is_left { *left_since.get_or_insert_with(Instant::now) } else { Instant::now() };
        if !is_left {
            (left_since, pause) = (None, LEFT_ALONE);
        }
        if let Some(row) = row.filter(|row| !is_left && std::mem::replace(&mut seen, row.head) != row.head) {
            // Only one that waits can be paused, and reading a log takes a while.
            let may_be_paused = matches!(row.state, State::WaitingForUser | State::Delegating);
            if may_be_paused || was_paused {
                let read = retry_transient(runtime, id, || runtime::read(&*runtime.store, id)).await?;
                was_paused = read.thread.is_paused();
                tell_parent(runtime, &parent, Input::ChildPaused { child: id.clone(), paused: was_paused });
            }
        }
        if is_left && since.elapsed() >= LEFT_ALONE {
            if let Some(ends) = takes(runtime, id, head).await?
                && let Some(live_slot) = LiveSlot::take(runtime, id)
            {
                let loaded = if ends { runtime.load_to_end(live_slot).await } else { runtime.load(live_slot).await };
                let opening = if ends { Opening::left_to_end() } else { Opening::Left { sent: turn.stop.clone() } };
                match loaded {
                    Ok(driver) => match driver.live(opening).await? {
                        Exit::Done => return Ok(()),
                        Exit::Replaced => {}
                    },
                    Err(Error::Idle(_) | Error::Store(store::Error::Owned { .. })) => {}
                    Err(Error::Store(error)) if error.is_passing() => {}
                    Err(error) => return Err(error),
                }
            }
            pause = (pause * 2).min(LOOK_RARELY);
        }
        tokio::select! {
            () = runtime.leaving.cancelled() => return Err(Error::Left),
            () = followed.news() => {}
            () = tokio::time::sleep(if is_left { pause } else { LOOK_RARELY }) => {}
        }
    }
    Ok(())
}

/// Whether this process drives a child of so many events that no other has taken, and whether only to its end: one that it may not take, and
/// that was told to stop.
async fn takes(runtime: &Arc<Inner>, child: &ThreadId, head: u64) -> Result<Option<bool>, Error> {
    let may_take = runtime.may_take(&runtime.created(child).await?);
    if may_take {
        let has_room = runtime.machines.room().is_none_or(|room| room.left() > 0);
        return Ok(has_room.then_some(false));
    }
    // Nothing was sent to one that holds its creation alone.
    if head <= 1 {
        return Ok(None);
    }
    let thread = retry_transient(runtime, child, || runtime::read(&*runtime.store, child)).await?.thread;
    let is_stopped = thread.inbox.arrived.iter().any(|(_, input)| matches!(input, Outside::Stopped { .. }));
    Ok(is_stopped.then_some(true))
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
