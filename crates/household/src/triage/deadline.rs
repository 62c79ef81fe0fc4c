//! Deadlines: the days that a sentence of a mail names, and whether they are ends. The words for days and hours are read by
//! [`time`](crate::time).

use jiff::Zoned;
use jiff::civil::{Date, Time};

use super::words::Sentence;
use crate::time::prose::{self, Named};

/// A day that a sentence names, perhaps with an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub day: Date,
    pub hour: Option<Time>,
    /// Whether it is named as an end: `by Friday`, `within two days`.
    pub is_limit: bool,
}

/// The days that a sentence names. `written` is when the mail was written.
pub(crate) fn mentions(sentence: &Sentence, written: &Zoned) -> Vec<Mention> {
    let (mut mentions, hour) = named(sentence, written);
    match (hour, &mut *mentions) {
        (Some((hour, is_limit)), [only]) if only.hour.is_none() => {
            only.hour = Some(hour);
            only.is_limit |= is_limit;
        }
        // An hour without a day is one of today.
        (Some((hour, is_limit)), []) => mentions.push(Mention { day: written.date(), hour: Some(hour), is_limit }),
        _ => {}
    }
    mentions
}

/// The hour of a day that a sentence is about, where it is about that day: it names it, or an hour without a day on the day it
/// was written. A weekday does not count: it may be that of another week.
pub(crate) fn about(day: Date, sentence: &Sentence, written: &Zoned) -> Option<Option<Time>> {
    if prose::names_weekday(&sentence.said) {
        return None;
    }
    let (mentions, hour) = named(sentence, written);
    let is_named = mentions.iter().any(|mention| mention.day == day);
    // An hour that took the place of another day is one of today, too: `at 3 pm instead of tomorrow`.
    let is_meant = (mentions.is_empty() || sentence.has_any(INSTEAD)) && hour.is_some() && written.date() == day;
    (is_named || is_meant).then(|| hour.map(|(hour, _)| hour))
}

/// Days and the first hour in a sentence, and whether the hour is an end.
fn named(sentence: &Sentence, written: &Zoned) -> (Vec<Mention>, Option<(Time, bool)>) {
    let says_limit = sentence.has_any(LIMIT_WORDS);
    let mut mentions: Vec<Mention> = Vec::new();
    let mut first = None;
    for named in prose::named(&sentence.said, written) {
        match named {
            Named::Day { day, is_limit } => {
                mentions.push(Mention { day, hour: None, is_limit: is_limit || says_limit });
            }
            Named::Hour { hour, is_limit } => first = first.or(Some((hour, is_limit || says_limit))),
            Named::End(end) => {
                let hour = (end.date() == written.date()).then(|| end.time());
                mentions.push(Mention { day: end.date(), hour, is_limit: true });
            }
        }
    }
    (mentions, first)
}

/// Words before what no longer holds.
const INSTEAD: &str = "instead of, statt, anstatt, au lieu de, plutot que";

/// Words that make any day in their sentence an end.
const LIMIT_WORDS: &str = "deadline, due, no later than, at the latest, latest, expires, expire, expiring, closes, cutoff, cut off, last \
    day, overdue, spatestens, frist, fallig, abgabe, abgabetermin, lauft ab, stichtag, au plus tard, date limite, \
    echeance, dernier delai, avant le, dernier jour, zahlbar";

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        // A Thursday.
        let written = "2026-01-15T11:00[Europe/Berlin]".parse().expect("a time");
        let show = |mention: Mention| {
            let hour = mention.hour.map_or(String::new(), |hour| hour.strftime(" %H:%M").to_string());
            format!("{}{}{hour}", if mention.is_limit { "<" } else { "" }, mention.day.strftime("%m-%d"))
        };
        mentions(&Sentence::new(text), &written).into_iter().map(show).collect()
    }

    #[test]
    fn days_are_read_as_people_write_them() {
        for (text, day) in [
            ("Please sign by EOD.", "<01-15"),
            ("I need it by end of day", "<01-15"),
            ("send it today", "01-15"),
            ("by tomorrow", "<01-16"),
            ("before noon tomorrow", "<01-16 12:00"),
            ("due Friday", "<01-16"),
            ("by next Friday", "<01-23"),
            ("by Monday 9am", "<01-19 09:00"),
            ("until 2026-02-01", "<02-01"),
            ("by January 20th, 2026", "<01-20"),
            ("on 20 January", "01-20"),
            ("the 3rd of March", "03-03"),
            ("by 01/20/2026", "<01-20"),
            ("within 24 hours", "<01-16"),
            ("in the next two hours", "<01-15 13:00"),
            ("by 3 pm", "<01-15 15:00"),
            ("by 15:30", "<01-15 15:30"),
            ("they close at 15:30", "01-15 15:30"),
            ("bis morgen 12 Uhr", "<01-16 12:00"),
            ("spätestens am 16.01.", "<01-16"),
            ("bis zum 16. Januar", "<01-16"),
            ("Rechnung fällig am 20.01.2026", "<01-20"),
            ("bis Freitag", "<01-16"),
            ("innerhalb von 3 Tagen", "<01-18"),
            ("avant vendredi", "<01-16"),
            ("d'ici demain 17h", "<01-16 17:00"),
            ("au plus tard le 16 janvier", "<01-16"),
            ("sous 48h", "<01-17"),
            ("avant ce soir", "<01-15"),
            ("by end of the week", "<01-16"),
            ("next week", "01-22"),
            ("by the end of next week", "<01-23"),
            ("by 5 January", "<01-05"),
            ("by end of day Friday", "<01-16"),
            ("call me um 15.30 Uhr", "01-15 15:30"),
            ("in 3 days", "<01-18"),
        ] {
            assert_eq!(found(text), [day], "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_day_is_none() {
        for text in [
            "Guten Morgen Alex",
            "it costs 2.5 million",
            "1/2 of it",
            "we may come",
            "in the office",
            "last Friday",
            "version 1.2.3.4",
            "call +49 30 1234",
            "room 15",
            "every Monday",
            "99.99.2026",
            "am Morgen",
            "Morgen Alex",
            "since Monday",
            "yesterday",
            "3 days ago",
            "vor drei Tagen",
            "the 3rd attempt",
            "in the last 24 hours",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
