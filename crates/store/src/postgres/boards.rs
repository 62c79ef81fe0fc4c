//! Boards in PostgreSQL: their events under negative keys, and the rows that are folded from them. What changes a board locks its row first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent::{InputId, ThreadId, Time};
use board::kept::played;
use board::{Board, BoardId, Delivery, DeliveryId, Entry, Event, Facts, Look, Note, Request, Status, Task, TaskId};
use tokio_postgres::Row;

use super::blocking::Blocking;
use super::columns::{
    count, json, optional_storable, optional_text, page, signed, storable, text, thread_id, time, to_json, unsigned,
    value,
};
use super::connection::Link;
use super::ownership::{Clock, NOW};
use super::read::version;
use super::write::{INSERT_EVENTS, LOCK_POSITIONS, POSITIONS, TAKE_POSITIONS};
use crate::boards::{
    AgentMetadata, BoardCommit, BoardRecord, DeliveryQuery, DueDelivery, EPHEMERAL, OnBoard, Rebuilt, RestingQuery,
    RestingTask, TaskQuery, full_name,
};
use crate::codec::{self, Encoded};
use crate::error::Error;
use crate::log::Appended;
use crate::rows::LEASE_MS;

/// Writes events of a board, and folds them, inside a transaction.
pub(super) fn commit(db: &Blocking<'_>, clock: Clock, commit: &BoardCommit) -> Result<Appended, Error> {
    if commit.entries.is_empty() {
        return Err(Error::Invalid("a commit holds at least one event"));
    }
    let id = storable(commit.board.as_str());
    let state = to_json(&Board::new(commit.board.clone()));
    db.execute("INSERT INTO boards (id, state) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", &[&&*id, &state])?;
    let locked = db.first("SELECT key, state FROM boards WHERE id = $1 FOR NO KEY UPDATE", &[&&*id])?;
    let row = locked.ok_or(Error::Invalid("the board was just made"))?;
    let (key, board): (i64, Board) = (value(&row, "key")?, json(&row, "state")?);
    let conflict =
        || Error::BoardConflict { board: commit.board.as_str().into(), expected: commit.expected, head: board.n };
    if board.n != commit.expected {
        return Err(conflict());
    }
    if let Some(name) = commit.entries[0].command.as_ref()
        && (SqlLook { db, key }).command(name)?.is_some()
    {
        return Err(conflict());
    }
    let mut lease = 0;
    if commit.leased {
        let now: Vec<i64> = db.list(&format!("SELECT {NOW}"), &[&clock.moment(commit.at)], |row| Ok(row.get(0)))?;
        lease = now.first().copied().unwrap_or(0) + signed(LEASE_MS);
    }
    let bodies: Vec<Encoded> = commit.entries.iter().map(codec::encode_board).collect();
    let before = board.n;
    let mut fold = Fold { db, key, board, tasks: BTreeMap::new(), lease };
    for entry in &commit.entries {
        fold.apply(commit.at, entry)?;
    }
    fold.save()?;
    let position = write_events(db, -key, before, commit.at, &bodies)?;
    let n = before + bodies.len() as u64;
    Ok(Appended { n, seq: n, position })
}

/// Writes events of a stream that is not a thread's. Until the transaction is committed all other writers wait. The answer is the last position.
pub(super) fn write_events(
    db: &Blocking<'_>,
    stream: i64,
    before: u64,
    at: Time,
    bodies: &[Encoded],
) -> Result<u64, Error> {
    let many = signed(bodies.len() as u64);
    db.query(LOCK_POSITIONS, &[&POSITIONS])?;
    let last: Vec<i64> = db.list(TAKE_POSITIONS, &[&many], |row| Ok(row.get(0)))?;
    let streams = vec![stream; bodies.len()];
    let numbers: Vec<i64> = (1..=bodies.len() as u64).map(|n| signed(before + n)).collect();
    let moments = vec![at.0; bodies.len()];
    let kinds: Vec<&str> = bodies.iter().map(|body| body.kind).collect();
    let versions: Vec<i32> = bodies.iter().map(|body| i32::try_from(body.version).unwrap_or(0)).collect();
    let texts: Vec<&str> = bodies.iter().map(|body| body.body.as_str()).collect();
    db.execute(INSERT_EVENTS, &[&many, &streams, &numbers, &streams, &numbers, &moments, &kinds, &versions, &texts])?;
    Ok(unsigned(last.first().copied().unwrap_or(0)))
}

/// What a decision looks at.
pub(super) fn facts(db: &Blocking<'_>, board: &BoardId, request: &Request) -> Result<Facts, Error> {
    let empty = Board::new(board.clone());
    match find(db, board)? {
        Some((key, found)) => {
            let mut facts = Facts::gather(&SqlLook { db, key }, request, empty)?;
            facts.board = found;
            Ok(facts)
        }
        None => Ok(Facts::none(empty)),
    }
}

/// A board, with its key.
fn find(db: &Blocking<'_>, board: &BoardId) -> Result<Option<(i64, Board)>, Error> {
    let id = storable(board.as_str());
    let sql = "SELECT key, state FROM boards WHERE id = $1";
    Ok(db.list(sql, &[&&*id], |row| Ok((value(row, "key")?, json(row, "state")?)))?.pop())
}

async fn key(link: &Link, board: &BoardId) -> Result<Option<i64>, Error> {
    let id = storable(board.as_str());
    Ok(link.first("SELECT key FROM boards WHERE id = $1", &[&&*id]).await?.map(|row| row.get(0)))
}

/// A board.
pub(super) async fn board(link: &Link, board: &BoardId) -> Result<Option<Board>, Error> {
    let id = storable(board.as_str());
    let found = link.first("SELECT state FROM boards WHERE id = $1", &[&&*id]).await?;
    found.as_ref().map(|row| json(row, "state")).transpose()
}

/// All boards.
pub(super) async fn boards(link: &Link) -> Result<Vec<Board>, Error> {
    let rows = link.query("SELECT state FROM boards ORDER BY key", &[]).await?;
    rows.iter().map(|row| json(row, "state")).collect()
}

/// Whether the folder of a board `b` is here: on the machine of that name, or on all. A folder of one machine begins with the machine's name
/// and a colon.
fn here(machine: &str) -> String {
    let folder = "(b.state::json ->> 'folder')";
    format!("({folder} = '' OR left({folder}, 1) = '/' OR starts_with({folder}, {machine}::text || ':'))")
}

/// The boards on which a task could be handed out.
pub(super) async fn runnable(link: &Link, machine: Option<&str>) -> Result<Vec<Board>, Error> {
    let sql = format!(
        "SELECT b.state FROM boards b WHERE {} \
         AND EXISTS (SELECT 1 FROM tasks t WHERE t.board = b.key AND t.runnable) ORDER BY b.key",
        here("$1")
    );
    link.query(&sql, &[&machine]).await?.iter().map(|row| json(row, "state")).collect()
}

/// A board's events after its `after_n`th.
pub(super) async fn events(
    link: &Link,
    board: &BoardId,
    after_n: u64,
    limit: usize,
) -> Result<Vec<BoardRecord>, Error> {
    let Some(key) = key(link, board).await? else { return Ok(Vec::new()) };
    link.query(EVENTS, &[&-key, &signed(after_n), &page(limit)]).await?.iter().map(record).collect()
}

const EVENTS: &str =
    "SELECT position, n, at, kind, version, body FROM events WHERE thread = $1 AND n > $2 ORDER BY n LIMIT $3";

/// The events of all boards after a place in the whole store.
pub(super) async fn all_events(link: &Link, after_position: u64, limit: usize) -> Result<Vec<OnBoard>, Error> {
    let sql = "SELECT b.id, e.position, e.n, e.at, e.kind, e.version, e.body FROM events e JOIN boards b ON b.key = -e.thread \
               WHERE e.position > $1 AND e.thread < 0 ORDER BY e.position LIMIT $2";
    let rows = link.query(sql, &[&signed(after_position), &page(limit)]).await?;
    rows.iter().map(|row| Ok(OnBoard { board: BoardId::new(text(row, "id")?), record: record(row)? })).collect()
}

fn record(row: &Row) -> Result<BoardRecord, Error> {
    Ok(BoardRecord {
        position: count(row, "position")?,
        n: count(row, "n")?,
        at: time(row, "at")?,
        entry: Arc::new(codec::decode_board(value(row, "kind")?, version(row)?, value(row, "body")?)?),
    })
}

/// A task.
pub(super) async fn task(link: &Link, board: &BoardId, task: &TaskId) -> Result<Option<Task>, Error> {
    let Some(key) = key(link, board).await? else { return Ok(None) };
    let sql = "SELECT body FROM tasks WHERE board = $1 AND number = $2";
    let found = link.first(sql, &[&key, &signed(task.number())]).await?;
    found.as_ref().map(|row| json(row, "body")).transpose()
}

/// Tasks of a board, by rank.
pub(super) async fn tasks(link: &Link, query: &TaskQuery) -> Result<Vec<Task>, Error> {
    let Some(key) = key(link, &query.board).await? else { return Ok(Vec::new()) };
    let mut after = None;
    if let Some(one) = &query.after {
        after = task(link, &query.board, one).await?.map(|task| (task.rank, signed(task.id.number())));
    }
    let (rank, number) = after.unwrap_or((i64::MIN, i64::MIN));
    let condition = match query.status {
        Some(_) => "status = $2",
        None => "status <> 'archived' AND $2::text IS NULL",
    };
    let sql = format!(
        "SELECT body FROM tasks WHERE board = $1 AND {condition} AND (rank, number) > ($3, $4) ORDER BY rank, number LIMIT $5"
    );
    let status = query.status.map(Status::as_str);
    let rows = link.query(&sql, &[&key, &status, &rank, &number, &page(query.limit)]).await?;
    rows.iter().map(|row| json(row, "body")).collect()
}

/// The newest task of a thread.
pub(super) async fn task_of_thread(link: &Link, thread: &ThreadId) -> Result<Option<(BoardId, Task)>, Error> {
    let sql = "SELECT b.id, t.body FROM tasks t JOIN boards b ON b.key = t.board WHERE t.thread = $1 \
               ORDER BY t.active DESC, t.updated_at DESC, t.number DESC LIMIT 1";
    let found = link.first(sql, &[&thread.as_str()]).await?;
    found.as_ref().map(|row| Ok((BoardId::new(text(row, "id")?), json(row, "body")?))).transpose()
}

/// All remarks on a task.
pub(super) async fn notes(link: &Link, board: &BoardId, task: &TaskId) -> Result<Vec<Note>, Error> {
    let Some(key) = key(link, board).await? else { return Ok(Vec::new()) };
    let sql = "SELECT body FROM task_notes WHERE board = $1 AND task = $2 ORDER BY n";
    link.query(sql, &[&key, &signed(task.number())]).await?.iter().map(|row| json(row, "body")).collect()
}

/// Leases deliveries that no process is carrying out; those that another one is about to lease are passed over.
pub(super) async fn claim(
    link: &Link,
    clock: Clock,
    machine: Option<&str>,
    query: &DeliveryQuery,
) -> Result<Vec<DueDelivery>, Error> {
    let sql = format!(
        "UPDATE deliveries d SET leased_until = {NOW} + $2 FROM \
         (SELECT d.key, b.state FROM deliveries d JOIN boards b ON b.key = d.board \
          WHERE d.leased_until <= {NOW} AND ($3::text IS NULL OR b.id = $3) AND {} \
          ORDER BY d.key LIMIT $4 FOR UPDATE OF d SKIP LOCKED) x \
         WHERE d.key = x.key RETURNING d.key, d.body, x.state",
        here("$5")
    );
    let board = query.board.as_ref().map(BoardId::as_str);
    let (now, lease, limit) = (clock.moment(query.at), signed(LEASE_MS), page(query.limit));
    let rows = link.query(&sql, &[&now, &lease, &board, &limit, &machine]).await?;
    let mut due: BTreeMap<i64, DueDelivery> = BTreeMap::new();
    for row in &rows {
        due.insert(value(row, "key")?, DueDelivery { board: json(row, "state")?, delivery: json(row, "body")? });
    }
    Ok(due.into_values().collect())
}

/// Tasks in progress whose thread is at rest or gone.
pub(super) async fn resting(
    link: &Link,
    machine: Option<&str>,
    query: &RestingQuery,
) -> Result<Vec<RestingTask>, Error> {
    let board = query.board.as_ref().map(|board| storable(board.as_str()).into_owned());
    let after = query.after.as_ref().map(|(board, _)| storable(board.as_str()).into_owned());
    let number = query.after.as_ref().map_or(0, |(_, task)| signed(task.number()));
    let sql = format!(
        "SELECT t.body, b.state, th.key IS NOT NULL AS thread_exists FROM tasks t \
         JOIN boards b ON b.key = t.board LEFT JOIN threads th ON th.id = t.thread \
         WHERE t.active AND t.status = 'in_progress' AND (th.key IS NULL OR NOT th.live) \
         AND ($2::text IS NULL OR b.id = $2) AND {} \
         AND (t.board, t.number) > (coalesce((SELECT key FROM boards WHERE id = $3::text), 0), $4) \
         ORDER BY t.board, t.number LIMIT $1",
        here("$5")
    );
    let rows = link.query(&sql, &[&page(query.limit), &board, &after, &number, &machine]).await?;
    let resting = |row: &Row| {
        Ok(RestingTask {
            board: json(row, "state")?,
            task: json(row, "body")?,
            thread_exists: value(row, "thread_exists")?,
        })
    };
    rows.iter().map(resting).collect()
}

/// What is known of a thread that was made for a task.
pub(super) async fn metadata(link: &Link, thread: &ThreadId) -> Result<Option<AgentMetadata>, Error> {
    let found = link.first("SELECT * FROM agent_metadata WHERE thread_id = $1", &[&thread.as_str()]).await?;
    found.as_ref().map(agent).transpose()
}

/// The threads that were made for tasks under a thread.
pub(super) async fn session_agents(link: &Link, parent: &ThreadId) -> Result<Vec<AgentMetadata>, Error> {
    let sql = "SELECT * FROM agent_metadata WHERE parent_thread_id = $1 ORDER BY board, n";
    link.query(sql, &[&parent.as_str()]).await?.iter().map(agent).collect()
}

/// Makes all that is folded from boards anew, and says what was other than before.
pub(super) fn rebuild(db: &Blocking<'_>) -> Result<Rebuilt, Error> {
    let boards: Vec<(i64, BoardId)> = db.list("SELECT key, id FROM boards ORDER BY key FOR UPDATE", &[], |row| {
        Ok((value(row, "key")?, BoardId::new(text(row, "id")?)))
    })?;
    let before = dump(db)?;
    let leases: Vec<(i64, Arc<str>, i64)> = db.list("SELECT board, id, leased_until FROM deliveries", &[], |row| {
        Ok((value(row, "board")?, text(row, "id")?, value(row, "leased_until")?))
    })?;
    for table in ["agent_metadata", "task_notes", "task_after", "deliveries", "board_commands", "tasks"] {
        db.execute(&format!("DELETE FROM {table}"), &[])?;
    }
    for (key, id) in &boards {
        let mut fold = Fold { db, key: *key, board: Board::new(id.clone()), tasks: BTreeMap::new(), lease: 0 };
        loop {
            let page = db.list(EVENTS, &[&-*key, &signed(fold.board.n), &page(crate::follow::PAGE)], record)?;
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
        let sql = "UPDATE deliveries SET leased_until = $3 WHERE board = $1 AND id = $2";
        db.execute(sql, &[&board, &&*id, &until])?;
    }
    let after = dump(db)?;
    let tasks: Vec<i64> = db.list("SELECT count(*) FROM tasks", &[], |row| Ok(row.get(0)))?;
    let differences = before.symmetric_difference(&after).count();
    Ok(Rebuilt {
        boards: boards.len() as u64,
        tasks: unsigned(tasks.first().copied().unwrap_or(0)),
        differences: differences as u64,
    })
}

/// All folded rows, to be compared.
fn dump(db: &Blocking<'_>) -> Result<BTreeSet<String>, Error> {
    let tables = [
        "SELECT 'b' || r::text AS line FROM boards r",
        "SELECT 't' || r::text AS line FROM tasks r",
        "SELECT 'a' || r::text AS line FROM task_after r",
        "SELECT 'n' || r::text AS line FROM task_notes r",
        "SELECT 'd' || ROW(board, id, kind, body)::text AS line FROM deliveries",
        "SELECT 'c' || r::text AS line FROM board_commands r",
        "SELECT 'm' || r::text AS line FROM agent_metadata r",
    ];
    let mut rows = BTreeSet::new();
    for sql in tables {
        rows.extend(db.list(sql, &[], |row| value::<String>(row, "line"))?);
    }
    Ok(rows)
}

/// What keeps the tasks of one board, as decisions look at it.
struct SqlLook<'a> {
    db: &'a Blocking<'a>,
    key: i64,
}

impl Look for SqlLook<'_> {
    type Error = Error;

    fn board(&self) -> Result<Option<Board>, Error> {
        Ok(self.db.list("SELECT state FROM boards WHERE key = $1", &[&self.key], |row| json(row, "state"))?.pop())
    }

    fn command(&self, name: &InputId) -> Result<Option<Vec<Event>>, Error> {
        let sql = "SELECT e.kind, e.version, e.body FROM board_commands c JOIN events e \
                   ON e.thread = -c.board AND e.n >= c.n AND e.n < c.n + c.many \
                   WHERE c.board = $1 AND c.id = $2 ORDER BY e.n";
        let events = self.db.list(sql, &[&self.key, &&*storable(&name.0)], |row| {
            Ok(codec::decode_board(value(row, "kind")?, version(row)?, value(row, "body")?)?.event)
        })?;
        Ok((!events.is_empty()).then_some(events))
    }

    fn task(&self, task: &TaskId) -> Result<Option<Task>, Error> {
        let sql = "SELECT body FROM tasks WHERE board = $1 AND number = $2";
        Ok(self.db.list(sql, &[&self.key, &signed(task.number())], |row| json(row, "body"))?.pop())
    }

    fn dependents(&self, task: &TaskId) -> Result<Vec<TaskId>, Error> {
        let sql = "SELECT task FROM task_after WHERE board = $1 AND after = $2 ORDER BY task";
        self.db.list(sql, &[&self.key, &signed(task.number())], |row| Ok(TaskId::of(count(row, "task")?)))
    }

    fn queue(&self, labels: &[Arc<str>], limit: usize) -> Result<Vec<Task>, Error> {
        let wanted: Vec<&str> = labels.iter().map(|label| &**label).collect();
        let is_labelled = if labels.is_empty() {
            "$2::text[] IS NOT NULL"
        } else {
            "EXISTS (SELECT 1 FROM json_array_elements_text(t.body::json -> 'labels') l WHERE l = ANY($2))"
        };
        let sql = format!(
            "SELECT t.body FROM tasks t WHERE t.board = $1 AND t.runnable AND {is_labelled} \
             AND (t.thread IS NULL OR NOT EXISTS (SELECT 1 FROM tasks o WHERE o.board = $1 AND o.active AND o.thread = t.thread)) \
             ORDER BY t.urgency, t.rank, t.number LIMIT $3"
        );
        self.db.list(&sql, &[&self.key, &wanted, &page(limit)], |row| json(row, "body"))
    }

    fn active(&self) -> Result<u32, Error> {
        let sql = "SELECT count(*) FROM tasks WHERE board = $1 AND active";
        let active: Vec<i64> = self.db.list(sql, &[&self.key], |row| Ok(row.get(0)))?;
        Ok(u32::try_from(active.first().copied().unwrap_or(0)).unwrap_or(u32::MAX))
    }

    fn is_busy(&self, thread: &ThreadId) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM tasks WHERE board = $1 AND active AND thread = $2";
        Ok(self.db.first(sql, &[&self.key, &thread.as_str()])?.is_some())
    }

    fn worker(&self, agent: &str) -> Result<Option<ThreadId>, Error> {
        let sql = "SELECT thread_id FROM agent_metadata WHERE board = $1 AND agent = $2 ORDER BY n DESC LIMIT 1";
        Ok(self.db.list(sql, &[&self.key, &&*storable(agent)], |row| thread_id(row, "thread_id"))?.pop())
    }

    fn is_starting(&self, agent: &str) -> Result<bool, Error> {
        // Those that take a place are few.
        let sql = "SELECT body FROM tasks WHERE board = $1 AND active";
        let active: Vec<Task> = self.db.list(sql, &[&self.key], |row| json(row, "body"))?;
        Ok(active.iter().any(|task| task.is_starting(agent)))
    }

    fn delivery(&self, delivery: &DeliveryId) -> Result<Option<Delivery>, Error> {
        let sql = "SELECT body FROM deliveries WHERE board = $1 AND id = $2";
        Ok(self.db.list(sql, &[&self.key, &&*storable(delivery.as_str())], |row| json(row, "body"))?.pop())
    }
}

/// Folds events into the rows of one board.
struct Fold<'a> {
    db: &'a Blocking<'a>,
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
            let sql = "INSERT INTO board_commands AS c (board, id, n, many) VALUES ($1, $2, $3, 1) \
                       ON CONFLICT (board, id) DO UPDATE SET many = c.many + 1";
            db.execute(sql, &[&key, &&*storable(&name.0), &n])?;
        }
        if let Some(delivery) = event.delivery() {
            let sql = "INSERT INTO deliveries (board, id, kind, leased_until, body) VALUES ($1, $2, $3, $4, $5)";
            let (id, kind) = (storable(delivery.id.as_str()), delivery.kind.as_str());
            db.execute(sql, &[&key, &&*id, &kind, &self.lease, &to_json(delivery)])?;
        }
        if let Some(settled) = event.settled() {
            let sql = "DELETE FROM deliveries WHERE board = $1 AND id = $2";
            db.execute(sql, &[&key, &&*storable(settled.as_str())])?;
        }
        if let Event::NoteAdded { task, note } = event {
            let sql = "INSERT INTO task_notes (board, task, n, body) VALUES ($1, $2, $3, $4)";
            db.execute(sql, &[&key, &signed(task.number()), &n, &to_json(note)])?;
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
            let sql = "UPDATE agent_metadata SET current_task = NULL WHERE thread_id = $1 AND current_task = $2";
            let thread = before.thread.as_ref().map(ThreadId::as_str);
            db.execute(sql, &[&thread, &&*storable(&before.title)])?;
        }
        match event {
            Event::TaskRemoved { .. } => self.remove(id),
            Event::TaskBegun { thread, agent, .. } => {
                if let Some(agent) = agent {
                    // What was folded of the task must be there before it is referred to.
                    self.save_tasks()?;
                    // A thread that was deleted since has no row.
                    let sql = "INSERT INTO agent_metadata (thread_id, name, provider, model, type, created_for_task, parent_thread_id, \
                               created_at, board, agent, n) \
                               SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 \
                               WHERE EXISTS (SELECT 1 FROM threads WHERE id = $1) AND EXISTS (SELECT 1 FROM threads WHERE id = $7) \
                               ON CONFLICT DO NOTHING";
                    let name = full_name(&self.board.id, id);
                    db.execute(
                        sql,
                        &[
                            &thread.as_str(),
                            &&*storable(&agent.name),
                            &&*storable(&agent.provider),
                            &&*storable(&agent.model),
                            &EPHEMERAL,
                            &&*storable(&name),
                            &agent.parent.as_str(),
                            &at.0,
                            &key,
                            &&*storable(&played(&task)),
                            &n,
                        ],
                    )?;
                }
                let sql = "UPDATE agent_metadata SET current_task = $2 WHERE thread_id = $1";
                db.execute(sql, &[&thread.as_str(), &&*storable(&task.title)])?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn depend(&self, task: &TaskId, after: &[TaskId]) -> Result<(), Error> {
        let number = signed(task.number());
        self.db.execute("DELETE FROM task_after WHERE board = $1 AND task = $2", &[&self.key, &number])?;
        for on in after {
            let sql = "INSERT INTO task_after (board, task, after) VALUES ($1, $2, $3)";
            self.db.execute(sql, &[&self.key, &number, &signed(on.number())])?;
        }
        Ok(())
    }

    fn remove(&mut self, task: &TaskId) -> Result<(), Error> {
        self.depend(task, &[])?;
        self.tasks.remove(&task.number());
        let number = signed(task.number());
        self.db.execute("DELETE FROM task_notes WHERE board = $1 AND task = $2", &[&self.key, &number])?;
        self.db.execute("DELETE FROM tasks WHERE board = $1 AND number = $2", &[&self.key, &number])?;
        Ok(())
    }

    fn save_tasks(&mut self) -> Result<(), Error> {
        let sql = "INSERT INTO tasks (id, board, number, title, prompt, priority, status, created_by, assigned_to, thread, \
                   urgency, rank, runnable, active, created_at, updated_at, body) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) \
                   ON CONFLICT (id) DO UPDATE SET title = $4, prompt = $5, priority = $6, status = $7, assigned_to = $9, \
                   thread = $10, urgency = $11, rank = $12, runnable = $13, active = $14, updated_at = $16, body = $17";
        for task in std::mem::take(&mut self.tasks).into_values() {
            let id = full_name(&self.board.id, &task.id);
            self.db.execute(
                sql,
                &[
                    &&*storable(&id),
                    &self.key,
                    &signed(task.id.number()),
                    &&*storable(&task.title),
                    &&*storable(&task.prompt),
                    &task.priority.as_str(),
                    &task.status.as_str(),
                    &&*storable(task.created_by.as_str()),
                    &optional_storable(task.assigned_to().as_deref()),
                    &task.thread.as_ref().map(ThreadId::as_str),
                    &(task.priority as i64),
                    &task.rank,
                    &task.is_runnable(),
                    &task.is_active(),
                    &task.created_at.0,
                    &task.updated_at.0,
                    &to_json(&task),
                ],
            )?;
        }
        Ok(())
    }

    fn save(mut self) -> Result<(), Error> {
        self.save_tasks()?;
        self.db.execute("UPDATE boards SET state = $2 WHERE key = $1", &[&self.key, &to_json(&self.board)])?;
        Ok(())
    }
}

fn agent(row: &Row) -> Result<AgentMetadata, Error> {
    Ok(AgentMetadata {
        thread_id: thread_id(row, "thread_id")?,
        name: text(row, "name")?,
        provider: text(row, "provider")?,
        model: text(row, "model")?,
        kind: text(row, "type")?,
        created_for_task: optional_text(row, "created_for_task")?,
        parent_thread_id: thread_id(row, "parent_thread_id")?,
        current_task: optional_text(row, "current_task")?,
        created_at: time(row, "created_at")?,
    })
}
