//! The verbs by which an agent deals with other agents, as the model sees them: few words, small schemas.

use serde_json::{Map, Value, json};

use crate::catalog::Catalog;
use crate::json::Json;
use crate::policy::Policy;
use crate::role::Agent;
use crate::thread::Thread;
use crate::tools::{Reach, ToolInfo};
use crate::verb::Verb;
use crate::vocabulary::operations::shown::operations;

/// A verb as it is advertised to a thread; none if the name is no verb.
pub fn verb(name: &str, thread: &Thread, catalog: &Catalog) -> Option<ToolInfo> {
    let (verb, policy) = (Verb::of(name)?, &*thread.created.policy);
    let (description, schema) = match verb {
        Verb::SpawnAgent => {
            let agents: Vec<&Agent> = catalog.offered(thread).collect();
            (spawn_words(policy, &agents), spawn_schema(policy, &agents))
        }
        Verb::Delegate => (hand_over_words(policy, catalog), hand_over_schema(policy)),
        Verb::DelegateTask => (
            format!(
                "Run up to {} subtasks, each by its own sub-agent, and get one combined report. \
                 Independent ones run in parallel; depends_on passes earlier results on.",
                policy.max_subtasks
            ),
            delegate_schema(),
        ),
        Verb::MessageAgent => (
            "Tell a running background sub-agent something; it reads it at its next step.".to_owned(),
            object(&[("agent", string("its id or name")), ("text", string(""))], &["agent", "text"]),
        ),
        Verb::WaitAgents => (
            "Wait for background sub-agents. Their reports come by themselves; wait only if you have nothing else to do."
                .to_owned(),
            object(
                &[
                    ("agents", json!({"type": "array", "items": {"type": "string"}, "description": "default: all"})),
                    ("any", json!({"type": "boolean", "description": "one is enough"})),
                    ("timeout_s", json!({"type": "number"})),
                ],
                &[],
            ),
        ),
        Verb::StopAgent => (
            "Stop a running sub-agent and get what it has.".to_owned(),
            object(
                &[
                    ("agent", string("its id or name")),
                    ("now", json!({"type": "boolean", "description": "without a last word"})),
                    ("reason", string("")),
                ],
                &["agent"],
            ),
        ),
        Verb::ListAgents => {
            ("List the agents you can spawn and the sub-agents you have.".to_owned(), object(&[], &[]))
        }
        Verb::SpawnAgentTool | Verb::DelegateTaskTool | Verb::ParallelTasksTool => operations(verb, policy)?,
    };
    Some(ToolInfo {
        name: name.into(),
        description: description.into(),
        schema: Json::of(&schema),
        reach: Reach::Own,
        idempotent: false,
        risk: verb.risk(),
    })
}

fn spawn_words(policy: &Policy, agents: &[&Agent]) -> String {
    let mut words = String::from(
        "Give a self-contained task to a sub-agent with its own context; its report is the result. \
         It sees nothing of this conversation, so say all it needs. Not for what one tool call can do.",
    );
    if policy.spawn_args.iter().any(|arg| &**arg == "agent") && !agents.is_empty() {
        words.push_str(" Agents:");
        for agent in agents {
            words.push_str(&format!(" {} ({});", agent.name, agent.description));
        }
        words.pop();
        words.push('.');
    }
    words
}

fn spawn_schema(policy: &Policy, agents: &[&Agent]) -> Value {
    let names: Vec<&str> = agents.iter().map(|agent| &*agent.name).collect();
    let all = [
        ("task", string("what to do, where, and what to report")),
        ("agent", json!({"type": "string", "enum": names})),
        ("name", string("a short name to show")),
        ("scope", string("files or folders to keep to")),
        ("context", string("facts it needs")),
        ("tools", json!({"type": "array", "items": {"type": "string"}, "description": "only these tools"})),
        ("model", string("provider/model")),
        ("mode", json!({"type": "string", "enum": ["plan", "ask", "auto", "dangerous"]})),
        ("max_tool_calls", json!({"type": "integer"})),
        ("max_tokens", json!({"type": "integer"})),
        ("max_cost", json!({"type": "number", "description": "dollars"})),
        ("timeout_s", json!({"type": "number"})),
        ("expected", string("what the report should hold")),
        ("background", json!({"type": "boolean", "description": "go on without waiting"})),
        ("files", json!({"type": "array", "items": {"type": "string"}, "description": "contents to give along"})),
        ("messages", json!({"type": "integer", "description": "share the last N of this conversation"})),
        ("progress", json!({"type": "boolean", "description": "hear what it says meanwhile"})),
    ];
    let shown: Vec<(&str, Value)> =
        all.into_iter().filter(|(name, _)| policy.spawn_args.iter().any(|arg| &**arg == *name)).collect();
    object(&shown, &["task"])
}

fn delegate_schema() -> Value {
    let subtask = object(
        &[
            ("task", string("")),
            ("scope", string("")),
            ("agent", string("")),
            ("depends_on", json!({"description": "0-based index, or a list of them"})),
        ],
        &["task"],
    );
    object(
        &[("plan", string("the overall goal")), ("subtasks", json!({"type": "array", "items": subtask}))],
        &["subtasks"],
    )
}

fn hand_over_words(policy: &Policy, catalog: &Catalog) -> String {
    let mut words =
        String::from("Hand what the user wants to the specialist that the intent leads to; its result comes back.");
    for (intent, name) in &policy.delegates {
        let what = catalog.agent(name).map_or("", |agent| &agent.description);
        words.push_str(&format!("\n- {intent}: {name}. {what}"));
    }
    words
}

fn hand_over_schema(policy: &Policy) -> Value {
    let intents: Vec<&str> = policy.delegates.iter().map(|(intent, _)| &**intent).collect();
    let texts =
        json!({"type": "array", "items": {"type": "string"}, "description": "people, subjects, ids it is about"});
    object(
        &[
            ("intent", json!({"type": "string", "enum": intents})),
            ("task", string("what to do and what to answer, complete in itself")),
            ("relevantEntities", texts),
            ("timeConstraints", string("dates, spans or deadlines, as the user said them")),
            ("delegationReasoning", string("why this specialist, in a sentence")),
        ],
        &["intent", "task", "delegationReasoning"],
    )
}

fn string(description: &str) -> Value {
    if description.is_empty() {
        json!({"type": "string"})
    } else {
        json!({"type": "string", "description": description})
    }
}

fn object(properties: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": required})
}
