//! Effects are performed: most of them put an answer into the queue, which comes if the process lives to see it and still has
//! the thread.

use std::sync::Arc;

use agent::event::VerdictKind;
use agent::thread::Phase;
use agent::tools::{Reach, ToolResult};
use agent::{CallId, Effect, Input, InputId, Json, Outside, Report, Strength, ThreadId};

use crate::invariants::{Broken, hold};

use super::process::Place;
use super::{Due, Habit, Sight, Sim, model_answers, tool_results};

impl Sim {
    pub(super) fn perform(&mut self, place: &Place, effect: Effect, reopening: bool) -> Result<(), Broken> {
        match effect {
            Effect::CallModel { turn, not_before, .. } => {
                let wait_ms = not_before.map_or(0, |at| at.since_ms(self.clock(place.process)));
                self.call_model(place, turn, wait_ms)
            }
            Effect::CancelModel { turn } => {
                self.cancel_model(place, turn);
                Ok(())
            }
            Effect::RunTool { call, name, input, approved } => self.run_tool(place, call, &name, &input, approved),
            Effect::StopTool { call } => {
                self.stop_tool(place, call);
                Ok(())
            }
            // No tool of the simulation asks anything.
            Effect::AnswerTool { .. } | Effect::Sample { .. } | Effect::AnswerSample { .. } => Ok(()),
            Effect::RunChecks { call, .. } => {
                self.run_checks(place, call);
                Ok(())
            }
            Effect::StartChild { child } => self.start_child(place, &child, reopening),
            Effect::StopChild { child, strength, reason } => {
                let known = self.copy(place).and_then(|copy| copy.thread.children.live.get(&child));
                let asked = known.and_then(|child| child.asked().cloned());
                self.stop_child(place.process, &child, asked.as_ref(), stop_input(strength, reason, asked.as_ref()))
            }
            Effect::TellChild { child, call, text } => {
                let said = Outside::Steered {
                    text,
                    from: place.thread.as_str().into(),
                    foreign: self.disk.record(&place.thread).replayed.foreign,
                };
                let delivered = self.tell(place.process, &child, InputId::new(call.as_str()), said)?;
                let soon = self.dice.below(100);
                self.after(soon, Due::Input(place.clone(), Box::new(Input::ChildTold { call, delivered })));
                Ok(())
            }
        }
    }

    /// A child's report is on its way to its parent, now and then twice. One that does not live here asks when it is resumed.
    pub(super) fn hand_up(&mut self, place: &Place, report: Report) {
        let Some(parent) = place.thread.parent().map(|parent| place.beside(&parent)) else { return };
        if self.copy(&parent).is_none() {
            return;
        }
        let input = Box::new(Input::ChildReported { child: place.thread.clone(), report: Box::new(report) });
        if self.dice.chance(10) {
            let late = self.dice.below(5_000);
            self.after(late, Due::Input(parent.clone(), input.clone()));
        }
        let soon = self.dice.below(200);
        self.after(soon, Due::Input(parent, input));
    }

    pub(super) fn let_hear(&mut self, place: &Place, text: Arc<str>) {
        if let Some(parent) = place.thread.parent() {
            let foreign = self.disk.record(&place.thread).replayed.foreign;
            let said = Input::ChildSaid { child: place.thread.clone(), text, foreign };
            self.after(1, Due::Input(place.beside(&parent), said.into()));
        }
    }

    /// The parent hears whether the thread waits for nothing but a person, wherever the parent is driven.
    pub(super) fn tell_pause(&mut self, place: &Place, paused: bool) {
        let Some(parent) = place.thread.parent() else { return };
        let input = Input::ChildPaused { child: place.thread.clone(), paused };
        // What one task tells another comes in order.
        self.after(1, Due::Input(place.beside(&parent), input.into()));
        let elsewhere = (0..self.processes.len()).filter(|process| *process != place.process);
        for process in elsewhere.collect::<Vec<_>>() {
            let soon = self.dice.below(1_000);
            self.after(soon, Due::Glance(Place::new(process, &place.thread)));
        }
    }

    fn call_model(&mut self, place: &Place, turn: u32, wait_ms: u64) -> Result<(), Broken> {
        let copy = &self.processes[place.process].copies[&place.thread];
        let record = self.disk.record_mut(&place.thread);
        // What a process shows a model of a thread that it has lost, unknowing, counts as no prompt.
        if copy.epoch == record.epoch {
            record.prompts.asked(&copy.thread)?;
        }
        let slow = self.dice.chance(10);
        let takes_ms = if slow { self.dice.between(30_000, 600_000) } else { self.dice.between(50, 8_000) };
        if slow {
            self.after(wait_ms + takes_ms / 2, Due::Heard(place.clone()));
        }
        self.after(wait_ms + takes_ms, Due::Answer(place.clone(), turn));
        Ok(())
    }

    /// The request is ended; an answer that is nearly there may cross that.
    fn cancel_model(&mut self, place: &Place, turn: u32) {
        let crosses = self.dice.chance(20);
        let is_answer = |due: &Due| matches!(due, Due::Answer(to, _) if to == place);
        if crosses && self.dues.values().any(is_answer) {
            return;
        }
        self.dues.retain(|_, due| !is_answer(due));
        let soon = self.dice.below(500);
        let input = model_answers::cut_short(&mut self.dice, turn);
        self.after(soon, Due::Input(place.clone(), input.into()));
    }

    fn run_tool(
        &mut self,
        place: &Place,
        call: CallId,
        name: &str,
        input: &Json,
        approved: Option<Arc<str>>,
    ) -> Result<(), Broken> {
        let id = &place.thread;
        let Some(slot) = self.copy(place).and_then(|copy| copy.thread.calls.slot(&call)) else {
            return Err(Broken { rule: "a tool runs for a call that is open", found: format!("{id} {call}") });
        };
        // Consent is for what a call led to when it was given: it is checked once more before it runs.
        let Some(digest) = self.world.assess(name, input).map(|assessment| assessment.digest) else {
            let input = Input::ToolFinished { call, result: ToolResult::error("it was removed") };
            self.after(0, Due::Input(place.clone(), input.into()));
            return Ok(());
        };
        if approved.as_ref().is_some_and(|allowed| *allowed != digest) {
            self.summary.see(Sight::ChangedBeforeRun);
            let input = Input::ToolFinished { call, result: ToolResult::error("it has changed") };
            self.after(0, Due::Input(place.clone(), input.into()));
            return Ok(());
        }
        let repeats = match &slot.verdict {
            // Said here once more, so that the rules are held against a second opinion.
            VerdictKind::Run { reach, idempotent } => *reach == Reach::ReadOnly || *idempotent,
            VerdictKind::Asked { .. } | VerdictKind::Verb | VerdictKind::VerbAsked | VerdictKind::Refused { .. } => {
                false
            }
        };
        let most = if repeats { 1 + self.disk.record(id).reopened } else { 1 };
        let times = self.executions.entry((id.clone(), call.clone())).or_default();
        *times += 1;
        let times = *times;
        hold("a side effect is not done twice", times <= most, || format!("{id} ran {call} {times} times"))?;
        let takes_ms = tool_results::takes_ms(&mut self.dice, &self.behaviour);
        let result =
            self.behaviour.habit.and_then(Habit::tool_result).unwrap_or_else(|| tool_results::result(&mut self.dice));
        let result = ToolResult { digest: approved, ..result };
        let input = Box::new(Input::ToolFinished { call, result });
        if self.dice.chance(3) {
            // A result that comes twice means nothing the second time.
            self.after(takes_ms + 10, Due::Input(place.clone(), input.clone()));
        }
        self.after(takes_ms, Due::Input(place.clone(), input));
        Ok(())
    }

    /// The checks of a brief pass, fail, or cannot be run.
    fn run_checks(&mut self, place: &Place, call: CallId) {
        let takes_ms = tool_results::takes_ms(&mut self.dice, &self.behaviour);
        let result = tool_results::checked(&mut self.dice);
        let input = Box::new(Input::ChecksFinished { call, result });
        if self.dice.chance(3) {
            self.after(takes_ms + 10, Due::Input(place.clone(), input.clone()));
        }
        self.after(takes_ms, Due::Input(place.clone(), input));
    }

    fn stop_tool(&mut self, place: &Place, call: CallId) {
        self.dues.retain(|_, due| match due {
            Due::Input(to, input) if to == place => !matches!(&**input,
                Input::ToolFinished { call: finished, .. } | Input::ChecksFinished { call: finished, .. }
                    if *finished == call),
            _ => true,
        });
        let soon = self.dice.below(2_000);
        let phase = self.copy(place).and_then(|copy| copy.thread.run.as_ref()).map(|run| &run.phase);
        let are_checks = matches!(phase, Some(Phase::Checking(checking)) if checking.call == call);
        let result = tool_results::stopped();
        let input =
            if are_checks { Input::ChecksFinished { call, result } } else { Input::ToolFinished { call, result } };
        self.after(soon, Due::Input(place.clone(), input.into()));
    }

    /// A child is begun, gone on with, or asked for the report that it has already written.
    fn start_child(&mut self, place: &Place, child: &ThreadId, reopening: bool) -> Result<(), Broken> {
        let Some(copy) = self.copy(place) else { return Ok(()) };
        let (thread, own) = (&copy.thread, place.beside(child));
        let is_stale = copy.epoch != self.disk.record(&place.thread).epoch;
        let (created, question) = (thread.child_created(child), thread.child_question(child));
        let asked = question.as_ref().map(|(id, _)| id.clone());
        let stop = thread.children.live.get(child).and_then(|child| child.stop.clone());
        let stop = stop.filter(|_| reopening).map(|(strength, reason)| stop_input(strength, reason, asked.as_ref()));
        if let Some((id, question)) = question {
            // Written and taken up; a driver that does it again does no harm.
            if self.disk.record(child).checker.answer_to(asked.as_ref()).is_none() {
                self.arrive(place.process, child, id, question)?;
            }
            if let Some(stop) = stop {
                self.stop_child(place.process, child, asked.as_ref(), stop)?;
            }
            return self.look_for(&own);
        }
        if self.disk.knows(child) {
            hold("only a driver that was replaced starts what is started", reopening || is_stale, || {
                child.to_string()
            })?;
            if let Some((id, stop)) = stop {
                self.tell(place.process, child, id, stop)?;
            }
            return self.look_for(&own);
        }
        match created {
            Some(created) => self.create(&own, created, stop),
            None => Err(Broken { rule: "a parent knows the children that it starts", found: child.to_string() }),
        }
    }

    /// Writes a stop into a child's log, unless the child has answered what the stop is about.
    fn stop_child(
        &mut self,
        process: usize,
        child: &ThreadId,
        asked: Option<&InputId>,
        (id, stop): (InputId, Outside),
    ) -> Result<(), Broken> {
        match asked {
            None => self.tell(process, child, id, stop).map(|_| ()),
            Some(_) if self.disk.record(child).checker.answer_to(asked).is_some() => Ok(()),
            Some(_) => self.arrive(process, child, id, stop),
        }
    }

    /// Writes something into a child's log; whether the child will still read it.
    fn tell(&mut self, process: usize, child: &ThreadId, id: InputId, input: Outside) -> Result<bool, Broken> {
        if !self.disk.knows(child) || self.disk.record(child).replayed.is_over() {
            return Ok(false);
        }
        self.arrive(process, child, id, input)?;
        Ok(true)
    }
}

/// A parent's stop as it stands in the child's log, once for each strength and each thing that the child was asked.
fn stop_input(strength: Strength, reason: Arc<str>, asked: Option<&InputId>) -> (InputId, Outside) {
    let name = match strength {
        Strength::Cancel => "stop-cancel",
        Strength::Kill => "stop-kill",
    };
    let name = asked.map_or_else(|| name.to_owned(), |asked| format!("{name}/{}", asked.0));
    (InputId::new(name), Outside::Stopped { strength, reason, run: asked.cloned() })
}
