//! The common form of the household's tools: read the arguments, do one blocking operation, answer with JSON.

use std::sync::Arc;

use agent::Json;
use agent::tools::{ToolInfo, ToolResult};
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tool::{Tool, ToolContext, plainly};

use crate::error::Error;
use crate::household::Household;

/// A tool of the household. Its answer is one JSON object, so that a model, the engine of rules and a program read the same.
pub(crate) struct HouseholdTool<A> {
    pub info: ToolInfo,
    /// A right call's arguments, shown with every wrong one.
    pub example: &'static str,
    /// Where the words of an answer come from (`mail`, `notes`), where others may have written them.
    pub foreign: Option<&'static str>,
    pub household: Arc<Household>,
    pub act: fn(&A, &Household) -> Result<Value, Error>,
}

impl<A: DeserializeOwned + Send + 'static> Tool for HouseholdTool<A> {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn run<'a>(&'a self, input: &'a Json, bench: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        let (act, household, foreign) = (self.act, Arc::clone(&self.household), self.foreign.map(Into::into));
        // Habits lie in the household's own file.
        let needs_folder = !self.info.name.starts_with("prefs_");
        Box::pin(plainly(&self.info, self.example, input, bench, move |args: &A| {
            if needs_folder {
                household.is_there()?;
            }
            let found = act(args, &household)?;
            Ok::<_, Error>(ToolResult { foreign, ..ToolResult::ok(found.to_string()) })
        }))
    }
}

#[cfg(test)]
pub(crate) mod test_calls {
    //! Calls to the household's tools, as an agent makes them.

    use agent::{CallId, ThreadId};
    use tool::{Registry, Workspace};

    use super::*;

    /// What a tool answers: its JSON, or the sentence of an error.
    pub(crate) fn call(household: &Arc<Household>, tool: &str, args: &Value) -> Result<Value, String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let workspace = Arc::new(Workspace::open(folder.path()).expect("a workspace"));
        let bench = ToolContext::new(workspace, ThreadId::new("20260115-room"), CallId::new("call"));
        let registry = household.tools(Registry::new());
        let tool = registry.get(tool).expect("a tool of the household");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let result = runtime.block_on(tool.run(&Json::of(args), &bench));
        match result.is_error {
            true => Err(result.content.to_string()),
            false => Ok(serde_json::from_str(&result.content).expect("an answer is JSON")),
        }
    }
}
