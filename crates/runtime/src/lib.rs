//! The heart: drives agents, performs their effects, keeps families together.
//!
//! One task per live agent (`driver.rs`): it takes one input, asks the rules, commits what they say, and only then performs
//! it. There is no lock around a decision. Outsiders hold a [`Heart`]: they start a run, send something to a thread, go on
//! with what another process left, or wait for a report. They see what happens by reading the log.
//!
//! Left to others: what an input means (`agent`), how it is kept (`store`), how a model is reached (`provider`), what a
//! tool does (`tool`). Deliberately absent: anything that draws, and any state that is not in the log or about to be.

mod attach;
mod clock;
mod driver;
mod error;
mod family;
mod heart;
mod keeper;
mod patience;
mod perform;
mod schema;
mod seat;

pub use clock::Clock;
pub use error::Error;
pub use heart::{Fleeting, FleetingKind, Heart, Options, RunHandle, Start, short_name};
