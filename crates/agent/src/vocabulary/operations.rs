//! Verbs that hold several operations: `SpawnAgentTool`, `DelegateTaskTool`, `ParallelTasksTool` (ZILEO-15 to ZILEO-20).
//!
//! Here are their arguments and the words of their errors; their schemas and results are in `operations/shown.rs`.

use std::sync::Arc;

use serde_json::Value;

use crate::checks::Checks;
use crate::event::{Enough, Subtask};
use crate::input::Strength;
use crate::json::Json;
use crate::thread::Thread;
use crate::turn::spawn::{ChildRequest, NoRoom};
use crate::vocabulary::arguments::Arguments;
use crate::vocabulary::{Listed, VerbCall};

pub(crate) mod shown;

const SPAWN_EXAMPLE: &str =
    r#"{"operation": "spawn", "name": "Schema analyst", "prompt": "List the fields of users.sql"}"#;
const DELEGATE_EXAMPLE: &str = r#"{"operation": "delegate", "agent_id": "explore", "prompt": "List the files in src"}"#;
const BATCH_EXAMPLE: &str =
    r#"{"operation": "execute_batch", "tasks": [{"agent_id": "explore", "prompt": "List the files in src"}]}"#;

/// A refusal, under the kind of error that these verbs give.
pub fn refusal(reason: &str) -> String {
    format!("ValidationFailed: {reason}")
}

/// Why no sub-agent can be started (ZILEO-13, ZILEO-14).
pub fn no_room(why: &NoRoom) -> String {
    match why {
        NoRoom::TooDeep { .. } => shown::NOT_PRIMARY.to_owned(),
        NoRoom::Off => refusal(&why.to_string()),
        NoRoom::NoPlace { most, taken, wanted } => {
            let more = if *wanted > 1 { format!(", and this needs {wanted} places") } else { String::new() };
            let current = format!("Current sub-agents: {taken}{more} (policy.max_children)");
            refusal(&format!("Maximum {most} sub-agents reached. Cannot spawn more. {current}"))
        }
    }
}

/// Reads a call of `SpawnAgentTool`.
pub fn spawn(thread: &Thread, input: &Json) -> Result<VerbCall, String> {
    let mut arguments = Arguments::read("SpawnAgentTool", SPAWN_EXAMPLE, input)?;
    match &*arguments.needed(&["operation"])? {
        "spawn" => {
            let (provider, model) = (arguments.text(&["provider"])?, arguments.text(&["model"])?);
            let request = ChildRequest {
                task: arguments.needed(&["prompt"])?,
                name: Some(arguments.needed(&["name"])?),
                system_prompt: arguments.text(&["system_prompt"])?,
                tools: arguments.texts(&["tools"])?,
                servers: arguments.texts(&["mcp_servers"])?,
                model: named_model(thread, provider, model),
                ..ChildRequest::default()
            };
            let request = ChildRequest { ignored: arguments.ignored(), ..request };
            Ok(VerbCall::Start { request: Box::new(request), is_temporary: true })
        }
        "list_children" => Ok(VerbCall::List(Listed::Children)),
        "terminate" => Ok(VerbCall::Stop {
            who: arguments.needed(&["child_id"])?,
            strength: Strength::Kill,
            reason: "its parent terminated it".into(),
        }),
        other => Err(no_operation("SpawnAgentTool", other, "spawn, list_children, terminate")),
    }
}

/// Reads a call of `DelegateTaskTool`.
pub fn delegate(input: &Json) -> Result<VerbCall, String> {
    let mut arguments = Arguments::read("DelegateTaskTool", DELEGATE_EXAMPLE, input)?;
    match &*arguments.needed(&["operation"])? {
        "delegate" => {
            let agent = Some(arguments.needed(&["agent_id"])?);
            let request = ChildRequest { task: arguments.needed(&["prompt"])?, agent, ..ChildRequest::default() };
            let request = ChildRequest { ignored: arguments.ignored(), ..request };
            Ok(VerbCall::Start { request: Box::new(request), is_temporary: false })
        }
        "list_agents" => Ok(VerbCall::List(Listed::Agents)),
        other => Err(no_operation("DelegateTaskTool", other, "delegate, list_agents")),
    }
}

/// Reads a call of `ParallelTasksTool`.
pub fn batch(input: &Json) -> Result<VerbCall, String> {
    let mut arguments = Arguments::read("ParallelTasksTool", BATCH_EXAMPLE, input)?;
    match &*arguments.needed(&["operation"])? {
        "execute_batch" => {}
        other => return Err(no_operation("ParallelTasksTool", other, "execute_batch")),
    }
    let tasks = match arguments.value("tasks") {
        Some(Value::Array(tasks)) if !tasks.is_empty() => tasks,
        _ => {
            return Err(format!(
                "ParallelTasksTool needs 'tasks', a list with at least one, for example {BATCH_EXAMPLE}"
            ));
        }
    };
    let waits_for_all = arguments.switch("wait_all")?.unwrap_or(true);
    let enough = match (waits_for_all, arguments.flag("cancel_rest")?) {
        (true, _) => Enough::All,
        (false, false) => Enough::One,
        (false, true) => Enough::OneAlone,
    };
    let subtask = |task: Value| {
        let mut arguments = Arguments::inside("ParallelTasksTool", BATCH_EXAMPLE, task)?;
        let agent = Some(arguments.needed(&["agent_id"])?);
        Ok::<_, String>(Subtask {
            task: arguments.needed(&["prompt"])?,
            scope: None,
            agent,
            checks: Checks::default(),
            depends_on: Vec::new(),
        })
    };
    let subtasks = tasks.into_iter().map(subtask).collect::<Result<_, _>>()?;
    Ok(VerbCall::Split { plan: "".into(), subtasks, enough, ignored: arguments.ignored() })
}

fn no_operation(verb: &str, found: &str, known: &str) -> String {
    format!("{verb} has no operation '{found}'; it has: {known}")
}

/// `provider/model`, with what is not said taken from the parent's own.
fn named_model(thread: &Thread, provider: Option<Arc<str>>, model: Option<Arc<str>>) -> Option<Arc<str>> {
    let own = &thread.model.name;
    let (own_provider, own_model) = own.split_once('/').unwrap_or((own, own));
    match (provider, model) {
        (None, None) => None,
        (None, Some(model)) if model.contains('/') => Some(model),
        (None, Some(model)) => Some(format!("{own_provider}/{model}").into()),
        (Some(provider), None) => Some(format!("{provider}/{own_model}").into()),
        // A model that already says its provider is taken at its word where both agree.
        (Some(provider), Some(model)) if model.starts_with(&format!("{provider}/")) => Some(model),
        (Some(provider), Some(model)) => Some(format!("{provider}/{model}").into()),
    }
}
