//! A workspace, servers that are this program itself, approvals in memory, and calls.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::tools::ToolResult;
use agent::{CallId, Json, ThreadId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use majordomo_mcp::{Connection, Pinned, Pins, Server, ServerSettings, Servers, Surroundings};
use testkit::mcp_server::{WORDS, command};
use tool::{CommandHost, Guard, Sandbox, ToolContext, Workspace};

/// Long enough for anything that must come on a machine with other work.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Rig {
    folder: tempfile::TempDir,
    pub servers: Servers,
    pub pins: Arc<KeptInMemory>,
    workspace: Arc<Workspace>,
}

type Kept = HashMap<(String, String), BTreeMap<Arc<str>, Pinned>>;

#[derive(Default)]
pub struct KeptInMemory(Mutex<Kept>);

impl Pins for KeptInMemory {
    fn approved(&self, server: &str, identity: &str) -> Option<BTreeMap<Arc<str>, Pinned>> {
        self.0.lock().unwrap().get(&(server.to_owned(), identity.to_owned())).cloned()
    }

    fn approve<'a>(
        &'a self,
        server: &'a str,
        identity: &'a str,
        tools: BTreeMap<Arc<str>, Pinned>,
    ) -> BoxFuture<'a, Result<(), String>> {
        self.0.lock().unwrap().insert((server.to_owned(), identity.to_owned()), tools);
        async { Ok(()) }.boxed()
    }
}

/// A server named so that behaves by these words.
pub fn server(name: &str, words: &str) -> ServerSettings {
    let env = BTreeMap::from([(WORDS.to_owned(), words.to_owned()), ("NAMED".to_owned(), "for it".to_owned())]);
    let command = command("this_program_is_a_server_where_it_is_started_as_one");
    ServerSettings {
        name: name.into(),
        connection: Connection::Program { command, env, cwd: None },
        tools: None,
        network: true,
        call_time: PATIENCE,
        schema_tokens: 100_000,
        trusted: false,
        sampling: false,
        written: None,
        origin: "a test".into(),
    }
}

impl Rig {
    pub fn new(settings: Vec<ServerSettings>) -> Self {
        Self::with_pins(settings, Arc::default())
    }

    pub fn with_pins(settings: Vec<ServerSettings>, pins: Arc<KeptInMemory>) -> Self {
        Self::made(None, settings, pins)
    }

    /// The same with a file in the workspace before the servers are configured.
    pub fn with_file(name: &str, text: &str, settings: Vec<ServerSettings>) -> Self {
        Self::made(Some((name, text)), settings, Arc::default())
    }

    fn made(file: Option<(&str, &str)>, settings: Vec<ServerSettings>, pins: Arc<KeptInMemory>) -> Self {
        let folder = tempfile::tempdir().expect("a passing folder");
        for name in ["work", "state", "cache"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        if let Some((name, text)) = file {
            std::fs::write(folder.path().join("work").join(name), text).expect("a file");
        }
        let workspace = Arc::new(Workspace::open(folder.path().join("work")).expect("a workspace"));
        let host = CommandHost { guard: Guard::Embedded, sandbox: Sandbox::probe(&[folder.path().join("state")]) };
        let around = Surroundings {
            host,
            workspace: workspace.clone(),
            cache: Some(folder.path().join("cache")),
            tokens: Some(folder.path().join("tokens")),
        };
        Self { servers: Servers::new(settings, &around, pins.clone()), folder, pins, workspace }
    }

    /// Servers of another process with the same folders.
    pub fn made_beside(other: &Self, settings: Vec<ServerSettings>) -> Self {
        let rig = Self::new(Vec::new());
        let host = CommandHost { guard: Guard::Embedded, sandbox: Sandbox::probe(&[]) };
        let (cache, tokens) = (Some(other.path("../cache")), Some(other.path("../tokens")));
        let around = Surroundings { host, workspace: rig.workspace.clone(), cache, tokens };
        Self { servers: Servers::new(settings, &around, other.pins.clone()), ..rig }
    }

    /// The same, with all servers started.
    pub async fn started(settings: Vec<ServerSettings>) -> Self {
        let rig = Self::new(settings);
        rig.servers.start().await;
        rig
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    pub fn lines(&self, name: &str) -> Vec<String> {
        std::fs::read_to_string(self.path(name)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    pub fn server(&self) -> Arc<Server> {
        self.servers.servers().next().expect("there is a server").clone()
    }

    /// The names of the tools that agents have.
    pub fn names(&self) -> Vec<String> {
        self.servers.registry(|_| false).infos().into_keys().map(|name| name.to_string()).collect()
    }

    pub fn context(&self, call: &str) -> ToolContext {
        let mut context =
            ToolContext::new(self.workspace.clone(), ThreadId::new("20260115-k3f9"), CallId::new(call.to_owned()));
        context.data = Some(self.folder.path().join("state"));
        context.tools = self.servers.registry(|_| false).infos().into_keys().collect();
        context
    }

    pub async fn call(&self, tool: &str, arguments: &str) -> ToolResult {
        self.call_in(tool, arguments, &self.context("tu_1")).await
    }

    pub async fn call_in(&self, tool: &str, arguments: &str, context: &ToolContext) -> ToolResult {
        let registry = self.servers.registry(|_| false);
        let tool = registry.get(tool).unwrap_or_else(|| panic!("{tool} is there: {:?}", self.names())).clone();
        tool.run(&Json::parse(arguments).expect("arguments are JSON"), context).await
    }

    /// Waits until something holds.
    pub async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let waiting = async {
            while !holds(self) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("{what} does not come"));
    }
}

/// Whether a process is there.
pub fn lives(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}
