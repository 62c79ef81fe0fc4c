//! Mail as it lies on disk: found, read, grouped into threads, searched and marked.
//!
//! Files are the truth and the index follows them at each use. Nothing is sent, moved or deleted here; a mark is set by
//! renaming a file, as Maildir wants it. What a mail means is [`triage`](crate::triage)'s business.

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
