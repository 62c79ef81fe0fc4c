//! Notices about a thread, in the same words on the wire and in a transcript.

use std::sync::Arc;

use agent::model::Model;
use agent::sampling::{SamplingEnded, SamplingRequest, SamplingStarted};
use agent::{Event, Mode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::clock;

/// How much is told of what a server asks a model, and of its answer.
const LONGEST_SAMPLE: usize = 2_000;

/// What a notification is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// Tool results were masked or cut to make room in the model's context window.
    ContextTrimmed,
    /// The provider said how many tokens fit into a request, because one did not fit.
    ContextWindow,
    /// The conversation was replaced by a summary.
    ContextCompacted,
    /// The thread has other tools from its next turn on.
    ToolsChanged,
    /// The thread has another model or another mode from its next turn on.
    SettingsChanged,
    /// A server of tools asks the thread's model something, at the thread's expense, or has its answer.
    Sampling,
    /// A process went on with the thread.
    Reopened,
    /// The thread begins to end.
    Stopping,
    /// An input changed nothing.
    InputDropped,
    /// A subtask will not be run.
    SubtaskSkipped,
    /// A subtask is answered with the report that the same task had before.
    SubtaskRecalled,
    /// More calls were refused than one event has frames for.
    CallsRefused,
    /// A thread was given a task, or a notice about a task woke it: the message is what it was told.
    Task,
}

impl Notice {
    /// The notice that an event is, and its sentence; none for events that show in another way.
    pub(crate) fn of(event: &Event) -> Option<(Notice, String)> {
        match event {
            Event::ContextTrimmed { calls, bytes, .. } => Some((
                Notice::ContextTrimmed,
                format!("tool results were masked or cut to make room: {}, {bytes} bytes", calls.len()),
            )),
            Event::ContextCompacted { .. } => {
                Some((Notice::ContextCompacted, "the conversation was replaced by a summary of it".to_owned()))
            }
            Event::ToolsChanged { added, removed, .. } => {
                tools_changed(added, removed).map(|words| (Notice::ToolsChanged, words))
            }
            Event::SettingsChanged { model, mode, .. } => {
                settings_changed(model.as_deref(), *mode).map(|words| (Notice::SettingsChanged, words))
            }
            Event::Reopened { away_ms } => Some((
                Notice::Reopened,
                format!("a process went on with the thread after {}", clock::duration(*away_ms)),
            )),
            Event::StopBegun { ending, .. } => Some((Notice::Stopping, format!("stopping: {}", ending.reason))),
            Event::InputDropped { reason, .. } => {
                Some((Notice::InputDropped, format!("a message changed nothing: {reason}")))
            }
            Event::SubtaskSkipped { index, reason, .. } => {
                Some((Notice::SubtaskSkipped, format!("subtask {index} is not run: {reason}")))
            }
            Event::SubtaskRecalled { index, child, .. } => {
                Some((Notice::SubtaskRecalled, format!("subtask {index} is answered with the report of {child}")))
            }
            Event::CallFailed { error, retry_at: None, .. } if error.window_tokens.is_some() => {
                Some((Notice::ContextWindow, error.message.to_string()))
            }
            Event::SamplingStarted(started) => Some((Notice::Sampling, sampling_started(started))),
            Event::SamplingEnded(ended) => Some((Notice::Sampling, sampling_ended(ended))),
            Event::ThreadCreated(_)
            | Event::InputArrived { .. }
            | Event::RunStarted { .. }
            | Event::Steered { .. }
            | Event::TurnStarted(_)
            | Event::CallFailed { .. }
            | Event::CallRepeated { .. }
            | Event::Answered(_)
            | Event::ToolStarted { .. }
            | Event::ToolFinished { .. }
            | Event::ChecksStarted { .. }
            | Event::ChecksFinished { .. }
            | Event::ApprovalRequested(_)
            | Event::ApprovalResolved { .. }
            | Event::ChildPaused { .. }
            | Event::Delegated { .. }
            | Event::ChildSpawned(_)
            | Event::ChildAsked(_)
            | Event::ChildIssued { .. }
            | Event::ChildStarted { .. }
            | Event::ChildStopped { .. }
            | Event::ChildReported { .. }
            | Event::ChildSaid { .. }
            | Event::MessageSent { .. }
            | Event::ChildAwaited { .. }
            | Event::WaitStarted { .. }
            | Event::StallNoticed { .. }
            | Event::BudgetWarned { .. }
            | Event::Reported(_) => None,
        }
    }
}

fn sampling_started(started: &SamplingStarted) -> String {
    let SamplingStarted { server, input, max_tokens, .. } = started;
    let newest = SamplingRequest::read(input).map(|request| request.newest()).unwrap_or_default();
    format!("MCP server {server} asks the model (up to {max_tokens} tokens): {}", shortened(&newest))
}

fn sampling_ended(ended: &SamplingEnded) -> String {
    let SamplingEnded { server, text, error, .. } = ended;
    match error {
        Some(why) => format!("MCP server {server} has no answer of the model: {why}"),
        None => format!("the model answers MCP server {server}: {}", shortened(text)),
    }
}

/// What servers and models say to each other can be long, and is in the log.
fn shortened(words: &str) -> String {
    match words.char_indices().nth(LONGEST_SAMPLE) {
        Some((end, _)) => format!("{} …", &words[..end]),
        None => words.to_owned(),
    }
}

/// None where the thread has the model and the mode that it had before.
fn settings_changed(model: Option<&Model>, mode: Option<Mode>) -> Option<String> {
    let model = model.map(|model| format!("model {}", model.name));
    let changes: Vec<String> = [model, mode.map(|mode| format!("mode {mode}"))].into_iter().flatten().collect();
    (!changes.is_empty()).then(|| format!("from here on: {}", changes.join(", ")))
}

/// None where the thread has the same tools as before, by name.
fn tools_changed(added: &[Arc<str>], removed: &[Arc<str>]) -> Option<String> {
    let list = |what: &str, tools: &[Arc<str>]| (!tools.is_empty()).then(|| format!("{what}: {}", tools.join(", ")));
    let changes: Vec<String> = [list("added", added), list("removed", removed)].into_iter().flatten().collect();
    (!changes.is_empty()).then(|| format!("the tools have changed; {}", changes.join("; ")))
}
