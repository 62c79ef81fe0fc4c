//! The household's own file: what was read from its folders, ready to be searched, and what its owner decided.
//!
//! Each kind of thing keeps its own tables, named after it (`mail_…`, `calendar_…`, `note_…`, `pref_…`), and makes them
//! itself when it is first used. What was read can be read again: an index of another version of its tables is dropped and
//! made anew, and only decisions and preferences are kept from version to version.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::Error;

/// The household's own file, used by one at a time.
#[derive(Debug)]
pub struct Index(Mutex<Connection>);

impl Index {
    /// Opens the file, or keeps everything in memory where there is none.
    pub fn open(path: Option<&Path>) -> Result<Self, Error> {
        let connection = match path {
            Some(path) => {
                let folder = path.parent().unwrap_or(path);
                std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
                Connection::open(path)?
            }
            None => Connection::open_in_memory()?,
        };
        connection.busy_timeout(Duration::from_secs(10))?;
        // What was read from files can be read again, so that losing the last moments to a crash costs nothing.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
        connection
            .execute_batch("CREATE TABLE IF NOT EXISTS kind (name TEXT PRIMARY KEY, version INTEGER NOT NULL)")?;
        Ok(Self(Mutex::new(connection)))
    }

    /// The connection, for as long as the guard lives.
    pub fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the tables of a kind, unless those of this version are there. `drop` takes older ones away.
    pub fn prepare(connection: &Connection, kind: &str, version: u32, drop: &str, create: &str) -> Result<(), Error> {
        let known =
            || connection.query_row("SELECT version FROM kind WHERE name = ?1", [kind], |row| row.get::<_, u32>(0));
        if known().ok() == Some(version) {
            return Ok(());
        }
        connection.execute_batch("BEGIN IMMEDIATE")?;
        // Another process may have been quicker.
        let made = match known() {
            Ok(there) if there == version => Ok(()),
            _ => connection.execute_batch(drop).and_then(|()| connection.execute_batch(create)).and_then(|()| {
                connection.execute("INSERT OR REPLACE INTO kind VALUES (?1, ?2)", (kind, version)).map(|_| ())
            }),
        };
        match made {
            Ok(()) => Ok(connection.execute_batch("COMMIT")?),
            Err(error) => {
                connection.execute_batch("ROLLBACK")?;
                Err(error.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_made_once_and_made_anew_for_another_version() {
        let folder = tempfile::tempdir().expect("a passing folder");
        let index = Index::open(Some(&folder.path().join("own/household.db"))).expect("an index");
        let connection = index.lock();
        let prepare = |version| {
            Index::prepare(&connection, "note", version, "DROP TABLE IF EXISTS note", "CREATE TABLE note (x)")
        };
        let count =
            || connection.query_row("SELECT count(*) FROM note", [], |row| row.get::<_, u32>(0)).expect("a table");
        prepare(1).expect("tables");
        connection.execute("INSERT INTO note VALUES (1)", []).expect("a row");
        prepare(1).expect("nothing to do");
        assert_eq!(count(), 1);
        prepare(2).expect("new tables");
        assert_eq!(count(), 0);
    }
}
