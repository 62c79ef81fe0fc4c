//! One run of a thread: from a message, or a brief, to a report.
//!
//! Its fields are in groups by what they are about. All of them end with the run.

use std::sync::Arc;

use crate::budget::Grant;
use crate::checks::CheckedBy;
use crate::effect::Effect;
use crate::event::{Answered, Ending, TurnKind, TurnStarted, VerdictKind};
use crate::id::{CallId, InputId, Time};
use crate::json::Json;
use crate::report::Usage;

use super::Calls;

/// A run: from a message, or a brief, to a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its number within the thread.
    pub number: u32,
    /// What it does.
    pub phase: Phase,
    /// The message that it answers; none where it answers a brief.
    pub asked: Option<InputId>,
    /// What it may spend, where that is not what the thread was created with.
    pub grant: Option<Box<Grant>>,
    /// Descendants that were taken before it, and count against no grant of its own.
    pub places_before: u32,
    /// JSON Schema that its answer must fit, where its message asks for one.
    pub output_schema: Option<Json>,
    /// Usage of the thread and its descendants when the run began.
    pub before: (Usage, Usage),
    /// When it began, when it must be over, and what it waits for.
    pub clock: Clock,
    /// Why and how it ends before the agent is done.
    pub closing: Closing,
    /// What the agent said last, and what is known of it.
    pub words: Words,
    /// How often it made no progress.
    pub pace: Pace,
    /// What became of the checks of its brief.
    pub checks: ChecksSoFar,
    /// What became of the hooks that hear of its end.
    pub hooks: ChecksSoFar,
    /// What was done because the conversation is too long for the model.
    pub window: Window,
}

/// What became of the checks of a brief, or of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChecksSoFar {
    /// Whether they have passed for the newest answer.
    pub passed: bool,
    /// How often they have failed.
    pub failed: u32,
}

/// The times of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    /// When it began.
    pub started_at: Time,
    /// When it must be over.
    pub deadline: Option<Time>,
    /// Since when it waits for nothing but a person: meanwhile its clocks stand still.
    pub paused_at: Option<Time>,
    /// When the stall that lasts was noticed.
    pub stalled_at: Option<Time>,
}

/// The end of a run before its agent is done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Closing {
    /// Why it ends; none while it does not.
    pub ending: Option<Ending>,
    /// Whether the one last turn was taken.
    pub last_turn_taken: bool,
}

/// The newest words of an agent, and what is known of the answer that they are in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// The newest words of the agent.
    pub last_text: Arc<str>,
    /// Pieces of the newest words, which were cut off at the length limit and go on.
    pub cut: Vec<Arc<str>>,
    /// Whether a call of the newest answer was refused.
    pub refused: bool,
    /// Why the newest answer does not fit the schema, where it is not asked for again.
    pub misfit: Option<Arc<str>>,
    /// Whether the model declined to answer.
    pub declined: bool,
}

/// Answers without progress, each kind counted against its own limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pace {
    /// The newest call, and how often it came in a row.
    pub repeated: Option<(Arc<str>, Arc<str>, u32)>,
    /// Answers in a row in which no call could be read.
    pub malformed_row: u32,
    /// Answers since a call last succeeded in which every call failed or was refused.
    pub failed_row: u32,
    /// Answers that were cut off at their output limit, since a call last succeeded or an answer was taken as final.
    pub cut_row: u32,
    /// Those of them that said nothing, or were cut off in the middle of a call.
    pub half_row: u32,
    /// Where the newest answer was cut off, if it said nothing or ended in the middle of a call: the next one may be longer.
    pub cut_short: Option<CutShort>,
    /// Answers that did not fit the schema.
    pub schema_misses: u32,
    /// How often a sub-agent that had reported was asked something more: agents that answer each other could go on for ever.
    pub rounds: u32,
}

/// What was done because the conversation is too long for the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The turn at which the conversation was last replaced by its summary.
    pub compacted_at: Option<u32>,
    /// Whether the run is there to replace the conversation by its summary, and for nothing else.
    pub sums_up: bool,
    /// The newest request that the provider found too long, until one is answered.
    pub refused: Option<TooLong>,
}

/// A request that was too long for the provider. The same request is not made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// How many requests in a row were too long.
    pub times: u32,
    /// The longest answer that was asked for.
    pub max_tokens: u64,
    /// The state of the conversation (`Talk::epoch`): another one has other messages.
    pub epoch: u32,
}

/// An answer that was cut off at its output limit and cannot be used as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct CutShort {
    /// The output limit, in tokens.
    pub limit: u64,
    /// The tool of the call that was not complete, as far as its name was there; none where nothing was said at all.
    pub call: Option<Arc<str>>,
}

impl CutShort {
    /// Where it was cut off, as the end of a sentence.
    pub fn place(&self) -> String {
        match self.call.as_deref() {
            None => "before anything was said".to_owned(),
            Some("") => "in the middle of a tool call".to_owned(),
            Some(tool) => format!("in the middle of a call of {tool}"),
        }
    }
}

/// What a run does.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// It is about to ask the model.
    Ready,
    /// It waits for the model.
    Asking(Asking),
    /// It waits for calls.
    Acting,
    /// It has answered, and is done once no child lives and nobody has said anything more.
    Answered,
    /// It has answered, and the checks of its brief run.
    Checking(Checking),
}

/// Checks that run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checking {
    /// The name under which they run.
    pub call: CallId,
    /// Whose they are.
    pub by: CheckedBy,
    /// Since when.
    pub since: Time,
    /// Whether they were told to end.
    pub stopping: bool,
}

/// A request to the model that is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    /// What was asked.
    pub turn: TurnStarted,
    /// Which attempt.
    pub attempt: u32,
    /// When the next attempt may be made.
    pub retry_at: Option<Time>,
    /// When the first attempt failed.
    pub failing_since: Option<Time>,
    /// Whether we asked for its end.
    pub cancelled: bool,
}

impl Run {
    pub(super) fn new(number: u32, at: Time, deadline: Option<Time>, before: (Usage, Usage)) -> Self {
        Self {
            number,
            phase: Phase::Ready,
            asked: None,
            grant: None,
            places_before: 0,
            output_schema: None,
            before,
            clock: Clock { started_at: at, deadline, paused_at: None, stalled_at: None },
            closing: Closing::default(),
            words: Words::default(),
            pace: Pace::default(),
            checks: ChecksSoFar::default(),
            hooks: ChecksSoFar::default(),
            window: Window::default(),
        }
    }

    /// Keeps count of calls that repeat themselves, cannot be read, or were refused.
    pub(super) fn note_calls(&mut self, answered: &Answered, calls: &Calls) {
        for slot in calls.slots() {
            let is_same =
                |(name, input, _): &(Arc<str>, Arc<str>, u32)| *name == slot.name && **input == *slot.input.text();
            match &mut self.pace.repeated {
                Some(last) if is_same(last) => last.2 += 1,
                other => *other = Some((slot.name.clone(), slot.input.text().into(), 1)),
            }
        }
        let verdicts = &answered.verdicts;
        if !verdicts.is_empty() {
            let all_malformed = verdicts.iter().all(|verdict| verdict.malformed);
            self.pace.malformed_row = if all_malformed { self.pace.malformed_row + 1 } else { 0 };
            self.words.refused = verdicts.iter().any(|verdict| matches!(verdict.what, VerdictKind::Refused { .. }));
        }
    }

    /// Keeps the newest words, pieces of cut ones joined. Calls between two pieces part them.
    pub(super) fn note_words(&mut self, text: Arc<str>, is_cut: bool) {
        if self.phase == Phase::Acting {
            self.words.cut.clear();
        }
        if text.is_empty() {
            return;
        }
        let mut whole = self.words.cut.concat();
        whole.push_str(&text);
        self.words.last_text = whole.into();
        if is_cut {
            self.words.cut.push(text);
        } else {
            self.words.cut.clear();
        }
    }
}

impl Asking {
    /// Whether the request may have been made by now: between two tries it was not.
    pub fn was_made(&self, now: Time) -> bool {
        self.retry_at.is_none_or(|at| at <= now)
    }

    /// The request as an effect.
    pub fn effect(&self) -> Effect {
        Effect::CallModel {
            turn: self.turn.turn,
            attempt: self.attempt,
            max_tokens: self.turn.max_tokens,
            calls_allowed: matches!(self.turn.kind, TurnKind::Work),
            not_before: self.retry_at,
        }
    }
}
