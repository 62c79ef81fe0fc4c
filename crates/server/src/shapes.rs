//! The shapes of what goes over HTTP: what `/api/v1/openapi.json` is generated from, and what a client in Rust can read answers
//! into.
//!
//! Small answers are made from these types. What `store` and `view` produce (threads, questions, trees, frames) is written
//! as it is there, and described here; tests compare real answers with the description, both ways: nothing is missing
//! and nothing is unsaid. The rules cannot describe themselves, for they are built from serde alone.
//!
//! Fields are only ever added: readers pass over what they do not know.

mod approval;
mod event;
mod setup;
mod thread;
mod transcript;
mod tree;

pub use approval::{Approval, ApprovalStatus, Decided, Risk, Scope, Verdict, Word};
pub use event::{CallErrorKind, Child, ChildData, Event, Frame, Metrics, Notice, Passing, Reset, Resolution, What};
pub use setup::{AgentRole, Health, Models, Problem, Setting};
pub use thread::{
    Begin, Chat, Execution, ExecutionStatus, MAX_MESSAGE, NOT_BLANK, Owner, Process, Started, Stop, Thread,
    ThreadState, UsageRow, Words,
};
pub use transcript::{ChildRow, Entry, Messages, ToolRow};
pub use tree::{AgentState, LastTool, Node};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Moment(pub i64);

/// What an agent may do without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Read only.
    Plan,
    /// Writes ask.
    Ask,
    /// Writes are allowed, dangerous ones ask.
    Auto,
    /// Nothing asks.
    Dangerous,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent answered.
    Completed,
    /// The agent stopped without a word.
    NoOutput,
    /// A limit of tool calls, tokens or money was reached; the text says what is done and what is left.
    BudgetExceeded,
    /// The time was over.
    Timeout,
    /// It was refused, or no text came after a refusal.
    Refused,
    /// It was stopped.
    Cancelled,
    /// Its process is gone, and no other one resumed it.
    Interrupted,
    /// Something failed.
    Error,
}

/// Tokens of one or many calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// Generated tokens, thinking included.
    pub output: u64,
}

/// What was used: by one thread, or by a thread and all its descendants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens as the provider reported them, or as they were reserved where it reported nothing.
    pub tokens: Tokens,
    /// Tokens as they count against the grant.
    pub counted_tokens: u64,
    /// Money, in millionths of a dollar.
    pub cost_microusd: u64,
    /// Tool calls, denied ones included.
    pub tool_calls: u32,
    /// Answers of the model.
    pub model_calls: u32,
    /// Requests to models, those that failed or whose answer was lost included.
    pub requests: u32,
    /// Sub-agents that were begun.
    pub children: u32,
    /// How many of the tokens are not the provider's figures: reserved for a request whose answer was lost, or estimated because the
    /// provider reported nothing. Left out where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_tokens: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a thread used itself, and with its descendants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// By the thread itself.
    #[serde(rename = "self")]
    pub own: Usage,
    /// By the thread and all its descendants.
    pub tree: Usage,
}
