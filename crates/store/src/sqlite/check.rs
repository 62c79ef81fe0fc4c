//! Looks for damage in the database.

use rusqlite::Connection;

use crate::error::Error;
use crate::open::Health;

/// Faults that are listed; where there are more, a person needs no more to know enough.
const MOST_FAULTS: usize = 10;

/// Looks at every page, though not at every index.
pub(super) fn check(db: &Connection) -> Result<Health, Error> {
    let schema: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let mut found = db.prepare(&format!("PRAGMA quick_check({MOST_FAULTS})"))?;
    let found = found.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let faults = found.into_iter().filter(|line| line != "ok").collect();
    let engine = format!("schema {schema}, SQLite {}", rusqlite::version()).into();
    Ok(Health { engine, faults })
}
