//! `majordomo agents`: the agents that stay, which a task can be given to by name; their files, also those of other products. Agents that an
//! agent makes for one task are in the log of that task and nowhere else.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use agent::policy::VERBS;
use majordomo::agents::{self, Agents, Definition, Found, Known, Notice, Product};
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::household::TOOLS;
use serde_json::{Value, json};
use view::draw::columns;
use view::safe;

use super::{configured, offered_tools};
use crate::error::{CONFIGURATION, Failure};
use crate::out;

/// The widest that a description is shown.
const WIDE: usize = 160;

/// `majordomo agents ls`.
pub fn ls(flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let agents = loaded(&surroundings, &config);
    for notice in agents.told_at_start() {
        out::note(&format!("warning: {}", safe::line(&notice, WIDE)));
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
        let source = safe::line(&origin(found), WIDE);
        if !result.line(&out::hanging(&format!("{name}  "), &format!("{words}  ({source})")))? {
            break;
        }
    }
    Ok(0)
}

/// `majordomo agents show`.
pub fn show(name: &str, flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let agents = loaded(&surroundings, &config);
    let found = by_name(&agents, name)?;
    let mut result = out::Result::Stdout;
    if json {
        let mut object = object(found);
        object["prompt"] = found.agent.prompt.as_ref().into();
        result.line(&object.to_string())?;
        return Ok(0);
    }
    for line in described(found) {
        result.line(&line)?;
    }
    result.line("")?;
    for line in found.agent.prompt.lines() {
        result.line(&safe::line(line, usize::MAX))?;
    }
    Ok(0)
}

/// `majordomo agents validate`: every agent file, or the given ones.
pub fn validate(files: &[PathBuf], flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let (mut lines, mut broken) = (Vec::new(), 0);
    let mut say = |file: String, product: Product, error: Option<&str>, notes: &[String]| {
        broken += u32::from(error.is_some());
        lines.push(json!({ "id": file, "product": product.as_str(), "error": error, "notes": notes }));
    };
    if files.is_empty() {
        let agents = loaded(&surroundings, &config);
        let about = |found: &Found| {
            let of_file = |notice: &&Notice| notice.source == found.source;
            let own = agents.warnings.iter().filter(of_file).map(|notice| notice.message.clone());
            own.chain(found.notes.iter().cloned()).collect::<Vec<_>>()
        };
        for found in &agents.found {
            say(found.source.to_string(), found.product, None, &about(found));
        }
        for notice in agents.broken.iter().chain(&agents.foreign_broken) {
            let file = notice.source.to_string();
            let product = Product::of_path(Path::new(&file));
            say(file, product, Some(&notice.message), &[]);
        }
    }
    for path in files {
        let (product, read) = from_file(path, &surroundings, &config)?;
        match read {
            Ok(definition) => say(path.display().to_string(), product, None, &definition.warnings),
            Err(why) => say(path.display().to_string(), product, Some(&why), &[]),
        }
    }
    let mut result = out::Result::Stdout;
    if json {
        result.line(&Value::from(lines).to_string())?;
    } else {
        for line in &lines {
            let file = safe::line(line["id"].as_str().unwrap_or_default(), WIDE);
            let product = line["product"].as_str().unwrap_or_default();
            let said = match line["error"].as_str() {
                Some(why) => format!("cannot be used: {}", safe::line(why, WIDE * 2)),
                None => "ok".to_owned(),
            };
            result.line(&format!("{file} ({product}): {said}"))?;
            for note in line["notes"].as_array().into_iter().flatten() {
                result.line(&format!("  {}", safe::line(note.as_str().unwrap_or_default(), WIDE * 2)))?;
            }
        }
    }
    Ok(if broken > 0 { CONFIGURATION } else { 0 })
}

/// `majordomo agents import`: makes an agent of another product the user's own.
pub fn import(what: &str, force: bool, flags: &Flags) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let path = Path::new(what);
    let definition = if path.is_file() {
        let (_, read) = from_file(path, &surroundings, &config)?;
        read.map_err(|why| {
            Failure::with_code(format!("{}: {}", path.display(), safe::line(&why, WIDE * 2)), CONFIGURATION)
        })?
    } else {
        let agents = loaded(&surroundings, &config);
        let Found { agent, preset, rules, notes, .. } = by_name(&agents, what)?.clone();
        Definition { agent, preset, rules, warnings: notes }
    };
    let Some(folder) = surroundings.user_folder().map(|folder| folder.join("agents")) else {
        return Err(Failure::failed("there is no home folder to keep agents in"));
    };
    let file = folder.join(format!("{}.md", definition.agent.name.to_lowercase().replace(' ', "-")));
    let cannot = |error: std::io::Error| Failure::failed(format!("cannot write {}: {error}", file.display()));
    fs::create_dir_all(&folder).map_err(cannot)?;
    let mut options = fs::File::options();
    options.write(true).create_new(!force).create(force).truncate(force);
    let mut opened = match options.open(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Failure::usage(format!("{} exists already: --force replaces it", file.display())));
        }
        opened => opened.map_err(cannot)?,
    };
    opened.write_all(agents::to_text(&definition).as_bytes()).map_err(cannot)?;
    for note in &definition.warnings {
        out::note(&format!("note: {}", safe::line(note, WIDE * 2)));
    }
    for rule in &definition.rules {
        out::note(&format!(
            "note: add this rule to keep what the file forbids: {}",
            safe::line(&rule.to_string(), WIDE)
        ));
    }
    out::Result::Stdout.line(&file.display().to_string())?;
    Ok(0)
}

/// All agents, with the tools that this program offers.
fn loaded(surroundings: &Surroundings, config: &Config) -> Agents {
    let tools = offered_tools(surroundings, config);
    Agents::load(surroundings, &config.project, &known(&tools, config))
}

fn known<'a>(tools: &'a [String], config: &'a Config) -> Known<'a> {
    Known::new(tools.iter().map(String::as_str).chain(VERBS).chain(TOOLS), config)
}

fn from_file(
    path: &Path,
    surroundings: &Surroundings,
    config: &Config,
) -> Result<(Product, Result<Definition, String>), Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))?;
    let product = Product::of_path(&path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    let tools = offered_tools(surroundings, config);
    let name = agents::stem(path);
    let name = name.strip_suffix(".agent").or(name.strip_suffix(".chatmode")).unwrap_or(&name);
    Ok((product, agents::read_any(product, &text, name, &known(&tools, config))))
}

fn by_name<'a>(agents: &'a Agents, name: &str) -> Result<&'a Found, Failure> {
    agents.by_name(name).map_err(Failure::usage)
}

fn origin(found: &Found) -> String {
    match found.product {
        Product::Majordomo => found.source.to_string(),
        product => format!("{product}: {}", found.source),
    }
}

/// An agent in lines, without its prompt.
fn described(found: &Found) -> Vec<String> {
    let agent = &found.agent;
    let list = |names: &[std::sync::Arc<str>]| match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    let mut lines = vec![
        format!("{}: {}", safe::line(&agent.name, WIDE), safe::line(&agent.description, WIDE * 2)),
        format!("from     {}", safe::line(&origin(found), WIDE)),
        format!("model    {}", safe::line(agent.model.as_deref().unwrap_or("of its parent"), WIDE)),
        format!("tools    {}", agent.tools.as_deref().map_or("all of its parent".to_owned(), list)),
        format!("mode     {}", agent.mode.map_or("of its parent", |mode| mode.as_str())),
    ];
    lines.extend(agent.effort.as_ref().map(|effort| format!("effort   {effort}")));
    lines.extend(agent.mcp_servers.as_deref().map(|servers| format!("servers  {}", safe::line(&list(servers), WIDE))));
    lines.extend(found.rules.iter().map(|rule| format!("rule     {}", safe::line(&rule.to_string(), WIDE))));
    lines.extend(found.shadowed.iter().map(|source| format!("replaces {}", safe::line(&source.to_string(), WIDE))));
    lines.extend(found.notes.iter().map(|note| format!("note     {}", safe::line(note, WIDE * 2))));
    lines
}

fn object(found: &Found) -> Value {
    let agent = &found.agent;
    json!({
        "id": agent.name,
        "description": agent.description,
        "model": agent.model,
        "tools": agent.tools,
        "mcp_servers": agent.mcp_servers,
        "mode": agent.mode,
        "source": found.source.to_string(),
        "product": found.product.as_str(),
        "notes": found.notes,
        "rules": found.rules,
        "replaces": found.shadowed.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
