//! A thread with a long past, left in the middle of its work: how long it takes to go on with it.

use std::sync::Arc;

use majordomo::agent::event::ThreadCreated;
use majordomo::agent::message::Part;
use majordomo::agent::model::{Answer, StopReason, Tokens};
use majordomo::agent::tools::ToolResult;
use majordomo::agent::{CallId, Effect, Event, Input, InputId, Json, Outside, Step, Thread, ThreadId, Time, birth};
use majordomo::store::{Commit, Process, ProcessId, Store};

use crate::answer::TOOL;
use crate::gauge::{Gauge, Taken};
use crate::{Keep, Log, house};

const THREAD: &str = "20260115-long";

/// Nobody is asked at this address.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Lets the rules themselves write a thread of `count` events or a few more, and leaves it while the model is asked.
pub async fn write(log: &Log) -> anyhow::Result<Taken> {
    let gauge = Gauge::begin();
    let store = house::store(Keep::Normal, &log.database)?;
    let process = Process::current();
    let id = process.id.clone();
    store.register(process, Time(0)).await?;
    let mut writer = Writer { store: store.clone(), process: id.clone(), n: 0 };
    writer.write_all(log.count as u64).await?;
    store.leave(&id).await?;
    gauge.end()
}

/// Opens the database, reads the thread, and has it go on. What the model would say to it is not waited for.
pub async fn measure(log: &Log) -> anyhow::Result<Taken> {
    let gauge = Gauge::begin();
    let (heart, _) = house::open(NOWHERE, house::store(Keep::Full, &log.database)?).await?;
    heart.resume(&ThreadId::new(THREAD)).await?;
    let taken = gauge.end()?;
    heart.leave().await;
    Ok(taken)
}

struct Writer {
    store: Arc<dyn Store>,
    process: ProcessId,
    /// Events so far.
    n: u64,
}

impl Writer {
    async fn write_all(&mut self, count: u64) -> anyhow::Result<()> {
        let house = house::house();
        let created = birth::root(&house, house::root(ThreadId::new(THREAD), 1)).map_err(anyhow::Error::msg)?;
        let mut thread = self.begin(created).await?;
        let said = Outside::UserSaid { text: "Look at everything.".into() };
        let arrived = Event::InputArrived { id: InputId::new("first"), input: said };
        thread.apply(Time(0), &arrived);
        let mut step = thread.handle(&house, Input::Arrived, Time(0));
        step.events.insert(0, arrived);
        while self.n < count {
            let effects = self.commit(step).await?;
            step = Step::default();
            for effect in effects {
                let Some(input) = perform(&effect, self.n) else { continue };
                let mut next = thread.handle(&house, input, Time(0));
                step.events.append(&mut next.events);
                step.effects.append(&mut next.effects);
            }
        }
        // Its last effect is never performed: that is where the process was gone.
        self.commit(step).await?;
        Ok(())
    }

    async fn begin(&mut self, created: ThreadCreated) -> anyhow::Result<Thread> {
        let event = Event::ThreadCreated(Box::new(created));
        let thread = Thread::new(Time(0), &event);
        self.commit(Step { events: vec![event], effects: Vec::new() }).await?;
        Ok(thread)
    }

    async fn commit(&mut self, step: Step) -> anyhow::Result<Vec<Effect>> {
        let (thread, process) = (ThreadId::new(THREAD), self.process.clone());
        let commit = Commit {
            thread,
            expected: self.n,
            epoch: 1,
            process,
            at: Time(0),
            events: step.events.into_iter().map(Arc::new).collect(),
        };
        self.n = self.store.append(commit).await?.n;
        Ok(step.effects)
    }
}

/// The model calls the tool once more, each time with other arguments; the tool answers.
fn perform(effect: &Effect, n: u64) -> Option<Input> {
    match effect {
        Effect::CallModel { turn, .. } => {
            let input = Json::of(&serde_json::json!({ "at": format!("shelf {n}") }));
            let call = Part::ToolCall { id: CallId::new(format!("look_{n}")), name: TOOL.into(), input };
            let tokens = Tokens { input: 100, output: 10, ..Tokens::default() };
            let answer =
                Answer { parts: vec![call], stop: StopReason::ToolUse, tokens: Some(tokens), malformed: Vec::new() };
            Some(Input::ModelAnswered { turn: *turn, answer, schema_error: None })
        }
        Effect::RunTool { call, .. } => {
            Some(Input::ToolFinished { call: call.clone(), result: ToolResult::ok("Twelve books and a lamp.") })
        }
        _ => None,
    }
}
