//! Mail on disk: finding, reading, threading, searching and flagging it.
//!
//! The files are the source of truth, and the index is brought up to date at each use. Nothing is sent, moved or deleted here; a flag
//! is set by renaming a file, as in any Maildir. What a mail means is left to [`triage`](crate::triage).

pub(crate) mod address;
mod flag;
pub(crate) mod folder;
pub(crate) mod html;
mod indexing;
pub(crate) mod invite;
pub(crate) mod mailbox;
mod mbox;
pub(crate) mod message;
mod thread;
pub(crate) mod tools;

#[cfg(test)]
pub(crate) mod tests;
