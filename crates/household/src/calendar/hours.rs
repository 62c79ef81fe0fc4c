//! Working hours, and the parts of a day.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;

use super::moment::{Window, instant};

/// When a person meets others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hours {
    /// The days of work.
    pub days: Vec<Weekday>,
    /// When work begins.
    pub start: Time,
    /// When it ends.
    pub end: Time,
    /// Lunch, which is kept where it can be.
    pub lunch: (Time, Time),
}

impl Default for Hours {
    /// Monday to Friday from nine to six, with lunch at noon.
    fn default() -> Self {
        use Weekday::{Friday, Monday, Thursday, Tuesday, Wednesday};
        Self {
            days: vec![Monday, Tuesday, Wednesday, Thursday, Friday],
            start: Time::constant(9, 0, 0, 0),
            end: Time::constant(18, 0, 0, 0),
            lunch: (Time::constant(12, 0, 0, 0), Time::constant(13, 0, 0, 0)),
        }
    }
}

/// A part of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartOfDay {
    /// Until noon.
    Morning,
    /// From noon until work ends.
    Afternoon,
    /// From five until nine, after work too.
    Evening,
}

impl PartOfDay {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Morning, Self::Afternoon, Self::Evening];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Morning => "morning",
            Self::Afternoon => "afternoon",
            Self::Evening => "evening",
        }
    }
}

const NOON: Time = Time::constant(12, 0, 0, 0);
const EVENING: (Time, Time) = (Time::constant(17, 0, 0, 0), Time::constant(21, 0, 0, 0));

impl Hours {
    /// The hours of a day in which a person may be met, on the clock of a zone; none on a day without work.
    pub fn on(&self, day: Date, part: Option<PartOfDay>, zone: &TimeZone) -> Option<Window> {
        let (start, end) = match part {
            None => (self.start, self.end),
            Some(PartOfDay::Morning) => (self.start, self.end.min(NOON)),
            Some(PartOfDay::Afternoon) => (self.start.max(NOON), self.end),
            Some(PartOfDay::Evening) => EVENING,
        };
        (self.days.contains(&day.weekday()) && start < end).then(|| between(day, (start, end), zone))
    }

    /// The hours of all days that a window meets, cut to it.
    pub fn within(&self, window: Window, part: Option<PartOfDay>, zone: &TimeZone) -> Vec<Window> {
        let mut day = zone.to_datetime(window.start).date();
        let last = zone.to_datetime(window.end).date();
        let mut found = Vec::new();
        while day <= last {
            if let Some(hours) = self.on(day, part, zone).filter(|hours| hours.meets(&window)) {
                let cut = Window { start: hours.start.max(window.start), end: hours.end.min(window.end) };
                found.extend((cut.start < cut.end).then_some(cut));
            }
            let Ok(next) = day.tomorrow() else { break };
            day = next;
        }
        found
    }

    /// Lunch on a day.
    pub fn lunch_on(&self, day: Date, zone: &TimeZone) -> Window {
        between(day, self.lunch, zone)
    }
}

fn between(day: Date, (start, end): (Time, Time), zone: &TimeZone) -> Window {
    let at = |time| instant(DateTime::from_parts(day, time), zone);
    Window { start: at(start), end: at(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_follow_the_clock_through_the_change_to_summer_time() {
        let zone = TimeZone::get("Europe/Berlin").expect("a zone");
        let window =
            Window { start: "2026-03-27T12:00:00Z".parse().unwrap(), end: "2026-03-30T12:00:00Z".parse().unwrap() };
        let hours = Hours::default().within(window, None, &zone);
        let shown: Vec<String> = hours.iter().map(|hours| format!("{} {}", hours.start, hours.end)).collect();
        // Friday until six in winter time, then Monday from nine in summer time: the weekend is left out.
        assert_eq!(shown, ["2026-03-27T12:00:00Z 2026-03-27T17:00:00Z", "2026-03-30T07:00:00Z 2026-03-30T12:00:00Z"]);
    }

    #[test]
    fn an_evening_is_longer_than_the_day_of_work() {
        let day = jiff::civil::date(2026, 1, 15);
        let evening = Hours::default().on(day, Some(PartOfDay::Evening), &TimeZone::UTC).expect("an evening");
        assert_eq!((evening.start.to_string(), evening.length().as_hours()), ("2026-01-15T17:00:00Z".to_owned(), 4));
        assert_eq!(Hours::default().on(jiff::civil::date(2026, 1, 17), None, &TimeZone::UTC), None);
    }
}
