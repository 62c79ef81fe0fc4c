//! A board that is kept in memory: for stores without a file, for tests and for the simulator. It is folded from entries and can be
//! looked at; a store on disk does the same with rows.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use agent::{InputId, ThreadId, Time};

use crate::assignee::Assignee;
use crate::delivery::{Delivery, DeliveryId};
use crate::event::{Board, Entry, Event, StartedAgent};
use crate::facts::Look;
use crate::id::{BoardId, TaskId};
use crate::task::{Note, Status, Task};

/// A board in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The board.
    pub board: Board,
    /// Its tasks, by number.
    pub tasks: BTreeMap<u64, Task>,
    /// All remarks.
    pub notes: BTreeMap<TaskId, Vec<Note>>,
    /// What is still to be carried out.
    pub deliveries: BTreeMap<DeliveryId, Delivery>,
    /// Threads that were made for tasks, in the order of their making.
    pub agents: Vec<Agent>,
    commands: BTreeMap<InputId, Vec<Event>>,
    dependents: BTreeMap<TaskId, BTreeSet<TaskId>>,
}

/// A thread that was made for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The thread.
    pub thread: ThreadId,
    /// The task that it was made for.
    pub task: TaskId,
    /// The agent that it plays: the one that was asked for.
    pub agent: Arc<str>,
    /// What is known of it.
    pub started: StartedAgent,
    /// The title of the task that it works on.
    pub current: Option<Arc<str>>,
    /// When it was made.
    pub at: Time,
}

impl Kept {
    /// A board without events.
    pub fn new(id: BoardId) -> Self {
        Self {
            board: Board::new(id),
            tasks: BTreeMap::new(),
            notes: BTreeMap::new(),
            deliveries: BTreeMap::new(),
            agents: Vec::new(),
            commands: BTreeMap::new(),
            dependents: BTreeMap::new(),
        }
    }

    /// Takes in an event.
    pub fn apply(&mut self, at: Time, entry: &Entry) {
        let event = &entry.event;
        self.board.apply(event);
        if let Some(name) = &entry.command {
            self.commands.entry(name.clone()).or_default().push(event.clone());
        }
        if let Some(delivery) = event.delivery() {
            self.deliveries.insert(delivery.id.clone(), delivery.clone());
        }
        if let Some(settled) = event.settled() {
            self.deliveries.remove(settled);
        }
        if let Event::NoteAdded { task, note } = event {
            self.notes.entry(task.clone()).or_default().push(note.clone());
        }
        let Some(id) = event.task() else { return };
        if let Some(task) = Task::added(at, event) {
            self.depend(&task.id, &[], &task.after);
            self.tasks.insert(id.number(), task);
            return;
        }
        if let Some(task) = self.tasks.get_mut(&id.number()) {
            let before = task.clone();
            task.apply(at, event);
            let (after, status) = (task.after.clone(), task.status);
            if before.after != after {
                self.depend(id, &before.after, &after);
            }
            if before.status == Status::InProgress && status != Status::InProgress {
                let its = |agent: &&mut Agent| Some(&agent.thread) == before.thread.as_ref();
                for agent in self.agents.iter_mut().filter(its) {
                    agent.current.take_if(|title| *title == before.title);
                }
            }
        }
        match event {
            Event::TaskRemoved { task } => {
                let before = self.tasks.remove(&task.number()).map(|task| task.after).unwrap_or_default();
                self.depend(task, &before, &[]);
                self.notes.remove(task);
            }
            Event::TaskBegun { task, thread, agent, .. } => {
                let Some(its) = self.tasks.get(&task.number()) else { return };
                if let Some(started) = agent {
                    let (thread, task, started) = (thread.clone(), task.clone(), (**started).clone());
                    self.agents.push(Agent { thread, task, agent: played(its), started, current: None, at });
                }
                if let Some(agent) = self.agents.iter_mut().find(|agent| agent.thread == *thread) {
                    agent.current = Some(its.title.clone());
                }
            }
            _ => {}
        }
    }

    fn depend(&mut self, task: &TaskId, before: &[TaskId], after: &[TaskId]) {
        for on in before {
            if let Some(dependents) = self.dependents.get_mut(on) {
                dependents.remove(task);
            }
        }
        for on in after {
            self.dependents.entry(on.clone()).or_default().insert(task.clone());
        }
    }

    fn has_task(&self, thread: &ThreadId) -> bool {
        self.tasks.values().any(|task| task.is_active() && task.thread.as_ref() == Some(thread))
    }
}

/// The agent that the thread of a task plays.
pub fn played(task: &Task) -> Arc<str> {
    match &task.assignee {
        Some(Assignee::Agent(name)) => name.clone(),
        Some(Assignee::New(new)) => new.agent.clone().unwrap_or_else(|| "general".into()),
        Some(Assignee::Human | Assignee::Thread(_)) | None => "".into(),
    }
}

impl Look for Kept {
    type Error = Infallible;

    fn board(&self) -> Result<Option<Board>, Infallible> {
        Ok((self.board.n > 0).then(|| self.board.clone()))
    }

    fn command(&self, name: &InputId) -> Result<Option<Vec<Event>>, Infallible> {
        Ok(self.commands.get(name).cloned())
    }

    fn task(&self, task: &TaskId) -> Result<Option<Task>, Infallible> {
        Ok(self.tasks.get(&task.number()).cloned())
    }

    fn dependents(&self, task: &TaskId) -> Result<Vec<TaskId>, Infallible> {
        let mut dependents: Vec<TaskId> = self.dependents.get(task).into_iter().flatten().cloned().collect();
        dependents.sort_by_key(TaskId::number);
        Ok(dependents)
    }

    fn queue(&self, labels: &[Arc<str>], limit: usize) -> Result<Vec<Task>, Infallible> {
        let fits = |task: &&Task| labels.is_empty() || task.labels.iter().any(|label| labels.contains(label));
        let is_free = |task: &&Task| task.thread.as_ref().is_none_or(|thread| !self.has_task(thread));
        let mut queue: Vec<&Task> =
            self.tasks.values().filter(|task| task.is_runnable()).filter(fits).filter(is_free).collect();
        queue.sort_by_key(|task| (task.priority, task.rank, task.id.number()));
        Ok(queue.into_iter().take(limit).cloned().collect())
    }

    fn active(&self) -> Result<u32, Infallible> {
        Ok(u32::try_from(self.tasks.values().filter(|task| task.is_active()).count()).unwrap_or(u32::MAX))
    }

    fn is_busy(&self, thread: &ThreadId) -> Result<bool, Infallible> {
        Ok(self.has_task(thread))
    }

    fn worker(&self, agent: &str) -> Result<Option<ThreadId>, Infallible> {
        Ok(self.agents.iter().rev().find(|one| &*one.agent == agent).map(|one| one.thread.clone()))
    }

    fn is_starting(&self, agent: &str) -> Result<bool, Infallible> {
        Ok(self.tasks.values().any(|task| task.is_starting(agent)))
    }

    fn delivery(&self, delivery: &DeliveryId) -> Result<Option<Delivery>, Infallible> {
        Ok(self.deliveries.get(delivery).cloned())
    }
}
