//! Tools that are replaced or removed while a call waits: a call runs on the tools by which it was judged, or is refused.

use agent::tools::{Reach, Risk, ToolInfo, ToolResult};
use agent::{Event, Json, ThreadId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
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
    let log = room.log(root).await;
    let finished = log.iter().filter_map(|record| match &*record.event {
        Event::ToolFinished { result, .. } => Some((result.is_error, result.content.to_string())),
        _ => None,
    });
    finished.filter(|(_, content)| content != "through").collect()
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
