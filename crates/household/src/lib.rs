//! The staff: mail, calendars, notes and contacts of one household, in open formats that other programs keep.
//!
//! A [`Household`] is opened over folders ([`Options`]) and lends [tools](Household::tools) to agents. What lies in the
//! folders is read as it is and indexed beside the log of the house ([`Index`]); it is changed only where a tool's own words
//! say so, and nothing is ever sent.
//!
//! Left to others: who may use a tool (the rules of the house), and what is said about a result (a model, or the engine of
//! rules).

pub mod calendar;
mod contacts;
pub mod demo;
mod draft;
mod error;
mod household;
mod index;
mod mail;
pub mod notes;
pub mod preferences;
mod text;
pub mod time;
mod times;
mod tools;
mod triage;

pub use contacts::Contact;
pub use error::Error;
pub use household::{Household, Now, Options, TOOLS};
pub use index::Index;
