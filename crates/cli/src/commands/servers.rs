//! `majordomo mcp`: the configured MCP servers, and what a person decides about their tools.
//!
//! `add` and `rm` change the user's own configuration file, as text, so that comments stay; the result is parsed before it is written.

use std::fmt::Write;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use majordomo::config::{Config, Flags, Surroundings};
use majordomo::servers::mcp::{self, Change, Login, ServerSettings, Status, ToolState};
use majordomo::servers::{self, OpenServers};
use serde_json::{Value, json};
use tool::{CommandHost, Guard};
use view::safe;

use super::{configured, sandbox};
use crate::arguments::McpCommand;
use crate::error::Failure;
use crate::out;

/// The widest that a description is shown; commands are shown whole.
const WIDE: usize = 160;
const WHOLE: usize = 8_000;

/// `majordomo mcp …`.
pub async fn servers(command: McpCommand) -> Result<u8, Failure> {
    match command {
        McpCommand::Ls { json, place } => ls(&place.flags(), json),
        McpCommand::Add { name, url, header, env, pass_env, no_network, command, place } => {
            let new = New { name, url, header, env, pass_env, no_network, command };
            add(&place.flags(), &new)
        }
        McpCommand::Rm { name, place } => rm(&place.flags(), &name),
        McpCommand::Test { name, json, place } => test(&place.flags(), name.as_deref(), json).await,
        McpCommand::Login { name, no_browser, timeout, out, place } => match out {
            true => log_out(&place.flags(), &name),
            false => log_in(&place.flags(), &name, !no_browser, Duration::from_secs(timeout)).await,
        },
        McpCommand::Resources { name, uri, json, place } => {
            resources(&place.flags(), name.as_deref(), uri.as_deref(), json).await
        }
        McpCommand::Prompts { name, json, place } => prompts(&place.flags(), name.as_deref(), json).await,
        McpCommand::Tools { name, approve, json, place } => tools(&place.flags(), name.as_deref(), approve, json).await,
    }
}

fn ls(flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let mut result = out::Result::Stdout;
    if json {
        let object = |server: &ServerSettings| json!({ "id": server.name, "name": server.name, "reached_by": server.shown(), "origin": server.origin });
        result.line(&Value::from(config.servers.iter().map(object).collect::<Vec<_>>()).to_string())?;
        return Ok(0);
    }
    let wide = config.servers.iter().map(|server| server.name.len()).max().unwrap_or(0);
    for server in &config.servers {
        let shown = safe::line(&server.shown(), WHOLE);
        if !result.line(&format!("{:<wide$}  {shown}  [{}]", server.name, server.origin))? {
            return Ok(0);
        }
    }
    if config.servers.is_empty() {
        out::note("no MCP server is configured: `majordomo mcp add NAME -- COMMAND` adds one");
    }
    for (name, shown) in &config.withheld.servers {
        out::note(&format!("not trusted: {name}  {}  (`majordomo trust`)", safe::line(shown, WHOLE)));
    }
    Ok(0)
}

async fn test(flags: &Flags, name: Option<&str>, json: bool) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let open = open(&surroundings, config, name).await?;
    let begun = Instant::now();
    open.servers.start().await;
    let took = begun.elapsed();
    let status = open.servers.status();
    let mut sandboxed = Vec::new();
    for server in open.servers.servers() {
        sandboxed.push(server.is_sandboxed().await);
    }
    open.close().await;
    let mut result = out::Result::Stdout;
    if json {
        let object = |(status, sandboxed): (&Status, &Option<bool>)| {
            json!({
                "id": status.settings.name,
                "name": status.settings.name,
                "works": status.failure.is_none(),
                "reason": status.failure.as_ref().map(ToString::to_string),
                "tools": status.tools.len(),
                "tools_off": off(status),
                "sandboxed": sandboxed,
            })
        };
        result.line(&Value::from(status.iter().zip(&sandboxed).map(object).collect::<Vec<_>>()).to_string())?;
    } else {
        for (status, sandboxed) in status.iter().zip(&sandboxed) {
            let name = &status.settings.name;
            let line = match &status.failure {
                Some(why) => format!("{name}: does not work: {}", safe::line(&why.to_string(), WHOLE)),
                None => {
                    let walls = match sandboxed {
                        Some(true) => ", in a sandbox",
                        Some(false) => ", WITHOUT a sandbox",
                        None => "",
                    };
                    let off = match off(status) {
                        0 => String::new(),
                        off => format!(", {off} of them off until you approve them (`majordomo mcp tools {name}`)"),
                    };
                    format!("{name}: works, {} tools{off}{walls}", status.tools.len())
                }
            };
            if !result.line(&line)? {
                break;
            }
        }
        out::note(&format!("all answered or failed within {:.1} s", took.as_secs_f64()));
    }
    Ok(u8::from(status.iter().any(|status| status.failure.is_some())))
}

async fn log_in(flags: &Flags, name: &str, opens_browser: bool, time: Duration) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let settings = one(&config, name)?;
    let failed = |error: mcp::Error| {
        Failure::failed(format!("the login at {name} failed: {}", safe::line(&error.to_string(), WHOLE)))
    };
    let login = Login::begin(settings, &servers::tokens_folder(&config)).await.map_err(failed)?;
    let mut result = out::Result::Stdout;
    result.line(&safe::line(login.address(), WHOLE))?;
    let is_opened = opens_browser && open_browser(login.address());
    let what = if is_opened { "a browser was opened at" } else { "open" };
    out::note(&format!("{what} this address to log in at {name}; waiting for {} s", time.as_secs()));
    login.finish(time).await.map_err(failed)?;
    result.line(&format!("logged in at {name}; `majordomo mcp test {name}` tries it"))?;
    Ok(0)
}

/// Opens an address of the web in the person's browser, by a program and without a shell of ours; whether that could be started.
fn open_browser(address: &str) -> bool {
    let has_screen =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !has_screen || !(address.starts_with("https://") || address.starts_with("http://")) {
        return false;
    }
    let quiet = || Stdio::null();
    Command::new("xdg-open").arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().is_ok()
}

fn log_out(flags: &Flags, name: &str) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let settings = one(&config, name)?;
    let was_there = mcp::log_out(settings, &servers::tokens_folder(&config));
    let was_there = was_there.map_err(|error| Failure::failed(format!("the login cannot be forgotten: {error}")))?;
    let said = if was_there { "is forgotten" } else { "was not there" };
    out::Result::Stdout.line(&format!("the login at {name} {said}"))?;
    Ok(0)
}

async fn resources(flags: &Flags, name: Option<&str>, uri: Option<&str>, json: bool) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let open = open(&surroundings, config, name).await?;
    let (mut rows, mut failed) = (Vec::new(), false);
    let mut result = out::Result::Stdout;
    for server in open.servers.servers() {
        let name = &server.settings().name;
        let found = match uri {
            Some(uri) => match server.read_resource(uri).await {
                Ok(text) if json => {
                    rows.push(json!({ "id": uri, "uri": uri, "server": name, "text": text }));
                    continue;
                }
                Ok(text) => {
                    result.line(&safe::shaped(&text))?;
                    continue;
                }
                Err(error) => Err(error),
            },
            None => server.resources().await,
        };
        match found {
            Ok(found) => rows.extend(found.iter().map(|one| {
                json!({ "id": one.uri, "uri": one.uri, "server": name, "name": one.name, "description": one.description })
            })),
            Err(error) => {
                failed = true;
                out::note(&format!("{name}: {}", safe::line(&error.to_string(), WHOLE)));
            }
        }
    }
    open.close().await;
    let line = |row: &Value| {
        let text = |key: &str| safe::line(row[key].as_str().unwrap_or_default(), WIDE);
        format!("@{}:{}  {}", text("server"), text("uri"), text("name"))
    };
    listed(&mut result, &rows, json, uri.is_none(), line)?;
    Ok(u8::from(failed))
}

async fn prompts(flags: &Flags, name: Option<&str>, json: bool) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let open = open(&surroundings, config, name).await?;
    let (mut rows, mut failed) = (Vec::new(), false);
    for server in open.servers.servers() {
        let name = &server.settings().name;
        match server.prompts().await {
            Ok(found) => rows.extend(found.iter().map(|prompt| {
                let arguments: Vec<Value> =
                    prompt.arguments.iter().map(|(name, required)| json!({ "name": name, "required": required })).collect();
                json!({ "id": format!("{name}:{}", prompt.name), "server": name, "name": prompt.name, "description": prompt.description, "arguments": arguments })
            })),
            Err(error) => {
                failed = true;
                out::note(&format!("{name}: {}", safe::line(&error.to_string(), WHOLE)));
            }
        }
    }
    open.close().await;
    let line = |row: &Value| {
        let text = |key: &str| safe::line(row[key].as_str().unwrap_or_default(), WIDE);
        let arguments = row["arguments"].as_array().into_iter().flatten();
        let arguments = arguments.map(|argument| match argument["required"] == true {
            true => format!(" {}=…", safe::line(argument["name"].as_str().unwrap_or_default(), WIDE)),
            false => format!(" [{}=…]", safe::line(argument["name"].as_str().unwrap_or_default(), WIDE)),
        });
        format!("/{}{}  {}", text("id"), arguments.collect::<String>(), text("description"))
    };
    listed(&mut out::Result::Stdout, &rows, json, true, line)?;
    Ok(u8::from(failed))
}

/// Prints rows, as JSON or as lines.
fn listed(
    result: &mut out::Result,
    rows: &[Value],
    json: bool,
    as_lines: bool,
    line: impl Fn(&Value) -> String,
) -> Result<(), Failure> {
    if json {
        result.line(&Value::from(rows.to_vec()).to_string())?;
        return Ok(());
    }
    for row in rows.iter().filter(|_| as_lines) {
        if !result.line(&line(row))? {
            break;
        }
    }
    Ok(())
}

/// The server of a name.
fn one<'a>(config: &'a Config, name: &str) -> Result<&'a ServerSettings, Failure> {
    config.servers.iter().find(|server| *server.name == *name).ok_or_else(|| unknown(config, name))
}

fn unknown(config: &Config, name: &str) -> Failure {
    let known: Vec<&str> = config.servers.iter().map(|server| &*server.name).collect();
    let known =
        if known.is_empty() { "none is configured".to_owned() } else { format!("there are: {}", known.join(", ")) };
    Failure::usage(format!("there is no MCP server '{name}'; {known}"))
}

async fn tools(flags: &Flags, name: Option<&str>, approve: bool, json: bool) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    let open = open(&surroundings, config, name).await?;
    open.servers.start().await;
    if approve {
        for server in open.servers.servers() {
            let approved = open.servers.approve(server).await;
            approved.map_err(|error| Failure::failed(format!("{}: {error}", server.settings().name)))?;
        }
    }
    let status = open.servers.status();
    open.close().await;
    let mut result = out::Result::Stdout;
    if json {
        let rows: Vec<Value> = status.iter().flat_map(objects).collect();
        result.line(&Value::from(rows).to_string())?;
    } else {
        'all: for status in &status {
            for line in lines(status) {
                if !result.line(&line)? {
                    break 'all;
                }
            }
        }
    }
    for status in &status {
        let name = &status.settings.name;
        if let Some(why) = &status.failure {
            out::note(&format!("{name} does not work: {}", safe::line(&why.to_string(), WHOLE)));
        }
        if off(status) > 0 {
            out::note(&format!("{name}: what is off stays off until `majordomo mcp tools {name} --approve`"));
        }
    }
    Ok(u8::from(status.iter().any(|status| status.failure.is_some())))
}

fn off(status: &Status) -> usize {
    status.tools.iter().filter(|(_, state)| *state != ToolState::On).count()
}

fn lines(status: &Status) -> Vec<String> {
    let mut lines = Vec::new();
    for (tool, state) in &status.tools {
        let word = match state {
            ToolState::On if status.is_deferred => "on, found by find_tools",
            ToolState::On => "on",
            ToolState::Off(Change::New) => "OFF, new",
            ToolState::Off(Change::Description(_)) => "OFF, described in other words",
            ToolState::Off(Change::Schema) => "OFF, other arguments",
        };
        let hints =
            if tool.hints.is_empty() { String::new() } else { format!(" (it says: {})", tool.hints.join(", ")) };
        lines.push(format!("{}  [{word}]{hints}", tool.name));
        // What a person decides about is shown whole.
        let width = if *state == ToolState::On { WIDE } else { WHOLE };
        if let ToolState::Off(Change::Description(before)) = state {
            lines.push(format!("  - {}", safe::line(before, WHOLE)));
            lines.push(format!("  + {}", safe::line(&tool.description, WHOLE)));
        } else {
            lines.push(format!("  {}", safe::line(&tool.description, width)));
        }
        if *state != ToolState::On {
            lines.push(format!("  arguments: {}", safe::line(tool.schema.text(), WHOLE)));
        }
    }
    lines.extend(status.gone.iter().map(|name| format!("{name}  [was approved and is not offered any more]")));
    lines
}

fn objects(status: &Status) -> Vec<Value> {
    let object = |(tool, state): &(servers::mcp::Offered, ToolState)| {
        let (state, before) = match state {
            ToolState::On => ("on", None),
            ToolState::Off(Change::New) => ("new", None),
            ToolState::Off(Change::Description(before)) => ("changed", Some(before.clone())),
            ToolState::Off(Change::Schema) => ("changed", None),
        };
        json!({
            "id": tool.name,
            "name": tool.name,
            "server": status.settings.name,
            "state": state,
            "description": tool.description,
            "description_before": before,
            "schema": tool.schema.value(),
            "hints": tool.hints,
            "deferred": status.is_deferred,
        })
    };
    status.tools.iter().map(object).collect()
}

/// The servers of a configuration, or the one of this name.
async fn open(surroundings: &Surroundings, mut config: Config, name: Option<&str>) -> Result<OpenServers, Failure> {
    if let Some(name) = name {
        one(&config, name)?;
        config.servers.retain(|server| *server.name == *name);
    }
    let host = CommandHost { guard: Guard::EmbeddedOrSelf, sandbox: sandbox(surroundings, &config) };
    Ok(OpenServers::open(surroundings, &config, host).await?)
}

/// A server to add.
struct New {
    name: String,
    url: Option<String>,
    header: Vec<String>,
    env: Vec<String>,
    pass_env: Vec<String>,
    no_network: bool,
    command: Vec<String>,
}

impl New {
    /// Its table in the configuration file.
    fn table(&self) -> Result<String, Failure> {
        let quoted = |text: &str| Value::from(text).to_string();
        let list = |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ");
        let pairs = |what: &str, pairs: &[String]| {
            let pair = |pair: &String| match pair.split_once('=') {
                Some((name, value)) if !name.is_empty() => Ok(format!("{} = {}", quoted(name), quoted(value))),
                _ => Err(Failure::usage(format!("{what} expects NAME=VALUE"))),
            };
            pairs.iter().map(pair).collect::<Result<Vec<_>, _>>().map(|pairs| pairs.join(", "))
        };
        let mut table = format!("[mcp.servers.{}]\n", self.name);
        let mut say = |key: &str, value: String| {
            let _ = writeln!(table, "{key} = {value}");
        };
        match &self.url {
            Some(url) => say("url", quoted(url)),
            None => {
                let (program, args) =
                    self.command.split_first().ok_or_else(|| Failure::usage("a command is missing after --"))?;
                say("command", quoted(program));
                if !args.is_empty() {
                    say("args", format!("[{}]", list(args)));
                }
            }
        }
        if !self.header.is_empty() {
            say("headers", format!("{{ {} }}", pairs("--header", &self.header)?));
        }
        if !self.env.is_empty() {
            say("env", format!("{{ {} }}", pairs("--env", &self.env)?));
        }
        if !self.pass_env.is_empty() {
            say("pass_env", format!("[{}]", list(&self.pass_env)));
        }
        if self.no_network {
            say("network", "false".to_owned());
        }
        Ok(table)
    }
}

fn add(flags: &Flags, new: &New) -> Result<u8, Failure> {
    let (surroundings, config) = configured(flags)?;
    if servers::mcp::plain_name(&new.name).as_deref() != Some(&*new.name) {
        return Err(Failure::usage(format!(
            "'{}' is no name for a server: up to 32 letters, digits, '-' and single '_'",
            new.name
        )));
    }
    if let Some(known) = config.servers.iter().find(|server| *server.name == *new.name) {
        return Err(Failure::usage(format!("there is an MCP server '{}' already ({})", new.name, known.origin)));
    }
    let path = users_file(&surroundings)?;
    let before = fs::read_to_string(&path).unwrap_or_default();
    let gap = if before.is_empty() || before.ends_with("\n\n") {
        ""
    } else if before.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    write(&path, &format!("{before}{gap}{}", new.table()?))?;
    // Read as any run would, so that a mistake is found here.
    if let Err(error) = Config::load(&surroundings, flags) {
        restore(&path, &before)?;
        return Err(error.into());
    }
    out::Result::Stdout.line(&format!(
        "added {} to {}; `majordomo mcp test {}` tries it",
        new.name,
        path.display(),
        new.name
    ))?;
    Ok(0)
}

fn rm(flags: &Flags, name: &str) -> Result<u8, Failure> {
    let surroundings = super::surroundings()?;
    let path = users_file(&surroundings)?;
    let before = fs::read_to_string(&path).unwrap_or_default();
    let Some(after) = without(&before, name) else {
        let origin = Config::load(&surroundings, flags)?.servers.into_iter().find(|server| *server.name == *name);
        let hint = origin.map_or_else(String::new, |server| format!("; it is configured in {}", server.origin));
        return Err(Failure::usage(format!("there is no table [mcp.servers.{name}] in {}{hint}", path.display())));
    };
    write(&path, &after)?;
    if let Err(error) = Config::load(&surroundings, flags) {
        restore(&path, &before)?;
        return Err(error.into());
    }
    out::Result::Stdout.line(&format!("removed {name} from {}", path.display()))?;
    Ok(0)
}

/// A configuration without the table of a server; none where it has none.
fn without(text: &str, name: &str) -> Option<String> {
    let (own, below) = (format!("mcp.servers.{name}"), format!("mcp.servers.{name}."));
    let (mut kept, mut is_inside, mut is_found) = (String::new(), false, false);
    for line in text.split_inclusive('\n') {
        if let Some(header) = line.trim_start().strip_prefix('[') {
            let table = header.split(']').next().unwrap_or_default().replace(['"', '\'', ' '], "");
            is_inside = table == own || table.starts_with(&below);
            is_found |= is_inside;
        }
        if !is_inside {
            kept.push_str(line);
        }
    }
    is_found.then_some(kept)
}

pub(super) fn users_file(surroundings: &Surroundings) -> Result<PathBuf, Failure> {
    let folder = surroundings
        .user_folder()
        .ok_or_else(|| Failure::failed("there is no home folder for a configuration file"))?;
    Ok(folder.join("config.toml"))
}

/// Replaces the file as a whole. It may hold secrets, so that a new one is for its owner alone.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::failed(format!("{} cannot be written: {error}", path.display()));
    fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).map_err(cannot)?;
    // A file that is a link stays one.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let new = path.with_extension(format!("toml.{}", std::process::id()));
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        if let Ok(there) = path.metadata() {
            file.set_permissions(there.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &path)
    })();
    if written.is_err() {
        // It may never have been made.
        let _ = fs::remove_file(&new);
    }
    written.map_err(cannot)
}

pub(super) fn restore(path: &Path, before: &str) -> Result<(), Failure> {
    write(path, before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_taken_out_with_its_sub_tables_and_all_else_stays() {
        let text = "# mine\nmode = \"ask\"\n\n[mcp.servers.git]\ncommand = \"x\"\n[mcp.servers.git.env]\nA = \"1\"\n\n[mcp.servers.git-2]\ncommand = \"y\"\n";
        let after = without(text, "git").expect("it is there");
        assert_eq!(after, "# mine\nmode = \"ask\"\n\n[mcp.servers.git-2]\ncommand = \"y\"\n");
        assert_eq!(without(text, "gi"), None);
    }
}
