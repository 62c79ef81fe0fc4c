//! One thread's conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Moment, Outcome};

/// One thread's conversation, as a person reads it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Messages {
    /// The thread.
    pub id: String,
    /// Its rows, in order.
    pub entries: Vec<Entry>,
}

/// A row of a conversation: an object with one field, named by the kind of row.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// What a person asked.
    Prompt {
        /// When.
        at: Moment,
        /// The words.
        text: String,
    },
    /// What the parent asked.
    Brief {
        /// When.
        at: Moment,
        /// The brief as the model reads it.
        text: String,
    },
    /// A message that came while it worked.
    Steer {
        /// When.
        at: Moment,
        /// Who.
        from: String,
        /// The words.
        text: String,
    },
    /// What the agent said.
    Text {
        /// When.
        at: Moment,
        /// Which agent.
        agent: String,
        /// The words.
        text: String,
    },
    /// A tool call and its result.
    Tool(ToolRow),
    /// A sub-agent.
    Child(ChildRow),
    /// A notice.
    Notice {
        /// When.
        at: Moment,
        /// In a sentence.
        text: String,
    },
    /// The end of a run.
    End {
        /// When.
        at: Moment,
        /// How it ended.
        outcome: Outcome,
        /// Why it ended so.
        reason: Option<String>,
        /// How it went, in a line.
        status: String,
        /// What was reported, where that is not what the agent said last.
        text: Option<String>,
    },
}

/// A tool call and its result.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToolRow {
    /// When it was asked for.
    pub at: Moment,
    /// The call.
    pub call: String,
    /// The tool; null while only its result is known.
    pub name: Option<String>,
    /// Its arguments; null while only its result is known.
    pub input: Option<Value>,
    /// The argument that says most, in short.
    pub argument: Option<String>,
    /// The whole result; null while it has none.
    pub output: Option<String>,
    /// Whether it failed or was refused.
    pub is_error: bool,
    /// How long the tool ran.
    pub duration_ms: Option<u64>,
}

/// A sub-agent.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChildRow {
    /// When it was spawned.
    pub at: Moment,
    /// Its thread.
    pub thread: String,
    /// The call that asked for it.
    pub call: String,
    /// What it is called on screens.
    pub name: String,
    /// The agent that it plays.
    pub agent: String,
    /// What it is asked to do.
    pub goal: String,
    /// How it ended; null while it runs.
    pub outcome: Option<Outcome>,
    /// How it is, in a line.
    pub status: String,
    /// What it reported; null while it runs.
    pub report: Option<String>,
}
