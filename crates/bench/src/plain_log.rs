//! The least that a log can be: one table, one thread that writes what stands in line in one transaction, and an answer once
//! it is kept. It writes the events of a run of the runtime, as they were recorded.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, ensure};
use rusqlite::{Connection, OpenFlags, params};
use tokio::sync::{mpsc, oneshot};

use crate::Keep;

/// The most requests of one transaction.
const GROUP: usize = 512;

/// An event as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    kind: String,
    body: String,
}

/// What a run wrote, by when it was written.
#[derive(Debug)]
pub struct Recorded {
    /// By the root before its sub-agents began.
    pub opening: Arc<[Row]>,
    /// By each sub-agent.
    pub child: Vec<Step>,
    /// By the root for each report, in the order in which they came.
    pub reported: Vec<Arc<[Row]>>,
    /// By the root after all of them.
    pub closing: Arc<[Row]>,
}

/// Events that are written together, and whether the model is asked after them.
#[derive(Debug)]
pub struct Step {
    /// The events.
    pub events: Arc<[Row]>,
    /// Whether the model is asked after them.
    pub asks: bool,
}

impl Recorded {
    /// Takes the events from a database of Majordomo: those of its newest root and of that root's first sub-agent.
    pub fn read(database: &Path) -> anyhow::Result<Self> {
        let database = majordomo::store::Location::folder(database).to_string();
        let db = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let newest = "SELECT id FROM threads WHERE parent IS NULL ORDER BY key DESC LIMIT 1";
        let root: String = db.query_row(newest, [], |row| row.get(0))?;
        let (opening, reported, closing) = parted(&rows(&db, &root)?).context("no report was recorded")?;
        Ok(Self { opening, child: steps(rows(&db, &format!("{root}.1"))?), reported, closing })
    }
}

/// Events that are written together.
type Rows = Arc<[Row]>;

/// Parts the events of a root into those before the first report, those of each report, and those after the last.
fn parted(root: &[Row]) -> Option<(Rows, Vec<Rows>, Rows)> {
    let reports: Vec<usize> = (0..root.len()).filter(|at| root[*at].kind == "child_reported").collect();
    let (first, last) = (*reports.first()?, *reports.last()?);
    // What follows from the last report is as much as follows from any other; the rest is the root's own.
    let ends = reports.iter().skip(1).copied();
    let usual = ends.clone().next().map_or(1, |second| second - first);
    let after = (last + usual).min(root.len());
    let each = reports.iter().zip(ends.chain([after])).map(|(from, to)| root[*from..to].into()).collect();
    Some((root[..first].into(), each, root[after..].into()))
}

/// Parts a thread's events into the commits in which they were written: one ends where something is asked of the world.
fn steps(rows: Vec<Row>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut events = Vec::new();
    for row in rows {
        let asks = row.kind == "turn_started";
        let ends = asks || matches!(&*row.kind, "tool_started" | "reported");
        events.push(row);
        if ends {
            steps.push(Step { events: std::mem::take(&mut events).into(), asks });
        }
    }
    steps
}

fn rows(db: &Connection, thread: &str) -> anyhow::Result<Vec<Row>> {
    let sql = "SELECT e.kind, e.body FROM events e JOIN threads t ON t.key = e.thread WHERE t.id = ?1 ORDER BY e.n";
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([thread], |row| Ok(Row { kind: row.get(0)?, body: row.get(1)? }))?;
    let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
    ensure!(!rows.is_empty(), "{thread} was not recorded");
    Ok(rows)
}

/// The way to the thread that writes.
pub struct PlainLog {
    line: mpsc::Sender<Job>,
}

struct Job {
    thread: String,
    events: Arc<[Row]>,
    kept: oneshot::Sender<()>,
}

impl PlainLog {
    /// Makes a database and starts the thread.
    pub fn open(database: &Path, keep: Keep) -> anyhow::Result<Self> {
        let db = Connection::open(database)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", keep.name())?;
        db.execute_batch(
            "CREATE TABLE events (position INTEGER PRIMARY KEY, thread TEXT NOT NULL, at INTEGER NOT NULL, \
             kind TEXT NOT NULL, body TEXT NOT NULL) STRICT; \
             CREATE INDEX events_thread ON events (thread, position);",
        )?;
        let (line, jobs) = mpsc::channel(1024);
        thread::spawn(move || work(&db, jobs).expect("the plain log can be written"));
        Ok(Self { line })
    }

    /// Writes events, and waits until they are kept.
    pub async fn append(&self, thread: &str, events: &Arc<[Row]>) -> anyhow::Result<()> {
        let (kept, is_kept) = oneshot::channel();
        let job = Job { thread: thread.to_owned(), events: events.clone(), kept };
        self.line.send(job).await.ok().context("the plain log is gone")?;
        Ok(is_kept.await?)
    }
}

fn work(db: &Connection, mut jobs: mpsc::Receiver<Job>) -> rusqlite::Result<()> {
    let mut group = Vec::with_capacity(GROUP);
    while jobs.blocking_recv_many(&mut group, GROUP) > 0 {
        db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        for job in &group {
            let sql = "INSERT INTO events (thread, at, kind, body) VALUES (?1, 1768471200000, ?2, ?3)";
            let mut insert = db.prepare_cached(sql)?;
            for row in job.events.iter() {
                insert.execute(params![job.thread, row.kind, row.body])?;
            }
        }
        db.prepare_cached("COMMIT")?.execute([])?;
        for job in group.drain(..) {
            // The task that asked may have failed meanwhile.
            let _ = job.kept.send(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_of_a_root_is_written_once() {
        let kinds =
            ["created", "answered", "child_reported", "tool_finished", "child_reported", "tool_finished", "turn"];
        let rows: Vec<Row> = kinds.map(|kind| Row { kind: kind.to_owned(), body: String::new() }).into();
        let (opening, reported, closing) = parted(&rows).expect("there are reports");
        assert_eq!((opening.len(), closing.len()), (2, 1));
        assert_eq!(reported.iter().map(|rows| rows.len()).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn events_are_parted_where_something_is_asked_of_the_world() {
        let kinds = ["thread_created", "turn_started", "answered", "tool_started", "tool_finished", "turn_started"];
        let rows = kinds.iter().chain(&["answered", "reported"]);
        let steps = steps(rows.map(|kind| Row { kind: (*kind).to_owned(), body: String::new() }).collect());
        let sizes: Vec<(usize, bool)> = steps.iter().map(|step| (step.events.len(), step.asks)).collect();
        assert_eq!(sizes, [(2, true), (2, false), (2, true), (2, false)]);
    }
}
