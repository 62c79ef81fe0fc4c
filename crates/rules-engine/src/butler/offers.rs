//! What can be done next with what was found, and what exactly is done when an offer is accepted.
//!
//! An offer holds the step itself, so that "yes" and a number do what was offered and nothing else. What is suspicious is never offered to be
//! answered.

use super::thing::Thing;
use super::{Step, reason};
use crate::agent_context::AgentContext;
use crate::intent::Intent;
use crate::lexicon::{Concept, lexicon};
use crate::speech::Tongue;
use household::time::words::words;

/// Something that can be done next.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Offer {
    pub label: String,
    pub step: Step,
}

/// Offers behind an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Offers {
    /// What "yes" accepts is the first.
    pub all: Vec<Offer>,
    /// What a number does where the answer lists things by number; else a number means an offer.
    pub by_number: Vec<Step>,
    /// The sentence that says what a number does, by its name.
    pub number_hint: Option<&'static str>,
}

impl Offers {
    /// The offers for interfaces that show them as choices: each with the words that accept it and nothing else.
    pub fn as_choices(&self, tongue: Tongue) -> Vec<agent::message::Offer> {
        let choice = |(at, offer): (usize, &Offer)| {
            let say = match self.by_number.is_empty() {
                true => (at + 1).to_string(),
                false => tongue.yes().to_owned(),
            };
            agent::message::Offer { label: offer.label.as_str().into(), say: say.into() }
        };
        // Where numbers mean the things of a list, only the first offer has words of its own.
        let most = if self.by_number.is_empty() { self.all.len() } else { 1 };
        self.all.iter().take(most).enumerate().map(choice).collect()
    }
}

/// The most things that a list is numbered by.
const MOST: usize = 10;

/// What can be done with the things of an answer. `last` is the request that led to them.
pub(super) fn of(things: &[Thing], is_numbered: bool, last: &Step, cx: &AgentContext) -> Offers {
    let speech = cx.speech;
    let Some(first) = things.first() else { return Offers::default() };
    let by_number: Vec<Step> = things.iter().take(MOST).map(|thing| usual(thing, last)).collect();
    match first {
        Thing::Mail { from, is_answerable, is_suspicious, is_whole, .. } => {
            let mut all = Vec::new();
            if *is_answerable {
                let label = speech.say("offer_reply", &[("who", from)]);
                all.push(Offer { label, step: step(Intent::Draft, "Draft a reply", first) });
            }
            if !is_numbered && !is_suspicious && !is_whole {
                all.push(Offer { label: speech.say("offer_read", &[]), step: step(Intent::Triage, READ, first) });
            }
            match is_numbered {
                false => Offers { all, ..Offers::default() },
                true => Offers { all, by_number, number_hint: Some("say_number_mail") },
            }
        }
        Thing::Slot(_) => {
            let offers = things.iter().take(MOST).map(|thing| {
                let (start, end) = thing.entity().split_once('/').unwrap_or(("", ""));
                let label = speech.say("offer_book", &[("when", &cx.dates.span(start, end))]);
                Offer { label, step: usual(thing, last) }
            });
            Offers { all: offers.collect(), ..Offers::default() }
        }
        Thing::Note { title, .. } => {
            let was_read = last.task.starts_with(OPEN);
            let label = speech.say("offer_open", &[("title", title)]);
            let all = if was_read { Vec::new() } else { vec![Offer { label, step: usual(first, last) }] };
            match is_numbered {
                false => Offers { all, ..Offers::default() },
                true => Offers { all, by_number, number_hint: Some("say_number_open") },
            }
        }
        Thing::Habit(key) => {
            let label = speech.say("offer_apply", &[("key", key)]);
            Offers { all: vec![Offer { label, step: usual(first, last) }], ..Offers::default() }
        }
        Thing::Event { .. } | Thing::Person(_) | Thing::Draft(_) => Offers::default(),
    }
}

/// How the task begins that reads a mail whole, or opens a note.
const READ: &str = "Read the mail";
const OPEN: &str = "Open the note";

/// The task that says whether a mail can be trusted.
const TRUST: &str = "Is this mail genuine?";

fn asks_about_trust(task: &str) -> bool {
    lexicon().hits(&words(task)).iter().any(|hit| hit.concept == Concept::Genuine)
}

/// What is done with a thing when nothing else is said.
pub(super) fn usual(thing: &Thing, last: &Step) -> Step {
    match thing {
        Thing::Mail { .. } if asks_about_trust(&last.task) => step(Intent::Triage, TRUST, thing),
        Thing::Mail { .. } => step(Intent::Triage, READ, thing),
        // The words that asked for the time say what it is for.
        Thing::Slot(_) => {
            let mut step = step(Intent::Schedule, &format!("Book: {}", last.task), thing);
            step.entities.extend(last.entities.iter().filter(|entity| !entity.contains('/')).cloned());
            step
        }
        Thing::Note { .. } => step(Intent::Search, OPEN, thing),
        Thing::Habit(_) => step(Intent::Learn, "Apply it", thing),
        Thing::Event { title, .. } => step(Intent::Schedule, &format!("When is {title}"), thing),
        Thing::Person(name) => step(Intent::Search, &format!("Who is {name}?"), thing),
        Thing::Draft(_) => step(Intent::Draft, "Show the draft", thing),
    }
}

/// A piece of work on one thing.
pub(super) fn step(intent: Intent, task: &str, thing: &Thing) -> Step {
    Step {
        intent,
        task: task.to_owned(),
        entities: vec![thing.entity().to_owned()],
        time: None,
        reason: reason(intent, &[]),
    }
}
