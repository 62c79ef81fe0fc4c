//! Sets misspelt words of a request right, towards the words of the household and of the lexicon.
//!
//! A word is taken for a slip only if neither the lexicon, the glossary nor the household's own texts know it in the language of the
//! request. What it was meant to be is the word with the cheapest slips between them: letters that changed places, a letter that is missing or
//! doubled, and vowels cost less than others. One doubtful word alone is left as it is; where several are misspelt, the writer is in a hurry, and all
//! are set right.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::entities;
use super::intent::Context;
use super::lexicon::lexicon;
use household::time::words::Word;

/// A request with its slips set right. Addresses, ids and what stands in quotation marks stay as they are.
pub(super) fn corrected(text: &str, context: &Context) -> String {
    let (_, places) = entities::by_form(text);
    let all = entities::words_outside(text, &places);
    let language = language_of(&all);
    let names = entities::name_words(&context.people);
    let speller = Speller { context, names: &names, language };
    let mut found: Vec<(&Word, Correction)> = Vec::new();
    for (at, word) in all.iter().enumerate() {
        let next = all.get(at + 1).map_or("", |next| next.folded.as_str());
        let correction = match slip(language, &word.folded).or_else(|| lacks_letter(language, &word.folded, next)) {
            Some(meant) => Some(Correction { meant: meant.to_owned(), cost: 0.0, is_listed: true }),
            None if speller.is_left(text, word, at) => None,
            None => speller.nearest(&word.folded),
        };
        found.extend(correction.map(|correction| (word, correction)));
    }
    let is_hurried = found.len() > 1;
    let mut right = text.to_owned();
    for (word, correction) in found.into_iter().rev() {
        let length = word.folded.chars().count();
        let is_certain =
            correction.is_listed || CERTAIN.iter().any(|(least, cost)| length >= *least && correction.cost <= *cost);
        if is_hurried || is_certain {
            let is_large = text[word.at.clone()].starts_with(char::is_uppercase);
            right.replace_range(word.at.clone(), &capital(&correction.meant, is_large));
        }
    }
    right
}

/// The language of a request: English too where its slips make it look like another (`wat` is Dutch).
fn language_of(all: &[Word]) -> &'static str {
    let likeliest = lexicon().language(all);
    let known = |language: &str| all.iter().filter(|word| lexicon().is_word_of(language, &word.folded)).count();
    let slips =
        all.iter().filter(|word| slip("en", &word.folded).is_some() && !lexicon().is_word_of("en", &word.folded));
    if known("en") + slips.count() >= known(likeliest) { "en" } else { likeliest }
}

/// A slip in a word of so many letters that costs no more is certain.
const CERTAIN: [(usize, f64); 3] = [(3, 0.45), (4, 0.6), (6, 0.8)];

/// What a word was meant to be.
struct Correction {
    meant: String,
    cost: f64,
    is_listed: bool,
}

struct Speller<'a> {
    context: &'a Context,
    names: &'a std::collections::HashSet<String>,
    language: &'static str,
}

impl<'a> Speller<'a> {
    /// Whether a word is known, or is nothing that can be set right.
    fn is_left(&self, text: &str, word: &Word, at: usize) -> bool {
        let folded = word.folded.as_str();
        let length = folded.chars().count();
        let is_plain = folded.chars().all(|letter| letter.is_ascii_alphabetic());
        // "Nadja" in the middle of a sentence is a name that is not known yet.
        let is_name_like = at > 0 && text[word.at.start..].starts_with(char::is_uppercase) && length < 7;
        let is_name = |word: &str| self.names.contains(word);
        // "Sarahs" without its apostrophe is Sarah.
        let is_of_a_name = folded.strip_suffix('s').is_some_and(is_name);
        let vocabulary = &self.context.words;
        let is_own = vocabulary.count(folded, self.language) > 0 || length > 4 && vocabulary.knows(folded);
        length < 3
            || !is_plain
            || is_name_like
            || is_name(folded)
            || is_of_a_name
            || is_own
            || lexicon().is_word_of(self.language, folded)
            || household::words::is_common(folded, self.language)
            || length > 4 && lexicon().knows(folded)
    }

    /// The word that was meant, if one is near enough.
    fn nearest(&self, slip: &str) -> Option<Correction> {
        let slip: Vec<char> = slip.chars().collect();
        let allowed = allowed(slip.len());
        let mut nearest: Option<(f64, f64, &str)> = None;
        let mut offer = |word: &'a str, bonus: f64| {
            let is_near = word.len().abs_diff(slip.len()) <= 3 && word.len() > 2 && begins_alike(&slip, word);
            let cost = is_near.then(|| cost(&slip, word)).filter(|cost| *cost <= allowed);
            if let Some(cost) = cost
                && nearest.is_none_or(|(score, _, by)| (cost - bonus, word) < (score, by))
            {
                nearest = Some((cost - bonus, cost, word));
            }
        };
        for word in lexicon().words_of(self.language) {
            offer(word, BY_LEXICON);
        }
        for (word, count) in self.context.words.words() {
            let is_own = word.chars().count() > 4 || self.context.words.count(word, self.language) > 0;
            if is_own {
                offer(word, BY_COUNT * f64::from(count + 1).ln());
            }
        }
        for word in self.names {
            offer(word, BY_LEXICON);
        }
        nearest.map(|(_, cost, meant)| Correction { meant: meant.to_owned(), cost, is_listed: false })
    }
}

/// What it is worth to be a word of the lexicon, and to stand often in the household's texts.
const BY_LEXICON: f64 = 0.25;
const BY_COUNT: f64 = 0.05;

/// How many slips a word of a length may hold, by their cost.
fn allowed(length: usize) -> f64 {
    match length {
        0..=3 => 0.8,
        4 => 0.9,
        5 | 6 => 1.2,
        7 | 8 => 1.8,
        _ => 2.2,
    }
}

/// People rarely get the first letter wrong, except that two letters change places.
fn begins_alike(slip: &[char], word: &str) -> bool {
    let mut letters = word.chars();
    let (first, second) = (letters.next(), letters.next());
    slip.first().copied() == first || (slip.first().copied() == second && slip.get(1).copied() == first)
}

/// What it costs to have written a slip for a word.
fn cost(slip: &[char], word: &str) -> f64 {
    let word: Vec<char> = word.chars().collect();
    let mut rows = vec![vec![0.0_f64; word.len() + 1]; slip.len() + 1];
    for at in 1..=word.len() {
        rows[0][at] = rows[0][at - 1] + missing(&word, at - 1);
    }
    for from in 1..=slip.len() {
        rows[from][0] = rows[from - 1][0] + TOO_MANY;
        for to in 1..=word.len() {
            let (typed, meant) = (slip[from - 1], word[to - 1]);
            let is_doubled = from > 1 && slip[from - 2] == typed;
            let extra = if is_doubled { DOUBLED } else { TOO_MANY };
            let mut least = (rows[from - 1][to - 1] + other(typed, meant))
                .min(rows[from - 1][to] + extra)
                .min(rows[from][to - 1] + missing(&word, to - 1));
            if from > 1 && to > 1 && typed == word[to - 2] && slip[from - 2] == meant && typed != meant {
                least = least.min(rows[from - 2][to - 2] + SWAPPED);
            }
            rows[from][to] = least;
        }
    }
    rows[slip.len()][word.len()]
}

const SWAPPED: f64 = 0.65;
const DOUBLED: f64 = 0.5;
const TOO_MANY: f64 = 0.9;

/// What it costs to leave a letter out: one of two, a vowel, any other.
fn missing(word: &[char], at: usize) -> f64 {
    let is_second = at > 0 && word[at - 1] == word[at];
    match () {
        () if is_second => 0.4,
        () if is_vowel(word[at]) => 0.6,
        () => 0.8,
    }
}

/// What it costs to write one letter for another.
fn other(typed: char, meant: char) -> f64 {
    const ALIKE: [(char, char); 10] = [
        ('c', 'k'),
        ('s', 'z'),
        ('s', 'c'),
        ('i', 'y'),
        ('v', 'w'),
        ('d', 't'),
        ('b', 'p'),
        ('m', 'n'),
        ('g', 'j'),
        ('q', 'k'),
    ];
    match () {
        () if typed == meant => 0.0,
        () if is_vowel(typed) && is_vowel(meant)
            || ALIKE.contains(&(typed, meant))
            || ALIKE.contains(&(meant, typed)) =>
        {
            0.8
        }
        () => 1.1,
    }
}

fn is_vowel(letter: char) -> bool {
    "aeiouy".contains(letter)
}

fn capital(word: &str, is_large: bool) -> String {
    let mut letters = word.chars();
    match is_large {
        true => letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect(),
        false => word.to_owned(),
    }
}

/// "An" before a consonant is "and".
fn lacks_letter(language: &str, folded: &str, next: &str) -> Option<&'static str> {
    let is_article = next.starts_with(['a', 'e', 'i', 'o', 'u', 'h']) && next != "i" && next != "is" && next != "if";
    (language == "en" && folded == "an" && !next.is_empty() && !is_article).then_some("and")
}

/// What was meant by a word, folded, that is too short to be told by its letters.
pub(super) fn slip(language: &str, folded: &str) -> Option<&'static str> {
    static ALL: LazyLock<[HashMap<&'static str, &'static str>; 4]> = LazyLock::new(|| {
        ["en", "de", "fr", ""].map(|language| {
            let mut is_own = false;
            let mut slips = HashMap::new();
            for line in include_str!("lexicon/slips.txt").lines().filter(|line| !line.starts_with('#')) {
                match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                    Some(section) => is_own = section == language,
                    None if is_own => slips.extend(line.split_once(' ')),
                    None => {}
                }
            }
            slips
        })
    });
    let at = ["en", "de", "fr"].iter().position(|code| *code == language).unwrap_or(3);
    ALL[at].get(folded).copied()
}

#[cfg(test)]
mod tests {
    use household::time::words::fold;

    use super::*;

    fn context(people: &[&str]) -> Context {
        let now = "2026-01-15T11:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
        Context::new(now, people.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn slips_are_set_right_towards_known_words() {
        let context = context(&["Sarah Chen"]);
        for (slipped, right) in [
            ("wat dos sarah wnat from me", "what does sarah want from me"),
            ("wich mesages did sarha send me", "which messages did sarah send me"),
            ("Welche dringenen Nachichten habe ich?", "Welche dringenden Nachrichten habe ich?"),
        ] {
            assert_eq!(fold(&corrected(slipped, &context)), fold(right));
        }
    }

    #[test]
    fn what_is_no_slip_stays_as_it_is() {
        let context = context(&["Sarah Chen"]);
        for text in [
            "Tell Sarah that I bring chalk and a rope",
            "mail jonas.reuter@postbox.example about \"teh mesage\"",
            "What did Zofia say about the pots?",
            "Sarahs number?",
        ] {
            assert_eq!(corrected(text, &context), text);
        }
    }

    #[test]
    fn a_slip_costs_less_the_more_common_it_is() {
        let cost = |slip: &str, word: &str| cost(&slip.chars().collect::<Vec<_>>(), word);
        assert!(cost("taht", "that") < cost("thaz", "that"));
        assert!(cost("viena", "vienna") < cost("vienn", "vienna"));
        assert!(cost("that", "that") < f64::EPSILON);
    }
}
