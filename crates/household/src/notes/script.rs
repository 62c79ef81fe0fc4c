//! Where words begin and end, and text as the index takes it.
//!
//! The index of words drops accents by itself, but it does not know that `Strasse` is `Straße`, and it takes what stands between
//! two blanks for one word, which in Chinese, Japanese or Thai is a whole sentence.

use std::borrow::Cow;

/// Text as the index takes it: every letter of a script without blanks is a word, so that a search for one, two or ten of
/// them is a search for as many words in a row.
pub(super) fn spaced(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(|c| c == 'ß' || is_unspaced(c)) {
        return Cow::Borrowed(text);
    }
    let mut spaced = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        match c {
            'ß' => spaced.push_str("ss"),
            c if is_unspaced(c) => {
                spaced.push(' ');
                spaced.push(c);
                spaced.push(' ');
            }
            c => spaced.push(c),
        }
    }
    Cow::Owned(spaced)
}

/// Whether a letter belongs to a script that is written without blanks between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Burmese
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3040}'..='\u{30ff}' // Hiragana, Katakana
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' // Chinese characters, and those below
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' // narrow Katakana
        | '\u{20000}'..='\u{3ffff}')
}

/// The words of a text: runs of letters and digits.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\u{300}'..='\u{36f}')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_scripts_without_blanks_become_words_of_their_own() {
        assert_eq!(spaced("PDF資料").split_whitespace().collect::<Vec<_>>(), ["PDF", "資", "料"]);
        assert!(matches!(spaced("plain café"), Cow::Borrowed(_)));
        assert_eq!(spaced("Straße"), "Strasse");
    }

    #[test]
    fn words_end_where_letters_and_digits_end() {
        assert_eq!(words("A follow-up: 3 things!").collect::<Vec<_>>(), ["A", "follow", "up", "3", "things"]);
    }
}
