//! Notes: Markdown in PARA folders, as Obsidian and others keep them, found by their words.
//!
//! [`search`](search()) brings the index up to date and goes down a ladder from all words to words that were perhaps meant. What is
//! indexed is where words stand (`tables`), what the folder holds is looked up when it is asked for (`folder`, `watch`,
//! `refresh`), and what a result shows is read from the note itself.
//!
//! Deliberately absent: writing. A note belongs to its owner and to the program that keeps it.

mod folder;
mod front_matter;
mod links;
mod para;
mod parse;
mod query;
mod rank;
mod refresh;
mod script;
mod search;
mod snippet;
mod stop_words;
mod tables;
#[cfg(test)]
mod tests;
mod thesaurus;
pub(crate) mod tools;
mod vocabulary;
mod watch;

pub(crate) use refresh::IndexState;
pub use search::{Found, FoundNote, MatchKind, search};
