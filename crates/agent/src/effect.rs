//! What may be asked of the world. A small, closed vocabulary; each is performed after the events that explain it are committed.

use std::sync::Arc;

use serde::Serialize;

use crate::checks::{CheckedBy, Seen};
use crate::id::{CallId, ThreadId, Time};
use crate::input::Strength;
use crate::json::Json;
use crate::sampling::Sampled;

/// What may be asked of the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Ask the model. Answered by `ModelAnswered` or `ModelFailed`. The conversation is read from the thread itself.
    CallModel {
        /// Which turn.
        turn: u32,
        /// Which attempt, from 1.
        attempt: u32,
        /// The longest answer.
        max_tokens: u64,
        /// Whether calls are allowed; the tools are advertised all the same.
        calls_allowed: bool,
        /// Not before this moment.
        not_before: Option<Time>,
    },
    /// End the request. Answered by `ModelFailed`, or by an answer that crossed it.
    CancelModel {
        /// Which turn.
        turn: u32,
    },
    /// Run a tool. Answered by `ToolFinished`.
    RunTool {
        /// Which call.
        call: CallId,
        /// The tool.
        name: Arc<str>,
        /// Its arguments.
        input: Json,
        /// What a person's consent is bound to, where it was asked for: anything else is not run.
        approved: Option<Arc<str>>,
    },
    /// End a tool and all that it started. Answered by `ToolFinished`.
    StopTool {
        /// Which call.
        call: CallId,
    },
    /// Hand a call that is under way what a person answered.
    AnswerTool {
        /// Which call.
        call: CallId,
        /// The number of its question.
        number: u32,
        /// The answer; none where nobody gives one.
        answer: Option<Arc<str>>,
    },
    /// Ask the model for the server behind a call that is under way: with its words alone, without tools. Answered by `SampleAnswered`. It ends
    /// with its call.
    Sample {
        /// Which call.
        call: CallId,
        /// The request's number.
        number: u32,
        /// What the server wants to hear ([`SamplingRequest`](crate::sampling::SamplingRequest)).
        input: Json,
        /// The longest answer.
        max_tokens: u64,
    },
    /// Hand the server behind a call what the model said.
    AnswerSample {
        /// Which call.
        call: CallId,
        /// The request's number.
        number: u32,
        /// What the model said, or why it said nothing.
        answer: Result<Sampled, Arc<str>>,
    },
    /// Run the commands that must succeed before a sub-agent's answer is its report, or the hooks of the person that hear of it before. Answered by `ChecksFinished`, ended by `StopTool`.
    RunChecks {
        /// The name under which they run.
        call: CallId,
        /// The commands, in their order; none is run after one that failed.
        commands: Vec<Arc<str>>,
        /// Whether a person has allowed them.
        allowed: bool,
        /// What those that a person has allowed led to then.
        seen: Vec<Seen>,
        /// Whose checks they are. Of hooks, which commands are run is not the rules' business.
        by: CheckedBy,
    },
    /// Begin a child, go on with it, or fetch the report that it has already handed in. Answered by `ChildReported`.
    StartChild {
        /// Which.
        child: ThreadId,
    },
    /// Tell a child to end. Answered by `ChildReported`.
    StopChild {
        /// Which.
        child: ThreadId,
        /// How.
        strength: Strength,
        /// Why.
        reason: Arc<str>,
    },
    /// Write a message into a child's log. Answered by `ChildTold`.
    TellChild {
        /// Which.
        child: ThreadId,
        /// The call that asked for it, which also names the message.
        call: CallId,
        /// The words.
        text: Arc<str>,
    },
}
