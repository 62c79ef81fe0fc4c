//! What the one thread that writes knows besides the file: the threads that it has written to, as they stand there.
//!
//! A commit to a thread that is known reads nothing, and a row that a group changes often is saved once. All of it is
//! forgotten when another process has written to the file, and when a group fails. What is not forgotten is that the
//! device failed: the log is made safe before anything is added to it.

use std::collections::HashMap;
use std::sync::Arc;

use agent::{Outcome, ThreadId, Time};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::write;
use crate::error::Error;
use crate::process::ProcessId;
use crate::projection::Folded;
use crate::rows::{State, ThreadRow};

/// Threads that are known at most; a process that has more of them alive reads some of them again.
const MOST: usize = 32_768;

/// The connection that writes, and what is known of the file behind it.
pub(super) struct Desk {
    pub(super) db: Connection,
    pub(super) known: Known,
    /// SQLite's number for what other connections wrote, as of when `known` was begun.
    version: Option<i64>,
    /// Whether the device has failed since the log was last made safe.
    is_in_doubt: bool,
}

/// A part of the file, as it will stand once the group is kept.
#[derive(Default)]
pub(super) struct Known {
    pub(super) threads: HashMap<ThreadId, Thread>,
    pub(super) processes: HashMap<ProcessId, i64>,
    /// By root: events of the whole family, and whether the row has yet to be told.
    pub(super) families: HashMap<i64, (u64, bool)>,
    /// Threads whose rows have yet to be saved.
    pub(super) changed: Vec<ThreadId>,
    /// The key of the newest thread, once one was made.
    pub(super) newest_key: Option<i64>,
}

/// A thread that is written to.
pub(super) struct Thread {
    pub(super) key: i64,
    pub(super) root: i64,
    pub(super) owner: Option<ProcessId>,
    pub(super) folded: Folded,
    /// Whether the row has yet to be saved.
    pub(super) is_changed: bool,
    /// What hardly ever changes, as the row has it.
    pub(super) saved: Seldom,
}

/// The part of a row that most commits leave as it is. Its columns are saved only when they change, for some are indexed.
#[derive(PartialEq, Eq)]
pub(super) struct Seldom {
    pub(super) goal: Arc<str>,
    pub(super) state: State,
    pub(super) outcome: Option<Outcome>,
    pub(super) runs: u32,
    pub(super) ended_at: Option<Time>,
}

impl Thread {
    /// A thread whose row is as it is folded.
    pub(super) fn new(key: i64, root: i64, owner: Option<ProcessId>, folded: Folded) -> Self {
        let saved = Seldom::of(&folded.row);
        Self { key, root, owner, folded, is_changed: false, saved }
    }
}

impl Seldom {
    /// That part of a row.
    pub(super) fn of(row: &ThreadRow) -> Self {
        let ThreadRow { goal, state, outcome, runs, ended_at, .. } = row;
        Self { goal: goal.clone(), state: *state, outcome: *outcome, runs: *runs, ended_at: *ended_at }
    }
}

impl Desk {
    /// A desk that knows nothing yet.
    pub(super) fn new(db: Connection) -> Self {
        Self { db, known: Known::default(), version: None, is_in_doubt: false }
    }

    /// Begins a group. Nobody else can write before it ends.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        self.make_safe()?;
        self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let version = self.db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.version != Some(version) || self.known.threads.len() > MOST {
            self.known = Known::default();
            self.version = Some(version);
        }
        Ok(())
    }

    /// Ends the group.
    pub(super) fn commit(&self) -> Result<(), Error> {
        self.db.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    /// Rows that were ever changed.
    pub(super) fn changes(&self) -> u64 {
        self.db.total_changes()
    }

    /// Takes back the group after a failure, and with it everything that was believed of the file.
    pub(super) fn abandon(&mut self, failure: &Error) {
        self.known = Known::default();
        self.is_in_doubt |= matches!(failure, Error::Io(_));
        // SQLite ends a transaction by itself after some failures.
        if !self.db.is_autocommit() {
            let _ = self.db.execute_batch("ROLLBACK");
        }
    }

    /// Has closing leave the file as it is, instead of folding the log into it.
    pub(super) fn leave_alone(&self) {
        // Refused only by a connection that is of no use any more.
        let _ = self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    /// After a failure of the device, folds what was kept into the database and begins the log anew.
    ///
    /// A system that could not flush says so once, and may since have dropped what it could not flush: a second fsync
    /// would succeed and mean nothing. So nothing is added to a log of which that may be true. Its rest, a commit that was
    /// not kept, goes with it, for whoever opens the file next would take more than one of these for damage (`wal`).
    fn make_safe(&mut self) -> Result<(), Error> {
        if !self.is_in_doubt {
            return Ok(());
        }
        let is_busy: bool = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if is_busy {
            let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
            return Err(rusqlite::Error::SqliteFailure(busy, None).into());
        }
        self.is_in_doubt = false;
        Ok(())
    }

    /// Saves the rows that the group changed. What is over is known no longer.
    pub(super) fn save(&mut self) -> Result<(), Error> {
        let Known { threads, families, changed, .. } = &mut self.known;
        for id in changed.drain(..) {
            let Some(thread) = threads.get_mut(&id) else { continue };
            write::save(&self.db, thread)?;
            if thread.owner.is_none() {
                threads.remove(&id);
            }
        }
        for (root, (seq, is_changed)) in families {
            if std::mem::take(is_changed) {
                write::save_family(&self.db, *root, *seq)?;
            }
        }
        Ok(())
    }
}
