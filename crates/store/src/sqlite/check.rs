//! Looks for damage in the database, and for events that are missing or cannot be read.
//!
//! Deliberately absent: a chain of hashes over the events. It would cost every event something, and a program that can change the file
//! could write it anew. A letter that is changed inside a text is therefore not noticed.

use rusqlite::Connection;

use super::columns::unsigned;
use crate::codec;
use crate::error::Error;
use crate::open::Health;

/// Faults that are listed; where there are more, a person needs no more to know enough.
const MOST_FAULTS: usize = 10;

/// Looks at every page, though not at every index, and at every event.
pub(super) fn check(db: &Connection) -> Result<Health, Error> {
    let schema: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let mut found = db.prepare(&format!("PRAGMA quick_check({MOST_FAULTS})"))?;
    let found = found.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let mut faults: Vec<String> = found.into_iter().filter(|line| line != "ok").collect();
    if faults.is_empty() {
        faults = faults_of_log(db)?;
    }
    let engine = format!("schema {schema}, SQLite {}", rusqlite::version()).into();
    Ok(Health { engine, faults })
}

/// Events that are missing or cannot be read, by the numbers that they have in their run.
fn faults_of_log(db: &Connection) -> Result<Vec<String>, Error> {
    let sql = "SELECT r.id, r.seq, e.seq, e.kind, e.version, e.body FROM threads r LEFT JOIN events e ON e.root = r.key \
               WHERE r.root = r.key ORDER BY r.key, e.seq";
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut faults = Vec::new();
    let mut run: Option<Run> = None;
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        if run.as_ref().is_none_or(|run| run.id != id) {
            faults.extend(run.and_then(|run| run.missing_end()));
            run = Some(Run { id, events: unsigned(row.get(1)?), seen: 0 });
        }
        let (Some(run), Some(seq)) = (&mut run, row.get::<_, Option<i64>>(2)?) else { continue };
        let seq = unsigned(seq);
        faults.extend(run.missing_before(seq));
        run.seen = seq;
        let (kind, body): (String, String) = (row.get(3)?, row.get(5)?);
        if let Err(error) = codec::decode(&kind, row.get(4)?, &body) {
            faults.push(format!("run {}: event {seq} cannot be read: {error}", run.id));
        }
        if faults.len() >= MOST_FAULTS {
            return Ok(faults);
        }
    }
    faults.extend(run.and_then(|run| run.missing_end()));
    Ok(faults)
}

/// A run, while its events are counted.
struct Run {
    id: String,
    /// How many there should be.
    events: u64,
    /// The number of the last one that was looked at.
    seen: u64,
}

impl Run {
    fn missing_before(&self, seq: u64) -> Option<String> {
        self.missing(self.seen + 1, seq.saturating_sub(1))
    }

    fn missing_end(&self) -> Option<String> {
        self.missing(self.seen + 1, self.events)
    }

    fn missing(&self, first: u64, last: u64) -> Option<String> {
        match last.checked_sub(first)? {
            0 => Some(format!("run {}: event {first} is missing", self.id)),
            _ => Some(format!("run {}: events {first} to {last} are missing", self.id)),
        }
    }
}
