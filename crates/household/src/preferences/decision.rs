//! What the owner decided, as it is kept: one line each, only ever added to.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One decision of the owner's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// When.
    pub at: Timestamp,
    /// What kind of decision.
    pub kind: Kind,
    /// What it was about: a tool, a meeting, a kind of mail.
    #[serde(default)]
    pub subject: String,
    /// What was chosen: a time, a category, a path.
    #[serde(default)]
    pub choice: String,
    /// What else matters to it, such as `from`, `offered`, `after_words` or `sign_off`.
    #[serde(default)]
    pub context: Map<String, Value>,
}

/// The kinds of decisions that something can be learnt from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Yes to what an agent asked for.
    Approve,
    /// No to it.
    Deny,
    /// A draft was changed before it was used.
    DraftEdit,
    /// One of several times was taken.
    SlotChosen,
    /// A mail was put elsewhere than where it had been sorted.
    Retriage,
    /// A result was opened.
    Opened,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::DraftEdit => "draft_edit",
            Self::SlotChosen => "slot_chosen",
            Self::Retriage => "retriage",
            Self::Opened => "opened",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Approve, Self::Deny, Self::DraftEdit, Self::SlotChosen, Self::Retriage, Self::Opened]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}
