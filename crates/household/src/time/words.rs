//! Splits a text into words with their positions, in lower case and without accents.
//!
//! Left to the caller: what a word means, and which word a misspelt one stands for.

use std::ops::Range;

/// A word and its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it stands, in bytes.
    pub at: Range<usize>,
    /// The word in lower case and without accents.
    pub folded: String,
}

/// The words of a text. Letters and digits make a word; a hyphen, a full stop, a colon, a comma or a slash belongs to one only
/// between digits (`2026-01-20`, `15:30`), an underscore always.
pub fn words(text: &str) -> Vec<Word> {
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let mut words: Vec<Word> = Vec::new();
    let mut begun: Option<usize> = None;
    for (index, &(at, character)) in characters.iter().enumerate() {
        let belongs = character.is_alphanumeric() || character == '_' || joins(&characters, index);
        match (belongs, begun) {
            (true, None) => begun = Some(at),
            (false, Some(start)) => {
                words.push(word(text, start..at));
                begun = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    if let Some(start) = begun {
        words.push(word(text, start..text.len()));
    }
    words
}

/// Lower case, without accents; `ß` is `ss`.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        match character {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => folded.push('a'),
            'ç' => folded.push('c'),
            'è' | 'é' | 'ê' | 'ë' => folded.push('e'),
            'ì' | 'í' | 'î' | 'ï' => folded.push('i'),
            'ñ' => folded.push('n'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' => folded.push('o'),
            'ù' | 'ú' | 'û' | 'ü' => folded.push('u'),
            'ý' | 'ÿ' => folded.push('y'),
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            // Combining accents, as some keyboards write them.
            '\u{300}'..='\u{36f}' => {}
            other => folded.push(other),
        }
    }
    folded
}

/// As [`fold`], with umlauts written out the way German does where there are none on the keyboard.
pub fn fold_written_out(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        match character {
            'ä' => written.push_str("ae"),
            'ö' => written.push_str("oe"),
            'ü' => written.push_str("ue"),
            other => written.push(other),
        }
    }
    fold(&written)
}

fn word(text: &str, at: Range<usize>) -> Word {
    Word { folded: fold(&text[at.clone()]), at }
}

fn joins(characters: &[(usize, char)], index: usize) -> bool {
    let is_digit = |index: Option<usize>| {
        index.and_then(|index| characters.get(index)).is_some_and(|(_, character)| character.is_ascii_digit())
    };
    matches!(characters[index].1, '-' | '.' | ':' | ',' | '/')
        && is_digit(index.checked_sub(1))
        && is_digit(Some(index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stay_together_and_words_come_apart() {
        let found = |text: &str| words(text).into_iter().map(|word| word.folded).collect::<Vec<_>>().join("|");
        assert_eq!(found("What's on 2026-01-20, 15:30?"), "what|s|on|2026-01-20|15:30");
        assert_eq!(found("Réponds à l'e-mail msg_urgent_001."), "reponds|a|l|e|mail|msg_urgent_001");
        assert_eq!(found("am 15. Januar, 1,5 Stunden"), "am|15|januar|1,5|stunden");
        assert_eq!(found("  "), "");
        assert_eq!(fold_written_out("Nächste Grüße"), "naechste gruesse");
        assert_eq!(fold("Nächste Grüße, cafe\u{301}"), "nachste grusse, cafe");
    }

    #[test]
    fn a_word_knows_where_it_stands() {
        let text = "für Anna";
        let all = words(text);
        assert_eq!(&text[all[1].at.clone()], "Anna");
    }
}
