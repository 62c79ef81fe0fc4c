//! The state of a thread as every list shows it, and whether the process that drove it is gone.

use std::fmt;

use agent::{Outcome, State};
use serde_json::{Value, json};
use store::{Living, ThreadRow};

/// What a thread is doing, or how its last run ended. The words are those of [`State`] and [`Outcome`]; there are no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// A run goes on, or the thread was asked nothing yet.
    Doing(State),
    /// Its last run has ended; `interrupted` also where the process that drove it is gone in the middle of a run.
    Ended(Outcome),
}

impl ThreadState {
    /// The state of a thread. The store is asked who lives after the row was read: a process that is not known yet would else be
    /// taken for dead.
    pub fn of(row: &ThreadRow, living: &Living) -> Self {
        match row.outcome {
            _ if is_left(row, living) => Self::Ended(Outcome::Interrupted),
            Some(outcome) if !row.state.is_live() => Self::Ended(outcome),
            Some(_) | None => Self::Doing(row.state),
        }
    }

    /// The word used on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Doing(state) => state.as_str(),
            Self::Ended(outcome) => outcome.as_str(),
        }
    }
}

impl fmt::Display for ThreadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A thread as JSON, with its [`ThreadState`].
pub fn object(row: &ThreadRow, living: &Living) -> Value {
    let mut object = json!(row);
    object["state"] = json!(ThreadState::of(row, living).as_str());
    object
}

/// Whether a thread is in the middle of a run, and the process that drove it is gone. For `living` see [`ThreadState::of`].
pub fn is_left(row: &ThreadRow, living: &Living) -> bool {
    row.state.is_live() && !living.owns(row)
}
