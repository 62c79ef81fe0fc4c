//! Text helpers: folding for comparison, clipping to a length, removing dangerous characters, detecting the language.

use std::borrow::Cow;

/// A text in lower case and without accents, so that `Müller`, `MÜLLER` and `Muller` are one name.
pub(crate) fn fold(text: &str) -> String {
    // Most texts have nothing in them that would have to be looked at letter by letter.
    if text.is_ascii() {
        let mut folded = text.to_ascii_lowercase();
        if folded.contains('`') {
            folded = folded.replace('`', "'");
        }
        return folded;
    }
    let mut folded = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        match character {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ă' | 'ą' => folded.push('a'),
            'ç' | 'ć' | 'č' => folded.push('c'),
            'ď' | 'đ' => folded.push('d'),
            'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ė' | 'ę' | 'ě' => folded.push('e'),
            'ğ' => folded.push('g'),
            'ì' | 'í' | 'î' | 'ï' | 'ī' | 'ı' => folded.push('i'),
            'ł' => folded.push('l'),
            'ñ' | 'ń' | 'ň' => folded.push('n'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ō' | 'ő' => folded.push('o'),
            'ř' => folded.push('r'),
            'ś' | 'š' | 'ş' | 'ș' => folded.push('s'),
            'ť' | 'ţ' | 'ț' => folded.push('t'),
            'ù' | 'ú' | 'û' | 'ü' | 'ū' | 'ů' | 'ű' => folded.push('u'),
            'ý' | 'ÿ' => folded.push('y'),
            'ź' | 'ż' | 'ž' => folded.push('z'),
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            '’' | '‘' | 'ʼ' | '`' => folded.push('\''),
            '\u{a0}' | '\u{202f}' | '\u{2009}' => folded.push(' '),
            // Marks that stand on the letter before them.
            '\u{300}'..='\u{36f}' => {}
            other => folded.push(other),
        }
    }
    folded
}

/// A text of at most `max` characters and a mark that tells how many are missing.
pub(crate) fn clip(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let missing = text[end..].chars().count();
            Cow::Owned(format!("{}… [{missing} characters left out]", text[..end].trim_end()))
        }
    }
}

/// A text on one line of at most `max` characters, with an ellipsis where it goes on.
pub(crate) fn line(text: &str, max: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(max) {
            line.truncate(end);
            return format!("{}…", line.trim_end());
        }
    }
    line
}

/// A text without what is dangerous to show: control characters, and marks that turn its direction around.
pub(crate) fn harmless(text: &str) -> String {
    let is_harmless = |character: &char| match character {
        '\n' | '\t' => true,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{ad}' => false,
        other => !other.is_control(),
    };
    text.chars().filter(is_harmless).collect()
}

/// The languages whose words are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
    French,
}

impl Language {
    /// Its two letters.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
        }
    }

    /// The language of two letters.
    pub fn named(code: &str) -> Option<Self> {
        [Self::English, Self::German, Self::French].into_iter().find(|language| language.code() == code)
    }

    /// The language that a text is most likely in: the one with most of its little words.
    pub fn of(text: &str) -> Self {
        const GERMAN: &str = " der die das und ist nicht ich wir sie ihr ihnen mit fur auf ein eine zu den dem von bitte \
            danke hallo liebe lieber grusse noch bis heute morgen konnen konnten haben wird sind uns mir dir ";
        const FRENCH: &str = " le la les des est et vous nous je une du pour avec dans que qui sur pas merci bonjour cordialement \
            ce cette votre notre avant demain au aux ne sont etre pouvez ";
        const ENGLISH: &str = " the and is are you we to of for with please thanks hello this that have has can could would be \
            by your our it on not will i ";
        let folded = fold(text);
        let mut counts = [0_usize; 3];
        for word in folded.split(|character: char| !character.is_alphabetic()).filter(|word| !word.is_empty()).take(400)
        {
            let word = format!(" {word} ");
            for (count, words) in counts.iter_mut().zip([ENGLISH, GERMAN, FRENCH]) {
                *count += usize::from(words.contains(&word));
            }
        }
        match counts {
            [english, german, french] if german > english && german >= french => Self::German,
            [english, _, french] if french > english => Self::French,
            _ => Self::English,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_compared_without_case_and_accents() {
        assert_eq!(fold("A `Quote`"), "a 'quote'");
        assert_eq!(fold("Straße MÜLLER, Cœur d’Élan"), "strasse muller, coeur d'elan");
        assert_eq!(fold("e\u{301}te\u{301}"), "ete");
    }

    #[test]
    fn what_is_too_long_is_cut_at_a_character() {
        assert_eq!(clip("grüße", 3), "grü… [2 characters left out]");
        assert_eq!(line("a  long\nstory about ü", 12), "a long story…");
        assert_eq!(line("short", 12), "short");
    }

    #[test]
    fn what_turns_text_around_is_taken_out() {
        assert_eq!(harmless("a\u{202e}b\0c\r\nd\u{200b}\u{1b}[1m"), "abc\nd[1m");
    }

    #[test]
    fn the_little_words_tell_the_language() {
        assert_eq!(Language::of("Could you send the report by Friday?"), Language::English);
        assert_eq!(Language::of("Können Sie mir bitte den Bericht bis Freitag schicken?"), Language::German);
        assert_eq!(Language::of("Pouvez-vous m'envoyer le rapport avant vendredi ?"), Language::French);
        assert_eq!(Language::of("12345"), Language::English);
    }
}
