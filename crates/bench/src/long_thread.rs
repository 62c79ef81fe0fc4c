//! A long thread, written by the rules alone: the model calls the tool once more, the tool answers, and in the end the model answers in words.
//! No model is asked; what reaches the log is what a run of that length would have left there.

use std::sync::Arc;

use majordomo::agent::Catalog;
use majordomo::agent::event::ThreadCreated;
use majordomo::agent::message::{Origin, Part};
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
    /// Whether the model calls no tool any more.
    is_last: bool,
    /// Events that are written.
    pub n: u64,
}

impl LongThread {
    /// Creates a root and gives it its first message.
    pub async fn begin(store: Arc<dyn Store>, process: ProcessId, id: ThreadId, at: Time) -> anyhow::Result<Self> {
        let catalog = Arc::new(setup::catalog());
        let created = creation::root(&catalog, setup::root(id, 1), setup::model()).map_err(anyhow::Error::msg)?;
        Self::begin_as(store, process, catalog, created, at).await
    }

    /// The same for a root that was made otherwise.
    pub async fn begin_as(
        store: Arc<dyn Store>,
        process: ProcessId,
        catalog: Arc<Catalog>,
        created: ThreadCreated,
        at: Time,
    ) -> anyhow::Result<Self> {
        let id = created.id.clone();
        let created = Event::ThreadCreated(Box::new(created));
        let thread = Thread::new(at, &created);
        let step = Step { events: vec![created], effects: Vec::new() };
        let mut chronicle = Self { store, process, catalog, id, thread, step, is_last: false, n: 0 };
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
        };
        let appended = self.store.append(commit).await?;
        self.n = appended.n;
        for effect in effects {
            let Some(input) = self.perform(&effect) else { continue };
            let facts = setup::facts(&self.catalog, &self.thread, &input, at);
            let mut next = self.thread.handle(input, &facts, at);
            self.step.events.append(&mut next.events);
            self.step.effects.append(&mut next.effects);
        }
        Ok(appended)
    }

    /// Writes the rest of the run: the model answers in words, and the thread is idle.
    pub async fn finish(mut self, at: Time) -> anyhow::Result<()> {
        self.is_last = true;
        while !self.step.events.is_empty() {
            self.lap(at).await?;
        }
        Ok(())
    }

    /// The model calls the tool once more, each time with other arguments; the tool answers.
    fn perform(&self, effect: &Effect) -> Option<Input> {
        let n = self.n;
        match effect {
            Effect::CallModel { turn, .. } => {
                let input = Json::of(&serde_json::json!({ "at": format!("shelf {n}") }));
                let (part, stop) = match self.is_last {
                    true => (
                        Part::Text { text: "Twelve books and a lamp on each shelf.".into(), origin: Origin::Model },
                        StopReason::EndTurn,
                    ),
                    false => {
                        let id = CallId::new(format!("look_{n}"));
                        (Part::ToolCall { id, name: TOOL.into(), input }, StopReason::ToolUse)
                    }
                };
                let tokens = Tokens { input: 100, output: 10, ..Tokens::default() };
                let answer =
                    Answer { parts: vec![part], stop, tokens: Some(tokens), malformed: Vec::new(), cut_call: None };
                Some(Input::ModelAnswered { turn: *turn, answer, schema_error: None })
            }
            Effect::RunTool { call, .. } => {
                Some(Input::ToolFinished { call: call.clone(), result: ToolResult::ok("Twelve books and a lamp.") })
            }
            _ => None,
        }
    }
}
