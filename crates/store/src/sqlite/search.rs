//! The index of words, and what is found in it. It is brought up to date with the log when it is searched, so that a commit costs nothing
//! more; how far it is, is kept beside it.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent::{ThreadId, Time};
use rusqlite::{Connection, params};

use super::columns::{signed, unsigned};
use super::read;
use super::write_session::WriteSession;
use crate::error::Error;
use crate::search::{self, Found, SearchQuery};

/// Events that are read at once.
const PAGE: usize = 1000;

/// Searches in all that was committed.
pub(super) fn search(session: &mut WriteSession, query: &SearchQuery) -> Result<Vec<Found>, Error> {
    let terms = search::terms(&query.text);
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    session.save()?;
    let db = &session.db;
    catch_up(db)?;
    let last = terms.len() - 1;
    let quoted = terms.iter().enumerate().map(|(at, term)| format!("\"{term}\"{}", if at == last { "*" } else { "" }));
    let quoted = quoted.collect::<Vec<_>>().join(" ");
    let sql = "SELECT t.id, s.at, snippet(search, 0, '', '', '…', 16) FROM search s JOIN threads t ON t.key = s.thread \
               WHERE search MATCH ?1 ORDER BY rank";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([quoted])?;
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    while found.len() < query.limit
        && let Some(row) = rows.next()?
    {
        let thread = ThreadId::new(row.get::<_, Arc<str>>(0)?);
        let excerpt: String = row.get(2)?;
        if seen.insert(thread.clone()) {
            let excerpt = excerpt.split_whitespace().collect::<Vec<_>>().join(" ").into();
            found.push(Found { thread, at: Time(row.get(1)?), excerpt });
        }
    }
    Ok(found)
}

/// Forgets the words of a root and its descendants.
pub(super) fn forget(db: &Connection, root: i64) -> Result<(), Error> {
    let sql = "DELETE FROM search WHERE thread IN (SELECT key FROM threads WHERE root = ?1)";
    db.prepare_cached(sql)?.execute([root])?;
    Ok(())
}

fn catch_up(db: &Connection) -> Result<(), Error> {
    let position: i64 = db.prepare_cached("SELECT position FROM searched")?.query_row([], |row| row.get(0))?;
    let mut position = unsigned(position);
    let mut insert = db.prepare_cached("INSERT INTO search (words, thread, at) VALUES (?1, ?2, ?3)")?;
    loop {
        let page = read::all_events(db, position, PAGE)?;
        let Some(newest) = page.last() else { break };
        position = newest.position;
        for record in &page {
            if let Some(words) = search::words(&record.event) {
                insert.execute(params![words, read::key(db, &record.thread)?, record.at.0])?;
            }
        }
        db.prepare_cached("UPDATE searched SET position = ?1")?.execute([signed(position)])?;
    }
    Ok(())
}
