//! The state of a conversation: what was offered last, what is being talked about, and what was done that can be taken back.
//!
//! A pure function of the conversation: it is computed anew from its turns each time, so that a restarted process knows the same. Nothing is kept.

use super::offers::{self, Offers};
use super::thing::{self, Thing};
use super::{Plan, Step};
use crate::agent_context::AgentContext;
use crate::conversation::Turn;
use crate::intent::{Intent, classify};
use crate::remark::Remark;
use crate::task::SpecialistTask;

/// What a conversation has come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Dialogue {
    /// What "yes" accepts.
    pub yes: Option<Step>,
    /// What each number means.
    pub numbered: Vec<Step>,
    /// What was listed last, in its order.
    pub things: Vec<Thing>,
    /// What was asked of a specialist last.
    pub last: Option<Step>,
    /// What the calendar was asked last.
    pub listing: Option<Step>,
    /// The day or period that was spoken of last, by its dates.
    pub day: Option<String>,
    /// The time that was spoken of last, in the words that said it.
    pub time: Option<String>,
    /// The person who was spoken of last.
    pub person: Option<String>,
    /// Whether that person was called "he" or "she".
    pub gender: Option<Gender>,
    /// Whether the last request named that person itself.
    pub said_person: bool,
    /// The draft that is being worked on.
    pub draft: Option<String>,
    /// What was done and can be taken back, the newest last.
    pub done: Vec<Effect>,
    /// Whether the last turn did something.
    pub just_done: bool,
    /// Whether the last things were quoted, not listed.
    pub by_quotation: bool,
    /// Whether the last answer was a question about what is meant.
    pub is_asked: bool,
}

/// What a pronoun says about a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gender {
    He,
    She,
}

impl Gender {
    /// What a folded pronoun says, if it means one person only.
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "he" | "him" | "his" | "er" | "ihm" | "ihn" => Some(Self::He),
            "she" | "her" | "hers" | "elle" => Some(Self::She),
            _ => None,
        }
    }
}

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// A draft was written.
    Draft(String),
    /// A proposal was entered.
    Proposal(String),
    /// A mail got a mark, or lost it.
    Mark { id: String, flag: &'static str, on: bool },
}

impl Dialogue {
    /// The state behind some turns.
    pub fn of(turns: &[Turn], cx: &AgentContext) -> Self {
        turns.iter().fold(Self::default(), |dialogue, turn| dialogue.after(turn, cx))
    }

    /// The time that was spoken of last, as seen from now.
    pub fn when(&self, now: &jiff::Zoned) -> Option<household::time::When> {
        household::time::parse(self.time.as_ref()?, now).when
    }

    /// The state behind one more turn, which may hold two questions.
    fn after(self, turn: &Turn, cx: &AgentContext) -> Self {
        super::questions::followed(self, turn, cx).1
    }

    /// The state behind one question and what it came to.
    pub fn after_one(self, turn: &Turn, plan: Plan, cx: &AgentContext) -> Self {
        let read = classify(&super::asked_for(&turn.said, cx), &cx.context);
        let mut next = self;
        let before = next.person.clone();
        next.just_done = false;
        // A pronoun goes on with the person who was named.
        let all = household::time::words::words(&turn.said);
        next.said_person = all.iter().any(|word| PRONOUNS.contains(&word.folded.as_str()));
        if let Some(person) = read.entities.people.first().or(read.entities.addresses.first()) {
            next.person = Some(person.clone());
            next.said_person = true;
        }
        if next.person != before {
            next.gender = None;
        }
        // Behind a name, a pronoun of the same sentence may mean another person.
        let pronoun = all.iter().find_map(|word| Gender::of(&word.folded)).filter(|_| next.person == before);
        next.gender = next.gender.or(pronoun.filter(|_| next.person.is_some()));
        let before = next.person.clone();
        match plan {
            Plan::Say(spoken) => {
                next.is_asked = !spoken.numbered.is_empty();
                next.numbered = spoken.numbered;
                next.yes = spoken.yes;
            }
            Plan::Hand(steps) => {
                next.is_asked = false;
                let question = super::readings::question(&steps, turn, cx);
                let (steps, turn, _) = super::readings::chosen(&steps, turn, cx);
                let turn = &turn;
                next.take_results(&steps, turn, cx);
                if super::is_open_plan(&steps)
                    && let Some(spoken) = super::in_vain(&turn.said, turn, cx)
                {
                    next.is_asked = !spoken.numbered.is_empty();
                    next.numbered = spoken.numbered;
                    next.yes = spoken.yes;
                }
                if let Some(spoken) = question {
                    next.is_asked = true;
                    next.numbered = spoken.numbered;
                    next.yes = None;
                }
                let time = steps.iter().rev().find_map(|step| step.time.clone());
                next.day = time.as_ref().map(|time| day_of(time, cx)).or(next.day);
                next.time = time.or(next.time);
                next.last = steps.last().cloned().or(next.last);
                let is_of_days = |step: &&Step| step.intent == Intent::Schedule && step.time.is_some();
                next.listing = steps.iter().rev().find(is_of_days).cloned().or(next.listing);
            }
        }
        if next.person != before {
            next.gender = None;
        }
        next
    }

    fn take_results(&mut self, steps: &[Step], turn: &Turn, cx: &AgentContext) {
        for (step, called) in steps.iter().zip(&turn.calls) {
            let Some(result) = called.result.as_ref().filter(|result| !result.is_error) else { continue };
            let data = &result.data["data"];
            if let Some(id) = data["draftId"].as_str() {
                self.just_done = true;
                let effect = Effect::Draft(id.to_owned());
                self.done.retain(|known| *known != effect);
                match data["discarded"] == true {
                    true => self.draft = None,
                    false => {
                        self.draft = Some(id.to_owned());
                        self.done.push(effect);
                    }
                }
            }
            if let Some(id) = data["eventId"].as_str().filter(|id| id.starts_with("proposal-")) {
                self.just_done = true;
                let effect = Effect::Proposal(id.to_owned());
                self.done.retain(|known| *known != effect);
                if data["withdrawn"] != true {
                    self.done.push(effect);
                }
            }
            let remark =
                (step.intent == Intent::Triage).then(|| Remark::of(&SpecialistTask::read(&step.task, &cx.context)));
            if let Some(Some(Remark::Mark(flag, on))) = remark
                && let Some(id) = data["emailId"].as_str()
                && data["seen"].is_boolean()
            {
                self.just_done = true;
                self.done.push(Effect::Mark { id: id.to_owned(), flag, on });
            }
        }
        // What was told once more stays what is talked about.
        if thing::is_about_focus(turn, cx) {
            return;
        }
        let things = thing::listed(turn);
        let Offers { all, by_number, .. } = match steps.last() {
            Some(last) => offers::of(&things, thing::is_numbered(turn), last, cx),
            None => Offers::default(),
        };
        self.yes = all.first().map(|offer| offer.step.clone());
        self.numbered =
            if by_number.is_empty() { all.into_iter().map(|offer| offer.step).collect() } else { by_number };
        // "Dad" finds more than the name on his card.
        let is_said = self.said_person;
        if let [Thing::Person(name), ..] = &things[..]
            && !is_said
        {
            self.person = Some(name.clone());
        }
        let last = turn.calls.last().and_then(|called| called.result.as_ref());
        let is_quoted = last.is_some_and(|result| result.data["data"]["answers"].is_array());
        // "Who feeds the cat?": the one whom the answer names is spoken of from then on.
        let asks_who = household::time::words::words(&turn.said)
            .iter()
            .take(2)
            .any(|word| ["who", "whos", "who's", "wer", "qui"].contains(&word.folded.as_str()));
        let named = last.filter(|_| asks_who && is_quoted).and_then(|result| named_in(&result.data["data"], cx));
        match &things[..] {
            _ if named.is_some() => self.person = named,
            [Thing::Mail { from, .. }] => self.person = Some(from.clone()),
            // Only an answer that is sure changes who is spoken of: what only came near may be about anything.
            things if is_quoted && !is_said && thing::is_sure(turn) => {
                let from = |thing: &Thing| match thing {
                    Thing::Mail { from, .. } => Some(from.clone()),
                    _ => None,
                };
                self.person = things.iter().find_map(from).or(self.person.take());
            }
            _ => {}
        }
        // Behind a draft, "it" is the draft; behind an answer without things, what was listed before can still be pointed at.
        if !things.is_empty() {
            self.by_quotation = is_quoted;
            self.things = things;
        }
    }
}

/// The one person whom the sentence that surely answers names.
fn named_in(data: &serde_json::Value, cx: &AgentContext) -> Option<String> {
    let best = crate::phrases::list(data, "answers").iter().find(|answer| answer["sure"] == true)?;
    if best["kind"] == "person" {
        return best["name"].as_str().map(str::to_owned);
    }
    let quote = best["quote"].as_str().unwrap_or_default();
    let said: Vec<&str> = household::time::words::words(quote).into_iter().map(|word| &quote[word.at]).collect();
    let is_named = |name: &&String| {
        let mut parts = name.split_whitespace();
        parts.next().is_some_and(|first| {
            first.chars().count() > 2 && first.starts_with(char::is_uppercase) && said.contains(&first)
        })
    };
    let mut named = cx.context.people.iter().filter(is_named);
    let first = named.next()?;
    named.all(|other| other.split_whitespace().next() == first.split_whitespace().next()).then(|| first.clone())
}

const PRONOUNS: [&str; 13] =
    ["he", "him", "his", "she", "her", "hers", "er", "ihm", "ihn", "ihr", "elle", "lui", "son"];

/// The days of a time, by their dates; what names no day as it stands.
fn day_of(time: &str, cx: &AgentContext) -> String {
    let Some(when) = household::time::parse(time, &cx.context.now).when else { return time.to_owned() };
    let first = when.start.date();
    let last = match when.end > when.start {
        true => when.end.checked_sub(jiff::SignedDuration::from_secs(1)).map_or(first, |end| end.date()),
        false => first,
    };
    if first == last { first.to_string() } else { format!("from {first} to {last}") }
}
