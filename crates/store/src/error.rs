//! Why a request to the store was refused or failed.
//!
//! A refusal is an answer about one request and leaves everything as it was; a failure is about the store itself.

use std::path::PathBuf;
use std::sync::Arc;

use agent::ThreadId;
use agent::approval::ApprovalId;

use crate::process::{Process, ProcessId};

/// The cause of a failure. Shared, because one failure answers a whole group of commits.
pub type Source = Arc<dyn std::error::Error + Send + Sync>;

/// Why a request to the store was refused or failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The thread was written to since the writer read it. Read on, decide again.
    #[error("thread {thread} has {head} events, the commit expected {expected}")]
    Conflict {
        /// Which thread.
        thread: ThreadId,
        /// How many events the commit expected.
        expected: u64,
        /// How many there are.
        head: u64,
    },
    /// The board was written to since the writer read it. Read again, decide again.
    #[error("board {board} has {head} events, the commit expected {expected}")]
    BoardConflict {
        /// Which board.
        board: Arc<str>,
        /// How many events the commit expected.
        expected: u64,
        /// How many there are.
        head: u64,
    },
    /// The writer does not own the thread, or no longer does. What it does for the thread must end.
    #[error("thread {thread} stands at epoch {current} and is not owned by the writer at epoch {epoch}")]
    Fenced {
        /// Which thread.
        thread: ThreadId,
        /// The epoch that the writer named.
        epoch: u64,
        /// The epoch that holds.
        current: u64,
    },
    /// Another process that is alive owns the thread.
    #[error("thread {thread} is owned by process {} on {}, which is alive", by.pid, by.host)]
    Owned {
        /// Which thread.
        thread: ThreadId,
        /// Who owns it.
        by: Box<Process>,
    },
    /// No thread has this name.
    #[error("no thread is called '{0}'")]
    UnknownThread(Arc<str>),
    /// The process was never registered, or has left.
    #[error("process {0} is not registered")]
    UnknownProcess(ProcessId),
    /// More than one thread fits.
    #[error("'{text}' may be any of {}", names(candidates))]
    Ambiguous {
        /// What was asked for.
        text: Arc<str>,
        /// What fits, a few of them.
        candidates: Vec<ThreadId>,
    },
    /// There is no such question.
    #[error("no question is called '{0}'")]
    UnknownApproval(Arc<str>),
    /// More than one question fits.
    #[error("'{text}' may be any of {}", ids(candidates))]
    AmbiguousApproval {
        /// What was asked for.
        text: Arc<str>,
        /// What fits, a few of them.
        candidates: Vec<ApprovalId>,
    },
    /// The request makes no sense: a mistake of the caller.
    #[error("not a valid request: {0}")]
    Invalid(&'static str),
    /// An event was written by a newer version of this program, or cannot be read as what it says it is.
    #[error("event '{kind}' (version {version}) cannot be read by this version of the program")]
    Unreadable {
        /// The event's name.
        kind: Arc<str>,
        /// The version of its shape.
        version: u32,
        /// Why, where its shape is known.
        source: Option<Source>,
    },
    /// There is no space left. Nothing was written; it can be tried again when there is.
    #[error("no space left for the database")]
    Full(#[source] Source),
    /// The database cannot be written.
    #[error("the database is read-only")]
    ReadOnly(#[source] Source),
    /// Another process held the database for too long. It can be tried again.
    #[error("the database is locked by another process")]
    Locked(#[source] Source),
    /// The database is damaged. From here on nothing is written to it.
    #[error("the database is damaged; restore a copy, or move it away to begin anew")]
    Corrupt(#[source] Source),
    /// The database was deleted, moved or replaced while it was open. From here on nothing is written to it.
    #[error(
        "{} was deleted, moved or replaced while it was in use, and nothing more is written: put the file or a copy of it back and \
         resume the run, or start again with an empty database",
        .0.display()
    )]
    Gone(PathBuf),
    /// The database was made by a newer version of this program; it was not touched.
    #[error("the database has schema {found}, this program knows up to {known}: use a newer version of it")]
    Newer {
        /// The schema that was found.
        found: u32,
        /// The newest schema that is known.
        known: u32,
    },
    /// The database was made by an earlier version of this program, and one such is still at work on it. It was not touched.
    #[error("process {} on {}, of an earlier version, works with this database: let it end first, then try again", .0.pid, .0.host)]
    AtWork(Box<Process>),
    /// The database was made by an earlier version of this program and must be brought up to date, but cannot be written.
    #[error("the database is of an earlier version, and is read-only: open it once where it can be written")]
    Earlier(#[source] Source),
    /// The SQLite library can damage databases.
    #[error("SQLite {linked} is linked, at least {needed} is needed")]
    Outdated {
        /// The version that is linked.
        linked: i32,
        /// The oldest that will do.
        needed: i32,
    },
    /// A symbolic link lies where a file of ours belongs.
    #[error("{} is a symbolic link, which is refused", .0.display())]
    Symlink(PathBuf),
    /// The address of a database cannot be used.
    #[error("the address of the database is not valid: {0}")]
    Address(Arc<str>),
    /// The database server refuses the role or its password.
    #[error(
        "the database refuses the login: check the user in the address, and the password there or in the password file"
    )]
    Login(#[source] Source),
    /// The server has no database of that name.
    #[error("the server has no such database: create it first, with createdb or CREATE DATABASE")]
    NoDatabase(#[source] Source),
    /// The role may not do what is needed.
    #[error("the role may not do this in the database: make it the owner of the database, or grant it CREATE there")]
    Forbidden(#[source] Source),
    /// The database has no tables of this program.
    #[error("the database has no tables of this program: run `majordomo db init` once")]
    Uninitialized,
    /// The tables are of an earlier version of this program.
    #[error("the database has schema {found}, this program needs {needed}: run `majordomo db migrate`")]
    Outgrown {
        /// The schema that was found.
        found: u32,
        /// The schema that is needed.
        needed: u32,
    },
    /// The database server is too old.
    #[error("the server is PostgreSQL {found}, at least {needed} is needed")]
    OldServer {
        /// Its version.
        found: i32,
        /// The oldest that will do.
        needed: i32,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// The disk or the file system failed.
    #[error("the database cannot be reached")]
    Io(#[source] Source),
    /// The database failed in another way.
    #[error("the database failed")]
    Sql(#[source] Source),
}

impl Error {
    /// Whether this is an answer about one request, after which everything is as it was before.
    pub fn is_refusal(&self) -> bool {
        match self {
            Error::Conflict { .. }
            | Error::BoardConflict { .. }
            | Error::Fenced { .. }
            | Error::Owned { .. }
            | Error::UnknownThread(_)
            | Error::UnknownProcess(_)
            | Error::Ambiguous { .. }
            | Error::UnknownApproval(_)
            | Error::AmbiguousApproval { .. }
            | Error::Invalid(_) => true,
            Error::Unreadable { .. }
            | Error::Full(_)
            | Error::ReadOnly(_)
            | Error::Locked(_)
            | Error::Corrupt(_)
            | Error::Gone(_)
            | Error::Newer { .. }
            | Error::AtWork(_)
            | Error::Earlier(_)
            | Error::Outdated { .. }
            | Error::Symlink(_)
            | Error::Address(_)
            | Error::Login(_)
            | Error::NoDatabase(_)
            | Error::Forbidden(_)
            | Error::Uninitialized
            | Error::Outgrown { .. }
            | Error::OldServer { .. }
            | Error::Closed
            | Error::Io(_)
            | Error::Sql(_) => false,
        }
    }

    /// Whether the same request may succeed later without being changed. A server that only reads may be a standby that is about to take the
    /// place of the one that was written to.
    pub fn is_passing(&self) -> bool {
        match self {
            Error::Full(_) | Error::Locked(_) | Error::Io(_) => true,
            Error::ReadOnly(_) => self.is_of_server(),
            _ => false,
        }
    }

    /// Whether a database server said it, or none answered.
    pub fn is_of_server(&self) -> bool {
        match self {
            Error::Login(source)
            | Error::Io(source)
            | Error::ReadOnly(source)
            | Error::Full(source)
            | Error::Locked(source)
            | Error::Sql(source) => source.is::<tokio_postgres::Error>(),
            _ => false,
        }
    }

    pub(crate) fn unknown(thread: &ThreadId) -> Self {
        Error::UnknownThread(thread.as_str().into())
    }
}

fn ids(approvals: &[ApprovalId]) -> String {
    approvals.iter().map(ApprovalId::as_str).collect::<Vec<_>>().join(", ")
}

fn names(threads: &[ThreadId]) -> String {
    threads.iter().map(ThreadId::as_str).collect::<Vec<_>>().join(", ")
}
