//! The connection that writes, with a cache of the threads that it has written to.
//!
//! A commit to a cached thread reads nothing. What a group writes is put into the file together, at its end or
//! before a request reads it there: its events in few statements, and a row that it changes often once. The cache is
//! dropped when another process has written to the file, and when a group fails. What is not forgotten is that the
//! device failed: the log is made safe before anything is added to it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use agent::{Outcome, ThreadId, Time};
use foldhash::fast::RandomState;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::bulk_insert::{Insert, integer, number, optional, text};
use super::executions::Executions;
use super::recent::Kept;
use super::{read, write};
use crate::codec::Encoded;
use crate::error::Error;
use crate::process::ProcessId;
use crate::projection::Folded;
use crate::rows::ThreadRow;

/// Threads that are cached at most; a process that has more of them alive reads some of them again.
const MOST: usize = 32_768;

/// The connection that writes, and the cache of its file.
pub(super) struct WriteSession {
    pub(super) db: Connection,
    pub(super) cache: Cache,
    /// SQLite's number for what other connections wrote, as of when the cache was begun.
    version: Option<i64>,
    /// Whether the device has failed since the log was last made safe.
    is_in_doubt: bool,
}

/// A part of the file, as it will stand once the group is kept.
#[derive(Default)]
pub(super) struct Cache {
    pub(super) threads: HashMap<ThreadId, Thread, RandomState>,
    pub(super) processes: HashMap<ProcessId, i64, RandomState>,
    /// By root: events of the whole tree, and whether the row has yet to be saved.
    pub(super) families: HashMap<i64, (u64, bool), RandomState>,
    pub(super) executions: Executions,
    /// Threads whose rows have yet to be saved.
    pub(super) changed: Vec<ThreadId>,
    /// The key of the newest thread, once one was made.
    pub(super) newest_key: Option<i64>,
    /// The newest position that was ever used, once it was asked for.
    newest_position: Option<u64>,
    /// Events that have yet to be put into the file.
    written: Vec<PendingEvent>,
    /// Events of threads that the group wrote, for those who follow them once it is kept.
    pub(super) kept: Vec<Kept>,
    /// Changes that were ever noted to be written later, and rows that were changed in the file by writing them.
    pub(super) noted: u64,
    flushed: u64,
}

/// An event of the group.
pub(super) struct PendingEvent {
    pub(super) root: i64,
    pub(super) seq: u64,
    pub(super) thread: i64,
    pub(super) n: u64,
    pub(super) at: Time,
    /// Those of its commit, and which of them it is.
    pub(super) bodies: Arc<[Encoded]>,
    pub(super) nth: usize,
}

/// A thread that is written to.
pub(super) struct Thread {
    pub(super) key: i64,
    pub(super) root: i64,
    /// The process, and its key.
    pub(super) owner: Option<(i64, ProcessId)>,
    pub(super) folded: Folded,
    /// Whether the row has yet to be saved.
    pub(super) is_changed: bool,
    /// What rarely changes, as the row has it.
    pub(super) saved: StableColumns,
}

/// The part of a row that most commits leave as it is. Its columns are saved only when they change, for some are indexed.
#[derive(PartialEq, Eq)]
pub(super) struct StableColumns {
    pub(super) goal: Arc<str>,
    pub(super) live: bool,
    pub(super) outcome: Option<Outcome>,
    pub(super) runs: u32,
    pub(super) ended_at: Option<Time>,
    /// A process's key.
    pub(super) owner: Option<i64>,
    pub(super) epoch: u64,
    pub(super) title: Option<Arc<str>>,
    pub(super) archived: bool,
    pub(super) unread: bool,
    pub(super) unwatched: bool,
}

impl Thread {
    /// A thread whose row is as it is folded.
    pub(super) fn new(key: i64, root: i64, owner: Option<(i64, ProcessId)>, folded: Folded) -> Self {
        let saved = StableColumns::of(&folded, owner.as_ref());
        Self { key, root, owner, folded, is_changed: false, saved }
    }
}

impl StableColumns {
    /// That part of a row, and of whose the thread is.
    pub(super) fn of(folded: &Folded, owner: Option<&(i64, ProcessId)>) -> Self {
        let ThreadRow { goal, state, outcome, runs, ended_at, epoch, title, archived, unread, .. } = &folded.row;
        Self {
            goal: goal.clone(),
            live: state.is_live(),
            outcome: *outcome,
            runs: *runs,
            ended_at: *ended_at,
            owner: owner.map(|(key, _)| *key),
            epoch: *epoch,
            title: title.clone(),
            archived: *archived,
            unread: *unread,
            unwatched: folded.unwatched,
        }
    }
}

impl Cache {
    fn is_too_much(&self) -> bool {
        self.threads.len().max(self.executions.known()) > MOST
    }

    /// Writes an event, and says where it will stand.
    pub(super) fn write(&mut self, db: &Connection, event: PendingEvent) -> Result<u64, Error> {
        let newest = match self.newest_position {
            Some(newest) => newest,
            None => read::newest(db)?,
        };
        self.newest_position = Some(newest + 1);
        self.written.push(event);
        self.noted += 1;
        Ok(newest + 1)
    }

    /// Puts the events of the group and the executions that they began into the file, before a request reads them there.
    pub(super) fn flush(&mut self, db: &Connection) -> Result<(), Error> {
        // A failure takes back the whole group: SQLite would otherwise copy every page first, to take back the statement.
        static EVENTS: LazyLock<Insert<9>> = LazyLock::new(|| {
            Insert::new("INSERT OR ROLLBACK INTO events (position, root, seq, thread, n, at, kind, version, body)", "")
        });
        let Some(newest) = self.newest_position else { return Ok(()) };
        let before = newest - self.written.len() as u64;
        let rows = self.written.iter().enumerate().map(|(place, event)| {
            let body = &event.bodies[event.nth];
            [
                number(before + 1 + place as u64),
                integer(event.root),
                number(event.seq),
                integer(event.thread),
                number(event.n),
                integer(event.at.0),
                text(body.kind),
                integer(body.version),
                text(&body.body),
            ]
        });
        let changes = db.total_changes();
        EVENTS.rows(db, rows)?;
        self.written.clear();
        self.executions.flush(db)?;
        self.flushed += db.total_changes() - changes;
        Ok(())
    }
}

impl WriteSession {
    /// A session with an empty cache.
    pub(super) fn new(db: Connection) -> Self {
        Self { db, cache: Cache::default(), version: None, is_in_doubt: false }
    }

    /// Begins a group. No other connection can write before it ends.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        self.make_safe()?;
        self.db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let version = self.db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.version != Some(version) || self.cache.is_too_much() {
            self.cache = Cache::default();
            self.version = Some(version);
        }
        Ok(())
    }

    /// Ends the group.
    pub(super) fn commit(&self) -> Result<(), Error> {
        self.db.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    /// A number that grows when a request changes anything, and not when what earlier ones changed is put into the file.
    pub(super) fn changes(&self) -> u64 {
        self.db.total_changes() - self.cache.flushed + self.cache.noted
    }

    /// Takes back the group after a failure, and drops the cache.
    pub(super) fn abandon(&mut self, failure: &Error) {
        self.cache = Cache::default();
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
    /// not kept, goes with it, for the next check of the log would take more than one of these for damage (`wal`).
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

    /// Puts into the file what the group wrote, and the rows that it changed. What is over leaves the cache.
    pub(super) fn save(&mut self) -> Result<(), Error> {
        self.cache.flush(&self.db)?;
        let before = self.db.total_changes();
        let changed = std::mem::take(&mut self.cache.changed);
        let Cache { threads, families, flushed, .. } = &mut self.cache;
        for id in &changed {
            if let Some(thread) = threads.get_mut(id) {
                thread.is_changed = false;
                thread.folded.settle();
                write::save(&self.db, thread)?;
            }
        }
        save_progress(&self.db, &changed.iter().filter_map(|id| threads.get(id)).collect::<Vec<_>>())?;
        for id in &changed {
            if threads.get(id).is_some_and(|thread| thread.owner.is_none()) {
                threads.remove(id);
            }
        }
        for (root, (seq, is_changed)) in families {
            if std::mem::take(is_changed) {
                write::save_family(&self.db, *root, *seq)?;
            }
        }
        *flushed += self.db.total_changes() - before;
        Ok(())
    }
}

/// Saves how far threads are.
fn save_progress(db: &Connection, threads: &[&Thread]) -> Result<(), Error> {
    static PROGRESS: LazyLock<Insert<16>> = LazyLock::new(|| {
        Insert::new(
            "REPLACE INTO progress (thread, head, turns, tool_calls, answers, tokens_input, tokens_cache_read, \
             tokens_cache_write, tokens_output, booked_tokens, cost_microusd, last_tool, waiting_for, updated_at, state, \
             doing)",
            "",
        )
    });
    let doing = |thread: &&Thread| serde_json::to_string(&thread.folded.doing).expect("what is under way is JSON");
    let doing: Vec<String> = threads.iter().map(doing).collect();
    let rows = threads.iter().zip(&doing).map(|(thread, doing)| {
        let Folded { row, answers, booked_tokens, .. } = &thread.folded;
        [
            integer(thread.key),
            number(row.head),
            integer(row.turns),
            integer(row.tool_calls),
            number(*answers),
            number(row.tokens.input),
            number(row.tokens.cache_read),
            number(row.tokens.cache_write),
            number(row.tokens.output),
            number(*booked_tokens),
            number(row.cost_microusd),
            optional(row.last_tool.as_deref()),
            optional(row.waiting_for.as_deref()),
            integer(row.updated_at.0),
            text(row.state.as_str()),
            text(doing),
        ]
    });
    PROGRESS.rows(db, rows)
}
