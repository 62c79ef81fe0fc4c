//! Days and hours in words, as requests say them.

use household::time;
use jiff::Zoned;
use jiff::civil::{Date, DateTime};
use serde::Deserialize;

use crate::figures::Figure;
use crate::sets::{self, HELD};

/// The moment at which the words are said.
const NOW: &str = "2026-01-15T11:00+01:00[Europe/Berlin]";

pub fn measure() -> Vec<Figure> {
    let now: Zoned = NOW.parse().expect("a time");
    HELD.iter()
        .map(|part| {
            let cases = cases(part);
            let misses: Vec<String> = cases.iter().filter_map(|case| case.miss(&now)).collect();
            let (right, of) = (cases.len() - misses.len(), cases.len());
            Figure { set: "dates", part, measure: "right", right, of, bound: None, misses }
        })
        .collect()
}

pub fn cases(part: &str) -> Vec<Case> {
    #[derive(Deserialize)]
    struct File {
        cases: Vec<(String, String, String, String)>,
    }
    let cases = sets::toml::<File>(&sets::file("dates", part, "toml")).cases;
    cases.into_iter().map(|(_, words, begin, end)| Case { words, begin, end }).collect()
}

/// Words, and what they mean.
pub struct Case {
    words: String,
    begin: String,
    end: String,
}

impl Case {
    fn miss(&self, now: &Zoned) -> Option<String> {
        let found = time::parse(&self.words, now).when.map(|when| (when.start.datetime(), when.end.datetime()));
        let is = |wanted: &str, found: DateTime| wanted.split('|').any(|reading| moment(reading) == found);
        let is_right =
            |(start, end): (DateTime, DateTime)| is(&self.begin, start) && (self.end.is_empty() || is(&self.end, end));
        let found_words = found.map_or("nothing".to_owned(), |(start, end)| format!("{start} to {end}"));
        (!found.is_some_and(is_right))
            .then(|| format!("{}: {} to {} was read as {found_words}", self.words, self.begin, self.end))
    }
}

/// A day begins at midnight.
fn moment(text: &str) -> DateTime {
    let day = || text.parse::<Date>().map(|day| day.at(0, 0, 0, 0));
    match text.contains('T') {
        true => text.parse().unwrap_or_else(|error| panic!("{text}: {error}")),
        false => day().unwrap_or_else(|error| panic!("{text}: {error}")),
    }
}
