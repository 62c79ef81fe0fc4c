//! Parses what people type into a query.
//!
//! Known: words, `"several in a row"`, `tag:home` or `#home`, `-without`. Everything else is words: each is quoted before it reaches
//! the index, so that the index's own syntax (`AND`, `*`, `NEAR(`) is data.

use super::script::{is_unspaced, spaced, words};
use super::stop_words;
use crate::text::fold;

/// The most words that are looked for; what comes after them is left out.
const MAX_TERMS: usize = 12;
/// The longest query that is read, in characters.
const MAX_CHARS: usize = 400;

/// A query, read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    pub terms: Vec<Term>,
    pub without: Vec<Term>,
    /// Folded.
    pub tags: Vec<String>,
}

/// A word to look for, or several in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// As it was typed.
    pub text: String,
    pub folded: String,
}

impl Query {
    /// Reads a query.
    pub(super) fn read(text: &str) -> Self {
        let clipped: String = text.chars().take(MAX_CHARS).collect();
        let mut query = Self::default();
        let mut before = ' ';
        let mut rest = &*clipped;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            let begins = before.is_whitespace() || is_quote(before);
            let is_minus =
                begins && matches!(c, '-' | '−') && after.starts_with(|c: char| c.is_alphanumeric() || is_quote(c));
            before = c;
            if is_minus {
                let (said, after) = piece(after);
                query.without.extend(Term::new(said));
                rest = after;
            } else if c.is_whitespace() {
                rest = after;
            } else {
                let (said, after) = piece(rest);
                match tag(said) {
                    Some(tag) => query.tags.push(tag),
                    None if is_quote(c) => query.terms.extend(Term::new(said)),
                    None => query.terms.extend(Term::word(said)),
                }
                before = ' ';
                rest = after;
            }
        }
        query.without_stop_words();
        query.terms.truncate(MAX_TERMS);
        query
    }

    /// Words that stand in every sentence find nothing; where there are no others, they are all that was asked.
    fn without_stop_words(&mut self) {
        let carries = |term: &Term| term.folded.contains(' ') || !stop_words::is_one(&term.folded);
        if self.terms.iter().any(carries) {
            self.terms.retain(carries);
        }
        let mut seen = Vec::new();
        self.terms.retain(|term| {
            let is_first = !seen.contains(&term.folded);
            seen.push(term.folded.clone());
            is_first
        });
    }
}

impl Term {
    fn new(text: &str) -> Option<Self> {
        let text = text.trim_matches(|c: char| !c.is_alphanumeric());
        let folded = words(text).map(fold).collect::<Vec<_>>().join(" ");
        (!folded.is_empty()).then(|| Self { text: text.to_owned(), folded })
    }

    /// A word with what grammar hung onto it taken off: `l'eau` asks for `eau`, `Alex's` for `Alex`.
    fn word(text: &str) -> Option<Self> {
        let longest = text.split(['\'', '’']).max_by_key(|part| part.chars().count()).unwrap_or(text);
        Self::new(longest)
    }

    /// Its expression for the index: these words in a row. `Mueller` may be written `Müller`.
    pub(super) fn exact(&self) -> String {
        let plain = quoted(&self.text);
        let short = self.folded.replace("ae", "a").replace("oe", "o").replace("ue", "u");
        if short == self.folded { plain } else { format!("({plain} OR {})", quoted(&short)) }
    }

    /// Its expression as the beginning of a word, where it is long enough to mean one.
    pub(super) fn prefix(&self) -> Option<String> {
        let is_word = !self.folded.contains(' ') && !self.is_unspaced();
        (is_word && self.folded.chars().count() >= 3).then(|| format!("{} *", quoted(&self.text)))
    }

    /// Whether it is written in a script without blanks.
    pub(super) fn is_unspaced(&self) -> bool {
        self.text.contains(is_unspaced)
    }
}

/// Words in a row, as data in the index's language.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", spaced(&words(text).collect::<Vec<_>>().join(" ")))
}

/// The next piece and what follows it: what stands between quotes, or up to a blank.
fn piece(text: &str) -> (&str, &str) {
    let mut chars = text.char_indices();
    let first = chars.next().map_or(' ', |(_, c)| c);
    if is_quote(first)
        && let Some((end, c)) = chars.find(|(_, c)| is_quote(*c))
    {
        return (&text[first.len_utf8()..end], &text[end + c.len_utf8()..]);
    }
    let from = if is_quote(first) { first.len_utf8() } else { 0 };
    let end = text[from..].find(char::is_whitespace).map_or(text.len(), |end| end + from);
    (&text[from..end], &text[end..])
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」')
}

fn tag(text: &str) -> Option<String> {
    let tag = text.strip_prefix("tag:").or_else(|| text.strip_prefix('#'))?;
    let tag = fold(tag.trim_start_matches('#').trim_end_matches([',', '.', '?', '!']));
    tag.contains(char::is_alphanumeric).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        Query::read(text).terms.into_iter().map(|term| term.folded).collect()
    }

    #[test]
    fn words_rows_tags_and_exclusions_are_told_apart() {
        let query = Query::read("garden “water plan” tag:Home #project/spring -draft -\"old plan\" follow-up");
        let folded = |terms: &[Term]| terms.iter().map(|term| term.folded.clone()).collect::<Vec<_>>();
        assert_eq!(folded(&query.terms), ["garden", "water plan", "follow up"]);
        assert_eq!(folded(&query.without), ["draft", "old plan"]);
        assert_eq!(query.tags, ["home", "project/spring"]);
    }

    #[test]
    fn words_that_stand_in_every_sentence_are_left_out_unless_there_are_no_others() {
        assert_eq!(terms("Where did I put the notes about the garden?"), ["garden"]);
        assert_eq!(terms("Wo ist meine Notiz über den Mietvertrag?"), ["mietvertrag"]);
        assert_eq!(terms("où est l'adresse de l'école"), ["adresse", "ecole"]);
        assert_eq!(terms("the who"), ["the", "who"]);
    }

    // T8
    #[test]
    fn the_language_of_the_index_is_data() {
        assert_eq!(terms("a* NEAR(b c) title:x \"open"), ["near b", "c", "title x", "open"]);
        let said = Query::read("x\"y OR z").terms.iter().map(Term::exact).collect::<Vec<_>>();
        assert!(said.iter().all(|term| term.starts_with('"') && term.matches('"').count() == 2), "{said:?}");
        for odd in ["", "\"", "\"\"", "-", "--", "#", "* ^ ( )", "🙂", "-\"", "\u{0}"] {
            assert!(Query::read(odd).terms.is_empty(), "{odd:?}");
        }
    }

    #[test]
    fn a_query_is_bounded() {
        let words: String = (0..1000).map(|n| format!("word{n} ")).collect();
        assert_eq!(Query::read(&words).terms.len(), MAX_TERMS);
    }
}
