//! Families made up for one test: only what the test is about, the rest is filled in.

use std::sync::Arc;

use agent::brief::Brief;
use agent::budget::{Claim, Grant};
use agent::event::{Answered, ChildSpawned, ThreadCreated, TurnKind, TurnStarted, Verdict, VerdictKind};
use agent::message::{Origin, Part};
use agent::model::{CallError, CallErrorKind, Model, StopReason, Tokens};
use agent::role::Role;
use agent::{CallId, Event, InputId, Json, Mode, Outcome, Report, ThreadId, Time};

use crate::story::Record;

/// Events in the order of the log, a second apart.
#[derive(Default)]
pub struct Family(pub Vec<Record>);

impl Family {
    pub fn log(&mut self, thread: &str, event: Event) -> &mut Self {
        let seq = self.0.len() as u64 + 1;
        self.0.push(Record { seq, thread: id(thread), at: Time(1_768_471_200_000 + seq as i64 * 1000), event });
        self
    }

    pub fn created(&mut self, thread: &str, name: &str) -> &mut Self {
        let thread_id = id(thread);
        let call = (!thread_id.is_root()).then(|| CallId::new(format!("call-{thread}")));
        let brief = call.is_some().then(|| Brief::task(format!("Work on {thread}")));
        let created = ThreadCreated {
            id: thread_id,
            parent_call: call,
            name: name.into(),
            role: role(name),
            mode: Mode::Ask,
            policy: Arc::default(),
            grant: Grant::default(),
            brief,
            workspace: "house".into(),
            today: "2026-01-15".into(),
            preset: "default".into(),
            household: None,
            place: Default::default(),
            path: vec![name.into()],
            above: Vec::new(),
            progress: false,
            lifecycle: Default::default(),
            created_for: None,
            copied_from: Vec::new(),
            foreign: false,
            system: None,
            own_words: None,
            opening: None,
        };
        self.log(thread, Event::ThreadCreated(Box::new(created)))
    }

    pub fn spawned(&mut self, parent: &str, child: &str, queued: bool) -> &mut Self {
        let spawned = ChildSpawned {
            child: id(child),
            call: CallId::new(format!("call-{child}")),
            subtask: None,
            name: "helper".into(),
            role: role("helper"),
            mode: Mode::Ask,
            grant: Grant::default(),
            brief: Brief::task(format!("Work on {child}")),
            background: false,
            queued,
            narrowed: Vec::new(),
            progress: false,
            reusable: false,
        };
        self.log(parent, Event::ChildSpawned(Box::new(spawned)))
    }

    pub fn run_started(&mut self, thread: &str, prompt: &str) -> &mut Self {
        self.log(thread, Event::run_started(InputId::new("in"), 1, prompt))
    }

    pub fn turn_started(&mut self, thread: &str, turn: u32) -> &mut Self {
        let started =
            TurnStarted { turn, kind: TurnKind::Work, max_tokens: 100, claim: Default::default(), told: None };
        self.log(thread, Event::TurnStarted(started))
    }

    /// A request that fails and is sent again after this time.
    pub fn fails(&mut self, thread: &str, turn: u32, attempt: u32, wait_ms: i64) -> &mut Self {
        let kind = CallErrorKind::Overloaded;
        let error = CallError::new(kind, "busy");
        let at = 1_768_471_200_000 + (self.0.len() as i64 + 1) * 1000;
        let retry_at = Some(Time(at + wait_ms));
        self.log(thread, Event::CallFailed { turn, attempt, error, retry_at, booked: Claim::default() })
    }

    pub fn said(&mut self, thread: &str, text: &str) -> &mut Self {
        let text = Part::Text { text: text.into(), origin: Origin::Model };
        self.log(thread, Event::Answered(answered(vec![text], Vec::new())))
    }

    /// An answer that makes these calls: name of the call, tool, arguments, what becomes of it.
    pub fn called(&mut self, thread: &str, calls: &[(&str, &str, &str, VerdictKind)]) -> &mut Self {
        let part = |(call, tool, input, _): &(&str, &str, &str, VerdictKind)| Part::ToolCall {
            id: CallId::new(*call),
            name: (*tool).into(),
            input: Json::parse(input).expect("the test writes JSON"),
        };
        let verdict = |(call, _, _, what): &(&str, &str, &str, VerdictKind)| {
            let call = CallId::new(*call);
            serde_json::from_value::<Verdict>(serde_json::json!({"call": call, "what": what, "counts": true})).unwrap()
        };
        let answer = answered(calls.iter().map(part).collect(), calls.iter().map(verdict).collect());
        self.log(thread, Event::Answered(answer))
    }

    pub fn reported(&mut self, thread: &str, outcome: Outcome) -> &mut Self {
        self.log(thread, Event::Reported(Box::new(report(outcome))))
    }
}

pub fn id(thread: &str) -> ThreadId {
    ThreadId::new(thread)
}

pub fn report(outcome: Outcome) -> Report {
    Report { reason: None, ..Report::empty(outcome, "") }
}

pub fn refused(reason: &str) -> VerdictKind {
    VerdictKind::Refused { reason: reason.into(), rule: None }
}

fn role(name: &str) -> Role {
    let model = Model {
        name: "builtin/rules".into(),
        context_tokens: 1000,
        max_output_tokens: 100,
        price: None,
        patience: Default::default(),
        effort: None,
    };
    Role {
        name: name.into(),
        prompt: "".into(),
        model,
        tools: Vec::new(),
        lends: Vec::new(),
        requires: Vec::new(),
        servers: None,
        gets_new_tools: false,
        catalog: "".into(),
        output_schema: None,
    }
}

fn answered(parts: Vec<Part>, verdicts: Vec<Verdict>) -> Answered {
    let stop = if verdicts.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
    let tokens = Tokens { input: 10, output: 5, ..Tokens::default() };
    Answered {
        turn: 1,
        parts,
        stop,
        tokens,
        counted_tokens: 15,
        cost_microusd: 0,
        estimated: false,
        schema_error: None,
        cut_call: None,
        verdicts,
        next: None,
    }
}
