//! An invitation (`text/calendar`) in a mail, as far as it is needed to judge and show the mail. Calendars are read in `calendar`.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::text;

/// An invitation, an answer to one, or the end of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Invite {
    /// `REQUEST`, `REPLY`, `CANCEL`, as the calendar that wrote it says.
    pub method: String,
    /// What it is about.
    pub title: String,
    /// When it begins.
    pub start: Option<Timestamp>,
    /// When it ends.
    pub end: Option<Timestamp>,
    /// Where it is.
    pub location: String,
}

impl Invite {
    /// The first event of a `text/calendar` part. Times without a zone are the owner's.
    pub fn read(part: &str, zone: &TimeZone) -> Option<Self> {
        let mut invite = Self::default();
        let mut is_event = false;
        for line in unfolded(part) {
            let Some((head, value)) = line.split_once(':') else { continue };
            let (name, parameters) = head.split_once(';').unwrap_or((head, ""));
            match &*name.to_ascii_uppercase() {
                "METHOD" => invite.method = text::line(value, 20).to_ascii_uppercase(),
                "BEGIN" if value.eq_ignore_ascii_case("VEVENT") => is_event = true,
                "END" if value.eq_ignore_ascii_case("VEVENT") => break,
                "SUMMARY" if is_event => invite.title = words(value),
                "LOCATION" if is_event => invite.location = words(value),
                "DTSTART" if is_event => invite.start = moment(value, parameters, zone),
                "DTEND" if is_event => invite.end = moment(value, parameters, zone),
                _ => {}
            }
        }
        is_event.then_some(invite)
    }

    /// Whether it asks for an answer.
    pub fn asks(&self) -> bool {
        matches!(&*self.method, "REQUEST" | "COUNTER" | "")
    }
}

/// Lines that were broken because they were long, joined again.
pub(crate) fn unfolded(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().take(20_000) {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(more), Some(last)) => last.push_str(more),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

fn words(value: &str) -> String {
    let plain =
        value.replace("\\n", " ").replace("\\N", " ").replace("\\,", ",").replace("\\;", ";").replace("\\\\", "\\");
    text::line(&text::harmless(&plain), 200)
}

fn moment(value: &str, parameters: &str, zone: &TimeZone) -> Option<Timestamp> {
    let value = value.trim();
    let (civil, is_utc) = match value.strip_suffix(['Z', 'z']) {
        Some(civil) => (civil, true),
        None => (value, false),
    };
    let civil = match civil.contains(['T', 't']) {
        true => DateTime::strptime("%Y%m%dT%H%M%S", civil).ok()?,
        false => Date::strptime("%Y%m%d", civil).ok()?.to_datetime(Time::midnight()),
    };
    let named = || {
        let name = parameters.split(';').find_map(|parameter| parameter.strip_prefix("TZID="))?;
        TimeZone::get(name.trim_matches('"')).ok()
    };
    let zone = if is_utc { TimeZone::UTC } else { named().unwrap_or_else(|| zone.clone()) };
    zone.to_timestamp(civil).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_says_what_when_and_where() {
        let zone = TimeZone::get("Europe/Berlin").expect("a zone");
        let part = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VTIMEZONE\r\nDTSTART:19700101T000000\r\nEND:VTIMEZONE\r\n\
            BEGIN:VEVENT\r\nDTSTART;TZID=America/New_York:20260116T090000\r\nDTEND:20260116T150000Z\r\n\
            SUMMARY:Contract\\, a\r\n nd more\r\nLOCATION:Room 5\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let invite = Invite::read(part, &zone).expect("an event");
        assert!(invite.asks());
        assert_eq!((&*invite.title, &*invite.location), ("Contract, and more", "Room 5"));
        assert_eq!(invite.start.expect("a start").to_string(), "2026-01-16T14:00:00Z");
        assert_eq!(invite.end.expect("an end").to_string(), "2026-01-16T15:00:00Z");
        let floating = Invite::read("BEGIN:VEVENT\nDTSTART:20260116T090000\nDTEND;VALUE=DATE:20260199\n", &zone);
        let floating = floating.expect("an event");
        assert_eq!(floating.start.expect("a start").to_string(), "2026-01-16T08:00:00Z");
        assert_eq!(floating.end, None);
        assert_eq!(Invite::read("BEGIN:VCALENDAR\nEND:VCALENDAR", &zone), None);
    }
}
