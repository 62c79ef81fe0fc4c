//! Finds the phrases of the lexicon in a text, and corrects words that are nearly one of them.

use super::{Cue, Hit, Lexicon, Piece};
use crate::spelling::slip;
use household::time::words::Word;

/// The longest word in which another letter makes another word.
const SHORT: usize = 6;

/// The most words that a gap stands for.
const LONGEST_GAP: usize = 6;

impl Lexicon {
    /// The cues in a text, in its order. A cue that stands within a longer one is not one; several that stand on the same words
    /// all are. Words of a language that the text is not in mean something else there, and are no cues.
    pub fn hits(&self, words: &[Word]) -> Vec<Hit> {
        let likely = self.likely(words);
        let mut found: Vec<(usize, Hit, Vec<usize>)> = Vec::new();
        for start in 0..words.len() {
            let by_word = self.by_word.get(&words[start].folded).into_iter().flatten();
            let cues = by_word.chain(&self.by_part).map(|number| &self.cues[*number]);
            for cue in cues.filter(|cue| likely[cue.language]) {
                if let Some(taken) = cue.fits(words, start) {
                    let end = taken.last().map_or(start, |last| last + 1);
                    found.push((taken.len(), Hit { concept: cue.concept, words: start..end }, taken));
                }
            }
        }
        found.sort_by_key(|(length, hit, _)| (std::cmp::Reverse(*length), hit.words.start));
        let mut taken_by: Vec<Option<usize>> = vec![None; words.len()];
        let mut hits: Vec<Hit> = Vec::new();
        for (length, hit, taken) in found {
            let is_free = |word: &usize| taken_by[*word].is_none_or(|by| by == length);
            if taken.iter().all(is_free) && !hits.contains(&hit) {
                for word in taken {
                    taken_by[word] = Some(length);
                }
                hits.push(hit);
            }
        }
        hits.sort_by_key(|hit| (hit.words.start, hit.words.end));
        hits
    }

    /// The same words with those mended that are nearly one of ours. What `is_known` is left as it is, and so are short words that
    /// are written like names within a sentence.
    pub fn mended(&self, text: &str, words: &[Word], is_known: &dyn Fn(&str) -> bool) -> Vec<Word> {
        let is_name_like = |word: &Word| {
            let before = text[..word.at.start].trim_end();
            let is_inside = before.ends_with(|character: char| character.is_alphanumeric() || character == ',');
            is_inside && text[word.at.start..].starts_with(char::is_uppercase) && word.folded.chars().count() < 7
        };
        let language = self.language(words);
        let mend = |word: &Word| {
            // What stands for two words is left to `spelling`, which has the text.
            if let Some(meant) = slip(language, &word.folded).filter(|meant| !meant.contains([' ', '\''])) {
                return Word { at: word.at.clone(), folded: meant.to_owned() };
            }
            let is_left = self.knows(&word.folded) || is_known(&word.folded) || is_name_like(word);
            let folded = if is_left { None } else { self.nearest(&word.folded) };
            Word { at: word.at.clone(), folded: folded.unwrap_or(&word.folded).to_owned() }
        };
        words.iter().map(mend).collect()
    }

    /// Whether a word stands in any cue as it is.
    pub fn knows(&self, word: &str) -> bool {
        self.vocabulary.contains(word)
            || self.cues.iter().flat_map(|cue| &cue.pieces).any(|piece| match piece {
                Piece::Beginning(beginning) => word.starts_with(beginning.as_str()),
                Piece::Ending(ending) => ends_longer(word, ending),
                Piece::Whole(_) | Piece::Gap => false,
            })
    }

    /// The word of ours that was meant, if one is near enough and none is as near.
    fn nearest(&self, word: &str) -> Option<&str> {
        let length = word.chars().count();
        if length < 4 || word.chars().any(|character| character.is_ascii_digit() || character == '_') {
            return None;
        }
        let mut best: Option<(usize, &str)> = None;
        for known in &self.targets {
            let distance = match known.chars().count() {
                short if short < 4 => continue,
                // In short words another letter mostly makes another word: only letters that changed places, or one too many
                // or too few, are certain to be a slip.
                same if same == length && length <= SHORT && !is_shuffled(word, known) => continue,
                5 if length == 4 && word.chars().last() != known.chars().last() => continue,
                long if long.abs_diff(length) > allowed(length) => continue,
                _ => strsim::osa_distance(word, known),
            };
            let is_better = |(nearest, by): (usize, &str)| (distance, known.as_str()) < (nearest, by);
            if distance <= allowed(length) && alike_at_first(word, known) && best.is_none_or(is_better) {
                best = Some((distance, known));
            }
        }
        best.map(|(_, known)| known)
    }
}

impl Cue {
    /// The numbers of the words that this cue is made of, if it begins at `start`.
    fn fits(&self, words: &[Word], start: usize) -> Option<Vec<usize>> {
        let mut taken = Vec::with_capacity(self.pieces.len());
        fits_from(&self.pieces, words, start, &mut taken).then_some(taken)
    }
}

fn fits_from(pieces: &[Piece], words: &[Word], at: usize, taken: &mut Vec<usize>) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return true };
    if *piece == Piece::Gap {
        let before = taken.len();
        return (1..=LONGEST_GAP).any(|gap| {
            taken.truncate(before);
            fits_from(rest, words, at + gap, taken)
        });
    }
    let Some(word) = words.get(at) else { return false };
    let fits = match piece {
        Piece::Whole(whole) => word.folded == *whole,
        Piece::Beginning(beginning) => word.folded.starts_with(beginning.as_str()),
        Piece::Ending(ending) => ends_longer(&word.folded, ending),
        Piece::Gap => false,
    };
    if fits {
        taken.push(at);
    }
    fits && fits_from(rest, words, at + 1, taken)
}

/// Whether a word is more than an ending that it ends in.
fn ends_longer(word: &str, ending: &str) -> bool {
    word.len() > ending.len() && word.ends_with(ending)
}

/// How many slips a word of this length may hold.
fn allowed(length: usize) -> usize {
    if length >= 9 { 2 } else { 1 }
}

fn is_shuffled(one: &str, other: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

/// Slips are rarely made in the first letter, and words that differ there are mostly different words.
fn alike_at_first(one: &str, other: &str) -> bool {
    let first = |word: &str| word.chars().next();
    let second = |word: &str| word.chars().nth(1);
    first(one) == first(other) || (first(one) == second(other) && second(one) == first(other))
}
