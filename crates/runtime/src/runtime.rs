//! What other crates call: start a run, send something to a thread, go on with what was left, wait for a report.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent::budget::Grant;
use agent::creation::{self, Root};
use agent::event::ThreadCreated;
use agent::message::Attachment;
use agent::model::Model;
use agent::thread::SlotState;
use agent::{Catalog, Consent, Event, InputId, Json, Mode, Outside, Report, Strength, Thread, ThreadId};
use async_recursion::async_recursion as boxed;
use futures_util::StreamExt;
use provider::Providers;
use store::{Process, ProcessId, Selection, Store, replay_until};
use tokio::sync::{Notify, broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tool::{CurrentTools, Workspace};

use crate::clock::Clock;
use crate::deliver::deliver;
use crate::driver::{self, Driver, DriverMessage, Opening};
use crate::error::Error;
use crate::facts::{Gatherer, Sources};
use crate::live_slot::LiveSlot;
use crate::machines::{Machines, Room};
use crate::relay::{Watches, Watching};
use crate::retry::retry_transient;
use crate::take_up::take_up;
use crate::{keeper, relay, schema};

/// How long another process is left alone before it is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// How long the process that drives a thread is waited for to give out a number: who asks may have other things to do meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);

/// The name of the message that a root is started on.
pub const FIRST_INPUT: &str = "first";

/// What a runtime is made of.
pub struct Options {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The providers.
    pub providers: Providers,
    /// The tools that are in force.
    pub tools: CurrentTools,
    /// The agents that the rules may look up. Its tools are those of `tools`.
    pub catalog: Arc<Catalog>,
    /// Whether a person's consent can be had.
    pub consent: Consent,
    /// Where the rules in force and a person's preferences are read.
    pub sources: Arc<dyn Sources>,
    /// The folder of our own state.
    pub data: Option<PathBuf>,
}

/// What starts a run: a new root, or a message to one that is idle.
#[derive(Clone, Debug)]
pub struct Start {
    /// The root.
    pub root: Root,
    /// The first message.
    pub said: Said,
}

/// What a thread is let know by the program.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Who says it, for the thread.
    pub from: Arc<str>,
    /// The words.
    pub text: Arc<str>,
    /// Whether they may be untrusted text.
    pub foreign: bool,
    /// The most that a run may spend which begins with it.
    pub most: RunLimits,
    /// Tools that the thread has from then on besides its own.
    pub tools: Vec<Arc<str>>,
}

impl Notice {
    /// Trusted words, without limits of their own.
    pub fn new(from: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { from: from.into(), text: text.into(), foreign: false, most: RunLimits::default(), tools: Vec::new() }
    }
}

/// The most that one run may spend; what is not said is as it is for any other run of the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunLimits {
    /// Tool calls.
    pub tool_calls: Option<u32>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Money, in millionths of a dollar.
    pub cost_microusd: Option<u64>,
    /// Time.
    pub time_ms: Option<u64>,
}

impl RunLimits {
    /// A grant with no more than these.
    pub fn narrow(self, grant: &Grant) -> Grant {
        fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.into_iter().chain(other).min()
        }
        Grant {
            tool_calls: least(self.tool_calls, grant.tool_calls),
            tokens: least(self.tokens, grant.tokens),
            cost_microusd: least(self.cost_microusd, grant.cost_microusd),
            time_ms: least(self.time_ms, grant.time_ms),
            ..*grant
        }
    }
}

/// A message of a person.
#[derive(Clone, Debug)]
pub struct Said {
    /// The words.
    pub text: Arc<str>,
    /// JSON Schema that the answer must fit.
    pub output_schema: Option<Json>,
    /// Images and documents that come with the words.
    pub attachments: Vec<Attachment>,
    /// Whether the person does not wait for the answer: then it counts as unread.
    pub unwatched: bool,
    /// Whether untrusted text was added to the words.
    pub foreign: bool,
}

impl Said {
    /// Words whose answer is waited for.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), output_schema: None, attachments: Vec::new(), unwatched: false, foreign: false }
    }

    fn outside(self, grant: Option<Box<Grant>>) -> Outside {
        let Self { text, output_schema, attachments, unwatched, foreign } = self;
        Outside::UserSaid { text, output_schema, attachments, grant, unwatched, foreign }
    }
}

/// Something that is shown while it happens and never kept.
#[derive(Clone, Debug)]
pub struct Fleeting {
    /// Whose it is.
    pub thread: ThreadId,
    /// What it belongs to.
    pub what: FleetingKind,
    /// The words.
    pub text: String,
}

/// What fleeting words belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetingKind {
    /// A model's answer to this turn.
    Turn(u32),
    /// What a model thinks before it answers this turn.
    Thought(u32),
    /// A tool's call.
    Call(agent::CallId),
}

/// The runtime of a process. Cheap to clone.
#[derive(Clone)]
pub struct Runtime(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub store: Arc<dyn Store>,
    pub providers: Providers,
    pub tools: CurrentTools,
    pub facts: Gatherer,
    pub data: Option<PathBuf>,
    pub clock: Clock,
    pub process: ProcessId,
    pub fleeting: broadcast::Sender<Fleeting>,
    /// Cancelled when this process lets go of everything and leaves it to be resumed. Drivers also get a message.
    pub leaving: CancellationToken,
    /// Every driver, so that leaving can wait for the last of them.
    pub tasks: TaskTracker,
    live: Mutex<HashMap<ThreadId, mpsc::UnboundedSender<DriverMessage>>>,
    /// Told whenever a thread has no driver here any more.
    exits: Notify,
    workspaces: Mutex<HashMap<PathBuf, Arc<Workspace>>>,
    /// How it works together with other machines.
    pub machines: Arc<Machines>,
    /// The conversations that are watched in this process.
    pub watches: Arc<Watches>,
}

/// A run that was started or resumed in this process.
#[derive(Debug)]
pub struct RunHandle {
    /// The root thread.
    pub thread: ThreadId,
    report: oneshot::Receiver<Report>,
}

impl RunHandle {
    /// Waits for the report.
    #[boxed]
    pub async fn report(self) -> Result<Report, Error> {
        self.report.await.map_err(|_| Error::Left)
    }
}

/// A process that is being made known to a store. The commit waits for the disk, and what a runtime needs can be read meanwhile.
#[derive(Debug)]
pub struct Registration {
    id: ProcessId,
    store: Arc<dyn Store>,
    writing: JoinHandle<Result<(), store::Error>>,
}

impl Registration {
    /// Begins to make a process known.
    pub fn begin(process: Process, store: Arc<dyn Store>) -> Self {
        let id = process.id.clone();
        let writing = tokio::spawn(store.register(process, Clock::default().now()));
        Self { id, store, writing }
    }

    /// Takes it back, if no runtime is begun after all.
    #[boxed]
    pub async fn withdraw(self) {
        let store = self.store.clone();
        if let Ok(id) = self.written().await {
            // A process that cannot be forgotten is found to be dead when it is looked for.
            let _ = store.leave(&id).await;
        }
    }

    async fn written(self) -> Result<ProcessId, Error> {
        // The task ends early only together with the process.
        self.writing.await.unwrap_or(Err(store::Error::Closed))?;
        Ok(self.id)
    }
}

impl Runtime {
    /// Makes this process known to the store and begins to listen for what others send to its threads.
    #[boxed]
    pub async fn begin(options: Options) -> Result<Self, Error> {
        Self::begin_as(Process::current(), options).await
    }

    /// The same under a name of its own, where several runtimes may be open in this process ([`Process::next`]).
    #[boxed]
    pub async fn begin_as(process: Process, options: Options) -> Result<Self, Error> {
        let registration = Registration::begin(process, options.store.clone());
        Self::begin_registered(registration, options).await
    }

    /// The same for a process that is being made known.
    #[boxed]
    pub async fn begin_registered(registration: Registration, options: Options) -> Result<Self, Error> {
        let Options { store, providers, tools, catalog, consent, sources, data } = options;
        let facts = Gatherer::new(catalog, consent, providers.clone(), sources);
        let clock = Clock::default();
        let id = registration.written().await?;
        let inner = Arc::new(Inner {
            store,
            providers,
            tools,
            facts,
            data,
            clock,
            process: id,
            fleeting: broadcast::channel(1024).0,
            leaving: CancellationToken::new(),
            tasks: TaskTracker::new(),
            live: Mutex::default(),
            exits: Notify::new(),
            workspaces: Mutex::default(),
            machines: Arc::default(),
            watches: Arc::default(),
        });
        inner.tasks.spawn(keeper::keep(inner.clone()));
        if let Some(told) = inner.store.told() {
            inner.tasks.spawn(relay::relay(Arc::downgrade(&inner), told));
        }
        Ok(Self(inner))
    }

    /// Starts a root on its first message.
    #[boxed]
    pub async fn start(&self, start: Start) -> Result<RunHandle, Error> {
        start.said.output_schema.as_ref().map(schema::check).transpose()?;
        self.0.providers.learn(&start.root.model).await;
        let model = self.0.providers.model(&start.root.model).map_err(|error| Error::Root(error.to_string()))?;
        let known = self.0.facts.known(&self.0.tools.snapshot());
        let created = creation::root(&known.catalog, start.root, model).map_err(Error::Root)?;
        let id = created.id.clone();
        let (sender, report) = oneshot::channel();
        let first = start.said.outside(None);
        let workspace = self.0.workspace(&created.workspace)?;
        let live_slot = LiveSlot::take(&self.0, &id).ok_or_else(|| Error::Taken(id.clone()))?;
        let mut driver = Driver::new(live_slot, workspace);
        driver.waiter = Some(sender);
        driver.create(created, Some((InputId::new(FIRST_INPUT), first))).await?;
        self.0.run(driver, Opening::Created);
        Ok(RunHandle { thread: id, report })
    }

    /// Goes on with a root that another process left in the middle of a run.
    #[boxed]
    pub async fn resume(&self, id: &ThreadId) -> Result<RunHandle, Error> {
        let (sender, report) = oneshot::channel();
        let live_slot = LiveSlot::take(&self.0, id).ok_or_else(|| Error::Alive(id.clone()))?;
        let mut driver = self.0.load(live_slot).await?;
        driver.waiter = Some(sender);
        self.0.run(driver, Opening::Left { sent: None });
        Ok(RunHandle { thread: id.clone(), report })
    }

    /// Says something in a thread, wherever it lives, and answers once it is in the log. Where no process drives the thread, a run is
    /// begun here: its owner writes the message and takes it up in one commit, so that no message lies there without a process to
    /// answer it, whenever this process is killed. The answer is the message's name, by which the run is known that it begins.
    ///
    /// A sub-agent that works takes it up when its run is over. What it spends on it is granted as it is to its root, and no part of what
    /// its parent was granted.
    #[boxed]
    pub async fn say(&self, thread: &ThreadId, said: Said) -> Result<InputId, Error> {
        let id = InputId::new(fresh_name());
        self.say_as(id.clone(), thread, said).await?;
        Ok(id)
    }

    /// The same under a name that the caller chose, such as a [`fresh_name`]: what is said twice under one name is said once.
    #[boxed]
    pub async fn say_as(&self, id: InputId, thread: &ThreadId, said: Said) -> Result<(), Error> {
        said.output_schema.as_ref().map(schema::check).transpose()?;
        let grant = self.0.grant_by_person(thread).await?;
        self.take_up(thread, id, said.outside(grant)).await
    }

    /// Lets a thread know something under a name that the caller chose: what is said twice under one name is said once. One that works
    /// reads it at its next turn. For an idle one a run begins, here where no process drives it. One that was interrupted is not gone on
    /// with: it reads it when it is.
    #[boxed]
    pub async fn notify(&self, thread: &ThreadId, id: InputId, notice: Notice) -> Result<(), Error> {
        let Notice { from, text, foreign, most, tools } = notice;
        let mut grant = self.0.grant_by_person(thread).await?;
        if most != RunLimits::default() {
            let whole = match grant {
                Some(grant) => *grant,
                None => self.0.created(thread).await?.grant,
            };
            grant = Some(Box::new(most.narrow(&whole)));
        }
        let notice = Outside::Noticed { text, from, grant, foreign, tools };
        if self.is_left(thread).await? {
            deliver(&self.0, thread, &id, &notice).await?;
            // The process that goes on with the run reads it. If one did so and has ended the run meanwhile, it is taken up here.
            if self.is_left(thread).await? {
                return Ok(());
            }
        }
        self.take_up(thread, id, notice).await
    }

    /// The thread of a new child that a thread does not start itself: its number is given out in the parent's log, once for each name that
    /// the caller chose. The child is no part of what its parent was granted, and its parent neither waits for it nor stops it. Where the
    /// parent's process does not answer in time, the number may still be given out: it is there for who asks again under the same name.
    #[boxed]
    pub async fn issue_child(&self, parent: &ThreadId, id: InputId) -> Result<ThreadId, Error> {
        let mut tail = self.0.store.tail();
        let (mut is_asked, patience_ends) = (false, Instant::now() + PATIENCE);
        loop {
            tail.borrow_and_update();
            let issued = replay_until(&*self.0.store, Selection::thread(parent), |record| match &*record.event {
                Event::ChildIssued { input, child } if *input == id => ControlFlow::Break(child.clone()),
                _ => ControlFlow::Continue(()),
            });
            if let Some(child) = issued.await? {
                return Ok(child);
            }
            if self.is_left(parent).await? {
                return Err(Error::Interrupted(parent.clone()));
            }
            if !std::mem::replace(&mut is_asked, true) {
                self.take_up(parent, id.clone(), Outside::ChildWanted).await?;
                continue;
            }
            if Instant::now() >= patience_ends {
                return Err(Error::Unanswered(parent.clone()));
            }
            // The process that drives the parent gives the number out.
            tokio::select! {
                () = self.0.leaving.cancelled() => return Err(Error::Left),
                _ = tokio::time::timeout(LOOK_AGAIN, tail.changed()) => {}
            }
        }
    }

    /// Gives a thread another model or another mode, from its next turn on. One that was interrupted is not gone on with: it has them when it
    /// is.
    #[boxed]
    pub async fn choose(&self, thread: &ThreadId, model: Option<Model>, mode: Option<Mode>) -> Result<(), Error> {
        let (id, chosen) = (InputId::new(fresh_name()), Outside::Chosen { model: model.map(Box::new), mode });
        if self.is_left(thread).await? {
            deliver(&self.0, thread, &id, &chosen).await?;
            // As with a notice: a process may have gone on with the run and ended it meanwhile.
            if self.is_left(thread).await? {
                return Ok(());
            }
        }
        self.take_up(thread, id, chosen).await
    }

    /// Has a thread replace its conversation by a summary of it. One that works does so when its run is over.
    #[boxed]
    pub async fn sum_up(&self, thread: &ThreadId) -> Result<InputId, Error> {
        let grant = self.0.grant_by_person(thread).await?;
        let id = InputId::new(fresh_name());
        self.take_up(thread, id.clone(), Outside::SummaryWanted { grant }).await?;
        Ok(id)
    }

    /// Creates a thread and drives it here. One that exists is left as it is.
    #[boxed]
    pub async fn begin_thread(&self, created: ThreadCreated) -> Result<(), Error> {
        let id = created.id.clone();
        if self.0.store.thread(&id).await?.is_some() {
            return Ok(());
        }
        let workspace = self.0.workspace(&created.workspace)?;
        let Some(live_slot) = LiveSlot::take(&self.0, &id) else { return Ok(()) };
        let mut driver = Driver::new(live_slot, workspace);
        match driver.create(created, None).await {
            Ok(()) => self.0.run(driver, Opening::Created),
            Err(Error::Taken(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn take_up(&self, thread: &ThreadId, id: InputId, input: Outside) -> Result<(), Error> {
        if let Some((driver, opening)) = take_up(&self.0, thread, &[(id, input)]).await? {
            self.0.run(driver, opening);
        }
        Ok(())
    }

    /// Whether a thread is in the middle of a run that no living process drives.
    async fn is_left(&self, thread: &ThreadId) -> Result<bool, Error> {
        let read = async || {
            let row = self.0.store.thread(thread).await?;
            row.ok_or_else(|| store::Error::UnknownThread(thread.as_str().into()))
        };
        let row = read().await?;
        // Asked after the row was read: a process that is not known yet would else be taken for dead.
        if !row.state.is_live() || self.0.store.living(self.0.clock.now()).await?.owns(&row) {
            return Ok(false);
        }
        // Only owners are asked about. One whose last run has ended in between is none any more, and lives.
        let now = read().await?;
        Ok(now.state.is_live() && (&now.owner, now.epoch) == (&row.owner, row.epoch))
    }

    /// Sends something to a thread, wherever it lives, and answers once it is in the log. What only a run could read is refused
    /// where none goes on.
    #[boxed]
    pub async fn send(&self, thread: &ThreadId, input: Outside) -> Result<(), Error> {
        self.send_as(InputId::new(fresh_name()), thread, input).await
    }

    /// The same under a name that the caller chose: what is sent twice under one name is one input.
    #[boxed]
    pub async fn send_as(&self, id: InputId, thread: &ThreadId, input: Outside) -> Result<(), Error> {
        let is_delivered = deliver(&self.0, thread, &id, &input).await?;
        if is_delivered { Ok(()) } else { Err(Error::Idle(thread.clone())) }
    }

    /// Stops a thread and its subtree, and waits until that is true. One whose process is gone is ended here, without asking
    /// its model. What waits for its turn in them by then is dropped and not begun; what is asked later begins when this run is over.
    #[boxed]
    pub async fn stop(&self, thread: &ThreadId, strength: Strength, reason: &str) -> Result<(), Error> {
        self.stop_as(InputId::new(fresh_name()), thread, strength, reason).await
    }

    /// The same under a name that the caller chose: what is stopped twice under one name is stopped once.
    #[boxed]
    pub async fn stop_as(&self, id: InputId, thread: &ThreadId, strength: Strength, reason: &str) -> Result<(), Error> {
        let unknown = || Error::from(store::Error::UnknownThread(thread.as_str().into()));
        let head = self.0.store.thread(thread).await?.ok_or_else(unknown)?.head;
        let mut log = store::follow(&self.0.store, Selection::thread(thread).after(head));
        let mut is_sent = false;
        self.send_as(id.clone(), thread, Outside::stopped(strength, reason)).await?;
        self.finish_if_left(thread).await?;
        loop {
            let row = self.0.store.thread(thread).await?.ok_or_else(unknown)?;
            if !row.state.is_live() {
                return Ok(());
            }
            let Ok(news) = tokio::time::timeout(LOOK_AGAIN, log.next()).await else {
                // The process that owned it may have gone in the meantime.
                self.finish_if_left(thread).await?;
                continue;
            };
            for record in news.ok_or(store::Error::Closed)?? {
                match &*record.event {
                    Event::InputArrived { id: arrived, .. } => is_sent |= *arrived == id,
                    Event::Reported(_) if is_sent => return Ok(()),
                    _ => {}
                }
            }
        }
    }

    /// How a thread came to be.
    #[boxed]
    pub async fn created(&self, thread: &ThreadId) -> Result<ThreadCreated, Error> {
        self.0.created(thread).await
    }

    /// From here on the process claims threads, as far as there is room and with these labels: what it leaves others may claim, and
    /// sub-agents for which it has no room are left to them.
    pub fn claim_in(&self, room: Arc<Room>, labels: Vec<Arc<str>>) {
        self.0.machines.claim(room, labels);
    }

    /// The name under which it owns threads.
    pub fn process(&self) -> &ProcessId {
        &self.0.process
    }

    /// Whether it lets go of everything, or has done so.
    pub fn is_leaving(&self) -> bool {
        self.0.leaving.is_cancelled()
    }

    /// Whether a thread is driven in this process, by this runtime.
    pub fn drives(&self, thread: &ThreadId) -> bool {
        self.0.sender(thread).is_some()
    }

    /// Whether any thread is driven in this process, by this runtime.
    pub fn is_driving(&self) -> bool {
        !lock(&self.0.live).is_empty()
    }

    /// Waits until no thread is driven here: what was sent to them by others meanwhile is done, too.
    #[boxed]
    pub async fn until_idle(&self) {
        loop {
            let mut exits = std::pin::pin!(self.0.exits.notified());
            exits.as_mut().enable();
            if lock(&self.0.live).is_empty() {
                return;
            }
            exits.await;
        }
    }

    /// What is shown while it happens and never kept.
    pub fn fleeting(&self) -> broadcast::Receiver<Fleeting> {
        self.0.fleeting.subscribe()
    }

    /// Has the text of a conversation that other processes drive be streamed here, too, until the answer is dropped.
    pub fn watch(&self, root: &ThreadId) -> Watching {
        self.0.watches.watch(root)
    }

    /// The store that it writes to.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// The tools that are in force, to publish others.
    pub fn tools(&self) -> &CurrentTools {
        &self.0.tools
    }

    /// The clock that it goes by.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Lets go of everything: requests are closed, tools and what they started are ended, and what ran can be resumed.
    #[boxed]
    pub async fn leave(&self) {
        self.begin_to_leave();
        self.0.tasks.wait().await;
        let (store, process) = (&self.0.store, &self.0.process);
        // What a worker leaves another one takes over; what a person's process leaves, the person goes on with.
        let left = match self.0.machines.room() {
            Some(_) => store.leave(process).await,
            None => store.put_down(process).await,
        };
        if let Err(error) = left {
            tracing::debug!(%error, "could not sign off");
        }
    }

    /// The same without waiting for it.
    pub fn begin_to_leave(&self) {
        self.0.leaving.cancel();
        self.0.tell_all(|| DriverMessage::Leave);
        self.0.tasks.close();
    }

    /// Takes over a thread whose process is gone, as far as a stop that waits in its log leads.
    async fn finish_if_left(&self, thread: &ThreadId) -> Result<(), Error> {
        let Some(live_slot) = LiveSlot::take(&self.0, thread) else { return Ok(()) };
        match self.0.load_to_end(live_slot).await {
            Ok(driver) => {
                self.0.run(driver, Opening::left_to_end());
                Ok(())
            }
            // It has ended meanwhile, or its owner lives and will see the wake.
            Err(Error::Idle(_) | Error::Store(store::Error::Owned { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Inner {
    /// Where messages for a live thread go.
    pub fn sender(&self, thread: &ThreadId) -> Option<mpsc::UnboundedSender<DriverMessage>> {
        lock(&self.live).get(thread).cloned()
    }

    /// Tells something to every driver.
    pub fn tell_all(&self, message: impl Fn() -> DriverMessage) {
        for sender in lock(&self.live).values() {
            // One that has gone needs no message.
            let _ = sender.send(message());
        }
    }

    /// Whether the thread had no place here, and has one from this moment on.
    pub fn enter(&self, thread: &ThreadId, sender: mpsc::UnboundedSender<DriverMessage>) -> bool {
        match lock(&self.live).entry(thread.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(sender);
                true
            }
        }
    }

    pub fn exit(&self, thread: &ThreadId) {
        lock(&self.live).remove(thread);
        self.exits.notify_waiters();
    }

    /// Lets a driver live in a task of its own.
    pub fn run(&self, driver: Box<Driver>, opening: Opening) {
        let id = driver.id.clone();
        self.tasks.spawn(async move {
            if let Err(error) = driver.live(opening).await {
                tracing::error!(thread = %id, %error, "the thread is left as it is");
            }
        });
    }

    /// Takes ownership of a thread in which something is to be done, and reads its log. One that is idle is left to the next process
    /// that has an input for it: an owner that does nothing would stand in the way.
    pub async fn load(&self, live_slot: LiveSlot) -> Result<Box<Driver>, Error> {
        self.load_if_busy(live_slot, false).await
    }

    /// The same for a thread that is to end without doing anything more: it needs no folder for that.
    pub async fn load_to_end(&self, live_slot: LiveSlot) -> Result<Box<Driver>, Error> {
        self.load_if_busy(live_slot, true).await
    }

    async fn load_if_busy(&self, live_slot: LiveSlot, ends: bool) -> Result<Box<Driver>, Error> {
        let idle = || Error::Idle(live_slot.id.clone());
        let runs = self.store.thread(&live_slot.id).await?.is_some_and(|row| row.state.is_live());
        if !runs && driver::is_idle(&read(&*self.store, &live_slot.id).await?.thread) {
            return Err(idle());
        }
        let id = live_slot.id.clone();
        let workspace = match self.workspace_of(&self.created(&id).await?) {
            Err(Error::Elsewhere { .. }) if ends => self.nowhere()?,
            workspace => workspace?,
        };
        let driver = self.own_in(live_slot, workspace).await?;
        if !driver.is_idle() {
            return Ok(driver);
        }
        // It came to its end before it was taken over.
        match retry_transient(self, &id, || self.store.hand_over(&id, &self.process, None)).await {
            // Another process was quicker to take it over again.
            Ok(()) | Err(Some(store::Error::Fenced { .. })) => Err(Error::Idle(id)),
            Err(error) => Err(error.into()),
        }
    }

    /// What a person's message to a thread may spend: as much as one to its root, with the levels and places that the thread was given.
    /// None for a root, which has it already.
    async fn grant_by_person(&self, thread: &ThreadId) -> Result<Option<Box<Grant>>, Error> {
        if thread.is_root() {
            return Ok(None);
        }
        let (own, root) = (self.created(thread).await?.grant, self.created(&thread.root()).await?.grant);
        Ok(Some(Box::new(Grant { depth: own.depth, descendants: own.descendants, not_after: None, ..root })))
    }

    /// How a thread came to be.
    #[boxed]
    pub async fn created(&self, thread: &ThreadId) -> Result<ThreadCreated, Error> {
        let first = self.store.read(thread, 0, 1).await?;
        match first.first().map(|record| &*record.event) {
            Some(Event::ThreadCreated(created)) => Ok((**created).clone()),
            Some(_) | None => Err(store::Error::UnknownThread(thread.as_str().into()).into()),
        }
    }

    /// Takes ownership of a thread and reads its log.
    pub async fn own(&self, live_slot: LiveSlot) -> Result<Box<Driver>, Error> {
        // Opened first: a process that cannot open the workspace should not own the thread.
        let workspace = self.workspace_of(&self.created(&live_slot.id).await?)?;
        self.own_in(live_slot, workspace).await
    }

    async fn own_in(&self, live_slot: LiveSlot, workspace: Arc<Workspace>) -> Result<Box<Driver>, Error> {
        // From here on the thread may be this process's, even if the answer is lost: were it given up now, no process would drive it.
        let id = live_slot.id.clone();
        let epoch = retry_transient(self, &id, || self.store.adopt(&id, &self.process, self.clock.now())).await?;
        let Log { thread, n } = retry_transient(self, &id, || read(&*self.store, &id)).await?;
        self.clear_after(&thread, &workspace).await;
        let mut driver = Driver::new(live_slot, workspace);
        driver.adopt(thread, n, epoch);
        Ok(driver)
    }

    /// Removes temporary files of calls that were running when the thread's process was killed. Only the folders that such a
    /// call writes to are looked at.
    async fn clear_after(&self, thread: &Thread, workspace: &Arc<Workspace>) {
        let running = thread.calls.slots().iter().filter(|slot| matches!(slot.state, SlotState::Running { .. }));
        let tools = self.tools.snapshot();
        let left: Vec<_> = running
            .filter_map(|slot| {
                let mut context =
                    tool::ToolContext::new(workspace.clone(), thread.created.id.clone(), slot.call.clone());
                context.data.clone_from(&self.data);
                Some((tools.get(&slot.name)?.clone(), slot.input.clone(), context))
            })
            .collect();
        if left.is_empty() {
            return;
        }
        let clearing = move || left.iter().for_each(|(tool, input, bench)| tool.clear(input, bench));
        if let Err(error) = tokio::task::spawn_blocking(clearing).await {
            tracing::warn!(thread = %thread.created.id, %error, "temporary files of a killed process may be left");
        }
    }

    /// One handle per folder, opened once.
    pub fn workspace(&self, path: &str) -> Result<Arc<Workspace>, Error> {
        let mut workspaces = lock(&self.workspaces);
        if let Some(workspace) = workspaces.get(Path::new(path)) {
            return Ok(workspace.clone());
        }
        let workspace = Arc::new(Workspace::open(Path::new(path))?);
        workspaces.insert(path.into(), workspace.clone());
        Ok(workspace)
    }
}

/// A log that was read.
pub(crate) struct Log {
    pub thread: Thread,
    /// How many events there are.
    pub n: u64,
}

/// Reads a thread from its log.
pub(crate) async fn read(store: &dyn Store, id: &ThreadId) -> Result<Log, store::Error> {
    let mut thread: Option<Thread> = None;
    let mut n = 0;
    let see = |record: store::Record| {
        n = record.n;
        match &mut thread {
            None => thread = Some(Thread::new(record.at, &record.event)),
            Some(thread) => thread.apply(record.at, &record.event),
        }
    };
    store::replay(store, Selection::thread(id), see).await?;
    let thread = thread.ok_or_else(|| store::Error::UnknownThread(id.as_str().into()))?;
    Ok(Log { thread, n })
}

/// A lock that outlives a panic: what it guards is a table whose rows are whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name for an input that no other has.
pub fn fresh_name() -> String {
    let mut bytes = [0u8; 12];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Four letters and digits for the name of a new root; those that look alike are left out.
pub fn short_name() -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = [0u8; 4];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
}
