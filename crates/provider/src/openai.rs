//! OpenAI chat completions, streamed: `map` writes requests, `stream` reads answers, `thoughts` tells the model's thoughts from its
//! words, `wire` holds the shapes of requests and answers.
//!
//! Spoken by OpenAI and, with liberties, by most local servers and gateways; reading is as tolerant as it can be without guessing.
//! What a server shows of the model's thoughts is kept beside the answer; whether that server wants it back is decided in `compat`.

mod map;
mod stream;
mod thoughts;
mod wire;

pub(crate) use map::{body, render, tool};
pub(crate) use stream::Reader;

/// The name under which thoughts and signatures are kept.
const WIRE: &str = "openai";
