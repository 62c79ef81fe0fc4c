//! Messages to threads at any time: none is lost, none is handled twice, and a thread that is over gets none.

use std::collections::BTreeSet;
use std::sync::Mutex;

use agent::{Event, InputId, Outcome, Outside, Strength};
use majordomo_runtime::Error;
use store::Commit;

use crate::faulty_store::{Fault, FaultyStore};
use crate::gate::Gate;
use crate::room::{Plan, report, soon, stores};
use crate::script::{call, calls, says, scene, spawn};

fn steer(text: impl Into<std::sync::Arc<str>>) -> Outside {
    Outside::person_steers(text)
}

// INV-8
#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_by_many_at_once_is_all_taken_up_once() {
    const SENDERS: usize = 4;
    const EACH: usize = 25;
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let plan = Plan::new(&[scene("the whole", &[calls(&[call("gate")]), says("heard you all")])]);
        let room = plan.store(store).tool(gate.clone()).open().await;
        let handle = room.start("the whole").await;
        let root = handle.thread.clone();
        gate.until("the root at the gate", |count| count.waiting == 1).await;
        let senders = (0..SENDERS).map(|sender| {
            let (runtime, store, root) = (room.runtime.clone(), room.store.clone(), root.clone());
            tokio::spawn(async move {
                for number in 0..EACH {
                    let words = steer(format!("{sender}/{number}"));
                    // Every other sender writes as another process would, past the runtime and into the log.
                    if sender % 2 == 0 {
                        runtime.send(&root, words).await.expect("it is sent");
                    } else {
                        let id = InputId::new(format!("other-{sender}-{number}"));
                        store.arrive(&root, id, words, runtime.clock().now(), true).await.expect("it is written");
                    }
                }
            })
        });
        for sender in senders.collect::<Vec<_>>() {
            soon("a sender", sender).await.expect("no sender panics");
        }
        let all = SENDERS * EACH;
        let taken = |log: &[store::Record]| log.iter().filter(|record| record.event.kind() == "steered").count();
        room.until_logged(&root, "all to be taken up", |log| taken(log) == all).await;
        gate.open();
        assert_eq!(&*report(handle).await.text, "heard you all");
        let log = room.log(&root).await;
        let words: BTreeSet<&str> = log
            .iter()
            .filter_map(|record| match &*record.event {
                Event::Steered { text, .. } => Some(&**text),
                _ => None,
            })
            .collect();
        assert_eq!((taken(&log), words.len()), (all, all));
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

// INV-8
#[tokio::test(flavor = "multi_thread")]
async fn something_that_arrives_before_every_single_commit_is_lost_at_none() {
    // A commit that decides something is late: it is refused, decided anew, and what arrived is taken up. Whatever is said
    // to the root gives it one more turn, so that there must be a last time.
    const TIMES: usize = 12;
    let late = Mutex::new((0, false));
    let fault = move |commit: &Commit| {
        let decides = commit.events.iter().any(|event| !matches!(**event, Event::Steered { .. }));
        let mut late = late.lock().expect("no panic");
        let is_late = commit.thread.is_root() && commit.expected > 0 && decides && !late.1 && late.0 < TIMES;
        *late = (late.0 + usize::from(is_late), is_late);
        if is_late { Fault::Late(steer(format!("number {}", late.0))) } else { Fault::Fine }
    };
    let root =
        [calls(&[spawn("left"), spawn("right")]), calls(&[call("list_agents")]), says("done") + "repeat = true\n"];
    let plan = Plan::new(&[scene("the whole", &root), scene("", &[says("reported")])]);
    let room = plan.store(FaultyStore::new(fault)).open().await;
    let (root, report) = room.run("the whole").await;
    assert_eq!(report.outcome, Outcome::Completed);
    let log = room.log(&root).await;
    let count = |kind: &str| log.iter().filter(|record| record.thread == root && record.event.kind() == kind).count();
    assert_eq!((count("input_arrived"), count("steered")), (TIMES + 1, TIMES), "all but the prompt are words");
    assert_eq!(count("child_reported"), 2);
    room.assert_at_rest(&root).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_over_is_told_nothing_and_nothing_is_written() {
    for (store, _folder) in stores() {
        let plan = Plan::new(&[
            scene("the whole", &[calls(&[spawn("be quick")]), says("done")]),
            scene("be quick", &[says("quick")]),
        ]);
        let room = plan.store(store).open().await;
        let (root, _) = room.run("the whole").await;
        let before = room.log(&root).await;
        for thread in [&root, &root.child(1)] {
            for input in [steer("too late"), Outside::stopped(Strength::Kill, "late")] {
                assert!(matches!(room.runtime.send(thread, input).await, Err(Error::Idle(_))), "{thread}");
            }
            assert!(matches!(room.runtime.stop(thread, Strength::Cancel, "late").await, Err(Error::Idle(_))));
        }
        // Its driver may still be on its way out.
        assert!(matches!(room.runtime.resume(&root).await, Err(Error::Idle(_) | Error::Alive(_))));
        assert_eq!(room.log(&root).await, before);
        let unknown = room.runtime.send(&root.child(9), steer("nobody")).await;
        assert!(matches!(unknown, Err(Error::Store(store::Error::UnknownThread(_)))), "{unknown:?}");
        room.runtime.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_crossed_the_end_of_a_run_leaves_nothing_to_resume() {
    for (store, _folder) in stores() {
        let room = Plan::new(&[scene("the whole", &[says("done")])]).store(store).open().await;
        let (root, _) = room.run("the whole").await;
        let now = room.runtime.clock().now();
        room.store.arrive(&root, InputId::new("crossed"), steer("too late"), now, true).await.expect("it is written");
        let before = room.log(&root).await;
        // Its driver may still be on its way out.
        assert!(matches!(room.runtime.resume(&root).await, Err(Error::Idle(_) | Error::Alive(_))));
        assert_eq!(room.log(&root).await, before);
        room.runtime.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_a_thread_that_this_process_owns_and_does_not_drive_is_taken_up() {
    // A process that came to go on with a thread just as its run ended has it, and nothing to do for it.
    for (store, _folder) in stores() {
        let mut room = Plan::new(&[scene("the whole", &[says("one"), says("two")])]).store(store).open().await;
        let (root, _) = room.run("the whole").await;
        // The driver of the first runtime has exited for certain.
        room.again().await;
        let (process, now) = (store::Process::current().id, room.runtime.clock().now());
        room.store.adopt(&root, &process, now).await.expect("no process owns it");
        let words = Outside::said("and again");
        room.store.arrive(&root, InputId::new("again"), words, now, true).await.expect("it is written");
        let reports = |log: &[store::Record]| log.iter().filter(|record| record.event.kind() == "reported").count();
        room.until_logged(&root, "another answer", |log| reports(log) == 2).await;
        room.runtime.leave().await;
    }
}
