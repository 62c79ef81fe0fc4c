//! Brings the index of notes up to date with the folder.
//!
//! Each folder has a signature made of the names, sizes and times of its notes; only where that differs are notes compared, and only
//! those that differ are read. Notes are added in batches, each a transaction: another process that does the same at the same time finds
//! them added, and a search in the meantime finds what is in the index so far.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, TransactionBehavior, params};

use super::folder::{Directory, File, Folder, beneath};
use super::parse::parse;
use super::tables::{self, Entry, NoteWriter};
use super::watch::Watch;
use crate::error::Error;
use crate::household::Household;

/// Notes of one transaction.
const BATCH: usize = 1000;

/// What a process knows of folder and index from one use to the next.
#[derive(Default)]
pub(crate) struct IndexState(Mutex<Option<Known>>);

struct Known {
    /// Over the folder, since before it was last looked at.
    watch: Watch,
    /// Of the index at that time: another number means that another process wrote to it.
    data_version: i64,
}

impl Known {
    fn is_current(&self, data_version: i64) -> bool {
        self.data_version == data_version && self.watch.is_quiet()
    }
}

/// Brings the index up to date and hands the folder out, where there is one.
pub(super) fn refresh(household: &Household) -> Result<Option<Folder>, Error> {
    let folder = match &household.options().notes {
        Some(root) => Folder::open(root)?,
        None => None,
    };
    // One at a time: the second caller finds it done.
    let mut lookout = household.notes().0.lock().unwrap_or_else(PoisonError::into_inner);
    let data_version = {
        let connection = household.index().lock();
        tables::prepare(&connection)?;
        connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?
    };
    if folder.is_some() && lookout.as_ref().is_some_and(|known| known.is_current(data_version)) {
        return Ok(folder);
    }
    let mut watch = Watch::begin();
    let mut shelves = Vec::new();
    if let Some(folder) = &folder {
        folder.look_around(|path| watch.over(path), |shelf| shelves.push(shelf));
    }
    compare(household, folder.as_ref(), shelves)?;
    *lookout = folder.is_some().then_some(Known { watch, data_version });
    Ok(folder)
}

fn compare(household: &Household, folder: Option<&Folder>, shelves: Vec<Directory>) -> Result<(), Error> {
    let mut known: HashMap<String, i64> = {
        let connection = household.index().lock();
        let mut rows = connection.prepare_cached("SELECT path, signature FROM note_folder")?;
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?
    };
    for shelf in shelves {
        let is_same = known.remove(&shelf.path) == Some(shelf.signature) && shelf.signature != 0;
        if let Some(folder) = folder.filter(|_| !is_same) {
            bring_up(household, folder, &shelf)?;
        }
    }
    for gone in known.into_keys() {
        // It may have come between the look and this moment, and another process may have seen that.
        if folder.is_some_and(|folder| folder.is_there(&gone)) {
            continue;
        }
        let mut connection = household.index().lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for path in stored(&transaction, &gone)?.into_keys() {
            tables::remove(&transaction, &path)?;
        }
        transaction.execute("DELETE FROM note_folder WHERE path = ?1", [gone])?;
        transaction.commit()?;
    }
    Ok(())
}

/// Brings one folder's notes up to date.
fn bring_up(household: &Household, folder: &Folder, shelf: &Directory) -> Result<(), Error> {
    let mut stored = stored(&household.index().lock(), &shelf.path)?;
    let changed: Vec<&File> = shelf
        .files
        .iter()
        .filter(|file| {
            let found = (file.size, file.stamp_ns);
            stored.remove(&beneath(&shelf.path, &file.name)) != Some(found) || file.stamp_ns == 0
        })
        .collect();
    let now = household.now().timestamp().as_second();
    for files in changed.chunks(BATCH) {
        // Files are read before the index is held, so that others can use it meanwhile.
        let entries: Vec<Entry> = files.iter().map(|file| read(folder, shelf, file)).collect();
        let mut connection = household.index().lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut shelving = NoteWriter::new(&transaction, now);
        for entry in &entries {
            shelving.put(entry)?;
        }
        transaction.commit()?;
    }
    let mut connection = household.index().lock();
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for gone in stored.into_keys().filter(|path| !folder.is_there(path)) {
        tables::remove(&transaction, &gone)?;
    }
    let insert = "INSERT OR REPLACE INTO note_folder VALUES (?1, ?2)";
    transaction.execute(insert, params![shelf.path, shelf.signature])?;
    Ok(transaction.commit()?)
}

/// The notes of a folder that the index knows, with size and time.
fn stored(connection: &Connection, folder: &str) -> Result<HashMap<String, (i64, i64)>, Error> {
    let mut rows = connection.prepare_cached("SELECT path, size, stamp_ns FROM note WHERE folder = ?1")?;
    let rows = rows.query_map([folder], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read(folder: &Folder, shelf: &Directory, file: &File) -> Entry {
    let path = beneath(&shelf.path, &file.name);
    // A note that cannot be read is one that cannot be found. It is looked at again when it changes.
    let parsed = folder.read(&path).ok().flatten().map(|text| parse(&path, &text));
    let File { size, stamp_ns, changed, .. } = *file;
    Entry { path, folder: shelf.path.clone(), size, stamp_ns, changed, parsed }
}
