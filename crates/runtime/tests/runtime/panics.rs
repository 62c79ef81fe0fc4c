//! Something of ours panics: a tool, the rules, the driver. It ends one agent with a report that says so, and no other.

use std::sync::atomic::{AtomicBool, Ordering};

use agent::{Event, Outcome};
use store::Commit;

use crate::faulty_store::{Fault, FaultyStore};
use crate::gate::{Cursed, Falls, Gate};
use crate::room::{Plan, report};
use crate::script::{call, calls, says, scene, spawn, spawn_with};

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_panics_is_a_failed_call_and_its_agent_goes_on() {
    // F25
    let plan =
        Plan::new(&[scene("the whole", &[calls(&[call("fall_at_once"), call("fall_later")]), says("still here")])]);
    let room = plan.tool(Falls::at_once()).tool(Falls::later()).open().await;
    let (root, report) = room.run("the whole").await;
    assert_eq!((report.outcome, &*report.text), (Outcome::Completed, "still here"));
    let log = room.log(&root).await;
    let results: Vec<&str> = log
        .iter()
        .filter_map(|record| match &*record.event {
            Event::ToolFinished { result, .. } if result.is_error => Some(&*result.content),
            _ => None,
        })
        .collect();
    assert!(results[0].contains("falls at once") && results[1].contains("falls later"), "{results:?}");
    room.assert_at_rest(&root).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_while_an_answer_is_decided_on_ends_the_agent_it_happened_to_and_its_children() {
    // F25: the first child calls a tool that panics when the call is assessed, while it has a child of its own.
    let gate = Gate::new("gate");
    let beside = spawn_with("stay there", ", background = true, max_tokens = 20000");
    let plan = Plan::new(&[
        scene("the whole", &[calls(&[spawn("fall"), spawn("wait")]), says("one of two is back")]),
        scene("fall", &[calls(&[beside]), calls(&[call("cursed")]), says("never said")]),
        scene("stay there", &[calls(&[call("shut")]), says("never said")]),
        scene("wait", &[calls(&[call("gate")]), says("waited")]),
    ]);
    let shut = Gate::new("shut");
    let room = plan.tool(gate.clone()).tool(shut.clone()).tool(Cursed::new()).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    let is_over = |log: &[store::Record]| {
        log.iter().any(|record| record.thread == root && matches!(&*record.event, Event::ChildReported { .. }))
    };
    room.until_logged(&root, "the fallen to be reported", is_over).await;
    let fallen = room.report_of(&root.child(1)).await;
    assert_eq!((fallen.outcome, fallen.cause.as_deref()), (Outcome::Error, Some("panic")));
    assert!(fallen.reason.is_some_and(|reason| reason.contains("this call cannot be assessed")));
    assert_eq!(room.report_of(&root.child(1).child(1)).await.outcome, Outcome::Cancelled);
    gate.open();
    assert_eq!(&*report(handle).await.text, "one of two is back");
    assert_eq!(&*room.report_of(&root.child(2)).await.text, "waited");
    room.assert_at_rest(&root).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_around_the_rules_ends_the_agent_it_happened_to() {
    // F25: each kind of commit of the first child is once the one at which its driver falls.
    for kind in ["thread_created", "answered", "tool_finished", "reported"] {
        let fallen = AtomicBool::new(false);
        let fault = move |commit: &Commit| {
            let is_child = commit.thread.as_str().ends_with(".1");
            let falls = is_child && commit.events.iter().any(|event| event.kind() == kind);
            if falls && !fallen.swap(true, Ordering::Relaxed) { Fault::Panics } else { Fault::Fine }
        };
        let plan = Plan::new(&[
            scene("the whole", &[calls(&[spawn("fall"), spawn("stand")]), says("both are heard of")]),
            scene("fall", &[calls(&[call("gate")]), says("never said")]),
            scene("stand", &[calls(&[call("gate")]), says("stood")]),
        ]);
        let gate = Gate::new("gate");
        gate.open();
        let room = plan.store(FaultyStore::new(fault)).tool(gate).open().await;
        let (root, report) = room.run("the whole").await;
        assert_eq!((report.outcome, &*report.text), (Outcome::Completed, "both are heard of"), "{kind}");
        assert_eq!(&*room.report_of(&root.child(2)).await.text, "stood", "{kind}");
        let log = room.log(&root).await;
        let told = log.iter().find_map(|record| match &*record.event {
            Event::ChildReported { child, report, .. } if *child == root.child(1) => Some(report.clone()),
            _ => None,
        });
        let told = told.expect("the parent has a report");
        assert_eq!((told.outcome, told.cause.as_deref()), (Outcome::Error, Some("panic")), "{kind}");
        // A child that fell before it was written down has no log to look at.
        if kind != "thread_created" {
            room.assert_at_rest(&root).await;
        }
    }
}
