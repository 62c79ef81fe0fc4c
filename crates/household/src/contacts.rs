//! The owner's address book, from vCards: found by name, address or organisation, ignoring accents.
//!
//! Cards are read at each use: an address book is small, and a changed file must be seen at once.

pub(crate) mod tools;
mod vcard;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::glossary;
use crate::household::Household;
use crate::passages::words_of;
use crate::text::fold;

/// A person in the owner's address book.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Contact {
    /// The name in full.
    pub name: String,
    /// Addresses, in lower case.
    pub emails: Vec<String>,
    /// Where they work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// A number to call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Every number, the first included, where there are several.
    #[serde(skip_serializing_if = "is_one")]
    pub phones: Vec<String>,
    /// What the owner calls them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nicknames: Vec<String>,
    /// Their work, or what they are to the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The day of their birth: `1961-06-13`, or `--06-13` where the year is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub birthday: Option<String>,
    /// Where they live or work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What the owner noted about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

fn is_one(phones: &[String]) -> bool {
    phones.len() < 2
}

/// Files, and bytes of one, beyond which an address book is none.
const FILES: usize = 10_000;
const BYTES: u64 = 8 * 1024 * 1024;

impl Household {
    /// Everybody in the address book, by name.
    pub fn contacts(&self) -> Vec<Contact> {
        let mut contacts = Vec::new();
        if let Some(folder) = &self.options().contacts {
            let mut left = FILES;
            read(folder, 4, &mut left, &mut contacts);
        }
        contacts.sort_by_cached_key(|contact| (fold(&contact.name), contact.emails.clone()));
        contacts.dedup();
        contacts
    }

    /// Whose address this is.
    pub fn contact_for(&self, address: &str) -> Option<Contact> {
        let address = address.trim().to_lowercase();
        self.contacts().into_iter().find(|contact| contact.emails.contains(&address))
    }

    /// The names and nicknames of everybody in the address book, to recognise them in what is said.
    pub fn people(&self) -> Vec<String> {
        let contacts = self.contacts().into_iter();
        let names = contacts.flat_map(|contact| std::iter::once(contact.name).chain(contact.nicknames));
        names.filter(|name| !name.is_empty()).collect()
    }

    /// Those who fit best to what is asked, the best first.
    pub fn contacts_like(&self, query: &str) -> Vec<Contact> {
        let query = fold(query.trim());
        let mut scored: Vec<_> =
            self.contacts().into_iter().filter_map(|contact| Some((score(&contact, &query)?, contact))).collect();
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        scored.into_iter().map(|(_, contact)| contact).collect()
    }
}

/// How well a person fits: whole names before beginnings, names before organisations, and near misses last.
fn score(contact: &Contact, query: &str) -> Option<u32> {
    if query.is_empty() {
        return Some(0);
    }
    let name = fold(&contact.name);
    let organization = fold(contact.organization.as_deref().unwrap_or_default());
    let words = || query.split_whitespace();
    let has_all =
        |text: &str| words().all(|word| text.split([' ', '-', '.', ',', '@']).any(|part| part.starts_with(word)));
    let is_near = |part: &str| words().all(|word| word.len() > 3 && strsim::damerau_levenshtein(part, word) <= 1);
    match () {
        () if contact.emails.iter().any(|email| fold(email) == query) => Some(100),
        () if name == query => Some(90),
        () if contact.nicknames.iter().any(|nickname| fold(nickname) == query) => Some(85),
        () if has_all(&name) => Some(80),
        () if is_related(contact, query) => Some(70),
        () if contact.emails.iter().any(|email| fold(email).contains(query)) => Some(60),
        () if has_all(&organization) => Some(50),
        () if has_all(&format!("{name} {organization}")) => Some(40),
        () if name.split([' ', '-']).any(is_near) => Some(20),
        () => None,
    }
}

/// Whether a card says that this person is to the owner what the query says ("mum", "landlord").
fn is_related(contact: &Contact, query: &str) -> bool {
    let last = query.split(' ').next_back().unwrap_or_default();
    let Some(words) = glossary::relation(last) else { return false };
    let said =
        format!("{} {}", contact.role.as_deref().unwrap_or_default(), contact.note.as_deref().unwrap_or_default());
    let said = words_of(&said);
    let others = words_of(query)
        .into_iter()
        .filter(|word| word.len() > 2 && word != last && !["the", "our"].contains(&word.as_str()));
    said.iter().any(|word| words.contains(&word.as_str())) && others.into_iter().all(|word| said.contains(&word))
}

/// The `.vcf` files of a folder that hold no card, or cannot be read, and why.
pub(crate) fn unreadable(folder: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let mut open = vec![(folder.to_owned(), 4)];
    while let Some((path, depth)) = open.pop() {
        if path.is_dir() {
            match fs::read_dir(&path) {
                Ok(inside) if depth > 0 => open.extend(inside.flatten().map(|entry| (entry.path(), depth - 1))),
                Ok(_) => {}
                Err(error) => problems.push(format!("{}: {error}", path.display())),
            }
        } else if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("vcf")) {
            match fs::read(&path) {
                Ok(bytes) if vcard::read(&bytes).is_empty() => {
                    problems.push(format!("{}: holds no card", path.display()));
                }
                Ok(_) => {}
                Err(error) => problems.push(format!("{}: {error}", path.display())),
            }
        }
    }
    problems.sort_unstable();
    problems
}

fn read(path: &Path, depth: usize, left: &mut usize, contacts: &mut Vec<Contact>) {
    let Ok(meta) = fs::metadata(path) else { return };
    if meta.is_dir() {
        let mut inside: Vec<_> = fs::read_dir(path).into_iter().flatten().flatten().collect();
        inside.sort_by_key(fs::DirEntry::file_name);
        for entry in inside.iter().filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink())) {
            if depth > 0 && *left > 0 {
                read(&entry.path(), depth - 1, left, contacts);
            }
        }
    } else if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("vcf")) && meta.len() <= BYTES {
        *left -= 1;
        if let Ok(bytes) = fs::read(path) {
            contacts.extend(vcard::read(&bytes));
        }
    }
}
