//! Every rule on which people differ, in one record. A preset is a set of values, never a path through the code.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The policy for one root and all its descendants. Pinned in the log when a thread is created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Whether agents may have sub-agents at all.
    pub enabled: bool,
    /// The deepest level: 0 is the root alone, 1 its children.
    pub max_depth: u32,
    /// Descendants of one thread: over its life, or at the same time (`count_mode`).
    pub max_children: u32,
    /// Whether a descendant that is over still has its place.
    pub count_mode: CountMode,
    /// Children of one thread that run at the same time; further ones wait in line.
    pub max_concurrent: u32,
    /// Subtasks in one `delegate_task`.
    pub max_subtasks: u32,
    /// Calls in one answer.
    pub max_calls_per_answer: u32,
    /// What a child is granted when its parent asks for nothing else.
    pub child: ChildDefaults,
    /// The most tool calls that a child can be given, whatever is asked; 0 means no such bound.
    pub max_child_tool_calls: u32,
    /// A child that could be given fewer tokens than this is refused.
    pub min_child_tokens: u64,
    /// The shortest time that a child can be given.
    pub min_child_timeout_ms: u64,
    /// How tokens count against a grant.
    pub token_count: TokenCount,
    /// Whether a child plays in its parent's mode when nothing else is asked; otherwise in `ask`.
    pub inherit_mode: bool,
    /// Whether the verbs that start sub-agents are there in mode `plan`.
    pub spawn_in_plan: bool,
    /// Whether a child may ask the person.
    pub children_may_ask: bool,
    /// Silence after which a stall is noticed; 0 means never.
    pub stall_ms: u64,
    /// When a person is asked before sub-agents are started. A person's rules hold whatever stands here.
    pub approval: StartApproval,
    /// What becomes of a sub-agent between its turns.
    pub lifecycle: Lifecycle,
    /// What a failed subtask means for the others of its delegation.
    pub on_error: OnError,
    /// Whether a task that only reads, asked again word for word in the same run, is answered with the report that it had.
    pub reuse_reports: bool,
    /// Whether a sub-agent whose model has no known price may be started under a limit on money, which then does not hold it. Set by
    /// `grant.unknown_price`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_unknown_price: bool,
    /// Which agent each intent of `delegate` and each type of `Task` leads to, in the order in which a model reads them.
    pub delegates: Vec<(Arc<str>, Arc<str>)>,
    /// What an agent is handed by `delegate`, and what comes back.
    pub context: ContextMode,
    /// The most that is handed over as a structured context, in tokens of four bytes.
    pub max_context_tokens: u64,
    /// What a report carries as data where no schema was asked for.
    pub report_data: ReportData,
    /// The verbs that a model sees.
    pub verbs: Vec<Arc<str>>,
    /// The arguments of `spawn_agent` that a model sees.
    pub spawn_args: Vec<Arc<str>>,
    /// From how many identical calls in a row a call is refused with a note.
    pub loop_refuse_at: u32,
    /// From how many identical calls in a row the thread is ended.
    pub loop_end_at: u32,
    /// After how many answers in a row, in which every call failed or was refused, the thread is ended. An answer in which a
    /// call succeeded starts the count again.
    pub loop_failed_at: u32,
    /// How often an agent can ask sub-agents that have reported something more, in the answer to one message.
    pub max_rounds: u32,
    /// How often the checks of a task or of a sub-agent's brief may fail before it is given up.
    pub check_attempts: u32,
}

/// What a child is granted when nothing else is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChildDefaults {
    /// Tool calls.
    pub max_tool_calls: u32,
    /// Tokens.
    pub max_tokens: u64,
    /// Time.
    pub timeout_ms: u64,
}

/// How tokens count against a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenCount {
    /// Every token of every call, as a provider bills them.
    Billed,
    /// Each prompt token once a thread.
    Fresh,
}

/// Which descendants count against `max_children`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountMode {
    /// Every one that was ever begun.
    Total,
    /// Those that are not over.
    Active,
}

/// When a person is asked before sub-agents are started. Where nothing asks (mode `dangerous`), nobody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartApproval {
    /// Never on account of the policy.
    Never,
    /// Where the verb that starts them is of high risk.
    ByRisk,
    /// Each time.
    Always,
}

/// What becomes of a sub-agent between its turns. Either way it can be asked something more, and costs nothing meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// It is over with its report.
    #[default]
    Call,
    /// It stays, is told so, and is shown as idle.
    Persistent,
}

impl Lifecycle {
    /// Whether it is over with its report.
    pub fn is_call(&self) -> bool {
        *self == Self::Call
    }
}

/// What a failed subtask means for the others of its delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The others go on; those that depend on it are skipped.
    Continue,
    /// The others are not begun, and running ones are stopped.
    Stop,
}

/// What an agent is handed by `delegate`, and what comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextMode {
    /// The task alone; a report comes back as it does from any child.
    Brief,
    /// The task and a [`DelegationContext`](crate::delegation::DelegationContext); an
    /// [`AgentResult`](crate::delegation::AgentResult) comes back.
    Structured,
}

/// What a report carries as data where no schema was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportData {
    /// Nothing.
    None,
    /// The JSON object that the last successful call answered with.
    LastResult,
}

/// The verbs by which an agent deals with other agents, in the order in which they are advertised.
pub const VERBS: [&str; 11] = [
    "spawn_agent",
    "delegate_task",
    "message_agent",
    "wait_agents",
    "stop_agent",
    "list_agents",
    "delegate",
    "SpawnAgentTool",
    "DelegateTaskTool",
    "ParallelTasksTool",
    "Task",
];

/// The verbs of a policy that names no others.
pub const USUAL_VERBS: [&str; 6] =
    ["spawn_agent", "delegate_task", "message_agent", "wait_agents", "stop_agent", "list_agents"];

/// The verbs that hold several operations each.
pub const OPERATION_VERBS: [&str; 3] = ["SpawnAgentTool", "DelegateTaskTool", "ParallelTasksTool"];

/// The verbs that can start sub-agents: an agent that has one of them needs places for children.
pub const STARTING_VERBS: [&str; 7] =
    ["spawn_agent", "delegate_task", "delegate", "SpawnAgentTool", "DelegateTaskTool", "ParallelTasksTool", "Task"];

/// The arguments that `spawn_agent` knows.
pub const SPAWN_ARGS: [&str; 18] = [
    "task",
    "agent",
    "name",
    "scope",
    "context",
    "tools",
    "model",
    "mode",
    "max_tool_calls",
    "max_tokens",
    "max_cost",
    "timeout_s",
    "expected",
    "checks",
    "background",
    "files",
    "messages",
    "progress",
];

impl Default for Policy {
    fn default() -> Self {
        Self {
            enabled: true,
            max_depth: 2,
            max_children: 16,
            count_mode: CountMode::Total,
            max_concurrent: 4,
            max_subtasks: 10,
            max_calls_per_answer: 128,
            child: ChildDefaults::default(),
            max_child_tool_calls: 0,
            min_child_tokens: 4096,
            min_child_timeout_ms: 5000,
            token_count: TokenCount::Billed,
            inherit_mode: true,
            spawn_in_plan: true,
            children_may_ask: true,
            stall_ms: 120_000,
            approval: StartApproval::ByRisk,
            lifecycle: Lifecycle::Call,
            on_error: OnError::Continue,
            reuse_reports: false,
            allow_unknown_price: false,
            delegates: Vec::new(),
            context: ContextMode::Brief,
            max_context_tokens: 4000,
            report_data: ReportData::None,
            verbs: USUAL_VERBS.map(Arc::from).to_vec(),
            spawn_args: SPAWN_ARGS.map(Arc::from).to_vec(),
            loop_refuse_at: 5,
            loop_end_at: 8,
            loop_failed_at: 12,
            max_rounds: 40,
            check_attempts: 3,
        }
    }
}

impl Default for ChildDefaults {
    fn default() -> Self {
        Self { max_tool_calls: 50, max_tokens: 200_000, timeout_ms: 30 * 60 * 1000 }
    }
}
