//! Checks: what must hold before work counts as done. A task and the brief of a sub-agent can carry them.
//!
//! Commands must exit with 0; they are run under the permissions of the agent that did the work. A JSON Schema must be matched by its
//! result. Work whose checks fail is not done: its agent is told what failed and continues, up to a limit.
//!
//! Left to others: running the commands and comparing with the schema (`crates/runtime`), when an agent says that it is done (`turn/finish.rs`
//! for sub-agents, `crates/board` for tasks).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::Json;

/// What must hold before work counts as done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checks {
    /// Commands that must exit with 0, run in the folder of the work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Arc<str>>,
    /// JSON Schema that the result must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
}

impl Checks {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.schema.is_none()
    }
}

/// How often hooks of the person may send an agent back to work. Then its answer is its report all the same.
pub const SENT_BACK: u32 = 3;

/// Whose checks are run when an agent says that it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckedBy {
    /// The commands that the brief of a sub-agent names.
    #[default]
    Brief,
    /// Hooks of the person, which may send the agent back to work.
    Hooks,
}

impl CheckedBy {
    /// Whether they are those of the brief.
    pub fn is_brief(&self) -> bool {
        *self == Self::Brief
    }
}

/// What becomes of work whose checks have failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// Its agent continues. The checks may fail so many times more.
    Again(u32),
    /// They have failed too often.
    GiveUp,
}

/// What becomes of work whose checks have failed `times` times, where they may fail `most` times.
pub fn after_failure(times: u32, most: u32) -> AfterFailure {
    match most.saturating_sub(times) {
        0 => AfterFailure::GiveUp,
        left => AfterFailure::Again(left),
    }
}

/// Why work was given up.
pub fn given_up(times: u32, what: &str) -> String {
    match times {
        1 => format!("its checks failed: {what}"),
        _ => format!("its checks failed {times} times: {what}"),
    }
}
