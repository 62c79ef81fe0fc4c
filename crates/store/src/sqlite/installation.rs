//! The stream of the installation: its events lie among all others under a key that no thread has, and what is folded from them
//! in a row of its own.

use std::sync::Arc;

use agent::Time;
use rusqlite::{Connection, OptionalExtension, params};

use super::columns::{self, signed, time, unsigned};
use super::write_session::{PendingEvent, WriteSession};
use crate::codec::{self, Encoded};
use crate::error::Error;
use crate::installation::{InstallationEvent, InstallationRecord, State};
use crate::log::Appended;

/// The key of the stream; those of threads begin at 1.
const KEY: i64 = 0;

/// Writes an event, if it changes anything.
pub(super) fn record(
    session: &mut WriteSession,
    event: &InstallationEvent,
    body: &Arc<[Encoded]>,
    at: Time,
) -> Result<Appended, Error> {
    let WriteSession { db, cache, .. } = session;
    cache.flush(db)?;
    let Some(next) = state(db)?.after(event) else { return newest(db) };
    let n = next.n;
    let written = PendingEvent { root: KEY, seq: n, thread: KEY, n, at, bodies: body.clone(), nth: 0 };
    let position = cache.write(db, written)?;
    cache.flush(db)?;
    let text = serde_json::to_string(&next).expect("the state of the installation is JSON");
    db.prepare_cached("REPLACE INTO installation (key, state) VALUES (?1, ?2)")?.execute(params![KEY, text])?;
    Ok(Appended { n, seq: n, position })
}

/// The events after the `after_n`th.
pub(super) fn events(db: &Connection, after_n: u64, limit: usize) -> Result<Vec<InstallationRecord>, Error> {
    let sql =
        "SELECT position, n, at, kind, version, body FROM events WHERE thread = ?1 AND n > ?2 ORDER BY n LIMIT ?3";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![KEY, signed(after_n), i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        let (kind, body): (Arc<str>, Arc<str>) = (row.get("kind")?, row.get("body")?);
        records.push(InstallationRecord {
            position: columns::count(row, "position")?,
            n: columns::count(row, "n")?,
            at: time(row, "at")?,
            event: Arc::new(codec::decode_installation(&kind, row.get("version")?, &body)?),
        });
    }
    Ok(records)
}

/// What holds.
pub(super) fn state(db: &Connection) -> Result<State, Error> {
    let mut statement = db.prepare_cached("SELECT state FROM installation WHERE key = ?1")?;
    let text: Option<String> = statement.query_row([KEY], |row| row.get(0)).optional()?;
    text.map_or_else(
        || Ok(State::default()),
        |text| serde_json::from_str(&text).map_err(|error| Error::Sql(Arc::new(error))),
    )
}

fn newest(db: &Connection) -> Result<Appended, Error> {
    let sql = "SELECT n, position FROM events WHERE thread = ?1 ORDER BY n DESC LIMIT 1";
    let newest = db.prepare_cached(sql)?.query_row([KEY], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (n, position): (i64, i64) = newest.unwrap_or_default();
    Ok(Appended { n: unsigned(n), seq: unsigned(n), position: unsigned(position) })
}

/// How many events there are.
#[cfg(feature = "failpoints")]
pub(super) fn count(db: &Connection) -> Result<u64, Error> {
    newest(db).map(|newest| newest.n)
}
