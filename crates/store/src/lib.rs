//! The log: an append-only store of events, and what is folded from it.
//!
//! Three traits say what a store can do: [`Log`] (append, read, follow), [`Ownership`] (which process works on which thread) and
//! [`Lists`] (threads, sub-agents, questions, usage). [`Boards`] are lists of tasks, each a stream of its own; [`Installation`] is a small
//! stream for what holds for every thread.
//! [`Store`] is all of them, and [`open`] opens one.
//!
//! A thread's log is the only truth. Everything else that is kept here (lists, executions, usage) is folded from it in the
//! same transaction, and a wake is only a hint. Two owners can never both write: every commit names the number of events
//! that its writer has seen and the epoch at which it owns the thread, and one that is behind is refused.
//!
//! What events mean is left to the rules (`agent`), what becomes of a refusal to the runtime (`runtime`), and how a tree is
//! drawn to `view`.
//!
//! Deliberately absent: changing or deleting single events, queries over their content, and a clock: every time is passed in.

mod admission;
mod approvals;
mod boards;
mod codec;
pub mod conformance;
mod error;
#[cfg(feature = "failpoints")]
mod failpoint;
mod follow;
mod installation;
mod lists;
mod log;
mod memory;
mod open;
mod ownership;
mod postgres;
mod process;
mod projection;
mod resolve;
mod rows;
mod search;
mod sqlite;

pub use approvals::{ApprovalQuery, ApprovalRow, ApprovalStatus};
pub use boards::{
    AgentMetadata, BoardCommit, BoardRecord, Boards, DeliveryQuery, DueDelivery, OnBoard, Rebuilt, RestingQuery,
    RestingTask, TaskQuery, carry_out, follow_board, follow_boards, full_name,
};
pub use error::{Error, Source};
pub use follow::{Follow, PAGE, Selection, follow, follow_installation, read_all, replay, replay_until};
pub use installation::{
    ApprovedTool, BrowserSession, Consent, Current, Installation, InstallationEvent, InstallationRecord, LastServer,
    ProjectJudgement, ServerTools, State as InstallationState, UnfinishedConversation,
};
pub use lists::Lists;
pub use log::{Answer, Appended, Commit, Log, Record};
pub use memory::MemoryStore;
pub use open::{Durability, Health, Location, Machine, Options, Store, installation_at, open, record_at};
pub use ownership::{ClaimKind, ClaimQuery, Claimed, Living, Ownership, WorkerRow};
pub use postgres::{Address, DatabaseStatus, PostgresStore};
pub use process::{HEARTBEAT_EXPIRES_MS, Process, ProcessId};
pub use rows::{CurrentTask, Execution, LEASE_MS, Owner, Status, ThreadQuery, ThreadRow, UsageRow, Wake};
pub use search::{Found, SearchQuery};

/// The environment variables that the store reads in this build: none, except in builds for tests.
pub const VARIABLES: &[&str] = &[
    #[cfg(feature = "failpoints")]
    failpoint::VARIABLE,
];

#[cfg(test)]
mod tests;
