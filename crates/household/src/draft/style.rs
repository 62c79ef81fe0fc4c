//! The owner's style of writing, measured from sent mails: those to the same person first, otherwise all.

use crate::error::Error;
use crate::mail::address::Person;
use crate::mail::folder::SENT;
use crate::mail::mailbox::{Filter, Mail, Mailbox};
use crate::preferences::Applied;
use crate::text::{Language, fold};

/// Whether people say `du` and `Hi`, or `Sie` and `Dear`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Formality {
    Familiar,
    Formal,
}

/// How the owner writes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Style {
    /// The owner, as mails name them.
    pub owner: Person,
    pub manner: Formality,
    /// How mails to this person begin: `Hi Sarah,`, `Hallo Frau Hoffmann,`.
    pub greeting: Option<String>,
    /// How mails in this language end, with the owner's name.
    pub parting: Option<String>,
    /// Half of the mails have fewer words than this.
    pub words: usize,
    /// Mails that it was measured on.
    pub based_on: Vec<String>,
}

/// Mails that are looked at.
const SAMPLE: usize = 60;

impl Formality {
    /// Its word among habits.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Familiar => "familiar",
            Self::Formal => "formal",
        }
    }
}

impl Style {
    /// How the owner writes to a person in a language.
    pub fn of(mailbox: &Mailbox<'_>, to: Option<&str>, language: Language) -> Result<Self, Error> {
        let filter = Filter { folder: Some(SENT.into()), ..Filter::default() };
        let (sent, _) = mailbox.list(&filter, SAMPLE)?;
        let mut samples: Vec<Sample> =
            sent.iter().map(Sample::of).filter(|sample| sample.traits.language == language).collect();
        let to_them = |sample: &Sample| to.is_some_and(|to| sample.to.iter().any(|address| address == to));
        samples.sort_by_key(|sample| !to_them(sample));
        let personal = samples.iter().filter(|sample| to_them(sample)).count();
        let owner = match sent.iter().map(|mail| &mail.message.from).find(|owner| !owner.name.is_empty()) {
            Some(owner) => owner.clone(),
            None => Person { name: String::new(), address: mailbox.me()?.into_iter().next().unwrap_or_default() },
        };
        let relevant = if personal > 0 { &samples[..personal] } else { &samples[..] };
        let formal = relevant.iter().filter(|sample| sample.traits.manner == Some(Formality::Formal)).count();
        let familiar = relevant.iter().filter(|sample| sample.traits.manner == Some(Formality::Familiar)).count();
        let mut lengths: Vec<usize> = relevant.iter().map(|sample| sample.traits.words).collect();
        lengths.sort_unstable();
        let name = owner.first_name().unwrap_or_default();
        Ok(Self {
            // To a person new one is polite, unless the owner never is in this language.
            manner: match (personal, familiar > formal) {
                (1.., true) => Formality::Familiar,
                (1.., false) if formal == 0 => Formality::Familiar,
                (0, true) if formal == 0 && language == Language::English => Formality::Familiar,
                _ => Formality::Formal,
            },
            greeting: most(relevant.iter().take(personal).filter_map(|sample| sample.traits.greeting.clone())),
            parting: most(samples.iter().filter_map(|sample| sample.traits.parting(name))),
            words: lengths.get(lengths.len() / 2).copied().unwrap_or(60),
            based_on: relevant.iter().take(3).map(|sample| sample.id.clone()).collect(),
            owner,
        })
    }

    /// The same, with what the owner agreed to in its place.
    #[must_use]
    pub fn agreed(mut self, habits: &Applied, language: Language, to: Option<&Person>) -> Self {
        let in_language = |habit: &str| habits.value(&format!("draft.{habit}.{}", language.code()));
        match in_language("tone") {
            Some("familiar") => self.manner = Formality::Familiar,
            Some("formal") => self.manner = Formality::Formal,
            _ => {}
        }
        if let Some(sign_off) = in_language("sign_off").or_else(|| habits.value("draft.sign_off")) {
            self.parting = Some(sign_off.to_owned());
        }
        if let (Some(words), Some(to)) = (in_language("greeting"), to) {
            let is_title =
                words.rsplit(' ').next().is_some_and(|word| FORMAL.contains(&&*fold(word)) && word != "Dear");
            let name = if is_title { to.name.rsplit(' ').next() } else { to.first_name() };
            self.greeting = name.map(|name| format!("{words} {name},")).or(self.greeting);
        }
        self
    }

    /// The manner in words.
    pub fn tone(&self) -> String {
        let manner = match self.manner {
            Formality::Familiar => "friendly",
            Formality::Formal => "polite",
        };
        format!("{manner}, {}", if self.words <= 80 { "short" } else { "detailed" })
    }
}

/// One mail of the owner's.
struct Sample {
    id: String,
    to: Vec<String>,
    traits: Traits,
}

impl Sample {
    fn of(mail: &Mail) -> Self {
        Self {
            id: mail.id.clone(),
            to: mail.message.to.iter().map(|person| person.address.clone()).collect(),
            traits: Traits::of(&mail.message.text, mail.message.to.first()),
        }
    }
}

/// What a text shows of its writer's manner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Traits {
    pub language: Language,
    pub manner: Option<Formality>,
    /// The line that does nothing but greet.
    pub greeting: Option<String>,
    /// How many words it has, what it quotes left out.
    pub words: usize,
    last: Vec<String>,
}

impl Traits {
    /// Looks at a text that is written to a person.
    pub fn of(text: &str, to: Option<&Person>) -> Self {
        let unquoted = text.lines().map(str::trim_end).filter(|line| !line.starts_with('>'));
        let own: Vec<&str> = unquoted.take_while(|line| *line != "--").filter(|line| !line.is_empty()).collect();
        let text = own.join("\n");
        let greeting = own.first().filter(|line| greets(line, to)).map(|line| (*line).to_owned());
        let language = Language::of(&text);
        Self {
            language,
            manner: manner(language, &text, greeting.as_deref()),
            greeting,
            words: text.split_whitespace().count(),
            last: own.iter().rev().take(2).rev().map(|line| (*line).to_owned()).collect(),
        }
    }

    /// The last lines, where they are signed: `Best, Alex`, or `Viele Grüße` and the name below.
    fn parting(&self, name: &str) -> Option<String> {
        let (before, last) = match &*self.last {
            [before, last] => (Some(before), last),
            [last] => (None, last),
            _ => return None,
        };
        let is_short = |line: &str| line.split_whitespace().count() <= 5;
        if name.is_empty() || !last.contains(name) || !is_short(last) {
            return None;
        }
        // A line that begins with the name is nothing but the name.
        match last.trim_start().starts_with(name) {
            true => before.filter(|line| is_short(line)).map(|line| format!("{line}\n{last}")),
            false => Some(last.clone()),
        }
    }

    /// The last words on one line, where they look like an end: `Best, Alex`. For use where the writer's name is not known.
    pub fn sign_off(&self) -> Option<String> {
        let is_end = |line: &str| line.split_whitespace().count() <= 4 && !line.ends_with(['.', '?', '!', ':', ']']);
        let last = self.last.last().filter(|last| is_end(last))?.trim();
        match &*self.last {
            [before, _] if is_end(before) && !last.contains(',') => {
                Some(format!("{}, {last}", before.trim().trim_end_matches(',')))
            }
            _ => last.contains(',').then(|| last.to_owned()),
        }
    }

    /// How it greets, without the name: `Hi`, `Liebe Frau`.
    pub fn salutation(&self, to: &Person) -> Option<String> {
        let name = fold(&to.name);
        let is_name = |word: &&str| !name.split([' ', '-', ',']).any(|part| part == fold(word));
        let greeting = self.greeting.as_ref()?.split([' ', ',', '!']).filter(|word| !word.is_empty());
        Some(greeting.filter(is_name).collect::<Vec<_>>().join(" ")).filter(|words| !words.is_empty())
    }
}

/// Whether a line does nothing but call a person by their name.
fn greets(line: &str, to: Option<&Person>) -> bool {
    let name = to.map(|person| fold(&person.name)).unwrap_or_default();
    let line = fold(line);
    let mut words = line.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    // A pet name is in no header: "Hi Mum,".
    let is_short = words.clone().count() == 2 && words.clone().next().is_some_and(|first| GREETS.contains(&first));
    line.ends_with([',', '!'])
        && words.clone().count() <= 5
        && (is_short || words.any(|word| name.split([' ', '-', ',']).any(|part| part == word)))
}

/// Words with which a greeting begins.
const GREETS: [&str; 9] = ["hi", "hello", "hey", "dear", "hallo", "liebe", "lieber", "salut", "bonjour"];

/// Words of a greeting that keeps its distance.
const FORMAL: [&str; 9] = ["dear", "geehrte", "geehrter", "frau", "herr", "herrn", "madame", "monsieur", "mr"];

fn manner(language: Language, text: &str, greeting: Option<&str>) -> Option<Formality> {
    let words: Vec<&str> = text.split(|character: char| !character.is_alphabetic()).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let has_folded = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&&*fold(word)));
    let greeting = fold(greeting.unwrap_or_default());
    match language {
        Language::German if has(&["Sie", "Ihnen", "Ihr", "Ihre", "Ihren"]) => Some(Formality::Formal),
        Language::German if has_folded(&["du", "dir", "dich", "dein", "deine", "euch"]) => Some(Formality::Familiar),
        Language::French if has_folded(&["vous", "votre", "vos"]) => Some(Formality::Formal),
        Language::French if has_folded(&["tu", "te", "toi", "ton", "ta"]) => Some(Formality::Familiar),
        _ if FORMAL.iter().any(|word| greeting.split([' ', ',']).any(|part| part == *word)) => Some(Formality::Formal),
        _ if greeting.is_empty() => None,
        _ => Some(Formality::Familiar),
    }
}

/// The most frequent; among equals the first.
fn most(all: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for one in all {
        match counts.iter_mut().find(|(known, _)| *known == one) {
            Some((_, count)) => *count += 1,
            None => counts.push((one, 1)),
        }
    }
    let best = counts.iter().map(|(_, count)| *count).max()?;
    counts.into_iter().find(|(_, count)| *count == best).map(|(one, _)| one)
}
