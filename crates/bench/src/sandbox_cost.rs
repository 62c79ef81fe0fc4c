//! A command that does nothing, with and without a sandbox around it: what the cost cost.

use std::sync::Arc;

use anyhow::ensure;
use majordomo::agent::{CallId, Json, ThreadId};
use majordomo::tool::{CommandHost, Guard, Registry, Sandbox, ToolContext, Workspace};
use serde_json::json;

use crate::SandboxCost;
use crate::figure::median;
use crate::gauge::{Gauge, Taken};

/// Commands in one measurement; the middle one counts.
const COMMANDS: usize = 41;

/// Runs commands one after the other. The first one, which finds out what works on this machine, does not count.
pub async fn measure(cost: &SandboxCost) -> anyhow::Result<Taken> {
    let sandbox = if cost.sandbox { Sandbox::probe(&[]) } else { Sandbox::default() };
    let host = CommandHost { guard: Guard::SelfExe, sandbox };
    ensure!(host.is_confining() == cost.sandbox, "no sandbox works on this machine");
    let workspace = Arc::new(Workspace::open(&cost.workspace)?);
    let bench = ToolContext::new(workspace, ThreadId::new("20260115-k3f9"), CallId::new("tu_1"));
    let tools = Registry::standard(host);
    let tool = tools.get("run_command").expect("commands are a standard tool");
    let input = Json::of(&json!({"command": "true"}));
    let mut times = Vec::new();
    let mut last = Taken::default();
    for turn in 0..=COMMANDS {
        let gauge = Gauge::begin();
        let result = tool.run(&input, &bench).await;
        last = gauge.end()?;
        ensure!(!result.is_error, "{}", result.content);
        if turn > 0 {
            times.push(last.wall_us);
        }
    }
    Ok(Taken { wall_us: median(times), ..last })
}
