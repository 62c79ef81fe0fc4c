//! The event log as far as decisions are read from it: which conversations have new events, each from its beginning.
//!
//! A conversation is always read whole, because a choice is only understood with what was offered before. Nothing is counted
//! twice: a decision is identified by its place in the log.

use std::sync::Arc;

use agent::{Event, ThreadId, Time};

/// A log in which the household's tools are called.
pub trait Log: Send + Sync {
    /// What is new after a position. Waits for the answer, and is called only where waiting is allowed.
    fn since(&self, position: u64) -> Result<LogPage, String>;
}

/// What is new in a log.
#[derive(Clone, Debug, Default)]
pub struct LogPage {
    /// The conversations with something new: a root and all its descendants, in order, from the first event on.
    pub families: Vec<Vec<LogEvent>>,
    /// Up to where the log is known with this.
    pub position: u64,
}

/// One event of a conversation.
#[derive(Clone, Debug)]
pub struct LogEvent {
    /// Whose event it is.
    pub thread: ThreadId,
    /// Its place in the thread.
    pub n: u64,
    /// When it was written.
    pub at: Time,
    /// What happened.
    pub event: Arc<Event>,
}
