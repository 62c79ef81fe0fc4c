//! The verbs that hold several operations, as the model sees them: their schemas, and their results as JSON.
//!
//! A sub-agent's words stand inside a JSON text, which they cannot leave, under a key that says whose they are.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::event::{Enough, Subtask};
use crate::id::ThreadId;
use crate::policy::Policy;
use crate::report::{Outcome, Report};
use crate::thread::{Graph, Node, Thread};
use crate::verb::Verb;

/// What a sub-agent hears that tries to have sub-agents of its own (ZILEO-4, ZILEO-13).
pub const NOT_PRIMARY: &str = "PermissionDenied: Only the primary workflow agent can spawn sub-agents. \
                               Sub-agents cannot create other sub-agents.";

const ALONE: &str = "It sees nothing of this conversation: no history, no memory, no tool results.";

/// Words and schema of one of these verbs; none if the name is none of them.
pub fn operations(verb: Verb, policy: &Policy) -> Option<(String, Value)> {
    let places = policy.max_children;
    match verb {
        Verb::SpawnAgentTool => Some((
            format!(
                "Create a temporary sub-agent for one task and get its report. {ALONE} Say all it needs in the prompt: \
                 Task, Input Data, Expected Output Format, Constraints. At most {places} sub-agents a workflow, \
                 delegated ones included. Do not use it for what you can do with a few tool calls."
            ),
            spawn_schema(),
        )),
        Verb::DelegateTaskTool => Some((
            format!(
                "Give a task to an existing agent, which works with its own tools and system prompt, and get its report. \
                 {ALONE} At most {places} sub-agents a workflow, spawned ones included."
            ),
            delegate_schema(),
        )),
        Verb::ParallelTasksTool => Some((
            format!(
                "Run up to {} tasks at the same time, each by an existing agent, and get one aggregated report. {ALONE} \
                 Not for tasks that need each other's results.",
                policy.max_subtasks.min(places)
            ),
            batch_schema(policy),
        )),
        Verb::SpawnAgent
        | Verb::DelegateTask
        | Verb::MessageAgent
        | Verb::WaitAgents
        | Verb::StopAgent
        | Verb::ListAgents
        | Verb::Delegate
        | Verb::Task => None,
    }
}

/// A child's report as the result of the call that asked for it, or that terminated it (ZILEO-17).
pub fn child(id: &ThreadId, report: &Report, success: bool, notes: Vec<String>) -> String {
    write(&ChildResult {
        success,
        child_id: id,
        report: with_metrics(report),
        error: (!success).then(|| error(report)),
        metrics: Metrics::of(report),
        notes: notes.into_iter().chain(partial(report)).collect(),
    })
}

/// What came of a batch (ZILEO-20).
pub fn batch(thread: &Thread, graph: &Graph, notes: Vec<String>) -> String {
    let results: Vec<TaskResult<'_>> =
        graph.subtasks.iter().zip(&graph.nodes).map(|(subtask, node)| task(thread, subtask, node)).collect();
    let completed = results.iter().filter(|result| result.success).count();
    let running = results.iter().filter(|result| matches!(result.status, "running" | "pending")).count();
    let failed = results.len() - completed - running;
    let success = match graph.enough {
        Enough::All => failed == 0,
        Enough::One | Enough::OneAlone => completed > 0,
    };
    let aggregated_report = aggregated(graph, &results);
    write(&BatchResult { success, completed, failed, running, results, aggregated_report, notes })
}

/// The sub-agents that are not over (ZILEO-15).
pub fn children(thread: &Thread) -> String {
    let child = |(id, child): (&ThreadId, &crate::thread::Child)| {
        let status = if child.started { "running" } else { "pending" };
        json!({"child_id": id, "name": child.kin.name, "status": status})
    };
    let children: Vec<Value> = thread.children.live.iter().map(child).collect();
    let (count, left) = (children.len(), thread.descendants_left());
    write(&json!({"success": true, "count": count, "children": children, "places_left": left}))
}

/// The agents that a thread can give a task to (ZILEO-18).
pub fn agents(thread: &Thread, catalog: &Catalog) -> String {
    let agent = |agent: &crate::role::Agent| json!({"agent_id": agent.name, "description": agent.description});
    let agents: Vec<Value> = catalog.offered(thread).map(agent).collect();
    write(&json!({"success": true, "count": agents.len(), "agents": agents}))
}

#[derive(Serialize)]
struct ChildResult<'a> {
    success: bool,
    child_id: &'a ThreadId,
    report: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Arc<str>>,
    metrics: Metrics,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct BatchResult<'a> {
    success: bool,
    completed: usize,
    failed: usize,
    #[serde(skip_serializing_if = "is_zero")]
    running: usize,
    results: Vec<TaskResult<'a>>,
    aggregated_report: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct TaskResult<'a> {
    agent_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    child_id: Option<&'a ThreadId>,
    status: &'static str,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Arc<str>>,
}

#[derive(Serialize)]
struct Metrics {
    duration_ms: u64,
    tokens_input: u64,
    tokens_output: u64,
}

impl Metrics {
    fn of(report: &Report) -> Self {
        Self {
            duration_ms: report.duration_ms,
            tokens_input: report.usage.tokens.prompt(),
            tokens_output: report.usage.tokens.output,
        }
    }
}

fn task<'a>(thread: &Thread, subtask: &'a Subtask, node: &'a Node) -> TaskResult<'a> {
    let agent_id = subtask.agent.as_deref().unwrap_or_default();
    let ended =
        |child_id, status, error| TaskResult { agent_id, child_id, status, success: false, report: None, error };
    match node {
        Node::Reported(id, report) => TaskResult {
            success: report.outcome.has_result(),
            report: Some(with_metrics(report)),
            ..ended(Some(id), status(report.outcome), (!report.outcome.has_result()).then(|| error(report)))
        },
        Node::Spawned(id) => {
            let is_begun = thread.children.live.get(id).is_some_and(|child| child.started);
            ended(Some(id), if is_begun { "running" } else { "pending" }, None)
        }
        Node::Skipped(reason) => ended(None, "cancelled", Some(reason.clone())),
        Node::Waiting => ended(None, "pending", None),
    }
}

/// Our outcomes in ZILEO's five words.
fn status(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed | Outcome::BudgetExceeded => "completed",
        Outcome::Cancelled | Outcome::Refused => "cancelled",
        Outcome::NoOutput | Outcome::Timeout | Outcome::Interrupted | Outcome::Error => "error",
    }
}

/// The report whole, and below it what it took (ZILEO-10).
fn with_metrics(report: &Report) -> String {
    format!("{}{}", report.text, metrics_section(report.duration_ms, report.tree.tokens.total()))
}

fn metrics_section(duration_ms: u64, tokens: u64) -> String {
    format!("\n\n## Metrics (auto-generated)\n- Duration: {duration_ms} ms\n- Tokens used: {tokens}")
}

/// All reports in the order of the tasks; the time is that of the longest, the tokens are those of all.
fn aggregated(graph: &Graph, results: &[TaskResult<'_>]) -> String {
    let mut text = String::from("# Parallel Tasks Report");
    let (mut longest, mut tokens) = (0, 0_u64);
    for (number, (node, result)) in graph.nodes.iter().zip(results).enumerate() {
        text.push_str(&format!("\n\n## Task {}: {} ({})\n\n", number + 1, result.agent_id, result.status));
        match node {
            Node::Reported(_, report) => {
                longest = longest.max(report.duration_ms);
                tokens = tokens.saturating_add(report.tree.tokens.total());
                text.push_str(if report.text.is_empty() { "(no text)" } else { &report.text });
            }
            Node::Skipped(reason) => text.push_str(reason),
            Node::Spawned(_) | Node::Waiting => text.push_str("Its report reaches you by itself."),
        }
    }
    text + &metrics_section(longest, tokens)
}

fn error(report: &Report) -> Arc<str> {
    report.reason.clone().unwrap_or_else(|| report.outcome.as_str().into())
}

/// A result that is not whole says so.
fn partial(report: &Report) -> Option<String> {
    (report.outcome == Outcome::BudgetExceeded).then(|| format!("{}: {}", report.outcome, error(report)))
}

fn spawn_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "operation": {"type": "string", "enum": ["spawn", "list_children", "terminate"]},
            "name": {"type": "string", "description": "Sub-agent name (for spawn)"},
            "prompt": {
                "type": "string",
                "description": "COMPLETE prompt for sub-agent. Must include task, any data needed, and expected report \
                                format. This is the ONLY input the sub-agent receives."
            },
            "system_prompt": {"type": "string", "description": "Custom system prompt (optional, overrides default)"},
            "tools": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Tools for sub-agent (default: parent's tools)"
            },
            "provider": {"type": "string", "description": "LLM provider (default: parent's)"},
            "model": {"type": "string", "description": "Model ID (default: parent's)"},
            "child_id": {"type": "string", "description": "Child agent ID (for terminate)"}
        },
        "required": ["operation"]
    })
}

fn delegate_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "operation": {"type": "string", "enum": ["delegate", "list_agents"]},
            "agent_id": {"type": "string", "description": "Target agent ID (for delegate)"},
            "prompt": {
                "type": "string",
                "description": "COMPLETE prompt for target agent. Must include task, any data needed, and expected report \
                                format. This is the ONLY input the target agent receives."
            }
        },
        "required": ["operation"]
    })
}

fn batch_schema(policy: &Policy) -> Value {
    let most = policy.max_subtasks;
    json!({
        "type": "object",
        "properties": {
            "operation": {"type": "string", "enum": ["execute_batch"]},
            "tasks": {
                "type": "array",
                "maxItems": most,
                "description": format!("Array of agent-prompt pairs (max {most})"),
                "items": {
                    "type": "object",
                    "properties": {
                        "agent_id": {"type": "string", "description": "Target agent ID"},
                        "prompt": {"type": "string", "description": "COMPLETE prompt for this agent"}
                    },
                    "required": ["agent_id", "prompt"]
                }
            },
            "wait_all": {"type": "boolean", "default": true, "description": "false: the first result is enough"},
            "cancel_rest": {
                "type": "boolean",
                "default": false,
                "description": "With wait_all false: stop the others; else they go on and report later"
            }
        },
        "required": ["operation", "tasks"]
    })
}

fn write(result: &impl Serialize) -> String {
    serde_json::to_string(result).expect("a result holds only text and numbers")
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
