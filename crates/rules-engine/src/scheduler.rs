//! The scheduler: lists events, finds free times, and writes proposals where a time was asked for and is free.
//!
//! Absent: changing or deleting events. It says so.

use jiff::{ToSpan, Zoned};
use provider::Said;
use serde_json::{Value, json};

use super::agent_context::{AgentContext, failed};
use super::conversation::Turn;
use super::lexicon::Concept;
use super::phrases::{count, list, text_of};
use super::task::{SpecialistTask, moment};

/// How long an appointment is when nobody says.
const USUAL_MIN: i64 = 30;
/// How many days are looked at when nobody says.
const USUAL_DAYS: i64 = 7;
/// The most events that are told one by one.
const MOST_TOLD: usize = 15;

/// What the scheduler does next.
pub(super) fn next(task: &SpecialistTask, turn: &Turn, cx: &AgentContext) -> Said {
    match turn.last() {
        None => begin(task, cx),
        Some((tool, _, outcome)) if outcome.is_error => failed(&format!("use the calendar ({tool})"), outcome),
        Some(("calendar_check", input, outcome)) if turn.calls.len() == 1 => checked(task, cx, input, &outcome.data),
        Some((tool, _, outcome)) => {
            let told = match tool {
                "calendar_list" => listed(task, cx, &outcome.data),
                "calendar_busy" => busy(task, cx, &outcome.data),
                "calendar_propose" => proposed(cx, &outcome.data),
                _ => free(cx, turn, &outcome.data),
            };
            let cannot = "I cannot move or cancel what stands in a calendar; that stays with you.";
            Said::text(if task.has(Concept::Change) { format!("{cannot}\n\n{told}") } else { told })
        }
    }
}

fn begin(task: &SpecialistTask, cx: &AgentContext) -> Said {
    let when = task.times.when.as_ref();
    let wants_booking = task.has_any(&[Concept::Book, Concept::Propose, Concept::Accept]) && !task.has(Concept::Free);
    let (from, to) = range(task, &cx.context.now);
    if let Some((start, end)) = task.slots.first() {
        return cx.call("calendar_check", json!({ "start": start, "end": end }));
    }
    if let Some(when) = when.filter(|when| when.is_exact) {
        let end = if when.end > when.start { when.end.clone() } else { after(&when.start, task.times.duration_min) };
        return cx.call("calendar_check", json!({ "start": moment(&when.start), "end": moment(&end) }));
    }
    if task.has_any(&[Concept::Conflict, Concept::Busy]) && cx.can("calendar_busy") {
        return cx.call("calendar_busy", json!({ "from": from, "to": to }));
    }
    if task.has(Concept::Free) || task.has(Concept::Change) || wants_booking {
        let (from, to) = when.map_or((None, None), |_| (Some(from), Some(to)));
        return cx.call(
            "calendar_free",
            json!({
                "from": from, "to": to,
                "duration_min": task.times.duration_min,
                "attendees": attendees(task),
                "part_of_day": task.times.part_of_day.map(household::time::Part::as_str),
            }),
        );
    }
    cx.call("calendar_list", json!({ "from": from, "to": to }))
}

/// A time was looked at: enter it if that was asked for and nothing is in the way, look for others if something is.
fn checked(task: &SpecialistTask, cx: &AgentContext, input: &Value, data: &Value) -> Said {
    let span = cx.dates.span(input["start"].as_str().unwrap_or(""), input["end"].as_str().unwrap_or(""));
    let is_free = data["free"] == true;
    let wants_booking = task.has_any(&[Concept::Book, Concept::Propose, Concept::Accept]) || !task.slots.is_empty();
    if is_free && wants_booking && !task.has(Concept::Change) {
        return cx.call(
            "calendar_propose",
            json!({ "title": title(task), "start": input["start"], "end": input["end"], "attendees": attendees(task) }),
        );
    }
    if is_free {
        let cannot = "I cannot move what stands in a calendar; that stays with you. ";
        return Said::text(format!("{}{span} is free.", if task.has(Concept::Change) { cannot } else { "" }));
    }
    if cx.can("calendar_free") {
        let start = input["start"].as_str().and_then(|start| start.parse::<jiff::Timestamp>().ok());
        let zone = cx.context.now.time_zone().clone();
        let from = start.map_or_else(|| cx.context.now.clone(), |start| start.to_zoned(zone));
        let from = from.start_of_day().unwrap_or(from);
        return cx.call(
            "calendar_free",
            json!({
                "from": moment(&from.clone().max(cx.context.now.clone())),
                "to": from.checked_add(3.days()).ok().map(|to| moment(&to)),
                "duration_min": task.times.duration_min,
                "attendees": attendees(task),
            }),
        );
    }
    Said::text(format!("{span} is not free. {}", cx.dates.conflicts(data)))
}

fn listed(task: &SpecialistTask, cx: &AgentContext, data: &Value) -> String {
    let events = list(data, "events");
    let (from, to) = range(task, &cx.context.now);
    let period = period(cx, &from, &to);
    if events.is_empty() {
        return format!("Nothing is on {period}.");
    }
    let more = events.len().saturating_sub(MOST_TOLD);
    let more = if more == 0 { String::new() } else { format!("\n… and {more} more") };
    let shown = &events[..events.len().min(MOST_TOLD)];
    format!("{} {period}:\n\n{}{more}", count(events.len(), "event", "events"), cx.dates.events(shown))
}

fn busy(task: &SpecialistTask, cx: &AgentContext, data: &Value) -> String {
    let times = list(data, "busy");
    let (from, to) = range(task, &cx.context.now);
    let period = period(cx, &from, &to);
    let line = |time: &Value| {
        let span = cx.dates.span(time["start"].as_str().unwrap_or(""), time["end"].as_str().unwrap_or(""));
        format!("- {span}: {}", super::phrases::texts_of(time, "titles").join(" / "))
    };
    if task.has(Concept::Conflict) {
        let clashes: Vec<String> = times.iter().filter(|time| list(time, "titles").len() > 1).map(line).collect();
        return match clashes.is_empty() {
            true => format!("Nothing overlaps {period}."),
            false => format!("These overlap {period}:\n\n{}", clashes.join("\n")),
        };
    }
    match times.is_empty() {
        true => format!("You are free {period}."),
        false => format!(
            "You are busy {period} at these times:\n\n{}",
            times.iter().map(line).collect::<Vec<_>>().join("\n")
        ),
    }
}

fn proposed(cx: &AgentContext, data: &Value) -> String {
    let span = cx.dates.span(data["start"].as_str().unwrap_or(""), data["end"].as_str().unwrap_or(""));
    format!(
        "I entered \"{}\" for {span} as a tentative proposal ({}). Nobody was invited.",
        text_of(data, "title"),
        text_of(data, "eventId")
    )
}

fn free(cx: &AgentContext, turn: &Turn, data: &Value) -> String {
    let clash = turn.found("calendar_check").filter(|check| check["free"] == false);
    let clash = clash.map(|check| format!("That time is taken. {}\n\n", cx.dates.conflicts(check))).unwrap_or_default();
    let slots = list(data, "suggestedSlots");
    let reasoning = text_of(data, "reasoning");
    if slots.is_empty() {
        return format!("{clash}I found no free time. {} {reasoning}", cx.dates.conflicts(data)).trim_end().to_owned();
    }
    let conflicts = if clash.is_empty() { cx.dates.conflicts(data) } else { String::new() };
    let parts = [format!("{clash}Free times:"), cx.dates.slots(slots), conflicts, reasoning];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The days that are meant: those that were said, else the coming ones.
fn range(task: &SpecialistTask, now: &Zoned) -> (String, String) {
    match &task.times.when {
        Some(when) if when.end > when.start => (moment(&when.start), moment(&when.end)),
        Some(when) => (moment(&when.start), moment(&after(&when.start, task.times.duration_min))),
        None => {
            let from = now.start_of_day().unwrap_or_else(|_| now.clone());
            let to = from.checked_add(USUAL_DAYS.days()).unwrap_or_else(|_| from.clone());
            (moment(&from), moment(&to))
        }
    }
}

fn period(cx: &AgentContext, from: &str, to: &str) -> String {
    let (first, behind) = (cx.dates.day_of(from), cx.dates.day_of(to));
    match first == behind {
        true => first,
        false if is_next_day(from, to) => first,
        false => format!("from {first} until {behind}"),
    }
}

fn is_next_day(from: &str, to: &str) -> bool {
    let hours = |text: &str| text.parse::<jiff::Timestamp>().map(|at| at.as_second() / 3_600).unwrap_or(0);
    (0..=25).contains(&(hours(to) - hours(from)))
}

fn after(start: &Zoned, minutes: Option<i64>) -> Zoned {
    start.checked_add(minutes.unwrap_or(USUAL_MIN).minutes()).unwrap_or_else(|_| start.clone())
}

fn attendees(task: &SpecialistTask) -> Vec<&String> {
    task.entities.addresses.iter().chain(&task.entities.people).collect()
}

/// What an appointment is called: as it was quoted, else what it is and with whom.
fn title(task: &SpecialistTask) -> String {
    if let Some(quoted) = task.entities.quoted.first() {
        return quoted.clone();
    }
    let what = task.words_of(Concept::Event).unwrap_or("meeting");
    let what = what.split_whitespace().next().unwrap_or("meeting");
    let mut letters = what.chars();
    let what: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    match task.person() {
        Some(person) => format!("{what} with {person}"),
        None => what,
    }
}
