//! What must hold before a task counts as completed: commands that succeed, and a result that fits a JSON Schema.
//!
//! Commands are calls of `run_command` by the agent that says that its task is done: the same permissions, the same sandbox, the same
//! folder. A check that the agent may not run without asking has not passed, and the sentence names what would allow it.

use agent::Json;
use agent::tools::RUN_COMMAND;
use board::Checks;
use serde_json::json;
use tool::ToolContext;

/// The longest output of a check that is told, in characters.
const SHOWN: usize = 2_000;

/// Runs the checks of a task; what failed, or nothing.
/// `consented` says that a person wrote them.
pub(super) async fn run(
    checks: &Checks,
    result: Option<&str>,
    consented: bool,
    context: &ToolContext,
) -> Result<(), String> {
    if let Some(schema) = &checks.schema {
        fits(schema, result)?;
    }
    for command in &checks.commands {
        let Some(nested) = &context.nested else {
            return Err(format!("`{command}` could not be run here"));
        };
        let ran = nested.call(RUN_COMMAND, Json::of(&json!({ "command": command })), consented).await;
        if ran.is_error {
            let output = agent::context::bounded(&ran.content, SHOWN, "");
            return Err(format!("the check `{command}` failed:\n{output}"));
        }
    }
    Ok(())
}

fn fits(schema: &Json, result: Option<&str>) -> Result<(), String> {
    let Some(result) = result else {
        return Err("this task wants a result: give it as JSON in the argument `result`".to_owned());
    };
    let value = serde_json::from_str(result).map_err(|error| format!("the result is not JSON: {error}"))?;
    match runtime::misfit(schema, &value) {
        None => Ok(()),
        Some(misfit) => Err(format!("the result does not fit the schema of the task: {misfit}")),
    }
}
