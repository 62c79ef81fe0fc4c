//! What a person wants to know of a database that may be unwell: who made it, and whether its pages hang together.

use rusqlite::Connection;

use crate::error::Error;

/// Faults that are listed; where there are more, a person needs no more to know enough.
const MOST_FAULTS: usize = 10;

/// How a database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkup {
    /// The version of its schema.
    pub schema: u32,
    /// The version of SQLite that reads it.
    pub sqlite: &'static str,
    /// What is wrong with it, in SQLite's words; nothing where all is well.
    pub faults: Vec<String>,
}

/// Looks at every page, though not at every index.
pub(super) fn checkup(db: &Connection) -> Result<Checkup, Error> {
    let schema = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let mut found = db.prepare(&format!("PRAGMA quick_check({MOST_FAULTS})"))?;
    let found = found.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let faults = found.into_iter().filter(|line| line != "ok").collect();
    Ok(Checkup { schema, sqlite: rusqlite::version(), faults })
}
