//! The labelled sets: reading them, and what must hold for their size.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::de::DeserializeOwned;

/// The parts that rules may be improved with.
pub const DEVELOPMENT: [&str; 2] = ["dev", "dev-2"];
/// The parts that no rule is changed for, a folder each. A newer one is added here and in `held`.
pub const HELD: [&str; 1] = ["held-1"];
/// The parts of the sets that have all of them.
pub const PARTS: [&str; 3] = [DEVELOPMENT[0], DEVELOPMENT[1], HELD[0]];

/// Whether a part is held back.
pub fn is_held(part: &str) -> bool {
    HELD.contains(&part)
}

/// The least share of a part: held-back parts have none, their figures are published as they are.
pub fn bound(part: &str, least: f64) -> Option<f64> {
    (!is_held(part)).then_some(least)
}

/// The file of a set's part.
pub fn file(set: &str, part: &str, ending: &str) -> String {
    match is_held(part) {
        true => format!("{part}/{set}.{ending}"),
        false => format!("{set}-{part}.{ending}"),
    }
}

/// The folder of the gold sets.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../household/gold")
}

/// The text of a file of the gold sets.
pub fn text(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A TOML file of the gold sets.
pub fn toml<T: DeserializeOwned>(name: &str) -> T {
    toml::from_str(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The cases of a part. Of a held-back part, those that a development part has by chance, too, are left out: they are not new to the rules.
pub fn unseen<T>(part: &str, cases: impl Fn(&str) -> Vec<T>, words: impl Fn(&T) -> String) -> Vec<T> {
    let of_part = cases(part);
    if !is_held(part) {
        return of_part;
    }
    let known: HashSet<String> = DEVELOPMENT.iter().flat_map(|part| cases(part)).map(|case| words(&case)).collect();
    of_part.into_iter().filter(|case| !known.contains(&words(case))).collect()
}

/// Whether what was found is one of the readings in a label (`a|b`).
pub fn is_one_of(label: &str, found: &str) -> bool {
    label.split('|').any(|reading| reading == found)
}

mod tests {
    use super::*;
    use crate::mails::Mailbox;
    use crate::{answers, calendars, dates, orders, requests, searches};

    fn mails(set: &str, part: &str) -> usize {
        Mailbox::read(&file(set, part, "txt")).labelled().count()
    }

    #[test]
    fn every_set_is_large_enough() {
        let development: [(usize, [usize; 2]); 5] = [
            (220, DEVELOPMENT.map(|part| requests::cases(part).len())),
            (160, DEVELOPMENT.map(|part| mails("mail", part))),
            (800, DEVELOPMENT.map(|part| orders::generated(part).labelled().count())),
            (64, DEVELOPMENT.map(|part| calendars::cases(part).len())),
            (64, DEVELOPMENT.map(|part| searches::cases(part).len())),
        ];
        for (least, parts) in development {
            assert!(parts.iter().sum::<usize>() >= least, "{parts:?} of {least}");
        }
        for part in HELD {
            let held = [
                requests::cases(part).len(),
                dates::cases(part).len(),
                mails("mail", part),
                mails("orders", part),
                calendars::cases(part).len(),
                searches::cases(part).len(),
                answers::cases(part).len(),
            ];
            assert!(held.iter().all(|size| *size >= 20), "{part}: {held:?}");
            assert!(held.iter().sum::<usize>() >= 150, "{part}: {held:?}");
        }
    }

    #[test]
    fn a_held_back_case_that_is_by_chance_a_development_case_does_not_count() {
        assert_eq!((requests::cases("held-1").len(), searches::cases("held-1").len()), (72, 29), "of 73 and 34");
        assert!(requests::cases("held-1").iter().all(|case| case.words != "Qu'as-tu remarqué sur mes habitudes ?"));
    }

    #[test]
    fn the_requests_hold_what_is_hard_about_requests() {
        let cases: Vec<requests::Case> = DEVELOPMENT.iter().flat_map(|part| requests::cases(part)).collect();
        let count = |right: fn(&requests::Case) -> bool| cases.iter().filter(|case| right(case)).count();
        assert!(count(|case| case.label == "direct") >= 25);
        assert!(count(|case| case.label.contains('+')) >= 15);
        assert!(count(|case| case.label == "ask") >= 15);
        assert!(count(|case| case.language != "en") >= 60);
    }
}
