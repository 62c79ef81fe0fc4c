//! A model server on loopback that is as strict as a real provider: it speaks every wire, refuses what they refuse, in
//! their words, refuses what the published types of requests do not allow, and can be told to fail in every way a network can.
//!
//! What it says is a script (the same format as `scripted/FILE`) or a function of the request. It keeps every request,
//! and counts the connections that its clients closed before it had said everything. It has no clock of its own: a test that
//! waits for something waits for the event itself.

mod anthropic;
mod body;
mod gemini;
mod lists;
mod ollama;
mod openai;
mod responses;
mod strict;
mod turn;
mod types;
mod unique;

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use axum::routing::post;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use provider::Wire;
use provider::scripted::Script;
use serde_json::{Map, Value};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use turn::{Back, Fault, Turn};

/// The key that the server accepts.
pub const KEY: &str = "sk-test-key-of-the-model-server";

/// A running server. Dropping it stops it from taking new connections.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

/// A request as it arrived, good or bad.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which wire its path belongs to.
    pub wire: Wire,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body; null when it was no JSON.
    pub body: Value,
    /// Its body, to the byte.
    pub raw: Bytes,
    /// Why it was refused, when it was.
    pub refused: Option<String>,
    /// The first words of the world in it: the brief, or the prompt.
    pub first_words: String,
    /// How many of its messages are the model's.
    pub assistant_messages: usize,
    /// Which attempt this is at the same place of the same conversation, from 1.
    pub attempt: u32,
}

impl Request {
    /// The names of the tools that are advertised.
    pub fn tools(&self) -> Vec<String> {
        let tools = match self.wire {
            Wire::Gemini => &self.body["tools"][0]["functionDeclarations"],
            Wire::Anthropic | Wire::OpenAi | Wire::Responses | Wire::Ollama => &self.body["tools"],
        };
        let name = |tool: &Value| match self.wire {
            Wire::Anthropic | Wire::Responses | Wire::Gemini => tool["name"].as_str().expect("a name").to_owned(),
            Wire::OpenAi | Wire::Ollama => tool["function"]["name"].as_str().expect("a name").to_owned(),
        };
        tools.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(name).collect()
    }
}

type Answering = dyn Fn(&Request) -> Turn + Send + Sync;

/// What all connections share.
struct Shared {
    answering: Box<Answering>,
    requests: Mutex<Vec<Request>>,
    attempts: Mutex<HashMap<(String, usize), u32>>,
    closed_early: watch::Sender<usize>,
    open: watch::Sender<usize>,
    requested: watch::Sender<usize>,
    signatures: Signatures,
    /// What it answers to a `GET`, or to a question about one model, by path.
    lists: Mutex<HashMap<String, Value>>,
    given: Mutex<HashMap<String, Given>>,
}

/// What the server gave beside an answer.
#[derive(Clone, Debug, Default)]
struct Given {
    members: Map<String, Value>,
    of_call: Option<Value>,
    is_wanted: bool,
    /// The block of thinking before the answer, on Anthropic's wire, and what was said before it. Calls of different conversations may have
    /// the same name.
    thinking: Vec<(Value, Value)>,
}

impl ModelServer {
    /// A server that answers from a script.
    pub async fn scripted(script: Script) -> Self {
        Self::start(move |request| Turn::scripted(&script, request)).await
    }

    /// A server that answers as `answering` says. Requests that a provider would refuse never reach it.
    pub async fn start(answering: impl Fn(&Request) -> Turn + Send + Sync + 'static) -> Self {
        Self::of("", answering).await
    }

    /// The same of a provider of this name, which refuses the signatures of any other.
    pub async fn of(owner: &'static str, answering: impl Fn(&Request) -> Turn + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared {
            answering: Box::new(answering),
            requests: Mutex::default(),
            attempts: Mutex::default(),
            closed_early: watch::Sender::new(0),
            open: watch::Sender::new(0),
            requested: watch::Sender::new(0),
            signatures: Signatures { owner, calls: Mutex::default() },
            lists: Mutex::default(),
            given: Mutex::default(),
        });
        let routes = Router::new()
            .route("/v1/messages", post(answer))
            .route("/v1/chat/completions", post(answer))
            // Where OpenRouter has it, for clients that go through this server as their proxy.
            .route("/api/v1/chat/completions", post(answer))
            .route("/v1/responses", post(answer))
            .route("/v1beta/models/{call}", post(answer))
            .route("/api/chat", post(answer))
            .fallback(lists::answer)
            .layer(DefaultBodyLimit::max(64 << 20))
            .with_state(Arc::clone(&shared));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let accepting = tokio::spawn(async move {
            axum::serve(listener, routes).await.expect("serving does not end by itself");
        });
        Self { address, shared, accepting }
    }

    /// An address at which nothing listens, and no other program can while the returned socket is held.
    pub fn nowhere() -> (TcpSocket, String) {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("loopback has a free port");
        let url = format!("http://{}", socket.local_addr().expect("a bound socket has an address"));
        (socket, url)
    }

    /// The base URL as a provider of `wire` is configured.
    pub fn url(&self, wire: Wire) -> String {
        match wire {
            Wire::Anthropic | Wire::Gemini | Wire::Ollama => format!("http://{}", self.address),
            Wire::OpenAi | Wire::Responses => format!("http://{}/v1", self.address),
        }
    }

    /// What is set in the environment of a program that is to use this server on a wire, and no file of settings.
    pub fn variables(&self, wire: Wire) -> Vec<(String, String)> {
        let url = self.url(wire);
        let variables = match wire {
            Wire::Anthropic => vec![("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", KEY)],
            Wire::OpenAi => vec![("OPENAI_BASE_URL", &*url), ("OPENAI_API_KEY", KEY)],
            Wire::Responses => vec![
                ("OPENAI_BASE_URL", &*url),
                ("OPENAI_API_KEY", KEY),
                ("MAJORDOMO_PROVIDERS_OPENAI_WIRE", "responses"),
            ],
            Wire::Gemini => vec![("GOOGLE_GEMINI_BASE_URL", &*url), ("GOOGLE_API_KEY", KEY)],
            // No model of a server without a key is used unnamed.
            Wire::Ollama => vec![("OLLAMA_HOST", &*url), ("MAJORDOMO_MODEL", "ollama/qwen3:8b")],
        };
        variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// Why requests were refused, as far as any were.
    pub fn refusals(&self) -> Vec<String> {
        self.requests().into_iter().filter_map(|request| request.refused).collect()
    }

    /// How many answers were given up by the client before their end.
    pub fn closed_early(&self) -> usize {
        *self.shared.closed_early.borrow()
    }

    /// Waits until so many answers have been given up by the client.
    pub async fn until_closed_early(&self, count: usize) {
        let mut closed = self.shared.closed_early.subscribe();
        closed.wait_for(|closed| *closed >= count).await.expect("the server holds the sender");
    }

    /// Waits until so many requests have come, answered or not.
    pub async fn until_requested(&self, count: usize) {
        let mut requested = self.shared.requested.subscribe();
        requested.wait_for(|requested| *requested >= count).await.expect("the server holds the sender");
    }

    /// Waits until so many answers are under way at once.
    pub async fn until_open(&self, count: usize) {
        let mut open = self.shared.open.subscribe();
        open.wait_for(|open| *open >= count).await.expect("the server holds the sender");
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap, raw: Bytes) -> Response {
    let wire = match uri.path() {
        path if path.ends_with("/messages") => Wire::Anthropic,
        path if path.ends_with("/responses") => Wire::Responses,
        path if path.ends_with(":streamGenerateContent") => Wire::Gemini,
        path if path.ends_with("/api/chat") => Wire::Ollama,
        _ => Wire::OpenAi,
    };
    let (body, checked) = match serde_json::from_slice::<Value>(&raw) {
        Ok(body) => {
            let checked = match wire {
                Wire::Anthropic => anthropic::check(&headers, &body, &lock(&shared.given), &shared.signatures),
                Wire::OpenAi => openai::check(&headers, &body, &lock(&shared.given)),
                Wire::Responses => responses::check(&headers, &body, &shared.signatures),
                Wire::Gemini => gemini::check(&headers, uri.path(), &body, &shared.signatures),
                Wire::Ollama => ollama::check(&headers, &body, &lock(&shared.given)),
            };
            let checked = checked.and_then(|()| unique::check(&raw)).and_then(|()| types::check(wire, &body));
            (body, checked)
        }
        Err(why) => (Value::Null, Err(strict::bad(format!("the body is no JSON: {why}")))),
    };
    let request = shared.note(wire, headers, body, raw, checked.as_ref().err().map(|refusal| refusal.message.clone()));
    match checked {
        Err(refusal) => refusal.response(wire),
        Ok(()) => {
            let turn = (shared.answering)(&request).by(shared.signatures.owner);
            match wire {
                Wire::OpenAi | Wire::Anthropic | Wire::Ollama => shared.give(turn.given(&request)),
                Wire::Responses | Wire::Gemini => shared.signatures.extend(turn.first_call()),
            }
            let open = body::Open::new(Arc::clone(&shared));
            turn.respond(&request, open).await
        }
    }
}

impl Shared {
    /// Remembers what was given.
    fn give(&self, given: Option<(String, Given)>) {
        let Some((name, mut given)) = given else { return };
        let mut all = lock(&self.given);
        given.thinking.extend(all.remove(&name).into_iter().flat_map(|before| before.thinking));
        all.insert(name, given);
    }

    fn note(&self, wire: Wire, headers: HeaderMap, body: Value, raw: Bytes, refused: Option<String>) -> Request {
        let (first_words, assistant_messages) = match wire {
            Wire::Anthropic | Wire::OpenAi | Wire::Ollama => said(&body),
            Wire::Responses => responses::said(&body),
            Wire::Gemini => gemini::said(&body),
        };
        let attempt = {
            let mut attempts = lock(&self.attempts);
            let attempt = attempts.entry((first_words.clone(), assistant_messages)).or_default();
            *attempt += u32::from(refused.is_none());
            *attempt
        };
        let request = Request { wire, headers, body, raw, refused, first_words, assistant_messages, attempt };
        lock(&self.requests).push(request.clone());
        self.requested.send_modify(|requested| *requested += 1);
        request
    }
}

/// The first words of the user, and how often the model has answered, on the wires that have messages.
fn said(body: &Value) -> (String, usize) {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let role = |role: &'static str| messages.iter().filter(move |message| message["role"] == role);
    let first_words = match role("user").next().map(|message| &message["content"]) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            blocks.iter().find_map(|block| block["text"].as_str()).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    };
    (first_words, role("assistant").count())
}

/// The calls that were sent with a signature, which must come back with it, unchanged.
struct Signatures {
    owner: &'static str,
    calls: Mutex<HashSet<String>>,
}

impl Signatures {
    /// The signature of a call by a provider: text that only this provider understands.
    fn sign(owner: &str, call: &str) -> String {
        BASE64_STANDARD.encode(format!("{owner} signature of {call}"))
    }

    /// Whether another provider made a signature. One that a test has made up may be of any.
    fn is_foreign(&self, signature: &Value) -> bool {
        let bytes = signature.as_str().and_then(|signature| BASE64_STANDARD.decode(signature).ok()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.split_once(" signature of ").is_some_and(|(owner, _)| owner != self.owner)
    }

    /// The signature that a call was sent with, if it was sent with one.
    fn of(&self, call: &str) -> Option<String> {
        lock(&self.calls).contains(call).then(|| Self::sign(self.owner, call))
    }

    fn extend(&self, calls: Option<String>) {
        lock(&self.calls).extend(calls);
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("requests", &lock(&self.requests).len()).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
