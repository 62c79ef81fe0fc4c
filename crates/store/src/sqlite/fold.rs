//! Folds what earlier processes left in the write-ahead log into the database, a moment after the store was opened.
//!
//! A process that ends does not wait for this, so that it ends at once, and its log stays. Opening the database reads the whole log
//! twice: to look for damage (`wal`), and by SQLite, which makes its index of it. So a process that lives for longer than a moment
//! folds a long log, on a thread of its own, while those who write go on. What the process writes itself SQLite folds when it
//! grows long.

use std::path::Path;
use std::thread;
use std::time::Duration;

use super::file;
use super::opened_file::OpenedFile;
use crate::error::Error;

/// A log of so many bytes is long: it takes about a millisecond to read.
const LONG: u64 = 512 << 10;

/// A process that is over by then folds nothing, and what it asks of a model first is not held up.
const MOMENT: Duration = Duration::from_millis(30);

/// Has the log folded later, if it is long.
pub(super) fn later(opened: OpenedFile) {
    let length = file::beside(opened.path(), "-wal").metadata().map_or(0, |log| log.len());
    if length < LONG {
        return;
    }
    let folding = move || {
        thread::sleep(MOMENT);
        // One that fails, because the database is gone or another process folds it too, is left to the next process.
        let _ = opened.check().and_then(|()| fold(opened.path()));
    };
    // Without a thread it is left to the next process too.
    let _ = thread::Builder::new().name("store folder".into()).spawn(folding);
}

/// Folds as much as those who read and write let it, and makes the log empty if nobody uses it at this moment.
fn fold(path: &Path) -> Result<(), Error> {
    let db = file::open_to_fold(path)?;
    for how in ["PASSIVE", "TRUNCATE"] {
        db.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_nobody_uses_is_empty_once_it_is_folded() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.db");
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", "WAL").unwrap();
        writer.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(1 << 20));").unwrap();
        let log = || file::beside(&path, "-wal").metadata().unwrap().len();
        assert!(log() > LONG);
        writer.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1);").unwrap();
        fold(&path).unwrap();
        assert!(log() > LONG, "it is in use");
        writer.execute_batch("COMMIT").unwrap();
        fold(&path).unwrap();
        assert_eq!(log(), 0);
        let rows: i64 = writer.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 2);
    }
}
