//! All servers of a process: started together, their approved tools as one registry, and what changes in it while agents work.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_recursion::async_recursion as boxed;
use futures_util::future::join_all;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tool::{Origin, Registry};

use crate::error::Error;
use crate::find::{CallTool, FindTools, Findable};
use crate::offered::{Change, Offered, Pinned, Pins};
use crate::server::{Server, Surroundings};
use crate::settings::ServerSettings;
use crate::tools::ServerTool;

/// The shortest time between two lists of one server's tools.
const LIST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause between two tries of a server that could not be used since this process began.
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// How often it is looked whether another process approved tools, or logged in at a server.
const LOOK: Duration = Duration::from_millis(300);

/// All servers of a process. Cheap to clone.
#[derive(Clone)]
pub struct Servers(Arc<Inner>);

struct Inner {
    servers: Vec<Entry>,
    pins: Arc<dyn Pins>,
    /// What is told when the tools that are on have changed.
    publish: Mutex<Option<Publish>>,
    closed: CancellationToken,
    tasks: TaskTracker,
}

struct Entry {
    server: Arc<Server>,
    changed: Arc<Notify>,
}

type Publish = Arc<dyn Fn() + Send + Sync>;

/// A server as a person is told of it.
#[derive(Clone, Debug)]
pub struct Status {
    /// What is configured.
    pub settings: ServerSettings,
    /// Why it cannot be used; none where it can.
    pub failure: Option<Error>,
    /// Its tools; empty where they could not be listed.
    pub tools: Vec<(Offered, ToolState)>,
    /// Tools that were approved and are not offered any more.
    pub gone: Vec<Arc<str>>,
    /// Whether its tools are reached by `find_tools`.
    pub is_deferred: bool,
}

/// Whether agents have a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolState {
    /// They have it.
    On,
    /// They do not: a person has to approve what is different first.
    Off(Change),
}

impl Servers {
    /// The servers that are configured. Nothing is started by this.
    pub fn new(settings: Vec<ServerSettings>, around: &Surroundings, pins: Arc<dyn Pins>) -> Self {
        let entry = |settings| {
            let changed = Arc::new(Notify::new());
            Entry { server: Arc::new(Server::new(settings, around.clone(), changed.clone())), changed }
        };
        let servers = settings.into_iter().map(entry).collect();
        Self(Arc::new(Inner {
            servers,
            pins,
            publish: Mutex::default(),
            closed: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }))
    }

    /// Whether none is configured.
    pub fn is_empty(&self) -> bool {
        self.0.servers.is_empty()
    }

    /// The servers.
    pub fn servers(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.0.servers.iter().map(|entry| &entry.server)
    }

    /// Starts all that are not started, at the same time, and lists their tools. Comes back when each has answered or failed.
    #[boxed]
    pub async fn start(&self) {
        join_all(self.0.servers.iter().map(|entry| async {
            if let Ok(offered) = entry.server.list().await {
                take_first(&*self.0.pins, &entry.server, &offered).await;
            }
        }))
        .await;
    }

    /// Approves the tools of a server as they were listed last.
    #[boxed]
    pub async fn approve(&self, server: &Server) -> Result<(), Error> {
        let offered = match server.offered() {
            Some(offered) => offered,
            None => server.list().await?,
        };
        let settings = server.settings();
        let kept = self.0.pins.approve(&settings.name, &settings.connection.identity(), pinned(&offered)).await;
        kept.map_err(|why| Error::Start(format!("the approval cannot be kept: {why}")))
    }

    /// The tools that agents have, each with its server as origin. Names that `is_taken` knows belong to others, and stay theirs.
    pub fn registry(&self, is_taken: impl Fn(&str) -> bool) -> Registry {
        let mut all = Registry::new();
        let mut findable = Vec::new();
        for server in self.servers() {
            let status = self.status_of(server);
            let settings = &status.settings;
            let name = &settings.name;
            let mut registry = Registry::from_origin(Origin::Server(name.clone()));
            for (offered, state) in status.tools {
                if state != ToolState::On {
                    continue;
                }
                if is_taken(&offered.name) {
                    tracing::warn!(
                        "MCP server {name}: its tool '{}' is left out, a tool of this program is named {}, too",
                        plainly(&offered.own_name),
                        offered.name
                    );
                    continue;
                }
                let tool = ServerTool::new(server.clone(), offered.clone());
                if status.is_deferred {
                    findable.push(Findable { server: name.clone(), offered });
                    registry = registry.with_deferred(tool);
                } else if settings.trusted {
                    registry = registry.with(tool);
                } else {
                    registry = registry.with_foreign(tool);
                }
            }
            all = all.join(registry);
        }
        if !findable.is_empty() {
            let fixed = Registry::from_origin(Origin::BuiltIn).with(FindTools::new(findable)).with(CallTool::new());
            all = all.join(fixed);
        }
        all
    }

    /// What there is to say about each server.
    pub fn status(&self) -> Vec<Status> {
        self.servers().map(|server| self.status_of(server)).collect()
    }

    fn status_of(&self, server: &Server) -> Status {
        let settings = server.settings().clone();
        let approved = self.0.pins.approved(&settings.name, &settings.connection.identity()).unwrap_or_default();
        let offered = server.offered().unwrap_or_default();
        let state = |tool: &Offered| tool.change(&approved).map_or(ToolState::On, ToolState::Off);
        let tools: Vec<(Offered, ToolState)> = offered.iter().map(|tool| (tool.clone(), state(tool))).collect();
        let is_offered = |name: &Arc<str>| offered.iter().any(|tool| tool.own_name == *name);
        let gone = if offered.is_empty() {
            Vec::new()
        } else {
            approved.keys().filter(|name| !is_offered(name)).cloned().collect()
        };
        let tokens: usize =
            tools.iter().filter(|(_, state)| *state == ToolState::On).map(|(tool, _)| tool.tokens()).sum();
        Status { is_deferred: tokens > settings.schema_tokens, failure: server.failure(), settings, tools, gone }
    }

    /// From now on `publish` is called whenever the tools that agents have may be others. A server that could not be used is tried again.
    pub fn follow(&self, publish: impl Fn() + Send + Sync + 'static) {
        let publish: Publish = Arc::new(publish);
        *self.0.publish.lock().unwrap_or_else(PoisonError::into_inner) = Some(publish.clone());
        for entry in &self.0.servers {
            let (server, changed, closed) = (entry.server.clone(), entry.changed.clone(), self.0.closed.clone());
            let (publish, pins) = (publish.clone(), self.0.pins.clone());
            let listing = async move {
                let mut pause = LIST_PAUSE;
                loop {
                    let is_first = server.offered().is_none();
                    if is_first {
                        // No agent has a tool of it, so that no call would try it.
                        if tokio::time::timeout(pause, changed.notified()).await.is_err() {
                            pause = (pause * 2).min(LONGEST_RETRY);
                        }
                    } else {
                        changed.notified().await;
                    }
                    if let Ok(offered) = server.list().await {
                        if is_first {
                            take_first(&*pins, &server, &offered).await;
                            tracing::info!("MCP server {} can be used now", server.settings().name);
                        }
                        publish();
                    }
                    tokio::time::sleep(LIST_PAUSE).await;
                }
            };
            self.0.tasks.spawn(async move { closed.run_until_cancelled_owned(listing).await });
        }
        let (pins, closed) = (self.0.pins.clone(), self.0.closed.clone());
        let all: Vec<(Arc<Server>, Arc<Notify>)> =
            self.0.servers.iter().map(|entry| (entry.server.clone(), entry.changed.clone())).collect();
        let looking = async move {
            let approved = |server: &Server| {
                let settings = server.settings();
                pins.approved(&settings.name, &settings.connection.identity())
            };
            let look = || all.iter().map(|(server, _)| approved(server)).collect::<Vec<_>>();
            let logins = || all.iter().map(|(server, _)| server.is_logged_in()).collect::<Vec<_>>();
            let (mut known, mut known_logins) = (look(), logins());
            loop {
                tokio::time::sleep(LOOK).await;
                let now = look();
                if now != known {
                    known = now;
                    publish();
                }
                let now = logins();
                for (is, ((server, changed), was)) in now.iter().zip(all.iter().zip(&known_logins)) {
                    if *is && !was && server.offered().is_none() {
                        changed.notify_one();
                    }
                }
                known_logins = now;
            }
        };
        self.0.tasks.spawn(async move { closed.run_until_cancelled_owned(looking).await });
    }

    /// Ends all connections, and waits until everything that was started has ended.
    #[boxed]
    pub async fn close(&self) {
        self.0.closed.cancel();
        self.0.tasks.close();
        join_all(self.servers().map(|server| server.close())).await;
        self.0.tasks.wait().await;
    }

    /// Begins to end everything, without waiting.
    pub fn begin_to_close(&self) {
        self.0.closed.cancel();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

/// The first list of a server that a person configured counts as approved with it.
async fn take_first(pins: &dyn Pins, server: &Server, offered: &[Offered]) {
    let settings = server.settings();
    let identity = settings.connection.identity();
    if pins.approved(&settings.name, &identity).is_some() {
        return;
    }
    if let Err(why) = pins.approve(&settings.name, &identity, pinned(offered)).await {
        tracing::warn!(
            "MCP server {}: its tools stay off, because their approval cannot be kept: {why}",
            settings.name
        );
    }
}

/// A server's name for something, for a line of a terminal.
pub(crate) fn plainly(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).take(80).collect()
}

fn pinned(offered: &[Offered]) -> BTreeMap<Arc<str>, Pinned> {
    offered.iter().map(|tool| (tool.own_name.clone(), tool.pinned())).collect()
}
