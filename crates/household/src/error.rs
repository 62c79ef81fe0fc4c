//! The errors of this crate.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// What can go wrong in a household. Where a tool meets it, the sentence is its answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder cannot be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The index cannot be used.
    #[error("the household's index cannot be used: {0}")]
    Index(rusqlite::Error),
    /// The index is damaged.
    #[error(
        "the household's index{} is damaged: {source}. Restore a copy, or move it away: mail, calendars and notes are then \
         read again, and habits begin anew",
        path.as_ref().map_or_else(String::new, |path| format!(" ({})", path.display()))
    )]
    Damaged {
        /// Where it is, as far as that is known.
        path: Option<PathBuf>,
        /// What was found.
        source: rusqlite::Error,
    },
    /// The event log cannot be read.
    #[error("the log cannot be read: {0}")]
    Log(String),
    /// What was asked cannot be done, in a sentence that says what to do instead.
    #[error("{0}")]
    Request(String),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { path: None, source: error },
            _ => Self::Index(error),
        }
    }
}

impl Error {
    /// For `map_err` on whatever touches a file.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    /// The same, with the place of a damaged index.
    pub(crate) fn in_file(self, file: Option<&Path>) -> Self {
        match self {
            Self::Damaged { path: None, source } => Self::Damaged { path: file.map(Path::to_owned), source },
            other => other,
        }
    }

    /// A request that cannot be served.
    pub fn request(sentence: impl Into<String>) -> Self {
        Self::Request(sentence.into())
    }
}
