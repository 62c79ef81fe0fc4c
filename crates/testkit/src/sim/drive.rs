//! What a driver does (`runtime::driver`), step by step and without tasks: decide on its own copy, commit, then perform; decide
//! anew where another process wrote in between; give everything up where another process owns the thread.

use std::sync::Arc;

use agent::event::{Enough, ThreadCreated};
use agent::message::{Message, Role};
use agent::{Effect, Event, Input, InputId, Outside, Report, Thread, Time};
use store::Commit;

use super::disk::Written;
use super::people::{self, TRY_AGAIN_MS};
use super::process::{Place, ThreadCopy, is_idle};
use super::process_faults::ProcessFate;
use super::{Deed, Due, Scene, Sight, Sim};
use crate::invariants::{Broken, answered_calls, hold, unreadable_calls};

/// Commits at most that an input is made to cross: inputs without end are runs without end.
const MOST_CROSSINGS: u32 = 20;

/// After so long a process looks again for what another one drives.
const LOOK_AGAIN_MS: u64 = 500;

/// The clock of a process that takes a thread up is ahead when it says that nothing happened for so long.
const DAY_MS: u64 = 86_400_000;

impl Sim {
    pub(super) fn copy(&self, place: &Place) -> Option<&ThreadCopy> {
        self.processes[place.process].copies.get(&place.thread)
    }

    pub(super) fn seat_mut(&mut self, place: &Place) -> Option<&mut ThreadCopy> {
        self.processes[place.process].copies.get_mut(&place.thread)
    }

    /// What the clock of a process says.
    pub(super) fn clock(&self, process: usize) -> Time {
        self.processes[process].clock(self.now)
    }

    /// Creates a thread and takes its first steps, in one commit. Nothing comes of it where the thread exists.
    pub(super) fn create(
        &mut self,
        place: &Place,
        created: ThreadCreated,
        sent: Option<(InputId, Outside)>,
    ) -> Result<(), Broken> {
        let now = self.clock(place.process);
        let consent = self.processes[place.process].consent;
        let created = Event::ThreadCreated(Box::new(created));
        let mut thread = Thread::new(now, &created);
        let facts = self.world.facts(consent, &thread, &Input::Begin, now);
        let mut step = thread.handle(Input::Begin, &facts, now);
        let mut events = vec![created];
        events.append(&mut step.events);
        if let Some((id, input)) = sent {
            let arrived = Event::InputArrived { id, input };
            thread.apply(now, &arrived);
            events.push(arrived);
            let facts = self.world.facts(consent, &thread, &Input::Arrived, now);
            let mut taken_up = thread.handle(Input::Arrived, &facts, now);
            events.append(&mut taken_up.events);
            step.effects.append(&mut taken_up.effects);
        }
        let copy = ThreadCopy { thread, n: 0, epoch: 1, heard: None, paused: false };
        self.processes[place.process].copies.insert(place.thread.clone(), copy);
        match self.commit(place, now, &events)? {
            Written::Done => self.follow(place, events, step.effects, false),
            Written::Behind | Written::Fenced => {
                self.processes[place.process].copies.remove(&place.thread);
                Ok(())
            }
        }
    }

    /// An input reaches a thread, unless something happens to its process, or to the code around the rules.
    pub(super) fn give(&mut self, place: &Place, input: Input) -> Result<(), Broken> {
        match self.fate(place.process) {
            ProcessFate::Lives => {}
            ProcessFate::Gone => return Ok(()),
            ProcessFate::Stands(until) => {
                self.at(until, Due::Input(place.clone(), input.into()));
                return Ok(());
            }
        }
        if input != Input::Reopened && self.dice.below(2_000) < self.behaviour.panics {
            return self.fail(place);
        }
        self.step(place, input)
    }

    /// The moment has come at which a thread asked to be woken.
    pub(super) fn wake(&mut self, place: &Place) -> Result<(), Broken> {
        let before = self.disk.record(&place.thread).head;
        let heard = self.copy(place).and_then(|copy| copy.heard);
        self.give(place, Input::TimePassed { heard })?;
        let is_held_up = self.copy(place).is_none() || self.processes[place.process].stands_until(self.now).is_some();
        let woke = is_held_up || self.disk.record(&place.thread).head > before;
        hold("a thread that asks to be woken has something to do", woke, || place.thread.to_string())
    }

    /// Reads what others wrote, and takes up what arrived.
    pub(super) fn look(&mut self, place: &Place) -> Result<(), Broken> {
        if self.is_taken(place) {
            // Others write only inputs: a driver that reads anything else in its log has been replaced.
            self.lose(place);
            return Ok(());
        }
        // One that this process owns and does not drive any more is gone on with.
        let record = self.disk.record(&place.thread);
        let is_own = record.owner.as_ref() == Some(&self.processes[place.process].name);
        if self.copy(place).is_none() && is_own && !super::process::is_idle(&record.replayed) {
            return match self.adopt(place)? {
                Some(epoch) => self.reopen(place, epoch),
                None => Ok(()),
            };
        }
        self.reread(place);
        match self.copy(place) {
            Some(copy) if !copy.thread.inbox.arrived.is_empty() => self.give(place, Input::Arrived),
            Some(_) | None => {
                self.leave_if_done(place);
                Ok(())
            }
        }
    }

    /// A process tries to take a thread that it does not drive; none where the owner seems to live.
    pub(super) fn adopt(&mut self, place: &Place) -> Result<Option<u64>, Broken> {
        self.beat();
        let (own, owner) = (self.processes[place.process].name.clone(), self.disk.record(&place.thread).owner.clone());
        let epoch = self.disk.adopt(&place.thread, &own, self.clock(place.process))?;
        if let (Some(epoch), Some(owner)) = (epoch, owner)
            && owner != own
            && self.processes.iter().any(|process| process.name == owner)
        {
            self.summary.see(Sight::Takeover);
            self.note(format!("{own} takes {} from {owner}, at epoch {epoch}", place.thread));
        }
        Ok(epoch)
    }

    /// A process goes on with a thread that it has taken: from its log, and from nothing else.
    pub(super) fn reopen(&mut self, place: &Place, epoch: u64) -> Result<(), Broken> {
        let record = self.disk.record(&place.thread);
        let copy = ThreadCopy { thread: record.replayed.clone(), n: record.head, epoch, heard: None, paused: false };
        let (now, newest) = (self.clock(place.process), copy.thread.last_at);
        if now.since_ms(newest) > DAY_MS {
            self.summary.see(Sight::ClockAhead);
        }
        if now < newest {
            self.summary.see(Sight::ClockBehind);
        }
        self.processes[place.process].copies.insert(place.thread.clone(), copy);
        self.give(place, Input::Reopened)
    }

    /// A child is looked for by a parent that does not drive it: its report is fetched, or the child is gone on with.
    pub(super) fn fetch(&mut self, place: Place, wait_ms: u64) -> Result<(), Broken> {
        let Some(parent) = place.thread.parent().map(|parent| place.beside(&parent)) else { return Ok(()) };
        let waits = self.copy(&parent).and_then(|copy| copy.thread.children.live.get(&place.thread));
        let Some(asked) = waits.map(|child| child.asked().cloned()) else { return Ok(()) };
        if let Some(report) = self.disk.record(&place.thread).checker.answer_to(asked.as_ref()) {
            self.summary.see(Sight::FetchedReport);
            self.hand_up(&place, report);
            return Ok(());
        }
        // One that lives here is told to read its log. If another process has taken the thread over, it lets go, and is looked for again.
        if self.copy(&place).is_some() && self.is_taken(&place) {
            self.lose(&place);
            return Ok(());
        }
        // Else it is left alone: it will hand up its report itself. How it does, the parent may not know.
        if let Some(copy) = self.copy(&place) {
            let paused = copy.thread.is_paused();
            self.after(1, Due::Input(parent, Input::ChildPaused { child: place.thread, paused }.into()));
            return Ok(());
        }
        match self.adopt(&place)? {
            Some(epoch) => self.reopen(&place, epoch),
            None => {
                self.after(1, Due::Glance(place.clone()));
                self.after(wait_ms, Due::Fetch(place, wait_ms * 2));
                Ok(())
            }
        }
    }

    /// A parent sees from its child's log how the child does that another process drives.
    pub(super) fn glance(&mut self, place: &Place) -> Result<(), Broken> {
        let Some(parent) = place.thread.parent().map(|parent| place.beside(&parent)) else { return Ok(()) };
        if self.copy(&parent).is_none() || self.copy(place).is_some() || !self.disk.knows(&place.thread) {
            return Ok(());
        }
        let paused = self.disk.record(&place.thread).replayed.is_paused();
        if paused {
            self.summary.see(Sight::PausedElsewhere);
        }
        self.give(&parent, Input::ChildPaused { child: place.thread.clone(), paused })
    }

    /// Nothing is on its way: a parent takes a child to wait for a person exactly where it does.
    pub(super) fn pauses_are_known(&self) -> Result<(), Broken> {
        for (process, one) in self.processes.iter().enumerate().filter(|(_, one)| self.is_well(&one.name)) {
            for (id, copy) in one.copies.iter().filter(|(_, copy)| copy.thread.run.is_some()) {
                if self.is_taken(&Place::new(process, id)) {
                    continue;
                }
                let begun =
                    copy.thread.children.live.iter().filter(|(child, one)| one.started && self.is_driven(child));
                for (child, _) in begun {
                    let (told, waits) =
                        (copy.thread.children.paused.contains(child), self.disk.record(child).replayed.is_paused());
                    hold("a parent takes its child to wait for a person exactly where it does", told == waits, || {
                        format!("{id} was told {told} of {child}, which is {waits}")
                    })?;
                }
            }
        }
        Ok(())
    }

    /// A parent in the same process begins to look for a child.
    pub(super) fn look_for(&mut self, place: &Place) -> Result<(), Broken> {
        self.fetch(place.clone(), LOOK_AGAIN_MS)
    }

    /// What follows from a commit is done, as far as the process lives to do it.
    pub(super) fn carry_out(&mut self, place: &Place, deeds: Vec<Deed>) -> Result<(), Broken> {
        let mut deeds = deeds.into_iter();
        while let Some(deed) = deeds.next() {
            match self.fate(place.process) {
                ProcessFate::Lives => {}
                ProcessFate::Gone => return Ok(()),
                ProcessFate::Stands(until) => {
                    let rest = std::iter::once(deed).chain(deeds).collect();
                    self.at(until, Due::Deeds(place.clone(), rest));
                    return Ok(());
                }
            }
            if self.copy(place).is_none() {
                return Ok(());
            }
            if self.is_taken(place) {
                self.summary.see(Sight::StaleDeed);
            }
            match deed {
                Deed::Effect { effect, reopening } => self.perform(place, effect, reopening)?,
                Deed::HandUp(report) => self.hand_up(place, *report),
                Deed::LetHear(text) => self.let_hear(place, text),
                Deed::TellPause(paused) => self.tell_pause(place, paused),
            }
        }
        self.leave_if_done(place);
        Ok(())
    }

    /// Decides, remembers, and does, with every rule held in between. What was decided on an old state is decided anew.
    fn step(&mut self, place: &Place, input: Input) -> Result<(), Broken> {
        let reopening = input == Input::Reopened;
        let mut input = input;
        let mut missed = false;
        loop {
            let now = self.clock(place.process);
            let consent = self.processes[place.process].consent;
            let Some(copy) = self.processes[place.process].copies.get_mut(&place.thread) else { return Ok(()) };
            let facts = self.world.facts(consent, &copy.thread, &input, now);
            let step = copy.thread.handle(input.clone(), &facts, now);
            if let Input::ModelAnswered { answer, .. } = &input {
                unreadable_calls(answer, &step.events)?;
            }
            let explained = !step.events.is_empty() || step.effects.is_empty();
            hold("nothing is asked of the world without a word in the log", explained, || {
                format!("{:?}", step.effects)
            })?;
            if !step.events.is_empty() {
                self.cross(place)?;
                match self.commit(place, now, &step.events)? {
                    Written::Done => self.follow(place, step.events, step.effects, reopening)?,
                    Written::Behind => {
                        self.summary.see(Sight::Conflict);
                        self.reread(place);
                        missed = true;
                        continue;
                    }
                    Written::Fenced => {
                        if self.is_taken(place) {
                            self.summary.see(Sight::Refusal);
                        }
                        self.lose(place);
                        return Ok(());
                    }
                }
            }
            if !missed {
                self.leave_if_done(place);
                return Ok(());
            }
            missed = false;
            input = Input::Arrived;
        }
    }

    /// Now and then another process writes between a decision and its commit.
    fn cross(&mut self, place: &Place) -> Result<(), Broken> {
        if self.summary.count(Sight::Conflict) >= MOST_CROSSINGS || !self.dice.chance(self.behaviour.crossings) {
            return Ok(());
        }
        let number = u64::from(self.summary.count(Sight::Conflict));
        let words = people::input(&mut self.dice, number);
        self.send(place.process, &place.thread, InputId::new(format!("between-{number}")), &words)
    }

    /// Events are remembered, all of them or none.
    fn commit(&mut self, place: &Place, at: Time, events: &[Event]) -> Result<Written, Broken> {
        let process = &self.processes[place.process];
        let copy = &process.copies[&place.thread];
        let (thread, process) = (place.thread.clone(), process.name.clone());
        let events_kept = events.iter().cloned().map(Arc::new).collect();
        let commit =
            Commit { thread, expected: copy.n, epoch: copy.epoch, process, at, events: events_kept, lets_go: false };
        let written = self.disk.append(self.now, &commit);
        if matches!(written, Ok(Written::Behind | Written::Fenced)) {
            return written;
        }
        for event in events {
            self.saw_event(place, event);
            self.tail.push((self.now, Scene::Event(place.thread.clone(), event.clone())));
        }
        let head = self.disk.record(&place.thread).head;
        if let Some(copy) = self.seat_mut(place) {
            copy.n = head;
        }
        written
    }

    fn saw_event(&mut self, place: &Place, event: &Event) {
        *self.summary.events.entry(event.kind()).or_default() += 1;
        match event {
            Event::ThreadCreated(_) => {
                self.summary.threads += 1;
                if place.thread.depth() >= 3 {
                    self.summary.see(Sight::DepthThree);
                }
            }
            Event::TurnStarted(_) | Event::CallFailed { retry_at: Some(_), .. } | Event::CallRepeated { .. } => {
                self.summary.requests += 1;
            }
            Event::Delegated { enough: Enough::One, .. } => self.summary.see(Sight::FirstIsEnough),
            Event::ApprovalRequested(approval) => self.ask_people(approval),
            Event::ApprovalResolved { resolution, .. } => self.saw_resolution(resolution),
            Event::RunStarted { run, from, .. } if *run > 1 => {
                self.summary.see(Sight::LaterRun);
                match from {
                    Some(_) => self.summary.see(Sight::AskedMore),
                    None if !place.thread.is_root() => self.summary.see(Sight::PersonAsksChild),
                    None => {}
                }
            }
            Event::InputDropped { input, .. } if input.0.contains('/') && !input.0.starts_with("stop") => {
                self.summary.see(Sight::QuestionDropped);
            }
            // Its parent needs it no more, and something that a person asked lies still in it: the person goes on with it.
            Event::ChildReported { child, .. }
                if self.disk.knows(child) && !is_idle(&self.disk.record(child).replayed) && !self.is_driven(child) =>
            {
                let process = self.anybody();
                self.after(LOOK_AGAIN_MS, Due::Resume(process, TRY_AGAIN_MS));
            }
            Event::Reported(report) => {
                *self.summary.outcomes.entry(report.outcome.as_str()).or_default() += 1;
                if place.thread == self.root {
                    self.write_again();
                }
            }
            _ => {}
        }
    }

    /// What follows from a commit: the thread is what its log says, and whatever is asked is done.
    fn follow(
        &mut self,
        place: &Place,
        events: Vec<Event>,
        effects: Vec<Effect>,
        reopening: bool,
    ) -> Result<(), Broken> {
        let thread = &self.processes[place.process].copies[&place.thread].thread;
        let record = self.disk.record_mut(&place.thread);
        if reopening {
            record.checker.lost();
        }
        for effect in &effects {
            record.checker.ask(effect)?;
        }
        hold("a thread is what its log says", record.replayed == *thread, || {
            format!("{}: log {:#?}\nthread {thread:#?}", place.thread, record.replayed)
        })?;
        record.checker.agrees_with(thread)?;
        answered_calls(thread)?;
        let is_heard = thread.created.progress;
        let mut deeds: Vec<Deed> = effects.into_iter().map(|effect| Deed::Effect { effect, reopening }).collect();
        deeds.extend(events.into_iter().filter_map(|event| match event {
            Event::Reported(report) => Some(Deed::HandUp(report)),
            Event::InputDropped { input, reason } => Some(Deed::HandUp(Box::new(Report::never_begun(input, &reason)))),
            Event::Answered(answered) if is_heard => {
                Some(Deed::LetHear(Message { role: Role::Assistant, parts: answered.parts }.text().into()))
            }
            _ => None,
        }));
        let (runs, paused) = (thread.run.is_some(), thread.is_paused());
        if let Some(copy) = self.seat_mut(place).filter(|_| runs)
            && (std::mem::replace(&mut copy.paused, paused) != paused || reopening)
        {
            deeds.push(Deed::TellPause(paused));
        }
        self.carry_out(place, deeds)
    }

    /// The driver's own code fails: the input is gone, what was under way is given up, and the thread ends as after a restart.
    fn fail(&mut self, place: &Place) -> Result<(), Broken> {
        if self.copy(place).is_none() {
            return Ok(());
        }
        self.summary.see(Sight::Panic);
        // What other tasks sent is still in its queue.
        self.dues.retain(|_, due| match due {
            Due::Input(_, input) if is_from_a_child(input) => true,
            Due::Look(_) => true,
            other => !other.is_under_way_for(place),
        });
        self.reread(place);
        self.step(place, Input::Panicked { message: "index out of bounds".into() })?;
        if self.copy(place).is_some_and(|copy| !copy.is_idle()) {
            self.step(place, Input::Reopened)?;
        }
        Ok(())
    }

    /// The thread is not this process's any more: whatever it did for it ends, and its result is dropped. A parent that lives here
    /// still needs the report, and a person goes on with a root that stands still.
    fn lose(&mut self, place: &Place) {
        self.processes[place.process].copies.remove(&place.thread);
        self.dues.retain(|_, due| !due.is_under_way_for(place));
        self.note(format!("{} lets go of {}", self.processes[place.process].name, place.thread));
        let process = self.anybody();
        self.after(LOOK_AGAIN_MS, Due::Resume(process, TRY_AGAIN_MS));
        if place.thread != self.root {
            self.after(0, Due::Fetch(place.clone(), LOOK_AGAIN_MS));
        }
    }

    fn reread(&mut self, place: &Place) {
        let record = self.disk.record(&place.thread);
        if let Some(copy) = self.processes[place.process].copies.get_mut(&place.thread) {
            (copy.thread, copy.n) = (record.replayed.clone(), record.head);
        }
    }

    /// A thread that waits for nothing is only a log.
    pub(super) fn leave_if_done(&mut self, place: &Place) {
        let Some(copy) = self.copy(place) else { return };
        if !copy.is_idle() || self.dues.values().any(|due| due.is_under_way_for(place)) {
            return;
        }
        if self.is_taken(place) {
            // Another process has brought it to its end, of which this process does not know.
            self.lose(place);
        } else {
            self.processes[place.process].copies.remove(&place.thread);
        }
    }

    /// Whether the thread that a process has in its hands was taken by another.
    fn is_taken(&self, place: &Place) -> bool {
        self.copy(place).is_some_and(|copy| copy.epoch != self.disk.record(&place.thread).epoch)
    }
}

fn is_from_a_child(input: &Input) -> bool {
    matches!(input, Input::ChildReported { .. } | Input::ChildSaid { .. } | Input::ChildPaused { .. })
}
