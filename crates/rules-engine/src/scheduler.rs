//! The scheduler: lists events, finds one by its words, finds free times, and writes proposals where a time was asked for and is free.
//!
//! Absent: changing or deleting events. It says so.

use jiff::civil::Date;
use jiff::{ToSpan, Zoned};
use provider::Said;
use serde_json::{Value, json};

use super::agent_context::{AgentContext, failed};
use super::conversation::Turn;
use super::lexicon::Concept;
use super::phrases::{list, text_of};
use super::speech::Tongue;
use super::task::{SpecialistTask, moment};

/// How long an appointment is when nobody says.
const USUAL_MIN: i64 = 30;
/// How many days are looked at when nobody says.
const USUAL_DAYS: i64 = 7;
/// The most events that are told one by one.
const MOST_TOLD: usize = 15;
/// More events than this are told by the day.
const MOST_LINES: usize = 8;
/// So few events are told with all that is known of them.
const IN_FULL: usize = 3;

/// What the scheduler does next.
pub(super) fn next(task: &SpecialistTask, turn: &Turn, cx: &AgentContext) -> Said {
    match turn.last() {
        None => begin(task, cx),
        Some((_, _, outcome)) if outcome.is_error => failed("use the calendar", outcome),
        Some(("calendar_check", input, outcome)) if turn.calls.len() == 1 => checked(task, cx, input, &outcome.data),
        Some(("calendar_find", input, outcome)) => from_found(task, turn, cx, input, &outcome.data),
        // Outside working hours nothing is offered, but it can be said what is on.
        Some(("calendar_free", input, outcome))
            if turn.calls.len() == 1
                && list(&outcome.data, "suggestedSlots").is_empty()
                && input["from"].is_string()
                && !task.has_any(&[Concept::Book, Concept::Change])
                && cx.can("calendar_list") =>
        {
            cx.call("calendar_list", json!({ "from": input["from"], "to": input["to"] }))
        }
        // "My next meeting" is the first that has not begun.
        Some(("calendar_list", _, outcome))
            if turn.calls.len() == 1
                && asks_for_next(task)
                && let Some(next) = first_ahead(cx, &outcome.data) =>
        {
            cx.call("calendar_find", json!({ "query": next["title"], "from": next["start"], "to": next["end"] }))
        }
        Some(("household_find", _, outcome)) => elsewhere(task, turn, cx, &outcome.data),
        Some((tool, _, outcome)) => {
            let told = match tool {
                "calendar_list" => listed(task, cx, &outcome.data),
                "calendar_busy" => busy(task, cx, &outcome.data),
                "calendar_propose" => proposed(cx, &outcome.data),
                "calendar_withdraw" => cx.speech.say("withdrawn", &[]),
                _ => free(cx, turn, &outcome.data),
            };
            Said::text(if wants_change(task) {
                format!("{}\n\n{told}", cx.speech.say("cannot_move", &[]))
            } else {
                told
            })
        }
    }
}

fn begin(task: &SpecialistTask, cx: &AgentContext) -> Said {
    if let Some(id) =
        task.entities.ids.iter().find(|id| id.starts_with("proposal-")).filter(|_| task.says("withdraw discard undo"))
    {
        return cx.call("calendar_withdraw", json!({ "id": id }));
    }
    let when = task.times.when.as_ref();
    let wants_booking = wants_booking(task) && !task.has(Concept::Free);
    let (from, to) = range(task, &cx.context.now);
    let is_elsewhere = task.has(Concept::Beyond) || task.says("table tisch restaurant");
    if wants_booking && is_elsewhere && when.is_none() && task.slots.is_empty() && task.person().is_none() {
        return Said::text(cx.speech.say("cannot_book", &[]));
    }
    if let Some((start, end)) = task.slots.first() {
        return cx.call("calendar_check", json!({ "start": start, "end": end }));
    }
    let named = subject(task);
    let asks_when = task.has(Concept::When) || task.says("where wo ou who wer qui");
    // "Until when does the conference go?" asks about something; a word for free or busy time in it is only a word.
    let is_about_one = when.is_none() && task.person().is_none() && !named.is_empty() && task.is_question();
    let looks = !wants_booking
        && task.times.duration_min.is_none()
        && (is_about_one || !task.has_any(&[Concept::Free, Concept::Conflict, Concept::Busy]));
    // One day is told whole; of a longer time, what was asked for is looked for first.
    let is_long = when.is_some_and(|when| when.end > after(&when.start, Some(2 * 24 * 60)));
    // "When is my next meeting with Keiko?" is about the one that there is.
    let asks_next = task.person().is_some()
        && task.is_question()
        && task.says("when wann quand next nachste nachstes nachster nachsten prochain prochaine")
        && !wants_booking
        && !task.says("free frei libre can could kann peux");
    if let Some(person) =
        task.person().filter(|_| asks_next && when.is_none() && named_only(task, &named) && cx.can("calendar_find"))
    {
        return cx.call("calendar_find", json!({ "query": person }));
    }
    let is_named = !named.is_empty() && looks && (asks_when || when.is_none() || is_long);
    let changes = wants_change(task) && !named.is_empty();
    if (is_named || changes) && cx.can("calendar_find") && !when.is_some_and(|when| when.is_exact && !asks_when) {
        let window = when.filter(|when| when.end > when.start && !changes).map(|_| (from, to));
        let (from, to) = window.unzip();
        return cx.call("calendar_find", json!({ "query": named, "from": from, "to": to }));
    }
    if let Some(when) = when.filter(|when| when.is_exact) {
        let end = if when.end > when.start { when.end.clone() } else { after(&when.start, task.times.duration_min) };
        // "What do I have at three?" looks; "am I free at three?" and "book it at three" check.
        let is_long = when.end > after(&when.start, Some(180));
        if looks && is_long && !changes {
            return cx.call("calendar_list", json!({ "from": moment(&when.start), "to": moment(&end) }));
        }
        return cx.call("calendar_check", json!({ "start": moment(&when.start), "end": moment(&end) }));
    }
    // What is over is looked at, whatever the verb.
    if when.is_some_and(|when| when.end <= cx.context.now && when.end > when.start) {
        return cx.call("calendar_list", json!({ "from": from, "to": to }));
    }
    if task.has_any(&[Concept::Conflict, Concept::Busy]) && cx.can("calendar_busy") {
        return cx.call("calendar_busy", json!({ "from": from, "to": to }));
    }
    let wants_time =
        task.times.duration_min.is_some() && task.says("find need want would like brauche suche trouve besoin for");
    if task.has(Concept::Free) || wants_change(task) || wants_booking || wants_time {
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

/// Whether nothing but a person names the event.
fn named_only(task: &SpecialistTask, named: &str) -> bool {
    let person = task.person().map(household::time::words::fold).unwrap_or_default();
    household::time::words::words(named).iter().all(|word| person.contains(word.folded.trim_end_matches('s')))
}

/// The words that name an event.
pub(super) fn subject(task: &SpecialistTask) -> String {
    task.unexplained(GENERIC, &OWN)
}

/// Whether something is to be entered, rather than asked about: a verb says so, or a moment and a length in a sentence that asks nothing.
fn wants_booking(task: &SpecialistTask) -> bool {
    let is_placed = task.times.duration_min.is_some() && task.times.when.as_ref().is_some_and(|when| when.is_exact);
    let is_said = task.has_any(&[Concept::Book, Concept::Propose, Concept::Accept]);
    (is_said && !task.asks_what_is()) || (is_placed && !task.is_question() && !wants_change(task))
}

/// Whether something is to be moved or called off, rather than asked about: "which day did he move it to?" changes nothing.
fn wants_change(task: &SpecialistTask) -> bool {
    const REQUESTS: &str = "i we me us you please can could my our ich wir mir du bitte kannst konnen konntest mein meine meinen je nous tu peux pouvez \
        pourrais mon ma mes";
    let begins = task.words_of(Concept::Change).is_some_and(|words| task.task.starts_with(words));
    task.has(Concept::Change) && (begins || !task.is_question() || task.says(REQUESTS))
}

/// Concepts whose words ask about the calendar and name no event.
const OWN: [Concept; 7] =
    [Concept::Day, Concept::Free, Concept::Busy, Concept::Conflict, Concept::Calendar, Concept::Book, Concept::Change];

/// Words of a request about the calendar that name no event.
const GENERIC: &str = "vor calendar schedule agenda diary day week month meeting meetings appointment appointments event events plan plans planned \
    planning anything something nothing next upcoming coming up busy free free time slot slots kalender termin termine plan geplant ansteht steht stehen \
    anstehen los an woche tag monat nachste nachster nachsten treffen besprechung besprechungen rendez vous agenda reunion reunions prevu prochain \
    prochaine semaine jour cancel move reschedule postpone shift push delay absagen verschieben verschiebe sage ab annule annuler deplacer deplace \
    reporter start starts begin begins end ends happen happening exactly again still first last called supposed going place takes take fangt \
    beginnt findet statt wann wo commence lieu quand look looking full packed morning afternoon evening night morgens nachmittags abends matin \
    soir apres midi have got there do see today tomorrow quelle quel quelles quels heure chez jour commence a qu est ce qui quoi was wie welche welcher \
    um uhr am an im next nachstes prochains when where then anything rest eleven look like what we us our uns wir nous";

/// Events were found by their words; where nothing fits, the days that were named are listed, or everything is searched.
fn from_found(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, input: &Value, data: &Value) -> Said {
    let events = list(data, "events");
    let covers = data["covers"].as_f64().unwrap_or(1.0);
    let is_timed = input["from"].is_string();
    // "What is on after the dentist?" is about the rest of that day.
    if let Some((event, _)) = beside(task, events).filter(|_| turn.calls.len() == 1)
        && let Some(day) = event["start"].as_str().and_then(|at| at.get(..10)?.parse::<Date>().ok())
        && let (Ok(from), Some(to)) = (day.to_zoned(cx.context.now.time_zone().clone()), day.tomorrow().ok())
        && let Ok(to) = to.to_zoned(cx.context.now.time_zone().clone())
    {
        return cx.call("calendar_list", json!({ "from": moment(&from), "to": moment(&to) }));
    }
    if !events.is_empty() && covers >= FITS {
        let shown = &events[..events.len().min(MOST_TOLD)];
        let told = if shown.len() <= IN_FULL { cx.dates.events_in_full(shown) } else { cx.dates.events(shown) };
        let told = format!("{}\n\n{told}", cx.speech.say("found_events", &[]));
        let cannot = cx.speech.say("cannot_move", &[]);
        return Said::text(if wants_change(task) { format!("{cannot}\n\n{told}") } else { told });
    }
    match () {
        () if turn.calls.len() == 1 && cx.can("household_find") => {
            cx.call("household_find", json!({ "question": task.task }))
        }
        () if is_timed && task.person().is_none() => {
            cx.call("calendar_list", json!({ "from": input["from"], "to": input["to"] }))
        }
        () if wants_change(task) => {
            Said::text(format!("{}\n\n{}", cx.speech.say("cannot_move", &[]), none_with(task, cx, input)))
        }
        () => Said::text(none_with(task, cx, input)),
    }
}

/// Events whose words fit so well are meant.
const FITS: f64 = 0.55;

fn none_with(task: &SpecialistTask, cx: &AgentContext, input: &Value) -> String {
    let (from, to) = range(task, &cx.context.now);
    let period = match input["from"].is_string() {
        true => format!(" ({})", period(cx, &from, &to)),
        false => String::new(),
    };
    cx.speech.say("nothing_with", &[("what", &text_of(input, "query")), ("period", &period)])
}

/// The answer from elsewhere, where the calendar has none; else what is on in the time that was named.
fn elsewhere(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, data: &Value) -> Said {
    let mut timely = data.clone();
    // An event of another day is no answer to a question about this one.
    if let (Some(when), Some(answers)) = (&task.times.when, timely["answers"].as_array_mut()) {
        answers.retain(|answer| is_within(answer, when.start.date(), last_day(when)));
    }
    let data = &timely;
    let asked = turn.calls.first().map(|called| &called.input).unwrap_or(&Value::Null);
    let is_plain = |answer: &Value| answer["sure"] == true && list(answer, "missing").is_empty();
    let is_timed = asked["from"].is_string();
    let days = task
        .times
        .when
        .as_ref()
        .map_or(0, |when| (when.end.timestamp().as_second() - when.start.timestamp().as_second()) / 86_400);
    if is_timed && task.person().is_none() && days <= MOST_DAYS && !list(data, "answers").iter().any(is_plain) {
        return cx.call("calendar_list", json!({ "from": asked["from"], "to": asked["to"] }));
    }
    let told = super::navigator::answered(cx, data).unwrap_or_else(|| none_with(task, cx, asked));
    let cannot = cx.speech.say("cannot_move", &[]);
    Said::text(if wants_change(task) { format!("{cannot}\n\n{told}") } else { told })
}

/// Whether an answer is no event, or one of these days.
pub(super) fn is_within(answer: &Value, first: Date, last: Date) -> bool {
    let day = |key: &str| answer[key].as_str().and_then(|at| at.get(..10)?.parse::<Date>().ok());
    let start = day("start").filter(|_| answer["kind"] == "event");
    start.is_none_or(|start| start <= last && day("end").unwrap_or(start) >= first)
}

/// The last day that a time reaches into.
pub(super) fn last_day(when: &household::time::When) -> Date {
    let end = when.end.checked_sub(jiff::SignedDuration::from_secs(1)).map_or(when.end.date(), |end| end.date());
    end.max(when.start.date())
}

/// More days are not listed where something else was asked for.
const MOST_DAYS: i64 = 10;

/// A time was looked at: enter it if that was asked for and nothing is in the way, look for others if something is.
fn checked(task: &SpecialistTask, cx: &AgentContext, input: &Value, data: &Value) -> Said {
    let span = cx.dates.span(input["start"].as_str().unwrap_or(""), input["end"].as_str().unwrap_or(""));
    let is_free = data["free"] == true;
    let wants_booking = wants_booking(task) || !task.slots.is_empty();
    if is_free && wants_booking && !wants_change(task) {
        return cx.call(
            "calendar_propose",
            json!({ "title": title(task), "start": input["start"], "end": input["end"], "attendees": attendees(task) }),
        );
    }
    if is_free {
        let told = cx.speech.say("is_free", &[("when", &span)]);
        let cannot = cx.speech.say("cannot_move", &[]);
        return Said::text(if wants_change(task) { format!("{cannot} {told}") } else { told });
    }
    // Who asks whether a time is free, or what is on then, wants to know what is; who books wants another.
    if !wants_booking {
        return Said::text(format!("{} {}", cx.speech.say("not_free", &[("when", &span)]), cx.dates.conflicts(data)));
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
    Said::text(format!("{} {}", cx.speech.say("not_free", &[("when", &span)]), cx.dates.conflicts(data)))
}

/// The first event of a list that has not begun and takes place.
fn first_ahead<'a>(cx: &AgentContext, data: &'a Value) -> Option<&'a Value> {
    let at = |event: &&Value| event["start"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
    let now = cx.context.now.timestamp();
    let is_ahead = |event: &&Value| event["status"] != "cancelled" && at(event).is_some_and(|start| start >= now);
    list(data, "events").iter().find(is_ahead).filter(|_| cx.can("calendar_find"))
}

/// Whether the next event is asked for, whichever it is.
fn asks_for_next(task: &SpecialistTask) -> bool {
    const NEXT: &str = "next nachste nachster nachstes nachsten prochain prochaine upcoming";
    const EVENTS: &str = "meeting appointment event call termin besprechung treffen rendez reunion thing up";
    task.says(NEXT)
        && task.says(EVENTS)
        && !task.says("meetings appointments events calls termine rendezvous week woche semaine month monat mois")
        && task.times.when.is_none()
        && task.person().is_none()
        && subject(task).is_empty()
}

/// The event that a request names behind "after" or "before", and whether what is behind it is asked for.
fn beside<'a>(task: &SpecialistTask, events: &'a [Value]) -> Option<(&'a Value, bool)> {
    let all = household::time::words::words(&task.task);
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|one| one == word);
    let (at, is_after) = all.iter().enumerate().find_map(|(at, word)| match () {
        () if is_in("after nach apres following", &word.folded) => Some((at, true)),
        () if is_in("before vor avant", &word.folded) => Some((at, false)),
        () => None,
    })?;
    let named: Vec<&str> = all[at + 1..]
        .iter()
        .take(5)
        .map(|word| word.folded.as_str())
        .filter(|word| word.len() > 2 && !household::words::is_light(word) && !is_in(GENERIC, word))
        .collect();
    let is_named =
        |event: &&Value| named.iter().any(|word| household::Household::says_word(&text_of(event, "title"), word));
    let mut meant = events.iter().filter(is_named);
    Some((meant.next()?, is_after)).filter(|_| meant.next().is_none())
}

/// The events of a day that lie behind or before one of them.
fn around(task: &SpecialistTask, cx: &AgentContext, data: &Value, period: &str) -> Option<String> {
    let events = list(data, "events");
    let (named, is_after) = beside(task, events)?;
    let at = |event: &Value, key: &str| event[key].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
    let edge = at(named, if is_after { "end" } else { "start" })?;
    let is_there = |event: &&Value| match is_after {
        true => at(event, "start").is_some_and(|start| start >= edge),
        false => at(event, "end").is_some_and(|end| end <= edge),
    };
    let kept: Vec<Value> = events.iter().filter(is_there).cloned().collect();
    if !kept.is_empty() {
        return Some(format!("{}\n\n{}", cx.speech.say("found_events", &[]), cx.dates.events(&kept)));
    }
    let title = format!("\"{}\"", text_of(named, "title"));
    let time = edge.to_zoned(cx.context.now.time_zone().clone()).strftime("%H:%M").to_string();
    let name = if is_after { "nothing_after" } else { "nothing_before" };
    Some(cx.speech.say(name, &[("title", &title), ("time", &time), ("period", period)]))
}

fn listed(task: &SpecialistTask, cx: &AgentContext, data: &Value) -> String {
    let events = list(data, "events");
    let (from, to) = range(task, &cx.context.now);
    let period = period(cx, &from, &to);
    if let Some(told) = around(task, cx, data, &period) {
        return told;
    }
    // Of a part of a day, that part is named.
    let is_part = task.times.when.as_ref().is_some_and(|when| {
        let is_midnight = |at: &Zoned| at.time() == jiff::civil::Time::midnight();
        when.end > when.start && !(is_midnight(&when.start) && is_midnight(&when.end))
    });
    // "Until midnight" is said as the last minute of the day.
    let last = task.times.when.as_ref().map(|when| &when.end).filter(|end| end.time() == jiff::civil::Time::midnight());
    let last = last.and_then(|end| end.checked_sub(1.minutes()).ok()).map_or(to, |end| moment(&end));
    let period = if is_part { cx.dates.span(&from, &last) } else { period };
    if events.is_empty() {
        let name = if task.has(Concept::Free) { "you_are_free" } else { "nothing_on" };
        return cx.speech.say(name, &[("period", &period)]);
    }
    if events.len() > MOST_LINES {
        let count = cx.speech.count("event", events.len());
        let head = cx.speech.say("events_head", &[("count", &count), ("period", &period)]);
        return format!("{head}\n\n{}", cx.dates.by_day(events));
    }
    let more = events.len().saturating_sub(MOST_TOLD);
    let more = match more {
        0 => String::new(),
        more => format!("\n{}", cx.speech.say("and_more", &[("n", &more.to_string())])),
    };
    let shown = &events[..events.len().min(MOST_TOLD)];
    let head = cx.speech.say("events_head", &[("count", &cx.speech.count("event", events.len())), ("period", &period)]);
    format!("{head}\n\n{}{more}", cx.dates.events(shown))
}

fn busy(task: &SpecialistTask, cx: &AgentContext, data: &Value) -> String {
    let times = list(data, "busy");
    let (from, to) = range(task, &cx.context.now);
    let period = period(cx, &from, &to);
    let line = |time: &Value| {
        let span = cx.dates.span(time["start"].as_str().unwrap_or(""), time["end"].as_str().unwrap_or(""));
        format!("- {span}: {}", super::phrases::texts_of(time, "titles").join(" / "))
    };
    let said = |name: &str| cx.speech.say(name, &[("period", &period)]);
    if task.has(Concept::Conflict) {
        let clashes: Vec<String> = times.iter().filter(|time| list(time, "titles").len() > 1).map(line).collect();
        return match clashes.is_empty() {
            // What is on helps to judge for oneself.
            true if !times.is_empty() => {
                let lines: Vec<String> = times.iter().take(MOST_LINES).map(line).collect();
                format!("{}\n\n{}", said("no_overlap"), lines.join("\n"))
            }
            true => said("no_overlap"),
            false => format!("{}\n\n{}", said("overlaps"), clashes.join("\n")),
        };
    }
    match times.is_empty() {
        true => said("you_are_free"),
        false => format!("{}\n\n{}", said("busy_at"), times.iter().map(line).collect::<Vec<_>>().join("\n")),
    }
}

fn proposed(cx: &AgentContext, data: &Value) -> String {
    let span = cx.dates.span(data["start"].as_str().unwrap_or(""), data["end"].as_str().unwrap_or(""));
    cx.speech.say("proposed", &[("title", &text_of(data, "title")), ("when", &span)])
}

fn free(cx: &AgentContext, turn: &Turn, data: &Value) -> String {
    let clash = turn.found("calendar_check").filter(|check| check["free"] == false);
    let clash = clash
        .map(|check| format!("{} {}\n\n", cx.speech.say("taken", &[]), cx.dates.conflicts(check)))
        .unwrap_or_default();
    let slots = list(data, "suggestedSlots");
    // The tool's own words are English; in another language the next possible time is what matters of them.
    let next = &data["nextPossible"];
    let next = next["start"]
        .as_str()
        .zip(next["end"].as_str())
        .map(|(start, end)| cx.speech.say("next_possible", &[("when", &cx.dates.span(start, end))]));
    let reasoning = match cx.speech.tongue {
        Tongue::English => text_of(data, "reasoning"),
        Tongue::German | Tongue::French => next.unwrap_or_default(),
    };
    if slots.is_empty() {
        let none = cx.speech.say("no_free", &[]);
        return format!("{clash}{none} {} {reasoning}", cx.dates.conflicts(data)).trim_end().to_owned();
    }
    let conflicts = if clash.is_empty() { cx.dates.conflicts(data) } else { String::new() };
    let parts = [format!("{clash}{}", cx.dates.slots(slots)), conflicts, reasoning];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The days that are meant: those that were said, else the coming ones.
fn range(task: &SpecialistTask, now: &Zoned) -> (String, String) {
    match &task.times.when {
        Some(when) if when.end > when.start => (moment(&when.start), moment(&when.end)),
        Some(when) => (moment(&when.start), moment(&after(&when.start, task.times.duration_min))),
        None => {
            let from = now.start_of_day().unwrap_or_else(|_| now.clone());
            // "Summarize my day" is about today.
            let is_day = speaks_of_own_day(task);
            let days = if is_day { 1 } else { USUAL_DAYS };
            let to = from.checked_add(days.days()).unwrap_or_else(|_| from.clone());
            (moment(&from), moment(&to))
        }
    }
}

fn speaks_of_own_day(task: &SpecialistTask) -> bool {
    let text = format!(" {} ", household::time::words::fold(&task.task));
    let is_own = |cue: &&str| {
        text.find(cue)
            .is_some_and(|at| text[at + cue.len()..].chars().next().is_none_or(|behind| !behind.is_alphanumeric()))
    };
    [" my day", " mein tag", " meinen tag", " meinem tag", " ma journee"].iter().any(is_own)
}

fn period(cx: &AgentContext, from: &str, to: &str) -> String {
    let (first, behind) = (cx.dates.day_of(from), cx.dates.day_of(to));
    match first == behind {
        true => first,
        false if is_next_day(from, to) => first,
        false => cx.speech.say("period_from_until", &[("from", &first), ("to", &behind)]),
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
    let named = task.subject_without(GENERIC);
    let person = task.person().map(household::time::words::fold).unwrap_or_default();
    let is_booking = "book put add enter schedule arrange set reserve block take mets mettre inscris trag trage setz plane einen eine";
    let own: Vec<&str> = named
        .split_whitespace()
        .filter(|word| {
            let folded = household::time::words::fold(word);
            !person.contains(&folded) && !is_booking.split_whitespace().any(|one| one == folded)
        })
        .take(4)
        .collect();
    let own = own.join(" ");
    let event = task.words_of(Concept::Event).and_then(|what| what.split_whitespace().next());
    let what = match (event, own.is_empty()) {
        (_, false) if !task.task.starts_with("Book: ") || event.is_none() => own.as_str(),
        (Some(event), _) => event,
        (None, _) => "meeting",
    };
    let mut letters = what.chars();
    let what: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    match task.person() {
        Some(person) => format!("{what} with {person}"),
        None => what,
    }
}
