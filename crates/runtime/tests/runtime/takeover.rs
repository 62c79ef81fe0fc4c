//! A process is taken for dead and is not: a driver that was replaced exits, a child's report finds its parent wherever the child
//! was driven to its end, and a thread that is not driven has no owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::tools::ToolResult;
use agent::{Consent, Event, Facts, Input, InputId, Outcome, Outside, Strength, Thread, ThreadId, Time};
use futures_util::FutureExt;
use majordomo_runtime::Error;
use store::{Commit, Process, ProcessId, Store};

use crate::faulty_store::{Fault, FaultyStore};
use crate::gate::Gate;
use crate::room::{Plan, report, soon, stores};
use crate::script::{call, calls, says, scene, spawn};

/// Another process, which drives a thread by the rules alone.
struct Another {
    store: Arc<dyn Store>,
    thread: ThreadId,
    epoch: u64,
}

impl Another {
    fn process() -> Process {
        Process { id: ProcessId::new("another"), ..Process::current() }
    }

    /// Takes one thread, because this process seems to be dead for a moment.
    async fn takes(store: &Arc<dyn Store>, thread: &ThreadId, now: Time) -> Self {
        let alive = Process::current();
        let dead = Process { start_time: alive.start_time + 1, ..alive.clone() };
        store.register(Self::process(), now).await.expect("another comes");
        store.register(dead, now).await.expect("we are taken for dead");
        let epoch = store.adopt(thread, &Self::process().id, now).await.expect("it takes the thread");
        store.register(alive, now).await.expect("we are found to be alive");
        Self { store: store.clone(), thread: thread.clone(), epoch }
    }

    /// Ends the thread without its model.
    async fn ends(&self, now: Time) {
        let input = Outside::stopped(Strength::Kill, "enough");
        let stop = Event::InputArrived { id: InputId::new("left-kill"), input };
        self.handles(Some(stop), now, |_| Input::Reopened).await;
    }

    /// Gets the answer to the call that its thread waits for.
    async fn hears(&self, now: Time) {
        let answer = |thread: &Thread| Input::ToolFinished {
            call: thread.calls.slots()[0].call.clone(),
            result: ToolResult::ok("as you like"),
        };
        self.handles(None, now, answer).await;
    }

    async fn handles(&self, arrived: Option<Event>, now: Time, input: impl Fn(&Thread) -> Input) {
        let log = self.store.read(&self.thread, 0, usize::MAX).await.expect("the log can be read");
        let mut thread = Thread::replay(log.iter().map(|record| (record.at, &*record.event))).expect("a thread");
        if let Some(arrived) = &arrived {
            thread.apply(now, arrived);
        }
        let facts = Facts::new(Arc::default(), Consent::Nobody);
        let step = thread.handle(input(&thread), &facts, now);
        let commit = Commit {
            thread: self.thread.clone(),
            expected: log.len() as u64,
            epoch: self.epoch,
            process: Self::process().id,
            at: now,
            events: arrived.into_iter().chain(step.events).map(Arc::new).collect(),
            lets_go: false,
        };
        self.store.append(commit).await.expect("it owns the thread");
    }
}

/// A root whose child waits at the gate.
fn family() -> [String; 2] {
    [
        scene("the whole", &[calls(&[spawn("wait there")]), says("done")]),
        scene("wait there", &[calls(&[call("gate")]), says("waited")]),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_another_process_took_and_ended_reports_to_its_parent_here() {
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let room = Plan::new(&family()).store(store).tool(gate.clone()).open().await;
        let handle = room.start("the whole").await;
        let (root, child) = (handle.thread.clone(), handle.thread.child(1));
        gate.until("the child at the gate", |count| count.waiting == 1).await;
        let now = room.runtime.clock().now();
        Another::takes(&room.store, &child, now).await.ends(now).await;
        gate.open();
        assert_eq!(&*report(handle).await.text, "done");
        assert_eq!(room.report_of(&child).await.outcome, Outcome::Cancelled);
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_another_process_took_and_left_is_gone_on_with_here() {
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let room = Plan::new(&family()).store(store).tool(gate.clone()).open().await;
        let handle = room.start("the whole").await;
        let (root, child) = (handle.thread.clone(), handle.thread.child(1));
        gate.until("the child at the gate", |count| count.waiting == 1).await;
        Another::takes(&room.store, &child, room.runtime.clock().now()).await;
        gate.open();
        room.store.leave(&Another::process().id).await.expect("the other leaves it");
        assert_eq!(&*report(handle).await.text, "done");
        assert_eq!(room.report_of(&child).await.outcome, Outcome::Completed);
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

// F42: processes have no connection to each other, only to the store, so what is partitioned is a process that does not reach the store. It
// can write nothing, and what it was told late or twice is refused by its epoch, as here and in `ownership.rs`; the simulation
// (`testkit/tests/sim.rs`) does it under every seed, with clocks that disagree, and checks each log. That it heals is bounded by
// a constant, `store::HEARTBEAT_EXPIRES_MS` of 30 s, after which any process may take the thread; a test would wait for it and show nothing more.
#[tokio::test(flavor = "multi_thread")]
async fn who_reads_what_another_decided_lets_go_and_the_other_goes_on() {
    // This process is about to read an input when another takes the thread.
    let (gate, door) = (Gate::new("gate"), Gate::new("door"));
    let (at_door, is_first) = (door.clone(), AtomicBool::new(true));
    // The other process reads what was written, too, and is not held back.
    let look = move |_: &ThreadId, after: u64| match after > 0 && is_first.swap(false, Ordering::Relaxed) {
        true => at_door.clone().passed().boxed(),
        false => async {}.boxed(),
    };
    let scenes = [scene("the whole", &[calls(&[call("gate")]), says("done")])];
    let store = FaultyStore::watched(|_: &Commit| Fault::Fine, look);
    let room = Plan::new(&scenes).store(store).tool(gate.clone()).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    gate.until("the root at the gate", |count| count.waiting == 1).await;
    let now = room.runtime.clock().now();
    let words = Outside::person_steers("mind the step");
    room.store.arrive(&root, InputId::new("words"), words, now, true).await.expect("it is written");
    door.until("it to look", |count| count.waiting == 1).await;
    room.store.leave(&Process::current().id).await.expect("we are taken for dead");
    let beside = room.beside().await;
    let again = beside.resume(&root).await.expect("another goes on");
    gate.until("the other at the gate", |count| count.waiting == 2).await;
    door.open();
    let left = soon("the first to let go", handle.report()).await;
    assert!(matches!(left, Err(Error::Left)), "{left:?}");
    assert_eq!(gate.count().stopped, 1, "what it had begun is ended");
    gate.open();
    assert_eq!(&*report(again).await.text, "done");
    assert_eq!(room.count(&root, "steered").await, 1);
    room.assert_at_rest(&root).await;
    room.runtime.leave().await;
    beside.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_fetched_although_the_live_slot_of_the_child_is_taken() {
    // The parent never took the report up, and a person looks at the child in the moment in which the parent asks.
    let (fails, looks) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
    let (door, first_look) = (Gate::new("door"), looks.clone());
    let fault = move |commit: &Commit| {
        let takes_up = commit.events.iter().any(|event| matches!(**event, Event::ChildReported { .. }));
        if takes_up && fails.swap(false, Ordering::Relaxed) { Fault::Fails(store::Error::Closed) } else { Fault::Fine }
    };
    let at_door = door.clone();
    let look = move |thread: &ThreadId, _: u64| match !thread.is_root() && first_look.swap(false, Ordering::Relaxed) {
        true => at_door.clone().passed().boxed(),
        false => async {}.boxed(),
    };
    let scenes =
        [scene("the whole", &[calls(&[spawn("be quick")]), says("done")]), scene("be quick", &[says("quick")])];
    let mut room = Plan::new(&scenes).store(FaultyStore::watched(fault, look)).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    assert!(matches!(soon("the end", handle.report()).await, Err(Error::Left)));
    room.again().await;
    looks.store(true, Ordering::Relaxed);
    let (runtime, child) = (room.runtime.clone(), root.child(1));
    let person = tokio::spawn(async move { runtime.resume(&child).await.map(|_| ()) });
    door.until("the person to look", |count| count.waiting == 1).await;
    let handle = room.resume(&root).await;
    assert_eq!(&*report(handle).await.text, "done");
    door.open();
    assert!(matches!(soon("the person", person).await.expect("no panic"), Err(Error::Idle(_))));
    assert_eq!(&*room.report_of(&root.child(1)).await.text, "quick");
    room.assert_at_rest(&root).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_reaches_the_log_of_a_child_that_another_process_drives() {
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let mut room = Plan::new(&family()).store(store).tool(gate.clone()).open().await;
        let handle = room.start("the whole").await;
        let (root, child) = (handle.thread.clone(), handle.thread.child(1));
        gate.until("the child at the gate", |count| count.waiting == 1).await;
        room.again().await;
        drop(handle);
        let another = Another::takes(&room.store, &child, room.runtime.clock().now()).await;
        let handle = room.resume(&root).await;
        let stop = Outside::stopped(Strength::Kill, "enough");
        room.runtime.send(&root, stop).await.expect("the root is there");
        let is_told = |record: &store::Record| {
            record.thread == child
                && matches!(&*record.event, Event::InputArrived { id, .. } if *id == InputId::new("stop-kill"))
        };
        room.until_logged(&root, "the child to be told", |log| log.iter().any(is_told)).await;
        another.ends(room.runtime.clock().now()).await;
        assert_eq!(report(handle).await.outcome, Outcome::Cancelled);
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

/// A root whose child asks a person something.
fn asking() -> [String; 2] {
    [
        scene("the whole", &[calls(&[spawn("ask them")]), says("done")]),
        scene("ask them", &[calls(&[call("ask_user")]), says("asked")]),
    ]
}

/// What the root was told of its child's waiting for a person, in order.
fn pauses(log: &[store::Record]) -> Vec<bool> {
    let paused = log.iter().filter_map(|record| match &*record.event {
        Event::ChildPaused { paused, .. } => Some(*paused),
        _ => None,
    });
    paused.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_sees_in_the_log_that_a_child_elsewhere_no_longer_waits_for_a_person() {
    for (store, _folder) in stores() {
        let person = Gate::new("ask_user");
        let mut room = Plan::new(&asking()).store(store).tool(person).open().await;
        let handle = room.start("the whole").await;
        let (root, child) = (handle.thread.clone(), handle.thread.child(1));
        room.until_logged(&root, "the child to wait for a person", |log| pauses(log) == [true]).await;
        room.again().await;
        drop(handle);
        let another = Another::takes(&room.store, &child, room.runtime.clock().now()).await;
        let handle = room.resume(&root).await;
        another.hears(room.runtime.clock().now()).await;
        room.until_logged(&root, "the parent to know", |log| pauses(log) == [true, false]).await;
        another.ends(room.runtime.clock().now()).await;
        assert_eq!(&*report(handle).await.text, "done");
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_was_left_is_told_again_that_its_child_waits_for_a_person() {
    // The parent's memory fails at the very commit that takes it up; the child sits where it sat.
    let fails = AtomicBool::new(true);
    let fault = move |commit: &Commit| {
        let takes_up = commit.events.iter().any(|event| matches!(**event, Event::ChildPaused { .. }));
        if takes_up && fails.swap(false, Ordering::Relaxed) { Fault::Fails(store::Error::Closed) } else { Fault::Fine }
    };
    let person = Gate::new("ask_user");
    let room = Plan::new(&asking()).store(FaultyStore::new(fault)).tool(person.clone()).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    assert!(matches!(soon("the end", handle.report()).await, Err(Error::Left)));
    let handle = room.resume(&root).await;
    room.until_logged(&root, "the parent to know", |log| pauses(log) == [true]).await;
    person.open();
    assert_eq!(&*report(handle).await.text, "done");
    room.assert_at_rest(&root).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_another_process_begins_first_is_no_failure() {
    let raced = AtomicBool::new(false);
    let fault = move |commit: &Commit| {
        let is_birth = commit.expected == 0 && !commit.thread.is_root();
        if is_birth && !raced.swap(true, Ordering::Relaxed) { Fault::Raced(Another::process()) } else { Fault::Fine }
    };
    let scenes =
        [scene("the whole", &[calls(&[spawn("be quick")]), says("done")]), scene("be quick", &[says("quick")])];
    let room = Plan::new(&scenes).store(FaultyStore::new(fault)).open().await;
    let handle = room.start("the whole").await;
    let (root, child) = (handle.thread.clone(), handle.thread.child(1));
    room.until_logged(&root, "the child", |log| log.iter().any(|record| record.thread == child)).await;
    room.store.leave(&Another::process().id).await.expect("the other leaves it");
    assert_eq!(&*report(handle).await.text, "done");
    assert_eq!(room.report_of(&child).await.outcome, Outcome::Completed);
    room.assert_at_rest(&root).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_at_an_idle_thread_does_not_make_it_ones_own() {
    for (store, _folder) in stores() {
        let room = Plan::new(&[scene("the whole", &[says("done")])]).store(store).open().await;
        let (root, _) = room.run("the whole").await;
        // A second runtime has no driver that is about to exit.
        let beside = room.beside().await;
        assert!(matches!(beside.resume(&root).await, Err(Error::Idle(_))));
        let row = room.store.thread(&root).await.expect("it can be read").expect("it exists");
        assert_eq!(row.owner, None);
        room.runtime.leave().await;
        beside.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn time_goes_on_in_a_thread_whose_newest_event_lies_ahead() {
    // The clock was a day ahead when the run began, and was set right before it was gone on with.
    const DAY_MS: u64 = 86_400_000;
    let is_ahead = Arc::new(AtomicBool::new(true));
    let ahead = is_ahead.clone();
    let fault = move |_: &Commit| if ahead.load(Ordering::Relaxed) { Fault::Ahead(DAY_MS) } else { Fault::Fine };
    let gate = Gate::new("gate");
    let fails_once = says("done") + "error = \"overloaded\"\ntimes = 1\n";
    let scenes = [scene("the whole", &[calls(&[call("gate")]), fails_once])];
    let mut room = Plan::new(&scenes).store(FaultyStore::new(fault)).tool(gate.clone()).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    gate.until("the root at the gate", |count| count.waiting == 1).await;
    room.again().await;
    drop(handle);
    is_ahead.store(false, Ordering::Relaxed);
    gate.open();
    let handle = room.resume(&root).await;
    assert_eq!(&*report(handle).await.text, "done", "a retry is a matter of moments");
    assert_eq!(room.count(&root, "call_failed").await, 1);
    room.assert_at_rest(&root).await;
}
