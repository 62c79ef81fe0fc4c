//! Inputs from outside are taken up, oldest first. A message for a busy root waits for its next run.

use crate::context;
use crate::event::{Ending, Event};
use crate::id::InputId;
use crate::input::{Outside, Strength};
use crate::machine::Moment;
use crate::message::{Attachment, Told};
use crate::report::Outcome;
use crate::turn::{approval, begin, stop};

/// Takes up all that can be taken up.
pub fn take_all(moment: &mut Moment<'_>) {
    let waiting: Vec<(InputId, Outside)> = moment.thread.inbox.arrived.iter().cloned().collect();
    for (id, input) in waiting {
        match input {
            Outside::UserSaid { text, attachments, .. } => said(moment, id, &text, attachments),
            Outside::Steered { text, from, .. } => {
                if moment.thread.run.is_some() || moment.thread.is_unbegun() {
                    let told = Some(Told::of(&context::steer(&from, &text), &text));
                    moment.emit(Event::Steered { input: id, text, from, told });
                } else if moment.thread.is_over() {
                    drop_input(moment, id, "the sub-agent is over");
                } else {
                    drop_input(moment, id, "nothing runs in this thread; send it a message instead");
                }
            }
            Outside::Stopped { strength, reason } => stopped(moment, id, strength, &reason),
            Outside::Decided { approval, digest, decision } => {
                approval::decided(moment, id, &approval, &digest, decision);
            }
        }
    }
}

fn said(moment: &mut Moment<'_>, id: InputId, text: &str, attachments: Vec<Attachment>) {
    if moment.thread.created.brief.is_some() {
        drop_input(moment, id, "a sub-agent has one brief; steer it while it runs");
    } else if moment.thread.run.is_none() {
        let run = moment.thread.issued.runs + 1;
        moment.emit(Event::RunStarted { input: id, run, prompt: text.into(), attachments });
        begin::next(moment);
    }
}

fn stopped(moment: &mut Moment<'_>, id: InputId, strength: Strength, reason: &str) {
    // A sub-agent that has not begun has nothing to say: it is over at once.
    let is_unbegun = moment.thread.is_unbegun();
    let is_stronger = match moment.thread.run.as_ref().map(|run| &run.closing.ending) {
        None if is_unbegun => true,
        None => return drop_input(moment, id, "nothing runs in this thread"),
        Some(None) => true,
        Some(Some(ending)) => ending.last_turn && strength == Strength::Kill,
    };
    if !is_stronger {
        return drop_input(moment, id, "the thread is ending already");
    }
    let ending = Ending {
        outcome: Outcome::Cancelled,
        reason: reason.into(),
        cause: None,
        last_turn: strength == Strength::Cancel && !is_unbegun,
    };
    stop::begin(moment, Some(id), ending);
}

fn drop_input(moment: &mut Moment<'_>, input: InputId, reason: &str) {
    moment.emit(Event::InputDropped { input, reason: reason.into() });
}
