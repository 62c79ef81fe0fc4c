//! One task, one agent: take an input, ask the rules, commit, then perform. The driver owns its thread by `&mut`.
//!
//! Whatever is under way is a future that this task polls and that ends in an input, so that letting go of the driver lets
//! go of all of it. A commit that was refused because something arrived in between is decided anew on the whole log.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use agent::event::ThreadCreated;
use agent::{Event, Input, InputId, Outside, Report, Step, Strength, Thread, ThreadId};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use store::Commit;
use tokio::sync::{mpsc, oneshot};
use tool::Workspace;

use crate::error::Error;
use crate::heart::{self, Inner};
use crate::perform::Bench;

/// How long a driver that lets go waits for what it told to end.
const LET_GO: Duration = Duration::from_secs(5);

/// The first and the longest pause before a commit that the memory could not take is tried again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// What reaches a driver from other tasks.
#[derive(Debug)]
pub enum Letter {
    /// An answer to something that it asked for.
    Input(Input),
    /// Something from outside that is not in the log yet.
    Outside {
        id: InputId,
        input: Outside,
        /// Told whether the thread will still read it, once it is in the log.
        done: Option<oneshot::Sender<bool>>,
    },
    /// Another process wrote something into the log.
    Look,
}

/// One agent that is alive in this process.
pub struct Driver {
    pub heart: Arc<Inner>,
    pub id: ThreadId,
    /// Whoever waits for the report of a root.
    pub waiter: Option<oneshot::Sender<Report>>,
    /// None only until the thread is created or read.
    thread: Option<Thread>,
    /// Events in the log, as far as this driver knows.
    n: u64,
    /// The epoch at which this process owns the thread.
    epoch: u64,
    letters: mpsc::UnboundedReceiver<Letter>,
    under_way: FuturesUnordered<BoxFuture<'static, Input>>,
    bench: Bench,
    /// Whether another process has taken the thread over, or the memory is gone.
    lost: bool,
}

impl Driver {
    /// A driver without a thread. It can be written to from this moment on.
    pub fn new(heart: Arc<Inner>, id: ThreadId, workspace: Arc<Workspace>) -> Self {
        let (sender, letters) = mpsc::unbounded_channel();
        heart.enter(id.clone(), sender);
        Self {
            bench: Bench::new(heart.clone(), id.clone(), workspace),
            heart,
            id,
            waiter: None,
            thread: None,
            n: 0,
            epoch: 1,
            letters,
            under_way: FuturesUnordered::new(),
            lost: false,
        }
    }

    /// Takes a thread as it was read.
    pub fn adopt(&mut self, thread: Thread, n: u64, epoch: u64) {
        (self.thread, self.n, self.epoch) = (Some(thread), n, epoch);
    }

    /// Whether no run goes on.
    pub fn is_idle(&self) -> bool {
        self.thread.as_ref().is_none_or(|thread| thread.run.is_none() && thread.arrived.is_empty())
    }

    /// Creates the thread and takes its first steps, in one commit: a brief is begun with, and what has been sent is taken up.
    pub async fn create(&mut self, created: ThreadCreated, sent: Option<(InputId, Outside)>) -> Result<(), Error> {
        let now = self.heart.clock.now();
        let birth = Event::ThreadCreated(Box::new(created));
        let mut thread = Thread::new(now, &birth);
        let mut step = thread.handle(&self.heart.house, Input::Begin, now);
        let mut events = vec![birth];
        events.append(&mut step.events);
        if let Some((id, input)) = sent {
            events.push(arrived(&mut thread, now, id, input));
            let mut taken_up = thread.handle(&self.heart.house, Input::Arrived, now);
            events.append(&mut taken_up.events);
            step.effects.append(&mut taken_up.effects);
        }
        match self.commit(now, &events).await {
            Commitment::Done => {}
            Commitment::Behind => return Err(Error::Taken(self.id.clone())),
            Commitment::Lost(error) => return Err(error.map_or(Error::Left, Error::Store)),
        }
        self.thread = Some(thread);
        self.after(&events, step.effects, false);
        Ok(())
    }

    /// Goes on with a thread that another process left; what was sent meanwhile is taken up first.
    pub async fn reopen(&mut self, sent: Option<(InputId, Outside)>) -> Result<(), Error> {
        self.step(sent.into_iter().collect(), Input::Reopened).await;
        if self.lost { Err(Error::Left) } else { Ok(()) }
    }

    /// Ends a thread that another process left, without asking its model.
    pub async fn kill(&mut self) -> Result<(), Error> {
        let reason = "its process is gone, and it was stopped".into();
        let stop = Outside::Stopped { strength: Strength::Kill, reason };
        self.reopen(Some((InputId::new("left-kill"), stop))).await
    }

    /// Drives the thread until nothing is left to do for it.
    pub async fn live(mut self) {
        let leaving = self.heart.leaving.clone();
        while !self.is_done() {
            let pause = self.next_pause();
            tokio::select! {
                biased;
                () = leaving.cancelled() => break,
                Some(letter) = self.letters.recv() => self.open(letter).await,
                Some(input) = self.under_way.next(), if !self.under_way.is_empty() => self.step(Vec::new(), input).await,
                () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {
                    let heard = self.bench.heard();
                    self.step(Vec::new(), Input::TimePassed { heard }).await;
                }
            }
        }
        self.let_go().await;
    }

    fn is_done(&self) -> bool {
        self.lost || (self.is_idle() && self.under_way.is_empty() && self.letters.is_empty())
    }

    fn next_pause(&self) -> Option<Duration> {
        let wake = self.thread.as_ref()?.next_wake(self.bench.heard())?;
        Some(self.heart.clock.until(wake))
    }

    async fn open(&mut self, letter: Letter) {
        match letter {
            Letter::Input(input) => self.step(Vec::new(), input).await,
            Letter::Look => {
                if self.catch_up().await {
                    self.step(Vec::new(), Input::Arrived).await;
                }
            }
            Letter::Outside { id, input, done } => {
                let is_over = self.thread.as_ref().is_none_or(Thread::is_over);
                if !is_over {
                    self.step(vec![(id, input)], Input::Arrived).await;
                }
                if let Some(done) = done
                    && !self.lost
                {
                    // Whoever asked may have given up waiting.
                    let _ = done.send(!is_over);
                }
            }
        }
    }

    /// Takes one input, with what arrives together with it: decides, remembers, performs.
    async fn step(&mut self, outside: Vec<(InputId, Outside)>, input: Input) {
        let reopening = input == Input::Reopened;
        let mut input = input;
        let mut missed = false;
        while !self.lost {
            let now = self.heart.clock.now();
            let Some(thread) = &mut self.thread else { return };
            let mut events: Vec<Event> = Vec::new();
            for (id, what) in &outside {
                if !thread.seen.contains(id) {
                    events.push(arrived(thread, now, id.clone(), what.clone()));
                }
            }
            let house = &self.heart.house;
            let decided = std::panic::catch_unwind(AssertUnwindSafe(|| thread.handle(house, input.clone(), now)));
            let step = match decided {
                Ok(step) => step,
                Err(panic) if !matches!(input, Input::Panicked { .. }) => {
                    input = Input::Panicked { message: message_of(&*panic).into() };
                    self.reread().await;
                    continue;
                }
                Err(_) => {
                    tracing::error!(thread = %self.id, "the rules failed twice; the thread is left as it is");
                    self.lost = true;
                    return;
                }
            };
            let Step { events: decided, effects } = step;
            events.extend(decided);
            if events.is_empty() {
                return;
            }
            match self.commit(now, &events).await {
                Commitment::Done => {
                    self.after(&events, effects, reopening);
                    if missed {
                        missed = false;
                        input = Input::Arrived;
                        continue;
                    }
                    return;
                }
                Commitment::Behind => {
                    self.reread().await;
                    missed = true;
                }
                Commitment::Lost(error) => {
                    if let Some(error) = error {
                        tracing::error!(thread = %self.id, %error, "the thread cannot be written any more");
                    }
                    self.lost = true;
                }
            }
        }
    }

    async fn commit(&mut self, now: agent::Time, events: &[Event]) -> Commitment {
        let mut pause = PAUSE.0;
        loop {
            match self.heart.store.append(self.commit_of(now, events)).await {
                Ok(appended) => {
                    self.n = appended.n;
                    return Commitment::Done;
                }
                Err(store::Error::Conflict { .. }) => return Commitment::Behind,
                Err(error) if error.is_passing() => {
                    tracing::warn!(thread = %self.id, %error, "waiting for the memory");
                    tokio::select! {
                        () = self.heart.leaving.cancelled() => return Commitment::Lost(None),
                        () = tokio::time::sleep(pause) => pause = (pause * 2).min(PAUSE.1),
                    }
                }
                Err(error) => return Commitment::Lost(Some(error)),
            }
        }
    }

    fn commit_of(&self, at: agent::Time, events: &[Event]) -> Commit {
        Commit {
            thread: self.id.clone(),
            expected: self.n,
            epoch: self.epoch,
            process: self.heart.process.clone(),
            at,
            events: events.to_vec(),
        }
    }

    /// What follows from a commit: effects are performed, a report is handed up.
    fn after(&mut self, events: &[Event], effects: Vec<agent::Effect>, reopening: bool) {
        let Some(thread) = &self.thread else { return };
        for effect in effects {
            if let Some(future) = self.bench.perform(thread, effect, reopening) {
                self.under_way.push(future);
            }
        }
        for event in events {
            if let Event::Reported(report) = event {
                self.hand_up((**report).clone());
            }
        }
    }

    fn hand_up(&mut self, report: Report) {
        match self.id.parent() {
            None => {
                if let Some(waiter) = self.waiter.take() {
                    // Nobody may be waiting any more; the report is in the log.
                    let _ = waiter.send(report);
                }
            }
            Some(parent) => crate::family::deliver(&self.heart, &parent, self.id.clone(), report),
        }
    }

    /// Applies what others wrote; whether there was anything.
    async fn catch_up(&mut self) -> bool {
        let Ok(records) = self.heart.store.read(&self.id, self.n, usize::MAX).await else { return false };
        let Some(thread) = &mut self.thread else { return false };
        let found = !records.is_empty();
        for record in records {
            self.n = record.n;
            thread.apply(record.at, &record.event);
        }
        found
    }

    /// Throws the copy away and reads the log.
    async fn reread(&mut self) {
        match heart::read(&*self.heart.store, &self.id).await {
            Ok((thread, n)) => (self.thread, self.n) = (Some(thread), n),
            Err(error) => {
                tracing::error!(thread = %self.id, %error, "the log cannot be read");
                self.lost = true;
            }
        }
    }

    /// Ends whatever is under way, without a word in the log.
    async fn let_go(mut self) {
        self.bench.stop_all();
        let under_way = &mut self.under_way;
        let ended = tokio::time::timeout(LET_GO, async { while under_way.next().await.is_some() {} }).await;
        if ended.is_err() {
            tracing::warn!(thread = %self.id, "something may still be running");
        }
    }
}

impl Drop for Driver {
    /// Whoever still holds the way to this driver finds it closed and writes into the log instead.
    fn drop(&mut self) {
        self.heart.exit(&self.id);
    }
}

enum Commitment {
    Done,
    /// Something arrived in between.
    Behind,
    /// Another process has the thread, the memory is gone, or this process leaves.
    Lost(Option<store::Error>),
}

fn arrived(thread: &mut Thread, now: agent::Time, id: InputId, input: Outside) -> Event {
    let event = Event::InputArrived { id, input };
    thread.apply(now, &event);
    event
}

/// What a panic said.
pub fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without words".to_owned())
}
