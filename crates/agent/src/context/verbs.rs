//! The verbs by which an agent deals with other agents, as the model sees them: few words, small schemas.
//!
//! A verb is looked up for each of its calls, and every thread advertises all of its verbs. So a schema that is always the same is
//! made once, and that of `spawn_agent` once for all threads that are shown the same (`ShownSpawn`).

use std::sync::{Arc, LazyLock, OnceLock};

use serde_json::{Map, Value, json};

use crate::catalog::Catalog;
use crate::json::Json;
use crate::policy::Policy;
use crate::role::Agent;
use crate::thread::Thread;
use crate::tools::{Reach, ToolInfo};
use crate::verb::Verb;
use crate::vocabulary::operations::shown::operations;
use crate::vocabulary::task;

/// A verb as it is advertised to a thread; none if the name is no verb.
pub fn verb(name: &str, thread: &Thread, catalog: &Catalog) -> Option<ToolInfo> {
    let (verb, policy) = (Verb::of(name)?, &*thread.created.policy);
    let (description, schema) = match verb {
        Verb::SpawnAgent => return Some(catalog.shown_spawn.of(thread, catalog)),
        Verb::Delegate => (hand_over_words(policy, catalog), Json::of(&hand_over_schema(policy))),
        Verb::DelegateTask => (
            format!(
                "Run up to {} subtasks, each by its own sub-agent, and get one combined report. \
                 Independent ones run in parallel; depends_on passes earlier results on.",
                policy.max_subtasks
            ),
            DELEGATE_TASK.clone(),
        ),
        Verb::MessageAgent => (
            "Tell a running sub-agent something, or ask a finished one more: its new report is the result.".to_owned(),
            MESSAGE_AGENT.clone(),
        ),
        Verb::WaitAgents => (
            "Wait for background sub-agents. Their reports come by themselves; wait only if you have nothing else to do."
                .to_owned(),
            WAIT_AGENTS.clone(),
        ),
        Verb::StopAgent => (
            "Stop a running sub-agent and get what it has.".to_owned(),
            STOP_AGENT.clone(),
        ),
        Verb::ListAgents => {
            ("List the agents you can spawn and the sub-agents you have.".to_owned(), LIST_AGENTS.clone())
        }
        Verb::SpawnAgentTool | Verb::DelegateTaskTool | Verb::ParallelTasksTool => {
            let (words, schema) = operations(verb, policy)?;
            (words, Json::of(&schema))
        }
        Verb::Task => {
            let (words, schema) = task::advertised(policy, &catalog.offered(thread).collect::<Vec<_>>());
            (words, Json::of(&schema))
        }
    };
    Some(info(verb, name.into(), description.into(), schema))
}

fn info(verb: Verb, name: Arc<str>, description: Arc<str>, schema: Json) -> ToolInfo {
    ToolInfo { name, description, schema, reach: Reach::Own, idempotent: false, risk: verb.risk() }
}

/// `spawn_agent` as it is advertised, once it was put together. What is shown depends on the policy, on the agents that are offered and on
/// whether there are servers to choose from; few kinds of threads are alive at once, mostly a root and those below it. A thread of one
/// more kind has it put together anew each time.
///
/// What is remembered follows from what it is compared by, so that two catalogues are equal whatever they remember.
#[derive(Debug, Default)]
pub struct ShownSpawn([OnceLock<Spawn>; SHOWN_SPAWNS]);

/// Kinds of threads for which it is remembered.
const SHOWN_SPAWNS: usize = 4;

#[derive(Debug)]
struct Spawn {
    policy: Arc<Policy>,
    /// Names and descriptions.
    agents: Vec<(Arc<str>, Arc<str>)>,
    has_servers: bool,
    info: ToolInfo,
}

impl ShownSpawn {
    fn of(&self, thread: &Thread, catalog: &Catalog) -> ToolInfo {
        let policy = &thread.created.policy;
        let has_servers = thread.tools.names().iter().any(|tool| catalog.servers.contains_key(tool));
        let is_same = |known: &Spawn| {
            (Arc::ptr_eq(&known.policy, policy) || known.policy == *policy)
                && known.has_servers == has_servers
                && catalog
                    .offered(thread)
                    .map(|agent| (&agent.name, &agent.description))
                    .eq(known.agents.iter().map(|(name, words)| (name, words)))
        };
        let known = self.0.iter().map_while(OnceLock::get).find(|known| is_same(known));
        if let Some(known) = known {
            return known.info.clone();
        }
        let agents: Vec<&Agent> = catalog.offered(thread).collect();
        let words = spawn_words(policy, &agents).into();
        let info = info(Verb::SpawnAgent, "spawn_agent".into(), words, spawn_schema(policy, &agents, has_servers));
        let agents = agents.into_iter().map(|agent| (agent.name.clone(), agent.description.clone())).collect();
        if let Some(free) = self.0.iter().find(|place| place.get().is_none()) {
            // Another thread of the process may have taken the place meanwhile: then this one is put together anew the next time.
            let _ = free.set(Spawn { policy: policy.clone(), agents, has_servers, info: info.clone() });
        }
        info
    }
}

impl Clone for ShownSpawn {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for ShownSpawn {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for ShownSpawn {}

static DELEGATE_TASK: LazyLock<Json> = LazyLock::new(|| Json::of(&delegate_schema()));

static MESSAGE_AGENT: LazyLock<Json> = LazyLock::new(|| {
    let background = json!({"type": "boolean"});
    let properties = [("agent", string("its id or name")), ("text", string("")), ("background", background)];
    Json::of(&object(&properties, &["agent", "text"]))
});

static WAIT_AGENTS: LazyLock<Json> = LazyLock::new(|| {
    let properties = [
        ("agents", json!({"type": "array", "items": {"type": "string"}, "description": "default: all"})),
        ("any", json!({"type": "boolean", "description": "one is enough"})),
        ("timeout_s", json!({"type": "number"})),
    ];
    Json::of(&object(&properties, &[]))
});

static STOP_AGENT: LazyLock<Json> = LazyLock::new(|| {
    let properties = [
        ("agent", string("its id or name")),
        ("now", json!({"type": "boolean", "description": "without a last word"})),
        ("reason", string("")),
    ];
    Json::of(&object(&properties, &["agent"]))
});

static LIST_AGENTS: LazyLock<Json> = LazyLock::new(|| Json::of(&object(&[], &[])));

/// The arguments of `spawn_agent` in the order of their names, each with its schema as text, but for `agent`, whose schema names
/// the agents.
static SPAWN_AGENT: LazyLock<Vec<(&'static str, String)>> = LazyLock::new(|| {
    let mut all: Vec<(&str, String)> =
        spawn_properties(&[]).into_iter().map(|(name, schema)| (name, schema.to_string())).collect();
    all.sort_unstable();
    all
});

/// How many characters of descriptions of agents are shown with `spawn_agent`; further agents are shown by name alone.
const LONGEST_LIST: usize = 2_000;

fn spawn_words(policy: &Policy, agents: &[&Agent]) -> String {
    let mut words = String::from(
        "Give a self-contained task to a sub-agent with its own context; its report is the result. \
         It sees nothing of this conversation, so say all it needs. Not for what one tool call can do.",
    );
    if policy.spawn_args.iter().any(|arg| &**arg == "agent") && !agents.is_empty() {
        words.push_str(" Agents:");
        let begin = words.len();
        for agent in agents {
            // A person with a hundred agents does not pay for their descriptions with every request: `list_agents` has them.
            match words.len() - begin + agent.description.len() <= LONGEST_LIST {
                true => words.push_str(&format!(" {} ({});", agent.name, agent.description)),
                false => words.push_str(&format!(" {};", agent.name)),
            }
        }
        words.pop();
        words.push('.');
    }
    words
}

fn spawn_schema(policy: &Policy, agents: &[&Agent], has_servers: bool) -> Json {
    let mut text = String::with_capacity(2048);
    text.push_str(r#"{"properties":{"#);
    let begin = text.len();
    let is_shown = |name: &str| match name {
        MCP_SERVERS => has_servers && policy.spawn_args.iter().any(|arg| &**arg == "tools"),
        name => policy.spawn_args.iter().any(|arg| &**arg == name),
    };
    for (name, schema) in SPAWN_AGENT.iter().filter(|(name, _)| is_shown(name)) {
        if text.len() > begin {
            text.push(',');
        }
        text.push('"');
        text.push_str(name);
        text.push_str("\":");
        match *name {
            "agent" => {
                let names: Vec<&str> = agents.iter().map(|agent| &*agent.name).collect();
                text.push_str(&spawned_by_name(&names).to_string());
            }
            // In mode `ask` a sub-agent that cannot ask can do nothing that `plan` does not allow (OPTA-10).
            "mode" if !policy.children_may_ask => text.push_str(r#"{"enum":["plan","auto"],"type":"string"}"#),
            _ => text.push_str(schema),
        }
    }
    text.push_str(r#"},"required":["task"],"type":"object"}"#);
    Json::parse(&text).expect("pieces of JSON make JSON")
}

fn spawned_by_name(names: &[&str]) -> Value {
    json!({"type": "string", "enum": names})
}

/// Shown where the thread has tools of servers that it may choose from.
const MCP_SERVERS: &str = "mcp_servers";

fn spawn_properties(names: &[&str]) -> [(&'static str, Value); 19] {
    [
        ("task", string("what to do, where, and what to report")),
        ("agent", spawned_by_name(names)),
        ("name", string("a short name to show")),
        ("scope", string("files or folders to keep to")),
        ("context", string("facts it needs")),
        ("tools", json!({"type": "array", "items": {"type": "string"}, "description": "only these tools"})),
        (MCP_SERVERS, json!({"type": "array", "items": {"type": "string"}, "description": "only these MCP servers"})),
        ("model", string("provider/model")),
        ("mode", json!({"type": "string", "enum": ["plan", "ask", "auto", "dangerous"]})),
        ("max_tool_calls", json!({"type": "integer"})),
        ("max_tokens", json!({"type": "integer"})),
        ("max_cost", json!({"type": "number", "description": "dollars"})),
        ("timeout_s", json!({"type": "number"})),
        ("expected", string("what the report should hold")),
        (
            "checks",
            json!({"description": "commands (list) that must succeed when it is done, or a JSON Schema (object) for its report"}),
        ),
        ("background", json!({"type": "boolean", "description": "go on without waiting"})),
        ("files", json!({"type": "array", "items": {"type": "string"}, "description": "contents to give along"})),
        ("messages", json!({"type": "integer", "description": "share the last N of this conversation"})),
        ("progress", json!({"type": "boolean", "description": "hear what it says meanwhile"})),
    ]
}

fn delegate_schema() -> Value {
    let subtask = object(
        &[
            ("task", string("")),
            ("scope", string("")),
            ("agent", string("")),
            ("checks", json!({"description": "as of spawn_agent"})),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_is_put_together_is_the_one_that_is_made_at_once() {
        let agent = |name: &str| Agent {
            name: name.into(),
            description: "".into(),
            prompt: "".into(),
            model: None,
            tools: None,
            lends: Vec::new(),
            requires: Vec::new(),
            mcp_servers: None,
            mode: None,
            effort: None,
        };
        let (one, other) = (agent("explore"), agent("a \"quoted\" one"));
        let some = Policy { spawn_args: vec!["task".into(), "agent".into()], ..Policy::default() };
        let none = Policy { spawn_args: Vec::new(), ..Policy::default() };
        for (policy, agents) in [(Policy::default(), vec![&one, &other]), (some, vec![&one]), (none, Vec::new())] {
            let names: Vec<&str> = agents.iter().map(|agent| &*agent.name).collect();
            let is_shown = |name: &str| policy.spawn_args.iter().any(|arg| &**arg == name);
            let shown: Vec<_> = spawn_properties(&names).into_iter().filter(|(name, _)| is_shown(name)).collect();
            assert_eq!(spawn_schema(&policy, &agents, false), Json::of(&object(&shown, &["task"])));
        }
    }
}
