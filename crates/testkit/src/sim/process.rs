//! A process: a name that the store knows, a clock of its own, and the threads that it drives.

use std::collections::BTreeMap;

use agent::Consent;
use agent::{Thread, ThreadId, Time};
use store::ProcessId;

/// A thread in a process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub process: usize,
    pub thread: ThreadId,
}

impl Place {
    pub fn new(process: usize, thread: &ThreadId) -> Self {
        Self { process, thread: thread.clone() }
    }

    /// Another thread in the same process.
    pub fn beside(&self, thread: &ThreadId) -> Self {
        Self::new(self.process, thread)
    }
}

/// A process that lives.
pub(super) struct Process {
    pub name: ProcessId,
    /// How far its clock is ahead of even time: what the wall clock said when it began. Later leaps do not reach it.
    pub ahead_ms: i64,
    /// Whether people who are asked in it answer.
    pub consent: Consent,
    pub copies: BTreeMap<ThreadId, ThreadCopy>,
    /// Until when it stands still.
    pub stands_until: Option<Time>,
}

/// A process's own copy of a thread, and what it believes about it.
pub(super) struct ThreadCopy {
    pub thread: Thread,
    /// How many events it knows of.
    pub n: u64,
    /// The epoch at which it took the thread.
    pub epoch: u64,
    /// When the model was last heard, by the process's clock.
    pub heard: Option<Time>,
    /// Whether it waits for nothing but a person, as its parent was told.
    pub paused: bool,
}

impl ThreadCopy {
    /// Whether no run goes on and none is asked for.
    pub fn is_idle(&self) -> bool {
        is_idle(&self.thread)
    }
}

/// Whether no run goes on and none is asked for. Inputs that only a run would have read may still lie there.
pub(super) fn is_idle(thread: &Thread) -> bool {
    thread.is_idle() && !thread.inbox.asks_for_run()
}

impl Process {
    pub fn new(name: ProcessId, ahead_ms: i64, consent: Consent) -> Self {
        Self { name, ahead_ms, consent, copies: BTreeMap::new(), stands_until: None }
    }

    /// What its clock says at this moment.
    pub fn clock(&self, now: Time) -> Time {
        Time(now.0.saturating_add(self.ahead_ms))
    }

    /// Until when it stands still, if it does at this moment.
    pub fn stands_until(&self, now: Time) -> Option<Time> {
        self.stands_until.filter(|until| *until > now)
    }

    /// The first of its threads that asked to be woken, and when that comes.
    pub fn next_wake(&self, own: usize) -> Option<(Time, Place)> {
        let wakes = self.copies.iter().filter_map(|(id, copy)| {
            let wake = copy.thread.next_wake(copy.heard)?;
            Some((Time(wake.0.saturating_sub(self.ahead_ms)), id))
        });
        let (at, id) = wakes.min()?;
        Some((self.stands_until.map_or(at, |until| at.max(until)), Place::new(own, id)))
    }
}
