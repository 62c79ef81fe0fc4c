//! What makes a task and what changes it. Tasks themselves are described in `majordomo::tasks`.

use schema::{TaskPriority, TaskStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NOT_BLANK;

/// A task to be made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    /// One line.
    #[schemars(length(min = 1, max = 500), regex(pattern = NOT_BLANK))]
    pub title: String,
    /// What is to be done; the title where it is left out.
    pub prompt: Option<String>,
    /// `medium` where it is left out.
    #[schemars(with = "Option<TaskPriority>")]
    pub priority: Option<String>,
    /// Who gets it: a thread, an agent, `human`, `new:provider/model`, `new:AGENT@provider/model` or `new:AGENT`.
    pub assign: Option<String>,
    /// The tasks that must be completed before.
    #[serde(default)]
    pub after: Vec<String>,
    /// When it should be done: a day such as `2026-01-31` or a moment such as `2026-01-31T17:00:00Z`.
    pub due: Option<String>,
    /// Words by which tasks are chosen.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Commands that must succeed before it counts as completed.
    #[serde(default)]
    pub checks: Vec<String>,
    /// JSON Schema that its result must match before it counts as completed.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub schema: Option<agent::Json>,
    /// The most tool calls of its agent.
    pub max_tool_calls: Option<u32>,
    /// The most tokens of its agent.
    pub max_tokens: Option<u64>,
    /// The most that its agent may cost, in dollars.
    #[schemars(with = "Option<f64>", range(min = 0.000001, max = 1000000000.0))]
    pub max_cost: Option<serde_json::Number>,
    /// The most time of its agent, in seconds.
    pub timeout_s: Option<u64>,
}

/// What is to change about a task; what is left out stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TaskChange {
    /// One line.
    pub title: Option<String>,
    /// What is to be done.
    pub prompt: Option<String>,
    /// Whether it goes before others.
    #[schemars(with = "Option<TaskPriority>")]
    pub priority: Option<String>,
    /// The tasks that must be completed before.
    pub after: Option<Vec<String>>,
    /// Its place among others; less is earlier.
    pub rank: Option<i64>,
    /// When it should be done: a day, a moment, or `none`.
    pub due: Option<String>,
    /// Words by which tasks are chosen.
    pub labels: Option<Vec<String>>,
    /// Commands that must succeed before it counts as completed; an empty list takes away those that there are.
    pub checks: Option<Vec<String>>,
    /// The most tool calls of its agent. A running agent keeps its limits until the task is handed out again.
    pub max_tool_calls: Option<u32>,
    /// The most tokens of its agent.
    pub max_tokens: Option<u64>,
    /// The most that its agent may cost, in dollars.
    #[schemars(with = "Option<f64>", range(min = 0.000001, max = 1000000000.0))]
    pub max_cost: Option<serde_json::Number>,
    /// The most time of its agent, in seconds.
    pub timeout_s: Option<u64>,
    /// Who gets it.
    pub assign: Option<String>,
    /// How far it is; `pending` opens it again.
    #[schemars(with = "Option<TaskStatus>")]
    pub status: Option<String>,
    /// Why it is blocked.
    pub reason: Option<String>,
}

/// A note to be added.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewNote {
    /// The words.
    #[schemars(length(min = 1), regex(pattern = NOT_BLANK))]
    pub text: String,
}
