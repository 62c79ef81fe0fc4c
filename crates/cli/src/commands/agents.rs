//! `majordomo agents ls`: the agents that stay, which a task can be given to by name. Agents that an agent makes for one task
//! are in the log of that task and nowhere else.

use agent::policy::VERBS;
use majordomo::agents::{Agents, Found};
use majordomo::config::Flags;
use majordomo::household::TOOLS;
use serde_json::{Value, json};
use tool::Sandbox;
use view::draw::columns;
use view::safe;

use super::{configured, registry};
use crate::error::Failure;
use crate::out;

/// The widest that a description is shown.
const WIDE: usize = 160;

/// `majordomo agents ls`.
pub fn ls(flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let infos = registry(Sandbox::default()).infos();
    let tools: Vec<&str> = infos.keys().map(AsRef::as_ref).chain(VERBS).chain(TOOLS).collect();
    let agents = Agents::load(&surroundings, &config.project, &tools);
    for notice in agents.warnings.iter().chain(&agents.broken) {
        out::note(&format!("warning: {}", safe::line(&notice.to_string(), WIDE)));
    }
    let mut result = out::Result::Stdout;
    if json {
        result.line(&agents.found.iter().map(object).collect::<Value>().to_string())?;
        return Ok(0);
    }
    let name = |found: &Found| safe::line(&found.agent.name, WIDE);
    let wide = agents.found.iter().map(|found| columns::width(&name(found))).max().unwrap_or(0);
    for found in &agents.found {
        let (name, words) = (columns::left(&name(found), wide), safe::line(&found.agent.description, WIDE));
        let source = safe::line(&found.source.to_string(), WIDE);
        if !result.line(&out::hanging(&format!("{name}  "), &format!("{words}  ({source})")))? {
            break;
        }
    }
    Ok(0)
}

fn object(found: &Found) -> Value {
    let agent = &found.agent;
    json!({
        "id": agent.name,
        "description": agent.description,
        "model": agent.model,
        "tools": agent.tools,
        "mode": agent.mode,
        "source": found.source.to_string(),
    })
}
