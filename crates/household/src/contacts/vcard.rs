//! Parses vCards of all versions leniently: what cannot be read is left out.

use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;

use super::Contact;
use crate::text;
use crate::text::fold;

/// The people in a file, which may hold several cards. A card without name and address is nobody.
pub(super) fn read(bytes: &[u8]) -> Vec<Contact> {
    let file = String::from_utf8(bytes.to_vec()).unwrap_or_else(|_| bytes.iter().map(|byte| *byte as char).collect());
    let mut people = Vec::new();
    let mut card: Option<Contact> = None;
    for line in lines(&file) {
        let Some(Field { name, value }) = Field::of(&line) else { continue };
        match (&*name, &mut card) {
            ("BEGIN", card) if value.eq_ignore_ascii_case("VCARD") => *card = Some(Contact::default()),
            ("END", card) => {
                people.extend(card.take().filter(|person| !(person.name.is_empty() && person.emails.is_empty())));
            }
            ("FN", Some(person)) => person.name = said(&value, 120),
            ("N", Some(person)) if person.name.is_empty() => person.name = ordered(&value),
            ("EMAIL", Some(person)) if person.emails.len() < 20 => {
                let address = said(&value, 254).to_lowercase();
                let address = address.strip_prefix("mailto:").unwrap_or(&address).to_owned();
                if address.contains('@') && !person.emails.contains(&address) {
                    person.emails.push(address);
                }
            }
            ("ORG", Some(person)) if person.organization.is_none() => {
                let units: Vec<_> =
                    pieces(&value).iter().map(|unit| said(unit, 120)).filter(|unit| !unit.is_empty()).collect();
                person.organization = Some(units.join(", ")).filter(|units| !units.is_empty());
            }
            ("TEL", Some(person)) if person.phones.len() < 10 => {
                let number = said(&value, 40);
                let number = number.strip_prefix("tel:").unwrap_or(&number).to_owned();
                person.phone.get_or_insert_with(|| number.clone());
                person.phones.push(number);
            }
            ("NICKNAME", Some(person)) if person.nicknames.len() < 10 => {
                let names = value.split(',').map(|name| said(name, 60)).filter(|name| !name.is_empty());
                person.nicknames.extend(names);
            }
            ("TITLE" | "ROLE" | "X-RELATION" | "CATEGORIES", Some(person)) => {
                let role = said(&value, 120);
                let known = person.role.take().map(|known| format!("{known}, "));
                person.role = Some(known.unwrap_or_default() + &role).filter(|role| !role.is_empty());
            }
            ("BDAY", Some(person)) if person.birthday.is_none() => person.birthday = day(&value),
            ("ADR", Some(person)) if person.address.is_none() => {
                let parts: Vec<_> =
                    pieces(&value).iter().map(|part| said(part, 120)).filter(|part| !part.is_empty()).collect();
                person.address = Some(parts.join(", ")).filter(|address| !address.is_empty());
            }
            ("NOTE", Some(person)) if person.note.is_none() => {
                let note = said(&value, 500);
                person.nicknames.extend(called_in(&note));
                person.note = Some(note);
            }
            _ => {}
        }
    }
    people
}

/// What a person is called by a note such as "My sister Ada. London.": a name behind a word for what they are to the owner.
fn called_in(note: &str) -> Option<String> {
    let first = note.split(['.', ',', ';', '(']).next()?;
    let words: Vec<&str> = first.split_whitespace().collect();
    let is_name = |word: &str| word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphabetic);
    let named =
        words.windows(2).find(|pair| crate::glossary::relation(&fold(pair[0])).is_some() && is_name(pair[1]))?;
    Some(named[1].to_owned())
}

/// Lines as they were before they were broken: continued by a space, or, in version 2.1, by `=` at the end.
fn lines(file: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in file.lines() {
        let Some(last) = lines.last_mut() else {
            lines.push(line.to_owned());
            continue;
        };
        if last.ends_with('=') && last.to_ascii_uppercase().contains("QUOTED-PRINTABLE") {
            last.pop();
            last.push_str(line.trim_start());
        } else if let Some(more) = line.strip_prefix([' ', '\t']) {
            last.push_str(more);
        } else {
            lines.push(line.to_owned());
        }
    }
    lines
}

/// One line of a card. Groups (`item1.EMAIL`) and parameters are gone, and so is the encoding.
struct Field {
    name: String,
    value: String,
}

impl Field {
    fn of(line: &str) -> Option<Self> {
        // A parameter may hold a colon between quotes.
        let mut is_quoted = false;
        let colon = line.char_indices().find(|(_, character)| {
            is_quoted ^= *character == '"';
            *character == ':' && !is_quoted
        });
        let (head, value) = (&line[..colon?.0], &line[colon?.0 + 1..]);
        let (name, parameters) = head.split_once(';').unwrap_or((head, ""));
        let name = name.rsplit('.').next().unwrap_or(name).trim().to_ascii_uppercase();
        let parameters = parameters.to_ascii_uppercase();
        let value = match parameters.contains("QUOTED-PRINTABLE") {
            true => decoded(value, &parameters),
            false => value.to_owned(),
        };
        Some(Self { name, value: value.trim().to_owned() })
    }
}

fn decoded(value: &str, parameters: &str) -> String {
    let Some(bytes) = quoted_printable_decode(value.as_bytes()) else { return value.to_owned() };
    let charset = parameters.split(';').find_map(|parameter| parameter.strip_prefix("CHARSET="));
    match charset.and_then(|charset| charset_decoder(charset.as_bytes())) {
        Some(decode) => decode(&bytes),
        None => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// A day as `1961-06-13` or `--06-13`, from any of the forms that cards write.
fn day(value: &str) -> Option<String> {
    let date = value.split(['T', ' ']).next().unwrap_or_default();
    let is_without_year = date.starts_with("--");
    let digits: String = date.chars().filter(char::is_ascii_digit).collect();
    match (is_without_year, digits.len()) {
        (true, 4) => Some(format!("--{}-{}", &digits[..2], &digits[2..])),
        // Some programs write an unknown year as 1604.
        (false, 8) if &digits[..4] == "1604" => Some(format!("--{}-{}", &digits[4..6], &digits[6..])),
        (false, 8) => Some(format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..])),
        _ => None,
    }
}

/// `Family;Given;Middle;Prefix;Suffix` in the order that people say it.
fn ordered(name: &str) -> String {
    let parts: Vec<_> = pieces(name).iter().map(|part| said(part, 60)).collect();
    let order = [3, 1, 2, 0, 4].into_iter().filter_map(|at| parts.get(at)).filter(|part| !part.is_empty());
    order.cloned().collect::<Vec<_>>().join(" ")
}

/// What stands between semicolons that are no part of a value.
fn pieces(value: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut is_escaped = false;
    for character in value.chars() {
        match character {
            ';' if !is_escaped => pieces.push(String::new()),
            _ => pieces.last_mut().expect("there is always a piece").push(character),
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    pieces
}

/// A value without its escapes, on one line.
fn said(value: &str, max: usize) -> String {
    let mut plain = String::new();
    let mut letters = value.chars();
    while let Some(character) = letters.next() {
        match character {
            '\\' => match letters.next() {
                Some('n' | 'N') | None => plain.push(' '),
                Some(other) => plain.push(other),
            },
            other => plain.push(other),
        }
    }
    text::line(&text::harmless(&plain), max)
}
