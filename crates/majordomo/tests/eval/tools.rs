//! The tools of a household, called as an agent calls them, without an agent.

use std::path::Path;
use std::sync::Arc;

use agent::{CallId, Json, ThreadId};
use household::{Household, Options};
use serde_json::Value;
use tool::{Registry, ToolContext, Workspace};

/// The tools of one household, ready to be called.
pub struct TestTools {
    tools: Registry,
    bench: ToolContext,
    runtime: tokio::runtime::Runtime,
}

impl TestTools {
    /// Opens a household; `folder` is any folder that is there.
    pub fn of(options: Options, folder: &Path) -> Self {
        let household = Household::open(options).expect("a household");
        let workspace = Arc::new(Workspace::open(folder).expect("a folder"));
        Self {
            tools: household.tools(Registry::new()),
            bench: ToolContext::new(workspace, ThreadId::new("20260115-gold"), CallId::new("tu_1")),
            runtime: tokio::runtime::Builder::new_current_thread().build().expect("a runtime"),
        }
    }

    /// What a tool answers, or what it says about a call that it refuses.
    pub fn call(&self, name: &str, arguments: &Value) -> Result<Value, String> {
        let tool = self.tools.get(name).unwrap_or_else(|| panic!("there is a tool {name}"));
        let result = self.runtime.block_on(tool.run(&Json::of(arguments), &self.bench));
        match result.is_error {
            true => Err(result.content.to_string()),
            false => Ok(serde_json::from_str(&result.content).expect("one JSON object")),
        }
    }
}
