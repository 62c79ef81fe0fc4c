//! What an agent is doing, in one of nine words (ORION-15).

use std::fmt;

use agent::Outcome;
use serde::Serialize;

/// What an agent is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing: no run was asked for, or the last one is over.
    #[default]
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

impl State {
    /// The word used on the wire.
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

    /// The state that an outcome leaves behind. Being stopped is not an error.
    pub(crate) fn after(outcome: Outcome) -> Self {
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
