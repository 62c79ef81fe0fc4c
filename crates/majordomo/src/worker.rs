//! A process that works what is runnable: it goes on with threads of tasks that another process left, and does the chores that it was given.
//!
//! A thread keeps the folder, the rules and the agents that it was created with: for each folder the worker opens a staff of its own, on the
//! one store, when there is something to do in it. Nothing of what is idle is held.
//!
//! Left to others: what the chores are ([`Chores`]; tasks, for example), and how a staff is opened ([`Open`]). Absent: a list of work of its
//! own. What is to be done is in the log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent::ThreadId;
use futures_util::future::BoxFuture;
use store::{Store, ThreadQuery, ThreadRow};
use tokio::sync::Mutex;

use crate::staff::{Error, Staff};
use crate::threads::is_left;

/// How often the worker looks for work at the least, where nothing is written meanwhile: a process that dies writes nothing.
const LOOK: Duration = Duration::from_secs(2);

/// Opens a staff for a folder, on a store that is open.
pub type Open = Box<dyn Fn(PathBuf, Arc<dyn Store>) -> BoxFuture<'static, Result<Staff, Error>> + Send + Sync>;

/// Something that a worker does again and again. It is called whenever something was written, and now and then in any case.
pub trait Chores: Send + Sync {
    /// Does what is to be done by now. What it starts goes on by itself.
    fn perform<'a>(&'a self, worker: &'a Worker) -> BoxFuture<'a, Result<(), Error>>;
}

/// A process that works what is runnable.
pub struct Worker {
    store: Arc<dyn Store>,
    open: Open,
    concurrency: usize,
    chores: Vec<Box<dyn Chores>>,
    /// The folders in which something was to be done.
    staffs: Mutex<BTreeMap<PathBuf, Staff>>,
}

impl Worker {
    /// A worker on a store, which drives at most so many threads of tasks at once.
    pub fn new(store: Arc<dyn Store>, open: Open, concurrency: usize, chores: Vec<Box<dyn Chores>>) -> Self {
        Self { store, open, concurrency, chores, staffs: Mutex::default() }
    }

    /// The same with a staff that is open already, for its folder.
    pub async fn with_staff(self, folder: PathBuf, staff: Staff) -> Self {
        self.staffs.lock().await.insert(folder, staff);
        self
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The staff of a folder, opened where it is not.
    pub async fn staff_for(&self, folder: &Path) -> Result<Staff, Error> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let mut staffs = self.staffs.lock().await;
        if let Some(staff) = staffs.get(&folder) {
            return Ok(staff.clone());
        }
        let staff = (self.open)(folder.clone(), self.store.clone()).await?;
        staffs.insert(folder, staff.clone());
        Ok(staff)
    }

    /// How many more threads of tasks may be started here.
    pub async fn room(&self) -> Result<usize, Error> {
        Ok(self.concurrency.saturating_sub(self.running().await?))
    }

    /// How many threads of tasks are driven here.
    pub async fn running(&self) -> Result<usize, Error> {
        let rows = self.rows().await?;
        let staffs = self.staffs.lock().await;
        let is_driven = |row: &&ThreadRow| staffs.values().any(|staff| staff.runtime().drives(&row.id));
        Ok(rows.iter().filter(is_driven).count())
    }

    /// Works until `stop` says so, then lets go of everything: what ran can be gone on with by another process.
    pub async fn work(&self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let mut stop = std::pin::pin!(stop);
        let mut tail = self.store.tail();
        loop {
            tail.borrow_and_update();
            let looked = async {
                self.adopt().await?;
                for chores in &self.chores {
                    chores.perform(self).await?;
                }
                Ok::<_, Error>(())
            };
            tokio::select! {
                () = &mut stop => break,
                looked = looked => if let Err(error) = looked {
                    // What cannot be done now is tried again at the next look.
                    tracing::warn!(%error, "not all that is runnable could be worked");
                },
            }
            tokio::select! {
                () = &mut stop => break,
                _ = tokio::time::timeout(LOOK, tail.changed()) => {}
            }
        }
        self.leave().await;
        Ok(())
    }

    /// Lets go of everything.
    pub async fn leave(&self) {
        for staff in self.staffs.lock().await.values() {
            staff.runtime().leave().await;
        }
    }

    /// Goes on with threads of tasks whose process is gone.
    async fn adopt(&self) -> Result<(), Error> {
        for row in self.rows().await? {
            let living = self.store.living(runtime::Clock::default().now()).await?;
            if !is_left(&row, &living) || self.room().await? == 0 {
                continue;
            }
            let staff = self.staff_of(&row.id).await?;
            match staff.runtime().resume(&row.id).await {
                Ok(_) => tracing::info!(thread = %row.id, "goes on here"),
                // Another process was quicker, or it has ended meanwhile.
                Err(
                    runtime::Error::Alive(_)
                    | runtime::Error::Idle(_)
                    | runtime::Error::Store(store::Error::Owned { .. }),
                ) => {}
                Err(error) => tracing::warn!(thread = %row.id, %error, "the thread is left as it is"),
            }
        }
        Ok(())
    }

    /// The staff of the folder that a thread works in.
    pub async fn staff_of(&self, thread: &ThreadId) -> Result<Staff, Error> {
        let first = self.store.read(thread, 0, 1).await?;
        let workspace = first.first().and_then(|record| match &*record.event {
            agent::Event::ThreadCreated(created) => Some(created.workspace.clone()),
            _ => None,
        });
        let unknown = || store::Error::UnknownThread(thread.as_str().into());
        self.staff_for(Path::new(&*workspace.ok_or_else(unknown)?)).await
    }

    /// Threads of tasks in which something is to be done.
    async fn rows(&self) -> Result<Vec<ThreadRow>, Error> {
        let query = ThreadQuery { live_only: true, of_tasks: true, limit: usize::MAX, ..ThreadQuery::default() };
        Ok(self.store.threads(query).await?)
    }
}
