//! One server: its connection, made when it is needed and made again after it broke.
//!
//! A program is started in the sandbox of commands and ends with this process. Its end, and an answer that does not come, break the
//! connection: calls that are under way end as *outcome unknown*, later ones wait for the next start. Pauses between starts grow.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent::tools::ToolResult;
use async_recursion::async_recursion as boxed;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, PeerRequestOptions, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::auth::{AuthClient, AuthError};
use rmcp::transport::streamable_http_client::{AuthRequiredError, StreamableHttpClientTransportConfig};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tool::{CommandHost, Program, ProgramSpec, ToolContext, Workspace};

use crate::client::{Call, Client};
use crate::error::Error;
use crate::http::Bounded;
use crate::login;
use crate::offered::Offered;
use crate::output;
use crate::pump::{self, End};
use crate::servers::plainly;
use crate::settings::{Connection, ServerSettings};

/// How long a server may take to start and to list its tools.
const START_TIME: Duration = Duration::from_secs(10);
/// The first pause after a connection broke; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A connection that lasted so long had nothing wrong with its start.
const STEADY: Duration = Duration::from_secs(60);
/// How long a server may take to end when it is closed.
const CLOSE_TIME: Duration = Duration::from_secs(2);
/// The most tools of one server, and the most pages in which it may list them.
const MOST_TOOLS: usize = 1_000;
const MOST_PAGES: usize = 100;
/// What is kept of the last words of a program.
const LAST_WORDS: usize = 400;
/// The most calls over one address at the same time.
const HTTP_CALLS: usize = 64;
/// How often a server may say about one call that it wants to know something first.
const MOST_ROUNDS: usize = 10;
/// The pause before a call is repeated about which the server wanted to know nothing.
const ROUND_PAUSE: Duration = Duration::from_millis(100);

/// What is around a server.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// How programs are run.
    pub host: CommandHost,
    /// The folder that servers work on.
    pub workspace: Arc<Workspace>,
    /// The folder in which each server has a folder of its own for what it can fetch again; none where nothing is kept.
    pub cache: Option<PathBuf>,
    /// The folder of the tokens of logins; none where nothing is kept.
    pub tokens: Option<PathBuf>,
}

/// One server.
pub struct Server {
    settings: ServerSettings,
    around: Surroundings,
    state: tokio::sync::Mutex<State>,
    /// The tools as they were listed last.
    offered: Mutex<Option<Arc<[Offered]>>>,
    /// Why it could not be used when it was last tried.
    failure: Mutex<Option<Error>>,
    /// Told when the tools should be listed again.
    changed: Arc<Notify>,
    closed: CancellationToken,
    /// The files of the workspace that its command names, as they were when it was configured.
    files: Vec<(PathBuf, Option<blake3::Hash>)>,
}

#[derive(Default)]
struct State {
    live: Option<Arc<Live>>,
    /// Starts in a row after which the connection did not last.
    failures: u32,
    not_before: Option<Instant>,
}

/// A connection.
pub(crate) struct Live {
    pub(crate) service: RunningService<RoleClient, Client>,
    client: Client,
    since: Instant,
    /// How the program ended; none while it lives.
    ended: watch::Receiver<Option<String>>,
    /// Ends the program when the connection is dropped.
    end: Option<CancellationToken>,
    /// The task that waits for the end of the program.
    life: Mutex<Option<tokio::task::JoinHandle<()>>>,
    is_sandboxed: bool,
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(end) = &self.end {
            end.cancel();
        }
    }
}

impl Server {
    pub(crate) fn new(settings: ServerSettings, around: Surroundings, changed: Arc<Notify>) -> Self {
        let files = named_files(&settings.connection, around.workspace.root());
        let with_digest = |file: PathBuf| {
            let known = digest(&file);
            (file, known)
        };
        let files = files.into_iter().map(with_digest).collect();
        Self {
            files,
            settings,
            around,
            state: tokio::sync::Mutex::default(),
            offered: Mutex::default(),
            failure: Mutex::default(),
            changed,
            closed: CancellationToken::new(),
        }
    }

    /// What is configured about it.
    pub fn settings(&self) -> &ServerSettings {
        &self.settings
    }

    /// The tools that it offered when they were listed last; none where that was never possible.
    pub fn offered(&self) -> Option<Arc<[Offered]>> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why it could not be used when it was last tried; none where it could.
    pub fn failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Connects, if it is not connected, and lists its tools anew.
    #[boxed]
    pub async fn list(&self) -> Result<Arc<[Offered]>, Error> {
        let live = self.live().await?;
        match tokio::time::timeout(START_TIME, tools_of(&live.service, &self.settings)).await {
            Ok(Ok(listed)) => {
                *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = Some(listed.clone());
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
                Ok(listed)
            }
            Ok(Err(error)) => Err(self.failed(error)),
            Err(_) => Err(self.failed(Error::Slow(START_TIME.as_secs()))),
        }
    }

    /// Calls one of its tools. Whatever happens, there is a result.
    #[boxed]
    pub async fn call(
        &self,
        tool: &Offered,
        arguments: serde_json::Map<String, serde_json::Value>,
        context: &ToolContext,
    ) -> ToolResult {
        let (name, server) = (&tool.name, &self.settings.name);
        let live = tokio::select! {
            biased;
            () = context.stop.cancelled() => return ToolResult::error("stopped before it began"),
            live = self.live() => live,
        };
        let live = match live {
            Ok(live) => live,
            Err(error) => {
                let foreign = Some(output::origin(server));
                let why = format!("{name} was not called: MCP server {server} cannot be used: {error}");
                return ToolResult { foreign, ..ToolResult::error(why) };
            }
        };
        let params = CallToolRequestParams::new(tool.own_name.to_string()).with_arguments(arguments);
        let mut call = live.client.begin(context);
        // The server's own last words may be among the reasons.
        let unknown = |why: String| ToolResult {
            executed: true,
            foreign: Some(output::origin(server)),
            ..ToolResult::error(format!("{name}: outcome unknown, it may have been carried out: {why}"))
        };
        let died = async {
            match end_of(live.ended.clone()).await {
                Some(how) => how,
                // An address does not end.
                None => std::future::pending().await,
            }
        };
        let timed = live.client.clock(&call);
        // Dropping the request tells the server that it is cancelled.
        let answered = tokio::select! {
            biased;
            answered = live.request(params, context, &mut call) => answered,
            how = died => {
                self.broken(&live, Error::Ended(how.clone())).await;
                return unknown(format!("MCP server {server} ended during the call: {how}"));
            }
            () = context.stop.cancelled() => return unknown("stopped; the server was told to cancel it".to_owned()),
            () = timed.too_long(self.settings.call_time) => {
                let seconds = self.settings.call_time.as_secs();
                return unknown(format!("MCP server {server} did not answer within {seconds} s and was told to cancel it"));
            }
        };
        match answered {
            Ok(result) => {
                let (server, context) = (server.clone(), context.clone());
                let told = tokio::task::spawn_blocking(move || output::told(&server, &result, &context)).await;
                told.unwrap_or_else(|broken| {
                    ToolResult::error(format!("{name}: its result could not be read: {broken}"))
                })
            }
            Err(error) if self.wants_login(&error) => {
                let why = self.failed(Error::Login(server.clone()));
                ToolResult::error(format!("{name} was not called: MCP server {server} cannot be used: {why}"))
            }
            Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
                // The end of the program is known a moment after that of its output.
                let how = tokio::time::timeout(CLOSE_TIME, end_of(live.ended.clone())).await;
                let how = how.ok().flatten().unwrap_or_else(|| "the connection ended".to_owned());
                self.broken(&live, Error::Ended(how.clone())).await;
                unknown(format!("the connection to MCP server {server} broke during the call: {how}"))
            }
            Err(ServiceError::McpError(error)) => {
                let said = error.message.chars().take(2_000).collect::<String>();
                let foreign = Some(output::origin(server));
                ToolResult {
                    foreign,
                    executed: true,
                    ..ToolResult::error(format!("the server refused the call: {said}"))
                }
            }
            Err(other) => unknown(other.to_string()),
        }
    }

    /// Whether a request was refused because it needs a login.
    fn wants_login(&self, error: &ServiceError) -> bool {
        let ServiceError::TransportSend(error) = error else { return false };
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&*error.error);
        while let Some(error) = cause {
            let is_auth = matches!(error.downcast_ref(), Some(AuthError::AuthorizationRequired));
            if is_auth || error.is::<AuthRequiredError>() {
                return true;
            }
            cause = error.source();
        }
        false
    }

    /// What a failed request means, other than one of a call.
    pub(crate) fn ended(&self, error: &ServiceError) -> Error {
        match self.wants_login(error) {
            true => self.failed(Error::Login(self.settings.name.clone())),
            false => Error::Ended(error.to_string()),
        }
    }

    /// Whether a person logged in at it, and the tokens are kept.
    pub(crate) fn is_logged_in(&self) -> bool {
        let is_http = matches!(self.settings.connection, Connection::Http { .. });
        is_http && self.around.tokens.as_ref().is_some_and(|folder| login::is_logged_in(&self.settings, folder))
    }

    /// The folder that it works on.
    pub(crate) fn workspace(&self) -> &Arc<Workspace> {
        &self.around.workspace
    }

    /// Whether its calls are watched over: a program that can write files of the workspace.
    pub(crate) fn writes_files(&self) -> bool {
        matches!(self.settings.connection, Connection::Program { .. })
    }

    /// Whether it runs in a sandbox, where it runs as a program.
    #[boxed]
    pub async fn is_sandboxed(&self) -> Option<bool> {
        let state = self.state.lock().await;
        state.live.as_ref().filter(|_| self.writes_files()).map(|live| live.is_sandboxed)
    }

    /// Ends the connection, and waits until everything that was started for it has ended.
    #[boxed]
    pub async fn close(&self) {
        self.closed.cancel();
        let live = self.state.lock().await.live.take();
        if let Some(live) = live {
            close(live).await;
        }
    }

    /// The connection, made if there is none. All that need it wait for the same start.
    pub(crate) async fn live(&self) -> Result<Arc<Live>, Error> {
        let mut state = self.state.lock().await;
        if self.closed.is_cancelled() {
            return Err(Error::Closed);
        }
        match &state.live {
            Some(live) if live.is_usable() => return Ok(live.clone()),
            Some(_) => {
                let old = state.live.take();
                if let Some(old) = old {
                    state.pause(old.since.elapsed());
                    close(old).await;
                }
            }
            None => {}
        }
        if let Some(due) = state.not_before {
            tokio::select! {
                () = tokio::time::sleep_until(due.into()) => {}
                () = self.closed.cancelled() => return Err(Error::Closed),
            }
        }
        let started = tokio::select! {
            started = tokio::time::timeout(START_TIME, self.connect()) => started,
            () = self.closed.cancelled() => return Err(Error::Closed),
        };
        match started {
            Ok(Ok(live)) => {
                let live = Arc::new(live);
                let is_again = state.failures > 0;
                state.live = Some(live.clone());
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
                if is_again {
                    // It may have come back with other tools.
                    self.changed.notify_one();
                }
                Ok(live)
            }
            Ok(Err(error)) => {
                // A server that wants a login works: it is not slower to be tried after that.
                if !matches!(error, Error::Login(_)) {
                    state.pause(Duration::ZERO);
                }
                Err(self.failed(error))
            }
            Err(_) => {
                state.pause(Duration::ZERO);
                Err(self.failed(Error::Slow(START_TIME.as_secs())))
            }
        }
    }

    fn failed(&self, error: Error) -> Error {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        error
    }

    /// A connection broke: the next one that needs it makes another.
    async fn broken(&self, live: &Arc<Live>, error: Error) {
        let mut state = self.state.lock().await;
        if let Some(known) = state.live.take_if(|known| Arc::ptr_eq(known, live)) {
            state.pause(known.since.elapsed());
            self.failed(error);
        }
    }

    async fn connect(&self) -> Result<Live, Error> {
        let live = match self.join(lifecycle()).await {
            // Another connection, for this one has begun in the newest revision.
            Err(Error::Older) => self.join(ClientLifecycleMode::Initialize).await?,
            joined => joined?,
        };
        live.subscribe(&self.changed);
        Ok(live)
    }

    async fn join(&self, lifecycle: ClientLifecycleMode) -> Result<Live, Error> {
        let name = self.settings.name.clone();
        let client =
            Client::new(name, self.around.workspace.root().to_owned(), self.settings.sampling, self.changed.clone());
        match &self.settings.connection {
            Connection::Program { command, env, cwd } => self.start(client, lifecycle, command, env, cwd.clone()).await,
            Connection::Http { url, headers } => self.reach(client, lifecycle, url, headers).await,
        }
    }

    async fn start(
        &self,
        client: Client,
        lifecycle: ClientLifecycleMode,
        command: &[String],
        env: &std::collections::BTreeMap<String, String>,
        cwd: Option<String>,
    ) -> Result<Live, Error> {
        // An agent can write these files, and a server that ends is started again.
        if let Some((file, _)) = self.files.iter().find(|(file, known)| digest(file) != *known) {
            let file = file.display();
            return Err(Error::Start(format!(
                "{file}, which its command names, has changed since this program began; start again to use it"
            )));
        }
        let spec = ProgramSpec {
            command: command.iter().map(OsString::from).collect(),
            environment: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd,
            network: self.settings.network,
            cache: self.around.cache.as_ref().map(|folder| folder.join(&*self.settings.name)),
        };
        let started = self.around.host.start_program(&self.around.workspace, &spec).await;
        let Program { input, output, errors, mut life } = started.map_err(Error::Start)?;
        let is_sandboxed = life.is_sandboxed();
        let end = CancellationToken::new();
        let (said, ended) = watch::channel(None);
        let last_words = tokio::spawn(last_words(errors));
        let (to, from) = tokio::io::duplex(256 * 1024);
        let pumping = tokio::spawn(pump::pump(output, to, lifecycle != ClientLifecycleMode::Initialize));
        let ending = end.clone();
        let life = tokio::spawn(async move {
            let flooded = async {
                match pumping.await {
                    Ok(End::Flooded) => {}
                    Ok(End::Closed) | Err(_) => std::future::pending().await,
                }
            };
            let mut is_flooded = false;
            let mut how = tokio::select! {
                how = life.ended() => Some(how),
                () = ending.cancelled() => None,
                () = flooded => {
                    is_flooded = true;
                    None
                }
            };
            if how.is_none() {
                life.end();
                how = Some(life.ended().await);
            }
            let words = tokio::time::timeout(Duration::from_millis(200), last_words).await;
            let words = words.ok().and_then(Result::ok).unwrap_or_default();
            let how = match is_flooded {
                true => "it printed without end and was ended".to_owned(),
                false => how.unwrap_or_default(),
            };
            let how = if words.is_empty() { how } else { format!("{how}; it said last: {words}") };
            // The receivers may be gone.
            let _ = said.send(Some(how));
        });
        let transport = AsyncRwTransport::new_client(from, input).with_max_line_length(pump::LONGEST_LINE + 1024);
        // A program that ends says more than a connection that does.
        let served = tokio::select! {
            biased;
            how = end_of(ended.clone()) => return Err(Error::Start(how.unwrap_or_default())),
            served = serve_client_with_lifecycle(client.clone(), transport, lifecycle) => served,
        };
        let service = match served {
            Ok(service) => service,
            Err(error) => {
                end.cancel();
                let how = tokio::time::timeout(CLOSE_TIME, end_of(ended.clone())).await.ok().flatten();
                return Err(match (error, how) {
                    (ClientInitializeError::NoCompatibleProtocolVersion { .. }, _) => Error::Older,
                    (ClientInitializeError::ConnectionClosed(_), Some(how)) => Error::Start(how),
                    (error, _) => Error::Start(words(&error)),
                });
            }
        };
        Ok(Live {
            service,
            client,
            since: Instant::now(),
            ended,
            end: Some(end),
            life: Mutex::new(Some(life)),
            is_sandboxed,
        })
    }

    async fn reach(
        &self,
        client: Client,
        lifecycle: ClientLifecycleMode,
        url: &str,
        headers: &std::collections::BTreeMap<String, String>,
    ) -> Result<Live, Error> {
        // Set once for the whole process; the provider's requests use the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(START_TIME)
            .build()
            .map_err(|error| Error::Start(error.to_string()))?;
        let http = Bounded(http);
        let mut config = StreamableHttpClientTransportConfig::with_uri(url).max_concurrent_requests(HTTP_CALLS);
        config = config.max_sse_event_size(pump::LONGEST_LINE);
        let mut sent = std::collections::HashMap::new();
        for (name, value) in headers {
            let wrong = |_| Error::Start(format!("the header {name} cannot be sent"));
            let name = reqwest::header::HeaderName::try_from(name.as_str())
                .map_err(|_| Error::Start(format!("{name} is no name of a header")))?;
            let mut value = reqwest::header::HeaderValue::try_from(value.as_str()).map_err(wrong)?;
            value.set_sensitive(true);
            sent.insert(name, value);
        }
        let has_token = sent.contains_key(&reqwest::header::AUTHORIZATION);
        let tokens = match self.around.tokens.as_ref().filter(|_| !has_token) {
            Some(folder) => login::tokens(&self.settings, url, folder).await?,
            None => None,
        };
        let config = config.custom_headers(sent);
        let served = match tokens {
            Some(tokens) => {
                let http = AuthClient::new(http, tokens);
                let transport = StreamableHttpClientTransport::with_client(http, config);
                serve_client_with_lifecycle(client.clone(), transport, lifecycle).await
            }
            None => {
                let transport = StreamableHttpClientTransport::with_client(http, config);
                serve_client_with_lifecycle(client.clone(), transport, lifecycle).await
            }
        };
        let service =
            served.map_err(|error| match error.is_authorization_required() || error.auth_challenge().is_some() {
                true => Error::Login(self.settings.name.clone()),
                false if matches!(error, ClientInitializeError::NoCompatibleProtocolVersion { .. }) => Error::Older,
                false => Error::Start(words(&error)),
            })?;
        let (_, ended) = watch::channel(None);
        Ok(Live {
            service,
            client,
            since: Instant::now(),
            ended,
            end: None,
            life: Mutex::default(),
            is_sandboxed: false,
        })
    }
}

impl State {
    /// Notes that a connection did not last, or could not be made.
    fn pause(&mut self, lasted: Duration) {
        if lasted >= STEADY {
            self.failures = 0;
        }
        let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.failures.min(10))).min(LONGEST_PAUSE);
        self.failures += 1;
        self.not_before = Some(Instant::now() + pause);
    }
}

impl Live {
    fn is_usable(&self) -> bool {
        !self.service.is_closed() && !self.service.is_transport_closed() && self.ended.borrow().is_none()
    }

    /// A server of the newest revision tells of other tools only where it is asked to.
    fn subscribe(&self, changed: &Arc<Notify>) {
        let is_new = self.service.peer_info().is_some_and(|info| !info.protocol_version.has_initialize());
        if !is_new {
            return;
        }
        let (peer, changed) = (self.service.peer().clone(), changed.clone());
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let Ok(mut subscription) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = subscription.next().await {
                changed.notify_one();
            }
        });
    }

    /// Whether the server can do something.
    pub(crate) fn has(&self, what: impl Fn(&ServerCapabilities) -> bool) -> bool {
        self.service.peer_info().is_some_and(|info| what(&info.capabilities))
    }

    /// Makes a call, and answers what the server wants to know before it does anything.
    async fn request(
        &self,
        mut params: CallToolRequestParams,
        context: &ToolContext,
        call: &mut Call,
    ) -> Result<CallToolResult, ServiceError> {
        for _ in 0..MOST_ROUNDS {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
            let options = PeerRequestOptions::no_options();
            let handle = self.service.peer().send_cancellable_request(request, options).await?;
            if let Some(progress) = context.progress.clone() {
                call.follow(handle.progress_token.clone(), progress);
            }
            let mut abandoned = Abandoned { peer: self.service.peer().clone(), id: Some(handle.id.clone()) };
            let answered = handle.await_response().await;
            abandoned.id = None;
            let wanted = match answered? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(wanted) => wanted,
                _ => return Err(ServiceError::UnexpectedResponse),
            };
            let questions = wanted.input_requests.unwrap_or_default();
            match (questions.is_empty(), &wanted.request_state) {
                (true, None) => return Err(ServiceError::UnexpectedResponse),
                (true, Some(_)) => tokio::time::sleep(ROUND_PAUSE).await,
                (false, _) => {}
            }
            let answers = self.client.answered(call, questions).await?;
            params.input_responses = (!answers.is_empty()).then_some(answers);
            params.request_state = wanted.request_state;
        }
        Err(ServiceError::InputRequiredRoundsExceeded { max_rounds: MOST_ROUNDS })
    }
}

/// Tells the server that the answer is no longer awaited.
struct Abandoned {
    peer: rmcp::service::Peer<RoleClient>,
    id: Option<rmcp::model::RequestId>,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        // Where the runtime is gone, the server is, too.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let cancelled = rmcp::model::CancelledNotificationParam::new(Some(id), Some("cancelled".to_owned()));
                let _ = peer.notify_cancelled(cancelled).await;
            });
        }
    }
}

/// The files of a workspace that a command names: as a word, or behind the sign of an option.
fn named_files(connection: &Connection, workspace: &Path) -> Vec<PathBuf> {
    let Connection::Program { command, cwd, .. } = connection else { return Vec::new() };
    let from = workspace.join(cwd.as_deref().unwrap_or_default());
    let words = command.iter().flat_map(|word| [Some(word.as_str()), word.split_once('=').map(|(_, path)| path)]);
    let files = words.flatten().filter(|word| !word.is_empty()).map(|word| from.join(word));
    files.filter(|file| file.is_file() && file.canonicalize().is_ok_and(|real| real.starts_with(workspace))).collect()
}

fn digest(file: &Path) -> Option<blake3::Hash> {
    std::fs::read(file).ok().map(|bytes| blake3::hash(&bytes))
}

/// How a program ended, once it has; none for what is no program.
async fn end_of(mut ended: watch::Receiver<Option<String>>) -> Option<String> {
    ended.wait_for(Option::is_some).await.ok()?.clone()
}

async fn close(live: Arc<Live>) {
    if let Some(end) = &live.end {
        end.cancel();
    }
    let life = live.life.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(life) = life {
        let _ = tokio::time::timeout(CLOSE_TIME, life).await;
    }
    // A call that is under way holds it, too, and ends with the program.
    if let Some(mut live) = Arc::into_inner(live) {
        let _ = live.service.close_with_timeout(CLOSE_TIME).await;
    }
}

/// The newest revision of the protocol, or the one before it.
fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

/// Why a connection was not made, without what the server said at length.
fn words(error: &ClientInitializeError) -> String {
    let said = match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => return words(fallback),
        // Its own words name types of the library.
        ClientInitializeError::TransportError { error, .. } => {
            let mut text = error.error.to_string();
            let mut cause = error.error.source();
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            text
        }
        other => other.to_string(),
    };
    said.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

async fn tools_of(
    service: &RunningService<RoleClient, Client>,
    settings: &ServerSettings,
) -> Result<Arc<[Offered]>, Error> {
    let mut found: Vec<Offered> = Vec::new();
    let (mut cursor, mut names) = (None, BTreeSet::new());
    for _ in 0..MOST_PAGES {
        let mut page = PaginatedRequestParams::default();
        page.cursor = cursor;
        let listed = service.list_tools(Some(page)).await.map_err(|error| match error {
            ServiceError::McpError(error) => Error::Refused(plainly(&error.message)),
            other => Error::Ended(other.to_string()),
        })?;
        for tool in &listed.tools {
            if settings.tools.as_ref().is_some_and(|wanted| wanted.iter().all(|name| *name != *tool.name)) {
                continue;
            }
            match Offered::of(&settings.name, tool) {
                // Two that agents would call by the same name: the one that came first is kept.
                Ok(offered) if !names.insert(offered.name.clone()) => {
                    let first = found.iter().find(|first| first.name == offered.name);
                    tracing::warn!(
                        "MCP server {}: its tools '{}' and '{}' would both be named {}, and the second is left out",
                        settings.name,
                        plainly(first.map_or("", |first| &first.own_name)),
                        plainly(&offered.own_name),
                        offered.name
                    );
                }
                Ok(offered) if found.len() < MOST_TOOLS => found.push(offered),
                Ok(_) => {
                    tracing::warn!(
                        "MCP server {}: it offers more than {MOST_TOOLS} tools; the rest is left out",
                        settings.name
                    );
                    return Ok(found.into());
                }
                Err(why) => tracing::warn!("MCP server {}: a tool is left out: {}", settings.name, plainly(&why)),
            }
        }
        cursor = listed.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(found.into())
}

/// The last words of a program, one line of plain characters.
async fn last_words(mut errors: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut kept: Vec<u8> = Vec::new();
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(read @ 1..) = tokio::io::AsyncReadExt::read(&mut errors, &mut buffer).await {
        kept.extend_from_slice(&buffer[..read]);
        if kept.len() > 8 * LAST_WORDS {
            kept.drain(..kept.len() - 4 * LAST_WORDS);
        }
    }
    let text = String::from_utf8_lossy(&kept);
    let plain: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let skipped = plain.chars().count().saturating_sub(LAST_WORDS);
    plain.chars().skip(skipped).collect()
}
