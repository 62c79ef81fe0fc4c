//! The tables of notes, and how a note is added and removed.
//!
//! The text itself is not stored: the full-text index holds only positions, and what a result shows is read from the file.
//! Words are stored once in a trigram index, which finds parts of words and similar words. Words of removed notes stay in it;
//! they find nothing.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, params};

use super::parse::{self, Parsed};
use super::script::{is_unspaced, spaced, words};
use crate::error::Error;
use crate::index::Index;
use crate::text::fold;

const VERSION: u32 = 1;

/// Makes the tables, unless they are there.
pub(super) fn prepare(connection: &Connection) -> Result<(), Error> {
    Index::prepare(connection, "note", VERSION, DROP, CREATE)
}

const DROP: &str = "
    DROP TABLE IF EXISTS note; DROP TABLE IF EXISTS note_folder; DROP TABLE IF EXISTS note_name;
    DROP TABLE IF EXISTS note_link; DROP TABLE IF EXISTS note_tag; DROP TABLE IF EXISTS note_word;
    DROP TABLE IF EXISTS note_text; DROP TABLE IF EXISTS note_piece;";

const CREATE: &str = "
    CREATE TABLE note (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, folder TEXT NOT NULL,
        size INTEGER NOT NULL, stamp_ns INTEGER NOT NULL, -- as they were when it was read
        dated INTEGER NOT NULL, -- the second of its last change, as far as that is known
        title TEXT NOT NULL, headings TEXT NOT NULL, tags TEXT NOT NULL) STRICT;
    CREATE INDEX note_folder_of ON note (folder);
    CREATE INDEX note_dated ON note (dated);
    CREATE TABLE note_folder (path TEXT PRIMARY KEY, signature INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    -- What a link may call a note; of several with one name, the first in this order is meant.
    CREATE TABLE note_name (
        name TEXT NOT NULL, kind INTEGER NOT NULL, depth INTEGER NOT NULL, note INTEGER NOT NULL,
        PRIMARY KEY (name, kind, depth, note)) STRICT, WITHOUT ROWID;
    CREATE INDEX note_name_note ON note_name (note);
    CREATE TABLE note_link (
        target TEXT NOT NULL, source INTEGER NOT NULL, line INTEGER NOT NULL,
        PRIMARY KEY (target, source, line)) STRICT, WITHOUT ROWID;
    CREATE INDEX note_link_source ON note_link (source);
    CREATE TABLE note_tag (tag TEXT NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (tag, note)) STRICT, WITHOUT ROWID;
    CREATE INDEX note_tag_note ON note_tag (note);
    CREATE VIRTUAL TABLE note_text USING fts5 (
        title, headings, tags, body, content = '', contentless_delete = 1,
        tokenize = 'porter unicode61 remove_diacritics 2');
    INSERT INTO note_text (note_text, rank) VALUES ('rank', 'bm25(8.0, 4.0, 4.0, 1.0)');
    CREATE TABLE note_word (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, length INTEGER NOT NULL) STRICT;
    CREATE VIRTUAL TABLE note_piece USING fts5 (
        word, content = 'note_word', content_rowid = 'id', tokenize = 'trigram remove_diacritics 1');";

/// A note's entry in the folder, with what it says.
pub(super) struct Entry {
    pub path: String,
    pub folder: String,
    pub size: i64,
    pub stamp_ns: i64,
    /// The second of its last change.
    pub changed: i64,
    /// None for a file that is no text: it is remembered, so that it is not read again, and never found.
    pub parsed: Option<Parsed>,
}

/// Puts notes in, one after the other, within one transaction.
pub(super) struct NoteWriter<'a> {
    connection: &'a Connection,
    /// The second at which this is done.
    now: i64,
    /// Words that need not be put in again.
    known: HashSet<String>,
}

impl<'a> NoteWriter<'a> {
    pub(super) fn new(connection: &'a Connection, now: i64) -> Self {
        Self { connection, now, known: HashSet::new() }
    }

    /// Puts a note in, instead of an older version of it. Another process may have been quicker.
    pub(super) fn put(&mut self, entry: &Entry) -> Result<(), Error> {
        let Entry { path, folder, size, stamp_ns, changed, parsed } = entry;
        let there = "SELECT 1 FROM note WHERE path = ?1 AND size = ?2 AND stamp_ns = ?3 AND stamp_ns != 0";
        if self.connection.prepare_cached(there)?.exists(params![path, size, stamp_ns])? {
            return Ok(());
        }
        remove(self.connection, path)?;
        let nothing = Parsed::default();
        let note = parsed.as_ref().unwrap_or(&nothing);
        let (headings, tags) = (note.headings.join("\n"), note.tags.join(" "));
        let insert = "INSERT INTO note (path, folder, size, stamp_ns, dated, title, headings, tags)
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.connection.prepare_cached(insert)?.execute(params![
            path,
            folder,
            size,
            stamp_ns,
            self.dated(note, *changed),
            note.title,
            headings,
            tags,
        ])?;
        if parsed.is_some() {
            self.words(self.connection.last_insert_rowid(), path, note, &headings, &tags)?;
        }
        Ok(())
    }

    fn words(&mut self, id: i64, path: &str, note: &Parsed, headings: &str, tags: &str) -> Result<(), Error> {
        let connection = self.connection;
        // A note is also found by what its file and its folders are called.
        let title = format!("{}\n{}\n{}", note.title, parse::stem(path), note.aliases.join("\n"));
        let tags = format!("{tags} {}", path.rsplit_once('/').map_or("", |(folders, _)| folders));
        let insert = "INSERT INTO note_text (rowid, title, headings, tags, body) VALUES (?1, ?2, ?3, ?4, ?5)";
        let columns = [&*title, headings, &*tags, &*note.body].map(spaced);
        let [title, headings, tags, body] = columns.each_ref().map(|column| &**column);
        connection.prepare_cached(insert)?.execute(params![id, title, headings, tags, body])?;
        for column in [title, headings, tags, body] {
            for word in words(column) {
                self.word(word)?;
            }
        }
        for (name, kind, depth) in names(path, note) {
            let insert = "INSERT OR IGNORE INTO note_name VALUES (?1, ?2, ?3, ?4)";
            connection.prepare_cached(insert)?.execute(params![name, kind, depth, id])?;
        }
        for link in &note.links {
            let insert = "INSERT OR IGNORE INTO note_link VALUES (?1, ?2, ?3)";
            connection.prepare_cached(insert)?.execute(params![link.target, id, link.line as i64])?;
        }
        for tag in &note.tags {
            connection.prepare_cached("INSERT OR IGNORE INTO note_tag VALUES (?1, ?2)")?.execute(params![tag, id])?;
        }
        Ok(())
    }

    /// Remembers a word that people could mean. Numbers are not misspelled, and what is longer than any word is none.
    fn word(&mut self, word: &str) -> Result<(), Error> {
        if word.len() < 3 || word.len() > 60 || !word.starts_with(char::is_alphabetic) || word.starts_with(is_unspaced)
        {
            return Ok(());
        }
        let word = word.to_lowercase();
        if self.known.contains(&word) {
            return Ok(());
        }
        let length = fold(&word).chars().count() as i64;
        let insert = "INSERT OR IGNORE INTO note_word (word, length) VALUES (?1, ?2)";
        if self.connection.prepare_cached(insert)?.execute(params![word, length])? == 1 {
            let insert = "INSERT INTO note_piece (rowid, word) VALUES (?1, ?2)";
            self.connection.prepare_cached(insert)?.execute(params![self.connection.last_insert_rowid(), word])?;
        }
        self.known.insert(word);
        Ok(())
    }

    /// When a note was last changed: as it says itself, else by its birth and its file. A time in the future is ignored.
    fn dated(&self, note: &Parsed, changed: i64) -> i64 {
        let second = |date: &Option<String>| {
            let date: jiff::civil::Date = date.as_deref()?.parse().ok()?;
            Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
        };
        let changed = Some(changed).filter(|changed| *changed <= self.now);
        second(&note.updated).or_else(|| second(&note.created).max(changed)).unwrap_or(0)
    }
}

/// Takes a note out.
pub(super) fn remove(connection: &Connection, path: &str) -> Result<(), Error> {
    let id: Option<i64> = connection
        .prepare_cached("SELECT id FROM note WHERE path = ?1")?
        .query_row([path], |row| row.get(0))
        .optional()?;
    let Some(id) = id else { return Ok(()) };
    for delete in [
        "DELETE FROM note_text WHERE rowid = ?1",
        "DELETE FROM note_name WHERE note = ?1",
        "DELETE FROM note_link WHERE source = ?1",
        "DELETE FROM note_tag WHERE note = ?1",
        "DELETE FROM note WHERE id = ?1",
    ] {
        connection.prepare_cached(delete)?.execute([id])?;
    }
    Ok(())
}

/// What a link may call a note, with the order in which that counts: its path, any end of it, its title, another name.
fn names(path: &str, note: &Parsed) -> Vec<(String, i64, i64)> {
    let whole = parse::name(path);
    let depth = whole.matches('/').count() as i64;
    let ends = whole.match_indices('/').map(|(at, _)| (whole[at + 1..].to_owned(), 1, depth));
    let mut names: Vec<_> = ends.collect();
    names.push((parse::name(&note.title), 2, depth));
    names.extend(note.aliases.iter().map(|alias| (parse::name(alias), 3, depth)));
    names.push((whole, 0, depth));
    names
}
