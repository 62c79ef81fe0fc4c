//! The embedded store: one SQLite file, written by one thread in groups, read by a few connections beside it.
//!
//! Many processes may open the same file. They are kept apart by SQLite's lock for the length of a group, and by
//! compare-and-set and epochs for everything that lasts longer.
//!
//! Left to others: what is checked before a write (`admission`) and what follows from an event (`projection`).

mod approvals;
mod boards;
mod bulk_insert;
mod check;
mod columns;
mod executions;
mod fault;
mod file;
mod fold;
mod follow;
mod installation;
mod opened_file;
mod read;
mod readers;
mod recent;
mod search;
mod wal;
mod write;
mod write_session;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use agent::approval::ApprovalId;
use agent::{InputId, Outside, ThreadId, Time};
use board::{Board, BoardId, Facts, Note, Request, Task, TaskId};
use futures_util::future::BoxFuture;
use rusqlite::Connection;
use tokio::sync::watch;

use crate::approvals::{ApprovalQuery, ApprovalRow};
use crate::boards::{
    AgentMetadata, BoardCommit, BoardRecord, Boards, DeliveryQuery, DueDelivery, OnBoard, Rebuilt, RestingQuery,
    RestingTask, TaskQuery,
};
use crate::codec;
use crate::error::Error;
use crate::installation::{Installation, InstallationEvent, InstallationRecord, State};
use crate::lists::Lists;
use crate::log::{Answer, Appended, Commit, Log, Record};
use crate::open::{Health, Options, Store};
use crate::ownership::{ClaimQuery, Claimed, Living, Ownership, WorkerRow};
use crate::process::{Process, ProcessId};
use crate::rows::{Execution, ThreadQuery, ThreadRow, UsageRow, Wake};
use crate::search::{Found, SearchQuery};
use fault::Quarantine;
use follow::Follower;
use opened_file::OpenedFile;
use readers::Readers;
use recent::Recent;
use write_session::WriteSession;
use writer::Writer;

/// How long a look past the store waits for another process that holds the file.
const BUSY: Duration = Duration::from_secs(5);

/// The file in a folder that is a store.
const FILE: &str = "majordomo.db";

/// The file that a store in this folder is.
pub(crate) fn file_in(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// What holds for the installation, read without opening the store.
pub(crate) fn installation_of(path: &Path) -> Result<State, Error> {
    if !path.exists() {
        return Ok(State::default());
    }
    let connection = file::open_for_a_look(&path.canonicalize().map_err(fault::io)?, BUSY)?;
    if file::has_installation(&connection)? { installation::state(&connection) } else { Ok(State::default()) }
}

/// Copies the files of a store, as a crash at this moment would leave them.
pub(crate) fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (file_in(from), file_in(to));
    // A log that is folded into the database meanwhile is copied before that, or it would be in neither copy.
    for suffix in ["-wal", ""] {
        let original = file::beside(&from, suffix);
        if original.exists() {
            fs::copy(original, file::beside(&to, suffix))?;
        }
    }
    Ok(())
}

/// A store in one SQLite file. Clones share their connections.
#[derive(Clone)]
pub struct SqliteStore {
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    follower: Arc<Follower>,
    recent: Arc<Recent>,
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
        let opened = OpenedFile::of(path)?;
        fold::later(opened.clone());
        let newest = read::newest(&connection)?;
        let quarantine = Quarantine::default();
        let tail = Arc::new(watch::Sender::new(newest));
        let recent = Arc::new(Recent::default());
        let writer = Writer::start(connection, opened.clone(), tail.clone(), recent.clone(), quarantine.clone())?;
        Ok(Self {
            writer: Arc::new(writer),
            readers: Arc::new(Readers::new(opened.clone(), options.busy_timeout, quarantine)),
            follower: Arc::new(Follower::new(opened, options.busy_timeout, tail)),
            recent,
        })
    }

    /// Whether commits of other processes are looked for.
    #[cfg(test)]
    pub(crate) fn is_looking(&self) -> bool {
        self.follower.is_looking()
    }

    /// A request that changes something: checked first, written with others in one transaction, answered after it is kept.
    fn write<T: Send + 'static>(
        &self,
        request: impl Fn(&mut WriteSession) -> Result<T, Error> + Send + 'static,
    ) -> Answer<T> {
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

impl Log for SqliteStore {
    fn append(&self, commit: Commit) -> Answer<Appended> {
        let writer = self.writer.clone();
        Box::pin(async move {
            // Encoded by the caller, so that the one writer need not.
            let bodies: Arc<[_]> = commit.events.iter().map(|event| codec::encode(event)).collect();
            writer.ask(move |session| write::append(session, &commit, &bodies)).await
        })
    }

    fn arrive(&self, thread: &ThreadId, id: InputId, input: Outside, at: Time, wake: bool) -> Answer<Appended> {
        let thread = thread.clone();
        let event = Arc::new(agent::Event::InputArrived { id: id.clone(), input });
        let body: Arc<[_]> = [codec::encode(&event)].into();
        self.write(move |session| write::arrive(session, &thread, &id, &event, &body, at, wake))
    }

    fn read(&self, thread: &ThreadId, after_n: u64, limit: usize) -> Answer<Vec<Record>> {
        let thread = thread.clone();
        self.look(move |db| read::thread_events(db, &thread, after_n, limit))
    }

    fn tree(&self, root: &ThreadId, after_seq: u64, limit: usize) -> Answer<Vec<Record>> {
        let (store, root) = (self.clone(), root.clone());
        Box::pin(async move {
            let announced = store.follower.announced();
            let recent = store.recent.tree(&root, after_seq, limit, announced);
            // A database that is gone is noticed before each read.
            match recent.filter(|_| store.readers.is_there()) {
                Some(records) => Ok(records),
                None => store.readers.ask(move |db| read::family_events(db, &root, after_seq, limit)).await,
            }
        })
    }

    fn all(&self, after_position: u64, limit: usize) -> Answer<Vec<Record>> {
        self.look(move |db| read::all_events(db, after_position, limit))
    }

    fn tail(&self) -> watch::Receiver<u64> {
        self.follower.tail()
    }

    fn remove_if(&self, root: &ThreadId, seq: Option<u64>, at: Time) -> Answer<()> {
        let (root, recent) = (root.clone(), self.recent.clone());
        let removed = self.write(move |session| write::remove(session, &root, seq, at));
        Box::pin(async move { removed.await.inspect(|()| recent.clear()) })
    }
}

impl Ownership for SqliteStore {
    fn adopt(&self, thread: &ThreadId, process: &ProcessId, at: Time) -> Answer<u64> {
        let (thread, process) = (thread.clone(), process.clone());
        self.write(move |session| write::adopt(session, &thread, &process, at))
    }

    fn claim_threads(&self, process: &ProcessId, at: Time, query: ClaimQuery) -> Answer<Vec<Claimed>> {
        let process = process.clone();
        self.write(move |session| write::claim_threads(session, &process, at, &query))
    }

    fn living(&self, at: Time) -> Answer<Living> {
        self.look(move |db| read::living(db, at))
    }

    fn register(&self, process: Process, at: Time) -> Answer<()> {
        self.write(move |session| write::register(session, &process, at))
    }

    fn register_worker(&self, worker: WorkerRow, at: Time) -> Answer<()> {
        self.write(move |session| write::register_worker(session, &worker, at))
    }

    fn workers(&self, at: Time) -> Answer<Vec<WorkerRow>> {
        self.look(move |db| read::workers(db, at))
    }

    fn retire_workers(&self, this: Option<ProcessId>, at: Time) -> Answer<bool> {
        let store = self.clone();
        Box::pin(async move {
            let retired = store.readers.ask(move |db| read::retired(db, this.as_ref(), at)).await?;
            if retired.is_empty() {
                return Ok(false);
            }
            store.writer.ask(move |session| write::retire_workers(session, &retired)).await
        })
    }

    fn heartbeat(&self, process: &ProcessId, at: Time) -> Answer<()> {
        let process = process.clone();
        self.write(move |session| write::heartbeat(session, &process, at))
    }

    fn leave(&self, process: &ProcessId) -> Answer<()> {
        let process = process.clone();
        self.write(move |session| write::leave(session, &process))
    }

    fn hand_over(&self, thread: &ThreadId, from: &ProcessId, to: Option<&ProcessId>) -> Answer<()> {
        let (thread, from, to) = (thread.clone(), from.clone(), to.cloned());
        self.write(move |session| write::hand_over(session, &thread, &from, to.as_ref()))
    }

    fn wake(&self, thread: &ThreadId, due: Time) -> Answer<()> {
        let thread = thread.clone();
        self.write(move |session| write::wake(session, &thread, due))
    }

    fn claim(&self, process: &ProcessId, at: Time, limit: usize) -> Answer<Vec<Wake>> {
        let process = process.clone();
        self.write(move |session| write::claim(session, &process, at, limit))
    }

    fn done(&self, wake: Wake) -> Answer<()> {
        self.write(move |session| write::done(session, &wake))
    }
}

impl Lists for SqliteStore {
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

    fn search(&self, query: SearchQuery) -> Answer<Vec<Found>> {
        self.write(move |session| search::search(session, &query))
    }

    fn usage(&self, root: Option<&ThreadId>) -> Answer<Vec<UsageRow>> {
        let root = root.cloned();
        self.look(move |db| read::usage(db, root.as_ref()))
    }
}

impl Installation for SqliteStore {
    fn record(&self, event: InstallationEvent, at: Time) -> Answer<Appended> {
        let body: Arc<[_]> = [codec::encode_installation(&event)].into();
        self.write(move |session| installation::record(session, &event, &body, at))
    }

    fn installation_events(&self, after_n: u64, limit: usize) -> Answer<Vec<InstallationRecord>> {
        self.look(move |db| installation::events(db, after_n, limit))
    }

    fn installation(&self) -> Answer<State> {
        self.look(installation::state)
    }
}

impl Boards for SqliteStore {
    fn commit_board(&self, commit: BoardCommit) -> Answer<Appended> {
        let bodies: Arc<[_]> = commit.entries.iter().map(codec::encode_board).collect();
        self.write(move |session| boards::commit(session, &commit, &bodies))
    }

    fn board_facts(&self, board: &BoardId, request: Request) -> Answer<Facts> {
        let board = board.clone();
        self.look(move |db| boards::facts(db, &board, &request))
    }

    fn board(&self, board: &BoardId) -> Answer<Option<Board>> {
        let board = board.clone();
        self.look(move |db| boards::board(db, &board))
    }

    fn boards(&self) -> Answer<Vec<Board>> {
        self.look(boards::boards)
    }

    fn runnable_boards(&self) -> Answer<Vec<Board>> {
        self.look(boards::runnable)
    }

    fn board_events(&self, board: &BoardId, after_n: u64, limit: usize) -> Answer<Vec<BoardRecord>> {
        let board = board.clone();
        self.look(move |db| boards::events(db, &board, after_n, limit))
    }

    fn all_board_events(&self, after_position: u64, limit: usize) -> Answer<Vec<OnBoard>> {
        self.look(move |db| boards::all_events(db, after_position, limit))
    }

    fn task(&self, board: &BoardId, task: &TaskId) -> Answer<Option<Task>> {
        let (board, task) = (board.clone(), task.clone());
        self.look(move |db| boards::task(db, &board, &task))
    }

    fn tasks(&self, query: TaskQuery) -> Answer<Vec<Task>> {
        self.look(move |db| boards::tasks(db, &query))
    }

    fn task_of_thread(&self, thread: &ThreadId) -> Answer<Option<(BoardId, Task)>> {
        let thread = thread.clone();
        self.look(move |db| boards::task_of_thread(db, &thread))
    }

    fn notes(&self, board: &BoardId, task: &TaskId) -> Answer<Vec<Note>> {
        let (board, task) = (board.clone(), task.clone());
        self.look(move |db| boards::notes(db, &board, &task))
    }

    fn claim_deliveries(&self, query: DeliveryQuery) -> Answer<Vec<DueDelivery>> {
        let store = self.clone();
        Box::pin(async move {
            // Asked for often, and rarely there: the one writer is not bothered then.
            let at = query.at;
            if !store.readers.ask(move |db| boards::is_due(db, at)).await? {
                return Ok(Vec::new());
            }
            store.writer.ask(move |session| boards::claim(session, &query)).await
        })
    }

    fn resting_tasks(&self, query: RestingQuery) -> Answer<Vec<RestingTask>> {
        self.look(move |db| boards::resting(db, &query))
    }

    fn agent_metadata(&self, thread: &ThreadId) -> Answer<Option<AgentMetadata>> {
        let thread = thread.clone();
        self.look(move |db| boards::metadata(db, &thread))
    }

    fn session_agents(&self, parent: &ThreadId) -> Answer<Vec<AgentMetadata>> {
        let parent = parent.clone();
        self.look(move |db| boards::session_agents(db, &parent))
    }

    fn rebuild_boards(&self) -> Answer<Rebuilt> {
        self.write(boards::rebuild)
    }
}

impl Store for SqliteStore {
    fn prepare(&self) -> Answer<()> {
        let readers = self.readers.clone();
        Box::pin(async move { readers.open_all().await })
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        let store = self.clone();
        Box::pin(async move {
            store.readers.close();
            store.follower.close();
            store.writer.close().await;
        })
    }

    fn check(&self) -> Answer<Health> {
        self.look(check::check)
    }
}

#[cfg(test)]
mod tests;
