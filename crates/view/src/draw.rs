//! Lines of text for terminals: progress while a run goes on, and the tree of what was done.
//!
//! No colours and no cursor: what is drawn here can go to a file or be read aloud, and says everything in words.
//! Untrusted text is made safe on its way in.

pub mod columns;
mod progress;
mod tree;

use agent::Usage;

pub use progress::Progress;
pub use tree::{DrawOptions, Marks, tree};

/// Money in as few digits as tell it apart: `$0.0012`, `$1.25`; `$0.00 (local)` where no price is known.
pub fn money(cost_microusd: u64, priced: bool) -> String {
    match cost_microusd {
        0 if !priced => "$0.00 (local)".to_owned(),
        0 => "$0.00".to_owned(),
        // A hundredth of a cent is the least that is shown; less is rounded up to it, so that it never reads as free.
        1..10_000 => format!("$0.{:04}", cost_microusd.div_ceil(100)),
        _ => {
            let cents = cost_microusd.saturating_add(5_000) / 10_000;
            format!("${}.{:02}", cents / 100, cents % 100)
        }
    }
}

/// A count in at most five characters: `980`, `3.1k`, `12k`, `4.0M`.
pub fn count(number: u64) -> String {
    let tenths = |unit: u64, letter: char| match number / unit {
        whole @ 0..10 => format!("{whole}.{}{letter}", number % unit / (unit / 10)),
        whole => format!("{whole}{letter}"),
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => tenths(1_000, 'k'),
        1_000_000..1_000_000_000 => tenths(1_000_000, 'M'),
        _ => tenths(1_000_000_000, 'G'),
    }
}

/// Tokens of a thread; where its tree used more, of both: `1.1k/9.8k`.
fn tokens(own: &Usage, tree: &Usage) -> String {
    let (own, tree) = (count(own.tokens.total()), count(tree.tokens.total()));
    if own == tree { own } else { format!("{own}/{tree}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_that_was_spent_never_reads_as_free() {
        assert_eq!(money(0, false), "$0.00 (local)");
        assert_eq!(money(0, true), "$0.00");
        assert_eq!(money(1, true), "$0.0001");
        assert_eq!(money(1_234, true), "$0.0013");
        assert_eq!(money(9_950, true), "$0.0100");
        assert_eq!(money(10_000, true), "$0.01");
        assert_eq!(money(1_254_999, true), "$1.25");
        assert_eq!(money(1_255_000, true), "$1.26");
    }

    #[test]
    fn a_count_stays_short() {
        let shown = [0, 999, 1_000, 3_149, 12_000, 999_999, 4_000_000, 5_000_000_000].map(count);
        assert_eq!(shown, ["0", "999", "1.0k", "3.1k", "12k", "999k", "4.0M", "5.0G"]);
    }
}
