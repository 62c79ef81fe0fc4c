//! The line of a note that matches best, as it is shown with a result.

use super::front_matter;
use super::query::{Query, Term};
use super::script::words;
use super::search::Hit;
use crate::text::fold;

/// The longest snippet, in characters.
const MAX_CHARS: usize = 200;

/// A line of a note, shortened around what was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snippet {
    pub text: String,
    /// Counted from 1.
    pub line: usize,
}

/// The line with the most of what was looked for; of several, the first. A note that holds it elsewhere shows its first line.
pub(super) fn of(text: &str, query: &Query, hit: &Hit) -> Snippet {
    let wanted: Vec<Wanted<'_>> =
        hit.answers.iter().map(|(number, as_)| Wanted::new(&query.terms[*number], as_)).collect();
    let head = front_matter::read(text.strip_prefix('\u{feff}').unwrap_or(text)).lines;
    let mut best: Option<(u32, usize, &str)> = None;
    for (at, line) in text.lines().enumerate().skip(head) {
        let said =
            line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '>' | '-' | '*' | '+')).trim_end();
        if said.is_empty() {
            continue;
        }
        let folded = fold(said);
        let worth = wanted.iter().map(|wanted| wanted.worth(&folded)).sum();
        if best.is_none_or(|(most, ..)| worth > most) {
            best = Some((worth, at + 1, said));
        }
    }
    let (_, line, said) = best.unwrap_or((0, 1, ""));
    Snippet { text: around(said, &wanted), line }
}

/// A word that is looked for, and those that count as it.
struct Wanted<'a> {
    term: &'a Term,
    read_as: Vec<String>,
    /// What a form of the word begins with, as far as that can be told without knowing its language.
    root: &'a str,
}

impl<'a> Wanted<'a> {
    fn new(term: &'a Term, read_as: &[String]) -> Self {
        let length = term.folded.chars().count();
        let kept = if length > 5 { length - 2 } else { length };
        let end = term.folded.char_indices().nth(kept).map_or(term.folded.len(), |(at, _)| at);
        Self { term, read_as: read_as.iter().map(|word| fold(word)).collect(), root: &term.folded[..end] }
    }

    /// How well a line answers: with the word itself, with another form of it, or not at all.
    fn worth(&self, folded: &str) -> u32 {
        if self.term.is_unspaced() || self.term.folded.contains(' ') {
            let joined = words(folded).collect::<Vec<_>>().join(" ");
            return if folded.contains(&*self.term.folded) || joined.contains(&*self.term.folded) { 4 } else { 0 };
        }
        words(folded).map(|word| self.worth_of(word)).max().unwrap_or(0)
    }

    fn worth_of(&self, word: &str) -> u32 {
        if word == self.term.folded || self.read_as.iter().any(|read| read == word) {
            4
        } else if word.starts_with(&*self.term.folded) {
            3
        } else if word.starts_with(self.root) {
            2
        } else {
            u32::from(self.term.folded.len() > 3 && word.contains(&*self.term.folded))
        }
    }
}

/// A line, cut to size so that the first word that was looked for stays in it.
fn around(said: &str, wanted: &[Wanted<'_>]) -> String {
    let chars: Vec<char> = said.chars().collect();
    if chars.len() <= MAX_CHARS {
        return said.to_owned();
    }
    let is_wanted = |word: &str| wanted.iter().any(|wanted| wanted.worth(&fold(word)) > 0);
    let first = words(said).find(|word| is_wanted(word)).and_then(|word| said.find(word)).unwrap_or(0);
    let first = said[..first].chars().count();
    let from = first.saturating_sub(MAX_CHARS / 3).min(chars.len() - MAX_CHARS);
    let shown: String = chars[from..from + MAX_CHARS].iter().collect();
    let (before, after) = (if from > 0 { "…" } else { "" }, if from + MAX_CHARS < chars.len() { "…" } else { "" });
    format!("{before}{}{after}", shown.trim())
}
