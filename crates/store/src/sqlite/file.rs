//! The file: made private, opened with care, brought to the schema that this program knows.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use rusqlite_migration::{M, Migrations};
use rustix::fs::StatVfsMountFlags;

use super::{columns, fault, wal};
use crate::error::Error;
use crate::open::{Durability, Options};
use crate::process::Process;

/// Older versions can damage a database in WAL mode when two connections restart the WAL at once.
const OLDEST_SQLITE: i32 = 3_051_003;
/// A WAL that grew larger is cut back to this when it is restarted.
const WAL_BYTES: i64 = 64 << 20;
/// Pages in the WAL after which they are folded into the database. Rows of agents that live are written again and again:
/// the longer they stay in the WAL, the less often each of their pages is copied and flushed.
const WAL_PAGES: i64 = 2048;
/// What the connection that writes may remember of the file, in KiB: the rows and the ends of the indexes of some ten
/// thousand agents at once, which would otherwise be read again for every commit.
const WRITER_CACHE_KIB: i64 = 16 << 10;
/// More than the statements that there are, so that none is ever prepared twice.
const STATEMENTS: usize = 64;
/// How long a process that lost a race for the schema waits before it looks again.
const RACE_WAIT: Duration = Duration::from_millis(5);

const STEPS: &[M<'static>] = &[
    M::up(include_str!("../../migrations/0001_log.sql")),
    M::up(include_str!("../../migrations/0002_approvals.sql")),
    M::up(include_str!("../../migrations/0003_progress.sql")),
    M::up(include_str!("../../migrations/0004_installation.sql")),
    M::up(include_str!("../../migrations/0005_states.sql")),
    M::up(include_str!("../../migrations/0006_answers.sql")),
    M::up(include_str!("../../migrations/0007_threads.sql")),
    M::up(include_str!("../../migrations/0008_boards.sql")),
    M::up(include_str!("../../migrations/0009_workers.sql")),
    M::up(include_str!("../../migrations/0010_ranks.sql")),
];
const MIGRATIONS: Migrations<'static> = Migrations::from_slice(STEPS);
const SCHEMA: u32 = STEPS.len() as u32;
/// What all steps come to. A new file is made by it: the steps make tables anew that others made, which takes five times as long.
const WHOLE: &str = include_str!("../../migrations/whole.sql");

/// Whether the linked SQLite can be trusted.
pub(super) fn check_version(linked: i32) -> Result<(), Error> {
    if linked < OLDEST_SQLITE {
        return Err(Error::Outdated { linked, needed: OLDEST_SQLITE });
    }
    Ok(())
}

/// Makes the folder and an empty file if they are missing, both private, and says where exactly the file is.
pub(super) fn prepare(path: &Path) -> Result<PathBuf, Error> {
    let name = path.file_name().ok_or(Error::Invalid("the path of a database names a file"))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fault::io)?;
    // Links on the way to the folder are the user's own; SQLite is told to follow none, so they are resolved here.
    let path = folder.canonicalize().map_err(fault::io)?.join(name);
    for file in [path.clone(), beside(&path, "-wal"), beside(&path, "-shm"), beside(&path, "-journal")] {
        keep_private(&file)?;
    }
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Ok(_) => Ok(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(path),
        Err(error) => Err(fault::io(error)),
    }
}

/// SQLite's own files lie beside the database and take over its permissions.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Refuses a link, and takes away what others may do with a file that is there.
fn keep_private(file: &Path) -> Result<(), Error> {
    let found = match fs::symlink_metadata(file) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(fault::io(error)),
    };
    if found.is_symlink() {
        return Err(Error::Symlink(file.to_owned()));
    }
    let mode = found.permissions().mode();
    if found.is_file() && mode & 0o077 != 0 {
        fs::set_permissions(file, fs::Permissions::from_mode(mode & 0o700)).map_err(fault::io)?;
    }
    Ok(())
}

/// Opens the one connection that writes, and brings the schema up to date.
pub(super) fn open_writer(path: &Path, options: &Options) -> Result<Connection, Error> {
    let mut connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, options.busy_timeout)?;
    refuse_newer(&connection)?;
    let deadline = Instant::now() + options.busy_timeout;
    // SQLite does not wait by itself for another process that makes the file at the same moment.
    loop {
        match set_up(&mut connection, options) {
            Err(Error::Locked(_)) if Instant::now() < deadline => thread::sleep(RACE_WAIT),
            result => break result?,
        }
    }
    Ok(connection)
}

/// Opens a connection that only looks.
pub(super) fn open_reader(path: &Path, busy_timeout: Duration) -> Result<Connection, Error> {
    open(path, OpenFlags::SQLITE_OPEN_READ_ONLY, busy_timeout)
}

/// Opens a connection that folds the log into the database. It waits for nobody.
pub(super) fn open_to_fold(path: &Path) -> Result<Connection, Error> {
    open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, Duration::ZERO)
}

/// Opens a connection for one look past a store, which makes no file: a database that was closed in good order is read as it lies
/// there, and one whose log is gone is refused, for SQLite would make an empty one in its place.
pub(super) fn open_for_a_look(path: &Path, busy_timeout: Duration) -> Result<Connection, Error> {
    if beside(path, "-wal").exists() {
        return open_reader(path, busy_timeout);
    }
    wal::check(path)?;
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, busy_timeout, true)
}

fn open(path: &Path, access: OpenFlags, busy_timeout: Duration) -> Result<Connection, Error> {
    connect(path, access, busy_timeout, is_set_in_stone(path))
}

/// With `as_it_lies`, SQLite is told that nothing changes: it then needs no files beside the database.
fn connect(path: &Path, access: OpenFlags, busy_timeout: Duration, as_it_lies: bool) -> Result<Connection, Error> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = if as_it_lies {
        Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)?
    } else {
        Connection::open_with_flags(path, flags)?
    };
    connection.busy_timeout(busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Whether nothing can be written where the database lies, and it was closed in good order. SQLite would want to make its
/// files beside it and could not; told that nothing changes, it needs none.
fn is_set_in_stone(path: &Path) -> bool {
    let disk = path.parent().and_then(|folder| rustix::fs::statvfs(folder).ok());
    disk.is_some_and(|disk| disk.f_flag.contains(StatVfsMountFlags::RDONLY)) && !beside(path, "-wal").exists()
}

/// The path as a URI that says so.
fn immutable(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri + "?immutable=1"
}

/// Looks at the schema's number and leaves the file as it is: closing would otherwise fold the WAL into it.
fn refuse_newer(connection: &Connection) -> Result<(), Error> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let found = schema(connection)?;
    if found > SCHEMA {
        return Err(Error::Newer { found, known: SCHEMA });
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

/// Whether a file that may be of an earlier version knows what holds for the installation. One of a later version is refused.
pub(super) fn has_installation(connection: &Connection) -> Result<bool, Error> {
    const SINCE: u32 = 4;
    let found = schema(connection)?;
    if found > SCHEMA {
        return Err(Error::Newer { found, known: SCHEMA });
    }
    Ok(found >= SINCE)
}

fn schema(connection: &Connection) -> Result<u32, Error> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn set_up(connection: &mut Connection, options: &Options) -> Result<(), Error> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES)?;
    connection.pragma_update(None, "wal_autocheckpoint", WAL_PAGES)?;
    // Negative means KiB, positive pages.
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    // A step may make a table anew to which others refer.
    connection.pragma_update(None, "foreign_keys", false)?;
    migrate(connection)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

fn migrate(connection: &mut Connection) -> Result<(), Error> {
    let found = schema(connection)?;
    if found == SCHEMA {
        return Ok(());
    }
    if found == 0 {
        make(connection)?;
    }
    let found = schema(connection)?;
    if found == SCHEMA {
        return Ok(());
    }
    let is_earlier = found > 0;
    if is_earlier && let Some(process) = at_work(connection)? {
        return Err(Error::AtWork(Box::new(process)));
    }
    let failed = match MIGRATIONS.to_latest(connection) {
        Ok(()) => return Ok(()),
        // Of several processes one makes the schema; the others find it made.
        Err(_) if schema(connection)? == SCHEMA => return Ok(()),
        Err(rusqlite_migration::Error::RusqliteError { err, .. }) => err.into(),
        Err(other) => Error::Sql(Arc::new(other)),
    };
    Err(match failed {
        Error::ReadOnly(source) if is_earlier => Error::Earlier(source),
        other => other,
    })
}

/// Makes all tables of a new file, unless another process has done so meanwhile.
fn make(connection: &mut Connection) -> Result<(), Error> {
    let transaction = connection.transaction()?;
    if schema(&transaction)? == 0 {
        transaction.execute_batch(WHOLE)?;
        transaction.pragma_update(None, "user_version", SCHEMA)?;
    }
    Ok(transaction.commit()?)
}

/// A process that works with the file, as it was made by an earlier version: it would know none of the tables any more.
fn at_work(connection: &Connection) -> Result<Option<Process>, Error> {
    let sql = "SELECT id AS process, pid, start_time, host, beat_at, CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now \
               FROM processes";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let now = columns::time(row, "now")?;
        if let Some(owner) = columns::owner(row)?.filter(|owner| owner.is_alive(now)) {
            return Ok(Some(owner.process));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_migrations_are_valid() {
        MIGRATIONS.validate().unwrap();
    }

    #[test]
    fn a_new_file_has_the_tables_that_the_steps_come_to() {
        let mut by_steps = Connection::open_in_memory().unwrap();
        MIGRATIONS.to_latest(&mut by_steps).unwrap();
        let mut at_once = Connection::open_in_memory().unwrap();
        make(&mut at_once).unwrap();
        assert_eq!(schema(&at_once).unwrap(), schema(&by_steps).unwrap());
        let (by_steps, at_once) = (written(&by_steps), written(&at_once));
        for (name, wanted) in &by_steps {
            assert_eq!(
                at_once.get(name),
                Some(wanted),
                "{name} in migrations/whole.sql is not what the steps make of it"
            );
        }
        assert_eq!(at_once.len(), by_steps.len(), "more in migrations/whole.sql than the steps make");
    }

    /// What is in a database, by name: how each table and index is made, without comments and spaces, and how many rows there are.
    fn written(db: &Connection) -> std::collections::BTreeMap<String, (String, i64)> {
        let mut statement = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema").unwrap();
        let rows = statement.query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, Option<String>>(3)?.unwrap_or_default()))
        });
        let found: Vec<(String, String, String, String)> = rows.unwrap().collect::<Result<_, _>>().unwrap();
        let plain = |sql: &str| {
            let lines = sql.lines().map(|line| line.split_once("--").map_or(line, |(before, _)| before));
            lines.collect::<Vec<_>>().join(" ").replace('"', "").split_whitespace().collect::<String>()
        };
        let rows = |kind: &str, name: &str| match kind {
            "table" => db.query_row(&format!("SELECT count(*) FROM '{name}'"), [], |row| row.get(0)).unwrap(),
            _ => 0,
        };
        let each = found
            .iter()
            .map(|(kind, name, table, sql)| (format!("{kind} {name} of {table}"), (plain(sql), rows(kind, name))));
        each.collect()
    }

    // F11
    #[test]
    fn an_earlier_database_that_cannot_be_written_is_told_from_any_other() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("old.db");
        let db = Connection::open(&path).unwrap();
        db.execute_batch(include_str!("../../migrations/0001_log.sql")).unwrap();
        db.pragma_update(None, "user_version", 1).unwrap();
        drop(db);
        let mut db = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let refused = migrate(&mut db).unwrap_err();
        assert!(matches!(refused, Error::Earlier(_)), "{refused:?}");
    }

    // F12
    #[test]
    fn a_sqlite_that_can_damage_databases_is_refused() {
        assert!(matches!(check_version(3_040_001), Err(Error::Outdated { linked: 3_040_001, .. })));
        check_version(rusqlite::version_number()).unwrap();
    }
}
