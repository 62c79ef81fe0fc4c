//! Servers of tools as this library uses them: the file in which a project names them, where approvals of their tools are kept, and the
//! servers of a staff, which are started with its first work.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agent::permission::{Action, Rule, matches};
use agent::tools::READ_FILE;
use async_recursion::async_recursion as boxed;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use mcp::{Connection, Pinned, Pins, ServerSettings, Servers, Surroundings};
use serde::Deserialize;
use store::{ApprovedTool, Current, InstallationEvent, ServerTools};
use tokio::sync::OnceCell;
use tool::{CommandHost, CurrentTools, Registry, Workspace};

use crate::config::{self, Config};
use crate::mentions::{self, Expanded};
use crate::named;
use crate::staff;
use crate::trust::File;

pub use mcp;

/// Servers for a command that looks at them and runs no agent.
pub struct OpenServers {
    /// The servers.
    pub servers: Servers,
    /// The store in which approvals are kept; none where nothing is kept.
    store: Option<Arc<dyn store::Store>>,
}

impl OpenServers {
    /// The configured servers, with approvals in the store.
    #[boxed]
    pub async fn open(
        surroundings: &config::Surroundings,
        config: &Config,
        host: CommandHost,
    ) -> Result<Self, staff::Error> {
        let store = staff::open_store(config)?;
        let installation = Current::open(&store).await.map_err(runtime::Error::from)?;
        let around = around(surroundings, config, host)?;
        let servers = Servers::new(config.servers.clone(), &around, Arc::new(KeptApprovals(installation)));
        Ok(Self { servers, store: Some(store) })
    }

    /// The same without keeping anything.
    pub fn open_to_look(
        surroundings: &config::Surroundings,
        config: &Config,
        host: CommandHost,
    ) -> Result<Self, staff::Error> {
        let around = around(surroundings, config, host)?;
        Ok(Self { servers: Servers::new(config.servers.clone(), &around, Arc::new(KeptNowhere)), store: None })
    }

    /// Ends everything that was started.
    #[boxed]
    pub async fn close(self) {
        self.servers.close().await;
        if let Some(store) = &self.store {
            store.close().await;
        }
    }
}

fn around(
    surroundings: &config::Surroundings,
    config: &Config,
    host: CommandHost,
) -> Result<Surroundings, staff::Error> {
    protect_files(&config.servers, &surroundings.cwd);
    let workspace = Workspace::open(&surroundings.cwd).map_err(|error| staff::Error::Setting(error.to_string()))?;
    let (cache, tokens) = (Some(config.data.join(CACHE)), Some(config.data.join(TOKENS)));
    Ok(Surroundings { host, workspace: Arc::new(workspace), cache, tokens })
}

/// The folder in the folder for state in which each server has one for what it fetches.
const CACHE: &str = "mcp-cache";
/// The folder in the folder for state in which the tokens of logins are kept.
const TOKENS: &str = "mcp-tokens";

/// Where the tokens of logins are kept.
pub fn tokens_folder(config: &Config) -> PathBuf {
    config.data.join(TOKENS)
}

/// Approves nothing and keeps nothing.
struct KeptNowhere;

impl Pins for KeptNowhere {
    fn approved(&self, _: &str, _: &str) -> Option<BTreeMap<Arc<str>, Pinned>> {
        Some(BTreeMap::new())
    }

    fn approve<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: BTreeMap<Arc<str>, Pinned>,
    ) -> BoxFuture<'a, Result<(), String>> {
        async { Ok(()) }.boxed()
    }
}

/// A server as `.mcp.json` names it, with names of variables in their places.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) connection: Connection,
    pub(crate) is_disabled: bool,
    pub(crate) call_s: Option<u64>,
    pub(crate) tools: Option<Vec<String>>,
}

/// A server's name, with what is written about it or why it cannot be used.
type Named = (String, Result<Entry, String>);

/// The servers that a text in the form of `.mcp.json` names, each or why it cannot be used.
pub(crate) fn entries(text: &str) -> Result<Vec<Named>, String> {
    #[derive(Deserialize)]
    struct Whole {
        #[serde(rename = "mcpServers", alias = "mcp_servers", alias = "servers")]
        servers: BTreeMap<String, serde_json::Value>,
    }
    let whole: Whole = serde_json::from_str(text).map_err(|error| format!("it is no list of MCP servers: {error}"))?;
    Ok(whole.servers.into_iter().map(|(name, value)| (name, entry(value))).collect())
}

fn entry(value: serde_json::Value) -> Result<Entry, String> {
    #[derive(Deserialize)]
    struct Written {
        #[serde(rename = "type", default)]
        kind: Option<String>,
        command: Option<String>,
        #[serde(default)]
        args: Vec<String>,
        #[serde(default)]
        env: BTreeMap<String, String>,
        cwd: Option<String>,
        #[serde(alias = "serverUrl", alias = "httpUrl")]
        url: Option<String>,
        #[serde(default)]
        headers: BTreeMap<String, String>,
        #[serde(default)]
        disabled: bool,
        timeout: Option<u64>,
        #[serde(alias = "includeTools", alias = "enabledTools")]
        tools: Option<Vec<String>>,
    }
    let written: Written = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let connection = match (written.command, written.url) {
        _ if written.kind.as_deref() == Some("sse") => {
            return Err("it is reached by HTTP with SSE, which the protocol has replaced by streamable HTTP".to_owned());
        }
        (Some(command), None) => Connection::Program {
            command: [command].into_iter().chain(written.args).collect(),
            env: written.env,
            cwd: written.cwd.filter(|cwd| cwd != "." && cwd != "${workspaceFolder}"),
        },
        (None, Some(url)) if url.starts_with("http://") || url.starts_with("https://") => {
            Connection::Http { url, headers: written.headers }
        }
        (None, Some(_)) => return Err("its url is no http or https address".to_owned()),
        (Some(_), Some(_)) => return Err("it has both a command and a url".to_owned()),
        (None, None) => return Err("it has neither a command nor a url".to_owned()),
    };
    // Products count it in milliseconds.
    let call_s = written.timeout.map(|ms| ms.div_ceil(1000).max(1));
    Ok(Entry { connection, is_disabled: written.disabled, call_s, tools: written.tools })
}

/// The files of a project that the commands of its servers name: who changes them changes what is run. Of each, the text is a digest.
pub(crate) fn named_files(project: &Path, servers: &File) -> Vec<File> {
    let Ok(entries) = servers.text.as_deref().map_err(|_| ()).and_then(|text| entries(text).map_err(|_| ())) else {
        return Vec::new();
    };
    let connections = entries.into_iter().filter_map(|(_, entry)| Some(entry.ok()?.connection));
    let files: BTreeSet<PathBuf> = connections.flat_map(|connection| files_of(&connection, project)).collect();
    named::digests(project, files)
}

/// The files that the command of a server names, from the project.
fn files_of(connection: &Connection, project: &Path) -> Vec<PathBuf> {
    let Connection::Program { command, cwd, .. } = connection else { return Vec::new() };
    let from = project.join(cwd.as_deref().unwrap_or_default());
    named::in_words(command.iter().map(String::as_str), &from, project)
}

/// Has the files of a workspace protected that the commands of these servers name.
pub(crate) fn protect_files(servers: &[ServerSettings], workspace: &Path) {
    let Ok(root) = workspace.canonicalize() else { return };
    let files: Vec<PathBuf> = servers.iter().flat_map(|server| files_of(&server.connection, &root)).collect();
    tool::protect(&root, files);
}

/// Approvals of tools, in the stream of the installation.
pub(crate) struct KeptApprovals(pub(crate) Current);

impl Pins for KeptApprovals {
    fn approved(&self, server: &str, identity: &str) -> Option<BTreeMap<Arc<str>, Pinned>> {
        let state = self.0.state();
        let known = state.server_tools.iter().find(|known| *known.server == *server && *known.identity == *identity)?;
        let pinned = |tool: &ApprovedTool| {
            (tool.name.clone(), Pinned { digest: tool.digest.clone(), description: tool.description.clone() })
        };
        Some(known.tools.iter().map(pinned).collect())
    }

    fn approve<'a>(
        &'a self,
        server: &'a str,
        identity: &'a str,
        tools: BTreeMap<Arc<str>, Pinned>,
    ) -> BoxFuture<'a, Result<(), String>> {
        let tool = |(name, pinned): (Arc<str>, Pinned)| ApprovedTool {
            name,
            digest: pinned.digest,
            description: pinned.description,
        };
        let tools = tools.into_iter().map(tool).collect();
        let approved = ServerTools { server: server.into(), identity: identity.into(), tools };
        async move {
            let event = InstallationEvent::ServerToolsApproved(approved);
            self.0.record(event, runtime::Clock::default().now()).await.map_err(|error| error.to_string())
        }
        .boxed()
    }
}

/// What is around the servers of a staff.
pub(crate) struct Around<'a> {
    pub(crate) host: CommandHost,
    pub(crate) workspace: &'a Path,
    /// The folder for state, where each server has a folder for what it fetches.
    pub(crate) data: Option<&'a Path>,
    pub(crate) rules: &'a [Rule],
}

/// The servers of a staff.
pub(crate) struct StaffServers {
    /// None where none is configured.
    servers: Option<Servers>,
    /// The tools without those of servers.
    base: Registry,
    tools: OnceLock<CurrentTools>,
    started: OnceCell<()>,
    /// The tools of each server that are off, as a person was told.
    told_off: Mutex<BTreeMap<Arc<str>, BTreeSet<Arc<str>>>>,
}

impl StaffServers {
    /// Servers that are started when they are first needed.
    pub(crate) fn new(
        settings: Vec<ServerSettings>,
        around: &Around<'_>,
        base: Registry,
        installation: Current,
    ) -> Result<Self, String> {
        let servers = match settings.is_empty() {
            true => None,
            false => {
                protect_files(&settings, around.workspace);
                let workspace = Workspace::open(around.workspace).map_err(|error| error.to_string())?;
                // A server works for all agents: what one of them may not read is hidden from it.
                let denies = |rule: &&Rule| rule.action == Action::Deny && matches(&rule.tool, READ_FILE);
                let hidden = around.rules.iter().filter(denies).filter_map(|rule| rule.pattern.clone()).collect();
                let workspace = Arc::new(workspace.without(hidden));
                let cache = around.data.map(|data| data.join(CACHE));
                let tokens = around.data.map(|data| data.join(TOKENS));
                let around = Surroundings { host: around.host.clone(), workspace, cache, tokens };
                Some(Servers::new(settings, &around, Arc::new(KeptApprovals(installation))))
            }
        };
        Ok(Self { servers, base, tools: OnceLock::new(), started: OnceCell::new(), told_off: Mutex::default() })
    }

    /// Where the tools of servers are published.
    pub(crate) fn publish_in(&self, tools: CurrentTools) {
        // Set once; nothing else sets it.
        let _ = self.tools.set(tools);
    }

    /// Starts the servers, once, and publishes their tools. Comes back when each has answered or failed.
    pub(crate) async fn ready(self: &Arc<Self>) {
        let Some(servers) = &self.servers else { return };
        self.started
            .get_or_init(|| async {
                servers.start().await;
                for status in servers.status() {
                    let name = &status.settings.name;
                    if let Some(failure) = &status.failure {
                        tracing::warn!("MCP server {name} cannot be used: {failure}; the run goes on without it");
                    }
                }
                self.publish();
                let us = Arc::downgrade(self);
                servers.follow(move || {
                    if let Some(us) = us.upgrade() {
                        us.publish();
                    }
                });
            })
            .await;
    }

    fn publish(&self) {
        let (Some(tools), Some(servers)) = (self.tools.get(), &self.servers) else { return };
        self.tell_off(servers);
        let of_servers = servers.registry(|name| self.base.get(name).is_some());
        let registry = self.base.clone().join(of_servers);
        if tools.snapshot().digest() == &tool::digest_of(&registry) {
            return;
        }
        match tools.publish(registry) {
            Ok(version) => tracing::info!("tools of MCP servers: version {version} of the tools is in force"),
            Err(collision) => tracing::warn!("the tools of MCP servers stay as they were: {collision}"),
        }
    }

    /// Tells a person which tools are off, whenever that has changed.
    fn tell_off(&self, servers: &Servers) {
        let mut told = self.told_off.lock().unwrap_or_else(PoisonError::into_inner);
        for status in servers.status() {
            let name = &status.settings.name;
            let is_off = |(_, state): &&(mcp::Offered, mcp::ToolState)| *state != mcp::ToolState::On;
            let off: BTreeSet<Arc<str>> =
                status.tools.iter().filter(is_off).map(|(tool, _)| tool.name.clone()).collect();
            let before = told.insert(name.clone(), off.clone()).unwrap_or_default();
            if before == off {
                continue;
            }
            match off.len() {
                0 => tracing::warn!("MCP server {name}: all of its tools are on; agents get them with their next turn"),
                count => tracing::warn!(
                    "MCP server {name}: {count} of its tools are new or have changed and are off; `majordomo mcp tools {name}` shows and approves them"
                ),
            }
        }
    }

    /// What an agent is told of servers that cannot be used; none where all can. Our own words: a server's could be anything.
    pub(crate) fn notice(&self) -> Option<Arc<str>> {
        let status = self.servers.as_ref()?.status();
        let failed: Vec<String> = status
            .iter()
            .filter_map(|status| {
                let why = match status.failure.as_ref()? {
                    mcp::Error::Slow(seconds) => format!("it did not answer within {seconds} s"),
                    mcp::Error::Login(_) => "it wants a login".to_owned(),
                    mcp::Error::Start(_)
                    | mcp::Error::Ended(_)
                    | mcp::Error::Older
                    | mcp::Error::Refused(_)
                    | mcp::Error::Closed => "it did not start".to_owned(),
                };
                Some(format!("{} ({why})", status.settings.name))
            })
            .collect();
        (!failed.is_empty()).then(|| format!("MCP servers that cannot be used now: {}.", failed.join(", ")).into())
    }

    /// A message of a person with what it names of servers.
    pub(crate) async fn expanded(&self, text: &str) -> Result<Expanded, String> {
        let find = |name: &str| {
            self.servers.as_ref()?.servers().find(|server| *server.settings().name == *name).map(|server| &**server)
        };
        mentions::expanded(text, find).await
    }

    /// Ends all of them, and waits for that.
    pub(crate) async fn close(&self) {
        if let Some(servers) = &self.servers {
            servers.close().await;
        }
    }

    /// Begins to end all of them.
    pub(crate) fn begin_to_close(&self) {
        if let Some(servers) = &self.servers {
            servers.begin_to_close();
        }
    }
}
