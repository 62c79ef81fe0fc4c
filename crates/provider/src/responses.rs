//! OpenAI Responses, streamed: `map` writes requests, `stream` reads answers, `wire` holds the shapes of both.
//!
//! Nothing is stored at the provider (`store: false`): every request carries the whole conversation. Reasoning comes encrypted, is
//! kept as it is and sent back in its place, and so is every item that only the provider understands.

mod map;
mod stream;
mod wire;

pub(crate) use map::{body, is_thought, render, tool};
pub(crate) use stream::Reader;

/// The name under which opaque items are kept.
const WIRE: &str = "responses";
