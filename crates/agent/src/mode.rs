//! How much an agent may do without a person, from looking to anything.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The order is the order of freedom, so that a child's mode is the smaller of its own and its parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Read only.
    Plan,
    /// Writes ask.
    Ask,
    /// Writes are allowed, dangerous ones ask.
    Auto,
    /// Nothing asks.
    Dangerous,
}

impl Mode {
    /// What both allow.
    #[must_use]
    pub fn meet(self, other: Mode) -> Mode {
        self.min(other)
    }

    /// The word used on the command line and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Plan => "plan",
            Mode::Ask => "ask",
            Mode::Auto => "auto",
            Mode::Dangerous => "dangerous",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "plan" => Ok(Mode::Plan),
            "ask" => Ok(Mode::Ask),
            "auto" => Ok(Mode::Auto),
            "dangerous" => Ok(Mode::Dangerous),
            other => Err(format!("unknown mode '{other}': plan, ask, auto and dangerous are the modes")),
        }
    }
}
