//! Free times at which people can meet, best first, each with its reasons.
//!
//! Working hours without busy times leave gaps; each gap has candidates on a grid of a quarter or half an hour; each candidate is
//! scored, and a few of the best that differ from each other are returned. Tentative events count as busy, and are ignored
//! only where nothing else is free. The past is never proposed. Whose calendars count is decided by the caller.

mod score;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::busy::{BusyEvent, busy};
use super::hours::{Hours, PartOfDay};
use super::moment::Window;
use super::words;

/// What is wished.
#[derive(Clone, Debug)]
pub struct SlotRequest {
    /// When it may be.
    pub window: Window,
    /// How long it lasts.
    pub minutes: u32,
    /// In which part of a day, where that matters. Others are proposed only if it has no room at all.
    pub part: Option<PartOfDay>,
    /// How many times are proposed.
    pub limit: usize,
    /// When people meet.
    pub hours: Hours,
    /// How far ahead the next possible time is sought where the window has none. What is taken must be known until
    /// then.
    pub horizon: Timestamp,
}

impl SlotRequest {
    /// Half an hour within a window, three times to choose from.
    pub fn within(window: Window) -> Self {
        Self { window, minutes: 30, part: None, limit: 3, hours: Hours::default(), horizon: window.end }
    }
}

/// A time at which people can meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// When.
    pub window: Window,
    /// How good it is, from 0 to 1.
    pub score: f64,
    /// Why.
    pub why: String,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Times in the window, the best first and of equal ones the earliest.
    pub slots: Vec<Slot>,
    /// What takes time in the window, within the hours in which people meet.
    pub conflicts: Vec<BusyEvent>,
    /// The next possible time, where the window has none.
    pub next: Option<Slot>,
    /// The result in a sentence or two.
    pub reasoning: String,
}

/// Times at which there is room for a wish.
pub fn free_slots(taken: &[BusyEvent], wish: &SlotRequest, now: &Zoned) -> Found {
    let search =
        Search { taken, wish, now, zone: now.time_zone(), length: SignedDuration::from_mins(wish.minutes.into()) };
    search.run()
}

/// One given time, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether nothing takes any of it.
    pub is_free: bool,
    /// What does.
    pub conflicts: Vec<BusyEvent>,
    /// The result in a sentence or two.
    pub reasoning: String,
}

/// Whether there is room at a given time.
pub fn check(taken: &[BusyEvent], window: Window, hours: &Hours, now: &Zoned) -> Verdict {
    let zone = now.time_zone();
    let conflicts: Vec<BusyEvent> = taken.iter().filter(|one| one.window.meets(&window)).cloned().collect();
    let when = words::stretch(window, zone);
    let mut said = match &conflicts[..] {
        [] => vec![format!("{when} is free.")],
        all if all.iter().all(|one| one.is_tentative) => {
            vec![format!("{when} is taken, but only tentatively: {}.", words::names(all, zone))]
        }
        all => vec![format!("{when} is taken: {}.", words::names(all, zone))],
    };
    if window.start < now.timestamp() {
        said.push("It is in the past.".to_owned());
    } else if !hours.within(window, None, zone).iter().any(|work| work.holds(&window)) {
        said.push(format!("It is outside working hours ({}).", words::hours(hours)));
    }
    Verdict { is_free: conflicts.is_empty(), conflicts, reasoning: said.join(" ") }
}

/// The gaps of a stretch between what is taken of it.
fn gaps(taken: &[BusyEvent], stretch: Window) -> Vec<Window> {
    let mut free = stretch.start;
    let mut gaps = Vec::new();
    for busy in busy(taken, stretch) {
        gaps.push(Window { start: free, end: busy.window.start });
        free = busy.window.end;
    }
    gaps.push(Window { start: free, end: stretch.end });
    gaps.retain(|gap| gap.start < gap.end);
    gaps
}

/// The higher score first, and of equal ones the earlier time.
fn better(one: &Slot, other: &Slot) -> std::cmp::Ordering {
    other.score.total_cmp(&one.score).then(one.window.cmp(&other.window))
}

struct Search<'a> {
    taken: &'a [BusyEvent],
    wish: &'a SlotRequest,
    now: &'a Zoned,
    zone: &'a TimeZone,
    length: SignedDuration,
}

/// What a search may propose.
#[derive(Clone, Copy)]
struct SearchLimits {
    part: Option<PartOfDay>,
    over_tentative: bool,
}

impl Search<'_> {
    fn run(&self) -> Found {
        let SlotRequest { window, part, hours, .. } = self.wish;
        let asked = Window { start: window.start.max(self.now.timestamp()), end: window.end };
        let is_over = asked.start >= asked.end;
        let spans = if is_over { Vec::new() } else { hours.within(asked, *part, self.zone) };
        let conflicts = self.conflicts(&spans, asked);
        let (slots, leave) = self.tries(asked);
        let mut said = Vec::new();
        if let Some(best) = slots.first() {
            let count = if slots.len() == 1 { "One time".to_owned() } else { format!("{} times", slots.len()) };
            said.push(format!(
                "{count} of {} free; the best is {}.",
                words::minutes(self.wish.minutes),
                words::stretch(best.window, self.zone)
            ));
            if let Some(part) = part.filter(|_| leave.part.is_none()) {
                said.push(format!("Nothing is free in the {}, so these are at other times of the day.", part.as_str()));
            }
            if leave.over_tentative {
                said.push("There is room only where tentative events give way.".to_owned());
            }
            return Found { slots, conflicts, next: None, reasoning: said.join(" ") };
        }
        said.push(match () {
            () if is_over => "That time is over.".to_owned(),
            () if spans.is_empty() => format!("There are no working hours in that time ({}).", words::hours(hours)),
            () if conflicts.is_empty() => {
                format!("No stretch of {} fits into the working hours of that time.", words::minutes(self.wish.minutes))
            }
            () => format!(
                "No {} are free in that time: {}.",
                words::minutes(self.wish.minutes),
                words::names(&conflicts, self.zone)
            ),
        });
        let next = self.next(asked.end);
        said.push(match &next {
            Some(next) => format!("The next possible time is {}.", words::stretch(next.window, self.zone)),
            None => format!("Nothing is free until {} either.", words::day(self.wish.horizon, self.zone)),
        });
        Found { slots, conflicts, next, reasoning: said.join(" ") }
    }

    /// What stands in the way: during the hours of the window, or in the window itself where it has none.
    fn conflicts(&self, spans: &[Window], asked: Window) -> Vec<BusyEvent> {
        let is_in = |one: &&BusyEvent| match spans {
            [] => one.window.meets(&asked),
            spans => spans.iter().any(|span| one.window.meets(span)),
        };
        if asked.start >= asked.end {
            return Vec::new();
        }
        self.taken.iter().filter(is_in).cloned().collect()
    }

    /// Slots in a window by the strictest reading of the wish that yields any.
    fn tries(&self, window: Window) -> (Vec<Slot>, SearchLimits) {
        let part = self.wish.part;
        let mut leave = SearchLimits { part, over_tentative: false };
        for (part, over_tentative) in [(part, false), (None, false), (part, true), (None, true)] {
            leave = SearchLimits { part, over_tentative };
            let slots = self.slots(window, leave);
            if !slots.is_empty() {
                return (slots, leave);
            }
        }
        (Vec::new(), leave)
    }

    /// The best slot of the first day after a window that has any.
    fn next(&self, after: Timestamp) -> Option<Slot> {
        let window = Window { start: after.max(self.now.timestamp()), end: self.wish.horizon };
        let date = |slot: &Slot| self.zone.to_datetime(slot.window.start).date();
        [self.wish.part, None].into_iter().find_map(|part| {
            let mut all = self.candidates(window, SearchLimits { part, over_tentative: false });
            let first = all.iter().map(date).min()?;
            all.retain(|slot| date(slot) == first);
            all.into_iter().min_by(better)
        })
    }

    /// The best candidates, of each half of a day only one where there are enough.
    fn slots(&self, window: Window, leave: SearchLimits) -> Vec<Slot> {
        let mut candidates = self.candidates(window, leave);
        candidates.sort_by(better);
        let half = |slot: &Slot| {
            let at = self.zone.to_datetime(slot.window.start);
            (at.date(), at.hour() >= 12)
        };
        let mut chosen: Vec<Slot> = Vec::new();
        for is_spread in [true, false] {
            for candidate in &candidates {
                let is_new = |other: &Slot| {
                    !(other.window.meets(&candidate.window) || is_spread && half(other) == half(candidate))
                };
                if chosen.len() < self.wish.limit && chosen.iter().all(is_new) {
                    chosen.push(candidate.clone());
                }
            }
        }
        chosen.sort_by(better);
        chosen
    }

    /// Everything that is possible in a window.
    fn candidates(&self, window: Window, leave: SearchLimits) -> Vec<Slot> {
        if window.start >= window.end {
            return Vec::new();
        }
        let spans = self.wish.hours.within(window, leave.part, self.zone);
        let mut found = Vec::new();
        for (day, span) in spans.iter().enumerate() {
            let around = Window {
                start: span.start - SignedDuration::from_hours(1),
                end: span.end + SignedDuration::from_hours(1),
            };
            let near: Vec<BusyEvent> = self.taken.iter().filter(|one| one.window.meets(&around)).cloned().collect();
            let mut blocking = near.clone();
            blocking.retain(|one| !(leave.over_tentative && one.is_tentative));
            for gap in gaps(&blocking, *span) {
                for window in self.grid(gap) {
                    let place = score::Place { window, gap, near: &near, day, days: spans.len() };
                    found.push(self.scored(&place, leave));
                }
            }
        }
        found
    }

    /// The candidates of a gap: on the grid; where that misses a gap that is long enough, its beginning.
    fn grid(&self, gap: Window) -> Vec<Window> {
        let step = if self.wish.minutes < 60 { 15 } else { 30 };
        let at = |start: Timestamp| Window { start, end: start + self.length };
        let fits = |window: &Window| gap.holds(window);
        let mut found: Vec<Window> = Vec::new();
        let mut start = self.rounded(gap.start, step);
        while fits(&at(start)) {
            found.push(at(start));
            start += SignedDuration::from_mins(step);
        }
        if found.is_empty() {
            found.extend([5, 1].map(|step| at(self.rounded(gap.start, step))).into_iter().find(fits));
        }
        found
    }

    /// The first time from here on at which a clock shows whole steps of minutes.
    fn rounded(&self, from: Timestamp, step: i64) -> Timestamp {
        let clock = self.zone.to_datetime(from);
        let seconds = i64::from(clock.hour()) * 3600 + i64::from(clock.minute()) * 60 + i64::from(clock.second());
        let whole = from - SignedDuration::from_nanos(clock.subsec_nanosecond().into());
        let seconds = seconds + i64::from(whole < from);
        whole + SignedDuration::from_secs(i64::from(whole < from) + (-seconds).rem_euclid(step * 60))
    }
}

#[cfg(test)]
mod tests;
