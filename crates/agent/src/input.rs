//! What can reach an agent.
//!
//! Inputs from outside (a person, a parent, another process) are first written to the log as `input_arrived`
//! and handled from there, so that none is lost; the rest are answers to effects.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::approval::{ApprovalId, Decision};
use crate::id::{CallId, ThreadId, Time};
use crate::json::Json;
use crate::message::Attachment;
use crate::model::{Answer, CallError};
use crate::report::Report;
use crate::tools::ToolResult;

/// What can reach an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A sub-agent begins with its brief.
    Begin,
    /// An input from outside stands in the queue and may be handled.
    Arrived,
    /// The model answered.
    ModelAnswered {
        /// Which turn it answers.
        turn: u32,
        /// What it said.
        answer: Answer,
        /// Why the answer does not fit the schema that was asked for, when it does not.
        schema_error: Option<Arc<str>>,
    },
    /// The model did not answer.
    ModelFailed {
        /// Which turn.
        turn: u32,
        /// Why.
        error: CallError,
    },
    /// A tool came back, of its own accord or because it was stopped.
    ToolFinished {
        /// Which call.
        call: CallId,
        /// With what.
        result: ToolResult,
    },
    /// A child handed in its report.
    ChildReported {
        /// Which child.
        child: ThreadId,
        /// Its report.
        report: Box<Report>,
    },
    /// A child said something while it works, and its parent asked to hear it.
    ChildSaid {
        /// Which child.
        child: ThreadId,
        /// The words.
        text: Arc<str>,
        /// Whether it had read untrusted text: then these words may be such text, too.
        foreign: bool,
    },
    /// A child waits for nothing but a person, or no longer does.
    ChildPaused {
        /// Which child.
        child: ThreadId,
        /// Whether it waits.
        paused: bool,
    },
    /// A message to a child was written into its log, or the child was over.
    ChildTold {
        /// The call that asked for it.
        call: CallId,
        /// Whether the child will still read it.
        delivered: bool,
    },
    /// The moment named by `next_wake` has come.
    TimePassed {
        /// When the model last let something be heard that is not in the log.
        heard: Option<Time>,
    },
    /// The thread was read from its log by a process that goes on with it.
    Reopened,
    /// The agent's own code failed; the thread ends and its siblings live.
    Panicked {
        /// What was said on the way out.
        message: Arc<str>,
    },
}

/// An input from outside, as it is kept in the log until it is handled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// A person gives a root thread something to do.
    UserSaid {
        /// The words.
        text: Arc<str>,
        /// JSON Schema that the answer to this message must fit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_schema: Option<Json>,
        /// Images and documents that come with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    /// A running thread is told something; it reads it at its next turn.
    Steered {
        /// The words.
        text: Arc<str>,
        /// Who: `person`, or the path of the agent that sent it.
        from: Arc<str>,
        /// Whether the agent that sent it had read untrusted text: then these words may be such text, too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        foreign: bool,
    },
    /// The thread and its subtree are to end.
    Stopped {
        /// How.
        strength: Strength,
        /// Why, in one sentence.
        reason: Arc<str>,
    },
    /// A person answered a question.
    Decided {
        /// Which.
        approval: ApprovalId,
        /// What was shown.
        digest: Arc<str>,
        /// What was decided.
        decision: Decision,
    },
}

impl Outside {
    /// A person gives a root thread something to do, in words alone.
    pub fn said(text: impl Into<Arc<str>>) -> Self {
        Self::UserSaid { text: text.into(), output_schema: None, attachments: Vec::new() }
    }

    /// A person tells a running thread something.
    pub fn person_steers(text: impl Into<Arc<str>>) -> Self {
        Self::Steered { text: text.into(), from: "person".into(), foreign: false }
    }
}

/// How a thread is stopped. Steering is the mildest way and is not a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// What runs is ended, then one last turn says what is done and what is left.
    Cancel,
    /// What runs is ended, and that is all.
    Kill,
}
