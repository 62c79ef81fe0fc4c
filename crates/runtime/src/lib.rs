//! The runtime: drives agents, performs their effects, keeps families together.
//!
//! One task per live agent (`driver.rs`): it takes one input, asks the rules, commits what they say, and only then performs
//! it. There is no lock around a decision. Outsiders hold a [`Runtime`]: they start a run, send something to a thread, go on
//! with what another process left, or wait for a report. They see what happens by reading the log.
//!
//! Left to others: what an input means (`agent`), how it is kept (`store`), how a model is reached (`provider`), what a
//! tool does (`tool`). Deliberately absent: anything that draws, and any state that is not in the log or about to be.

mod asking;
mod attach;
mod checks;
mod clock;
mod deliver;
mod driver;
mod error;
mod facts;
mod family;
mod hooks;
mod keeper;
mod live_slot;
mod machines;
mod nested;
mod perform;
mod relay;
mod retry;
mod runtime;
mod schema;
mod take_up;

pub use checks::{result_misfit, run_checks};
pub use clock::Clock;
pub use error::Error;
pub use facts::{Gatherer, Sources, StopHooks};
pub use hooks::{HookKind, HookMoment, HookOutcome};
pub use machines::Room;
pub use relay::Watching;
pub use runtime::{
    FIRST_INPUT, Fleeting, FleetingKind, Notice, Options, Registration, RunHandle, RunLimits, Runtime, Said, Start,
    fresh_name, short_name,
};
pub use schema::{check as check_schema, misfit};
