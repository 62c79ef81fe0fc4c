//! The tables: made and brought up to date on request, by one process at a time.
//!
//! Opening a store makes nothing. A database is made ready by `majordomo db init`, once, by a role that may create a schema in it.

use super::connection::Link;
use crate::error::Error;

/// The schema of the database in which all tables lie.
pub(super) const NAME: &str = "majordomo";

/// The lock under which the tables are changed.
const LOCK: i64 = 0x6d61_6a6f_7264_6f01;

const STEPS: &[&str] = &[
    include_str!("../../migrations/postgres/0001_log.sql"),
    include_str!("../../migrations/postgres/0002_machines.sql"),
];

/// The newest schema that this program knows.
pub(super) const NEWEST: u32 = STEPS.len() as u32;

/// The oldest PostgreSQL that will do.
const OLDEST_SERVER: i32 = 150_000;

/// The number of the schema in the database; none where there is none.
pub(super) async fn found(link: &Link) -> Result<Option<u32>, Error> {
    let is_there = "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                    WHERE n.nspname = 'majordomo' AND c.relname = 'schema_version'";
    if link.first(is_there, &[]).await?.is_none() {
        return Ok(None);
    }
    let version: i32 = link.one("SELECT version FROM majordomo.schema_version", &[]).await?.get(0);
    Ok(Some(u32::try_from(version).unwrap_or(0)))
}

/// Fails unless the tables are those that this program knows.
pub(super) async fn check(link: &Link) -> Result<(), Error> {
    check_server(link).await?;
    match found(link).await? {
        None => Err(Error::Uninitialized),
        Some(found) if found > NEWEST => Err(Error::Newer { found, known: NEWEST }),
        Some(found) if found < NEWEST => Err(Error::Outgrown { found, needed: NEWEST }),
        Some(_) => Ok(()),
    }
}

/// Makes the tables, or brings them up to date. The answer is the number that was found before; none where there was none.
pub(super) async fn migrate(link: &Link) -> Result<Option<u32>, Error> {
    check_server(link).await?;
    link.batch("BEGIN").await?;
    let migrated = steps(link).await;
    link.batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    migrated
}

async fn steps(link: &Link) -> Result<Option<u32>, Error> {
    link.query("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let before = found(link).await?;
    let version = before.unwrap_or(0);
    if version > NEWEST {
        return Err(Error::Newer { found: version, known: NEWEST });
    }
    if before.is_none() {
        link.batch(
            "CREATE SCHEMA IF NOT EXISTS majordomo; CREATE TABLE majordomo.schema_version (version INTEGER NOT NULL); \
             INSERT INTO majordomo.schema_version (version) VALUES (0)",
        )
        .await?;
    }
    for step in STEPS.iter().skip(version as usize) {
        link.batch(step).await?;
    }
    let newest = i32::try_from(NEWEST).unwrap_or(i32::MAX);
    link.execute("UPDATE majordomo.schema_version SET version = $1", &[&newest]).await?;
    Ok(before)
}

async fn check_server(link: &Link) -> Result<(), Error> {
    let version: i32 = link.one("SELECT current_setting('server_version_num')::integer", &[]).await?.get(0);
    if version < OLDEST_SERVER {
        return Err(Error::OldServer { found: version / 10_000, needed: OLDEST_SERVER / 10_000 });
    }
    Ok(())
}
