//! What a thread may spend, what is left of it, and what a child can be given.
//!
//! Each run of a thread has the whole grant. Requests, tokens, money and descendants are carved out of the parent's when a child is
//! spawned and flow back with its report.
//! Time and depth are minima. Tool calls are each thread's own.

use serde::{Deserialize, Serialize};

use crate::id::Time;

/// What a thread may spend. `None` is unlimited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Tool calls of this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u32>,
    /// Requests to models, of this thread and its descendants. A request that is tried again counts each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u32>,
    /// Tokens of this thread and its descendants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money of this thread and its descendants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_microusd: Option<u64>,
    /// How long the thread may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// When it must be over, where a parent's own end is nearer than `time_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Time>,
    /// How many levels may stand below it.
    pub depth: u32,
    /// How many descendants it may have, over its life.
    pub descendants: u32,
}

/// A claim on a grant: made before something is done, settled when it is known what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Tokens.
    pub tokens: u64,
    /// Money.
    pub cost_microusd: u64,
    /// Requests to models.
    #[serde(default)]
    pub requests: u32,
    /// How many of the tokens are for the answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answer_tokens: u64,
}

fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

impl Claim {
    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Claim) -> Claim {
        Claim {
            tokens: self.tokens.saturating_add(other.tokens),
            cost_microusd: self.cost_microusd.saturating_add(other.cost_microusd),
            requests: self.requests.saturating_add(other.requests),
            answer_tokens: self.answer_tokens.saturating_add(other.answer_tokens),
        }
    }

    /// The difference of two, never below nothing.
    #[must_use]
    pub fn minus(self, other: Claim) -> Claim {
        Claim {
            tokens: self.tokens.saturating_sub(other.tokens),
            cost_microusd: self.cost_microusd.saturating_sub(other.cost_microusd),
            requests: self.requests.saturating_sub(other.requests),
            answer_tokens: self.answer_tokens.saturating_sub(other.answer_tokens),
        }
    }
}
