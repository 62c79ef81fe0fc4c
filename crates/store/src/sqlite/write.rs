//! Everything that changes the file. Plain functions of the write session inside a transaction: each checks all that can be
//! refused before it writes anything, for a refusal is answered without undoing.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use agent::{Event, InputId, ThreadId, Time};
use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::approvals;
use super::boards;
use super::columns::{self, THREAD, THREADS, signed, thread_id, unsigned};
use super::read;
use super::recent::Kept;
use super::search;
use super::write_session::{Cache, PendingEvent, StableColumns, Thread, WriteSession};
use crate::admission::{self, Adoption};
use crate::codec::Encoded;
use crate::error::Error;
use crate::log::{Appended, Commit, Record};
use crate::ownership::{self, ClaimQuery, Claimed, WorkerRow};
use crate::process::{Process, ProcessId};
use crate::projection::{Change, Folded};
use crate::rows::{LEASE_MS, Owner, Wake};

/// Writes a commit whose events are kept as `bodies`.
pub(super) fn append(session: &mut WriteSession, commit: &Commit, bodies: &Arc<[Encoded]>) -> Result<Appended, Error> {
    let WriteSession { db, cache, .. } = session;
    admission::shape(commit)?;
    let process = cache.process(db, &commit.process)?;
    let thread = cache.thread(db, &commit.thread)?;
    let owner = thread.and_then(|thread| thread.owner.as_ref()).map(|(_, owner)| owner);
    admission::commit(commit, thread.map(|thread| &thread.folded.row), owner)?;
    let (key, is_new) = (thread.map(|thread| thread.key), thread.is_none());
    admit_inputs(db, cache, key, commit)?;
    if is_new {
        let created = create(db, cache, commit, process)?;
        cache.threads.insert(commit.thread.clone(), created);
    }
    let appended = write(db, cache, &commit.thread, commit.at, &commit.events, bodies)?;
    let reports = commit.events.iter().any(|event| matches!(**event, Event::Reported(_)));
    let thread = cache.threads.get_mut(&commit.thread).expect("the thread was just written to");
    let is_over = reports && thread.folded.row.outcome.is_some();
    thread.owner = (!is_over && !commit.lets_go).then(|| (process, commit.process.clone()));
    Ok(appended)
}

/// Writes an input from outside, once.
pub(super) fn arrive(
    session: &mut WriteSession,
    thread: &ThreadId,
    id: &InputId,
    event: &Arc<Event>,
    body: &Arc<[Encoded]>,
    at: Time,
    wake: bool,
) -> Result<Appended, Error> {
    let WriteSession { db, cache, .. } = session;
    let key = cache.thread(db, thread)?.ok_or_else(|| Error::unknown(thread))?.key;
    if let Some(first) = input(db, cache, key, id)? {
        return Ok(first);
    }
    let appended = write(db, cache, thread, at, std::slice::from_ref(event), body)?;
    if wake {
        leave_wake(db, key, at)?;
    }
    Ok(appended)
}

/// Takes ownership, if no live process has it.
pub(super) fn adopt(session: &mut WriteSession, id: &ThreadId, process: &ProcessId, at: Time) -> Result<u64, Error> {
    let WriteSession { db, cache, .. } = session;
    let process_key = cache.process(db, process)?;
    cache.thread(db, id)?.ok_or_else(|| Error::unknown(id))?;
    let thread = cache.threads.get_mut(id).expect("the thread is cached");
    let owner = thread.owner.as_ref().map(|(key, _)| owner(db, *key)).transpose()?.flatten();
    let row = &mut thread.folded.row;
    match admission::adopt(id, process, owner.as_ref().map(|owner| (&owner.process, owner.beat_at)), at)? {
        Adoption::Mine => Ok(row.epoch),
        Adoption::Taken => {
            row.epoch += 1;
            let epoch = row.epoch;
            thread.owner = Some((process_key, process.clone()));
            cache.change(id);
            Ok(epoch)
        }
    }
}

/// Has a thread that one process owns be owned by another, or by none.
pub(super) fn hand_over(
    session: &mut WriteSession,
    id: &ThreadId,
    from: &ProcessId,
    to: Option<&ProcessId>,
) -> Result<(), Error> {
    let WriteSession { db, cache, .. } = session;
    let to = to.map(|to| Ok::<_, Error>((cache.process(db, to)?, to.clone()))).transpose()?;
    cache.thread(db, id)?.ok_or_else(|| Error::unknown(id))?;
    let thread = cache.threads.get_mut(id).expect("the thread is cached");
    admission::hand_over(&thread.folded.row, thread.owner.as_ref().map(|(_, owner)| owner), from)?;
    thread.folded.row.epoch += 1;
    thread.owner = to;
    cache.change(id);
    Ok(())
}

/// Takes ownership of live threads that no live process owns, the oldest first.
pub(super) fn claim_threads(
    session: &mut WriteSession,
    process: &ProcessId,
    at: Time,
    query: &ClaimQuery,
) -> Result<Vec<Claimed>, Error> {
    session.cache.process(&session.db, process)?;
    session.save()?;
    let sql = format!("SELECT {THREAD} FROM {THREADS} WHERE t.live = 1 ORDER BY t.key");
    let mut statement = session.db.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let (mut left, mut driven, mut alive) = (Vec::new(), HashMap::<ThreadId, usize>::new(), HashMap::new());
    alive.insert(process.clone(), true);
    while let Some(row) = rows.next()? {
        let row = columns::thread(row)?;
        let is_owned = row.owner.as_ref().is_some_and(|owner| {
            *alive.entry(owner.process.id.clone()).or_insert_with(|| owner.process.is_alive(owner.beat_at, at))
        });
        if is_owned {
            *driven.entry(row.root).or_default() += 1;
        } else if query.fits(&row) {
            left.push((row.root, row.id));
        }
    }
    drop(rows);
    drop(statement);
    let left = ownership::whose_turn(left, &driven, query.limit);
    let mut claimed = Vec::with_capacity(left.len());
    for thread in left {
        let epoch = adopt(session, &thread, process, at)?;
        claimed.push(Claimed { thread, epoch });
    }
    Ok(claimed)
}

/// Makes a process known.
pub(super) fn register(session: &mut WriteSession, process: &Process, at: Time) -> Result<(), Error> {
    let db = &session.db;
    let sql = "INSERT INTO processes (id, pid, start_time, host, beat_at) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (id) DO UPDATE SET pid = ?2, start_time = ?3, host = ?4, beat_at = ?5";
    let values = params![process.id.as_str(), process.pid, signed(process.start_time), process.host, at.0];
    db.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Makes a process known that works tasks.
pub(super) fn register_worker(session: &mut WriteSession, worker: &WorkerRow, at: Time) -> Result<(), Error> {
    register(session, &worker.process, at)?;
    let key = process_key(&session.db, &worker.process.id)?;
    let body = serde_json::to_string(worker).expect("our own types serialise to JSON");
    let sql = "INSERT INTO workers (process, body) VALUES (?1, ?2) ON CONFLICT (process) DO UPDATE SET body = ?2";
    session.db.prepare_cached(sql)?.execute(params![key, body])?;
    Ok(())
}

/// Removes processes that worked tasks, and gives back what they were carrying out.
pub(super) fn retire_workers(session: &mut WriteSession, retired: &[ProcessId]) -> Result<bool, Error> {
    let sql = "DELETE FROM workers WHERE process = (SELECT key FROM processes WHERE id = ?1)";
    let mut removed = 0;
    for process in retired {
        removed += session.db.prepare_cached(sql)?.execute([process.as_str()])?;
    }
    // Two processes may have seen the same.
    if removed > 0 {
        boards::release(&session.db)?;
    }
    Ok(removed > 0)
}

/// Says that a process is alive.
pub(super) fn heartbeat(session: &mut WriteSession, process: &ProcessId, at: Time) -> Result<(), Error> {
    let db = &session.db;
    let key = process_key(db, process)?;
    db.prepare_cached("UPDATE processes SET beat_at = ?2 WHERE key = ?1")?.execute([key, at.0])?;
    Ok(())
}

/// Forgets a process; the schema takes it out of the threads that it owned.
pub(super) fn leave(session: &mut WriteSession, process: &ProcessId) -> Result<(), Error> {
    session.save()?;
    session.db.prepare_cached("DELETE FROM processes WHERE id = ?1")?.execute([process.as_str()])?;
    session.cache.processes.remove(process);
    for thread in session.cache.threads.values_mut() {
        if thread.owner.take_if(|(_, owner)| owner == process).is_some() {
            thread.saved.owner = None;
        }
    }
    Ok(())
}

/// Leaves a wake.
pub(super) fn wake(session: &mut WriteSession, thread: &ThreadId, due: Time) -> Result<(), Error> {
    let db = &session.db;
    leave_wake(db, read::key(db, thread)?, due)
}

/// Leases the wakes that are due.
pub(super) fn claim(
    session: &mut WriteSession,
    process: &ProcessId,
    at: Time,
    limit: usize,
) -> Result<Vec<Wake>, Error> {
    let db = &session.db;
    // Asked for often, and rarely there.
    if !db.prepare_cached("SELECT 1 FROM wakes")?.exists([])? {
        return Ok(Vec::new());
    }
    session.save()?;
    let db = &session.db;
    let sql = "SELECT w.key, t.id AS thread, w.due FROM processes p \
               JOIN threads t ON t.owner = p.key JOIN wakes w ON w.thread = t.key \
               WHERE p.id = ?1 AND w.due <= ?2 AND (w.leased_until IS NULL OR w.leased_until <= ?2) \
               ORDER BY w.due, w.key LIMIT ?3";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = db.prepare_cached(sql)?;
    let due = statement.query_map(params![process.as_str(), at.0, limit], |row| {
        Ok(Wake {
            key: columns::count(row, "key")?,
            thread: thread_id(row, "thread")?,
            due: columns::time(row, "due")?,
            about: None,
        })
    })?;
    let due = due.collect::<Result<Vec<_>, _>>()?;
    let mut lease = db.prepare_cached("UPDATE wakes SET leased_until = ?2 WHERE key = ?1")?;
    for wake in &due {
        lease.execute([signed(wake.key), at.plus_ms(LEASE_MS).0])?;
    }
    Ok(due)
}

/// Forgets a wake.
pub(super) fn done(session: &mut WriteSession, wake: &Wake) -> Result<(), Error> {
    let db = &session.db;
    db.prepare_cached("DELETE FROM wakes WHERE key = ?1")?.execute([signed(wake.key)])?;
    Ok(())
}

/// Deletes a root and its descendants.
pub(super) fn remove(session: &mut WriteSession, root: &ThreadId, seq: Option<u64>, at: Time) -> Result<(), Error> {
    admission::root(root)?;
    session.save()?;
    let WriteSession { db, cache, .. } = session;
    let key = read::key(db, root)?;
    let head: i64 = db.prepare_cached("SELECT seq FROM threads WHERE key = ?1")?.query_row([key], |row| row.get(0))?;
    admission::unchanged(root, seq, unsigned(head))?;
    let owners = owners(db, key)?;
    admission::remove(root, owners.iter().map(|owner| (&owner.process, owner.beat_at)), at)?;
    cache.threads.retain(|_, thread| thread.root != key);
    cache.families.remove(&key);
    cache.executions.forget(root);
    search::forget(db, key)?;
    db.prepare_cached("DELETE FROM events WHERE root = ?1")?.execute([key])?;
    for table in ["inputs", "wakes", "progress", "approvals"] {
        let sql = format!("DELETE FROM {table} WHERE thread IN (SELECT key FROM threads WHERE root = ?1)");
        db.prepare_cached(&sql)?.execute([key])?;
    }
    db.prepare_cached("DELETE FROM sub_agent_execution WHERE workflow_id = ?1")?.execute([root.as_str()])?;
    db.prepare_cached("DELETE FROM threads WHERE root = ?1")?.execute([key])?;
    Ok(())
}

impl Cache {
    /// A thread, read if it is not known; none if there is none.
    fn thread(&mut self, db: &Connection, id: &ThreadId) -> Result<Option<&Thread>, Error> {
        if !self.threads.contains_key(id) {
            let Some(thread) = load(db, id)? else { return Ok(None) };
            self.threads.insert(id.clone(), thread);
        }
        Ok(self.threads.get(id))
    }

    /// Has a thread that is known be saved with the group.
    fn change(&mut self, id: &ThreadId) {
        let thread = self.threads.get_mut(id).expect("the thread is cached");
        if !std::mem::replace(&mut thread.is_changed, true) {
            self.changed.push(id.clone());
        }
        self.noted += 1;
    }

    /// A process's key.
    fn process(&mut self, db: &Connection, id: &ProcessId) -> Result<i64, Error> {
        if let Some(key) = self.processes.get(id) {
            return Ok(*key);
        }
        let key = process_key(db, id)?;
        self.processes.insert(id.clone(), key);
        Ok(key)
    }

    /// The key of a new thread. Chosen here, because a root's row refers to itself.
    fn next_key(&mut self, db: &Connection) -> Result<i64, Error> {
        let key = match self.newest_key {
            Some(newest) => newest + 1,
            None => {
                let mut next = db.prepare_cached("SELECT coalesce(max(key), 0) + 1 FROM threads")?;
                next.query_row([], |row| row.get(0))?
            }
        };
        self.newest_key = Some(key);
        Ok(key)
    }

    /// Counts events of a tree, and says how many it had before.
    fn reserve(&mut self, db: &Connection, root: i64, events: usize) -> Result<u64, Error> {
        let (seq, is_changed) = match self.families.entry(root) {
            Entry::Occupied(counted) => counted.into_mut(),
            Entry::Vacant(place) => {
                let mut statement = db.prepare_cached("SELECT seq FROM threads WHERE key = ?1")?;
                place.insert((unsigned(statement.query_row([root], |row| row.get(0))?), false))
            }
        };
        let before = *seq;
        (*seq, *is_changed) = (before + events as u64, true);
        Ok(before)
    }
}

fn load(db: &Connection, thread: &ThreadId) -> Result<Option<Thread>, Error> {
    let sql = format!(
        "SELECT t.key, t.root, t.owner, t.unwatched, g.doing, g.answers, g.booked_tokens, {THREAD} FROM {THREADS} WHERE t.id = ?1"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query([thread.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let doing: String = row.get("doing")?;
    let doing = serde_json::from_str(&doing).map_err(|error| Error::Sql(Arc::new(error)))?;
    let mut folded = Folded {
        row: columns::thread(row)?,
        doing,
        answers: columns::count(row, "answers")?,
        booked_tokens: columns::count(row, "booked_tokens")?,
        unwatched: row.get("unwatched")?,
    };
    // When the owner was last heard of is asked of the file: what is known here lasts longer than a heartbeat.
    let owner = row.get::<_, Option<i64>>("owner")?.zip(folded.row.owner.take().map(|owner| owner.process.id));
    Ok(Some(Thread::new(row.get("key")?, row.get("root")?, owner, folded)))
}

/// Makes the row of a new thread, which has no events yet.
fn create(db: &Connection, cache: &mut Cache, commit: &Commit, owner: i64) -> Result<Thread, Error> {
    let Some(Event::ThreadCreated(created)) = commit.events.first().map(|event| &**event) else {
        return Err(Error::Invalid("a thread begins with its creation"));
    };
    let (parent, root) = match commit.thread.parent() {
        None => (None, None),
        Some(parent) => {
            let parent = cache.thread(db, &parent)?.ok_or_else(|| Error::unknown(&parent))?;
            (Some(parent.key), Some(parent.root))
        }
    };
    let key = cache.next_key(db)?;
    let root = root.unwrap_or(key);
    let folded = Folded::create(created, commit.at);
    let row = &folded.row;
    let sql = "INSERT INTO threads (key, id, root, parent, owner, epoch, name, agent, model, mode, preset, goal, live, \
               runs, created_at, unwatched, persistent, created_for) \
               VALUES (:key, :id, :root, :parent, :owner, :epoch, :name, :agent, :model, :mode, :preset, :goal, :live, \
               :runs, :at, :unwatched, :persistent, :created_for)";
    db.prepare_cached(sql)?.execute(named_params! {
        ":key": key,
        ":id": row.id.as_str(),
        ":root": root,
        ":parent": parent,
        ":owner": owner,
        ":epoch": signed(row.epoch),
        ":name": row.name,
        ":agent": row.agent,
        ":model": row.model,
        ":mode": row.mode.as_str(),
        ":preset": row.preset,
        ":goal": row.goal,
        ":live": row.state.is_live(),
        ":runs": row.runs,
        ":at": commit.at.0,
        ":unwatched": folded.unwatched,
        ":persistent": row.persistent,
        ":created_for": row.created_for,
    })?;
    Ok(Thread::new(key, root, Some((owner, commit.process.clone())), folded))
}

/// Takes events that were admitted to a thread that is known into the group, and all that follows from them.
fn write(
    db: &Connection,
    cache: &mut Cache,
    id: &ThreadId,
    at: Time,
    events: &[Arc<Event>],
    bodies: &Arc<[Encoded]>,
) -> Result<Appended, Error> {
    let thread = cache.threads.get(id).expect("the thread is cached");
    let (key, root) = (thread.key, thread.root);
    let mut appended = Appended { n: thread.folded.row.head, seq: cache.reserve(db, root, events.len())?, position: 0 };
    for (nth, event) in events.iter().enumerate() {
        appended.n += 1;
        appended.seq += 1;
        let Appended { n, seq, .. } = appended;
        appended.position =
            cache.write(db, PendingEvent { root, seq, thread: key, n, at, bodies: bodies.clone(), nth })?;
        let position = appended.position;
        let record = Record { position, seq, thread: id.clone(), n, at, event: event.clone() };
        cache.kept.push(Kept { root, record, bytes: bodies[nth].body.len() });
        if let Event::InputArrived { id, .. } = &**event {
            let sql = "INSERT INTO inputs (thread, id, position) VALUES (?1, ?2, ?3)";
            db.prepare_cached(sql)?.execute(params![key, id.0, signed(appended.position)])?;
        }
        let thread = cache.threads.get_mut(id).expect("the thread is cached");
        if let Some(change) = thread.folded.apply(at, event) {
            follow(db, cache, id, appended.position, change)?;
        }
    }
    cache.change(id);
    Ok(appended)
}

/// Saves how many events a tree has.
pub(super) fn save_family(db: &Connection, root: i64, seq: u64) -> Result<(), Error> {
    db.prepare_cached("UPDATE threads SET seq = ?2 WHERE key = ?1")?.execute([root, signed(seq)])?;
    Ok(())
}

/// Saves what rarely changes of a thread, where it has changed.
pub(super) fn save(db: &Connection, thread: &mut Thread) -> Result<(), Error> {
    let stable = StableColumns::of(&thread.folded, thread.owner.as_ref());
    if stable == thread.saved {
        return Ok(());
    }
    let sql = "UPDATE threads SET goal = ?2, live = ?3, outcome = ?4, runs = ?5, ended_at = ?6, owner = ?7, epoch = ?8, \
               title = ?9, archived = ?10, unread = ?11, unwatched = ?12 WHERE key = ?1";
    db.prepare_cached(sql)?.execute(params![
        thread.key,
        stable.goal,
        stable.live,
        stable.outcome.map(|outcome| outcome.as_str()),
        stable.runs,
        stable.ended_at.map(|at| at.0),
        stable.owner,
        signed(stable.epoch),
        stable.title,
        stable.archived,
        stable.unread,
        stable.unwatched,
    ])?;
    thread.saved = stable;
    Ok(())
}

/// Writes what an event at this position changed beside its thread's row.
fn follow(db: &Connection, cache: &mut Cache, id: &ThreadId, position: u64, change: Change) -> Result<(), Error> {
    match change {
        Change::Spawned(execution) => {
            cache.executions.spawned(*execution);
            Ok(())
        }
        Change::Started(child) => cache.executions.started(db, &child),
        Change::Ended(child, end) => cache.executions.ended(db, &child, &end, child == *id),
        Change::Question(change) => {
            let thread = cache.threads.get(id).expect("the thread is cached");
            approvals::follow(db, thread, position, &change)
        }
    }
}

fn process_key(db: &Connection, process: &ProcessId) -> Result<i64, Error> {
    let mut statement = db.prepare_cached("SELECT key FROM processes WHERE id = ?1")?;
    let key = statement.query_row([process.as_str()], |row| row.get(0)).optional()?;
    key.ok_or_else(|| Error::UnknownProcess(process.clone()))
}

/// A process that owns something, and when it was last heard of.
fn owner(db: &Connection, process: i64) -> Result<Option<Owner>, Error> {
    let sql = "SELECT id AS process, pid, start_time, host, beat_at FROM processes WHERE key = ?1";
    let owner = db.prepare_cached(sql)?.query_row([process], columns::owner).optional()?;
    Ok(owner.flatten())
}

/// Every process that owns a thread of a tree.
fn owners(db: &Connection, root: i64) -> Result<Vec<Owner>, Error> {
    let sql = "SELECT DISTINCT p.id AS process, p.pid, p.start_time, p.host, p.beat_at \
               FROM threads t JOIN processes p ON p.key = t.owner WHERE t.root = ?1";
    let mut statement = db.prepare_cached(sql)?;
    let owners = statement.query_map([root], columns::owner)?.collect::<Result<Vec<_>, _>>()?;
    Ok(owners.into_iter().flatten().collect())
}

/// Where an input was written.
fn input(db: &Connection, cache: &mut Cache, thread: i64, id: &InputId) -> Result<Option<Appended>, Error> {
    cache.flush(db)?;
    let sql = "SELECT e.n, e.seq, e.position FROM inputs i JOIN events e ON e.position = i.position \
               WHERE i.thread = ?1 AND i.id = ?2";
    let mut statement = db.prepare_cached(sql)?;
    let first = statement.query_row(params![thread, id.0], |row| {
        Ok(Appended {
            n: columns::count(row, "n")?,
            seq: columns::count(row, "seq")?,
            position: columns::count(row, "position")?,
        })
    });
    Ok(first.optional()?)
}

/// Whether every input that the commit itself holds is new to the thread.
fn admit_inputs(db: &Connection, cache: &mut Cache, thread: Option<i64>, commit: &Commit) -> Result<(), Error> {
    let mut repeated = Vec::new();
    for event in &commit.events {
        if let (Event::InputArrived { id, .. }, Some(thread)) = (&**event, thread)
            && input(db, cache, thread, id)?.is_some()
        {
            repeated.push(id);
        }
    }
    if admission::repeats_input(&commit.events, |id| repeated.contains(&id)) {
        return Err(Error::Invalid("an input is written once"));
    }
    Ok(())
}

/// Leaves a wake, unless one that no process has leased yet is due at the same moment. One that is leased does not do:
/// its holder may have read the log already.
fn leave_wake(db: &Connection, thread: i64, due: Time) -> Result<(), Error> {
    let sql = "INSERT INTO wakes (thread, due) SELECT ?1, ?2 \
               WHERE NOT EXISTS (SELECT 1 FROM wakes WHERE thread = ?1 AND due = ?2 AND leased_until IS NULL)";
    db.prepare_cached(sql)?.execute([thread, due.0])?;
    Ok(())
}
