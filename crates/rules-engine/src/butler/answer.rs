//! The butler's answer from the specialists' results: the essential first, what can be done next last.

use serde_json::Value;

use super::offers::{self, Offers};
use super::{Step, thing};
use crate::agent_context::AgentContext;
use crate::conversation::{ToolCall, Turn};
use crate::intent::Intent;
use crate::phrases::{draft, list, notes, plain, preferences, text_of, texts_of};

/// The most things of a list that are told.
const MOST_TOLD: usize = 5;
/// The most further mails of a list.
const MOST_LISTED: usize = 9;

/// The answer to a request, from what each of its steps brought.
pub(super) fn of(steps: &[Step], current: &Turn, cx: &AgentContext) -> String {
    let parts: Vec<String> = steps.iter().zip(&current.calls).map(|(step, called)| part(step, called, cx)).collect();
    parts.join("\n\n")
}

/// What can be done next.
pub(super) fn offers(steps: &[Step], current: &Turn, cx: &AgentContext) -> Offers {
    let is_answered = steps.len() > 1 && steps.iter().any(|step| step.intent == Intent::Draft);
    match steps.last().filter(|_| !is_answered && !thing::is_about_focus(current, cx)) {
        Some(last) => offers::of(&thing::listed(current), thing::is_numbered(current), last, cx),
        None => Offers::default(),
    }
}

/// The offers as text: numbered, where the answer lists nothing by number itself.
pub(super) fn offered(offers: &Offers, cx: &AgentContext) -> Option<String> {
    let shall = cx.speech.say("shall_i", &[]);
    let hint = offers.number_hint.map(|hint| cx.speech.say(hint, &[]));
    match (&offers.all[..], hint) {
        ([], hint) => hint,
        ([first, ..], Some(hint)) => Some(format!("{shall} {}? {hint}", first.label)),
        ([only], None) => Some(format!("{shall} {}?", only.label)),
        (several, None) => {
            let lines: Vec<String> =
                several.iter().enumerate().map(|(at, offer)| format!("{}. {}", at + 1, offer.label)).collect();
            Some(format!("{shall}\n{}", lines.join("\n")))
        }
    }
}

fn part(step: &Step, called: &ToolCall, cx: &AgentContext) -> String {
    let speech = cx.speech;
    let who = match step.intent {
        Intent::Triage => "who_triage",
        Intent::Schedule => "who_schedule",
        Intent::Draft => "who_draft",
        Intent::Search => "who_search",
        Intent::Learn => "who_learn",
    };
    let who = speech.say(who, &[]);
    let Some(outcome) = &called.result else { return speech.say("no_answer_from", &[("who", &who)]) };
    let result = &outcome.data;
    let told = result["summary"].as_str().unwrap_or(&outcome.text);
    if outcome.is_error || result["success"] == false {
        let failed = speech.say("failed", &[("who", &who), ("why", &plain(told, 300))]);
        return format!("{failed}\n{}", speech.say("failed_hint", &[]));
    }
    let data = &result["data"];
    let framed = match step.intent {
        Intent::Triage => mails(data, cx),
        // The scheduler knows that the time which was asked for is taken.
        Intent::Schedule if told.contains(&speech.say("taken", &[])) => None,
        Intent::Schedule => times(data, cx),
        Intent::Draft => written(data, cx),
        Intent::Search => searched(data, cx),
        Intent::Learn => learned(data, cx),
    };
    framed.unwrap_or_else(|| told.trim().to_owned())
}

/// Mails that were weighed: the first in full, the others in a line. One mail is told by triage itself, which knows what was asked.
fn mails(data: &Value, cx: &AgentContext) -> Option<String> {
    let items = list(data, "items");
    let (first, others) = items.split_first()?;
    if data["id"].is_string() || data["only"] == "newsletter" {
        return None;
    }
    let speech = cx.speech;
    let urgent = items.iter().filter(|item| item["category"] == "urgent").count();
    let is_wary = items.iter().all(|item| item["category"] == "suspicious");
    let count = |name: &str, number: usize| speech.count(name, number);
    let head = match (urgent, items.len()) {
        (_, all) if is_wary => count("suspicious", all),
        _ if data["only"] == "unanswered" => count("open", items.len()),
        (0, _) => speech.say("urgent_none", &[]),
        (urgent, _) => count("urgent", urgent),
    };
    let told = cx.dates.weighed(first);
    let mut text = format!("{head}\n\n{}", if others.is_empty() { told } else { told.replacen("- ", "1. ", 1) });
    if !others.is_empty() {
        let line = |(at, item): (usize, &Value)| {
            format!("{}. {}, {}", at + 2, cx.dates.mail(item), cx.dates.kind(&text_of(item, "category")))
        };
        let told: Vec<String> = others.iter().enumerate().take(MOST_LISTED).map(line).collect();
        text.push_str(&format!("\n\n{}\n{}", speech.say("then", &[]), told.join("\n")));
    }
    let warned = items.iter().filter(|item| !list(item, "warnings").is_empty()).count();
    if warned > 0 {
        let mails = speech.count("mail", warned);
        text.push_str(&format!("\n\n{}", speech.say("care_many", &[("mails", &mails)])));
    }
    Some(text)
}

/// Times or a proposal.
fn times(data: &Value, cx: &AgentContext) -> Option<String> {
    let speech = cx.speech;
    if let Some((best, others)) = list(data, "suggestedSlots").split_first() {
        let span =
            |slot: &Value| cx.dates.span(slot["start"].as_str().unwrap_or(""), slot["end"].as_str().unwrap_or(""));
        let why = Some(text_of(best, "why")).filter(|why| !why.is_empty());
        let why = why.map(|why| format!(" ({})", speech.reasons(&why)));
        let mut text = speech.say("best_time", &[("when", &span(best)), ("why", &why.unwrap_or_default())]);
        if !others.is_empty() {
            let others: Vec<String> = others.iter().map(span).collect();
            text.push_str(&format!(" {}", speech.say("also_possible", &[("times", &others.join("; "))])));
        }
        let conflicts = cx.dates.conflicts(data);
        return Some(format!("{text} {conflicts}").trim_end().to_owned());
    }
    if data["eventId"].is_string() && data["withdrawn"] != true {
        let span = cx.dates.span(data["start"].as_str().unwrap_or(""), data["end"].as_str().unwrap_or(""));
        let text = speech.say("proposed", &[("title", &text_of(data, "title")), ("when", &span)]);
        return Some(format!("{text} {}", cx.dates.conflicts(data)).trim_end().to_owned());
    }
    None
}

fn written(data: &Value, cx: &AgentContext) -> Option<String> {
    data["draftId"].as_str().filter(|_| data["body"].is_string())?;
    let speech = cx.speech;
    let head = match () {
        () if data["unchanged"] == true => "unchanged",
        () if data["edited"] == true => "edited",
        () => "drafted",
    };
    let mut text = format!("{}\n\n{}", speech.say(head, &[]), draft(data));
    let placeholders = texts_of(data, "placeholders");
    if !placeholders.is_empty() {
        text.push_str(&format!("\n\n{}", speech.say("fill_in", &[("what", &placeholders.join(", "))])));
    }
    if !list(data, "untranslated").is_empty() {
        text.push_str(&format!("\n\n{}", speech.say("untranslated", &[])));
    }
    for warning in texts_of(data, "warnings") {
        text.push_str(&format!("\n\n{}", speech.say("careful", &[("warning", &cx.speech.reason(&warning))])));
    }
    text.push_str(&format!("\n\n{}", speech.say("draft_hint", &[])));
    Some(text)
}

fn searched(data: &Value, cx: &AgentContext) -> Option<String> {
    let results = list(data, "results");
    let head = match results.len() {
        0 => return None,
        1 => "note_fits",
        _ => "notes_fit",
    };
    Some(format!("{}\n\n{}", cx.speech.say(head, &[]), notes(&results[..results.len().min(MOST_TOLD)])))
}

fn learned(data: &Value, cx: &AgentContext) -> Option<String> {
    let all = list(data, "preferences");
    if all.is_empty() {
        return None;
    }
    let shown = &all[..all.len().min(2 * MOST_TOLD)];
    Some(format!(
        "{}\n\n{}\n\n{}",
        cx.speech.say("prefs_suggest", &[]),
        preferences(shown, cx.speech),
        cx.speech.say("prefs_hold", &[])
    ))
}
