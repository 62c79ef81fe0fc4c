//! A store that fails, panics, or is written to by another process, at the commits that a test chooses.

use std::sync::Arc;

use agent::approval::ApprovalId;
use agent::{InputId, Outside, ThreadId, Time};
use board::{Board, BoardId, Facts, Note, Request, Task, TaskId};
use futures_util::future::BoxFuture;
use store::{
    AgentMetadata, Answer, Appended, ApprovalQuery, ApprovalRow, BoardCommit, BoardRecord, Boards, ClaimQuery, Claimed,
    Commit, DeliveryQuery, DueDelivery, Error, Execution, Installation, InstallationEvent, InstallationRecord,
    InstallationState, Lists, Living, Log, MemoryStore, OnBoard, Ownership, Process, ProcessId, Rebuilt, Record,
    RestingQuery, RestingTask, Store, TaskQuery, ThreadQuery, ThreadRow, UsageRow, Wake, WorkerRow,
};
use tokio::sync::watch;

/// What becomes of a commit.
pub enum Fault {
    /// It is written.
    Fine,
    /// It is not written.
    Fails(Error),
    /// It is written, and the answer is lost.
    Forgets(Error),
    /// Something arrives just before it.
    Late(Outside),
    /// This process writes the same just before it, a moment later by its clock.
    Raced(Process),
    /// It is written as by a clock that is so far ahead.
    Ahead(u64),
    /// The store's own code panics.
    Panics,
}

/// What happens before a log is read from after this number on.
pub type Look = dyn Fn(&ThreadId, u64) -> BoxFuture<'static, ()> + Send + Sync;

/// A store in memory that fails where a test wants it to.
pub struct FaultyStore<F> {
    inner: Arc<MemoryStore>,
    fault: F,
    look: Box<Look>,
}

impl<F: Fn(&Commit) -> Fault + Send + Sync + 'static> FaultyStore<F> {
    /// `fault` says for each commit what becomes of it.
    pub fn new(fault: F) -> Arc<Self> {
        Self::watched(fault, |_, _| Box::pin(async {}))
    }

    /// The same, and `look` runs before a log is read.
    pub fn watched(
        fault: F,
        look: impl Fn(&ThreadId, u64) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { inner: Arc::new(MemoryStore::new()), fault, look: Box::new(look) })
    }
}

/// A full disk.
pub fn full() -> Error {
    Error::Full(Arc::new(std::io::Error::from(std::io::ErrorKind::StorageFull)))
}

/// A disk that fails.
pub fn broken() -> Error {
    Error::Io(Arc::new(std::io::Error::other("the disk fails")))
}

impl<F: Fn(&Commit) -> Fault + Send + Sync + 'static> Log for FaultyStore<F> {
    fn append(&self, commit: Commit) -> Answer<Appended> {
        let inner = self.inner.clone();
        match (self.fault)(&commit) {
            Fault::Fine => inner.append(commit),
            Fault::Fails(error) => Box::pin(async { Err(error) }),
            Fault::Forgets(error) => Box::pin(async move { inner.append(commit).await.and(Err(error)) }),
            Fault::Late(input) => Box::pin(async move {
                let id = InputId::new(format!("late-{}", commit.expected));
                inner.arrive(&commit.thread, id, input, commit.at, true).await?;
                inner.append(commit).await
            }),
            Fault::Raced(process) => Box::pin(async move {
                let first = Commit { process: process.id.clone(), at: commit.at.plus_ms(1), ..commit.clone() };
                inner.register(process, commit.at).await?;
                inner.append(first).await?;
                inner.append(commit).await
            }),
            Fault::Ahead(ms) => inner.append(Commit { at: commit.at.plus_ms(ms), ..commit }),
            Fault::Panics => panic!("the store panics"),
        }
    }

    fn arrive(&self, thread: &ThreadId, id: InputId, input: Outside, at: Time, wake: bool) -> Answer<Appended> {
        self.inner.arrive(thread, id, input, at, wake)
    }

    fn read(&self, thread: &ThreadId, after_n: u64, limit: usize) -> Answer<Vec<Record>> {
        let (before, inner, thread) = ((self.look)(thread, after_n), self.inner.clone(), thread.clone());
        Box::pin(async move {
            before.await;
            inner.read(&thread, after_n, limit).await
        })
    }

    fn tree(&self, root: &ThreadId, after_seq: u64, limit: usize) -> Answer<Vec<Record>> {
        self.inner.tree(root, after_seq, limit)
    }

    fn all(&self, after_position: u64, limit: usize) -> Answer<Vec<Record>> {
        self.inner.all(after_position, limit)
    }

    fn tail(&self) -> watch::Receiver<u64> {
        self.inner.tail()
    }

    fn remove_if(&self, root: &ThreadId, seq: Option<u64>, at: Time) -> Answer<()> {
        self.inner.remove_if(root, seq, at)
    }
}

impl<F: Fn(&Commit) -> Fault + Send + Sync + 'static> Ownership for FaultyStore<F> {
    fn adopt(&self, thread: &ThreadId, process: &ProcessId, at: Time) -> Answer<u64> {
        self.inner.adopt(thread, process, at)
    }

    fn hand_over(&self, thread: &ThreadId, from: &ProcessId, to: Option<&ProcessId>) -> Answer<()> {
        self.inner.hand_over(thread, from, to)
    }

    fn claim_threads(&self, process: &ProcessId, at: Time, query: ClaimQuery) -> Answer<Vec<Claimed>> {
        self.inner.claim_threads(process, at, query)
    }

    /// A test can let something happen before it is answered.
    fn living(&self, at: Time) -> Answer<Living> {
        let inner = self.inner.clone();
        Box::pin(async move {
            tokio::task::yield_now().await;
            inner.living(at).await
        })
    }

    fn register(&self, process: Process, at: Time) -> Answer<()> {
        self.inner.register(process, at)
    }

    fn register_worker(&self, worker: WorkerRow, at: Time) -> Answer<()> {
        self.inner.register_worker(worker, at)
    }

    fn workers(&self, at: Time) -> Answer<Vec<WorkerRow>> {
        self.inner.workers(at)
    }

    fn retire_workers(&self, this: Option<ProcessId>, at: Time) -> Answer<bool> {
        self.inner.retire_workers(this, at)
    }

    fn heartbeat(&self, process: &ProcessId, at: Time) -> Answer<()> {
        self.inner.heartbeat(process, at)
    }

    fn leave(&self, process: &ProcessId) -> Answer<()> {
        self.inner.leave(process)
    }

    fn wake(&self, thread: &ThreadId, due: Time) -> Answer<()> {
        self.inner.wake(thread, due)
    }

    fn claim(&self, process: &ProcessId, at: Time, limit: usize) -> Answer<Vec<Wake>> {
        self.inner.claim(process, at, limit)
    }

    fn done(&self, wake: Wake) -> Answer<()> {
        self.inner.done(wake)
    }
}

impl<F: Fn(&Commit) -> Fault + Send + Sync + 'static> Lists for FaultyStore<F> {
    fn threads(&self, query: ThreadQuery) -> Answer<Vec<ThreadRow>> {
        self.inner.threads(query)
    }

    fn thread(&self, thread: &ThreadId) -> Answer<Option<ThreadRow>> {
        self.inner.thread(thread)
    }

    fn resolve(&self, text: &str) -> Answer<ThreadId> {
        self.inner.resolve(text)
    }

    fn executions(&self, workflow: &ThreadId) -> Answer<Vec<Execution>> {
        self.inner.executions(workflow)
    }

    fn approvals(&self, query: ApprovalQuery) -> Answer<Vec<ApprovalRow>> {
        self.inner.approvals(query)
    }

    fn approval(&self, id: &ApprovalId) -> Answer<Option<ApprovalRow>> {
        self.inner.approval(id)
    }

    fn search(&self, query: store::SearchQuery) -> Answer<Vec<store::Found>> {
        self.inner.search(query)
    }

    fn usage(&self, root: Option<&ThreadId>) -> Answer<Vec<UsageRow>> {
        self.inner.usage(root)
    }
}

impl<F: Fn(&Commit) -> Fault + Send + Sync + 'static> Installation for FaultyStore<F> {
    fn record(&self, event: InstallationEvent, at: Time) -> Answer<Appended> {
        self.inner.record(event, at)
    }

    fn installation_events(&self, after_n: u64, limit: usize) -> Answer<Vec<InstallationRecord>> {
        self.inner.installation_events(after_n, limit)
    }

    fn installation(&self) -> Answer<InstallationState> {
        self.inner.installation()
    }
}

impl<F: Fn(&Commit) -> Fault + Send + Sync + 'static> Boards for FaultyStore<F> {
    fn commit_board(&self, commit: BoardCommit) -> Answer<Appended> {
        self.inner.commit_board(commit)
    }

    fn board_facts(&self, board: &BoardId, request: Request) -> Answer<Facts> {
        self.inner.board_facts(board, request)
    }

    fn board(&self, board: &BoardId) -> Answer<Option<Board>> {
        self.inner.board(board)
    }

    fn boards(&self) -> Answer<Vec<Board>> {
        self.inner.boards()
    }

    fn runnable_boards(&self) -> Answer<Vec<Board>> {
        self.inner.runnable_boards()
    }

    fn all_board_events(&self, after_position: u64, limit: usize) -> Answer<Vec<OnBoard>> {
        self.inner.all_board_events(after_position, limit)
    }

    fn board_events(&self, board: &BoardId, after_n: u64, limit: usize) -> Answer<Vec<BoardRecord>> {
        self.inner.board_events(board, after_n, limit)
    }

    fn task(&self, board: &BoardId, task: &TaskId) -> Answer<Option<Task>> {
        self.inner.task(board, task)
    }

    fn tasks(&self, query: TaskQuery) -> Answer<Vec<Task>> {
        self.inner.tasks(query)
    }

    fn task_of_thread(&self, thread: &ThreadId) -> Answer<Option<(BoardId, Task)>> {
        self.inner.task_of_thread(thread)
    }

    fn notes(&self, board: &BoardId, task: &TaskId) -> Answer<Vec<Note>> {
        self.inner.notes(board, task)
    }

    fn claim_deliveries(&self, query: DeliveryQuery) -> Answer<Vec<DueDelivery>> {
        self.inner.claim_deliveries(query)
    }

    fn resting_tasks(&self, query: RestingQuery) -> Answer<Vec<RestingTask>> {
        self.inner.resting_tasks(query)
    }

    fn agent_metadata(&self, thread: &ThreadId) -> Answer<Option<AgentMetadata>> {
        self.inner.agent_metadata(thread)
    }

    fn session_agents(&self, parent: &ThreadId) -> Answer<Vec<AgentMetadata>> {
        self.inner.session_agents(parent)
    }

    fn rebuild_boards(&self) -> Answer<Rebuilt> {
        self.inner.rebuild_boards()
    }
}

impl<F: Fn(&Commit) -> Fault + Send + Sync + 'static> Store for FaultyStore<F> {}
