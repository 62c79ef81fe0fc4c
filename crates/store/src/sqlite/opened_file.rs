//! Whether the database is still the file that was opened.
//!
//! A file that is deleted or replaced while it is open can be written to as before, and all of it is gone when the last process
//! closes it. SQLite does not notice. So the name is looked up after each group of commits, before anything is acknowledged,
//! and before each read.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::fault;
use crate::error::Error;

/// The name of a database, and the file that it named when it was opened.
#[derive(Clone, Debug)]
pub(super) struct OpenedFile {
    path: PathBuf,
    file: (u64, u64),
}

impl OpenedFile {
    /// The file of a database that has just been opened for writing. Not looked up before: opening may make another file of it,
    /// where one file system lies over another.
    pub(super) fn of(path: PathBuf) -> Result<Self, Error> {
        let found = fs::symlink_metadata(&path).map_err(fault::io)?;
        Ok(Self { path, file: (found.dev(), found.ino()) })
    }

    /// The name.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Fails if the name is gone, or names another file.
    pub(super) fn check(&self) -> Result<(), Error> {
        let is_same = match fs::symlink_metadata(&self.path) {
            Ok(found) => (found.dev(), found.ino()) == self.file,
            // A name that cannot be looked up for another reason says nothing about the file.
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        };
        if is_same { Ok(()) } else { Err(Error::Gone(self.path.clone())) }
    }
}
