//! Which note a name means, and which notes link to which.
//!
//! A link means a note by its path, by the end of its path, by its title or by one of its other names, in this order; of several
//! the one that lies least deep. That is settled when it is asked, so that a note which comes, goes or is renamed changes
//! what the links of others mean without their being read again.

use rusqlite::{Connection, OptionalExtension};

use super::parse;
use crate::error::Error;

/// The note that a name means, as a link would: its number and path.
pub(super) fn meant(connection: &Connection, name: &str) -> Result<Option<(i64, String)>, Error> {
    let select = "SELECT n.id, n.path FROM note_name m JOIN note n ON n.id = m.note WHERE m.name = ?1
                  ORDER BY m.kind, m.depth, m.note LIMIT 1";
    let mut rows = connection.prepare_cached(select)?;
    Ok(rows.query_row([parse::name(name)], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// How many notes link to one.
pub(super) fn degree(connection: &Connection, note: i64) -> Result<u32, Error> {
    let select = format!("SELECT count(DISTINCT l.source) {LINKS_TO}");
    Ok(connection.prepare_cached(&select)?.query_row([note], |row| row.get(0))?)
}

/// A link from another note.
pub(super) struct Backlink {
    pub path: String,
    pub title: String,
    /// Counted from 1.
    pub line: u32,
}

/// The notes that link to one, by path and line.
pub(super) fn backlinks(connection: &Connection, note: i64, limit: usize) -> Result<Vec<Backlink>, Error> {
    let select = format!(
        "SELECT s.path, s.title, l.line FROM note s JOIN (SELECT DISTINCT l.source, l.line {LINKS_TO}) l ON l.source = s.id
         ORDER BY s.path, l.line LIMIT {limit}"
    );
    let mut rows = connection.prepare_cached(&select)?;
    let rows =
        rows.query_map([note], |row| Ok(Backlink { path: row.get(0)?, title: row.get(1)?, line: row.get(2)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The notes that one links to: under which name, and where that leads.
pub(super) fn links(connection: &Connection, note: i64) -> Result<Vec<(String, Option<String>)>, Error> {
    let mut rows =
        connection.prepare_cached("SELECT DISTINCT target FROM note_link WHERE source = ?1 ORDER BY line")?;
    let targets: Vec<String> = rows.query_map([note], |row| row.get(0))?.collect::<Result<_, _>>()?;
    targets
        .into_iter()
        .map(|target| {
            let path = meant(connection, &target)?.map(|(_, path)| path);
            Ok((target, path))
        })
        .collect()
}

const LINKS_TO: &str = "
    FROM note_name m JOIN note_link l ON l.target = m.name
    WHERE m.note = ?1 AND l.source != ?1
      AND m.note = (SELECT first.note FROM note_name first WHERE first.name = m.name
                    ORDER BY first.kind, first.depth, first.note LIMIT 1)";
