//! The HTTP API, live events and the web page.
//!
//! A [`Server`] is bound to an address, has a link by which a person signs in, and serves until it is told to end. What is
//! where:
//!
//! - `access`: who may use it, and that no other site uses a person's browser; `connection`: how long and how large a request may be.
//! - `live`: the log as it grows, to many at once (SSE); `routes/`: one file a resource; `problem`: what went wrong, as a document.
//! - `openapi`: routes and the document that describes them, from one table; [`shapes`]: what goes over the wire, as types.
//! - `page`: the page's files, as they are in the binary.
//!
//! It decides nothing and keeps nothing: messages go to a session, and what is shown is folded from the log by `view`. Closing it never stops a run by itself; what this process drove can be resumed, and is when it is served again.

mod access;
mod connection;
mod live;
mod openapi;
mod page;
mod problem;
mod routes;
mod server;
pub mod shapes;

pub use connection::OPEN_FILES;
pub use server::{DataLock, Error, Options, Server};
