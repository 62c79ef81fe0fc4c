//! Points and lengths of time as calendars write them: days, floating times, times of a zone, durations (RFC 5545,
//! section 3.3).

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use super::ics::Property;
use super::zone::Zones;

/// A stretch of time: from its start until just before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// When it begins.
    pub start: Timestamp,
    /// When it is over.
    pub end: Timestamp,
}

impl Window {
    /// Whether two stretches share any time. A moment without length lies in the stretch that it is in or begins.
    pub fn meets(&self, other: &Window) -> bool {
        let over = |stretch: &Window| match stretch.start < stretch.end {
            true => stretch.end,
            false => stretch.start.saturating_add(SignedDuration::from_nanos(1)).unwrap_or(Timestamp::MAX),
        };
        self.start < over(other) && other.start < over(self)
    }

    /// Whether all of another stretch lies in this one.
    pub fn holds(&self, other: &Window) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// How long it is; nothing where it ends before it begins.
    pub fn length(&self) -> SignedDuration {
        self.end.duration_since(self.start).max(SignedDuration::ZERO)
    }
}

/// When something begins, ends, or does not take place.
#[derive(Clone, Debug)]
pub(crate) enum Moment {
    /// A whole day, wherever its reader is.
    Day(Date),
    /// A time on the clock of a zone; without one, on the reader's clock.
    At(DateTime, Option<TimeZone>),
}

impl Moment {
    /// The first value of a property.
    pub fn of(property: &Property, zones: &mut Zones<'_>) -> Option<Self> {
        Self::each(property, zones).next()
    }

    /// All values of a property; those that cannot be read are passed over.
    pub fn each<'a>(property: &'a Property, zones: &mut Zones<'_>) -> impl Iterator<Item = Self> + use<'a> {
        let zone = property.parameter("TZID").and_then(|name| zones.named(name));
        property.value.split(',').filter_map(move |value| Self::read(value, zone.as_ref()))
    }

    /// A value in the basic format of ISO 8601: `20260115`, `20260115T100000`, `20260115T100000Z`.
    pub fn read(value: &str, zone: Option<&TimeZone>) -> Option<Self> {
        let digits: String = value.trim().chars().filter(|character| !matches!(character, '-' | ':')).collect();
        let (day, time) = match digits.split_once(['T', 't']) {
            Some((day, time)) => (day, Some(time)),
            None => (digits.as_str(), None),
        };
        let number = |text: &str, at: std::ops::Range<usize>| text.get(at)?.parse::<i16>().ok();
        let small = |text: &str, at| i8::try_from(number(text, at)?).ok();
        if day.len() != 8 {
            return None;
        }
        let date = Date::new(number(day, 0..4)?, small(day, 4..6)?, small(day, 6..8)?).ok()?;
        let Some(time) = time else { return Some(Self::Day(date)) };
        let clock = time.trim_end_matches(['Z', 'z']);
        let zone = if clock.len() < time.len() { Some(TimeZone::UTC) } else { zone.cloned() };
        // A leap second is the last second of its minute, as it is for everybody's clock. Seconds may be missing.
        let second = if clock.len() > 4 { small(clock, 4..6)?.min(59) } else { 0 };
        let time = Time::new(small(clock, 0..2)?, small(clock, 2..4)?, second, 0).ok()?;
        Some(Self::At(DateTime::from_parts(date, time), zone))
    }

    /// What a clock and a calendar on the wall show.
    pub fn civil(&self) -> DateTime {
        match self {
            Self::Day(date) => date.to_datetime(Time::midnight()),
            Self::At(civil, _) => *civil,
        }
    }

    /// The zone whose clock is meant: its own, else its reader's.
    pub fn zone<'a>(&'a self, reader: &'a TimeZone) -> &'a TimeZone {
        match self {
            Self::At(_, Some(zone)) => zone,
            Self::Day(_) | Self::At(_, None) => reader,
        }
    }

    /// When that is for its reader.
    pub fn instant(&self, reader: &TimeZone) -> Timestamp {
        instant(self.civil(), self.zone(reader))
    }
}

/// When a clock in a zone shows a time. Where it never does, the offset from before the gap counts; where it does
/// twice, the first time is meant (RFC 5545, section 3.3.5).
pub(crate) fn instant(civil: DateTime, zone: &TimeZone) -> Timestamp {
    let past = || if civil.year() < 2000 { Timestamp::MIN } else { Timestamp::MAX };
    zone.to_ambiguous_timestamp(civil).compatible().unwrap_or_else(|_| past())
}

/// How long something lasts: whole days as the calendar counts them, then time as a stopwatch does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Length {
    pub days: i32,
    pub exact: SignedDuration,
}

impl Length {
    /// A duration such as `P1DT2H30M`, `P2W` or `-PT15M`.
    pub fn read(value: &str) -> Option<Self> {
        let text = value.trim().to_ascii_uppercase();
        let (sign, text) = match text.strip_prefix('-') {
            Some(text) => (-1, text),
            None => (1, text.strip_prefix('+').unwrap_or(&text)),
        };
        let (mut days, mut seconds) = (0_i64, 0_i64);
        let mut amount: Option<i64> = None;
        for character in text.strip_prefix('P')?.chars() {
            let mut take = |unit: i64| amount.take().and_then(|amount| amount.checked_mul(unit));
            match character {
                '0'..='9' => {
                    let digit = i64::from(character as u8 - b'0');
                    amount = Some(amount.unwrap_or(0).checked_mul(10)?.checked_add(digit)?);
                }
                'T' => {}
                'W' => days = days.checked_add(take(7)?)?,
                'D' => days = days.checked_add(take(1)?)?,
                'H' => seconds = seconds.checked_add(take(3600)?)?,
                'M' => seconds = seconds.checked_add(take(60)?)?,
                'S' => seconds = seconds.checked_add(take(1)?)?,
                _ => return None,
            }
        }
        // No event is longer than a century; what says so was not meant.
        let is_sane = amount.is_none() && days <= 36_525 && seconds <= 36_525 * 86_400;
        is_sane.then(|| Self { days: sign * days as i32, exact: SignedDuration::from_secs(i64::from(sign) * seconds) })
    }

    /// When what begins at a time of a zone is over; never before it began.
    pub fn end(&self, start: DateTime, zone: &TimeZone) -> Timestamp {
        let day = start.saturating_add(Span::new().days(self.days));
        instant(day, zone).saturating_add(self.exact).unwrap_or(Timestamp::MAX).max(instant(start, zone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_forms_that_programs_write() {
        let read = |value| Moment::read(value, None).map(|moment| moment.civil().to_string());
        assert_eq!(read("20260115T103000Z").as_deref(), Some("2026-01-15T10:30:00"));
        assert_eq!(read("20260115T1030").as_deref(), Some("2026-01-15T10:30:00"));
        assert_eq!(read("2026-01-15T10:30:00").as_deref(), Some("2026-01-15T10:30:00"));
        assert_eq!(read("20161231T235960Z").as_deref(), Some("2016-12-31T23:59:59"));
        assert_eq!(read("20260115").as_deref(), Some("2026-01-15T00:00:00"));
        for nonsense in ["", "2026", "20261315", "20260115T2500", "20260115T", "soon", "2026011ü", "20260115Tü0"] {
            assert_eq!(read(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_time_that_no_clock_shows_is_an_hour_later_and_one_shown_twice_is_the_first() {
        let zone = TimeZone::get("America/New_York").expect("a zone");
        let utc = |value| Moment::read(value, Some(&zone)).expect("a time").instant(&zone).to_string();
        // The two examples of RFC 5545, section 3.3.5.
        assert_eq!(utc("20070311T023000"), "2007-03-11T07:30:00Z");
        assert_eq!(utc("20071104T013000"), "2007-11-04T05:30:00Z");
    }

    #[test]
    fn durations_are_read_and_nonsense_is_not() {
        let read = |value| Length::read(value).map(|length| (length.days, length.exact.as_secs()));
        assert_eq!(read("P15DT5H0M20S"), Some((15, 5 * 3600 + 20)));
        assert_eq!(read("P7W"), Some((49, 0)));
        assert_eq!(read("-PT15M"), Some((0, -900)));
        for nonsense in ["", "P", "1H", "PT5", "P99999999999999999999D", "P999999999D", "PTxH"] {
            assert!(read(nonsense).is_none_or(|length| length == (0, 0)), "{nonsense}");
        }
    }

    #[test]
    fn a_day_is_as_long_as_the_clocks_make_it_and_24_hours_are_24_hours() {
        let zone = TimeZone::get("Europe/Berlin").expect("a zone");
        let start: DateTime = "2026-03-28T12:00".parse().expect("a time");
        let end = |value| Length::read(value).expect("a length").end(start, &zone).to_zoned(zone.clone()).datetime();
        assert_eq!(end("P1D").to_string(), "2026-03-29T12:00:00");
        assert_eq!(end("PT24H").to_string(), "2026-03-29T13:00:00");
        assert_eq!(end("-P1D"), start);
    }

    #[test]
    fn stretches_that_only_touch_do_not_meet() {
        let at = |hour: i64| Timestamp::from_second(hour * 3600).expect("a time");
        let stretch = |start, end| Window { start: at(start), end: at(end) };
        assert!(stretch(1, 3).meets(&stretch(2, 4)) && stretch(2, 4).meets(&stretch(1, 3)));
        assert!(!stretch(1, 2).meets(&stretch(2, 3)) && !stretch(2, 3).meets(&stretch(1, 2)));
        // A moment belongs to what it begins or lies in, not to what it ends.
        assert!(stretch(2, 2).meets(&stretch(1, 3)) && stretch(2, 2).meets(&stretch(2, 3)));
        assert!(!stretch(2, 2).meets(&stretch(1, 2)) && stretch(2, 2).meets(&stretch(2, 2)));
    }
}
