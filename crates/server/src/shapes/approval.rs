//! Questions to a person, and the person's word.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Moment;

/// A question to a person, and its status.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// Its name: that of the thread that asks, and a number, such as `20260115-k3f9.1/2`. In an address, `/` is written `%2F`.
    pub id: String,
    /// The call that waits for the answer.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, exactly as they will be used.
    pub input: Value,
    /// What the answer is bound to: tool, arguments, and what they lead to.
    pub digest: String,
    /// The names of the agents from the root to the one who asks.
    pub path: Vec<String>,
    /// The folder it works in.
    pub workspace: String,
    /// The rule or the mode that wants a person to decide.
    pub why: String,
    /// What it would do, in one sentence.
    pub effect: String,
    /// How much to think before saying yes.
    pub risk: Risk,
    /// Protected places that it would change; left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    /// Whether the agent has read untrusted text; left out where it has not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// The pattern that consent for more than once would cover; left out where such consent is not offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// Places for sub-agents that are held until it is answered; left out where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub places: u32,
    /// When it counts as refused.
    pub expires_at: Moment,
    /// The thread that asks.
    pub thread: String,
    /// The root of its family.
    pub root: String,
    /// When it was asked.
    pub requested_at: Moment,
    /// What has come of it.
    pub status: ApprovalStatus,
    /// When it was decided, or came to its end without a decision.
    pub decided_at: Option<Moment>,
    /// Why it ended so.
    pub reason: Option<String>,
}

/// How much a person should think before saying yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Nothing that matters changes.
    Low,
    /// Something changes that can be undone.
    Medium,
    /// Something changes that is hard to undo.
    High,
    /// Something leaves this machine.
    Critical,
}

/// What has come of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// It is not decided.
    Pending,
    /// A decision is in the log, and the thread's owner has not taken it up yet.
    Decided,
    /// A person allowed it.
    Approved,
    /// A person refused it.
    Denied,
    /// A rule refuses it, whatever a person said.
    Forbidden,
    /// It was not decided in time.
    Expired,
    /// There was nobody to ask any more.
    Unanswered,
    /// It was no longer of use.
    Withdrawn,
}

/// A person's word on what was shown.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Word {
    /// Whether it may be done.
    pub decision: Verdict,
    /// The digest of what was shown: consent is for that and for nothing else.
    pub digest: String,
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

/// How far consent goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This call.
    #[default]
    Once,
    /// This thread, for whatever fits the pattern that was shown.
    Thread,
    /// Every thread, by a rule that is written down.
    Always,
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

fn is_zero(number: &u32) -> bool {
    *number == 0
}
