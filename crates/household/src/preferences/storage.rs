//! The tables of decisions and preferences. They are kept when the version of the index changes.
//!
//! A decision is only ever added, never changed. What the owner applied or wants forgotten is one row per key; a forgotten key is learnt
//! again only from later decisions.

use std::path::Path;
use std::time::UNIX_EPOCH;

use rusqlite::{Connection, OptionalExtension, params};

use super::decision::{Decision, Kind};
use super::drafts;
use crate::error::Error;
use crate::index::Index;

const VERSION: u32 = 2;

/// Makes the tables, unless they are there. Nothing is ever dropped: a later version adds to them.
pub(super) fn prepare(connection: &Connection) -> Result<(), Error> {
    Index::prepare(connection, "pref", VERSION, "", &[CREATE, drafts::CREATE].concat())
}

const CREATE: &str = "
    CREATE TABLE IF NOT EXISTS pref_decision (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL,
        choice TEXT NOT NULL, context TEXT NOT NULL,
        line TEXT UNIQUE -- where it was taken from: a file's line or a place in the log, so that none is taken twice
    ) STRICT;
    CREATE TABLE IF NOT EXISTS pref_file (path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS pref_settled (
        key TEXT PRIMARY KEY, value TEXT, confidence REAL NOT NULL DEFAULT 0,
        at TEXT NOT NULL, forgotten_to INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE TABLE IF NOT EXISTS pref_log (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL) STRICT;";

/// What was settled about a key.
#[derive(Clone, Debug)]
pub(super) struct StoredPreference {
    pub key: String,
    /// What was applied; None where it was forgotten.
    pub value: Option<String>,
    /// What it was worth when it was applied.
    pub confidence: f64,
    /// Decisions up to this number no longer speak for the key.
    pub forgotten_to: i64,
}

/// Up to where the log was read.
pub(super) fn position(connection: &Connection) -> Result<u64, Error> {
    let read = connection.query_row("SELECT position FROM pref_log", [], |row| row.get::<_, i64>(0)).optional()?;
    Ok(read.map_or(0, i64::cast_unsigned))
}

/// Notes up to where the log was read.
pub(super) fn advance(connection: &Connection, position: u64) -> Result<(), Error> {
    connection.execute("INSERT OR REPLACE INTO pref_log VALUES (1, ?1)", [position.cast_signed()])?;
    Ok(())
}

/// Adds a decision, unless it was taken from the same place before.
pub(super) fn add(connection: &Connection, decision: &Decision, line: Option<&str>) -> Result<(), Error> {
    let insert = "INSERT OR IGNORE INTO pref_decision (at, kind, subject, choice, context, line) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let Decision { at, kind, subject, choice, context } = decision;
    let context = serde_json::Value::Object(context.clone()).to_string();
    connection.prepare_cached(insert)?.execute(params![
        at.to_string(),
        kind.as_str(),
        subject,
        choice,
        context,
        line
    ])?;
    Ok(())
}

/// All decisions with their numbers, in the order in which they came. A row that cannot be read says nothing.
pub(super) fn decisions(connection: &Connection) -> Result<Vec<(i64, Decision)>, Error> {
    let mut rows =
        connection.prepare_cached("SELECT id, at, kind, subject, choice, context FROM pref_decision ORDER BY id")?;
    let rows = rows.query_map([], |row| {
        let (at, kind, context): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(5)?);
        let decision = at.parse().ok().zip(Kind::named(&kind)).map(|(at, kind)| {
            let context = serde_json::from_str(&context).unwrap_or_default();
            Ok::<_, rusqlite::Error>(Decision { at, kind, subject: row.get(3)?, choice: row.get(4)?, context })
        });
        Ok((row.get(0)?, decision.transpose()?))
    })?;
    let rows: Vec<(i64, Option<Decision>)> = rows.collect::<Result<_, _>>()?;
    Ok(rows.into_iter().filter_map(|(id, decision)| Some((id, decision?))).collect())
}

/// What was settled, by key.
pub(super) fn settled(connection: &Connection) -> Result<Vec<StoredPreference>, Error> {
    let mut rows =
        connection.prepare_cached("SELECT key, value, confidence, forgotten_to FROM pref_settled ORDER BY key")?;
    let rows = rows.query_map([], |row| {
        Ok(StoredPreference {
            key: row.get(0)?,
            value: row.get(1)?,
            confidence: row.get(2)?,
            forgotten_to: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Settles that a preference holds.
pub(super) fn apply(connection: &Connection, key: &str, value: &str, confidence: f64, at: &str) -> Result<(), Error> {
    let insert = "INSERT INTO pref_settled (key, value, confidence, at) VALUES (?1, ?2, ?3, ?4)
                  ON CONFLICT (key) DO UPDATE SET value = ?2, confidence = ?3, at = ?4";
    connection.execute(insert, params![key, value, confidence, at])?;
    Ok(())
}

/// Settles that a preference does not hold, whatever was decided so far.
pub(super) fn forget(connection: &Connection, key: &str, at: &str) -> Result<(), Error> {
    let insert = "INSERT INTO pref_settled (key, value, at, forgotten_to)
                  VALUES (?1, NULL, ?2, (SELECT coalesce(max(id), 0) FROM pref_decision))
                  ON CONFLICT (key) DO UPDATE SET value = NULL, confidence = 0, at = ?2, forgotten_to = excluded.forgotten_to";
    connection.execute(insert, params![key, at])?;
    Ok(())
}

/// The most that is read of a file of decisions.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Takes decisions from a file of one JSON object a line, each line once. A line that cannot be read is passed over.
pub(super) fn import(connection: &Connection, path: &Path) -> Result<(), Error> {
    let Ok(metadata) = std::fs::metadata(path) else { return Ok(()) };
    let mtime = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let found = (metadata.len().cast_signed(), mtime.map_or(0, |mtime| mtime.as_nanos() as i64));
    let name = path.display().to_string();
    let select = "SELECT size, mtime_ns FROM pref_file WHERE path = ?1";
    let known = connection.query_row(select, [&name], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    if known == Some(found) || !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Ok(());
    }
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    for line in text.lines().map(str::trim) {
        if let Ok(decision) = serde_json::from_str(line) {
            add(connection, &decision, Some(line))?;
        }
    }
    connection.execute("INSERT OR REPLACE INTO pref_file VALUES (?1, ?2, ?3)", params![name, found.0, found.1])?;
    Ok(())
}
