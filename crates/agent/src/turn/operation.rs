//! Verbs that hold several operations: `SpawnAgentTool`, `DelegateTaskTool`, `ParallelTasksTool` (ZILEO-15 to ZILEO-20).
//!
//! Each operation is a facade: it reads its own arguments and then does what the house's own verbs do, with the same wishes,
//! graphs, places and grants. Here are their arguments and the words of their errors; what a model is shown of them, and how
//! their results are written, is in `context/operations.rs`.

use std::sync::Arc;

use serde_json::Value;

use crate::context::operations as words;
use crate::event::{Enough, Subtask};
use crate::id::CallId;
use crate::input::Strength;
use crate::json::Json;
use crate::machine::Moment;
use crate::thread::Thread;
use crate::tools::ToolResult;
use crate::turn::arguments::Arguments;
use crate::turn::spawn::{self, NoRoom, Wish};
use crate::turn::{delegate, tool_calls, verbs};

const SPAWN_EXAMPLE: &str =
    r#"{"operation": "spawn", "name": "Schema analyst", "prompt": "List the fields of users.sql"}"#;
const DELEGATE_EXAMPLE: &str = r#"{"operation": "delegate", "agent_id": "explore", "prompt": "List the files in src"}"#;
const BATCH_EXAMPLE: &str =
    r#"{"operation": "execute_batch", "tasks": [{"agent_id": "explore", "prompt": "List the files in src"}]}"#;

/// What a call asks for.
pub enum Operation {
    /// `spawn`: a temporary agent, made for one task.
    Spawn(Wish),
    /// `list_children`.
    ListChildren,
    /// `terminate`: the child of this id ends at once.
    Terminate(Arc<str>),
    /// `delegate`: a task for an agent that is there.
    Delegate(Wish),
    /// `list_agents`.
    ListAgents,
    /// `execute_batch`: tasks for agents that are there, side by side.
    Batch {
        /// One for each, without edges.
        subtasks: Vec<Subtask>,
        /// When the call has its answer.
        enough: Enough,
        /// Arguments that nobody asked for.
        ignored: Vec<String>,
    },
}

/// Reads a call of one of these verbs; none where `verb` is none of them.
pub fn read(thread: &Thread, verb: &str, input: &Json) -> Option<Result<Operation, String>> {
    match verb {
        "SpawnAgentTool" => Some(read_spawn(thread, input)),
        "DelegateTaskTool" => Some(read_delegate(input)),
        "ParallelTasksTool" => Some(read_batch(input)),
        _ => None,
    }
}

/// Begins an operation, which was read as it stands in the call.
pub fn begin(
    moment: &mut Moment<'_>,
    call: &CallId,
    verb: &str,
    operation: Operation,
    siblings: u32,
) -> Result<(), String> {
    let begun = match operation {
        Operation::Spawn(wish) | Operation::Delegate(wish) => {
            spawn::room(moment.thread, 1).map_err(|why| no_room(verb, &why))?;
            verbs::start_one(moment, call, &wish, siblings)
        }
        Operation::Batch { subtasks, enough, .. } => {
            let count = subtasks.len() as u32;
            spawn::room(moment.thread, count).map_err(|why| no_room(verb, &why))?;
            delegate::accept(moment, call, "".into(), subtasks, enough)
        }
        Operation::Terminate(child) => {
            verbs::stop_named(moment, call, &child, Strength::Kill, &"its parent terminated it".into())
        }
        Operation::ListChildren => {
            tool_calls::answer(moment, call, ToolResult::ok(words::children(moment.thread)));
            Ok(())
        }
        Operation::ListAgents => {
            tool_calls::answer(moment, call, ToolResult::ok(words::agents(moment.thread, &moment.facts.catalog)));
            Ok(())
        }
    };
    begun.map_err(|reason| refusal(verb, reason))
}

/// Names the ignored arguments of a call.
pub fn ignored(operation: Operation) -> Vec<String> {
    match operation {
        Operation::Spawn(wish) | Operation::Delegate(wish) => wish.ignored,
        Operation::Batch { ignored, .. } => ignored,
        Operation::ListChildren | Operation::Terminate(_) | Operation::ListAgents => Vec::new(),
    }
}

/// An error of `verb`, under the kind of error that these verbs give.
pub fn refusal(verb: &str, reason: String) -> String {
    if words::is_operations(verb) { format!("ValidationFailed: {reason}") } else { reason }
}

/// Why `verb` can start nobody (ZILEO-13, ZILEO-14).
pub fn no_room(verb: &str, why: &NoRoom) -> String {
    if !words::is_operations(verb) {
        return why.to_string();
    }
    match why {
        NoRoom::TooDeep { .. } => words::NOT_PRIMARY.to_owned(),
        NoRoom::Off => refusal(verb, why.to_string()),
        NoRoom::NoPlace { most, taken, wanted } => {
            let more = if *wanted > 1 { format!(", and this needs {wanted} places") } else { String::new() };
            let current = format!("Current sub-agents: {taken}{more} (policy.max_children)");
            refusal(verb, format!("Maximum {most} sub-agents reached. Cannot spawn more. {current}"))
        }
    }
}

fn read_spawn(thread: &Thread, input: &Json) -> Result<Operation, String> {
    let mut arguments = Arguments::read("SpawnAgentTool", SPAWN_EXAMPLE, input)?;
    match &*arguments.needed(&["operation"])? {
        "spawn" => {
            let (provider, model) = (arguments.text(&["provider"])?, arguments.text(&["model"])?);
            let wish = Wish {
                task: arguments.needed(&["prompt"])?,
                name: Some(arguments.needed(&["name"])?),
                system_prompt: arguments.text(&["system_prompt"])?,
                tools: arguments.texts(&["tools"])?,
                model: named_model(thread, provider, model),
                ..Wish::default()
            };
            Ok(Operation::Spawn(Wish { ignored: arguments.ignored(), ..wish }))
        }
        "list_children" => Ok(Operation::ListChildren),
        "terminate" => Ok(Operation::Terminate(arguments.needed(&["child_id"])?)),
        other => Err(no_operation("SpawnAgentTool", other, "spawn, list_children, terminate")),
    }
}

fn read_delegate(input: &Json) -> Result<Operation, String> {
    let mut arguments = Arguments::read("DelegateTaskTool", DELEGATE_EXAMPLE, input)?;
    match &*arguments.needed(&["operation"])? {
        "delegate" => {
            let agent = Some(arguments.needed(&["agent_id"])?);
            let wish = Wish { task: arguments.needed(&["prompt"])?, agent, ..Wish::default() };
            Ok(Operation::Delegate(Wish { ignored: arguments.ignored(), ..wish }))
        }
        "list_agents" => Ok(Operation::ListAgents),
        other => Err(no_operation("DelegateTaskTool", other, "delegate, list_agents")),
    }
}

fn read_batch(input: &Json) -> Result<Operation, String> {
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
        Ok::<_, String>(Subtask { task: arguments.needed(&["prompt"])?, scope: None, agent, depends_on: Vec::new() })
    };
    let subtasks = tasks.into_iter().map(subtask).collect::<Result<_, _>>()?;
    Ok(Operation::Batch { subtasks, enough, ignored: arguments.ignored() })
}

fn no_operation(verb: &str, found: &str, known: &str) -> String {
    format!("{verb} has no operation '{found}'; it has: {known}")
}

/// `provider/model`, with what is not said taken from the parent's own.
fn named_model(thread: &Thread, provider: Option<Arc<str>>, model: Option<Arc<str>>) -> Option<Arc<str>> {
    let own = &thread.created.role.model.name;
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
