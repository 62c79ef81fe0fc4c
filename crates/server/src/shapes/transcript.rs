//! One thread's conversation.

use agent::ThreadId;
use schemars::JsonSchema;
use serde::Serialize;
use view::Entry;

/// One thread's conversation, as a person reads it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Messages {
    /// The thread.
    #[schemars(with = "String")]
    pub id: ThreadId,
    /// Its rows, in order.
    pub entries: Vec<Entry>,
}
