//! Ollama's own API (`/api/chat`), streamed as lines of JSON: `map` writes requests, `stream` reads answers, `wire` holds the shapes of
//! both.
//!
//! Ollama has an API for OpenAI's wire as well, which cannot set the size of the context window: a model is then loaded with a small
//! window, and what does not fit is cut off without an error. Here the context window is sent with every request (`num_ctx`), and a
//! request that does not fit is an error (`truncate`, `shift`).
//!
//! Absent: a choice of tools, for which this API has no field. A call that is not allowed is dropped by the rules.

mod map;
mod stream;
mod wire;

pub(crate) use map::{body, holds_to_schema, render};
pub(crate) use stream::Reader;

/// The name under which thoughts are kept.
const WIRE: &str = "ollama";

/// How the ids of calls begin to which the server gave none, as versions before 0.12 do. They are not sent back.
const OWN_ID: &str = "own_call_";
