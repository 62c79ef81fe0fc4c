//! Our own verbs: their arguments, and their results as plain text.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::Value;

use crate::catalog::Catalog;
use crate::context;
use crate::delegation::AgentResult;
use crate::event::{Enough, Subtask};
use crate::id::ThreadId;
use crate::input::Strength;
use crate::json::Json;
use crate::policy::{Lifecycle, Policy};
use crate::report::Report;
use crate::thread::{Graph, Node, Thread};
use crate::turn::delegate;
use crate::turn::spawn::ChildRequest;
use crate::verb::Verb;
use crate::vocabulary::arguments::{Arguments, ignored_line};
use crate::vocabulary::{HandOver, VerbCall};

const SPAWN_EXAMPLE: &str = r#"{"task": "Read src/auth.rs and list what it exports"}"#;
const DELEGATE_EXAMPLE: &str = r#"{"plan": "Understand auth", "subtasks": [{"task": "Find auth files"}, {"task": "Explain them", "depends_on": 0}]}"#;
const HAND_OVER_EXAMPLE: &str = r#"{"intent": "delegate_triage", "task": "List today's urgent mail", "delegationReasoning": "it is about the inbox"}"#;
const MESSAGE_EXAMPLE: &str = r#"{"agent": "explore", "text": "Look at tests too"}"#;
const WAIT_EXAMPLE: &str = r#"{"any": true, "timeout_s": 60}"#;
const STOP_EXAMPLE: &str = r#"{"agent": "explore"}"#;

/// Arguments and the ways in which models write them. The task is always understood.
const SPELLINGS: [(&str, &[&str]); 17] = [
    ("agent", &["agent", "subagent_type", "agent_type"]),
    ("name", &["name"]),
    ("scope", &["scope"]),
    ("context", &["context"]),
    ("tools", &["tools"]),
    ("model", &["model"]),
    ("mode", &["mode"]),
    ("max_tool_calls", &["max_tool_calls", "maxToolCalls"]),
    ("max_tokens", &["max_tokens", "maxTokens"]),
    ("max_cost", &["max_cost"]),
    ("timeout_s", &["timeout_s", "timeout", "timeout_ms", "timeoutMs"]),
    ("expected", &["expected"]),
    ("checks", &["checks"]),
    ("background", &["background"]),
    ("files", &["files"]),
    ("messages", &["messages"]),
    ("progress", &["progress"]),
];

/// The servers whose tools a sub-agent gets.
const SERVERS: [&str; 2] = ["mcp_servers", "mcpServers"];

/// Reads the arguments of `spawn_agent`.
pub fn spawn_agent(thread: &Thread, input: &Json) -> Result<VerbCall, String> {
    let mut arguments = Arguments::read(Verb::SpawnAgent.name(), SPAWN_EXAMPLE, input)?;
    let policy = &thread.created.policy;
    // What a model is not shown, it cannot ask for.
    let is_shown = |argument: &str| policy.spawn_args.iter().any(|shown| &**shown == argument);
    for (_, spellings) in SPELLINGS.iter().filter(|(argument, _)| !is_shown(argument)) {
        arguments.set_aside(spellings);
    }
    if !is_shown("tools") {
        arguments.set_aside(&SERVERS);
    }
    let task = arguments.needed(&["task", "prompt", "description"])?;
    let mode = arguments.text(&["mode"])?.map(|mode| mode.parse()).transpose()?;
    let calls = arguments.number(&["max_tool_calls", "maxToolCalls"])?;
    let tokens = arguments.number(&["max_tokens", "maxTokens"])?;
    let cost = arguments.number(&["max_cost"])?;
    let messages = arguments.number(&["messages"])?;
    let seconds = arguments.number(&["timeout_s", "timeout"])?;
    let timeout_ms = seconds.map(|seconds| seconds * 1000.0).or(arguments.number(&["timeout_ms", "timeoutMs"])?);
    if calls.is_some_and(|calls| calls < 1.0) {
        return Err("maxToolCalls must be positive (max_tool_calls)".to_owned());
    }
    if tokens.is_some_and(|tokens| tokens < 1.0) {
        return Err("maxTokens must be positive (max_tokens)".to_owned());
    }
    if cost.is_some_and(|cost| cost <= 0.0) {
        return Err("max_cost must be positive, in dollars".to_owned());
    }
    if timeout_ms.is_some_and(|ms| ms < policy.min_child_timeout_ms as f64) {
        let least = policy.min_child_timeout_ms;
        return Err(format!("timeoutMs must be at least {least} (policy.min_child_timeout_ms)"));
    }
    let request = ChildRequest {
        task,
        agent: arguments.text(&["agent", "subagent_type", "agent_type"])?,
        name: arguments.text(&["name"])?,
        system_prompt: None,
        scope: arguments.text(&["scope"])?,
        context: arguments.text(&["context"])?,
        expected: arguments.text(&["expected"])?,
        checks: arguments.checks()?,
        tools: arguments.texts(&["tools"])?,
        servers: arguments.texts(&SERVERS)?,
        model: arguments.text(&["model"])?,
        mode,
        // Casts from float saturate, so that an absurd request becomes a large one and is cut below.
        max_tool_calls: calls.map(|calls| calls as u32),
        max_tokens: tokens.map(|tokens| tokens as u64),
        max_cost_microusd: cost.map(|cost| (cost * 1e6) as u64),
        timeout_ms: timeout_ms.map(|ms| ms as u64),
        background: arguments.flag("background")?,
        files: arguments.texts(&["files"])?.unwrap_or_default(),
        messages: messages.map_or(0, |messages| messages as usize),
        progress: arguments.flag("progress")?,
        ignored: arguments.ignored(),
    };
    Ok(VerbCall::Start { request: Box::new(request), is_temporary: false })
}

/// Reads the arguments of `delegate_task`.
pub fn delegate_task(input: &Json) -> Result<VerbCall, String> {
    let mut arguments = Arguments::read(Verb::DelegateTask.name(), DELEGATE_EXAMPLE, input)?;
    let plan = arguments.text(&["plan", "goal"])?.unwrap_or_else(|| "".into());
    let items = match arguments.value("subtasks").or_else(|| arguments.value("tasks")) {
        Some(Value::Array(items)) if !items.is_empty() => items,
        _ => {
            return Err(format!(
                "delegate_task needs 'subtasks', a list with at least one task, for example {DELEGATE_EXAMPLE}"
            ));
        }
    };
    let subtasks = items.into_iter().map(read_subtask).collect::<Result<Vec<_>, _>>()?;
    Ok(VerbCall::Split { plan, subtasks, enough: Enough::All, ignored: Vec::new() })
}

fn read_subtask(item: Value) -> Result<Subtask, String> {
    let mut arguments = Arguments::inside(Verb::DelegateTask.name(), DELEGATE_EXAMPLE, item)?;
    let task = arguments.needed(&["task", "prompt", "description"])?;
    let scope = arguments.text(&["scope"])?;
    let agent = arguments.text(&["agent"])?;
    let checks = arguments.checks()?;
    let indexes = match arguments.value("depends_on") {
        None => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(one) => vec![one],
    };
    let mut depends_on = Vec::new();
    for index in indexes {
        let number = index.as_u64().or_else(|| index.as_str().and_then(|text| text.trim().parse().ok()));
        let on = number.and_then(|number| u32::try_from(number).ok()).ok_or_else(|| {
            arguments.wrong("depends_on", "the index of a subtask, counted from 0, or a list of such", &index)
        })?;
        if !depends_on.contains(&on) {
            depends_on.push(on);
        }
    }
    Ok(Subtask { task, scope, agent, checks, depends_on })
}

/// Reads the arguments of `message_agent`.
pub fn message_agent(input: &Json) -> Result<VerbCall, String> {
    let mut arguments = Arguments::read(Verb::MessageAgent.name(), MESSAGE_EXAMPLE, input)?;
    let who = arguments.needed(&["agent", "id", "name"])?;
    let text = arguments.needed(&["text", "message"])?;
    Ok(VerbCall::Message { who, text, background: arguments.flag("background")? })
}

/// Reads the arguments of `wait_agents`.
pub fn wait_agents(input: &Json) -> Result<VerbCall, String> {
    let mut arguments = Arguments::read(Verb::WaitAgents.name(), WAIT_EXAMPLE, input)?;
    let who = arguments.texts(&["agents", "agent", "ids"])?;
    let any = arguments.flag("any")?;
    let seconds = arguments.number(&["timeout_s", "timeout"])?;
    if seconds.is_some_and(|seconds| seconds < 0.0) {
        return Err("timeout_s cannot be negative".to_owned());
    }
    Ok(VerbCall::Wait { who, any, seconds })
}

/// Reads the arguments of `stop_agent`.
pub fn stop_agent(input: &Json) -> Result<VerbCall, String> {
    let mut arguments = Arguments::read(Verb::StopAgent.name(), STOP_EXAMPLE, input)?;
    let who = arguments.needed(&["agent", "id", "name"])?;
    let strength = if arguments.flag("now")? { Strength::Kill } else { Strength::Cancel };
    let reason = arguments.text(&["reason"])?.unwrap_or_else(|| "its parent stopped it".into());
    Ok(VerbCall::Stop { who, strength, reason })
}

/// Reads the arguments of `delegate`.
pub fn delegate(policy: &Policy, input: &Json) -> Result<VerbCall, String> {
    let mut arguments = Arguments::read(Verb::Delegate.name(), HAND_OVER_EXAMPLE, input)?;
    let intent = arguments.needed(&["intent"])?;
    let task = arguments.text(&["task", "prompt", "message"])?;
    let entities = arguments.texts(&["relevantEntities", "relevant_entities"])?;
    let time = arguments.text(&["timeConstraints", "time_constraints"])?;
    let reasoning = arguments.needed(&["delegationReasoning", "delegation_reasoning", "reasoning"])?;
    let agent = target(policy, &intent)?;
    Ok(VerbCall::HandOver(HandOver { agent, task, entities, time, reasoning, ignored: arguments.ignored() }))
}

/// The agent to which an intent leads.
fn target(policy: &Policy, intent: &str) -> Result<Arc<str>, String> {
    if let Some((_, agent)) = policy.delegates.iter().find(|(known, _)| &**known == intent) {
        return Ok(agent.clone());
    }
    let known = policy.delegates.iter().map(|(intent, _)| &**intent).collect::<Vec<_>>().join(", ");
    let what = if intent.starts_with("delegate_") {
        "leads to no agent"
    } else {
        "is nothing to hand over: answer it yourself, or use an intent that is"
    };
    Err(format!("the intent '{intent}' {what}; there are: {known} (policy.delegates)"))
}

/// A child's report, with what was narrowed when it was accepted.
pub fn report(id: &ThreadId, name: &str, report: &Report, narrowed: &[Arc<str>]) -> String {
    let mut text = context::report_text(id, name, report);
    for note in narrowed {
        let _ = write!(text, "\n({note})");
    }
    text
}

/// What comes back of work that was handed over, as one JSON object, and where untrusted text in it is from.
pub fn handed_back(order: &HandOver, report: &Report) -> (String, Option<Arc<str>>) {
    let object = Json::of(&AgentResult::of(&order.agent, report));
    let content = format!("{}{}", object.text(), ignored_line(&order.ignored));
    (content, report.foreign.then(|| format!("report of {}", order.agent).into()))
}

/// All results, in the order of the subtasks.
pub fn combined(thread: &Thread, graph: &Graph) -> String {
    let good = graph.nodes.iter().filter(|node| !delegate::is_bad(node)).count();
    let mut text = format!("{good} of {} subtasks brought a result.", graph.nodes.len());
    if !graph.plan.is_empty() {
        let _ = write!(text, " Plan: {}", graph.plan);
    }
    for (index, (subtask, node)) in graph.subtasks.iter().zip(&graph.nodes).enumerate() {
        let _ = write!(text, "\n\n## Subtask {index}: {}\n", subtask.task);
        match node {
            Node::Reported(child, report) => {
                let name = thread.children.reported.get(child).map_or("sub-agent", |(kin, _)| &*kin.name);
                text.push_str(&context::report_text(child, name, report));
            }
            Node::Skipped(reason) => {
                let _ = write!(text, "[SKIPPED] {reason}");
            }
            Node::Waiting | Node::Spawned(_) => {}
        }
    }
    text
}

/// The agents that can be started, and the sub-agents there are.
pub fn list(thread: &Thread, catalog: &Catalog) -> String {
    let mut text = String::from("Agents you can spawn:");
    for agent in catalog.offered(thread) {
        let _ = write!(text, "\n- {}: {}", agent.name, agent.description);
    }
    text.push_str("\nYour sub-agents:");
    if thread.children.live.is_empty() && thread.children.reported.is_empty() {
        text.push_str(" none");
    }
    for (id, child) in &thread.children.live {
        let state = match (&child.stop, child.started) {
            (Some(_), _) => "stopping",
            (None, true) => "running",
            (None, false) => "queued",
        };
        let _ = write!(text, "\n- {} ({id}): {state}", child.kin.name);
    }
    for (id, (kin, outcome)) in &thread.children.reported {
        let name = &kin.name;
        let _ = match thread.created.policy.lifecycle {
            Lifecycle::Call => write!(text, "\n- {name} ({id}): {outcome}"),
            Lifecycle::Persistent => write!(text, "\n- {name} ({id}): idle, was {outcome}"),
        };
    }
    text
}
