//! Where passages come from: notes and mails that hold words of the question, events around now, and cards.

use std::path::PathBuf;

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use super::wanted::Wanted;
use super::{Passage, is_light};
use crate::calendar::{self, Occurrence};
use crate::contacts::Contact;
use crate::error::Error;
use crate::household::Household;
use crate::mail::mailbox::{Filter, Mail};
use crate::notes;
use crate::passages::{Term, of_mail, words_of};
use crate::times::shown;
use crate::triage;

/// The place of a passage.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Note { path: String, title: String, line: usize },
    Mail(Box<Mail>),
    Event(Box<Occurrence>),
    Card(Box<Contact>),
}

/// Notes and mails that are looked into.
const NOTES: usize = 30;
const MAILS: usize = 300;
/// Days around now in which events are looked at.
const DAYS: i64 = 365;

impl Source {
    /// What tells one note, mail, event or card from another.
    pub fn key(&self) -> String {
        match self {
            Self::Note { path, .. } => format!("note {path}"),
            Self::Mail(mail) => format!("mail {}", mail.id),
            Self::Event(event) => format!("event {}", event.details.id),
            Self::Card(card) => format!("card {} {:?}", card.name, card.emails.first()),
        }
    }

    /// What its kind is worth for a question: who asks for a time mostly means the calendar, and notes are written to be looked up.
    pub fn prior(&self, wanted: Wanted) -> f64 {
        match (self, wanted) {
            (Self::Event(_), Wanted::Time) => 0.1,
            (Self::Card(_), Wanted::Phone) => 0.2,
            (Self::Note { .. }, _) => 0.1,
            (Self::Card(_), _) => 0.02,
            (Self::Mail(_) | Self::Event(_), _) => 0.0,
        }
    }

    /// Whether it has sentences that belong together.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Note { .. } | Self::Mail(_))
    }

    /// The words of the name and the address of who wrote it.
    pub fn author(&self) -> Vec<String> {
        match self {
            Self::Mail(mail) => {
                let from = &mail.message.from;
                words_of(&from.to_string()).into_iter().chain([from.address.clone()]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The line of a note.
    pub fn line(&self) -> usize {
        match self {
            Self::Note { line, .. } => *line,
            _ => 0,
        }
    }

    /// Whether it is a mail that the owner wrote.
    pub fn is_sent(&self) -> bool {
        matches!(self, Self::Mail(mail) if mail.folder == "sent")
    }

    pub fn is_event(&self) -> bool {
        matches!(self, Self::Event(_))
    }

    pub fn is_card(&self) -> bool {
        matches!(self, Self::Card(_))
    }

    /// What is odd about it, if it is a mail that is not what it seems to be.
    pub fn warnings(&self, household: &Household) -> Result<Vec<String>, Error> {
        match self {
            Self::Mail(mail) => triage::warnings(&household.mailbox()?, &mail.message, household),
            _ => Ok(Vec::new()),
        }
    }

    pub fn shown(&self, household: &Household) -> Value {
        match self {
            Self::Note { path, title, line } => {
                json!({ "kind": "note", "path": path, "title": title, "line": line })
            }
            Self::Mail(mail) => json!({
                "kind": "mail", "emailId": mail.id, "from": mail.message.from.to_string(),
                "to": crate::mail::tools::named(&mail.message.to), "subject": mail.message.subject,
                "date": shown(mail.sent, &household.options().zone), "folder": mail.folder,
            }),
            Self::Event(event) => {
                let mut told = calendar::tools::event_shown(event, household);
                told["kind"] = json!("event");
                told
            }
            Self::Card(card) => json!({ "kind": "person", "name": card.name }),
        }
    }
}

/// Everything that may answer.
pub(super) fn gather(terms: &[Term], kinds: &[String], household: &Household) -> Result<Vec<Passage>, Error> {
    // Words that say little stand everywhere; texts are gathered by the others, where there are any.
    let weighty: Vec<Term> = terms.iter().filter(|term| !is_light(term)).cloned().collect();
    let terms = if weighty.is_empty() { terms } else { &weighty };
    let is_asked = |kind: &str| kinds.is_empty() || kinds.iter().any(|one| one == kind);
    let mut passages = Vec::new();
    if is_asked("note") {
        from_notes(terms, household, &mut passages)?;
    }
    if is_asked("mail") {
        from_mail(terms, household, &mut passages)?;
    }
    if is_asked("event") {
        from_calendars(household, &mut passages)?;
    }
    if is_asked("person") {
        household.contacts().into_iter().for_each(|card| from_card(&card, &mut passages));
    }
    Ok(passages)
}

fn from_notes(terms: &[Term], household: &Household, passages: &mut Vec<Passage>) -> Result<(), Error> {
    let own = terms.iter().map(|term| term.said.as_str());
    let names = terms.iter().flat_map(|term| term.names.iter().map(String::as_str)).filter(|name| !name.contains('@'));
    let query = own.chain(names).collect::<Vec<_>>().join(" ");
    notes::about(household, &query, NOTES)?.into_iter().for_each(|note| from_note(note, passages));
    Ok(())
}

fn from_note(note: notes::NoteText, passages: &mut Vec<Passage>) {
    let path: PathBuf = note.path.clone().into();
    let folders = path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    // A note may be called otherwise than its title: "Cat.md" is about Pixel.
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for sentence in note.sentences {
        passages.push(Passage {
            words: words_of(&sentence.text),
            around: words_of(&format!("{} {name} {folders} {}", note.title, sentence.under)),
            is_heading: sentence.is_heading,
            is_dated: false,
            newness: 0.0,
            source: Source::Note { path: note.path.clone(), title: note.title.clone(), line: sentence.line },
            quote: sentence.text,
        });
    }
}

fn from_mail(terms: &[Term], household: &Household, passages: &mut Vec<Passage>) -> Result<(), Error> {
    let mailbox = household.mailbox()?;
    let any = terms.iter().flat_map(Term::search_words).collect();
    let filter = Filter { any, ..Filter::default() };
    let (mails, _) = mailbox.list(&filter, MAILS)?;
    from_mails(mails, household, passages);
    Ok(())
}

/// The passages of these mails and their conversations, of these events and of these notes. What is not there any more is left out.
pub(super) fn of(about: &[String], household: &Household) -> Result<Vec<Passage>, Error> {
    let mut passages = Vec::new();
    from_mails(mails_of(about, household)?, household, &mut passages);
    for path in about.iter().filter(|id| id.ends_with(".md")) {
        notes::at(household, path)?.into_iter().for_each(|note| from_note(note, &mut passages));
    }
    let mut events = Vec::new();
    from_calendars(household, &mut events)?;
    let is_meant = |passage: &Passage| matches!(&passage.source, Source::Event(event) if about.iter().any(|id| *id == event.details.id));
    passages.extend(events.into_iter().filter(is_meant));
    Ok(passages)
}

/// The conversations of these mails. The mailbox is held only here: notes lie in the same index.
fn mails_of(ids: &[String], household: &Household) -> Result<Vec<Mail>, Error> {
    let mailbox = household.mailbox()?;
    let mut mails = Vec::new();
    for id in ids.iter().filter(|id| !id.ends_with(".md")) {
        if let Ok(mail) = mailbox.find(id) {
            for mail in mailbox.thread(&mail)? {
                if !mails.iter().any(|known: &Mail| known.id == mail.id) {
                    mails.push(mail);
                }
            }
        }
    }
    Ok(mails)
}

fn from_mails(mails: Vec<Mail>, household: &Household, passages: &mut Vec<Passage>) {
    let now = household.now().timestamp();
    for mail in mails {
        let message = &mail.message;
        let people: Vec<String> =
            std::iter::once(&message.from).chain(message.recipients()).map(ToString::to_string).collect();
        let around = words_of(&format!("{} {}", message.subject, people.join(" ")));
        let files: Vec<String> = message.attachments.iter().map(|file| file.name.clone()).collect();
        let sentences = of_mail(&message.text).into_iter().chain(files).map(|quote| (quote, false));
        let all = sentences.chain([(message.subject.clone(), true)]);
        for (quote, is_heading) in all.filter(|(quote, _)| !quote.is_empty()) {
            passages.push(Passage {
                words: words_of(&quote),
                around: around.clone(),
                is_heading,
                is_dated: false,
                newness: newness(mail.sent, now) - if message.list.is_empty() { 0.0 } else { 1.0 },
                source: Source::Mail(Box::new(mail.clone())),
                quote,
            });
        }
    }
}

fn newness(sent: Timestamp, now: Timestamp) -> f64 {
    let days = now.duration_since(sent).as_secs() as f64 / 86_400.0;
    (1.0 - days / 180.0).clamp(0.0, 1.0)
}

fn from_calendars(household: &Household, passages: &mut Vec<Passage>) -> Result<(), Error> {
    for event in calendar::tools::next_of_each(household, DAYS.days())? {
        let attendees = event.details.attendees.iter().map(|attendee| attendee.shown().to_owned());
        let more = [&event.details.location, &event.details.description].into_iter().flatten().cloned();
        let quote = std::iter::once(event.details.title.clone()).chain(more).collect::<Vec<_>>().join(", ");
        passages.push(Passage {
            words: words_of(&quote),
            around: words_of(&format!("{} {} {ANY_EVENT}", attendees.collect::<Vec<_>>().join(" "), event.calendar)),
            is_heading: false,
            is_dated: true,
            newness: f64::from(u8::from(event.window.end > household.now().timestamp())),
            source: Source::Event(Box::new(event)),
            quote,
        });
    }
    Ok(())
}

/// What any event may be called.
const ANY_EVENT: &str = "meeting appointment event termin besprechung treffen rendez vous reunion";

/// One passage for each thing that a card says, so that the one that is asked for is quoted.
fn from_card(card: &Contact, passages: &mut Vec<Passage>) {
    let around = format!(
        "{} {} {} {}",
        card.name,
        card.nicknames.join(" "),
        card.organization.as_deref().unwrap_or_default(),
        card.note.as_deref().unwrap_or_default()
    );
    let mut say = |quote: String, more: &str, is_dated: bool| {
        passages.push(Passage {
            words: words_of(&format!("{quote} {more}")),
            around: words_of(&around),
            is_heading: false,
            is_dated,
            newness: 0.0,
            source: Source::Card(Box::new(card.clone())),
            quote,
        });
    };
    for phone in &card.phones {
        say(phone.clone(), "phone telephone number mobile cell telefon nummer handy numero", false);
    }
    for email in &card.emails {
        say(email.clone(), "email address mail adresse", false);
    }
    if let Some(birthday) = &card.birthday {
        say(birthday.clone(), "birthday birth born geburtstag geboren anniversaire", true);
    }
    if let Some(address) = &card.address {
        say(address.clone(), "address live lives street adresse wohnt rue habite", false);
    }
    if let Some(organization) = &card.organization {
        say(organization.clone(), "work works company firm arbeitet firma travaille entreprise", false);
    }
    if let Some(note) = &card.note {
        say(note.clone(), "", false);
    }
    if let Some(role) = &card.role {
        say(role.clone(), "role job work does", false);
    }
}
