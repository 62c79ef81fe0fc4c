//! The threads of a family: what each one does and what it cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Moment, Outcome, Totals};

/// A thread in its family.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// The thread.
    pub id: String,
    /// What it is called on screens.
    pub name: String,
    /// The agent that it plays.
    pub agent: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// What it is asked to do.
    pub goal: Option<String>,
    /// What it is doing.
    pub state: AgentState,
    /// Whether it waits in line for a permit.
    pub queued: bool,
    /// Whether its parent goes on without it.
    pub background: bool,
    /// Whether it was silent for too long.
    pub stalled: bool,
    /// How it ended; null while it runs.
    pub outcome: Option<Outcome>,
    /// Why it ended so; null when it completed.
    pub reason: Option<String>,
    /// The tool that began last.
    pub last_tool: Option<LastTool>,
    /// What it waits for.
    pub waiting_for: Option<String>,
    /// When its newest run began.
    pub started: Option<Moment>,
    /// When that run ended.
    pub ended: Option<Moment>,
    /// What it and its tree used.
    pub usage: Totals,
    /// Whether the cost of its tree is known: every model that was used has a price, or costs nothing.
    pub priced: bool,
    /// Its children, in the order in which they were spawned.
    pub children: Vec<Node>,
}

/// A tool and its argument in short.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LastTool {
    /// The tool.
    pub name: String,
    /// The argument that says most.
    pub argument: Option<String>,
}

/// What an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Nothing: no run was asked for, or the last one is over.
    Idle,
    /// It was given something to do and has not asked the model yet.
    Initializing,
    /// Its conversation is read back from the log, or summed up to fit.
    LoadingContext,
    /// The model thinks, or its answer is being acted upon.
    Processing,
    /// A tool runs.
    WaitingForTool,
    /// A person is asked.
    WaitingForUser,
    /// A sub-agent runs, and there is nothing else to do.
    Delegating,
    /// It ends: what runs is ended, or it says its last words.
    Completing,
    /// It ended without a result.
    Error,
}
