//! The tools of calendars: list events, show busy times, find free times, check a time, and propose an event.

use std::sync::Arc;

use agent::tools::{Reach, Risk, ToolInfo};
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use tool::{Registry, args};

use super::busy::{BusyEvent, busy, taken};
use super::folder::{Calendar, CalendarSnapshot};
use super::free::{Slot, SlotRequest, check, free_slots};
use super::hours::{Hours, PartOfDay};
use super::moment::Window;
use super::proposal::{PROPOSALS, Proposal};
use super::series::Occurrence;
use crate::error::Error;
use crate::household::Household;
use crate::mail::address::bare;
use crate::passages::{Term, words_of};
use crate::times::{Edge, moment, shown};
use crate::tools::HouseholdTool;

/// More events are not told at once.
const MAX_EVENTS: usize = 100;
/// More of what stands in the way is not told at once.
const MAX_CONFLICTS: usize = 20;
const MAX_WARNINGS: usize = 5;
/// The most characters of what is said about an event.
const MAX_DESCRIPTION: usize = 300;
const MAX_SLOTS: u64 = 10;
/// Without an end, so many days are looked at.
const DAYS: i64 = 7;
/// How long after the asked time the next possible one is sought.
const BEYOND: SignedDuration = SignedDuration::from_hours(31 * 24);
const MIN_YEAR: i16 = 1900;
const MAX_YEAR: i16 = 2200;
/// More than this is not asked at once.
const LONGEST: SignedDuration = SignedDuration::from_hours(366 * 24);

/// Adds the tools of calendars to others.
pub(crate) fn add(household: &Arc<Household>, registry: Registry) -> Registry {
    registry
        .with(of(
            household,
            looks("calendar_list", LIST, LIST_SCHEMA),
            r#"{"from": "2026-01-15", "to": "2026-01-16"}"#,
            list,
        ))
        .with(of(household, looks("calendar_find", FIND, FIND_SCHEMA), r#"{"query": "dentist"}"#, find))
        .with(of(
            household,
            looks("calendar_busy", BUSY, BUSY_SCHEMA),
            r#"{"from": "2026-01-15", "to": "2026-01-16"}"#,
            show_busy,
        ))
        .with(of(
            household,
            looks("calendar_free", FREE, FREE_SCHEMA),
            r#"{"from": "2026-01-15", "duration_min": 60}"#,
            free,
        ))
        .with(of(
            household,
            looks("calendar_check", CHECK, CHECK_SCHEMA),
            r#"{"start": "2026-01-15T14:00", "end": "2026-01-15T15:00"}"#,
            judge,
        ))
        .with(of(
            household,
            tool::info("calendar_propose", PROPOSE, PROPOSE_SCHEMA, Reach::Own, true, Risk::Low),
            r#"{"title": "Review", "start": "2026-01-15T14:00", "end": "2026-01-15T15:00"}"#,
            propose,
        ))
        .with(of(
            household,
            tool::info("calendar_withdraw", WITHDRAW, WITHDRAW_SCHEMA, Reach::Own, true, Risk::Low),
            r#"{"id": "proposal-0123456789abcdef"}"#,
            withdraw,
        ))
}

fn of<A>(
    household: &Arc<Household>,
    info: ToolInfo,
    example: &'static str,
    act: fn(&A, &Household) -> Result<Value, Error>,
) -> HouseholdTool<A> {
    HouseholdTool { info, example, foreign: Some("calendar"), household: Arc::clone(household), act }
}

fn looks(name: &str, description: &str, schema: &str) -> ToolInfo {
    tool::info(name, description, schema, Reach::ReadOnly, true, Risk::Low)
}

const LIST: &str = "List the events of the calendars, repeating ones included.";
const LIST_SCHEMA: &str = r#"{"type":"object","properties":{
    "from":{"type":"string","description":"2026-01-15 or 2026-01-15T14:30, default: today"},
    "to":{"type":"string","description":"a day is meant with all its hours, default: 7 days later"},
    "calendar":{"type":"string","description":"only this one"}}}"#;

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    to: Option<String>,
    #[serde(default)]
    calendar: Option<String>,
}

fn list(args: &List, household: &Household) -> Result<Value, Error> {
    let today = household.now().start_of_day().map_or_else(|_| household.now().timestamp(), |day| day.timestamp());
    let window = window(args.from.as_deref(), args.to.as_deref(), today, household)?;
    let agenda = household.calendars().look()?;
    let agenda = match args.calendar.as_deref().filter(|name| !name.trim().is_empty()) {
        Some(name) => named(agenda, name)?,
        None => agenda.only(|calendar| !calendar.is_of_others(&household.options().me)),
    };
    let (found, cut) = agenda.expand(window, &household.options().zone);
    let events: Vec<Value> = found.iter().take(MAX_EVENTS).map(|event| event_shown(event, household)).collect();
    let mut answer = Answer::default();
    answer.put("events", events);
    answer.put("total", found.len());
    answer.warn(&agenda, &cut);
    Ok(answer.done())
}

const FIND: &str =
    "Find events by the words of their title, place or people, the next one of each first, past ones last.";
const FIND_SCHEMA: &str = r#"{"type":"object","properties":{
    "query":{"type":"string","description":"words, or a person"},
    "from":{"type":"string","description":"default: half a year ago"},
    "to":{"type":"string","description":"default: in a year"}},"required":["query"]}"#;

#[derive(Deserialize)]
struct Find {
    #[serde(alias = "title", alias = "words")]
    query: String,
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    to: Option<String>,
}

fn find(args: &Find, household: &Household) -> Result<Value, Error> {
    let now = household.now();
    let terms: Vec<Term> = search_terms(&args.query, household)?;
    let found = match args.from.is_some() || args.to.is_some() {
        true => {
            let window = window(args.from.as_deref(), args.to.as_deref(), now.timestamp(), household)?;
            own(household)?.expand(window, &household.options().zone).0
        }
        false => next_of_each(household, 365.days())?,
    };
    let mut scored: Vec<(f64, &Occurrence)> = Vec::new();
    for event in &found {
        let details = &event.details;
        let people = details.attendees.iter().map(|attendee| format!("{} {}", attendee.shown(), attendee.address));
        let title = words_of(&details.title);
        let around = words_of(&format!(
            "{} {} {}",
            details.location.as_deref().unwrap_or_default(),
            details.description.as_deref().unwrap_or_default(),
            people.collect::<Vec<_>>().join(" ")
        ));
        let worth = |term: &Term| term.worth(&title).max(0.8 * term.worth(&around));
        let sum: f64 = terms.iter().map(worth).sum();
        // A title that is said nearly whole is meant, however many words are said besides.
        let own: Vec<&String> = title.iter().filter(|word| !crate::notes::stop_words::is_one(word)).collect();
        let is_said = |word: &&&String| terms.iter().any(|term| term.worth(std::slice::from_ref(**word)) >= 0.6);
        let said = own.iter().filter(is_said).count();
        let whole = if said > 1 { 0.9 * said as f64 / own.len() as f64 } else { 0.0 };
        scored.extend((sum > 0.0).then_some(((sum / terms.len() as f64).max(whole), event)));
    }
    let best = scored.iter().map(|(worth, _)| *worth).fold(0.0, f64::max);
    // What fits clearly worse is not what was asked for.
    scored.retain(|(worth, _)| *worth >= best - 0.3);
    let is_over = |event: &Occurrence| event.window.end <= now.timestamp();
    scored.sort_by(|(_, one), (_, other)| match (is_over(one), is_over(other)) {
        (true, true) => other.window.cmp(&one.window),
        (one_over, other_over) => (one_over, one.window).cmp(&(other_over, other.window)),
    });
    let events: Vec<Value> = scored
        .iter()
        .take(20)
        .map(|(_, event)| {
            let mut told = event_shown(event, household);
            if is_over(event) {
                told["over"] = json!(true);
            }
            told
        })
        .collect();
    Ok(
        json!({ "query": args.query, "events": events, "total": scored.len(), "covers": (best * 100.0).round() / 100.0 }),
    )
}

/// The words of a query; one for a person stands for everything that the person is called.
fn search_terms(query: &str, household: &Household) -> Result<Vec<Term>, Error> {
    let mut terms = Vec::new();
    for word in words_of(query) {
        if crate::notes::stop_words::is_one(&word) {
            continue;
        }
        let mut term = Term::new(&word);
        for person in crate::people::resolve(household, &word)?.into_iter().take(2) {
            term.names.extend(person.addresses.iter().cloned());
            term.names.extend(crate::people::tools::person_words(&person));
            // A firm is known by the name that is no word for a relation.
            let names = words_of(&person.name).into_iter().filter(|name| name.len() > 3);
            term.names.extend(names.filter(|name| crate::glossary::relation(name).is_none()));
        }
        terms.push(term);
    }
    match terms.is_empty() {
        true => Err(Error::request("say a word of the event's title, its place or a person")),
        false => Ok(terms),
    }
}

/// The owner's own calendars.
fn own(household: &Household) -> Result<CalendarSnapshot, Error> {
    Ok(household.calendars().look()?.only(|calendar| !calendar.is_of_others(&household.options().me)))
}

/// Of each event the next time that it takes place, or the last where there is none, within so long before and after now.
pub(crate) fn next_of_each(household: &Household, reach: jiff::Span) -> Result<Vec<Occurrence>, Error> {
    let now = household.now();
    let start = now.checked_sub(reach).unwrap_or(now.clone()).timestamp();
    let end = now.checked_add(reach).unwrap_or(now.clone()).timestamp();
    let (found, _) = own(household)?.expand(Window { start, end }, &household.options().zone);
    let mut of_each: Vec<Occurrence> = Vec::new();
    for event in found {
        let same = of_each.iter_mut().find(|known| known.details.id == event.details.id && known.repeats);
        match same {
            Some(known) if known.window.end <= now.timestamp() => *known = event,
            Some(_) => {}
            None => of_each.push(event),
        }
    }
    Ok(of_each)
}

const BUSY: &str = "Show when the owner is busy, overlapping events joined.";
const BUSY_SCHEMA: &str = r#"{"type":"object","properties":{
    "from":{"type":"string","description":"2026-01-15 or 2026-01-15T14:30"},
    "to":{"type":"string","description":"a day is meant with all its hours"}},"required":["from","to"]}"#;

#[derive(Deserialize)]
struct ShowBusy {
    from: String,
    to: String,
}

fn show_busy(args: &ShowBusy, household: &Household) -> Result<Value, Error> {
    let window = window(Some(&args.from), Some(&args.to), Timestamp::MIN, household)?;
    let seen = Seen::look(window, &[], household)?;
    let busy: Vec<Value> = busy(&seen.taken, window)
        .iter()
        .map(|busy| {
            let mut stretch = stretch(busy.window, household);
            stretch.put("titles", &busy.titles);
            stretch.put_if(busy.is_tentative, "tentative", true);
            stretch.done()
        })
        .collect();
    let mut answer = Answer::default();
    answer.put("busy", busy);
    answer.warn(&seen.agenda, &seen.cut);
    Ok(answer.done())
}

const FREE: &str = "Find times for a meeting in working hours, best first, with what stands in the way.";
const FREE_SCHEMA: &str = r#"{"type":"object","properties":{
    "from":{"type":"string","description":"2026-01-15 or 2026-01-15T14:30, default: now"},
    "to":{"type":"string","description":"a day is meant with all its hours, default: 7 days later"},
    "duration_min":{"type":"integer","description":"default 30"},
    "attendees":{"type":"array","items":{"type":"string"},"description":"calendars of their names are looked at, too"},
    "part_of_day":{"enum":["morning","afternoon","evening"]},
    "limit":{"type":"integer","description":"default 3"}}}"#;

#[derive(Deserialize)]
struct Free {
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    to: Option<String>,
    #[serde(default, alias = "duration", deserialize_with = "args::number")]
    duration_min: Option<u64>,
    #[serde(default, deserialize_with = "names")]
    attendees: Vec<String>,
    #[serde(default)]
    part_of_day: Option<PartOfDay>,
    #[serde(default, deserialize_with = "args::number")]
    limit: Option<u64>,
}

fn free(args: &Free, household: &Household) -> Result<Value, Error> {
    let now = household.now();
    let asked = window(args.from.as_deref(), args.to.as_deref(), now.timestamp(), household)?;
    let minutes = u32::try_from(args.duration_min.unwrap_or(30)).unwrap_or(u32::MAX);
    if !(1..=24 * 60).contains(&minutes) {
        return Err(Error::request("`duration_min` must be between 1 and 1440 minutes"));
    }
    let horizon = asked.end.max(now.timestamp()).saturating_add(BEYOND).unwrap_or(asked.end);
    // What ends shortly before matters too: people need a moment between two meetings.
    let start = asked.start.saturating_sub(SignedDuration::from_hours(1)).unwrap_or(asked.start);
    let seen = Seen::look(Window { start, end: horizon }, &args.attendees, household)?;
    let limit = args.limit.unwrap_or(3).clamp(1, MAX_SLOTS) as usize;
    let usual = usual_part(household)?.filter(|_| args.part_of_day.is_none());
    let wish = SlotRequest { minutes, part: args.part_of_day.or(usual), limit, horizon, ..SlotRequest::within(asked) };
    let found = free_slots(&seen.taken, &wish, &now);
    let mut reasoning = found.reasoning;
    if let Some(part) = usual {
        reasoning.push_str(&format!(" The {} comes first, as you agreed (meeting.part_of_day).", part.as_str()));
    }
    if !seen.strangers.is_empty() {
        reasoning.push_str(&format!(
            " There is no calendar of {} here, so only known ones were looked at.",
            seen.strangers.join(", ")
        ));
    }
    let mut answer = Answer::default();
    answer.put("suggestedSlots", found.slots.iter().map(|slot| slot_shown(slot, household)).collect::<Vec<_>>());
    answer.put("conflicts", conflicts_shown(&found.conflicts, household));
    answer.put("reasoning", reasoning);
    if let Some(next) = &found.next {
        answer.put("nextPossible", slot_shown(next, household));
    }
    answer.warn(&seen.agenda, &seen.cut);
    Ok(answer.done())
}

/// The part of a day that the owner agreed to meet in where nothing else is said.
fn usual_part(household: &Household) -> Result<Option<PartOfDay>, Error> {
    let applied = household.applied("meeting.")?;
    let usual = applied.value("meeting.part_of_day");
    Ok(PartOfDay::ALL.into_iter().find(|part| usual == Some(part.as_str())))
}

const CHECK: &str = "Check whether the owner is free at a given time.";
const CHECK_SCHEMA: &str =
    r#"{"type":"object","properties":{"start":{"type":"string"},"end":{"type":"string"}},"required":["start","end"]}"#;

#[derive(Deserialize)]
struct Check {
    #[serde(alias = "from")]
    start: String,
    #[serde(alias = "to")]
    end: String,
}

fn judge(args: &Check, household: &Household) -> Result<Value, Error> {
    let asked = window(Some(&args.start), Some(&args.end), Timestamp::MIN, household)?;
    let seen = Seen::look(asked, &[], household)?;
    let verdict = check(&seen.taken, asked, &Hours::default(), &household.now());
    let mut answer = Answer::default();
    answer.put("free", verdict.is_free);
    answer.put("conflicts", conflicts_shown(&verdict.conflicts, household));
    answer.put("reasoning", verdict.reasoning);
    answer.warn(&seen.agenda, &seen.cut);
    Ok(answer.done())
}

const PROPOSE: &str =
    "Put a tentative event into the calendar Proposals. Other calendars stay as they are, and nobody is invited.";
const PROPOSE_SCHEMA: &str = r#"{"type":"object","properties":{
    "title":{"type":"string"},"start":{"type":"string","description":"2026-01-15T14:30"},"end":{"type":"string"},
    "attendees":{"type":"array","items":{"type":"string"}},"location":{"type":"string"},"note":{"type":"string"}},
    "required":["title","start","end"]}"#;

#[derive(Deserialize)]
struct Propose {
    #[serde(alias = "summary")]
    title: String,
    start: String,
    end: String,
    #[serde(default, deserialize_with = "names")]
    attendees: Vec<String>,
    #[serde(default)]
    location: Option<String>,
    #[serde(default, alias = "description")]
    note: Option<String>,
}

fn propose(args: &Propose, household: &Household) -> Result<Value, Error> {
    let window = window(Some(&args.start), Some(&args.end), Timestamp::MIN, household)?;
    let title = args.title.trim().to_owned();
    if title.is_empty() {
        return Err(Error::request("a proposal needs a `title`"));
    }
    let now = household.now();
    if window.start < now.timestamp() {
        let now = shown(now.timestamp(), now.time_zone());
        return Err(Error::request(format!("that time is over (it is {now}); propose a later one")));
    }
    let place = household.calendars().place().ok_or_else(|| {
        Error::request("this household has no folder of calendars for a proposal; name one in its configuration")
    })?;
    if place.is_file() {
        return Err(Error::request(
            "the calendars of this household are one file; a proposal needs a folder beside it",
        ));
    }
    let some = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let (attendees, location, note) = (args.attendees.clone(), some(&args.location), some(&args.note));
    let proposal = Proposal { title, window, attendees, location, note };
    // What stood in the way before is told; the proposal itself does not stand in its own.
    let mut seen = Seen::look(window, &proposal.attendees, household)?;
    seen.taken.retain(|one| !(&*one.calendar == PROPOSALS && one.title == proposal.title && one.window == window));
    proposal.keep(place, &now)?;
    let mut answer = stretch(window, household);
    answer.put("eventId", proposal.id());
    answer.put("calendar", PROPOSALS);
    answer.put("title", &proposal.title);
    answer.put("status", "tentative");
    answer.put("conflicts", conflicts_shown(&seen.taken, household));
    Ok(answer.done())
}

const WITHDRAW: &str =
    "Take an event out of the calendar Proposals again. Events of other calendars are never removed.";
const WITHDRAW_SCHEMA: &str = r#"{"type":"object","properties":{
    "id":{"type":"string","description":"the eventId that calendar_propose said"}},"required":["id"]}"#;

#[derive(Deserialize)]
struct Withdraw {
    #[serde(alias = "eventId")]
    id: String,
}

fn withdraw(args: &Withdraw, household: &Household) -> Result<Value, Error> {
    let place = household.calendars().place().ok_or_else(|| {
        Error::request("this household has no folder of calendars, so there are no proposals to withdraw")
    })?;
    super::proposal::withdraw(place, args.id.trim())?;
    Ok(json!({ "eventId": args.id.trim(), "calendar": PROPOSALS, "withdrawn": true }))
}

/// What takes time in a window: for the owner, and for attendees whose calendars are here.
struct Seen {
    agenda: CalendarSnapshot,
    taken: Vec<BusyEvent>,
    cut: Vec<String>,
    /// Attendees without a calendar here.
    strangers: Vec<String>,
}

impl Seen {
    fn look(window: Window, attendees: &[String], household: &Household) -> Result<Self, Error> {
        let (me, zone) = (&household.options().me, &household.options().zone);
        let agenda = household.calendars().look()?;
        let asked: Vec<(&String, Vec<String>)> = attendees.iter().map(|said| (said, ways(said, household))).collect();
        let is_one = |calendar: &Calendar, ways: &[String]| ways.iter().any(|way| calendar.is_called(way));
        let (found, cut) = agenda.expand(window, zone);
        let mut all = Vec::new();
        for calendar in agenda.calendars() {
            let inside: Vec<Occurrence> = found.iter().filter(|one| one.calendar == calendar.name).cloned().collect();
            if !calendar.is_of_others(me) {
                all.extend(taken(&inside, me));
            } else if asked.iter().any(|(_, ways)| is_one(calendar, ways)) {
                all.extend(taken(&inside, &[calendar.name.to_string()]));
            }
        }
        all.sort_by_key(|one| one.window);
        let is_here = |ways: &[String]| agenda.calendars().iter().any(|calendar| is_one(calendar, ways));
        let is_me = |ways: &[String]| ways.iter().any(|way| me.iter().any(|mine| mine.eq_ignore_ascii_case(way)));
        let strangers = asked.iter().filter(|(_, ways)| !is_here(ways) && !is_me(ways));
        let strangers = strangers.map(|(said, _)| said.to_string()).collect();
        Ok(Self { agenda, taken: all, cut, strangers })
    }
}

/// What a person's calendar may be called: what was said, and the addresses of the one person in the address book who is meant.
fn ways(said: &str, household: &Household) -> Vec<String> {
    let mut ways = vec![bare(said).to_owned()];
    if !said.contains('@')
        && let [contact] = &household.contacts_like(said)[..]
    {
        ways.extend(contact.emails.iter().cloned());
    }
    ways
}

/// The window of two arguments. A day as its end is included whole.
fn window(from: Option<&str>, to: Option<&str>, default: Timestamp, household: &Household) -> Result<Window, Error> {
    let zone = &household.options().zone;
    let said = |text: Option<&str>| text.map(str::to_owned).filter(|text| !text.trim().is_empty());
    let start = match said(from) {
        Some(text) => moment(&text, zone, Edge::Start)?,
        None => default,
    };
    let end = match said(to) {
        Some(text) => moment(&text, zone, Edge::End)?,
        None => {
            let later = start.to_zoned(zone.clone()).checked_add(DAYS.days());
            later.map_err(|_| Error::request("that is beyond all calendars"))?.timestamp()
        }
    };
    // Far enough from both ends of time that nothing computed from it leaves them.
    if !(MIN_YEAR..MAX_YEAR).contains(&zone.to_datetime(start).year()) {
        return Err(Error::request(format!(
            "calendars are kept from {MIN_YEAR} to {MAX_YEAR}; write a time as 2026-01-15T14:30"
        )));
    }
    match start < end {
        true if end.duration_since(start) > LONGEST => Err(Error::request("ask for at most a year at a time")),
        true => Ok(Window { start, end }),
        false => Err(Error::request("the end must come after the start; a day as the end is included whole")),
    }
}

fn named(agenda: CalendarSnapshot, name: &str) -> Result<CalendarSnapshot, Error> {
    let there: Vec<String> = agenda.calendars().iter().map(|calendar| calendar.name.to_string()).collect();
    let agenda = agenda.only(|calendar| calendar.is_called(name));
    match agenda.calendars() {
        [] => Err(Error::request(format!("there is no calendar “{}”; there are: {}", name.trim(), there.join(", ")))),
        _ => Ok(agenda),
    }
}

/// Names in a list, or in one string with commas between them.
fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Said {
        List(Vec<String>),
        One(String),
        Nothing(()),
    }
    let said = match Said::deserialize(from)? {
        Said::List(names) => names,
        Said::One(text) => serde_json::from_str(&text).unwrap_or_else(|_| text.split(',').map(str::to_owned).collect()),
        Said::Nothing(()) => Vec::new(),
    };
    Ok(said.into_iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect())
}

/// An answer in the making.
#[derive(Default)]
struct Answer(Map<String, Value>);

impl Answer {
    fn put(&mut self, name: &str, value: impl serde::Serialize) {
        self.0.insert(name.to_owned(), json!(value));
    }

    fn put_if(&mut self, is_so: bool, name: &str, value: impl serde::Serialize) {
        if is_so {
            self.put(name, value);
        }
    }

    /// What could not be read, where there is any.
    fn warn(&mut self, agenda: &CalendarSnapshot, cut: &[String]) {
        let all: Vec<&String> = agenda.warnings().iter().chain(cut).collect();
        let mut told: Vec<String> = all.iter().take(MAX_WARNINGS).map(|&warning| warning.clone()).collect();
        if all.len() > MAX_WARNINGS {
            told.push(format!("and {} more", all.len() - MAX_WARNINGS));
        }
        self.put_if(!told.is_empty(), "warnings", told);
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

fn stretch(window: Window, household: &Household) -> Answer {
    let zone = &household.options().zone;
    let mut answer = Answer::default();
    answer.put("start", shown(window.start, zone));
    answer.put("end", shown(window.end, zone));
    answer
}

pub(crate) fn event_shown(event: &Occurrence, household: &Household) -> Value {
    let mut answer = stretch(event.window, household);
    let details = &event.details;
    answer.put("eventId", &details.id);
    answer.put("calendar", &*event.calendar);
    answer.put("title", &details.title);
    answer.put("allDay", event.all_day);
    answer.put("status", details.status.as_str());
    answer.put_if(details.location.is_some(), "location", &details.location);
    if let Some(description) = &details.description {
        answer.put("description", crate::text::line(&crate::text::harmless(description), MAX_DESCRIPTION));
    }
    let attendee = |attendee: &super::event::Attendee| match &attendee.name {
        Some(name) => format!("{name} <{}>", attendee.address),
        None => attendee.address.clone(),
    };
    answer.put("attendees", details.attendees.iter().map(attendee).collect::<Vec<_>>());
    let is_owner = |address: &str| household.options().me.iter().any(|mine| mine.eq_ignore_ascii_case(address));
    let others = details.attendees.iter().filter(|attendee| !is_owner(&attendee.address));
    let others: Vec<&str> = others.map(super::event::Attendee::shown).collect();
    answer.put_if(!others.is_empty(), "with", others);
    answer.put_if(event.repeats, "repeats", true);
    answer.put_if(details.is_transparent, "transparent", true);
    answer.done()
}

fn slot_shown(slot: &Slot, household: &Household) -> Value {
    let mut answer = stretch(slot.window, household);
    answer.put("score", slot.score);
    answer.put("why", &slot.why);
    answer.done()
}

fn conflicts_shown(conflicts: &[BusyEvent], household: &Household) -> Vec<Value> {
    let shown = |one: &BusyEvent| {
        let mut answer = stretch(one.window, household);
        answer.put("title", &one.title);
        answer.put("calendar", &*one.calendar);
        answer.put_if(one.is_tentative, "tentative", true);
        answer.done()
    };
    conflicts.iter().take(MAX_CONFLICTS).map(shown).collect()
}

#[cfg(test)]
mod tests;
