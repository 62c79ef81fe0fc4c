//! The servers of tools: those of the user's own file, and those that a trusted project names in `.mcp.json`.
//!
//! `.mcp.json` is read as other products write it, with `${NAME}` and `${NAME:-otherwise}` for variables of the environment. A server that
//! is written wrongly is a warning, and the others count.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp::{Connection, ServerSettings, plain_name};
use provider::builtin_providers;

use super::error::Error;
use super::key::Key;
use super::layer::Layers;
use super::origin::{Origin, Warning};
use super::surroundings::Surroundings;
use super::values::{McpTable, ServerTable};
use crate::servers::{Entry, entries};
use crate::trust::{MCP_FILE, Project};

/// So many tokens of descriptions and schemas a server's tools may have before they are reached by `find_tools`.
pub(super) const SCHEMA_TOKENS: i64 = 600;

/// How long a call may take where nothing else is configured.
const CALL_S: u64 = 60;

/// The servers that a project names.
#[derive(Default)]
pub(super) struct OfProject {
    servers: Vec<Found>,
    /// Each with exactly what would be started or reached.
    pub(super) shown: Vec<(String, String)>,
    warnings: Vec<String>,
}

struct Found {
    name: String,
    connection: Connection,
    /// The connection as the file writes it.
    written: String,
    call_s: Option<u64>,
    tools: Option<Vec<String>>,
}

/// The variables that hold keys of model providers: no server of a project gets them.
pub(super) fn key_variables(layers: &Layers) -> BTreeSet<String> {
    let built_in = builtin_providers().iter().filter_map(|provider| provider.key_env).map(str::to_owned);
    let is_key = |setting: &&super::layer::Setting| {
        let parts = setting.key.parts();
        parts.len() == 3 && parts[0] == "providers" && parts[2] == "key_env"
    };
    let own = layers.settings().filter(is_key).filter_map(|setting| setting.value.as_str().map(str::to_owned));
    built_in.chain(own).collect()
}

/// The servers of a project's `.mcp.json`. `keys` are variables that none of them gets.
pub(super) fn of_project(project: &Project, surroundings: &Surroundings, keys: &BTreeSet<String>) -> OfProject {
    let mut found = OfProject::default();
    let Some(file) = &project.servers else { return found };
    let text = match &file.text {
        Ok(text) => text,
        Err(why) => {
            found.warnings.push(format!("it cannot be read: {why}"));
            return found;
        }
    };
    let entries = match entries(text) {
        Ok(entries) => entries,
        Err(why) => {
            found.warnings.push(why);
            return found;
        }
    };
    for (name, entry) in entries {
        let Some(plain) = plain_name(&name) else {
            found.warnings.push(format!(
                "MCP server {name:?} is left out: its name needs letters or digits, and up to 32 of them"
            ));
            continue;
        };
        let connection = match entry {
            Ok(Entry { is_disabled: true, .. }) => continue,
            Ok(entry) => {
                let written = entry.connection.shown();
                found.shown.push((plain.clone(), written.clone()));
                match expanded(&entry.connection, surroundings, keys) {
                    Ok(connection) => {
                        Found { name: plain, connection, written, call_s: entry.call_s, tools: entry.tools }
                    }
                    Err(why) => {
                        found.warnings.push(format!("MCP server {plain} is left out: {why}"));
                        continue;
                    }
                }
            }
            Err(why) => {
                found.warnings.push(format!("MCP server {plain} is left out: {why}"));
                continue;
            }
        };
        found.servers.push(connection);
    }
    found
}

/// All servers that are used. A server of the user's own takes the place of a project's of the same name.
pub(super) fn all(
    own: McpTable,
    of_project: OfProject,
    layers: &Layers,
    surroundings: &Surroundings,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<ServerSettings>, Error> {
    let schema_tokens = own.schema_tokens.unwrap_or_default();
    let mut all: Vec<ServerSettings> = Vec::new();
    for (name, table) in own.servers {
        let origin = origin_of(layers, &name);
        let settings = of_table(&name, table, schema_tokens, &origin, surroundings)?;
        if let Some(other) = settings.as_ref().and_then(|new| all.iter().find(|known| known.name == new.name)) {
            let expected = format!("another name: {} has the same name for agents", other.origin);
            return Err(Error::Value { origin, key: key(&name, "command"), expected, found: None });
        }
        all.extend(settings);
    }
    let place = Origin::Folder(surroundings.project().join(MCP_FILE));
    for message in of_project.warnings {
        warnings.push(Warning { origin: place.clone(), message });
    }
    for Found { name, connection, written, call_s, tools } in of_project.servers {
        if let Some(known) = all.iter().find(|known| *known.name == *name) {
            let message = format!("MCP server {name} is left out: {} has one of this name", known.origin);
            warnings.push(Warning { origin: place.clone(), message });
            continue;
        }
        all.push(ServerSettings {
            name: name.into(),
            connection,
            tools,
            network: true,
            call_time: Duration::from_secs(call_s.unwrap_or(CALL_S)),
            schema_tokens,
            trusted: false,
            sampling: false,
            written: Some(written.into()),
            origin: MCP_FILE.into(),
        });
    }
    Ok(all)
}

/// The servers of a project that is not trusted are none.
impl OfProject {
    pub(super) fn if_trusted(mut self, is_trusted: bool) -> Self {
        if !is_trusted {
            self.servers.clear();
        }
        self
    }
}

fn of_table(
    name: &str,
    table: ServerTable,
    schema_tokens: usize,
    origin: &Origin,
    surroundings: &Surroundings,
) -> Result<Option<ServerSettings>, Error> {
    let wrong = |field: &str, expected: &str| Error::Value {
        origin: origin.clone(),
        key: key(name, field),
        expected: expected.to_owned(),
        found: None,
    };
    if !table.enabled.unwrap_or(true) {
        return Ok(None);
    }
    let plain = plain_name(name).filter(|plain| plain == name);
    let plain = plain
        .ok_or_else(|| wrong("command", "a server whose name has up to 32 letters, digits, '-' and single '_'"))?;
    let connection = match (table.command, table.url) {
        (Some(command), None) => {
            let mut env = table.env;
            for variable in table.pass_env {
                let value = surroundings.variable(&variable).map(str::to_owned);
                env.insert(
                    variable.clone(),
                    value
                        .ok_or_else(|| wrong("pass_env", &format!("variables that are set, and {variable} is not")))?,
                );
            }
            Connection::Program { command: [command].into_iter().chain(table.args).collect(), env, cwd: table.cwd }
        }
        (None, Some(url)) => Connection::Http { url, headers: table.headers },
        _ => return Err(wrong("command", "a program to start, or url with an address, and not both")),
    };
    Ok(Some(ServerSettings {
        name: plain.into(),
        connection,
        tools: table.tools,
        network: table.network.unwrap_or(true),
        call_time: Duration::from_secs(table.call_s.unwrap_or(CALL_S)),
        schema_tokens: table.schema_tokens.unwrap_or(schema_tokens),
        trusted: table.trusted.unwrap_or_default(),
        sampling: table.sampling.unwrap_or_default(),
        written: None,
        origin: origin.to_string().into(),
    }))
}

fn key(name: &str, field: &str) -> String {
    Key::new(["mcp", "servers", name, field]).to_string()
}

fn origin_of(layers: &Layers, name: &str) -> Origin {
    let of_it = |setting: &&super::layer::Setting| {
        let parts = setting.key.parts();
        parts.len() == 4 && parts[0] == "mcp" && parts[2] == name
    };
    layers.settings().find(of_it).map_or(Origin::Default, |setting| setting.origin.clone())
}

/// The same with values of variables in the place of their names. Keys of model providers are no server's business.
fn expanded(
    connection: &Connection,
    surroundings: &Surroundings,
    keys: &BTreeSet<String>,
) -> Result<Connection, String> {
    let fill = |text: &String| filled(text, surroundings, keys);
    let table = |table: &BTreeMap<String, String>| {
        table.iter().map(|(name, value)| Ok((name.clone(), fill(value)?))).collect::<Result<BTreeMap<_, _>, String>>()
    };
    Ok(match connection {
        Connection::Program { command, env, cwd } => Connection::Program {
            command: command.iter().map(fill).collect::<Result<_, _>>()?,
            env: table(env)?,
            cwd: cwd.clone(),
        },
        Connection::Http { url, headers } => Connection::Http { url: fill(url)?, headers: table(headers)? },
    })
}

fn filled(text: &str, surroundings: &Surroundings, keys: &BTreeSet<String>) -> Result<String, String> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        let inside = &rest[at + 2..at + end];
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        if keys.contains(name) {
            return Err(format!("it asks for {name}, the key of a model provider, which no server gets"));
        }
        let value = surroundings.variable(name).or(otherwise);
        whole.push_str(&rest[..at]);
        whole.push_str(value.ok_or_else(|| format!("the variable {name} is not set"))?);
        rest = &rest[at + end + 1..];
    }
    whole.push_str(rest);
    Ok(whole)
}
