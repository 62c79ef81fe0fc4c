//! Which process owns which thread: processes report that they are alive, take over what no living process owns, and fetch what is due.
//!
//! Ownership only keeps work from being done twice: what protects the log is that every commit names the epoch at which its writer
//! owns the thread. How the store finds out whether a process is alive is its own business: ask it ([`Ownership::living`]).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use agent::{ThreadId, Time};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::log::Answer;
use crate::process::{Process, ProcessId};
use crate::rows::{ThreadRow, Wake};

/// Processes, what they own, and what is due for it.
pub trait Ownership: Send + Sync + 'static {
    /// Takes ownership of a thread whose owner is gone and raises its epoch, which is the answer.
    /// What is owned already stays at its epoch.
    fn adopt(&self, thread: &ThreadId, process: &ProcessId, at: Time) -> Answer<u64>;

    /// Takes ownership of threads in which something is still to be done and which no living process owns. Each root has its turn: a thread
    /// comes after those of other roots of which fewer are driven or stand before it. Of one turn the oldest comes first. Each is given to
    /// one process only, however many ask at the same moment. A store of several machines takes the request for a heartbeat.
    fn claim_threads(&self, process: &ProcessId, at: Time, query: ClaimQuery) -> Answer<Vec<Claimed>>;

    /// Which of the processes that own threads are alive.
    fn living(&self, at: Time) -> Answer<Living>;

    /// Whether the death of a process that owned threads or worked tasks wakes those who follow the log ([`crate::Log::tail`]), so that nobody
    /// needs to look for dead processes now and then.
    fn tells_of_deaths(&self) -> bool {
        false
    }

    /// Makes a process known, so that it can own threads.
    fn register(&self, process: Process, at: Time) -> Answer<()>;

    /// Makes a process known that works tasks, so that it is shown while it waits for work.
    fn register_worker(&self, worker: WorkerRow, at: Time) -> Answer<()>;

    /// The processes that work tasks and are alive, the oldest first.
    fn workers(&self, at: Time) -> Answer<Vec<WorkerRow>>;

    /// Removes those of them that are dead, and this one. What such a process was carrying out for boards need not wait until its lease is
    /// over: any process is given it again. Whether there was one.
    fn retire_workers(&self, this: Option<ProcessId>, at: Time) -> Answer<bool>;

    /// Records that a process is alive.
    fn heartbeat(&self, process: &ProcessId, at: Time) -> Answer<()>;

    /// Removes a process; what it owned has no owner any more.
    fn leave(&self, process: &ProcessId) -> Answer<()>;

    /// The same for a process of a person, who wants it to stop: what it owned is a person's to go on with, and no process takes it over by
    /// itself ([`Ownership::claim_threads`]).
    fn put_down(&self, process: &ProcessId) -> Answer<()> {
        self.leave(process)
    }

    /// Has a thread that one process owns be owned by another, or by none.
    fn hand_over(&self, thread: &ThreadId, from: &ProcessId, to: Option<&ProcessId>) -> Answer<()>;

    /// Changes when threads were left that any process may claim; none where the store does not tell.
    fn offers(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Changes when a process that this store keeps alive was not heard of for so long that others may have taken its threads over, and is
    /// heard of again; none where that cannot happen.
    fn lapses(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Leaves a wake for the process that owns the thread when it is due.
    fn wake(&self, thread: &ThreadId, due: Time) -> Answer<()>;

    /// Wakes that are due, of threads that the process owns, the longest due first. Each is leased to the caller:
    /// it is not handed out again for a while, and comes back if it is not [`done`](Ownership::done).
    fn claim(&self, process: &ProcessId, at: Time, limit: usize) -> Answer<Vec<Wake>>;

    /// Deletes a wake.
    fn done(&self, wake: Wake) -> Answer<()>;
}

/// Which threads a process takes over, of those that no living process owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimQuery {
    /// Whether roots, sub-agents or both.
    pub kind: ClaimKind,
    /// Only those that play this agent.
    pub agent: Option<Arc<str>>,
    /// Only this root and its descendants.
    pub root: Option<ThreadId>,
    /// The labels of the process: on a store of several machines it gets no thread that requires another.
    pub labels: Vec<Arc<str>>,
    /// On a store of several machines, no thread whose model is of one of these providers.
    pub not_of: Vec<Arc<str>>,
    /// On a store of several machines, also threads at rest for which an input came that begins a run.
    pub asked: bool,
    /// Not these.
    pub passed_over: Vec<ThreadId>,
    /// On a store of several machines, also what the process owns already: it may have been given threads without hearing of it.
    pub owned: bool,
    /// At most so many.
    pub limit: usize,
}

impl Default for ClaimQuery {
    /// A hundred of any kind.
    fn default() -> Self {
        Self {
            kind: ClaimKind::Any,
            agent: None,
            root: None,
            labels: Vec::new(),
            not_of: Vec::new(),
            asked: false,
            passed_over: Vec::new(),
            owned: false,
            limit: 100,
        }
    }
}

/// Which kind of thread a process takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    /// Roots and sub-agents.
    Any,
    /// Roots alone.
    Roots,
    /// Sub-agents alone.
    Children,
}

/// Of threads that no living process owns, in the order of their age, each with its root, those whose turn it is, in the same order.
/// `driven` tells how many threads of a root living processes drive.
pub(crate) fn whose_turn<T>(left: Vec<(ThreadId, T)>, driven: &HashMap<ThreadId, usize>, limit: usize) -> Vec<T> {
    let mut before = driven.clone();
    let turn = |(age, (root, thread)): (usize, (ThreadId, T))| {
        let turn = before.entry(root).or_default();
        *turn += 1;
        (*turn, age, thread)
    };
    let mut turns: Vec<(usize, usize, T)> = left.into_iter().enumerate().map(turn).collect();
    turns.sort_by_key(|(turn, age, _)| (*turn, *age));
    turns.truncate(limit);
    turns.sort_by_key(|(_, age, _)| *age);
    turns.into_iter().map(|(_, _, thread)| thread).collect()
}

impl ClaimQuery {
    pub(crate) fn fits(&self, row: &ThreadRow) -> bool {
        let is_of_kind = match self.kind {
            ClaimKind::Any => true,
            ClaimKind::Roots => row.parent.is_none(),
            ClaimKind::Children => row.parent.is_some(),
        };
        is_of_kind
            && row.state.is_live()
            && self.agent.as_ref().is_none_or(|agent| *agent == row.agent)
            && self.root.as_ref().is_none_or(|root| *root == row.root)
            && !self.passed_over.contains(&row.id)
    }
}

/// A process that works tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerRow {
    /// The process.
    pub process: Process,
    /// The command that it runs: `work`, `serve` or `chat`.
    pub command: Arc<str>,
    /// Since when.
    pub since: Time,
    /// Only tasks with one of these labels; any task where there are none.
    pub labels: Vec<Arc<str>>,
    /// How many agents it runs at the same time at most.
    pub concurrency: u32,
    /// When it was last heard of, where a store lists it.
    #[serde(skip)]
    pub heard_at: Option<Time>,
}

/// A thread that was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// Which.
    pub thread: ThreadId,
    /// The epoch at which it is owned.
    pub epoch: u64,
}

/// The processes that were alive at one moment, of those that own threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Living(BTreeSet<ProcessId>);

impl Living {
    /// Whether a living process owns the thread.
    pub fn owns(&self, row: &ThreadRow) -> bool {
        row.owner.as_ref().is_some_and(|owner| self.0.contains(&owner.process.id))
    }
}

impl FromIterator<ProcessId> for Living {
    fn from_iter<I: IntoIterator<Item = ProcessId>>(alive: I) -> Self {
        Self(alive.into_iter().collect())
    }
}
