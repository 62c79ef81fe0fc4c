//! The rules of one board: a list of tasks, who works on each, and what is still to be told to whom.
//!
//! A board is a stream of events in the same log as threads. It has no owner and is never loaded as a whole. A process that has a
//! [`Command`] for it
//! 1. asks [`Command::wanted`] what the decision will look at, and reads that: the tasks that are touched and their neighbours
//!    ([`Facts`], gathered by [`Facts::gather`] from whatever keeps the tasks);
//! 2. calls [`handle`], which answers with events and a [`Reply`], or with a [`Refusal`] in one sentence;
//! 3. commits the events, if the board has exactly as many as the facts say. A lost race reads and decides again.
//!
//! Each event changes at most one task ([`Task::apply`]), one row of the board ([`Board::apply`]) and one delivery
//! ([`Event::delivery`]), so that a store can fold it without knowing the rest.
//!
//! What follows from a decision and is done elsewhere is a [`Delivery`]: start an agent, hand a task to a thread, tell a thread something. It
//! is part of the board's state until a command confirms it. Any process may carry it out; its id makes doing it twice harmless.
//!
//! | file | what it decides |
//! |---|---|
//! | `decide/add.rs` | new tasks, dependencies among them |
//! | `decide/assign.rs` | who gets a task |
//! | `decide/status.rs` | completed, blocked, reopened, archived, removed |
//! | `decide/edit.rs` | other fields, notes, dependencies of a task that exists |
//! | `decide/take.rs` | which tasks are handed out next |
//! | `decide/performed.rs` | what became of a delivery, and of an agent's turn |
//!
//! [`words`] has every text that an agent is told about tasks; [`import`] reads checklists.
//!
//! Deliberately absent: async, clocks, files, randomness, locks; how tasks are kept (`crates/store`); how an agent is started
//! (`crates/majordomo`).

mod assignee;
mod command;
mod decide;
mod delivery;
mod event;
mod facts;
mod id;
pub mod import;
pub mod kept;
mod refusal;
mod task;
pub mod words;

pub use agent::Checks;
pub use assignee::{Assignee, NewAgent, Who};
pub use command::{Change, Command, Dependency, Edit, MOST_WAKES, NewTask, Reply, Request, Update};
pub use decide::{Step, handle};
pub use delivery::{Delivery, DeliveryId, DeliveryKind, Notice};
pub use event::{Board, Entry, Event, StartedAgent};
pub use facts::{Facts, Look, Wanted};
pub use id::{Actor, BoardId, TaskId};
pub use refusal::Refusal;
pub use task::{Budget, Note, Priority, Status, Task};

/// How many tasks one command can add.
pub const MOST_AT_ONCE: usize = 10_000;
