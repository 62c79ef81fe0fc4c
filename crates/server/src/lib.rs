//! The window: the house over HTTP, live, with a page on which to see who is doing what.
//!
//! A [`Window`] is bound to an address, prints a link by which a person comes in, and serves until it is told to end. What is
//! where:
//!
//! - `access`: who may come in, and that nobody is led here from elsewhere; `connection`: how long and how large a request may be.
//! - `live`: the log as it grows, to many at once (SSE); `routes/`: one file a resource; `problem`: what went wrong, as a document.
//! - `openapi`: routes and the document that tells of them, from one table; [`shapes`]: what goes over the wire, as types.
//! - `page`: the page's files, as they are in the binary.
//!
//! It decides nothing and keeps nothing: messages become inputs of the runtime, and what is shown is folded from the log by the
//! mirror. Closing it never stops a run by itself; what this process drove can be resumed, and is when it is served again.

mod access;
mod connection;
mod live;
mod openapi;
mod page;
mod problem;
mod routes;
pub mod shapes;
mod window;

pub use connection::OPEN_FILES;
pub use window::{Error, Folder, Options, Window};
