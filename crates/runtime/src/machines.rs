//! What several machines that share a store leave to each other: which threads this process may drive, which sub-agents it begins itself
//! and which it leaves to be claimed, and how it hears of those that others drive.
//!
//! On a store of one machine all of it is without effect: every sub-agent is begun by the process of its parent.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use agent::ThreadId;
use agent::event::ThreadCreated;
use store::{Living, WorkerRow};
use tokio::sync::Notify;
use tool::Workspace;

use crate::error::Error;
use crate::runtime::{Inner, lock};

/// How long what is known of other processes is used.
const KNOWN: Duration = Duration::from_secs(1);

/// The commands of processes that claim threads.
const CLAIMING: [&str; 2] = ["work", "serve"];

/// The folder in which threads of other machines work here that need no folder; nothing is ever in it.
const NOWHERE: &str = "nowhere";

/// How many agents a process works with at the same time. Those that wait for sub-agents or for a person do not count.
#[derive(Debug)]
pub struct Room {
    most: usize,
    busy: AtomicUsize,
    /// Whether nothing waits that this process could claim, as far as it knows.
    is_drained: AtomicBool,
    freed: Notify,
}

impl Room {
    /// Room for so many.
    pub fn new(most: usize) -> Self {
        Self { most, busy: AtomicUsize::new(0), is_drained: AtomicBool::new(false), freed: Notify::new() }
    }

    /// For how many more there is room.
    pub fn left(&self) -> usize {
        self.most.saturating_sub(self.busy.load(Ordering::Relaxed))
    }

    /// Says whether something waits to be claimed: then what becomes free is not taken by sub-agents of those that are here.
    pub fn set_drained(&self, is_drained: bool) {
        self.is_drained.store(is_drained, Ordering::Relaxed);
    }

    /// Whether nothing waits to be claimed, as far as it is known.
    pub fn is_drained(&self) -> bool {
        self.is_drained.load(Ordering::Relaxed)
    }

    /// Waits until there is room for one more than there was.
    pub async fn freed(&self) {
        self.freed.notified().await;
    }
}

/// An agent that works.
pub struct Busy(Arc<Room>);

impl Busy {
    pub fn new(room: Arc<Room>) -> Self {
        room.busy.fetch_add(1, Ordering::Relaxed);
        Self(room)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
        self.0.freed.notify_one();
    }
}

/// How this process works together with others.
#[derive(Default)]
pub struct Machines {
    /// Its room and its labels, if it claims threads.
    claiming: OnceLock<(Arc<Room>, Vec<Arc<str>>)>,
    /// Other processes that claim threads, and when they were looked for.
    workers: Mutex<Option<(Instant, Arc<[WorkerRow]>)>>,
    /// The processes that own threads and are alive, and when they were looked for.
    living: Mutex<Option<(Instant, Living)>>,
    /// Sub-agents that others drive, with the tasks that wait for news of them.
    followed: Mutex<HashMap<ThreadId, Arc<Notify>>>,
}

impl Machines {
    /// From here on it claims threads.
    pub fn claim(&self, room: Arc<Room>, labels: Vec<Arc<str>>) {
        // Set once: a staff belongs to one worker.
        let _ = self.claiming.set((room, labels));
    }

    /// Its room, if it claims threads.
    pub fn room(&self) -> Option<&Arc<Room>> {
        self.claiming.get().map(|(room, _)| room)
    }

    fn labels(&self) -> &[Arc<str>] {
        self.claiming.get().map_or(&[], |(_, labels)| labels)
    }

    /// Has the task that follows a sub-agent look at it.
    pub fn tell_of(&self, child: &ThreadId) {
        if let Some(news) = lock(&self.followed).get(child) {
            news.notify_one();
        }
    }

    /// Hears of a sub-agent until it is dropped.
    pub fn follow(self: &Arc<Self>, child: &ThreadId) -> Followed {
        let news = Arc::new(Notify::new());
        lock(&self.followed).insert(child.clone(), news.clone());
        Followed { machines: self.clone(), child: child.clone(), news }
    }
}

/// A sub-agent that is followed.
pub struct Followed {
    machines: Arc<Machines>,
    child: ThreadId,
    news: Arc<Notify>,
}

impl Followed {
    /// Waits for news of it.
    pub async fn news(&self) {
        self.news.notified().await;
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let mut followed = lock(&self.machines.followed);
        if followed.get(&self.child).is_some_and(|news| Arc::ptr_eq(news, &self.news)) {
            followed.remove(&self.child);
        }
    }
}

impl Inner {
    /// Whether several machines share the store.
    pub fn is_shared(&self) -> bool {
        self.store.machine().is_some()
    }

    /// The folder that a thread works in. One of another machine is not here, whatever lies under its name; a thread that needs none gets
    /// an empty one.
    pub fn workspace_of(&self, created: &ThreadCreated) -> Result<Arc<Workspace>, Error> {
        let (this, its) = (self.store.machine(), &created.place.machine);
        match (this, its) {
            (Some(this), Some(its)) if this.name != *its => match created.bound_to() {
                None => self.nowhere(),
                Some(_) => Err(Error::Elsewhere { thread: created.id.clone(), machine: its.clone() }),
            },
            _ => self.workspace(&created.workspace),
        }
    }

    /// An empty folder, for a thread that needs none or only ends.
    pub fn nowhere(&self) -> Result<Arc<Workspace>, Error> {
        let nowhere = self.data.as_deref().unwrap_or(&std::env::temp_dir()).join(NOWHERE);
        std::fs::create_dir_all(&nowhere).map_err(|error| Error::Store(store::Error::Io(Arc::new(error))))?;
        self.workspace(&nowhere.display().to_string())
    }

    /// Whether this process begins a sub-agent itself, and does not leave it to be claimed: one that claims threads, if it has room and
    /// nothing waits longer; any other, if no process claims threads that could take it.
    pub async fn begins(&self, created: &ThreadCreated) -> bool {
        if !self.is_shared() {
            return true;
        }
        match self.machines.room() {
            _ if !self.may_take(created) => false,
            Some(room) => room.left() > 0 && room.is_drained(),
            None => !self.has_worker_for(created).await,
        }
    }

    /// Whether a thread may be driven by this process: it is bound to no other machine, and requires no label that this process lacks.
    pub fn may_take(&self, created: &ThreadCreated) -> bool {
        let Some(this) = self.store.machine() else { return true };
        fits(created, &this.name, self.machines.labels())
    }

    /// Whether a living process claims threads that could take this one.
    pub async fn has_worker_for(&self, created: &ThreadCreated) -> bool {
        let workers = self.workers().await;
        workers.iter().any(|worker| fits(created, &worker.process.host, &worker.labels))
    }

    /// The processes that own threads and are alive, as they were a moment ago: all that follow a sub-agent ask for them.
    pub async fn living(&self) -> Result<Living, store::Error> {
        if let Some((at, living)) = &*lock(&self.machines.living)
            && at.elapsed() < KNOWN
        {
            return Ok(living.clone());
        }
        let living = self.store.living(self.clock.now()).await?;
        *lock(&self.machines.living) = Some((Instant::now(), living.clone()));
        Ok(living)
    }

    async fn workers(&self) -> Arc<[WorkerRow]> {
        let known = lock(&self.machines.workers).clone();
        if let Some((_, workers)) = known.filter(|(at, _)| at.elapsed() < KNOWN) {
            return workers;
        }
        let found = self.store.workers(self.clock.now()).await.unwrap_or_default();
        let claiming = found.into_iter().filter(|worker| CLAIMING.contains(&&*worker.command));
        let workers: Arc<[WorkerRow]> = claiming.collect();
        *lock(&self.machines.workers) = Some((Instant::now(), workers.clone()));
        workers
    }
}

fn fits(created: &ThreadCreated, machine: &Arc<str>, labels: &[Arc<str>]) -> bool {
    created.bound_to().is_none_or(|its| its == machine)
        && created.role.requires.iter().all(|label| labels.contains(label))
}
