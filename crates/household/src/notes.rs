//! Notes: Markdown files in PARA folders, as Obsidian and others keep them, with a full-text search.
//!
//! [`search`](search()) brings the index up to date and tries several ways of matching, from all words exactly to similar words. `tables`
//! holds the index, `folder`, `watch` and `refresh` keep it up to date, and what a result shows is read from the note itself.
//!
//! Absent: writing. A note belongs to its owner and to the program that keeps it.

mod folder;
mod front_matter;
mod links;
mod para;
mod parse;
mod query;
mod quote;
mod rank;
mod refresh;
mod script;
mod search;
mod snippet;
pub(crate) mod stop_words;
mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod tools;
mod vocabulary;
mod watch;

pub(crate) use quote::{NoteText, about, at, counted, lines_about, naming};
pub(crate) use refresh::IndexState;
pub use search::{Found, FoundNote, MatchKind, search};
pub(crate) use vocabulary::all as words;
