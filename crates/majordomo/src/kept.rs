//! What holds for the installation whose store is in a folder, for commands that do not open the store for long; and what earlier
//! versions kept in files beside it.

use std::fs;
use std::io;
use std::path::Path;

use store::{InstallationEvent, InstallationState, Location};

use crate::config::Error;

/// What holds. Nothing is made where there is no store. Of one that cannot be read nothing holds: the command that opens it says why.
pub(crate) fn installation(data: &Path) -> InstallationState {
    store::installation_at(&Location::folder(data)).unwrap_or_else(|error| {
        tracing::debug!(%error, "no trust and no standing consent counts");
        InstallationState::default()
    })
}

/// Writes what happened.
pub(crate) fn record(data: &Path, events: Vec<InstallationEvent>) -> Result<(), Error> {
    let (location, now) = (Location::folder(data), runtime::Clock::default().now());
    store::record_at(&location, events, now).map_err(|source| Error::Store { location, source })
}

/// Puts a file aside whose content the store has taken over.
pub fn put_aside(file: &Path) -> io::Result<()> {
    match fs::rename(file, file.with_added_extension("taken-over")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        // Another process was first.
        _ => Ok(()),
    }
}
