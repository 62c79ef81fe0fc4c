//! Busy times: the events that take time, and the periods that they cover.

use std::sync::Arc;

use super::event::{Answer, Status};
use super::moment::Window;
use super::series::Occurrence;

/// Time that an event takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusyEvent {
    /// When.
    pub window: Window,
    /// By what.
    pub title: String,
    /// In which calendar.
    pub calendar: Arc<str>,
    /// Whether it may yet come to nothing.
    pub is_tentative: bool,
    /// Whether it is a matter of days.
    pub all_day: bool,
}

/// A stretch in which there is no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusyPeriod {
    /// When.
    pub window: Window,
    /// By what, each once.
    pub titles: Vec<String>,
    /// Whether all of it may yet come to nothing.
    pub is_tentative: bool,
}

/// The time that events take from a person with these addresses, in order.
///
/// None is taken by what is cancelled, leaves its time free, has no length, or was declined. What they have not
/// answered yet is tentative.
pub fn taken(occurrences: &[Occurrence], me: &[String]) -> Vec<BusyEvent> {
    let mut taken: Vec<BusyEvent> = occurrences.iter().filter_map(|occurrence| take(occurrence, me)).collect();
    taken.sort_by_key(|one| one.window);
    taken
}

fn take(occurrence: &Occurrence, me: &[String]) -> Option<BusyEvent> {
    let Occurrence { calendar, details, window, all_day, .. } = occurrence;
    let is_me = |address: &str| me.iter().any(|mine| mine.eq_ignore_ascii_case(address));
    let answer = details.attendees.iter().find(|attendee| is_me(&attendee.address)).map(|attendee| attendee.answer);
    let is_free = details.is_transparent
        || details.status == Status::Cancelled
        || answer == Some(Answer::No)
        || window.start >= window.end;
    (!is_free).then(|| BusyEvent {
        window: *window,
        title: title(&details.title),
        calendar: Arc::clone(calendar),
        is_tentative: details.status == Status::Tentative || answer == Some(Answer::Open),
        all_day: *all_day,
    })
}

/// The stretches of a window in which there is no room, joined where they share time. What only touches stays apart, so
/// that a stretch with two titles is one in which two things are at once.
pub fn busy(taken: &[BusyEvent], window: Window) -> Vec<BusyPeriod> {
    let mut busy: Vec<BusyPeriod> = Vec::new();
    let mut inside: Vec<&BusyEvent> = taken.iter().filter(|one| one.window.meets(&window)).collect();
    inside.sort_by_key(|one| one.window);
    for one in inside {
        let Window { start, end } = one.window;
        let (start, end) = (start.max(window.start), end.min(window.end));
        match busy.last_mut() {
            Some(last) if start < last.window.end => {
                last.window.end = last.window.end.max(end);
                last.is_tentative &= one.is_tentative;
                if !last.titles.contains(&one.title) {
                    last.titles.push(one.title.clone());
                }
            }
            _ => busy.push(BusyPeriod {
                window: Window { start, end },
                titles: vec![one.title.clone()],
                is_tentative: one.is_tentative,
            }),
        }
    }
    busy
}

fn title(title: &str) -> String {
    if title.is_empty() { "(no title)".to_owned() } else { title.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::series::Events;
    use jiff::tz::TimeZone;

    fn read(events: &[&str], me: &[&str]) -> Vec<BusyEvent> {
        let events: String = events.iter().map(|event| format!("BEGIN:VEVENT\n{event}\nEND:VEVENT\n")).collect();
        let events = Events::read("work", &format!("BEGIN:VCALENDAR\n{events}END:VCALENDAR"));
        let (found, _) = events.expand(day(), &TimeZone::UTC);
        taken(&found, &me.iter().map(|&me| me.to_owned()).collect::<Vec<_>>())
    }

    fn day() -> Window {
        Window { start: "2026-01-15T00:00:00Z".parse().unwrap(), end: "2026-01-16T00:00:00Z".parse().unwrap() }
    }

    fn shown(busy: &[BusyPeriod]) -> Vec<String> {
        let hour = |at: jiff::Timestamp| at.to_zoned(TimeZone::UTC).strftime("%dT%H:%M").to_string();
        busy.iter()
            .map(|one| format!("{}-{} {}", hour(one.window.start), hour(one.window.end), one.titles.join("+")))
            .collect()
    }

    #[test]
    fn what_shares_time_is_one_stretch_within_the_window_and_what_touches_is_not() {
        let taken = read(
            &[
                "SUMMARY:c\nDTSTART:20260115T103000Z\nDTEND:20260115T113000Z",
                "SUMMARY:a\nDTSTART:20260115T090000Z\nDTEND:20260115T100000Z",
                "SUMMARY:b\nDTSTART:20260115T100000Z\nDTEND:20260115T110000Z",
                "SUMMARY:night\nDTSTART:20260115T230000Z\nDTEND:20260116T060000Z",
            ],
            &[],
        );
        assert_eq!(
            shown(&busy(&taken, day())),
            ["15T09:00-15T10:00 a", "15T10:00-15T11:30 b+c", "15T23:00-16T00:00 night"]
        );
    }

    #[test]
    fn no_time_is_taken_by_what_is_off_transparent_declined_or_has_no_length() {
        let at = "DTSTART:20260115T090000Z\nDURATION:PT1H";
        let free = [
            format!("SUMMARY:off\nSTATUS:CANCELLED\n{at}"),
            format!("SUMMARY:birthday\nTRANSP:TRANSPARENT\n{at}"),
            format!("SUMMARY:no\nATTENDEE;PARTSTAT=DECLINED:MAILTO:me@example.com\n{at}"),
            "SUMMARY:reminder\nDTSTART:20260115T090000Z".to_owned(),
        ];
        let free: Vec<&str> = free.iter().map(String::as_str).collect();
        assert_eq!(read(&free, &["Me@example.com"]), []);
        assert_eq!(read(&free, &["another@example.com"]).len(), 1, "another person's answer is not mine");
    }

    #[test]
    fn what_is_tentative_or_not_answered_is_told_so() {
        let at = "DTSTART:20260115T090000Z\nDURATION:PT1H";
        let events = [
            format!("STATUS:TENTATIVE\n{at}"),
            format!("ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:me@example.com\n{at}"),
            format!("ATTENDEE;PARTSTAT=ACCEPTED:mailto:me@example.com\n{at}"),
        ];
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let taken = read(&events, &["me@example.com"]);
        assert_eq!(taken.iter().map(|one| one.is_tentative).collect::<Vec<_>>(), [true, true, false]);
        assert!(!busy(&taken, day())[0].is_tentative, "one that is sure makes the stretch sure");
    }
}
