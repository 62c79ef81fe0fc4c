//! One index of persons: the address book, and everybody whom the owner exchanged mail with.
//!
//! A person is found by name, nickname, address, organisation, and by what they are to the owner ("my landlord", "Mum"), as a card, a
//! sender's name or a line of a note ("Vermieter: Hausverwaltung Lindner") says it. `tools` gathers what is known about one of them.

pub(crate) mod tools;

#[cfg(test)]
mod tests;

use crate::contacts::Contact;
use crate::error::Error;
use crate::glossary;
use crate::household::Household;
use crate::mail::address::Person;
use crate::mail::mailbox::{Filter, Mailbox};
use crate::notes;
use crate::passages::words_of;
use crate::text::fold;

/// A person that the household knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownPerson {
    pub name: String,
    pub addresses: Vec<String>,
    pub card: Option<Contact>,
    /// How many mails went either way, of those that were looked at.
    pub mails: usize,
}

/// Mails that are looked at for people; an older correspondent who matters is in the address book.
const MAILS: usize = 1_500;

impl KnownPerson {
    /// Everything that they are called, folded: names, nicknames and addresses.
    pub fn names(&self) -> Vec<String> {
        let nicknames = self.card.iter().flat_map(|card| &card.nicknames);
        let mut names: Vec<String> = words_of(&self.name).into_iter().filter(|word| word.len() > 1).collect();
        names.extend(nicknames.flat_map(|name| words_of(name)));
        names.extend(self.other_names());
        names.extend(self.addresses.iter().cloned());
        names
    }

    /// Names that only the address or the card's note says, where the name itself is in letters that few can type: `yuki.tanaka@…`.
    pub fn other_names(&self) -> Vec<String> {
        if self.name.chars().any(|character| character.is_ascii_alphabetic()) {
            return Vec::new();
        }
        let local = self.addresses.iter().filter_map(|address| address.split('@').next());
        local.flat_map(words_of).filter(|word| word.len() > 2).collect()
    }

    /// Whether a person in a header is this one.
    pub fn is(&self, person: &Person) -> bool {
        self.addresses.contains(&person.address)
    }
}

/// Everybody that is known, those of the address book first, then by how much was written.
pub(crate) fn known(household: &Household, mailbox: &Mailbox<'_>) -> Result<Vec<KnownPerson>, Error> {
    let me = mailbox.me()?;
    let mut people: Vec<KnownPerson> = household
        .contacts()
        .into_iter()
        .map(|card| KnownPerson { name: card.name.clone(), addresses: card.emails.clone(), card: Some(card), mails: 0 })
        .collect();
    let (mails, _) = mailbox.list(&Filter::default(), MAILS)?;
    for mail in &mails {
        let message = &mail.message;
        let is_mine = me.contains(&message.from.address);
        let others: Vec<&Person> = if is_mine { message.recipients().collect() } else { vec![&message.from] };
        for person in others.into_iter().filter(|person| !me.contains(&person.address)) {
            let same_name = |known: &KnownPerson| !person.name.is_empty() && fold(&known.name) == fold(&person.name);
            let found = people.iter_mut().find(|known| known.is(person) || same_name(known));
            match found {
                Some(known) => {
                    known.mails += 1;
                    if !known.addresses.contains(&person.address) && !person.address.is_empty() {
                        known.addresses.push(person.address.clone());
                    }
                }
                None => people.push(KnownPerson {
                    name: person.called().to_owned(),
                    addresses: Some(person.address.clone()).into_iter().filter(|address| !address.is_empty()).collect(),
                    card: None,
                    mails: 1,
                }),
            }
        }
    }
    people.sort_by_key(|person| (person.card.is_none(), std::cmp::Reverse(person.mails)));
    Ok(people)
}

/// Who is meant by a name, an address or a relation, the best first, and only those that fit equally well.
pub(crate) fn meant(said: &str, people: &[KnownPerson]) -> Vec<KnownPerson> {
    let words: Vec<String> = words_of(said).into_iter().filter(|word| !ARTICLES.contains(&word.as_str())).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let scored: Vec<(u32, &KnownPerson)> =
        people.iter().map(|person| (score(person, said, &words), person)).filter(|(score, _)| *score > 0).collect();
    let best = scored.iter().map(|(score, _)| *score).max().unwrap_or(0);
    scored.into_iter().filter(|(score, _)| *score == best).map(|(_, person)| person.clone()).collect()
}

/// Words before a name that are no part of it.
const ARTICLES: [&str; 31] = [
    "s", "the", "my", "our", "a", "mr", "mrs", "ms", "dr", "der", "die", "das", "dem", "den", "mein", "meine",
    "meinem", "meiner", "meinen", "unser", "unsere", "herr", "herrn", "frau", "le", "la", "mon", "ma", "notre",
    "madame", "monsieur",
];

fn score(person: &KnownPerson, said: &str, words: &[String]) -> u32 {
    let name = words_of(&person.name);
    let names = person.names();
    let card = person.card.as_ref();
    let role = card.map(|card| {
        format!("{} {}", card.role.as_deref().unwrap_or_default(), card.note.as_deref().unwrap_or_default())
    });
    let role = words_of(role.as_deref().unwrap_or_default());
    let organization = words_of(card.and_then(|card| card.organization.as_deref()).unwrap_or_default());
    let has_all = |list: &[String]| words.iter().all(|word| list.contains(word));
    let related = |list: &[String]| {
        let of = |word: &String| glossary::relation(word);
        // "Havelbank" is a bank.
        let ends = |word: &String, set: &[&str]| {
            set.iter().any(|one| one.len() > 3 && word.len() > one.len() && word.ends_with(one))
        };
        let is_one = |set: &[&str]| list.iter().any(|word| set.contains(&word.as_str()) || ends(word, set));
        words.iter().all(|word| list.contains(word) || of(word).is_some_and(is_one))
            && words.iter().any(|word| of(word).is_some())
    };
    let is_near = |word: &String| {
        word.len() > 3 && name.iter().any(|part| part.len() > 3 && strsim::osa_distance(part, word) <= 1)
    };
    let begins = |word: &String| word.len() > 2 && name.iter().any(|part| part.starts_with(word.as_str()));
    match () {
        () if person.addresses.iter().any(|address| *address == fold(said.trim())) => 100,
        () if name == words => 95,
        () if card.is_some_and(|card| card.nicknames.iter().any(|nick| words_of(nick) == words)) => 92,
        () if has_all(&names) => 90,
        () if related(&role) => 80,
        () if related(&name) => 75,
        () if has_all(&organization) => 60,
        () if words.iter().all(begins) => 55,
        () if related(&organization) => 50,
        () if words.iter().all(is_near) => 40,
        () => 0,
    }
}

/// Who is meant, also by what the notes say of a relation ("Vermieter: Hausverwaltung Lindner").
pub(crate) fn resolve(household: &Household, said: &str) -> Result<Vec<KnownPerson>, Error> {
    let people = known(household, &household.mailbox()?)?;
    let found = meant(said, &people);
    if !found.is_empty() {
        return Ok(found);
    }
    named_in_notes(household, said, &people)
}

/// The one that the line of a note names which speaks of this relation.
fn named_in_notes(household: &Household, said: &str, people: &[KnownPerson]) -> Result<Vec<KnownPerson>, Error> {
    let words: Vec<String> = words_of(said).into_iter().filter(|word| !ARTICLES.contains(&word.as_str())).collect();
    let is_relation = |word: &String| glossary::relation(word).is_some();
    if !words.iter().any(is_relation) {
        return Ok(Vec::new());
    }
    let mut wanted: Vec<Vec<&str>> = Vec::new();
    for word in &words {
        wanted.push(glossary::relation(word).map_or_else(|| vec![word.as_str()], <[&str]>::to_vec));
    }
    let query: Vec<&str> = wanted.iter().flatten().copied().collect();
    for line in notes::lines_about(household, &query.join(" "))? {
        let told = words_of(&line);
        if !wanted.iter().all(|set| told.iter().any(|word| set.contains(&word.as_str()))) {
            continue;
        }
        let is_named = |person: &&KnownPerson| {
            let name = words_of(&person.name);
            let rare = name.iter().filter(|word| word.len() > 3 && glossary::relation(word).is_none());
            let mut rare = rare.peekable();
            rare.peek().is_some() && rare.any(|word| told.contains(word))
        };
        let named: Vec<KnownPerson> = people.iter().filter(is_named).cloned().collect();
        if !named.is_empty() {
            return Ok(named);
        }
    }
    Ok(Vec::new())
}

impl Household {
    /// The names of everybody who is known, and the words for relations, to recognise them in what is said. What cannot be read is left out.
    pub fn known_people(&self) -> Vec<String> {
        let mut names = self.people();
        let met = self.mailbox().and_then(|mailbox| known(self, &mailbox)).unwrap_or_default();
        let is_person = |person: &&KnownPerson| {
            let person = Person { name: person.name.clone(), address: String::new() };
            person.first_name().is_some()
        };
        names.extend(
            met.iter().filter(|person| person.card.is_none()).filter(is_person).map(|person| person.name.clone()),
        );
        names.extend(met.iter().map(|person| person.other_names().join(" ")).filter(|name| !name.is_empty()));
        names
    }

    /// Whether a text holds a word: inflected, misspelt by a letter, or in another language of the glossary.
    pub fn holds_word(text: &str, word: &str) -> bool {
        crate::passages::Term::new(word).is_in(text)
    }

    /// Whether a text says a word: itself, inflected, or in another language of the glossary.
    pub fn says_word(text: &str, word: &str) -> bool {
        crate::passages::Term::new(word).worth(&words_of(text)) >= 0.75
    }

    /// Whether a word, folded, says what a person is to the owner ("landlord", "mum").
    pub fn is_relation(word: &str) -> bool {
        glossary::relations().any(|relation| relation == word)
    }
}
