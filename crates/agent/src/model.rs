//! What the rules know about a language model: its name, its window, its price; and what a call to it comes back with.
//!
//! How a model is reached is the providers' business.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::Part;

/// A model and the figures that limits are computed from. Pinned in the log when a thread is created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// `provider/model`, as on the command line.
    pub name: Arc<str>,
    /// Tokens that fit into one request, answer included.
    pub context_tokens: u64,
    /// The longest answer that is asked for.
    pub max_output_tokens: u64,
    /// What it costs; none when unknown, and then nothing is added to a sum of money.
    pub price: Option<Price>,
    /// How long a request that fails is tried again.
    #[serde(default, skip_serializing_if = "Patience::is_usual")]
    pub patience: Patience,
    /// How much it thinks for this agent, in a word that the providers know; none means as is set for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Arc<str>>,
}

/// How long a request that fails for a time is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience {
    /// Requests after the first, whatever the time.
    pub retries: u32,
    /// From the first failure until no further request is made, where the provider is overloaded or cannot be reached.
    pub retry_ms: u64,
    /// The longest wait that a provider is granted.
    pub longest_wish_ms: u64,
}

impl Default for Patience {
    fn default() -> Self {
        Self { retries: 4, retry_ms: 120_000, longest_wish_ms: 60_000 }
    }
}

impl Patience {
    /// Whether nothing else was configured.
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Model {
    /// Whether it is known what an answer costs: there is a price, or no provider is asked.
    pub fn has_known_cost(&self) -> bool {
        self.price.is_some() || ["builtin/", "scripted/"].iter().any(|inside| self.name.starts_with(inside))
    }
}

/// Prices in millionths of a dollar per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Fresh prompt tokens.
    pub input: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// Prompt tokens written to the provider's cache for an hour; zero where no request asks for that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
    /// Generated tokens.
    pub output: u64,
    /// What a request with a long prompt costs, where that is another price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrice>,
}

/// Prices of a whole request whose prompt is longer than so many tokens, in millionths of a dollar per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongPrice {
    /// The longest prompt that does not cost this.
    pub above_tokens: u64,
    /// Fresh prompt tokens.
    pub input: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// Prompt tokens written to the provider's cache for an hour; zero where no request asks for that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
    /// Generated tokens.
    pub output: u64,
}

impl Price {
    /// The price of a request whose prompt has so many tokens, however it is billed.
    #[must_use]
    pub fn for_prompt(&self, tokens: u64) -> Self {
        match self.long.filter(|long| tokens > long.above_tokens) {
            Some(LongPrice { above_tokens: _, input, cache_read, cache_write, cache_write_1h, output }) => {
                Self { input, cache_read, cache_write, cache_write_1h, output, long: None }
            }
            None => Self { long: None, ..*self },
        }
    }

    /// What the `usage` of one request costs, in millionths of a dollar, rounded up.
    pub fn of(&self, usage: &Tokens) -> u64 {
        self.for_prompt(usage.prompt()).at_one_price(usage)
    }

    fn at_one_price(&self, usage: &Tokens) -> u64 {
        let hour = if self.cache_write_1h == 0 { self.cache_write } else { self.cache_write_1h };
        let minutes = usage.cache_write.saturating_sub(usage.cache_write_1h);
        let sum = u128::from(usage.input) * u128::from(self.input)
            + u128::from(usage.cache_read) * u128::from(self.cache_read)
            + u128::from(minutes) * u128::from(self.cache_write)
            + u128::from(usage.cache_write_1h) * u128::from(hour)
            + u128::from(usage.output) * u128::from(self.output);
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// Tokens of one or many calls. `input` counts only what was neither read from nor written to a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Fresh prompt tokens.
    #[serde(default)]
    pub input: u64,
    /// Prompt tokens read from the provider's cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    #[serde(default)]
    pub cache_write: u64,
    /// How many of those are kept for an hour, which costs more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
    /// Generated tokens, thinking included.
    #[serde(default)]
    pub output: u64,
    /// How many of the generated tokens were thought, where the provider says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Tokens {
    /// The whole prompt, however it was billed.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Prompt and answer.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(&self, other: &Tokens) -> Tokens {
        Tokens {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cache_write_1h: self.cache_write_1h.saturating_add(other.cache_write_1h),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

/// A whole answer of a model, as the providers hand it over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Text, tool calls and opaque blocks, in the order in which the model made them.
    /// A tool call whose arguments were no JSON object is in `malformed` too.
    pub parts: Vec<Part>,
    /// Why the model stopped.
    pub stop: StopReason,
    /// What the provider says was used; none when it said nothing.
    pub tokens: Option<Tokens>,
    /// Calls whose arguments could not be read, with the sentence that says why.
    #[serde(default)]
    pub malformed: Vec<(crate::id::CallId, Arc<str>)>,
    /// The tool of a call that was cut off at `max_tokens` before its arguments were whole. It is not among the parts.
    #[serde(default)]
    pub cut_call: Option<Arc<str>>,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had nothing more to say.
    EndTurn,
    /// It waits for tool results.
    ToolUse,
    /// The answer reached `max_tokens`; the last call may be cut off and is never run.
    MaxTokens,
    /// The model or its provider declined.
    Refusal,
    /// The provider made a pause: the answer goes on when the conversation is sent again as it is.
    Paused,
}

/// Why a call to a model brought no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct CallError {
    /// What kind of failure, which alone decides what is done about it.
    pub kind: CallErrorKind,
    /// One sentence for a person; never holds a key.
    pub message: Arc<str>,
    /// The provider's wish, in milliseconds.
    #[serde(default)]
    pub retry_after_ms: Option<u64>,
    /// Text that had arrived before the failure.
    #[serde(default)]
    pub partial: Option<Arc<str>>,
    /// What the request used, where the provider said so before the answer was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Box<Tokens>>,
    /// Bytes of the answer that had arrived: text, thoughts and arguments; none where it is not known, or where the request may not have
    /// arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<u64>,
    /// How many tokens fit into one request, answer included, where the provider said so because this one did not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<u32>,
}

impl CallError {
    /// A failure of which nothing more is known.
    pub fn new(kind: CallErrorKind, message: impl Into<Arc<str>>) -> Self {
        let message = message.into();
        Self {
            kind,
            message,
            retry_after_ms: None,
            partial: None,
            tokens: None,
            received_bytes: None,
            window_tokens: None,
        }
    }

    /// Whether the provider may have billed for the request although no answer was logged: it had begun to answer, whatever ended the
    /// answer, or it took the request and left it without one.
    pub fn may_be_billed(&self) -> bool {
        let has_begun = self.tokens.is_some() || self.received_bytes.is_some_and(|bytes| bytes > 0);
        has_begun
            || match self.kind {
                CallErrorKind::Truncated | CallErrorKind::Garbled | CallErrorKind::Cancelled => true,
                // Whether a request arrived to which there was no reaction at all is not known.
                CallErrorKind::Connection => self.received_bytes.is_some(),
                CallErrorKind::RateLimited
                | CallErrorKind::Overloaded
                | CallErrorKind::Server
                | CallErrorKind::Auth
                | CallErrorKind::ContextTooLong
                | CallErrorKind::Rejected
                | CallErrorKind::Unsupported => false,
            }
    }
}

/// The kinds of failure of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallErrorKind {
    /// 429: too many requests.
    RateLimited,
    /// 529, 503, or an overload told in the stream.
    Overloaded,
    /// Any other 5xx.
    Server,
    /// Refused, reset, unresolved, timed out before an answer began.
    Connection,
    /// The answer began and did not end as the wire says it must.
    Truncated,
    /// 401 or 403.
    Auth,
    /// The request does not fit the model's window.
    ContextTooLong,
    /// 400 and the like: the same request would fail again.
    Rejected,
    /// The server does not take a part of the request, and the next one is made without it.
    Unsupported,
    /// The answer could not be understood.
    Garbled,
    /// We ended it.
    Cancelled,
}

impl CallErrorKind {
    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited
            | Self::Overloaded
            | Self::Server
            | Self::Connection
            | Self::Truncated
            | Self::Unsupported
            | Self::Garbled => true,
            Self::Auth | Self::ContextTooLong | Self::Rejected | Self::Cancelled => false,
        }
    }

    /// Whether it passes by itself, sooner or later: the provider has too much to do, or cannot be reached.
    pub fn passes(self) -> bool {
        matches!(self, Self::RateLimited | Self::Overloaded | Self::Connection)
    }
}

impl fmt::Display for CallErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RateLimited => "rate limited",
            Self::Overloaded => "overloaded",
            Self::Server => "server error",
            Self::Connection => "no connection",
            Self::Truncated => "answer cut off",
            Self::Auth => "not authorised",
            Self::ContextTooLong => "context too long",
            Self::Rejected => "request rejected",
            Self::Unsupported => "not supported",
            Self::Garbled => "answer not understood",
            Self::Cancelled => "cancelled",
        })
    }
}
