//! Lengths of time, and the counts that they begin with.

use super::{Found, Grammar, Piece};
use crate::time::word::{Sense, Unit};

impl Grammar<'_> {
    /// A length: "45 min", "half an hour", "eine halbe Stunde", "1h30", "an hour and a half".
    pub(super) fn length(&self, at: usize) -> Found<Piece> {
        if let Some(Sense::Length(minutes)) = self.any(at, |sense| matches!(sense, Sense::Length(_))) {
            return Some((Piece::Length(minutes as i64), at + 1));
        }
        if let Some(Sense::Clock(hours, minutes, true)) = self.any(at, |sense| matches!(sense, Sense::Clock(.., true)))
        {
            return Some((Piece::Length(i64::from(hours) * 60 + i64::from(minutes)), at + 1));
        }
        let (number, count_end) = self.number(at)?;
        // "A free hour", "zwei freie Stunden".
        let unit_at = count_end + usize::from(self.is(count_end, Sense::Open));
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

    /// A count: a number, an article, "half an", "eine halbe".
    pub(super) fn number(&self, at: usize) -> Found<f64> {
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
}
