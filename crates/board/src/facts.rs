//! What a decision looks at: the tasks that a command touches, their neighbours, and a few figures. Never a whole board.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent::{InputId, ThreadId};

use crate::assignee::Assignee;
use crate::command::Request;
use crate::delivery::{Delivery, DeliveryId};
use crate::event::{Board, Event};
use crate::id::TaskId;
use crate::task::Task;

/// What is to be looked at for a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// These tasks.
    pub tasks: BTreeSet<TaskId>,
    /// What comes after these tasks.
    pub dependents: BTreeSet<TaskId>,
    /// These tasks, and all that they come after, near and far.
    pub ancestors: Vec<TaskId>,
    /// Tasks that can be handed out: with one of these labels, and so many at the most.
    pub queue: Option<(Vec<Arc<str>>, usize)>,
    /// This delivery, and its task.
    pub delivery: Option<DeliveryId>,
}

/// What keeps a board's tasks, as far as decisions look at it. All answers are of one moment.
pub trait Look {
    /// Why it cannot be looked at.
    type Error;

    /// The board; none where no event is kept.
    fn board(&self) -> Result<Option<Board>, Self::Error>;
    /// The events of the command of that name.
    fn command(&self, name: &InputId) -> Result<Option<Vec<Event>>, Self::Error>;
    /// A task.
    fn task(&self, task: &TaskId) -> Result<Option<Task>, Self::Error>;
    /// The tasks that come after a task.
    fn dependents(&self, task: &TaskId) -> Result<Vec<TaskId>, Self::Error>;
    /// Tasks that can be handed out ([`Task::is_runnable`]) and whose thread, if they have one, has no other task; by priority, rank
    /// and number.
    fn queue(&self, labels: &[Arc<str>], limit: usize) -> Result<Vec<Task>, Self::Error>;
    /// How many tasks take a place ([`Task::is_active`]).
    fn active(&self) -> Result<u32, Self::Error>;
    /// Whether a task of this thread takes a place.
    fn is_busy(&self, thread: &ThreadId) -> Result<bool, Self::Error>;
    /// The thread that was last made for a task of this board and plays this agent.
    fn worker(&self, agent: &str) -> Result<Option<ThreadId>, Self::Error>;
    /// Whether a thread that plays this agent is on its way: a task is being handed to it, and it is not known as a worker yet.
    fn is_starting(&self, agent: &str) -> Result<bool, Self::Error>;
    /// A delivery that is to be carried out.
    fn delivery(&self, delivery: &DeliveryId) -> Result<Option<Delivery>, Self::Error>;
}

/// What a decision looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The board.
    pub board: Board,
    /// The events of the command of the same name, if it was carried out before.
    pub earlier: Option<Vec<Event>>,
    /// The tasks.
    pub tasks: BTreeMap<TaskId, Task>,
    /// What comes after a task.
    pub dependents: BTreeMap<TaskId, Vec<TaskId>>,
    /// Tasks that can be handed out, the first first.
    pub queue: Vec<TaskId>,
    /// How many take a place.
    pub active: u32,
    /// Threads that have a task.
    pub busy: BTreeSet<ThreadId>,
    /// The threads that play agents by their names.
    pub workers: BTreeMap<Arc<str>, ThreadId>,
    /// Agents for which a thread is on its way.
    pub starting: BTreeSet<Arc<str>>,
    /// The delivery that the command is about, if it is still to be carried out.
    pub delivery: Option<Delivery>,
}

impl Facts {
    /// Nothing but an empty board.
    pub fn none(board: Board) -> Self {
        Self {
            board,
            earlier: None,
            tasks: BTreeMap::new(),
            dependents: BTreeMap::new(),
            queue: Vec::new(),
            active: 0,
            busy: BTreeSet::new(),
            workers: BTreeMap::new(),
            starting: BTreeSet::new(),
            delivery: None,
        }
    }

    /// Looks up what a request needs.
    pub fn gather<L: Look>(look: &L, request: &Request, empty: Board) -> Result<Self, L::Error> {
        let mut facts = Self::none(look.board()?.unwrap_or(empty));
        if let Some(name) = &request.name {
            facts.earlier = look.command(name)?;
            if facts.earlier.is_some() {
                return Ok(facts);
            }
        }
        let wanted = request.command.wanted();
        for task in &wanted.tasks {
            facts.see(look, task)?;
        }
        for task in &wanted.dependents {
            let dependents = look.dependents(task)?;
            // What waits for a task keeps it from being put away.
            for dependent in &dependents {
                facts.see(look, dependent)?;
            }
            facts.dependents.insert(task.clone(), dependents);
        }
        let mut open = wanted.ancestors;
        while let Some(task) = open.pop() {
            if !facts.tasks.contains_key(&task) {
                facts.see(look, &task)?;
                open.extend(facts.tasks.get(&task).iter().flat_map(|task| task.after.iter().cloned()));
            }
        }
        if let Some((labels, limit)) = wanted.queue {
            facts.active = look.active()?;
            for task in look.queue(&labels, limit)? {
                if let Some(Assignee::Agent(agent)) = &task.assignee
                    && task.thread.is_none()
                    && !facts.workers.contains_key(agent)
                {
                    match look.worker(agent)? {
                        Some(worker) => {
                            if look.is_busy(&worker)? {
                                facts.busy.insert(worker.clone());
                            }
                            facts.workers.insert(agent.clone(), worker);
                        }
                        None if look.is_starting(agent)? => {
                            facts.starting.insert(agent.clone());
                        }
                        None => {}
                    }
                }
                facts.queue.push(task.id.clone());
                facts.tasks.insert(task.id.clone(), task);
            }
        }
        if let Some(delivery) = wanted.delivery {
            facts.delivery = look.delivery(&delivery)?;
            if let Some(delivery) = &facts.delivery {
                let task = delivery.task.clone();
                facts.see(look, &task)?;
            }
        }
        Ok(facts)
    }

    fn see<L: Look>(&mut self, look: &L, task: &TaskId) -> Result<(), L::Error> {
        if !self.tasks.contains_key(task)
            && let Some(found) = look.task(task)?
        {
            self.tasks.insert(task.clone(), found);
        }
        Ok(())
    }
}
