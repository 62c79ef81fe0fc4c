//! The shapes of what goes over HTTP, from which `/api/v1/openapi.json` is generated.
//!
//! Here is only what no other crate has. Threads, questions, executions and usage are described where they are folded (`store`), trees,
//! conversations and totals in `view`, models in `majordomo`, and the types of the rules in `schema`. Tests compare real answers with the
//! description, both ways: nothing is missing and nothing is unsaid.
//!
//! Fields are only ever added: readers pass over what they do not know.

mod approval;
mod event;
mod setup;
mod task;
mod task_event;
mod thread;
mod transcript;

pub use approval::{Decided, Verdict, Word};

pub use event::{Child, ChildData, Event, Frame, Metrics, Passing, Reset, Resolution, What};
pub use schema::{AgentState, ApprovalKind, CallErrorKind, Mode, Moment, Offer, Outcome, Question, Risk, Scope};
pub use setup::{AgentRole, Health, Models, Problem, Setting};
pub use store::ApprovalStatus;
pub use task::{NewNote, NewTask, TaskChange};
pub use task_event::{OfTask, TaskEdits, TaskFrame};
pub use thread::{
    Begin, Chat, Fork, MAX_FILE_BYTES, MAX_FILE_NAME, MAX_FILES, MAX_MESSAGE, Marks, NOT_BLANK, Said, SentFile,
    Started, Stop, Words,
};
pub use transcript::Messages;
