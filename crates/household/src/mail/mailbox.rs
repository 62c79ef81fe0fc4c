//! Queries on the mailbox: listing, searching, reading single mails and threads.

use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::folder::{self, SENT};
use super::indexing;
use super::message::MailMessage;
use crate::error::Error;
use crate::household::Household;
use crate::notes::stop_words;
use crate::passages::{Term, words_of};
use crate::text::fold;

/// A mail and where it lies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mail {
    /// What a person or a model calls it.
    pub id: String,
    /// The id of the oldest mail of its thread.
    pub thread_id: String,
    pub folder: String,
    /// Letters of a Maildir.
    pub flags: String,
    /// When it was written, or came.
    pub sent: Timestamp,
    /// Its file, or its part of one, relative to the mailbox.
    pub file: PathBuf,
    /// What the index keeps of it.
    pub message: MailMessage,
    thread: i64,
}

impl Mail {
    /// Whether the owner has not seen it.
    pub fn is_unread(&self) -> bool {
        !self.flags.contains('S')
    }
}

/// Which mails are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// One folder, or all but drafts, trash and junk.
    pub folder: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// A piece of the sender's name or address.
    pub from: Option<String>,
    pub unread: Option<bool>,
    /// Words that must be in it; where no mail has all, those that have any.
    pub words: Option<String>,
    /// Beginnings of words, of which one must be in it.
    pub any: Vec<String>,
    /// A piece of the name or address of one of its recipients.
    pub to: Option<String>,
    /// Addresses, of which one must be the sender's.
    pub senders: Vec<String>,
    /// Addresses, of which one must be a recipient's.
    pub recipients: Vec<String>,
    /// Whether the owner answered it.
    pub answered: Option<bool>,
}

/// Characters of a mail's text that are shown.
const TEXT: usize = 20_000;
/// Bytes of a mail that are read to show it.
const BYTES: u64 = 64 * 1024 * 1024;

/// The mailbox of a household, while it is used.
pub(crate) struct Mailbox<'a> {
    index: MutexGuard<'a, Connection>,
    root: &'a Path,
    zone: &'a TimeZone,
    me: &'a [String],
}

impl Household {
    /// The mailbox, brought up to date.
    pub(crate) fn mailbox(&self) -> Result<Mailbox<'_>, Error> {
        let options = self.options();
        let mut index = self.index().lock();
        let root = options.mail.as_deref().unwrap_or(Path::new(""));
        indexing::refresh(&mut index, root, &options.zone)?;
        Ok(Mailbox { index, root, zone: &options.zone, me: &options.me })
    }
}

const COLUMNS: &str =
    "mail.id, (SELECT id FROM mail AS first WHERE first.thread = mail.thread ORDER BY sent, key LIMIT 1),
    folder, flags, sent, dir, name, message, thread";

impl Mailbox<'_> {
    /// Mails, the latest first, and how many there are in all.
    pub fn list(&self, filter: &Filter, limit: usize) -> Result<(Vec<Mail>, usize), Error> {
        let any: Vec<String> = filter.any.iter().flat_map(|word| self::words(word)).take(MOST_BEGINNINGS).collect();
        let words = filter.words.as_deref().map(words).unwrap_or_default();
        match (words.is_empty(), any.is_empty()) {
            (true, true) => return self.search(filter, None, limit),
            (true, false) => return self.search(filter, Some(any.join(" OR ")), limit),
            _ => {}
        }
        let all = self.search(filter, Some(words.join(" ")), limit)?;
        if all.1 > 0 {
            return Ok(all);
        }
        let in_other_words = filter.words.as_deref().map(in_other_words).unwrap_or_default();
        let others = self.search(filter, Some(in_other_words), limit)?;
        match others.1 {
            0 if words.len() > 1 => self.search(filter, Some(words.join(" OR ")), limit),
            _ => Ok(others),
        }
    }

    fn search(&self, filter: &Filter, words: Option<String>, limit: usize) -> Result<(Vec<Mail>, usize), Error> {
        let mut wanted = Wanted::default();
        match &filter.folder {
            Some(folder) => wanted.add("folder = ?", folder.trim().to_owned()),
            None => wanted.conditions.push("folder NOT IN ('drafts', 'trash', 'junk')".to_owned()),
        }
        if let Some(since) = filter.since {
            wanted.add("sent >= ?", since.as_second());
        }
        if let Some(until) = filter.until {
            wanted.add("sent < ?", until.as_second());
        }
        if let Some(unread) = filter.unread {
            wanted.add("(instr(flags, 'S') = 0) = ?", unread);
        }
        if let Some(words) = words {
            wanted.add("key IN (SELECT rowid FROM mail_words WHERE mail_words MATCH ?)", words);
        }
        let Wanted { conditions, values } = wanted;
        let conditions = conditions.join(" AND ");
        let sql = format!("SELECT {COLUMNS} FROM mail WHERE {conditions} ORDER BY sent DESC, key DESC");
        if !filter.looks_inside() {
            let count = format!("SELECT count(*) FROM mail WHERE {conditions}");
            let total =
                self.index.prepare_cached(&count)?.query_row(params_from_iter(&values), |row| row.get::<_, u32>(0))?;
            return Ok((self.rows(&format!("{sql} LIMIT {limit}"), &values)?, total as usize));
        }
        let mut mails = Vec::new();
        for mail in self.rows(&sql, &values)? {
            if filter.fits(&mail)
                && filter.answered.map_or(Ok(true), |is| Ok::<_, Error>(self.is_answered(&mail)? == is))?
            {
                mails.push(mail);
            }
        }
        let total = mails.len();
        mails.truncate(limit);
        Ok((mails, total))
    }

    fn mail(&self, row: &Row<'_>) -> Result<Mail, Error> {
        let message: String = row.get(7)?;
        let sent = Timestamp::from_second(row.get(4)?).unwrap_or(Timestamp::UNIX_EPOCH);
        Ok(Mail {
            id: row.get(0)?,
            thread_id: row.get(1)?,
            folder: row.get(2)?,
            flags: row.get(3)?,
            sent,
            file: Path::new(&row.get::<_, String>(5)?).join(row.get::<_, String>(6)?),
            message: serde_json::from_str(&message).unwrap_or_default(),
            thread: row.get(8)?,
        })
    }

    /// The mail that is called so: exactly, or by a beginning that only one has.
    pub fn find(&self, id: &str) -> Result<Mail, Error> {
        let id = id.trim();
        let exact = format!("SELECT {COLUMNS} FROM mail WHERE id = ?1 ORDER BY folder <> 'inbox', sent DESC LIMIT 1");
        if let Some(mail) = self.rows(&exact, &[id.to_owned().into()])?.pop() {
            return Ok(mail);
        }
        if id.is_empty() {
            return Err(Error::request("say which mail: mail_list shows the ids"));
        }
        let prefix = format!("SELECT {COLUMNS} FROM mail WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2");
        let mut found = self.rows(&prefix, &[id.to_owned().into()])?;
        match (found.pop(), found.pop()) {
            (Some(mail), None) => Ok(mail),
            (Some(one), Some(other)) => {
                Err(Error::request(format!("`{id}` could be {} or {}: say more of it", other.id, one.id)))
            }
            _ => Err(Error::request(format!("there is no mail `{id}`; mail_list shows the ids there are"))),
        }
    }

    fn rows(&self, sql: &str, values: &[Value]) -> Result<Vec<Mail>, Error> {
        let mut statement = self.index.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut mails = Vec::new();
        while let Some(row) = rows.next()? {
            mails.push(self.mail(row)?);
        }
        Ok(mails)
    }

    /// Everything that belongs to a mail's thread, oldest first, and at most the last hundred.
    pub fn thread(&self, mail: &Mail) -> Result<Vec<Mail>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM mail WHERE thread = ?1 ORDER BY sent DESC, key DESC LIMIT 100");
        let mut mails = self.rows(&sql, &[mail.thread.into()])?;
        mails.reverse();
        Ok(mails)
    }

    /// The whole mail, read again from its file.
    pub fn open(&self, mail: &Mail) -> Result<MailMessage, Error> {
        let path = self.path(mail);
        let bytes = folder::bytes(&path, BYTES).map_err(Error::file(&path))?;
        Ok(MailMessage::read(&bytes, TEXT, self.zone))
    }

    /// Its file, or its part of one.
    pub fn path(&self, mail: &Mail) -> PathBuf {
        self.root.join(&mail.file)
    }

    /// The folders, with how many mails each has and when its newest was written.
    pub fn folders(&self) -> Result<Vec<(String, usize, Timestamp)>, Error> {
        let mut statement = self
            .index
            .prepare_cached("SELECT folder, count(*), max(sent) FROM mail GROUP BY folder ORDER BY folder")?;
        let rows = statement.query_map([], |row| {
            let newest = Timestamp::from_second(row.get(2)?).unwrap_or(Timestamp::UNIX_EPOCH);
            Ok((row.get(0)?, row.get::<_, u32>(1)? as usize, newest))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The files of mails that are not in the index: they could not be read.
    pub fn unindexed(&self) -> Result<Vec<String>, Error> {
        let mut known = self.index.prepare_cached("SELECT 1 FROM mail WHERE dir = ?1 AND id = ?2")?;
        let mut missing = Vec::new();
        for place in folder::places(self.root) {
            for file in place.messages(self.root) {
                if !known.exists((&place.dir, &file.id))? {
                    missing.push(place.path(self.root).join(&file.name).display().to_string());
                }
            }
        }
        Ok(missing)
    }

    /// How many mails the owner wrote to an address.
    pub fn written_to(&self, address: &str) -> Result<u32, Error> {
        let mut statement = self.index.prepare_cached("SELECT count(*) FROM mail_written_to WHERE address = ?1")?;
        Ok(statement.query_row([address], |row| row.get(0))?)
    }

    /// Everybody that the owner wrote to.
    pub fn correspondents(&self) -> Result<Vec<String>, Error> {
        let mut statement = self.index.prepare_cached("SELECT DISTINCT address FROM mail_written_to")?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether the owner sent a mail by one of these names.
    pub fn sent_any(&self, names: &[String]) -> Result<bool, Error> {
        let mut statement =
            self.index.prepare_cached("SELECT 1 FROM mail WHERE message_id = ?1 AND folder = ?2 LIMIT 1")?;
        for name in names.iter().filter(|name| !name.is_empty()) {
            if statement.exists((name, SENT))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the owner sent an answer to a mail.
    pub fn is_answered(&self, mail: &Mail) -> Result<bool, Error> {
        let name = &mail.message.message_id;
        let mut statement =
            self.index.prepare_cached("SELECT 1 FROM mail WHERE in_reply_to = ?1 AND folder = ?2 LIMIT 1")?;
        Ok(mail.flags.contains('R') || (!name.is_empty() && statement.exists((name, SENT))?))
    }

    /// The owner's addresses, in lower case: as they were said, or those that most of what was sent came from.
    pub fn me(&self) -> Result<Vec<String>, Error> {
        if !self.me.is_empty() {
            return Ok(self.me.iter().map(|address| address.to_lowercase()).collect());
        }
        let mut statement = self.index.prepare_cached(
            "SELECT sender FROM mail WHERE folder = ?1 AND sender <> '' GROUP BY sender
             HAVING count(*) * 10 >= (SELECT count(*) FROM mail WHERE folder = ?1) ORDER BY count(*) DESC",
        )?;
        let rows = statement.query_map([SENT], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Beginnings of words that one look at the index asks for at most.
const MOST_BEGINNINGS: usize = 120;

/// What was asked for, with each word in any of the glossary's languages.
fn in_other_words(query: &str) -> String {
    let groups = words_of(query).into_iter().filter(|word| !stop_words::is_one(word)).map(|word| {
        let all = Term::new(&word).search_words().into_iter().chain([word]);
        format!("({})", all.flat_map(|word| words(&word)).collect::<Vec<_>>().join(" OR "))
    });
    let groups: Vec<String> = groups.filter(|group| group != "()").take(20).collect();
    match groups.is_empty() {
        true => words(query).join(" "),
        false => groups.join(" AND "),
    }
}

/// What was asked for as words of the index, each as the beginning of one.
fn words(query: &str) -> Vec<String> {
    let spoken = |word: &&str| word.chars().any(char::is_alphanumeric);
    fold(query)
        .split_whitespace()
        .filter(spoken)
        .take(20)
        .map(|word| format!("\"{}\"*", word.replace('"', "\"\"")))
        .collect()
}

impl Filter {
    /// Whether mails themselves have to be looked at, beyond what the index is asked.
    fn looks_inside(&self) -> bool {
        let lists = [&self.senders, &self.recipients];
        self.from.is_some() || self.to.is_some() || self.answered.is_some() || lists.iter().any(|list| !list.is_empty())
    }

    fn fits(&self, mail: &Mail) -> bool {
        let message = &mail.message;
        let is_sender = self.senders.is_empty() || self.senders.contains(&message.from.address);
        let is_recipient =
            self.recipients.is_empty() || message.recipients().any(|one| self.recipients.contains(&one.address));
        is_sender
            && is_recipient
            && self.from.as_ref().is_none_or(|from| is_called(&message.from, from))
            && self.to.as_ref().is_none_or(|to| message.recipients().any(|one| is_called(one, to)))
    }
}

fn is_called(person: &super::address::Person, wanted: &str) -> bool {
    let called = fold(&person.to_string());
    // A short word must begin one: "air" is no part of "Sinclair".
    let is_in = |word: &str| {
        called.match_indices(word).any(|(at, _)| {
            let begins = !called[..at].chars().next_back().is_some_and(char::is_alphanumeric);
            begins || word.chars().count() >= LONGEST_BEGINNING
        })
    };
    fold(wanted).split_whitespace().map(|word| word.trim_matches(['<', '>', ',', '"'])).all(is_in)
}

/// A piece of a name that is at least so long may stand anywhere in it.
const LONGEST_BEGINNING: usize = 5;

/// What rows must be like.
#[derive(Default)]
struct Wanted {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Wanted {
    fn add(&mut self, condition: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        self.conditions.push(condition.replace('?', &format!("?{}", self.values.len())));
    }
}
