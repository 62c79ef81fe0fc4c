//! Opening a store without knowing which kind it is, and asking how it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use agent::Time;
use futures_util::future::BoxFuture;

use crate::boards::Boards;
use crate::error::Error;
use crate::installation::{Installation, InstallationEvent, State};
use crate::lists::Lists;
use crate::log::{Answer, Log};
use crate::memory::MemoryStore;
use crate::ownership::Ownership;
use crate::postgres::{Address, PostgresStore};
use crate::process::Process;
use crate::sqlite::{self, SqliteStore};

/// This machine among those that share a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name, which no other has.
    pub name: Arc<str>,
    /// Whether a path leads to the same folder on all of them.
    pub shares_folders: bool,
}

impl Machine {
    /// A machine of this name; without one it is known by its host name.
    pub fn named(name: Option<&str>, shares_folders: bool) -> Self {
        Self { name: name.map_or_else(|| Process::current().host, Into::into), shares_folders }
    }

    /// The machine to which the folders here belong; none where they are the same on all.
    pub fn of_folders(&self) -> Option<&Arc<str>> {
        (!self.shares_folders).then_some(&self.name)
    }
}

/// All that a store can do.
pub trait Store: Log + Ownership + Lists + Boards + Installation {
    /// This machine, where several share the store; none where the store is of one machine.
    fn machine(&self) -> Option<Machine> {
        None
    }

    /// Opens all that is otherwise opened when it is first needed. After this, however many read at the same time, the store holds
    /// no more file handles than before: a process that accepts connections from clients cannot run out of them here.
    fn prepare(&self) -> Answer<()> {
        Box::pin(async { Ok(()) })
    }

    /// Writes what is queued, closes everything that is open, and refuses all further requests.
    /// Those who follow are told that the store is closed.
    fn close(&self) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }

    /// Looks for damage.
    fn check(&self) -> Answer<Health> {
        Box::pin(async { Ok(Health { engine: "in memory".into(), faults: Vec::new() }) })
    }
}

impl fmt::Debug for dyn Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store")
    }
}

/// How a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// What keeps it, with the versions that matter.
    pub engine: Arc<str>,
    /// What is wrong with it; nothing where all is well.
    pub faults: Vec<String>,
}

/// Where a store is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Nowhere: it is gone with its process.
    Memory,
    /// In a folder of this machine.
    Folder(PathBuf),
    /// In a PostgreSQL database.
    Postgres(Address),
}

impl Location {
    /// A store in this folder.
    pub fn folder(folder: impl Into<PathBuf>) -> Self {
        Location::Folder(folder.into())
    }

    /// This machine, where several share the store; none where the store is of one machine.
    pub fn machine(&self) -> Option<Machine> {
        match self {
            Location::Memory | Location::Folder(_) => None,
            Location::Postgres(address) => Some(address.machine().clone()),
        }
    }

    /// Whether there is a store; opening one that is not there makes it.
    pub fn exists(&self) -> bool {
        match self {
            Location::Memory => false,
            Location::Folder(folder) => sqlite::file_in(folder).exists(),
            // Opening one makes nothing.
            Location::Postgres(_) => true,
        }
    }

    /// Copies a store that may be in use, as a crash at this moment would leave it.
    pub fn copy_to(&self, folder: &Path) -> io::Result<()> {
        match self {
            Location::Memory => Ok(()),
            Location::Folder(from) => sqlite::copy_files(from, folder),
            Location::Postgres(_) => {
                Err(io::Error::new(io::ErrorKind::Unsupported, "a database is copied with pg_dump"))
            }
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Memory => f.write_str("the store in memory"),
            Location::Folder(folder) => sqlite::file_in(folder).display().fmt(f),
            Location::Postgres(address) => address.fmt(f),
        }
    }
}

/// How a store is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What a commit survives.
    pub durability: Durability,
    /// How long a request waits for another process that holds the store, before it fails as [`Error::Locked`].
    pub busy_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { durability: Durability::Full, busy_timeout: Duration::from_secs(5) }
    }
}

/// What a commit survives once it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The loss of power.
    Full,
    /// The death of the process; the last commits before a loss of power may be gone.
    Normal,
}

/// Opens the store at a place, or makes it there; in a database nothing is made ([`PostgresStore::initialize`]).
pub fn open(location: &Location, options: &Options) -> Result<Arc<dyn Store>, Error> {
    Ok(match location {
        Location::Memory => Arc::new(MemoryStore::new()),
        Location::Folder(folder) => Arc::new(SqliteStore::open(sqlite::file_in(folder), options)?),
        Location::Postgres(address) => Arc::new(PostgresStore::open(address, options)?),
    })
}

/// What holds for the installation whose store is at a place, without opening the store: nothing is made there and nothing is
/// written. Nothing holds where there is no store, or one of an earlier version.
pub fn installation_at(location: &Location) -> Result<State, Error> {
    match location {
        Location::Memory => Ok(State::default()),
        Location::Folder(folder) => sqlite::installation_of(&sqlite::file_in(folder)),
        Location::Postgres(address) => PostgresStore::installation_of(address),
    }
}

/// Writes events of the installation to the store at a place, which is opened for that alone and closed again. Blocks until they are
/// written: for commands that do nothing else with the store.
pub fn record_at(location: &Location, events: Vec<InstallationEvent>, at: Time) -> Result<(), Error> {
    let write = || {
        let io = |error: io::Error| Error::Io(Arc::new(error));
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(io)?;
        tokio.block_on(async {
            let store = open(location, &Options::default())?;
            let mut written = Ok(());
            for event in events {
                written = written.and(store.record(event, at).await.map(drop));
            }
            store.close().await;
            written
        })
    };
    // On a thread of its own: the caller may be a task, in which nothing can be waited for.
    std::thread::scope(|scope| scope.spawn(write).join()).unwrap_or(Err(Error::Closed))
}
