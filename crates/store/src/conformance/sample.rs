//! Events, processes and commits that are nothing special.

use std::sync::Arc;
use std::time::Duration;

use agent::approval::{Approval, ApprovalId, Resolution};
use agent::brief::Brief;
use agent::budget::{Claim, Grant};
use agent::event::{Answered, ChildSpawned, ThreadCreated, TurnKind, TurnStarted, Verdict, VerdictKind};
use agent::message::{Origin, Part};
use agent::model::{Model, StopReason, Tokens};
use agent::role::Role;
use agent::tools::{Reach, Risk};
use agent::{CallId, Event, InputId, Json, Mode, Outcome, Outside, Report, ThreadId, Time, Usage};
use tokio::sync::watch;

use crate::log::{Appended, Commit};
use crate::open::Store;
use crate::process::{Process, ProcessId};

/// When nothing else is said.
pub(crate) const NOW: Time = Time(1_768_471_200_000);

/// What one sample answer uses.
pub(crate) const TOKENS: Tokens =
    Tokens { input: 100, cache_read: 10, cache_write: 1, cache_write_1h: 0, output: 20, reasoning: 0 };

pub(crate) fn root() -> ThreadId {
    ThreadId::new("20260115-k3f9")
}

/// A process on another host, which is alive as long as its heartbeat is young.
pub(crate) fn process(name: &str) -> Process {
    Process { id: ProcessId::new(name), pid: 7, start_time: 7, host: "elsewhere".into() }
}

/// Registers `process("writer")`.
pub(crate) async fn writer(store: &dyn Store) -> ProcessId {
    let process = process("writer");
    let id = process.id.clone();
    store.register(process, NOW).await.unwrap();
    id
}

/// The commit of a writer at epoch 1.
pub(crate) fn commit(thread: &ThreadId, expected: u64, events: Vec<Event>) -> Commit {
    let (thread, process) = (thread.clone(), ProcessId::new("writer"));
    let events = events.into_iter().map(Arc::new).collect();
    Commit { thread, expected, epoch: 1, process, at: NOW, events, lets_go: false }
}

/// Writes a commit of the writer's that cannot be refused.
pub(crate) async fn append(store: &dyn Store, thread: &ThreadId, expected: u64, events: Vec<Event>) -> Appended {
    store.append(commit(thread, expected, events)).await.unwrap()
}

/// Registers the writer and creates threads of one event each.
pub(crate) async fn threads(store: &dyn Store, threads: &[&ThreadId]) {
    writer(store).await;
    for thread in threads {
        append(store, thread, 0, vec![created(thread)]).await;
    }
}

/// Waits until the tail stands at this position, and fails if it does not come to.
pub(crate) async fn tail_reaches(tail: &mut watch::Receiver<u64>, position: u64) {
    let reached = tokio::time::timeout(Duration::from_secs(20), tail.wait_for(|newest| *newest == position)).await;
    reached.expect("the tail moves on").expect("the store is open");
}

pub(crate) fn role() -> Role {
    Role {
        name: "general".into(),
        prompt: "You help.".into(),
        model: Model {
            name: "builtin/rules".into(),
            context_tokens: 100_000,
            max_output_tokens: 4_000,
            price: None,
            patience: Default::default(),
            effort: None,
        },
        tools: vec!["read_file".into()],
        lends: Vec::new(),
        requires: Vec::new(),
        servers: None,
        gets_new_tools: false,
        catalog: "".into(),
        output_schema: None,
    }
}

pub(crate) fn created(thread: &ThreadId) -> Event {
    Event::ThreadCreated(Box::new(ThreadCreated {
        id: thread.clone(),
        parent_call: None,
        name: "helper".into(),
        role: role(),
        mode: Mode::Ask,
        policy: Arc::default(),
        grant: Grant::default(),
        brief: (!thread.is_root()).then(|| Brief::task("look\nthere")),
        workspace: "/home/ana/desk".into(),
        today: "2026-01-15".into(),
        preset: "default".into(),
        household: None,
        place: Default::default(),
        path: vec!["general".into()],
        above: Vec::new(),
        progress: false,
        lifecycle: Default::default(),
        created_for: None,
        copied_from: Vec::new(),
        foreign: false,
        system: None,
        own_words: None,
        opening: None,
    }))
}

pub(crate) fn run_started(run: u32, prompt: &str) -> Event {
    Event::run_started(InputId::new(format!("in-{run}")), run, prompt)
}

pub(crate) fn turn_started(turn: u32) -> Event {
    Event::TurnStarted(TurnStarted {
        turn,
        kind: TurnKind::Work,
        max_tokens: 1_000,
        claim: Claim::default(),
        told: None,
    })
}

/// An answer that calls these tools; the second call of turn 1 is named `1-1`.
pub(crate) fn answered(turn: u32, tools: &[&str]) -> Event {
    let call = |index: usize| CallId::new(format!("{turn}-{index}"));
    let mut parts = vec![Part::Text { text: "hm".into(), origin: Origin::Model }];
    parts.extend(tools.iter().enumerate().map(|(index, tool)| Part::ToolCall {
        id: call(index),
        name: (*tool).into(),
        input: Json::object(),
    }));
    let verdicts = (0..tools.len()).map(|index| Verdict {
        call: call(index),
        what: VerdictKind::Run { reach: Reach::ReadOnly, idempotent: true },
        counts: true,
        malformed: false,
        decider: None,
        by: None,
        tool: None,
    });
    Event::Answered(Answered {
        turn,
        parts,
        stop: StopReason::EndTurn,
        tokens: TOKENS,
        counted_tokens: TOKENS.total(),
        cost_microusd: 5,
        estimated: false,
        schema_error: None,
        cut_call: None,
        verdicts: verdicts.collect(),
        next: None,
    })
}

pub(crate) fn spawned(child: &ThreadId, name: &str) -> Event {
    Event::ChildSpawned(Box::new(ChildSpawned {
        child: child.clone(),
        call: CallId::new("spawn"),
        subtask: None,
        name: name.into(),
        role: role(),
        mode: Mode::Ask,
        grant: Grant::default(),
        brief: Brief::task("look there"),
        background: false,
        queued: false,
        narrowed: Vec::new(),
        progress: false,
        reusable: false,
    }))
}

/// A thread's question of this number, about the first call of its first turn.
pub(crate) fn question(thread: &ThreadId, number: u32) -> Approval {
    Approval {
        id: ApprovalId::of(thread, number),
        call: CallId::new("1-0"),
        tool: "write_file".into(),
        input: Json::parse(r#"{ "path": "a.txt" }"#).unwrap(),
        digest: "d".into(),
        path: vec!["general".into(), "scout".into()],
        workspace: "/home/ana/desk".into(),
        why: "mode ask: writing needs approval".into(),
        effect: "writes a.txt".into(),
        risk: Risk::Medium,
        protected: Vec::new(),
        foreign: false,
        standing: Some("a.txt".into()),
        question: None,
        sampling: None,
        places: 0,
        expires_at: NOW.plus_ms(1_000),
    }
}

pub(crate) fn asked(thread: &ThreadId, number: u32) -> Event {
    Event::ApprovalRequested(Box::new(question(thread, number)))
}

pub(crate) fn resolved(thread: &ThreadId, number: u32, resolution: Resolution) -> Event {
    let Approval { id: approval, call, .. } = question(thread, number);
    Event::ApprovalResolved { approval, call, input: None, resolution }
}

pub(crate) fn report(outcome: Outcome) -> Report {
    Report {
        text: "what was found".into(),
        reason: (outcome != Outcome::Completed).then(|| format!("it was {outcome}").into()),
        usage: Usage { tokens: TOKENS, ..Usage::default() },
        duration_ms: 1_234,
        ..Report::empty(outcome, "")
    }
}

pub(crate) fn reported(outcome: Outcome) -> Event {
    Event::Reported(Box::new(report(outcome)))
}

pub(crate) fn child_reported(child: &ThreadId, outcome: Outcome) -> Event {
    Event::ChildReported { child: child.clone(), report: Box::new(report(outcome)), told: None }
}

pub(crate) fn said(text: &str) -> Outside {
    Outside::said(text)
}
