//! What can be asked of a board, and what the answer is.

use std::sync::Arc;

use agent::{Checks, InputId, Mode, ThreadId, Time};
use serde::{Deserialize, Deserializer, Serialize};

use crate::assignee::Assignee;
use crate::delivery::{Delivery, DeliveryId};
use crate::event::{Event, StartedAgent};
use crate::facts::Wanted;
use crate::id::{Actor, TaskId};
use crate::task::{Budget, Priority, Task};

/// How often agents may wake each other over a task where nothing else is configured.
pub const MOST_WAKES: u32 = 40;

/// A command with its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who asks.
    pub by: Actor,
    /// The command's name, where its sender gave it one: sent again under the same name, it is not carried out again.
    pub name: Option<InputId>,
    /// The folder in which agents of this board work, if the board does not exist yet.
    pub folder: Arc<str>,
    /// What is asked.
    pub command: Command,
    /// Whether its words may be untrusted text: the agent that asks has read such.
    pub foreign: bool,
    /// The most that an agent may do because of it: no more than the agent that asks. None where a person asks.
    pub mode: Option<Mode>,
    /// How often agents may wake each other over a task, or give it to each other, before a person has to act on it.
    pub most_wakes: u32,
}

impl Request {
    /// A request of a person, or of the program itself, whose words are trusted.
    pub fn new(by: Actor, name: Option<InputId>, folder: Arc<str>, command: Command) -> Self {
        Self { by, name, folder, command, foreign: false, mode: None, most_wakes: MOST_WAKES }
    }
}

/// What can be asked of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Make tasks, all or none.
    Add {
        /// In the order in which they get their numbers.
        tasks: Vec<NewTask>,
    },
    /// Give a task to an assignee; to none, take it from the one that it has.
    Assign {
        /// Which task.
        task: TaskId,
        /// To whom.
        to: Option<Assignee>,
    },
    /// Remark something.
    Note {
        /// Which task.
        task: TaskId,
        /// The words.
        text: Arc<str>,
    },
    /// Change fields of a task.
    Edit {
        /// Which task.
        task: TaskId,
        /// The new values.
        edit: Edit,
    },
    /// Change how far a task is.
    Set {
        /// Which task.
        task: TaskId,
        /// To what.
        change: Change,
        /// A remark that is made with it, before it.
        note: Option<Arc<str>>,
    },
    /// Several of these things at once, in this order: fields, assignee, remark, how far it is. All or none.
    Update {
        /// Which task.
        task: TaskId,
        /// What is to be different.
        update: Box<Update>,
    },
    /// Delete a task.
    Remove {
        /// Which task.
        task: TaskId,
    },
    /// Hand out what can be handed out, by priority.
    Take {
        /// How many the process that asks has room for.
        room: u32,
        /// How many agents may work for the board at the same time.
        most: u32,
        /// Only tasks with one of these labels; any task where there are none.
        labels: Vec<Arc<str>>,
        /// Names for new roots, as many as there is room for.
        fresh: Vec<ThreadId>,
    },
    /// The thread of a task is known and about to get it. Asked for before the thread is started, so that it may act on its task at once.
    Name {
        /// Which task.
        task: TaskId,
        /// Which delivery.
        delivery: DeliveryId,
        /// The thread.
        thread: ThreadId,
        /// What is known of a thread that is made for it.
        agent: Option<StartedAgent>,
    },
    /// A delivery was carried out: an agent has its task.
    Begun {
        /// Which task.
        task: TaskId,
        /// Which delivery.
        delivery: DeliveryId,
        /// The thread.
        thread: ThreadId,
        /// How many events it had.
        thread_n: u64,
    },
    /// A delivery was carried out: a thread was told.
    Delivered {
        /// Which delivery.
        delivery: DeliveryId,
    },
    /// A delivery cannot be carried out.
    Failed {
        /// Which delivery.
        delivery: DeliveryId,
        /// Why.
        reason: Arc<str>,
    },
    /// The turn of an agent that had a task is over.
    Ended {
        /// Which task.
        task: TaskId,
        /// The agent's thread.
        thread: ThreadId,
        /// Which time of handing it out.
        attempt: u32,
        /// How the turn ended, in one sentence.
        reason: Arc<str>,
        /// What the agent reported.
        report: Arc<str>,
    },
}

/// How far a task is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is worked on.
    InProgress,
    /// It is done.
    Completed {
        /// What is handed in.
        result: Option<Arc<str>>,
    },
    /// Its checks did not hold when it was said to be done.
    ChecksFailed {
        /// What failed.
        what: Arc<str>,
        /// After so many times it is blocked.
        most: u32,
    },
    /// It cannot go on.
    Blocked {
        /// Why.
        reason: Arc<str>,
    },
    /// It is to be done, again.
    Reopened,
    /// It is out of the way.
    Archived,
}

/// A task to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTask {
    /// One line.
    pub title: Arc<str>,
    /// What is to be done; the title where it is empty.
    pub prompt: Arc<str>,
    /// Which of several is handed out first.
    pub priority: Priority,
    /// Who gets it.
    pub assignee: Option<Assignee>,
    /// What it comes after.
    pub after: Vec<Dependency>,
    /// When it should be done.
    pub due: Option<Time>,
    /// Words by which tasks are chosen.
    pub labels: Vec<Arc<str>>,
    /// What its agent may spend.
    pub budget: Budget,
    /// What must hold before it counts as completed.
    pub checks: Checks,
    /// Whether its words may be untrusted text.
    pub foreign: bool,
    /// The most that its agent may do; as configured where nothing is said.
    pub mode: Option<Mode>,
    /// How many rounds of tasks have led to it since a person last spoke to the agent that makes it.
    pub wakes: u32,
    /// The line of a file in which it stands, for errors; 0 where it comes from no file.
    pub line: usize,
}

impl NewTask {
    /// A task with a title and nothing else.
    pub fn titled(title: impl Into<Arc<str>>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }
}

/// What a new task comes after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// A task that exists.
    Task(TaskId),
    /// A task of the same command, by its place from 0.
    New(usize),
}

/// New values for fields of a task; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Edit {
    /// One line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Arc<str>>,
    /// What is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Arc<str>>,
    /// Which of several is handed out first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// What it comes after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<TaskId>>,
    /// Its place among others; less is earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<i64>,
    /// When it should be done; nothing in it takes away what was said before.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub due: Option<Option<Time>>,
    /// Words by which tasks are chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<Arc<str>>>,
    /// Commands that must succeed before it counts as completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Vec<Arc<str>>>,
    /// What its agent may spend; a limit that is absent stays.
    #[serde(skip_serializing_if = "Budget::is_empty")]
    pub budget: Budget,
}

impl Edit {
    /// Puts the new values in their places.
    pub(crate) fn apply(&self, task: &mut Task) {
        let Edit { title, prompt, priority, after, rank, due, labels, checks, budget } = self.clone();
        task.title = title.unwrap_or_else(|| task.title.clone());
        task.prompt = prompt.unwrap_or_else(|| task.prompt.clone());
        task.priority = priority.unwrap_or(task.priority);
        task.rank = rank.unwrap_or(task.rank);
        task.due = due.unwrap_or(task.due);
        if let Some(after) = after {
            task.after = after;
        }
        if let Some(labels) = labels {
            task.labels = labels;
        }
        if let Some(checks) = checks {
            task.checks.commands = checks;
        }
        task.budget = Budget {
            max_tool_calls: budget.max_tool_calls.or(task.budget.max_tool_calls),
            max_tokens: budget.max_tokens.or(task.budget.max_tokens),
            max_cost_microusd: budget.max_cost_microusd.or(task.budget.max_cost_microusd),
            timeout_ms: budget.timeout_ms.or(task.budget.timeout_ms),
        };
    }
}

/// A value that is there is a new one, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Time>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// What one request changes of a task; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// New values for fields.
    pub edit: Edit,
    /// Who gets it.
    pub assign: Option<Assignee>,
    /// How far it is to be.
    pub change: Option<Change>,
    /// A remark. Those concerned are told it by itself, unless they are told of the change that it is made with.
    pub note: Option<Arc<str>>,
}

impl Update {
    /// The same as single commands, in the order in which they are decided.
    pub(crate) fn parts(&self, task: &TaskId) -> Vec<Command> {
        let Update { edit, assign, change, note } = self.clone();
        let mut parts = Vec::new();
        if edit != Edit::default() {
            parts.push(Command::Edit { task: task.clone(), edit });
        }
        if let Some(to) = assign {
            parts.push(Command::Assign { task: task.clone(), to: Some(to) });
        }
        match (change, note) {
            (Some(change), note) => parts.push(Command::Set { task: task.clone(), change, note }),
            (None, Some(text)) => parts.push(Command::Note { task: task.clone(), text }),
            (None, None) => {}
        }
        parts
    }
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// These tasks were made.
    Added(Vec<TaskId>),
    /// It was done.
    Done,
    /// Nothing had to be done: it was so already.
    Unchanged,
    /// These tasks were handed out; their deliveries are the asker's to carry out.
    Taken(Vec<Delivery>),
    /// What was carried out is not wanted any more: the task was given to another or withdrawn meanwhile.
    Unwanted,
}

impl Command {
    /// What the decision will look at.
    pub fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        match self {
            Command::Add { tasks } => {
                let after = tasks.iter().flat_map(|task| &task.after);
                wanted.tasks = after
                    .filter_map(|after| match after {
                        Dependency::Task(task) => Some(task.clone()),
                        Dependency::New(_) => None,
                    })
                    .collect();
            }
            Command::Assign { task, .. } | Command::Note { task, .. } | Command::Ended { task, .. } => {
                wanted.tasks.insert(task.clone());
            }
            Command::Edit { task, edit } => {
                wanted.tasks.insert(task.clone());
                wanted.ancestors = edit.after.iter().flatten().cloned().collect();
            }
            Command::Set { task, change, .. } => {
                wanted.tasks.insert(task.clone());
                if !matches!(change, Change::InProgress | Change::ChecksFailed { .. }) {
                    wanted.dependents.insert(task.clone());
                }
            }
            Command::Update { task, update } => {
                wanted.tasks.insert(task.clone());
                for part in update.parts(task) {
                    let Wanted { dependents, ancestors, .. } = part.wanted();
                    wanted.dependents.extend(dependents);
                    wanted.ancestors.extend(ancestors);
                }
            }
            Command::Remove { task } => {
                wanted.tasks.insert(task.clone());
                wanted.dependents.insert(task.clone());
            }
            // More than there is room for: some of them wait for an agent that has another task.
            Command::Take { room, labels, .. } => wanted.queue = Some((labels.clone(), (*room as usize * 4).max(64))),
            Command::Name { task, delivery, .. } | Command::Begun { task, delivery, .. } => {
                wanted.tasks.insert(task.clone());
                wanted.delivery = Some(delivery.clone());
            }
            Command::Delivered { delivery } | Command::Failed { delivery, .. } => {
                wanted.delivery = Some(delivery.clone());
            }
        }
        wanted
    }

    /// The task that gets words by it.
    pub(crate) fn worded(&self) -> Option<&TaskId> {
        match self {
            Command::Note { task, .. }
            | Command::Edit { task, .. }
            | Command::Set { task, .. }
            | Command::Ended { task, .. } => Some(task),
            Command::Update { task, update } => {
                update.parts(task).iter().any(|part| part.worded().is_some()).then_some(task)
            }
            Command::Add { .. }
            | Command::Assign { .. }
            | Command::Remove { .. }
            | Command::Take { .. }
            | Command::Name { .. }
            | Command::Begun { .. }
            | Command::Delivered { .. }
            | Command::Failed { .. } => None,
        }
    }

    /// The task that an agent, or a person, acts on by it.
    pub(crate) fn task(&self) -> Option<&TaskId> {
        match self {
            Command::Assign { task, .. }
            | Command::Note { task, .. }
            | Command::Edit { task, .. }
            | Command::Set { task, .. }
            | Command::Update { task, .. }
            | Command::Remove { task } => Some(task),
            Command::Add { .. }
            | Command::Take { .. }
            | Command::Name { .. }
            | Command::Begun { .. }
            | Command::Delivered { .. }
            | Command::Failed { .. }
            | Command::Ended { .. } => None,
        }
    }

    /// The answer that a command had when it was carried out with these events.
    pub(crate) fn earlier_reply(&self, events: &[Event]) -> Reply {
        let added = events.iter().filter_map(|event| match event {
            Event::TaskAdded(task) => Some(task.id.clone()),
            _ => None,
        });
        let handed = events.iter().filter_map(|event| match event {
            Event::TaskHandedOut { delivery, .. } => Some((**delivery).clone()),
            _ => None,
        });
        match self {
            Command::Add { .. } => Reply::Added(added.collect()),
            Command::Take { .. } => Reply::Taken(handed.collect()),
            _ => Reply::Done,
        }
    }
}
