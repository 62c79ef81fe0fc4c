//! One thread as far as it is known from the log, and all threads of a family.
//!
//! Everything is kept as a set, as a fact that never changes, or as the latest of its kind by place in the log;
//! so events may come in any order and a known fact is never erased (KATA-12, INV-7). The caller pushes each event once.
//! What things cost is kept by the ledger (`usage`); how they are drawn, by `draw`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent::approval::ApprovalId;
use agent::event::{ChildSpawned, ThreadCreated, TurnKind};
use agent::message::Part;
use agent::{CallId, Event, Json, Outcome, Report, ThreadId, Time};

use crate::{Logged, Retry, State, argument};

/// The tool by which an agent asks the person.
const ASK_USER: &str = "ask_user";

/// All threads of a family.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownThreads(BTreeMap<ThreadId, KnownThread>);

/// One thread's known.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownThread {
    /// Who it is, from its own log.
    own: Option<Origin>,
    /// Who it is, from its parent's log: all that is known before it begins.
    from_parent: Option<Origin>,
    /// Whether it had to wait for a permit.
    waits_for_permit: bool,
    /// Whether its parent goes on without it.
    pub(crate) background: bool,
    /// Whether its parent says that it began.
    started: bool,
    /// The newest run of a root: when it began and what it was asked.
    run: Latest<(Time, Arc<str>)>,
    phase: Latest<Phase>,
    /// Whether the model is being asked.
    asked: Latest<bool>,
    /// Why the model is going to be asked again, while it waits for that.
    retry: Latest<Option<Retry>>,
    /// What the turns were for, by number.
    turns: BTreeMap<u32, Purpose>,
    calls: BTreeMap<CallId, Call>,
    last_tool: Latest<CallId>,
    children: BTreeSet<ThreadId>,
    reported: BTreeSet<ThreadId>,
    /// Calls that wait for children.
    waits: BTreeSet<CallId>,
    /// Questions to a person, and those of them that are answered.
    questions: BTreeSet<ApprovalId>,
    answers: BTreeSet<ApprovalId>,
    stall: Latest<Arc<str>>,
    /// The place of the newest event of its own log.
    heard: u64,
    /// How its newest run ended, from its own log; none while it runs.
    end: Latest<Option<End>>,
    /// How it ended, from its parent's log.
    handed_up: Option<End>,
}

/// Who a thread is.
#[derive(Clone, Debug)]
struct Origin {
    at: Time,
    name: Arc<str>,
    agent: Arc<str>,
    model: Arc<str>,
    goal: Option<Arc<str>>,
    call: Option<CallId>,
    path: Option<Vec<Arc<str>>>,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) at: Time,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<Arc<str>>,
}

/// A call, from whichever of its events came first.
#[derive(Clone, Debug, Default)]
struct Call {
    name: Option<Arc<str>>,
    argument: Option<Arc<str>>,
    /// The place at which its tool began.
    started: Option<u64>,
    finished: bool,
}

/// What the thread's newest step was.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Created,
    Begun,
    Turn(u32),
    Reopened,
    Ending,
}

/// What a turn is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Work,
    Summary,
    LastWords,
}

/// The value that stands furthest on in the log.
#[derive(Clone, Debug)]
struct Latest<T> {
    seq: u64,
    value: Option<T>,
}

impl KnownThreads {
    /// Takes in what an event says of its thread, and what it says of a child.
    pub(crate) fn push(&mut self, logged: &Logged<'_>) {
        match logged.event {
            Event::ChildSpawned(spawned) => self.entry(&spawned.child).is_spawned(logged.at, spawned),
            Event::ChildStarted { child } => self.entry(child).started = true,
            Event::ChildReported { child, report, .. } => {
                self.entry(child).handed_up = Some(End::of(logged.at, report));
            }
            _ => {}
        }
        self.entry(logged.thread).push(logged);
    }

    pub(crate) fn known(&self, thread: &ThreadId) -> Option<&KnownThread> {
        self.0.get(thread)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&ThreadId, &KnownThread)> {
        self.0.iter()
    }

    /// The agent that a thread plays; the thread's own name where that is unknown.
    pub(crate) fn agent(&self, thread: &ThreadId) -> Arc<str> {
        self.known(thread).and_then(KnownThread::agent).unwrap_or_else(|| thread.as_str().into())
    }

    /// The names on the way from the root to a thread, as far as they are known.
    pub(crate) fn path(&self, thread: &ThreadId) -> Vec<Arc<str>> {
        let Some(known) = self.known(thread) else { return Vec::new() };
        if let Some(path) = known.own.as_ref().and_then(|own| own.path.clone()) {
            return path;
        }
        let mut path = thread.parent().map(|parent| self.path(&parent)).unwrap_or_default();
        path.extend(known.name());
        path
    }

    fn entry(&mut self, thread: &ThreadId) -> &mut KnownThread {
        self.0.entry(thread.clone()).or_default()
    }
}

impl KnownThread {
    pub(crate) fn name(&self) -> Option<Arc<str>> {
        self.known(|origin| Some(origin.name.clone()))
    }

    pub(crate) fn agent(&self) -> Option<Arc<str>> {
        self.known(|origin| Some(origin.agent.clone()))
    }

    pub(crate) fn model(&self) -> Option<Arc<str>> {
        self.known(|origin| Some(origin.model.clone()))
    }

    /// The parent's call that this thread answers.
    pub(crate) fn call(&self) -> Option<CallId> {
        self.known(|origin| origin.call.clone())
    }

    /// What it is asked to do: the brief's task, or the newest prompt of a root.
    pub(crate) fn goal(&self) -> Option<Arc<str>> {
        self.known(|origin| origin.goal.clone()).or_else(|| self.run.get().map(|(_, prompt)| prompt.clone()))
    }

    /// Whether it waits in line for a permit.
    pub(crate) fn is_queued(&self) -> bool {
        self.waits_for_permit && !self.started && self.own.is_none() && self.end().is_none()
    }

    /// When its newest run began; none where it has not.
    pub(crate) fn started_at(&self) -> Option<Time> {
        self.run.get().map(|(at, _)| *at).or_else(|| self.own.as_ref().map(|own| own.at))
    }

    /// How its newest run ended. Its own log holds over what its parent was handed.
    pub(crate) fn end(&self) -> Option<&End> {
        match self.end.get() {
            Some(end) => end.as_ref(),
            None => self.handed_up.as_ref(),
        }
    }

    /// Whether the model is being asked, or is going to be asked again.
    pub(crate) fn is_asking(&self) -> bool {
        self.asked.get().copied().unwrap_or(false)
    }

    /// Why the model is going to be asked again, while it waits for that.
    pub(crate) fn retry(&self) -> Option<Retry> {
        self.retry.get().copied().flatten()
    }

    /// What the thread is said to wait for, if it is silent since.
    pub(crate) fn stall(&self) -> Option<&Arc<str>> {
        self.stall.get().filter(|_| self.stall.seq == self.heard && self.end().is_none())
    }

    /// Whether an answer to this turn is a summary, which is not spoken.
    pub(crate) fn sums_up(&self, turn: u32) -> bool {
        self.speaks_in(turn) == Some(false)
    }

    /// Whether an answer to this turn is meant to be read; none where the turn is not known yet.
    pub(crate) fn speaks_in(&self, turn: u32) -> Option<bool> {
        self.turns.get(&turn).map(|purpose| *purpose != Purpose::Summary)
    }

    /// The tool that began last, and its argument in short.
    pub(crate) fn last_tool(&self) -> Option<(Arc<str>, Option<Arc<str>>)> {
        let call = self.calls.get(self.last_tool.get()?)?;
        call.name.clone().map(|name| (name, call.argument.clone()))
    }

    /// The tools that run.
    pub(crate) fn open_tools(&self) -> impl Iterator<Item = Arc<str>> {
        let runs = |call: &&Call| call.started.is_some_and(|at| at > self.run.seq) && !call.finished;
        self.calls.values().filter(runs).map(|call| call.name.clone().unwrap_or_else(|| "tool".into()))
    }

    /// The children that have not reported.
    pub(crate) fn open_children(&self) -> impl Iterator<Item = &ThreadId> {
        self.children.difference(&self.reported)
    }

    /// What the thread is doing.
    pub(crate) fn state(&self) -> State {
        if let Some(end) = self.end() {
            return State::after(end.outcome);
        }
        let phase = match self.phase.get().copied() {
            Some(Phase::Created) if self.call().is_none() => State::Idle,
            Some(Phase::Created | Phase::Begun) => State::Initializing,
            Some(Phase::Turn(turn)) => match self.turns.get(&turn) {
                Some(Purpose::Summary) => State::LoadingContext,
                Some(Purpose::LastWords) => State::Completing,
                Some(Purpose::Work) | None => State::Processing,
            },
            Some(Phase::Reopened) => State::LoadingContext,
            Some(Phase::Ending) => State::Completing,
            None => State::Idle,
        };
        if phase == State::Completing {
            return phase;
        }
        if self.questions.difference(&self.answers).next().is_some() {
            return State::WaitingForUser;
        }
        let mut tools = self.open_tools().peekable();
        if tools.peek().is_some() {
            return if tools.any(|name| *name == *ASK_USER) { State::WaitingForUser } else { State::WaitingForTool };
        }
        let waits = self.waits.iter().any(|call| !self.calls.get(call).is_some_and(|call| call.finished));
        if !self.is_asking() && (waits || self.open_children().next().is_some()) {
            return State::Delegating;
        }
        phase
    }

    fn known<T>(&self, part: impl Fn(&Origin) -> Option<T>) -> Option<T> {
        self.own.as_ref().and_then(&part).or_else(|| self.from_parent.as_ref().and_then(&part))
    }

    fn is_spawned(&mut self, at: Time, spawned: &ChildSpawned) {
        self.from_parent = Some(Origin {
            at,
            name: spawned.name.clone(),
            agent: spawned.role.name.clone(),
            model: spawned.role.model.name.clone(),
            goal: Some(spawned.brief.task.clone()),
            call: Some(spawned.call.clone()),
            path: None,
        });
        self.waits_for_permit = spawned.queued;
        self.background = spawned.background;
    }

    fn push(&mut self, logged: &Logged<'_>) {
        let Logged { seq, at, event, .. } = *logged;
        self.heard = self.heard.max(seq);
        match event {
            Event::ThreadCreated(created) => {
                self.own = Some(Origin::of(at, created));
                self.phase.set(seq, Phase::Created);
            }
            Event::RunStarted { prompt, .. } => {
                self.run.set(seq, (at, prompt.clone()));
                self.phase.set(seq, Phase::Begun);
                self.end.set(seq, None);
                self.asked.set(seq, false);
            }
            Event::StopBegun { .. } => self.phase.set(seq, Phase::Ending),
            Event::TurnStarted(started) => {
                self.asked.set(seq, true);
                self.retry.set(seq, None);
                self.phase.set(seq, Phase::Turn(started.turn));
                let purpose = match started.kind {
                    TurnKind::Work => Purpose::Work,
                    TurnKind::Last(_) => Purpose::LastWords,
                    TurnKind::Compact => Purpose::Summary,
                };
                self.turns.insert(started.turn, purpose);
            }
            Event::CallFailed { error, retry_at, attempt, .. } => {
                self.asked.set(seq, retry_at.is_some());
                self.retry.set(seq, retry_at.map(|at| Retry { attempt: *attempt, at, kind: error.kind }));
            }
            Event::CallRepeated { turn, .. } => {
                self.phase.set(seq, Phase::Turn(*turn));
                self.asked.set(seq, true);
                self.retry.set(seq, None);
            }
            Event::Answered(answered) => {
                self.asked.set(seq, false);
                self.retry.set(seq, None);
                for part in &answered.parts {
                    if let Part::ToolCall { id, name, input } = part {
                        self.call_entry(id).is_asked_for(name, input);
                    }
                }
            }
            Event::ToolStarted { call } => {
                self.last_tool.set(seq, call.clone());
                let call = self.call_entry(call);
                call.started = Some(call.started.map_or(seq, |known| known.min(seq)));
            }
            Event::ToolFinished { call, .. } => self.call_entry(call).finished = true,
            Event::ChildSpawned(spawned) => {
                self.children.insert(spawned.child.clone());
            }
            Event::ChildReported { child, .. } => {
                self.reported.insert(child.clone());
            }
            Event::ApprovalRequested(approval) => {
                self.questions.insert(approval.id.clone());
            }
            Event::ApprovalResolved { approval, .. } => {
                self.answers.insert(approval.clone());
            }
            Event::WaitStarted { call, .. } | Event::ChildAwaited { call, .. } => {
                self.waits.insert(call.clone());
            }
            Event::StallNoticed { waiting_for, .. } => self.stall.set(seq, waiting_for.clone()),
            Event::Reopened { .. } => self.phase.set(seq, Phase::Reopened),
            Event::Reported(report) => {
                self.end.set(seq, Some(End::of(at, report)));
                self.asked.set(seq, false);
            }
            Event::InputArrived { .. }
            | Event::Steered { .. }
            | Event::InputDropped { .. }
            | Event::Delegated { .. }
            | Event::SubtaskSkipped { .. }
            | Event::SubtaskRecalled { .. }
            | Event::ChildSaid { .. }
            | Event::ChildPaused { .. }
            | Event::ChildStarted { .. }
            | Event::ChildStopped { .. }
            | Event::MessageSent { .. }
            | Event::ContextTrimmed { .. }
            | Event::ContextCompacted { .. }
            | Event::BudgetWarned { .. } => {}
        }
    }

    fn call_entry(&mut self, call: &CallId) -> &mut Call {
        self.calls.entry(call.clone()).or_default()
    }
}

impl Call {
    fn is_asked_for(&mut self, name: &Arc<str>, input: &Json) {
        self.name = Some(name.clone());
        self.argument = argument::short(input);
    }
}

impl Origin {
    fn of(at: Time, created: &ThreadCreated) -> Self {
        Self {
            at,
            name: created.name.clone(),
            agent: created.role.name.clone(),
            model: created.role.model.name.clone(),
            goal: created.brief.as_ref().map(|brief| brief.task.clone()),
            call: created.parent_call.clone(),
            path: Some(created.path.clone()),
        }
    }
}

impl End {
    fn of(at: Time, report: &Report) -> Self {
        Self { at, outcome: report.outcome, reason: report.reason.clone() }
    }
}

impl<T> Latest<T> {
    fn set(&mut self, seq: u64, value: T) {
        if seq >= self.seq {
            *self = Self { seq, value: Some(value) };
        }
    }

    fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self { seq: 0, value: None }
    }
}
