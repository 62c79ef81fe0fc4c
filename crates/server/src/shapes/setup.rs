//! Health, agents, models and settings, and what goes wrong.

use majordomo::models::ModelInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Mode;

/// The server is up.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Always `ok`.
    pub status: String,
}

/// An agent that can be asked for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentRole {
    /// Its name.
    pub id: String,
    /// When to use it, in a line.
    pub description: String,
    /// `provider/model`; null means the parent's, or for a root the configured one.
    pub model: Option<String>,
    /// The most it may do; null means as much as its parent.
    pub mode: Option<Mode>,
    /// The tools that it may use; null means all that its parent has.
    pub tools: Option<Vec<String>>,
}

/// Models and providers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Models {
    /// The model of a new thread; null where none is configured.
    pub model: Option<String>,
    /// Why not.
    pub reason: Option<String>,
    /// The providers that can be asked.
    pub providers: Vec<String>,
    /// What is known of models: of every provider from the table, or of one as it lists them itself.
    pub models: Vec<ModelInfo>,
    /// Why a provider did not list its models itself, one sentence for each.
    pub missing: Vec<String>,
}

/// One value of the configuration.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// The key, dotted as in TOML.
    pub key: String,
    /// The value; null where there is none.
    pub value: Value,
    /// Where it comes from, in words.
    pub origin: String,
}

/// What went wrong (RFC 9457).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Always `about:blank`: the status says what kind of problem it is.
    pub r#type: String,
    /// The status in words.
    pub title: String,
    /// The status.
    pub status: u16,
    /// What went wrong and what to do, in a sentence.
    pub detail: String,
}
