//! Calendars: events, busy times and free times.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use household::Options;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::figures::Figure;
use crate::sets::{self, PARTS, bound};
use crate::tools::TestTools;

pub fn measure() -> Vec<Figure> {
    PARTS
        .iter()
        .map(|part| {
            let cases = cases(part);
            let misses: Vec<String> = cases
                .iter()
                .filter_map(|case| case.ask().err().map(|wrong| format!("{}: {wrong}", case.name)))
                .collect();
            let (right, of) = (cases.len() - misses.len(), cases.len());
            Figure { set: "scheduling", part, measure: "right", right, of, bound: bound(part, 1.0), misses }
        })
        .collect()
}

pub fn cases(part: &str) -> Vec<Case> {
    #[derive(Deserialize)]
    struct File {
        case: Vec<Case>,
    }
    sets::toml::<File>(&sets::file("scheduling", part, "toml")).case
}

/// Calendars and one question about them.
#[derive(Deserialize)]
pub struct Case {
    name: String,
    #[serde(default = "berlin")]
    zone: String,
    #[serde(default = "new_year")]
    now: DateTime,
    events: String,
    #[serde(default)]
    others: BTreeMap<String, String>,
    #[serde(flatten)]
    question: Question,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Question {
    List { list: [String; 2], instances: Vec<String> },
    Busy { busy: [String; 2], spans: Vec<String> },
    Check { check: [String; 2], free: bool },
    First { find: BTreeMap<String, Value>, first: String },
    Within { find: BTreeMap<String, Value>, within: Vec<String> },
    None { find: BTreeMap<String, Value>, none: bool },
}

fn berlin() -> String {
    "Europe/Berlin".to_owned()
}

fn new_year() -> DateTime {
    DateTime::constant(2026, 1, 2, 9, 0, 0, 0)
}

/// From when to when.
type Stretch = (Timestamp, Timestamp);

impl Case {
    /// Asks the household, and says what is wrong with its answer.
    fn ask(&self) -> Result<(), String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        self.lay(&folder.path().join("calendars"));
        let tools = TestTools::of(self.options(folder.path()), folder.path());
        match &self.question {
            Question::List { list: [from, to], instances } => {
                let answer = tools.call("calendar_list", &json!({ "from": from, "to": to }))?;
                let there = |event: &&Value| event["status"].as_str().is_none_or(|status| status != "cancelled");
                let events: Vec<&Value> = array(&answer, "events").iter().filter(there).collect();
                self.compare(self.expected(instances), self.stretches(events))
            }
            Question::Busy { busy: [from, to], spans } => {
                let answer = tools.call("calendar_busy", &json!({ "from": from, "to": to }))?;
                self.compare(self.expected(spans), joined(self.stretches(array(&answer, "busy"))))
            }
            Question::Check { check: [start, end], free } => {
                let answer = tools.call("calendar_check", &json!({ "start": start, "end": end }))?;
                match answer["free"].as_bool() == Some(*free) {
                    true => Ok(()),
                    false => Err(format!("free should be {free}: {answer}")),
                }
            }
            Question::First { find, first } => {
                let slots = self.slots(&tools, find)?;
                self.compare(self.expected(std::slice::from_ref(first)), slots.into_iter().take(1).collect())
            }
            Question::Within { find, within } => {
                let slots = self.slots(&tools, find)?;
                let within = self.expected(within);
                let lies = |slot: &Stretch| within.iter().any(|room| room.0 <= slot.0 && slot.1 <= room.1);
                match !slots.is_empty() && slots.iter().all(lies) {
                    true => Ok(()),
                    false => Err(format!("not in {}: {}", self.told(&within), self.told(&slots))),
                }
            }
            Question::None { find, none } => {
                assert!(none, "a case says none = true or nothing");
                let edge = |name: &str| self.moment(find[name].as_str().expect("a time"));
                let (from, to) = (edge("from"), edge("to"));
                let slots = self.slots(&tools, find)?;
                let inside: Vec<Stretch> = slots.into_iter().filter(|slot| slot.0 < to && from < slot.1).collect();
                match inside.is_empty() {
                    true => Ok(()),
                    false => Err(format!("there is no room, but {} was proposed", self.told(&inside))),
                }
            }
        }
    }

    fn slots(&self, tools: &TestTools, find: &BTreeMap<String, Value>) -> Result<Vec<Stretch>, String> {
        let answer = tools.call("calendar_free", &json!(find))?;
        Ok(self.stretches(array(&answer, "suggestedSlots")))
    }

    fn options(&self, folder: &Path) -> Options {
        let now = self.now.to_zoned(self.time_zone()).expect("a time").timestamp();
        Options { zone: self.time_zone(), now: Arc::new(move || now), ..Options::in_folder(folder) }
    }

    fn time_zone(&self) -> TimeZone {
        TimeZone::get(&self.zone).expect("a zone")
    }

    fn lay(&self, folder: &Path) {
        let home = ("home".to_owned(), self.events.clone());
        for (calendar, events) in std::iter::once(home).chain(self.others.clone()) {
            std::fs::create_dir_all(folder.join(&calendar)).expect("a folder");
            std::fs::write(folder.join(&calendar).join("case.ics"), icalendar(&calendar, &events)).expect("a file");
        }
    }

    fn compare(&self, mut expected: Vec<Stretch>, mut found: Vec<Stretch>) -> Result<(), String> {
        expected.sort_unstable();
        found.sort_unstable();
        match expected == found {
            true => Ok(()),
            false => Err(format!("expected {}, found {}", self.told(&expected), self.told(&found))),
        }
    }

    /// Stretches as an answer tells them.
    fn stretches<'a>(&self, items: impl IntoIterator<Item = &'a Value>) -> Vec<Stretch> {
        let time =
            |item: &Value, name: &str| self.moment(item[name].as_str().unwrap_or_else(|| panic!("{name}: {item}")));
        items.into_iter().map(|item| (time(item, "start"), time(item, "end"))).collect()
    }

    /// Stretches as a case writes them: `2026-03-16T10:00+01 60m` or `2026-02-10 3d`.
    fn expected(&self, lines: &[String]) -> Vec<Stretch> {
        let stretch = |line: &String| {
            let (start, length) = line.split_once(' ').expect("a start and a length");
            let number = |unit| length.strip_suffix(unit).map(|number| number.parse::<i64>().expect("a number"));
            match (number('m'), number('d')) {
                (Some(minutes), _) => {
                    let start: Timestamp = start.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
                    (start, start + SignedDuration::from_mins(minutes))
                }
                (_, Some(days)) => {
                    let day: Date = start.parse().expect("a date");
                    let end = day.checked_add(days.days()).expect("a date");
                    (self.moment(&day.to_string()), self.moment(&end.to_string()))
                }
                _ => panic!("{line} has no length"),
            }
        };
        lines.iter().map(stretch).collect()
    }

    /// A time as tools take and give it: with an offset, or the owner's.
    fn moment(&self, text: &str) -> Timestamp {
        let local = || text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(|date| date.at(0, 0, 0, 0)));
        text.parse::<Timestamp>().unwrap_or_else(|_| {
            let local = local().unwrap_or_else(|error| panic!("{text}: {error}"));
            local.to_zoned(self.time_zone()).expect("a time").timestamp()
        })
    }

    fn told(&self, stretches: &[Stretch]) -> String {
        let zone = self.time_zone();
        let minutes = |(start, end): &Stretch| end.duration_since(*start).as_mins();
        let one = |stretch: &Stretch| format!("{} {}m", stretch.0.to_zoned(zone.clone()), minutes(stretch));
        format!("[{}]", stretches.iter().map(one).collect::<Vec<_>>().join(", "))
    }
}

fn array<'a>(answer: &'a Value, name: &str) -> &'a Vec<Value> {
    answer[name].as_array().unwrap_or_else(|| panic!("there are {name}: {answer}"))
}

/// What overlaps or touches becomes one.
fn joined(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    stretches.sort_unstable();
    let mut joined: Vec<Stretch> = Vec::new();
    for (start, end) in stretches {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined
}

/// A calendar of events from which the lines that all have were left out.
fn icalendar(calendar: &str, events: &str) -> String {
    let mut text = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//gold//EN\n".to_owned();
    for (number, event) in events.trim_matches('\n').split("\n\n").enumerate() {
        if event.starts_with("BEGIN:") {
            let _ = writeln!(text, "{event}");
            continue;
        }
        // An event that stands for one of a series belongs to the first one that there is.
        let number = if event.contains("RECURRENCE-ID") { 0 } else { number };
        let _ = write!(text, "BEGIN:VEVENT\nUID:{number}@{calendar}.gold.example\nDTSTAMP:20260101T000000Z\n");
        if !event.contains("SUMMARY") {
            text.push_str("SUMMARY:Meeting\n");
        }
        let _ = write!(text, "{event}\nEND:VEVENT\n");
    }
    text.push_str("END:VCALENDAR\n");
    text.replace('\n', "\r\n")
}
