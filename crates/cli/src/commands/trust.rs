//! `majordomo trust`: shows what a project would bring into force, asks, and keeps the answer. Also the question that `run`
//! asks before it works in a folder that the user has not decided on.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use agent::policy::VERBS;
use majordomo::agents::{self, Known, Product};
use majordomo::config::{Config, Entry, Flags, Origin, Surroundings};
use majordomo::hooks;
use majordomo::trust::{self, Answer, Standing};
use serde_json::{Value, json};
use tool::Sandbox;
use view::safe;

use super::{configured, configured_in, registry, surroundings, warn};
use crate::arguments::Trust;
use crate::error::Failure;
use crate::out;

/// The widest that a stranger's words are shown.
const WIDE: usize = 160;
/// The widest that a command is shown.
const WHOLE: usize = 8_000;

/// `majordomo trust`.
pub fn trust(arguments: &Trust) -> Result<u8, Failure> {
    let flags = arguments.place.flags();
    let config = of_folder(arguments.folder.as_deref(), &flags)?;
    let project = &config.project;
    let root = safe::line(&project.root.to_string_lossy(), WIDE);
    let mut result = out::Result::Stdout;
    if arguments.revoke {
        let was_there = trust::forget(&config, &project.root)?;
        let said =
            if was_there { "is no longer trusted: its settings can only restrict" } else { "was not trusted before" };
        result.line(&format!("{root} {said}"))?;
        return Ok(0);
    }
    for line in shown(&config) {
        result.line(&line)?;
    }
    if arguments.show || matches!(project.standing, Standing::Empty | Standing::Trusted) {
        return Ok(0);
    }
    let is_agreed = match arguments.yes {
        true => true,
        false if io::stdin().is_terminal() => asked("Trust this project?")?,
        false => {
            return Err(Failure::usage(
                "stdin is not a terminal, so you cannot be asked: --show shows it, --yes trusts it",
            ));
        }
    };
    trust::answer(&config, project, if is_agreed { Answer::Trusted } else { Answer::Declined })?;
    result.line(&format!(
        "{root} {}",
        if is_agreed { "is trusted" } else { "is not trusted: its settings can only restrict" }
    ))?;
    Ok(0)
}

/// `majordomo trust ls`.
pub fn ls(flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let folders = trust::folders(&config)?;
    let mut result = out::Result::Stdout;
    if json {
        let folder = |folder: &trust::Folder| json!({ "id": folder.path, "path": folder.path, "digest": folder.digest, "answer": folder.answer });
        result.line(&Value::from(folders.iter().map(folder).collect::<Vec<_>>()).to_string())?;
        return Ok(0);
    }
    for folder in &folders {
        let word = match folder.answer {
            Answer::Trusted => "trusted",
            Answer::Declined => "declined",
        };
        if !result.line(&format!("{word:<8} {}", safe::line(&folder.path.to_string_lossy(), WIDE)))? {
            break;
        }
    }
    if folders.is_empty() {
        out::note("no folder was trusted or declined yet");
    }
    Ok(0)
}

/// The configuration for a run. At a terminal, the user is asked once about a project that is not decided on; elsewhere it can
/// only narrow, and a warning says so.
pub fn settled(flags: &Flags, may_ask: bool) -> Result<(Surroundings, Config), Failure> {
    let surroundings = surroundings()?;
    let mut config = Config::load(&surroundings, flags)?;
    let is_open = matches!(config.project.standing, Standing::Unknown | Standing::Changed);
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_open && !config.withheld.is_empty() && may_ask && is_terminal {
        for line in shown(&config) {
            out::note(&line);
        }
        let is_agreed = asked("Trust this project? Without trust its settings can only restrict.")?;
        trust::answer(&config, &config.project, if is_agreed { Answer::Trusted } else { Answer::Declined })?;
        config = Config::load(&surroundings, flags)?;
    }
    warn(&surroundings, &config);
    Ok((surroundings, config))
}

/// The configuration as it is in a folder, with the same folder for state.
fn of_folder(folder: Option<&Path>, flags: &Flags) -> Result<Config, Failure> {
    let here = surroundings()?;
    let config = Config::load(&here, flags)?;
    let Some(folder) = folder else { return Ok(config) };
    let cwd = folder
        .canonicalize()
        .map_err(|error| Failure::usage(format!("there is no folder {}: {error}", folder.display())))?;
    let (_, config) = configured_in(cwd, (&here, &config), flags)?;
    Ok(config)
}

/// What a project would bring into force, or has, as lines for a person. Its words are a stranger's.
fn shown(config: &Config) -> Vec<String> {
    let project = &config.project;
    let root = safe::line(&project.root.to_string_lossy(), WIDE);
    let says = match project.standing {
        Standing::Empty => return vec![format!("{root} has no settings that need trust")],
        Standing::Trusted => "is trusted; in effect:",
        Standing::Declined => "is not trusted, as you chose; trust would put into effect:",
        Standing::Changed => "has changed since you decided; trust would put into effect:",
        Standing::Unknown => "is not trusted; trust would put into effect:",
    };
    let mut lines = vec![format!("{root} {says}")];
    let of_project = |entry: &&Entry| match &entry.origin {
        Origin::File { path, .. } => project.config.as_ref().is_some_and(|file| file.path == *path),
        _ => false,
    };
    let active = config.entries().iter().filter(of_project).filter(|_| project.is_trusted());
    let setting = |entry: &Entry| format!("  {} = {}", entry.key, safe::line(&entry.value.to_string(), WIDE));
    lines.extend(active.chain(&config.withheld.settings).map(setting));
    let file = project.config.as_ref().map(|file| format!("{}:", file.path.display())).unwrap_or_default();
    let active = config.rules.iter().filter(|rule| project.is_trusted() && rule.origin.starts_with(&file));
    let rule = |rule| format!("  rule: {}", safe::line(&format!("{rule}"), WIDE));
    lines.extend(active.chain(&config.withheld.rules).map(rule));
    lines.extend(agents_of(config));
    let of_project =
        |server: &&majordomo::servers::mcp::ServerSettings| project.is_trusted() && &*server.origin == ".mcp.json";
    let active = config.servers.iter().filter(of_project).map(|server| (server.name.to_string(), server.shown()));
    // What would be started is shown whole: a cut could hide its end.
    let server = |(name, shown): (String, String)| format!("  MCP server {name}: {}", safe::line(&shown, WHOLE));
    lines.extend(active.chain(config.withheld.servers.iter().cloned()).map(server));
    let named = |file: &trust::File| format!("    runs {}", safe::line(&file.path.to_string_lossy(), WHOLE));
    lines.extend(project.server_files.iter().map(named));
    let shown = |kind: &str, file: &trust::File| {
        let below = file.path.strip_prefix(&project.root).unwrap_or(&file.path);
        format!("  {kind}: {}", safe::line(&below.to_string_lossy(), WIDE))
    };
    if let Some(file) = &project.hooks {
        lines.extend(hooks::of_text(file).into_iter().map(|line| format!("  hook: {}", safe::line(&line, WHOLE))));
        lines.extend(project.hook_files.iter().map(named));
    }
    lines.extend(project.skills.iter().map(|file| shown("skill", file)));
    lines.extend(project.instructions.iter().map(|file| shown("instructions", file)));
    if lines.len() == 1 {
        lines.push("  nothing: its settings only restrict, and those are in effect without trust".to_owned());
    }
    lines
}

fn agents_of(config: &Config) -> Vec<String> {
    let infos = registry(Sandbox::default()).infos();
    let known = Known::new(infos.keys().map(AsRef::as_ref).chain(VERBS).chain(majordomo::household::TOOLS), config);
    let line = |file: &trust::File, product: Product, name: &str| {
        let read =
            file.text.as_ref().map_err(Clone::clone).and_then(|text| agents::read_any(product, text, name, &known));
        let said = match read {
            Ok(definition) if agents::is_left_out(product, &definition.agent.name) => {
                format!("{} is left out: it is the name of a built-in agent", definition.agent.name)
            }
            Ok(definition) => {
                let agent = definition.agent;
                let tools = agent.tools.map_or("all tools".to_owned(), |tools| tools.join(", "));
                let mode = agent.mode.map_or("mode of its parent", |mode| mode.as_str());
                format!("{} ({mode}; {tools}): {}", agent.name, agent.description)
            }
            Err(why) => format!("{name} cannot be used: {why}"),
        };
        format!("  agent: {}", safe::line(&said, WIDE))
    };
    let project = &config.project;
    let ours = project.agents.iter().map(|file| line(file, Product::Majordomo, &agents::stem(&file.path)));
    let others = project.foreign_agents.iter().map(|agent| line(&agent.file, agent.product, &agent.name));
    ours.chain(others).collect()
}

/// Whether the person at this terminal says yes.
fn asked(question: &str) -> Result<bool, Failure> {
    let cannot = |error| Failure::failed(format!("cannot ask at the terminal: {error}"));
    write!(io::stderr().lock(), "{question} [y/N] ").map_err(cannot)?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(cannot)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
