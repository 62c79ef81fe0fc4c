//! Formats times, working hours and events for sentences.

use jiff::Timestamp;
use jiff::civil::Weekday;
use jiff::tz::TimeZone;

use super::busy::BusyEvent;
use super::hours::Hours;
use super::moment::Window;

/// `Thu 15 Jan 11:00–11:30`, with a second day where it ends on another.
pub(super) fn stretch(window: Window, zone: &TimeZone) -> String {
    let (start, end) = (zone.to_datetime(window.start), zone.to_datetime(window.end));
    let end = end.strftime(if start.date() == end.date() { "%H:%M" } else { "%a %-d %b %H:%M" });
    format!("{}–{end}", start.strftime("%a %-d %b %H:%M"))
}

/// `Thu 15 Jan`.
pub(super) fn day(at: Timestamp, zone: &TimeZone) -> String {
    zone.to_datetime(at).strftime("%a %-d %b").to_string()
}

/// The first few things that take time, and how many more there are.
pub(super) fn names(taken: &[BusyEvent], zone: &TimeZone) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = Vec::new();
    for one in taken.iter().take(SHOWN) {
        let when =
            if one.all_day { format!("all day {}", day(one.window.start, zone)) } else { stretch(one.window, zone) };
        names.push(format!("“{}” ({when})", clipped(&one.title)));
    }
    if taken.len() > SHOWN {
        names.push(format!("{} more", taken.len() - SHOWN));
    }
    names.join(", ")
}

/// `Mon–Fri 09:00–18:00`.
pub(super) fn hours(hours: &Hours) -> String {
    let short = |day: &Weekday| format!("{day:?}").chars().take(3).collect::<String>();
    let is_row = hours.days.windows(2).all(|pair| pair[0].next() == pair[1]);
    let days = match &hours.days[..] {
        [first, .., last] if is_row => format!("{}–{}", short(first), short(last)),
        days => days.iter().map(short).collect::<Vec<_>>().join(", "),
    };
    format!("{days} {}–{}", hours.start.strftime("%H:%M"), hours.end.strftime("%H:%M"))
}

pub(super) fn minutes(minutes: u32) -> String {
    if minutes == 1 { "1 minute".to_owned() } else { format!("{minutes} minutes") }
}

/// A title that fits into a sentence.
pub(super) fn clipped(title: &str) -> String {
    let line = title.lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
