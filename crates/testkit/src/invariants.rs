//! What must hold of any log and any thread, whatever happened to them: each rule is a sentence, and a breach names it.
//!
//! [`LogChecker`] works from the events alone and shares no code with `apply`, so that the rules are compared with a second,
//! independent opinion. `family` looks at a whole tree once it is at rest, `talk` at what a model is shown,
//! `run_time` at the time that a run had, `pace` at the requests that lead to nothing.
//! What happens to a thread, and when, is up to the simulator.

use std::fmt;

mod family;
mod log_checker;
mod pace;
mod run_time;
mod talk;

pub use family::family;
pub use log_checker::LogChecker;
pub use run_time::RunTime;
pub use talk::{Prompts, answered_calls, unreadable_calls};

/// A rule that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The sentence that should have held.
    pub rule: &'static str,
    /// What was found.
    pub found: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.found)
    }
}

/// Holds `rule` against what was found.
pub(crate) fn hold(rule: &'static str, holds: bool, found: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { rule, found: found() }) }
}
