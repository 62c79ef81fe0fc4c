//! An agent: a role that a thread plays, and the role as it is pinned in a thread's log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::mode::Mode;
use crate::model::Model;

/// An agent that can be asked for by name: built in, from a file, or given by an embedder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Its name.
    pub name: Arc<str>,
    /// One line that tells a model when to use it.
    pub description: Arc<str>,
    /// Its role, as the opening of the system prompt.
    pub prompt: Arc<str>,
    /// `provider/model`; none means the parent's, or for a root the configured one.
    #[serde(default)]
    pub model: Option<Arc<str>>,
    /// The tools it may use, verbs included; none means all that its parent has.
    #[serde(default)]
    pub tools: Option<Vec<Arc<str>>>,
    /// The most it may do; none means as much as its parent.
    #[serde(default)]
    pub mode: Option<Mode>,
}

/// The role as a thread plays it, for good: resuming needs no file that may have changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// The agent's name.
    pub name: Arc<str>,
    /// The role's words.
    pub prompt: Arc<str>,
    /// The model that speaks.
    pub model: Model,
    /// The tools that it has, verbs included: exactly those that are advertised.
    pub tools: Vec<Arc<str>>,
    /// JSON Schema that the final answer must fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Json>,
}
