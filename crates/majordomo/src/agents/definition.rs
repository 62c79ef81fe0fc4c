//! One agent from the text of its file.

use std::sync::Arc;

use agent::Mode;
use agent::role::Agent;

use super::front_matter::{self, Value};
use crate::config::{clause, likeness, nearest};

/// An agent and what a person should know about its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The agent.
    pub agent: Agent,
    /// One sentence each.
    pub warnings: Vec<String>,
}

/// The longest name.
const LONGEST_NAME: usize = 64;

/// Reads an agent's file, or says in a sentence why it cannot be used. `file_name` is its name without `.md`, and the
/// agent's where the file gives none; `tools` are the names of everything that an agent can be given, verbs included.
pub fn read(text: &str, file_name: &str, tools: &[&str]) -> Result<Definition, String> {
    let split = front_matter::split(text)?;
    let mut file =
        File { file_name, warnings: Vec::new(), name: None, description: None, model: None, tools: None, mode: None };
    for field in split.fields {
        file.take(&field.key, field.value, tools).map_err(|why| format!("line {}: {} {why}", field.line, field.key))?;
    }
    file.into_definition(split.body)
}

/// What was read so far.
struct File<'a> {
    file_name: &'a str,
    warnings: Vec<String>,
    name: Option<String>,
    description: Option<String>,
    model: Option<Arc<str>>,
    tools: Option<Vec<Arc<str>>>,
    mode: Option<Mode>,
}

impl File<'_> {
    fn take(&mut self, key: &str, value: Value, tools: &[&str]) -> Result<(), String> {
        match key {
            "name" => self.name = Some(text(value)?),
            "description" => self.description = Some(one_line(&text(value)?)),
            "model" => self.model = model(&text(value)?)?,
            "mode" => self.mode = Some(mode(&text(value)?)?),
            "tools" => self.tools = Some(self.known_tools(value, tools)?),
            unknown => {
                let known = ["name", "description", "model", "tools", "mode"];
                let meant = nearest(&known, |known| likeness(unknown, known));
                self.warnings.push(format!("unknown key {unknown}{}", clause(meant)));
            }
        }
        Ok(())
    }

    /// The tools of a list that exist. A list of which nothing is left is an error: an agent that was to have a few tools
    /// must end up neither with none nor with all.
    fn known_tools(&mut self, value: Value, tools: &[&str]) -> Result<Vec<Arc<str>>, String> {
        let asked: Vec<String> = match value {
            Value::Text(text) => {
                text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
            }
            Value::List(list) => list,
            Value::Other => return Err("expects names of tools, as a list or with commas between them".to_owned()),
        };
        let mut known = Vec::<Arc<str>>::new();
        for name in asked {
            if !tools.contains(&name.as_str()) {
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
            mode: self.mode,
        };
        Ok(Definition { agent, warnings: self.warnings })
    }
}

fn text(value: Value) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text.trim().to_owned()),
        Value::List(_) | Value::Other => Err("expects a text".to_owned()),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn mode(word: &str) -> Result<Mode, String> {
    word.parse().map_err(|_| "expects plan, ask, auto or dangerous".to_owned())
}

/// `inherit` is the word of other products for "the parent's".
fn model(name: &str) -> Result<Option<Arc<str>>, String> {
    match name.split_once('/') {
        _ if name == "inherit" => Ok(None),
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok(Some(name.into())),
        _ => Err("expects provider/model, or inherit".to_owned()),
    }
}
