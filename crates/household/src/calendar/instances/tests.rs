//! The examples of RFC 5545, section 3.8.5.3, and a comparison with another reading of the same section.

use jiff::civil::date;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::calendar::{Events, Window};

/// What a rule yields in New York, the start's time of day left out where it is the same: `1997-09-02`,
/// `1997-09-02T12:00`.
fn yields(start: &str, rule: &str, at_most: usize) -> Vec<String> {
    let text = format!(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=America/New_York:{start}\nRRULE:{rule}\nEND:VEVENT\nEND:VCALENDAR"
    );
    let events = Events::read("", &text);
    assert_eq!(events.warnings(), [] as [&str; 0], "{rule}");
    let zone = TimeZone::get("America/New_York").expect("a zone");
    let window =
        Window { start: "1990-01-01T00:00:00Z".parse().unwrap(), end: "2010-01-01T00:00:00Z".parse().unwrap() };
    let (found, _) = events.expand(window, &TimeZone::UTC);
    let shown = found.iter().take(at_most).map(|one| {
        let at = zone.to_datetime(one.window.start);
        at.strftime(if at.strftime("T%H%M%S").to_string() == start[8..] { "%Y-%m-%d" } else { "%Y-%m-%dT%H:%M" })
            .to_string()
    });
    shown.collect()
}

/// `1997-09: 2-5,9; 10: 3` written out.
fn days(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut year = "";
    for part in text.split(';') {
        let (month, days) = part.trim().split_once(':').expect("a month");
        let month = match month.split_once('-') {
            Some((said, month)) => {
                year = said;
                month
            }
            None => month,
        };
        for day in days.split(',') {
            let (first, last) = day.trim().split_once('-').unwrap_or((day.trim(), day.trim()));
            let (first, last): (u8, u8) = (first.parse().expect("a day"), last.parse().expect("a day"));
            found.extend((first..=last).map(|day| format!("{year}-{month}-{day:02}")));
        }
    }
    found
}

#[test]
fn the_examples_of_the_rfc_come_out_as_it_says() {
    // Start (September 2nd, 1997 where none is said), rule, days. A rule without end is compared as far as the RFC
    // shows it.
    let januaries = "1998-01: 1-31; 1999-01: 1-31; 2000-01: 1-31";
    let mondays = "1997-09: 1,3,5,15,17,19,29; 10: 1,3,13,15,17,27,29,31; 11: 10,12,14,24,26,28; 12: 8,10,12,22";
    let examples = [
        ("", "FREQ=DAILY;COUNT=10", "1997-09: 2-11"),
        ("", "FREQ=DAILY;UNTIL=19971224T000000Z", "1997-09: 2-30; 10: 1-31; 11: 1-30; 12: 1-23"),
        (
            "",
            "FREQ=DAILY;INTERVAL=2",
            "1997-09: 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30; 10: 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30; 11: 1,3",
        ),
        ("", "FREQ=DAILY;INTERVAL=10;COUNT=5", "1997-09: 2,12,22; 10: 2,12"),
        ("19980101", "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA", januaries),
        ("19980101", "FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", januaries),
        ("", "FREQ=WEEKLY;COUNT=10", "1997-09: 2,9,16,23,30; 10: 7,14,21,28; 11: 4"),
        (
            "",
            "FREQ=WEEKLY;UNTIL=19971224T000000Z",
            "1997-09: 2,9,16,23,30; 10: 7,14,21,28; 11: 4,11,18,25; 12: 2,9,16,23",
        ),
        (
            "",
            "FREQ=WEEKLY;INTERVAL=2;WKST=SU",
            "1997-09: 2,16,30; 10: 14,28; 11: 11,25; 12: 9,23; 1998-01: 6,20; 02: 3,17",
        ),
        ("", "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH", "1997-09: 2,4,9,11,16,18,23,25,30; 10: 2"),
        ("", "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH", "1997-09: 2,4,9,11,16,18,23,25,30; 10: 2"),
        ("19970901", "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR", mondays),
        ("", "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH", "1997-09: 2,4,16,18,30; 10: 2,14,16"),
        (
            "19970905",
            "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
            "1997-09: 5; 10: 3; 11: 7; 12: 5; 1998-01: 2; 02: 6; 03: 6; 04: 3; 05: 1; 06: 5",
        ),
        ("19970905", "FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR", "1997-09: 5; 10: 3; 11: 7; 12: 5"),
        (
            "19970907",
            "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
            "1997-09: 7,28; 11: 2,30; 1998-01: 4,25; 03: 1,29; 05: 3,31",
        ),
        ("19970922", "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "1997-09: 22; 10: 20; 11: 17; 12: 22; 1998-01: 19; 02: 16"),
        ("19970928", "FREQ=MONTHLY;BYMONTHDAY=-3", "1997-09: 28; 10: 29; 11: 28; 12: 29; 1998-01: 29; 02: 26"),
        ("", "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15", "1997-09: 2,15; 10: 2,15; 11: 2,15; 12: 2,15; 1998-01: 2,15"),
        (
            "19970930",
            "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1",
            "1997-09: 30; 10: 1,31; 11: 1,30; 12: 1,31; 1998-01: 1,31; 02: 1",
        ),
        (
            "19970910",
            "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15",
            "1997-09: 10-15; 1999-03: 10-13",
        ),
        (
            "",
            "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU",
            "1997-09: 2,9,16,23,30; 11: 4,11,18,25; 1998-01: 6,13,20,27; 03: 3,10,17,24,31",
        ),
        (
            "19970610",
            "FREQ=YEARLY;COUNT=10;BYMONTH=6,7",
            "1997-06: 10; 07: 10; 1998-06: 10; 07: 10; 1999-06: 10; 07: 10; 2000-06: 10; 07: 10; 2001-06: 10; 07: 10",
        ),
        (
            "19970310",
            "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3",
            "1997-03: 10; 1999-01: 10; 02: 10; 03: 10; 2001-01: 10; 02: 10; 03: 10; 2003-01: 10; 02: 10; 03: 10",
        ),
        (
            "19970101",
            "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
            "1997-01: 1; 04: 10; 07: 19; 2000-01: 1; 04: 9; 07: 18; 2003-01: 1; 04: 10; 07: 19; 2006-01: 1",
        ),
        ("19970519", "FREQ=YEARLY;BYDAY=20MO", "1997-05: 19; 1998-05: 18; 1999-05: 17"),
        ("19970512", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05: 12; 1998-05: 11; 1999-05: 17"),
        ("19970313", "FREQ=YEARLY;BYMONTH=3;BYDAY=TH", "1997-03: 13,20,27; 1998-03: 5,12,19,26; 1999-03: 4,11,18,25"),
        (
            "19970605",
            "FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8",
            "1997-06: 5,12,19,26; 07: 3,10,17,24,31; 08: 7,14,21,28; 1998-06: 4,11,18,25; 07: 2,9,16,23,30; 08: 6,13,20,27",
        ),
        // Friday the 13th: the start is a time of its own, which the RFC takes away by an exception.
        (
            "",
            "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13",
            "1997-09: 2; 1998-02: 13; 03: 13; 11: 13; 1999-08: 13; 2000-10: 13",
        ),
        (
            "19970913",
            "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13",
            "1997-09: 13; 10: 11; 11: 8; 12: 13; 1998-01: 10; 02: 7; 03: 7; 04: 11; 05: 9; 06: 13",
        ),
        (
            "19961105",
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
            "1996-11: 5; 2000-11: 7; 2004-11: 2",
        ),
        ("19970904", "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "1997-09: 4; 10: 7; 11: 6"),
        (
            "19970929",
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2",
            "1997-09: 29; 10: 30; 11: 27; 12: 30; 1998-01: 29; 02: 26; 03: 30",
        ),
        ("19970805", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "1997-08: 5,10,19,24"),
        ("19970805", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997-08: 5,17,19,31"),
        ("20070115", "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007-01: 15,30; 02: 15; 03: 15,30"),
    ];
    for (start, rule, expected) in examples {
        let start = if start.is_empty() { "19970902" } else { start };
        let expected = days(expected);
        let has_end = rule.contains("COUNT") || rule.contains("UNTIL");
        let shown = if has_end { usize::MAX } else { expected.len() };
        assert_eq!(yields(&format!("{start}T090000"), rule, shown), expected, "{rule}");
    }
}

#[test]
fn the_examples_within_a_day_come_out_as_the_rfc_says() {
    let hours = |rule| -> Vec<String> {
        let all = yields("19970902T090000", rule, 30);
        all.iter().map(|time| time.replace("1997-09-02", "")).collect()
    };
    // Five in the afternoon in New York; the RFC writes 17:00 in UTC and shows what holds for this (erratum 3883).
    assert_eq!(hours("FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T210000Z"), ["", "T12:00", "T15:00"]);
    assert_eq!(hours("FREQ=MINUTELY;INTERVAL=15;COUNT=6"), ["", "T09:15", "T09:30", "T09:45", "T10:00", "T10:15"]);
    assert_eq!(hours("FREQ=MINUTELY;INTERVAL=90;COUNT=4"), ["", "T10:30", "T12:00", "T13:30"]);
    let daily = hours("FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40");
    assert_eq!(daily, hours("FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16"));
    assert_eq!(daily[..4], ["", "T09:20", "T09:40", "T10:00"]);
    assert_eq!(daily[23..26], ["T16:40", "1997-09-03", "1997-09-03T09:20"]);
}

#[test]
fn what_a_calendar_does_not_have_is_left_out() {
    let first = |start: &str, rule, count| yields(&format!("{start}T090000"), rule, count);
    assert_eq!(first("19960229", "FREQ=YEARLY", 3), ["1996-02-29", "2000-02-29", "2004-02-29"]);
    assert_eq!(first("19970131", "FREQ=MONTHLY", 4), ["1997-01-31", "1997-03-31", "1997-05-31", "1997-07-31"]);
    // Week 53 exists in some years only, and a week without a named day has the start's.
    assert_eq!(first("19981228", "FREQ=YEARLY;BYWEEKNO=53", 3), ["1998-12-28", "2004-12-27", "2009-12-28"]);
    assert_eq!(first("19971231", "FREQ=YEARLY;BYYEARDAY=-1", 2), ["1997-12-31", "1998-12-31"]);
    assert_eq!(first("19970103", "FREQ=MONTHLY;BYDAY=5FR", 3), ["1997-01-03", "1997-01-31", "1997-05-30"]);
}

#[test]
fn a_rule_that_never_matches_or_never_ends_is_left_in_time() {
    let start = date(1970, 1, 1).at(9, 0, 0, 0);
    let rule = |text| Rule::read(text).expect("a rule");
    let never = rule("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30");
    let mut instances = never.instances(start, start);
    assert_eq!(instances.by_ref().collect::<Vec<_>>(), [start]);
    let hostile = rule("FREQ=SECONDLY;COUNT=1000000000;BYMONTH=2;BYMONTHDAY=30");
    let mut instances = hostile.instances(start, start);
    assert_eq!((instances.by_ref().count(), instances.was_cut()), (1, true));
    // However long ago it began, a rule without a count is entered where it is asked for.
    let dense = rule("FREQ=SECONDLY");
    let from = date(2026, 1, 15).at(9, 0, 0, 0);
    assert_eq!(dense.instances(start, from).find(|time| *time >= from), Some(from));
    let far = rule("FREQ=YEARLY;INTERVAL=1000000000");
    assert_eq!(far.instances(start, from).count(), 1);
}

#[test]
fn days_of_january_may_lie_in_the_last_week_of_the_year_before() {
    let start = date(2018, 1, 1).at(0, 30, 0, 0);
    let until = date(2028, 1, 1).at(0, 0, 0, 0);
    let in_week = |week: u8| -> Vec<DateTime> {
        let rule = format!("FREQ=YEARLY;INTERVAL=3;WKST=SU;BYMONTH=1;BYWEEKNO={week};BYDAY=FR");
        let rule = Rule::read(&rule).expect("a rule");
        rule.instances(start, start).skip(1).take_while(|time| *time < until).collect()
    };
    // Weeks begin on Sunday: the first one of 2026 on 4 January, the 52nd on 27 December, and 2027 has its first on 3 January.
    assert_eq!(in_week(52), [date(2027, 1, 1).at(0, 30, 0, 0)]);
    assert_eq!(in_week(53), [date(2021, 1, 1).at(0, 30, 0, 0)]);
}

/// A rule as text, with parts that both readings understand alike.
fn rules() -> impl Strategy<Value = String> {
    let day = prop::sample::select(vec!["MO", "TU", "WE", "TH", "FR", "SA", "SU"]);
    // All numbered or none: the other reader takes a mixture for what is both, the RFC for what is either.
    let nth = prop::sample::select(vec!["1", "2", "4", "5", "-1", "-2"]);
    let some = |from: std::ops::Range<i16>| prop::collection::btree_set(from, 0..4);
    (
        prop::sample::select(vec!["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"]),
        1..5_u8,
        // Of the last weeks of a year the other reader miscounts those that reach into the next.
        (some(1..13), some(-31..32), some(-366..367), some(1..52)),
        prop::collection::btree_set((nth, day.clone()), 0..4),
        (some(0..24), some(0..60), prop::collection::btree_set(-4..5_i16, 0..3)),
        day,
        0..4_u8,
    )
        .prop_map(
            |(
                every,
                interval,
                (months, mut days, mut year_days, mut weeks),
                weekdays,
                (hours, minutes, positions),
                wkst,
                mask,
            )| {
                // What the RFC forbids for a frequency is not asked of it, and rules with too many parts rarely match
                // anything.
                let is_yearly = every == "YEARLY";
                if !is_yearly || mask != 1 || weekdays.is_empty() {
                    weeks.clear();
                }
                if !is_yearly || mask != 2 {
                    year_days.clear();
                }
                if every == "WEEKLY" || mask != 3 {
                    days.clear();
                }
                year_days.remove(&0);
                days.remove(&0);
                let numbered = matches!(every, "YEARLY" | "MONTHLY") && weeks.is_empty() && interval % 2 == 0;
                let weekdays: std::collections::BTreeSet<String> = weekdays
                    .iter()
                    .map(|(nth, day)| if numbered { format!("{nth}{day}") } else { (*day).to_owned() })
                    .collect();
                let mut rule = format!("FREQ={every};INTERVAL={interval};WKST={wkst}");
                let mut add = |name: &str, list: Vec<String>| {
                    if !list.is_empty() {
                        rule.push_str(&format!(";{name}={}", list.join(",")));
                    }
                };
                let texts = |set: &std::collections::BTreeSet<i16>| set.iter().map(i16::to_string).collect::<Vec<_>>();
                let has_parts = !(days.is_empty() && weekdays.is_empty() && year_days.is_empty());
                add("BYMONTH", texts(&months));
                add("BYMONTHDAY", texts(&days));
                add("BYYEARDAY", texts(&year_days));
                add("BYWEEKNO", texts(&weeks));
                add("BYDAY", weekdays.into_iter().collect());
                if every != "HOURLY" {
                    add("BYHOUR", texts(&hours));
                }
                add("BYMINUTE", texts(&minutes));
                // The other reader begins the first week with the start, the RFC with the week.
                let positions =
                    positions.into_iter().filter(|position| *position != 0 && has_parts && every != "WEEKLY").collect();
                add("BYSETPOS", texts(&positions));
                rule
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn another_reader_of_the_rfc_finds_the_same(text in rules(), year in 1995..2030_i16, month in 1..13_i8, day in 1..29_i8, hour in 0..24_i8) {
        const COMPARED: usize = 25;
        let start = date(year, month, day).at(hour, 30, 0, 0);
        let written = format!("DTSTART:{}\nRRULE:{text}", start.strftime("%Y%m%dT%H%M%SZ"));
        let set: rrule::RRuleSet = written.parse().map_err(|error| TestCaseError::fail(format!("{written}: {error}")))?;
        // Neither is followed for ever where a rule matches next to never.
        let last = start.saturating_add(Span::new().days(if text.contains("HOURLY") { 60 } else { 3300 }));
        let seconds = |time: DateTime| TimeZone::UTC.to_timestamp(time).expect("a time").as_second();
        let theirs = (&set).into_iter().map(|time| time.timestamp()).take_while(|time| *time <= seconds(last));
        let theirs: Vec<i64> = theirs.filter(|time| *time != seconds(start)).take(COMPARED).collect();
        let rule = Rule::read(&text).map_err(TestCaseError::fail)?;
        // The start is in ours whether or not the rule yields it.
        let mut ours = rule.instances(start, start).take_while(|time| *time <= last);
        prop_assert_eq!(ours.next(), Some(start));
        prop_assert_eq!(ours.map(seconds).take(COMPARED).collect::<Vec<_>>(), theirs, "{}", written);
    }

    #[test]
    fn entering_a_rule_late_changes_nothing(text in rules(), days in 0..2000_i64) {
        let start = date(2001, 3, 31).at(12, 30, 0, 0);
        let days = if text.contains("HOURLY") { days / 30 } else { days };
        let from = start.saturating_add(Span::new().days(days));
        let last = from.saturating_add(Span::new().days(days / 3 + 30));
        let rule = Rule::read(&text).map_err(TestCaseError::fail)?;
        let seen = |entered| rule.instances(start, entered).take_while(|time| *time <= last).filter(|time| *time >= from).take(50).collect::<Vec<_>>();
        prop_assert_eq!(seen(from), seen(start), "{}", text);
    }
}
