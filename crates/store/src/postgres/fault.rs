//! What PostgreSQL's failures mean to us.

use std::sync::Arc;

use tokio_postgres::error::SqlState;

use crate::error::Error;

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let code = error.code().cloned();
        let cause = std::error::Error::source(&error).map_or_else(String::new, ToString::to_string);
        let words = format!("{error}: {cause}");
        let says_read_only = words.contains("does not allow writes");
        let is_about_a_value =
            words.contains("serializing") || words.contains("column") || words.contains("number of rows");
        let is_statement = error.as_db_error().is_some();
        let source = Arc::new(error);
        let Some(code) = code else {
            // A value that cannot be read or sent is a mistake of ours; all else that has no code is about the connection.
            return match (says_read_only, is_about_a_value) {
                (true, _) => Error::ReadOnly(source),
                (_, true) => Error::Sql(source),
                _ => Error::Io(source),
            };
        };
        match code {
            SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::T_R_SERIALIZATION_FAILURE
            | SqlState::LOCK_NOT_AVAILABLE
            | SqlState::QUERY_CANCELED => Error::Locked(source),
            SqlState::DISK_FULL => Error::Full(source),
            SqlState::READ_ONLY_SQL_TRANSACTION => Error::ReadOnly(source),
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => Error::Login(source),
            SqlState::INVALID_CATALOG_NAME => Error::NoDatabase(source),
            SqlState::INSUFFICIENT_PRIVILEGE => Error::Forbidden(source),
            SqlState::UNDEFINED_TABLE | SqlState::INVALID_SCHEMA_NAME => Error::Uninitialized,
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => Error::Corrupt(source),
            // It stops, starts, has no room for one more connection or no memory, or ended a transaction that was open for too long.
            SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::CANNOT_CONNECT_NOW
            | SqlState::TOO_MANY_CONNECTIONS
            | SqlState::OUT_OF_MEMORY
            | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
            | SqlState::IO_ERROR => Error::Io(source),
            other if other.code().starts_with("08") || other.code().starts_with("57P") => Error::Io(source),
            _ if is_statement => Error::Sql(source),
            _ => Error::Io(source),
        }
    }
}

/// A failure of the system.
pub(super) fn io(error: std::io::Error) -> Error {
    Error::Io(Arc::new(error))
}

/// Whether a transaction was undone because of others, and can be tried again at once.
pub(super) fn is_undone(error: &Error) -> bool {
    let Error::Locked(source) = error else { return false };
    let code = source.downcast_ref::<tokio_postgres::Error>().and_then(tokio_postgres::Error::code);
    matches!(code, Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE))
}
