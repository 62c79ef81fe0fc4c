//! Changes a draft as a person asks for: shorter, more formal, friendlier, with other or further sentences.
//!
//! Works on the text alone: greeting, paragraphs and parting are told apart by their form. What a change cannot do without a language model
//! it leaves as it is, and says that nothing changed.

use serde::Deserialize;

use super::phrases::{greeting, kind_wish, parting};
use super::style::Formality;
use crate::mail::address::Person;
use crate::text::{Language, fold};

/// A change of manner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Edit {
    Shorter,
    MoreFormal,
    Friendlier,
}

/// The parts of a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    greeting: Option<String>,
    paragraphs: Vec<String>,
    parting: Option<String>,
}

impl Parts {
    /// Takes a text apart.
    pub fn of(body: &str) -> Self {
        let mut blocks: Vec<String> =
            body.replace("\r\n", "\n").split("\n\n").map(|block| block.trim().to_owned()).collect();
        blocks.retain(|block| !block.is_empty());
        let is_short =
            |block: &str| block.lines().all(|line| line.split_whitespace().count() <= 6) && block.lines().count() <= 2;
        let is_greeting =
            |block: &&String| block.ends_with([',', '!']) && is_short(block) && block.lines().count() == 1;
        let greeting = blocks.first().filter(is_greeting).cloned();
        if greeting.is_some() {
            blocks.remove(0);
        }
        let is_parting = |block: &&String| is_short(block) && !block.ends_with(['.', '?', '!', ']']);
        let parting = blocks.last().filter(is_parting).cloned();
        if parting.is_some() {
            blocks.pop();
        }
        Self { greeting, paragraphs: blocks, parting }
    }

    /// The text again.
    pub fn text(&self) -> String {
        let parts = self.greeting.iter().chain(&self.paragraphs).chain(&self.parting);
        parts.cloned().collect::<Vec<_>>().join("\n\n")
    }

    /// Sentences in place of what it says.
    pub fn say(&mut self, sentences: &[String]) {
        if !sentences.is_empty() {
            self.paragraphs = vec![sentences.join(" ")];
        }
    }

    /// Further sentences. A placeholder that stood for what is to be said goes.
    pub fn add(&mut self, sentences: &[String]) {
        if sentences.is_empty() {
            return;
        }
        // The owner's own question in another language is a placeholder too, but of more words, and it stays.
        let is_open = |paragraph: &String| {
            paragraph.starts_with("[[") && paragraph.ends_with("?]]") && paragraph.split_whitespace().count() <= 4
        };
        self.paragraphs.retain(|paragraph| !is_open(paragraph));
        match self.paragraphs.last_mut().filter(|last| !last.starts_with("- ")) {
            Some(last) => *last = format!("{last} {}", sentences.join(" ")),
            None => self.paragraphs.push(sentences.join(" ")),
        }
    }

    /// Changes the manner, and says whether that changed anything.
    pub fn edit(&mut self, edit: Edit, language: Language, to: Option<&Person>) -> bool {
        let before = self.clone();
        match edit {
            Edit::Shorter => self.shorten(),
            Edit::MoreFormal => self.address(language, Formality::Formal, to),
            Edit::Friendlier => {
                self.address(language, Formality::Familiar, to);
                // Where greeting and parting are friendly already, a wish is.
                let wish = kind_wish(language);
                if *self == before && !self.paragraphs.iter().any(|paragraph| paragraph.contains(wish)) {
                    self.paragraphs.push(wish.to_owned());
                }
            }
        }
        *self != before
    }

    /// Leaves out what only decorates. The owner's own words stay: what stands in a placeholder, and all where nothing decorates.
    fn shorten(&mut self) {
        let is_plain = |sentence: &str| {
            let folded = fold(sentence);
            !POLITE.iter().any(|words| folded.contains(words))
        };
        let kept_of = |paragraph: &String| -> Vec<String> {
            // What begins with the placeholder is the owner's to the end.
            if let Some(own) = paragraph.find("[[") {
                let before = paragraph[..own].split_inclusive(". ").filter(|sentence| is_plain(sentence));
                return vec![before.chain([&paragraph[own..]]).collect::<String>()];
            }
            let sentences = crate::passages::of_mail(paragraph).into_iter();
            sentences.filter(|sentence| !sentence.is_empty() && is_plain(sentence)).collect()
        };
        let kept: Vec<Vec<String>> = self.paragraphs.iter().map(kept_of).filter(|kept| !kept.is_empty()).collect();
        if !kept.is_empty() {
            self.paragraphs = kept.into_iter().map(|sentences| sentences.join(" ")).collect();
        }
    }

    /// Another greeting and parting, and words written out in full or not.
    fn address(&mut self, language: Language, manner: Formality, to: Option<&Person>) {
        let (first, full) = (to.and_then(Person::first_name), to.map_or("", Person::called));
        self.greeting = Some(greeting(language, manner, first, full));
        // The name below the parting stays.
        let name = self.parting.as_ref().and_then(|parting| {
            let last = parting.rsplit(['\n', ',']).next()?.trim();
            last.chars().next().filter(|first| first.is_uppercase()).map(|_| last.to_owned())
        });
        let words = parting(language, manner);
        self.parting = Some(format!("{words}\n{}", name.unwrap_or_default()).trim_end().to_owned());
        let pairs: &[(&str, &str)] = if language == Language::English { &SHORT_FORMS } else { &[] };
        for paragraph in &mut self.paragraphs {
            for (short, long) in pairs {
                let (from, to) = if manner == Formality::Formal { (short, long) } else { (long, short) };
                *paragraph = paragraph.replace(from, to);
            }
        }
    }
}

/// Sentences that a mail can do without, folded.
const POLITE: [&str; 17] = [
    "thank you for asking",
    "i look forward",
    "thank you for your",
    "thanks for your",
    "hope you are well",
    "no rush",
    "please let me know if",
    "vielen dank fur die anfrage",
    "vielen dank fur die nachricht",
    "ich freue mich darauf",
    "danke fur ihre",
    "danke fur deine",
    "melden sie sich gern",
    "merci pour la proposition",
    "merci pour votre",
    "n'hesitez pas",
    "au plaisir",
];

/// Words as they are spoken, and written out.
const SHORT_FORMS: [(&str, &str); 10] = [
    ("I'll ", "I will "),
    ("I'm ", "I am "),
    ("I've ", "I have "),
    ("can't ", "cannot "),
    ("don't ", "do not "),
    ("won't ", "will not "),
    ("It's ", "It is "),
    ("it's ", "it is "),
    ("that's ", "that is "),
    ("Thanks ", "Thank you "),
];

#[cfg(test)]
mod tests {
    use super::*;

    const DRAFT: &str = "Hi Sarah,\n\nThank you for asking. Unfortunately I have to decline this time. I can't come on 16 January.\n\nBest, Alex";

    fn sarah() -> Person {
        Person { name: "Sarah Chen".into(), address: "s@x.example".into() }
    }

    #[test]
    fn a_draft_is_made_shorter_formal_and_longer() {
        let edited = |edit: Edit| {
            let mut parts = Parts::of(DRAFT);
            assert!(parts.edit(edit, Language::English, Some(&sarah())), "{edit:?}");
            parts.text()
        };
        assert_eq!(
            edited(Edit::Shorter),
            "Hi Sarah,\n\nUnfortunately I have to decline this time. I can't come on 16 January.\n\nBest, Alex"
        );
        let formal = edited(Edit::MoreFormal);
        assert!(formal.starts_with("Dear Sarah Chen,") && formal.ends_with("Kind regards,\nAlex"), "{formal}");
        assert!(formal.contains("cannot come"), "{formal}");
        let mut parts = Parts::of(DRAFT);
        parts.add(&["The 20th would be possible.".to_owned()]);
        assert!(parts.text().contains("16 January. The 20th would be possible.\n\nBest, Alex"), "{}", parts.text());
        parts.say(&["Yes.".to_owned()]);
        assert_eq!(parts.text(), "Hi Sarah,\n\nYes.\n\nBest, Alex");
        assert!(!Parts::of("Hi Tom,\n\nYes.\n\nBest, Alex").edit(Edit::Shorter, Language::English, None));
    }

    #[test]
    fn a_shorter_draft_keeps_the_owners_own_words() {
        let shorter = |body: &str| {
            let mut parts = Parts::of(body);
            let is_changed = parts.edit(Edit::Shorter, Language::German, None);
            (is_changed, parts.text())
        };
        let answer =
            "vielen Dank für die Nachricht. Hier ist meine Antwort darauf: [[I will do it. No rush.]] (morgen)";
        let (is_changed, text) = shorter(&format!("Guten Tag,\n\n{answer}\n\nViele Grüße\nAlex"));
        assert!(is_changed && text.contains("[[I will do it. No rush.]]") && !text.contains("vielen Dank"), "{text}");
        let own = "Hi Tom,\n\nI bring the cake. My sister comes along.\n\nBest, Alex";
        assert_eq!(shorter(own), (false, own.to_owned()));
    }

    #[test]
    fn a_question_of_the_owner_stays_when_something_is_added() {
        let mut parts = Parts::of("[[When can you come to look at the heating?]]");
        parts.add(&["[[My phone is off.]]".to_owned()]);
        assert_eq!(parts.text(), "[[When can you come to look at the heating?]] [[My phone is off.]]");
    }
}
