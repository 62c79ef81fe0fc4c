//! A task: what it is and how far it is. It changes in [`Task::apply`] alone.

use std::fmt;
use std::sync::Arc;

use agent::{Checks, Mode, ThreadId, Time};
use serde::{Deserialize, Serialize};

use crate::assignee::Assignee;
use crate::delivery::DeliveryId;
use crate::event::{Event, StartedAgent};
use crate::id::{Actor, TaskId};

/// Notes that a task itself holds, the newest; all of them are in the log.
const RECENT: usize = 3;

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It waits: for its dependencies, for a place, or for a person.
    Pending,
    /// Its assignee works on it.
    InProgress,
    /// It cannot go on without a person or its creator; the reason is with it.
    Blocked,
    /// Its assignee, or a person, has said that it is done.
    Completed,
    /// It is out of the way.
    Archived,
}

impl Status {
    /// All of them, in the order of a board's columns.
    pub const ALL: [Self; 5] = [Self::Pending, Self::InProgress, Self::Blocked, Self::Completed, Self::Archived];

    /// The word used everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Archived => "archived",
        }
    }

    /// The status of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which of several tasks is handed out first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Before all others.
    High,
    /// Where nothing is said.
    #[default]
    Medium,
    /// After all others.
    Low,
}

impl Priority {
    /// All of them, the first first.
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// The word used everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// The priority of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.as_str() == text)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the agent of a task may spend; what is not said is as the configuration has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u32>,
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Money, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_microusd: Option<u64>,
    /// Time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

impl Budget {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A remark on a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Who made it.
    pub by: Actor,
    /// When.
    pub at: Time,
    /// The words.
    pub content: Arc<str>,
    /// The most that its author may do, where that is an agent: who may do more does not follow its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its name in the board.
    pub id: TaskId,
    /// One line.
    pub title: Arc<str>,
    /// What is to be done, in full.
    pub prompt: Arc<str>,
    /// Which of several is handed out first.
    pub priority: Priority,
    /// How far it is.
    pub status: Status,
    /// Who made it.
    pub created_by: Actor,
    /// Who gets it, as it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<Assignee>,
    /// The thread that works on it, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// The tasks that must be completed before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<TaskId>,
    /// How many of those are not.
    #[serde(default)]
    pub open: u32,
    /// Its place among others of the same priority and in the columns of a board; less is earlier.
    pub rank: i64,
    /// When it should be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Time>,
    /// Words by which tasks are chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Arc<str>>,
    /// What its agent may spend.
    #[serde(default, skip_serializing_if = "Budget::is_empty")]
    pub budget: Budget,
    /// What must hold before it counts as completed.
    #[serde(default, skip_serializing_if = "Checks::is_empty")]
    pub checks: Checks,
    /// Whether its words may be untrusted text: its creator had read such.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// Whether a person took it in from a file that another may have written: its checks are not what the person wrote.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    /// The most that its agent may do: no more than the agent that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Why it is blocked, or why no agent could be started for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// What its agent handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Arc<str>>,
    /// Who completed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_by: Option<Actor>,
    /// How often it was handed out.
    #[serde(default)]
    pub attempt: u32,
    /// The delivery that hands it out and is not confirmed yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handing_out: Option<DeliveryId>,
    /// What is known of the thread that is made for it, until it has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starting: Option<Box<StartedAgent>>,
    /// The delivery that brought it to its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_by: Option<DeliveryId>,
    /// How many events its thread had when it got the task.
    #[serde(default)]
    pub thread_n: u64,
    /// How often agents have woken each other over it, or have given it to each other, since a person last acted on it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wakes: u32,
    /// How often its checks have failed since it was handed out.
    #[serde(default)]
    pub failed_checks: u32,
    /// How many notes there are.
    #[serde(default)]
    pub note_count: u32,
    /// The newest of them, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent_notes: Vec<Note>,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

impl Task {
    /// Whether it takes one of the board's places: an agent has it, or is about to.
    pub fn is_active(&self) -> bool {
        let is_agents = !matches!(self.assignee, None | Some(Assignee::Human));
        self.handing_out.is_some() || (self.status == Status::InProgress && is_agents)
    }

    /// Whether its thread may have it although the board does not know so yet: the process that hands it out may have died between the
    /// thread's first event and its confirmation here.
    pub fn may_have_reached_its_thread(&self) -> bool {
        self.handing_out.is_some() && self.thread.is_some()
    }

    /// Whether it can be handed to an agent.
    pub fn is_runnable(&self) -> bool {
        let is_agents = !matches!(self.assignee, None | Some(Assignee::Human));
        // One that could not be started waits until it is assigned or reopened.
        self.status == Status::Pending && self.open == 0 && is_agents && !self.is_active() && self.reason.is_none()
    }

    /// Whether it is being handed to the agent of this name.
    pub fn is_starting(&self, agent: &str) -> bool {
        let is_for = matches!(&self.assignee, Some(Assignee::Agent(name)) if &**name == agent);
        self.handing_out.is_some() && is_for
    }

    /// Who has it, as lists show it: the thread once there is one.
    pub fn assigned_to(&self) -> Option<String> {
        match (&self.thread, &self.assignee) {
            (Some(thread), _) => Some(thread.to_string()),
            (None, assignee) => assignee.as_ref().map(ToString::to_string),
        }
    }

    /// Why it waits, in a few words; none where it does not.
    pub fn waits_for(&self) -> Option<String> {
        match (self.status, &self.reason, self.open) {
            (Status::Pending, Some(reason), _) => Some(reason.to_string()),
            (Status::Pending, None, 1..) => Some(format!("waits for {}", self.open_list())),
            (Status::Blocked, Some(reason), _) => Some(reason.to_string()),
            _ => None,
        }
    }

    fn open_list(&self) -> String {
        match (self.after.as_slice(), self.open) {
            ([only], _) => only.to_string(),
            (all, open) if all.len() == open as usize => all.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "),
            (all, open) => format!("{open} of {}", all.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Changes it as an event about it says. It decides nothing.
    pub fn apply(&mut self, at: Time, event: &Event) {
        self.updated_at = at;
        if let Event::TaskAssigned { counts, .. }
        | Event::TaskInProgress { counts, .. }
        | Event::TaskReopened { counts, .. }
        | Event::Told { counts, .. } = event
        {
            self.wakes = self.wakes.saturating_add(u32::from(*counts));
        }
        match event {
            Event::BoardOpened { .. } | Event::Told { .. } | Event::DeliveryDone { .. } | Event::TaskAdded(_) => {}
            Event::TaskAttended { .. } => self.wakes = 0,
            Event::TaskRemoved { .. } => self.status = Status::Archived,
            Event::TaskEdited { edit, open, .. } => {
                edit.apply(self);
                self.open = *open;
            }
            Event::TaskMarkedForeign { .. } => self.foreign = true,
            Event::TaskAssigned { assignee, thread, mode, .. } => {
                self.let_go();
                self.mode = self.mode.into_iter().chain(*mode).reduce(Mode::meet);
                (self.assignee, self.thread) = (assignee.clone(), thread.clone());
                (self.reason, self.status) = (None, Status::Pending);
            }
            Event::DependencyClosed { .. } => self.open = self.open.saturating_sub(1),
            Event::DependencyOpened { .. } => self.open += 1,
            Event::NoteAdded { note, .. } => {
                self.note_count += 1;
                self.recent_notes.push(note.clone());
                let more = self.recent_notes.len().saturating_sub(RECENT);
                self.recent_notes.drain(..more);
            }
            Event::TaskHandedOut { delivery, .. } => {
                self.attempt += 1;
                self.failed_checks = 0;
                self.handing_out = Some(delivery.id.clone());
            }
            Event::TaskNamed { thread, agent, .. } => {
                (self.thread, self.starting) = (Some(thread.clone()), agent.clone());
            }
            Event::TaskBegun { thread, thread_n, delivery, .. } => {
                self.let_go();
                self.begun_by = Some(delivery.clone());
                (self.status, self.thread, self.thread_n) = (Status::InProgress, Some(thread.clone()), *thread_n);
            }
            Event::StartFailed { reason, .. } => {
                // A thread that was to be made does not exist.
                if self.starting.is_some() {
                    self.thread = None;
                }
                self.let_go();
                self.reason = Some(reason.clone());
            }
            Event::TaskInProgress { .. } => (self.status, self.reason) = (Status::InProgress, None),
            Event::ChecksFailed { .. } => self.failed_checks += 1,
            Event::TaskCompleted { by, result, .. } => {
                self.let_go();
                (self.status, self.reason, self.completed_by) = (Status::Completed, None, Some(by.clone()));
                if result.is_some() {
                    self.result.clone_from(result);
                }
            }
            Event::TaskBlocked { reason, result, .. } => {
                self.let_go();
                (self.status, self.reason) = (Status::Blocked, Some(reason.clone()));
                if result.is_some() {
                    self.result.clone_from(result);
                }
            }
            Event::TaskReopened { .. } => {
                self.let_go();
                (self.status, self.reason, self.completed_by) = (Status::Pending, None, None);
            }
            Event::TaskArchived { .. } => {
                self.let_go();
                self.status = Status::Archived;
            }
        }
    }

    fn let_go(&mut self) {
        (self.handing_out, self.starting) = (None, None);
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
