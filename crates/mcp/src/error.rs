//! What can go wrong with a server, in words for people and models.

use std::sync::Arc;

/// Why a server cannot be used. The words name no values of variables or headers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It could not be started or reached.
    #[error("{0}")]
    Start(String),
    /// It did not answer in time.
    #[error("it did not answer within {0} s")]
    Slow(u64),
    /// It wants a login; its name.
    #[error("it wants a login: run `majordomo mcp login {0}`, or set a token that you have from it in its headers")]
    Login(Arc<str>),
    /// The connection ended while it was used.
    #[error("the connection ended: {0}")]
    Ended(String),
    /// It knows the newest revision of the protocol and does not speak it.
    #[error("it speaks only an earlier revision of the protocol")]
    Older,
    /// It answered with an error of the protocol.
    #[error("{0}")]
    Refused(String),
    /// It was closed with the process that used it.
    #[error("it was closed")]
    Closed,
}
