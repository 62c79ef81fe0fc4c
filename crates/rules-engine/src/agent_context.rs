//! What every agent of the engine is given: the time, the people that the household knows, and the names of its tools.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent::Json;
use provider::Said;
use serde_json::Value;

use super::conversation::CallResult;
use super::intent::Context;
use super::phrases::{DateWords, plain};
use super::speech::Speech;
use super::task::arguments;

/// What an agent is given.
#[derive(Debug)]
pub(super) struct AgentContext {
    pub context: Context,
    pub dates: DateWords,
    pub speech: Speech,
    pub tools: BTreeSet<Arc<str>>,
}

impl AgentContext {
    /// Whether the agent has a tool.
    pub fn can(&self, tool: &str) -> bool {
        self.tools.contains(tool)
    }

    /// Calls a tool, or says that it is not there.
    pub fn call(&self, tool: &'static str, members: Value) -> Said {
        match self.can(tool) {
            true => Said::call(tool, Json::of(&arguments(members))),
            false => Said::text(format!("I would need the tool {tool} for that, and it is not available to me.")),
        }
    }
}

/// What went wrong with a call, for people.
pub(super) fn failed(what: &str, outcome: &CallResult) -> Said {
    Said::text(format!("I could not {what}: {}", plain(&outcome.text, 300)))
}
