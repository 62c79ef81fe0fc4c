//! Kata's words: tool calls, where a sub-agent is a call of the tool `Task` and everything inside it points to that
//! call (KATA-1 to KATA-6).
//!
//! A call that starts one sub-agent is that sub-agent's `Task`; one that starts several stays a call of its own, with
//! a `Task` for each of them inside. A `Task` has its result when its sub-agent is over. Where the parent does not
//! wait, the call is answered at once, and how it ended comes separately (KATA-21).
//!
//! Absent: a second start of a call and a result before its start, which Kata's readers have to bear and no stream of
//! ours holds (KATA-12, KATA-14); an end for calls that a sub-agent left open, because it leaves none (KATA-13).
//! Transcripts and results are in the log and not in files of their own: their paths are paths of the HTTP API (KATA-3, KATA-21).

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::{CallId, Json, Outcome, ThreadId, Time};
use serde::Serialize;

use crate::frame::{Body, ChildEnd};
use crate::{Frame, clock};

/// The tool whose calls are sub-agents.
const TASK: &str = "Task";

/// The sub-agents of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    /// Calls that start one sub-agent each, and that sub-agent's thread once work was handed to it.
    calls: BTreeMap<(ThreadId, CallId), Option<ThreadId>>,
    by_thread: BTreeMap<ThreadId, Task>,
}

#[derive(Clone, Debug)]
struct Task {
    id: Arc<str>,
    parent: Option<Arc<str>>,
    slug: Arc<str>,
    since: Time,
    background: bool,
    is_begun: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Line<'a> {
    ToolStart {
        tool_use_id: &'a str,
        tool_name: &'a str,
        input: Input<'a>,
        #[serde(flatten)]
        place: Place<'a>,
    },
    ToolResult {
        tool_use_id: &'a str,
        tool_name: &'a str,
        result: &'a str,
        is_error: bool,
        status: ToolStatus,
        #[serde(flatten)]
        place: Place<'a>,
    },
    ToolProgress {
        tool_use_id: &'a str,
        tool_name: &'a str,
        elapsed_time_seconds: f64,
        #[serde(flatten)]
        place: Place<'a>,
    },
    SubagentStart {
        agent_id: &'a ThreadId,
        agent_type: &'a str,
        #[serde(flatten)]
        place: Place<'a>,
    },
    SubagentStop {
        agent_id: &'a ThreadId,
        agent_transcript_path: String,
        #[serde(flatten)]
        place: Place<'a>,
    },
    TaskNotification {
        task_id: &'a str,
        status: NoticeStatus,
        output_file: String,
        summary: &'a str,
        #[serde(flatten)]
        place: Place<'a>,
    },
    Text {
        content: &'a str,
        #[serde(flatten)]
        place: Place<'a>,
    },
}

/// Where a line belongs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Place<'a> {
    parent_tool_use_id: Option<&'a str>,
    /// The kind of sub-agent; only of lines about a `Task` (KATA-5).
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_slug: Option<&'a str>,
    timestamp: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    /// Its fields are those of the tool, which has no capitals in them.
    Task {
        prompt: &'a str,
        subagent_type: &'a str,
        description: &'a str,
    },
    Given(&'a Json),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ToolStatus {
    Completed,
    Error,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum NoticeStatus {
    Completed,
    Failed,
    Stopped,
}

/// The frame as a line of Kata's.
pub(super) fn map(tasks: &mut Tasks, frame: &Frame) -> Option<String> {
    tasks.note(frame);
    let line = tasks.line(frame)?;
    Some(serde_json::to_string(&line).expect("a line holds only text, numbers and JSON"))
}

impl Tasks {
    /// Keeps in mind which calls are sub-agents, and whose.
    fn note(&mut self, frame: &Frame) {
        match &frame.body {
            Body::ToolStart { tool_use_id, agent_slug: Some(_), .. } => {
                self.calls.insert((frame.thread.clone(), tool_use_id.clone()), None);
            }
            Body::AgentDelegate { to, tool_use_id, sub_agent_id, background, .. } => {
                let around = self.by_thread.get(&frame.thread).map(|task| task.id.clone());
                let call: Arc<str> = tool_use_id.as_str().into();
                let (id, parent) = match self.calls.get_mut(&(frame.thread.clone(), tool_use_id.clone())) {
                    Some(child) => {
                        *child = Some(sub_agent_id.clone());
                        (call, around)
                    }
                    None => (sub_agent_id.as_str().into(), Some(call)),
                };
                let (slug, since, background) = (to.clone(), frame.at, *background);
                let task = Task { id, parent, slug, since, background, is_begun: false };
                self.by_thread.insert(sub_agent_id.clone(), task);
            }
            // A person asks a sub-agent something: no call waits for that, and how it ended comes separately.
            Body::SubAgentStart(begin) if begin.turn > 1 && begin.child.tool_use_id.is_none() => {
                let id = format!("{}/{}", frame.thread, begin.turn).into();
                let (slug, since) = (frame.agent.clone(), frame.at);
                let task = Task { id, parent: None, slug, since, background: true, is_begun: true };
                self.by_thread.insert(frame.thread.clone(), task);
            }
            Body::SubAgentStart(_) => {
                if let Some(task) = self.by_thread.get_mut(&frame.thread) {
                    task.is_begun = true;
                }
            }
            _ => {}
        }
    }

    fn line<'a>(&'a self, frame: &'a Frame) -> Option<Line<'a>> {
        let own = self.by_thread.get(&frame.thread);
        Some(match &frame.body {
            Body::AgentDelegate { to, sub_agent_id, sub_agent_name, goal, .. } => {
                let task = self.by_thread.get(sub_agent_id)?;
                Line::ToolStart {
                    tool_use_id: &task.id,
                    tool_name: TASK,
                    input: Input::Task { prompt: goal, subagent_type: to, description: sub_agent_name },
                    place: beside(task, frame),
                }
            }
            // Emitted as the hand-over that follows, which knows what is asked of whom.
            Body::ToolStart { tool_use_id, .. }
                if self.calls.contains_key(&(frame.thread.clone(), tool_use_id.clone())) =>
            {
                return None;
            }
            Body::ToolStart { tool_use_id, tool_name, input, .. } => Line::ToolStart {
                tool_use_id: tool_use_id.as_str(),
                tool_name,
                input: Input::Given(input),
                place: within(own, frame),
            },
            Body::ToolResult { tool_use_id, tool_name, output, is_error, .. } => {
                let child = self.calls.get(&(frame.thread.clone(), tool_use_id.clone())).and_then(Option::as_ref);
                let task = child.and_then(|child| self.by_thread.get(child));
                // A call that waits for a sub-agent has its result from its end.
                if task.is_some_and(|task| !task.background) {
                    return None;
                }
                Line::ToolResult {
                    tool_use_id: tool_use_id.as_str(),
                    tool_name: if task.is_some() { TASK } else { tool_name },
                    result: output,
                    is_error: *is_error,
                    status: if *is_error { ToolStatus::Error } else { ToolStatus::Completed },
                    place: task.map_or_else(|| within(own, frame), |task| beside(task, frame)),
                }
            }
            Body::Usage { .. } => {
                let task = own?;
                Line::ToolProgress {
                    tool_use_id: &task.id,
                    tool_name: TASK,
                    elapsed_time_seconds: frame.at.since_ms(task.since) as f64 / 1000.0,
                    place: beside(task, frame),
                }
            }
            Body::SubAgentStart(_) => {
                let task = own?;
                Line::SubagentStart { agent_id: &frame.thread, agent_type: &task.slug, place: beside(task, frame) }
            }
            Body::AgentComplete { .. } => {
                let task = own.filter(|task| task.is_begun)?;
                let agent_transcript_path = transcript_path(&frame.thread);
                Line::SubagentStop { agent_id: &frame.thread, agent_transcript_path, place: beside(task, frame) }
            }
            Body::SubAgentComplete(end) | Body::SubAgentError(end) => ended(own?, end, frame),
            Body::Text { content, .. } => Line::Text { content, place: within(own, frame) },
            _ => return None,
        })
    }
}

fn ended<'a>(task: &'a Task, end: &'a ChildEnd, frame: &Frame) -> Line<'a> {
    let data = &end.data;
    let place = beside(task, frame);
    let reason = data.error.as_deref().unwrap_or(data.outcome.as_str());
    let result = if data.report.is_empty() { reason } else { &data.report };
    if task.background {
        let (status, output_file) = (notice_of(data.outcome), transcript_path(&frame.thread));
        return Line::TaskNotification { task_id: &task.id, status, output_file, summary: result, place };
    }
    let is_error = !data.outcome.has_result();
    let status = if is_error { ToolStatus::Error } else { ToolStatus::Completed };
    Line::ToolResult { tool_use_id: &task.id, tool_name: TASK, result, is_error, status, place }
}

/// Where the server has the conversation of a sub-agent.
fn transcript_path(thread: &ThreadId) -> String {
    format!("/api/v1/threads/{thread}/messages")
}

fn notice_of(outcome: Outcome) -> NoticeStatus {
    match outcome {
        Outcome::Completed | Outcome::BudgetExceeded => NoticeStatus::Completed,
        Outcome::Cancelled => NoticeStatus::Stopped,
        Outcome::NoOutput | Outcome::Timeout | Outcome::Refused | Outcome::Interrupted | Outcome::Error => {
            NoticeStatus::Failed
        }
    }
}

/// The place of a `Task` itself: within whatever its parent is.
fn beside<'a>(task: &'a Task, frame: &Frame) -> Place<'a> {
    let timestamp = clock::timestamp(frame.at);
    Place { parent_tool_use_id: task.parent.as_deref(), agent_slug: Some(&task.slug), timestamp }
}

/// The place of what happens inside a `Task`; at the top inside none.
fn within<'a>(task: Option<&'a Task>, frame: &Frame) -> Place<'a> {
    let timestamp = clock::timestamp(frame.at);
    Place { parent_tool_use_id: task.map(|task| &*task.id), agent_slug: None, timestamp }
}
