//! The newest events that this process wrote, as they were handed in, so that a reader who follows a tree need not read them
//! from the file and decode them again.
//!
//! Only events that are kept are here, and their positions have no gap: where another process has written in between, what was
//! here before is dropped. So a reader whose place is here finds everything that comes after it; any other reads the file.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent::ThreadId;
use foldhash::fast::RandomState;

use crate::log::Record;

/// Events that are held at most, and bytes of their text.
const MOST_EVENTS: usize = 8192;
const MOST_BYTES: usize = 8 << 20;

/// The newest events.
#[derive(Default)]
pub(super) struct Recent(Mutex<Held>);

/// An event that was kept.
pub(super) struct Kept {
    /// The key of its root.
    pub(super) root: i64,
    pub(super) record: Record,
    /// The length of its text in the file.
    pub(super) bytes: usize,
}

#[derive(Default)]
struct Held {
    /// The newest position that is here.
    newest: u64,
    /// The events of each root and its descendants, by the root's key. Their `seq` has no gap.
    trees: HashMap<i64, VecDeque<Record>, RandomState>,
    /// The keys of those roots.
    roots: HashMap<ThreadId, i64, RandomState>,
    /// The root's key and the bytes of every event, in the order of positions.
    order: VecDeque<(i64, usize)>,
    bytes: usize,
}

impl Recent {
    /// Takes in a group that was kept.
    pub(super) fn add(&self, group: Vec<Kept>) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let (before, newest) = (first.record.position - 1, last.record.position);
        let has_gap = newest - before != group.len() as u64;
        let mut held = self.lock();
        if has_gap || held.newest != before {
            *held = Held::default();
        }
        if has_gap {
            return;
        }
        held.newest = newest;
        for kept in group {
            held.push(kept);
        }
    }

    /// Drops everything.
    pub(super) fn clear(&self) {
        *self.lock() = Held::default();
    }

    /// The events of a tree after `after_seq`, if all of them up to the position that was announced are here.
    pub(super) fn tree(&self, root: &ThreadId, after_seq: u64, limit: usize, announced: u64) -> Option<Vec<Record>> {
        let held = self.lock();
        if held.newest < announced {
            return None;
        }
        let records = held.trees.get(held.roots.get(root)?)?;
        let skipped = usize::try_from((after_seq + 1).checked_sub(records.front()?.seq)?).ok()?;
        // Whose last event is the newest here has missed nothing either.
        (skipped <= records.len()).then(|| records.range(skipped..).take(limit).cloned().collect())
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn push(&mut self, kept: Kept) {
        let Kept { root, record, bytes } = kept;
        if !self.trees.contains_key(&root) {
            self.roots.insert(record.thread.root(), root);
        }
        self.trees.entry(root).or_default().push_back(record);
        self.order.push_back((root, bytes));
        self.bytes += bytes;
        while self.order.len() > MOST_EVENTS || self.bytes > MOST_BYTES {
            let Some((root, bytes)) = self.order.pop_front() else { return };
            self.bytes -= bytes;
            let Some(tree) = self.trees.get_mut(&root) else { continue };
            let oldest = tree.pop_front();
            if tree.is_empty() {
                self.trees.remove(&root);
                self.roots.retain(|_, key| *key != root);
            }
            drop(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent::{Event, Time};

    use super::*;

    fn kept(position: u64, root: i64, seq: u64, bytes: usize) -> Kept {
        let thread = ThreadId::new(format!("20260115-k3f{root}.1"));
        let event = Arc::new(Event::ChildStarted { child: thread.clone(), again: false });
        Kept { root, record: Record { position, seq, thread, n: seq, at: Time(0), event }, bytes }
    }

    fn seqs(recent: &Recent, root: i64, after: u64, announced: u64) -> Option<Vec<u64>> {
        let found = recent.tree(&ThreadId::new(format!("20260115-k3f{root}")), after, 100, announced)?;
        Some(found.iter().map(|record| record.seq).collect())
    }

    #[test]
    fn a_reader_finds_what_comes_after_its_place_if_that_is_here() {
        let recent = Recent::default();
        recent.add(vec![kept(11, 1, 5, 10), kept(12, 2, 1, 10), kept(13, 1, 6, 10)]);
        assert_eq!(seqs(&recent, 1, 4, 13), Some(vec![5, 6]));
        assert_eq!(seqs(&recent, 1, 5, 13), Some(vec![6]));
        assert_eq!(seqs(&recent, 1, 6, 13), Some(vec![]), "it has seen everything");
        assert_eq!(seqs(&recent, 1, 3, 13), None, "the fourth is in the file alone");
        assert_eq!(seqs(&recent, 1, 7, 13), None, "nobody can have seen the seventh");
        assert_eq!(seqs(&recent, 2, 0, 13), Some(vec![1]));
        assert_eq!(seqs(&recent, 3, 0, 13), None);
    }

    #[test]
    fn what_another_process_wrote_is_read_from_the_file() {
        let recent = Recent::default();
        recent.add(vec![kept(11, 1, 1, 10)]);
        assert_eq!(seqs(&recent, 1, 1, 12), None, "the twelfth was announced and is not here");
        recent.add(vec![kept(13, 2, 1, 10)]);
        assert_eq!(seqs(&recent, 1, 1, 13), None, "the twelfth may be of this tree");
        assert_eq!(seqs(&recent, 2, 0, 13), Some(vec![1]));
        recent.clear();
        assert_eq!(seqs(&recent, 2, 0, 13), None);
    }

    #[test]
    fn the_oldest_leave_when_there_are_too_many_or_they_are_too_large() {
        let recent = Recent::default();
        for position in 1..=MOST_EVENTS as u64 + 2 {
            recent.add(vec![kept(position, 1, position, 1)]);
        }
        let newest = MOST_EVENTS as u64 + 2;
        assert_eq!(seqs(&recent, 1, 1, newest), None);
        assert_eq!(seqs(&recent, 1, newest - 1, newest), Some(vec![newest]));
        recent.add(vec![kept(newest + 1, 2, 1, MOST_BYTES)]);
        assert_eq!(seqs(&recent, 1, newest, newest + 1), None, "one of another tree takes all the room");
        assert_eq!(seqs(&recent, 2, 0, newest + 1), Some(vec![1]));
    }
}
