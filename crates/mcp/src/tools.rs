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
use tool::{Origin, Registry, Tool, ToolContext};

use crate::offered::Offered;
use crate::output;
use crate::server::Server;
use crate::settings::ServerSettings;

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

/// A tool of a server that can be judged and not called, for who wants to know what would become of a call: no server is started for that. What
/// a server says about its tools decides nothing.
pub fn judged_only(settings: &ServerSettings, name: &str) -> Registry {
    let (reach, risk) = (Reach::World, Risk::High);
    let (description, schema) = ("".into(), Json::object());
    let info = ToolInfo { name: name.into(), description, schema, reach, idempotent: false, risk };
    Registry::from_origin(Origin::Server(settings.name.clone()))
        .with(JudgedOnly { info, origin: settings.origin.clone() })
}

struct JudgedOnly {
    info: ToolInfo,
    origin: Arc<str>,
}

impl Tool for JudgedOnly {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, input: &Json, _: &Path) -> Assessment {
        let effect = format!("calls a tool of an MCP server ({})", self.origin);
        Assessment { effect: effect.into(), standing: Some("*".into()), ..Assessment::of(&self.info, input) }
    }

    fn assesses_at_once(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, _: &'a Json, _: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        Box::pin(async { ToolResult::error("nothing was called: the server is not started here") })
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
