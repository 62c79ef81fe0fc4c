//! Ordinals that say a place in a list: "the fourth", "der vorletzten", "au dernier".

/// A place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Counted from the beginning, from 0.
    At(usize),
    /// Counted from the end, from 0.
    FromEnd(usize),
}

impl Place {
    /// Where it lies in a list; none behind its end.
    pub fn among(self, number: usize) -> Option<usize> {
        match self {
            Self::At(at) => (at < number).then_some(at),
            Self::FromEnd(back) => number.checked_sub(back + 1),
        }
    }

    /// The place that the folded words from the first one say, and how many words say it. The longer before those within them.
    pub fn read(words: &[&str]) -> Option<(Self, usize)> {
        let from_end = LAST_BUT_ONE.iter().find(|phrase| words.starts_with(phrase));
        if let Some(phrase) = from_end {
            return Some((Self::FromEnd(1), phrase.len()));
        }
        let word = *words.first()?;
        if ["vorletzt", "zweitletzt"].iter().any(|stem| is_form(word, stem)) || PENULTIMATE.contains(&word) {
            return Some((Self::FromEnd(1), 1));
        }
        if is_form(word, "letzt") || ["last", "dernier", "derniere"].contains(&word) {
            return Some((Self::FromEnd(0), 1));
        }
        let at = ORDINALS.iter().position(|forms| forms.iter().any(|form| form.is(word)));
        at.or_else(|| in_figures(word)).map(|at| (Self::At(at), 1))
    }
}

/// "4th", "2nd", "1er", "3e", "4eme", counted from 0.
fn in_figures(word: &str) -> Option<usize> {
    let ending = word.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_ordinal =
        ["st", "nd", "rd", "th", "er", "ere", "re", "e", "eme", "ieme", "te", "ten", "ter"].contains(&ending);
    word[..word.len() - ending.len()].parse::<usize>().ok().filter(|_| is_ordinal)?.checked_sub(1)
}

/// Whether a word is a German stem with an ending of an ordinal.
fn is_form(word: &str, stem: &str) -> bool {
    word.strip_prefix(stem).is_some_and(|ending| ["e", "en", "er", "es", "em"].contains(&ending))
}

enum Form {
    Whole(&'static str),
    /// A stem that takes the endings of German.
    Stem(&'static str),
}

impl Form {
    fn is(&self, word: &str) -> bool {
        match self {
            Self::Whole(whole) => *whole == word,
            Self::Stem(stem) => is_form(word, stem),
        }
    }
}

use Form::{Stem, Whole};

const LAST_BUT_ONE: [&[&str]; 6] = [
    &["second", "last"],
    &["second", "to", "last"],
    &["next", "to", "last"],
    &["last", "but", "one"],
    &["avant", "dernier"],
    &["avant", "derniere"],
];
const PENULTIMATE: [&str; 3] = ["penultimate", "avant-dernier", "avant-derniere"];

/// The ordinals from the first to the tenth, folded.
const ORDINALS: [&[Form]; 10] = [
    &[Whole("first"), Stem("erst"), Whole("premier"), Whole("premiere")],
    &[Whole("second"), Stem("zweit"), Whole("deuxieme"), Whole("seconde")],
    &[Whole("third"), Stem("dritt"), Whole("troisieme")],
    &[Whole("fourth"), Stem("viert"), Whole("quatrieme")],
    &[Whole("fifth"), Stem("funft"), Whole("cinquieme")],
    &[Whole("sixth"), Stem("sechst"), Whole("sixieme")],
    &[Whole("seventh"), Stem("siebt"), Stem("siebent"), Whole("septieme")],
    &[Whole("eighth"), Stem("acht"), Whole("huitieme")],
    &[Whole("ninth"), Stem("neunt"), Whole("neuvieme")],
    &[Whole("tenth"), Stem("zehnt"), Whole("dixieme")],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_of_three_languages_say_a_place_in_every_case_and_gender() {
        let read = |said: &str| Place::read(&said.split(' ').collect::<Vec<_>>()).map(|(place, _)| place);
        let english = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
        let german = ["erst", "zweit", "dritt", "viert", "funft", "sechst", "siebt", "acht", "neunt", "zehnt"];
        let french = [
            "premiere",
            "deuxieme",
            "troisieme",
            "quatrieme",
            "cinquieme",
            "sixieme",
            "septieme",
            "huitieme",
            "neuvieme",
            "dixieme",
        ];
        for at in 0..10 {
            assert_eq!(read(english[at]), Some(Place::At(at)), "{}", english[at]);
            assert_eq!(read(french[at]), Some(Place::At(at)), "{}", french[at]);
            for ending in ["e", "en", "er", "es", "em"] {
                let word = format!("{}{ending}", german[at]);
                assert_eq!(read(&word), Some(Place::At(at)), "{word}");
            }
            assert_eq!(read(&format!("{}th", at + 1)), Some(Place::At(at)));
        }
        for last in ["last", "letzte", "letzten", "letzter", "letztem", "dernier", "derniere"] {
            assert_eq!(read(last), Some(Place::FromEnd(0)), "{last}");
        }
        for before in ["second last", "second to last", "vorletzte", "vorletzten", "avant-derniere", "avant dernier"] {
            assert_eq!(read(before), Some(Place::FromEnd(1)), "{before}");
        }
        for other in ["acht", "erst", "seconds", "lasting", "e", "th", "drittel"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!((Place::At(4).among(4), Place::FromEnd(1).among(4)), (None, Some(2)));
        assert_eq!(Place::FromEnd(1).among(1), None);
    }
}
