//! The words for what a thread is doing (ORION-15). There are no others: lists, trees, the `state` event and the page use them.
//!
//! How the state follows from events is in `activity.rs`. How a run ended is an [`Outcome`].

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::report::Outcome;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing: it has no task yet, or its last run is over.
    #[default]
    Idle,
    /// It has a task and has not asked the model yet.
    Initializing,
    /// Its conversation is read back from the log, or is being summarised because it is too long.
    LoadingContext,
    /// The model works on an answer, or the answer is being acted upon.
    Processing,
    /// A tool runs.
    WaitingForTool,
    /// A person has to answer.
    WaitingForUser,
    /// Sub-agents run, and there is nothing else to do.
    Delegating,
    /// It is ending: what runs is being stopped, or the agent gives its last answer.
    Completing,
    /// Its last run ended without a result.
    Error,
}

impl State {
    /// All of them.
    pub const ALL: [State; 9] = [
        State::Idle,
        State::Initializing,
        State::LoadingContext,
        State::Processing,
        State::WaitingForTool,
        State::WaitingForUser,
        State::Delegating,
        State::Completing,
        State::Error,
    ];

    /// The word used in storage and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Idle => "idle",
            State::Initializing => "initializing",
            State::LoadingContext => "loading_context",
            State::Processing => "processing",
            State::WaitingForTool => "waiting_for_tool",
            State::WaitingForUser => "waiting_for_user",
            State::Delegating => "delegating",
            State::Completing => "completing",
            State::Error => "error",
        }
    }

    /// Whether a run is under way.
    pub fn is_live(self) -> bool {
        match self {
            State::Idle | State::Error => false,
            State::Initializing
            | State::LoadingContext
            | State::Processing
            | State::WaitingForTool
            | State::WaitingForUser
            | State::Delegating
            | State::Completing => true,
        }
    }

    /// The state after a run that ended so. Being stopped is not an error.
    pub fn after(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Completed | Outcome::BudgetExceeded | Outcome::Cancelled => State::Idle,
            Outcome::NoOutput | Outcome::Timeout | Outcome::Refused | Outcome::Interrupted | Outcome::Error => {
                State::Error
            }
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
