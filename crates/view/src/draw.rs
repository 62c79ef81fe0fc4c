//! Lines of text for terminals: progress while a run goes on, and the tree of what was done.
//!
//! What is drawn here says everything in words, so it can go to a file or be read aloud; what may have colours is a [`Line`] of styled
//! pieces. There is no cursor here: where lines stand on a screen is decided by the interface. Untrusted text is made safe on its way in.

pub mod columns;
mod conversation;
mod progress;
mod style;
mod tree;

use agent::Usage;

pub use conversation::Conversation;
pub use progress::Progress;
pub use style::{Colour, Line, Span, Style};
pub use tree::{DrawOptions, Marks, TreeRow, tree, tree_lines, tree_rows};

/// What a thread and its tree cost: `$1.25`; `~$1.25` where figures are estimates; `price unknown` where no price is known, and
/// `over $1.25` where some are.
pub fn cost(tree: &Usage, priced: bool) -> String {
    let about = if tree.is_estimated() { "~" } else { "" };
    match (tree.cost_microusd, priced) {
        (0, false) => "price unknown".to_owned(),
        (known, false) => format!("over {about}{}", money(known)),
        (known, true) => format!("{about}{}", money(known)),
    }
}

/// The share of the prompt that the provider had kept from earlier requests: `62% cached`; none where it is nothing.
pub fn cached(tree: &Usage) -> Option<String> {
    let percent = (u128::from(tree.tokens.cache_read) * 100).checked_div(u128::from(tree.tokens.prompt()))?;
    (percent > 0).then(|| format!("{percent}% cached"))
}

/// What there is to know of the tokens of a tree besides their number: `62% cached, 3.1k reasoning`; none where it is nothing.
pub fn shares(tree: &Usage) -> Option<String> {
    let thought = (tree.tokens.reasoning > 0).then(|| format!("{} reasoning", count(tree.tokens.reasoning)));
    let shares: Vec<String> = cached(tree).into_iter().chain(thought).collect();
    (!shares.is_empty()).then(|| shares.join(", "))
}

/// Money in as few digits as tell it apart: `$0.0012`, `$1.25`.
pub fn money(cost_microusd: u64) -> String {
    match cost_microusd {
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

/// The number of all tokens, with `~` where some are estimates.
fn all_tokens(usage: &Usage) -> String {
    let about = if usage.is_estimated() { "~" } else { "" };
    format!("{about}{}", usage.tokens.total())
}

/// Tokens of a thread; where its tree used more, of both: `1.1k/9.8k`; with `~` where some are estimates.
fn tokens(own: &Usage, tree: &Usage) -> String {
    let shown = |usage: &Usage| {
        let about = if usage.is_estimated() { "~" } else { "" };
        format!("{about}{}", count(usage.tokens.total()))
    };
    let (own, tree) = (shown(own), shown(tree));
    if own == tree { own } else { format!("{own}/{tree}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_was_cached_is_shown_where_there_is_one() {
        let of = |input: u64, cache_read: u64| {
            let tokens = agent::model::Tokens { input, cache_read, ..Default::default() };
            cached(&Usage { tokens, ..Usage::default() })
        };
        assert_eq!(of(100, 300).as_deref(), Some("75% cached"));
        assert_eq!(of(100, 0), None);
        assert_eq!(of(0, 0), None);
        assert_eq!(of(0, u64::MAX).as_deref(), Some("100% cached"));
        let of = |cache_read: u64, reasoning: u64| {
            let tokens =
                agent::model::Tokens { input: 100, cache_read, output: 9_000, reasoning, ..Default::default() };
            shares(&Usage { tokens, ..Usage::default() })
        };
        assert_eq!(of(300, 3_100).as_deref(), Some("75% cached, 3.1k reasoning"));
        assert_eq!(of(0, 12).as_deref(), Some("12 reasoning"));
        assert_eq!(of(0, 0), None);
    }

    #[test]
    fn money_that_was_spent_never_reads_as_free() {
        assert_eq!(money(0), "$0.00");
        assert_eq!(money(1), "$0.0001");
        assert_eq!(money(1_234), "$0.0013");
        assert_eq!(money(9_950), "$0.0100");
        assert_eq!(money(10_000), "$0.01");
        assert_eq!(money(1_254_999), "$1.25");
        assert_eq!(money(1_255_000), "$1.26");
    }

    #[test]
    fn a_cost_says_whether_it_is_known_and_whether_it_is_an_estimate() {
        let usage = |cost_microusd, estimated_tokens| Usage { cost_microusd, estimated_tokens, ..Usage::default() };
        assert_eq!(cost(&usage(0, 0), true), "$0.00");
        assert_eq!(cost(&usage(0, 0), false), "price unknown");
        assert_eq!(cost(&usage(20_000, 0), false), "over $0.02");
        assert_eq!(cost(&usage(20_000, 5), true), "~$0.02");
    }

    #[test]
    fn a_count_stays_short() {
        let shown = [0, 999, 1_000, 3_149, 12_000, 999_999, 4_000_000, 5_000_000_000].map(count);
        assert_eq!(shown, ["0", "999", "1.0k", "3.1k", "12k", "999k", "4.0M", "5.0G"]);
    }
}
