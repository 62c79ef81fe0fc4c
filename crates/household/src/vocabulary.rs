//! The words of a household's own texts: which words it knows, in which language, and how often they stand there.
//!
//! They say which words of a request are no slips of the pen, and towards which words a slip is set right. Left to the caller: how near is near
//! enough.

use std::collections::HashMap;

use jiff::ToSpan;

use crate::household::Household;
use crate::mail::mailbox::{Filter, Mailbox};
use crate::passages::words_of;
use crate::text::Language;
use crate::{calendar, glossary, notes};

/// Mails that are looked at for words.
const MAILS: usize = 300;

/// How often each word, folded, stands in the texts of each language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    uses: HashMap<String, [u32; LANGUAGES]>,
}

const LANGUAGES: usize = 3;

impl Vocabulary {
    /// Whether a word, folded, stands in any text, or in the glossary.
    pub fn knows(&self, word: &str) -> bool {
        self.uses.contains_key(word) || glossary::knows(word)
    }

    /// Whether a word, folded, stands in any text.
    pub fn holds(&self, word: &str) -> bool {
        self.uses.contains_key(word)
    }

    /// How often a word stands in texts of a language (`en`, `de`, `fr`).
    pub fn count(&self, word: &str, language: &str) -> u32 {
        let of = |uses: &[u32; LANGUAGES]| Language::named(language).map_or(0, |language| uses[language as usize]);
        self.uses.get(word).map_or(0, of)
    }

    /// Every word, with how often it stands in texts of any language.
    pub fn words(&self) -> impl Iterator<Item = (&str, u32)> {
        self.uses.iter().map(|(word, uses)| (word.as_str(), uses.iter().sum()))
    }

    fn add(&mut self, text: &str, language: Language) {
        for word in words_of(text).into_iter().filter(|word| is_word(word)) {
            self.uses.entry(word).or_default()[language as usize] += 1;
        }
    }

    /// Words that stand in a text of an unknown language count in each.
    fn add_to_all(&mut self, text: &str) {
        for word in words_of(text).into_iter().filter(|word| is_word(word)) {
            self.uses.entry(word).or_default().iter_mut().for_each(|count| *count += 1);
        }
    }
}

/// Addresses and numbers are no words.
fn is_word(word: &str) -> bool {
    (2..=30).contains(&word.len()) && word.chars().all(char::is_alphabetic)
}

impl Household {
    /// The words of the newest mails, of the notes, the events and the cards. What cannot be read is left out.
    pub fn vocabulary(&self) -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        let newest = |mailbox: Mailbox<'_>| mailbox.list(&Filter::default(), MAILS);
        let mails = self.mailbox().and_then(newest).map(|(mails, _)| mails).unwrap_or_default();
        for mail in &mails {
            let text = format!("{}\n{}", mail.message.subject, mail.message.text);
            vocabulary.add(&text, Language::of(&text));
        }
        for event in calendar::tools::next_of_each(self, 365.days()).unwrap_or_default() {
            vocabulary.add_to_all(&event.details.title);
            vocabulary.add_to_all(event.details.location.as_deref().unwrap_or_default());
        }
        for card in self.contacts() {
            vocabulary.add_to_all(&card.name);
            vocabulary.add_to_all(&card.nicknames.join(" "));
            vocabulary.add_to_all(card.organization.as_deref().unwrap_or_default());
        }
        for word in notes::words(self).unwrap_or_default() {
            // A short word of a note may be one of any language, and says nothing about slips in another.
            if word.chars().count() > 4 {
                vocabulary.add_to_all(&word);
            }
        }
        vocabulary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_by_the_language_of_their_text() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.add("Wen hast du gefragt? Die Heizung ist kalt.", Language::German);
        vocabulary.add_to_all("Kletterhalle");
        assert_eq!((vocabulary.count("wen", "de"), vocabulary.count("wen", "en")), (1, 0));
        assert_eq!(vocabulary.count("kletterhalle", "fr"), 1);
        assert!(vocabulary.knows("heizung") && vocabulary.knows("invoice") && !vocabulary.knows("hezung"));
    }
}
