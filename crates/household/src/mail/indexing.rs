//! The index of mails: its tables, and how it is brought up to date with the mailbox.
//!
//! Several processes may share one index. Directories are listed while the index is locked for writing, so that one process does not
//! remove what another has just added. Mails are read outside the lock, in batches; a mail that another process has already added
//! is skipped. A directory is marked as read only when all its mails are in the index.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::folder::{self, HEAD, Kind, MailFile, MailFolder, SENT};
use super::mbox;
use super::message::MailMessage;
use super::thread;
use crate::error::Error;
use crate::index::Index;
use crate::text::fold;

/// Also raised when what is found in a mail's text while it is read changes.
const VERSION: u32 = 3;

const DROP: &str = "
    DROP TABLE IF EXISTS mail_place; DROP TABLE IF EXISTS mail; DROP TABLE IF EXISTS mail_words;
    DROP TABLE IF EXISTS mail_written_to; DROP TABLE IF EXISTS mail_reference;";

/// `message` is a mail as JSON; what stands beside it is there to be looked up. Words are folded.
const CREATE: &str = "
    CREATE TABLE mail_place (dir TEXT PRIMARY KEY, stamp INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE mail (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL, dir TEXT NOT NULL, name TEXT NOT NULL, folder TEXT NOT NULL
            COLLATE NOCASE,
        flags TEXT NOT NULL, stamp INTEGER NOT NULL, sent INTEGER NOT NULL, thread INTEGER NOT NULL,
        message_id TEXT NOT NULL, in_reply_to TEXT NOT NULL, sender TEXT NOT NULL, topic TEXT NOT NULL,
        message TEXT NOT NULL, UNIQUE (dir, id));
    CREATE INDEX mail_by_id ON mail (id);
    CREATE INDEX mail_by_folder ON mail (folder, sent);
    CREATE INDEX mail_by_thread ON mail (thread, sent);
    CREATE INDEX mail_by_message ON mail (message_id) WHERE message_id <> '';
    CREATE INDEX mail_by_answer ON mail (in_reply_to) WHERE in_reply_to <> '';
    CREATE INDEX mail_by_topic ON mail (topic) WHERE topic <> '';
    CREATE TABLE mail_written_to (address TEXT NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (address, key)) WITHOUT ROWID;
    CREATE INDEX mail_written_by_key ON mail_written_to (key);
    CREATE TABLE mail_reference (name TEXT PRIMARY KEY, thread INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX mail_reference_by_thread ON mail_reference (thread);
    CREATE VIRTUAL TABLE mail_words USING fts5 (
        who, subject, body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');";

/// Mails that are read between two locks.
const BATCH: usize = 500;
/// Characters of a mail's text that the index keeps.
const TEXT: usize = 4_000;

/// Brings the index to what lies in the mailbox.
pub(crate) fn refresh(connection: &mut Connection, mailbox: &Path, zone: &TimeZone) -> Result<(), Error> {
    Index::prepare(connection, "mail", VERSION, DROP, CREATE)?;
    let places = folder::places(mailbox);
    if !is_changed(connection, mailbox, &places)? {
        return Ok(());
    }
    let ReadPlan { arrived, stamps } = survey(connection, mailbox, &places)?;
    for batch in arrived.chunks(BATCH) {
        let read: Vec<_> = batch
            .iter()
            .filter_map(|(place, entry)| Some((place, entry, read(mailbox, place, entry, zone)?)))
            .collect();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (place, entry, message) in &read {
            insert(&transaction, place, entry, message)?;
        }
        transaction.commit()?;
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (dir, stamp) in stamps {
        transaction.execute("INSERT OR REPLACE INTO mail_place VALUES (?1, ?2)", (dir, stamp))?;
    }
    Ok(transaction.commit()?)
}

fn is_changed(connection: &Connection, mailbox: &Path, places: &[MailFolder]) -> Result<bool, Error> {
    let stamps = stamps(connection)?;
    let known: HashSet<_> = places.iter().map(|place| &*place.dir).collect();
    let is_gone = stamps.keys().any(|dir| !known.contains(&**dir));
    let is_other =
        |place: &MailFolder| stamps.get(&place.dir).is_none_or(|stamp| *stamp == 0 || *stamp != place.stamp(mailbox));
    Ok(is_gone || places.iter().any(is_other))
}

fn stamps(connection: &Connection) -> Result<BTreeMap<String, i64>, Error> {
    let mut statement = connection.prepare_cached("SELECT dir, stamp FROM mail_place")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What is to be read, and what to note about each directory once that is done.
struct ReadPlan<'a> {
    arrived: Vec<(&'a MailFolder, MailFile)>,
    stamps: Vec<(String, i64)>,
}

/// A mail as the index knows it.
struct IndexedMail {
    key: i64,
    folder: String,
    name: String,
    stamp: i64,
}

/// Lists the directories that changed, follows what was moved, and drops what is gone.
fn survey<'a>(connection: &mut Connection, mailbox: &Path, places: &'a [MailFolder]) -> Result<ReadPlan<'a>, Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut old = stamps(&transaction)?;
    let mut survey = ReadPlan { arrived: Vec::new(), stamps: Vec::new() };
    let mut missing: HashMap<String, Vec<IndexedMail>> = HashMap::new();
    for place in places {
        let stamp = place.stamp(mailbox);
        if old.remove(&place.dir).is_some_and(|old| old != 0 && old == stamp) {
            continue;
        }
        let mut known = known(&transaction, &place.dir)?;
        for entry in place.messages(mailbox) {
            match known.remove(&entry.id) {
                Some(row) if row.stamp != entry.stamp => {
                    remove(&transaction, row.key)?;
                    survey.arrived.push((place, entry));
                }
                Some(row) => rename(&transaction, &row, place, &entry)?,
                None => survey.arrived.push((place, entry)),
            }
        }
        for (id, row) in known {
            missing.entry(id).or_default().push(row);
        }
        survey.stamps.push((place.dir.clone(), stamp));
    }
    for dir in old.keys() {
        for (id, row) in known(&transaction, dir)? {
            missing.entry(id).or_default().push(row);
        }
        transaction.execute("DELETE FROM mail_place WHERE dir = ?1", [dir])?;
    }
    let mut failed = Ok(());
    survey.arrived.retain(|(place, entry)| {
        let Some(row) = missing.get_mut(&entry.id).and_then(Vec::pop) else { return true };
        // Whom the owner wrote to is known from what was sent: such a mail is read again.
        let stays = place.kind == Kind::Maildir && (place.folder == SENT) == (row.folder == SENT);
        let moved = match stays {
            true => rename(&transaction, &row, place, entry),
            false => remove(&transaction, row.key),
        };
        if let Err(error) = moved {
            failed = Err(error);
        }
        !stays
    });
    failed?;
    for row in missing.values().flatten() {
        remove(&transaction, row.key)?;
    }
    transaction.commit()?;
    Ok(survey)
}

fn known(transaction: &Transaction<'_>, dir: &str) -> Result<HashMap<String, IndexedMail>, Error> {
    let mut statement = transaction.prepare_cached("SELECT id, key, folder, name, stamp FROM mail WHERE dir = ?1")?;
    let rows = statement.query_map([dir], |row| {
        Ok((row.get(0)?, IndexedMail { key: row.get(1)?, folder: row.get(2)?, name: row.get(3)?, stamp: row.get(4)? }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn rename(transaction: &Transaction<'_>, row: &IndexedMail, place: &MailFolder, entry: &MailFile) -> Result<(), Error> {
    if row.name == entry.name && row.folder == place.folder {
        return Ok(());
    }
    // The flags of a mail outside a Maildir stand inside it.
    let flags = (place.kind == Kind::Maildir).then_some(&entry.flags);
    transaction
        .prepare_cached("UPDATE mail SET dir = ?2, name = ?3, folder = ?4, flags = coalesce(?5, flags) WHERE key = ?1")?
        .execute((row.key, &place.dir, &entry.name, &place.folder, flags))?;
    Ok(())
}

fn remove(transaction: &Transaction<'_>, key: i64) -> Result<(), Error> {
    for statement in [
        "DELETE FROM mail WHERE key = ?1",
        "DELETE FROM mail_words WHERE rowid = ?1",
        "DELETE FROM mail_written_to WHERE key = ?1",
    ] {
        transaction.prepare_cached(statement)?.execute([key])?;
    }
    Ok(())
}

/// The mail of an entry, unless its file is gone or closed to us.
fn read(mailbox: &Path, place: &MailFolder, entry: &MailFile, zone: &TimeZone) -> Option<MailMessage> {
    let path = place.path(mailbox);
    let (bytes, meta) = match place.kind {
        Kind::Maildir | Kind::Files => {
            let file = path.join(&entry.name);
            (folder::bytes(&file, HEAD).ok()?, file.metadata().ok()?)
        }
        Kind::Mbox => {
            let raw = mbox::raw(&path, mbox::part(&entry.name)?, HEAD).ok()?;
            // Of a file that was changed meanwhile a part may be another mail's; it is found again when the file is.
            if mbox::stamp(&raw) != entry.stamp {
                return None;
            }
            (mbox::unescaped(&raw), path.metadata().ok()?)
        }
    };
    let mut message = MailMessage::read(&bytes, TEXT, zone);
    message.sent =
        message.sent.or_else(|| arrival(&entry.id)).or_else(|| Timestamp::try_from(meta.modified().ok()?).ok());
    Some(message)
}

/// When a mail came, as the name of its file says by custom.
fn arrival(id: &str) -> Option<Timestamp> {
    let (seconds, _) = id.split_once('.')?;
    let seconds = seconds.parse().ok().filter(|seconds| (400_000_000..4_000_000_000).contains(seconds))?;
    Timestamp::from_second(seconds).ok()
}

fn insert(
    transaction: &Transaction<'_>,
    place: &MailFolder,
    entry: &MailFile,
    message: &MailMessage,
) -> Result<(), Error> {
    let flags = match place.kind {
        Kind::Maildir => &entry.flags,
        Kind::Files | Kind::Mbox => &message.flags,
    };
    let sent = message.sent.map_or(0, Timestamp::as_second);
    let topic = fold(message.topic());
    let json = serde_json::to_string(message).unwrap_or_default();
    let added = transaction
        .prepare_cached(
            "INSERT OR IGNORE INTO mail (id, dir, name, folder, flags, stamp, sent, thread, message_id, in_reply_to,
             sender, topic, message) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(rusqlite::params![
            entry.id,
            place.dir,
            entry.name,
            place.folder,
            flags,
            entry.stamp,
            sent,
            message.message_id,
            message.in_reply_to,
            message.from.address,
            topic,
            json
        ])?;
    if added == 0 {
        return Ok(());
    }
    let key = transaction.last_insert_rowid();
    thread::join(transaction, key, sent, &topic, message)?;
    let who: Vec<_> = std::iter::once(&message.from).chain(message.recipients()).map(ToString::to_string).collect();
    transaction
        .prepare_cached("INSERT INTO mail_words (rowid, who, subject, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute((key, fold(&who.join(" ")), fold(&message.subject), fold(&message.text)))?;
    if place.folder == SENT {
        let mut written = transaction.prepare_cached("INSERT OR IGNORE INTO mail_written_to VALUES (?1, ?2)")?;
        for person in message.recipients() {
            written.execute((&person.address, key))?;
        }
    }
    Ok(())
}
