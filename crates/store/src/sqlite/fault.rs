//! What SQLite's failures mean to us, and what is remembered of damage.

use std::sync::{Arc, OnceLock};

use rusqlite::ErrorCode;

use crate::error::Error;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let code = error.sqlite_error_code();
        let source = Arc::new(error);
        match code {
            Some(ErrorCode::DiskFull) => Error::Full(source),
            Some(ErrorCode::ReadOnly) => Error::ReadOnly(source),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                Error::Locked(source)
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Corrupt(source),
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Error::Io(source),
            _ => Error::Sql(source),
        }
    }
}

/// A failure of the file system.
pub(super) fn io(error: std::io::Error) -> Error {
    Error::Io(Arc::new(error))
}

/// Whether damage was seen, or that the file is gone, by whichever connection. What is damaged or gone is not written to.
#[derive(Clone, Debug, Default)]
pub(super) struct Quarantine(Arc<OnceLock<Error>>);

impl Quarantine {
    /// Fails if one of them was seen.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.0.get().map_or(Ok(()), |damage| Err(damage.clone()))
    }

    /// Remembers one of them; of any other failure nothing is remembered.
    pub(super) fn note(&self, error: &Error) {
        if let Error::Corrupt(_) | Error::Gone(_) = error {
            self.0.get_or_init(|| error.clone());
        }
    }
}
