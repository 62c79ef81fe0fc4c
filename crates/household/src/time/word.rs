//! The words of times: those in `words.txt`, and figures such as `15:30`, `3pm` or `20.1.2026`.

use std::collections::HashMap;
use std::sync::LazyLock;

use jiff::civil::{Date, DateTime};

use super::Part;
use crate::time::words::{Word, fold, fold_written_out, words};

/// What a word has to do with time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sense {
    /// So many days from today.
    Day(i64),
    /// German and Dutch: tomorrow, or the morning.
    Morgen,
    Tonight,
    /// From Monday, 1, to Sunday, 7.
    Weekday(i8),
    Weekend,
    Month(i8),
    Unit(Unit),
    Number(f64),
    /// An article, which counts as one before a unit.
    One,
    /// A number with an ending: `20th`.
    Ordinal(i8),
    /// An ordinal in words, a day only beside a month: "the third of October".
    Spelled(i8),
    /// Hour and minute, and whether it could as well be a length (`2h`).
    Clock(i8, i8, bool),
    /// Two hours in one word, `2-4`, of which the half of the day is not known.
    Hours(i8, i8),
    /// From one time of the clock to another in one word: `16:00-17:30`.
    Clocks((i8, i8), (i8, i8)),
    Date(Date),
    Moment(DateTime),
    /// Day and month.
    DayMonth(i8, i8),
    /// So many minutes in one word: `45min`.
    Length(f64),
    Next,
    Coming,
    Last,
    Past,
    This,
    In,
    Within,
    Ago,
    AgoBefore,
    Vor,
    Since,
    Until,
    Before,
    After,
    From,
    To,
    And,
    Between,
    At,
    HalfHour,
    PastHour,
    QuarterPast,
    QuarterTo,
    Part(Part),
    Noon,
    Midnight,
    Now,
    Am,
    Pm,
    OClock,
    EndOfDay,
    EndOfWeek,
    EndOfNextWeek,
    EndOfMonth,
    /// "free" between a count and a unit.
    Open,
    Skip,
}

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// A word of time, or a word that has nothing to do with it.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Everything that it may mean; nothing where it is no word of time.
    pub senses: Vec<Sense>,
    /// From its first word to behind its last, by number.
    pub words: std::ops::Range<usize>,
}

impl Item {
    pub fn is(&self, sense: Sense) -> bool {
        self.senses.contains(&sense)
    }
}

/// A text's words as items, the longest phrases first.
pub(super) fn items(text: &str, words: &[Word]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let phrase = |length: usize| {
            let words = words.get(at..at + length)?;
            let joined = words.iter().map(|word| word.folded.as_str()).collect::<Vec<_>>().join(" ");
            PHRASES.get(joined.as_str()).map(|senses| (length, senses.clone()))
        };
        // German joins a day and a part of it: `Montagabend`.
        if let Some((day, part)) = joined(&word.folded) {
            items.extend([day, part].map(|senses| Item { senses, words: at..at + 1 }));
            at += 1;
            continue;
        }
        let (length, mut senses) = (1..=LONGEST).rev().find_map(phrase).unwrap_or((1, Vec::new()));
        if length == 1 {
            let next = words.get(at + 1).map_or("", |next| &next.folded);
            senses.extend(dotted_clock(&word.folded, next).or_else(|| figure(&word.folded)));
            // German writes ordinals with a full stop, which is no part of the word.
            if let [Sense::Number(number)] = senses[..]
                && (1.0..=31.0).contains(&number)
                && text[word.at.end..].starts_with('.')
                && word.folded.bytes().all(|byte| byte.is_ascii_digit())
            {
                senses.push(Sense::Ordinal(number as i8));
            }
        }
        items.push(Item { senses, words: at..at + length });
        at += length;
    }
    items
}

/// A weekday and a part of the day in one word.
fn joined(word: &str) -> Option<(Vec<Sense>, Vec<Sense>)> {
    const PARTS: [(&str, Part); 6] = [
        ("vormittag", Part::Morning),
        ("nachmittag", Part::Afternoon),
        ("morgen", Part::Morning),
        ("fruh", Part::Morning),
        ("mittag", Part::Afternoon),
        ("abend", Part::Evening),
    ];
    let word = word.strip_suffix('s').unwrap_or(word);
    PARTS.into_iter().find_map(|(part, sense)| {
        let day = PHRASES.get(word.strip_suffix(part)?)?;
        let is_day = day.iter().any(|sense| matches!(sense, Sense::Weekday(_)));
        is_day.then(|| (day.clone(), vec![Sense::Part(sense)]))
    })
}

/// Every word that stands in a phrase of time, so that misspelt ones are mended too.
pub fn vocabulary() -> impl Iterator<Item = &'static str> {
    PHRASES.keys().flat_map(|phrase| phrase.split(' '))
}

/// The most words in a phrase.
const LONGEST: usize = 5;

static PHRASES: LazyLock<HashMap<String, Vec<Sense>>> = LazyLock::new(|| {
    let mut phrases: HashMap<String, Vec<Sense>> = HashMap::new();
    let mut sense = None;
    let lines = include_str!("words.txt").lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(heading) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sense = Some(named(heading).unwrap_or_else(|| panic!("there is no sense `{heading}`")));
            continue;
        }
        let sense = sense.expect("words of time stand under a heading");
        for phrase in line.split(',').map(str::trim) {
            for folded in [fold(phrase), fold_written_out(phrase)] {
                let key = words(&folded).into_iter().map(|word| word.folded).collect::<Vec<_>>().join(" ");
                let senses = phrases.entry(key).or_default();
                if !senses.contains(&sense) {
                    senses.push(sense);
                }
            }
        }
    }
    phrases
});

fn named(heading: &str) -> Option<Sense> {
    let (name, value) = heading.split_once(' ').unwrap_or((heading, ""));
    Some(match name {
        "day" => Sense::Day(value.parse().ok()?),
        "morgen" => Sense::Morgen,
        "tonight" => Sense::Tonight,
        "weekday" => Sense::Weekday(value.parse().ok()?),
        "weekend" => Sense::Weekend,
        "month" => Sense::Month(value.parse().ok()?),
        "unit" => Sense::Unit(match value {
            "minute" => Unit::Minute,
            "hour" => Unit::Hour,
            "day" => Unit::Day,
            "week" => Unit::Week,
            "month" => Unit::Month,
            "year" => Unit::Year,
            _ => return None,
        }),
        "number" => Sense::Number(value.parse().ok()?),
        "spelled" => Sense::Spelled(value.parse().ok()?),
        "one" => Sense::One,
        "next" => Sense::Next,
        "coming" => Sense::Coming,
        "last" => Sense::Last,
        "past" => Sense::Past,
        "this" => Sense::This,
        "in" => Sense::In,
        "within" => Sense::Within,
        "ago" => Sense::Ago,
        "ago_before" => Sense::AgoBefore,
        "vor" => Sense::Vor,
        "since" => Sense::Since,
        "until" => Sense::Until,
        "before" => Sense::Before,
        "after" => Sense::After,
        "from" => Sense::From,
        "to" => Sense::To,
        "and" => Sense::And,
        "between" => Sense::Between,
        "at" => Sense::At,
        "half_hour" => Sense::HalfHour,
        "past_hour" => Sense::PastHour,
        "quarter_past" => Sense::QuarterPast,
        "quarter_to" => Sense::QuarterTo,
        "part" => Sense::Part(match value {
            "morning" => Part::Morning,
            "afternoon" => Part::Afternoon,
            "evening" => Part::Evening,
            _ => return None,
        }),
        "noon" => Sense::Noon,
        "midnight" => Sense::Midnight,
        "now" => Sense::Now,
        "am" => Sense::Am,
        "pm" => Sense::Pm,
        "oclock" => Sense::OClock,
        "eod" => Sense::EndOfDay,
        "eow" => Sense::EndOfWeek,
        "eonw" => Sense::EndOfNextWeek,
        "eom" => Sense::EndOfMonth,
        "open" => Sense::Open,
        "skip" => Sense::Skip,
        _ => return None,
    })
}

/// What a word with digits says.
fn figure(word: &str) -> Option<Sense> {
    if !word.starts_with(|character: char| character.is_ascii_digit()) {
        return None;
    }
    let digits = word.find(|character: char| !character.is_ascii_digit()).unwrap_or(word.len());
    let (head, tail) = word.split_at(digits);
    let number: u32 = head.parse().ok()?;
    let small = i8::try_from(number).ok();
    match tail {
        "" => Some(Sense::Number(f64::from(number))),
        "st" | "nd" | "rd" | "th" | "er" | "eme" | "e" => {
            small.filter(|day| (1..=31).contains(day)).map(Sense::Ordinal)
        }
        "am" | "a" => small.filter(|hour| (1..=12).contains(hour)).map(|hour| Sense::Clock(hour % 12, 0, false)),
        "pm" | "p" => small.filter(|hour| (1..=12).contains(hour)).map(|hour| Sense::Clock(hour % 12 + 12, 0, false)),
        "min" | "mins" | "m" | "mn" => Some(Sense::Length(f64::from(number))),
        "h" | "hr" | "hrs" | "std" => Some(match small.filter(|hour| *hour < 24) {
            Some(hour) => Sense::Clock(hour, 0, true),
            None => Sense::Length(60.0 * f64::from(number)),
        }),
        "d" => None,
        _ => separated(word),
    }
}

/// `15.30 Uhr`, `3.30 pm`: an hour only for the word behind it.
fn dotted_clock(word: &str, next: &str) -> Option<Sense> {
    let (hour, minute) = word.split_once('.').filter(|(_, minute)| minute.len() == 2)?;
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let is_clock = matches!(next, "uhr" | "am" | "pm") && (0..24).contains(&hour) && (0..60).contains(&minute);
    is_clock.then_some(Sense::Clock(hour, minute, false))
}

/// Figures with something between them.
fn separated(word: &str) -> Option<Sense> {
    if word.contains('t')
        && let Ok(moment) = word.to_uppercase().parse::<DateTime>()
    {
        return Some(Sense::Moment(moment));
    }
    if let Ok(date) = word.parse::<Date>() {
        return Some(Sense::Date(date));
    }
    if let Some((from, to)) = word.split_once('-')
        && let Some(Sense::Clock(from, from_minute, _)) = separated(from)
        && let Some(Sense::Clock(to, to_minute, _)) = separated(to)
    {
        return ((from, from_minute) < (to, to_minute)).then_some(Sense::Clocks((from, from_minute), (to, to_minute)));
    }
    if let Some((hour, minute)) = word.split_once(':').or_else(|| word.split_once('h')) {
        let is_length = word.contains('h');
        let (minute, half) = match minute {
            minute if minute.ends_with("am") => (minute.trim_end_matches("am"), Some(0)),
            minute if minute.ends_with("pm") => (minute.trim_end_matches("pm"), Some(12)),
            minute => (minute, None),
        };
        let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
        let hour = half.map_or(hour, |half| hour % 12 + half);
        return (hour < 24 && (0..60).contains(&minute)).then_some(Sense::Clock(hour, minute, is_length));
    }
    if let Some((from, to)) = word.split_once('-') {
        let half = to.find(|character: char| !character.is_ascii_digit()).map(|at| &to[at..]);
        let (from, to): (i8, i8) =
            (from.parse().ok()?, to.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?);
        let add = if half == Some("pm") && to < 12 { 12 } else { 0 };
        return (from < to && to <= 24 - add).then_some(Sense::Hours(from + add, to + add));
    }
    if let Some((whole, part)) = word.split_once(',') {
        return format!("{whole}.{part}").parse().ok().map(Sense::Number);
    }
    let parts: Vec<&str> = word.split(['.', '/']).collect();
    match parts[..] {
        [day, month, year] => {
            let year: i16 = year.parse().ok()?;
            let year = if year < 100 { 2000 + year } else { year };
            let (day, month): (i8, i8) = (day.parse().ok()?, month.parse().ok()?);
            // Americans put the month first; a month above twelve tells that it was not the month.
            let (day, month) = if month > 12 { (month, day) } else { (day, month) };
            Date::new(year, month, day).ok().map(Sense::Date)
        }
        // `1.5` is a number before a unit and a day otherwise; the grammar looks at what follows.
        [day, month] if month.len() <= 2 => {
            let (day, month): (i8, i8) = (day.parse().ok()?, month.parse().ok()?);
            match (1..=31).contains(&day) && (1..=12).contains(&month) {
                true => Some(Sense::DayMonth(day, month)),
                false => word.parse().ok().map(Sense::Number),
            }
        }
        _ => None,
    }
}
