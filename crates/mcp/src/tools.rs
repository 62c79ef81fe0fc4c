//! A server's tool as an agent's tool.
//!
//! Nothing is known about what it does, so that each call asks, in every mode that asks at all; hints of the server are shown to the
//! person and decide nothing. Rules allow by server (`git__*`), by tool and by a pattern of the arguments, which are compared as JSON.

use std::path::Path;
use std::sync::Arc;

use agent::Json;
use agent::tools::{Assessment, Reach, Risk, ToolInfo, ToolResult};
use futures_util::future::BoxFuture;
use serde_json::Value;
use tool::{Tool, ToolContext};

use crate::offered::Offered;
use crate::output;
use crate::server::Server;

/// A tool of a server.
pub(crate) struct ServerTool {
    server: Arc<Server>,
    offered: Offered,
    info: ToolInfo,
}

impl ServerTool {
    pub fn new(server: Arc<Server>, offered: Offered) -> Self {
        let info = ToolInfo {
            name: offered.name.clone(),
            description: offered.description.clone(),
            schema: offered.schema.clone(),
            reach: Reach::World,
            idempotent: false,
            risk: Risk::High,
        };
        Self { server, offered, info }
    }
}

impl Tool for ServerTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, input: &Json, _: &Path) -> Assessment {
        let (own_name, settings) = (&self.offered.own_name, self.server.settings());
        let hints = match self.offered.hints.is_empty() {
            true => String::new(),
            false => format!("; the server says of it: {}", self.offered.hints.join(", ")),
        };
        let effect = format!("calls {own_name} of MCP server {} ({}){hints}", settings.name, settings.origin);
        // Consent for one description is none for another.
        let digest = format!("{} {}", settings.connection.identity(), self.offered.digest);
        Assessment {
            effect: effect.into(),
            standing: Some("*".into()),
            digest: digest.into(),
            ..Assessment::of(&self.info, input)
        }
    }

    fn assesses_at_once(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let Value::Object(arguments) = input.value() else {
                let schema = self.info.schema.text();
                return ToolResult::error(format!("{} takes an object: {schema}", self.info.name));
            };
            let call = self.server.call(&self.offered, arguments, context);
            if !self.server.writes_files() {
                return call.await;
            }
            let seconds = self.server.settings().call_time.as_secs();
            match tool::watched(context, seconds, call).await {
                Ok((result, lines)) if lines.is_empty() => result,
                Ok((result, lines)) => {
                    for line in &lines {
                        tracing::warn!(thread = %context.thread, "{}: {line}", self.info.name);
                    }
                    let content = format!("{}\n[{}]", result.content, lines.join("]\n["));
                    let foreign = Some(output::origin(&self.server.settings().name));
                    ToolResult { is_error: true, executed: true, content: content.into(), foreign, ..result }
                }
                Err(why) => ToolResult::error(format!("{} was not called: {why}", self.info.name)),
            }
        })
    }
}
