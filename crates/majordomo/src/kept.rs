//! What holds for the installation, for commands that do not open the store for long; and what earlier
//! versions kept in files beside it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::{InstallationEvent, InstallationState, Location};

use crate::config::{Config, Error};

/// Where state is: a folder of this machine, and the store, which lies in it or in a database.
#[derive(Clone, Debug)]
pub struct StatePlace {
    /// The folder.
    pub folder: PathBuf,
    /// The store.
    pub store: Location,
}

impl StatePlace {
    /// This machine, where several share the store: what was said of a folder holds for that of one machine.
    pub(crate) fn machine(&self) -> Option<Arc<str>> {
        self.store.machine().map(|machine| machine.name)
    }
}

impl From<&Path> for StatePlace {
    /// With the store in the folder.
    fn from(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), store: Location::folder(folder) }
    }
}

impl From<&PathBuf> for StatePlace {
    /// With the store in the folder.
    fn from(folder: &PathBuf) -> Self {
        folder.as_path().into()
    }
}

impl From<&Config> for StatePlace {
    fn from(config: &Config) -> Self {
        Self { folder: config.data.clone(), store: config.store.clone() }
    }
}

impl From<&StatePlace> for StatePlace {
    fn from(place: &StatePlace) -> Self {
        place.clone()
    }
}

/// What holds. Nothing is made where there is no store. Of one that cannot be read nothing holds: the command that opens it says why.
pub(crate) fn installation(place: impl Into<StatePlace>) -> InstallationState {
    store::installation_at(&place.into().store).unwrap_or_else(|error| {
        tracing::debug!(%error, "no trust and no standing consent counts");
        InstallationState::default()
    })
}

/// Writes what happened.
pub(crate) fn record(place: impl Into<StatePlace>, events: Vec<InstallationEvent>) -> Result<(), Error> {
    let (location, now) = (place.into().store, runtime::Clock::default().now());
    store::record_at(&location, events, now).map_err(|source| Error::Store { location: Box::new(location), source })
}

/// Puts a file aside whose content the store has taken over.
pub fn put_aside(file: &Path) -> io::Result<()> {
    match fs::rename(file, file.with_added_extension("taken-over")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        // Another process was first.
        _ => Ok(()),
    }
}
