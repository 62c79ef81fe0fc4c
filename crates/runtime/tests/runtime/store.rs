//! A store that fails: the run waits while the failure may pass, and is left whole where it does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent::{Event, InputId, Outcome, Outside};
use majordomo_runtime::Error;
use store::Commit;

use crate::faulty_store::{Fault, FaultyStore, broken, full};
use crate::gate::Gate;
use crate::room::{Plan, report, soon};
use crate::script::{call, calls, says, scene, spawn};

fn family() -> [String; 2] {
    [
        scene("the whole", &[calls(&[spawn("left"), spawn("right")]), says("both are back")]),
        scene("", &[calls(&[call("list_agents")]), says("reported")]),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full_for_a_while_makes_the_run_wait_and_nothing_else() {
    // F8
    let failures = AtomicUsize::new(0);
    let fault = move |commit: &Commit| {
        let is_answer = commit.events.iter().any(|event| matches!(**event, Event::Answered(_)));
        if is_answer && failures.fetch_add(1, Ordering::Relaxed) % 3 != 2 { Fault::Fails(full()) } else { Fault::Fine }
    };
    let room = Plan::new(&family()).store(FaultyStore::new(fault)).open().await;
    let (root, report) = room.run("the whole").await;
    assert_eq!((report.outcome, &*report.text), (Outcome::Completed, "both are back"));
    room.assert_at_rest(&root).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_was_written_although_the_memory_failed_is_not_done_again() {
    // F8: of every commit the answer is lost once, and asking again finds it written.
    let attempts = AtomicUsize::new(0);
    let fault = move |_: &Commit| {
        if attempts.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) { Fault::Forgets(broken()) } else { Fault::Fine }
    };
    let room = Plan::new(&[scene("the whole", &[calls(&[call("list_agents")]), says("done")])])
        .store(FaultyStore::new(fault))
        .open()
        .await;
    let (root, report) = room.run("the whole").await;
    assert_eq!((report.outcome, &*report.text), (Outcome::Completed, "done"));
    assert_eq!(room.count(&root, "turn_started").await, 2);
    room.assert_at_rest(&root).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_is_gone_leaves_the_run_to_be_resumed() {
    // The run has ten commits or more; the first is that of its beginning.
    for most in 1..=8 {
        let commits = AtomicUsize::new(0);
        let fault = move |_: &Commit| {
            if commits.fetch_add(1, Ordering::Relaxed) < most {
                Fault::Fine
            } else {
                Fault::Fails(store::Error::Closed)
            }
        };
        let room = Plan::new(&family()).store(FaultyStore::new(fault)).open().await;
        let handle = room.start("the whole").await;
        let left = soon("the end", handle.report()).await;
        assert!(matches!(left, Err(Error::Left)), "after {most}: {left:?}");
        soon("the runtime to leave", room.runtime.leave()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_whose_commit_cannot_be_kept_ends_with_an_error_and_its_parent_goes_on() {
    // Of each kind of commit the first one of a child is refused, for good, or written although its answer says so.
    for (kind, is_kept) in
        [("answered", false), ("tool_finished", false), ("reported", false), ("answered", true), ("reported", true)]
    {
        let fails = AtomicUsize::new(1);
        let fault = move |commit: &Commit| {
            let is_it = !commit.thread.is_root() && commit.events.iter().any(|event| event.kind() == kind);
            let fails =
                is_it && fails.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
            let broken = || store::Error::Sql(Arc::new(std::fmt::Error));
            match (fails, is_kept) {
                (false, _) => Fault::Fine,
                (true, false) => Fault::Fails(broken()),
                (true, true) => Fault::Forgets(broken()),
            }
        };
        let room = Plan::new(&family()).store(FaultyStore::new(fault)).open().await;
        let (root, report) = room.run("the whole").await;
        assert_eq!((report.outcome, &*report.text), (Outcome::Completed, "both are back"), "{kind}");
        let mut outcomes = vec![];
        for child in [1, 2] {
            outcomes.push(room.report_of(&root.child(child)).await.outcome.as_str());
        }
        outcomes.sort_unstable();
        let is_whole = is_kept && kind == "reported";
        assert_eq!(outcomes, ["completed", if is_whole { "completed" } else { "error" }], "{kind}");
        room.assert_at_rest(&root).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_closed_under_a_run_leaves_it_to_be_resumed_with_another() {
    let folder = tempfile::tempdir().expect("a passing folder");
    let location = store::Location::folder(folder.path());
    let open = || store::open(&location, &store::Options::default()).expect("a store");
    let gate = Gate::new("gate");
    let scenes = [scene("the whole", &[calls(&[call("gate")]), says("done")])];
    let store = open();
    let room = Plan::new(&scenes).store(store.clone()).tool(gate.clone()).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    gate.until("the root at the gate", |count| count.waiting == 1).await;
    store.close().await;
    gate.open();
    let left = soon("the end", handle.report()).await;
    assert!(matches!(left, Err(Error::Left)), "{left:?}");
    soon("the runtime to leave", room.runtime.leave()).await;
    let again = Plan::new(&[]).store(open()).tool(gate).open().await;
    let handle = again.resume(&root).await;
    assert_eq!(&*report(handle).await.text, "done");
    again.assert_at_rest(&root).await;
    assert!(room.folder().exists(), "the script of the first room was read by the second");
    again.runtime.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_never_reached_the_parent_is_found_behind_letters_that_came_after_it() {
    // The parent's memory fails at the very commit that takes the report up.
    let fails = Arc::new(AtomicUsize::new(1));
    let left = fails.clone();
    let fault = move |commit: &Commit| {
        let takes_up = commit.events.iter().any(|event| matches!(**event, Event::ChildReported { .. }));
        let fails = takes_up && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok();
        if fails { Fault::Fails(store::Error::Closed) } else { Fault::Fine }
    };
    let scenes =
        [scene("the whole", &[calls(&[spawn("be quick")]), says("done")]), scene("be quick", &[says("quick")])];
    let mut room = Plan::new(&scenes).store(FaultyStore::new(fault)).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    assert!(matches!(soon("the end", handle.report()).await, Err(Error::Left)));
    let steer = Outside::person_steers("too late");
    let now = room.runtime.clock().now();
    room.store.arrive(&root.child(1), InputId::new("crossed"), steer, now, false).await.expect("it is written");
    room.again().await;
    let handle = room.resume(&root).await;
    assert_eq!(&*report(handle).await.text, "done");
    assert_eq!(&*room.report_of(&root.child(1)).await.text, "quick");
    room.assert_at_rest(&root).await;
}
