//! What the rules know about a tool: its name, its words for the model, and how far it reaches.
//!
//! What a tool does is the hands' business.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::Json;

/// A tool as it is advertised to a model and judged by the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolInfo {
    /// Its name.
    pub name: Arc<str>,
    /// A few words for the model.
    pub description: Arc<str>,
    /// JSON Schema of its arguments.
    pub schema: Json,
    /// How far it reaches.
    pub reach: Reach,
    /// Whether running it a second time with the same arguments does no harm.
    pub idempotent: bool,
    /// How much a person should think before saying yes.
    pub risk: Risk,
}

/// How far a tool reaches, from nothing to everything. The order is the order of caution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// It only looks. It may run beside other calls, and again after a crash.
    ReadOnly,
    /// It writes what belongs to the agent itself: its list, its memory.
    Own,
    /// It writes files of the workspace.
    Workspace,
    /// It may do anything that a program can do.
    World,
}

/// How much a person should think before saying yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Nothing that matters changes.
    Low,
    /// Something changes that can be undone.
    Medium,
    /// Something changes that is hard to undo.
    High,
    /// Something leaves the house.
    Critical,
}

/// What a tool came back with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// What the model is told.
    pub content: Arc<str>,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
    /// Files that were read, relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_read: Vec<Arc<str>>,
    /// Files that were written, relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<Arc<str>>,
}

impl ToolResult {
    /// A good answer.
    pub fn ok(content: impl Into<Arc<str>>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// A failure, in a sentence that says what to do.
    pub fn error(content: impl Into<Arc<str>>) -> Self {
        Self { content: content.into(), is_error: true, ..Self::default() }
    }
}
