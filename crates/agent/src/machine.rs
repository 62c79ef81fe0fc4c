//! One agent's rules: an input and a moment go in, events and effects come out.
//!
//! The events are applied while they are decided, so that each decision sees the ones before it; a driver whose commit is
//! refused throws its copy of the thread away and reads the log again. Here is the order of things; what each
//! input means is in `turn/`, one file each.

use std::cell::Cell;

use serde::Serialize;

use crate::effect::Effect;
use crate::event::Event;
use crate::facts::Facts;
use crate::id::Time;
use crate::input::Input;
use crate::thread::{Phase, Thread};
use crate::turn;

/// What came of an input: first to be remembered, then to be done.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[must_use]
pub struct Step {
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What is asked of the world once the events are committed.
    pub effects: Vec<Effect>,
}

impl Thread {
    /// What `input` means at `now`. `facts` hold at least what [`Thread::needs`] names for it. An input that answers nothing (a late result, a second report) means nothing.
    pub fn handle(&mut self, input: Input, facts: &Facts, now: Time) -> Step {
        let now = now.max(self.last_at);
        let mut moment = Moment { thread: self, facts, now, step: Step::default(), fixed_bytes: Cell::default() };
        match input {
            Input::Begin => turn::begin::begun(&mut moment),
            Input::Arrived => turn::inbox::take_all(&mut moment),
            Input::ModelAnswered { turn, answer, schema_error } => {
                turn::answer::answered(&mut moment, turn, answer, schema_error);
            }
            Input::ModelFailed { turn, error } => turn::failure::failed(&mut moment, turn, error),
            Input::ToolFinished { call, result } => turn::tool_calls::finished(&mut moment, &call, result),
            Input::ToolAsks { call, question } => turn::approval::wanted(&mut moment, &call, question),
            Input::ToolSamples { call, number, server, input } => {
                turn::sampling::wanted(&mut moment, &call, number, &server, &input);
            }
            Input::SampleAnswered { number, outcome } => turn::sampling::answered(&mut moment, number, outcome),
            Input::ChecksFinished { call, result } => turn::checks::finished(&mut moment, &call, result),
            Input::ChildReported { child, report } => turn::child::reported(&mut moment, &child, &report),
            Input::ChildSaid { child, text, foreign } => turn::child::said(&mut moment, &child, &text, foreign),
            Input::ChildPaused { child, paused } => turn::child::paused(&mut moment, &child, paused),
            Input::ChildTold { call, delivered } => turn::verbs::told(&mut moment, &call, delivered),
            Input::TimePassed { heard } => turn::time::passed(&mut moment, heard),
            Input::Reopened => turn::reopen::reopened(&mut moment),
            Input::Panicked { message } => turn::stop::panicked(&mut moment, &message),
        }
        moment.advance();
        if moment.thread.run.is_none() && !moment.thread.inbox.arrived.is_empty() {
            turn::inbox::take_all(&mut moment);
            moment.advance();
        }
        moment.step
    }
}

/// A thread at the moment of one input.
pub(crate) struct Moment<'a> {
    pub thread: &'a mut Thread,
    pub facts: &'a Facts,
    pub now: Time,
    pub step: Step,
    /// Bytes of the system prompt and of the advertised tools, once they were counted (`turn::begin::fixed_bytes`); counted anew after
    /// each event.
    pub fixed_bytes: Cell<Option<usize>>,
}

impl Moment<'_> {
    /// Something happened.
    pub fn emit(&mut self, event: Event) {
        self.thread.apply(self.now, &event);
        self.fixed_bytes.take();
        self.step.events.push(event);
    }

    /// Something is to be done.
    pub fn ask(&mut self, effect: Effect) {
        self.step.effects.push(effect);
    }

    /// Goes on as far as it can without anything from outside.
    fn advance(&mut self) {
        let Some(run) = &self.thread.run else { return };
        let calls_open = self.thread.calls.open() > 0;
        let alone = self.thread.children.live.is_empty();
        match (&run.phase, &run.closing.ending) {
            (Phase::Asking(_) | Phase::Checking(_), _) => {}
            (Phase::Acting, None) if calls_open => {}
            (Phase::Ready | Phase::Acting, None) => turn::begin::next(self),
            (Phase::Answered, None) if !self.thread.inbox.notices.is_empty() => turn::begin::next(self),
            (Phase::Answered, None) if alone => turn::finish::answered(self),
            (Phase::Answered, None) => {}
            (Phase::Ready | Phase::Acting | Phase::Answered, Some(_)) if calls_open || !alone => {}
            (Phase::Ready | Phase::Acting | Phase::Answered, Some(ending)) => {
                let ending = ending.clone();
                if ending.last_turn && !run.closing.last_turn_taken {
                    turn::begin::last(self, ending);
                } else {
                    turn::finish::ended(self, &ending);
                }
            }
        }
    }
}
