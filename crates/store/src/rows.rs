//! What is folded from the log and kept beside it, so that lists need not read it: threads, executions, usage, wakes.
//!
//! How it is folded is written in `projection`.

use std::sync::Arc;

use agent::model::Tokens;
use agent::{Mode, Outcome, State, ThreadId, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::process::Process;

/// How long a claimed wake is not handed out again.
pub const LEASE_MS: u64 = 30_000;

/// The current state of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Thread")]
pub struct ThreadRow {
    /// Its name: `20260115-k3f9` for a root, `20260115-k3f9.1` for its first child.
    #[schemars(with = "String")]
    pub id: ThreadId,
    /// The root of its family; itself for a root.
    #[schemars(with = "String")]
    pub root: ThreadId,
    /// The thread that started it; null for a root.
    #[schemars(with = "Option<String>")]
    pub parent: Option<ThreadId>,
    /// What it is called on screens.
    pub name: Arc<str>,
    /// The agent that it plays.
    pub agent: Arc<str>,
    /// `provider/model`.
    pub model: Arc<str>,
    /// What it may do.
    #[schemars(with = "schema::Mode")]
    pub mode: Mode,
    /// The preset it was started with.
    pub preset: Arc<str>,
    /// The beginning of what it was last asked, in one line; empty for a root that was asked nothing yet.
    pub goal: Arc<str>,
    /// What a person called it; null where none did.
    pub title: Option<Arc<str>>,
    /// Whether a person put it away.
    pub archived: bool,
    /// Whether it has an answer that no person has read: its message was sent by a person who did not wait for the answer.
    pub unread: bool,
    /// Whether it is a sub-agent that stays after its report.
    pub persistent: bool,
    /// The task that it was created for, as its board names it.
    pub created_for: Option<Arc<str>>,
    /// The task that it works on; null where it works on none.
    pub current_task: Option<CurrentTask>,
    /// What it is doing, or how it ended.
    #[schemars(with = "schema::ThreadState")]
    pub state: State,
    /// How it ended; null while it has not.
    #[schemars(with = "Option<schema::Outcome>")]
    pub outcome: Option<Outcome>,
    /// Times that the model was asked.
    pub turns: u32,
    /// Tool calls, denied ones included.
    pub tool_calls: u32,
    /// Tokens of its own answers, over all its runs.
    #[schemars(with = "schema::Tokens")]
    pub tokens: Tokens,
    /// Money of its own calls, lost ones included, in millionths of a dollar.
    pub cost_microusd: u64,
    /// The tool that was begun last.
    pub last_tool: Option<Arc<str>>,
    /// What it waits for, in words: the model, a person, tools, sub-agents.
    pub waiting_for: Option<Arc<str>>,
    /// Runs that were begun.
    pub runs: u32,
    /// When it came to be.
    #[schemars(with = "schema::Moment")]
    pub created_at: Time,
    /// When its last event was written.
    #[schemars(with = "schema::Moment")]
    pub updated_at: Time,
    /// When it ended; null while it has not.
    #[schemars(with = "Option<schema::Moment>")]
    pub ended_at: Option<Time>,
    /// The process that works on it; null where none does.
    pub owner: Option<Owner>,
    /// Raised whenever another process takes it over.
    pub epoch: u64,
    /// How many events it has.
    pub head: u64,
}

/// The task that a thread works on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CurrentTask {
    /// Its name in its board, such as `t12`.
    pub id: Arc<str>,
    /// The board: the path of its folder, or its name.
    pub board: Arc<str>,
    /// Its title.
    pub title: Arc<str>,
}

/// Who works on a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Owner {
    /// The process.
    pub process: Process,
    /// Its last sign of life.
    #[schemars(with = "schema::Moment")]
    pub beat_at: Time,
}

impl Owner {
    /// Whether the owner is alive. A live thread whose owner is not was interrupted.
    pub(crate) fn is_alive(&self, now: Time) -> bool {
        self.process.is_alive(self.beat_at, now)
    }
}

/// Which threads are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadQuery {
    /// Only roots.
    pub root_only: bool,
    /// Only those with something still to be done.
    pub live_only: bool,
    /// Only this root and its descendants.
    pub root: Option<ThreadId>,
    /// Only those that were put away, or only those that were not; none for both.
    pub archived: Option<bool>,
    /// Only those that were created for a task.
    pub of_tasks: bool,
    /// Only those that are older than this one: the last of the page before.
    pub before: Option<ThreadId>,
    /// At most so many.
    pub limit: usize,
}

impl Default for ThreadQuery {
    /// The newest hundred.
    fn default() -> Self {
        Self {
            root_only: false,
            live_only: false,
            root: None,
            archived: None,
            of_tasks: false,
            before: None,
            limit: 100,
        }
    }
}

/// A sub-agent's execution, from its spawning to its end; it is listed before its thread exists, while it waits in line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    /// Its name.
    pub id: Arc<str>,
    /// The root thread.
    #[schemars(with = "String")]
    pub workflow_id: ThreadId,
    /// The thread that spawned it.
    #[schemars(with = "String")]
    pub parent_agent_id: ThreadId,
    /// Its own thread.
    #[schemars(with = "String")]
    pub sub_agent_id: ThreadId,
    /// What it is called on screens.
    pub sub_agent_name: Arc<str>,
    /// What it was asked, cut if long.
    pub task_description: Arc<str>,
    /// Its status.
    pub status: Status,
    /// How it ended, in finer words.
    #[schemars(with = "Option<schema::Outcome>")]
    pub outcome: Option<Outcome>,
    /// From its beginning to its report.
    pub duration_ms: Option<u64>,
    /// Its own prompt tokens.
    pub tokens_input: Option<u64>,
    /// Its own generated tokens.
    pub tokens_output: Option<u64>,
    /// The beginning of what it handed back, where that can be built upon.
    pub result_summary: Option<Arc<str>>,
    /// Why it handed nothing back.
    pub error_message: Option<Arc<str>>,
    /// When it was spawned.
    #[schemars(with = "schema::Moment")]
    pub created_at: Time,
    /// When it ended.
    #[schemars(with = "Option<schema::Moment>")]
    pub completed_at: Option<Time>,
}

/// The status of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ExecutionStatus")]
pub enum Status {
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

impl Status {
    /// The word used in storage and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Running => "running",
            Status::Completed => "completed",
            Status::Error => "error",
            Status::Cancelled => "cancelled",
        }
    }

    /// Whether it is over.
    pub fn is_over(self) -> bool {
        match self {
            Status::Completed | Status::Error | Status::Cancelled => true,
            Status::Pending | Status::Running => false,
        }
    }
}

impl From<Outcome> for Status {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Completed | Outcome::BudgetExceeded => Status::Completed,
            Outcome::Cancelled | Outcome::Refused => Status::Cancelled,
            Outcome::NoOutput | Outcome::Timeout | Outcome::Interrupted | Outcome::Error => Status::Error,
        }
    }
}

/// What one thread used of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UsageRow {
    /// The thread.
    #[schemars(with = "String")]
    pub thread: ThreadId,
    /// `provider/model`.
    pub model: Arc<str>,
    /// Answers.
    pub calls: u64,
    /// Tokens of those answers.
    #[schemars(with = "schema::Tokens")]
    pub tokens: Tokens,
    /// Tokens that were booked for calls whose answer was lost.
    pub booked_tokens: u64,
    /// Money, in millionths of a dollar, that of lost calls included.
    pub cost_microusd: u64,
}

/// A hint that something is to be done for a thread. Losing one loses time, never work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Its name.
    pub key: u64,
    /// The thread.
    pub thread: ThreadId,
    /// Since when.
    pub due: Time,
    /// The sub-agent of the thread that there is news of; none where it is the thread itself.
    pub about: Option<ThreadId>,
}
