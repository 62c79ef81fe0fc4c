//! Checks: what must hold before work counts as done. A task and the brief of a sub-agent can carry them.
//!
//! Commands must exit with 0; they are run under the permissions of the agent that did the work. A JSON Schema must be matched by its
//! result. Work whose checks fail is not done: its agent is told what failed and continues, up to a limit.
//!
//! Left to others: running the commands and comparing with the schema (`crates/runtime`), when an agent says that it is done (`turn/finish.rs`
//! for sub-agents, `crates/board` for tasks).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::Json;

/// What must hold before work counts as done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checks {
    /// Commands that must exit with 0, run in the folder of the work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Arc<str>>,
    /// JSON Schema that the result must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
}

impl Checks {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.schema.is_none()
    }
}

/// A command as a person saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The command.
    pub command: Arc<str>,
    /// What it led to: its digest as a call.
    pub digest: Arc<str>,
}

/// The digest of a call that starts sub-agents, with that of each command which is run when they are done.
pub fn with_seen(digest: &str, seen: &[Seen]) -> Arc<str> {
    match serde_json::to_string(seen) {
        Ok(commands) if !seen.is_empty() => format!("{digest}\n{commands}").into(),
        Ok(_) | Err(_) => digest.into(),
    }
}

/// The commands in such a digest, which was approved.
pub fn seen_in(digest: &str) -> Vec<Seen> {
    // The last line is ours: a list in JSON holds no end of a line.
    let commands = digest.rsplit_once('\n').and_then(|(_, commands)| serde_json::from_str(commands).ok());
    commands.unwrap_or_default()
}

/// How often hooks of the person may send an agent back to work. Then its answer is its report all the same.
pub const SENT_BACK: u32 = 3;

/// Whose checks are run when an agent says that it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckedBy {
    /// The commands that the brief of a sub-agent names.
    #[default]
    Brief,
    /// Hooks of the person, which may send the agent back to work.
    Hooks,
}

impl CheckedBy {
    /// Whether they are those of the brief.
    pub fn is_brief(&self) -> bool {
        *self == Self::Brief
    }
}

/// What becomes of work whose checks have failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// Its agent continues. The checks may fail so many times more.
    Again(u32),
    /// They have failed too often.
    GiveUp,
}

/// What becomes of work whose checks have failed `times` times, where they may fail `most` times.
pub fn after_failure(times: u32, most: u32) -> AfterFailure {
    match most.saturating_sub(times) {
        0 => AfterFailure::GiveUp,
        left => AfterFailure::Again(left),
    }
}

/// Why work was given up.
pub fn given_up(times: u32, what: &str) -> String {
    match times {
        1 => format!("its checks failed: {what}"),
        _ => format!("its checks failed {times} times: {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T20
    #[test]
    fn what_a_person_saw_of_the_commands_is_in_the_digest_of_the_start() {
        let seen = |digest: &str| vec![Seen { command: "sh \n\"a\"".into(), digest: digest.into() }];
        let approved = with_seen("spawn_agent\n[]", &seen("one"));
        assert_eq!(seen_in(&approved), seen("one"));
        assert_ne!(approved, with_seen("spawn_agent\n[]", &seen("two")));
        assert_eq!(&*with_seen("a", &[]), "a");
        for other in ["", "a", "a\n", "a\n{}", "[]"] {
            assert!(seen_in(other).is_empty(), "{other}");
        }
    }
}
