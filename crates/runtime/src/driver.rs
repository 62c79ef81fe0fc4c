//! One task, one agent: take an input, gather facts, ask the rules, commit, then perform. The driver owns its thread by `&mut`.
//! Reports that come in while it commits are committed together.
//!
//! Whatever is under way is a future that this task polls and that ends in an input, so that letting go of the driver lets
//! go of all of it. A commit that was refused because something arrived in between is decided anew on the whole log.
//! A driver that was replaced, by a process that took its own for dead, stops without writing to the log.
//! A panic ends the agent that it happened to, with a report that says so.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use agent::event::{Answered, ThreadCreated};
use agent::message::Part;
use agent::permission::Rule;
use agent::{Event, Input, InputId, Outcome, Outside, Report, Step, Strength, Thread, ThreadId};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use store::{Commit, Selection};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tool::{Registry, Workspace};

use crate::error::Error;
use crate::hooks::{HookKind, HookMoment};
use crate::live_slot::LiveSlot;
use crate::machines::Busy;
use crate::perform::Performer;
use crate::retry::retry_transient;
use crate::runtime::{self, Inner};

/// How long a driver that lets go waits for what it told to end.
const LET_GO: Duration = Duration::from_secs(5);

/// The most inputs that are committed together. A parent of thousands hears many reports while it commits one.
const TOGETHER: usize = 256;

/// What reaches a driver from other tasks.
#[derive(Debug)]
pub enum DriverMessage {
    /// An answer to something that it asked for.
    Input(Box<Input>),
    /// Something was written into the log, or the parent does not know how the thread does. The sender, if any, is told once it
    /// was read.
    Look(Option<oneshot::Sender<()>>),
    /// The process was not heard of for a while, and another one may have taken the thread over.
    CheckOwner,
    /// The process shuts down: a driver that reads any message from then on exits.
    Leave,
}

/// What a driver begins with.
#[derive(Debug)]
pub enum Opening {
    /// The thread was just created.
    Created,
    /// Another process left it. What was sent meanwhile is taken up first.
    Left { sent: Option<(InputId, Outside)> },
    /// Something of ours failed, in the rules or around them.
    Failed { message: String },
}

impl Opening {
    /// Another process left the thread, and it is to end without asking its model.
    pub fn left_to_end() -> Self {
        let stop = Outside::stopped(Strength::Kill, "its process is gone, and it was stopped");
        // A thread may be left more than once in its life.
        let id = InputId::new(format!("left-kill-{}", runtime::fresh_name()));
        Self::Left { sent: Some((id, stop)) }
    }
}

/// How a driver comes to let go of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing is left to do for it here: its report is handed up, the store has failed, or this process shuts down.
    Done,
    /// Another process goes on with it, or has ended it. Its report is in its log, or will be.
    Replaced,
}

/// One agent that is alive in this process.
pub struct Driver {
    pub runtime: Arc<Inner>,
    pub id: ThreadId,
    /// The callers that wait for the report of a root.
    pub waiter: Option<oneshot::Sender<Report>>,
    /// None only until the thread is created or read.
    thread: Option<Thread>,
    /// Events in the log, as far as this driver knows.
    n: u64,
    /// The epoch at which this process owns the thread.
    epoch: u64,
    /// Where messages come in; held for as long as the driver is there.
    live_slot: LiveSlot,
    under_way: FuturesUnordered<BoxFuture<'static, Input>>,
    performer: Performer,
    /// Whether the thread waits for nothing but a person, as its parent was told.
    paused: bool,
    /// Whether the thread was given up with its report, which this driver handed up.
    given_up: bool,
    /// How it lets go, once it has to.
    exit: Option<Exit>,
    /// Why the store can do nothing more for the thread.
    lost: Option<store::Error>,
    /// Counts against the room of the process while the thread works.
    busy: Option<Busy>,
}

impl Driver {
    /// A driver without a thread. Boxed, so that thousands of tasks hold a pointer where they pass it on.
    pub fn new(live_slot: LiveSlot, workspace: Arc<Workspace>) -> Box<Self> {
        let (runtime, id) = (live_slot.runtime.clone(), live_slot.id.clone());
        Box::new(Self {
            performer: Performer::new(runtime.clone(), id.clone(), workspace),
            runtime,
            id,
            waiter: None,
            thread: None,
            n: 0,
            epoch: 1,
            live_slot,
            under_way: FuturesUnordered::new(),
            paused: false,
            given_up: false,
            exit: None,
            lost: None,
            busy: None,
        })
    }

    /// Takes a thread as it was read. Its time goes on from its newest event, even where that was written by a clock that
    /// was ahead.
    pub fn adopt(&mut self, thread: Thread, n: u64, epoch: u64) {
        self.performer.clock = self.runtime.clock.not_before(thread.last_at);
        (self.thread, self.n, self.epoch) = (Some(thread), n, epoch);
    }

    /// Creates the thread and takes its first steps, in one commit: a brief is begun with, and what has been sent is taken up.
    pub async fn create(&mut self, created: ThreadCreated, sent: Option<(InputId, Outside)>) -> Result<(), Error> {
        let now = self.performer.clock.now();
        let created = Event::ThreadCreated(Box::new(created));
        let mut thread = Thread::new(now, &created);
        let tools = self.runtime.tools.snapshot();
        let (mut step, _) = decide(&self.runtime, &tools, &mut thread, Input::Begin, now).await;
        let mut events = vec![created];
        events.append(&mut step.events);
        if let Some((id, input)) = sent {
            events.push(arrived(&mut thread, now, id, input));
            let (mut taken_up, _) = decide(&self.runtime, &tools, &mut thread, Input::Arrived, now).await;
            events.append(&mut taken_up.events);
            step.effects.append(&mut taken_up.effects);
        }
        let events: Vec<Arc<Event>> = events.into_iter().map(Arc::new).collect();
        match self.commit(now, &events).await {
            Commitment::Done => {}
            Commitment::Behind => return Err(Error::Taken(self.id.clone())),
            Commitment::Lost(error) => return Err(error.into()),
        }
        self.thread = Some(thread);
        self.performer.decided_by = Some(tools);
        self.after(&events, step.effects, None, false);
        Ok(())
    }

    /// Creates the thread and leaves it to be claimed by any process that may take it.
    pub async fn offer(&mut self, created: ThreadCreated) -> Result<(), Error> {
        let (runtime, id, at) = (self.runtime.clone(), self.id.clone(), self.performer.clock.now());
        let events = vec![Arc::new(Event::ThreadCreated(Box::new(created)))];
        let append = || {
            let (thread, process, events) = (id.clone(), runtime.process.clone(), events.clone());
            runtime.store.append(Commit { thread, expected: 0, epoch: 1, process, at, events, lets_go: true })
        };
        match retry_transient(&runtime, &id, append).await {
            // One that is there already was written by this very commit, or by another process that began it.
            Ok(_) | Err(Some(store::Error::Conflict { .. })) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes up what was sent to a thread that no process drives: one commit holds it and what follows from it. What a process
    /// left in the middle is settled with it. The answer is how it lets go of the thread, if it has to.
    pub async fn take_up(&mut self, inputs: Vec<(InputId, Outside)>) -> Option<Exit> {
        let then = if self.is_idle() { Input::Arrived } else { Input::Reopened };
        self.step(inputs, vec![then]).await;
        self.exit
    }

    /// Drives the thread until nothing is left to do for it. A panic on the way ends this agent and no other. An error means
    /// that the store failed for good: no report was handed up, and the caller tells the parent.
    pub async fn live(mut self: Box<Self>, opening: Opening) -> Result<Exit, Error> {
        let mut opening = opening;
        let lived = loop {
            let is_first = !matches!(opening, Opening::Failed { .. });
            match AssertUnwindSafe(self.go_on(opening)).catch_unwind().await {
                Ok(()) => break Ok(self.exit.unwrap_or(Exit::Done)),
                Err(panic) if is_first => opening = Opening::Failed { message: message_of(&*panic) },
                Err(panic) => break Err(Error::Broken(message_of(&*panic))),
            }
        };
        self.end_effects().await;
        match self.lost.take() {
            Some(error) => Err(error.into()),
            None => lived,
        }
    }

    async fn go_on(&mut self, opening: Opening) {
        match opening {
            Opening::Created => {}
            Opening::Left { sent } => {
                let sent = sent.into_iter().chain(Box::pin(self.settle_commands()).await).collect();
                let inputs = match &self.thread {
                    // One that was left to be claimed begins.
                    Some(thread) if thread.is_unbegun() => vec![Input::Begin, Input::Arrived],
                    _ => vec![Input::Reopened],
                };
                self.step(sent, inputs).await;
            }
            // What hardly ever happens is boxed: it would make every task as large as its largest.
            Opening::Failed { message } => Box::pin(self.fail(message)).await,
        }
        // One timer for a whole life: nearly every lap puts it off, which costs much less than making another.
        let mut alarm = std::pin::pin!(tokio::time::sleep(self.next_pause().unwrap_or_default()));
        self.leave_if_told();
        while !self.is_done() {
            self.count_work();
            let pause = self.next_pause();
            if let Some(pause) = pause {
                alarm.as_mut().reset(Instant::now() + pause);
            }
            tokio::select! {
                biased;
                Some(message) = self.live_slot.messages.recv() => self.open(message).await,
                Some(input) = self.under_way.next(), if !self.under_way.is_empty() => {
                    self.step(Vec::new(), vec![input]).await;
                }
                () = &mut alarm, if pause.is_some() => {
                    let heard = self.performer.heard();
                    self.step(Vec::new(), vec![Input::TimePassed { heard }]).await;
                }
            }
        }
    }

    /// Counts against the room of the process as long as a request or a tool is under way.
    fn count_work(&mut self) {
        let Some(room) = self.runtime.machines.room() else { return };
        if self.under_way.is_empty() {
            self.busy = None;
        } else if self.busy.is_none() {
            self.busy = Some(Busy::new(room.clone()));
        }
    }

    /// Puts in order what commands of the thread did to protected files when its process was killed, and what to tell the
    /// thread about it.
    async fn settle_commands(&mut self) -> Option<(InputId, Outside)> {
        let (data, id) = (self.runtime.data.clone(), self.id.clone());
        let settled = tokio::task::spawn_blocking(move || tool::settle_left(data.as_deref(), id.as_str())).await;
        let lines = settled.unwrap_or_default();
        if lines.is_empty() {
            return None;
        }
        for line in &lines {
            tracing::warn!(thread = %self.id, "a command of the interrupted run: {line}");
        }
        let text = format!("A command was interrupted, and protected files were put in order:\n{}", lines.join("\n"));
        let number = self.thread.as_ref().map_or(0, |thread| thread.last_at.0);
        let steered = Outside::Steered { text: text.into(), from: "sandbox".into(), foreign: true };
        Some((InputId::new(format!("protected/{}/{number}", self.id)), steered))
    }

    /// Exits if this process shuts down. Checked when a message comes and not waited for, for all agents of the process would
    /// stand in line for it in every lap; that something has changed is a message too.
    fn leave_if_told(&mut self) {
        if self.runtime.leaving.is_cancelled() {
            self.exit = Some(Exit::Done);
        }
    }

    /// What was under way is given up, and the thread ends.
    async fn fail(&mut self, message: String) {
        tracing::error!(thread = %self.id, message, "an agent failed inside");
        self.end_effects().await;
        self.reread(&[]).await;
        self.step(Vec::new(), vec![Input::Panicked { message: message.into() }]).await;
        if !self.is_idle() {
            // Answers that will not come any more are settled as after a restart.
            self.step(Vec::new(), vec![Input::Reopened]).await;
        }
    }

    fn is_done(&self) -> bool {
        self.exit.is_some() || (self.is_idle() && self.under_way.is_empty() && self.live_slot.messages.is_empty())
    }

    /// Whether no run goes on and none is asked for.
    pub fn is_idle(&self) -> bool {
        self.thread.as_ref().is_none_or(is_idle)
    }

    fn next_pause(&self) -> Option<Duration> {
        let wake = self.thread.as_ref()?.next_wake(self.performer.heard())?;
        Some(self.performer.clock.until(wake))
    }

    async fn open(&mut self, message: DriverMessage) {
        self.leave_if_told();
        if self.exit.is_some() {
            return;
        }
        match message {
            DriverMessage::Leave => {}
            DriverMessage::CheckOwner => self.check_owner().await,
            DriverMessage::Input(input) => {
                let (inputs, next) = self.gather(*input);
                self.step(Vec::new(), inputs).await;
                if let Some(message) = next {
                    Box::pin(self.open(message)).await;
                }
            }
            DriverMessage::Look(read) => {
                self.catch_up().await;
                if self.exit.is_none() && self.thread.as_ref().is_some_and(|thread| !thread.inbox.arrived.is_empty()) {
                    self.step(Vec::new(), vec![Input::Arrived]).await;
                }
                self.tell_pause(true);
                // What this driver could not take up any more, another driver or process takes up and acknowledges.
                if let Some(read) = read.filter(|_| self.exit.is_none()) {
                    let _ = read.send(());
                }
            }
        }
    }

    /// Takes the inputs that have come in behind the first, up to a message of another kind.
    fn gather(&mut self, first: Input) -> (Vec<Input>, Option<DriverMessage>) {
        let mut inputs = vec![first];
        while inputs.len() < TOGETHER
            && let Ok(message) = self.live_slot.messages.try_recv()
        {
            match message {
                DriverMessage::Input(input) => inputs.push(*input),
                DriverMessage::Look(_) | DriverMessage::CheckOwner | DriverMessage::Leave => {
                    return (inputs, Some(message));
                }
            }
        }
        (inputs, None)
    }

    /// Takes inputs one after the other, with what arrives together with them: decides, remembers, performs.
    async fn step(&mut self, outside: Vec<(InputId, Outside)>, inputs: Vec<Input>) {
        let reopening = inputs == [Input::Reopened];
        let mut inputs = inputs;
        let mut missed = false;
        while self.exit.is_none() {
            let now = self.performer.clock.now();
            let Some(thread) = &mut self.thread else { return };
            let mut events: Vec<Arc<Event>> = Vec::new();
            for (id, what) in &outside {
                if !thread.inbox.seen.contains(id) {
                    events.push(Arc::new(arrived(thread, now, id.clone(), what.clone())));
                }
            }
            let tools = self.runtime.tools.snapshot();
            let (mut effects, mut rules) = (Vec::new(), None);
            for input in &inputs {
                let (mut step, in_force) = decide(&self.runtime, &tools, thread, input.clone(), now).await;
                rules = in_force.or(rules);
                events.extend(step.events.into_iter().map(Arc::new));
                effects.append(&mut step.effects);
            }
            if events.iter().any(|event| matches!(**event, Event::Answered(_))) {
                self.performer.judged_by = Some(tools.clone());
            }
            self.performer.decided_by = Some(tools);
            if events.is_empty() {
                // Nothing is performed that is not remembered: what is asked for again here is under way already.
                self.after(&events, Vec::new(), rules.as_ref(), reopening);
            } else {
                match self.commit(now, &events).await {
                    Commitment::Done => self.after(&events, effects, rules.as_ref(), reopening),
                    Commitment::Behind => {
                        Box::pin(self.reread(&outside)).await;
                        missed = true;
                        continue;
                    }
                    Commitment::Lost(error) => {
                        self.lose(error);
                        return;
                    }
                }
            }
            if !missed {
                return;
            }
            missed = false;
            inputs = vec![Input::Arrived];
        }
    }

    async fn commit(&mut self, now: agent::Time, events: &[Arc<Event>]) -> Commitment {
        let runtime = self.runtime.clone();
        let (id, expected, epoch) = (self.id.clone(), self.n, self.epoch);
        let append = || {
            let (thread, process) = (id.clone(), runtime.process.clone());
            runtime.store.append(Commit {
                thread,
                expected,
                epoch,
                process,
                at: now,
                events: events.to_vec(),
                lets_go: false,
            })
        };
        match retry_transient(&runtime, &id, append).await {
            Ok(appended) => {
                self.n = appended.n;
                Commitment::Done
            }
            Err(Some(refusal @ (store::Error::Conflict { .. } | store::Error::Fenced { .. }))) => {
                self.refused(now, events, refusal).await
            }
            Err(error) => Commitment::Lost(error),
        }
    }

    /// A commit was refused for what has been written meanwhile: by another process, or by this very commit, when the store
    /// failed after it had written and was asked again.
    async fn refused(&mut self, now: agent::Time, events: &[Arc<Event>], refusal: store::Error) -> Commitment {
        let (runtime, id, n) = (self.runtime.clone(), self.id.clone(), self.n);
        let written = match retry_transient(&runtime, &id, || runtime.store.read(&id, n, events.len())).await {
            Ok(written) => written,
            Err(error) => return Commitment::Lost(error),
        };
        let mut pairs = written.iter().zip(events);
        if written.len() == events.len() && pairs.all(|(record, event)| record.at == now && record.event == *event) {
            self.n += events.len() as u64;
            return Commitment::Done;
        }
        match refusal {
            store::Error::Conflict { .. } => Commitment::Behind,
            fenced => Commitment::Lost(Some(fenced)),
        }
    }

    /// What follows from a commit: effects are performed, a report is handed up. `rules` are those that were decided by.
    fn after(
        &mut self,
        events: &[Arc<Event>],
        effects: Vec<agent::Effect>,
        rules: Option<&Arc<[Rule]>>,
        reopening: bool,
    ) {
        let Some(thread) = &self.thread else { return };
        for effect in effects {
            if let Some(future) = self.performer.perform(thread, effect, rules, reopening) {
                self.under_way.push(future);
            }
        }
        let is_still = thread.run.is_none();
        for event in events {
            observe(&self.runtime, &thread.created, event);
        }
        for event in events {
            match &**event {
                Event::Reported(report) => {
                    self.given_up = is_still;
                    self.hand_up((**report).clone());
                }
                Event::InputDropped { input, reason } => {
                    // Where this was a question of the parent, the parent waits for its report, and the thread may go on with something else.
                    if let Some(parent) = self.id.parent() {
                        let report = Report::never_begun(input.clone(), reason);
                        crate::family::deliver(&self.runtime, &parent, self.id.clone(), report);
                    }
                }
                Event::Answered(answered) => self.let_hear(answered),
                _ => {}
            }
        }
        self.tell_pause(reopening);
    }

    /// Lets the parent know when the thread begins or ceases to wait for nothing but a person; after a restart, and when it may
    /// not know, in any case.
    fn tell_pause(&mut self, anyway: bool) {
        let thread = self.thread.as_ref().filter(|thread| thread.run.is_some() && self.exit.is_none());
        let Some(thread) = thread else { return };
        let paused = thread.is_paused();
        let is_news = std::mem::replace(&mut self.paused, paused) != paused || anyway;
        if is_news && let Some(parent) = self.id.parent() {
            let input = Input::ChildPaused { child: self.id.clone(), paused };
            crate::family::tell_parent(&self.runtime, &parent, input);
        }
    }

    /// Lets the parent hear what is said on the way, if it asked to.
    fn let_hear(&self, answered: &Answered) {
        let Some(thread) = self.thread.as_ref().filter(|thread| thread.created.progress) else { return };
        let text: String = answered.parts.iter().filter_map(Part::words).collect::<Vec<_>>().join("\n");
        if let Some(parent) = self.id.parent()
            && !answered.verdicts.is_empty()
            && !text.trim().is_empty()
        {
            let said = Input::ChildSaid { child: self.id.clone(), text: text.into(), foreign: thread.foreign };
            crate::family::tell_parent(&self.runtime, &parent, said);
        }
    }

    fn hand_up(&mut self, report: Report) {
        match self.id.parent() {
            None => {
                if let Some(waiter) = self.waiter.take() {
                    // The caller may have stopped waiting; the report is in the log.
                    let _ = waiter.send(report);
                }
            }
            Some(parent) => crate::family::deliver(&self.runtime, &parent, self.id.clone(), report),
        }
    }

    /// Applies what others wrote: inputs. A driver that finds other events there has been replaced.
    async fn catch_up(&mut self) {
        let (runtime, id, n) = (self.runtime.clone(), self.id.clone(), self.n);
        let new_events = || store::read_all(&*runtime.store, Selection::thread(&id).after(n));
        let found = retry_transient(&runtime, &id, new_events).await;
        match (found, &mut self.thread) {
            (Ok(records), Some(thread)) => {
                for record in records {
                    if !matches!(*record.event, Event::InputArrived { .. }) {
                        return self.let_go();
                    }
                    self.n = record.n;
                    thread.apply(record.at, &record.event);
                }
            }
            (Ok(_), None) => {}
            (Err(error), _) => self.lose(error),
        }
    }

    /// Lets go of a thread that another process has taken over: what is under way for it ends before there is anything to commit.
    async fn check_owner(&mut self) {
        let (runtime, id) = (self.runtime.clone(), self.id.clone());
        match retry_transient(&runtime, &id, || runtime.store.thread(&id)).await {
            Ok(row) if row.as_ref().is_some_and(|row| row.epoch != self.epoch) => self.let_go(),
            Ok(_) => {}
            Err(error) => self.lose(error),
        }
    }

    /// Throws the copy away and reads the log. A sub-agent that is over there was ended by another process, unless what is about to be
    /// written begins its next run.
    async fn reread(&mut self, outside: &[(InputId, Outside)]) {
        let (runtime, id) = (self.runtime.clone(), self.id.clone());
        match retry_transient(&runtime, &id, || runtime::read(&*runtime.store, &id)).await {
            Ok(log) => {
                let begins = log.thread.inbox.asks_for_run() || outside.iter().any(|(_, input)| input.needs_no_run());
                if log.thread.is_over() && !begins {
                    self.let_go();
                }
                (self.thread, self.n) = (Some(log.thread), log.n);
            }
            Err(error) => self.lose(error),
        }
    }

    /// The thread is another's, its memory is gone, or this process leaves: nothing more is done for it here.
    fn lose(&mut self, error: Option<store::Error>) {
        match error {
            Some(store::Error::Fenced { .. }) => self.let_go(),
            Some(error) => {
                tracing::error!(thread = %self.id, %error, "nothing more can be done for the thread here");
                (self.exit, self.lost) = (Some(Exit::Done), Some(error));
            }
            None => self.exit = Some(Exit::Done),
        }
    }

    /// Another process owns the thread. For one that was given up with its report this is expected, and nothing is lost.
    fn let_go(&mut self) {
        if self.given_up {
            self.exit = Some(Exit::Done);
        } else {
            tracing::warn!(thread = %self.id, "another process owns the thread, or has ended it");
            self.exit = Some(Exit::Replaced);
        }
    }

    /// Ends whatever is under way, without a word in the log.
    async fn end_effects(&mut self) {
        self.performer.stop_all();
        let under_way = &mut self.under_way;
        let ended = tokio::time::timeout(LET_GO, async { while under_way.next().await.is_some() {} }).await;
        if ended.is_err() {
            tracing::warn!(thread = %self.id, "something may still be running");
            self.under_way.clear();
        }
    }
}

/// Gathers what an input needs to be known, and decides on it. The answer holds the rules that were gathered.
async fn decide(
    runtime: &Inner,
    tools: &Arc<Registry>,
    thread: &mut Thread,
    input: Input,
    now: agent::Time,
) -> (Step, Option<Arc<[Rule]>>) {
    let known = runtime.facts.known_for(thread, tools);
    let needs = thread.needs(&known, &input, now);
    if needs.is_empty() {
        return (thread.handle(input, &known, now), None);
    }
    let facts = Box::pin(runtime.facts.gather(&known, tools, &thread.created.workspace, needs)).await;
    (thread.handle(input, &facts, now), facts.rules)
}

enum Commitment {
    Done,
    /// Something arrived in between.
    Behind,
    /// Another process has the thread, the store has failed, or this process shuts down.
    Lost(Option<store::Error>),
}

/// Whether no run goes on in a thread and none is asked for. Inputs that only a run would have read may still lie there.
pub fn is_idle(thread: &Thread) -> bool {
    thread.is_idle() && !thread.inbox.asks_for_run()
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

/// Runs the hooks that hear of an event, and that nothing waits for. They end with the process.
fn observe(runtime: &Arc<Inner>, created: &ThreadCreated, event: &Event) {
    let kind = match event {
        Event::ApprovalRequested(approval) => {
            let path = approval.path.join(" › ");
            HookKind::PersonAsked {
                question: format!("{path} wants to use {}: {}", approval.tool, approval.effect).into(),
            }
        }
        // Of a run that the agent ended itself, the hooks heard before.
        Event::Reported(report) if report.outcome != Outcome::Completed => {
            HookKind::RunEnded { report: report.text.clone(), was_sent_back: false }
        }
        _ => return,
    };
    if let Some(hooks) = runtime.facts.hooks(HookMoment::new(created, kind)) {
        runtime.tasks.spawn(async move { drop(hooks.await) });
    }
}
