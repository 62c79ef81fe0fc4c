//! The log and what can be asked of it: the trait that every store fulfils, and what is handed in and out.
//!
//! What each promise means exactly is written as tests in [`crate::conformance`].

use std::sync::Arc;

use agent::approval::ApprovalId;
use agent::{Event, InputId, Outside, ThreadId, Time};
use futures_util::future::BoxFuture;
use tokio::sync::watch;

use crate::approvals::{self, ApprovalQuery, ApprovalRow};
use crate::error::Error;
use crate::process::{Process, ProcessId};
use crate::resolve;
use crate::rows::{Execution, ThreadQuery, ThreadRow, UsageRow, Wake};

/// An answer that is waited for.
pub type Answer<T> = BoxFuture<'static, Result<T, Error>>;

/// An event in its places.
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
    /// The epoch at which the writer owns the thread. A new thread is owned by its writer at epoch 1, whatever stands here.
    pub epoch: u64,
    /// The writer.
    pub process: ProcessId,
    /// The moment of all its events.
    pub at: Time,
    /// What happened, in order; never empty.
    pub events: Vec<Arc<Event>>,
}

/// Where the last of the written events stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its place in the thread.
    pub n: u64,
    /// Its place in the family.
    pub seq: u64,
    /// Its place in the store.
    pub position: u64,
}

/// A memory. Every answer that reports a write comes after the write is as durable as the store can make it.
///
/// A request is made when its answer is awaited, not before; one that was awaited and given up may still be carried out.
pub trait Store: Send + Sync + 'static {
    /// Opens all that is otherwise opened when it is first needed. After this, however many read at the same time, the store holds
    /// no more file handles than before: a process that takes connections from strangers cannot run out of them here.
    fn prepare(&self) -> Answer<()> {
        Box::pin(async { Ok(()) })
    }

    /// Writes a commit, if the thread has exactly the expected events and is owned by the writer at its epoch.
    ///
    /// A commit that ends with the thread being over (`Reported`) also gives up its ownership.
    fn append(&self, commit: Commit) -> Answer<Appended>;

    /// Writes an input from outside as `InputArrived`, whatever the thread's number of events and whoever owns it.
    ///
    /// Sent a second time under the same id it is not written again, and the answer is the first one's.
    /// With `wake`, whoever owns the thread is also left a wake that is due at once.
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

    /// Takes ownership of a thread whose owner is gone and raises its epoch, which is the answer.
    /// What is owned already stays at its epoch.
    fn adopt(&self, thread: &ThreadId, process: &ProcessId, at: Time) -> Answer<u64>;

    /// Makes a process known, so that it can own threads.
    fn register(&self, process: Process, at: Time) -> Answer<()>;

    /// Says that a process is alive.
    fn heartbeat(&self, process: &ProcessId, at: Time) -> Answer<()>;

    /// Forgets a process; what it owned is owned by nobody.
    fn leave(&self, process: &ProcessId) -> Answer<()>;

    /// Leaves a wake for whoever owns the thread when it is due.
    fn wake(&self, thread: &ThreadId, due: Time) -> Answer<()>;

    /// Wakes that are due, of threads that the process owns, the longest due first. Each is leased to the caller:
    /// it is not handed out again for a while, and comes back if it is not [`done`](Store::done).
    fn claim(&self, process: &ProcessId, at: Time, limit: usize) -> Answer<Vec<Wake>>;

    /// Forgets a wake.
    fn done(&self, wake: Wake) -> Answer<()>;

    /// Threads as they stand, the newest first.
    fn threads(&self, query: ThreadQuery) -> Answer<Vec<ThreadRow>>;

    /// A thread as it stands.
    fn thread(&self, thread: &ThreadId) -> Answer<Option<ThreadRow>>;

    /// The thread that a person means: by its name, by the part of it after the date, or by a beginning of either that
    /// only one root has. What follows the first dot, a child's place in the family, is always meant exactly.
    fn resolve(&self, text: &str) -> Answer<ThreadId>;

    /// Every sub-agent of a root, in the order of their spawning.
    fn executions(&self, workflow: &ThreadId) -> Answer<Vec<Execution>>;

    /// Questions to people as they stand, the newest first. Folded from the log where a store keeps no rows of them.
    fn approvals(&self, query: ApprovalQuery) -> Answer<Vec<ApprovalRow>> {
        let log = self.all(0, usize::MAX);
        Box::pin(async move {
            let rows = approvals::fold(&log.await?).into_iter();
            Ok(rows.filter(|row| !query.open_only || row.status.is_open()).take(query.limit).collect())
        })
    }

    /// A question to a person as it stands.
    fn approval(&self, id: &ApprovalId) -> Answer<Option<ApprovalRow>> {
        let (id, every) = (id.clone(), self.approvals(ApprovalQuery { open_only: false, limit: usize::MAX }));
        Box::pin(async move { Ok(every.await?.into_iter().find(|row| row.question.id == id)) })
    }

    /// The question that a person means, of all that were ever asked: by its name, by the part of it after the date, with a
    /// beginning of either in the root's place, or by any beginning that only one has.
    fn find_approval(&self, text: &str) -> Answer<ApprovalRow> {
        let text: Arc<str> = text.into();
        let exact = self.approval(&ApprovalId::new(text.clone()));
        let every = self.approvals(ApprovalQuery { open_only: false, limit: usize::MAX });
        Box::pin(async move {
            match exact.await? {
                Some(row) => Ok(row),
                None => resolve::pick_approval(&text, every.await?),
            }
        })
    }

    /// What was used, by thread and model: of a root with all its descendants, or of everybody.
    fn usage(&self, root: Option<&ThreadId>) -> Answer<Vec<UsageRow>>;

    /// Forgets a root and all its descendants, unless a living process owns one of them.
    fn remove(&self, root: &ThreadId, at: Time) -> Answer<()>;
}
