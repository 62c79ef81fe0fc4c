//! Everything that is asked of the file without changing it. Plain functions of a connection.

use std::sync::Arc;

use agent::{ThreadId, Time};
use rusqlite::{Connection, OptionalExtension, Params, Row, named_params, params};

use super::columns::{self, THREAD, THREADS, count, signed, thread_id, tokens, unsigned};
use crate::admission;
use crate::codec;
use crate::error::Error;
use crate::log::Record;
use crate::ownership::{Living, WorkerRow};
use crate::process::ProcessId;
use crate::resolve;
use crate::rows::{Execution, ThreadQuery, ThreadRow, UsageRow};

/// The newest position that was ever used.
pub(super) fn newest(db: &Connection) -> Result<u64, Error> {
    let mut statement = db.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?;
    let newest: Option<i64> = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(unsigned(newest.unwrap_or(0)))
}

/// A thread's key.
pub(super) fn key(db: &Connection, thread: &ThreadId) -> Result<i64, Error> {
    let mut statement = db.prepare_cached("SELECT key FROM threads WHERE id = ?1")?;
    let key = statement.query_row([thread.as_str()], |row| row.get(0)).optional()?;
    key.ok_or_else(|| Error::unknown(thread))
}

/// A thread's events after its `after_n`th.
pub(super) fn thread_events(
    db: &Connection,
    thread: &ThreadId,
    after_n: u64,
    limit: usize,
) -> Result<Vec<Record>, Error> {
    let sql = "SELECT e.position, e.seq, t.id AS thread, e.n, e.at, e.kind, e.version, e.body \
               FROM events e JOIN threads t ON t.key = e.thread \
               WHERE e.thread = ?1 AND e.n > ?2 ORDER BY e.n LIMIT ?3";
    records(db, sql, params![key(db, thread)?, signed(after_n), page(limit)])
}

/// The events of a root and its descendants after `after_seq`.
pub(super) fn family_events(
    db: &Connection,
    root: &ThreadId,
    after_seq: u64,
    limit: usize,
) -> Result<Vec<Record>, Error> {
    admission::root(root)?;
    let sql = "SELECT e.position, e.seq, t.id AS thread, e.n, e.at, e.kind, e.version, e.body \
               FROM events e JOIN threads t ON t.key = e.thread \
               WHERE e.root = ?1 AND e.seq > ?2 ORDER BY e.seq LIMIT ?3";
    records(db, sql, params![key(db, root)?, signed(after_seq), page(limit)])
}

/// All events after a position.
pub(super) fn all_events(db: &Connection, after_position: u64, limit: usize) -> Result<Vec<Record>, Error> {
    let sql = "SELECT e.position, e.seq, t.id AS thread, e.n, e.at, e.kind, e.version, e.body \
               FROM events e JOIN threads t ON t.key = e.thread \
               WHERE e.position > ?1 ORDER BY e.position LIMIT ?2";
    records(db, sql, params![signed(after_position), page(limit)])
}

/// A thread as it stands.
pub(super) fn thread(db: &Connection, thread: &ThreadId) -> Result<Option<ThreadRow>, Error> {
    let mut statement = db.prepare_cached(&format!("SELECT {THREAD} FROM {THREADS} WHERE t.id = ?1"))?;
    Ok(statement.query_row([thread.as_str()], columns::thread).optional()?)
}

/// The processes that own threads and are alive.
pub(super) fn living(db: &Connection, at: Time) -> Result<Living, Error> {
    let sql = "SELECT p.id AS process, p.pid, p.start_time, p.host, p.beat_at FROM processes p \
               WHERE p.key IN (SELECT owner FROM threads WHERE owner IS NOT NULL)";
    let mut statement = db.prepare_cached(sql)?;
    let owners = statement.query_map([], columns::owner)?.collect::<Result<Vec<_>, _>>()?;
    let alive = owners.into_iter().flatten().filter(|owner| owner.process.is_alive(owner.beat_at, at));
    Ok(alive.map(|owner| owner.process.id).collect())
}

/// The processes that work tasks and are alive.
pub(super) fn workers(db: &Connection, at: Time) -> Result<Vec<WorkerRow>, Error> {
    let known = known_workers(db)?.into_iter();
    let living = known.filter(|(worker, beat_at)| worker.process.is_alive(*beat_at, at));
    Ok(living.map(|(worker, beat_at)| WorkerRow { heard_at: Some(beat_at), ..worker }).collect())
}

/// The processes that worked tasks and are dead, and the named one.
pub(super) fn retired(db: &Connection, this: Option<&ProcessId>, at: Time) -> Result<Vec<ProcessId>, Error> {
    let known = known_workers(db)?.into_iter();
    let is_over = |(worker, beat_at): &(WorkerRow, Time)| {
        this == Some(&worker.process.id) || !worker.process.is_alive(*beat_at, at)
    };
    Ok(known.filter(is_over).map(|(worker, _)| worker.process.id).collect())
}

fn known_workers(db: &Connection) -> Result<Vec<(WorkerRow, Time)>, Error> {
    let sql = "SELECT w.body, p.beat_at FROM workers w JOIN processes p ON p.key = w.process ORDER BY w.process";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>("body")?, Time(row.get("beat_at")?))))?;
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    let read = |(body, beat_at): (String, Time)| {
        let worker = serde_json::from_str(&body).map_err(|error| Error::Sql(Arc::new(error)))?;
        Ok((worker, beat_at))
    };
    rows.into_iter().map(read).collect()
}

/// Threads as they stand, the newest first.
pub(super) fn threads(db: &Connection, query: &ThreadQuery) -> Result<Vec<ThreadRow>, Error> {
    let before = query.before.as_ref().map(|before| key(db, before)).transpose()?;
    let root = match &query.root {
        Some(root) => match key(db, root) {
            Ok(key) => Some(key),
            Err(Error::UnknownThread(_)) => return Ok(Vec::new()),
            Err(failure) => return Err(failure),
        },
        None => None,
    };
    let mut statement = db.prepare_cached(&threads_sql(query))?;
    let values = named_params! { ":before": before.unwrap_or(i64::MAX), ":root": root, ":limit": page(query.limit) };
    let rows = statement.query_map(values, columns::thread)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The same in SQL: written out for each query, so that SQLite can choose an index for it.
pub(super) fn threads_sql(query: &ThreadQuery) -> String {
    let mut conditions = vec!["t.key < :before"];
    if query.root_only {
        conditions.push("t.parent IS NULL");
    }
    if query.live_only {
        conditions.push("t.live = 1");
    }
    match query.archived {
        Some(true) => conditions.push("t.archived = 1"),
        Some(false) => conditions.push("t.archived = 0"),
        None => {}
    }
    match (query.of_tasks, query.live_only) {
        (false, _) => {}
        // Of those that live few are looked at; of those that were ever created for tasks there are many. The sign keeps SQLite from
        // choosing the index of the latter.
        (true, true) => conditions.push("+t.created_for IS NOT NULL"),
        (true, false) => conditions.push("t.created_for IS NOT NULL"),
    }
    conditions.push(if query.root.is_some() { "t.root = :root" } else { ":root IS NULL" });
    let conditions = conditions.join(" AND ");
    format!("SELECT {THREAD} FROM {THREADS} WHERE {conditions} ORDER BY t.key DESC LIMIT :limit")
}

/// The thread that a person means.
pub(super) fn resolve(db: &Connection, text: &str) -> Result<ThreadId, Error> {
    let exact = ThreadId::new(text);
    if exists(db, &exact)? {
        return Ok(exact);
    }
    let mut statement = db.prepare_cached("SELECT id FROM threads WHERE parent IS NULL ORDER BY id")?;
    let roots = statement.query_map([], |row| thread_id(row, "id"))?.collect::<Result<Vec<_>, _>>()?;
    let thread = resolve::pick(text, &roots)?;
    if exists(db, &thread)? { Ok(thread) } else { Err(Error::UnknownThread(text.into())) }
}

/// Every sub-agent of a root, in the order of their spawning.
pub(super) fn executions(db: &Connection, workflow: &ThreadId) -> Result<Vec<Execution>, Error> {
    let sql = "SELECT * FROM sub_agent_execution WHERE workflow_id = ?1 ORDER BY rowid";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([workflow.as_str()], columns::execution)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What was used, by thread and model.
pub(super) fn usage(db: &Connection, root: Option<&ThreadId>) -> Result<Vec<UsageRow>, Error> {
    // Of all threads only those that used something are looked up by name.
    let from = match root {
        Some(_) => {
            "threads t CROSS JOIN progress g ON g.thread = t.key \
             WHERE t.root = (SELECT key FROM threads WHERE id = ?1)"
        }
        None => "progress g CROSS JOIN threads t ON t.key = g.thread WHERE ?1 IS NULL",
    };
    let sql = format!(
        "SELECT g.*, t.id, t.model FROM {from} \
         AND (g.answers > 0 OR g.booked_tokens > 0 OR g.cost_microusd > 0) ORDER BY g.thread"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map([root.map(ThreadId::as_str)], |row| {
        Ok(UsageRow {
            thread: thread_id(row, "id")?,
            model: row.get("model")?,
            calls: count(row, "answers")?,
            tokens: tokens(row)?,
            booked_tokens: count(row, "booked_tokens")?,
            cost_microusd: count(row, "cost_microusd")?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn exists(db: &Connection, thread: &ThreadId) -> Result<bool, Error> {
    Ok(db.prepare_cached("SELECT 1 FROM threads WHERE id = ?1")?.exists([thread.as_str()])?)
}

fn records(db: &Connection, sql: &str, values: impl Params) -> Result<Vec<Record>, Error> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(record(row)?);
    }
    Ok(records)
}

fn record(row: &Row<'_>) -> Result<Record, Error> {
    let kind: Arc<str> = row.get("kind")?;
    let body: Arc<str> = row.get("body")?;
    Ok(Record {
        position: count(row, "position")?,
        seq: count(row, "seq")?,
        thread: thread_id(row, "thread")?,
        n: count(row, "n")?,
        at: Time(row.get("at")?),
        event: Arc::new(codec::decode(&kind, row.get("version")?, &body)?),
    })
}

/// A limit as SQLite takes it.
fn page(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
