//! Drafts that the household wrote and the owner may have changed since: by asking for it, or in any mail program.
//!
//! The text that was written last is kept until it is changed, and the first change is a decision. A draft that a program saved
//! under another name, or sent, is found again by subject and recipient.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::edit::edit;
use super::log_reader::WrittenDraft;
use super::storage;
use crate::error::Error;
use crate::household::Household;
use crate::mail::address::Person;
use crate::mail::folder::{DRAFTS, SENT};
use crate::mail::mailbox::{Filter, Mail, Mailbox};
use crate::mail::message::MailMessage;

/// Its table; `is_open` until a change was seen.
pub(super) const CREATE: &str = "
    CREATE TABLE IF NOT EXISTS pref_draft (
        draft TEXT PRIMARY KEY, by TEXT NOT NULL, at INTEGER NOT NULL, recipient TEXT NOT NULL, subject TEXT NOT NULL,
        body TEXT NOT NULL, is_open INTEGER NOT NULL) STRICT;";

/// Drafts that are looked at: older ones are ignored.
const MOST: usize = 50;
/// Mails of a folder among which a draft is sought that is no longer called as it was.
const LETTERS: usize = 500;

/// Takes note of what was written. What is older than what is known was noted before.
pub(super) fn note(connection: &Connection, written: &WrittenDraft, now: Timestamp) -> Result<(), Error> {
    let select = "SELECT at, body FROM pref_draft WHERE draft = ?1";
    let known: Option<(i64, String)> =
        connection.query_row(select, [&written.draft], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let at = written.at.as_millisecond();
    if known.as_ref().is_some_and(|(known, _)| *known >= at) {
        return Ok(());
    }
    if let Some((_, before)) = known.filter(|_| written.is_wished)
        && let Some(decision) = edit(&before, &written.body, &written.to, written.at.min(now))
    {
        storage::add(connection, &decision, Some(&written.by))?;
    }
    let WrittenDraft { draft, by, to, subject, body, .. } = written;
    let insert = "INSERT OR REPLACE INTO pref_draft VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1)";
    connection.execute(insert, params![draft, by, at, to, subject, body])?;
    Ok(())
}

/// Looks whether a person changed a draft.
pub(super) fn look(household: &Household) -> Result<(), Error> {
    let open = open(&household.index().lock())?;
    if open.is_empty() {
        return Ok(());
    }
    let now = household.now().timestamp();
    let mailbox = household.mailbox()?;
    let mut seen = Vec::new();
    for kept in open {
        let Some((text, is_sent)) = current(&mailbox, &kept, now)? else { continue };
        let is_same = text.split_whitespace().eq(kept.body.split_whitespace());
        if !is_same || is_sent {
            let decision = if is_same { None } else { edit(&kept.body, &text, &kept.to, now) };
            seen.push((kept, decision));
        }
    }
    drop(mailbox);
    let mut connection = household.index().lock();
    let transaction = connection.transaction()?;
    for (kept, decision) in seen {
        if let Some(decision) = decision {
            storage::add(&transaction, &decision, Some(&format!("edit of {}", kept.by)))?;
        }
        let close = "UPDATE pref_draft SET is_open = 0 WHERE draft = ?1 AND by = ?2";
        transaction.execute(close, [&kept.draft, &kept.by])?;
    }
    Ok(transaction.commit()?)
}

/// A draft as it was written.
struct StoredDraft {
    draft: String,
    by: String,
    at: Timestamp,
    to: String,
    subject: String,
    body: String,
}

fn open(connection: &Connection) -> Result<Vec<StoredDraft>, Error> {
    let select = format!(
        "SELECT draft, by, at, recipient, subject, body FROM pref_draft WHERE is_open = 1 ORDER BY at DESC LIMIT {MOST}"
    );
    let mut rows = connection.prepare_cached(&select)?;
    let rows = rows.query_map([], |row| {
        Ok(StoredDraft {
            draft: row.get(0)?,
            by: row.get(1)?,
            at: Timestamp::from_millisecond(row.get(2)?).unwrap_or_default(),
            to: row.get(3)?,
            subject: row.get(4)?,
            body: row.get(5)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What has become of a draft, and whether it was sent; none where it is nowhere to be found.
fn current(mailbox: &Mailbox<'_>, kept: &StoredDraft, now: Timestamp) -> Result<Option<(String, bool)>, Error> {
    if let Ok(mail) = mailbox.find(&kept.draft)
        && mail.id == kept.draft
        && mail.folder == DRAFTS
    {
        return Ok(Some((mailbox.open(&mail)?.text, false)));
    }
    let to = Person::read(&kept.to).address;
    for folder in [DRAFTS, SENT] {
        let since = Some(kept.at.min(now));
        let filter = Filter { folder: Some(folder.to_owned()), since, ..Filter::default() };
        let (mails, _) = mailbox.list(&filter, LETTERS)?;
        // Another draft of the household's is no other name of this one.
        let is_same = |mail: &&Mail| {
            let MailMessage { subject, to: people, .. } = &mail.message;
            *subject == kept.subject
                && people.iter().any(|person| person.address == to)
                && !mail.id.starts_with(crate::draft::ID)
        };
        if let Some(mail) = mails.iter().find(is_same) {
            return Ok(Some((mailbox.open(mail)?.text, folder == SENT)));
        }
    }
    Ok(None)
}
