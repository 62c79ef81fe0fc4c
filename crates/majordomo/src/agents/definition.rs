//! One agent from the text of its file.

use std::sync::Arc;

use agent::Mode;
use agent::permission::Rule;
use agent::role::Agent;
use provider::Effort;

use super::front_matter::{self, Value};
use crate::config::{clause, likeness, nearest};
use crate::presets;

/// An agent and what a person should know about its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The agent.
    pub agent: Agent,
    /// The preset under which it works where nobody chose another.
    pub preset: Option<String>,
    /// What the file forbids the agent besides: rules that ask or deny, never one that allows.
    pub rules: Vec<Rule>,
    /// One sentence each.
    pub warnings: Vec<String>,
}

/// The longest name.
pub(super) const LONGEST_NAME: usize = 64;

/// Reads an agent's file, or says in a sentence why it cannot be used. `file_name` is its name without `.md`, and the
/// agent's where the file gives none; `tools` are the names of everything that an agent can be given, verbs included.
pub fn read(text: &str, file_name: &str, tools: &[&str]) -> Result<Definition, String> {
    let split = front_matter::split(text)?;
    let mut file = File { file_name, ..File::default() };
    for field in split.fields {
        file.take(&field.key, field.value, tools).map_err(|why| format!("line {}: {} {why}", field.line, field.key))?;
    }
    file.into_definition(split.body)
}

/// An agent as a file of ours, which is read as the same agent. Rules are no part of it.
pub fn to_text(definition: &Definition) -> String {
    // A text in JSON is a text in YAML.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let list = |names: &[Arc<str>]| names.join(", ");
    let agent = &definition.agent;
    let mut head =
        vec![format!("name: {}", quoted(&agent.name)), format!("description: {}", quoted(&agent.description))];
    head.extend(agent.model.as_ref().map(|model| format!("model: {}", quoted(model))));
    head.extend(agent.effort.as_ref().map(|effort| format!("effort: {effort}")));
    head.extend(agent.tools.as_ref().filter(|tools| !tools.is_empty()).map(|tools| format!("tools: {}", list(tools))));
    head.extend(agent.mcp_servers.as_ref().map(|servers| {
        let servers: Vec<String> = servers.iter().map(|server| quoted(server)).collect();
        format!("mcp_servers: [{}]", servers.join(", "))
    }));
    head.extend((!agent.lends.is_empty()).then(|| format!("lends: {}", list(&agent.lends))));
    head.extend((!agent.requires.is_empty()).then(|| {
        let labels: Vec<String> = agent.requires.iter().map(|label| quoted(label)).collect();
        format!("requires: [{}]", labels.join(", "))
    }));
    head.extend(agent.mode.map(|mode| format!("mode: {mode}")));
    head.extend(definition.preset.as_ref().map(|preset| format!("preset: {preset}")));
    format!("---\n{}\n---\n{}\n", head.join("\n"), agent.prompt.trim())
}

/// The preset that a file names, if it is the file of this agent.
pub(super) fn preset_of(text: &str, file_name: &str, agent: &str) -> Option<Option<String>> {
    let split = front_matter::split(text).ok()?;
    let field = |key: &str| split.fields.iter().find(|field| field.key == key).map(|field| field.value.clone());
    let name = field("name").and_then(|name| text_of(name).ok()).unwrap_or_else(|| file_name.to_owned());
    let preset = || field("preset").and_then(|preset| text_of(preset).ok()).filter(|name| is_preset(name));
    super::is_same_name(&name, agent).then(preset)
}

/// What was read so far.
#[derive(Default)]
struct File<'a> {
    file_name: &'a str,
    warnings: Vec<String>,
    name: Option<String>,
    description: Option<String>,
    model: Option<Arc<str>>,
    tools: Option<Vec<Arc<str>>>,
    lends: Vec<Arc<str>>,
    requires: Vec<Arc<str>>,
    mcp_servers: Option<Vec<Arc<str>>>,
    mode: Option<Mode>,
    effort: Option<Arc<str>>,
    preset: Option<String>,
}

impl File<'_> {
    fn take(&mut self, key: &str, value: Value, tools: &[&str]) -> Result<(), String> {
        match key {
            "name" => self.name = Some(text_of(value)?),
            "description" => self.description = Some(one_line(&text_of(value)?)),
            "model" => self.model = model(&text_of(value)?)?,
            "mode" => self.mode = Some(mode(&text_of(value)?)?),
            "effort" => self.effort = Some(effort(&text_of(value)?)?),
            "tools" => self.tools = Some(self.known_tools(&value, tools)?),
            "lends" => self.lends = self.known_tools(&value, tools)?,
            "mcp_servers" => {
                let names = names(&value).ok_or("expects names of MCP servers, as a list or with commas")?;
                // As a server is named in `.mcp.json`, or as it is called here.
                let plain = |name: Arc<str>| mcp::plain_name(&name).map_or(name, Into::into);
                self.mcp_servers = Some(names.into_iter().map(plain).collect());
            }
            "requires" => {
                self.requires = names(&value).ok_or("expects labels of machines, as a list or with commas")?;
            }
            "preset" => self.preset = Some(preset(&text_of(value)?)?),
            unknown => {
                let meant = nearest(&front_matter::KEYS, |known| likeness(unknown, known));
                self.warnings.push(format!("unknown key {unknown}{}", clause(meant)));
            }
        }
        Ok(())
    }

    /// The tools of a list that exist. A list of which nothing is left is an error: an agent that was to have a few tools
    /// must end up neither with none nor with all.
    fn known_tools(&mut self, value: &Value, tools: &[&str]) -> Result<Vec<Arc<str>>, String> {
        let asked = value.texts().ok_or("expects names of tools, as a list or with commas between them")?;
        let mut known = Vec::<Arc<str>>::new();
        for name in asked {
            // The tools of servers are not known yet: none is started to read a file.
            if !tools.contains(&name.as_str()) && !name.contains(mcp::SEPARATOR) {
                let meant = nearest(tools, |tool| likeness(&name, tool));
                self.warnings.push(format!("unknown tool {name}{}", clause(meant)));
            } else if !known.iter().any(|tool| **tool == *name) {
                known.push(name.into());
            }
        }
        if known.is_empty() {
            return Err(format!("names no tool that exists; there are {}", tools.join(", ")));
        }
        Ok(known)
    }

    fn into_definition(self, body: &str) -> Result<Definition, String> {
        let name = self.name.unwrap_or_else(|| self.file_name.to_owned());
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
        if name.is_empty() || name.chars().count() > LONGEST_NAME || !name.chars().all(plain) {
            return Err(format!("name expects up to {LONGEST_NAME} letters, digits, dashes, underscores and blanks"));
        }
        let description = self.description.filter(|text| !text.is_empty());
        let description =
            description.ok_or("description is missing: one line that tells a model when to use the agent")?;
        if body.is_empty() {
            return Err("there is no prompt below the front matter".to_owned());
        }
        let agent = Agent {
            name: name.into(),
            description: description.into(),
            prompt: body.into(),
            model: self.model,
            tools: self.tools,
            lends: self.lends,
            requires: self.requires,
            mcp_servers: self.mcp_servers,
            mode: self.mode,
            effort: self.effort,
        };
        Ok(Definition { agent, preset: self.preset, rules: Vec::new(), warnings: self.warnings })
    }
}

fn text_of(value: Value) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text.trim().to_owned()),
        Value::List(_) | Value::Map(_) | Value::Nothing => Err("expects a text".to_owned()),
    }
}

/// Names as a list, as a text with commas, or as the keys of a map.
pub(super) fn names(value: &Value) -> Option<Vec<Arc<str>>> {
    match value {
        Value::Map(entries) => Some(entries.iter().map(|(name, _)| name.as_str().into()).collect()),
        value => Some(value.texts()?.into_iter().map(Into::into).collect()),
    }
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn effort(word: &str) -> Result<Arc<str>, String> {
    let known = Effort::of(word).map(|effort| effort.name().into());
    known.ok_or_else(|| format!("expects {}", Effort::NAMES.join(", ")))
}

fn mode(word: &str) -> Result<Mode, String> {
    word.parse().map_err(|_| "expects plan, ask, auto or dangerous".to_owned())
}

fn preset(name: &str) -> Result<String, String> {
    match is_preset(name) {
        true => Ok(name.to_owned()),
        false => Err(format!("expects one of {}", presets::NAMES.join(", "))),
    }
}

fn is_preset(name: &str) -> bool {
    presets::NAMES.contains(&name)
}

/// `inherit` is the word of other products for "the parent's".
fn model(name: &str) -> Result<Option<Arc<str>>, String> {
    match name.split_once('/') {
        _ if name == "inherit" => Ok(None),
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok(Some(name.into())),
        _ => Err("expects provider/model, or inherit".to_owned()),
    }
}
