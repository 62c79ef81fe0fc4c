//! Opta's words: the phases of each sub-agent, and its result at the end (OPTA-8, OPTA-49).
//!
//! Opta shows sub-agents only, so frames of the root have no line. A phase has a line when it changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::{Outcome, State, ThreadId};
use serde::Serialize;

use crate::frame::{Body, ChildData};
use crate::{Frame, clock};

/// The phase that each sub-agent was last said to be in.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases(BTreeMap<ThreadId, Phase>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    Spawning,
    Thinking,
    Reading,
    Writing,
    Running,
    Searching,
    Done,
    Error,
    Timeout,
    Cancelled,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    r#type: &'static str,
    task_id: &'a ThreadId,
    phase: Phase,
    timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<SubAgentResult<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SubAgentResult<'a> {
    task_id: &'a ThreadId,
    status: Status,
    response: String,
    tool_call_count: u32,
    token_estimate: u64,
    files_read: &'a [Arc<str>],
    files_modified: &'a [Arc<str>],
    duration_ms: u64,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Completed,
    BudgetExceeded,
    Timeout,
    Error,
}

/// The frame as a line of Opta's.
pub(super) fn map(phases: &mut Phases, frame: &Frame) -> Option<String> {
    if frame.thread.is_root() {
        return None;
    }
    let mut line = Line {
        r#type: "sub_agent_phase",
        task_id: &frame.thread,
        phase: phase_of(&frame.body)?,
        timestamp: clock::timestamp(frame.at),
        description: None,
        tool_name: None,
        result: None,
    };
    match &frame.body {
        Body::SubAgentQueued(begin) | Body::SubAgentStart(begin) => line.description = begin.goal.as_deref(),
        Body::ToolStart { tool_name, .. } => line.tool_name = Some(tool_name),
        Body::SubAgentComplete(end) | Body::SubAgentError(end) => line.result = Some(result(&frame.thread, &end.data)),
        _ => {}
    }
    let changed = phases.0.insert(frame.thread.clone(), line.phase) != Some(line.phase);
    // Reading one file after another is one phase, but each file is news.
    let is_news = changed || line.tool_name.is_some();
    is_news.then(|| serde_json::to_string(&line).expect("a line holds only text and numbers"))
}

fn phase_of(body: &Body) -> Option<Phase> {
    match body {
        Body::SubAgentQueued(_) | Body::SubAgentStart(_) => Some(Phase::Spawning),
        Body::State { state: State::Processing | State::Completing | State::LoadingContext } => Some(Phase::Thinking),
        Body::ToolStart { tool_name, .. } => Some(phase_of_tool(tool_name)),
        Body::SubAgentComplete(end) | Body::SubAgentError(end) => Some(match end.data.outcome {
            Outcome::Completed | Outcome::BudgetExceeded => Phase::Done,
            Outcome::Timeout => Phase::Timeout,
            Outcome::Cancelled => Phase::Cancelled,
            Outcome::NoOutput | Outcome::Refused | Outcome::Interrupted | Outcome::Error => Phase::Error,
        }),
        _ => None,
    }
}

fn phase_of_tool(name: &str) -> Phase {
    match name {
        "read_file" | "list_dir" => Phase::Reading,
        "write_file" | "edit_file" => Phase::Writing,
        "find_files" | "search_files" => Phase::Searching,
        _ => Phase::Running,
    }
}

fn result<'a>(task_id: &'a ThreadId, data: &'a ChildData) -> SubAgentResult<'a> {
    let (status, mark) = status_of(data.outcome);
    SubAgentResult {
        task_id,
        status,
        response: response(mark, data),
        tool_call_count: data.usage.own.tool_calls,
        token_estimate: data.usage.own.counted_tokens,
        files_read: &data.files_read,
        files_modified: &data.files_modified,
        duration_ms: data.metrics.duration_ms,
    }
}

/// Opta has four words for our eight outcomes; a mark in the response keeps apart what shares a word.
fn status_of(outcome: Outcome) -> (Status, Option<&'static str>) {
    match outcome {
        Outcome::Completed => (Status::Completed, None),
        Outcome::BudgetExceeded => (Status::BudgetExceeded, None),
        Outcome::Timeout => (Status::Timeout, None),
        Outcome::Cancelled => (Status::Error, Some("[CANCELLED]")),
        Outcome::Refused => (Status::Error, Some("[REFUSED]")),
        Outcome::NoOutput | Outcome::Interrupted | Outcome::Error => (Status::Error, Some("[ERROR]")),
    }
}

/// The text as it is; under a mark with the reason before it (OPTA-30). Where there is no text, the reason is the response.
fn response(mark: Option<&str>, data: &ChildData) -> String {
    let reason = data.error.as_deref().unwrap_or(data.outcome.as_str());
    match (mark, data.report.is_empty()) {
        (None, false) => data.report.to_string(),
        (None, true) => reason.to_owned(),
        (Some(mark), true) => format!("{mark} {reason}"),
        (Some(mark), false) => format!("{mark} {reason}\n\n{}", data.report),
    }
}
