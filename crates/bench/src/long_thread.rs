//! A long thread, written by the rules alone: the model calls the tool once more, the tool answers. No model is asked;
//! what reaches the log is what a run of that length would have left there.

use std::sync::Arc;

use majordomo::agent::Catalog;
use majordomo::agent::message::Part;
use majordomo::agent::model::{Answer, StopReason, Tokens};
use majordomo::agent::tools::ToolResult;
use majordomo::agent::{CallId, Effect, Event, Input, InputId, Json, Outside, Step, Thread, ThreadId, Time, creation};
use majordomo::store::{Appended, Commit, ProcessId, Store};

use crate::answer::TOOL;
use crate::setup;

/// A thread and its log.
pub struct LongThread {
    store: Arc<dyn Store>,
    process: ProcessId,
    catalog: Arc<Catalog>,
    id: ThreadId,
    thread: Thread,
    /// What the rules said last, and is not written yet.
    step: Step,
    /// Events that are written.
    pub n: u64,
}

impl LongThread {
    /// Creates a root and gives it its first message.
    pub async fn begin(store: Arc<dyn Store>, process: ProcessId, id: ThreadId, at: Time) -> anyhow::Result<Self> {
        let catalog = Arc::new(setup::catalog());
        let created =
            creation::root(&catalog, setup::root(id.clone(), 1), setup::model()).map_err(anyhow::Error::msg)?;
        let created = Event::ThreadCreated(Box::new(created));
        let thread = Thread::new(at, &created);
        let step = Step { events: vec![created], effects: Vec::new() };
        let mut chronicle = Self { store, process, catalog, id, thread, step, n: 0 };
        chronicle.lap(at).await?;
        let said = Outside::said("Look at everything.");
        let arrived = Event::InputArrived { id: InputId::new("first"), input: said };
        chronicle.thread.apply(at, &arrived);
        let facts = setup::facts(&chronicle.catalog, &chronicle.thread, &Input::Arrived, at);
        chronicle.step = chronicle.thread.handle(Input::Arrived, &facts, at);
        chronicle.step.events.insert(0, arrived);
        Ok(chronicle)
    }

    /// Writes what the rules said last, and has it answered. The answer is not written yet.
    pub async fn lap(&mut self, at: Time) -> anyhow::Result<Appended> {
        let Step { events, effects } = std::mem::take(&mut self.step);
        let commit = Commit {
            thread: self.id.clone(),
            expected: self.n,
            epoch: 1,
            process: self.process.clone(),
            at,
            events: events.into_iter().map(Arc::new).collect(),
            lets_go: false,
        };
        let appended = self.store.append(commit).await?;
        self.n = appended.n;
        for effect in effects {
            let Some(input) = perform(&effect, self.n) else { continue };
            let facts = setup::facts(&self.catalog, &self.thread, &input, at);
            let mut next = self.thread.handle(input, &facts, at);
            self.step.events.append(&mut next.events);
            self.step.effects.append(&mut next.effects);
        }
        Ok(appended)
    }
}

/// The model calls the tool once more, each time with other arguments; the tool answers.
fn perform(effect: &Effect, n: u64) -> Option<Input> {
    match effect {
        Effect::CallModel { turn, .. } => {
            let input = Json::of(&serde_json::json!({ "at": format!("shelf {n}") }));
            let call = Part::ToolCall { id: CallId::new(format!("look_{n}")), name: TOOL.into(), input };
            let tokens = Tokens { input: 100, output: 10, ..Tokens::default() };
            let answer = Answer {
                parts: vec![call],
                stop: StopReason::ToolUse,
                tokens: Some(tokens),
                malformed: Vec::new(),
                cut_call: None,
            };
            Some(Input::ModelAnswered { turn: *turn, answer, schema_error: None })
        }
        Effect::RunTool { call, .. } => {
            Some(Input::ToolFinished { call: call.clone(), result: ToolResult::ok("Twelve books and a lamp.") })
        }
        _ => None,
    }
}
