//! The embedded store: one SQLite file, written by one thread in groups, read by a few connections beside it.
//!
//! Many processes may open the same file. They are kept apart by SQLite's lock for the length of a group, and by
//! compare-and-set and epochs for everything that lasts longer.
//!
//! Left to others: what is checked before a write (`admission`) and what follows from an event (`projection`).

mod approvals;
mod checkup;
mod columns;
mod desk;
mod executions;
mod fault;
mod file;
mod follow;
mod many;
mod place;
mod read;
mod readers;
mod wal;
mod write;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::approval::ApprovalId;
use agent::{InputId, Outside, ThreadId, Time};
use rusqlite::Connection;
use tokio::sync::watch;

use crate::approvals::{ApprovalQuery, ApprovalRow};
use crate::codec;
use crate::error::Error;
use crate::log::{Answer, Appended, Commit, Record, Store};
use crate::process::{Process, ProcessId};
use crate::rows::{Execution, ThreadQuery, ThreadRow, UsageRow, Wake};
pub use checkup::Checkup;
use desk::Desk;
use fault::Quarantine;
use follow::Follower;
use place::Place;
use readers::Readers;
use writer::Writer;

/// How a store is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What a commit survives.
    pub durability: Durability,
    /// How long a request waits for another process that holds the file, before it fails as [`Error::Locked`].
    pub busy_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { durability: Durability::Full, busy_timeout: Duration::from_secs(5) }
    }
}

/// What a commit survives once it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The loss of power.
    Full,
    /// The death of the process; the last commits before a loss of power may be gone.
    Normal,
}

/// A store in one SQLite file. Clones share their connections.
#[derive(Clone)]
pub struct SqliteStore {
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    follower: Arc<Follower>,
}

impl SqliteStore {
    /// Opens the store at `path`, or makes it there, together with its folder.
    ///
    /// What is made is private to its owner. A symbolic link in the place of the file is refused, and so is a file that a
    /// newer version of this program made, or one whose newest commits are damaged or gone.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, Error> {
        file::check_version(rusqlite::version_number())?;
        let path = file::prepare(path.as_ref())?;
        wal::check(&path)?;
        let connection = file::open_writer(&path, options)?;
        let place = Place::of(path)?;
        let newest = read::newest(&connection)?;
        let quarantine = Quarantine::default();
        let tail = Arc::new(watch::Sender::new(newest));
        let writer = Writer::start(connection, place.clone(), tail.clone(), quarantine.clone())?;
        Ok(Self {
            writer: Arc::new(writer),
            readers: Arc::new(Readers::new(place.clone(), options.busy_timeout, quarantine)),
            follower: Arc::new(Follower::new(place, options.busy_timeout, tail)),
        })
    }

    /// Writes what stands in line, lets go of the file, and refuses everything from then on.
    ///
    /// A store that is dropped does the same, but nobody can wait for it. Those who follow are told that it is closed.
    pub async fn close(&self) {
        self.readers.close();
        self.follower.close();
        self.writer.close().await;
    }

    /// Whether commits of other processes are looked for.
    #[cfg(test)]
    pub(crate) fn is_looking(&self) -> bool {
        self.follower.is_looking()
    }

    /// How the database is, page by page.
    pub fn checkup(&self) -> Answer<Checkup> {
        self.look(checkup::checkup)
    }

    /// A request that changes something: checked first, written with others in one transaction, answered after it is kept.
    fn write<T: Send + 'static>(&self, request: impl Fn(&mut Desk) -> Result<T, Error> + Send + 'static) -> Answer<T> {
        let writer = self.writer.clone();
        Box::pin(async move { writer.ask(request).await })
    }

    /// A request that only looks.
    fn look<T: Send + 'static>(
        &self,
        request: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Answer<T> {
        let readers = self.readers.clone();
        Box::pin(async move { readers.ask(request).await })
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.readers.path()).finish_non_exhaustive()
    }
}

impl Store for SqliteStore {
    fn prepare(&self) -> Answer<()> {
        let readers = self.readers.clone();
        Box::pin(async move { readers.open_all().await })
    }

    fn append(&self, commit: Commit) -> Answer<Appended> {
        let writer = self.writer.clone();
        Box::pin(async move {
            // Encoded by whoever asks, so that the one writer need not.
            let bodies: Arc<[_]> = commit.events.iter().map(|event| codec::encode(event)).collect();
            writer.ask(move |desk| write::append(desk, &commit, &bodies)).await
        })
    }

    fn arrive(&self, thread: &ThreadId, id: InputId, input: Outside, at: Time, wake: bool) -> Answer<Appended> {
        let thread = thread.clone();
        let event = agent::Event::InputArrived { id: id.clone(), input };
        let body: Arc<[_]> = [codec::encode(&event)].into();
        self.write(move |desk| write::arrive(desk, &thread, &id, &event, &body, at, wake))
    }

    fn read(&self, thread: &ThreadId, after_n: u64, limit: usize) -> Answer<Vec<Record>> {
        let thread = thread.clone();
        self.look(move |db| read::thread_events(db, &thread, after_n, limit))
    }

    fn tree(&self, root: &ThreadId, after_seq: u64, limit: usize) -> Answer<Vec<Record>> {
        let root = root.clone();
        self.look(move |db| read::family_events(db, &root, after_seq, limit))
    }

    fn all(&self, after_position: u64, limit: usize) -> Answer<Vec<Record>> {
        self.look(move |db| read::all_events(db, after_position, limit))
    }

    fn tail(&self) -> watch::Receiver<u64> {
        self.follower.tail()
    }

    fn adopt(&self, thread: &ThreadId, process: &ProcessId, at: Time) -> Answer<u64> {
        let (thread, process) = (thread.clone(), process.clone());
        self.write(move |desk| write::adopt(desk, &thread, &process, at))
    }

    fn register(&self, process: Process, at: Time) -> Answer<()> {
        self.write(move |desk| write::register(desk, &process, at))
    }

    fn heartbeat(&self, process: &ProcessId, at: Time) -> Answer<()> {
        let process = process.clone();
        self.write(move |desk| write::heartbeat(desk, &process, at))
    }

    fn leave(&self, process: &ProcessId) -> Answer<()> {
        let process = process.clone();
        self.write(move |desk| write::leave(desk, &process))
    }

    fn wake(&self, thread: &ThreadId, due: Time) -> Answer<()> {
        let thread = thread.clone();
        self.write(move |desk| write::wake(desk, &thread, due))
    }

    fn claim(&self, process: &ProcessId, at: Time, limit: usize) -> Answer<Vec<Wake>> {
        let process = process.clone();
        self.write(move |desk| write::claim(desk, &process, at, limit))
    }

    fn done(&self, wake: Wake) -> Answer<()> {
        self.write(move |desk| write::done(desk, &wake))
    }

    fn threads(&self, query: ThreadQuery) -> Answer<Vec<ThreadRow>> {
        self.look(move |db| read::threads(db, &query))
    }

    fn thread(&self, thread: &ThreadId) -> Answer<Option<ThreadRow>> {
        let thread = thread.clone();
        self.look(move |db| read::thread(db, &thread))
    }

    fn resolve(&self, text: &str) -> Answer<ThreadId> {
        let text = text.to_owned();
        self.look(move |db| read::resolve(db, &text))
    }

    fn executions(&self, workflow: &ThreadId) -> Answer<Vec<Execution>> {
        let workflow = workflow.clone();
        self.look(move |db| read::executions(db, &workflow))
    }

    fn approvals(&self, query: ApprovalQuery) -> Answer<Vec<ApprovalRow>> {
        self.look(move |db| approvals::list(db, query))
    }

    fn approval(&self, id: &ApprovalId) -> Answer<Option<ApprovalRow>> {
        let id = id.clone();
        self.look(move |db| approvals::one(db, &id))
    }

    fn usage(&self, root: Option<&ThreadId>) -> Answer<Vec<UsageRow>> {
        let root = root.cloned();
        self.look(move |db| read::usage(db, root.as_ref()))
    }

    fn remove(&self, root: &ThreadId, at: Time) -> Answer<()> {
        let root = root.clone();
        self.write(move |desk| write::remove(desk, &root, at))
    }
}

#[cfg(test)]
mod tests;
