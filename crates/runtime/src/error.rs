//! What can go wrong before a thread exists to report it.

use std::sync::Arc;

use agent::ThreadId;

/// What can go wrong before a thread exists to report it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The root cannot be made as asked.
    #[error("{0}")]
    Root(String),
    /// The workspace cannot be worked in.
    #[error(transparent)]
    Workspace(#[from] tool::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The name of the new thread is taken.
    #[error("thread {0} exists already")]
    Taken(ThreadId),
    /// The thread runs in this process.
    #[error("thread {0} runs in this process already")]
    Alive(ThreadId),
    /// There is nothing to go on with.
    #[error("thread {0} is not running")]
    Idle(ThreadId),
    /// The thread is in the middle of a run that no process drives.
    #[error("thread {0} was interrupted; it goes on with: majordomo thread resume {0}")]
    Interrupted(ThreadId),
    /// The process that drives the thread has not answered in time.
    #[error("the process that drives thread {0} does not answer; it is asked again later")]
    Unanswered(ThreadId),
    /// The thread works in a folder of another machine, and no process works there.
    #[error("thread {thread} works in a folder of machine {machine}: do this there, or start `majordomo work` there")]
    Elsewhere {
        /// Which thread.
        thread: ThreadId,
        /// The machine.
        machine: Arc<str>,
    },
    /// The schema that an answer should fit is no JSON Schema.
    #[error("the schema is not valid: {0}")]
    Schema(String),
    /// An agent failed inside, and so did the attempt to end it.
    #[error("failed twice inside: {0}")]
    Broken(String),
    /// The thread's process ended without a report.
    #[error("the run was left before its end; it can be resumed")]
    Left,
}

impl From<Option<store::Error>> for Error {
    /// What the retries of a store operation ended in.
    fn from(error: Option<store::Error>) -> Self {
        error.map_or(Error::Left, Error::Store)
    }
}
