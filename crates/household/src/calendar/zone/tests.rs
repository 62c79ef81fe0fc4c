use jiff::Timestamp;

use super::*;

fn calendar(text: &str) -> Component {
    let mut read = Component::read(&format!("BEGIN:VCALENDAR\n{text}\nEND:VCALENDAR\n"));
    read.pop().expect("a calendar")
}

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).expect("a zone of the world")
}

/// The zone of RFC 5545, section 3.6.5, under a name that nobody else has for it.
const NEW_YORK: &str = "BEGIN:VTIMEZONE
TZID:Head office
BEGIN:DAYLIGHT
DTSTART:19870405T020000
RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20060402T070000Z
TZOFFSETFROM:-0500
TZOFFSETTO:-0400
TZNAME:EDT
END:DAYLIGHT
BEGIN:STANDARD
DTSTART:19871025T020000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T060000Z
TZOFFSETFROM:-0400
TZOFFSETTO:-0500
TZNAME:EST
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:20070311T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU
TZOFFSETFROM:-0500
TZOFFSETTO:-0400
END:DAYLIGHT
BEGIN:STANDARD
DTSTART:20071104T020000
RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU
TZOFFSETFROM:-0400
TZOFFSETTO:-0500
END:STANDARD
END:VTIMEZONE";

#[test]
fn a_zone_is_found_by_its_name_behind_a_prefix_by_its_place_or_as_windows_calls_it() {
    let calendar = calendar(
        "BEGIN:VTIMEZONE\nTZID:Zuhause\nX-LIC-LOCATION:Europe/Berlin\nEND:VTIMEZONE\nBEGIN:VTIMEZONE\nTZID:Empty\nEND:VTIMEZONE",
    );
    let mut zones = Zones::of(&calendar);
    let berlin = Some(zone("Europe/Berlin"));
    assert_eq!(zones.named("Europe/Berlin"), berlin);
    assert_eq!(zones.named("/mozilla.org/20050126_1/Europe/Berlin"), berlin);
    assert_eq!(zones.named("Zuhause"), berlin);
    assert_eq!(zones.named("W. Europe Standard Time"), berlin);
    assert_eq!((zones.named("Empty"), zones.named("Nowhere")), (None, None));
    assert_eq!(zones.unknown().collect::<Vec<_>>(), ["Empty", "Nowhere"]);
}

#[test]
fn a_file_s_own_offsets_are_those_of_the_zone_that_it_describes() {
    let (own, known) =
        (Zones::of(&calendar(NEW_YORK)).named("Head office").expect("own offsets"), zone("America/New_York"));
    // Every seven hours, so that all hours of a day come up, over years with both sets of rules.
    let first: Timestamp = "1988-01-01T00:00:00Z".parse().expect("a time");
    for step in 0..45_000 {
        let at = first + jiff::SignedDuration::from_hours(7 * step);
        assert_eq!(own.to_offset(at), known.to_offset(at), "{at}");
    }
    // In the gap and in the fold of 2026.
    for civil in ["2026-03-08T02:30", "2026-11-01T01:30"] {
        let civil: DateTime = civil.parse().expect("a time");
        assert_eq!(own.to_timestamp(civil).expect("a time"), known.to_timestamp(civil).expect("a time"));
    }
}

#[test]
fn offsets_may_be_given_by_dates_and_without_any_change() {
    let calendar = calendar(
        "BEGIN:VTIMEZONE\nTZID:Fixed\nBEGIN:STANDARD\nDTSTART:16010101T000000\nTZOFFSETFROM:+0545\nTZOFFSETTO:+0545\nEND:STANDARD\nEND:VTIMEZONE\n\
         BEGIN:VTIMEZONE\nTZID:Dated\nBEGIN:DAYLIGHT\nDTSTART:20250330T020000\nRDATE:20260329T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nEND:DAYLIGHT\n\
         BEGIN:STANDARD\nDTSTART:20251026T030000\nRDATE:20261025T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE",
    );
    let mut zones = Zones::of(&calendar);
    let hours = |zone: &TimeZone, at: &str| zone.to_offset(at.parse().expect("a time")).seconds() as f64 / 3600.0;
    let fixed = zones.named("Fixed").expect("a zone");
    assert_eq!(hours(&fixed, "2026-07-01T00:00:00Z"), 5.75);
    let dated = zones.named("Dated").expect("a zone");
    let expected =
        [("2024-07-01", 1.0), ("2025-07-01", 2.0), ("2026-01-01", 1.0), ("2026-07-01", 2.0), ("2030-07-01", 1.0)];
    for (day, offset) in expected {
        assert_eq!(hours(&dated, &format!("{day}T00:00:00Z")), offset, "{day}");
    }
}

#[test]
fn nonsense_in_a_zone_is_passed_over() {
    for broken in [
        "TZOFFSETFROM:+9900\nTZOFFSETTO:+0100\nDTSTART:20250330T020000",
        "TZOFFSETFROM:ü\nTZOFFSETTO:+01",
        "DTSTART:never",
    ] {
        let text = format!("BEGIN:VTIMEZONE\nTZID:X\nBEGIN:STANDARD\n{broken}\nEND:STANDARD\nEND:VTIMEZONE");
        assert_eq!(Zones::of(&calendar(&text)).named("X"), None, "{broken}");
    }
    assert_eq!([seconds("+0530"), seconds("-1"), seconds("-00:30")], [Some(19_800), None, Some(-1800)]);
}
