//! The figures that `docs/household.md` publishes are those that are measured.

use std::fmt::Write;
use std::path::Path;

use crate::figures::Figure;
use crate::sets::{DEVELOPMENT, is_held};

/// A line of the published table: its words, and the figure it tells.
struct Line {
    words: &'static str,
    set: &'static str,
    measure: &'static str,
    /// The development parts that count.
    development: &'static [&'static str],
    limit: &'static str,
}

const LINES: [Line; 10] = [
    line(
        "requests in six languages, misspelled, with several wishes or too few words | intent recognised correctly",
        "requests",
        "intent",
        "95 %",
    ),
    line("days and hours in words | read correctly", "dates", "right", ""),
    line("mails in English, German and French | reported as urgent, and is urgent", "mail", "urgent precision", "90 %"),
    line(" | is urgent, and reported as urgent", "mail", "urgent recall", "90 %"),
    line(" | correct category of seven", "mail", "category", ""),
    Line {
        development: &["hand"],
        ..line(
            "mails with instructions to an assistant, written by hand | reported as suspicious",
            "orders",
            "recognised",
            "95 %",
        )
    },
    Line {
        development: &["hand"],
        ..line("mails without, written by hand | not marked", "orders", "others unmarked", "98 %")
    },
    line(
        "calendars: series, exceptions, time zones, daylight saving time | correct answer",
        "scheduling",
        "right",
        "100 %",
    ),
    line("searches in the sample's notes | note among the first three", "search", "in the first three", "95 %"),
    line(
        "questions to the butler of the sample household, from words to answer or draft | correct answer",
        "answers",
        "right",
        "",
    ),
];

const fn line(words: &'static str, set: &'static str, measure: &'static str, limit: &'static str) -> Line {
    Line { words, set, measure, development: &DEVELOPMENT, limit }
}

impl Line {
    fn told(&self, figures: &[Figure]) -> String {
        let share = |counts: &dyn Fn(&Figure) -> bool| {
            let own = figures.iter().filter(|figure| (figure.set, figure.measure) == (self.set, self.measure));
            let (right, of) = own
                .filter(|figure| counts(figure))
                .fold((0, 0), |(right, of), figure| (right + figure.right, of + figure.of));
            if of == 0 { "none".to_owned() } else { format!("{right} of {of}") }
        };
        let development = share(&|figure| self.development.contains(&figure.part));
        let held = share(&|figure| is_held(figure.part));
        format!("| {} | {development} | {} | {held} |", self.words.trim_start(), self.limit).replace("|  |", "| |")
    }
}

/// Fails where the page tells other figures than these, and prints the lines that it should have.
pub fn check(figures: &[Figure]) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/household.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let mut table = String::new();
    for line in LINES {
        let _ = writeln!(table, "{}", line.told(figures));
    }
    assert!(page.contains(&table), "docs/household.md tells other figures; what was measured:\n{table}");
}
