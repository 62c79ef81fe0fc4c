//! How two texts differ, line by line: for the result of an edit, and for a person who is asked about one.
//!
//! The only file that uses `similar` for this: its algorithms are generic, and a second user would compile all of them again.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// After so long the rest is shown as replaced.
const MAX_TIME: Duration = Duration::from_millis(500);

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineChange {
    /// It is in both texts.
    Kept,
    /// It is only in the old text.
    Removed,
    /// It is only in the new text.
    Added,
}

/// A line of one of two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedLine {
    /// What became of it.
    pub change: LineChange,
    /// Its number in the new text, or in the old one if it is only there. The first is 1.
    pub number: usize,
    /// The line without its end.
    pub text: String,
}

/// The places at which two texts differ, each with `around` lines before and after it.
pub fn changed_lines(old: &str, new: &str, around: usize) -> Vec<Vec<ChangedLine>> {
    let diff = TextDiff::configure().timeout(MAX_TIME).diff_lines(old, new);
    let mut places = Vec::new();
    for group in diff.grouped_ops(around) {
        let lines = group.iter().flat_map(|operation| diff.iter_changes(operation)).map(|line| ChangedLine {
            change: match line.tag() {
                ChangeTag::Equal => LineChange::Kept,
                ChangeTag::Delete => LineChange::Removed,
                ChangeTag::Insert => LineChange::Added,
            },
            number: line.new_index().or(line.old_index()).map_or(0, |line| line + 1),
            text: line.value().trim_end_matches(['\n', '\r']).to_owned(),
        });
        places.push(lines.collect());
    }
    places
}

/// The difference in the unified format, for a model.
pub(crate) fn unified(path: &str, old: &str, new: &str) -> String {
    let diff = TextDiff::configure().timeout(MAX_TIME).diff_lines(old, new);
    diff.unified_diff().context_radius(2).header(path, path).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_differ_are_shown_with_their_numbers() {
        let (old, new) = ("a\nb\nc\nd\ne\nf\ng\n", "a\nb\nC\nd\ne\nf\ng\nh\n");
        let shown: Vec<String> = changed_lines(old, new, 1)
            .iter()
            .map(|place| {
                let lines = place.iter().map(|line| format!("{:?} {} {}", line.change, line.number, line.text));
                lines.collect::<Vec<_>>().join(", ")
            })
            .collect();
        assert_eq!(shown, ["Kept 2 b, Removed 3 c, Added 3 C, Kept 4 d", "Kept 7 g, Added 8 h"]);
    }
}
