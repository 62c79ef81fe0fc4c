//! One mail, parsed from its bytes into bounded text that is safe to show.
//!
//! Bytes that are not a mail give an empty one, so that one bad file does not stop the others. The parser is a third-party crate: a
//! panic inside it is caught and costs one mail only.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use mail_parser::{
    Address, HeaderName, HeaderValue, Message as Parsed, MessageParser, MessagePart, MimeHeaders, PartType,
};
use serde::{Deserialize, Serialize};

use super::address::Person;
use super::html::{self, Link};
use super::invite::Invite;
use crate::text;
use crate::triage::injection::{self, Injection, Piece};

/// A mail. What a header does not say is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MailMessage {
    /// Its `Message-ID`, without angle brackets.
    pub message_id: String,
    /// The mail that it answers.
    pub in_reply_to: String,
    /// The mails before it in the thread, oldest first.
    pub references: Vec<String>,
    /// When it was written, where that can be believed.
    pub sent: Option<Timestamp>,
    pub from: Person,
    /// Where answers go, if elsewhere.
    pub reply_to: Option<Person>,
    pub to: Vec<Person>,
    pub cc: Vec<Person>,
    pub subject: String,
    /// What it says, from its plain text or its HTML.
    pub text: String,
    pub links: Vec<Link>,
    pub attachments: Vec<Attachment>,
    pub invite: Option<Invite>,
    /// The mailing list that it went to.
    pub list: String,
    /// Whether it says how to get no more of its kind.
    pub unsubscribe: bool,
    /// Whether it says that it went to many.
    pub bulk: bool,
    /// Whether a program wrote it.
    pub automatic: bool,
    /// How important its sender says it is: 1 high, -1 low.
    pub importance: i8,
    /// Whether the server that took it in says that the sender is not proven.
    pub unproven: bool,
    /// Instructions to a program. They are searched for in all that was read of the mail, also behind the end of the text that is kept.
    pub order: Option<Injection>,
    /// Flags that a mail outside a Maildir carries in its headers, as letters of a Maildir.
    pub flags: String,
}

/// A file in a mail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attachment {
    pub name: String,
    /// Its media type.
    pub kind: String,
    pub size: u64,
}

/// People of one header that are kept.
const PEOPLE: usize = 100;
/// References that are kept: the oldest identifies the thread, the youngest the mail that is answered.
const REFERENCES: usize = 40;
/// More parts than any mail from a person has. Mails in mails are freed one inside the other, so that a mail of
/// nothing but mails would overflow the stack.
const PARTS: usize = 300;

impl MailMessage {
    /// Reads a mail and at most `max` characters of its text.
    pub fn read(bytes: &[u8], max: usize, zone: &TimeZone) -> Self {
        let parser = MessageParser::default();
        let is_sane = parts(bytes) <= PARTS;
        let read = catch_unwind(AssertUnwindSafe(|| {
            let parsed = if is_sane { parser.parse(bytes) } else { parser.parse_headers(bytes) };
            parsed.map(|parsed| Self::of(&parsed, max, zone))
        }));
        match read.ok().flatten() {
            Some(character) if is_sane => character,
            Some(character) => Self { text: plain(bytes, max), ..character }.with_injection(&[]),
            None => Self { text: plain(bytes, max), ..Self::default() }.with_injection(&[]),
        }
    }

    fn of(parsed: &Parsed<'_>, max: usize, zone: &TimeZone) -> Self {
        let header = |name: HeaderName<'static>| parsed.header_raw(name).unwrap_or_default().trim();
        let other = |name: &'static str| header(HeaderName::Other(name.into()));
        let precedence = other("Precedence").to_ascii_lowercase();
        let automatic = header(HeaderName::AutoSubmitted).to_ascii_lowercase();
        let Body { text: body, links, more } = body(parsed, max);
        let mut mail = Self {
            message_id: parsed.message_id().map(name).unwrap_or_default(),
            in_reply_to: names(parsed.in_reply_to()).into_iter().next().unwrap_or_default(),
            references: names(parsed.references()),
            sent: sent(parsed),
            from: people(parsed.from()).into_iter().next().unwrap_or_default(),
            reply_to: people(parsed.reply_to()).into_iter().next(),
            to: people(parsed.to()),
            cc: people(parsed.cc()),
            subject: text::line(&text::harmless(parsed.subject().unwrap_or_default()), 300),
            text: body,
            links,
            list: text::line(&text::harmless(header(HeaderName::ListId)), 120),
            unsubscribe: !header(HeaderName::ListUnsubscribe).is_empty(),
            bulk: matches!(&*precedence, "bulk" | "list" | "junk"),
            automatic: !(automatic.is_empty() || automatic == "no") || precedence == "auto_reply",
            importance: importance(header(HeaderName::Importance), other("X-Priority"), header(HeaderName::Priority)),
            unproven: unproven(header(HeaderName::AuthenticationResults)),
            flags: flags(other("Status"), other("X-Status"), other("X-Mozilla-Status")),
            ..Self::default()
        };
        mail.reply_to = mail.reply_to.filter(|person| person.address != mail.from.address);
        for part in &parsed.parts {
            mail.keep(part, zone);
        }
        let more: Vec<_> = more.iter().map(|(text, is_hidden)| Piece { text, is_hidden: *is_hidden }).collect();
        mail.with_injection(&more)
    }

    /// The mail with the order that it gives to a program. `more` is what it says besides its subject and the text that is kept.
    pub fn with_injection(mut self, more: &[Piece<'_>]) -> Self {
        let people: Vec<&Person> = self.recipients().collect();
        let invited = self.invite.as_ref().map_or("", |invite| &invite.title);
        // A subject may call a program, and the text go on from there.
        let whole = format!("{}\n\n{}", self.subject, self.text);
        let own = [&*whole, invited, &*self.from.name].map(|text| Piece { text, is_hidden: false });
        self.order = injection::find(&own, &people).or_else(|| injection::find(more, &people));
        self
    }

    /// Notes what a part is, where it is more than words.
    fn keep(&mut self, part: &MessagePart<'_>, zone: &TimeZone) {
        let kind = part.content_type().map_or_else(String::new, |kind| {
            format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or("*")).to_ascii_lowercase()
        });
        if kind == "text/calendar" && self.invite.is_none() {
            self.invite = part.text_contents().and_then(|part| Invite::read(part, zone));
        }
        let name = part.attachment_name().unwrap_or_default();
        let is_attached = !name.is_empty() || part.content_disposition().is_some_and(|how| how.is_attachment());
        if is_attached && self.attachments.len() < PEOPLE {
            let name = text::line(&text::harmless(name), 120);
            self.attachments.push(Attachment { name, kind: text::line(&kind, 80), size: part.len() as u64 });
        }
    }

    /// All recipients.
    pub fn recipients(&self) -> impl Iterator<Item = &Person> {
        self.to.iter().chain(&self.cc)
    }

    /// The subject without `Re:` and its like.
    pub fn topic(&self) -> &str {
        mail_parser::parsers::fields::thread::thread_name(&self.subject)
    }
}

/// How many parts a mail may have at most.
fn parts(bytes: &[u8]) -> usize {
    const NAME: &[u8] = b"content-type";
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| line.len() > NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME))
        .count()
}

fn plain(bytes: &[u8], max: usize) -> String {
    let start = &bytes[..bytes.len().min(4 * max)];
    text::clip(&text::harmless(&String::from_utf8_lossy(start)), max).into_owned()
}

/// What a mail says.
struct Body {
    text: String,
    links: Vec<Link>,
    /// What it says elsewhere: behind the end of a text that is too long, in comments, and in the HTML beside a plain text; and whether
    /// its reader does not see it.
    more: Vec<(String, bool)>,
}

fn body(parsed: &Parsed<'_>, max: usize) -> Body {
    let (mut words, mut links, mut more) = (String::new(), Vec::new(), Vec::new());
    let has_text = parsed.text_bodies().any(|part| part.text_contents().is_some_and(|text| !text.trim().is_empty()));
    let chosen = if has_text { &parsed.text_body } else { &parsed.html_body };
    for part in chosen.iter().filter_map(|at| parsed.part(*at)) {
        let (said, found) = match &part.body {
            PartType::Text(text) => (text.to_string(), html::plain_links(text)),
            PartType::Html(page) => {
                let html::Content { text, links, unseen } = html::read(page, 8 * max);
                more.push((unseen, true));
                (text, links)
            }
            _ => continue,
        };
        if !words.is_empty() {
            words.push_str("\n\n");
        }
        words.push_str(said.trim());
        links.extend(found);
        if words.len() > 8 * max {
            break;
        }
    }
    // The plain text of a mail seldom shows where the links of its HTML lead.
    if has_text && let Some(PartType::Html(page)) = parsed.html_part(0).map(|part| &part.body) {
        let html::Content { text, links: found, unseen } = html::read(page, 8 * max);
        links.extend(found);
        more.extend([(text, false), (unseen, true)]);
    }
    links.sort_by(|a, b| (&a.host, b.disguised).cmp(&(&b.host, a.disguised)));
    links.dedup_by(|a, b| a.host == b.host);
    let words = text::harmless(&words);
    let words = words.trim();
    let text = text::clip(words, max).into_owned();
    if words.chars().nth(max).is_some() {
        more.push((words.to_owned(), false));
    }
    Body { text, links, more }
}

/// The date that it says, or the one its last server says where the first cannot be.
fn sent(parsed: &Parsed<'_>) -> Option<Timestamp> {
    let date = parsed.date().and_then(moment);
    let received = parsed.received().and_then(|received| received.date()).and_then(|date| moment(&date));
    match (date, received) {
        (Some(date), Some(received)) if date.as_second() > received.as_second() + 2 * 24 * 3600 => Some(received),
        (date, received) => date.or(received),
    }
}

fn moment(date: &mail_parser::DateTime) -> Option<Timestamp> {
    let part = |value: u8| i8::try_from(value).ok();
    let year = i16::try_from(date.year).ok().filter(|year| (1980..2100).contains(year))?;
    let (hour, minute, second) = (part(date.hour)?, part(date.minute)?, part(date.second)?.min(59));
    let civil = DateTime::new(year, part(date.month)?, part(date.day)?, hour, minute, second, 0).ok()?;
    let west = if date.tz_before_gmt { -1 } else { 1 };
    let offset = Offset::from_seconds(west * (i32::from(date.tz_hour) * 3600 + i32::from(date.tz_minute) * 60)).ok()?;
    offset.to_timestamp(civil).ok()
}

fn people(header: Option<&Address<'_>>) -> Vec<Person> {
    let people = header.into_iter().flat_map(Address::iter).map(|person| Person {
        name: text::line(&text::harmless(person.name().unwrap_or_default()), 100),
        address: text::line(&text::harmless(person.address().unwrap_or_default()), 254).to_lowercase(),
    });
    people.filter(|person| !(person.name.is_empty() && person.address.is_empty())).take(PEOPLE).collect()
}

fn names(header: &HeaderValue<'_>) -> Vec<String> {
    let all: Vec<_> = match header {
        HeaderValue::Text(one) => vec![name(one)],
        HeaderValue::TextList(all) => all.iter().map(|one| name(one)).collect(),
        _ => Vec::new(),
    };
    let surplus = all.len().saturating_sub(REFERENCES);
    let kept = all.into_iter().enumerate().filter(|(at, name)| (*at == 0 || *at > surplus) && !name.is_empty());
    kept.map(|(_, name)| name).collect()
}

fn name(id: &str) -> String {
    text::line(&text::harmless(id), 250)
}

fn importance(importance: &str, priority: &str, urgency: &str) -> i8 {
    let said = format!("{importance} {urgency}").to_ascii_lowercase();
    match priority.chars().next() {
        _ if said.contains("high") || said.split(' ').any(|word| word == "urgent") => 1,
        Some('1' | '2') => 1,
        _ if said.contains("low") || said.contains("non-urgent") => -1,
        Some('4' | '5') => -1,
        _ => 0,
    }
}

fn unproven(results: &str) -> bool {
    let results = results.to_ascii_lowercase();
    ["dmarc=fail", "spf=fail", "dkim=fail"].iter().any(|failed| results.contains(failed))
        && !results.contains("dmarc=pass")
}

/// Marks as `mbox` files carry them: letters, or the bits of Mozilla's programs.
fn flags(status: &str, more: &str, bits: &str) -> String {
    let bits = u32::from_str_radix(bits, 16).unwrap_or(0);
    let has = |character, bit| status.contains(character) || more.contains(character) || bits & bit != 0;
    let marks = [('F', 0x4, 'F'), ('A', 0x2, 'R'), ('R', 0x1, 'S')];
    marks.iter().filter(|(mail, bit, _)| has(*mail, *bit)).map(|(.., flag)| flag).collect()
}
