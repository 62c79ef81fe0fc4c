//! Whole events: zones, changes of clocks, exceptions and changes of single times.

use super::*;
use crate::calendar::event::Status;

/// What takes place in 2026 for a reader in a zone: `2026-01-15T10:00/60 Title`, the length in minutes.
fn expanded_in(zone: &str, events: &[&str]) -> Vec<String> {
    let text: String = events.iter().map(|event| format!("BEGIN:VEVENT\nUID:x\n{event}\nEND:VEVENT\n")).collect();
    let events = Events::read("work", &format!("BEGIN:VCALENDAR\n{text}END:VCALENDAR\n"));
    assert_eq!(events.warnings(), [] as [&str; 0]);
    let zone = TimeZone::get(zone).expect("a zone");
    let (found, cut) = events.expand(year(), &zone);
    assert_eq!(cut, [] as [&str; 0]);
    found.iter().map(|one| shown(one, &zone)).collect()
}

fn expanded(events: &[&str]) -> Vec<String> {
    expanded_in("Europe/Berlin", events)
}

fn shown(one: &Occurrence, zone: &TimeZone) -> String {
    let start = zone.to_datetime(one.window.start).strftime("%m-%dT%H:%M");
    let mark = if one.details.status == Status::Cancelled { " off" } else { "" };
    let title = if one.details.title.is_empty() { String::new() } else { format!(" {}", one.details.title) };
    format!("{start}/{}{title}{mark}", one.window.length().as_mins())
}

fn year() -> Window {
    Window { start: "2026-01-01T00:00:00Z".parse().unwrap(), end: "2027-01-01T00:00:00Z".parse().unwrap() }
}

#[test]
fn a_weekly_hour_stays_at_its_hour_through_both_changes_of_clocks() {
    let spring = expanded(&[
        "DTSTART;TZID=Europe/Berlin:20260325T090000\nDTEND;TZID=Europe/Berlin:20260325T100000\nRRULE:FREQ=WEEKLY;COUNT=2",
    ]);
    assert_eq!(spring, ["03-25T09:00/60", "04-01T09:00/60"]);
    let autumn = expanded(&["DTSTART;TZID=Europe/Berlin:20261021T090000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=2"]);
    assert_eq!(autumn, ["10-21T09:00/60", "10-28T09:00/60"]);
    // Seen from elsewhere it moves: America changes its clocks two weeks before Europe, and Sydney the other way round.
    let new_york = "DTSTART;TZID=America/New_York:20260304T100000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=5";
    assert_eq!(
        expanded(&[new_york]),
        ["03-04T16:00/60", "03-11T15:00/60", "03-18T15:00/60", "03-25T15:00/60", "04-01T16:00/60"]
    );
    let sydney = "DTSTART;TZID=Australia/Sydney:20260325T180000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=3";
    assert_eq!(expanded(&[sydney]), ["03-25T08:00/60", "04-01T09:00/60", "04-08T10:00/60"]);
    // What is written in UTC does not follow any clock.
    assert_eq!(
        expanded(&["DTSTART:20260325T080000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=2"]),
        ["03-25T09:00/60", "04-01T10:00/60"]
    );
}

#[test]
fn times_in_a_gap_are_an_hour_later_and_in_a_fold_the_first() {
    let daily = |start| format!("DTSTART;TZID=Europe/Berlin:{start}\nDURATION:PT30M\nRRULE:FREQ=DAILY;COUNT=3");
    assert_eq!(expanded(&[&daily("20260328T023000")]), ["03-28T02:30/30", "03-29T03:30/30", "03-30T02:30/30"]);
    let fold = format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\n{}\nEND:VEVENT\nEND:VCALENDAR", daily("20261024T023000"));
    let (found, _) = Events::read("", &fold).expand(year(), &TimeZone::UTC);
    let utc: Vec<String> = found.iter().map(|one| shown(one, &TimeZone::UTC)).collect();
    assert_eq!(utc, ["10-24T00:30/30", "10-25T00:30/30", "10-26T01:30/30"]);
    // The southern hemisphere's gap, in October.
    let south = ["DTSTART;TZID=Australia/Sydney:20261003T023000\nDURATION:PT30M\nRRULE:FREQ=DAILY;COUNT=3"];
    assert_eq!(expanded_in("Australia/Sydney", &south), ["10-03T02:30/30", "10-04T03:30/30", "10-05T02:30/30"]);
}

#[test]
fn an_end_gives_every_time_the_same_length_and_a_duration_the_same_days() {
    let rule = "RRULE:FREQ=DAILY;COUNT=2";
    let until = format!("DTSTART;TZID=Europe/Berlin:20260327T220000\nDTEND;TZID=Europe/Berlin:20260328T220000\n{rule}");
    assert_eq!(expanded(&[&until]), ["03-27T22:00/1440", "03-28T22:00/1440"]);
    let lasting = format!("DTSTART;TZID=Europe/Berlin:20260327T220000\nDURATION:P1D\n{rule}");
    assert_eq!(expanded(&[&lasting]), ["03-27T22:00/1440", "03-28T22:00/1380"]);
}

#[test]
fn days_are_the_reader_s_days_and_end_before_their_end() {
    let holiday = "DTSTART;VALUE=DATE:20260328\nDTEND;VALUE=DATE:20260331";
    assert_eq!(expanded(&[holiday]), ["03-28T00:00/4260"], "three days, one of them 23 hours long");
    assert_eq!(expanded_in("Asia/Tokyo", &[holiday]), ["03-28T00:00/4320"]);
    for one_day in
        ["", "\nDTEND;VALUE=DATE:20260705", "\nDTEND;VALUE=DATE:20260704", "\nDURATION:P1D", "\nDURATION:PT3H"]
    {
        assert_eq!(expanded(&[&format!("DTSTART;VALUE=DATE:20260705{one_day}")]), ["07-05T00:00/1440"], "{one_day}");
    }
    let birthday = "DTSTART;VALUE=DATE:19800229\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1";
    assert_eq!(expanded(&[birthday]), ["02-28T00:00/1440"]);
    let until = "DTSTART;VALUE=DATE:20260105\nRRULE:FREQ=DAILY;UNTIL=20260107\nEXDATE;VALUE=DATE:20260106";
    assert_eq!(expanded(&[until]), ["01-05T00:00/1440", "01-07T00:00/1440"]);
    // Midnight does not exist everywhere: clocks in Santiago go from 23:59 to 01:00 on this day.
    assert_eq!(expanded_in("America/Santiago", &["DTSTART;VALUE=DATE:20260906"]), ["09-06T01:00/1380"]);
}

#[test]
fn floating_times_are_those_of_the_readers_zone() {
    let floating = ["DTSTART:20260115T100000\nDTEND:20260115T110000\nRRULE:FREQ=DAILY;UNTIL=20260116T100000"];
    for zone in ["Europe/Berlin", "Asia/Tokyo"] {
        assert_eq!(expanded_in(zone, &floating), ["01-15T10:00/60", "01-16T10:00/60"]);
    }
}

#[test]
fn the_last_time_is_included_however_it_is_written() {
    let until = |until| {
        expanded(&[&format!("DTSTART;TZID=Europe/Berlin:20260113T090000\nRRULE:FREQ=DAILY;UNTIL={until}")]).len()
    };
    // Nine in Berlin is eight in UTC.
    assert_eq!([until("20260115T080000Z"), until("20260115T075959Z")], [3, 2]);
    assert_eq!([until("20260115T090000"), until("20260115T085900"), until("20260115")], [3, 2, 3]);
}

#[test]
fn times_are_added_and_taken_away() {
    let series = "DTSTART;TZID=Europe/Berlin:20260105T090000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=3";
    // In UTC, in the series' zone, in another zone, and as a day.
    for exception in [
        "EXDATE:20260112T080000Z",
        "EXDATE;TZID=Europe/Berlin:20260112T090000",
        "EXDATE:20260112T090000",
        "EXDATE;TZID=Asia/Tokyo:20260112T170000",
        "EXDATE;VALUE=DATE:20260112",
    ] {
        assert_eq!(expanded(&[&format!("{series}\n{exception}")]), ["01-05T09:00/60", "01-19T09:00/60"], "{exception}");
    }
    let several = format!("{series}\nEXDATE:20260105T080000Z,20260112T080000Z\nEXDATE:20260119T080000Z");
    assert_eq!(expanded(&[&several]), [] as [&str; 0]);
    let more = format!(
        "{series}\nRDATE;TZID=Europe/Berlin:20260106T090000,20260112T090000\nRDATE;VALUE=PERIOD:20260107T080000Z/PT2H,20260108T080000Z/20260108T083000Z"
    );
    assert_eq!(
        expanded(&[&more]),
        ["01-05T09:00/60", "01-06T09:00/60", "01-07T09:00/120", "01-08T09:00/30", "01-12T09:00/60", "01-19T09:00/60"]
    );
    assert_eq!(expanded(&["DTSTART:20260105T090000Z\nRDATE:20260106T090000Z"]).len(), 2, "without any rule");
}

#[test]
fn friday_the_13th_without_its_start_is_as_the_rfc_has_it() {
    let text = "DTSTART;TZID=America/New_York:19970902T090000\nEXDATE;TZID=America/New_York:19970902T090000\nRRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13";
    assert_eq!(expanded_in("America/New_York", &[text]), ["02-13T09:00/0", "03-13T09:00/0", "11-13T09:00/0"]);
}

const STANDUP: &str = "SUMMARY:Standup\nDTSTART;TZID=Europe/Berlin:20260105T090000\nDTEND;TZID=Europe/Berlin:20260105T091500\nRRULE:FREQ=WEEKLY;COUNT=4";

#[test]
fn one_time_may_be_moved_renamed_or_called_off() {
    let moved = "SUMMARY:Standup, later\nRECURRENCE-ID;TZID=Europe/Berlin:20260112T090000\nDTSTART;TZID=Europe/Berlin:20260113T140000\nDURATION:PT1H";
    let off = "RECURRENCE-ID:20260119T080000Z\nSTATUS:CANCELLED\nDTSTART:20260119T080000Z";
    assert_eq!(
        expanded(&[STANDUP, moved, off]),
        [
            "01-05T09:00/15 Standup",
            "01-13T14:00/60 Standup, later",
            "01-19T09:00/15 Standup off",
            "01-26T09:00/15 Standup"
        ]
    );
    // The order in a file does not matter, and of two changes of the same time the later version stands.
    let again = "SUMMARY:Standup, at noon\nSEQUENCE:2\nRECURRENCE-ID:20260112T080000Z\nDTSTART:20260112T110000Z\nDURATION:PT15M";
    assert_eq!(expanded(&[again, moved, STANDUP])[1], "01-12T12:00/15 Standup, at noon");
}

#[test]
fn a_time_that_was_moved_into_or_out_of_the_window_is_where_it_went() {
    let series = "SUMMARY:a\nDTSTART:20251230T090000Z\nRRULE:FREQ=DAILY;COUNT=4";
    let into = "SUMMARY:b\nRECURRENCE-ID:20251231T090000Z\nDTSTART:20260302T090000Z";
    let out = "SUMMARY:c\nRECURRENCE-ID:20260102T090000Z\nDTSTART:20251224T090000Z";
    assert_eq!(expanded_in("UTC", &[series, into, out]), ["01-01T09:00/0 a", "03-02T09:00/0 b"]);
}

#[test]
fn a_change_of_this_and_all_that_follow_moves_them_by_the_same_time_on_the_clock() {
    let later = "SUMMARY:Standup, later\nRECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260323T090000\nDTSTART;TZID=Europe/Berlin:20260324T100000\nDURATION:PT30M";
    let series =
        "SUMMARY:Standup\nDTSTART;TZID=Europe/Berlin:20260316T090000\nDURATION:PT15M\nRRULE:FREQ=WEEKLY;COUNT=4";
    // Across the change of clocks, too.
    assert_eq!(
        expanded(&[series, later]),
        [
            "03-16T09:00/15 Standup",
            "03-24T10:00/30 Standup, later",
            "03-31T10:00/30 Standup, later",
            "04-07T10:00/30 Standup, later"
        ]
    );
    let one = "SUMMARY:Once\nRECURRENCE-ID:20260330T070000Z\nDTSTART:20260330T120000Z\nDURATION:PT15M";
    assert_eq!(expanded(&[series, later, one])[2], "03-30T14:00/15 Once", "a change of one time stands over it");
    let off = "RECURRENCE-ID;RANGE=THISANDFUTURE:20260330T070000Z\nSTATUS:CANCELLED";
    let ends = expanded(&[series, off]);
    assert_eq!(ends[1..], ["03-23T09:00/15 Standup", "03-30T09:00/15 Standup off", "04-06T09:00/15 Standup off"]);
}

#[test]
fn one_day_of_a_series_of_days_may_be_moved() {
    let days = "SUMMARY:On call\nDTSTART;VALUE=DATE:20260105\nRRULE:FREQ=WEEKLY;COUNT=3";
    let moved = "SUMMARY:On call\nRECURRENCE-ID;VALUE=DATE:20260112\nDTSTART;VALUE=DATE:20260114";
    let sloppy = "SUMMARY:On call\nRECURRENCE-ID:20260119T000000\nDTSTART;VALUE=DATE:20260120";
    assert_eq!(
        expanded(&[days, moved, sloppy]),
        ["01-05T00:00/1440 On call", "01-14T00:00/1440 On call", "01-20T00:00/1440 On call"]
    );
}

#[test]
fn changes_without_their_series_stand_alone() {
    let alone = "SUMMARY:Invited once\nRECURRENCE-ID:20260119T080000Z\nDTSTART:20260119T100000Z\nDURATION:PT1H";
    assert_eq!(expanded_in("UTC", &[alone]), ["01-19T10:00/60 Invited once"]);
}

#[test]
fn the_latest_version_of_an_event_stands() {
    let old = "SUMMARY:Old\nSEQUENCE:1\nDTSTART:20260119T080000Z";
    let new = "SUMMARY:New\nSEQUENCE:2\nDTSTART:20260120T080000Z";
    for events in [[old, new], [new, old]] {
        assert_eq!(expanded_in("UTC", &events), ["01-20T08:00/0 New"]);
    }
}

#[test]
fn what_reaches_into_the_window_is_in_it_and_what_only_touches_is_not() {
    let read = |start: &str, end: &str| {
        let text = format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:{start}\nDTEND:{end}\nEND:VEVENT\nEND:VCALENDAR");
        Events::read("", &text).expand(year(), &TimeZone::UTC).0.len()
    };
    assert_eq!(read("20251231T230000Z", "20260101T000000Z"), 0);
    assert_eq!(read("20251231T230000Z", "20260101T000001Z"), 1);
    assert_eq!(read("20270101T000000Z", "20270101T010000Z"), 0);
    assert_eq!(read("20260101T000000Z", "20260101T000000Z"), 1, "a moment at the beginning");
    assert_eq!(read("20260110T000000Z", "20260109T000000Z"), 1, "an end before the start is none");
}

#[test]
fn a_long_series_from_long_ago_reaches_into_the_window_too() {
    let nights = ["DTSTART:19700101T220000Z\nDURATION:P3D\nRRULE:FREQ=WEEKLY;BYDAY=WE;UNTIL=20260101T000000Z"];
    assert_eq!(expanded_in("UTC", &nights), ["12-31T22:00/4320"]);
}

#[test]
fn too_many_times_are_cut_and_told() {
    let text = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Tick\nDTSTART:20200101T000000Z\nRRULE:FREQ=SECONDLY\nEND:VEVENT\nEND:VCALENDAR";
    let (found, cut) = Events::read("", text).expand(year(), &TimeZone::UTC);
    assert!(found.len() <= MAX_TIMES && !found.is_empty());
    assert_eq!(cut, ["“Tick” repeats too often to be followed to its end"]);
}

#[test]
fn what_is_wrong_is_told_and_the_rest_stands() {
    let read = |event: &str| {
        Events::read("", &format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Odd\n{event}\nEND:VEVENT\nEND:VCALENDAR"))
    };
    let told = |event: &str| read(event).warnings().join("; ");
    assert_eq!(told("DTSTART:soon"), "“Odd” is left out, it does not say when it begins");
    assert_eq!(
        told("DTSTART:20260119T080000Z\nRRULE:FREQ=NEVER"),
        "“Odd” repeats by a rule that cannot be read: FREQ=NEVER makes no sense"
    );
    assert_eq!(
        told("DTSTART;VALUE=DATE:20260119\nRRULE:FREQ=HOURLY"),
        "“Odd” repeats by a rule that cannot be read: whole days cannot repeat within a day"
    );
    assert_eq!(
        told("DTSTART;TZID=Mars:20260119T080000"),
        "unknown time zone \"Mars\"; its times are read in your time zone"
    );
    let (found, _) = read("DTSTART:20260119T080000Z\nRRULE:FREQ=NEVER").expand(year(), &TimeZone::UTC);
    assert_eq!(found.len(), 1, "what repeats nobody knows how takes place once");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 120, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_text_makes_it_panic(lines in proptest::collection::vec((0..WORDS.len(), 0..WORDS.len(), "[ -~ü\n]{0,12}"), 0..20)) {
        let mut text = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=Europe/Berlin:20260105T090000\n".to_owned();
        for (one, other, noise) in lines {
            text.push_str(&format!("{}{}{noise}\n", WORDS[one], WORDS[other]));
        }
        text.push_str("END:VEVENT\nEND:VCALENDAR\n");
        let (found, _) = Events::read("", &text).expand(year(), &TimeZone::UTC);
        proptest::prop_assert!(found.iter().all(|one| one.window.meets(&year())));
    }
}

/// Pieces of which nonsense is made that looks like a calendar.
const WORDS: [&str; 26] = [
    "BEGIN:VEVENT\n",
    "END:VEVENT\n",
    "BEGIN:VTIMEZONE\nTZID:X\nBEGIN:STANDARD\n",
    "END:STANDARD\nEND:VTIMEZONE\n",
    "TZOFFSETFROM:",
    "TZOFFSETTO:",
    "+0100",
    "-9999",
    "DTSTART",
    "DTEND",
    ":",
    ";TZID=X:",
    ";VALUE=DATE:",
    "20260329T023000",
    "99991231T235959Z",
    "00010101",
    "RRULE:FREQ=",
    "YEARLY",
    "SECONDLY;COUNT=999999999",
    ";BYMONTHDAY=-31;BYSETPOS=-1",
    ";UNTIL=",
    "EXDATE:",
    "RDATE;VALUE=PERIOD:",
    "/P1W",
    "RECURRENCE-ID;RANGE=THISANDFUTURE:",
    "DURATION:-PT",
];
