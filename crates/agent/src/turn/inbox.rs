//! Inputs from outside are taken up, oldest first. A message for a busy thread waits for its next run.

use std::sync::Arc;

use crate::budget::Grant;
use crate::context;
use crate::event::{Ending, Event};
use crate::id::InputId;
use crate::input::{Outside, Strength};
use crate::machine::Moment;
use crate::message::{Attachment, Told};
use crate::report::Outcome;
use crate::turn::{approval, begin, settings, stop};

/// Takes up all that can be taken up.
pub fn take_all(moment: &mut Moment<'_>) {
    let waiting: Vec<(InputId, Outside)> = moment.thread.inbox.arrived.iter().cloned().collect();
    for (id, input) in waiting {
        match input {
            Outside::UserSaid { text, attachments, grant, .. } => said(moment, id, (text, attachments), grant),
            Outside::Asked { text, from, grant, .. } => asked(moment, id, text, from, grant),
            Outside::Noticed { text, from, grant, .. } => noticed(moment, id, text, from, grant),
            Outside::ChildWanted => {
                let child = moment.thread.id().child(moment.thread.issued.children + 1);
                moment.emit(Event::ChildIssued { input: id, child });
            }
            Outside::Chosen { .. } => settings::chosen(moment, &id),
            Outside::SummaryWanted { grant } => summary_wanted(moment, id, grant),
            // It held when it arrived.
            Outside::Marked { .. } => {}
            Outside::Steered { text, from, .. } => {
                if moment.thread.run.is_some() || moment.thread.is_unbegun() {
                    let told = Some(Told::of(&context::steer(&from, &text), &text));
                    moment.emit(Event::Steered { input: id, text, from, told });
                } else {
                    drop_input(moment, id, "nothing runs in this thread; send it a message instead");
                }
            }
            Outside::Stopped { strength, reason, run } => stopped(moment, id, strength, &reason, run),
            Outside::Decided { approval, digest, decision } => {
                approval::decided(moment, id, &approval, &digest, decision);
            }
        }
    }
}

/// A person's message begins a run; while one goes on, or a brief was not begun, it waits.
fn said(
    moment: &mut Moment<'_>,
    input: InputId,
    (prompt, attachments): (Arc<str>, Vec<Attachment>),
    grant: Option<Box<Grant>>,
) {
    if moment.thread.is_idle() {
        let run = moment.thread.issued.runs + 1;
        moment.emit(Event::RunStarted { input, run, prompt, attachments, from: None, told: None, grant });
        begin::next(moment);
    }
}

/// A parent's question begins a run as a person's message does.
fn asked(moment: &mut Moment<'_>, input: InputId, prompt: Arc<str>, from: Arc<str>, grant: Box<Grant>) {
    if moment.thread.is_idle() {
        let run = moment.thread.issued.runs + 1;
        let told = Some(Told::of(&context::question(&from, &prompt), &prompt));
        moment.emit(Event::RunStarted {
            input,
            run,
            prompt,
            attachments: Vec::new(),
            from: Some(from),
            told,
            grant: Some(grant),
        });
        begin::next(moment);
    }
}

/// A notice is read at the next turn of the run that goes on. Where that has no next turn, or none goes on, a run begins for it.
fn noticed(moment: &mut Moment<'_>, input: InputId, text: Arc<str>, from: Arc<str>, grant: Option<Box<Grant>>) {
    if moment.thread.is_idle() {
        let run = moment.thread.issued.runs + 1;
        moment.emit(Event::RunStarted {
            input,
            run,
            prompt: text,
            attachments: Vec::new(),
            from: Some(from),
            told: None,
            grant,
        });
        begin::next(moment);
    } else if moment.thread.run.as_ref().is_none_or(|run| run.closing.ending.is_none()) {
        let told = Some(Told::of(&text, &text));
        moment.emit(Event::Steered { input, text, from, told });
    }
}

/// A summary that a person wants is a run of its own. One of nothing is not wanted.
fn summary_wanted(moment: &mut Moment<'_>, input: InputId, grant: Option<Box<Grant>>) {
    if !moment.thread.is_idle() {
        return;
    }
    if moment.thread.talk.messages().len() < 2 {
        return drop_input(moment, input, "there is nothing to sum up yet");
    }
    let run = moment.thread.issued.runs + 1;
    let (prompt, attachments) = (context::summary_wanted().into(), Vec::new());
    moment.emit(Event::RunStarted { input, run, prompt, attachments, from: None, told: None, grant });
    begin::next(moment);
}

fn stopped(moment: &mut Moment<'_>, id: InputId, strength: Strength, reason: &str, wanted: Option<InputId>) {
    if wanted.is_none() {
        drop_what_waits(moment, &id, reason);
    }
    if let Some(wanted) = wanted
        && moment.thread.run.as_ref().is_none_or(|run| run.asked.as_ref() != Some(&wanted))
    {
        // The question that it is about waits behind another run, or was answered.
        if moment.thread.inbox.arrived.iter().any(|(waiting, _)| *waiting == wanted) {
            drop_input(moment, wanted, reason);
        }
        return drop_input(moment, id, "the run that it would end does not go on");
    }
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

/// What waited for its turn when the thread was stopped does not begin by itself afterwards.
fn drop_what_waits(moment: &mut Moment<'_>, stop: &InputId, reason: &str) {
    let before = moment.thread.inbox.arrived.iter().take_while(|(id, _)| id != stop);
    let waiting = before.filter_map(|(id, input)| match input {
        Outside::UserSaid { text, .. } | Outside::Asked { text, .. } => Some((id.clone(), text.clone())),
        Outside::SummaryWanted { .. } => Some((id.clone(), "the summary".into())),
        Outside::Noticed { .. }
        | Outside::ChildWanted
        | Outside::Marked { .. }
        | Outside::Chosen { .. }
        | Outside::Steered { .. }
        | Outside::Stopped { .. }
        | Outside::Decided { .. } => None,
    });
    let waiting: Vec<(InputId, Arc<str>)> = waiting.collect();
    for (id, text) in waiting {
        let words: String = text.chars().take(SHOWN).collect();
        let cut = if words.len() < text.len() { "…" } else { "" };
        let again = "send it again if it is still wanted";
        drop_input(moment, id, &format!("not begun, because the thread was stopped ({reason}); {again}: {words}{cut}"));
    }
}

/// So much of a message is shown that was not begun, in characters.
const SHOWN: usize = 100;

fn drop_input(moment: &mut Moment<'_>, input: InputId, reason: &str) {
    moment.emit(Event::InputDropped { input, reason: reason.into() });
}
