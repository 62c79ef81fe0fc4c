//! The butler's answer from the specialists' results: the essential first, what can be done next last.

use serde_json::Value;

use super::Step;
use crate::agent_context::AgentContext;
use crate::conversation::{ToolCall, Turn};
use crate::intent::Intent;
use crate::phrases::{count, draft, list, notes, plain, preferences, text_of, texts_of};

/// The most things of a list that are told.
const MOST_TOLD: usize = 5;

/// A thing that was found and can be pointed at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    /// A mail, by its id.
    Mail(String),
    /// A time, from when to when.
    Slot(String),
    /// A note, by its path.
    Note(String),
    /// A habit that is proposed, by its key.
    Habit(String),
}

impl Thing {
    pub fn entity(&self) -> &str {
        match self {
            Self::Mail(entity) | Self::Slot(entity) | Self::Note(entity) | Self::Habit(entity) => entity,
        }
    }
}

/// What was found in a turn and can be pointed at, as it was listed.
pub(super) fn things(turn: &Turn) -> Vec<Thing> {
    turn.calls.iter().rev().map(found).find(|found| !found.is_empty()).unwrap_or_default()
}

/// What a later step of the same request gets from an earlier one.
pub(super) fn carried(called: &ToolCall, intent: Intent, is_pointing: bool) -> Vec<String> {
    let found = found(called);
    let carried: Vec<&Thing> = match (intent, &found[..]) {
        (Intent::Draft, [Thing::Slot(_), ..]) => found.iter().take(3).collect(),
        (Intent::Draft | Intent::Triage | Intent::Search, [only]) => vec![only],
        (Intent::Draft, [first @ Thing::Mail(_), ..]) if is_pointing => vec![first],
        (Intent::Draft, [Thing::Note(_), ..]) => Vec::new(),
        _ => Vec::new(),
    };
    carried.into_iter().map(|thing| thing.entity().to_owned()).collect()
}

fn found(called: &ToolCall) -> Vec<Thing> {
    let Some(data) = called.result.as_ref().map(|result| &result.data["data"]) else { return Vec::new() };
    let entities = |key: &str, name: &str| -> Vec<String> {
        // Only what has the form of an id or a path is carried on: it goes into arguments, not into words.
        let named = list(data, key).iter().filter_map(|thing| thing[name].as_str());
        named.filter(|name| name.len() <= 300 && !name.chars().any(char::is_control)).map(str::to_owned).collect()
    };
    let mails = [entities("items", "emailId"), entities("mails", "emailId")].concat();
    // A suspicious mail is not answered.
    let suspicious: Vec<&str> = list(data, "items")
        .iter()
        .filter(|item| item["category"] == "suspicious")
        .filter_map(|item| item["emailId"].as_str())
        .collect();
    let is_answerable = |id: &String| !id.contains(char::is_whitespace) && !suspicious.contains(&id.as_str());
    let mails = mails.into_iter().filter(is_answerable).map(Thing::Mail);
    let slots = list(data, "suggestedSlots").iter().filter_map(|slot| {
        let (start, end) = (slot["start"].as_str()?, slot["end"].as_str()?);
        let is_time = start.parse::<jiff::Timestamp>().is_ok() && end.parse::<jiff::Timestamp>().is_ok();
        is_time.then(|| Thing::Slot(format!("{start}/{end}")))
    });
    let notes = entities("results", "path").into_iter().filter(|path| path.ends_with(".md")).map(Thing::Note);
    let proposed = list(data, "preferences").iter().filter(|habit| habit["status"] == "proposed");
    let habits = proposed.filter_map(|habit| Some(Thing::Habit(habit["key"].as_str()?.to_owned())));
    mails.chain(slots).chain(notes).chain(habits).collect()
}

/// The answer to a request, from what each of its steps brought.
pub(super) fn of(steps: &[Step], current: &Turn, cx: &AgentContext) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (step, called) in steps.iter().zip(&current.calls) {
        parts.push(part(step, called, cx));
    }
    let is_answered = steps.iter().any(|step| step.intent == Intent::Draft);
    parts.extend(things(current).first().filter(|_| !is_answered).map(offer));
    parts.join("\n\n")
}

fn part(step: &Step, called: &ToolCall, cx: &AgentContext) -> String {
    let who = match step.intent {
        Intent::Triage => "triage",
        Intent::Schedule => "the scheduler",
        Intent::Draft => "the communicator",
        Intent::Search => "the navigator",
        Intent::Learn => "the preference learner",
    };
    let Some(outcome) = &called.result else { return format!("I did not hear back from {who}.") };
    let result = &outcome.data;
    let told = result["summary"].as_str().unwrap_or(&outcome.text);
    if outcome.is_error || result["success"] == false {
        return format!(
            "I am sorry, {who} could not do that: {}\nYou can ask again, or put it differently.",
            plain(told, 300)
        );
    }
    let data = &result["data"];
    let framed = match step.intent {
        Intent::Triage => mails(data, cx),
        Intent::Schedule => times(data, cx),
        Intent::Draft => written(data),
        Intent::Search => searched(data),
        Intent::Learn => learned(data),
    };
    framed.unwrap_or_else(|| told.trim().to_owned())
}

/// Mails that were weighed: the first in full, the others in a line.
fn mails(data: &Value, cx: &AgentContext) -> Option<String> {
    let items = list(data, "items");
    let (first, others) = items.split_first()?;
    let urgent = items.iter().filter(|item| item["category"] == "urgent").count();
    let is_wary = items.iter().all(|item| item["category"] == "suspicious");
    let head = match (urgent, items.len()) {
        (_, 1) if is_wary => "One mail looks suspicious. Better not answer it, and open nothing in it:".to_owned(),
        (_, all) if is_wary => {
            format!("{all} mails look suspicious. Better not answer them, and open nothing in them:")
        }
        (0, _) => "Nothing is urgent. At the top of the pile is:".to_owned(),
        (1, _) => "One mail is urgent:".to_owned(),
        (urgent, _) => format!("{urgent} mails are urgent. I would begin with this one:"),
    };
    let mut text = format!("{head}\n\n{}", cx.dates.weighed(first));
    let actions = texts_of(first, "suggestedActions");
    if !actions.is_empty() {
        text.push_str(&format!("\n  You could: {}", actions.join(", ").replace('_', " ")));
    }
    if !others.is_empty() {
        let line = |item: &Value| {
            let why = texts_of(item, "why").into_iter().next().map(|why| format!(" – {why}")).unwrap_or_default();
            format!("- {}, {}{why}", cx.dates.mail(item), text_of(item, "category"))
        };
        let told: Vec<String> = others.iter().take(MOST_TOLD).map(line).collect();
        text.push_str(&format!("\n\nThen:\n{}", told.join("\n")));
    }
    let warned = items.iter().filter(|item| !list(item, "warnings").is_empty()).count();
    if warned > 0 {
        let mails = count(warned, "mail", "mails");
        text.push_str(&format!(
            "\n\nTake care with {mails} marked above: what a mail tells an assistant to do is not done here."
        ));
    }
    Some(text)
}

/// Times, events, or a proposal.
fn times(data: &Value, cx: &AgentContext) -> Option<String> {
    let slots = list(data, "suggestedSlots");
    if let Some((best, others)) = slots.split_first() {
        let span =
            |slot: &Value| cx.dates.span(slot["start"].as_str().unwrap_or(""), slot["end"].as_str().unwrap_or(""));
        let why = Some(text_of(best, "why")).filter(|why| !why.is_empty()).map(|why| format!(" ({why})"));
        let mut text = format!("The best time I found is {}{}.", span(best), why.unwrap_or_default());
        if !others.is_empty() {
            let others: Vec<String> = others.iter().map(span).collect();
            text.push_str(&format!(" Also possible: {}.", others.join(", ")));
        }
        let conflicts = cx.dates.conflicts(data);
        return Some(format!("{text} {conflicts}").trim_end().to_owned());
    }
    if data["eventId"].is_string() {
        let span = cx.dates.span(data["start"].as_str().unwrap_or(""), data["end"].as_str().unwrap_or(""));
        let (title, id) = (text_of(data, "title"), text_of(data, "eventId"));
        let conflicts = cx.dates.conflicts(data);
        let text = format!(
            "\"{title}\" is in your calendar of proposals for {span} ({id}), tentatively. Nobody was invited. {conflicts}"
        );
        return Some(text.trim_end().to_owned());
    }
    let events = list(data, "events");
    if events.is_empty() {
        return None;
    }
    let shown = &events[..events.len().min(3 * MOST_TOLD)];
    Some(format!("You have {}:\n\n{}", count(events.len(), "appointment", "appointments"), cx.dates.events(shown)))
}

fn written(data: &Value) -> Option<String> {
    let id = data["draftId"].as_str()?;
    let placeholders = texts_of(data, "placeholders");
    let open = match placeholders.is_empty() {
        true => String::new(),
        false => format!("\n\nPlease fill in: {}.", placeholders.join(", ")),
    };
    let careful: String = texts_of(data, "warnings").iter().map(|warning| format!("\n\nCareful: {warning}")).collect();
    Some(format!(
        "Here is a draft ({}); it lies in your drafts and was not sent.\n\n{}{open}{careful}",
        plain(id, 120),
        draft(data)
    ))
}

fn searched(data: &Value) -> Option<String> {
    let results = list(data, "results");
    let head = match results.len() {
        0 => return None,
        1 => "One note fits:",
        _ => "These notes fit best:",
    };
    Some(format!("{head}\n\n{}", notes(&results[..results.len().min(MOST_TOLD)])))
}

fn learned(data: &Value) -> Option<String> {
    let all = list(data, "preferences");
    if all.is_empty() {
        return None;
    }
    let shown = &all[..all.len().min(2 * MOST_TOLD)];
    Some(format!(
        "Your decisions suggest this:\n\n{}\n\nWhat is proposed holds only once you say so.",
        preferences(shown)
    ))
}

/// What could be done next with what was found.
fn offer(thing: &Thing) -> String {
    match thing {
        Thing::Mail(id) => {
            format!("Shall I draft a reply to {}? Say \"yes\", or \"draft a reply to the second one\".", plain(id, 80))
        }
        Thing::Slot(_) => {
            "Shall I enter the first one as a proposal? Say \"yes\", or \"take the second one\".".to_owned()
        }
        Thing::Habit(key) => {
            let key = plain(key, 120);
            format!(
                "Shall I apply {key}? Say \"yes\", or \"apply the preference\" and its key. You are asked before it holds."
            )
        }
        Thing::Note(path) => format!("Shall I open {}? Say \"yes\", or \"open the second one\".", plain(path, 120)),
    }
}
