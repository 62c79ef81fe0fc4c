//! What can reach an agent.
//!
//! Inputs from outside (a person, a parent, another process) are first written to the log as `input_arrived`
//! and handled from there, so that none is lost; the rest are answers to effects.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::approval::{ApprovalId, Decision, Question};
use crate::budget::Grant;
use crate::id::{CallId, InputId, ThreadId, Time};
use crate::json::Json;
use crate::message::Attachment;
use crate::mode::Mode;
use crate::model::{Answer, CallError, Model};
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
    /// A call that is under way wants to know something from a person. Answered by `AnswerTool`.
    ToolAsks {
        /// Which call.
        call: CallId,
        /// What it wants to know, with the number by which the answer is handed to it.
        question: Question,
    },
    /// The server behind a call that is under way wants the model to be asked. Answered by `AnswerSample`.
    ToolSamples {
        /// Which call.
        call: CallId,
        /// The number by which the answer is handed to it.
        number: u32,
        /// The server.
        server: Arc<str>,
        /// What it wants to hear ([`SamplingRequest`](crate::sampling::SamplingRequest)).
        input: Json,
    },
    /// The model answered a server, or did not.
    SampleAnswered {
        /// The request's number.
        number: u32,
        /// What it said.
        outcome: Result<Answer, CallError>,
    },
    /// The checks of a sub-agent's brief were run.
    ChecksFinished {
        /// The name under which they ran.
        call: CallId,
        /// That all passed, or what failed. Not `executed` where a check could not be run.
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
    /// A person gives a thread something to do. A thread that works takes it up when its run is over.
    UserSaid {
        /// The words.
        text: Arc<str>,
        /// JSON Schema that the answer to this message must fit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_schema: Option<Json>,
        /// Images and documents that come with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// What the run may spend that it begins, where that is not what the thread was created with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Box<Grant>>,
        /// Whether no person waits for the answer: then it counts as unread.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unwatched: bool,
        /// Whether untrusted text was added to the words, such as a resource of a server.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        foreign: bool,
    },
    /// A parent asks a sub-agent something more that has reported. Taken up as a message of a person is; the report names it.
    Asked {
        /// The words.
        text: Arc<str>,
        /// The path of the agent that asks.
        from: Arc<str>,
        /// What the run may spend that it begins.
        grant: Box<Grant>,
        /// Whether the agent that asks had read untrusted text: then these words may be such text, too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        foreign: bool,
    },
    /// The program lets a thread know something. One that works reads it at its next turn; for an idle one a run begins.
    Noticed {
        /// What the model reads, word for word.
        text: Arc<str>,
        /// Who: a board, for example.
        from: Arc<str>,
        /// What the run may spend that it begins, where that is not what the thread was created with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Box<Grant>>,
        /// Whether an agent wrote some of it that had read untrusted text.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        foreign: bool,
        /// Tools that the thread has from then on besides its own: what it is told to do needs them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<Arc<str>>,
    },
    /// The number of a new child is wanted, for a thread that is started by another way than by this one.
    ChildWanted,
    /// A person gave the thread a title, put it away or took it out again, or has read its answer. It holds from then on, and no run is
    /// concerned by it.
    Marked {
        /// What it is called in lists; empty for what it began with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<Arc<str>>,
        /// Whether it is put away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archived: Option<bool>,
        /// Whether its newest answer was read.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        read: bool,
    },
    /// A person chose another model or another mode for the thread. It holds from its next turn on.
    Chosen {
        /// The model; none where it stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Box<Model>>,
        /// The mode; none where it stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
    },
    /// A person wants the conversation to be replaced by a summary of it. A thread that works does so when its run is over.
    SummaryWanted {
        /// What the run may spend that it begins, where that is not what the thread was created with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Box<Grant>>,
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
        /// The question of a parent whose run is to end, whether that has begun or not; none for whatever run goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<InputId>,
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
        Self::UserSaid {
            text: text.into(),
            output_schema: None,
            attachments: Vec::new(),
            grant: None,
            unwatched: false,
            foreign: false,
        }
    }

    /// Whatever run of a thread goes on is to end.
    pub fn stopped(strength: Strength, reason: impl Into<Arc<str>>) -> Self {
        Self::Stopped { strength, reason: reason.into(), run: None }
    }

    /// Whether it means something where no run goes on.
    pub fn needs_no_run(&self) -> bool {
        match self {
            Self::UserSaid { .. }
            | Self::Asked { .. }
            | Self::Noticed { .. }
            | Self::ChildWanted
            | Self::Chosen { .. }
            | Self::SummaryWanted { .. } => true,
            Self::Steered { .. } | Self::Stopped { .. } | Self::Decided { .. } | Self::Marked { .. } => false,
        }
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
