//! What an event changes in the rows that are kept beside the log. Pure, and the same for every store.
//!
//! A thread's row is folded: the event is applied to the row as it stands. What it changes elsewhere is returned as a [`Change`].
//! Ownership is not folded from events but from who commits, and is left to the stores.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::event::{Answered, ChildSpawned, ThreadCreated, VerdictKind, lost_usage};
use agent::message::Part;
use agent::model::Tokens;
use agent::{CallId, Event, Outcome, Report, ThreadId, Time};
use serde::{Deserialize, Serialize};

use crate::approvals;
use crate::rows::{Execution, State, Status, ThreadRow, UsageRow};

/// The most characters of a goal.
const GOAL_CHARS: usize = 120;
/// The most characters of a task, a summary or an error message.
const TEXT_CHARS: usize = 2000;
/// The most names in a sentence about what is waited for.
const WAITING_NAMES: usize = 3;
/// The most children that are remembered by name, so that a row with thousands of them stays small.
const NAMED_CHILDREN: usize = 64;

/// A thread's row, and what must be remembered beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folded {
    /// Up to date with every event, but for what the thread is doing and waits for, which [`Folded::settle`] tells.
    pub(crate) row: ThreadRow,
    /// What the next event is folded into.
    pub(crate) doing: Doing,
    /// Answers of its model.
    pub(crate) answers: u64,
    /// Tokens that were booked for calls whose answer was lost.
    pub(crate) booked_tokens: u64,
}

/// What is under way in a thread. It is written with every commit, so that what is not there is not written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Doing {
    /// The model was asked.
    #[serde(skip_serializing_if = "is_nothing")]
    asking: bool,
    /// The last request failed so, and is made again.
    #[serde(skip_serializing_if = "is_nothing")]
    retrying: Option<String>,
    /// Calls that run or will run, by tool.
    #[serde(skip_serializing_if = "is_nothing")]
    calls: BTreeMap<CallId, Call>,
    /// Children that have not reported, by what they are called.
    #[serde(skip_serializing_if = "is_nothing")]
    children: BTreeMap<ThreadId, Arc<str>>,
    /// Children that have not reported and came when enough were named.
    #[serde(skip_serializing_if = "is_nothing")]
    unnamed_children: u64,
    /// Questions that wait for a person.
    #[serde(skip_serializing_if = "is_nothing")]
    questions: u32,
    /// The thread is ending.
    #[serde(skip_serializing_if = "is_nothing")]
    stopping: bool,
}

fn is_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Call {
    tool: Arc<str>,
    started: bool,
}

/// What an event changes beside its thread's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A sub-agent was spawned.
    Spawned(Box<Execution>),
    /// A sub-agent got its permit; changes only an execution that is pending.
    Started(ThreadId),
    /// A sub-agent ended; changes only an execution that is not over.
    Ended(ThreadId, Box<End>),
    /// Something became of a question to a person.
    Question(approvals::Change),
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) at: Time,
    pub(crate) status: Status,
    pub(crate) outcome: Outcome,
    pub(crate) duration_ms: u64,
    pub(crate) tokens_input: u64,
    pub(crate) tokens_output: u64,
    pub(crate) result_summary: Option<Arc<str>>,
    pub(crate) error_message: Option<Arc<str>>,
}

impl Folded {
    /// The row of a thread that is about to be created, before its first event.
    pub(crate) fn create(created: &ThreadCreated, at: Time) -> Self {
        let id = created.id.clone();
        let is_root = id.is_root();
        let row = ThreadRow {
            root: id.root(),
            parent: id.parent(),
            name: created.name.clone(),
            agent: created.role.name.clone(),
            model: created.role.model.name.clone(),
            mode: created.mode,
            preset: created.preset.clone(),
            goal: created.brief.as_ref().map_or_else(|| "".into(), |brief| one_line(&brief.task)),
            state: if is_root { State::Idle } else { State::Running },
            outcome: None,
            turns: 0,
            tool_calls: 0,
            tokens: Tokens::default(),
            cost_microusd: 0,
            last_tool: None,
            waiting_for: None,
            runs: u32::from(!is_root),
            created_at: at,
            updated_at: at,
            ended_at: None,
            owner: None,
            epoch: 1,
            head: 0,
            id,
        };
        Self { row, doing: Doing::default(), answers: 0, booked_tokens: 0 }
    }

    /// Applies the thread's next event. What the row says of the present is told by [`Folded::settle`].
    pub(crate) fn apply(&mut self, at: Time, event: &Event) -> Option<Change> {
        let Self { row, doing, answers, booked_tokens } = self;
        row.head += 1;
        row.updated_at = row.updated_at.max(at);
        match event {
            Event::RunStarted { run, prompt, .. } => {
                row.runs = *run;
                // A conversation is called by what it began with.
                if row.goal.is_empty() {
                    row.goal = one_line(prompt);
                }
                row.outcome = None;
                row.ended_at = None;
                None
            }
            Event::StopBegun { .. } => {
                doing.stopping = true;
                None
            }
            Event::TurnStarted(turn) => {
                row.turns = turn.turn;
                doing.asking = true;
                doing.retrying = None;
                None
            }
            Event::CallFailed { error, retry_at, booked, .. } => {
                doing.asking = retry_at.is_some();
                doing.retrying = retry_at.map(|_| error.kind.to_string());
                let lost = lost_usage(booked, error.tokens.as_ref());
                *booked_tokens = booked_tokens.saturating_add(lost.estimated_tokens);
                if !lost.is_estimated() {
                    row.tokens = row.tokens.plus(&lost.tokens);
                }
                row.cost_microusd = row.cost_microusd.saturating_add(booked.cost_microusd);
                None
            }
            Event::CallRepeated { booked, .. } => {
                doing.asking = true;
                doing.retrying = None;
                *booked_tokens = booked_tokens.saturating_add(booked.tokens);
                row.cost_microusd = row.cost_microusd.saturating_add(booked.cost_microusd);
                None
            }
            Event::Answered(answered) => {
                doing.asking = false;
                doing.retrying = None;
                *answers += 1;
                answer(row, doing, answered);
                None
            }
            Event::ToolStarted { call } => {
                if let Some(call) = doing.calls.get_mut(call) {
                    call.started = true;
                    row.last_tool = Some(call.tool.clone());
                }
                None
            }
            Event::ToolFinished { call, .. } => {
                doing.calls.remove(call);
                None
            }
            Event::ApprovalRequested(_) => {
                doing.questions += 1;
                approvals::change(&row.id, at, event).map(Change::Question)
            }
            Event::ApprovalResolved { .. } => {
                doing.questions = doing.questions.saturating_sub(1);
                approvals::change(&row.id, at, event).map(Change::Question)
            }
            Event::InputArrived { .. } | Event::InputDropped { .. } => {
                approvals::change(&row.id, at, event).map(Change::Question)
            }
            Event::ChildSpawned(spawned) => {
                doing.child_spawned(spawned);
                Some(Change::Spawned(Box::new(execution(&row.id, at, spawned))))
            }
            Event::ChildStarted { child } => Some(Change::Started(child.clone())),
            Event::ChildReported { child, report, .. } => {
                doing.child_over(child);
                Some(Change::Ended(child.clone(), Box::new(end(at, report))))
            }
            Event::Reported(report) => {
                row.outcome = Some(report.outcome);
                row.ended_at = Some(at);
                *doing = Doing::default();
                (!row.id.is_root()).then(|| Change::Ended(row.id.clone(), Box::new(end(at, report))))
            }
            // Nothing that a row shows: the row was created from the first, the others are told by what follows them.
            Event::ThreadCreated(_)
            | Event::Steered { .. }
            | Event::Delegated { .. }
            | Event::SubtaskSkipped { .. }
            | Event::SubtaskRecalled { .. }
            | Event::ChildSaid { .. }
            | Event::ChildPaused { .. }
            | Event::ChildStopped { .. }
            | Event::MessageSent { .. }
            | Event::ChildAwaited { .. }
            | Event::WaitStarted { .. }
            | Event::ContextTrimmed { .. }
            | Event::ContextCompacted { .. }
            | Event::StallNoticed { .. }
            | Event::BudgetWarned { .. }
            | Event::Reopened { .. } => None,
        }
    }

    /// Has the row say what the thread is doing, after all that was applied.
    pub(crate) fn settle(&mut self) {
        self.row.state = state(&self.row, &self.doing);
        self.row.waiting_for = waiting_for(self.row.state, &self.doing);
    }

    /// What the thread used of its model; none if it was never asked.
    pub(crate) fn usage(&self) -> Option<UsageRow> {
        let row = &self.row;
        let is_used = self.answers > 0 || self.booked_tokens > 0 || row.cost_microusd > 0;
        is_used.then(|| UsageRow {
            thread: row.id.clone(),
            model: row.model.clone(),
            calls: self.answers,
            tokens: row.tokens,
            booked_tokens: self.booked_tokens,
            cost_microusd: row.cost_microusd,
        })
    }
}

impl Doing {
    fn child_spawned(&mut self, spawned: &ChildSpawned) {
        if self.children.len() < NAMED_CHILDREN {
            self.children.insert(spawned.child.clone(), spawned.name.clone());
        } else {
            self.unnamed_children += 1;
        }
    }

    fn child_over(&mut self, child: &ThreadId) {
        if self.children.remove(child).is_none() {
            self.unnamed_children = self.unnamed_children.saturating_sub(1);
        }
    }

    fn has_children(&self) -> bool {
        !self.children.is_empty() || self.unnamed_children > 0
    }
}

impl Execution {
    /// Ends the execution, unless it is over already.
    pub(crate) fn finish(&mut self, end: &End) {
        if self.status.is_over() {
            return;
        }
        self.status = end.status;
        self.outcome = Some(end.outcome);
        self.duration_ms = Some(end.duration_ms);
        self.tokens_input = Some(end.tokens_input);
        self.tokens_output = Some(end.tokens_output);
        self.result_summary.clone_from(&end.result_summary);
        self.error_message.clone_from(&end.error_message);
        self.completed_at = Some(end.at);
    }
}

fn answer(row: &mut ThreadRow, doing: &mut Doing, answered: &Answered) {
    let tool_of = |wanted: &CallId| {
        answered.parts.iter().find_map(|part| match part {
            Part::ToolCall { id, name, .. } if id == wanted => Some(name.clone()),
            _ => None,
        })
    };
    for verdict in &answered.verdicts {
        row.tool_calls = row.tool_calls.saturating_add(u32::from(verdict.counts));
        let Some(tool) = tool_of(&verdict.call) else { continue };
        match verdict.what {
            VerdictKind::Run { .. } | VerdictKind::Asked { .. } => {
                doing.calls.insert(verdict.call.clone(), Call { tool, started: false });
            }
            VerdictKind::Verb | VerdictKind::VerbAsked => row.last_tool = Some(tool),
            VerdictKind::Refused { .. } => {}
        }
    }
    row.tokens = row.tokens.plus(&answered.tokens);
    row.cost_microusd = row.cost_microusd.saturating_add(answered.cost_microusd);
}

fn state(row: &ThreadRow, doing: &Doing) -> State {
    let is_root = row.id.is_root();
    let is_acting = doing.calls.values().any(|call| call.started);
    if row.outcome.is_some() || row.runs == 0 {
        if is_root { State::Idle } else { State::Done }
    } else if doing.stopping {
        State::Stopping
    } else if doing.retrying.is_some() || doing.questions > 0 && !is_acting {
        State::Waiting
    } else if doing.asking || is_acting || !doing.has_children() {
        State::Running
    } else {
        State::Waiting
    }
}

fn waiting_for(state: State, doing: &Doing) -> Option<Arc<str>> {
    if !state.is_live() {
        return None;
    }
    if let Some(error) = &doing.retrying {
        return Some(format!("model, after: {error}").into());
    }
    if doing.asking {
        return Some("model".into());
    }
    if doing.questions > 0 {
        return Some("a person's decision".into());
    }
    let running = doing.calls.values().filter(|call| call.started).map(|call| &call.tool);
    list(running, 0).or_else(|| list(doing.children.values(), doing.unnamed_children))
}

/// A few names and how many more there are, `unnamed` ones included; none if there are none.
fn list<'a>(names: impl Iterator<Item = &'a Arc<str>>, unnamed: u64) -> Option<Arc<str>> {
    let mut shown = String::new();
    let mut more = unnamed;
    for (place, name) in names.enumerate() {
        if place >= WAITING_NAMES {
            more += 1;
            continue;
        }
        if place > 0 {
            shown.push_str(", ");
        }
        shown.push_str(name);
    }
    match (shown.is_empty(), more) {
        (true, 0) => None,
        (true, _) => Some(format!("{more} sub-agents").into()),
        (false, 0) => Some(shown.into()),
        (false, _) => Some(format!("{shown} and {more} more").into()),
    }
}

fn execution(parent: &ThreadId, at: Time, spawned: &ChildSpawned) -> Execution {
    Execution {
        id: spawned.child.as_str().into(),
        workflow_id: parent.root(),
        parent_agent_id: parent.clone(),
        sub_agent_id: spawned.child.clone(),
        sub_agent_name: spawned.name.clone(),
        task_description: shortened(&spawned.brief.task),
        status: Status::Pending,
        outcome: None,
        duration_ms: None,
        tokens_input: None,
        tokens_output: None,
        result_summary: None,
        error_message: None,
        created_at: at,
        completed_at: None,
    }
}

fn end(at: Time, report: &Report) -> End {
    let status = Status::from(report.outcome);
    let result_summary = report.outcome.has_result().then(|| match report.outcome {
        Outcome::BudgetExceeded => shortened(&format!("[budget exceeded] {}", report.text)),
        _ => shortened(&report.text),
    });
    let error_message = (!report.outcome.has_result()).then(|| match (&report.reason, report.outcome) {
        (Some(reason), _) => shortened(reason),
        (None, Outcome::Interrupted) => "outcome unknown".into(),
        (None, outcome) => outcome.as_str().into(),
    });
    End {
        at,
        status,
        outcome: report.outcome,
        duration_ms: report.duration_ms,
        tokens_input: report.usage.tokens.prompt(),
        tokens_output: report.usage.tokens.output,
        result_summary,
        error_message,
    }
}

/// The beginning of a text, in one line.
fn one_line(text: &str) -> Arc<str> {
    let mut line = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        if chars > 0 {
            line.push(' ');
            chars += 1;
        }
        for char in word.chars() {
            if chars >= GOAL_CHARS {
                line.push('…');
                return line.into();
            }
            line.push(char);
            chars += 1;
        }
    }
    line.into()
}

/// The beginning of a text, and how much was left out.
fn shortened(text: &str) -> Arc<str> {
    if text.len() <= TEXT_CHARS {
        return text.into();
    }
    match text.char_indices().nth(TEXT_CHARS) {
        None => text.into(),
        Some((cut, _)) => {
            let left_out = text[cut..].chars().count();
            format!("{}… [{left_out} more characters]", &text[..cut]).into()
        }
    }
}

#[cfg(test)]
mod tests;
