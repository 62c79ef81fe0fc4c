//! Hours of a day, as clocks show them and as people say them.

use jiff::civil::Time;

use super::{Found, Grammar, Piece};
use crate::time::word::{Sense, Unit};

impl Grammar<'_> {
    pub(super) fn clock(&self, at: usize) -> Found<Piece> {
        if let Some(Sense::Moment(moment)) = self.any(at, |sense| matches!(sense, Sense::Moment(_))) {
            let moment = moment.to_zoned(self.now.time_zone().clone()).ok()?;
            return Some((Piece::Moments(moment.clone(), moment), at + 1));
        }
        let is_told = self.is(at, Sense::At);
        let (time, end) = self.hour(if is_told { self.past_skips(at + 1) } else { at }, is_told)?;
        Some((Piece::Clock(time), end))
    }

    /// An hour. A bare number is one only where the words before it say so.
    pub(super) fn hour(&self, at: usize, is_told: bool) -> Found<Time> {
        if let Some(Sense::Clock(hour, minute, may_be_length)) = self.any(at, |sense| matches!(sense, Sense::Clock(..)))
        {
            let (half, end) = self.half_of_day(at + 1);
            let hour = half.map_or(hour, |half| half.of(hour));
            return (is_told || !may_be_length || hour > LONGEST_LENGTH_HOURS).then_some((clock(hour, minute)?, end));
        }
        if self.is(at, Sense::Noon) {
            return Some((clock(12, 0)?, at + 1));
        }
        // The end of the day that was said, not its beginning.
        if self.is(at, Sense::Midnight) {
            return Some((clock(23, 59)?, at + 1));
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

    pub(super) fn half_of_day(&self, at: usize) -> (Option<Half>, usize) {
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
}

/// `5h` is a length, `6h` an hour of the day.
const LONGEST_LENGTH_HOURS: i8 = 5;

/// Which half of the day an hour is in, as the words behind it say.
#[derive(Clone, Copy)]
pub(super) enum Half {
    Morning,
    Afternoon,
    OClock,
}

impl Half {
    pub(super) fn of(self, hour: i8) -> i8 {
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
pub(super) fn likely(hour: i8) -> i8 {
    if (1..=7).contains(&hour) { hour + 12 } else { hour }
}

pub(super) fn clock(hour: i8, minute: i8) -> Option<Time> {
    Time::new(hour, minute, 0, 0).ok()
}
