//! A person's word on a question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApprovalStatus, Scope};

/// A person's word on what was shown.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Word {
    /// Whether it may be done; for a question only `deny`: it is not answered.
    pub decision: Option<Verdict>,
    /// The answer to a question (`kind` is `question`), in the place of a decision.
    pub answer: Option<String>,
    /// The digest of what was shown: consent is for that and for nothing else. Needed with a decision on an approval.
    pub digest: Option<String>,
    /// How far consent goes.
    #[serde(default)]
    pub scope: Scope,
    /// Why it is refused, for the agent.
    pub reason: Option<String>,
    /// Other arguments, in the place of the agent's; used exactly as they are written.
    #[schemars(with = "Option<Value>")]
    pub input: Option<agent::Json>,
}

/// Whether it may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may; `yes` and `approve` are understood too.
    #[serde(alias = "yes", alias = "approve")]
    Allow,
    /// It may not; `no` and `reject` are understood too.
    #[serde(alias = "no", alias = "reject")]
    Deny,
}

/// What came of a decision.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Decided {
    /// The question.
    pub id: String,
    /// What has come of it: `decided` where the run has to be resumed first.
    pub status: ApprovalStatus,
    /// The same, as the end of a sentence.
    pub words: String,
}
