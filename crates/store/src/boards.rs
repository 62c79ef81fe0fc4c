//! Boards of tasks: streams of their own in the same log, and the rows that are folded from them.
//!
//! A board has no owner. A commit names how many events its writer knows the board to have, and one that is behind is refused; its writer
//! reads again and decides again. What the rules of a board are is left to `crates/board`.

use std::sync::Arc;
use std::time::Duration;

use agent::{ThreadId, Time};
use board::{Board, BoardId, Delivery, Entry, Facts, Note, Refusal, Reply, Request, Status, Task, TaskId, handle};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Error;
use crate::follow::Follow;
use crate::log::{Answer, Appended};
use crate::open::Store;

/// Boards and their tasks.
pub trait Boards: Send + Sync + 'static {
    /// Writes events of a board, all or none, if it has exactly the expected events, and folds them.
    fn commit_board(&self, commit: BoardCommit) -> Answer<Appended>;

    /// What a decision on a request looks at. The board's number of events is read first, so that a commit which names it is refused if
    /// anything has changed since.
    fn board_facts(&self, board: &BoardId, request: Request) -> Answer<Facts>;

    /// A board; none where nothing was written to it.
    fn board(&self, board: &BoardId) -> Answer<Option<Board>>;

    /// All boards, in the order of their first events.
    fn boards(&self) -> Answer<Vec<Board>>;

    /// The boards on which a task could be handed out.
    fn runnable_boards(&self) -> Answer<Vec<Board>>;

    /// A board's events after its `after_n`th, in order.
    fn board_events(&self, board: &BoardId, after_n: u64, limit: usize) -> Answer<Vec<BoardRecord>>;

    /// The events of all boards after a place in the whole store, in order.
    fn all_board_events(&self, after_position: u64, limit: usize) -> Answer<Vec<OnBoard>>;

    /// A task.
    fn task(&self, board: &BoardId, task: &TaskId) -> Answer<Option<Task>>;

    /// Tasks of a board, by rank.
    fn tasks(&self, query: TaskQuery) -> Answer<Vec<Task>>;

    /// The newest task that a thread has or had, with its board; one that it works on comes first.
    fn task_of_thread(&self, thread: &ThreadId) -> Answer<Option<(BoardId, Task)>>;

    /// All remarks on a task, the oldest first.
    fn notes(&self, board: &BoardId, task: &TaskId) -> Answer<Vec<Note>>;

    /// Deliveries that no process is carrying out, the oldest first. They are leased to the caller: they are handed out again after a
    /// while, unless a commit has settled them.
    fn claim_deliveries(&self, query: DeliveryQuery) -> Answer<Vec<DueDelivery>>;

    /// Tasks in progress whose thread is at rest or gone.
    fn resting_tasks(&self, query: RestingQuery) -> Answer<Vec<RestingTask>>;

    /// What is known of a thread that was made for a task (LACE-9).
    fn agent_metadata(&self, thread: &ThreadId) -> Answer<Option<AgentMetadata>>;

    /// The threads that were made for tasks under a thread, in the order of their making (LACE-9).
    fn session_agents(&self, parent: &ThreadId) -> Answer<Vec<AgentMetadata>>;

    /// Makes all that is folded from boards anew from their events.
    fn rebuild_boards(&self) -> Answer<Rebuilt>;
}

/// Events of one board that are written together or not at all.
#[derive(Clone, Debug)]
pub struct BoardCommit {
    /// Whose events they are.
    pub board: BoardId,
    /// How many events the writer knows the board to have.
    pub expected: u64,
    /// The time of all its events.
    pub at: Time,
    /// What happened, in order; never empty.
    pub entries: Vec<Entry>,
    /// Whether the writer carries out what follows: until the lease is over no other process is given it.
    pub leased: bool,
}

/// An event of a board with its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardRecord {
    /// Its place in the whole store.
    pub position: u64,
    /// Its place in the board, from 1, without gaps.
    pub n: u64,
    /// When it was written.
    pub at: Time,
    /// What happened.
    pub entry: Arc<Entry>,
}

/// An event of one of all boards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnBoard {
    /// The board.
    pub board: BoardId,
    /// The event.
    pub record: BoardRecord,
}

/// Which tasks are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskQuery {
    /// The board.
    pub board: BoardId,
    /// Only those of this status; all but archived ones where none is given.
    pub status: Option<Status>,
    /// Only those after this one in the order of the list.
    pub after: Option<TaskId>,
    /// At most so many.
    pub limit: usize,
}

impl TaskQuery {
    /// The first hundred of a board that are not archived.
    pub fn of(board: &BoardId) -> Self {
        Self { board: board.clone(), status: None, after: None, limit: 100 }
    }
}

/// Which deliveries a process takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryQuery {
    /// Only those of this board.
    pub board: Option<BoardId>,
    /// The moment.
    pub at: Time,
    /// At most so many.
    pub limit: usize,
}

/// A delivery that is to be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    /// The board.
    pub board: Board,
    /// What is to be done.
    pub delivery: Delivery,
}

/// Which tasks in progress are asked for whose thread is at rest or gone. They come in the order of the boards and of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestingQuery {
    /// Only those of this board.
    pub board: Option<BoardId>,
    /// Only those after this one: the last of the page before.
    pub after: Option<(BoardId, TaskId)>,
    /// At most so many.
    pub limit: usize,
}

/// A task in progress whose thread is at rest or gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestingTask {
    /// The board.
    pub board: Board,
    /// The task.
    pub task: Task,
    /// Whether its thread exists.
    pub thread_exists: bool,
}

/// A thread that was made for a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "TaskAgent")]
pub struct AgentMetadata {
    /// The thread.
    #[schemars(with = "String")]
    pub thread_id: ThreadId,
    /// Its name.
    pub name: Arc<str>,
    /// The provider.
    pub provider: Arc<str>,
    /// The model.
    pub model: Arc<str>,
    /// `ephemeral`: it was made for a task.
    #[serde(rename = "type")]
    pub kind: Arc<str>,
    /// The task that it was made for, with its board; none once that is gone.
    pub created_for_task: Option<Arc<str>>,
    /// The thread under which it was made; itself for a root.
    #[schemars(with = "String")]
    pub parent_thread_id: ThreadId,
    /// The title of the task that it works on.
    pub current_task: Option<Arc<str>>,
    /// When it was made.
    #[schemars(with = "schema::Moment")]
    pub created_at: Time,
}

/// What became of making the folded rows anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// How many boards there are.
    pub boards: u64,
    /// How many tasks.
    pub tasks: u64,
    /// How many rows were other than those that had been kept.
    pub differences: u64,
}

/// The kind of every thread that is made for a task (LACE-5).
pub(crate) const EPHEMERAL: &str = "ephemeral";

/// The name of a task in the whole store.
pub fn full_name(board: &BoardId, task: &TaskId) -> String {
    format!("{board}/{task}")
}

/// Follows the events of a board after its `after_n`th. While others write, it reads at most once in `pause`.
pub fn follow_board(store: &Arc<dyn Store>, board: &BoardId, after_n: u64, pause: Duration) -> Follow<BoardRecord> {
    let (log, board) = (store.clone(), board.clone());
    Follow::of_stream(
        move |after| log.board_events(&board, after, crate::follow::PAGE),
        |record: &BoardRecord| record.n,
        after_n,
        pause,
        store.tail(),
    )
}

/// Follows the events of all boards after a place in the whole store. While others write, it reads at most once in `pause`.
pub fn follow_boards(store: &Arc<dyn Store>, after_position: u64, pause: Duration) -> Follow<OnBoard> {
    let log = store.clone();
    Follow::of_stream(
        move |after| log.all_board_events(after, crate::follow::PAGE),
        |event: &OnBoard| event.record.position,
        after_position,
        pause,
        store.tail(),
    )
}

/// Carries out a request: reads what the decision looks at, lets the rules decide, commits. A lost race reads and decides again.
/// With `leased`, what follows from it is the caller's to carry out for a while.
pub async fn carry_out(
    store: &dyn Store,
    board: &BoardId,
    request: Request,
    at: Time,
    leased: bool,
) -> Result<Result<Reply, Refusal>, Error> {
    loop {
        let facts = store.board_facts(board, request.clone()).await?;
        let expected = facts.board.n;
        let step = match handle(&request, facts, at) {
            Ok(step) => step,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if step.events.is_empty() {
            return Ok(Ok(step.reply));
        }
        let commit = BoardCommit { board: board.clone(), expected, at, entries: step.events, leased };
        match store.commit_board(commit).await {
            Ok(_) => return Ok(Ok(step.reply)),
            // Another process was quicker. One of all that try is always written, so that this comes to an end.
            Err(Error::BoardConflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
}
