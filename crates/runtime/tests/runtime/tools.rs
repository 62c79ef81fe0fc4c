//! Tools that are published or removed while a call waits: a call runs on the tools by which it was judged, or is refused, and the
//! model is shown the tools in force from its next turn on.

use std::sync::{Arc, Mutex};

use agent::event::VerdictKind;
use agent::message::Role;
use agent::tools::{Reach, Risk, ToolInfo, ToolResult};
use agent::{Event, Json, ThreadId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use provider::{Answering, Ask, Heard, Resident, Said};
use tool::{Registry, Tool, ToolContext};

use crate::gate::Gate;
use crate::room::{Plan, Room, report};
use crate::script::{call, calls, says, scene};

/// A tool that changes something, so that it runs after the calls before it, and says which of its kind it is.
struct Change(ToolInfo, &'static str);

impl Change {
    fn new(which: &'static str) -> Self {
        let schema = r#"{"type":"object","properties":{}}"#;
        Self(tool::info("change", "for tests", schema, Reach::World, false, Risk::Low), which)
    }
}

impl Tool for Change {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn run<'a>(&'a self, _: &'a Json, _: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        async { ToolResult::ok(self.1) }.boxed()
    }
}

/// What the calls of `change` were answered, when other tools are published while the first one waits.
async fn answers(published: impl FnOnce(Registry) -> Registry) -> Vec<(bool, String)> {
    let gate = Gate::new("gate");
    let replies = [calls(&[call("gate"), call("change")]), calls(&[call("change")]), says("done")];
    let plan = Plan::new(&[scene("the whole", &replies)]);
    let room = plan.tool(gate.clone()).tool(Change::new("old")).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    gate.until("the first call at the gate", |count| count.waiting == 1).await;
    let version = room.runtime.tools().publish(published(Registry::new().with(gate.clone()))).expect("no collision");
    assert_eq!(version, 2);
    gate.open();
    report(handle).await;
    room.assert_at_rest(&root).await;
    let answers = results(&room, &root).await;
    room.runtime.leave().await;
    answers
}

async fn results(room: &Room, root: &ThreadId) -> Vec<(bool, String)> {
    let mut results = Vec::new();
    for record in room.log(root).await {
        match &*record.event {
            Event::ToolFinished { result, .. } => results.push((result.is_error, result.content.to_string())),
            Event::Answered(answered) => {
                let refused = answered.verdicts.iter().filter_map(|verdict| match &verdict.what {
                    VerdictKind::Refused { reason, .. } => Some((true, reason.to_string())),
                    _ => None,
                });
                results.extend(refused);
            }
            _ => {}
        }
    }
    results.retain(|(_, content)| content != "through");
    results
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_runs_on_the_tools_by_which_it_was_judged() {
    let answers = answers(|registry| registry.with(Change::new("new"))).await;
    assert_eq!(answers, [(false, "old".to_owned()), (false, "new".to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_tool_that_was_removed_meanwhile_is_refused() {
    let answers = answers(|registry| registry).await;
    assert_eq!(answers[0], (true, "not run: the tool change was removed after the call was allowed".to_owned()));
    assert!(answers[1].0, "{answers:?}");
}

/// A model that makes these calls, one in each answer, and keeps which tools it was shown with each request.
#[derive(Debug)]
struct Witness {
    calls: &'static [&'static str],
    shown: Mutex<Vec<Vec<Arc<str>>>>,
}

impl Witness {
    fn new(calls: &'static [&'static str]) -> Arc<Self> {
        Arc::new(Self { calls, shown: Mutex::default() })
    }

    fn shown(&self) -> Vec<Vec<Arc<str>>> {
        self.shown.lock().expect("nobody panics with the lock held").clone()
    }
}

impl Resident for Witness {
    fn answer<'a>(&'a self, heard: &'a Heard, _: &'a Ask) -> Answering<'a> {
        let shown = heard.tools.iter().map(|tool| tool.name.clone()).collect();
        self.shown.lock().expect("nobody panics with the lock held").push(shown);
        let answers = heard.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let said = self.calls.get(answers).map_or_else(|| Said::text("done"), |call| Said::call(*call, Json::object()));
        Box::pin(std::future::ready(Ok(said)))
    }
}

/// Whether each request showed a tool.
fn showed(witness: &Witness, tool: &str) -> Vec<bool> {
    witness.shown().iter().map(|shown| shown.iter().any(|name| **name == *tool)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_published_while_an_agent_waits_is_in_its_next_request() {
    let (gate, witness) = (Gate::new("gate"), Witness::new(&["gate", "change"]));
    let room = Plan::new(&[]).tool(gate.clone()).witness(witness.clone()).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    gate.until("the call at the gate", |count| count.waiting == 1).await;
    let more = Registry::new().with(gate.clone()).with(Change::new("new"));
    room.runtime.tools().publish(more).expect("no collision");
    gate.open();
    report(handle).await;
    assert_eq!(showed(&witness, "change"), [false, true, true]);
    assert_eq!(results(&room, &root).await, [(false, "new".to_owned())]);
    assert_eq!(room.count(&root, "tools_changed").await, 1);
    room.assert_at_rest(&root).await;
    room.runtime.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_was_removed_is_in_no_further_request_and_a_call_of_it_is_told_so() {
    let (gate, witness) = (Gate::new("gate"), Witness::new(&["gate", "change"]));
    let room = Plan::new(&[]).tool(gate.clone()).tool(Change::new("old")).witness(witness.clone()).open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    gate.until("the call at the gate", |count| count.waiting == 1).await;
    room.runtime.tools().publish(Registry::new().with(gate.clone())).expect("no collision");
    gate.open();
    report(handle).await;
    assert_eq!(showed(&witness, "change"), [true, false, false]);
    let [(is_error, told)] = &results(&room, &root).await[..] else { panic!("one call is answered") };
    assert!(*is_error && told.starts_with("change was removed and is no longer available"), "{told}");
    room.runtime.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_resumed_shows_the_tools_that_were_published_before() {
    let (gate, late) = (Gate::new("gate"), Gate::new("late"));
    let witness = Witness::new(&["gate", "late"]);
    let plan = Plan::new(&[]).tool(gate.clone()).tool(late.clone()).witness(witness.clone());
    let mut room = plan.open().await;
    let handle = room.start("the whole").await;
    let root = handle.thread.clone();
    gate.until("the call at the gate", |count| count.waiting == 1).await;
    let more = || Registry::new().with(gate.clone()).with(late.clone()).with(Change::new("new"));
    room.runtime.tools().publish(more()).expect("no collision");
    gate.open();
    late.until("the call at the second gate", |count| count.waiting == 1).await;
    room.again().await;
    // Another process publishes the same tools under a number of its own.
    room.runtime.tools().publish(Registry::new()).expect("no collision");
    room.runtime.tools().publish(more()).expect("no collision");
    let handle = room.resume(&root).await;
    late.open();
    report(handle).await;
    let shown = witness.shown();
    assert_eq!(showed(&witness, "change"), [false, true, true]);
    assert_eq!(shown[2], shown[1], "the request after the restart shows the same tools in the same order");
    assert_eq!(room.count(&root, "tools_changed").await, 1, "nothing has changed for the agent");
    room.assert_at_rest(&root).await;
    room.runtime.leave().await;
}
