//! The grammar of time: pieces such as a day, a range of hours or a length, each found where it stands.
//!
//! Left to the parent: how pieces that stand apart in a sentence ("tomorrow … at 3pm") make one time.

use std::ops::Range;

use jiff::civil::{Date, Time};
use jiff::{Span, ToSpan, Zoned};

use super::Part;
use super::word::{Item, Sense, Unit};

/// A piece of time.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// Whole days, the last one excluded.
    Days(Date, Date),
    /// A part of one day.
    DayPart(Date, Part),
    /// From one moment to another; to itself where only one is meant.
    Moments(Zoned, Zoned),
    /// An hour of a day that is not said here.
    Clock(Time),
    /// From one hour to another.
    Clocks(Time, Time),
    /// A part of a day that is not said here.
    Part(Part),
    /// By the end of a working day.
    EndOfDay,
    /// So many minutes.
    Length(i64),
    /// From or up to something.
    Bound(Bound, Box<Piece>),
}

/// Which side of a time is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Since,
    Until,
    Before,
    After,
}

/// The hour at which a working day ends.
pub(super) const DAY_ENDS: Time = Time::constant(18, 0, 0, 0);

/// All pieces of a text, in order, with the items that they are made of.
pub(super) fn pieces(items: &[Item], now: &Zoned) -> Vec<(Piece, Range<usize>)> {
    let grammar = Grammar { items, now };
    let mut found = Vec::new();
    let mut at = 0;
    while at < items.len() {
        match grammar.piece(at) {
            Some((piece, end)) => {
                found.push((piece, at..end));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

struct Grammar<'a> {
    items: &'a [Item],
    now: &'a Zoned,
}

/// A piece and the number of the item behind it.
type Found<T> = Option<(T, usize)>;

impl Grammar<'_> {
    fn piece(&self, at: usize) -> Found<Piece> {
        self.bound(at)
            .or_else(|| self.range(at))
            .or_else(|| self.days(at))
            .or_else(|| self.clock(at))
            .or_else(|| self.length(at))
            .or_else(|| self.part(at))
    }

    fn bound(&self, at: usize) -> Found<Piece> {
        let bound = [
            (Sense::Since, Bound::Since),
            (Sense::Until, Bound::Until),
            (Sense::Before, Bound::Before),
            (Sense::Vor, Bound::Before),
            (Sense::After, Bound::After),
        ];
        let (_, bound) = bound.into_iter().find(|(sense, _)| self.is(at, *sense))?;
        if self.is(at, Sense::Vor) && self.ago(at).is_some() {
            return None;
        }
        let inner = self.past_skips(at + 1);
        let (piece, end) =
            self.days(inner).or_else(|| self.hour(inner, true).map(|(time, end)| (Piece::Clock(time), end)))?;
        Some((Piece::Bound(bound, Box::new(piece)), end))
    }

    fn range(&self, at: usize) -> Found<Piece> {
        let is_opened = self.is(at, Sense::From) || self.is(at, Sense::Between);
        let first = if is_opened { self.past_skips(at + 1) } else { at };
        let joins =
            |at: usize| self.is(at, Sense::To) || self.is(at, Sense::Until) || (is_opened && self.is(at, Sense::And));
        if let Some((Piece::Days(from, _), middle)) = self.days(first)
            && joins(middle)
            && let Some((Piece::Days(until, to), end)) = self.days(self.past_skips(middle + 1))
            && from <= until
        {
            return Some((Piece::Days(from, to), end));
        }
        if let Some(Sense::Hours(from, to)) = self.any(first, |sense| matches!(sense, Sense::Hours(..))) {
            let (half, end) = self.half_of_day(first + 1);
            let guess = |hour: i8| half.map_or_else(|| likely(hour), |half| half.of(hour));
            let (from, to) = if from > 12 || to > 12 { (from, to) } else { (guess(from), guess(to)) };
            return Some((Piece::Clocks(clock(from, 0)?, clock(to, 0)?), end));
        }
        let (from, middle) = self.hour(first, is_opened)?;
        let (to, end) = joins(middle).then(|| self.hour(self.past_skips(middle + 1), true)).flatten()?;
        // "between 2 and 4 pm": what stands behind the second hour holds for the first.
        let bare = |at: usize| self.any(at, |sense| matches!(sense, Sense::Number(_))).is_some();
        let from = match bare(first) && middle == first + 1 && to.hour() >= 12 && from.hour() + 12 < to.hour() {
            true => clock(from.hour() + 12, from.minute())?,
            false => from,
        };
        let from = if from > to && from.hour() >= 12 { clock(from.hour() - 12, from.minute())? } else { from };
        (from < to).then_some((Piece::Clocks(from, to), end))
    }

    /// Whole days, and lengths of time that reach from here to somewhere.
    fn days(&self, at: usize) -> Found<Piece> {
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
            Sense::Number(_) | Sense::Ordinal(_) if self.month(self.past_skips(at + 1)).is_some() => {
                let month_at = self.past_skips(at + 1);
                let (day, month) = (self.day_number(at)?, self.month(month_at)?);
                let year = self.year(month_at + 1);
                Some((self.in_year(day, month, year)?, month_at + 1 + usize::from(year.is_some())))
            }
            Sense::Month(month) if self.day_number(self.past_skips(at + 1)).is_some() => {
                let day_at = self.past_skips(at + 1);
                let year = self.year(day_at + 1);
                Some((self.in_year(self.day_number(day_at)?, month, year)?, day_at + 1 + usize::from(year.is_some())))
            }
            Sense::Ordinal(day) if at > 0 && self.is(at - 1, Sense::Skip) => Some((self.next_numbered(day)?, at + 1)),
            _ => None,
        }
    }

    /// "three days ago", "vor drei Tagen", "il y a trois jours".
    fn ago(&self, at: usize) -> Found<Piece> {
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
        let number = self.number(self.past_skips(at + 1));
        let counted = number.and_then(|(number, unit_at)| Some((number, self.unit(unit_at)?, unit_at + 1)));
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
        let behind = self.side(start + 1).filter(|side| *side != Side::This && before.is_none());
        let end = start + 1 + usize::from(behind.is_some());
        Some((self.placed(thing, before.or(behind))?, end))
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
        } else if self.is(at, Sense::EndOfMonth) {
            today.last_of_month()
        } else {
            return None;
        };
        let end = last.to_datetime(DAY_ENDS).to_zoned(self.now.time_zone().clone()).ok()?;
        Some((Piece::Moments(self.now.clone(), end), at + 1))
    }

    fn clock(&self, at: usize) -> Found<Piece> {
        if let Some(Sense::Moment(moment)) = self.any(at, |sense| matches!(sense, Sense::Moment(_))) {
            let moment = moment.to_zoned(self.now.time_zone().clone()).ok()?;
            return Some((Piece::Moments(moment.clone(), moment), at + 1));
        }
        let is_told = self.is(at, Sense::At);
        let (time, end) = self.hour(if is_told { self.past_skips(at + 1) } else { at }, is_told)?;
        Some((Piece::Clock(time), end))
    }

    /// An hour. A bare number is one only where the words before it say so.
    fn hour(&self, at: usize, is_told: bool) -> Found<Time> {
        if let Some(Sense::Clock(hour, minute, may_be_length)) = self.any(at, |sense| matches!(sense, Sense::Clock(..)))
        {
            let (half, end) = self.half_of_day(at + 1);
            let hour = half.map_or(hour, |half| half.of(hour));
            return (is_told || !may_be_length || hour > LONGEST_LENGTH_HOURS).then_some((clock(hour, minute)?, end));
        }
        if self.is(at, Sense::Noon) {
            return Some((clock(12, 0)?, at + 1));
        }
        for (sense, hours, minute) in [
            (Sense::HalfHour, -1, 30),
            (Sense::PastHour, 0, 30),
            (Sense::QuarterPast, 0, 15),
            (Sense::QuarterTo, -1, 45),
        ] {
            if self.is(at, sense)
                && let Some(number) = self.whole_number(at + 1)
            {
                let (half, end) = self.half_of_day(at + 2);
                let hour = half.map_or_else(|| likely(number), |half| half.of(number));
                return Some((clock((hour + hours).rem_euclid(24), minute)?, end));
            }
        }
        let number = self.whole_number(at)?;
        let (half, end) = self.half_of_day(at + 1);
        match half {
            Some(Half::OClock) => {
                let minutes = self.whole_number(end).filter(|minutes| *minutes < 60 && self.unit(end + 1).is_none());
                let is_likely =
                    self.is(end.saturating_sub(1), Sense::OClock) && number <= 12 && self.says_oclock(end - 1);
                let hour = if is_likely { likely(number) } else { number };
                Some((clock(hour, minutes.unwrap_or(0))?, end + usize::from(minutes.is_some())))
            }
            Some(half) => Some((clock(half.of(number), 0)?, end)),
            None if is_told && self.unit(at + 1).is_none() && self.month(at + 1).is_none() => {
                Some((clock(likely(number), 0)?, at + 1))
            }
            None => None,
        }
    }

    /// A length: "45 min", "half an hour", "eine halbe Stunde", "1h30", "an hour and a half".
    fn length(&self, at: usize) -> Found<Piece> {
        if let Some(Sense::Length(minutes)) = self.any(at, |sense| matches!(sense, Sense::Length(_))) {
            return Some((Piece::Length(minutes as i64), at + 1));
        }
        if let Some(Sense::Clock(hours, minutes, true)) = self.any(at, |sense| matches!(sense, Sense::Clock(.., true)))
        {
            return Some((Piece::Length(i64::from(hours) * 60 + i64::from(minutes)), at + 1));
        }
        let (number, unit_at) = self.number(at)?;
        let minutes = |number: f64, unit: Unit| match unit {
            Unit::Minute => Some(number),
            Unit::Hour => Some(number * 60.0),
            Unit::Day | Unit::Week | Unit::Month | Unit::Year => None,
        };
        let mut total = minutes(number, self.unit(unit_at)?)?;
        let mut end = unit_at + 1;
        let more_at = end + usize::from(self.is(end, Sense::And));
        if let Some((more, more_end)) = self.number(more_at) {
            if let Some(unit) = self.unit(more_end).filter(|unit| *unit == Unit::Minute) {
                total += minutes(more, unit)?;
                end = more_end + 1;
            } else if more < 1.0 {
                total += more * 60.0;
                end = more_end;
            }
        }
        (total >= 1.0).then_some((Piece::Length(total as i64), end))
    }

    fn part(&self, at: usize) -> Found<Piece> {
        Some((Piece::Part(self.part_of(at)?), at + 1))
    }

    fn part_of(&self, at: usize) -> Option<Part> {
        if self.is(at, Sense::Morgen) && self.prior_names_a_day(at) {
            return Some(Part::Morning);
        }
        match self.any(at, |sense| matches!(sense, Sense::Part(_)))? {
            Sense::Part(part) => Some(part),
            _ => None,
        }
    }

    /// Whether `morgen` (or `mañana`) stands behind the name of a day, or behind "am", and so is the morning.
    fn prior_names_a_day(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        let names = |sense: &Sense| matches!(sense, Sense::Day(_) | Sense::Weekday(_) | Sense::Am | Sense::This);
        let is_followed_by_part = self.any(at + 1, |sense| matches!(sense, Sense::Part(_))).is_some();
        self.items[before].senses.iter().any(names) && !is_followed_by_part
    }

    /// A count: a number, an article, "half an", "eine halbe".
    fn number(&self, at: usize) -> Found<f64> {
        let plain = |at: usize| match self.any(at, |sense| matches!(sense, Sense::Number(_) | Sense::DayMonth(..)))? {
            Sense::Number(number) => Some(number),
            Sense::DayMonth(whole, tenth) => Some(f64::from(whole) + f64::from(tenth) / 10.0),
            _ => None,
        };
        match (plain(at), self.is(at, Sense::One)) {
            (Some(half), _) if half < 1.0 && self.is(at + 1, Sense::One) => Some((half, at + 2)),
            (Some(number), _) => Some((number, at + 1)),
            // "eine halbe Stunde", "a couple of days"; but "à 15 heures" is no fifteen hours.
            (None, true) => match plain(at + 1).filter(|number| *number <= 3.0) {
                Some(number) => Some((number, at + 2)),
                None => Some((1.0, at + 1)),
            },
            (None, false) => None,
        }
    }

    fn whole_number(&self, at: usize) -> Option<i8> {
        match self.any(at, |sense| matches!(sense, Sense::Number(_)))? {
            Sense::Number(number) if number.fract() == 0.0 && (0.0..=59.0).contains(&number) => Some(number as i8),
            _ => None,
        }
    }

    fn day_number(&self, at: usize) -> Option<i8> {
        match self.figures(at)? {
            Sense::Ordinal(day) => Some(day),
            Sense::Number(_) => self.whole_number(at).filter(|day| (1..=31).contains(day)),
            _ => None,
        }
    }

    fn year(&self, at: usize) -> Option<i16> {
        match self.any(at, |sense| matches!(sense, Sense::Number(_)))? {
            Sense::Number(year) if (2000.0..2100.0).contains(&year) => Some(year as i16),
            _ => None,
        }
    }

    fn month(&self, at: usize) -> Option<i8> {
        match self.any(at, |sense| matches!(sense, Sense::Month(_)))? {
            Sense::Month(month) => Some(month),
            _ => None,
        }
    }

    fn unit(&self, at: usize) -> Option<Unit> {
        match self.any(at, |sense| matches!(sense, Sense::Unit(_)))? {
            Sense::Unit(unit) => Some(unit),
            _ => None,
        }
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

    fn half_of_day(&self, at: usize) -> (Option<Half>, usize) {
        if self.is(at, Sense::Am) {
            (Some(Half::Morning), at + 1)
        } else if self.is(at, Sense::Pm) {
            (Some(Half::Afternoon), at + 1)
        } else if self.is(at, Sense::OClock) || self.unit(at) == Some(Unit::Hour) && self.names_hour(at) {
            (Some(Half::OClock), at + 1)
        } else {
            (None, at)
        }
    }

    /// "à 15 heures": the hour is meant, not fifteen of them, when the number is too large for a length.
    fn names_hour(&self, at: usize) -> bool {
        let is_large = |at: usize| self.whole_number(at).is_some_and(|hour| hour > LONGEST_LENGTH_HOURS && hour < 24);
        at >= 2 && is_large(at - 1) && self.is(at - 2, Sense::To)
    }

    /// English says "3 o'clock" of an afternoon; German and French say fifteen.
    fn says_oclock(&self, at: usize) -> bool {
        self.items.get(at).is_some_and(|item| item.words.len() == 2)
    }

    fn figures(&self, at: usize) -> Option<Sense> {
        let senses = &self.items.get(at)?.senses;
        let is_ordinal = |sense: &&Sense| matches!(sense, Sense::Ordinal(_));
        let is_figure =
            |sense: &&Sense| matches!(sense, Sense::Date(_) | Sense::DayMonth(..) | Sense::Number(_) | Sense::Month(_));
        senses.iter().find(is_ordinal).or_else(|| senses.iter().find(is_figure)).copied()
    }

    fn any(&self, at: usize, fits: impl Fn(&Sense) -> bool) -> Option<Sense> {
        self.items.get(at)?.senses.iter().find(|sense| fits(sense)).copied()
    }

    fn is(&self, at: usize, sense: Sense) -> bool {
        self.items.get(at).is_some_and(|item| item.is(sense))
    }

    /// Behind articles and the like, of which there are two at most.
    fn past_skips(&self, at: usize) -> usize {
        let is_skip = |at: &usize| self.is(*at, Sense::Skip);
        (at..).take(2).take_while(is_skip).last().map_or(at, |last| last + 1)
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
}

/// A date without a year is next year's when it is longer past than this.
const LONG_PAST_DAYS: i64 = 90;

/// `5h` is a length, `6h` an hour of the day.
const LONGEST_LENGTH_HOURS: i8 = 5;

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

/// Which half of the day an hour is in, as the words behind it say.
#[derive(Clone, Copy)]
enum Half {
    Morning,
    Afternoon,
    OClock,
}

impl Half {
    fn of(self, hour: i8) -> i8 {
        match self {
            Self::Morning => {
                if hour == 12 {
                    0
                } else {
                    hour
                }
            }
            Self::Afternoon => {
                if hour < 12 {
                    hour + 12
                } else {
                    hour
                }
            }
            Self::OClock => hour,
        }
    }
}

/// A bare hour of the working day: from 1 to 7 in the afternoon.
fn likely(hour: i8) -> i8 {
    if (1..=7).contains(&hour) { hour + 12 } else { hour }
}

fn clock(hour: i8, minute: i8) -> Option<Time> {
    Time::new(hour, minute, 0, 0).ok()
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
