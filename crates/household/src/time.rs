//! Times as people say them: "EOD", "next Tuesday afternoon", "the last 24 hours", "between 2 and 4 pm", "15. Januar".
//!
//! Nothing is guessed about the clock: what time it is, and in which zone, is handed in. Conventions where people differ:
//!
//! - Weeks begin on Monday. A bare weekday is the next day of that name and never today; "this Friday" is this week's, "next
//!   Friday" is next week's, "last Friday" the one before today.
//! - `3/4` is the third of April. A date without a year is the next one, unless it is less than ninety days past.
//! - A bare hour from 1 to 7 is in the afternoon ("at 3"). An hour without a day is today's if it is still to come, else tomorrow's.
//! - Morning is from 6 to 12, afternoon from 12 to 18, evening from 18 to 23; a working day ends at 18.
//! - "The last 24 hours" and "the next two weeks" reach from or to this moment; "last week" and "next month" are those of the
//!   calendar.

mod piece;
pub(crate) mod prose;
mod word;
pub mod words;

use std::ops::Range;

use jiff::civil::{Date, Time};
use jiff::{ToSpan, Zoned};

use piece::{Bound, DAY_ENDS, Piece, pieces};
use words::{Word, words};

pub use word::vocabulary;

/// What a text says about time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// The time that is meant, if one is.
    pub when: Option<When>,
    /// How long something takes.
    pub duration_min: Option<i64>,
    /// The part of the day that is wished for.
    pub part_of_day: Option<Part>,
    /// The words that say all this, by their places in the text.
    pub said: Vec<Range<usize>>,
}

/// From when to when.
#[derive(Clone, Debug, PartialEq)]
pub struct When {
    /// The beginning.
    pub start: Zoned,
    /// The end; the beginning itself where only a moment was said.
    pub end: Zoned,
    /// Whether an hour was said, so that this is an appointment rather than a period to look at.
    pub is_exact: bool,
}

/// A part of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// From 6 to 12.
    Morning,
    /// From 12 to 18.
    Afternoon,
    /// From 18 to 23.
    Evening,
}

impl Part {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Morning => "morning",
            Self::Afternoon => "afternoon",
            Self::Evening => "evening",
        }
    }

    fn hours(self) -> (Time, Time) {
        match self {
            Self::Morning => (Time::constant(6, 0, 0, 0), Time::constant(12, 0, 0, 0)),
            Self::Afternoon => (Time::constant(12, 0, 0, 0), Time::constant(18, 0, 0, 0)),
            Self::Evening => (Time::constant(18, 0, 0, 0), Time::constant(23, 0, 0, 0)),
        }
    }
}

/// Whether a text names a day of the week.
pub fn names_weekday(text: &str) -> bool {
    prose::names_weekday(text)
}

/// Reads what a text says about time, as seen from `now`.
pub fn parse(text: &str, now: &Zoned) -> Times {
    parse_words(text, &words(text), now)
}

/// As [`parse`], for words that were mended.
pub fn parse_words(text: &str, words: &[Word], now: &Zoned) -> Times {
    let items = word::items(text, words);
    let found = pieces(&items, now);
    let mut times = Times::default();
    let mut gathered = Gathered::default();
    for (piece, at) in found {
        if gathered.take(piece) {
            let (first, last) = (items[at.start].words.start, items[at.end - 1].words.end - 1);
            times.said.push(words[first].at.start..words[last].at.end);
        }
    }
    times.duration_min = gathered.length;
    times.part_of_day = gathered.part;
    times.when = gathered.when(now);
    times
}

impl Times {
    /// The words that say a time, as they stand in the text.
    pub fn words(&self, text: &str) -> Option<String> {
        let words: Vec<&str> = self.said.iter().map(|said| &text[said.clone()]).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// The pieces of one time. The first of each kind counts.
#[derive(Default)]
struct Gathered {
    days: Option<(Date, Date)>,
    moments: Option<(Zoned, Zoned)>,
    clock: Option<Time>,
    clocks: Option<(Time, Time)>,
    part: Option<Part>,
    /// Whether the part belongs to a day that was said with it.
    ends_day: bool,
    length: Option<i64>,
    bound: Option<(Bound, Piece)>,
}

impl Gathered {
    fn take(&mut self, piece: Piece) -> bool {
        match piece {
            // "Friday, 23 January" is that Friday, not the next.
            Piece::Days(from, to)
                if self.days.is_some_and(|(known, end)| is_that_weekday((known, end), (from, to))) =>
            {
                self.days = Some((from, to));
                true
            }
            Piece::Days(from, to) => first(&mut self.days, (from, to)),
            Piece::DayPart(day, part) => {
                first(&mut self.days, (day, day.tomorrow().unwrap_or(day))) && first(&mut self.part, part)
            }
            Piece::Moments(from, to) => first(&mut self.moments, (from, to)),
            Piece::Clock(time) => first(&mut self.clock, time),
            Piece::Clocks(from, to) => first(&mut self.clocks, (from, to)),
            Piece::Part(part) => first(&mut self.part, part),
            Piece::EndOfDay => !std::mem::replace(&mut self.ends_day, true),
            Piece::Length(minutes) => first(&mut self.length, minutes),
            Piece::Bound(bound, inner) => match *inner {
                Piece::EndOfDay => !std::mem::replace(&mut self.ends_day, true),
                // Up to the end of a reach that begins here is that reach.
                Piece::Moments(from, to) if bound == Bound::Until => first(&mut self.moments, (from, to)),
                inner => first(&mut self.bound, (bound, inner)),
            },
        }
    }

    fn when(mut self, now: &Zoned) -> Option<When> {
        if let Some((from, to)) = self.clocks {
            let day = self.day(now, from)?;
            return Some(When { start: at(now, day, from)?, end: at(now, day, to)?, is_exact: true });
        }
        // "3 in the afternoon", "nachmittags um 3", "8 Uhr abends".
        if let (Some(clock), Some(part)) = (self.clock, self.part)
            && clock.hour() < 12
            && part != Part::Morning
            && let Ok(later) = Time::new(clock.hour() + 12, clock.minute(), 0, 0)
        {
            self.clock = Some(later);
        }
        if let (Some(clock), Some(Part::Morning)) = (self.clock, self.part)
            && (13..=19).contains(&clock.hour())
            && let Ok(earlier) = Time::new(clock.hour() - 12, clock.minute(), 0, 0)
        {
            self.clock = Some(earlier);
        }
        if let Some((bound, piece)) = self.bound.take() {
            return self.bounded(now, bound, piece);
        }
        if self.ends_day {
            let day = self.days.map_or_else(|| now.date(), |(from, _)| from);
            return Some(When { start: now.clone(), end: at(now, day, DAY_ENDS)?, is_exact: false });
        }
        if let Some(clock) = self.clock {
            let start = at(now, self.day(now, clock)?, clock)?;
            return Some(When { end: start.clone(), start, is_exact: true });
        }
        if let Some((from, to)) = self.days {
            let is_one_day = from.tomorrow().ok() == Some(to);
            let (start, end) = match self.part.filter(|_| is_one_day).map(Part::hours) {
                Some((begins, ends)) => (at(now, from, begins)?, at(now, from, ends)?),
                None => (at(now, from, Time::midnight())?, at(now, to, Time::midnight())?),
            };
            return Some(When { start, end, is_exact: false });
        }
        let (start, end) = self.moments?;
        Some(When { is_exact: start == end, start, end })
    }

    fn bounded(&self, now: &Zoned, bound: Bound, piece: Piece) -> Option<When> {
        let midnight = Time::midnight();
        let (start, end) = match piece {
            Piece::Days(from, to) => match self.clock.filter(|_| bound != Bound::Since) {
                Some(clock) => (at(now, from, clock)?, at(now, from, clock)?),
                None => (at(now, from, midnight)?, at(now, to, midnight)?),
            },
            Piece::DayPart(day, part) => (at(now, day, part.hours().0)?, at(now, day, part.hours().1)?),
            Piece::Clock(clock) => {
                let day = match bound {
                    Bound::Since => now.date(),
                    Bound::Until | Bound::Before | Bound::After => self.day(now, clock)?,
                };
                (at(now, day, clock)?, at(now, day, clock)?)
            }
            Piece::Moments(from, to) => (from, to),
            _ => return None,
        };
        let day_is_said = self.days.is_some();
        let day_begins = |moment: &Zoned| at(now, moment.date(), midnight);
        let day_ends = |moment: &Zoned| at(now, moment.date().tomorrow().ok()?, midnight);
        let (start, end) = match bound {
            Bound::Since => {
                // What something lasts since is past: the weekday before, else the date of the year before.
                let back = if start > now.checked_add(7.days()).ok()? { 1.year() } else { 7.days() };
                let start = if start > *now { start.checked_sub(back).ok()? } else { start };
                (start, now.clone())
            }
            Bound::Until if day_is_said => (day_begins(&end)?, end),
            Bound::Before if day_is_said => (day_begins(&start)?, start),
            Bound::Until => (now.clone(), end),
            Bound::Before => (now.clone(), start),
            Bound::After if start == end => (start.clone(), day_ends(&start)?),
            Bound::After => (end.clone(), end.checked_add(7.days()).ok()?),
        };
        (start <= end).then_some(When { start, end, is_exact: false })
    }

    /// The day of an hour: the one that was said, else today while the hour is still to come, else tomorrow.
    fn day(&self, now: &Zoned, clock: Time) -> Option<Date> {
        match self.days {
            Some((from, _)) => Some(from),
            None if clock > now.time() => Some(now.date()),
            None => now.date().tomorrow().ok(),
        }
    }
}

/// Whether a day is the one that a weekday before it meant, at another date.
fn is_that_weekday(known: (Date, Date), said: (Date, Date)) -> bool {
    let is_day = |(from, to): (Date, Date)| from.tomorrow().ok() == Some(to);
    is_day(known) && is_day(said) && known.0.weekday() == said.0.weekday() && known.0 != said.0
}

fn first<T>(slot: &mut Option<T>, value: T) -> bool {
    let is_first = slot.is_none();
    if is_first {
        *slot = Some(value);
    }
    is_first
}

fn at(now: &Zoned, day: Date, time: Time) -> Option<Zoned> {
    day.to_datetime(time).to_zoned(now.time_zone().clone()).ok()
}

#[cfg(test)]
mod tests;
