//! Our side of one connection: what a server may ask of us, and what it tells us on its own account.
//!
//! A server may ask for the folders that it works on, and gets the workspace. It may ask a person something while a call is under way
//! (`elicit.rs`): in the newest revision the question comes as the first answer of a call and goes to the thread of that call; in the one
//! before it comes by itself, and goes to the thread of the call that began first where several are under way. By the same ways it may ask
//! the model of the agent something (`sample.rs`), where a person allows that for the server; to all others it is not offered, and a request
//! all the same is refused.

#![expect(deprecated, reason = "servers of earlier revisions ask for roots and a model")]

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestMethod, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, Implementation,
    InputRequest, InputRequests, InputResponses, ListRootsResult, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, Root,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, ServiceError};
use rmcp::{ClientHandler, ErrorData};
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};
use tool::{Progress, ToolContext};

use crate::elicit::{Form, Visit, Wish};
use crate::sample;

/// The longest progress message that is shown.
const LONGEST_PROGRESS: usize = 200;
/// The shortest time between two of them.
const PROGRESS_PAUSE: Duration = Duration::from_millis(200);
/// How often a person is asked again whose answer does not fit.
const MOST_TRIES: usize = 3;

/// Our side of one connection.
#[derive(Clone)]
pub(crate) struct Client(Arc<Inner>);

struct Inner {
    server: Arc<str>,
    workspace: PathBuf,
    /// Whether it may ask a model.
    may_sample: bool,
    /// Told when the server says that its tools have changed.
    changed: Arc<Notify>,
    /// Where the progress of each call goes.
    progress: Mutex<HashMap<ProgressToken, Shown>>,
    calls: Mutex<Calls>,
    /// Held while a person or a model is asked: one question at a time.
    asking: tokio::sync::Mutex<()>,
}

/// The progress of a call.
struct Shown {
    to: Progress,
    last: Option<Instant>,
}

/// The calls that are under way, in the order in which they began.
#[derive(Default)]
struct Calls {
    begun: u64,
    under_way: BTreeMap<u64, UnderWay>,
}

struct UnderWay {
    context: ToolContext,
    /// Questions that a person, or a model, has not answered.
    open: usize,
    /// Cancelled when the call is over: nobody takes up its questions after that.
    over: CancellationToken,
    /// When the server was last handed an answer, or begun with.
    heard: Instant,
}

impl Client {
    pub fn new(server: Arc<str>, workspace: PathBuf, may_sample: bool, changed: Arc<Notify>) -> Self {
        Self(Arc::new(Inner {
            server,
            workspace,
            may_sample,
            changed,
            progress: Mutex::default(),
            calls: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        }))
    }

    /// A call begins; it is over when the guard is dropped.
    pub fn begin(&self, context: &ToolContext) -> Call {
        let mut calls = self.calls();
        calls.begun += 1;
        let number = calls.begun;
        let over = CancellationToken::new();
        let under_way = UnderWay { context: context.clone(), open: 0, over: over.clone(), heard: Instant::now() };
        calls.under_way.insert(number, under_way);
        Call { client: self.clone(), number, token: None, _over: over.drop_guard() }
    }

    /// The clock of a call.
    pub fn clock(&self, call: &Call) -> CallClock {
        CallClock { client: self.clone(), number: call.number }
    }

    fn progress(&self) -> MutexGuard<'_, HashMap<ProgressToken, Shown>> {
        self.0.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers what a server wants to know before it carries out a call.
    pub(crate) async fn answered(&self, call: &Call, questions: InputRequests) -> Result<InputResponses, ServiceError> {
        let mut answers = InputResponses::new();
        for (key, question) in questions {
            let answer = match question {
                InputRequest::Elicitation(request) => {
                    serde_json::to_value(self.elicited(Some(call.number), request.params).await)
                }
                InputRequest::ListRoots(_) => serde_json::to_value(self.roots()),
                InputRequest::CreateMessage(request) => {
                    let sampled = self.sampled(Some(call.number), request.params).await;
                    serde_json::to_value(sampled.map_err(ServiceError::McpError)?)
                }
                _ => return Err(ServiceError::UnexpectedResponse),
            };
            answers.insert(key, answer.map_err(|_| ServiceError::UnexpectedResponse)?);
        }
        Ok(answers)
    }

    async fn elicited(&self, call: Option<u64>, request: ElicitRequestParams) -> ElicitResult {
        let wish = match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
                Form::new(&message, &schema).map(Wish::Form)
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                Visit::new(&message, &url).map(Wish::Visit)
            }
            _ => None,
        };
        let Some(wish) = wish else { return ElicitResult::new(ElicitationAction::Decline) };
        match self.ask(call, &wish).await {
            Some(Some(content)) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            Some(None) => ElicitResult::new(ElicitationAction::Accept),
            None => ElicitResult::new(ElicitationAction::Decline),
        }
    }

    /// Asks the model of the agent, if a person allows that for this server.
    async fn sampled(
        &self,
        call: Option<u64>,
        request: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ErrorData> {
        if !self.0.may_sample {
            return Err(ErrorData::method_not_found::<CreateMessageRequestMethod>());
        }
        // The protocol's number for a request that a person turned down.
        let refused = |why: &str| {
            ErrorData::new(ErrorCode(-1), format!("the model was not asked, or gave no answer: {why}"), None)
        };
        let request = sample::request(request).map_err(refused)?;
        let _alone = self.0.asking.lock().await;
        let (number, context, over) = self.asker(call).ok_or_else(|| refused("no call is under way"))?;
        let asks = context.asks.clone().ok_or_else(|| refused("there is no agent"))?;
        let _open = Open::new(self, number);
        let answer = tokio::select! {
            answer = asks.sample(self.0.server.clone(), request) => answer,
            () = context.stop.cancelled() => return Err(refused("the call was stopped")),
            () = over.cancelled() => return Err(refused("the call is over")),
        };
        answer.map(|answer| sample::answer(&answer)).map_err(|why| refused(&why))
    }

    /// The call on whose behalf something is asked: this one, or where it is not known which, the one that began first.
    fn asker(&self, call: Option<u64>) -> Option<(u64, ToolContext, CancellationToken)> {
        let calls = self.calls();
        let number = call.or_else(|| calls.under_way.keys().next().copied())?;
        let asking = calls.under_way.get(&number)?;
        Some((number, asking.context.clone(), asking.over.clone()))
    }

    fn roots(&self) -> ListRootsResult {
        let path = &self.0.workspace;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        ListRootsResult::new(vec![Root::new(file_address(&path.to_string_lossy())).with_name(name)])
    }

    /// Asks the person of a call, or where it is not known of which, of the one that began first; none where no person answers, else what is
    /// sent with the consent.
    async fn ask(&self, call: Option<u64>, wish: &Wish) -> Option<Option<serde_json::Value>> {
        let _alone = self.0.asking.lock().await;
        let (number, context, over) = self.asker(call)?;
        let asks = context.asks.clone()?;
        let _open = Open::new(self, number);
        let mut wrong = None;
        for _ in 0..MOST_TRIES {
            let text = wish.question(&self.0.server, wrong.as_deref());
            let answer = tokio::select! {
                answer = asks.ask(text, wish.choices()) => answer?,
                () = context.stop.cancelled() => return None,
                () = over.cancelled() => return None,
            };
            match wish.read(&answer) {
                Ok(content) => return Some(content),
                Err(why) => wrong = Some(why),
            }
        }
        None
    }
}

/// A call that is under way.
pub(crate) struct Call {
    client: Client,
    number: u64,
    token: Option<ProgressToken>,
    _over: DropGuard,
}

impl Call {
    /// Passes its progress on.
    pub fn follow(&mut self, token: ProgressToken, progress: Progress) {
        self.client.progress().insert(token.clone(), Shown { to: progress, last: None });
        if let Some(before) = self.token.replace(token) {
            self.client.progress().remove(&before);
        }
    }
}

/// Measures how long a server takes for a call.
pub(crate) struct CallClock {
    client: Client,
    number: u64,
}

impl CallClock {
    /// Comes back when the server has taken that long, not counting the time that a person took to answer.
    pub(crate) async fn too_long(&self, time: Duration) {
        loop {
            let due = match self.client.calls().under_way.get(&self.number) {
                Some(call) if call.open > 0 => Instant::now() + PROGRESS_PAUSE,
                Some(call) if call.heard + time > Instant::now() => call.heard + time,
                Some(_) | None => return,
            };
            tokio::time::sleep_until(due.into()).await;
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.client.calls().under_way.remove(&self.number);
        if let Some(token) = &self.token {
            self.client.progress().remove(token);
        }
    }
}

/// A question that a person has not answered.
struct Open {
    client: Client,
    number: u64,
}

impl Open {
    fn new(client: &Client, number: u64) -> Self {
        if let Some(call) = client.calls().under_way.get_mut(&number) {
            call.open += 1;
        }
        Self { client: client.clone(), number }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(call) = self.client.calls().under_way.get_mut(&self.number) {
            call.open -= 1;
            call.heard = Instant::now();
        }
    }
}

/// What we say about ourselves.
fn config(may_sample: bool) -> ClientConfig {
    let mut capabilities = ClientCapabilities::default();
    capabilities.sampling = may_sample.then(Default::default);
    capabilities.roots = Some(Default::default());
    let forms_and_addresses = ElicitationCapability::new().with_form(Default::default()).with_url(Default::default());
    capabilities.elicitation = Some(forms_and_addresses);
    let us = Implementation::new("majordomo", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(capabilities, us).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        config(self.0.may_sample)
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.sampled(None, request).await
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.elicited(None, request).await)
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let receiver = {
            let mut progress = self.progress();
            let Some(shown) = progress.get_mut(&params.progress_token) else { return };
            if shown.last.is_some_and(|last| last.elapsed() < PROGRESS_PAUSE) {
                return;
            }
            shown.last = Some(Instant::now());
            shown.to.clone()
        };
        let share = match params.total {
            Some(total) => format!("{} of {total}", params.progress),
            None => params.progress.to_string(),
        };
        let message = params.message.unwrap_or_default();
        let words: String =
            [share.as_str(), message.as_str()].join(" ").trim_end().chars().take(LONGEST_PROGRESS).collect();
        receiver(&words);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed.notify_one();
    }
}

/// The address of a folder, with everything but plain characters written by its code.
fn file_address(path: &str) -> String {
    let coded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    format!("file://{}", path.bytes().map(coded).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_an_address() {
        assert_eq!(file_address("/home/a b/ü"), "file:///home/a%20b/%C3%BC");
    }

    // T54
    #[test]
    fn no_model_is_offered_to_servers_unless_a_person_allows_it() {
        let offered = |may_sample| serde_json::to_value(config(may_sample).capabilities).unwrap();
        let usual = serde_json::json!({"roots": {}, "elicitation": {"form": {}, "url": {}}});
        assert_eq!(offered(false), usual);
        let mut allowed = usual;
        allowed["sampling"] = serde_json::json!({});
        assert_eq!(offered(true), allowed);
    }
}
