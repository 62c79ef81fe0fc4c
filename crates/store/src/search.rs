//! The words of conversations, and how they are searched. Pure, and the same for every store.
//!
//! What counts as words is here: what people and agents said, what agents were asked, and titles. Tool results are left out: they are
//! other people's text, and there is much of it.

use std::sync::Arc;

use agent::message::Part;
use agent::{Event, Outside, ThreadId, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// Words, all of which are to be found in one place. The last one may be the beginning of a word.
    pub text: Arc<str>,
    /// At most so many threads.
    pub limit: usize,
}

/// A thread in which the words were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Found {
    /// Which.
    #[schemars(with = "String")]
    pub thread: ThreadId,
    /// When they were said.
    #[schemars(with = "schema::Moment")]
    pub at: Time,
    /// Where they stand, with a few words around them.
    pub excerpt: Arc<str>,
}

/// The words of an event; none if it holds none.
pub(crate) fn words(event: &Event) -> Option<String> {
    let text = match event {
        Event::ThreadCreated(created) => created.brief.as_ref().map(|brief| brief.task.to_string()),
        Event::RunStarted { prompt, .. } => Some(prompt.to_string()),
        Event::Steered { text, .. } => Some(text.to_string()),
        Event::Answered(answered) => Some(answered.parts.iter().filter_map(Part::words).collect::<Vec<_>>().join("\n")),
        Event::InputArrived { input: Outside::Marked { title, .. }, .. } => title.as_deref().map(str::to_owned),
        _ => None,
    };
    text.filter(|text| !text.trim().is_empty())
}

/// The words of a query, without what is no part of a word.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Characters of an excerpt before and after what was found.
const AROUND: usize = 40;

/// A piece of a text around the first of the terms; none where not all of them are found as the beginnings of words, the last one, or as
/// whole words, the others.
pub(crate) fn excerpt(text: &str, terms: &[String]) -> Option<Arc<str>> {
    let (last, whole) = terms.split_last()?;
    let found = |term: &str, is_beginning: bool| {
        let mut place = 0;
        text.split(|character: char| !character.is_alphanumeric()).find_map(|word| {
            let at = place;
            place += word.len() + text[place + word.len()..].chars().next().map_or(0, char::len_utf8);
            let word = word.to_lowercase();
            (word == term || is_beginning && word.starts_with(term)).then_some(at)
        })
    };
    let mut first = found(last, true)?;
    for term in whole {
        first = first.min(found(term, false)?);
    }
    let begin = text[..first].char_indices().rev().nth(AROUND).map_or(0, |(at, _)| at);
    let end = text[first..].char_indices().nth(AROUND * 2).map_or(text.len(), |(at, _)| first + at);
    let line = text[begin..end].split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, after) = (if begin > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    Some(format!("{before}{line}{after}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_what_was_found_and_a_little_around_it() {
        let text = format!("{} Der Käfer sitzt auf dem Blatt. {}", "vor ".repeat(40), "nach ".repeat(40));
        let shown = excerpt(&text, &terms("käfer, BLA")).unwrap();
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("Käfer sitzt"), "{shown}");
        assert_eq!(excerpt(&text, &terms("käf blatt")), None, "only the last word may be a beginning");
        assert_eq!(excerpt(&text, &terms("käfer löwe")), None);
        assert_eq!(excerpt("", &terms("käfer")), None);
        assert_eq!(excerpt(&text, &terms("  ,")), None);
    }
}
