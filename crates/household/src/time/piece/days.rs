//! Days: dates in figures, days and months by name, and times counted from now ("three days ago", "next week", "until the end
//! of the month").

use jiff::civil::Date;
use jiff::{Span, ToSpan};

use super::{DAY_ENDS, Found, Grammar, Part, Piece};
use crate::time::word::{Sense, Unit};

impl Grammar<'_> {
    /// Whole days, and lengths of time that reach from here to somewhere.
    pub(super) fn days(&self, at: usize) -> Found<Piece> {
        self.date(at)
            .map(|(date, end)| (whole(date), end))
            .or_else(|| self.ago(at))
            .or_else(|| self.ahead(at))
            .or_else(|| self.beside(at))
            .or_else(|| self.ending(at))
    }

    /// A date by its figures.
    fn date(&self, at: usize) -> Found<Date> {
        match self.figures(at)? {
            Sense::Date(date) => Some((date, at + 1)),
            Sense::DayMonth(day, month) if self.unit(at + 1).is_none() => {
                Some((self.in_year(day, month, self.year(at + 1))?, at + 1 + usize::from(self.year(at + 1).is_some())))
            }
            Sense::Number(_) | Sense::Ordinal(_) | Sense::Spelled(_)
                if self.month(self.past_skips(at + 1)).is_some() =>
            {
                let month_at = self.past_skips(at + 1);
                let (day, month) = (self.day_number(at)?, self.month(month_at)?);
                let year = self.year(month_at + 1);
                Some((self.in_year(day, month, year)?, month_at + 1 + usize::from(year.is_some())))
            }
            Sense::Month(month) if self.day_number(self.past_skips(at + 1)).is_some() => {
                let day_at = self.past_skips(at + 1);
                let is_spelled = self.any(day_at, |sense| matches!(sense, Sense::Spelled(_))).is_some();
                if is_spelled && day_at == at + 1 {
                    return None;
                }
                let year = self.year(day_at + 1);
                Some((self.in_year(self.day_number(day_at)?, month, year)?, day_at + 1 + usize::from(year.is_some())))
            }
            Sense::Ordinal(day) if at > 0 && self.is(at - 1, Sense::Skip) => Some((self.next_numbered(day)?, at + 1)),
            _ => None,
        }
    }

    /// "three days ago", "vor drei Tagen", "il y a trois jours".
    pub(super) fn ago(&self, at: usize) -> Found<Piece> {
        let is_before = self.is(at, Sense::AgoBefore) || self.is(at, Sense::Vor);
        let (number, unit_at) = self.number(if is_before { at + 1 } else { at })?;
        let unit = self.unit(unit_at)?;
        let end = if is_before { unit_at + 1 } else { unit_at + 2 };
        (is_before || self.is(unit_at + 1, Sense::Ago)).then_some(())?;
        let then = self.now.checked_sub(span(number, unit)?).ok()?;
        match unit {
            Unit::Minute | Unit::Hour => Some((Piece::Moments(then.clone(), then), end)),
            Unit::Day | Unit::Week | Unit::Month | Unit::Year => Some((whole(then.date()), end)),
        }
    }

    /// "in two weeks", "within three days", "in March".
    fn ahead(&self, at: usize) -> Found<Piece> {
        let start = self.past_skips(at + 1);
        let counted = || {
            let (number, unit_at) = self.number(start)?;
            Some((number, self.unit(unit_at)?, unit_at + 1))
        };
        // "within 48h" has both in one word.
        let joined = |is_first: bool| match self.length(start)? {
            (Piece::Length(minutes), end) if is_first => Some((minutes as f64, Unit::Minute, end)),
            _ => None,
        };
        let counted = counted().or_else(|| joined(self.is(at, Sense::Within)));
        if self.is(at, Sense::Within) {
            let (number, unit, end) = counted?;
            let then = self.now.checked_add(span(number, unit)?).ok()?;
            return Some((Piece::Moments(self.now.clone(), then), end));
        }
        if !self.is(at, Sense::In) {
            return None;
        }
        if let Some((number, unit, end)) = counted {
            let then = self.now.checked_add(span(number, unit)?).ok()?;
            return match unit {
                Unit::Minute | Unit::Hour => Some((Piece::Moments(then.clone(), then), end)),
                Unit::Day | Unit::Week | Unit::Month | Unit::Year => Some((whole(then.date()), end)),
            };
        }
        let month = self.month(at + 1)?;
        let first = self.in_year(1, month, self.year(at + 2))?;
        Some((months(first)?, at + 2 + usize::from(self.year(at + 2).is_some())))
    }

    /// Days that are told by where they lie from here: today, Tuesday, next week, the last 24 hours.
    fn beside(&self, at: usize) -> Found<Piece> {
        let today = self.now.date();
        if let Some(Sense::Day(days)) = self.any(at, |sense| matches!(sense, Sense::Day(_))) {
            let is_part = self.is(at, Sense::Part(Part::Morning)) && days == 1 && self.prior_names_a_day(at);
            return (!is_part).then_some((whole(later(today, days)?), at + 1));
        }
        if self.is(at, Sense::Morgen) && !self.prior_names_a_day(at) {
            return Some((whole(later(today, 1)?), at + 1));
        }
        if self.is(at, Sense::Tonight) {
            return Some((Piece::DayPart(today, Part::Evening), at + 1));
        }
        if self.is(at, Sense::Now) {
            return Some((Piece::Moments(self.now.clone(), self.now.clone()), at + 1));
        }
        let before = self.side(at);
        let start = if before.is_some() { self.past_skips(at + 1) } else { at };
        // "the last 24 hours", "ces 24 dernières heures", "les deux prochains jours".
        if let Some((number, mut unit_at)) = self.number(start) {
            let inner = self.side(unit_at).filter(|side| *side != Side::This);
            unit_at += usize::from(inner.is_some());
            let side = inner.or(before)?;
            let unit = self.unit(unit_at)?;
            return Some((self.reaching(side, number, unit)?, unit_at + 1));
        }
        if let Some(part) = self.part_of(start)
            && let Some(side) = before
        {
            let day = match side {
                Side::This => today,
                Side::Last | Side::Past => later(today, -1)?,
                Side::Next | Side::Coming => return None,
            };
            return Some((Piece::DayPart(day, part), start + 1));
        }
        let thing = self.thing(start)?;
        if let Some(found) = self
            .of_month(thing, before, start)
            .or_else(|| self.in_week(thing, before, start))
            .or_else(|| self.weekend_of(thing, start))
        {
            return Some(found);
        }
        let behind = self.side(start + 1).filter(|side| *side != Side::This && before.is_none());
        let end = start + 1 + usize::from(behind.is_some());
        Some((self.placed(thing, before.or(behind))?, end))
    }

    /// "last Friday of January".
    fn of_month(&self, thing: Thing, before: Option<Side>, at: usize) -> Found<Piece> {
        let (Thing::Weekday(weekday), Some(Side::Last)) = (thing, before) else { return None };
        let month_at = self.past_skips(if self.is(at + 1, Sense::In) { at + 2 } else { at + 1 });
        let last = self.in_year(1, self.month(month_at)?, self.year(month_at + 1))?.last_of_month();
        let back = (i64::from(last.weekday().to_monday_one_offset()) - i64::from(weekday)).rem_euclid(7);
        Some((whole(later(last, -back)?), month_at + 1 + usize::from(self.year(month_at + 1).is_some())))
    }

    /// "The weekend of the 24th", "the weekend of 6 March".
    fn weekend_of(&self, thing: Thing, at: usize) -> Found<Piece> {
        let Thing::Weekend = thing else { return None };
        let (date, end) = self.date(self.past_skips(at + 1))?;
        let monday = later(date, 1 - i64::from(date.weekday().to_monday_one_offset()))?;
        let saturday = later(monday, 5)?;
        // "… of the 24th and 25th" names both of its days.
        let behind = self.is(end, Sense::And).then(|| self.past_skips(end + 1));
        let second = behind.and_then(|at| Some((self.day_number(at)?, at + 1)));
        let end = second.filter(|(day, _)| i64::from(*day) == i64::from(date.day()) + 1).map_or(end, |(_, end)| end);
        Some((Piece::Days(saturday, later(saturday, 2)?), end))
    }

    /// "Tuesday next week", "Tuesday of this week".
    fn in_week(&self, thing: Thing, before: Option<Side>, at: usize) -> Found<Piece> {
        let (Thing::Weekday(weekday), None) = (thing, before) else { return None };
        let side_at = self.past_skips(at + 1);
        let is_week = |at: usize| matches!(self.thing(at), Some(Thing::Unit(Unit::Week)));
        let (side, end) = match (self.side(side_at), self.side(side_at + 1)) {
            (Some(side), _) if is_week(side_at + 1) => (side, side_at + 2),
            (_, Some(side)) if is_week(side_at) => (side, side_at + 2),
            _ => return None,
        };
        let today = self.now.date();
        let monday = later(today, 1 - i64::from(today.weekday().to_monday_one_offset()))?;
        Some((whole(later(monday, 7 * side.steps() + i64::from(weekday) - 1)?), end))
    }

    /// A named thing of time, on the side of now that is said.
    fn placed(&self, thing: Thing, side: Option<Side>) -> Option<Piece> {
        let today = self.now.date();
        let monday = later(today, 1 - i64::from(today.weekday().to_monday_one_offset()))?;
        match (thing, side) {
            (Thing::Weekday(weekday), side) => {
                let ahead = (i64::from(weekday) - i64::from(today.weekday().to_monday_one_offset())).rem_euclid(7);
                let days = match side {
                    None | Some(Side::Coming) => {
                        if ahead == 0 {
                            7
                        } else {
                            ahead
                        }
                    }
                    Some(Side::This) => return Some(whole(later(monday, i64::from(weekday) - 1)?)),
                    Some(Side::Next) => return Some(whole(later(monday, i64::from(weekday) + 6)?)),
                    Some(Side::Last | Side::Past) => {
                        if ahead == 0 {
                            -7
                        } else {
                            ahead - 7
                        }
                    }
                };
                Some(whole(later(today, days)?))
            }
            (Thing::Weekend, side) => {
                let weeks = match side {
                    None | Some(Side::This | Side::Coming) => 0,
                    Some(Side::Next) => 1,
                    Some(Side::Last | Side::Past) => -1,
                };
                let saturday = later(monday, 5 + 7 * weeks)?;
                Some(Piece::Days(saturday, later(saturday, 2)?))
            }
            (Thing::Month(month), Some(side)) => {
                let first = self.in_year(1, month, None)?;
                let is_over = first < today.first_of_month();
                let years = match side {
                    Side::Last | Side::Past => {
                        if first >= today.first_of_month() {
                            -1
                        } else {
                            0
                        }
                    }
                    Side::This | Side::Next | Side::Coming => i16::from(is_over),
                };
                months(first.checked_add(i64::from(years).years()).ok()?)
            }
            (Thing::Unit(unit), Some(side)) => match unit {
                Unit::Minute | Unit::Hour => match side {
                    Side::This => None,
                    side => self.reaching(side, 1.0, unit),
                },
                Unit::Day => match side {
                    Side::This => Some(whole(today)),
                    Side::Next | Side::Coming => Some(whole(later(today, 1)?)),
                    Side::Last | Side::Past => self.reaching(Side::Past, 1.0, unit),
                },
                Unit::Week if side == Side::Past => self.reaching(side, 1.0, unit),
                Unit::Week => {
                    let from = later(monday, 7 * side.steps())?;
                    Some(Piece::Days(from, later(from, 7)?))
                }
                Unit::Month if side == Side::Past => self.reaching(side, 1.0, unit),
                Unit::Month => months(today.first_of_month().checked_add(side.steps().months()).ok()?),
                Unit::Year => {
                    let from = today.first_of_year().checked_add(side.steps().years()).ok()?;
                    Some(Piece::Days(from, from.checked_add(1.year()).ok()?))
                }
            },
            (Thing::Month(_) | Thing::Unit(_), None) => None,
        }
    }

    fn reaching(&self, side: Side, number: f64, unit: Unit) -> Option<Piece> {
        let span = span(number, unit)?;
        match side {
            Side::Last | Side::Past => Some(Piece::Moments(self.now.checked_sub(span).ok()?, self.now.clone())),
            Side::Next | Side::Coming => Some(Piece::Moments(self.now.clone(), self.now.checked_add(span).ok()?)),
            Side::This => None,
        }
    }

    /// The ends of things.
    fn ending(&self, at: usize) -> Found<Piece> {
        if self.is(at, Sense::EndOfDay) {
            return Some((Piece::EndOfDay, at + 1));
        }
        let today = self.now.date();
        let last = if self.is(at, Sense::EndOfWeek) {
            later(today, (5 - i64::from(today.weekday().to_monday_one_offset())).rem_euclid(7))?
        } else if self.is(at, Sense::EndOfNextWeek) {
            later(today, 12 - i64::from(today.weekday().to_monday_one_offset()))?
        } else if self.is(at, Sense::EndOfMonth) {
            today.last_of_month()
        } else {
            return None;
        };
        let end = last.to_datetime(DAY_ENDS).to_zoned(self.now.time_zone().clone()).ok()?;
        Some((Piece::Moments(self.now.clone(), end), at + 1))
    }

    /// A day of a month; without a year the next one, or one that is not long past.
    fn in_year(&self, day: i8, month: i8, year: Option<i16>) -> Option<Date> {
        let today = self.now.date();
        let date = Date::new(year.unwrap_or(today.year()), month, day).ok()?;
        let is_long_past = year.is_none() && later(date, LONG_PAST_DAYS)? < today;
        if is_long_past { date.checked_add(1.year()).ok() } else { Some(date) }
    }

    /// The next day that has this number.
    fn next_numbered(&self, day: i8) -> Option<Date> {
        let first = self.now.date().first_of_month();
        let in_month = |months: i64| {
            let first = first.checked_add(months.months()).ok()?;
            Date::new(first.year(), first.month(), day).ok()
        };
        (0..3).filter_map(in_month).find(|date| *date >= self.now.date())
    }

    fn thing(&self, at: usize) -> Option<Thing> {
        let named = |sense: &Sense| match sense {
            Sense::Weekday(weekday) => Some(Thing::Weekday(*weekday)),
            Sense::Weekend => Some(Thing::Weekend),
            Sense::Month(month) => Some(Thing::Month(*month)),
            Sense::Unit(unit) => Some(Thing::Unit(*unit)),
            _ => None,
        };
        self.items.get(at)?.senses.iter().find_map(named)
    }

    fn side(&self, at: usize) -> Option<Side> {
        let sided = |sense: &Sense| match sense {
            Sense::This => Some(Side::This),
            Sense::Next => Some(Side::Next),
            Sense::Coming => Some(Side::Coming),
            Sense::Last => Some(Side::Last),
            Sense::Past => Some(Side::Past),
            _ => None,
        };
        self.items.get(at)?.senses.iter().find_map(sided)
    }
}

/// A date without a year is next year's when it is longer past than this.
const LONG_PAST_DAYS: i64 = 90;

/// What can lie on a side of now.
#[derive(Clone, Copy)]
enum Thing {
    Weekday(i8),
    Weekend,
    Month(i8),
    Unit(Unit),
}

/// On which side of now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    This,
    Next,
    Coming,
    Last,
    Past,
}

impl Side {
    fn steps(self) -> i64 {
        match self {
            Self::This => 0,
            Self::Next | Self::Coming => 1,
            Self::Last | Self::Past => -1,
        }
    }
}

fn whole(date: Date) -> Piece {
    Piece::Days(date, date.tomorrow().unwrap_or(date))
}

fn months(first: Date) -> Option<Piece> {
    Some(Piece::Days(first, first.checked_add(1.month()).ok()?))
}

fn later(date: Date, days: i64) -> Option<Date> {
    date.checked_add(Span::new().try_days(days).ok()?).ok()
}

/// A count of units; half an hour is thirty minutes, half a day twelve hours.
fn span(number: f64, unit: Unit) -> Option<Span> {
    let minutes = |per: f64| Span::new().try_minutes((number * per) as i64).ok();
    let whole = number as i64;
    match unit {
        Unit::Minute => minutes(1.0),
        Unit::Hour if number.fract() == 0.0 => Span::new().try_hours(whole).ok(),
        Unit::Hour => minutes(60.0),
        Unit::Day if number.fract() == 0.0 => Span::new().try_days(whole).ok(),
        Unit::Day => minutes(24.0 * 60.0),
        Unit::Week => Span::new().try_days((number * 7.0) as i64).ok(),
        Unit::Month => Span::new().try_months(whole).ok(),
        Unit::Year => Span::new().try_years(whole).ok(),
    }
}
