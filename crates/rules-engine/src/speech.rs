//! The fixed sentences of answers in three languages, and the language that an answer is in.
//!
//! The sentences are data: one file a language, the same names in each, `{slots}` for what is filled in. Text of mails and notes is only ever
//! put into slots. A person who asks in another language that is understood reads English, with a note on why.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::conversation::{Turn, object_in};
use super::lexicon::lexicon;
use household::time::words::words;

/// A language that answers are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tongue {
    #[default]
    English,
    German,
    French,
}

impl Tongue {
    const ALL: [Self; 3] = [Self::English, Self::German, Self::French];

    fn of_code(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Self::English),
            "de" => Some(Self::German),
            "fr" => Some(Self::French),
            _ => None,
        }
    }

    /// The word that accepts.
    pub fn yes(self) -> &'static str {
        match self {
            Self::English => "yes",
            Self::German => "ja",
            Self::French => "oui",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::English => include_str!("speech/en.txt"),
            Self::German => include_str!("speech/de.txt"),
            Self::French => include_str!("speech/fr.txt"),
        }
    }
}

/// Fewer words than this do not tell a language where the conversation has one.
const ENOUGH_WORDS: usize = 3;

/// The sentences of one language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Speech {
    pub tongue: Tongue,
}

impl Speech {
    /// The language of a conversation: that of the newest request with enough words to tell.
    pub fn of(turns: &[Turn]) -> Self {
        let all_said: Vec<String> = turns.iter().flat_map(|turn| requests(&turn.said)).collect();
        let mut tongue = Tongue::English;
        for said in &all_said {
            let all = words(said);
            let code = lexicon().language(&all);
            let is_told = all.len() >= ENOUGH_WORDS || all_said.len() == 1 || code != "en";
            if is_told {
                tongue = Tongue::of_code(code).unwrap_or(Tongue::English);
            }
        }
        Self { tongue }
    }

    /// A sentence by its name, with its slots filled.
    pub fn say(self, name: &str, slots: &[(&str, &str)]) -> String {
        let sentence = sentences(self.tongue).get(name).copied();
        let mut told = sentence.unwrap_or_else(|| panic!("there is no sentence `{name}`")).to_owned();
        for (slot, value) in slots {
            told = told.replace(&format!("{{{slot}}}"), value);
        }
        told
    }

    /// So many things, in the right number: `{name}_one`, `{name}_many`.
    pub fn count(self, name: &str, number: usize) -> String {
        match number {
            1 => self.say(&format!("{name}_one"), &[]),
            number => self.say(&format!("{name}_many"), &[("n", &number.to_string())]),
        }
    }

    /// The names of weekdays or months, from the first.
    pub fn names(self, of: &str) -> Vec<&'static str> {
        sentences(self.tongue).get(of).map(|names| names.split(' ').collect()).unwrap_or_default()
    }
}

/// A person's own words in a request; in a brief, those of the message and of the conversation before it.
fn requests(said: &str) -> Vec<String> {
    let Some((task, rest)) = said.split_once("\n\nContext: ") else { return vec![said.to_owned()] };
    let told = object_in(rest);
    let history = told["conversationHistory"].as_array().into_iter().flatten();
    let own = history.filter(|one| one["role"] == "user").filter_map(|one| one["content"].as_str());
    let message = told["originalUserMessage"].as_str().unwrap_or(task);
    own.chain([message]).map(str::to_owned).collect()
}

fn sentences(tongue: Tongue) -> &'static HashMap<&'static str, &'static str> {
    static ALL: LazyLock<[HashMap<&'static str, &'static str>; 3]> = LazyLock::new(|| {
        Tongue::ALL.map(|tongue| {
            let lines = tongue.file().lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            lines.map(|line| line.split_once(" = ").expect("a line of speech is `name = text`")).collect()
        })
    });
    &ALL[tongue as usize]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_sentence_is_there_in_three_languages_with_the_same_slots() {
        let slots = |text: &str| -> BTreeSet<String> {
            text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0.to_owned())).collect()
        };
        let english = sentences(Tongue::English);
        for tongue in [Tongue::German, Tongue::French] {
            let other = sentences(tongue);
            let names: BTreeSet<_> = english.keys().collect();
            assert_eq!(names, other.keys().collect::<BTreeSet<_>>(), "{tongue:?}");
            for (name, text) in english {
                assert_eq!(slots(text), slots(other[name]), "{tongue:?}: {name}");
            }
        }
        for tongue in Tongue::ALL {
            let speech = Speech { tongue };
            assert_eq!((speech.names("weekdays").len(), speech.names("months").len()), (7, 12));
        }
    }

    #[test]
    fn a_short_reply_keeps_the_language_of_the_conversation() {
        let turn = |said: &str| Turn { said: said.to_owned(), ..Turn::default() };
        assert_eq!(Speech::of(&[turn("Welche Mails sind heute dringend?"), turn("2")]).tongue, Tongue::German);
        assert_eq!(Speech::of(&[turn("Quels courriels sont urgents ?"), turn("ok")]).tongue, Tongue::French);
        assert_eq!(Speech::of(&[turn("hello")]).tongue, Tongue::English);
        let brief = "Draft a reply\n\nContext: {\"originalUserMessage\": \"ja\", \"conversationHistory\": \
                     [{\"role\": \"user\", \"content\": \"Welche Mails sind heute dringend?\"}]}";
        assert_eq!(Speech::of(&[turn(brief)]).tongue, Tongue::German);
    }
}
