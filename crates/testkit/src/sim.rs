//! A whole family of agents in one process of no size: a seed builds a house, rules, models that are slow, fail and lie, tools
//! that hang, people who interfere and a machine that goes down at any moment; virtual time runs, and after every step
//! the invariants are held against what happened.
//!
//! Only the rules are real here. Commits, effects and crashes keep the order that a driver must keep: events are
//! remembered, then effects are performed, and whatever was under way is gone with the process.
//! Wires, files and clocks are deliberately absent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::AssertUnwindSafe;

use agent::event::ThreadCreated;
use agent::house::House;
use agent::message::{Message, Role};
use agent::{CallId, Event, Input, InputId, Outcome, Outside, Report, Thread, ThreadId, Time};

use crate::dice::Dice;
use crate::invariants::{Broken, Ledger, Prompts, answered_calls, family, hold, unreadable_calls};

mod hands;
mod people;
mod perform;
mod setting;
mod voice;

use setting::{Setting, Temper};

/// The morning on which every simulation begins.
const MORNING: Time = Time(1_768_471_200_000);

/// More steps than any run takes that ends.
const MOST_STEPS: u32 = 20_000;

/// Commits that are refused at most: each comes with a letter, and letters without end are runs without end.
const MOST_REFUSALS: u32 = 20;

/// Plays one seed to its end.
pub fn run(seed: u64) -> Result<Summary, Failure> {
    Sim::new(seed).run(None)
}

/// Plays one seed again and again, with the process going away at each of its moments in turn, and once not at all.
pub fn run_through_every_crash(seed: u64) -> Result<Summary, Failure> {
    let mut seen = Sim::new(seed).run(Some(0))?;
    for moment in 1..=seen.moments {
        seen.add(&Sim::new(seed).run(Some(moment))?);
    }
    Ok(seen)
}

/// What a seed got to see.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Inputs that were handled.
    pub steps: u32,
    /// Agents that were begun, the root included.
    pub threads: u32,
    /// Moments between two things at which the process could have gone away.
    pub moments: u64,
    /// Times that the process went away.
    pub crashes: u32,
    /// Commits that were refused because somebody else wrote first.
    pub refusals: u32,
    /// How often each kind of event was committed.
    pub events: BTreeMap<&'static str, u32>,
    /// How often a run ended in each way.
    pub outcomes: BTreeMap<&'static str, u32>,
}

/// A seed under which a rule did not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed, with which it happens again.
    pub seed: u64,
    /// The moment at which the process went away, where that was not left to the seed.
    pub crash_at: Option<u64>,
    /// The rule, and what was found.
    pub broken: Broken,
    /// The end of the log, over all threads.
    pub story: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\nBROKEN: {}\nSIM_SEED={} plays it again", self.story, self.broken, self.seed)?;
        self.crash_at.map_or(Ok(()), |moment| write!(f, ", with the process going away at moment {moment}"))
    }
}

/// The world of one seed.
struct Sim {
    seed: u64,
    dice: Dice,
    temper: Temper,
    house: House,
    root: ThreadId,
    now: Time,
    /// What is on disk: it outlives the process.
    records: BTreeMap<ThreadId, Record>,
    /// The threads that the process has in its hands.
    live: BTreeMap<ThreadId, Thread>,
    /// What will come, and when.
    dues: BTreeMap<Ticket, Due>,
    next_ticket: u64,
    /// The answers under way that can still be called off.
    asked: BTreeMap<ThreadId, Ticket>,
    working: BTreeMap<(ThreadId, CallId), Ticket>,
    /// When a model was last heard that has not answered.
    heard: BTreeMap<ThreadId, Time>,
    /// How often each call was run.
    executions: BTreeMap<(ThreadId, CallId), u32>,
    /// The moments, counted from 1, at which the process goes away.
    crashes: BTreeSet<u64>,
    /// Everything that happened to anybody, in order, for whoever must find out what went wrong; none is a crash.
    tail: Vec<(Time, ThreadId, Option<Event>)>,
    summary: Summary,
}

/// A place in the queue: a moment, and the order within it.
type Ticket = (Time, u64);

/// A log, and what follows from it.
struct Record {
    log: Vec<(Time, Event)>,
    /// The state that the log alone leads to.
    replayed: Thread,
    ledger: Ledger,
    prompts: Prompts,
}

/// What will come.
enum Due {
    /// An answer, or a word from within the process: gone when the process goes.
    Input(ThreadId, Box<Input>),
    /// A model's answer, made up when it comes.
    Answer(ThreadId),
    /// A model lets something be heard.
    Heard(ThreadId),
    /// A person's letter.
    Letter(people::Letter),
    /// A new process takes over.
    Reopen,
}

impl Sim {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let Setting { house, root, temper } = Setting::new(&mut dice);
        let crashes = *dice.pick(&[0, 0, 1, 2, 5]);
        let mut sim = Self {
            seed,
            root: root.id.clone(),
            temper,
            house,
            now: MORNING,
            records: BTreeMap::new(),
            live: BTreeMap::new(),
            dues: BTreeMap::new(),
            next_ticket: 0,
            asked: BTreeMap::new(),
            working: BTreeMap::new(),
            heard: BTreeMap::new(),
            executions: BTreeMap::new(),
            crashes: (0..crashes).map(|_| if dice.chance(50) { dice.below(40) } else { dice.below(400) }).collect(),
            tail: Vec::new(),
            summary: Summary::default(),
            dice,
        };
        sim.create(&root);
        for letter in people::letters(&mut sim.dice) {
            sim.after(letter.after_ms, Due::Letter(letter));
        }
        sim
    }

    fn run(mut self, crash_at: Option<u64>) -> Result<Summary, Failure> {
        if let Some(moment) = crash_at {
            self.crashes = BTreeSet::from([moment]);
        }
        let played = std::panic::catch_unwind(AssertUnwindSafe(|| self.play())).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let found = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(Broken { rule: "the rules never panic", found: found.unwrap_or_default() })
        });
        match played {
            Ok(()) => Ok(self.summary),
            Err(broken) => Err(Failure { seed: self.seed, crash_at, broken, story: self.story() }),
        }
    }

    /// Lets time run until nothing will come any more, and looks at what is left.
    fn play(&mut self) -> Result<(), Broken> {
        while let Some((at, next)) = self.next() {
            self.now = self.now.max(at);
            self.summary.steps += 1;
            hold("a run always ends", self.summary.steps < MOST_STEPS, || format!("{MOST_STEPS} steps"))?;
            match next {
                Next::Due(due) => self.come(due)?,
                Next::Wake(id) => {
                    let heard = self.heard.get(&id).copied();
                    let before = self.records[&id].log.len();
                    let crashes = self.summary.crashes;
                    self.give(&id, &Input::TimePassed { heard })?;
                    let woke = self.records[&id].log.len() > before || self.summary.crashes > crashes;
                    hold("whoever asks to be woken has something to do", woke, || id.to_string())?;
                }
            }
        }
        for (id, record) in &self.records {
            let log: Vec<(Time, Event)> = record.log.iter().map(|(at, event)| (*at, through_json(event))).collect();
            let replayed = Thread::replay(log.iter().map(|(at, event)| (*at, event)));
            let same = replayed.as_ref() == Some(&record.replayed);
            hold("a log that was written and read again tells the same", same, || id.to_string())?;
        }
        let ledgers = self.records.iter().map(|(id, record)| (id.clone(), &record.ledger)).collect();
        family(&self.root, &ledgers)
    }

    /// What comes next: something in the queue, or a thread that asked to be woken.
    fn next(&mut self) -> Option<(Time, Next)> {
        let due = self.dues.first_key_value().map(|(ticket, _)| ticket.0);
        let wakes =
            self.live.iter().filter_map(|(id, thread)| Some((thread.next_wake(self.heard.get(id).copied())?, id)));
        match (due, wakes.min()) {
            (None, None) => None,
            (due, Some((at, id))) if due.is_none_or(|due| at < due) => Some((at, Next::Wake(id.clone()))),
            _ => self.dues.pop_first().map(|(ticket, due)| (ticket.0, Next::Due(due))),
        }
    }

    fn come(&mut self, due: Due) -> Result<(), Broken> {
        match due {
            Due::Input(id, input) => self.give(&id, &input),
            Due::Answer(id) => {
                let Some(thread) = self.live.get(&id) else { return Ok(()) };
                let Some(input) = voice::speak(&mut self.dice, &self.temper, thread) else { return Ok(()) };
                self.give(&id, &input)
            }
            Due::Heard(id) => {
                self.heard.insert(id, self.now);
                Ok(())
            }
            Due::Letter(letter) => {
                let everybody: Vec<&ThreadId> = self.records.keys().collect();
                let to = if letter.to_root { self.root.clone() } else { (*self.dice.pick(&everybody)).clone() };
                self.send(&to, letter.id, letter.input)
            }
            Due::Reopen => self.reopen(&self.root.clone()),
        }
    }

    /// An input reaches a thread, unless the process goes away, somebody else writes first, or the driver fails.
    fn give(&mut self, id: &ThreadId, input: &Input) -> Result<(), Broken> {
        if self.goes_down() {
            return Ok(());
        }
        if self.summary.refusals < MOST_REFUSALS && self.dice.chance(self.temper.refusals) {
            self.refuse(id, input)?;
        }
        if *input != Input::Reopened && self.dice.below(2_000) < self.temper.panics {
            return self.fail(id);
        }
        self.step(id, input)
    }

    /// The driver's own code fails: the input is gone, what was under way is given up, and the thread ends as after a restart.
    fn fail(&mut self, id: &ThreadId) -> Result<(), Broken> {
        if !self.live.contains_key(id) {
            return Ok(());
        }
        self.give_up(id);
        self.step(id, &Input::Panicked { message: "index out of bounds".into() })?;
        if self.live.get(id).is_some_and(|thread| thread.run.is_some()) {
            self.give_up(id);
            self.records.get_mut(id).expect("whoever lives has a log").ledger.lost();
            self.step(id, &Input::Reopened)?;
        }
        Ok(())
    }

    /// Whatever was on its way to a thread does not come.
    fn give_up(&mut self, id: &ThreadId) {
        self.dues.retain(|_, due| match due {
            Due::Input(to, input) => to != id || matches!(**input, Input::Arrived),
            Due::Answer(to) | Due::Heard(to) => to != id,
            Due::Letter(_) | Due::Reopen => true,
        });
    }

    /// Decides, remembers, and does, with every rule held in between.
    fn step(&mut self, id: &ThreadId, input: &Input) -> Result<(), Broken> {
        let Some(thread) = self.live.get_mut(id) else { return Ok(()) };
        let step = thread.handle(&self.house, input.clone(), self.now);
        if let Input::ModelAnswered { answer, .. } = input {
            unreadable_calls(answer, &step.events)?;
        }
        self.commit(id, &step.events)?;
        let record = self.records.get_mut(id).expect("whoever lives has a log");
        for effect in &step.effects {
            record.ledger.ask(effect);
        }
        let thread = &self.live[id];
        hold("a thread is what its log says", record.replayed == *thread, || {
            format!("{id}: log {:#?}\nthread {thread:#?}", record.replayed)
        })?;
        record.ledger.agrees_with(thread)?;
        answered_calls(thread)?;
        for effect in step.effects {
            if self.goes_down() {
                return Ok(());
            }
            self.perform(id, effect)?;
            // Performing may itself run into the end of the process.
            if self.live.is_empty() {
                return Ok(());
            }
        }
        let Some(parent) = id.parent() else { return Ok(()) };
        for event in step.events {
            match event {
                Event::Reported(_) if self.goes_down() => return Ok(()),
                Event::Reported(report) => self.hand_up(&parent, id, *report),
                Event::Answered(answered) if self.live[id].created.progress => {
                    let text = Message { role: Role::Assistant, parts: answered.parts }.text().into();
                    let said = Input::ChildSaid { child: id.clone(), text };
                    self.after(1, Due::Input(parent.clone(), said.into()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Somebody else wrote into the log first: what was decided is thrown away with the copy it was decided on.
    fn refuse(&mut self, id: &ThreadId, input: &Input) -> Result<(), Broken> {
        let Some(copy) = self.live.get_mut(id) else { return Ok(()) };
        let _ = copy.handle(&self.house, input.clone(), self.now);
        self.summary.refusals += 1;
        self.live.insert(id.clone(), self.records[id].replayed.clone());
        let input_id = InputId::new(format!("between-{}", self.summary.refusals));
        let words = people::input(&mut self.dice, u64::from(self.summary.refusals));
        self.send(id, input_id, words)
    }

    /// Events are remembered, all of them or none.
    fn commit(&mut self, id: &ThreadId, events: &[Event]) -> Result<(), Broken> {
        let record = self.records.get_mut(id).expect("whoever commits has a log");
        for event in events {
            self.tail.push((self.now, id.clone(), Some(event.clone())));
            *self.summary.events.entry(event.kind()).or_default() += 1;
            if let Event::Reported(report) = event {
                *self.summary.outcomes.entry(report.outcome.as_str()).or_default() += 1;
            }
            record.replayed.apply(self.now, event);
            record.log.push((self.now, event.clone()));
            record.ledger.see(event)?;
        }
        Ok(())
    }

    /// Something from outside is written into a log, and whoever owns the thread is told.
    fn send(&mut self, id: &ThreadId, input_id: InputId, input: Outside) -> Result<(), Broken> {
        let event = Event::InputArrived { id: input_id, input };
        self.commit(id, std::slice::from_ref(&event))?;
        if let Some(thread) = self.live.get_mut(id) {
            thread.apply(self.now, &event);
            let soon = self.dice.below(50);
            self.after(soon, Due::Input(id.clone(), Input::Arrived.into()));
        }
        Ok(())
    }

    fn create(&mut self, created: &ThreadCreated) {
        let id = created.id.clone();
        let first = Event::ThreadCreated(Box::new(created.clone()));
        let thread = Thread::new(self.now, &first);
        self.summary.threads += 1;
        *self.summary.events.entry(first.kind()).or_default() += 1;
        self.tail.push((self.now, id.clone(), Some(first.clone())));
        let record = Record {
            log: vec![(self.now, first)],
            replayed: thread.clone(),
            ledger: Ledger::new(created),
            prompts: Prompts::default(),
        };
        self.records.insert(id.clone(), record);
        self.live.insert(id, thread);
    }

    /// A process takes a thread over: from its log, and from nothing else.
    fn reopen(&mut self, id: &ThreadId) -> Result<(), Broken> {
        self.live.insert(id.clone(), self.records[id].replayed.clone());
        self.give(id, &Input::Reopened)?;
        let Some(thread) = self.live.get(id) else { return Ok(()) };
        if thread.created.brief.is_some() && thread.runs == 0 {
            return self.give(id, &Input::Begin);
        }
        if thread.arrived.is_empty() { Ok(()) } else { self.give(id, &Input::Arrived) }
    }

    /// A child's report is on its way to its parent, now and then twice.
    fn hand_up(&mut self, parent: &ThreadId, child: &ThreadId, report: Report) {
        let input = Box::new(Input::ChildReported { child: child.clone(), report });
        if self.dice.chance(10) {
            let late = self.dice.below(5_000);
            self.after(late, Due::Input(parent.clone(), input.clone()));
        }
        let soon = self.dice.below(200);
        self.after(soon, Due::Input(parent.clone(), input));
    }

    /// Whether the process goes away at this very moment: what it had in its hands is gone.
    fn goes_down(&mut self) -> bool {
        self.summary.moments += 1;
        if !self.crashes.contains(&self.summary.moments) {
            return false;
        }
        self.summary.crashes += 1;
        self.tail.push((self.now, self.root.clone(), None));
        self.live.clear();
        self.asked.clear();
        self.working.clear();
        self.heard.clear();
        self.dues.retain(|_, due| matches!(due, Due::Letter(_)));
        for record in self.records.values_mut() {
            record.ledger.lost();
        }
        let away_ms = if self.dice.chance(50) { 0 } else { self.dice.below(200_000) };
        self.after(away_ms, Due::Reopen);
        true
    }

    fn after(&mut self, ms: u64, due: Due) -> Ticket {
        self.next_ticket += 1;
        let ticket = (self.now.plus_ms(ms), self.next_ticket);
        self.dues.insert(ticket, due);
        ticket
    }

    fn story(&self) -> String {
        let newest = self.tail.len().saturating_sub(40);
        let line = |(at, id, event): &(Time, ThreadId, Option<Event>)| {
            let seconds = at.since_ms(MORNING) as f64 / 1000.0;
            let event =
                event.as_ref().map_or("---- the process goes away ----".to_owned(), |event| format!("{event:?}"));
            let event: String = event.chars().take(600).collect();
            format!("{seconds:>9.3} {id} {event}")
        };
        self.tail[newest..].iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

enum Next {
    Due(Due),
    Wake(ThreadId),
}

/// An event as it comes back from storage.
fn through_json(event: &Event) -> Event {
    let text = serde_json::to_string(event).expect("an event has a JSON form");
    serde_json::from_str(&text).expect("an event's JSON form is read back")
}

impl Summary {
    /// The sum of two.
    pub fn add(&mut self, other: &Summary) {
        self.steps += other.steps;
        self.threads += other.threads;
        self.moments += other.moments;
        self.crashes += other.crashes;
        self.refusals += other.refusals;
        for (kind, count) in &other.events {
            *self.events.entry(kind).or_default() += count;
        }
        for (outcome, count) in &other.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
    }

    /// Whether a run ended in this way.
    pub fn saw(&self, outcome: Outcome) -> bool {
        self.outcomes.contains_key(outcome.as_str())
    }
}
