//! Runs checks: the commands that must succeed, and the JSON Schema that a result must match, before work counts as done. There is one way
//! to run them, for tasks and for sub-agents.
//!
//! A command is a call of `run_command` by the agent that did the work ([`Nested`]): its modes and rules, its sandbox, its folder. Left to
//! others: what follows from a check that failed (`crates/agent` for sub-agents, `crates/board` for tasks).

use std::sync::Arc;

use agent::Json;
use agent::tools::{RUN_COMMAND, ToolResult};
use serde_json::json;
use tool::{Nested, PriorConsent};

use crate::schema::misfit;

/// The longest output of a check that is told, in characters.
const SHOWN: usize = 2_000;

/// Runs commands in their order, until one fails. The result says which one and how, and is not `executed` where a command could not be
/// run at all. `consent` is what a person has said about each of them before.
pub async fn run_checks(
    commands: &[Arc<str>],
    nested: Option<&dyn Nested>,
    consent: impl Fn(&str) -> PriorConsent,
) -> ToolResult {
    let mut all = ToolResult::ok(match commands {
        [_] => "the check has passed".to_owned(),
        several => format!("all {} checks have passed", several.len()),
    });
    for command in commands {
        let Some(nested) = nested else {
            return ToolResult::error(format!("the check `{command}` could not be run here"));
        };
        let ran = nested.call(RUN_COMMAND, Json::of(&json!({ "command": command })), consent(command)).await;
        all.files_read.extend(ran.files_read);
        all.files_modified.extend(ran.files_modified);
        all.foreign = all.foreign.or(ran.foreign);
        if ran.is_error {
            let output = agent::context::bounded(&ran.content, SHOWN, "");
            let what = if ran.executed { "failed" } else { "could not be run" };
            let content = format!("the check `{command}` {what}:\n{output}").into();
            return ToolResult { content, is_error: true, executed: ran.executed, ..all };
        }
    }
    all
}

/// Why a result does not match the JSON Schema of its task; none where it does.
pub fn result_misfit(schema: &Json, result: Option<&str>) -> Option<String> {
    let Some(result) = result else {
        return Some("this task wants a result: give it as JSON in the argument `result`".to_owned());
    };
    match serde_json::from_str(result) {
        Err(error) => Some(format!("the result is not JSON: {error}")),
        Ok(value) => misfit(schema, &value).map(|why| format!("the result does not fit the schema of the task: {why}")),
    }
}
