//! A draft as an RFC 5322 message. Headers are encoded here, so that no value can begin another header.

use jiff::Zoned;

use crate::mail::address::Person;
use crate::text;

/// A draft, before it is a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub from: Person,
    pub to: Vec<Person>,
    pub subject: String,
    /// The mail that it answers.
    pub in_reply_to: String,
    /// The mails before it in the thread, oldest first.
    pub references: Vec<String>,
    pub body: String,
}

/// The header by which the household knows its own drafts.
pub(super) const OURS: &str = "X-Majordomo-Draft";

impl Message {
    /// The file's text.
    pub fn written(&self, id: &str, now: &Zoned) -> String {
        let mut file = String::new();
        let mut header = |name: &str, value: &str| {
            if !value.trim().is_empty() {
                file.push_str(&folded(&format!("{name}: {value}")));
            }
        };
        let host = match self.from.domain() {
            "" => "localhost",
            host => host,
        };
        header("Date", &now.strftime("%a, %d %b %Y %H:%M:%S %z").to_string());
        header("From", &mailbox(&self.from));
        header("To", &self.to.iter().map(mailbox).collect::<Vec<_>>().join(", "));
        header("Subject", &encoded(&self.subject));
        header("Message-ID", &format!("<{id}@{host}>"));
        header("In-Reply-To", &bracketed(&self.in_reply_to));
        header("References", &self.references.iter().map(|name| bracketed(name)).collect::<Vec<_>>().join(" "));
        header("MIME-Version", "1.0");
        header("Content-Type", "text/plain; charset=utf-8");
        let is_plain = self.body.is_ascii() && self.body.lines().all(|line| line.len() <= 900);
        header("Content-Transfer-Encoding", if is_plain { "7bit" } else { "quoted-printable" });
        // Mail programs open it for writing instead of reading.
        header("X-Unsent", "1");
        header(OURS, id);
        let body = self.body.trim_end();
        let body = if is_plain { body.to_owned() } else { quoted_printable(body) };
        format!("{file}\n{body}\n")
    }
}

fn mailbox(person: &Person) -> String {
    let is_atom = |character: char| character.is_ascii_alphanumeric() || matches!(character, ' ' | '-' | '\'' | '_');
    match &*person.name {
        "" => person.address.clone(),
        name if !name.is_ascii() => format!("{} <{}>", encoded(name), person.address),
        name if name.chars().all(is_atom) => format!("{name} <{}>", person.address),
        name => format!("\"{}\" <{}>", name.replace('\\', "\\\\").replace('"', "\\\""), person.address),
    }
}

fn bracketed(name: &str) -> String {
    let name: String =
        name.chars().filter(|character| character.is_ascii_graphic() && !matches!(character, '<' | '>')).collect();
    if name.is_empty() { name } else { format!("<{name}>") }
}

/// Text as encoded words where it is not plain.
fn encoded(value: &str) -> String {
    let value = text::line(&text::harmless(value), 400);
    if value.is_ascii() && !value.contains("=?") {
        return value;
    }
    const OPEN: &str = "=?utf-8?Q?";
    let (mut words, mut word) = (Vec::new(), String::from(OPEN));
    for character in value.chars() {
        let mut bytes = [0; 4];
        let spelled: String = match character {
            ' ' => "_".into(),
            character if character.is_ascii_alphanumeric() => character.into(),
            letter => letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("={byte:02X}")).collect(),
        };
        if word.len() + spelled.len() > 70 {
            words.push(format!("{word}?="));
            word = OPEN.into();
        }
        word.push_str(&spelled);
    }
    words.push(format!("{word}?="));
    words.join(" ")
}

/// A header on lines that are not too long.
fn folded(header: &str) -> String {
    let (mut lines, mut length) = (String::new(), 0);
    for (at, word) in header.split(' ').enumerate() {
        if at > 1 && length + word.len() > 76 {
            lines.push('\n');
            length = 0;
        }
        if at > 0 {
            lines.push(' ');
        }
        lines.push_str(word);
        length += word.len() + 1;
    }
    lines.push('\n');
    lines
}

fn quoted_printable(text: &str) -> String {
    let mut coded = String::new();
    for line in text.lines() {
        let mut length = 0;
        for (at, byte) in line.bytes().enumerate() {
            let is_last = at + 1 == line.len();
            let spelled = match byte {
                b' ' | b'\t' if !is_last => char::from(byte).to_string(),
                b'!'..=b'~' if byte != b'=' => char::from(byte).to_string(),
                other => format!("={other:02X}"),
            };
            if length + spelled.len() > 75 {
                coded.push_str("=\n");
                length = 0;
            }
            length += spelled.len();
            coded.push_str(&spelled);
        }
        coded.push('\n');
    }
    coded.trim_end_matches('\n').to_owned()
}
