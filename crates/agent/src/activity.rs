//! What is under way in a thread, folded from its events, and the [`State`] that follows from it.
//!
//! This is the only place that says which state a thread is in. The store keeps an [`Activity`] beside each thread and
//! writes it with every commit, so it holds only what is open. The view folds the same changes for its tree and frames.
//! The rules do not use it: they decide from the [`Thread`](crate::Thread).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::{Answered, Event, MadeCall, TurnKind, VerdictKind};
use crate::id::{CallId, ThreadId};
use crate::report::Outcome;
use crate::state::State;
use crate::tools::{ASK_USER, CHECKS};

/// The most children whose names are kept, so that an activity with thousands of them stays small.
pub const NAMED_CHILDREN: usize = 64;

/// What is under way in a thread. Fields with their default value are not serialised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Activity {
    #[serde(skip_serializing_if = "is_default")]
    phase: Phase,
    /// What the newest turn is for.
    #[serde(skip_serializing_if = "is_default")]
    turn: Purpose,
    /// Whether the model was asked and has not answered. True while a failed request waits for its next attempt.
    #[serde(skip_serializing_if = "is_default")]
    asking: bool,
    /// Why the newest request failed, while it waits for its next attempt.
    #[serde(skip_serializing_if = "is_default")]
    retrying: Option<Arc<str>>,
    /// Calls that run or will run.
    #[serde(skip_serializing_if = "is_default")]
    calls: BTreeMap<CallId, Call>,
    /// Calls that wait for children.
    #[serde(skip_serializing_if = "is_default")]
    waits: BTreeSet<CallId>,
    /// The names of children that have not reported.
    #[serde(skip_serializing_if = "is_default")]
    children: BTreeMap<ThreadId, Arc<str>>,
    /// How many children have not reported and are not in `children`, which was full.
    #[serde(skip_serializing_if = "is_default")]
    unnamed_children: u64,
    /// Questions that wait for a person.
    #[serde(skip_serializing_if = "is_default")]
    questions: u32,
    /// Whether the thread is ending.
    #[serde(skip_serializing_if = "is_default")]
    stopping: bool,
}

/// What one event changes in an [`Activity`]. It is small, so that it can be kept and folded again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A thread came to be, with its brief.
    Created,
    /// A run began.
    Begun,
    /// The thread begins to end.
    Stopping,
    /// The model was asked.
    Asked(Purpose),
    /// A request failed; a reason means that it is made again.
    Failed(Option<Arc<str>>),
    /// A request that was lost is made again.
    Repeated,
    /// The model answered, with these calls to run.
    Answered(Vec<(CallId, Arc<str>)>),
    /// A tool began.
    ToolStarted(CallId),
    /// The checks of a brief began.
    ChecksStarted(CallId),
    /// A call has its result, or checks have.
    ToolFinished(CallId),
    /// A person is asked.
    Questioned,
    /// A question is closed.
    Resolved,
    /// A child was accepted, or asked something more.
    Spawned(ThreadId, Arc<str>),
    /// A child reported.
    ChildOver(ThreadId),
    /// A call waits for children.
    Waits(CallId),
    /// A process continues the thread.
    Reopened,
    /// The run is over.
    Over(Outcome),
}

/// What a turn is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The agent works.
    #[default]
    Work,
    /// The agent summarises its conversation.
    Summary,
    /// The agent gives its last answer.
    LastAnswer,
}

/// How far the newest run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// There was none yet.
    #[default]
    Idle,
    /// The model was not asked yet.
    Begun,
    /// A turn is under way.
    Turn,
    /// A process continues the thread and has not asked the model yet.
    Reopened,
    /// It is over.
    Over(Outcome),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Call {
    tool: Arc<str>,
    started: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Change {
    /// What an event changes; none if it changes nothing.
    pub fn of(event: &Event) -> Option<Self> {
        Some(match event {
            Event::ThreadCreated(created) => {
                created.brief.as_ref()?;
                Self::Created
            }
            Event::RunStarted { .. } => Self::Begun,
            Event::StopBegun { .. } => Self::Stopping,
            Event::TurnStarted(started) => Self::Asked(match started.kind {
                TurnKind::Work => Purpose::Work,
                TurnKind::Last(_) => Purpose::LastAnswer,
                TurnKind::Compact => Purpose::Summary,
            }),
            Event::CallFailed { error, retry_at, .. } => Self::Failed(retry_at.map(|_| error.kind.to_string().into())),
            Event::CallRepeated { .. } => Self::Repeated,
            Event::Answered(answered) => Self::Answered(calls_to_run(answered)),
            Event::ToolStarted { call } => Self::ToolStarted(call.clone()),
            Event::ToolFinished { call, .. } | Event::ChecksFinished { call, .. } => Self::ToolFinished(call.clone()),
            Event::ChecksStarted { call, .. } => Self::ChecksStarted(call.clone()),
            Event::ApprovalRequested(_) => Self::Questioned,
            Event::ApprovalResolved { .. } => Self::Resolved,
            Event::ChildSpawned(spawned) => Self::Spawned(spawned.child.clone(), spawned.name.clone()),
            Event::ChildAsked(asked) => Self::Spawned(asked.child.clone(), asked.name.clone()),
            Event::ChildReported { child, .. } => Self::ChildOver(child.clone()),
            Event::WaitStarted { call, .. } | Event::ChildAwaited { call, .. } => Self::Waits(call.clone()),
            Event::Reopened { .. } => Self::Reopened,
            Event::Reported(report) => Self::Over(report.outcome),
            Event::InputArrived { .. }
            | Event::Steered { .. }
            | Event::InputDropped { .. }
            | Event::SamplingStarted(_)
            | Event::SamplingEnded(_)
            | Event::Delegated { .. }
            | Event::SubtaskSkipped { .. }
            | Event::SubtaskRecalled { .. }
            | Event::ChildIssued { .. }
            | Event::ChildStarted { .. }
            | Event::ChildSaid { .. }
            | Event::ChildPaused { .. }
            | Event::ChildStopped { .. }
            | Event::MessageSent { .. }
            | Event::ContextTrimmed { .. }
            | Event::ContextCompacted { .. }
            | Event::ToolsChanged { .. }
            | Event::SettingsChanged { .. }
            | Event::StallNoticed { .. }
            | Event::BudgetWarned { .. } => return None,
        })
    }
}

impl Activity {
    /// Applies the next change, in the order of the log.
    pub fn apply(&mut self, change: &Change) {
        // Nothing but a new run follows the end of a run.
        if matches!(self.phase, Phase::Over(_)) && *change != Change::Begun {
            return;
        }
        match change {
            Change::Created => self.phase = Phase::Begun,
            Change::Begun => *self = Self { phase: Phase::Begun, ..Self::default() },
            Change::Stopping => self.stopping = true,
            Change::Asked(purpose) => {
                (self.phase, self.turn) = (Phase::Turn, *purpose);
                (self.asking, self.retrying) = (true, None);
            }
            Change::Failed(reason) => {
                self.asking = reason.is_some();
                self.retrying.clone_from(reason);
            }
            Change::Repeated => {
                self.phase = Phase::Turn;
                (self.asking, self.retrying) = (true, None);
            }
            Change::Answered(calls) => {
                (self.asking, self.retrying) = (false, None);
                for (call, tool) in calls {
                    self.calls.insert(call.clone(), Call { tool: tool.clone(), started: false });
                }
            }
            Change::ToolStarted(call) => {
                let unknown = || Call { tool: "tool".into(), started: true };
                self.calls.entry(call.clone()).or_insert_with(unknown).started = true;
            }
            Change::ChecksStarted(call) => {
                self.calls.insert(call.clone(), Call { tool: CHECKS.into(), started: true });
            }
            Change::ToolFinished(call) => {
                self.calls.remove(call);
                self.waits.remove(call);
            }
            Change::Questioned => self.questions += 1,
            Change::Resolved => self.questions = self.questions.saturating_sub(1),
            Change::Spawned(child, name) => {
                if self.children.len() < NAMED_CHILDREN {
                    self.children.insert(child.clone(), name.clone());
                } else {
                    self.unnamed_children += 1;
                }
            }
            Change::ChildOver(child) => {
                if self.children.remove(child).is_none() {
                    self.unnamed_children = self.unnamed_children.saturating_sub(1);
                }
            }
            Change::Waits(call) => {
                self.waits.insert(call.clone());
            }
            Change::Reopened => self.phase = Phase::Reopened,
            Change::Over(outcome) => *self = Self { phase: Phase::Over(*outcome), ..Self::default() },
        }
    }

    /// What the thread is doing.
    pub fn state(&self) -> State {
        let state = match self.phase {
            Phase::Idle => return State::Idle,
            Phase::Over(outcome) => return State::after(outcome),
            Phase::Begun => State::Initializing,
            Phase::Reopened => State::LoadingContext,
            Phase::Turn => match self.turn {
                Purpose::Work => State::Processing,
                Purpose::Summary => State::LoadingContext,
                Purpose::LastAnswer => State::Completing,
            },
        };
        if self.stopping || state == State::Completing {
            return State::Completing;
        }
        if self.questions > 0 || self.running_tools().any(|tool| **tool == *ASK_USER) {
            return State::WaitingForUser;
        }
        if self.running_tools().next().is_some() {
            return State::WaitingForTool;
        }
        if !self.asking && (!self.waits.is_empty() || self.open_children() > 0) {
            return State::Delegating;
        }
        state
    }

    /// What the thread waits for, in words; none where it is not live, or about to take its next step.
    pub fn waiting_for(&self) -> Option<Arc<str>> {
        match self.state() {
            State::Idle | State::Initializing | State::Error => None,
            State::WaitingForUser => Some("a person".into()),
            State::WaitingForTool => self.tools(),
            State::Delegating => self.sub_agents(),
            State::Processing | State::LoadingContext => self.model(),
            State::Completing => self.model().or_else(|| self.tools()).or_else(|| self.sub_agents()),
        }
    }

    /// The tool of a call that runs or will run.
    pub fn tool(&self, call: &CallId) -> Option<&Arc<str>> {
        self.calls.get(call).map(|call| &call.tool)
    }

    fn running_tools(&self) -> impl Iterator<Item = &Arc<str>> {
        self.calls.values().filter(|call| call.started).map(|call| &call.tool)
    }

    fn open_children(&self) -> u64 {
        self.children.len() as u64 + self.unnamed_children
    }

    fn model(&self) -> Option<Arc<str>> {
        let again = |reason: &Arc<str>| format!("another try: {reason}").into();
        self.asking.then(|| self.retrying.as_ref().map_or_else(|| "the model".into(), again))
    }

    fn tools(&self) -> Option<Arc<str>> {
        let first = self.running_tools().next()?;
        Some(match self.running_tools().count() {
            1 => first.clone(),
            many => format!("{many} tools").into(),
        })
    }

    fn sub_agents(&self) -> Option<Arc<str>> {
        match (self.open_children(), self.children.values().next()) {
            (0, _) => None,
            (1, Some(name)) => Some(name.clone()),
            (1, None) => Some("1 agent".into()),
            (many, _) => Some(format!("{many} agents").into()),
        }
    }
}

/// The calls of an answer that a tool will run, now or after a person has decided.
fn calls_to_run(answered: &Answered) -> Vec<(CallId, Arc<str>)> {
    let runs = |made: &MadeCall<'_>| {
        made.verdict.is_some_and(|verdict| matches!(verdict.what, VerdictKind::Run { .. } | VerdictKind::Asked { .. }))
    };
    answered.calls().filter(runs).map(|made| (made.call.clone(), made.name)).collect()
}

#[cfg(test)]
mod tests;
