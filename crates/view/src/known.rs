//! One thread as far as it is known from the log, and all threads of a family.
//!
//! Everything is kept as a set, as a fact that never changes, or as the latest of its kind by place in the log;
//! so events may come in any order and a known fact is never erased (KATA-12, INV-7). The caller pushes each event once.
//! What things cost is kept by the ledger (`usage`); how they are drawn, by `draw`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use agent::activity::{Activity, Change};
use agent::event::{ChildSpawned, ThreadCreated, TurnKind};
use agent::tools::CHECKS;
use agent::{CallId, Event, InputId, Json, Outcome, Report, State, ThreadId, Time};

use crate::{Logged, Retry, argument};

/// All threads of a family, in no order: each event looks some of them up.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownThreads(HashMap<ThreadId, KnownThread>);

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
    /// The newest run that a message began: when, what was asked, and by which message.
    run: Latest<NewestRun>,
    /// The calls by which its parent asked it something more, by message.
    asks: BTreeMap<InputId, CallId>,
    /// The request that failed and is going to be sent again.
    retry: Latest<Option<Retry>>,
    /// Turns that began.
    turns: BTreeSet<u32>,
    /// What is under way, from its own log.
    activity: ActivityInAnyOrder,
    /// Turns in which the conversation is summarised.
    summaries: BTreeSet<u32>,
    /// Tools and arguments of its calls.
    calls: BTreeMap<CallId, Call>,
    /// The newest model that a person chose.
    chosen_model: Latest<Option<Arc<str>>>,
    last_tool: Latest<CallId>,
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

/// A run that a message began.
#[derive(Clone, Debug)]
struct NewestRun {
    at: Time,
    prompt: Arc<str>,
    message: InputId,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) at: Time,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<Arc<str>>,
}

/// A call, from its answer.
#[derive(Clone, Debug)]
struct Call {
    name: Arc<str>,
    argument: Option<Arc<str>>,
}

/// An [`Activity`] whose changes may come in any order. A change that comes late has all of them folded again.
#[derive(Clone, Debug, Default)]
struct ActivityInAnyOrder {
    /// Changes by place in the log.
    changes: Vec<(u64, Change)>,
    folded: Activity,
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
            Event::ChildAsked(asked) => {
                self.entry(&asked.child).asks.insert(asked.input.clone(), asked.call.clone());
            }
            Event::ChildStarted { child, .. } => self.entry(child).started = true,
            Event::ChildReported { child, report, .. } if report.asked.is_none() => {
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
        entry(&mut self.0, thread)
    }
}

/// What is kept for a thread, made where it is missing. Names of threads are shared by all processors, so they are copied only then.
pub(crate) fn entry<'a, T: Default>(map: &'a mut HashMap<ThreadId, T>, thread: &ThreadId) -> &'a mut T {
    let is_known = map.contains_key(thread);
    if !is_known {
        map.insert(thread.clone(), T::default());
    }
    map.get_mut(thread).expect("it was put there if it was missing")
}

impl KnownThread {
    pub(crate) fn name(&self) -> Option<Arc<str>> {
        self.known(|origin| Some(origin.name.clone()))
    }

    pub(crate) fn agent(&self) -> Option<Arc<str>> {
        self.known(|origin| Some(origin.agent.clone()))
    }

    /// The model that it speaks with: the newest that a person chose, else that of its role.
    pub(crate) fn model(&self) -> Option<Arc<str>> {
        self.chosen_model.get().cloned().flatten().or_else(|| self.known(|origin| Some(origin.model.clone())))
    }

    /// The parent's call that this thread answers; none where a person asked.
    pub(crate) fn call(&self) -> Option<CallId> {
        match self.run.get() {
            Some(run) => self.asks.get(&run.message).cloned(),
            None => self.known(|origin| origin.call.clone()),
        }
    }

    /// Whether it does what its parent did not ask: then it needs no parent that waits for it.
    pub(crate) fn is_alone(&self) -> bool {
        self.run.get().is_some_and(|run| !self.asks.contains_key(&run.message))
    }

    /// What it is asked to do: the newest message, or the brief's task.
    pub(crate) fn goal(&self) -> Option<Arc<str>> {
        self.run.get().map(|run| run.prompt.clone()).or_else(|| self.known(|origin| origin.goal.clone()))
    }

    /// Whether it waits in line for a permit.
    pub(crate) fn is_queued(&self) -> bool {
        self.waits_for_permit && !self.started && self.own.is_none() && self.end().is_none()
    }

    /// When its newest run began; none where it has not.
    pub(crate) fn started_at(&self) -> Option<Time> {
        self.run.get().map(|run| run.at).or_else(|| self.own.as_ref().map(|own| own.at))
    }

    /// How its newest run ended. Its own log holds over what its parent was handed.
    pub(crate) fn end(&self) -> Option<&End> {
        match self.end.get() {
            Some(end) => end.as_ref(),
            None => self.handed_up.as_ref(),
        }
    }

    /// The request that failed and is going to be sent again.
    pub(crate) fn retry(&self) -> Option<Retry> {
        self.retry.get().copied().flatten()
    }

    /// What the thread is said to wait for, if it is silent since.
    pub(crate) fn stall(&self) -> Option<&Arc<str>> {
        self.stall.get().filter(|_| self.stall.seq == self.heard && self.end().is_none())
    }

    /// Whether an answer to this turn is a summary, which is not spoken.
    pub(crate) fn sums_up(&self, turn: u32) -> bool {
        self.summaries.contains(&turn)
    }

    /// Whether an answer to this turn is meant to be read; none where the turn is not known yet.
    pub(crate) fn speaks_in(&self, turn: u32) -> Option<bool> {
        self.turns.contains(&turn).then(|| !self.sums_up(turn))
    }

    /// The tool that began last, and its argument in short.
    pub(crate) fn last_tool(&self) -> Option<(Arc<str>, Option<Arc<str>>)> {
        let call = self.calls.get(self.last_tool.get()?)?;
        Some((call.name.clone(), call.argument.clone()))
    }

    /// What the thread is doing.
    pub(crate) fn state(&self) -> State {
        match self.end() {
            Some(end) => State::after(end.outcome),
            None => self.activity.folded.state(),
        }
    }

    /// What the thread waits for, in words.
    pub(crate) fn waiting_for(&self) -> Option<Arc<str>> {
        if self.end().is_some() { None } else { self.activity.folded.waiting_for() }
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
        if let Some(change) = Change::of(event) {
            self.activity.push(seq, change);
        }
        match event {
            Event::ThreadCreated(created) => self.own = Some(Origin::of(at, created)),
            Event::RunStarted { input, prompt, .. } => {
                self.run.set(seq, NewestRun { at, prompt: prompt.clone(), message: input.clone() });
                self.end.set(seq, None);
                self.retry.set(seq, None);
            }
            Event::SettingsChanged { model: Some(model), .. } => self.chosen_model.set(seq, Some(model.name.clone())),
            Event::TurnStarted(started) => {
                self.retry.set(seq, None);
                self.turns.insert(started.turn);
                if started.kind == TurnKind::Compact {
                    self.summaries.insert(started.turn);
                }
            }
            Event::CallFailed { error, retry_at, attempt, .. } => {
                self.retry.set(seq, retry_at.map(|at| Retry { attempt: *attempt, at, kind: error.kind }));
            }
            Event::CallRepeated { .. } => self.retry.set(seq, None),
            Event::Answered(answered) => {
                self.retry.set(seq, None);
                for made in answered.calls() {
                    self.calls.insert(made.call.clone(), Call::of(&made.name, &made.input));
                }
            }
            Event::ToolStarted { call } => self.last_tool.set(seq, call.clone()),
            Event::ChecksStarted { call, commands, .. } => {
                self.calls.insert(call.clone(), Call::of(&CHECKS.into(), &checks_input(commands)));
                self.last_tool.set(seq, call.clone());
            }
            Event::StallNoticed { waiting_for, .. } => self.stall.set(seq, waiting_for.clone()),
            Event::Reported(report) => self.end.set(seq, Some(End::of(at, report))),
            _ => {}
        }
    }
}

impl ActivityInAnyOrder {
    fn push(&mut self, seq: u64, change: Change) {
        if self.changes.last().is_none_or(|(last, _)| *last < seq) {
            self.folded.apply(&change);
            return self.changes.push((seq, change));
        }
        let place = self.changes.partition_point(|(earlier, _)| *earlier < seq);
        self.changes.insert(place, (seq, change));
        self.folded = Activity::default();
        for (_, change) in &self.changes {
            self.folded.apply(change);
        }
    }
}

/// The commands of checks, as the input of a call is shown.
pub(crate) fn checks_input(commands: &[Arc<str>]) -> Json {
    Json::of(&serde_json::json!({ "commands": commands }))
}

impl Call {
    fn of(name: &Arc<str>, input: &Json) -> Self {
        Self { name: name.clone(), argument: argument::short(input) }
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
