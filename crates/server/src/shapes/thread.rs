//! Threads: what begins one, what is said in it, and its current state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Mode, Moment, Outcome, Tokens};

/// The longest message, in characters.
pub const MAX_MESSAGE: usize = 1_000_000;
/// What a message must have at least one of: a character that is no blank.
pub const NOT_BLANK: &str = r"\S";

/// What begins a thread.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The first message.
    #[schemars(length(min = 1, max = MAX_MESSAGE), regex(pattern = NOT_BLANK))]
    pub message: String,
    /// The agent; the configured one where none is named.
    pub agent: Option<String>,
}

/// Words for a thread.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The words; `message` is understood too.
    #[serde(alias = "message")]
    #[schemars(length(min = 1, max = MAX_MESSAGE), regex(pattern = NOT_BLANK))]
    pub text: String,
}

/// A message, to a thread that there is or to a new one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chat {
    /// The words.
    #[schemars(length(min = 1, max = MAX_MESSAGE), regex(pattern = NOT_BLANK))]
    pub message: String,
    /// The thread; a new one where none is named. `threadId` and `sessionId` are understood too.
    #[serde(alias = "threadId", alias = "sessionId")]
    pub thread_id: Option<String>,
    /// The agent of a new thread; the configured one where none is named.
    pub agent: Option<String>,
}

/// How a thread is to end.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stop {
    /// Without a last word.
    pub now: bool,
    /// Why, for the log.
    pub reason: Option<String>,
}

/// A thread that was begun, or in which something was said.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Started {
    /// Its name.
    pub id: String,
}

/// The current state of a thread.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// Its name: `20260115-k3f9` for a root, `20260115-k3f9.1` for its first child.
    pub id: String,
    /// The root of its family; itself for a root.
    pub root: String,
    /// The thread that started it; null for a root.
    pub parent: Option<String>,
    /// What it is called on screens.
    pub name: String,
    /// The agent that it plays.
    pub agent: String,
    /// `provider/model`.
    pub model: String,
    /// What it may do.
    pub mode: Mode,
    /// The preset it was started with.
    pub preset: String,
    /// The beginning of what it was last asked, in one line.
    pub goal: String,
    /// What it is doing, or how it ended.
    pub state: ThreadState,
    /// How it ended; null while it has not.
    pub outcome: Option<Outcome>,
    /// Times that the model was asked.
    pub turns: u32,
    /// Tool calls, denied ones included.
    pub tool_calls: u32,
    /// Tokens of its own answers, over all its runs.
    pub tokens: Tokens,
    /// Money of its own calls, in millionths of a dollar.
    pub cost_microusd: u64,
    /// The tool that was begun last.
    pub last_tool: Option<String>,
    /// What it waits for, in words.
    pub waiting_for: Option<String>,
    /// Runs that were begun; a sub-agent has one.
    pub runs: u32,
    /// When it came to be.
    pub created_at: Moment,
    /// When its last event was written.
    pub updated_at: Moment,
    /// When it ended; null while it has not.
    pub ended_at: Option<Moment>,
    /// The process that works on it; null where none does.
    pub owner: Option<Owner>,
    /// Raised whenever another process takes it over.
    pub epoch: u64,
    /// How many events it has.
    pub head: u64,
}

/// The word for what a thread is doing, or for how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadState {
    /// It has no task yet.
    Idle,
    /// It has a task and has not asked the model yet.
    Initializing,
    /// Its conversation is read back from the log, or is being summarised because it is too long.
    LoadingContext,
    /// The model works on an answer, or the answer is being acted upon.
    Processing,
    /// A tool runs.
    WaitingForTool,
    /// A person has to answer.
    WaitingForUser,
    /// Sub-agents run, and there is nothing else to do.
    Delegating,
    /// It is ending.
    Completing,
    /// It is in the middle of something, and its process is gone; or it ended so.
    Interrupted,
    /// It answered.
    Completed,
    /// It stopped without a word.
    NoOutput,
    /// It reached a limit.
    BudgetExceeded,
    /// Its time was over.
    Timeout,
    /// It was refused.
    Refused,
    /// It was stopped.
    Cancelled,
    /// It failed.
    Error,
}

/// Who works on a thread.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Owner {
    /// The process.
    pub process: Process,
    /// Its last sign of life.
    pub beat_at: Moment,
}

/// A process that works on threads.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Its name.
    pub id: String,
    /// Its number on its host.
    pub pid: u32,
    /// When it was started, as its kernel counts.
    pub start_time: u64,
    /// The host it runs on.
    pub host: String,
}

/// A sub-agent's execution, from its spawning to its end.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    /// Its name.
    pub id: String,
    /// The root thread.
    pub workflow_id: String,
    /// The thread that spawned it.
    pub parent_agent_id: String,
    /// Its own thread.
    pub sub_agent_id: String,
    /// What it is called on screens.
    pub sub_agent_name: String,
    /// What it was asked, cut if long.
    pub task_description: String,
    /// Its status.
    pub status: ExecutionStatus,
    /// How it ended, in finer words.
    pub outcome: Option<Outcome>,
    /// From its beginning to its report.
    pub duration_ms: Option<u64>,
    /// Its own prompt tokens.
    pub tokens_input: Option<u64>,
    /// Its own generated tokens.
    pub tokens_output: Option<u64>,
    /// The beginning of what it handed back, where that can be built upon.
    pub result_summary: Option<String>,
    /// Why it handed nothing back.
    pub error_message: Option<String>,
    /// When it was spawned.
    pub created_at: Moment,
    /// When it ended.
    pub completed_at: Option<Moment>,
}

/// The status of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    /// It waits in line.
    Pending,
    /// It has begun.
    Running,
    /// It handed back something that can be built upon.
    Completed,
    /// It failed.
    Error,
    /// It was stopped or refused.
    Cancelled,
}

/// What one thread used of one model.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UsageRow {
    /// The thread.
    pub thread: String,
    /// `provider/model`.
    pub model: String,
    /// Answers.
    pub calls: u64,
    /// Tokens of those answers.
    pub tokens: Tokens,
    /// Tokens that were booked for calls whose answer was lost.
    pub booked_tokens: u64,
    /// Money, in millionths of a dollar, that of lost calls included.
    pub cost_microusd: u64,
}
