//! Language models over their own wire formats.
//!
//! [`Providers`] holds every configured provider. A thread [opens](Providers::open) a [`Conversation`], tells it what was said,
//! and [asks](Conversation::ask) for one answer at a time. Each call goes through the provider's own streaming wire
//! ([`Wire`]) and comes back whole as `agent::model::Answer`, or as a `CallError` whose kind says what may be done about it.
//!
//! Decoding is free of I/O: bytes go through `sse` or `lines`, `stream_reader` and one folder per dialect, and only `http` knows sockets.
//! A model that lives in this process is a [`Resident`] and has neither wire nor key.
//! One governor per provider and model slows all callers down together ([`GovernorState`]).
//!
//! Deliberately absent: retries (the rules decide them, and log each), the environment (configuration reads it and
//! hands over resolved keys), validation of structured output (the runtime does it), and any framework.

mod answer;
mod anthropic;
mod attached;
mod codec;
mod compat;
mod config;
mod conversation;
mod error;
mod extra;
mod failure;
mod gemini;
mod governor;
mod history;
mod http;
mod learnt;
mod lessons;
pub mod limits;
mod lines;
mod listing;
mod models;
mod names;
mod ollama;
mod openai;
mod opening_cache;
mod providers;
mod resident;
mod responses;
mod schema;
pub mod scripted;
mod secret;
mod settings;
mod sse;
mod stream_reader;
mod template;
mod think_tags;
mod usage;

#[cfg(test)]
mod conformance;
#[cfg(any(test, fuzzing))]
pub mod fuzz_properties;

pub use attached::AttachedBytes;
pub use config::{
    BuiltinProvider, CacheTime, Effort, ModelSettings, ProviderConfig, Timeouts, Wire, builtin_providers,
};
pub use conversation::{Ask, Conversation, Delta, DeltaSink};
pub use error::Error;
pub use governor::{GovernorState, Overrun, Pace};
pub use listing::Listed;
pub use models::{Ability, Dollars, LongDollars, ModelEntry, ModelTable};
pub use providers::{Options, Providers};
pub use resident::{Answering, Heard, Resident, Said};
pub use secret::Secret;
