//! The local times that a recurrence rule yields, in order, one period after another (RFC 5545, section 3.3.10).
//!
//! A period is what the rule's frequency names: a year, a month, a week, a day, or less. Each period yields the days
//! that fit all parts of the rule, each with the rule's times of day, filtered by `BYSETPOS`. Zones are not applied here: a
//! local time that does not exist is yielded, and read as RFC 5545 demands by [`instant`](super::moment::instant).
//!
//! Work is bounded. A rule without a count is entered shortly before the time that is asked for, however long ago it began; and
//! every rule ends after [`MAX_PERIODS`] periods.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{SignedDuration, Span};

use super::rule::{Frequency, Rule};

/// After so many periods a rule is left: nearly three centuries of days.
const MAX_PERIODS: u32 = 100_000;

/// The times that a rule yields, in order.
pub(crate) struct Instances<'a> {
    rule: &'a Rule,
    start: DateTime,
    /// How many periods lie between the one of the start and the next one.
    period: i64,
    walked: u32,
    /// How many may still follow, where the rule counts.
    left: u32,
    /// What the last period yielded and nobody has seen yet, the last first.
    ready: Vec<DateTime>,
    /// The start itself stands first, whether or not the rule yields it (RFC 5545, section 3.8.5.3).
    owes_start: bool,
    was_cut: bool,
}

impl Rule {
    /// The times that the rule yields for what begins at `start`. Those long before `from` may be left out.
    pub fn instances(&self, start: DateTime, from: DateTime) -> Instances<'_> {
        // What is counted is counted from its start.
        let period = if self.count.is_some() { 0 } else { self.periods_until(start, from) };
        Instances {
            rule: self,
            start,
            period,
            walked: 0,
            left: self.count.unwrap_or(u32::MAX),
            ready: Vec::new(),
            owes_start: period == 0,
            was_cut: false,
        }
    }

    /// The last whole step of periods that surely ends before `from`.
    fn periods_until(&self, start: DateTime, from: DateTime) -> i64 {
        let seconds = from.duration_since(start).as_secs();
        let longest = match self.every {
            Frequency::Yearly => 366 * 86_400,
            Frequency::Monthly => 31 * 86_400,
            Frequency::Weekly => 7 * 86_400,
            Frequency::Daily => 86_400,
            Frequency::Hourly => 3600,
            Frequency::Minutely => 60,
            Frequency::Secondly => 1,
        };
        // One period of caution: the start lies somewhere within its own.
        let steps = (seconds / longest - 1).max(0) / i64::from(self.interval);
        steps * i64::from(self.interval)
    }
}

impl Instances<'_> {
    /// Whether the rule was left before its end, because it has too many periods.
    pub fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// What the next period yields, the last first; none after the end of all calendars.
    fn next_period(&mut self) -> Option<Vec<DateTime>> {
        let (rule, start, ahead) = (self.rule, self.start, self.period);
        self.period = self.period.checked_add(i64::from(rule.interval))?;
        let mut times = match rule.every {
            Frequency::Yearly => {
                let year = i16::try_from(ahead.checked_add(i64::from(start.year()))?).ok()?;
                let months = self.months();
                let first = |month: i16| Date::new(year, month as i8, 1).ok();
                months.filter_map(first).flat_map(|first| self.on_days(first, first.days_in_month())).collect()
            }
            Frequency::Monthly => {
                let months = ahead.checked_add(i64::from(start.month()) - 1)?;
                let year = i16::try_from(months.div_euclid(12).checked_add(i64::from(start.year()))?).ok()?;
                let first = Date::new(year, months.rem_euclid(12) as i8 + 1, 1).ok()?;
                self.on_days(first, first.days_in_month())
            }
            Frequency::Weekly => {
                let into_week = start.weekday().since(rule.week_start);
                let first = start.date().checked_sub(Span::new().days(into_week)).ok()?;
                self.on_days(later(first, ahead.checked_mul(7)?)?, 7)
            }
            Frequency::Daily => self.on_days(later(start.date(), ahead)?, 1),
            Frequency::Hourly => self.within_day(ahead.checked_mul(3600)?)?,
            Frequency::Minutely => self.within_day(ahead.checked_mul(60)?)?,
            Frequency::Secondly => self.within_day(ahead)?,
        };
        if !rule.positions.is_empty() {
            let last = times.len() as i64;
            let at = |nth: &i16| if *nth > 0 { i64::from(*nth) - 1 } else { last + i64::from(*nth) };
            let chosen = rule.positions.iter().map(at).filter(|at| (0..last).contains(at)).map(|at| times[at as usize]);
            let mut chosen: Vec<DateTime> = chosen.collect();
            chosen.sort_unstable();
            chosen.dedup();
            times = chosen;
        }
        times.reverse();
        Some(times)
    }

    /// The months of a year in which days may fit.
    fn months(&self) -> impl Iterator<Item = i16> + use<'_> {
        let is_open = self.says_day() || !self.rule.weeks.is_empty();
        let is_asked = move |month: &i16| match &self.rule.months[..] {
            [] => is_open || *month == i16::from(self.start.month()),
            named => named.contains(month),
        };
        (1..=12).filter(is_asked)
    }

    /// The times of all days that fit, among so many from the first.
    fn on_days(&self, first: Date, days: i8) -> Vec<DateTime> {
        let times = self.times(self.start.hour(), self.start.minute());
        let days = std::iter::successors(Some(first), |day| day.tomorrow().ok()).take(days as usize);
        let days = days.filter(|day| self.fits(*day));
        days.flat_map(|day| times.iter().map(move |time| day.to_datetime(*time))).collect()
    }

    /// The times of one period that is shorter than a day.
    fn within_day(&self, seconds: i64) -> Option<Vec<DateTime>> {
        let at = self.start.checked_add(SignedDuration::from_secs(seconds)).ok()?;
        let rule = self.rule;
        let allows = |list: &[i16], value: i8| list.is_empty() || list.contains(&i16::from(value));
        let is_in = self.fits(at.date())
            && allows(&rule.hours, at.hour())
            && (rule.every < Frequency::Minutely || allows(&rule.minutes, at.minute()))
            && (rule.every < Frequency::Secondly || allows(&rule.seconds, at.second()));
        if !is_in {
            return Some(Vec::new());
        }
        if rule.every == Frequency::Secondly {
            return Some(vec![at]);
        }
        let is_mine = |time: &Time| {
            time.hour() == at.hour() && (rule.every < Frequency::Minutely || time.minute() == at.minute())
        };
        Some(
            self.times(at.hour(), at.minute())
                .into_iter()
                .filter(is_mine)
                .map(|time| at.date().to_datetime(time))
                .collect(),
        )
    }

    /// The rule's times of day, in order; what it leaves open is given.
    fn times(&self, hour: i8, minute: i8) -> Vec<Time> {
        let rule = self.rule;
        let or = |list: &[i16], open: i8| if list.is_empty() { vec![i16::from(open)] } else { list.to_vec() };
        let (minutes, seconds) = (or(&rule.minutes, minute), or(&rule.seconds, self.start.second()));
        let mut times = Vec::new();
        for hour in or(&rule.hours, hour) {
            for minute in &minutes {
                times.extend(
                    seconds.iter().filter_map(|second| Time::new(hour as i8, *minute as i8, *second as i8, 0).ok()),
                );
            }
        }
        times
    }

    /// Whether the rule itself names days.
    fn says_day(&self) -> bool {
        let Rule { days_of_year, days_of_month, weekdays, .. } = self.rule;
        !days_of_year.is_empty() || !days_of_month.is_empty() || !weekdays.is_empty()
    }

    /// Whether a day is one of the rule's: all parts of it agree, and what they leave open is as it was at the start.
    fn fits(&self, day: Date) -> bool {
        let rule = self.rule;
        let is_open = match rule.every {
            Frequency::Yearly if self.says_day() => true,
            Frequency::Yearly if !rule.weeks.is_empty() => day.weekday() == self.start.weekday(),
            Frequency::Yearly => {
                day.day() == self.start.day() && (!rule.months.is_empty() || day.month() == self.start.month())
            }
            Frequency::Monthly => self.says_day() || day.day() == self.start.day(),
            Frequency::Weekly => self.says_day() || day.weekday() == self.start.weekday(),
            _ => true,
        };
        is_open
            && (rule.months.is_empty() || rule.months.contains(&i16::from(day.month())))
            && (rule.weeks.is_empty() || self.fits_week(day))
            && counts(&rule.days_of_year, day.day_of_year(), day.days_in_year())
            && counts(&rule.days_of_month, i16::from(day.day()), i16::from(day.days_in_month()))
            && (rule.weekdays.is_empty() || rule.weekdays.iter().any(|named| self.fits_weekday(day, *named)))
    }

    /// Whether a day lies in one of the rule's weeks. Week 1 is the first with at least four days in its year.
    fn fits_week(&self, day: Date) -> bool {
        let first_week = |year: i16| {
            let first = Date::new(year, 1, 1).ok()?;
            let into_week = i64::from(first.weekday().since(self.rule.week_start));
            later(first, if into_week <= 3 { -into_week } else { 7 - into_week })
        };
        let number = || {
            let year = day.year();
            // The last days of a year may lie in the next one's first week, and the first ones in the last one's last.
            let belongs = [year + 1, year, year - 1]
                .into_iter()
                .find(|year| first_week(*year).is_some_and(|first| first <= day))?;
            let (first, next) = (first_week(belongs)?, first_week(belongs + 1)?);
            let weeks = |until: Date| (until.duration_since(first).as_hours() / 24 / 7) as i16;
            Some((weeks(day) + 1, weeks(next)))
        };
        number().is_some_and(|(week, weeks)| counts(&self.rule.weeks, week, weeks))
    }

    /// Whether a day is a day of the week, the nth where it is numbered: of its month, or of its year where the rule
    /// names no months. Numbers mean nothing for weeks and shorter periods.
    fn fits_weekday(&self, day: Date, (nth, weekday): (i16, Weekday)) -> bool {
        let rule = self.rule;
        let is_numbered = nth != 0 && rule.weeks.is_empty() && rule.every <= Frequency::Monthly;
        let in_year = rule.every == Frequency::Yearly && rule.months.is_empty();
        let (at, of) = match in_year {
            true => (day.day_of_year(), day.days_in_year()),
            false => (i16::from(day.day()), i16::from(day.days_in_month())),
        };
        let is_nth = if nth > 0 { (at - 1) / 7 + 1 == nth } else { (of - at) / 7 + 1 == -nth };
        day.weekday() == weekday && (!is_numbered || is_nth)
    }
}

impl Iterator for Instances<'_> {
    type Item = DateTime;

    fn next(&mut self) -> Option<DateTime> {
        loop {
            if self.left == 0 {
                return None;
            }
            if std::mem::take(&mut self.owes_start) {
                self.left -= 1;
                return Some(self.start);
            }
            match self.ready.pop() {
                Some(time) if time > self.start => {
                    self.left -= 1;
                    return Some(time);
                }
                Some(_) => {}
                None if self.walked == MAX_PERIODS => {
                    self.was_cut = true;
                    return None;
                }
                None => {
                    self.walked += 1;
                    self.ready = self.next_period()?;
                }
            }
        }
    }
}

/// Whether a number is in a list that counts from the start, or back from the end.
fn counts(list: &[i16], number: i16, last: i16) -> bool {
    list.is_empty() || list.contains(&number) || list.contains(&(number - last - 1))
}

fn later(day: Date, days: i64) -> Option<Date> {
    // Beyond this no calendar reaches, and no span may be made.
    (days.abs() < 7_000_000).then(|| day.checked_add(Span::new().days(days)).ok())?
}

#[cfg(test)]
mod tests;
