//! Why a command was refused: one sentence for a person or a model. Nothing was changed.

use std::sync::Arc;

/// Why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The sentence.
    pub message: Arc<str>,
    /// Whether what was asked for is wrong in itself; else it cannot be done as the board stands.
    pub is_usage: bool,
}

impl Refusal {
    /// What was asked for is wrong in itself.
    pub fn usage(message: impl Into<Arc<str>>) -> Self {
        Self { message: message.into(), is_usage: true }
    }

    /// It cannot be done as the board stands.
    pub fn state(message: impl Into<Arc<str>>) -> Self {
        Self { message: message.into(), is_usage: false }
    }
}
