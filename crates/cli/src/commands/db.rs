//! `majordomo db init`, `status`, `migrate` and `prune`: the database behind the store.

use majordomo::config::Flags;
use majordomo::staff::{Error, location, open_store};
use serde_json::json;
use store::{Address, Location, PostgresStore, ThreadQuery};

use super::configured;
use crate::age::age_ms;
use crate::arguments::DbCommand;
use crate::error::Failure;
use crate::out;

/// Conversations that are looked at together.
const PAGE: usize = 500;

/// `majordomo db`.
pub async fn db(command: DbCommand) -> Result<u8, Failure> {
    match command {
        DbCommand::Init { place } | DbCommand::Migrate { place } => migrate(&place.flags()).await,
        DbCommand::Status { json, place } => status(&place.flags(), json).await,
        DbCommand::Prune { older_than, dry_run, place } => prune(&place.flags(), &older_than, dry_run).await,
    }
}

async fn migrate(flags: &Flags) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let newest = PostgresStore::newest_schema();
    let said = match location(&config) {
        Location::Postgres(address) => match PostgresStore::initialize(&address).map_err(at(&address))? {
            None => format!("{address} is ready, with schema {newest}"),
            Some(found) if found == newest => format!("{address} has schema {newest} already"),
            Some(found) => format!("{address} had schema {found} and has {newest} now"),
        },
        // A file is made and brought up to date whenever it is opened.
        here => {
            open_store(&config)?.close().await;
            format!("{here} is ready")
        }
    };
    out::note(&said);
    Ok(0)
}

/// A failure with the database that failed.
fn at(address: &Address) -> impl Fn(store::Error) -> Error {
    let location = Location::Postgres(address.clone());
    move |source| Error::Store { location: Box::new(location.clone()), source }
}

async fn status(flags: &Flags, as_json: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let mut result = out::Result::Stdout;
    let (object, lines) = match location(&config) {
        Location::Postgres(address) => {
            let status = PostgresStore::status(&address, out::now).map_err(at(&address))?;
            let schema = match status.schema {
                None => "no schema yet: run `majordomo db init`".to_owned(),
                Some(found) if found < status.newest_schema => {
                    format!("schema {found}, this program needs {}: run `majordomo db migrate`", status.newest_schema)
                }
                Some(found) if found > status.newest_schema => {
                    format!("schema {found}, this program knows up to {}: use a newer version", status.newest_schema)
                }
                Some(found) => format!("schema {found}"),
            };
            let lines = vec![
                format!("store     {address}"),
                format!("server    PostgreSQL {}", status.server),
                format!("tables    {schema}"),
                format!("size      {} MB", status.bytes / 1_000_000),
                format!("clock     {} ms ahead of this machine", status.clock_ahead_ms),
            ];
            let object = json!({
                "id": address.to_string(),
                "engine": "postgresql",
                "server": status.server,
                "schema": status.schema,
                "newest_schema": status.newest_schema,
                "can_create": status.can_create,
                "bytes": status.bytes,
                "clock_ahead_ms": status.clock_ahead_ms,
            });
            (object, lines)
        }
        here => {
            let exists = here.exists();
            let state = if exists { "exists" } else { "created by the first run" };
            (
                json!({ "id": here.to_string(), "engine": "sqlite", "exists": exists }),
                vec![format!("store     {here} ({state})")],
            )
        }
    };
    if as_json {
        result.line(&object.to_string())?;
    } else {
        for line in lines {
            result.line(&line)?;
        }
    }
    Ok(0)
}

async fn prune(flags: &Flags, older_than: &str, dry_run: bool) -> Result<u8, Failure> {
    let oldest_ms = age_ms(older_than).ok_or_else(|| {
        Failure::usage("--older-than takes a number with d, h or m behind it, such as 90d".to_owned())
    })?;
    let (_, config) = configured(flags)?;
    let store = open_store(&config)?;
    let (now, mut before, mut old) = (out::now(), None, Vec::new());
    let is_young = |row: &store::ThreadRow| row.state.is_live() || now.since_ms(row.updated_at) < oldest_ms;
    // All are found before the first is deleted: a page begins after the last thread of the one before.
    loop {
        let page = ThreadQuery { root_only: true, before: before.clone(), limit: PAGE, ..ThreadQuery::default() };
        let rows = store.threads(page).await?;
        for row in rows.iter().filter(|row| !is_young(row)) {
            // A conversation is as old as the newest of its threads.
            let family = ThreadQuery { root: Some(row.id.clone()), limit: usize::MAX, ..ThreadQuery::default() };
            let family = store.threads(family).await?;
            if !family.iter().any(is_young) {
                old.push((row.id.clone(), family.iter().map(|row| row.head).sum::<u64>()));
            }
        }
        match rows.last() {
            Some(last) if rows.len() == PAGE => before = Some(last.id.clone()),
            _ => break,
        }
    }
    let mut pruned = 0;
    for (root, seq) in &old {
        if dry_run {
            out::Result::Stdout.line(root.as_str())?;
        } else {
            match store.remove_if(root, Some(*seq), now).await {
                Ok(()) => {}
                // It is not old any more, or not there any more.
                Err(store::Error::Conflict { .. } | store::Error::Owned { .. } | store::Error::UnknownThread(_)) => {
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
        }
        pruned += 1;
    }
    store.close().await;
    let verb = if dry_run { "would be deleted" } else { "were deleted" };
    out::note(&format!("{pruned} conversations older than {older_than} {verb}"));
    Ok(0)
}
