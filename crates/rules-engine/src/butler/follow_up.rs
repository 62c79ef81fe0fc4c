//! Requests that refer to earlier results: "yes", "the second one", "and tomorrow?", or the answer to a question.
//!
//! Resolved only where it is certain; where several things could be meant, the butler asks one question.

use super::answer::{Thing, things};
use super::{Plan, Step, ask, reason};
use crate::agent_context::AgentContext;
use crate::conversation::Turn;
use crate::intent::{Classification, Intent, classify};
use crate::lexicon::{Concept, lexicon};
use household::time::words::words;

/// The most words of a request that only points back.
const LONGEST_FRAGMENT: usize = 6;

/// What a request comes to that points back; none where it stands on its own.
pub(super) fn resolve(before: &[Turn], said: &str, read: &Classification, cx: &AgentContext) -> Option<Plan> {
    let last = before.last()?;
    let all = words(said);
    let concepts: Vec<Concept> = lexicon().hits(&all).into_iter().map(|hit| hit.concept).collect();
    let has = |concept: Concept| concepts.contains(&concept);
    if let Some(plan) = chosen(last, said, read, &concepts, cx) {
        return Some(plan);
    }
    let is_short = all.len() <= LONGEST_FRAGMENT;
    if read.intents.is_empty() && all.len() <= 3 && has(Concept::No) {
        return Some(Plan::Say("Very well.".to_owned()));
    }
    let found = things(last);
    let names_something =
        !(read.entities.ids.is_empty() && read.entities.people.is_empty() && read.entities.addresses.is_empty());
    if !names_something && let Some(thing) = ordinal(&concepts, found.len()).and_then(|number| found.get(number)) {
        return take(thing, said, read, last);
    }
    if read.intents.is_empty() && is_short && has(Concept::Yes) {
        return match found.first() {
            Some(thing) => take(thing, "yes", read, last),
            None => Some(Plan::Say("Gladly. What would you like me to do?".to_owned())),
        };
    }
    let points =
        has(Concept::It) && !names_something && read.entities.topics.is_empty() && read.entities.quoted.is_empty();
    if points
        && let [meant] = &read.intents[..]
        && (meant.intent == Intent::Learn) == matches!(found.first(), Some(Thing::Habit(_)))
    {
        return match &found[..] {
            [] => None,
            [only] => take(only, said, read, last),
            several => Some(Plan::Say(which(several))),
        };
    }
    same_again(last, said, read, is_short)
}

/// The answer to the question that was asked last.
fn chosen(last: &Turn, said: &str, read: &Classification, concepts: &[Concept], cx: &AgentContext) -> Option<Plan> {
    if !last.calls.is_empty() {
        return None;
    }
    let asked = classify(&last.said, &cx.context);
    let choices = asked.question?.choices;
    let number = said.trim().trim_end_matches('.').parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let (intent, task) = match number.or_else(|| ordinal(concepts, choices.len())) {
        Some(number) => match choices.get(number) {
            Some(intent) => (*intent, last.said.clone()),
            None => return Some(Plan::Say(ask(&last.said, &choices))),
        },
        None => match &read.intents[..] {
            [meant] if choices.contains(&meant.intent) => (meant.intent, format!("{said} ({})", last.said)),
            _ => return None,
        },
    };
    let because: Vec<String> = read.intents.iter().flat_map(|meant| meant.because.clone()).collect();
    let mut entities = read.entities.all();
    entities.extend(asked.entities.all());
    let time = asked.times.words(&last.said);
    Some(Plan::Hand(vec![Step { intent, task, entities, time, reason: reason(intent, &because) }]))
}

/// Which of several is meant, counted from 0.
fn ordinal(concepts: &[Concept], number: usize) -> Option<usize> {
    let ordinals = [(Concept::First, 0), (Concept::Second, 1), (Concept::Third, 2)];
    let counted = ordinals.into_iter().find(|(concept, _)| concepts.contains(concept)).map(|(_, number)| number);
    counted.or_else(|| concepts.contains(&Concept::Last).then(|| number.checked_sub(1)).flatten())
}

/// Does with a thing what was asked, or what follows from what it is.
fn take(thing: &Thing, said: &str, read: &Classification, last: &Turn) -> Option<Plan> {
    let asked = read.intents.first();
    let usual = match thing {
        Thing::Mail(_) if said == "yes" => (Intent::Draft, "Draft a reply".to_owned()),
        Thing::Mail(_) => (Intent::Triage, said.to_owned()),
        // The words that asked for the time say what it is for.
        Thing::Slot(_) => (Intent::Schedule, format!("Book: {}", last.said)),
        Thing::Note(_) => (Intent::Search, "Open it".to_owned()),
        Thing::Habit(_) => (Intent::Learn, "Apply it".to_owned()),
    };
    let (intent, task) = match (asked, thing) {
        (Some(meant), Thing::Slot(_)) if meant.intent != Intent::Draft => usual,
        (Some(meant), _) => (meant.intent, meant.text.clone()),
        (None, _) => usual,
    };
    let because = asked.map(|meant| meant.because.clone()).unwrap_or_default();
    let mut entities = read.entities.all();
    entities.push(thing.entity().to_owned());
    Some(Plan::Hand(vec![Step { intent, task, entities, time: None, reason: reason(intent, &because) }]))
}

fn which(several: &[Thing]) -> String {
    let named: Vec<&str> = several.iter().take(5).map(Thing::entity).collect();
    format!("Which one do you mean: {}? Say \"the first one\", or its name.", named.join(", "))
}

/// "And tomorrow?", "what about Tom?": what was asked last, for another time or person.
fn same_again(last: &Turn, said: &str, read: &Classification, is_short: bool) -> Option<Plan> {
    let is_fragment = is_short && read.intents.is_empty() && read.direct.is_none();
    let says_what =
        !read.times.said.is_empty() || !read.entities.people.is_empty() || !read.entities.addresses.is_empty();
    let step = last.calls.last().filter(|_| is_fragment && says_what)?;
    let intent = Intent::named(step.input["intent"].as_str()?)?;
    let task = format!("{} ({})", said.trim(), step.input["task"].as_str()?);
    let step =
        Step { intent, task, entities: read.entities.all(), time: read.times.words(said), reason: reason(intent, &[]) };
    Some(Plan::Hand(vec![step]))
}
