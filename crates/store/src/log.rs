//! The log: events are appended, read in pages and followed.
//!
//! What each promise means exactly is written as tests in [`crate::conformance`].

use std::sync::Arc;

use agent::{Event, InputId, Outside, ThreadId, Time};
use futures_util::future::BoxFuture;
use tokio::sync::{broadcast, watch};

use crate::error::Error;
use crate::process::ProcessId;

/// An answer that can be awaited.
pub type Answer<T> = BoxFuture<'static, Result<T, Error>>;

/// An event with its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its place in the whole store. Grows, may have gaps, is never used twice.
    pub position: u64,
    /// Its place among the events of a root and all its descendants, from 1, without gaps.
    pub seq: u64,
    /// Whose event it is.
    pub thread: ThreadId,
    /// Its place in the thread, from 1, without gaps.
    pub n: u64,
    /// When it was written.
    pub at: Time,
    /// What happened.
    pub event: Arc<Event>,
}

/// Events of one thread that are written together or not at all.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Whose events they are.
    pub thread: ThreadId,
    /// How many events the writer knows the thread to have. 0 makes a new thread, whose first event is `ThreadCreated`.
    pub expected: u64,
    /// The epoch at which the writer owns the thread. A new thread is owned by its writer at epoch 1, whatever is given here.
    pub epoch: u64,
    /// The writer.
    pub process: ProcessId,
    /// The time of all its events.
    pub at: Time,
    /// What happened, in order; never empty.
    pub events: Vec<Arc<Event>>,
    /// Whether the writer gives the thread up with it: any process may take it over then.
    pub lets_go: bool,
}

/// The numbers of the last event that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its place in the thread.
    pub n: u64,
    /// Its place among the events of its root and all descendants.
    pub seq: u64,
    /// Its place in the store.
    pub position: u64,
}

/// A log of events. Every answer that reports a write comes after the write is as durable as the store can make it.
///
/// A request is made when its answer is awaited, not before; one that was awaited and given up may still be carried out.
pub trait Log: Send + Sync + 'static {
    /// Writes a commit, if the thread has exactly the expected events and is owned by the writer at its epoch.
    ///
    /// A commit that ends with the thread being over (`Reported`) also gives up its ownership.
    fn append(&self, commit: Commit) -> Answer<Appended>;

    /// Writes an input from outside as `InputArrived`, whatever the thread's number of events and owner.
    ///
    /// Sent a second time under the same id it is not written again, and the answer is the first one's.
    /// With `wake`, a wake that is due at once is also left for the owner of the thread.
    fn arrive(&self, thread: &ThreadId, id: InputId, input: Outside, at: Time, wake: bool) -> Answer<Appended>;

    /// A thread's events after its `after_n`th, in order.
    fn read(&self, thread: &ThreadId, after_n: u64, limit: usize) -> Answer<Vec<Record>>;

    /// The events of a root and all its descendants after `after_seq`, in order.
    fn tree(&self, root: &ThreadId, after_seq: u64, limit: usize) -> Answer<Vec<Record>>;

    /// All events after a position, in order.
    fn all(&self, after_position: u64, limit: usize) -> Answer<Vec<Record>>;

    /// The newest position that is safe to follow. What this handle writes is announced at once, what other processes write
    /// after a moment; they are looked for only while a receiver is held.
    ///
    /// A reader that has read an event, or has seen its position here, never later finds an event with a lower position. A store
    /// in which writers commit out of the order of their positions holds events back until those before them are there.
    /// `seq` and `n` are safe in the same way. [`crate::follow`] relies on it.
    fn tail(&self) -> watch::Receiver<u64>;

    /// Tells the processes that share the store something that is not kept and may be lost. Nothing happens where the store is of one
    /// machine: what matters is in the log.
    fn tell(&self, words: String) {
        drop(words);
    }

    /// What processes tell, this one included; none where the store is of one machine.
    fn told(&self) -> Option<broadcast::Receiver<Arc<str>>> {
        None
    }

    /// Deletes a root and all its descendants, unless a living process owns one of them.
    fn remove(&self, root: &ThreadId, at: Time) -> Answer<()> {
        self.remove_if(root, None, at)
    }

    /// The same, where `seq` is given only if the family has exactly so many events: what arrived since it was read is not lost
    /// ([`Error::Conflict`]).
    fn remove_if(&self, root: &ThreadId, seq: Option<u64>, at: Time) -> Answer<()>;
}
