//! Folds the log into what interfaces show, and decides nothing.
//!
//! Events go in one by one, each with its place in the log; plain structs come out. What is where:
//!
//! - [`Frames`]: the wire. One logged event yields some [`Frame`]s, each one line of JSON;
//!   [`Dialect`] narrows and renames them; [`Lines`] are what goes out to one reader.
//! - [`Streamed`]: frames of text that is shown while it is produced and never logged.
//! - [`LastWords`] and [`Speech`]: such text as screens show it: the end of what each agent says, and all that one of them says.
//! - [`Tree`]: who is there, what each one does and what it cost. Any order, any duplicates, the same tree.
//! - [`Transcript`]: one thread's conversation, as a person reads it afterwards.
//! - [`Ledger`]: what was used, by a thread and by its tree.
//! - [`draw`]: lines of text for terminals; [`markdown`]: what models write, as such lines; [`safe`]: how untrusted text is shown; [`exit_code`] and [`exit_reason`]: how a run ends for a shell.
//!
//! Absent on purpose: where events are kept (`store`), who reads the frames (`cli`, `server`), colours, and any clock:
//! `now` is handed in where it is needed.

mod argument;
mod attached;
pub mod clock;
pub mod dialect;
pub mod draw;
mod exit;
pub mod frame;
mod frames;
mod known;
mod last_words;
mod lines;
pub mod markdown;
mod notice;
pub mod safe;
mod speech;
mod streamed;
mod thinking;
mod transcript;
mod tree;
mod usage;

use agent::{Event, ThreadId, Time};

pub use attached::AttachedFile;
pub use dialect::Dialect;
pub use exit::{exit_code, exit_reason};
pub use frame::{Body, Frame};
pub use frames::{FRAMES_PER_EVENT, Frames};
pub use last_words::LastWords;
pub use lines::{Line, Lines};
pub use notice::Notice;
pub use speech::{Speech, Spoken};
pub use streamed::{StreamSource, Streamed, UnfinishedAnswers};
pub use transcript::{ChildRow, Entry, ToolRow, Transcript};
pub use tree::{DEPTH_DRAWN, LastTool, Node, Retry, Tree};
pub use usage::{Ledger, ModelUsage, Totals, used_by};

/// An event with its place in the log: all that a fold needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Logged<'a> {
    /// Its number within a root and all its descendants; it grows strictly.
    pub seq: u64,
    /// The thread whose log it stands in.
    pub thread: &'a ThreadId,
    /// When it was written.
    pub at: Time,
    /// What happened.
    pub event: &'a Event,
}
