//! Anthropic Messages, streamed: `map` writes requests, `schema` narrows the schema of an answer to what is accepted, `stream` reads answers, `wire` holds the shapes of both.
//!
//! Blocks that only the provider understands (thinking, its signature, whatever comes next) are kept as they are and
//! sent back in their place.

mod map;
mod schema;
mod stream;
mod wire;

pub(crate) use map::{body, is_thought, render, system, tool};
pub(crate) use stream::Reader;

/// The name under which opaque blocks are kept.
const WIRE: &str = "anthropic";

/// The version of the wire that is spoken here.
pub(crate) const VERSION: &str = "2023-06-01";
