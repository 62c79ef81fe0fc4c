//! Days and hours that a sentence of a mail names, as seen from the day it was written.
//!
//! Requests are short and mostly about one time; prose is long and mostly about something else. So prose is read more
//! strictly: figures count as a date only where the words before them say so, and what is past or repeated names no day.

use std::ops::Range;

use jiff::civil::{Date, Time};
use jiff::{SignedDuration, Zoned};

use super::piece::{Bound, Piece, pieces};
use super::word::{Item, Sense, items};
use super::words::{Word, words};

/// What a sentence names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Named {
    /// A day, and whether it is named as an end: `by Friday`, `EOD`.
    Day { day: Date, is_limit: bool },
    /// An hour without a day.
    Hour { hour: Time, is_limit: bool },
    /// The end of a length of time that begins now: `within 24 hours`.
    End(Zoned),
}

/// Words of one sentence that are read.
const WORDS: usize = 200;
/// Shorter than this, a length is what something takes, and not when it ends.
const SHORT: SignedDuration = SignedDuration::from_mins(15);

/// The days and hours that a sentence names, in order.
pub(crate) fn named(text: &str, written: &Zoned) -> Vec<Named> {
    let mut words = words(text);
    words.truncate(WORDS);
    let reader = Reader { text, items: &items(text, &words), words: &words, written };
    let mut named = Vec::new();
    let mut ends_day = false;
    for (piece, at) in pieces(reader.items, written) {
        let is_end_of_day = match &piece {
            Piece::Bound(_, inner) => **inner == Piece::EndOfDay,
            piece => *piece == Piece::EndOfDay,
        };
        match is_end_of_day {
            true => ends_day = true,
            false => reader.read(&piece, at, &mut named),
        }
    }
    if ends_day {
        let mut has_day = false;
        for one in &mut named {
            if let Named::Day { is_limit, .. } = one {
                (*is_limit, has_day) = (true, true);
            }
        }
        if !has_day {
            named.push(Named::Day { day: written.date(), is_limit: true });
        }
    }
    named
}

/// Whether a sentence names a day of the week.
pub(crate) fn names_weekday(text: &str) -> bool {
    let is_weekday = |sense: &Sense| matches!(sense, Sense::Weekday(_));
    items(text, &words(text)).iter().any(|item| item.senses.iter().any(is_weekday))
}

struct Reader<'a> {
    text: &'a str,
    words: &'a [Word],
    items: &'a [Item],
    written: &'a Zoned,
}

impl Reader<'_> {
    fn read(&self, piece: &Piece, at: Range<usize>, named: &mut Vec<Named>) {
        if self.is_past_or_repeated(&at) || self.is_greeting(&at) || !self.is_sure(&at) {
            return;
        }
        let today = self.written.date();
        let is_limit = self.is_limited(&at);
        let mut day = |day: Date, is_limit: bool| named.push(Named::Day { day, is_limit });
        match piece {
            Piece::Bound(Bound::Since, _) | Piece::Part(_) | Piece::Length(_) | Piece::EndOfDay => {}
            Piece::Bound(_, inner) => self.read(inner, at, named),
            Piece::Days(from, to) => {
                let days = from.until(*to).map_or(0, |span| span.get_days());
                let is_counted = self.items[at.start].is(Sense::In);
                match days {
                    1 => day(*from, is_limit || is_counted),
                    // A week that is to come: the day in it that is like the one on which it was written.
                    7 if *from > today => {
                        let ahead = i64::from(today.weekday().to_monday_zero_offset());
                        day(from.saturating_add(jiff::Span::new().days(ahead)), is_limit);
                    }
                    2..=6 if !self.has(&at, |sense| *sense == Sense::Weekend) => {
                        day(*from, is_limit);
                        day(to.yesterday().unwrap_or(*from), is_limit);
                    }
                    _ => {}
                }
            }
            Piece::DayPart(that, _) => day(*that, is_limit),
            Piece::Moments(from, to) if from == to && *from != *self.written && self.has(&at, is_moment) => {
                day(from.date(), is_limit);
                named.push(Named::Hour { hour: from.time(), is_limit });
            }
            Piece::Moments(_, to) => {
                let ends = |sense: &Sense| matches!(sense, Sense::EndOfWeek | Sense::EndOfNextWeek | Sense::EndOfMonth);
                if self.has(&at, ends) {
                    day(to.date(), true);
                } else if self.written.duration_until(to) > SHORT {
                    named.push(Named::End(to.clone()));
                }
            }
            Piece::Clock(hour) | Piece::Clocks(hour, _) => named.push(Named::Hour { hour: *hour, is_limit }),
        }
    }

    /// `last Friday`, `three days ago`, `yesterday`, `every Monday`.
    fn is_past_or_repeated(&self, at: &Range<usize>) -> bool {
        let is_past = |sense: &Sense| {
            matches!(sense, Sense::Last | Sense::Past | Sense::Ago | Sense::AgoBefore)
                || matches!(sense, Sense::Day(days) if *days < 0)
        };
        let is_ago = self.items[at.start].is(Sense::Vor)
            && self.has(at, |sense| matches!(sense, Sense::Unit(_)))
            && !self.has(at, |sense| matches!(sense, Sense::Weekday(_) | Sense::Month(_)));
        let is_repeated = matches!(self.before(at, 1), "every" | "each" | "jeden" | "jede" | "jedes" | "chaque");
        is_ago || is_repeated || self.has(at, is_past)
    }

    /// `Guten Morgen`, and `Morgen Alex` at the beginning.
    fn is_greeting(&self, at: &Range<usize>) -> bool {
        self.items[at.start].is(Sense::Morgen)
            && (at.start == 0 || matches!(self.before(at, 1), "guten" | "schonen" | "schoner"))
    }

    /// Whether figures are meant as a date: `2.5` and `the 3rd` may be anything.
    fn is_sure(&self, at: &Range<usize>) -> bool {
        let items = &self.items[at.clone()];
        let is_month = |sense: &Sense| matches!(sense, Sense::Month(_));
        let is_named = |sense: &Sense| matches!(sense, Sense::Day(_) | Sense::Weekday(_) | Sense::Unit(_));
        if self.has(at, is_month) || self.has(at, is_named) {
            return true;
        }
        let Some(figure) = items.iter().find(|item| item.senses.iter().any(is_figure)) else { return true };
        if figure.senses.iter().any(|sense| matches!(sense, Sense::Ordinal(_))) {
            return false;
        }
        let word = &self.words[figure.words.start];
        let before = figure.words.start.checked_sub(1).map_or("", |before| &self.words[before].folded);
        self.text[word.at.end..].starts_with('.') || LEADS.contains(&before)
    }

    /// Whether the words before or inside say that it is an end.
    fn is_limited(&self, at: &Range<usize>) -> bool {
        let (first, last) = (self.items[at.start].words.start, self.items[at.end - 1].words.end);
        self.words[first.saturating_sub(3)..last].iter().any(|word| LIMITS.contains(&&*word.folded))
    }

    fn before(&self, at: &Range<usize>, back: usize) -> &str {
        self.items[at.start].words.start.checked_sub(back).map_or("", |before| &self.words[before].folded)
    }

    fn has(&self, at: &Range<usize>, fits: impl Fn(&Sense) -> bool) -> bool {
        self.items[at.clone()].iter().flat_map(|item| &item.senses).any(fits)
    }
}

/// Words that make what follows an end. (`ici` is the second half of `d'ici`, `jusqu` the first of `jusqu'à`.)
const LIMITS: [&str; 13] =
    ["by", "before", "until", "till", "bis", "vor", "avant", "ici", "jusqu", "within", "innerhalb", "binnen", "sous"];

/// Words before figures that are a date.
const LEADS: [&str; 13] = ["am", "bis", "zum", "vom", "den", "dem", "le", "au", "by", "on", "before", "until", "due"];

fn is_figure(sense: &Sense) -> bool {
    matches!(sense, Sense::DayMonth(..) | Sense::Ordinal(_))
}

fn is_moment(sense: &Sense) -> bool {
    matches!(sense, Sense::Moment(_))
}
