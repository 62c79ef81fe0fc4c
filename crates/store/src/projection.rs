//! What an event changes in the rows that are kept beside the log. Pure, and the same for every store.
//!
//! A thread's row is folded: the event is applied to the row as it stands. What it changes elsewhere is returned as a [`Change`].
//! Ownership is not folded from events but from who commits, and is left to the stores.

use std::sync::Arc;

use agent::activity::{self, Activity};
use agent::event::{Answered, ChildSpawned, ThreadCreated, VerdictKind, lost_usage};
use agent::message::Part;
use agent::model::Tokens;
use agent::policy::Lifecycle;
use agent::{CallId, Event, Outcome, Outside, Report, ThreadId, Time};

use crate::approvals;
use crate::rows::{Execution, Status, ThreadRow, UsageRow};

/// The most characters of a goal.
const GOAL_CHARS: usize = 120;
/// The most characters of a task, a summary or an error message.
const TEXT_CHARS: usize = 2000;

/// A thread's row, and what must be remembered beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folded {
    /// Up to date with every event, but for what the thread is doing and waits for, which [`Folded::settle`] tells.
    pub(crate) row: ThreadRow,
    /// What is under way; the next event is folded into it.
    pub(crate) doing: Activity,
    /// Answers of its model.
    pub(crate) answers: u64,
    /// Tokens that were booked for calls whose answer was lost.
    pub(crate) booked_tokens: u64,
    /// Whether no person waits for the answer to the newest message.
    pub(crate) unwatched: bool,
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
        let has_brief = created.brief.is_some();
        let mut doing = Activity::default();
        if has_brief {
            doing.apply(&activity::Change::Created);
        }
        let row = ThreadRow {
            root: id.root(),
            parent: id.parent(),
            name: created.name.clone(),
            agent: created.role.name.clone(),
            model: created.role.model.name.clone(),
            mode: created.mode,
            preset: created.preset.clone(),
            title: None,
            archived: false,
            unread: false,
            persistent: created.lifecycle == Lifecycle::Persistent,
            created_for: created.created_for.clone(),
            current_task: None,
            goal: created.brief.as_ref().map_or_else(|| "".into(), |brief| one_line(&brief.task)),
            state: doing.state(),
            outcome: None,
            turns: 0,
            tool_calls: 0,
            tokens: Tokens::default(),
            cost_microusd: 0,
            last_tool: None,
            waiting_for: None,
            runs: u32::from(has_brief),
            created_at: at,
            updated_at: at,
            ended_at: None,
            owner: None,
            epoch: 1,
            head: 0,
            id,
        };
        Self { row, doing, answers: 0, booked_tokens: 0, unwatched: created.created_for.is_some() }
    }

    /// Applies the thread's next event. What the row says of the present is told by [`Folded::settle`].
    pub(crate) fn apply(&mut self, at: Time, event: &Event) -> Option<Change> {
        let Self { row, doing, answers, booked_tokens, unwatched } = self;
        row.head += 1;
        row.updated_at = row.updated_at.max(at);
        if let Event::ToolStarted { call } = event
            && let Some(tool) = doing.tool(call)
        {
            row.last_tool = Some(tool.clone());
        }
        if let Some(change) = activity::Change::of(event) {
            doing.apply(&change);
        }
        if let Event::InputArrived { input, .. } = event {
            mark(row, unwatched, input);
        }
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
            Event::SettingsChanged { model, mode, .. } => {
                if let Some(model) = model {
                    row.model = model.name.clone();
                }
                row.mode = mode.unwrap_or(row.mode);
                None
            }
            Event::TurnStarted(turn) => {
                row.turns = turn.turn;
                None
            }
            Event::CallFailed { error, booked, .. } => {
                let lost = lost_usage(booked, error.tokens.as_deref());
                *booked_tokens = booked_tokens.saturating_add(lost.estimated_tokens);
                if !lost.is_estimated() {
                    row.tokens = row.tokens.plus(&lost.tokens);
                }
                row.cost_microusd = row.cost_microusd.saturating_add(booked.cost_microusd);
                None
            }
            Event::CallRepeated { booked, .. } => {
                *booked_tokens = booked_tokens.saturating_add(booked.tokens);
                row.cost_microusd = row.cost_microusd.saturating_add(booked.cost_microusd);
                None
            }
            Event::Answered(answered) => {
                *answers += 1;
                answer(row, answered);
                None
            }
            Event::SamplingEnded(ended) => {
                let used = ended.usage();
                *answers += u64::from(used.model_calls);
                *booked_tokens = booked_tokens.saturating_add(used.estimated_tokens);
                if !used.is_estimated() {
                    row.tokens = row.tokens.plus(&used.tokens);
                }
                row.cost_microusd = row.cost_microusd.saturating_add(used.cost_microusd);
                None
            }
            Event::ApprovalRequested(_)
            | Event::ApprovalResolved { .. }
            | Event::InputArrived { .. }
            | Event::InputDropped { .. } => approvals::change(&row.id, at, event).map(Change::Question),
            Event::ChildSpawned(spawned) => Some(Change::Spawned(Box::new(execution(&row.id, at, spawned)))),
            Event::ChildStarted { child, .. } => Some(Change::Started(child.clone())),
            Event::ChildReported { child, report, .. } => Some(Change::Ended(child.clone(), Box::new(end(at, report)))),
            Event::Reported(report) => {
                row.outcome = Some(report.outcome);
                row.ended_at = Some(at);
                row.unread |= *unwatched;
                (!row.id.is_root()).then(|| Change::Ended(row.id.clone(), Box::new(end(at, report))))
            }
            // They change nothing but what is under way: the row was created from the first event.
            Event::ThreadCreated(_)
            | Event::StopBegun { .. }
            | Event::ToolStarted { .. }
            | Event::ToolFinished { .. }
            | Event::ChecksStarted { .. }
            | Event::ChecksFinished { .. }
            | Event::Steered { .. }
            | Event::SamplingStarted(_)
            | Event::Delegated { .. }
            | Event::SubtaskSkipped { .. }
            | Event::SubtaskRecalled { .. }
            | Event::ChildAsked(_)
            | Event::ChildIssued { .. }
            | Event::ChildSaid { .. }
            | Event::ChildPaused { .. }
            | Event::ChildStopped { .. }
            | Event::MessageSent { .. }
            | Event::ChildAwaited { .. }
            | Event::WaitStarted { .. }
            | Event::ContextTrimmed { .. }
            | Event::ContextCompacted { .. }
            | Event::ToolsChanged { .. }
            | Event::StallNoticed { .. }
            | Event::BudgetWarned { .. }
            | Event::Reopened { .. } => None,
        }
    }

    /// Has the row say what the thread is doing, after all that was applied.
    pub(crate) fn settle(&mut self) {
        self.row.state = self.doing.state();
        self.row.waiting_for = self.doing.waiting_for();
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

/// What people say of a thread, and whether they wait for its answers.
fn mark(row: &mut ThreadRow, unwatched: &mut bool, input: &Outside) {
    match input {
        Outside::UserSaid { unwatched: nobody_waits, .. } => {
            *unwatched = *nobody_waits;
            row.unread = false;
        }
        Outside::Noticed { .. } => *unwatched = true,
        Outside::Asked { .. } => *unwatched = false,
        Outside::Marked { title, archived, read } => {
            if let Some(title) = title {
                row.title = Some(one_line(title)).filter(|title| !title.is_empty());
            }
            row.archived = archived.unwrap_or(row.archived);
            row.unread &= !read;
        }
        Outside::SummaryWanted { .. } => *unwatched = false,
        Outside::Steered { .. }
        | Outside::Stopped { .. }
        | Outside::Decided { .. }
        | Outside::ChildWanted
        | Outside::Chosen { .. } => {}
    }
}

fn answer(row: &mut ThreadRow, answered: &Answered) {
    let tool_of = |wanted: &CallId| {
        answered.parts.iter().find_map(|part| match part {
            Part::ToolCall { id, name, .. } if id == wanted => Some(name.clone()),
            _ => None,
        })
    };
    for verdict in &answered.verdicts {
        row.tool_calls = row.tool_calls.saturating_add(u32::from(verdict.counts));
        if matches!(verdict.what, VerdictKind::Verb | VerdictKind::VerbAsked)
            && let Some(tool) = tool_of(&verdict.call)
        {
            row.last_tool = Some(tool);
        }
    }
    row.tokens = row.tokens.plus(&answered.tokens);
    row.cost_microusd = row.cost_microusd.saturating_add(answered.cost_microusd);
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
