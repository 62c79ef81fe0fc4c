//! Names and addresses in mail headers, and the registered domain of a host.

use serde::{Deserialize, Serialize};

/// A person in a header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Person {
    /// The name, as they write it; empty where there is none.
    pub name: String,
    /// The address in lower case; empty where there is none.
    pub address: String,
}

impl Person {
    /// What to call them: the name, or what stands before the `@`.
    pub fn called(&self) -> &str {
        match self.name.trim() {
            "" => self.address.split('@').next().unwrap_or_default(),
            name => name,
        }
    }

    /// The first name, where the name looks like a person's.
    pub fn first_name(&self) -> Option<&str> {
        // `Chen, Sarah` is how directories write it.
        let name = self.name.split_once(", ").map_or(&*self.name, |(_, first)| first);
        let first = name.split_whitespace().find(|word| !word.ends_with('.'))?;
        let is_name = first.chars().next().is_some_and(char::is_uppercase)
            && first.chars().all(|character| character.is_alphabetic() || matches!(character, '-' | '\'' | '’'))
            && first.chars().skip(1).any(char::is_lowercase);
        is_name.then_some(first)
    }

    /// A person as `Display` writes them.
    pub fn read(shown: &str) -> Self {
        let name = shown.rsplit_once('<').map_or("", |(name, _)| name);
        Self { name: name.trim().to_owned(), address: bare(shown).to_lowercase() }
    }

    /// The domain of the address.
    pub fn domain(&self) -> &str {
        domain(&self.address)
    }
}

impl std::fmt::Display for Person {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&*self.name, &*self.address) {
            ("", address) => f.write_str(address),
            (name, "") => f.write_str(name),
            (name, address) => write!(f, "{name} <{address}>"),
        }
    }
}

/// The address of `Ana <ana@example.com>`, else what was said.
pub(crate) fn bare(said: &str) -> &str {
    let inner = said.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inner.map_or(said, |(address, _)| address).trim()
}

/// What stands behind the last `@`.
pub(crate) fn domain(address: &str) -> &str {
    address.rsplit_once('@').map_or("", |(_, domain)| domain)
}

/// The part of a host's name that a person had to register: `example.co.uk` of `mail.example.co.uk`.
pub(crate) fn registered(host: &str) -> &str {
    let host = host.trim_end_matches('.');
    let dots: Vec<_> = host.rmatch_indices('.').map(|(at, _)| at).collect();
    let second = dots.get(1).map_or(0, |at| at + 1);
    let label = dots.first().map_or("", |last| &host[second..*last]);
    let is_shared = matches!(label, "co" | "com" | "org" | "net" | "gov" | "ac" | "edu") && host.len() - dots[0] <= 3;
    match is_shared {
        true => dots.get(2).map_or(host, |at| &host[at + 1..]),
        false => &host[second..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str, address: &str) -> Person {
        Person { name: name.into(), address: address.into() }
    }

    #[test]
    fn people_are_called_by_their_names() {
        assert_eq!(person("Sarah Chen", "s@x.example").first_name(), Some("Sarah"));
        assert_eq!(person("Chen, Sarah", "s@x.example").first_name(), Some("Sarah"));
        assert_eq!(person("Dr. Jörg Krüger", "j@x.example").first_name(), Some("Jörg"));
        assert_eq!(person("ACME Billing", "b@x.example").first_name(), None);
        assert_eq!(person("", "billing@x.example").first_name(), None);
        assert_eq!(person("", "billing@x.example").called(), "billing");
        assert_eq!(person("Sarah", "s@x.example").to_string(), "Sarah <s@x.example>");
    }

    #[test]
    fn the_registered_part_of_a_host_is_found() {
        for (host, part) in [
            ("mail.example.com", "example.com"),
            ("example.com", "example.com"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("example.co.uk", "example.co.uk"),
            ("co.uk", "co.uk"),
            ("localhost", "localhost"),
            ("", ""),
            (".", ""),
            ("x.com.example", "com.example"),
        ] {
            assert_eq!(registered(host), part, "{host}");
        }
    }
}
