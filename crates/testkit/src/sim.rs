//! A whole family of agents in virtual time: a seed builds agents, rules, models that are slow, fail and lie, tools that hang, people
//! who interfere, are asked for their consent and take their time, and two processes over one store that exit, pause, lose their threads to each other and disagree
//! about what time it is; virtual time runs, and after every step the invariants are held against what happened.
//!
//! The rules are real, and so is the store, which decides who may write: one in memory (`store::MemoryStore`), or any other that goes by the
//! time that it is told. Commits, effects, refusals
//! and takeovers keep the order that a driver must keep (`drive.rs`): events are remembered, then effects are performed, and
//! whatever was under way is gone with the process, or with the thread that another has taken.
//! Wires, files and tasks are deliberately absent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use agent::event::ThreadCreated;
use agent::permission::Rule;
use agent::{CallId, Effect, Event, Input, Report, ThreadId, Time};
use store::{MemoryStore, Store};

use crate::dice::Dice;
use crate::invariants::{Broken, hold};

mod consent;
mod disk;
mod drive;
mod habit;
mod model_answers;
mod people;
mod perform;
mod process;
mod process_faults;
mod setting;
mod summary;
mod tool_results;

use consent::World;
use disk::Disk;
pub use habit::Habit;
use process::{Place, Process};
use setting::{Behaviour, Setting};
pub use summary::{Sight, Summary};

/// The morning on which every simulation begins.
const MORNING: Time = Time(1_768_471_200_000);

/// More steps than any seed takes whose runs end.
const MOST_STEPS: u32 = 40_000;

/// Whatever passes between the tasks of a process has arrived after so long.
const SETTLED_MS: u64 = 60_000;

/// Plays one seed to its end.
pub fn run(seed: u64) -> Result<Summary, Failure> {
    Sim::new(seed).run(None)
}

/// The same on another store, in which nothing is yet and which goes by the time that it is told.
pub fn run_on(store: Arc<dyn Store>, seed: u64) -> Result<Summary, Failure> {
    Sim::on(store, seed).run(None)
}

/// Plays one seed with a process going away at this moment and no other; at none for 0.
pub fn run_to_crash(seed: u64, moment: u64) -> Result<Summary, Failure> {
    Sim::new(seed).run(Some(moment))
}

/// What else happens while a model follows its habit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// Nothing: no process goes away, no person interferes, and no request fails.
    Quiet,
    /// Whatever the seed has.
    Rough,
}

/// Plays one seed with models that do one thing without end.
pub fn run_without_end(seed: u64, habit: Habit, around: Around) -> Result<Summary, Failure> {
    let mut sim = Sim::new(seed);
    if let Some(root) = &mut sim.born {
        habit.set_up(root, &mut sim.dice);
    }
    sim.behaviour.habit = Some(habit);
    if around == Around::Quiet {
        let behaviour = &mut sim.behaviour;
        (behaviour.fails, behaviour.lies, behaviour.crossings, behaviour.panics, behaviour.hangs) = (0, 0, 0, 0, 0);
        sim.crashes.clear();
        sim.stalls.clear();
        sim.dues.clear();
        sim.messages = 0;
    }
    sim.run(None)
}

/// Plays one seed again and again, with a process going away at each of its moments in turn, and once not at all.
pub fn run_through_every_crash(seed: u64) -> Result<Summary, Failure> {
    let mut seen = run_to_crash(seed, 0)?;
    for moment in 1..=seen.moments {
        seen.add(&run_to_crash(seed, moment)?);
    }
    Ok(seen)
}

/// A seed under which a rule did not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed, with which it happens again.
    pub seed: u64,
    /// The moment at which a process went away, where that was not left to the seed.
    pub crash_at: Option<u64>,
    /// The rule, and what was found.
    pub broken: Broken,
    /// The end of what happened, over all threads and processes.
    pub story: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\nBROKEN: {}\nSIM_SEED={}", self.story, self.broken, self.seed)?;
        self.crash_at.map_or(Ok(()), |moment| write!(f, " SIM_CRASH_AT={moment}"))?;
        write!(f, " plays it again")
    }
}

/// The world of one seed.
struct Sim {
    seed: u64,
    dice: Dice,
    behaviour: Behaviour,
    /// What facts are gathered from.
    world: World,
    root: ThreadId,
    /// How the root comes to be, until it has.
    born: Option<ThreadCreated>,
    /// Time that runs evenly, whatever any clock says.
    now: Time,
    /// How far the wall clock is ahead of it: what a process that begins takes for the time.
    wall_ahead_ms: i64,
    /// What outlives every process.
    disk: Disk,
    /// Those that live. One that goes away is followed by another in its place.
    processes: Vec<Process>,
    /// Processes that ever began.
    begun: u32,
    /// What will come, and when.
    dues: BTreeMap<Ticket, Due>,
    next_ticket: u64,
    /// How often each call was run.
    executions: BTreeMap<(ThreadId, CallId), u32>,
    /// Calls that people were asked about.
    asked: BTreeSet<(ThreadId, CallId)>,
    /// The moments, counted from 1, at which the process whose moment it is goes away, or stands still.
    crashes: BTreeSet<u64>,
    stalls: BTreeSet<u64>,
    /// Messages that people still have for the root once it is idle.
    messages: u32,
    /// Everything that happened, in order, for the person who reads a failure.
    tail: Vec<(Time, Scene)>,
    summary: Summary,
}

/// A place in the queue: a moment, and the order within it.
type Ticket = (Time, u64);

/// What will come.
enum Due {
    /// An answer, or a word from within the process.
    Input(Place, Box<Input>),
    /// A model's answer to this turn, made up when it comes.
    Answer(Place, u32),
    /// A model lets something be heard.
    Heard(Place),
    /// Something was written into the log from outside.
    Look(Place),
    /// What is left to do after a commit, for a process that stood still in the middle of it.
    Deeds(Place, Vec<Deed>),
    /// A parent in this process looks for a child's report, or takes the child over; tried again after so long, then longer.
    Fetch(Place, u64),
    /// A person goes on with the root in this process.
    Resume(usize, u64),
    /// A person who stopped a thread sees to it, in this process.
    Finish(Place, u64),
    /// An input that a person sends.
    PersonSends(people::PlannedInput),
    /// A parent in this process sees how a child does that another process drives.
    Glance(Place),
    /// The wall clock leaps by so many milliseconds.
    Leap(i64),
    /// What calls lead to is not what it was.
    Change,
    /// A rule is written down.
    Tighten(Box<Rule>),
    /// Other tools are published.
    Publish(setting::Published),
}

/// What follows from a commit.
enum Deed {
    Effect {
        effect: Effect,
        reopening: bool,
    },
    HandUp(Box<Report>),
    LetHear(Arc<str>),
    /// The thread waits for nothing but a person, or no longer does.
    TellPause(bool),
}

/// What happened, as a person reads it.
enum Scene {
    Event(ThreadId, Event),
    Note(String),
}

impl Due {
    /// The process that must live for it to come.
    fn process(&self) -> Option<usize> {
        match self {
            Due::Input(place, _)
            | Due::Answer(place, _)
            | Due::Heard(place)
            | Due::Look(place)
            | Due::Deeds(place, _)
            | Due::Fetch(place, _)
            | Due::Glance(place)
            | Due::Finish(place, _) => Some(place.process),
            Due::Resume(process, _) => Some(*process),
            Due::PersonSends(_) | Due::Leap(_) | Due::Change | Due::Tighten(_) | Due::Publish(_) => None,
        }
    }

    /// Whether it is for this thread in this process, and would end with it.
    fn is_under_way_for(&self, place: &Place) -> bool {
        match self {
            Due::Input(to, _) | Due::Answer(to, _) | Due::Look(to) | Due::Deeds(to, _) => to == place,
            Due::Heard(_)
            | Due::Fetch(..)
            | Due::Glance(_)
            | Due::Resume(..)
            | Due::Finish(..)
            | Due::PersonSends(_)
            | Due::Leap(_)
            | Due::Change
            | Due::Tighten(_)
            | Due::Publish(_) => false,
        }
    }
}

impl Sim {
    fn new(seed: u64) -> Self {
        Self::on(Arc::new(MemoryStore::new()), seed)
    }

    fn on(store: Arc<dyn Store>, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let Setting { world, root, behaviour } = Setting::new(&mut dice);
        let moments = |dice: &mut Dice, counts: &[u64]| -> BTreeSet<u64> {
            let count = *dice.pick(counts);
            (0..count).map(|_| if dice.chance(50) { dice.below(40) } else { dice.below(400) }).collect()
        };
        let mut sim = Self {
            seed,
            root: root.id.clone(),
            born: Some(root),
            behaviour,
            world,
            now: MORNING,
            wall_ahead_ms: 0,
            disk: Disk::of(store),
            processes: Vec::new(),
            begun: 0,
            dues: BTreeMap::new(),
            next_ticket: 0,
            executions: BTreeMap::new(),
            asked: BTreeSet::new(),
            crashes: moments(&mut dice, &[0, 0, 1, 2, 5]),
            stalls: moments(&mut dice, &[0, 0, 1, 3]),
            messages: *dice.pick(&[0, 0, 1, 2]),
            tail: Vec::new(),
            summary: Summary::default(),
            dice,
        };
        sim.processes = vec![sim.new_process(), sim.new_process()];
        sim.plan_process_faults();
        sim.plan_changes();
        sim.plan_publishing();
        for planned in people::planned_inputs(&mut sim.dice) {
            sim.after(planned.after_ms, Due::PersonSends(planned));
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
        if let Some(root) = self.born.take() {
            self.create(&Place::new(0, &root.id), root, Some(people::first()))?;
        }
        while let Some((at, next)) = self.next() {
            if at.since_ms(self.now) > SETTLED_MS {
                self.pauses_are_known()?;
            }
            self.now = self.now.max(at);
            self.summary.steps += 1;
            hold("a run always ends", self.summary.steps < MOST_STEPS, || format!("{MOST_STEPS} steps"))?;
            match next {
                Next::Due(due) => self.come(due)?,
                Next::Wake(place) => self.wake(&place)?,
            }
        }
        self.disk.at_rest(&self.root)
    }

    /// What comes next: something in the queue, or a thread that asked to be woken. A process that is paused gets both later.
    fn next(&mut self) -> Option<(Time, Next)> {
        let due = self.dues.first_key_value().map(|(ticket, _)| ticket.0);
        let wakes = self.processes.iter().enumerate().filter_map(|(process, one)| one.next_wake(process));
        match (due, wakes.min()) {
            (None, None) => None,
            (due, Some((at, place))) if due.is_none_or(|due| at < due) => Some((at, Next::Wake(place))),
            _ => self.dues.pop_first().map(|(ticket, due)| (ticket.0, Next::Due(due))),
        }
    }

    fn come(&mut self, due: Due) -> Result<(), Broken> {
        let stands_until = due.process().and_then(|process| self.processes[process].stands_until(self.now));
        if let Some(until) = stands_until {
            self.at(until, due);
            return Ok(());
        }
        match due {
            Due::Input(place, input) => self.give(&place, *input),
            Due::Answer(place, turn) => {
                let Some(copy) = self.processes[place.process].copies.get(&place.thread) else { return Ok(()) };
                match model_answers::speak(&mut self.dice, &self.behaviour, &copy.thread, turn) {
                    Some(input) => self.give(&place, input),
                    None => {
                        self.leave_if_done(&place);
                        Ok(())
                    }
                }
            }
            Due::Heard(place) => {
                let clock = self.clock(place.process);
                if let Some(copy) = self.seat_mut(&place) {
                    copy.heard = Some(clock);
                }
                Ok(())
            }
            Due::Look(place) => self.look(&place),
            Due::Deeds(place, deeds) => self.carry_out(&place, deeds),
            Due::Fetch(place, wait_ms) => self.fetch(place, wait_ms),
            Due::Resume(process, wait_ms) => self.resume(process, wait_ms),
            Due::Finish(place, wait_ms) => self.finish(place, wait_ms),
            Due::PersonSends(planned) => self.post(planned),
            Due::Glance(place) => self.glance(&place),
            Due::Leap(by_ms) => {
                self.leap(by_ms);
                Ok(())
            }
            Due::Change => {
                self.change();
                Ok(())
            }
            Due::Tighten(rule) => {
                self.tighten(*rule);
                Ok(())
            }
            Due::Publish(published) => {
                self.publish(published);
                Ok(())
            }
        }
    }

    fn after(&mut self, ms: u64, due: Due) {
        self.at(self.now.plus_ms(ms), due);
    }

    fn at(&mut self, moment: Time, due: Due) {
        self.next_ticket += 1;
        self.dues.insert((moment, self.next_ticket), due);
    }

    fn note(&mut self, what: String) {
        self.tail.push((self.now, Scene::Note(what)));
    }

    fn story(&self) -> String {
        let newest = self.tail.len().saturating_sub(40);
        let line = |(at, scene): &(Time, Scene)| {
            let seconds = at.since_ms(MORNING) as f64 / 1000.0;
            let what = match scene {
                Scene::Event(id, event) => format!("{id} {event:?}"),
                Scene::Note(note) => format!("---- {note} ----"),
            };
            let what: String = what.chars().take(600).collect();
            format!("{seconds:>9.3} {what}")
        };
        self.tail[newest..].iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

enum Next {
    Due(Due),
    Wake(Place),
}
