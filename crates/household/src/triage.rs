//! Triage: what a mail wants of the owner, and how soon. Gives a priority from 0 to 1, a category, and the reasons in sentences.
//!
//! The result is a pure function of a mail and its [`MailContext`], which includes the time. Reasons have weights that are added up,
//! and the three heaviest are the explanation. A suspicious mail is never urgent. Instructions to a program in a mail are shown
//! and never followed.

mod deadline;
mod evidence;
pub(crate) mod injection;
mod lexicon;
pub(crate) mod suspicion;
mod task;
pub(crate) mod tools;
mod verdict;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use verdict::{Category, Verdict, judge};

use jiff::Zoned;

use crate::error::Error;
use crate::household::Household;
use crate::mail::mailbox::{Mail, Mailbox};
use crate::mail::message::MailMessage;
use crate::preferences::Applied;
use suspicion::KnownSenders;

/// What is known about a mail besides its words.
#[derive(Clone, Debug)]
pub(crate) struct MailContext {
    /// What time it is for the owner.
    pub now: Zoned,
    /// When it was written, in the owner's zone.
    pub written: Zoned,
    /// The owner's addresses.
    pub me: Vec<String>,
    /// How many mails the owner has written to its sender.
    pub written_to: u32,
    /// Whether its sender is in the address book.
    pub is_contact: bool,
    /// Whether it belongs to a conversation in which the owner wrote.
    pub answers_me: bool,
    /// Whether the owner has answered it.
    pub is_answered: bool,
    pub is_unread: bool,
    pub is_flagged: bool,
    /// What the owner agreed to about mail of its sender.
    pub agreed: Option<AgreedUrgency>,
}

/// What the owner agreed to about a person's mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgreedUrgency {
    /// It cannot wait.
    Urgent,
    /// It can.
    NotUrgent,
}

impl AgreedUrgency {
    /// What a habit says, by its word.
    fn named(word: &str) -> Option<Self> {
        match word {
            "urgent" => Some(Self::Urgent),
            "not urgent" | "archive" => Some(Self::NotUrgent),
            _ => None,
        }
    }
}

/// Judges mails of one mailbox.
pub(crate) struct MailClassifier<'a> {
    mailbox: &'a Mailbox<'a>,
    household: &'a Household,
    me: Vec<String>,
    known: KnownSenders,
    contacts: Vec<String>,
    habits: Applied,
}

impl<'a> MailClassifier<'a> {
    /// A judge who knows whom the owner knows, and what the owner agreed to.
    pub fn of(mailbox: &'a Mailbox<'a>, household: &'a Household, habits: Applied) -> Result<Self, Error> {
        let me = mailbox.me()?;
        let contacts = household.contacts();
        let known = KnownSenders::of(&contacts, &mailbox.correspondents()?, &me);
        let contacts = contacts.into_iter().flat_map(|contact| contact.emails).collect();
        Ok(Self { mailbox, household, me, known, contacts, habits })
    }

    /// The owner's addresses.
    pub fn me(&self) -> &[String] {
        &self.me
    }

    /// What a mail wants, and how soon.
    pub fn judge(&self, mail: &Mail) -> Result<Verdict, Error> {
        let sender = &mail.message.from.address;
        let circumstances = MailContext {
            now: self.household.now(),
            written: mail.sent.to_zoned(self.household.options().zone.clone()),
            me: self.me.clone(),
            written_to: self.mailbox.written_to(sender)?,
            is_contact: self.contacts.contains(sender),
            answers_me: self.mailbox.sent_any(&mail.message.references)?
                || self.mailbox.sent_any(std::slice::from_ref(&mail.message.in_reply_to))?,
            is_answered: self.mailbox.is_answered(mail)?,
            is_unread: mail.is_unread(),
            is_flagged: mail.flags.contains('F'),
            agreed: self.habits.of_sender(sender).and_then(AgreedUrgency::named),
        };
        Ok(judge(&mail.message, &circumstances, &self.known))
    }
}

/// What is suspicious about a mail, in sentences.
pub(crate) fn warnings(
    mailbox: &Mailbox<'_>,
    message: &MailMessage,
    household: &Household,
) -> Result<Vec<String>, Error> {
    let me = mailbox.me()?;
    if me.contains(&message.from.address) {
        return Ok(Vec::new());
    }
    let known = KnownSenders::of(&household.contacts(), &mailbox.correspondents()?, &me);
    Ok(suspicion::inspect(message, &known).warnings)
}
