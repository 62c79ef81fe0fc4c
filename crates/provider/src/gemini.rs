//! Gemini `generateContent`, streamed: `map` writes requests, `stream` reads answers, `wire` holds the shapes of both.
//!
//! A part of an answer may be signed (`thoughtSignature`), and the provider wants the signature back with that same part: it is kept
//! beside the part, and parts that only the provider understands are kept whole.

mod map;
mod stream;
mod wire;

pub(crate) use map::{PLACEHOLDER, body, is_thought, render, system, tool};
pub(crate) use stream::Reader;

/// The name under which opaque parts are kept.
const WIRE: &str = "gemini";

/// How the ids of calls begin to which the provider gave none. They are not sent back.
const OWN_ID: &str = "own_call_";
