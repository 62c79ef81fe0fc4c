//! The engine of rules: understands requests without a model, the same way every time.
//!
//! [`classify`] says what a request asks for, [`time::parse`] what it says about time. Both are pure: what time it is, and whom
//! the household knows, is handed in.

mod entities;
mod intent;
mod lexicon;
pub mod time;
mod words;

pub use entities::Entities;
pub use intent::{Classification, Context, Direct, Intent, Meant, Question, classify};
