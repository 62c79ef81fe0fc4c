//! The labelled sets: reading them, and what must hold for their size.

use std::path::PathBuf;

use serde::de::DeserializeOwned;

/// The parts of each set.
pub const PARTS: [&str; 2] = ["dev", "held"];

/// The text of a file of the gold sets.
pub fn text(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../household/gold").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A TOML file of the gold sets.
pub fn toml<T: DeserializeOwned>(name: &str) -> T {
    toml::from_str(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Whether what was found is one of the readings in a label (`a|b`).
pub fn is_one_of(label: &str, found: &str) -> bool {
    label.split('|').any(|reading| reading == found)
}

mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{calendars, mails, orders, requests, searches};

    #[test]
    fn every_set_is_large_enough_and_keeps_two_fifths_back() {
        let sizes = [
            (220, PARTS.map(|part| requests::cases(part).len())),
            (160, PARTS.map(|part| mails::Mailbox::read(&format!("mail-{part}.txt")).labelled().count())),
            (800, PARTS.map(|part| orders::generated(part).labelled().count())),
            (64, PARTS.map(|part| calendars::cases(part).len())),
            (64, PARTS.map(|part| searches::cases(part).len())),
        ];
        for (least, [dev, held]) in sizes {
            assert!(dev + held >= least, "{dev} + {held} of {least}");
            assert!(held * 5 >= (dev + held) * 2, "{held} of {} are held back", dev + held);
        }
    }

    #[test]
    fn nothing_that_is_held_back_is_in_the_other_part() {
        let said: HashSet<String> = requests::cases("dev").into_iter().map(|case| case.words.to_lowercase()).collect();
        assert!(requests::cases("held").iter().all(|case| !said.contains(&case.words.to_lowercase())));
        let sought: HashSet<String> =
            searches::cases("dev").into_iter().map(|(query, _)| query.to_lowercase()).collect();
        assert!(searches::cases("held").iter().all(|(query, _)| !sought.contains(&query.to_lowercase())));
    }

    #[test]
    fn the_requests_hold_what_is_hard_about_requests() {
        let cases: Vec<requests::Case> = PARTS.iter().flat_map(|part| requests::cases(part)).collect();
        let count = |right: fn(&requests::Case) -> bool| cases.iter().filter(|case| right(case)).count();
        assert!(count(|case| case.label == "direct") >= 25);
        assert!(count(|case| case.label.contains('+')) >= 15);
        assert!(count(|case| case.label == "ask") >= 15);
        assert!(count(|case| case.language != "en") >= 60);
    }
}
