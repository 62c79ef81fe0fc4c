//! One `VEVENT`: its details, when it begins, how long it lasts and how it repeats.
//!
//! Its occurrences are computed by [`series`](super::series). Absent: alarms, tasks, journals, and `EXRULE`, which RFC 5545
//! has deprecated.

use std::sync::Arc;

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use super::ics::{Component, Property};
use super::moment::{Length, Moment};
use super::rule::Rule;
use super::zone::Zones;

/// What is known of an event, whenever it takes place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Its `UID`, by which other programs know it.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Whether it will take place.
    pub status: Status,
    /// Whether it leaves its time free (`TRANSP:TRANSPARENT`).
    pub is_transparent: bool,
    /// Where.
    pub location: Option<String>,
    /// What else is said about it.
    pub description: Option<String>,
    /// Who was asked to come.
    pub attendees: Vec<Attendee>,
}

/// Whether an event will take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It will, as far as anyone knows.
    #[default]
    Confirmed,
    /// It may.
    Tentative,
    /// It will not.
    Cancelled,
}

impl Status {
    /// The word for it in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Tentative => "tentative",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A person who was asked to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attendee {
    /// Their name, where it is said.
    pub name: Option<String>,
    /// Their address.
    pub address: String,
    /// What they answered.
    pub answer: Answer,
}

/// What a person answered to an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, or nothing was asked.
    Yes,
    /// Perhaps, or not yet anything.
    Open,
    /// No.
    No,
}

impl Attendee {
    fn read(property: &Property) -> Option<Self> {
        let value = property.text();
        let address = match value.split_at_checked(7) {
            Some((scheme, address)) if scheme.eq_ignore_ascii_case("mailto:") => address,
            _ => &value,
        };
        let answer = match property.parameter("PARTSTAT").unwrap_or_default().to_ascii_uppercase().as_str() {
            "DECLINED" => Answer::No,
            "TENTATIVE" | "NEEDS-ACTION" => Answer::Open,
            _ => Answer::Yes,
        };
        let name = property.parameter("CN").map(str::to_owned).filter(|name| !name.is_empty());
        (!address.is_empty()).then(|| Self { name, address: address.to_owned(), answer })
    }

    /// The name, else the address.
    pub fn shown(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.address)
    }
}

/// One event as a file has it.
#[derive(Debug)]
pub(crate) struct Event {
    pub details: Arc<Details>,
    pub start: Moment,
    pub lasting: EventLength,
    pub rules: Vec<Rule>,
    /// Times besides those of the rules, which may say themselves how long they last.
    pub also: Vec<(Moment, EventLength)>,
    pub except: Vec<Moment>,
    pub replaces: Option<Replaces>,
    /// Grows with every change that its owner made.
    pub version: (u32, String),
}

/// Which time of a series an event stands for.
#[derive(Clone, Debug)]
pub(crate) struct Replaces {
    pub at: Moment,
    /// Whether all later ones change with it (`RANGE=THISANDFUTURE`).
    pub and_following: bool,
}

impl Event {
    /// Reads a `VEVENT`, and tells `warn` what is wrong with it. None where it cannot be placed in time at all.
    pub fn read(event: &Component, zones: &mut Zones<'_>, warn: &mut dyn FnMut(String)) -> Option<Self> {
        let details = details(event);
        let name = match details.title.is_empty() {
            true => format!("the event {}", clipped(&details.id)),
            false => format!("“{}”", clipped(&details.title)),
        };
        let replaces = event.property("RECURRENCE-ID").and_then(|property| {
            let range = property.parameter("RANGE").unwrap_or_default();
            let and_following = range.eq_ignore_ascii_case("THISANDFUTURE");
            Some(Replaces { at: Moment::of(property, zones)?, and_following })
        });
        let start = event.property("DTSTART").and_then(|start| Moment::of(start, zones));
        // What changes one time of a series and does not say to what leaves it where it was.
        let Some(start) = start.or_else(|| Some(replaces.as_ref()?.at.clone())) else {
            warn(format!("{name} is left out, it does not say when it begins"));
            return None;
        };
        let is_day = matches!(start, Moment::Day(_));
        let mut rules = Vec::new();
        for written in event.all("RRULE") {
            let read = Rule::read(&written.value).and_then(|rule| match is_day {
                true => rule.of_days().ok_or_else(|| "whole days cannot repeat within a day".to_owned()),
                false => Ok(rule),
            });
            match read {
                Ok(rule) => rules.push(rule),
                Err(why) => warn(format!("{name} repeats by a rule that cannot be read: {why}")),
            }
        }
        let mut also = Vec::new();
        for dates in event.all("RDATE") {
            match dates.parameter("VALUE").is_some_and(|kind| kind.eq_ignore_ascii_case("PERIOD")) {
                true => also.extend(periods(dates, zones)),
                false => also.extend(Moment::each(dates, zones).map(|date| (date, EventLength::Unsaid))),
            }
        }
        let mut except = Vec::new();
        for dates in event.all("EXDATE") {
            except.extend(Moment::each(dates, zones));
        }
        let lasting = EventLength::read(event, zones);
        let sequence = event.text("SEQUENCE").and_then(|number| number.parse().ok()).unwrap_or(0);
        let version = (sequence, event.text("DTSTAMP").unwrap_or_default());
        Some(Self { details: details.into(), start, lasting, rules, also, except, replaces, version })
    }
}

/// How long an event lasts, as it was written.
#[derive(Clone, Debug)]
pub(crate) enum EventLength {
    /// `DTEND`.
    Until(Moment),
    /// `DURATION`.
    For(Length),
    /// Neither: a day where it begins with one, else no time at all.
    Unsaid,
}

impl EventLength {
    fn read(event: &Component, zones: &mut Zones<'_>) -> Self {
        if let Some(end) = event.property("DTEND").and_then(|end| Moment::of(end, zones)) {
            return Self::Until(end);
        }
        event.text("DURATION").and_then(|text| Length::read(&text)).map_or(Self::Unsaid, Self::For)
    }

    /// How long something lasts that begins so. An end gives every time of a series the same exact length, a duration
    /// the same days (RFC 5545, section 3.8.5.3); days last at least one.
    pub fn length(&self, start: &Moment, reader: &TimeZone) -> Length {
        let days = |days: i64| Length { days: days.clamp(1, 36_525) as i32, exact: SignedDuration::ZERO };
        match (start, self) {
            (Moment::Day(first), Self::Until(end)) => days(end.civil().date().duration_since(*first).as_hours() / 24),
            (Moment::Day(_), Self::For(length)) => days(
                i64::from(length.days)
                    + length.exact.as_secs().div_euclid(86_400)
                    + i64::from(length.exact.as_secs() % 86_400 > 0),
            ),
            (Moment::Day(_), Self::Unsaid) => days(1),
            (Moment::At(..), Self::Until(end)) => {
                let zone = start.zone(reader);
                Length {
                    days: 0,
                    exact: end.instant(zone).duration_since(start.instant(reader)).max(SignedDuration::ZERO),
                }
            }
            (Moment::At(..), Self::For(length)) => *length,
            (Moment::At(..), Self::Unsaid) => Length::default(),
        }
    }
}

fn details(event: &Component) -> Details {
    let word = |name| event.text(name).unwrap_or_default().to_ascii_uppercase();
    let status = match word("STATUS").as_str() {
        "TENTATIVE" => Status::Tentative,
        "CANCELLED" | "CANCELED" => Status::Cancelled,
        _ => Status::Confirmed,
    };
    Details {
        id: event.text("UID").unwrap_or_default(),
        title: event.text("SUMMARY").unwrap_or_default(),
        status,
        is_transparent: word("TRANSP") == "TRANSPARENT",
        location: event.text("LOCATION"),
        description: event.text("DESCRIPTION").filter(|text| !text.trim().is_empty()),
        attendees: event
            .all("ATTENDEE")
            .chain(event.all(super::proposal::ATTENDEE))
            .filter_map(Attendee::read)
            .collect(),
    }
}

/// Further times that say themselves how long they last: `start/end` or `start/duration`.
fn periods(dates: &Property, zones: &mut Zones<'_>) -> Vec<(Moment, EventLength)> {
    let zone = dates.parameter("TZID").and_then(|name| zones.named(name));
    let period = |text: &str| {
        let (start, end) = text.split_once('/')?;
        let lasting = match Length::read(end) {
            Some(length) => EventLength::For(length),
            None => EventLength::Until(Moment::read(end, zone.as_ref())?),
        };
        Some((Moment::read(start, zone.as_ref())?, lasting))
    };
    dates.value.split(',').filter_map(period).collect()
}

fn clipped(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(60).collect()
}
