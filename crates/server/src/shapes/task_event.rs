//! What happens to tasks, as it is streamed beside the frames of threads.

use majordomo::tasks::{ShownNote, ShownTask};
use schema::{TaskPriority, TaskStatus};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that happened to a task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskFrame {
    /// The number of the event within its board. Grows strictly; gaps are legal.
    pub board_seq: u64,
    /// When it happened, as in `2026-01-15T10:00:01.000Z`.
    pub timestamp: String,
    /// The board: the path of its folder, or its name.
    pub board: String,
    /// The task, such as `t12`.
    pub task_id: Option<String>,
    /// Who did it: `human`, `system` or a thread.
    pub by: String,
    /// The root thread that it concerns; only among the events of that thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What it says.
    #[serde(flatten)]
    pub what: OfTask,
}

/// What a frame of a task says.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OfTask {
    /// A task was added.
    TaskCreated {
        /// The task.
        task: Box<ShownTask>,
    },
    /// A task has changed; what did not is left out.
    TaskUpdated {
        /// How far it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<TaskStatus>,
        /// Who has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assignee: Option<String>,
        /// The thread that works on it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<String>,
        /// Why it is blocked, or why its agent could not be started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What its agent handed in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<String>,
        /// A note that was added.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Box<ShownNote>>,
        /// What was edited.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changes: Option<Box<TaskEdits>>,
        /// Which checks failed; its agent continues.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed_checks: Option<String>,
        /// That it was removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        removed: Option<bool>,
    },
    /// A task is done.
    TaskCompleted {
        /// How far it is: `completed`.
        status: TaskStatus,
        /// Who completed it.
        completed_by: String,
        /// What was handed in.
        result: Option<String>,
    },
    /// An agent is to be told of a task; only among the events of all threads.
    #[schemars(rename = "notification")]
    #[serde(rename = "notification")]
    TaskNotification {
        /// The thread that is told.
        to: String,
        /// Of what.
        about: String,
    },
}

/// New values of a task; what stayed is left out.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskEdits {
    /// One line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Whether it goes before others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<TaskPriority>,
    /// The tasks that it comes after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<String>>,
    /// Its place among others; less is earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<i64>,
    /// When it should be done, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<i64>,
    /// Words by which tasks are chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
}
