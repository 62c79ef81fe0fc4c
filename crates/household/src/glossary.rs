//! Words that mean the same in the languages of a household, for a search whose own words find too little, and words for people by what
//! they are to the owner ("landlord", "Mum").
//!
//! The words are data (`glossary.txt`). Left to the callers: how much less a match by another word is worth.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The sets of words, and which of them a word is in.
struct Glossary {
    sets: Vec<Vec<&'static str>>,
    /// The first set of words for people.
    people: usize,
    of: HashMap<&'static str, Vec<usize>>,
}

fn glossary() -> &'static Glossary {
    static BUILTIN: LazyLock<Glossary> = LazyLock::new(|| {
        let mut glossary = Glossary { sets: Vec::new(), people: 0, of: HashMap::new() };
        for line in include_str!("glossary.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line {
                "[topics]" => {}
                "[people]" => glossary.people = glossary.sets.len(),
                set => {
                    let set: Vec<&str> = set.split(' ').collect();
                    for word in &set {
                        glossary.of.entry(word).or_default().push(glossary.sets.len());
                    }
                    glossary.sets.push(set);
                }
            }
        }
        glossary
    });
    &BUILTIN
}

/// Whether a word, folded, stands in it, its simplest plural included.
pub(crate) fn knows(folded: &str) -> bool {
    !sets_of(folded).is_empty()
}

/// Other words for a word, its simplest plural included.
pub(crate) fn others(folded: &str) -> Vec<&'static str> {
    let glossary = glossary();
    let mut others: Vec<&'static str> = Vec::new();
    for set in sets_of(folded) {
        for other in glossary.sets[set].iter().filter(|other| **other != folded) {
            if !others.contains(other) {
                others.push(other);
            }
        }
    }
    others
}

/// The words that a compound begins and ends with, and others for them.
pub(crate) fn within(folded: &str) -> Vec<&'static str> {
    let is_part = |word: &str| word.len() >= 5 && word.len() + 3 <= folded.len();
    let longest = |is_at: &dyn Fn(&str) -> bool| {
        glossary()
            .of
            .keys()
            .filter(|word| is_part(word) && is_at(word))
            .max_by_key(|word| (word.len(), **word))
            .copied()
    };
    let parts = [longest(&|word| folded.starts_with(word)), longest(&|word| folded.ends_with(word))];
    parts.into_iter().flatten().flat_map(|word| others(word).into_iter().chain([word])).collect()
}

/// Other words for the one that a misspelt word was meant to be, and that word.
pub(crate) fn nearest(folded: &str) -> Vec<&'static str> {
    if folded.len() < 6 {
        return Vec::new();
    }
    let is_near = |word: &&&str| word.len() > 4 && crate::passages::is_slip(word, folded);
    let near = glossary().of.keys().filter(is_near).min().copied();
    near.map(|word| others(word).into_iter().chain([word]).collect()).unwrap_or_default()
}

/// All words for the same kind of person, if a word is one for a person.
pub(crate) fn relation(folded: &str) -> Option<&'static [&'static str]> {
    let glossary = glossary();
    let of = |word: &str| sets_of(word).into_iter().find(|set| *set >= glossary.people);
    let part = || {
        glossary
            .of
            .keys()
            .filter(|word| word.len() >= 6 && folded.len() > word.len() + 2 && folded.starts_with(**word))
            .find_map(|word| of(word))
    };
    let set = of(folded).or_else(part)?;
    Some(&glossary.sets[set])
}

/// Every word for a person, to recognise them in what is said.
pub(crate) fn relations() -> impl Iterator<Item = &'static str> {
    let glossary = glossary();
    glossary.sets[glossary.people..].iter().flatten().copied()
}

fn sets_of(folded: &str) -> Vec<usize> {
    let glossary = glossary();
    let singular = ["s", "en", "n", "e", "es"].iter().filter_map(|end| folded.strip_suffix(end));
    let mut sets: Vec<usize> = Vec::new();
    for word in std::iter::once(folded).chain(singular.filter(|word| word.len() > 2)) {
        sets.extend(glossary.of.get(word).into_iter().flatten());
    }
    sets.sort_unstable();
    sets.dedup();
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_in_three_languages_and_with_their_plurals() {
        assert!(others("invoices").contains(&"rechnung"));
        assert!(others("vermieter").contains(&"landlord"));
        assert!(others("sauerkraut").is_empty());
        assert!(relation("mum").is_some_and(|words| words.contains(&"maman")));
        assert!(relation("invoice").is_none());
    }
}
