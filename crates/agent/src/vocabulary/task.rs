//! The verb `Task` (KATA-1): one sub-agent, of a type, under a short description.
//!
//! A type is a name of `policy.delegates`, which leads to an agent, or the name of an agent itself. Results are those of our own
//! verbs.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::json::Json;
use crate::policy::Policy;
use crate::role::Agent;
use crate::turn::spawn::ChildRequest;
use crate::verb::Verb;
use crate::vocabulary::VerbCall;
use crate::vocabulary::arguments::Arguments;

const EXAMPLE: &str = r#"{"description": "Find exports", "prompt": "Read src/auth.rs and list what it exports", "subagent_type": "general-purpose"}"#;

/// Reads the arguments of `Task`.
pub fn task(policy: &Policy, input: &Json) -> Result<VerbCall, String> {
    let mut arguments = Arguments::read(Verb::Task.name(), EXAMPLE, input)?;
    let request = ChildRequest {
        task: arguments.needed(&["prompt", "task"])?,
        agent: arguments.text(&["subagent_type", "agent"])?.map(|kind| agent_of(policy, kind)),
        name: arguments.text(&["description"])?,
        background: arguments.flag("run_in_background")?,
        ..ChildRequest::default()
    };
    let request = ChildRequest { ignored: arguments.ignored(), ..request };
    Ok(VerbCall::Start { request: Box::new(request), is_temporary: false })
}

/// The agent to which a type leads.
fn agent_of(policy: &Policy, kind: Arc<str>) -> Arc<str> {
    let known = policy.delegates.iter().find(|(name, _)| *name == kind);
    known.map_or(kind, |(_, agent)| agent.clone())
}

/// The description and the schema of `Task` for a model that can start `agents`.
pub fn advertised(policy: &Policy, agents: &[&Agent]) -> (String, Value) {
    let mut words = String::from(
        "Give a self-contained task to a sub-agent with its own context; its report is the result. \
         It sees nothing of this conversation, so say all it needs. Not for what one tool call can do.",
    );
    let types = types(policy, agents);
    if !types.is_empty() {
        let listed: Vec<String> = types.iter().map(|(name, agent)| format!("{name} ({})", agent.description)).collect();
        words.push_str(&format!(" Types: {}.", listed.join("; ")));
    }
    let names: Vec<&str> = types.iter().map(|(name, _)| *name).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "the task in three to five words"},
            "prompt": {"type": "string", "description": "what to do, where, and what to report"},
            "subagent_type": {"type": "string", "enum": names},
            "run_in_background": {"type": "boolean", "description": "go on without waiting"},
        },
        "required": ["description", "prompt", "subagent_type"],
    });
    (words, schema)
}

/// The types that a model reads: those of `policy.delegates` first, then every other agent under its own name.
fn types<'a>(policy: &'a Policy, agents: &[&'a Agent]) -> Vec<(&'a str, &'a Agent)> {
    let named = |name: &str| agents.iter().copied().find(|agent| &*agent.name == name);
    let by_policy = policy.delegates.iter().filter_map(|(kind, agent)| Some((&**kind, named(agent)?)));
    let is_left = |agent: &&&Agent| !policy.delegates.iter().any(|(_, name)| *name == agent.name);
    by_policy.chain(agents.iter().filter(is_left).map(|agent| (&*agent.name, *agent))).collect()
}
