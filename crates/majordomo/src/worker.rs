//! A process that works what is runnable: it goes on with threads of tasks that another process left, and with those that a notice about a
//! task had woken there, and does the chores that it was given.
//!
//! A thread keeps the folder, the rules and the agents that it was created with: for each folder the worker opens a staff of its own, on the
//! one store, when there is something to do in it. Nothing of what is idle is held.
//!
//! Left to others: what the chores are ([`Chores`]; tasks, for example), and how a staff is opened ([`Open`]). Absent: a list of work of its
//! own. What is to be done is in the log.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{ThreadId, Time};
use async_recursion::async_recursion as boxed;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use runtime::Room;
use store::{ClaimQuery, Process, ProcessId, Selection, Store, ThreadQuery, ThreadRow, WorkerRow, replay_until};
use tokio::sync::{Mutex, watch};

use crate::staff::{Error, Staff};
use crate::threads::is_left;
use crate::transfer;

/// How often the worker looks for work at the least, where nothing is written meanwhile: a process that dies writes nothing.
const LOOK: Duration = Duration::from_secs(2);

/// The same where the store says that a process has died: only leases that run out are not told of.
const RARE_LOOK: Duration = Duration::from_secs(20);

/// The least time between two looks of a worker that is calm.
const CALM: Duration = Duration::from_millis(300);

/// A staff that was opened for a folder is closed after this time without anything to do in it.
const UNUSED: Duration = Duration::from_secs(60);

/// How often threads are claimed, where several machines share the store.
const CLAIM: Duration = Duration::from_millis(400);

/// The least time between two such requests, where something was offered or there is room again.
const CLAIM_SOON: Duration = Duration::from_millis(50);

/// What is offered within this time is claimed together.
const CLAIM_TOGETHER: Duration = Duration::from_millis(10);

/// How long a thread is not claimed again that could not be taken over.
const REFUSED: Duration = Duration::from_secs(60);

/// Threads that are looked at in one go.
const PAGE: usize = 200;

/// How often the worker says that it is alive, for processes on other hosts.
const BEAT_MS: u64 = 10_000;

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
    /// The least time between two looks.
    pause: Duration,
    /// The one folder whose threads it goes on with; all where none is named.
    only_in: Option<PathBuf>,
    /// Under what it is known to other processes.
    row: WorkerRow,
    /// Interrupted threads that are not for a worker, by how many events they had when that was looked at. One that is no longer interrupted
    /// is forgotten with the next look.
    passed_over: Mutex<BTreeMap<ThreadId, u64>>,
    /// The folders in which something was to be done a short time ago.
    staffs: Mutex<BTreeMap<PathBuf, OpenStaff>>,
    /// After how long without anything to do a staff is closed.
    unused: Duration,
    /// The folder whose settings hold for threads that need no folder, and come from another machine.
    base: PathBuf,
    /// How many agents work here, where several machines share the store.
    room: Arc<Room>,
    /// What could not be taken over, and is not claimed again for a while.
    refused: std::sync::Mutex<Refused>,
}

/// What a worker does not claim for a while.
#[derive(Default)]
struct Refused {
    threads: BTreeMap<ThreadId, Instant>,
    /// Providers that cannot be asked from here.
    providers: BTreeMap<Arc<str>, Instant>,
}

/// A staff that is open.
struct OpenStaff {
    staff: Staff,
    /// When it was last asked for.
    used: Instant,
    /// Whether the worker opened it, and closes it.
    is_own: bool,
}

/// What a worker keeps in memory between two looks, beside the threads that it drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Folders for which a staff is open.
    pub folders: usize,
    /// Interrupted threads that are known not to be for a worker.
    pub passed_over: usize,
}

impl Worker {
    /// A worker of the command of that name on a store, which drives at most so many threads of tasks at once.
    pub fn new(
        command: &str,
        store: Arc<dyn Store>,
        open: Open,
        concurrency: usize,
        chores: Vec<Box<dyn Chores>>,
    ) -> Self {
        let mut current = Process::current();
        if let Some(machine) = store.machine() {
            current.host = machine.name;
        }
        let row = WorkerRow {
            process: Process { id: ProcessId::new(format!("{}-{command}", current.id)), ..current },
            command: command.into(),
            since: now(),
            labels: Vec::new(),
            concurrency: u32::try_from(concurrency).unwrap_or(u32::MAX),
            heard_at: None,
        };
        Self {
            store,
            open,
            concurrency,
            chores,
            pause: Duration::ZERO,
            only_in: None,
            row,
            passed_over: Mutex::default(),
            staffs: Mutex::default(),
            unused: UNUSED,
            base: std::env::current_dir().unwrap_or_else(|_| "/".into()),
            room: Arc::new(Room::new(concurrency)),
            refused: std::sync::Mutex::default(),
        }
    }

    /// The same, closing what it opened for a folder after this time without anything to do there.
    pub fn closing_after(self, unused: Duration) -> Self {
        Self { unused, ..self }
    }

    /// What is kept in memory.
    #[boxed]
    pub async fn held(&self) -> Held {
        let folders = self.staffs.lock().await.len();
        Held { folders, passed_over: self.passed_over.lock().await.len() }
    }

    /// The same, shown with the labels of the tasks that it takes.
    pub fn with_labels(mut self, labels: Vec<Arc<str>>) -> Self {
        self.row.labels = labels;
        self
    }

    /// The same, looking no more than a few times a second, however much is written: for a process that does other work.
    pub fn calmly(mut self) -> Self {
        self.pause = CALM;
        self
    }

    /// The same, going on only with threads that work in this folder.
    pub fn only_in(mut self, folder: &Path) -> Self {
        self.only_in = Some(canonical(folder));
        self
    }

    /// The same with a staff that is open already, for its folder.
    #[boxed]
    pub async fn with_staff(self, folder: PathBuf, staff: Staff) -> Self {
        self.share(&staff);
        let open = OpenStaff { staff, used: Instant::now(), is_own: false };
        self.staffs.lock().await.insert(canonical(&folder), open);
        self
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The staff of a folder, opened where it is not.
    #[boxed]
    pub(crate) async fn staff_for(&self, folder: &Path) -> Result<Staff, Error> {
        let folder = canonical(folder);
        let mut staffs = self.staffs.lock().await;
        if let Some(open) = staffs.get_mut(&folder) {
            open.used = Instant::now();
            return Ok(open.staff.clone());
        }
        let staff = (self.open)(folder.clone(), self.store.clone()).await?;
        self.share(&staff);
        staffs.insert(folder, OpenStaff { staff: staff.clone(), used: Instant::now(), is_own: true });
        Ok(staff)
    }

    /// Whether it claims whatever is runnable, and not only the threads of tasks: where several machines share the store.
    fn claims(&self) -> bool {
        self.only_in.is_none() && self.store.machine().is_some()
    }

    /// Lets a staff share the room of this process.
    fn share(&self, staff: &Staff) {
        if self.claims() {
            staff.runtime().claim_in(self.room.clone(), self.row.labels.clone());
        }
    }

    /// Closes what was opened for folders in which nothing is to be done any more.
    async fn close_unused(&self) {
        let unused: Vec<OpenStaff> = {
            let is_unused = |_: &PathBuf, open: &mut OpenStaff| {
                open.is_own && open.used.elapsed() >= self.unused && !open.staff.runtime().is_driving()
            };
            self.staffs.lock().await.extract_if(.., is_unused).map(|(_, open)| open).collect()
        };
        for open in unused {
            open.staff.close().await;
        }
    }

    /// How many more threads of tasks may be started here.
    #[boxed]
    pub async fn room(&self) -> Result<usize, Error> {
        Ok(self.concurrency.saturating_sub(self.running().await?))
    }

    /// How many threads of tasks are driven here.
    #[boxed]
    pub async fn running(&self) -> Result<usize, Error> {
        let mut query = ThreadQuery { live_only: true, of_tasks: true, limit: PAGE, ..ThreadQuery::default() };
        let mut running = 0;
        loop {
            let rows = self.store.threads(query.clone()).await?;
            let staffs = self.staffs.lock().await;
            let is_driven = |row: &&ThreadRow| staffs.values().any(|open| open.staff.runtime().drives(&row.id));
            running += rows.iter().filter(is_driven).count();
            if rows.len() < PAGE {
                return Ok(running);
            }
            query.before = rows.last().map(|row| row.id.clone());
        }
    }

    /// Works until `stop` says so, then lets go of everything: what ran can be gone on with by another process.
    pub async fn work(&self, stop: impl Future<Output = ()> + Send) -> Result<(), Error> {
        self.work_until(std::pin::pin!(stop)).await
    }

    #[boxed]
    async fn work_until(&self, mut stop: Pin<&mut (dyn Future<Output = ()> + Send)>) -> Result<(), Error> {
        let look = if self.store.tells_of_deaths() { RARE_LOOK } else { LOOK };
        let mut tail = self.store.tail();
        let mut beat_at = now();
        self.store.register_worker(self.row.clone(), beat_at).await?;
        if let Err(error) = transfer::clear_unfinished(&*self.store, beat_at).await {
            tracing::warn!(%error, "a part of a conversation may be left by an import that did not end");
        }
        let (mut lapses, mut is_known) = (self.store.lapses(), true);
        // Dropped before it leaves: what is being taken over holds connections.
        let mut claiming = Box::pin(self.claim_all());
        loop {
            tail.borrow_and_update();
            let has_lapsed = |lapses: &watch::Receiver<u64>| lapses.has_changed().unwrap_or(false);
            if lapses.as_ref().is_some_and(has_lapsed) {
                lapses.iter_mut().for_each(|lapses| drop(lapses.borrow_and_update()));
                is_known = false;
            }
            let looked = async {
                if !is_known {
                    // Others have taken it for dead, and removed it from those that work.
                    self.store.register_worker(self.row.clone(), now()).await?;
                    is_known = true;
                }
                // Where it claims threads, asking for them is its heartbeat.
                if !self.claims() && now().since_ms(beat_at) >= BEAT_MS {
                    beat_at = now();
                    self.store.heartbeat(&self.row.process.id, beat_at).await?;
                }
                // What a dead process was carrying out is done here.
                self.store.retire_workers(None, now()).await?;
                if !self.claims() {
                    self.adopt().await?;
                }
                for chores in &self.chores {
                    chores.perform(self).await?;
                }
                self.close_unused().await;
                Ok::<_, Error>(())
            };
            tokio::select! {
                () = &mut stop => break,
                () = &mut claiming => {}
                looked = looked => if let Err(error) = looked {
                    // What cannot be done now is tried again at the next look.
                    tracing::warn!(%error, "not all that is runnable could be worked");
                },
            }
            // What failed is tried again soon.
            let look = if is_known { look } else { look.min(LOOK) };
            tokio::select! {
                () = &mut stop => break,
                () = &mut claiming => {}
                () = changed(&mut lapses) => is_known = false,
                () = async {
                    let _ = tokio::time::timeout(look, tail.changed()).await;
                    tokio::time::sleep(self.pause).await;
                } => {}
            }
        }
        drop(claiming);
        self.leave().await;
        Ok(())
    }

    /// Lets go of everything.
    #[boxed]
    pub async fn leave(&self) {
        for open in self.staffs.lock().await.values() {
            open.staff.runtime().leave().await;
        }
        let this = &self.row.process.id;
        let left = async {
            self.store.retire_workers(Some(this.clone()), now()).await?;
            self.store.leave(this).await
        };
        if let Err(error) = left.await {
            // Others see that the process is gone.
            tracing::debug!(%error, "the worker could not take its name back");
        }
    }

    /// Claims threads for as long as it is awaited, and never ends. Asking for them is the heartbeat of this process.
    async fn claim_all(&self) {
        let offers = self.store.offers().filter(|_| self.claims());
        let Some(mut offers) = offers else { return std::future::pending().await };
        let mut taken = FuturesUnordered::new();
        // Threads that are being taken over; and whether there may be others that were given and not heard of.
        let (mut under_way, mut may_own_more) = (BTreeSet::new(), false);
        let mut is_waiting = false;
        loop {
            let begun = Instant::now();
            let limit = self.room.left().saturating_sub(taken.len());
            offers.borrow_and_update();
            let mut query = self.lock_refused().query(ClaimQuery {
                labels: self.row.labels.clone(),
                asked: true,
                owned: may_own_more,
                limit,
                ..ClaimQuery::default()
            });
            query.passed_over.extend(under_way.iter().cloned());
            let mut claim = self.store.claim_threads(&self.row.process.id, now(), query);
            let claimed = loop {
                // Those that are being taken over hold connections, for which the claim may have to wait.
                tokio::select! {
                    claimed = &mut claim => break claimed,
                    Some(thread) = taken.next(), if !taken.is_empty() => drop(under_way.remove(&thread)),
                }
            };
            match claimed {
                Ok(claimed) => {
                    if std::mem::take(&mut is_waiting) {
                        tracing::warn!("the store answers again");
                    }
                    self.room.set_drained(claimed.len() < limit);
                    may_own_more &= claimed.len() >= limit;
                    under_way.extend(claimed.iter().map(|claimed| claimed.thread.clone()));
                    taken.extend(claimed.into_iter().map(|claimed| self.take_over(claimed.thread)));
                }
                // It may have been carried out all the same, with an answer that was lost.
                Err(error) => {
                    may_own_more = true;
                    if !std::mem::replace(&mut is_waiting, true) {
                        let why = std::error::Error::source(&error).map_or_else(String::new, |why| format!(": {why}"));
                        tracing::warn!("waiting for the store: {error}{why}");
                    }
                }
            }
            let mut next = std::pin::pin!(tokio::time::sleep_until((begun + CLAIM).into()));
            loop {
                let is_full = self.room.left() <= taken.len();
                let news = async {
                    tokio::select! {
                        _ = offers.changed(), if !is_full => {}
                        () = self.room.freed(), if !self.room.is_drained() => {}
                        () = std::future::pending() => {}
                    }
                };
                tokio::select! {
                    () = &mut next => break,
                    Some(thread) = taken.next(), if !taken.is_empty() => drop(under_way.remove(&thread)),
                    () = news => {
                        let soon = (begun + CLAIM_SOON).max(Instant::now() + CLAIM_TOGETHER);
                        next.as_mut().reset(soon.min(begun + CLAIM).into());
                    }
                }
            }
        }
    }

    /// Goes on with a thread that this process has claimed, or leaves it to others. The store is waited for: a thread that this process owns
    /// and does not go on with would stand still as long as the process lives. The answer is the thread.
    async fn take_over(&self, thread: ThreadId) -> ThreadId {
        let mut process = None;
        let (error, provider) = loop {
            let mut provider = None;
            match self.try_to_take_over(&thread, &mut process, &mut provider).await {
                Ok(()) => {
                    tracing::debug!(%thread, "goes on here");
                    return thread;
                }
                Err(error) if is_passing(&error) => tokio::time::sleep(CLAIM).await,
                Err(error) => break (error, provider),
            }
        };
        tracing::warn!(%thread, %error, "the thread is left to other processes");
        match provider {
            Some(provider) => drop(self.lock_refused().providers.insert(provider, Instant::now())),
            None => drop(self.lock_refused().threads.insert(thread.clone(), Instant::now())),
        }
        for owner in process.iter().chain([&self.row.process.id]) {
            let left = loop {
                match self.store.hand_over(&thread, owner, None).await {
                    Err(error) if error.is_passing() => tokio::time::sleep(CLAIM).await,
                    left => break left,
                }
            };
            match left {
                Ok(()) => break,
                Err(error) => tracing::debug!(%thread, %error, "another process has it"),
            }
        }
        thread
    }

    /// Tries to go on with a thread that this process has claimed. `process` is whom it is handed to, and `provider` the one that cannot be
    /// asked from here.
    async fn try_to_take_over(
        &self,
        thread: &ThreadId,
        process: &mut Option<ProcessId>,
        provider: &mut Option<Arc<str>>,
    ) -> Result<(), Error> {
        let this = &self.row.process.id;
        let unknown = || store::Error::UnknownThread(thread.as_str().into());
        let row = self.store.thread(thread).await?.ok_or_else(unknown)?;
        let staff = self.staff_of(thread).await?;
        *provider = row.model.split_once('/').map(|(provider, _)| Arc::from(provider));
        staff.check_model(&row.model)?;
        *provider = None;
        staff.tools_ready().await;
        let to = process.insert(staff.runtime().process().clone());
        // It may be there already, if the answer of an earlier try was lost.
        if row.owner.as_ref().is_none_or(|owner| owner.process.id != *to) {
            self.store.hand_over(thread, this, Some(to)).await?;
        }
        staff.runtime().resume(thread).await?;
        Ok(())
    }

    fn lock_refused(&self) -> std::sync::MutexGuard<'_, Refused> {
        self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Goes on with threads whose process is gone and which are a worker's to go on with: those of tasks, and those that a notice had woken.
    /// Looked at page by page.
    async fn adopt(&self) -> Result<(), Error> {
        let mut passed_over = self.passed_over.lock().await;
        let mut still = BTreeMap::new();
        let mut query = ThreadQuery { live_only: true, limit: PAGE, ..ThreadQuery::default() };
        loop {
            let rows = self.store.threads(query.clone()).await?;
            let is_last = rows.len() < PAGE;
            query.before = rows.last().map(|row| row.id.clone());
            // Asked after the rows were read: a process that is not known yet would else be taken for dead.
            let living = self.store.living(now()).await?;
            for row in rows.into_iter().filter(|row| is_left(row, &living)) {
                // A person goes on with any other.
                let is_passed_over = row.created_for.is_none()
                    && (passed_over.get(&row.id) == Some(&row.head) || !was_woken(&*self.store, &row.id).await?);
                if is_passed_over {
                    still.insert(row.id, row.head);
                } else if self.room().await? > 0 {
                    self.adopt_one(&row.id).await?;
                }
            }
            if is_last {
                break;
            }
        }
        *passed_over = still;
        Ok(())
    }

    async fn adopt_one(&self, thread: &ThreadId) -> Result<(), Error> {
        if let Some(only) = &self.only_in
            && canonical(&self.folder_of(thread).await?) != *only
        {
            return Ok(());
        }
        let went_on = match self.staff_of(thread).await {
            Ok(staff) => go_on(&staff, thread).await,
            Err(error) => Err(error),
        };
        if let Err(error) = went_on {
            // Its folder may be gone; the others go on all the same.
            tracing::warn!(%thread, %error, "the thread is left as it is");
        }
        Ok(())
    }

    /// Goes on with a thread whose process is gone, if a notice had woken it there. Tells whether it did.
    #[boxed]
    pub(crate) async fn adopt_woken(&self, thread: &ThreadId) -> Result<bool, Error> {
        if !was_woken(&*self.store, thread).await? {
            return Ok(false);
        }
        go_on(&self.staff_of(thread).await?, thread).await?;
        Ok(true)
    }

    /// The staff of the folder that a thread works in.
    #[boxed]
    pub(crate) async fn staff_of(&self, thread: &ThreadId) -> Result<Staff, Error> {
        self.staff_for(&self.folder_of(thread).await?).await
    }

    async fn folder_of(&self, thread: &ThreadId) -> Result<PathBuf, Error> {
        let first = self.store.read(thread, 0, 1).await?;
        let this = self.store.machine().map(|machine| machine.name);
        let workspace = first.first().and_then(|record| match &*record.event {
            agent::Event::ThreadCreated(created) => match (&this, &created.place.machine) {
                // Its folder is not here, whatever lies under that name.
                (Some(this), Some(its)) if this != its => Some(self.base.display().to_string().into()),
                _ => Some(created.workspace.clone()),
            },
            _ => None,
        });
        let unknown = || store::Error::UnknownThread(thread.as_str().into());
        Ok(Path::new(&*workspace.ok_or_else(unknown)?).to_owned())
    }
}

impl Refused {
    /// Has a query pass over what was refused a short time ago.
    fn query(&mut self, query: ClaimQuery) -> ClaimQuery {
        self.threads.retain(|_, at| at.elapsed() < REFUSED);
        self.providers.retain(|_, at| at.elapsed() < REFUSED);
        let passed_over = self.threads.keys().cloned().collect();
        ClaimQuery { passed_over, not_of: self.providers.keys().cloned().collect(), ..query }
    }
}

/// Waits until something changes; for ever where it never does.
async fn changed(what: &mut Option<watch::Receiver<u64>>) {
    match what {
        Some(what) => match what.changed().await {
            Ok(()) => {}
            Err(_) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

/// The folder without links in its path; as it is named where it is gone.
fn canonical(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// Whether the store may be able to do later what it could not do now.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::Store { source, .. } | Error::Runtime(runtime::Error::Store(source)) => source.is_passing(),
        _ => false,
    }
}

fn now() -> Time {
    runtime::Clock::default().now()
}

/// Goes on with a thread here, unless another process was quicker or it has ended meanwhile.
async fn go_on(staff: &Staff, thread: &ThreadId) -> Result<(), Error> {
    staff.tools_ready().await;
    match staff.runtime().resume(thread).await {
        Ok(_) => tracing::info!(%thread, "goes on here"),
        Err(runtime::Error::Alive(_) | runtime::Error::Idle(_) | runtime::Error::Store(store::Error::Owned { .. })) => {
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Whether the run that goes on in a thread was begun by a notice.
async fn was_woken(store: &dyn Store, thread: &ThreadId) -> Result<bool, Error> {
    let mut is_woken = false;
    let look = |record: store::Record| {
        if let agent::Event::RunStarted { .. } = &*record.event {
            is_woken = record.event.is_begun_by_notice();
        }
        std::ops::ControlFlow::<()>::Continue(())
    };
    replay_until(store, Selection::thread(thread), look).await?;
    Ok(is_woken)
}
