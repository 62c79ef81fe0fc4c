//! What holds for the whole installation and for every thread: standing consents, projects that a person was asked about,
//! tools of MCP servers that were approved, browsers that were signed in, conversations that are being written, and the server that ran
//! last.
//!
//! It is a stream of its own in the same log: its events have positions among all others, are appended in the same way and can be
//! followed. [`State`] is folded from them and kept, so that it can be read at once. A [`Current`] keeps it at hand for code that needs it often.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::approval::ApprovalId;
use agent::{ThreadId, Time};
use async_recursion::async_recursion as boxed;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::follow::{Follow, follow_installation};
use crate::log::{Answer, Appended};
use crate::open::Store;
use crate::process::{Process, ProcessId};

/// Browsers that stay signed in; the one that came first is forgotten for one more.
const MOST_BROWSERS: usize = 64;
/// Places whose last server is known; the one that started first is forgotten for one more.
const MOST_SERVERS: usize = 256;
/// A process on another host that still writes a conversation after so long counts as gone.
const LONGEST_MS: u64 = 60 * 60 * 1000;
/// How often, at the most, it is looked for what others changed.
const LOOK: Duration = Duration::from_millis(30);

/// The stream of the installation.
pub trait Installation: Send + Sync + 'static {
    /// Writes what happened. An event that changes nothing is not written, and the answer is the newest one's place.
    fn record(&self, event: InstallationEvent, at: Time) -> Answer<Appended>;

    /// The events after the `after_n`th, in order.
    fn installation_events(&self, after_n: u64, limit: usize) -> Answer<Vec<InstallationRecord>>;

    /// What holds.
    fn installation(&self) -> Answer<State>;
}

/// What happened to the installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstallationEvent {
    /// A person allowed something for ever.
    ConsentGiven(Consent),
    /// A person took that back.
    ConsentRevoked {
        /// Which consent.
        id: Arc<str>,
    },
    /// A person was asked about a project.
    ProjectJudged(ProjectJudgement),
    /// What was said about a project no longer counts.
    ProjectForgotten {
        /// The folder's real path.
        path: Arc<str>,
        /// Its machine, where several share the store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<Arc<str>>,
    },
    /// The tools of an MCP server were approved, as they were then.
    ServerToolsApproved(ServerTools),
    /// A browser was signed in.
    BrowserAdmitted(BrowserSession),
    /// A process began to write a whole conversation: one that is imported, copied, or moved here.
    ConversationBegun(UnfinishedConversation),
    /// All of it is written, or what was written of it is removed again.
    ConversationEnded {
        /// Its root.
        root: ThreadId,
        /// The process that wrote it.
        process: ProcessId,
    },
    /// A server began to work.
    ServerStarted {
        /// Its process.
        process: ProcessId,
        /// Where it listens.
        address: Arc<str>,
        /// Its machine and its folder for state, where several machines share the store and each has servers of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Arc<str>>,
    },
    /// A server ended in good order.
    ServerStopped {
        /// Its process.
        process: ProcessId,
        /// The roots that it left in the middle: the next server goes on with them.
        left: Vec<ThreadId>,
        /// As in `ServerStarted`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<Arc<str>>,
    },
}

impl InstallationEvent {
    /// Its name in storage.
    pub fn kind(&self) -> &'static str {
        match self {
            InstallationEvent::ConsentGiven(_) => "consent_given",
            InstallationEvent::ConsentRevoked { .. } => "consent_revoked",
            InstallationEvent::ProjectJudged(_) => "project_judged",
            InstallationEvent::ProjectForgotten { .. } => "project_forgotten",
            InstallationEvent::ServerToolsApproved(_) => "server_tools_approved",
            InstallationEvent::BrowserAdmitted(_) => "browser_admitted",
            InstallationEvent::ConversationBegun(_) => "conversation_begun",
            InstallationEvent::ConversationEnded { .. } => "conversation_ended",
            InstallationEvent::ServerStarted { .. } => "server_started",
            InstallationEvent::ServerStopped { .. } => "server_stopped",
        }
    }
}

/// An event of the installation in its places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationRecord {
    /// Its place in the whole store.
    pub position: u64,
    /// Its place in the stream, from 1, without gaps.
    pub n: u64,
    /// When it was written.
    pub at: Time,
    /// What happened.
    pub event: Arc<InstallationEvent>,
}

/// What a person allowed for ever, for every thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// Its name. The same consent has the same name, so that it is kept once.
    pub id: Arc<str>,
    /// The tool.
    pub tool: Arc<str>,
    /// What the call must fit; everything where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Arc<str>>,
    /// The agent that may; any where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<str>>,
    /// The question to which it was the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// When it was given.
    pub given_at: Time,
}

/// What a person said about a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectJudgement {
    /// The folder's real path.
    pub path: Arc<str>,
    /// Names what it held.
    pub digest: Arc<str>,
    /// Whether what it holds counts; if not, it can only narrow, and nobody is asked again.
    pub trusted: bool,
    /// The machine of the folder, where several share the store: of another machine's folder of that name nothing was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Arc<str>>,
}

impl ProjectJudgement {
    fn is_of(&self, path: &Arc<str>, machine: Option<&Arc<str>>) -> bool {
        self.path == *path && self.machine.as_ref() == machine
    }
}

/// The approved tools of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerTools {
    /// The server's name.
    pub server: Arc<str>,
    /// Names what is started or reached under that name.
    pub identity: Arc<str>,
    /// The tools, by the server's own names, in their order.
    pub tools: Vec<ApprovedTool>,
}

/// A tool as it was approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedTool {
    /// The server's own name for it.
    pub name: Arc<str>,
    /// Names everything that the server said about it.
    pub digest: Arc<str>,
    /// The beginning of its description, to show what has changed.
    pub description: Arc<str>,
}

/// A browser that signed in, by hashes with which no browser can sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserSession {
    /// The hash of its cookie.
    pub cookie: Arc<str>,
    /// The hash of what its page alone knows.
    pub page: Arc<str>,
    /// Names the password under which it was signed in.
    pub password: Arc<str>,
    /// When it was signed in, in seconds since 1970.
    pub since: u64,
}

/// A conversation of which not all may be written yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedConversation {
    /// Its root.
    pub root: ThreadId,
    /// The process that writes it.
    pub process: Process,
    /// When it began.
    pub since: Time,
}

impl UnfinishedConversation {
    /// Whether its process is gone. One on another host, which cannot be asked, is given an hour.
    pub fn is_left(&self, now: Time) -> bool {
        !self.process.is_alive(self.since.plus_ms(LONGEST_MS), now)
    }
}

/// The server that ran last at its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastServer {
    /// Its process.
    pub process: ProcessId,
    /// Where it listens; none once it has ended in good order.
    pub address: Option<Arc<str>>,
    /// The roots that it left in the middle when it ended in good order.
    pub left: Vec<ThreadId>,
    /// Its machine and its folder for state, where several machines share the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Arc<str>>,
}

/// What holds for the installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// How many events it was folded from.
    pub n: u64,
    /// What people allowed for ever, in the order in which it was given.
    pub consents: Vec<Consent>,
    /// The projects that a person was asked about.
    pub projects: Vec<ProjectJudgement>,
    /// The approved tools of MCP servers, one entry for each server.
    pub server_tools: Vec<ServerTools>,
    /// The browsers that were signed in, in the order of coming.
    pub browsers: Vec<BrowserSession>,
    /// Conversations of which not all may be written yet.
    pub unfinished: Vec<UnfinishedConversation>,
    /// The server that ran last, where the store is of one machine.
    pub server: Option<LastServer>,
    /// The servers that ran last at each place, where several machines share the store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<LastServer>,
}

impl State {
    /// Takes in an event.
    pub fn apply(&mut self, event: &InstallationEvent) {
        self.n += 1;
        match event {
            InstallationEvent::ConsentGiven(consent) => {
                if self.consents.iter().all(|known| known.id != consent.id) {
                    self.consents.push(consent.clone());
                }
            }
            InstallationEvent::ConsentRevoked { id } => self.consents.retain(|known| known.id != *id),
            InstallationEvent::ProjectJudged(judgement) => {
                self.projects.retain(|known| !known.is_of(&judgement.path, judgement.machine.as_ref()));
                self.projects.push(judgement.clone());
            }
            InstallationEvent::ProjectForgotten { path, machine } => {
                self.projects.retain(|known| !known.is_of(path, machine.as_ref()));
            }
            InstallationEvent::ServerToolsApproved(approved) => {
                self.server_tools.retain(|known| known.server != approved.server);
                self.server_tools.push(approved.clone());
            }
            InstallationEvent::BrowserAdmitted(session) => {
                self.browsers.retain(|known| known.cookie != session.cookie);
                self.browsers.push(session.clone());
                let too_many = self.browsers.len().saturating_sub(MOST_BROWSERS);
                self.browsers.drain(..too_many);
            }
            InstallationEvent::ConversationBegun(unfinished) => self.unfinished.push(unfinished.clone()),
            InstallationEvent::ConversationEnded { root, process } => {
                self.unfinished.retain(|known| known.root != *root || known.process.id != *process);
            }
            InstallationEvent::ServerStarted { process, address, place } => {
                let (process, address, place) = (process.clone(), Some(address.clone()), place.clone());
                self.put_server(LastServer { process, address, left: Vec::new(), place });
            }
            InstallationEvent::ServerStopped { process, left, place } => {
                let (process, left, place) = (process.clone(), left.clone(), place.clone());
                self.put_server(LastServer { process, address: None, left, place });
            }
        }
    }

    /// The server that ran last at a place.
    pub fn server_at(&self, place: Option<&Arc<str>>) -> Option<&LastServer> {
        match place {
            None => self.server.as_ref(),
            Some(_) => self.servers.iter().find(|server| server.place.as_ref() == place),
        }
    }

    fn put_server(&mut self, server: LastServer) {
        if server.place.is_none() {
            self.server = Some(server);
            return;
        }
        self.servers.retain(|known| known.place != server.place);
        self.servers.push(server);
        let too_many = self.servers.len().saturating_sub(MOST_SERVERS);
        self.servers.drain(..too_many);
    }

    /// The state after an event; none where that changes nothing.
    pub(crate) fn after(&self, event: &InstallationEvent) -> Option<State> {
        let mut next = self.clone();
        next.apply(event);
        let is_changed = State { n: self.n, ..next.clone() } != *self;
        is_changed.then_some(next)
    }
}

/// What holds for the installation, as this process knows it: kept up to date with what other processes change, until it is
/// dropped.
#[derive(Clone)]
pub struct Current(Arc<Shared>);

struct Shared {
    store: Arc<dyn Store>,
    known: Arc<Mutex<Arc<State>>>,
    following: tokio::task::JoinHandle<()>,
}

impl Current {
    /// Reads what holds, and follows it from there.
    #[boxed]
    pub async fn open(store: &Arc<dyn Store>) -> Result<Self, Error> {
        let state = store.installation().await?;
        let news = follow_installation(store, state.n, LOOK);
        let known = Arc::new(Mutex::new(Arc::new(state)));
        let following = tokio::spawn(keep_up(known.clone(), news));
        Ok(Self(Arc::new(Shared { store: store.clone(), known, following })))
    }

    /// What holds.
    pub fn state(&self) -> Arc<State> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes what happened; afterwards it holds in this process at once.
    #[boxed]
    pub async fn record(&self, event: InstallationEvent, at: Time) -> Result<(), Error> {
        self.0.store.record(event, at).await?;
        let state = self.0.store.installation().await?;
        put(&self.0.known, state);
        Ok(())
    }
}

impl std::fmt::Debug for Current {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Current").field(&self.state()).finish()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.following.abort();
    }
}

async fn keep_up(known: Arc<Mutex<Arc<State>>>, mut news: Follow<InstallationRecord>) {
    while let Some(page) = news.next().await {
        match page {
            Ok(page) => {
                let mut state = (**known.lock().unwrap_or_else(PoisonError::into_inner)).clone();
                // What this process wrote itself is known already.
                for record in &page {
                    if record.n > state.n {
                        state.apply(&record.event);
                    }
                }
                put(&known, state);
            }
            // A closed store says so for ever; any other failure may pass.
            Err(Error::Closed) => return,
            Err(_) => tokio::time::sleep(LOOK).await,
        }
    }
}

/// Puts a state in the place of an older one.
fn put(known: &Mutex<Arc<State>>, state: State) {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if known.n < state.n {
        *known = Arc::new(state);
    }
}
