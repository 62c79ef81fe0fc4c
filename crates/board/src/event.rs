//! What happened to a board: kept for ever, in the past tense. Each event is about one task at most.

use std::sync::Arc;

use agent::{InputId, Mode, ThreadId, Time};
use serde::{Deserialize, Serialize};

use crate::assignee::Assignee;
use crate::command::Edit;
use crate::delivery::{Delivery, DeliveryId};
use crate::id::{Actor, BoardId, TaskId};
use crate::task::{Note, Task};

/// An event as it is kept: with who made it happen, and the name of the command that it came of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Who.
    pub by: Actor,
    /// The command, where its sender gave it a name: sent again under the same name, it is not carried out again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<InputId>,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The first event of a board.
    BoardOpened {
        /// The folder in which its agents work.
        folder: Arc<str>,
    },
    /// A task was made.
    TaskAdded(Box<Task>),
    /// Fields of a task were changed.
    TaskEdited {
        /// Which task.
        task: TaskId,
        /// The new values.
        edit: Box<Edit>,
        /// How many of its dependencies are not completed.
        open: u32,
    },
    /// A task was given to an assignee, or taken from the one that it had.
    TaskAssigned {
        /// Which task.
        task: TaskId,
        /// The new assignee.
        assignee: Option<Assignee>,
        /// Its thread, where that is known already.
        thread: Option<ThreadId>,
        /// The most that the assignee may do, where an agent chose it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
        /// Whether it counts among what agents have done to each other over the task: an agent wanted it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        counts: bool,
    },
    /// A person has acted on a task: what agents do to each other over it is counted anew.
    TaskAttended {
        /// Which task.
        task: TaskId,
    },
    /// A task has got words that may be untrusted text.
    TaskMarkedForeign {
        /// Which task.
        task: TaskId,
    },
    /// A task that this one comes after was completed.
    DependencyClosed {
        /// The later task.
        task: TaskId,
        /// The one that was completed.
        on: TaskId,
    },
    /// A task that this one comes after is to be done again.
    DependencyOpened {
        /// The later task.
        task: TaskId,
        /// The one that is open again.
        on: TaskId,
    },
    /// A remark was made.
    NoteAdded {
        /// Which task.
        task: TaskId,
        /// The remark.
        note: Note,
    },
    /// A task is on its way to an agent.
    TaskHandedOut {
        /// Which task.
        task: TaskId,
        /// What is to be done for that.
        delivery: Box<Delivery>,
    },
    /// The thread that gets the task is known.
    TaskNamed {
        /// Which task.
        task: TaskId,
        /// The thread.
        thread: ThreadId,
        /// What is known of a thread that is made for the task; none for one that existed.
        agent: Option<Box<StartedAgent>>,
    },
    /// An agent has the task: its thread was made, or has the assignment in its log.
    TaskBegun {
        /// Which task.
        task: TaskId,
        /// The delivery that brought it.
        delivery: DeliveryId,
        /// The thread.
        thread: ThreadId,
        /// How many events the thread had.
        thread_n: u64,
        /// What is known of a thread that was made for the task; none for one that existed.
        agent: Option<Box<StartedAgent>>,
    },
    /// No agent could be started: the task waits, with the reason.
    StartFailed {
        /// Which task.
        task: TaskId,
        /// The delivery.
        delivery: DeliveryId,
        /// Why.
        reason: Arc<str>,
    },
    /// An assignee, or a person, began to work on a task.
    TaskInProgress {
        /// Which task.
        task: TaskId,
        /// As with [`Event::TaskAssigned`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        counts: bool,
    },
    /// What must hold for a task did not.
    ChecksFailed {
        /// Which task.
        task: TaskId,
        /// What failed.
        what: Arc<str>,
    },
    /// A task is done.
    TaskCompleted {
        /// Which task.
        task: TaskId,
        /// Who said so.
        by: Actor,
        /// What was handed in.
        result: Option<Arc<str>>,
    },
    /// A task cannot go on.
    TaskBlocked {
        /// Which task.
        task: TaskId,
        /// Why.
        reason: Arc<str>,
        /// What was handed in.
        result: Option<Arc<str>>,
    },
    /// A task is to be done, again.
    TaskReopened {
        /// Which task.
        task: TaskId,
        /// As with [`Event::TaskAssigned`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        counts: bool,
    },
    /// A task is out of the way.
    TaskArchived {
        /// Which task.
        task: TaskId,
    },
    /// A task is gone.
    TaskRemoved {
        /// Which task.
        task: TaskId,
    },
    /// A thread is to be told something.
    Told {
        /// What, and whom.
        delivery: Box<Delivery>,
        /// As with [`Event::TaskAssigned`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        counts: bool,
    },
    /// A delivery was carried out, or need not be any more.
    DeliveryDone {
        /// Which.
        delivery: DeliveryId,
        /// The task that it is about.
        task: TaskId,
        /// Why it was not carried out; none where it was.
        dropped: Option<Arc<str>>,
    },
}

/// A thread that was made for a task (LACE-5, LACE-8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedAgent {
    /// Its name.
    pub name: Arc<str>,
    /// The provider.
    pub provider: Arc<str>,
    /// The model, without the provider.
    pub model: Arc<str>,
    /// The thread under which it was made; itself for a root.
    pub parent: ThreadId,
}

impl Event {
    /// Its name in storage.
    pub const fn kind(&self) -> &'static str {
        match self {
            Event::BoardOpened { .. } => "board_opened",
            Event::TaskAdded(_) => "task_added",
            Event::TaskEdited { .. } => "task_edited",
            Event::TaskAssigned { .. } => "task_assigned",
            Event::TaskAttended { .. } => "task_attended",
            Event::TaskMarkedForeign { .. } => "task_marked_foreign",
            Event::DependencyClosed { .. } => "dependency_closed",
            Event::DependencyOpened { .. } => "dependency_opened",
            Event::NoteAdded { .. } => "note_added",
            Event::TaskHandedOut { .. } => "task_handed_out",
            Event::TaskNamed { .. } => "task_named",
            Event::TaskBegun { .. } => "task_begun",
            Event::StartFailed { .. } => "start_failed",
            Event::TaskInProgress { .. } => "task_in_progress",
            Event::ChecksFailed { .. } => "checks_failed",
            Event::TaskCompleted { .. } => "task_completed",
            Event::TaskBlocked { .. } => "task_blocked",
            Event::TaskReopened { .. } => "task_reopened",
            Event::TaskArchived { .. } => "task_archived",
            Event::TaskRemoved { .. } => "task_removed",
            Event::Told { .. } => "told",
            Event::DeliveryDone { .. } => "delivery_done",
        }
    }

    /// The task that it is about.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Event::BoardOpened { .. } => None,
            Event::TaskAdded(task) => Some(&task.id),
            Event::TaskEdited { task, .. }
            | Event::TaskAssigned { task, .. }
            | Event::TaskAttended { task }
            | Event::TaskMarkedForeign { task }
            | Event::DependencyClosed { task, .. }
            | Event::DependencyOpened { task, .. }
            | Event::NoteAdded { task, .. }
            | Event::TaskHandedOut { task, .. }
            | Event::TaskNamed { task, .. }
            | Event::TaskBegun { task, .. }
            | Event::StartFailed { task, .. }
            | Event::TaskInProgress { task, .. }
            | Event::ChecksFailed { task, .. }
            | Event::TaskCompleted { task, .. }
            | Event::TaskBlocked { task, .. }
            | Event::TaskReopened { task, .. }
            | Event::TaskArchived { task }
            | Event::TaskRemoved { task }
            | Event::DeliveryDone { task, .. } => Some(task),
            Event::Told { delivery, .. } => Some(&delivery.task),
        }
    }

    /// The delivery that is to be carried out from this event on.
    pub fn delivery(&self) -> Option<&Delivery> {
        match self {
            Event::TaskHandedOut { delivery, .. } | Event::Told { delivery, .. } => Some(delivery),
            _ => None,
        }
    }

    /// The delivery that need not be carried out from this event on.
    pub fn settled(&self) -> Option<&DeliveryId> {
        match self {
            Event::TaskBegun { delivery, .. }
            | Event::StartFailed { delivery, .. }
            | Event::DeliveryDone { delivery, .. } => Some(delivery),
            _ => None,
        }
    }
}

/// What is kept of a board as a whole. It is small, however many tasks there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// Its name.
    pub id: BoardId,
    /// The folder in which its agents work.
    pub folder: Arc<str>,
    /// How many events there are.
    pub n: u64,
    /// How many tasks were ever made.
    pub tasks: u64,
    /// How many deliveries were ever made.
    pub deliveries: u64,
}

impl Board {
    /// A board of which no event is kept yet.
    pub fn new(id: BoardId) -> Self {
        Self { id, folder: "".into(), n: 0, tasks: 0, deliveries: 0 }
    }

    /// Changes it as an event says. It decides nothing.
    pub fn apply(&mut self, event: &Event) {
        self.n += 1;
        match event {
            Event::BoardOpened { folder } => self.folder = folder.clone(),
            Event::TaskAdded(_) => self.tasks += 1,
            Event::TaskHandedOut { .. } | Event::Told { .. } => self.deliveries += 1,
            _ => {}
        }
    }
}

impl Task {
    /// The task that an event begins; none for any other event.
    pub fn added(at: Time, event: &Event) -> Option<Self> {
        match event {
            Event::TaskAdded(task) => Some(Task { created_at: at, updated_at: at, ..(**task).clone() }),
            _ => None,
        }
    }
}
