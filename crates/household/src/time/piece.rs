//! The grammar of times: finds pieces such as a day, a range of hours or a length, with their positions.
//!
//! The grammar is one type, and what it reads has a file each: `days`, `hours`, `length`, and `items` for single words.
//! Left to the parent: how pieces in different places of a sentence ("tomorrow … at 3pm") make one time.

mod days;
mod hours;
mod items;
mod length;

use std::ops::Range;

use jiff::Zoned;
use jiff::civil::{Date, Time};

use super::Part;
use super::word::{Item, Sense};
use hours::{clock, likely};

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
        if let Some(Sense::Clocks(from, to)) = self.any(first, |sense| matches!(sense, Sense::Clocks(..))) {
            return Some((Piece::Clocks(clock(from.0, from.1)?, clock(to.0, to.1)?), first + 1));
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
}
