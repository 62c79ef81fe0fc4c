//! Days and hours that a sentence names, counted from the day it was written.

use jiff::civil::{Date, Time, Weekday};
use jiff::{ToSpan, Zoned};

use super::words::Sentence;
use crate::text::fold;

/// A day that a sentence names, perhaps with an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub day: Date,
    pub hour: Option<Time>,
    /// Whether it is named as an end: `by Friday`, `within two days`.
    pub is_limit: bool,
}

/// The days that a sentence names. `written` is when the letter was written.
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
    if sentence.words().any(|word| weekday(word).is_some()) {
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
    let tokens: Vec<Token> = sentence.said.split_whitespace().take(200).map(Token::new).collect();
    let reader = Reader { tokens: &tokens, written };
    let says_limit = sentence.has_any(LIMIT_WORDS);
    let mut mentions: Vec<Mention> = Vec::new();
    let mut hour = None;
    let mut at = 0;
    while at < tokens.len() {
        if let Some((day, length, kind)) = reader.day(at) {
            let is_limit = says_limit || kind == Kind::Limit || reader.is_limited(at);
            mentions.push(Mention { day, hour: None, is_limit });
            at += length;
        } else if let Some((time, length)) = reader.hour(at) {
            hour = hour.or(Some((time, says_limit || reader.is_limited(at))));
            at += length;
        } else if let Some((moment, length)) = reader.span(at) {
            let is_exact = moment.date() == written.date() || length < 2;
            mentions.push(Mention { day: moment.date(), hour: is_exact.then(|| moment.time()), is_limit: true });
            at += length;
        } else {
            at += 1;
        }
    }
    (mentions, hour)
}

/// Words before what no longer holds.
const INSTEAD: &str = "instead of, statt, anstatt, au lieu de, plutot que";

/// Words that make any day in their sentence an end.
const LIMIT_WORDS: &str = "deadline, due, no later than, at the latest, latest, expires, expire, expiring, closes, cutoff, cut off, last \
    day, overdue, spatestens, frist, fallig, abgabe, abgabetermin, lauft ab, stichtag, au plus tard, date limite, \
    echeance, dernier delai, avant le, dernier jour, zahlbar";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A day like others.
    Plain,
    /// A day that is named as an end, as `EOD` is.
    Limit,
}

/// A word without what surrounds it.
struct Token {
    word: String,
    /// A full stop followed it, as in `16. Januar`.
    dotted: bool,
}

impl Token {
    fn new(text: &str) -> Self {
        let folded = fold(text);
        let outer = |letter: char| {
            matches!(
                letter,
                ',' | ';' | ':' | '!' | '?' | '(' | ')' | '[' | ']' | '"' | '“' | '”' | '„' | '«' | '»' | '*' | '_'
            )
        };
        let word = folded.trim_matches(outer);
        let word = word.trim_start_matches('\'').trim_end_matches('\'');
        let dotted = word.ends_with('.');
        Self { word: word.trim_end_matches('.').to_owned(), dotted }
    }

    fn number(&self) -> Option<i64> {
        let digits =
            ["st", "nd", "rd", "th", "er"].iter().find_map(|end| self.word.strip_suffix(end)).unwrap_or(&self.word);
        digits.parse().ok().filter(|number| (0..=9_999).contains(number))
    }
}

struct Reader<'a> {
    tokens: &'a [Token],
    written: &'a Zoned,
}

impl Reader<'_> {
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.word)
    }

    fn before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    /// Whether the words before say that it is an end.
    fn is_limited(&self, at: usize) -> bool {
        let word = |back| self.before(at, back);
        let is_cue = |word: &str| {
            matches!(
                word,
                "by" | "before"
                    | "until"
                    | "till"
                    | "bis"
                    | "vor"
                    | "avant"
                    | "d'ici"
                    | "jusqu'a"
                    | "jusqu'au"
                    | "within"
                    | "innerhalb"
                    | "binnen"
                    | "sous"
            )
        };
        (1..=3).any(|back| is_cue(word(back)))
    }

    /// A day, how many words name it, and how.
    fn day(&self, at: usize) -> Option<(Date, usize, Kind)> {
        let today = self.written.date();
        let in_days = |days: i64| today.checked_add(days.days()).ok();
        let word = self.word(at);
        let next = self.word(at + 1);
        let phrase = |words: &[&str]| words.iter().enumerate().all(|(step, word)| self.word(at + step) == *word);
        let plain = |day: Option<Date>, length| day.map(|day| (day, length, Kind::Plain));
        let limit = |day: Option<Date>, length| day.map(|day| (day, length, Kind::Limit));
        match word {
            "today" | "heute" | "aujourd'hui" | "tonight" => return plain(Some(today), 1),
            "eod" | "cob" | "eob" => return limit(Some(today), 1),
            "tomorrow" | "demain" | "tmrw" => {
                let day = if self.before(at, 1) == "after" { in_days(2) } else { in_days(1) };
                return plain(day, 1);
            }
            "morgen" if !matches!(self.before(at, 1), "guten" | "schonen" | "jeden" | "am") && at > 0 => {
                return plain(in_days(1), 1);
            }
            "ubermorgen" | "apres-demain" => return plain(in_days(2), 1),
            "monatsende" => return limit(Some(today.last_of_month()), 1),
            "feierabend" => return limit(Some(today), 1),
            _ => {}
        }
        match () {
            () if phrase(&["end", "of", "day"])
                || phrase(&["close", "of", "business"])
                || phrase(&["end", "of", "business"]) =>
            {
                return limit(Some(today), 3);
            }
            () if phrase(&["end", "of", "the", "day"]) || phrase(&["fin", "de", "la", "journee"]) => {
                return limit(Some(today), 4);
            }
            () if phrase(&["fin", "de", "journee"]) => return limit(Some(today), 3),
            () if phrase(&["ce", "soir"]) || phrase(&["ce", "matin"]) || phrase(&["cet", "apres-midi"]) => {
                return plain(Some(today), 2);
            }
            () if phrase(&["this", "afternoon"]) || phrase(&["this", "morning"]) || phrase(&["this", "evening"]) => {
                return plain(Some(today), 2);
            }
            () if phrase(&["end", "of", "next", "week"]) => return limit(self.friday_of_next_week(), 4),
            () if phrase(&["ende", "nachster", "woche"]) || phrase(&["fin", "de", "semaine", "prochaine"]) => {
                return limit(self.friday_of_next_week(), 3);
            }
            () if phrase(&["end", "of", "week"])
                || phrase(&["ende", "der", "woche"])
                || phrase(&["fin", "de", "semaine"]) =>
            {
                return limit(Some(self.coming(Weekday::Friday)), 3);
            }
            () if phrase(&["end", "of", "the", "week"])
                || phrase(&["end", "of", "this", "week"])
                || phrase(&["fin", "de", "la", "semaine"]) =>
            {
                return limit(Some(self.coming(Weekday::Friday)), 4);
            }
            () if phrase(&["next", "week"])
                || phrase(&["nachste", "woche"])
                || phrase(&["kommende", "woche"])
                || phrase(&["semaine", "prochaine"]) =>
            {
                return plain(in_days(7), 2);
            }
            () if phrase(&["end", "of", "month"])
                || phrase(&["ende", "des", "monats"])
                || phrase(&["fin", "du", "mois"]) =>
            {
                return limit(Some(today.last_of_month()), 3);
            }
            () if phrase(&["end", "of", "the", "month"]) || phrase(&["end", "of", "this", "month"]) => {
                return limit(Some(today.last_of_month()), 4);
            }
            () => {}
        }
        if let Some(weekday) = weekday(word) {
            if matches!(
                self.before(at, 1),
                "last" | "letzten" | "letzter" | "vergangenen" | "every" | "jeden" | "chaque"
            ) || matches!(next, "dernier" | "passe")
            {
                return None;
            }
            let day = self.coming(weekday);
            let says_next = matches!(self.before(at, 1), "next" | "nachsten" | "nachster") || next == "prochain";
            let is_near = today.until(day).map_or(0, |span| span.get_days()) <= 2;
            let day = if says_next && is_near { day.checked_add(7.days()).ok() } else { Some(day) };
            return plain(day, 1);
        }
        if let Some(day) = self.written_out(at) {
            return plain(Some(day), 1);
        }
        // `16 January`, `16th of January`, `le 16 janvier`, `January 16`.
        let number = self.tokens.get(at)?.number();
        if let Some(number) = number.filter(|number| (1..=31).contains(number)) {
            let skip = usize::from(matches!(next, "of" | "de"));
            if let Some(month) = month(self.word(at + 1 + skip)) {
                let year = self.tokens.get(at + 2 + skip).and_then(Token::number).filter(|year| *year > 1_999);
                return plain(self.dated(year, month, number), 2 + skip + usize::from(year.is_some()));
            }
        }
        let month = month(word)?;
        let number = self.tokens.get(at + 1)?.number().filter(|number| (1..=31).contains(number))?;
        let year = self.tokens.get(at + 2).and_then(Token::number).filter(|year| *year > 1_999);
        plain(self.dated(year, month, number), 2 + usize::from(year.is_some()))
    }

    /// `2026-01-16`, `16.01.2026`, `16.1.`, `16/01/2026`, `01/16/2026`.
    fn written_out(&self, at: usize) -> Option<Date> {
        let token = &self.tokens[at];
        if let Ok(day) = token.word.parse::<Date>() {
            return Some(day);
        }
        let separator = if token.word.contains('/') { '/' } else { '.' };
        let parts: Vec<i64> = token.word.split(separator).map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let is_led = matches!(
            self.before(at, 1),
            "am" | "bis"
                | "zum"
                | "vom"
                | "den"
                | "dem"
                | "le"
                | "au"
                | "by"
                | "on"
                | "before"
                | "until"
                | "due"
                | "du"
        );
        let (first, second, year) = match parts[..] {
            [first, second, year] => (first, second, Some(if year < 100 { year + 2_000 } else { year })),
            [first, second] if token.dotted || is_led => (first, second, None),
            _ => return None,
        };
        // Americans put the month first; a month above twelve tells that it was not.
        match second > 12 && first <= 12 {
            true => self.dated(year, first, second),
            false => self.dated(year, second, first),
        }
    }

    /// A day of a month; of the year in which it is nearest where none is said.
    fn dated(&self, year: Option<i64>, month: i64, day: i64) -> Option<Date> {
        let today = self.written.date();
        let make =
            |year: i64| Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok();
        match year {
            Some(year) => make(year),
            None => {
                let this = make(i64::from(today.year()))?;
                let is_long_ago = today.since(this).is_ok_and(|span| span.get_days() > 180);
                if is_long_ago { make(i64::from(today.year()) + 1) } else { Some(this) }
            }
        }
    }

    /// The next such day after the one it was written on.
    fn coming(&self, weekday: Weekday) -> Date {
        self.written.date().nth_weekday(1, weekday).unwrap_or(self.written.date())
    }

    /// The Friday of the week after the one it was written in.
    fn friday_of_next_week(&self) -> Option<Date> {
        let monday = self.coming(Weekday::Monday);
        monday.checked_add(4.days()).ok()
    }

    /// `3pm`, `3 pm`, `15:00`, `15h30`, `15 Uhr`, `noon`.
    fn hour(&self, at: usize) -> Option<(Time, usize)> {
        let (word, next) = (self.word(at), self.word(at + 1));
        let time = |hour: i64, minute: i64| Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0).ok();
        match word {
            "noon" | "midday" | "mittag" | "mittags" | "midi" => return Some((time(12, 0)?, 1)),
            "midnight" | "mitternacht" | "minuit" => return Some((time(23, 59)?, 1)),
            _ => {}
        }
        let half = |hour: i64, is_later: bool| (hour % 12) + if is_later { 12 } else { 0 };
        let digits = word.len() - word.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let hour: i64 = word[..digits].parse().ok()?;
        let rest = &word[digits..];
        if let Some(minute) = rest.strip_prefix([':', '.', 'h']) {
            let (minute, half_day) = match minute.strip_suffix("am").or_else(|| minute.strip_suffix("pm")) {
                Some(number) => (number, Some(minute.ends_with("pm"))),
                None if matches!(next, "pm" | "am") => (minute, Some(next == "pm")),
                None => (minute, None),
            };
            let spoken = rest.starts_with([':', 'h']) || next == "uhr" || half_day.is_some();
            let minute = if minute.is_empty() && rest == "h" { 0 } else { minute.parse().ok()? };
            let hour = half_day.map_or(hour, |is_later| half(hour, is_later));
            return spoken.then(|| time(hour, minute))?.map(|time| (time, 1));
        }
        match (rest, next) {
            ("am" | "pm", _) => Some((time(half(hour, rest == "pm"), 0)?, 1)),
            ("", "am" | "pm" | "a.m" | "p.m") => Some((time(half(hour, next.starts_with('p')), 0)?, 2)),
            ("", "uhr" | "o'clock" | "heures" | "h")
                if !matches!(self.before(at, 1), "dans" | "sous" | "les" | "d'ici") =>
            {
                Some((time(hour, 0)?, 2))
            }
            // `at 10`, `um 10`: what is so early is meant for the afternoon.
            ("", _) if matches!(self.before(at, 1), "at" | "um") && (1..=23).contains(&hour) => {
                Some((time(if hour < 7 { hour + 12 } else { hour }, 0)?, 1))
            }
            _ => None,
        }
    }

    /// `within 24 hours`, `in the next two days`, `innerhalb von 3 Tagen`, `d'ici 48h`.
    fn span(&self, at: usize) -> Option<(Zoned, usize)> {
        if !matches!(
            self.word(at),
            "in" | "within" | "innerhalb" | "binnen" | "dans" | "sous" | "d'ici" | "next" | "nachsten"
        ) {
            return None;
        }
        let filler = |word: &str| {
            matches!(
                word,
                "the"
                    | "next"
                    | "von"
                    | "den"
                    | "der"
                    | "nachsten"
                    | "les"
                    | "prochaines"
                    | "prochains"
                    | "about"
                    | "coming"
                    | "kommenden"
            )
        };
        let mut step = 1;
        while filler(self.word(at + step)) {
            step += 1;
        }
        let word = self.word(at + step);
        let short = word.strip_suffix('h').and_then(|number| number.parse::<i64>().ok());
        let (count, unit, length) = match (short, amount(word)) {
            (Some(hours), _) => (hours, "h", step + 1),
            (None, Some(count)) => (count, self.word(at + step + 1), step + 2),
            (None, None) => (1, word.strip_prefix("l'").unwrap_or(word), step + 1),
        };
        let moment = match unit {
            "h" | "hr" | "hrs" | "hour" | "hours" | "stunde" | "stunden" | "heure" | "heures" => {
                self.written.checked_add(count.hours())
            }
            // A few minutes are what something takes, not when it ends.
            "min" | "mins" | "minute" | "minutes" | "minuten" if count > 15 => {
                self.written.checked_add(count.minutes())
            }
            "day" | "days" | "tag" | "tage" | "tagen" | "jour" | "jours" => self.written.checked_add(count.days()),
            "week" | "weeks" | "woche" | "wochen" | "semaine" | "semaines" if length > 2 || self.word(at) != "next" => {
                self.written.checked_add(count.weeks())
            }
            _ => return None,
        };
        Some((moment.ok()?, length))
    }
}

fn amount(word: &str) -> Option<i64> {
    let spoken = match word {
        "a" | "an" | "one" | "ein" | "eine" | "einer" | "einem" | "un" | "une" => 1,
        "two" | "zwei" | "deux" | "couple" => 2,
        "three" | "drei" | "trois" => 3,
        "four" | "vier" | "quatre" => 4,
        "five" | "funf" | "cinq" => 5,
        "six" | "sechs" => 6,
        "seven" | "sieben" | "sept" => 7,
        "ten" | "zehn" | "dix" => 10,
        "twelve" | "zwolf" | "douze" => 12,
        _ => return word.parse().ok().filter(|number| (1..1_000).contains(number)),
    };
    Some(spoken)
}

fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" | "montag" | "lundi" => Weekday::Monday,
        "tuesday" | "dienstag" | "mardi" => Weekday::Tuesday,
        "wednesday" | "mittwoch" | "mercredi" => Weekday::Wednesday,
        "thursday" | "donnerstag" | "jeudi" => Weekday::Thursday,
        "friday" | "freitag" | "vendredi" => Weekday::Friday,
        "saturday" | "samstag" | "samedi" => Weekday::Saturday,
        "sunday" | "sonntag" | "dimanche" => Weekday::Sunday,
        _ => return None,
    })
}

fn month(word: &str) -> Option<i64> {
    Some(match word {
        "january" | "jan" | "januar" | "janner" | "janvier" => 1,
        "february" | "feb" | "februar" | "fevrier" => 2,
        "march" | "mar" | "marz" | "mars" => 3,
        "april" | "apr" | "avril" => 4,
        "may" | "mai" => 5,
        "june" | "jun" | "juni" | "juin" => 6,
        "july" | "jul" | "juli" | "juillet" => 7,
        "august" | "aug" | "aout" => 8,
        "september" | "sep" | "sept" | "septembre" => 9,
        "october" | "oct" | "oktober" | "okt" | "octobre" => 10,
        "november" | "nov" | "novembre" => 11,
        "december" | "dec" | "dezember" | "dez" | "decembre" => 12,
        _ => return None,
    })
}

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
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
