//! Mail, calendars, notes and contacts of one household, in file formats that other programs use.
//!
//! A [`Household`] is opened on folders ([`Options`]) and adds its [tools](Household::tools) to a registry. The folders are read as they
//! are and indexed in a file of its own ([`Index`]). Files are changed only by tools whose description says so, and nothing is
//! ever sent.
//!
//! Left to other crates: whether a tool may be used (`agent`), and what is said about a result (a model, or `rules-engine`).

pub mod calendar;
mod check;
mod contacts;
pub mod demo;
mod draft;
mod error;
mod find;
mod glossary;
mod household;
mod index;
mod mail;
pub mod notes;
mod passages;
mod people;
pub mod preferences;
mod text;
pub mod time;
mod times;
mod tools;
mod triage;
mod vocabulary;
pub mod words;

pub use check::{CheckedPart, PartState};
pub use contacts::Contact;
pub use error::Error;
pub use household::{Household, Now, Options, TOOLS};
pub use index::Index;
pub use vocabulary::Vocabulary;
