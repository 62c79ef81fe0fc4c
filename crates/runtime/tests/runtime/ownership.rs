//! Who drives a thread: one driver in a process, one process at a time, and who was taken over lets go.

use agent::{InputId, Outcome, Strength, Time};
use majordomo_runtime::{Error, Registration};
use store::{Process, ProcessId};

use crate::gate::Gate;
use crate::room::{Plan, report, soon, stores};
use crate::script::{call, calls, says, scene, spawn};

/// Another process, which is alive.
fn other() -> Process {
    Process { id: ProcessId::new("another"), ..Process::current() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_goes_on_here_is_not_resumed_here() {
    let gate = Gate::new("gate");
    let room =
        Plan::new(&[scene("the whole", &[calls(&[call("gate")]), says("done")])]).tool(gate.clone()).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    gate.until("the root at the gate", |count| count.waiting == 1).await;
    assert!(matches!(room.runtime.resume(&root).await, Err(Error::Alive(_))));
    gate.open();
    assert_eq!(&*report(handle).await.text, "done");
    assert_eq!(gate.count().came, 1);
    room.assert_at_rest(&root).await;
}

// INV-8, F42
#[tokio::test(flavor = "multi_thread")]
async fn who_was_taken_over_ends_what_it_had_begun_and_writes_nothing_more() {
    for (store, _folder) in stores() {
        let (gate, shut) = (Gate::new("gate"), Gate::new("shut"));
        let plan = Plan::new(&[scene("the whole", &[calls(&[call("gate"), call("shut")]), says("never said")])]);
        let room = plan.store(store).tool(gate.clone()).tool(shut.clone()).open().await;
        let handle = room.start("the whole").await;
        let root = handle.thread.clone();
        gate.until("the gate", |count| count.waiting == 1).await;
        shut.until("the other gate", |count| count.waiting == 1).await;
        let now = room.runtime.clock().now();
        let store = &room.store;
        store.leave(&Process::current().id).await.expect("we are taken for dead");
        store.register(Process::current(), now).await.expect("and come back");
        store.register(other(), now).await.expect("another comes");
        assert_eq!(store.adopt(&root, &other().id, now).await.expect("and takes over"), 2);
        let before = room.log(&root).await;
        gate.open();
        let left = soon("the end", handle.report()).await;
        assert!(matches!(left, Err(Error::Left)), "{left:?}");
        assert_eq!(shut.count().stopped, 1, "what it had begun is ended");
        assert_eq!(room.log(&root).await, before);
        soon("the runtime to leave", room.runtime.leave()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_of_a_new_child_is_not_waited_for_without_end() {
    let gate = Gate::new("gate");
    let plan = Plan::new(&[scene("the whole", &[calls(&[call("gate")]), says("never said")])]);
    let room = plan.tool(gate.clone()).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    gate.until("the gate", |count| count.waiting == 1).await;
    let now = room.runtime.clock().now();
    let store = &room.store;
    store.leave(&Process::current().id).await.expect("we are taken for dead");
    store.register(Process::current(), now).await.expect("and come back");
    store.register(other(), now).await.expect("another comes");
    store.adopt(&root, &other().id, now).await.expect("and takes over");
    gate.open();
    let left = soon("the end", handle.report()).await;
    assert!(matches!(left, Err(Error::Left)), "{left:?}");
    // It lives, and does nothing: as one that was stopped from outside.
    let issued = soon("an answer", room.runtime.issue_child(&root, InputId::new("wanted"))).await;
    assert!(matches!(&issued, Err(Error::Unanswered(thread)) if *thread == root), "{issued:?}");
    soon("the runtime to leave", room.runtime.leave()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_another_process_is_ending_is_waited_for() {
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let plan = Plan::new(&[
            scene("the whole", &[calls(&[spawn("wait there")]), says("done")]),
            scene("wait there", &[calls(&[call("gate")]), says("waited")]),
        ]);
        let mut room = plan.store(store).tool(gate.clone()).open().await;
        let handle = room.start("the whole").await;
        let root = handle.thread.clone();
        gate.until("the child at the gate", |count| count.waiting == 1).await;
        room.again().await;
        drop(handle);
        let now = room.runtime.clock().now();
        room.store.register(other(), now).await.expect("another comes");
        room.store.adopt(&root.child(1), &other().id, now).await.expect("and takes the child");
        let handle = room.resume(&root).await;
        gate.open();
        room.store.leave(&other().id).await.expect("the other leaves it");
        assert_eq!(&*report(handle).await.text, "done");
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_left_is_stopped_once_by_many_who_stop_it() {
    // F28
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let plan = Plan::new(&[
            scene("the whole", &[calls(&[spawn("wait there")]), says("never said")]),
            scene("wait there", &[calls(&[call("gate")]), says("never said")]),
        ]);
        let mut room = plan.store(store).tool(gate.clone()).open().await;
        let handle = room.start("the whole").await;
        let root = handle.thread.clone();
        gate.until("the child at the gate", |count| count.waiting == 1).await;
        room.again().await;
        drop(handle);
        let stops = [Strength::Cancel, Strength::Kill, Strength::Cancel, Strength::Kill].map(|strength| {
            let (runtime, root) = (room.runtime.clone(), root.clone());
            tokio::spawn(async move { runtime.stop(&root, strength, "enough").await })
        });
        for stop in stops {
            let stopped = soon("a stop", stop).await.expect("no stop panics");
            assert!(matches!(stopped, Ok(()) | Err(Error::Idle(_))), "{stopped:?}");
        }
        for thread in [&root, &root.child(1)] {
            assert_eq!(room.report_of(thread).await.outcome, Outcome::Cancelled);
        }
        assert_eq!(room.count(&root, "reopened").await, 1);
        assert_eq!(gate.count().came, 1, "nothing is run on the way to the end");
        room.runtime.leave().await;
    }
}

#[tokio::test]
async fn a_process_that_begins_nothing_is_forgotten() {
    for (store, _folder) in stores() {
        let process = Process::next();
        let id = process.id.clone();
        Registration::begin(process, store.clone()).withdraw().await;
        let heard = store.heartbeat(&id, Time(0)).await;
        assert!(matches!(&heard, Err(store::Error::UnknownProcess(unknown)) if *unknown == id), "{heard:?}");
    }
}
