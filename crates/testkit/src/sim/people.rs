//! What people do: they send messages, words in between and stops, all of it twice and to anybody, and they go on with, or see
//! to the end of, what a process left.

use agent::budget::Grant;
use agent::{InputId, Mode, Outside, Strength, ThreadId};

use super::process::{Place, is_idle};
use super::{Due, Sight, Sim};
use crate::dice::Dice;
use crate::invariants::Broken;

/// How long a person waits before trying again.
pub(super) const TRY_AGAIN_MS: u64 = 10_000;

/// Something that a person sends.
#[derive(Clone, Debug)]
pub(super) struct PlannedInput {
    pub after_ms: u64,
    pub to: To,
    pub id: InputId,
    pub input: Outside,
    /// What the same person sends to the same thread afterwards.
    pub next: Option<Box<PlannedInput>>,
}

/// Which thread an input is for.
#[derive(Clone, Debug)]
pub(super) enum To {
    Root,
    /// Any thread that there is when it is sent.
    Anybody,
    This(ThreadId),
}

/// The message that begins it all.
pub(super) fn first() -> (InputId, Outside) {
    (InputId::new("first"), Outside::said("do it"))
}

/// Everything that people will send whatever happens.
pub(super) fn planned_inputs(dice: &mut Dice) -> Vec<PlannedInput> {
    let count = *dice.pick(&[0, 0, 1, 2, 4, 8]);
    (1..=count).map(|number| planned_input(dice, number)).collect()
}

/// One thing that a person may send.
pub(super) fn input(dice: &mut Dice, number: u64) -> Outside {
    match dice.below(19) {
        0..=2 => Outside::said(format!("and then {number}")),
        12..=13 => Outside::Noticed {
            text: format!("task {number} is done").into(),
            from: "a board".into(),
            grant: None,
            foreign: false,
            tools: Vec::new(),
        },
        14 => Outside::ChildWanted,
        15 => Outside::Marked { title: Some(format!("number {number}").into()), archived: None, read: true },
        16..=17 => Outside::Chosen {
            model: None,
            mode: Some(*dice.pick(&[Mode::Plan, Mode::Ask, Mode::Auto, Mode::Dangerous])),
        },
        18 => Outside::SummaryWanted { grant: None },
        3..=6 => Outside::person_steers(format!("mind the {number} steps")),
        7..=9 => Outside::stopped(Strength::Cancel, "enough"),
        _ => Outside::stopped(Strength::Kill, "at once"),
    }
}

fn planned_input(dice: &mut Dice, number: u64) -> PlannedInput {
    let mut planned = PlannedInput {
        after_ms: if dice.chance(40) { dice.below(20_000) } else { dice.below(600_000) },
        to: if dice.chance(60) { To::Root } else { To::Anybody },
        id: InputId::new(format!("p{number}")),
        input: input(dice, number),
        next: None,
    };
    let soon = if dice.chance(50) { dice.below(300) } else { dice.below(6_000) };
    if matches!(planned.input, Outside::Stopped { .. }) && dice.chance(70) {
        // A person who has stopped a thread stops it again, or sends one more message.
        let id = InputId::new(format!("p{number}-again"));
        let input = loop {
            let input = input(dice, number);
            if !input.needs_no_run() {
                break input;
            }
        };
        planned.next = Some(Box::new(PlannedInput { after_ms: soon, id, input, ..planned.clone() }));
    } else if dice.chance(20) {
        planned.next = Some(Box::new(PlannedInput { after_ms: soon, ..planned.clone() }));
    }
    planned
}

impl Sim {
    /// A planned input is sent, through any process.
    pub(super) fn post(&mut self, planned: PlannedInput) -> Result<(), Broken> {
        let to = match planned.to {
            To::Root => self.root.clone(),
            To::Anybody => self.dice.pick(&self.disk.everybody()).clone(),
            To::This(thread) => thread,
        };
        if let Some(next) = planned.next {
            self.after(next.after_ms, Due::PersonSends(PlannedInput { to: To::This(to.clone()), ..*next }));
        }
        let process = self.anybody();
        self.send(process, &to, planned.id, &planned.input)
    }

    /// Something from outside is written into a log, and the owner of the thread is told. What only a run could read is kept back
    /// where none goes on, unless it crosses the report.
    pub(super) fn send(&mut self, process: usize, to: &ThreadId, id: InputId, input: &Outside) -> Result<(), Broken> {
        let thread = &self.disk.record(to).replayed;
        let is_running = thread.run.is_some() || thread.is_unbegun();
        let is_message = input.needs_no_run();
        if !is_running && !is_message && !self.dice.chance(20) {
            return Ok(());
        }
        self.saw_input(to, input);
        self.arrive(process, to, id, self.granted(to, input.clone()))?;
        let (soon, place) = (self.dice.below(2_000), Place::new(process, to));
        match input {
            Outside::UserSaid { .. }
            | Outside::Asked { .. }
            | Outside::Noticed { .. }
            | Outside::ChildWanted
            | Outside::Chosen { .. }
            | Outside::SummaryWanted { .. } => {
                self.after(soon, Due::Resume(process, TRY_AGAIN_MS));
            }
            Outside::Stopped { .. } => self.after(soon, Due::Finish(place, TRY_AGAIN_MS)),
            Outside::Steered { .. } | Outside::Decided { .. } | Outside::Marked { .. } => {}
        }
        Ok(())
    }

    /// What begins a run in a sub-agent without its parent has the grant of the root.
    fn granted(&self, to: &ThreadId, input: Outside) -> Outside {
        let created = &self.disk.record(to).replayed.created;
        let root = &self.disk.record(&self.root).replayed.created.grant;
        let (depth, descendants) = (created.grant.depth, created.grant.descendants);
        let own = Grant { depth, descendants, not_after: None, ..root.clone() };
        let grant = (!to.is_root()).then(|| Box::new(own));
        match input {
            Outside::UserSaid { text, output_schema, attachments, unwatched, foreign, .. } => {
                Outside::UserSaid { text, output_schema, attachments, grant, unwatched, foreign }
            }
            Outside::Noticed { text, from, foreign, tools, .. } => {
                Outside::Noticed { text, from, grant, foreign, tools }
            }
            Outside::SummaryWanted { .. } => Outside::SummaryWanted { grant },
            other => other,
        }
    }

    /// Writes into a log, and tells the owner of the thread if it lives.
    pub(super) fn arrive(&mut self, process: usize, to: &ThreadId, id: InputId, input: Outside) -> Result<(), Broken> {
        self.disk.arrive(to, id, input, self.clock(process))?;
        *self.summary.events.entry("input_arrived").or_default() += 1;
        let owner = self.disk.record(to).owner.as_ref();
        if let Some(owner) = self.processes.iter().position(|process| Some(&process.name) == owner) {
            let soon = self.dice.below(50);
            self.after(soon, Due::Look(Place::new(owner, to)));
        }
        Ok(())
    }

    /// A person goes on with the root, and with sub-agents that people asked something, if anything is to be done for them and no
    /// process does it.
    pub(super) fn resume(&mut self, process: usize, wait_ms: u64) -> Result<(), Broken> {
        for thread in self.disk.everybody() {
            let parent = thread.parent().map(|parent| &self.disk.record(&parent).replayed);
            if parent.is_none_or(|parent| !parent.children.live.contains_key(&thread)) {
                self.resume_one(&Place::new(process, &thread), wait_ms)?;
            }
        }
        Ok(())
    }

    fn resume_one(&mut self, place: &Place, wait_ms: u64) -> Result<(), Broken> {
        let process = place.process;
        if is_idle(&self.disk.record(&place.thread).replayed) {
            return Ok(());
        }
        let is_own = self.disk.record(&place.thread).owner.as_ref() == Some(&self.processes[process].name);
        let has_seat = self.copy(place).is_some();
        if is_own && has_seat {
            return Ok(());
        }
        // A copy that is not the owner's finds out by itself: until then no other driver can take its slot.
        let epoch = if has_seat { None } else { self.adopt(place)? };
        match epoch {
            Some(epoch) => self.reopen(place, epoch),
            None => {
                if has_seat || !self.is_driven(&place.thread) {
                    self.after(wait_ms, Due::Resume(process, wait_ms * 2));
                }
                Ok(())
            }
        }
    }

    /// The process that stopped a thread ends it, without its model, where no other process does.
    pub(super) fn finish(&mut self, place: Place, wait_ms: u64) -> Result<(), Broken> {
        if is_idle(&self.disk.record(&place.thread).replayed) || self.copy(&place).is_some() {
            return Ok(());
        }
        if let Some(epoch) = self.adopt(&place)? {
            self.summary.see(Sight::EndedByAnother);
            let reason = "its process is gone, and it was stopped";
            let stop = Outside::stopped(Strength::Kill, reason);
            self.arrive(place.process, &place.thread, InputId::new("left-kill"), stop)?;
            return self.reopen(&place, epoch);
        }
        if !self.is_driven(&place.thread) {
            self.after(wait_ms, Due::Finish(place, wait_ms * 2));
        }
        Ok(())
    }

    /// The root has reported: people may have more for it.
    pub(super) fn write_again(&mut self) {
        if self.messages == 0 {
            return;
        }
        self.messages -= 1;
        let after_ms = if self.dice.chance(40) { self.dice.below(100) } else { self.dice.below(100_000) };
        let input = Outside::said(format!("and {} more", self.messages));
        let id = InputId::new(format!("m{}", self.messages));
        self.after(after_ms, Due::PersonSends(PlannedInput { after_ms, to: To::Root, id, input, next: None }));
    }

    pub(super) fn is_driven(&self, thread: &ThreadId) -> bool {
        self.disk.knows(thread) && self.disk.record(thread).owner.as_ref().is_some_and(|owner| self.is_well(owner))
    }

    fn saw_input(&mut self, to: &ThreadId, input: &Outside) {
        let thread = &self.disk.record(to).replayed;
        let ending = thread.run.as_ref().is_some_and(|run| run.closing.ending.is_some());
        let in_last_turn = thread.run.as_ref().is_some_and(|run| run.closing.last_turn_taken);
        let is_idle = thread.run.is_none() && thread.issued.runs > 0;
        let sights = match input {
            Outside::UserSaid { .. } => vec![(Sight::IdleMessage, is_idle)],
            Outside::Steered { .. } => vec![(Sight::SteerAfterStop, ending)],
            Outside::Stopped { .. } => vec![(Sight::DoubleStop, ending), (Sight::StopInLastTurn, in_last_turn)],
            Outside::Noticed { .. } => vec![(Sight::NoticeWakes, is_idle), (Sight::NoticeWhileEnding, ending)],
            Outside::Asked { .. }
            | Outside::ChildWanted
            | Outside::Decided { .. }
            | Outside::Marked { .. }
            | Outside::Chosen { .. }
            | Outside::SummaryWanted { .. } => Vec::new(),
        };
        for (sight, _) in sights.into_iter().filter(|(_, is_so)| *is_so) {
            self.summary.see(sight);
        }
    }
}
