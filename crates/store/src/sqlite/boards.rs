//! Boards in SQLite: their events under negative keys, and the rows that are folded from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::{InputId, ThreadId, Time};
use board::kept::played;
use board::{Board, BoardId, Delivery, DeliveryId, Entry, Event, Facts, Look, Note, Request, Status, Task, TaskId};
use rusqlite::{Connection, OptionalExtension, Params, Row, named_params, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::columns::{self, signed, thread_id, time, unsigned};
use super::write_session::{PendingEvent, WriteSession};
use crate::boards::{
    AgentMetadata, BoardCommit, BoardRecord, DeliveryQuery, DueDelivery, EPHEMERAL, OnBoard, Rebuilt, RestingQuery,
    RestingTask, TaskQuery, full_name,
};
use crate::codec::{self, Encoded};
use crate::error::Error;
use crate::log::Appended;
use crate::rows::LEASE_MS;

/// Writes events of a board that are kept as `bodies`, and folds them.
pub(super) fn commit(
    session: &mut WriteSession,
    commit: &BoardCommit,
    bodies: &Arc<[Encoded]>,
) -> Result<Appended, Error> {
    let WriteSession { db, cache, .. } = session;
    if commit.entries.is_empty() {
        return Err(Error::Invalid("a commit holds at least one event"));
    }
    let (key, board) = match find(db, &commit.board)? {
        Some(found) => found,
        None => (0, Board::new(commit.board.clone())),
    };
    let conflict =
        || Error::BoardConflict { board: commit.board.as_str().into(), expected: commit.expected, head: board.n };
    if board.n != commit.expected {
        return Err(conflict());
    }
    let name = commit.entries[0].command.as_ref();
    if let (Some(name), true) = (name, key > 0)
        && (SqlLook { db, key }).command(name)?.is_some()
    {
        return Err(conflict());
    }
    let key = if key > 0 { key } else { create(db, &commit.board)? };
    let mut appended = Appended { n: board.n, seq: board.n, position: 0 };
    for nth in 0..commit.entries.len() {
        appended.n += 1;
        let (n, bodies) = (appended.n, bodies.clone());
        let event = PendingEvent { root: -key, seq: n, thread: -key, n, at: commit.at, bodies, nth };
        appended.position = cache.write(db, event)?;
    }
    appended.seq = appended.n;
    let lease = if commit.leased { commit.at.plus_ms(LEASE_MS).0 } else { 0 };
    let mut fold = Fold { db, key, board, tasks: BTreeMap::new(), lease };
    for entry in &commit.entries {
        fold.apply(commit.at, entry)?;
    }
    fold.save()?;
    Ok(appended)
}

/// What a decision looks at.
pub(super) fn facts(db: &Connection, board: &BoardId, request: &Request) -> Result<Facts, Error> {
    let empty = Board::new(board.clone());
    match find(db, board)? {
        // The board was read first: what has changed since makes the commit be refused.
        Some((key, found)) => {
            let mut facts = Facts::gather(&SqlLook { db, key }, request, empty)?;
            facts.board = found;
            Ok(facts)
        }
        None => Ok(Facts::none(empty)),
    }
}

/// A board.
pub(super) fn board(db: &Connection, board: &BoardId) -> Result<Option<Board>, Error> {
    Ok(find(db, board)?.map(|(_, board)| board))
}

/// All boards.
pub(super) fn boards(db: &Connection) -> Result<Vec<Board>, Error> {
    list(db, "SELECT state FROM boards ORDER BY key", [], |row| json(row, "state"))
}

/// The boards on which a task could be handed out.
pub(super) fn runnable(db: &Connection) -> Result<Vec<Board>, Error> {
    let sql = "SELECT b.state FROM boards b \
               WHERE EXISTS (SELECT 1 FROM tasks t WHERE t.board = b.key AND t.runnable = 1) ORDER BY b.key";
    list(db, sql, [], |row| json(row, "state"))
}

/// A board's events after its `after_n`th.
pub(super) fn events(db: &Connection, board: &BoardId, after_n: u64, limit: usize) -> Result<Vec<BoardRecord>, Error> {
    match find(db, board)? {
        Some((key, _)) => events_of(db, key, after_n, limit),
        None => Ok(Vec::new()),
    }
}

fn events_of(db: &Connection, key: i64, after_n: u64, limit: usize) -> Result<Vec<BoardRecord>, Error> {
    let sql =
        "SELECT position, n, at, kind, version, body FROM events WHERE thread = ?1 AND n > ?2 ORDER BY n LIMIT ?3";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![-key, signed(after_n), page(limit)])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(record(row)?);
    }
    Ok(records)
}

/// The events of all boards after a place in the whole store. Boards are few, and each is read by its own index: followers ask this often,
/// and the events of threads that lie between are not read.
pub(super) fn all_events(db: &Connection, after_position: u64, limit: usize) -> Result<Vec<OnBoard>, Error> {
    let boards: Vec<(i64, BoardId)> = list(db, "SELECT key, id FROM boards ORDER BY key", [], |row| {
        Ok((row.get("key")?, BoardId::new(row.get::<_, Arc<str>>("id")?)))
    })?;
    let mut found = Vec::new();
    for (key, board) in boards {
        let read = events_of(db, key, seen_of(db, key, after_position)?, limit)?;
        found.extend(read.into_iter().map(|record| OnBoard { board: board.clone(), record }));
    }
    found.sort_by_key(|event| event.record.position);
    found.truncate(limit);
    Ok(found)
}

/// How many events of a board lie up to a place in the whole store. Both numbers grow together, so it is searched for by halves, the newest
/// event first.
fn seen_of(db: &Connection, key: i64, position: u64) -> Result<u64, Error> {
    let newest = "SELECT n, position FROM events WHERE thread = ?1 ORDER BY n DESC LIMIT 1";
    let newest: Option<(i64, i64)> = list(db, newest, [-key], |row| Ok((row.get(0)?, row.get(1)?)))?.pop();
    let Some((newest, newest_at)) = newest else { return Ok(0) };
    if newest_at <= signed(position) {
        return Ok(unsigned(newest));
    }
    let mut place_of = db.prepare_cached("SELECT position FROM events WHERE thread = ?1 AND n = ?2")?;
    let (mut seen, mut unseen) = (0, newest);
    while unseen - seen > 1 {
        let middle = seen + (unseen - seen) / 2;
        let at: i64 = place_of.query_row([-key, middle], |row| row.get(0))?;
        if at <= signed(position) { seen = middle } else { unseen = middle }
    }
    Ok(unsigned(seen))
}

fn record(row: &Row<'_>) -> Result<BoardRecord, Error> {
    let (kind, body): (Arc<str>, Arc<str>) = (row.get("kind")?, row.get("body")?);
    Ok(BoardRecord {
        position: columns::count(row, "position")?,
        n: columns::count(row, "n")?,
        at: time(row, "at")?,
        entry: Arc::new(codec::decode_board(&kind, row.get("version")?, &body)?),
    })
}

/// A task.
pub(super) fn task(db: &Connection, board: &BoardId, task: &TaskId) -> Result<Option<Task>, Error> {
    match find(db, board)? {
        Some((key, _)) => SqlLook { db, key }.task(task),
        None => Ok(None),
    }
}

/// The statuses of tasks that are not archived.
const OPEN: [Status; 4] = [Status::Pending, Status::InProgress, Status::Blocked, Status::Completed];

/// Tasks of a board, by rank.
pub(super) fn tasks(db: &Connection, query: &TaskQuery) -> Result<Vec<Task>, Error> {
    let Some((key, _)) = find(db, &query.board)? else { return Ok(Vec::new()) };
    let after = match &query.after {
        None => None,
        Some(after) => SqlLook { db, key }.task(after)?.map(|task| (task.rank, signed(task.id.number()))),
    };
    let (rank, number) = after.unwrap_or((i64::MIN, i64::MIN));
    // Each status has its own order. Those of several are merged row by row, so that one index is enough, and a task that moves changes no other.
    let statuses = query.status.as_ref().map_or(&OPEN[..], std::slice::from_ref);
    let of_one = |status: &Status| {
        format!(
            "SELECT body, rank, number FROM tasks \
             WHERE board = :board AND status = '{}' AND (rank, number) > (:rank, :number)",
            status.as_str()
        )
    };
    let sql = statuses.iter().map(of_one).collect::<Vec<_>>().join(" UNION ALL ");
    let sql = sql + " ORDER BY rank, number LIMIT :limit";
    let values = named_params! { ":board": key, ":rank": rank, ":number": number, ":limit": page(query.limit) };
    list(db, &sql, values, |row| json(row, "body"))
}

/// The newest task of a thread.
pub(super) fn task_of_thread(db: &Connection, thread: &ThreadId) -> Result<Option<(BoardId, Task)>, Error> {
    let sql = "SELECT b.id, t.body FROM tasks t JOIN boards b ON b.key = t.board WHERE t.thread = ?1 \
               ORDER BY t.active DESC, t.updated_at DESC, t.number DESC LIMIT 1";
    let mut found =
        list(db, sql, [thread.as_str()], |row| Ok((BoardId::new(row.get::<_, Arc<str>>("id")?), json(row, "body")?)))?;
    Ok(found.pop())
}

/// All remarks on a task.
pub(super) fn notes(db: &Connection, board: &BoardId, task: &TaskId) -> Result<Vec<Note>, Error> {
    let Some((key, _)) = find(db, board)? else { return Ok(Vec::new()) };
    let sql = "SELECT body FROM task_notes WHERE board = ?1 AND task = ?2 ORDER BY n";
    list(db, sql, params![key, signed(task.number())], |row| json(row, "body"))
}

/// Leases deliveries that no process is carrying out.
pub(super) fn claim(session: &mut WriteSession, query: &DeliveryQuery) -> Result<Vec<DueDelivery>, Error> {
    let db = &session.db;
    let board = query.board.as_ref().map(BoardId::as_str);
    let sql = "SELECT d.key, d.body, b.state FROM deliveries d JOIN boards b ON b.key = d.board \
               WHERE d.leased_until <= :at AND (:board IS NULL OR b.id = :board) ORDER BY d.key LIMIT :limit";
    let values = named_params! { ":at": query.at.0, ":board": board, ":limit": page(query.limit) };
    let due: Vec<(i64, DueDelivery)> = list(db, sql, values, |row| {
        Ok((row.get("key")?, DueDelivery { board: json(row, "state")?, delivery: json(row, "body")? }))
    })?;
    let mut lease = db.prepare_cached("UPDATE deliveries SET leased_until = ?2 WHERE key = ?1")?;
    for (key, _) in &due {
        lease.execute([*key, query.at.plus_ms(LEASE_MS).0])?;
    }
    Ok(due.into_iter().map(|(_, due)| due).collect())
}

/// Gives back all that processes have said they carry out.
pub(super) fn release(db: &Connection) -> Result<(), Error> {
    db.prepare_cached("UPDATE deliveries SET leased_until = 0 WHERE leased_until > 0")?.execute([])?;
    Ok(())
}

/// Whether a delivery may be due: asked often, and rarely so.
pub(super) fn is_due(db: &Connection, at: Time) -> Result<bool, Error> {
    Ok(db.prepare_cached("SELECT 1 FROM deliveries WHERE leased_until <= ?1 LIMIT 1")?.exists([at.0])?)
}

/// Tasks in progress whose thread is at rest or gone.
pub(super) fn resting(db: &Connection, query: &RestingQuery) -> Result<Vec<RestingTask>, Error> {
    let key = |board: &BoardId| Ok::<_, Error>(find(db, board)?.map(|(key, _)| key));
    let board = match &query.board {
        Some(board) => match key(board)? {
            Some(key) => Some(key),
            None => return Ok(Vec::new()),
        },
        None => None,
    };
    let (after, number) = match &query.after {
        Some((board, task)) => (key(board)?.unwrap_or(0), signed(task.number())),
        None => (0, 0),
    };
    // Active tasks are few: those that agents work on.
    let sql = "SELECT t.body, b.state, th.key IS NOT NULL AS thread_exists FROM tasks t \
               JOIN boards b ON b.key = t.board LEFT JOIN threads th ON th.id = t.thread \
               WHERE t.active = 1 AND t.status = 'in_progress' AND (th.key IS NULL OR th.live = 0) \
               AND (:board IS NULL OR t.board = :board) AND (t.board, t.number) > (:after, :number) \
               ORDER BY t.board, t.number LIMIT :limit";
    let values = named_params! { ":board": board, ":after": after, ":number": number, ":limit": page(query.limit) };
    list(db, sql, values, |row| {
        Ok(RestingTask {
            board: json(row, "state")?,
            task: json(row, "body")?,
            thread_exists: row.get("thread_exists")?,
        })
    })
}

/// What is known of a thread that was made for a task.
pub(super) fn metadata(db: &Connection, thread: &ThreadId) -> Result<Option<AgentMetadata>, Error> {
    let sql = "SELECT * FROM agent_metadata WHERE thread_id = ?1";
    Ok(db.prepare_cached(sql)?.query_row([thread.as_str()], agent).optional()?)
}

/// The threads that were made for tasks under a thread.
pub(super) fn session_agents(db: &Connection, parent: &ThreadId) -> Result<Vec<AgentMetadata>, Error> {
    let sql = "SELECT * FROM agent_metadata WHERE parent_thread_id = ?1 ORDER BY board, n";
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement.query_map([parent.as_str()], agent)?.collect::<Result<_, _>>()?)
}

/// Makes all that is folded from boards anew, and says what was other than before.
pub(super) fn rebuild(session: &mut WriteSession) -> Result<Rebuilt, Error> {
    session.save()?;
    let db = &session.db;
    let before = dump(db)?;
    let leases: Vec<(i64, String, i64)> = list(db, "SELECT board, id, leased_until FROM deliveries", [], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    for table in ["agent_metadata", "task_notes", "task_after", "deliveries", "board_commands", "tasks"] {
        db.execute(&format!("DELETE FROM {table}"), [])?;
    }
    let boards: Vec<(i64, BoardId)> = list(db, "SELECT key, id FROM boards ORDER BY key", [], |row| {
        Ok((row.get("key")?, BoardId::new(row.get::<_, Arc<str>>("id")?)))
    })?;
    for (key, id) in &boards {
        let mut fold = Fold { db, key: *key, board: Board::new(id.clone()), tasks: BTreeMap::new(), lease: 0 };
        loop {
            let page = events(db, id, fold.board.n, crate::follow::PAGE)?;
            if page.is_empty() {
                break;
            }
            for record in page {
                fold.apply(record.at, &record.entry)?;
            }
            // Saved page by page, so that a large board is never in memory.
            fold.save_tasks()?;
        }
        fold.save()?;
    }
    for (board, id, until) in leases {
        db.execute("UPDATE deliveries SET leased_until = ?3 WHERE board = ?1 AND id = ?2", params![board, id, until])?;
    }
    let after = dump(db)?;
    let tasks: i64 = db.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0))?;
    let differences = before.iter().filter(|(row, _)| !after.contains_key(*row)).count()
        + after.iter().filter(|(row, _)| !before.contains_key(*row)).count();
    Ok(Rebuilt { boards: boards.len() as u64, tasks: unsigned(tasks), differences: differences as u64 })
}

/// All folded rows by a hash of each, to be compared.
fn dump(db: &Connection) -> Result<BTreeMap<String, ()>, Error> {
    let tables = [
        "SELECT 'b', key, id, state FROM boards",
        "SELECT 't', * FROM tasks",
        "SELECT 'a', * FROM task_after",
        "SELECT 'n', * FROM task_notes",
        "SELECT 'd', board, id, kind, body FROM deliveries",
        "SELECT 'c', * FROM board_commands",
        "SELECT 'm', * FROM agent_metadata",
    ];
    let mut rows = BTreeMap::new();
    for sql in tables {
        let mut statement = db.prepare(sql)?;
        let columns = statement.column_count();
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let cells: Vec<String> =
                (0..columns).map(|at| row.get_ref(at).map(|cell| format!("{cell:?}"))).collect::<Result<_, _>>()?;
            rows.insert(cells.join("|"), ());
        }
    }
    Ok(rows)
}

/// What keeps the tasks of one board, as decisions look at it.
struct SqlLook<'a> {
    db: &'a Connection,
    key: i64,
}

impl Look for SqlLook<'_> {
    type Error = Error;

    fn board(&self) -> Result<Option<Board>, Error> {
        Ok(list(self.db, "SELECT state FROM boards WHERE key = ?1", [self.key], |row| json(row, "state"))?.pop())
    }

    fn command(&self, name: &InputId) -> Result<Option<Vec<Event>>, Error> {
        let sql = "SELECT e.kind, e.version, e.body FROM board_commands c JOIN events e \
                   ON e.thread = -c.board AND e.n >= c.n AND e.n < c.n + c.many \
                   WHERE c.board = ?1 AND c.id = ?2 ORDER BY e.n";
        let mut statement = self.db.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.key, name.0])?;
        let mut events = Vec::new();
        while let Some(row) = rows.next()? {
            let (kind, body): (Arc<str>, Arc<str>) = (row.get(0)?, row.get(2)?);
            events.push(codec::decode_board(&kind, row.get(1)?, &body)?.event);
        }
        Ok((!events.is_empty()).then_some(events))
    }

    fn task(&self, task: &TaskId) -> Result<Option<Task>, Error> {
        let sql = "SELECT body FROM tasks WHERE board = ?1 AND number = ?2";
        Ok(list(self.db, sql, [self.key, signed(task.number())], |row| json(row, "body"))?.pop())
    }

    fn dependents(&self, task: &TaskId) -> Result<Vec<TaskId>, Error> {
        let sql = "SELECT task FROM task_after WHERE board = ?1 AND after = ?2 ORDER BY task";
        list(self.db, sql, [self.key, signed(task.number())], |row| Ok(TaskId::of(unsigned(row.get(0)?))))
    }

    fn queue(&self, labels: &[Arc<str>], limit: usize) -> Result<Vec<Task>, Error> {
        let wanted = serde_json::to_string(labels).expect("labels are JSON");
        let is_labelled = if labels.is_empty() {
            ":labels IS NOT NULL"
        } else {
            "EXISTS (SELECT 1 FROM json_each(t.body, '$.labels') l \
             WHERE l.value IN (SELECT value FROM json_each(:labels)))"
        };
        let sql = format!(
            "SELECT t.body FROM tasks t WHERE t.board = :board AND t.runnable = 1 AND {is_labelled} \
             AND (t.thread IS NULL OR NOT EXISTS (SELECT 1 FROM tasks o WHERE o.board = :board AND o.active = 1 AND o.thread = t.thread)) \
             ORDER BY t.urgency, t.rank, t.number LIMIT :limit"
        );
        let values = named_params! { ":board": self.key, ":labels": wanted, ":limit": page(limit) };
        list(self.db, &sql, values, |row| json(row, "body"))
    }

    fn active(&self) -> Result<u32, Error> {
        let mut statement = self.db.prepare_cached("SELECT count(*) FROM tasks WHERE board = ?1 AND active = 1")?;
        Ok(statement.query_row([self.key], |row| row.get(0))?)
    }

    fn is_busy(&self, thread: &ThreadId) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM tasks WHERE board = ?1 AND active = 1 AND thread = ?2";
        Ok(self.db.prepare_cached(sql)?.exists(params![self.key, thread.as_str()])?)
    }

    fn worker(&self, agent: &str) -> Result<Option<ThreadId>, Error> {
        let sql = "SELECT thread_id FROM agent_metadata WHERE board = ?1 AND agent = ?2 ORDER BY n DESC LIMIT 1";
        Ok(list(self.db, sql, params![self.key, agent], |row| Ok(thread_id(row, "thread_id")?))?.pop())
    }

    fn is_starting(&self, agent: &str) -> Result<bool, Error> {
        // Those that take a place are few.
        let active: Vec<Task> =
            list(self.db, "SELECT body FROM tasks WHERE board = ?1 AND active = 1", [self.key], |row| {
                json(row, "body")
            })?;
        Ok(active.iter().any(|task| task.is_starting(agent)))
    }

    fn delivery(&self, delivery: &DeliveryId) -> Result<Option<Delivery>, Error> {
        let sql = "SELECT body FROM deliveries WHERE board = ?1 AND id = ?2";
        Ok(list(self.db, sql, params![self.key, delivery.as_str()], |row| json(row, "body"))?.pop())
    }
}

/// Folds events into the rows of one board.
struct Fold<'a> {
    db: &'a Connection,
    key: i64,
    board: Board,
    /// Tasks that were changed and are yet to be saved.
    tasks: BTreeMap<u64, Task>,
    /// Until when new deliveries are leased.
    lease: i64,
}

impl Fold<'_> {
    fn apply(&mut self, at: Time, entry: &Entry) -> Result<(), Error> {
        let Fold { db, key, .. } = *self;
        let event = &entry.event;
        self.board.apply(event);
        let n = signed(self.board.n);
        if let Some(name) = &entry.command {
            let sql = "INSERT INTO board_commands (board, id, n, many) VALUES (?1, ?2, ?3, 1) \
                       ON CONFLICT (board, id) DO UPDATE SET many = many + 1";
            db.prepare_cached(sql)?.execute(params![key, name.0, n])?;
        }
        if let Some(delivery) = event.delivery() {
            let sql = "INSERT INTO deliveries (board, id, kind, leased_until, body) VALUES (?1, ?2, ?3, ?4, ?5)";
            let (id, kind) = (delivery.id.as_str(), delivery.kind.as_str());
            db.prepare_cached(sql)?.execute(params![key, id, kind, self.lease, text(delivery)])?;
        }
        if let Some(settled) = event.settled() {
            let sql = "DELETE FROM deliveries WHERE board = ?1 AND id = ?2";
            db.prepare_cached(sql)?.execute(params![key, settled.as_str()])?;
        }
        if let Event::NoteAdded { task, note } = event {
            let sql = "INSERT INTO task_notes (board, task, n, body) VALUES (?1, ?2, ?3, ?4)";
            db.prepare_cached(sql)?.execute(params![key, signed(task.number()), n, text(note)])?;
        }
        let Some(id) = event.task() else { return Ok(()) };
        if let Some(task) = Task::added(at, event) {
            self.depend(&task.id, &task.after)?;
            self.tasks.insert(id.number(), task);
            return Ok(());
        }
        if !self.tasks.contains_key(&id.number())
            && let Some(found) = (SqlLook { db, key }).task(id)?
        {
            self.tasks.insert(id.number(), found);
        }
        let Some(task) = self.tasks.get_mut(&id.number()) else { return Ok(()) };
        let before = task.clone();
        task.apply(at, event);
        let task = task.clone();
        if before.after != task.after {
            self.depend(id, &task.after)?;
        }
        if before.status == Status::InProgress && task.status != Status::InProgress {
            let sql = "UPDATE agent_metadata SET current_task = NULL WHERE thread_id = ?1 AND current_task = ?2";
            let thread = before.thread.as_ref().map(ThreadId::as_str);
            db.prepare_cached(sql)?.execute(params![thread, before.title])?;
        }
        match event {
            Event::TaskRemoved { .. } => self.remove(id),
            Event::TaskBegun { thread, agent, .. } => {
                if let Some(agent) = agent {
                    // What was folded of the task must be there before it is referred to.
                    self.save_tasks()?;
                    // A thread that was deleted since has no row.
                    let sql = "INSERT OR IGNORE INTO agent_metadata (thread_id, name, provider, model, type, \
                               created_for_task, parent_thread_id, created_at, board, agent, n) \
                               SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 \
                               WHERE EXISTS (SELECT 1 FROM threads WHERE id = ?1) AND EXISTS (SELECT 1 FROM threads WHERE id = ?7)";
                    db.prepare_cached(sql)?.execute(params![
                        thread.as_str(),
                        agent.name,
                        agent.provider,
                        agent.model,
                        EPHEMERAL,
                        full_name(&self.board.id, id),
                        agent.parent.as_str(),
                        at.0,
                        key,
                        played(&task),
                        n,
                    ])?;
                }
                let sql = "UPDATE agent_metadata SET current_task = ?2 WHERE thread_id = ?1";
                db.prepare_cached(sql)?.execute(params![thread.as_str(), task.title])?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn depend(&self, task: &TaskId, after: &[TaskId]) -> Result<(), Error> {
        let number = signed(task.number());
        let sql = "DELETE FROM task_after WHERE board = ?1 AND task = ?2";
        self.db.prepare_cached(sql)?.execute([self.key, number])?;
        let mut insert = self.db.prepare_cached("INSERT INTO task_after (board, task, after) VALUES (?1, ?2, ?3)")?;
        for on in after {
            insert.execute([self.key, number, signed(on.number())])?;
        }
        Ok(())
    }

    fn remove(&mut self, task: &TaskId) -> Result<(), Error> {
        self.depend(task, &[])?;
        self.tasks.remove(&task.number());
        let number = signed(task.number());
        self.db.prepare_cached("DELETE FROM task_notes WHERE board = ?1 AND task = ?2")?.execute([self.key, number])?;
        self.db.prepare_cached("DELETE FROM tasks WHERE board = ?1 AND number = ?2")?.execute([self.key, number])?;
        Ok(())
    }

    fn save_tasks(&mut self) -> Result<(), Error> {
        // A task that is there is found by its number, by which it was just read: its name has an index of its own, on other pages.
        let change = "UPDATE tasks SET title = ?4, prompt = ?5, priority = ?6, status = ?7, assigned_to = ?9, thread = ?10, \
                      urgency = ?11, rank = ?12, runnable = ?13, active = ?14, updated_at = ?16, body = ?17 \
                      WHERE board = ?2 AND number = ?3";
        let add = "INSERT INTO tasks (id, board, number, title, prompt, priority, status, created_by, assigned_to, thread, \
                   urgency, rank, runnable, active, created_at, updated_at, body) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
        let (mut change, mut add) = (self.db.prepare_cached(change)?, self.db.prepare_cached(add)?);
        for task in std::mem::take(&mut self.tasks).into_values() {
            let name = full_name(&self.board.id, &task.id);
            let values = params![
                name,
                self.key,
                signed(task.id.number()),
                task.title,
                task.prompt,
                task.priority.as_str(),
                task.status.as_str(),
                task.created_by.as_str(),
                task.assigned_to(),
                task.thread.as_ref().map(ThreadId::as_str),
                task.priority as i64,
                task.rank,
                task.is_runnable(),
                task.is_active(),
                task.created_at.0,
                task.updated_at.0,
                text(&task),
            ];
            if change.execute(values)? == 0 {
                add.execute(values)?;
            }
        }
        Ok(())
    }

    fn save(mut self) -> Result<(), Error> {
        self.save_tasks()?;
        let state = text(&self.board);
        self.db.prepare_cached("UPDATE boards SET state = ?2 WHERE key = ?1")?.execute(params![self.key, state])?;
        Ok(())
    }
}

fn create(db: &Connection, board: &BoardId) -> Result<i64, Error> {
    let state = text(&Board::new(board.clone()));
    db.prepare_cached("INSERT INTO boards (id, state) VALUES (?1, ?2)")?.execute(params![board.as_str(), state])?;
    Ok(db.last_insert_rowid())
}

fn find(db: &Connection, board: &BoardId) -> Result<Option<(i64, Board)>, Error> {
    let sql = "SELECT key, state FROM boards WHERE id = ?1";
    Ok(list(db, sql, [board.as_str()], |row| Ok((row.get("key")?, json(row, "state")?)))?.pop())
}

fn agent(row: &Row<'_>) -> rusqlite::Result<AgentMetadata> {
    Ok(AgentMetadata {
        thread_id: thread_id(row, "thread_id")?,
        name: row.get("name")?,
        provider: row.get("provider")?,
        model: row.get("model")?,
        kind: row.get("type")?,
        created_for_task: row.get("created_for_task")?,
        parent_thread_id: thread_id(row, "parent_thread_id")?,
        current_task: row.get("current_task")?,
        created_at: time(row, "created_at")?,
    })
}

fn list<T>(
    db: &Connection,
    sql: &str,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> Result<T, Error> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| Error::Sql(Arc::new(error)))
}

fn text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("what is folded of a board is JSON")
}

fn page(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
