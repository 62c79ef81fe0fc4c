//! The household's database: an index of what was read from its folders, and the owner's decisions.
//!
//! Each kind of thing has its own tables, named after it (`mail_…`, `calendar_…`, `note_…`, `pref_…`), and creates them at first use.
//! Index tables of another version are dropped and built again from the files; decisions and preferences are kept from version
//! to version.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};

use crate::error::Error;

/// The household's own file, used by one at a time.
#[derive(Debug)]
pub struct Index(Mutex<Connection>);

impl Index {
    /// Opens the file, or keeps everything in memory where there is none.
    pub fn open(path: Option<&Path>) -> Result<Self, Error> {
        Self::open_file(path).map_err(|error| error.in_file(path))
    }

    fn open_file(path: Option<&Path>) -> Result<Self, Error> {
        let connection = match path {
            Some(path) => {
                let folder = path.parent().unwrap_or(path);
                std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
                Connection::open(path)?
            }
            None => Connection::open_in_memory()?,
        };
        connection.busy_timeout(Duration::from_secs(10))?;
        // What was read from files can be read again; what its owner decided cannot, and must outlast the loss of power. The
        // former goes in by the batch, so that it hardly waits for the disk.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
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
        let known = || {
            let version = "SELECT version FROM kind WHERE name = ?1";
            connection.query_row(version, [kind], |row| row.get::<_, u32>(0)).optional()
        };
        if known()? == Some(version) {
            return Ok(());
        }
        connection.execute_batch("BEGIN IMMEDIATE")?;
        // Another process may have been quicker.
        let made = match known() {
            Ok(Some(there)) if there == version => Ok(()),
            // Tables are dropped because they are of another version, and not because they cannot be read.
            Err(error) => Err(error),
            Ok(_) => connection.execute_batch(drop).and_then(|()| connection.execute_batch(create)).and_then(|()| {
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

    // F7
    #[test]
    fn a_damaged_file_is_named_with_its_cure_and_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("household.db");
        let create =
            "CREATE TABLE note (x); INSERT INTO note SELECT hex(randomblob(2000)) FROM (VALUES (1), (2), (3), (4))";
        let prepare = |index: &Index| Index::prepare(&index.lock(), "note", 1, "DROP TABLE IF EXISTS note", create);
        prepare(&Index::open(Some(&path)).expect("an index")).expect("tables");
        let whole = std::fs::read(&path).expect("the file");
        let shown = path.display().to_string();
        for (at, what) in [(0, "its head"), (4096, "its second page")] {
            let mut damaged = whole.clone();
            damaged[at..at + 100].fill(0x5a);
            std::fs::write(&path, &damaged).expect("a file");
            let error = Index::open(Some(&path)).and_then(|index| prepare(&index)).expect_err(what).to_string();
            assert!(error.contains("is damaged") && error.contains("move it away"), "{what}: {error}");
            assert_eq!(error.contains(&shown), at == 0, "{what}: {error}");
            assert_eq!(std::fs::read(&path).expect("the file"), damaged, "{what}");
        }
    }

    #[test]
    fn tables_are_made_once_and_made_anew_for_another_version() {
        let folder = tempfile::tempdir().expect("a temporary folder");
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
