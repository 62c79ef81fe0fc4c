//! Sub-agents that are asked something more after their report: by their parent, by a person, by the program; from any process.

use std::pin::pin;

use agent::{Event, InputId, Outcome, Strength, ThreadId};
use futures_util::poll;
use majordomo_runtime::{Runtime, Said};

use crate::faulty_store::{Fault, FaultyStore};
use crate::gate::Gate;
use crate::room::{Plan, Room, report, soon, stores};
use crate::script::{call, calls, says, scene, spawn};

fn ask(child: &str, text: &str, arguments: &str) -> String {
    format!("{{ name = \"message_agent\", input = {{ agent = {child:?}, text = {text:?}{arguments} }} }}")
}

/// Waits until a thread has so many reports, and gives the newest.
async fn answer(room: &Room, thread: &ThreadId, count: usize) -> agent::Report {
    let of = |log: &[store::Record]| {
        let own = log.iter().filter(|record| record.thread == *thread);
        let reports = own.filter_map(|record| match &*record.event {
            Event::Reported(report) => Some((**report).clone()),
            _ => None,
        });
        reports.collect::<Vec<_>>()
    };
    room.until_logged(&thread.root(), "another report", |log| of(log).len() >= count).await;
    let mut reports = of(&room.log(&thread.root()).await);
    assert_eq!(reports.len(), count);
    reports.pop().expect("a report")
}

async fn say(runtime: &Runtime, thread: &ThreadId, text: &str) -> InputId {
    soon("the message", runtime.say(thread, Said::new(text))).await.expect("it is said")
}

// LACE-7
#[tokio::test(flavor = "multi_thread")]
async fn a_finished_child_answers_its_parent_again_with_all_that_it_knows() {
    for (store, _folder) in stores() {
        let more = calls(&[ask("1", "and the tests?", "")]);
        let plan = Plan::new(&[
            scene("the whole", &[calls(&[spawn("look around")]), more, says("both are known")]),
            scene("look around", &[says("the code is fine"), says("so are the tests")]),
        ]);
        let room = plan.store(store).open().await;
        let (root, report) = room.run("the whole").await;
        assert_eq!((report.outcome, &*report.text), (Outcome::Completed, "both are known"));
        assert_eq!((report.tree.children, report.tree.model_calls), (1, 5));
        let child = root.child(1);
        assert_eq!((room.count(&child, "thread_created").await, room.count(&child, "reported").await), (1, 2));
        let log = room.log(&root).await;
        let results: Vec<&str> = log
            .iter()
            .filter_map(|record| match &*record.event {
                Event::ToolFinished { result, .. } if record.thread == root => Some(&*result.content),
                _ => None,
            })
            .collect();
        assert!(results[0].contains("the code is fine") && results[1].contains("so are the tests"), "{results:?}");
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

// LACE-16
#[tokio::test(flavor = "multi_thread")]
async fn a_person_goes_on_with_a_finished_child_and_its_parent_hears_nothing_of_it() {
    for (store, _folder) in stores() {
        let plan = Plan::new(&[
            scene("the whole", &[calls(&[spawn("look around")]), says("done")]),
            scene("look around", &[says("one"), says("two"), says("three")]),
        ]);
        let mut room = plan.store(store).open().await;
        let (root, _) = room.run("the whole").await;
        let (child, before) = (root.child(1), room.count(&root, "child_reported").await);
        let message = say(&room.runtime, &child, "and now?").await;
        let second = answer(&room, &child, 2).await;
        assert_eq!((&*second.text, second.asked), ("two", Some(message)));
        // After a restart, and from another process.
        room.again().await;
        say(&room.runtime, &child, "once more").await;
        assert_eq!(&*answer(&room, &child, 3).await.text, "three");
        assert_eq!(room.count(&root, "child_reported").await, before);
        let unknown = room.runtime.say(&root.child(9), Said::new("nobody")).await;
        assert!(unknown.is_err(), "{unknown:?}");
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_waits_behind_a_persons_run_is_answered_and_a_stop_takes_it_back() {
    for stops in [false, true] {
        let gate = Gate::new("gate");
        let plan = Plan::new(&[
            scene(
                "the whole",
                &[
                    calls(&[spawn("look around")]),
                    calls(&[call("ask_me")]),
                    calls(&[ask("1", "more?", "")]),
                    says("done"),
                ],
            ),
            scene("look around", &[says("one"), calls(&[call("gate")]), says("a person's"), says("the parent's")]),
        ]);
        let pause = Gate::new("ask_me");
        let room = plan.tool(gate.clone()).tool(pause.clone()).open().await;
        let handle = room.start("the whole").await;
        let (root, child) = (handle.thread.clone(), handle.thread.child(1));
        pause.until("the root to wait", |count| count.waiting == 1).await;
        say(&room.runtime, &child, "what do you see?").await;
        gate.until("the child at the gate", |count| count.waiting == 1).await;
        pause.open();
        room.until_logged(&root, "the question", |log| {
            log.iter().any(|record| record.thread == child && is_question(&record.event))
        })
        .await;
        if stops {
            let stopped = tokio::spawn({
                let (runtime, root) = (room.runtime.clone(), root.clone());
                async move { runtime.stop(&root, Strength::Kill, "enough").await }
            });
            soon("the stop", stopped).await.expect("no panic").expect("the root is stopped");
            assert_eq!(report(handle).await.outcome, Outcome::Cancelled);
            gate.open();
            assert_eq!(&*answer(&room, &child, 2).await.text, "a person's", "which no parent stops");
        } else {
            gate.open();
            assert_eq!(&*report(handle).await.text, "done");
            assert_eq!(&*answer(&room, &child, 3).await.text, "the parent's");
        }
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

fn is_question(event: &Event) -> bool {
    matches!(event, Event::InputArrived { input: agent::Outside::Asked { .. }, .. })
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_a_question_is_asked_once_and_its_answer_is_fetched() {
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let plan = Plan::new(&[
            scene("the whole", &[calls(&[spawn("look around")]), calls(&[ask("1", "more?", "")]), says("done")]),
            scene("look around", &[says("one"), calls(&[call("gate")]), says("two")]),
        ]);
        let mut room = plan.store(store).tool(gate.clone()).open().await;
        let handle = room.start("the whole").await;
        let (root, child) = (handle.thread.clone(), handle.thread.child(1));
        gate.until("the child at the gate", |count| count.waiting == 1).await;
        room.again().await;
        gate.open();
        let handle = room.resume(&root).await;
        assert_eq!(&*report(handle).await.text, "done");
        let log = room.log(&root).await;
        let questions = log.iter().filter(|record| record.thread == child && is_question(&record.event)).count();
        assert_eq!((questions, room.count(&child, "reported").await), (1, 2));
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

// INV-8
#[tokio::test(flavor = "multi_thread")]
async fn a_notice_wakes_an_idle_thread_once_and_one_that_works_reads_it() {
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let plan = Plan::new(&[scene("the whole", &[says("one"), calls(&[call("gate")]), says("two"), says("three")])]);
        let room = plan.store(store).tool(gate.clone()).open().await;
        let (root, _) = room.run("the whole").await;
        let notify = async |id: &str, text: &str| {
            let notice = majordomo_runtime::Notice::new("a board", text);
            soon("a notice", room.runtime.notify(&root, InputId::new(id), notice)).await.expect("it is told");
        };
        notify("n1", "task 1 is done").await;
        gate.until("the root at the gate", |count| count.waiting == 1).await;
        notify("n1", "task 1 is done").await;
        notify("n2", "task 2 is done").await;
        gate.open();
        assert_eq!(&*answer(&room, &root, 2).await.text, "two");
        let count = async |kind: &str| room.count(&root, kind).await;
        assert_eq!((count("run_started").await, count("steered").await, count("input_arrived").await), (2, 1, 3));
        notify("n2", "task 2 is done").await;
        room.assert_at_rest(&root).await;
        assert_eq!(room.count(&root, "run_started").await, 2, "it was read");
        room.runtime.leave().await;
    }
}

// LACE-13
#[tokio::test]
async fn a_notice_at_the_end_of_the_only_run_of_a_process_begins_another() {
    let gate = Gate::new("gate");
    let plan = Plan::new(&[scene("the whole", &[calls(&[call("gate")]), says("one"), says("two")])]);
    let room = plan.store(FaultyStore::new(|_| Fault::Fine)).tool(gate.clone()).open().await;
    let root = room.start("the whole").await.thread;
    gate.until("the root at the gate", |count| count.waiting == 1).await;

    // The thread is seen to run, and the store is about to say which processes live. Meanwhile the run ends.
    let notice = majordomo_runtime::Notice::new("a board", "task 1 is done");
    let mut told = pin!(room.runtime.notify(&root, InputId::new("n1"), notice));
    assert!(poll!(told.as_mut()).is_pending());
    gate.open();
    assert_eq!(&*answer(&room, &root, 1).await.text, "one");
    soon("the notice", told).await.expect("it is told");
    assert_eq!(&*answer(&room, &root, 2).await.text, "two");
    room.runtime.leave().await;
}

// LACE-4
#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_a_child_is_given_out_once_for_each_name_by_an_idle_parent_and_by_one_that_works() {
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let plan = Plan::new(&[
            scene("the whole", &[calls(&[spawn("look around")]), calls(&[call("gate")]), says("done")]),
            scene("look around", &[says("one")]),
        ]);
        let room = plan.store(store).tool(gate.clone()).open().await;
        let handle = room.start("the whole").await;
        let root = handle.thread.clone();
        gate.until("the root at the gate", |count| count.waiting == 1).await;
        let issue = async |runtime: &Runtime, id: &str| {
            soon("a number", runtime.issue_child(&root, InputId::new(id))).await.expect("it is given out")
        };
        assert_eq!(issue(&room.runtime, "t1").await, root.child(2), "by one that works");
        gate.open();
        report(handle).await;
        assert_eq!(issue(&room.runtime, "t1").await, root.child(2));
        assert_eq!(issue(&room.runtime, "t2").await, root.child(3), "by an idle one");
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}
