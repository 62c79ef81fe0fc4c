//! The score of a free time: up to a hundred points, with the reasons in words.
//!
//! Earlier days score higher; within a day the other reasons decide, and of equal times the earliest wins.

use jiff::{SignedDuration, Timestamp};

use super::{Search, SearchLimits, Slot};
use crate::calendar::busy::BusyEvent;
use crate::calendar::hours::PartOfDay;
use crate::calendar::moment::Window;
use crate::calendar::words;

const SOON: i64 = 30;
const WISHED_PART: i64 = 20;
const LUNCH: i64 = 20;
/// For the time before, and again for the time after.
const BUFFER: i64 = 11;
const UNBROKEN: i64 = 8;

/// Between two meetings people need a moment.
const BUFFER_TIME: SignedDuration = SignedDuration::from_mins(10);
/// What is left between this and the next event is a break, not a piece of a day cut off.
const BREAK: SignedDuration = SignedDuration::from_mins(15);

/// A candidate and what is around it.
pub(super) struct Place<'a> {
    pub window: Window,
    /// The free stretch that it lies in.
    pub gap: Window,
    /// What is taken shortly before and after, and on the same day.
    pub near: &'a [BusyEvent],
    /// Which of the days that are looked at.
    pub day: usize,
    pub days: usize,
}

impl Search<'_> {
    /// A candidate with its score and its reasons.
    pub(super) fn scored(&self, place: &Place<'_>, leave: SearchLimits) -> Slot {
        let Place { window, gap, near, day, days } = place;
        let date = self.zone.to_datetime(window.start).date();
        let lunch = self.wish.hours.lunch_on(date, self.zone);
        let keeps_lunch = !window.meets(&lunch);
        let before = near
            .iter()
            .rev()
            .find(|one| one.window.end <= window.start && window.start.duration_since(one.window.end) < BUFFER_TIME);
        let after = near
            .iter()
            .find(|one| one.window.start >= window.end && one.window.start.duration_since(window.end) < BUFFER_TIME);
        // The end of a day is no edge: what stands there leaves the most of the day in pieces.
        let is_next_to = |before: Timestamp, after: Timestamp| {
            let between = after.duration_since(before);
            !between.is_negative() && between <= BREAK
        };
        let is_at_edge = is_next_to(gap.start, window.start)
            || is_next_to(lunch.end, window.start)
            || is_next_to(window.end, lunch.start)
            || near.iter().any(|one| is_next_to(window.end, one.window.start));
        let gives_way = near.iter().find(|one| one.window.meets(window));
        let is_wished = self.wish.part.is_none() || leave.part.is_some();

        let points = SOON - SOON * *day as i64 / *days as i64
            + if is_wished { WISHED_PART } else { 0 }
            + if keeps_lunch { LUNCH } else { 0 }
            + if before.is_none() { BUFFER } else { 0 }
            + if after.is_none() { BUFFER } else { 0 }
            + if is_at_edge { UNBROKEN } else { 0 };
        let points = if gives_way.is_some() { points / 2 } else { points };

        let mut why = vec![self.called(date)];
        if let Some(part) = leave.part {
            why.push(format!("in the {} as wished", part.as_str()));
        }
        if let Some(tentative) = gives_way {
            why.push(format!("if “{}”, which is only tentative, gives way", words::clipped(&tentative.title)));
        }
        match (before, after) {
            (Some(before), Some(after)) => why.push(format!(
                "right between “{}” and “{}”",
                words::clipped(&before.title),
                words::clipped(&after.title)
            )),
            (Some(before), None) => why.push(format!("right after “{}”", words::clipped(&before.title))),
            (None, Some(after)) => why.push(format!("right before “{}”", words::clipped(&after.title))),
            (None, None) => why.push("with room before and after".to_owned()),
        }
        if !keeps_lunch {
            why.push("but over lunch".to_owned());
        } else if leave.part != Some(PartOfDay::Evening) {
            why.push("lunch stays free".to_owned());
        }
        Slot { window: *window, score: points as f64 / 100.0, why: why.join(", ") }
    }

    /// How a person would name a day.
    fn called(&self, date: jiff::civil::Date) -> String {
        let today = self.now.date();
        match date.duration_since(today).as_hours() / 24 {
            0 => "today".to_owned(),
            1 => "tomorrow".to_owned(),
            _ => date.strftime("%A").to_string(),
        }
    }
}
