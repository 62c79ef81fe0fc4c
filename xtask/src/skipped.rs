//! Tests that said they were skipped: named at the end of `cargo xtask test`, where they cannot be overlooked.
//!
//! The tests write to the file (`crates/testkit/src/skip.rs`), because their runner knows no skipping while a test runs.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::{fs, io};

/// The variable that tells tests where to write.
pub(crate) const VARIABLE: &str = "MAJORDOMO_SKIPPED";

/// The file that they write to.
pub(crate) const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/skipped-tests.txt");

/// Forgets what was skipped before.
pub(crate) fn forget() -> io::Result<()> {
    match fs::remove_file(FILE) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// What there is to say about it; empty where nothing was skipped.
pub(crate) fn summary() -> String {
    of(&fs::read_to_string(FILE).unwrap_or_default())
}

fn of(lines: &str) -> String {
    let lines: BTreeSet<&str> = lines.lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let told: Vec<&str> = lines.iter().copied().collect();
    format!("\n== skipped on this machine, in whole or in part ({}):\n{}\n", told.len(), told.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_skipped_test_is_named_once_and_where_there_is_none_nothing_is_said() {
        assert_eq!(of(""), "");
        let told = of("skipped: b: no disk\nskipped: a: no sandbox\nskipped: b: no disk\n");
        assert_eq!(
            told,
            "\n== skipped on this machine, in whole or in part (2):\nskipped: a: no sandbox\nskipped: b: no disk\n"
        );
    }
}
