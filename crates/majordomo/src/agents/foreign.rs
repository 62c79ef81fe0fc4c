//! One agent from the file of another product. What the file says is used as far as it has a meaning here, and everything else is named.
//!
//! A file can only take away: a permission that it grants is not used, because the person's own rules and the mode of the parent decide
//! what an agent may do. Left to others: what names mean (`names.rs`), where files lie (`product.rs`).

use std::collections::BTreeSet;
use std::sync::Arc;

use agent::Mode;
use agent::permission::{Action, Rule, matches};
use agent::role::Agent;
use provider::Effort;

use super::definition::{Definition, LONGEST_NAME, names, one_line};
use super::front_matter::{self, Field, Value};
use super::names::{self as table, ModelName, ToolName};
use super::{Known, Product};

/// The longest description: it is part of every request of an agent that can start this one.
const LONGEST_DESCRIPTION: usize = 240;

/// Reads an agent's file, or says in a sentence why it cannot be used. `file_name` is the agent's name where the file gives none.
pub(super) fn read(product: Product, text: &str, file_name: &str, known: &Known<'_>) -> Result<Definition, String> {
    let mut draft = Draft::default();
    let fields = match product {
        Product::Codex => of_toml(text)?,
        Product::Goose if !is_markdown(text) => front_matter::document(text)?,
        _ => {
            let text = without_fence(text);
            // A file of Copilot may consist of its prompt alone.
            match front_matter::split_foreign(text) {
                Ok(split) => {
                    draft.prompt = split.body.to_owned();
                    split.fields
                }
                Err(_) if product == Product::Copilot && !text.trim_start().starts_with("---") => {
                    draft.prompt = text.trim().to_owned();
                    Vec::new()
                }
                Err(why) => return Err(why),
            }
        }
    };
    for Field { key, value, .. } in &fields {
        draft.take(product, key, value)?;
    }
    draft.into_definition(product, file_name, known)
}

/// What was read so far.
#[derive(Default)]
struct Draft {
    name: Option<String>,
    description: Option<String>,
    prompt: String,
    /// In the order of preference.
    models: Vec<String>,
    tools: Option<Vec<String>>,
    without: Vec<String>,
    /// The tools of servers that are taken from it: `server__tool`.
    denied: Vec<Arc<str>>,
    /// The servers that it gets, by the names that they have here.
    servers: Option<Vec<Arc<str>>>,
    /// The tools that it gets of servers of which it does not get all: `server__tool`.
    server_tools: Vec<Arc<str>>,
    mode: Option<Mode>,
    effort: Option<Arc<str>>,
    /// What is asked about or denied: a tool's name, a pattern, and what is done.
    limits: Vec<(String, Option<String>, Action)>,
    parameters: Vec<Parameter>,
    provider: Option<String>,
    notes: Vec<String>,
    /// Keys without a meaning here.
    unused: Vec<String>,
}

/// The tools that an agent names, none for all, and the rules that hold for them.
type ToolsAndRules = (Option<Vec<Arc<str>>>, Vec<Rule>);

/// A value that a recipe of goose leaves open.
struct Parameter {
    key: String,
    description: String,
    default: Option<String>,
}

impl Draft {
    fn take(&mut self, product: Product, key: &str, value: &Value) -> Result<(), String> {
        let text = value.as_text().map(str::to_owned);
        let is_true = text.as_deref() == Some("true");
        match (product, key) {
            (Product::Goose, "title") => self.name = self.name.take().or(text),
            (Product::Goose, "version") => {}
            (Product::Goose, "parameters") => self.parameters = parameters(value),
            (Product::Goose, "extensions") => self.extensions(value),
            (Product::Goose, "settings") => {
                let setting = |key: &str| value.get(key).and_then(Value::as_text).map(str::to_owned);
                self.provider = setting("goose_provider");
                self.models.extend(setting("goose_model"));
                if let Value::Map(entries) = value {
                    let others = entries.iter().map(|(key, _)| key).filter(|key| !key.starts_with("goose_"));
                    self.unused.extend(others.map(|key| format!("settings.{key}")));
                }
            }
            (Product::Codex, "developer_instructions") | (Product::Goose, "instructions" | "prompt") => {
                self.say(text.as_deref().unwrap_or_default());
            }
            (Product::Codex, "sandbox_mode") if text.as_deref() == Some("read-only") => self.mode = Some(Mode::Plan),
            // What an agent is used for by a product, not what it may do.
            (Product::Opencode, "mode") => {}
            (Product::Opencode, "permission") => self.permission(value),
            (Product::Opencode, "disable") if is_true => return Err("the file disables it".to_owned()),
            (Product::Opencode, "disable" | "prompt") => {}
            (Product::GeminiCli, "kind") if text.as_deref() == Some("remote") => {
                return Err("it is a remote agent (kind: remote), which cannot be started from here".to_owned());
            }
            (Product::GeminiCli, "kind") => {}
            (Product::Cursor, "readonly") => self.mode = is_true.then_some(Mode::Plan),
            (Product::QwenCode, "modelConfig") => {
                self.models.extend(value.get("model").and_then(Value::as_text).map(str::to_owned));
            }
            (_, "name") => self.name = text,
            (_, "description") => self.description = text,
            (_, "model") => self.models.extend(value.texts().unwrap_or_default()),
            (_, "effort" | "model_reasoning_effort" | "reasoningEffort" | "variant") => self.effort(key, text),
            (_, "permissionMode" | "approvalMode" | "approval_mode") => self.permission_mode(key, text.as_deref()),
            (_, "tools" | "allowed-tools" | "allowedTools") => self.tools(value),
            (_, "disallowedTools" | "disallowed_tools" | "excludeTools") => {
                self.without.extend(value.texts().unwrap_or_default());
            }
            (_, "mcpServers" | "mcp_servers" | "mcp-servers") => self.servers(value),
            (_, key) => self.unused.push(key.to_owned()),
        }
        Ok(())
    }

    /// Adds to the prompt.
    fn say(&mut self, text: &str) {
        if !self.prompt.is_empty() {
            self.prompt.push_str("\n\n");
        }
        self.prompt.push_str(text.trim());
    }

    fn tools(&mut self, value: &Value) {
        let Value::Map(entries) = value else {
            match value.texts() {
                Some(names) => self.tools = Some(names),
                None => self.notes.push("tools is neither a list of names nor a map, and is not used".to_owned()),
            }
            return;
        };
        // opencode: each tool is switched on or off, and `*` stands for all others.
        let is_on = |value: &Value| value.as_text() == Some("true");
        let named = |on: bool| entries.iter().filter(move |(name, value)| name != "*" && is_on(value) == on);
        let all_off = entries.iter().any(|(name, value)| name == "*" && !is_on(value));
        if all_off {
            self.tools = Some(named(true).map(|(name, _)| name.clone()).collect());
        }
        self.without.extend(named(false).map(|(name, _)| name.clone()));
    }

    fn servers(&mut self, value: &Value) {
        // Claude Code: a list of names, and of maps that define a server.
        let parts = match value {
            Value::List(items) => items.as_slice(),
            value => std::slice::from_ref(value),
        };
        let defined: Vec<&(String, Value)> = parts.iter().flat_map(entries).collect();
        if !defined.is_empty() {
            self.notes.push(
                "MCP servers are used by name; how one is started is taken from your own configuration, not from this file".to_owned(),
            );
        }
        for (server, value) in defined {
            self.tools_of_server(server, value);
        }
        let found = parts.iter().flat_map(|part| names(part).unwrap_or_default());
        let found: Vec<Arc<str>> = found.filter_map(|server| self.server_name(&server)).collect();
        self.servers.get_or_insert_default().extend(found);
    }

    /// What the definition of a server says about the tools that are used of it.
    fn tools_of_server(&mut self, server: &str, value: &Value) {
        let list = |keys: &[&str]| keys.iter().find_map(|key| value.get(key)?.texts());
        let wanted = list(&["tools", "includeTools", "enabled_tools", "available_tools"]).unwrap_or_default();
        if !wanted.iter().any(|tool| tool == "*") {
            self.server_tools.extend(wanted.iter().filter_map(|tool| table::tool_of_server(server, tool)));
        }
        let excluded = list(&["excludeTools", "disabled_tools"]).unwrap_or_default();
        self.denied.extend(excluded.iter().filter_map(|tool| table::tool_of_server(server, tool)));
    }

    /// The name that a server has here.
    fn server_name(&mut self, name: &str) -> Option<Arc<str>> {
        let plain = mcp::plain_name(name);
        if plain.is_none() {
            self.notes.push(format!("MCP server {name:?} has a name that no server has here, and is not used"));
        }
        plain.map(Into::into)
    }

    fn effort(&mut self, key: &str, text: Option<String>) {
        let word = text.unwrap_or_default().to_lowercase();
        let word = match word.as_str() {
            "xhigh" => "max",
            "none" => "minimal",
            word => word,
        };
        match Effort::of(word) {
            Some(effort) => self.effort = Some(effort.name().into()),
            None => self.unused.push(key.to_owned()),
        }
    }

    /// The most that it may do; a parent that may do less is not passed by it.
    fn permission_mode(&mut self, key: &str, text: Option<&str>) {
        self.mode = match text {
            Some("plan") => Some(Mode::Plan),
            Some("dontAsk" | "dont-ask") => Some(Mode::Ask),
            Some("acceptEdits" | "auto" | "auto-edit" | "auto_edit") => Some(Mode::Auto),
            Some("default" | "inherit" | "bubble" | "bypassPermissions" | "yolo") => None,
            _ => {
                self.unused.push(key.to_owned());
                None
            }
        };
        if matches!(text, Some("bypassPermissions" | "yolo")) {
            self.notes
                .push(format!("{key} is not used: a file cannot give more permission than the agent's parent has"));
        }
    }

    /// opencode: for each tool `allow`, `ask` or `deny`, or the same for patterns.
    fn permission(&mut self, value: &Value) {
        let action = |value: &Value| match value.as_text() {
            Some("deny") => Some(Action::Deny),
            Some("ask") => Some(Action::Ask),
            _ => None,
        };
        let Value::Map(entries) = value else {
            self.limits.extend(action(value).map(|action| ("*".to_owned(), None, action)));
            return;
        };
        for (tool, said) in entries {
            let Value::Map(patterns) = said else {
                self.limits.extend(action(said).map(|action| (tool.clone(), None, action)));
                continue;
            };
            let everything = |pattern: &str| (pattern != "*").then(|| pattern.to_owned());
            let strict = patterns.iter().filter_map(|(pattern, said)| Some((everything(pattern), action(said)?)));
            let before = self.limits.len();
            self.limits.extend(strict.map(|(pattern, action)| (tool.clone(), pattern, action)));
            if self.limits.len() > before && patterns.iter().any(|(_, said)| action(said).is_none()) {
                self.notes.push(format!(
                    "permission.{tool}: what it allows is not used, because here a rule that asks or denies wins over one that allows"
                ));
            }
        }
    }

    /// goose: extensions that are built in are groups of tools, all others are MCP servers.
    fn extensions(&mut self, value: &Value) {
        let Value::List(items) = value else { return self.unused.push("extensions".to_owned()) };
        let (mut tools, mut servers) = (Vec::new(), Vec::new());
        for item in items {
            let Some(name) = item.get("name").and_then(Value::as_text).or(item.as_text()) else { continue };
            match item.get("type").and_then(Value::as_text) {
                Some("stdio" | "sse" | "streamable_http" | "inline_python" | "frontend") => {
                    servers.extend(self.server_name(name));
                    self.tools_of_server(name, item);
                }
                _ => tools.push(name.to_owned()),
            }
        }
        self.tools = Some(tools);
        self.servers = Some(servers);
    }

    fn into_definition(mut self, product: Product, file_name: &str, known: &Known<'_>) -> Result<Definition, String> {
        self.fill_parameters();
        let prompt = std::mem::take(&mut self.prompt);
        if prompt.trim().is_empty() {
            return Err("it has no prompt".to_owned());
        }
        let name = self.name.take().map(|name| plain_name(&name)).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| plain_name(file_name));
        if name.is_empty() {
            return Err("it has no name of letters and digits".to_owned());
        }
        let description = self.description.take().map(|text| short(&text)).filter(|text| !text.is_empty());
        let description = description.unwrap_or_else(|| {
            self.notes.push("it has no description: the first line of its prompt takes the place".to_owned());
            short(prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim_start_matches('#'))
        });
        let name: Arc<str> = name.into();
        let model = self.model(known);
        let (tools, rules) = self.resolve_tools(product, &name, known)?;
        let mut warnings = self.notes;
        if !self.unused.is_empty() {
            warnings.push(format!("not used here: {}", self.unused.join(", ")));
        }
        let agent = Agent {
            name,
            description: description.into(),
            prompt: prompt.into(),
            model,
            tools,
            lends: Vec::new(),
            requires: Vec::new(),
            mcp_servers: self.servers,
            mode: self.mode,
            effort: self.effort,
        };
        Ok(Definition { agent, preset: None, rules, warnings })
    }

    /// The first of the named models that can be asked; none for the parent's.
    fn model(&mut self, known: &Known<'_>) -> Option<Arc<str>> {
        let provider = self.provider.take();
        for name in std::mem::take(&mut self.models) {
            let name = match &provider {
                Some(provider) if !name.contains('/') => format!("{provider}/{name}"),
                _ => name,
            };
            match table::model(&name, |provider| known.has_provider(provider)) {
                ModelName::Inherit => return None,
                ModelName::Named(model) if known.can_ask(&model) => return Some(model.into()),
                ModelName::Named(model) => {
                    let provider = model.split('/').next().unwrap_or_default();
                    self.notes.push(format!(
                        "model {name} is one of {provider}, for which no key is set: the model of its parent is used"
                    ));
                }
                ModelName::Unknown => {
                    self.notes.push(format!("model {name} is not known: the model of its parent is used"));
                }
            }
        }
        None
    }

    fn resolve_tools(
        &mut self,
        product: Product,
        agent: &Arc<str>,
        known: &Known<'_>,
    ) -> Result<ToolsAndRules, String> {
        let mut rules = Vec::new();
        for (tool, pattern, action) in std::mem::take(&mut self.limits) {
            let meant = table::restricted(product, &tool);
            if meant.is_empty() {
                self.unused.push(format!("permission.{tool}"));
            }
            for tool in meant {
                let rule = Rule { action, ..Rule::deny(tool) }.by(agent.clone());
                rules.push(match &pattern {
                    Some(pattern) => rule.on(pattern.as_str()),
                    None => rule,
                });
            }
        }
        let mut tools = match self.tools.take() {
            None => None,
            Some(listed) => self.listed_tools(product, &listed, known)?,
        };
        // All tools by name, where some are not to be among them. Those of servers come without being named.
        let inherits = self.servers.is_none().then(|| table::EVERY_SERVER.into());
        let all = || known.of_workspace().map(Arc::from).chain(inherits.clone()).collect();
        let mut without = Vec::new();
        rules.extend(std::mem::take(&mut self.denied).into_iter().map(|tool| Rule::deny(tool).by(agent.clone())));
        for name in std::mem::take(&mut self.without) {
            let meant = table::restricted(product, &name);
            if meant.is_empty() {
                self.notes.push(format!("tool {name}, which it is not to have, is not known here"));
            }
            for tool in meant {
                match tool.contains(mcp::SEPARATOR) || *tool == *"*" {
                    true => rules.push(Rule::deny(tool).by(agent.clone())),
                    false => without.push(tool),
                }
            }
        }
        if !without.is_empty() {
            tools.get_or_insert_with(all).retain(|tool| !without.contains(tool));
        }
        if !self.server_tools.is_empty() {
            let tools = tools.get_or_insert_with(all);
            let named = std::mem::take(&mut self.server_tools);
            // A server is granted whole, unless the file names some of its tools. An agent that names servers would get all of each.
            for server in self.servers.take().unwrap_or_default() {
                if !is_named(&named, &server) {
                    tools.extend(table::tool_of_server(&server, "*"));
                }
            }
            tools.extend(named);
            let mut seen = BTreeSet::new();
            tools.retain(|tool| seen.insert(tool.clone()));
        }
        // What is denied anyway is not shown to the model either.
        let denied = |tool: &str| {
            rules.iter().any(|rule| rule.action == Action::Deny && rule.pattern.is_none() && matches(&rule.tool, tool))
        };
        if let Some(tools) = &mut tools {
            tools.retain(|tool| !tool.contains(mcp::SEPARATOR) || !denied(tool));
        }
        if let Some(servers) = &mut self.servers {
            let mut seen = BTreeSet::new();
            servers.retain(|server| {
                let whole = table::tool_of_server(server, "*");
                seen.insert(server.clone()) && !whole.is_some_and(|whole| denied(&whole))
            });
        }
        Ok((tools, rules))
    }

    /// The tools of a list that exist here; none for all of them. The tools of servers are noted as they are named: no server is started yet.
    fn listed_tools(
        &mut self,
        product: Product,
        listed: &[String],
        known: &Known<'_>,
    ) -> Result<Option<Vec<Arc<str>>>, String> {
        let (mut found, mut has_all) = (Vec::<Arc<str>>::new(), false);
        let (mut whole, mut parts, mut every) = (Vec::new(), Vec::new(), false);
        for name in listed {
            if name.contains('(') {
                self.notes.push(format!("{name}: what is in parentheses has no effect, your permission rules decide"));
            }
            let ours: Vec<String> = match table::tool(name) {
                ToolName::All => {
                    has_all = true;
                    continue;
                }
                ToolName::Server(None) => {
                    every = true;
                    continue;
                }
                ToolName::Server(Some(server)) => {
                    whole.extend(self.server_name(&server));
                    continue;
                }
                ToolName::ServerTool(server, tool) => {
                    if self.server_name(&server).is_some() {
                        parts.extend(table::tool_of_server(&server, &tool));
                    }
                    continue;
                }
                ToolName::Ours([]) => {
                    self.notes.push(format!("tool {name} has no counterpart here"));
                    continue;
                }
                ToolName::Ours(ours) => ours.to_vec(),
                ToolName::Unknown => {
                    let meant = table::restricted(product, name);
                    if !meant.is_empty() {
                        self.notes.push(format!("tool {name} is taken for one of an MCP server"));
                        parts.extend(meant);
                        continue;
                    }
                    vec![name.clone()]
                }
            };
            for tool in ours {
                if !known.has_tool(&tool) {
                    let is_same = tool == *name;
                    let said = if is_same {
                        format!("tool {name} is not known")
                    } else {
                        format!("tool {name} ({tool}) is not offered")
                    };
                    self.notes.push(said);
                } else if !found.iter().any(|there| **there == *tool) {
                    found.push(tool.into());
                }
            }
        }
        if has_all {
            return Ok(None);
        }
        // Servers that the file grants elsewhere are all that it means by every server.
        if every && self.servers.is_none() {
            parts.push(table::EVERY_SERVER.into());
        }
        if parts.is_empty() && self.server_tools.is_empty() {
            if !whole.is_empty() {
                self.servers.get_or_insert_default().extend(whole);
            }
        } else {
            // Where the file defines the server, it may have chosen some of its tools.
            whole.retain(|server| !is_named(&self.server_tools, server));
            parts.extend(whole.iter().filter_map(|server| table::tool_of_server(server, "*")));
            self.server_tools.extend(parts);
        }
        let has_servers = !self.server_tools.is_empty() || self.servers.as_ref().is_some_and(|all| !all.is_empty());
        if !listed.is_empty() && found.is_empty() && !has_servers {
            return Err(format!("none of its tools exists here: {}", listed.join(", ")));
        }
        Ok(Some(found))
    }

    /// Values that a recipe leaves open get their default, or come with the task.
    fn fill_parameters(&mut self) {
        let mut open = Vec::new();
        for Parameter { key, description, default } in std::mem::take(&mut self.parameters) {
            let Some(value) = default else {
                open.push(if description.is_empty() { key } else { format!("{key}: {description}") });
                continue;
            };
            for spelled in [format!("{{{{ {key} }}}}"), format!("{{{{{key}}}}}")] {
                self.prompt = self.prompt.replace(&spelled, &value);
            }
        }
        if !open.is_empty() {
            self.say(&format!("Your task gives the values that stand in double braces above. {}", open.join("; ")));
        }
    }
}

/// The entries of a map; none of anything else.
fn entries(value: &Value) -> &[(String, Value)] {
    match value {
        Value::Map(entries) => entries,
        Value::Text(_) | Value::List(_) | Value::Nothing => &[],
    }
}

/// Whether a tool of this server is among these.
fn is_named(tools: &[Arc<str>], server: &str) -> bool {
    tools.iter().any(|tool| tool.split_once(mcp::SEPARATOR).is_some_and(|(named, _)| named == server))
}

fn parameters(value: &Value) -> Vec<Parameter> {
    let Value::List(items) = value else { return Vec::new() };
    let parameter = |item: &Value| {
        let text = |key: &str| item.get(key).and_then(Value::as_text).map(str::to_owned);
        Some(Parameter {
            key: text("key")?,
            description: text("description").unwrap_or_default(),
            default: text("default").filter(|default| !default.is_empty()),
        })
    };
    items.iter().filter_map(parameter).collect()
}

/// The keys of a TOML file.
fn of_toml(text: &str) -> Result<Vec<Field>, String> {
    let table: toml::Table = toml::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| {
        let line = 1 + text[..error.span().map_or(0, |span| span.start.min(text.len()))].matches('\n').count();
        format!("line {line}: this is not valid TOML")
    })?;
    let field = |(key, value): (String, toml::Value)| Field { key, value: of_toml_value(value), line: 1 };
    Ok(table.into_iter().map(field).collect())
}

fn of_toml_value(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::Text(text),
        toml::Value::Array(items) => Value::List(items.into_iter().map(of_toml_value).collect()),
        toml::Value::Table(table) => {
            Value::Map(table.into_iter().map(|(key, value)| (key, of_toml_value(value))).collect())
        }
        other => Value::Text(other.to_string()),
    }
}

/// A recipe of goose begins with a key; an agent of goose is Markdown with front matter.
fn is_markdown(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.starts_with("---") && text.lines().skip(1).any(|line| line.trim_end() == "---")
}

/// Some files of VS Code are one block of code in Markdown, as they were copied from a page.
fn without_fence(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = text.trim_start().strip_prefix("```") else { return text };
    let Some((_, inside)) = rest.split_once('\n') else { return text };
    if !inside.starts_with("---") {
        return text;
    }
    let inside = inside.trim_end();
    inside.trim_end_matches('`')
}

/// A name of letters, digits, dashes, underscores and blanks.
fn plain_name(name: &str) -> String {
    let mut plain = String::new();
    for c in name.trim().chars() {
        match c {
            c if c.is_alphanumeric() || matches!(c, '_' | ' ') => plain.push(c),
            _ if plain.ends_with('-') => {}
            _ => plain.push('-'),
        }
    }
    let cut: String = plain.trim_matches(['-', ' ']).chars().take(LONGEST_NAME).collect();
    cut.trim_end_matches(['-', ' ']).to_owned()
}

/// A description in one line: without examples, and no longer than a model needs to choose.
fn short(text: &str) -> String {
    let text = text.replace("\\n", " ");
    let end = ["<example>", "Examples:", "<commentary>"].iter().filter_map(|mark| text.find(mark)).min();
    let text = one_line(&text[..end.unwrap_or(text.len())]);
    match text.char_indices().nth(LONGEST_DESCRIPTION) {
        None => text,
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
    }
}
