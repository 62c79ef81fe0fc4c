//! The result of a run: one report, whatever happened.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::InputId;
use crate::json::Json;
use crate::model::Tokens;

/// How a run ended. A closed set, shared by code, storage and wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent answered.
    Completed,
    /// The agent stopped without a word. Never a success.
    NoOutput,
    /// A limit of tool calls, requests, tokens or money was reached; the text says what is done and what is left.
    BudgetExceeded,
    /// The time was over.
    Timeout,
    /// The spawn was refused, or no text came after a refusal.
    Refused,
    /// A person or a parent stopped it.
    Cancelled,
    /// Its process went away, and nobody went on with it.
    Interrupted,
    /// Something failed.
    Error,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 8] = [
        Outcome::Completed,
        Outcome::NoOutput,
        Outcome::BudgetExceeded,
        Outcome::Timeout,
        Outcome::Refused,
        Outcome::Cancelled,
        Outcome::Interrupted,
        Outcome::Error,
    ];

    /// The word used in storage and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::NoOutput => "no_output",
            Outcome::BudgetExceeded => "budget_exceeded",
            Outcome::Timeout => "timeout",
            Outcome::Refused => "refused",
            Outcome::Cancelled => "cancelled",
            Outcome::Interrupted => "interrupted",
            Outcome::Error => "error",
        }
    }

    /// Whether what it handed back can be built upon (`completed`, or cut short by a budget with its partial work).
    pub fn has_result(self) -> bool {
        matches!(self, Outcome::Completed | Outcome::BudgetExceeded)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What was used: by one thread, or by a thread and all its descendants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens as the provider reported them, or as they were reserved where it reported nothing.
    pub tokens: Tokens,
    /// Tokens as they count against the grant.
    pub counted_tokens: u64,
    /// Money.
    pub cost_microusd: u64,
    /// Tool calls, denied ones included.
    pub tool_calls: u32,
    /// Answers of the model.
    pub model_calls: u32,
    /// Requests to models, those that failed or whose answer was lost included. Logs from before it was counted have 0.
    #[serde(default)]
    pub requests: u32,
    /// Sub-agents that were begun.
    pub children: u32,
    /// How many of the tokens are not the provider's figures: reserved for a request whose answer was lost, or estimated because the
    /// provider reported nothing. Where there are any, the money is an estimate too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_tokens: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    /// Whether any of the figures is an estimate.
    pub fn is_estimated(&self) -> bool {
        self.estimated_tokens > 0
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(&self, other: &Usage) -> Usage {
        Usage {
            tokens: self.tokens.plus(&other.tokens),
            counted_tokens: self.counted_tokens.saturating_add(other.counted_tokens),
            cost_microusd: self.cost_microusd.saturating_add(other.cost_microusd),
            tool_calls: self.tool_calls.saturating_add(other.tool_calls),
            model_calls: self.model_calls.saturating_add(other.model_calls),
            requests: self.requests.saturating_add(other.requests),
            children: self.children.saturating_add(other.children),
            estimated_tokens: self.estimated_tokens.saturating_add(other.estimated_tokens),
        }
    }

    /// What came after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Usage) -> Usage {
        let tokens = Tokens {
            input: self.tokens.input.saturating_sub(earlier.tokens.input),
            cache_read: self.tokens.cache_read.saturating_sub(earlier.tokens.cache_read),
            cache_write: self.tokens.cache_write.saturating_sub(earlier.tokens.cache_write),
            cache_write_1h: self.tokens.cache_write_1h.saturating_sub(earlier.tokens.cache_write_1h),
            output: self.tokens.output.saturating_sub(earlier.tokens.output),
            reasoning: self.tokens.reasoning.saturating_sub(earlier.tokens.reasoning),
        };
        Usage {
            tokens,
            counted_tokens: self.counted_tokens.saturating_sub(earlier.counted_tokens),
            cost_microusd: self.cost_microusd.saturating_sub(earlier.cost_microusd),
            tool_calls: self.tool_calls.saturating_sub(earlier.tool_calls),
            model_calls: self.model_calls.saturating_sub(earlier.model_calls),
            requests: self.requests.saturating_sub(earlier.requests),
            children: self.children.saturating_sub(earlier.children),
            estimated_tokens: self.estimated_tokens.saturating_sub(earlier.estimated_tokens),
        }
    }
}

/// The one and only output of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// What it says.
    pub text: Arc<str>,
    /// Structured data: the answer where a schema was asked for, else what the policy says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// Why it ended so, in one sentence; always there unless it completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// The kind of cause, where a machine should know it: `provider`, `loop`, `output_limit`, `schema`, `panic`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Arc<str>>,
    /// Tools that this thread ran in this run, in the order of first use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools_used: Vec<Arc<str>>,
    /// Files read by this thread in this run, in the order of first reading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_read: Vec<Arc<str>>,
    /// Files written by this thread and its descendants in this run, in the order of first writing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<Arc<str>>,
    /// What this thread used itself.
    pub usage: Usage,
    /// What it and all its descendants used.
    pub tree: Usage,
    /// From its beginning to this report.
    pub duration_ms: u64,
    /// Calls and children that were still open when it ended, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Arc<str>>,
    /// Rules that would have allowed what policy refused for want of a person in this run, in this thread and below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<Arc<str>>,
    /// Whether this thread or one below read untrusted text: then the report is such text, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// Whether a message reached it while it worked: then it answers more than its brief.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steered: bool,
    /// The message that a sub-agent answers; none where it answers its brief.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<InputId>,
}

impl Report {
    /// The report on a message that was dropped before a run began with it.
    pub fn never_begun(asked: InputId, reason: &str) -> Self {
        Self { asked: Some(asked), ..Self::empty(Outcome::Cancelled, format!("never begun: {reason}")) }
    }

    /// The report of a thread that did nothing and used nothing.
    pub fn empty(outcome: Outcome, reason: impl Into<Arc<str>>) -> Self {
        Self {
            outcome,
            text: "".into(),
            data: None,
            reason: Some(reason.into()),
            cause: None,
            tools_used: Vec::new(),
            files_read: Vec::new(),
            files_modified: Vec::new(),
            usage: Usage::default(),
            tree: Usage::default(),
            duration_ms: 0,
            unfinished: Vec::new(),
            unanswered: Vec::new(),
            foreign: false,
            steered: false,
            asked: None,
        }
    }

    /// The answer: the text of a run that completed, else an error that says how it ended.
    pub fn answer(self) -> Result<Arc<str>, Ended> {
        match self.outcome {
            Outcome::Completed => Ok(self.text),
            _ => Err(self.into()),
        }
    }
}

/// A run that ended in another way than with an answer, as an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended(pub Box<Report>);

impl From<Report> for Ended {
    fn from(report: Report) -> Self {
        Self(Box::new(report))
    }
}

impl std::error::Error for Ended {}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = &*self.0;
        write!(f, "the run ended without an answer ({})", report.outcome)?;
        if let Some(reason) = &report.reason {
            write!(f, ": {reason}")?;
        }
        for rule in &report.unanswered {
            write!(f, "; {rule}")?;
        }
        Ok(())
    }
}
