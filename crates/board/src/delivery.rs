//! What follows from a decision and is done elsewhere: it is part of the board until a command confirms it.

use std::fmt;
use std::sync::Arc;

use agent::{InputId, Mode, ThreadId};
use serde::{Deserialize, Serialize};

use crate::assignee::NewAgent;
use crate::id::{BoardId, TaskId};
use crate::task::Note;

/// The name of a delivery, unique in its board: `d7`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeliveryId(Arc<str>);

impl DeliveryId {
    /// The `number`th of a board.
    pub fn of(number: u64) -> Self {
        Self(format!("d{number}").into())
    }

    /// A delivery's name as it was stored.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the input by which it reaches a thread: the same delivery has the same, in whichever process.
    pub fn input(&self, board: &BoardId) -> InputId {
        InputId::new(format!("board/{board}/{}", self.0))
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Something to be done elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Its name.
    pub id: DeliveryId,
    /// The task that it is about.
    pub task: TaskId,
    /// What is to be done.
    pub kind: DeliveryKind,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryKind {
    /// A new thread is to be made, whose first message is the task.
    Start {
        /// The name of a thread that is a root; none for a sub-agent, whose number its root gives out.
        thread: Option<ThreadId>,
        /// The root under which it is made.
        under: Option<ThreadId>,
        /// The agent and the model.
        new: NewAgent,
    },
    /// A thread that exists is to be handed the task.
    Assign {
        /// Which.
        to: ThreadId,
    },
    /// A thread is to be told something.
    Tell {
        /// Which.
        to: ThreadId,
        /// What.
        notice: Notice,
    },
}

impl DeliveryKind {
    /// Whether it hands out its task.
    pub fn hands_out(&self) -> bool {
        matches!(self, DeliveryKind::Start { .. } | DeliveryKind::Assign { .. })
    }

    /// The word for it in storage.
    pub const fn as_str(&self) -> &'static str {
        match self {
            DeliveryKind::Start { .. } => "start",
            DeliveryKind::Assign { .. } => "assign",
            DeliveryKind::Tell { .. } => "tell",
        }
    }
}

/// What a thread is told about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// A task that it made is completed.
    Completed,
    /// A task that it made is blocked.
    Blocked {
        /// Why.
        reason: Arc<str>,
        /// The most that the agent may do which says so, where it is another than the task's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
    },
    /// A note was added to a task of its own.
    Noted {
        /// The note.
        note: Note,
    },
    /// A task that it works on was given to another.
    Reassigned {
        /// To whom.
        to: Arc<str>,
    },
    /// A task that it works on is no longer to be done.
    Withdrawn,
}

impl Notice {
    /// The word for it on the wire.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Notice::Completed => "completed",
            Notice::Blocked { .. } => "blocked",
            Notice::Noted { .. } => "note",
            Notice::Reassigned { .. } => "reassigned",
            Notice::Withdrawn => "withdrawn",
        }
    }
}
