//! A table of times as people say them, at eleven on Thursday, the 15th of January 2026, in Berlin.

use super::*;

fn now() -> Zoned {
    "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment")
}

/// What is said, and from when to when it reaches (`MM-DD HH:MM`; other years are written out).
const TABLE: &[(&str, &str)] = &[
    // Days by their names.
    ("today", "01-15 00:00 01-16 00:00"),
    ("what's on tomorrow?", "01-16 00:00 01-17 00:00"),
    ("tommorow", "01-16 00:00 01-17 00:00"),
    ("the day after tomorrow", "01-17 00:00 01-18 00:00"),
    ("yesterday", "01-14 00:00 01-15 00:00"),
    ("heute", "01-15 00:00 01-16 00:00"),
    ("morgen", "01-16 00:00 01-17 00:00"),
    ("übermorgen", "01-17 00:00 01-18 00:00"),
    ("uebermorgen", "01-17 00:00 01-18 00:00"),
    ("vorgestern", "01-13 00:00 01-14 00:00"),
    ("aujourd'hui", "01-15 00:00 01-16 00:00"),
    ("après-demain", "01-17 00:00 01-18 00:00"),
    ("hoy", "01-15 00:00 01-16 00:00"),
    ("mañana", "01-16 00:00 01-17 00:00"),
    ("domani", "01-16 00:00 01-17 00:00"),
    // Weekdays: a bare one is the next one, never today.
    ("on Friday", "01-16 00:00 01-17 00:00"),
    ("Thursday", "01-22 00:00 01-23 00:00"),
    ("this Thursday", "01-15 00:00 01-16 00:00"),
    ("next Friday", "01-23 00:00 01-24 00:00"),
    ("next Tuesday", "01-20 00:00 01-21 00:00"),
    ("last Monday", "01-12 00:00 01-13 00:00"),
    ("last Thursday", "01-08 00:00 01-09 00:00"),
    ("am Dienstag", "01-20 00:00 01-21 00:00"),
    ("nächsten Freitag", "01-23 00:00 01-24 00:00"),
    ("kommenden Freitag", "01-16 00:00 01-17 00:00"),
    ("mardi prochain", "01-20 00:00 01-21 00:00"),
    ("lundi dernier", "01-12 00:00 01-13 00:00"),
    ("el lunes", "01-19 00:00 01-20 00:00"),
    // Weeks, months, years.
    ("this week", "01-12 00:00 01-19 00:00"),
    ("next week", "01-19 00:00 01-26 00:00"),
    ("last week", "01-05 00:00 01-12 00:00"),
    ("diese Woche", "01-12 00:00 01-19 00:00"),
    ("nächste Woche", "01-19 00:00 01-26 00:00"),
    ("la semaine prochaine", "01-19 00:00 01-26 00:00"),
    ("cette semaine", "01-12 00:00 01-19 00:00"),
    ("la settimana prossima", "01-19 00:00 01-26 00:00"),
    ("volgende week", "01-19 00:00 01-26 00:00"),
    ("this weekend", "01-17 00:00 01-19 00:00"),
    ("am Wochenende", "01-17 00:00 01-19 00:00"),
    ("next weekend", "01-24 00:00 01-26 00:00"),
    ("the weekend of the 24th and 25th", "01-24 00:00 01-26 00:00"),
    ("the weekend of the 6th of March", "03-07 00:00 03-09 00:00"),
    ("on the third of October", "10-03 00:00 10-04 00:00"),
    ("the rest of my day", "01-15 00:00 01-16 00:00"),
    ("am Montagabend", "01-19 18:00 01-19 23:00"),
    ("block Friday 16:00-17:30", "01-16 16:00 01-16 17:30"),
    ("next month", "02-01 00:00 03-01 00:00"),
    ("le mois dernier", "2025-12-01 00:00 01-01 00:00"),
    ("in March", "03-01 00:00 04-01 00:00"),
    ("im Februar", "02-01 00:00 03-01 00:00"),
    ("this year", "01-01 00:00 2027-01-01 00:00"),
    // Lengths that reach from here.
    ("the last 24 hours", "01-14 11:00 01-15 11:00"),
    ("past 3 days", "01-12 11:00 01-15 11:00"),
    ("in the past week", "01-08 11:00 01-15 11:00"),
    ("next two weeks", "01-15 11:00 01-29 11:00"),
    ("die letzten drei Tage", "01-12 11:00 01-15 11:00"),
    ("ces 24 dernières heures", "01-14 11:00 01-15 11:00"),
    ("within a week", "01-15 11:00 01-22 11:00"),
    ("in two weeks", "01-29 00:00 01-30 00:00"),
    ("in 3 Tagen", "01-18 00:00 01-19 00:00"),
    ("dans deux semaines", "01-29 00:00 01-30 00:00"),
    ("in two hours", "01-15 13:00 01-15 13:00"),
    ("in an hour", "01-15 12:00 01-15 12:00"),
    ("3 days ago", "01-12 00:00 01-13 00:00"),
    ("vor zwei Tagen", "01-13 00:00 01-14 00:00"),
    ("il y a deux jours", "01-13 00:00 01-14 00:00"),
    // Dates.
    ("2026-01-20", "01-20 00:00 01-21 00:00"),
    ("20.1.2026", "01-20 00:00 01-21 00:00"),
    ("am 20.1.", "01-20 00:00 01-21 00:00"),
    ("20/01/2026", "01-20 00:00 01-21 00:00"),
    ("on January 20", "01-20 00:00 01-21 00:00"),
    ("Jan 20th", "01-20 00:00 01-21 00:00"),
    ("the 20th of January 2027", "2027-01-20 00:00 2027-01-21 00:00"),
    ("on the 20th", "01-20 00:00 01-21 00:00"),
    ("on the 3rd", "02-03 00:00 02-04 00:00"),
    ("15. Januar", "01-15 00:00 01-16 00:00"),
    ("am 3. Februar", "02-03 00:00 02-04 00:00"),
    ("le 20 janvier", "01-20 00:00 01-21 00:00"),
    ("20 de enero", "01-20 00:00 01-21 00:00"),
    // Hours.
    ("tomorrow at 3pm", "01-16 15:00 01-16 15:00"),
    ("tomorrow at 3", "01-16 15:00 01-16 15:00"),
    ("at 9", "01-16 09:00 01-16 09:00"),
    ("at 2:30 pm", "01-15 14:30 01-15 14:30"),
    ("on Friday, with Anna, at 10:15", "01-16 10:15 01-16 10:15"),
    ("half past three on Monday", "01-19 15:30 01-19 15:30"),
    ("3 o'clock", "01-15 15:00 01-15 15:00"),
    ("morgen um 15 Uhr", "01-16 15:00 01-16 15:00"),
    ("heute um halb vier", "01-15 15:30 01-15 15:30"),
    ("morgen um 15 Uhr 30", "01-16 15:30 01-16 15:30"),
    ("demain à 15h30", "01-16 15:30 01-16 15:30"),
    ("demain à 15 heures", "01-16 15:00 01-16 15:00"),
    ("2026-01-20T14:00", "01-20 14:00 01-20 14:00"),
    ("noon tomorrow", "01-16 12:00 01-16 12:00"),
    // Parts of a day.
    ("next Tuesday afternoon", "01-20 12:00 01-20 18:00"),
    ("tomorrow morning", "01-16 06:00 01-16 12:00"),
    ("this afternoon", "01-15 12:00 01-15 18:00"),
    ("tonight", "01-15 18:00 01-15 23:00"),
    ("last night", "01-14 18:00 01-14 23:00"),
    ("morgen früh", "01-16 06:00 01-16 12:00"),
    ("heute Morgen", "01-15 06:00 01-15 12:00"),
    ("heute Abend", "01-15 18:00 01-15 23:00"),
    ("morgen Nachmittag", "01-16 12:00 01-16 18:00"),
    ("demain matin", "01-16 06:00 01-16 12:00"),
    ("cet après-midi", "01-15 12:00 01-15 18:00"),
    ("Friday at 8 in the evening", "01-16 20:00 01-16 20:00"),
    // Ranges and bounds.
    ("between 2 and 4 pm", "01-15 14:00 01-15 16:00"),
    ("tomorrow between 2 and 4", "01-16 14:00 01-16 16:00"),
    ("from 9 to 11 tomorrow", "01-16 09:00 01-16 11:00"),
    ("Friday 3-4pm", "01-16 15:00 01-16 16:00"),
    ("morgen zwischen 14 und 16 Uhr", "01-16 14:00 01-16 16:00"),
    ("von 9 bis 11 Uhr", "01-16 09:00 01-16 11:00"),
    ("demain entre 14h et 16h", "01-16 14:00 01-16 16:00"),
    ("from Monday to Wednesday", "01-19 00:00 01-22 00:00"),
    ("Montag bis Mittwoch", "01-19 00:00 01-22 00:00"),
    ("by Friday", "01-15 11:00 01-17 00:00"),
    ("before Friday", "01-15 11:00 01-16 00:00"),
    ("bis Freitag", "01-15 11:00 01-17 00:00"),
    ("since Monday", "01-12 00:00 01-15 11:00"),
    ("seit gestern", "01-14 00:00 01-15 11:00"),
    ("depuis hier", "01-14 00:00 01-15 11:00"),
    ("since December 20", "2025-12-20 00:00 01-15 11:00"),
    ("tomorrow after 3pm", "01-16 15:00 01-17 00:00"),
    ("tomorrow before 10", "01-16 00:00 01-16 10:00"),
    ("by EOD", "01-15 11:00 01-15 18:00"),
    ("end of day Friday", "01-15 11:00 01-16 18:00"),
    ("by the end of the week", "01-15 11:00 01-16 18:00"),
    ("EOM", "01-15 11:00 01-31 18:00"),
    ("within 48h", "01-15 11:00 01-17 11:00"),
    ("by the end of next week", "01-15 11:00 01-23 18:00"),
    ("01/20/2026", "01-20 00:00 01-21 00:00"),
    ("tomorrow at midnight", "01-16 23:59 01-16 23:59"),
    ("morgen um 15.30 Uhr", "01-16 15:30 01-16 15:30"),
    // Clocks that change: the day is an hour shorter.
    ("on March 29", "03-29 00:00 03-30 00:00"),
];

#[test]
fn times_are_read_as_people_say_them() {
    let mut wrong = Vec::new();
    for (text, expected) in TABLE {
        let found = match read(text).when {
            Some(when) => format!("{} {}", short(&when.start), short(&when.end)),
            None => "nothing".to_owned(),
        };
        if found != *expected {
            wrong.push(format!("{text:?}: {found}, not {expected}"));
        }
    }
    assert!(TABLE.len() >= 80 && wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn lengths_are_read_and_are_no_times() {
    for (text, minutes) in [
        ("for 45 min", 45),
        ("a 30-minute call", 30),
        ("half an hour", 30),
        ("an hour and a half", 90),
        ("1.5 hours", 90),
        ("two hours", 120),
        ("90min", 90),
        ("1h30", 90),
        ("2h", 120),
        ("eine halbe Stunde", 30),
        ("anderthalb Stunden", 90),
        ("für 20 Minuten", 20),
        ("une heure", 60),
        ("une demi-heure", 30),
        ("1 hour 15 minutes", 75),
        ("a free hour", 60),
        ("eine freie Stunde", 60),
        ("zwei freie Stunden", 120),
    ] {
        let times = read(text);
        assert_eq!((times.duration_min, times.when), (Some(minutes), None), "{text}");
    }
}

#[test]
fn a_part_of_the_day_alone_is_a_wish_and_no_day() {
    for (text, part) in [
        ("some time in the afternoon", Part::Afternoon),
        ("ein Termin am Morgen", Part::Morning),
        ("plutôt le matin", Part::Morning),
        ("next week in the morning", Part::Morning),
    ] {
        assert_eq!(read(text).part_of_day, Some(part), "{text}");
    }
    assert_eq!(read("an afternoon slot").when, None);
}

#[test]
fn words_without_a_time_hold_none() {
    for text in [
        "",
        "draft a reply to Anna",
        "find the contract",
        "you may go",
        "march on",
        "about 3 emails",
        "mon agenda",
        "I have 5 questions",
        "version 2.0 of the plan",
        "what can you do?",
        "at once",
    ] {
        let times = read(text);
        assert_eq!((times.when, times.said.len()), (None, 0), "{text}");
    }
}

#[test]
fn the_words_of_a_time_are_told_as_they_were_said() {
    // ORION-17
    for (text, said) in [
        ("urgent emails from the last 24 hours", "last 24 hours"),
        ("Meet Anna tomorrow for coffee at 3pm", "tomorrow at 3pm"),
        ("Bin ich am Freitag frei?", "Freitag"),
        ("Any news since Monday?", "since Monday"),
    ] {
        assert_eq!(read(text).words(text).as_deref(), Some(said), "{text}");
    }
}

#[test]
fn an_hour_that_is_past_is_tomorrows_and_one_to_come_todays() {
    let start = |text: &str| read(text).when.expect("a time").start.to_string();
    assert_eq!(start("at 10:30"), "2026-01-16T10:30:00+01:00[Europe/Berlin]");
    assert_eq!(start("at 11:30"), "2026-01-15T11:30:00+01:00[Europe/Berlin]");
}

fn read(text: &str) -> Times {
    parse(text, &now())
}

fn short(moment: &Zoned) -> String {
    let format = if moment.year() == 2026 { "%m-%d %H:%M" } else { "%Y-%m-%d %H:%M" };
    moment.strftime(format).to_string()
}
