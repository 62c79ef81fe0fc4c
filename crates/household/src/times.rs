//! Times in arguments and results of tools: RFC 3339, or a day with or without an hour in the owner's time zone.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::error::Error;

/// Which moment is meant where only a day is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// Its first.
    Start,
    /// The first of the day after.
    End,
}

/// The moment that an argument names.
pub(crate) fn moment(text: &str, zone: &TimeZone, edge: Edge) -> Result<Timestamp, Error> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    let is_day = text.len() == "2026-01-15".len();
    let civil = match is_day {
        true => text.parse::<Date>().and_then(|day| match edge {
            Edge::Start => Ok(day.to_datetime(Time::midnight())),
            Edge::End => day.checked_add(1.day()).map(|day| day.to_datetime(Time::midnight())),
        }),
        false => text.parse::<DateTime>(),
    };
    civil.and_then(|civil| zone.to_timestamp(civil)).map_err(|_| {
        Error::request(format!("`{text}` cannot be read as a time; write it as 2026-01-15 or 2026-01-15T14:30"))
    })
}

/// A moment as answers show it, with the owner's offset.
pub(crate) fn shown(moment: Timestamp, zone: &TimeZone) -> String {
    moment.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_an_hour_and_a_moment_are_understood_in_the_owners_zone() {
        let zone = TimeZone::get("Europe/Berlin").expect("a zone");
        let read = |text, edge| shown(moment(text, &zone, edge).expect(text), &zone);
        assert_eq!(read("2026-01-15", Edge::Start), "2026-01-15T00:00:00+01:00");
        assert_eq!(read("2026-01-15", Edge::End), "2026-01-16T00:00:00+01:00");
        assert_eq!(read("2026-07-15T14:30", Edge::End), "2026-07-15T14:30:00+02:00");
        assert_eq!(read("2026-01-15T10:00:00Z", Edge::Start), "2026-01-15T11:00:00+01:00");
        let wrong = moment("next week", &zone, Edge::Start).expect_err("no time").to_string();
        assert!(wrong.contains("2026-01-15T14:30"), "{wrong}");
    }
}
