//! Events appended to many threads at once: through the store, and by a client that inserts the same rows and does nothing else.
//!
//! Both are asked by as many tasks, each of which waits until its commit is kept before it sends the next one; both write what is queued
//! by then in one transaction, on as many connections, to the same server. The client's table has the columns and indexes of the store's
//! table of events, and its rows are those that the store wrote. It keeps no rows of threads, checks nothing, and orders nothing.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, ensure};
use futures_util::future::try_join_all;
use majordomo::agent::{Event, ThreadId, Time, creation};
use majordomo::store::{self, Commit, Process, ProcessId, Selection, Store};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

use crate::Appends;
use crate::gauge::{Gauge, Taken};
use crate::long_thread::LongThread;
use crate::setup;

/// The most commits of one transaction, and transactions that are under way at once: those of the store.
const GROUP: usize = 256;
const WRITERS: usize = 2;
/// Commits that may be queued, as in the store.
const QUEUE: usize = 1024;

/// The thread whose events all others get.
const MODEL: &str = "20260115-model";

/// Commits of a thread as they were recorded: how many events each holds.
struct Recorded {
    events: Vec<Arc<Event>>,
    commits: Vec<usize>,
}

/// Appends to many threads through the store. What is measured is from the first to the last append; the threads are there before.
pub async fn measure(appends: &Appends) -> anyhow::Result<Taken> {
    let store = super::store(&appends.store)?;
    let process = Process::current();
    let owner = process.id.clone();
    store.register(process, Time(0)).await?;
    let recorded = Arc::new(record(&store, &owner, &appends.round, appends.commits).await?);
    let threads: Vec<ThreadId> = (0..appends.threads).map(|number| thread(&appends.round, number)).collect();
    let catalog = setup::catalog();
    let created = threads.iter().map(|id| {
        let created = creation::root(&catalog, setup::root(id.clone(), 1), setup::model()).map_err(anyhow::Error::msg);
        let (store, owner) = (store.clone(), owner.clone());
        async move {
            let event = Arc::new(Event::ThreadCreated(Box::new(created?)));
            anyhow::Ok(store.append(commit(id, &owner, 0, vec![event])).await?)
        }
    });
    try_join_all(created).await?;
    let gauge = Gauge::begin();
    let mut tasks = JoinSet::new();
    for id in threads {
        tasks.spawn(replay(store.clone(), owner.clone(), id, recorded.clone()));
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let taken = gauge.end()?;
    store.leave(&owner).await?;
    store.close().await;
    Ok(taken)
}

fn thread(round: &str, number: usize) -> ThreadId {
    ThreadId::new(format!("20260115-{round}{number:05}"))
}

fn commit(thread: &ThreadId, process: &ProcessId, expected: u64, events: Vec<Arc<Event>>) -> Commit {
    let (thread, process) = (thread.clone(), process.clone());
    Commit { thread, expected, epoch: 1, process, at: Time(1_768_471_200_000), events, lets_go: false }
}

/// Writes one thread, and remembers what each of its commits held.
async fn record(store: &Arc<dyn Store>, owner: &ProcessId, round: &str, commits: usize) -> anyhow::Result<Recorded> {
    let id = ThreadId::new(format!("{MODEL}{round}"));
    let mut chronicle = LongThread::begin(store.clone(), owner.clone(), id.clone(), Time(0)).await?;
    let mut sizes = Vec::with_capacity(commits);
    for _ in 0..commits {
        let before = chronicle.n;
        let kept = chronicle.lap(Time(0)).await?;
        sizes.push(usize::try_from(kept.n - before)?);
    }
    // The first event creates it.
    let records = store::read_all(&**store, Selection::thread(&id).after(1)).await?;
    Ok(Recorded { events: records.into_iter().map(|record| record.event).collect(), commits: sizes })
}

async fn replay(store: Arc<dyn Store>, owner: ProcessId, id: ThreadId, recorded: Arc<Recorded>) -> anyhow::Result<()> {
    let mut written = 0;
    for many in &recorded.commits {
        let events = recorded.events[written..written + many].to_vec();
        let kept = store.append(commit(&id, &owner, 1 + written as u64, events)).await?;
        written += many;
        ensure!(kept.n == 1 + written as u64, "{id} has {} events", kept.n);
    }
    Ok(())
}

/// Inserts the rows that the store wrote in this round, by a client and nothing else.
pub async fn measure_bare(appends: &Appends) -> anyhow::Result<Taken> {
    let recorded = Arc::new(read_rows(&appends.store, &appends.round).await?);
    let (queue, jobs) = mpsc::channel(QUEUE);
    let jobs = Arc::new(Mutex::new(jobs));
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        writers.spawn(write(connect(&appends.store).await?, jobs.clone()));
    }
    let gauge = Gauge::begin();
    let mut tasks = JoinSet::new();
    for number in 0..appends.threads {
        let (queue, recorded) = (queue.clone(), recorded.clone());
        tasks.spawn(async move {
            for commit in 0..recorded.commits.len() {
                let (kept, is_kept) = oneshot::channel();
                let job = Job { thread: number as i64, recorded: recorded.clone(), commit, kept };
                queue.send(job).await.ok().context("no writer is left")?;
                is_kept.await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let taken = gauge.end()?;
    drop(queue);
    while let Some(done) = writers.join_next().await {
        done??;
    }
    Ok(taken)
}

/// The rows of a thread, and where each of its commits ends.
struct Rows {
    rows: Vec<Row>,
    commits: Vec<std::ops::Range<usize>>,
}

struct Row {
    n: i64,
    at: i64,
    kind: String,
    version: i32,
    body: String,
}

struct Job {
    thread: i64,
    recorded: Arc<Rows>,
    commit: usize,
    kept: oneshot::Sender<()>,
}

const TABLE: &str = "CREATE SCHEMA IF NOT EXISTS bare; DROP TABLE IF EXISTS bare.events; DROP SEQUENCE IF EXISTS bare.positions; \
     CREATE SEQUENCE bare.positions; CREATE TABLE bare.events (position BIGINT PRIMARY KEY DEFAULT nextval('bare.positions'), \
     root BIGINT NOT NULL, seq BIGINT NOT NULL, thread BIGINT NOT NULL, n BIGINT NOT NULL, at BIGINT NOT NULL, kind TEXT NOT NULL, \
     version INTEGER NOT NULL, body TEXT NOT NULL); \
     CREATE UNIQUE INDEX events_thread ON bare.events (thread, n); CREATE UNIQUE INDEX events_family ON bare.events (root, seq); \
     CREATE INDEX events_boards ON bare.events (position) WHERE thread < 0";

const INSERT: &str = "INSERT INTO bare.events (root, seq, thread, n, at, kind, version, body) SELECT * FROM \
     unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::integer[], $8::text[])";

/// Reads the rows of a round's first thread, and makes an empty table for those of all of them. The commits are found as the round made
/// them: all events of one have the same transaction.
async fn read_rows(address: &str, round: &str) -> anyhow::Result<Rows> {
    let client = connect(address).await?;
    client.batch_execute(TABLE).await?;
    let sql = "SELECT e.n, e.at, e.kind, e.version, e.body, e.xmin::text AS made_by FROM majordomo.events e \
               JOIN majordomo.threads t ON t.key = e.thread WHERE t.id = $1 AND e.n > 1 ORDER BY e.n";
    let found = client.query(sql, &[&thread(round, 0).as_str()]).await?;
    let (mut rows, mut commits, mut made_by) = (Vec::with_capacity(found.len()), Vec::new(), HashMap::new());
    for row in &found {
        let at = rows.len();
        rows.push(Row { n: row.get(0), at: row.get(1), kind: row.get(2), version: row.get(3), body: row.get(4) });
        let commit = *made_by.entry(row.get::<_, String>(5)).or_insert_with(|| {
            commits.push(at..at);
            commits.len() - 1
        });
        commits[commit].end = at + 1;
    }
    ensure!(!rows.is_empty(), "the store has not written this round");
    Ok(Rows { rows, commits })
}

async fn connect(address: &str) -> anyhow::Result<Client> {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
    tokio::spawn(async move {
        // Who asks is told.
        let _ = connection.await;
    });
    Ok(client)
}

/// Writes what is queued in one transaction, and answers once it is kept.
async fn write(client: Client, jobs: Arc<Mutex<mpsc::Receiver<Job>>>) -> anyhow::Result<()> {
    let insert = client.prepare(INSERT).await?;
    let mut group: Vec<Job> = Vec::with_capacity(GROUP);
    while jobs.lock().await.recv_many(&mut group, GROUP).await > 0 {
        let rows = || {
            group.iter().flat_map(|job| {
                let rows = &job.recorded.rows[job.recorded.commits[job.commit].clone()];
                rows.iter().map(move |row| (job.thread, row))
            })
        };
        let threads: Vec<i64> = rows().map(|(thread, _)| thread).collect();
        let ns: Vec<i64> = rows().map(|(_, row)| row.n).collect();
        let ats: Vec<i64> = rows().map(|(_, row)| row.at).collect();
        let kinds: Vec<&str> = rows().map(|(_, row)| &*row.kind).collect();
        let versions: Vec<i32> = rows().map(|(_, row)| row.version).collect();
        let bodies: Vec<&str> = rows().map(|(_, row)| &*row.body).collect();
        client.execute(&insert, &[&threads, &ns, &threads, &ns, &ats, &kinds, &versions, &bodies]).await?;
        for job in group.drain(..) {
            // The task that asked may have failed meanwhile.
            let _ = job.kept.send(());
        }
    }
    Ok(())
}
