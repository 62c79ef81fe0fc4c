//! OpenAI chat completions, streamed: `map` writes requests, `stream` reads answers, `wire` holds the shapes of both.
//!
//! Spoken by OpenAI and, with liberties, by most local servers and gateways; reading is as tolerant as it can be
//! without guessing. Reasoning that a server shows beside its answer is not kept: no two servers take it back.

mod map;
mod stream;
mod wire;

pub(crate) use map::{body, render, tool};
pub(crate) use stream::Reader;
