//! Runs as they should go, with both kinds of store.

use agent::policy::Policy;
use agent::{Event, Outcome};
use store::Status;

use crate::gate::Gate;
use crate::room::{Plan, report, stores};
use crate::script::{call, calls, says, scene, spawn, spawn_with};

#[tokio::test(flavor = "multi_thread")]
async fn a_background_childs_report_gives_its_parent_another_turn() {
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let plan = Plan::new(&[
            scene(
                "the whole",
                &[
                    calls(&[spawn_with("work beside me", ", background = true")]),
                    says("not yet"),
                    says("now it is back"),
                ],
            ),
            scene("work beside me", &[calls(&[call("gate")]), says("was beside you")]),
        ]);
        let room = plan.store(store).tool(gate.clone()).open().await;
        let handle = room.start("the whole").await;
        let root = handle.thread.clone();
        gate.until("the child at the gate", |count| count.waiting == 1).await;
        let answers = |log: &[store::Record]| {
            log.iter().filter(|record| record.thread == root && record.event.kind() == "answered").count()
        };
        room.until_logged(&root, "the first answer", |log| answers(log) == 2).await;
        gate.open();
        let report = report(handle).await;
        assert_eq!((report.outcome, &*report.text), (Outcome::Completed, "now it is back"));
        let log = room.log(&root).await;
        let place = |wanted: &dyn Fn(&Event) -> bool| {
            log.iter().position(|record| record.thread == root && wanted(&record.event)).expect("it happened")
        };
        let pushed = place(&|event| matches!(event, Event::ChildReported { .. }));
        let third = place(&|event| matches!(event, Event::TurnStarted(turn) if turn.turn == 3));
        assert!(pushed < third, "the report comes before the turn that it gives");
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_children_run_at_once_than_there_are_permits() {
    for (store, _folder) in stores() {
        let gate = Gate::new("gate");
        let tasks: Vec<String> = (0..6).map(|number| spawn(&format!("task {number}"))).collect();
        let plan = Plan::new(&[
            scene("the whole", &[calls(&tasks), says("six are back")]),
            scene("task", &[calls(&[call("gate")]), says("through")]),
        ]);
        let policy = Policy { max_concurrent: 2, ..Policy::default() };
        let room = plan.store(store).tool(gate.clone()).policy(policy).open().await;
        let handle = room.start("the whole").await;
        let root = handle.thread.clone();
        gate.until("two at the gate", |count| count.waiting == 2).await;
        let executions = room.store.executions(&root).await.expect("executions can be read");
        let waiting = executions.iter().filter(|execution| execution.status == Status::Pending).count();
        assert_eq!((executions.len(), waiting), (6, 4), "the others wait in line");
        gate.open();
        assert_eq!(&*report(handle).await.text, "six are back");
        assert_eq!((gate.count().came, gate.count().most), (6, 2));
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_its_process_lets_go_of_is_gone_on_with_by_the_next() {
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
        assert!(handle.report().await.is_err(), "the old runtime has no report");
        assert_eq!(gate.count().stopped, 1, "a tool ends with the runtime that ran it");
        gate.open();
        let handle = room.resume(&root).await;
        assert_eq!(&*report(handle).await.text, "done");
        assert_eq!(gate.count().came, 2, "a tool that only looks is run again");
        room.assert_at_rest(&root).await;
        room.runtime.leave().await;
    }
}
