//! Which writes are allowed: the checks that come before any write, the same for every store.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent::{Event, InputId, ThreadId, Time};

use crate::error::Error;
use crate::log::Commit;
use crate::process::{Process, ProcessId};
use crate::rows::ThreadRow;

/// Whether a commit is valid in itself, whatever is in the store.
pub(crate) fn shape(commit: &Commit) -> Result<(), Error> {
    let Some((first, rest)) = commit.events.split_first() else {
        return Err(Error::Invalid("a commit holds at least one event"));
    };
    match &**first {
        Event::ThreadCreated(_) if commit.expected > 0 => return Err(Error::Invalid("a thread is created once")),
        Event::ThreadCreated(created) if created.id != commit.thread => {
            return Err(Error::Invalid("a thread is created under its own name"));
        }
        Event::ThreadCreated(_) => {}
        _ if commit.expected == 0 => return Err(Error::Invalid("a thread begins with its creation")),
        _ => {}
    }
    if rest.iter().any(|event| matches!(**event, Event::ThreadCreated(_))) {
        return Err(Error::Invalid("a thread is created once"));
    }
    Ok(())
}

/// Whether a commit may be written to the thread as it stands, which `owner` owns.
pub(crate) fn commit(commit: &Commit, thread: Option<&ThreadRow>, owner: Option<&ProcessId>) -> Result<(), Error> {
    let Some(thread) = thread else {
        return if commit.expected == 0 { Ok(()) } else { Err(Error::unknown(&commit.thread)) };
    };
    // Being fenced off is told before being behind: who is behind decides again, who is fenced off must end.
    if commit.expected > 0 && (thread.epoch != commit.epoch || owner != Some(&commit.process)) {
        return Err(Error::Fenced { thread: thread.id.clone(), epoch: commit.epoch, current: thread.epoch });
    }
    if thread.head != commit.expected {
        return Err(Error::Conflict { thread: thread.id.clone(), expected: commit.expected, head: thread.head });
    }
    Ok(())
}

/// Whether events hold an input that the thread already has, or the same one twice.
pub(crate) fn repeats_input(events: &[Arc<Event>], is_known: impl Fn(&InputId) -> bool) -> bool {
    let mut seen = BTreeSet::new();
    events.iter().any(|event| match &**event {
        Event::InputArrived { id, .. } => !seen.insert(id) || is_known(id),
        _ => false,
    })
}

/// The result of a request to own a thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Adoption {
    /// It is the asker's already.
    Mine,
    /// The asker becomes its owner.
    Taken,
}

/// Whether `process` may own a thread that `owner`, with the time of its last heartbeat, owns so far.
pub(crate) fn adopt(
    thread: &ThreadId,
    process: &ProcessId,
    owner: Option<(&Process, Time)>,
    now: Time,
) -> Result<Adoption, Error> {
    match owner {
        Some((owner, _)) if owner.id == *process => Ok(Adoption::Mine),
        Some((owner, beat_at)) if owner.is_alive(beat_at, now) => {
            Err(Error::Owned { thread: thread.clone(), by: Box::new(owner.clone()) })
        }
        Some(_) | None => Ok(Adoption::Taken),
    }
}

/// Whether a process may hand over a thread that `owner` owns.
pub(crate) fn hand_over(thread: &ThreadRow, owner: Option<&ProcessId>, from: &ProcessId) -> Result<(), Error> {
    if owner == Some(from) {
        return Ok(());
    }
    Err(Error::Fenced { thread: thread.id.clone(), epoch: thread.epoch, current: thread.epoch })
}

/// Whether a tree may be removed that these processes own parts of.
pub(crate) fn remove<'a>(
    root: &ThreadId,
    owners: impl Iterator<Item = (&'a Process, Time)>,
    now: Time,
) -> Result<(), Error> {
    for (owner, beat_at) in owners {
        if owner.is_alive(beat_at, now) {
            return Err(Error::Owned { thread: root.clone(), by: Box::new(owner.clone()) });
        }
    }
    Ok(())
}

/// Whether a family that is to be removed as it was read has no event more than that.
pub(crate) fn unchanged(root: &ThreadId, seq: Option<u64>, head: u64) -> Result<(), Error> {
    match seq {
        Some(expected) if expected != head => Err(Error::Conflict { thread: root.clone(), expected, head }),
        _ => Ok(()),
    }
}

/// Whether the name is a root's.
pub(crate) fn root(thread: &ThreadId) -> Result<(), Error> {
    if thread.is_root() { Ok(()) } else { Err(Error::Invalid("the thread is not a root")) }
}
