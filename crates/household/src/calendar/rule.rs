//! Recurrence rules: parsing of `RRULE` (RFC 5545, section 3.3.10). [`instances`](super::instances) computes their times.
//!
//! Absent: calendars other than the Gregorian (`RSCALE`, RFC 7529).

use jiff::civil::{DateTime, Weekday};
use jiff::tz::TimeZone;

use super::moment::{Moment, instant};

/// More times of day than this in one rule are a rule that nobody meant.
const MAX_TIMES_A_DAY: usize = 1440;

/// A rule by which something repeats.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub every: Frequency,
    /// Of this many periods, one; at least 1.
    pub interval: u32,
    pub count: Option<u32>,
    pub until: Option<Moment>,
    pub months: Vec<i16>,
    pub weeks: Vec<i16>,
    pub days_of_year: Vec<i16>,
    pub days_of_month: Vec<i16>,
    /// Days of the week; with a number other than 0 the nth, from the end where it is negative.
    pub weekdays: Vec<(i16, Weekday)>,
    pub hours: Vec<i16>,
    pub minutes: Vec<i16>,
    pub seconds: Vec<i16>,
    pub positions: Vec<i16>,
    /// The day on which a week begins.
    pub week_start: Weekday,
}

/// How often, from the rarest to the densest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Frequency {
    Yearly,
    Monthly,
    Weekly,
    Daily,
    Hourly,
    Minutely,
    Secondly,
}

impl Rule {
    /// A rule, or what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut rule = Self {
            every: Frequency::Yearly,
            interval: 1,
            count: None,
            until: None,
            months: Vec::new(),
            weeks: Vec::new(),
            days_of_year: Vec::new(),
            days_of_month: Vec::new(),
            weekdays: Vec::new(),
            hours: Vec::new(),
            minutes: Vec::new(),
            seconds: Vec::new(),
            positions: Vec::new(),
            week_start: Weekday::Monday,
        };
        let mut every = None;
        for part in text.split(';').filter(|part| !part.trim().is_empty()) {
            let wrong = || format!("{} makes no sense", clipped(part));
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let (name, value) = (name.trim().to_ascii_uppercase(), value.trim().to_ascii_uppercase());
            let list = |span| numbers(&value, span).ok_or_else(wrong);
            // A number is out of reach long before it is out of this.
            let number = || value.parse::<u32>().ok().filter(|number| (1..=1_000_000_000).contains(number));
            match name.as_str() {
                "FREQ" => every = Some(Frequency::read(&value).ok_or_else(wrong)?),
                "INTERVAL" => rule.interval = number().ok_or_else(wrong)?,
                "COUNT" => rule.count = Some(number().ok_or_else(wrong)?),
                "UNTIL" => rule.until = Some(Moment::read(&value, None).ok_or_else(wrong)?),
                "BYMONTH" => rule.months = list((1, 12))?,
                "BYWEEKNO" => rule.weeks = list((-53, 53))?,
                "BYYEARDAY" => rule.days_of_year = list((-366, 366))?,
                "BYMONTHDAY" => rule.days_of_month = list((-31, 31))?,
                "BYDAY" => rule.weekdays = weekdays(&value).ok_or_else(wrong)?,
                "BYHOUR" => rule.hours = list((0, 23))?,
                "BYMINUTE" => rule.minutes = list((0, 59))?,
                "BYSECOND" => rule.seconds = list((0, 60))?.into_iter().map(|second| second.min(59)).collect(),
                "BYSETPOS" => rule.positions = list((-366, 366))?,
                "WKST" => rule.week_start = weekday(&value).ok_or_else(wrong)?,
                "RSCALE" if value != "GREGORIAN" => return Err("another calendar than the Gregorian".to_owned()),
                _ => {}
            }
        }
        rule.every = every.ok_or("it does not say how often (FREQ)")?;
        for counted in [&mut rule.weeks, &mut rule.days_of_year, &mut rule.days_of_month, &mut rule.positions] {
            if counted.contains(&0) {
                return Err("days, weeks and positions are counted from 1".to_owned());
            }
        }
        let times = [&rule.hours, &rule.minutes, &rule.seconds].map(|list| list.len().max(1));
        match times.iter().product::<usize>() <= MAX_TIMES_A_DAY {
            true => Ok(rule),
            false => Err("it repeats more often than every minute".to_owned()),
        }
    }

    /// The rule for whole days, of which times of day are no part; none where it repeats within a day.
    pub fn of_days(mut self) -> Option<Self> {
        (self.hours, self.minutes, self.seconds) = (Vec::new(), Vec::new(), Vec::new());
        (self.every <= Frequency::Daily).then_some(self)
    }

    /// Whether the rule still holds at a time of a zone.
    pub fn reaches(&self, civil: DateTime, zone: &TimeZone, is_day: bool) -> bool {
        match &self.until {
            None => true,
            // A whole day is the last one, and so is its whole length where times are compared with it.
            Some(Moment::Day(last)) => civil.date() <= *last,
            Some(until) if is_day => civil.date() <= until.civil().date(),
            Some(Moment::At(last, None)) => civil <= *last,
            Some(Moment::At(last, Some(written))) => instant(civil, zone) <= instant(*last, written),
        }
    }
}

impl Frequency {
    fn read(text: &str) -> Option<Self> {
        Some(match text {
            "YEARLY" => Self::Yearly,
            "MONTHLY" => Self::Monthly,
            "WEEKLY" => Self::Weekly,
            "DAILY" => Self::Daily,
            "HOURLY" => Self::Hourly,
            "MINUTELY" => Self::Minutely,
            "SECONDLY" => Self::Secondly,
            _ => return None,
        })
    }
}

/// A list of numbers in a span, sorted and each once.
fn numbers(text: &str, (least, most): (i16, i16)) -> Option<Vec<i16>> {
    let read = text.split(',').map(|number| {
        let number = number.trim().trim_start_matches('+').parse().ok();
        number.filter(|number| (least..=most).contains(number))
    });
    let mut numbers = read.collect::<Option<Vec<i16>>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

fn weekdays(text: &str) -> Option<Vec<(i16, Weekday)>> {
    let read = text.split(',').map(|day| {
        let day = day.trim();
        let (nth, name) = day.split_at_checked(day.len().checked_sub(2)?)?;
        let nth = match nth.trim_start_matches('+') {
            "" => 0,
            nth => nth.parse().ok().filter(|nth| *nth != 0 && (-53..=53).contains(nth))?,
        };
        Some((nth, weekday(name)?))
    });
    read.collect()
}

fn weekday(text: &str) -> Option<Weekday> {
    Some(match text {
        "MO" => Weekday::Monday,
        "TU" => Weekday::Tuesday,
        "WE" => Weekday::Wednesday,
        "TH" => Weekday::Thursday,
        "FR" => Weekday::Friday,
        "SA" => Weekday::Saturday,
        "SU" => Weekday::Sunday,
        _ => return None,
    })
}

fn clipped(part: &str) -> String {
    part.trim().chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_said_and_never_guessed() {
        for (text, why) in [
            ("INTERVAL=2", "how often"),
            ("FREQ=SOMETIMES", "FREQ=SOMETIMES makes no sense"),
            ("FREQ=DAILY;INTERVAL=0", "INTERVAL=0"),
            ("FREQ=DAILY;COUNT=0", "COUNT=0"),
            ("FREQ=DAILY;COUNT=99999999999", "COUNT"),
            ("FREQ=MONTHLY;BYDAY=0MO", "BYDAY"),
            ("FREQ=MONTHLY;BYDAY=ü", "BYDAY"),
            ("FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY"),
            ("FREQ=MONTHLY;BYMONTHDAY=0", "counted from 1"),
            ("FREQ=YEARLY;RSCALE=CHINESE", "Gregorian"),
            ("D1 #10", "D1 #10"),
        ] {
            let said = Rule::read(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
        let every: Vec<String> = (0..60).map(|n| n.to_string()).collect();
        let often = format!("FREQ=DAILY;BYHOUR=1;BYMINUTE={0};BYSECOND={0}", every.join(","));
        assert!(Rule::read(&often).expect_err("too often").contains("more often"));
    }

    #[test]
    fn small_letters_spaces_and_strangers_are_passed_over() {
        let rule = Rule::read("freq=weekly; byday=mo, +2tu ;x-name=1;").expect("a rule");
        assert_eq!(rule.weekdays, [(0, Weekday::Monday), (2, Weekday::Tuesday)]);
    }
}
