//! What the server does with one good request: what it says, and what goes wrong on the way.

use std::time::Duration;

use agent::model::{CallErrorKind, StopReason};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use provider::Wire;
use provider::scripted::{Script, estimate};

use serde_json::{Map, Value};
use tokio::sync::watch;

use super::body::{Ending, Open, Piece, stream};
use super::{Given, Request, Signatures, anthropic, gemini, ollama, openai, responses, strict};

/// One turn of the server.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    saying: Saying,
    fault: Option<Fault>,
    delay: Duration,
    chunk_delay: Duration,
    held: Option<watch::Receiver<bool>>,
}

/// Whether a server wants back what it gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// It does, and refuses to go on without.
    Wanted,
    /// It refuses it.
    Refused,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An error status with headers, in the wire's own shape.
    Status {
        /// The status.
        status: u16,
        /// Further headers, such as `retry-after`.
        headers: Vec<(&'static str, String)>,
        /// What is said about it.
        message: String,
    },
    /// The stream ends, in good form, when everything was said but the end.
    Unfinished,
    /// The same, but the figures of what was used have come.
    Unclosed,
    /// The answer ends with an error of an overloaded provider, in the wire's own shape, when everything was said but the end.
    Failed,
    /// The stream ends, in good form, after so many bytes.
    CutAfter(usize),
    /// The connection breaks after so many bytes.
    ResetAfter(usize),
    /// Nothing more comes after so many bytes.
    StallAfter(usize),
    /// Not even headers come.
    Silence,
    /// The bytes come one by one.
    Drip,
    /// A success with something else in it.
    Other {
        /// What it says it is.
        headers: Vec<(&'static str, String)>,
        /// What it is.
        body: Vec<u8>,
    },
}

/// What is said.
#[derive(Clone, Debug)]
pub(super) struct Saying {
    /// What stands beside the words on the wires of OpenAI and Ollama, by field.
    pub(super) beside: Map<String, Value>,
    /// What stands beside the first call on OpenAI's wire.
    pub(super) beside_call: Option<Value>,
    /// Whether the server wants back what stands beside the words.
    pub(super) is_wanted: bool,
    /// Whether nothing is said about the tokens; else the figures below.
    pub(super) is_uncounted: bool,
    pub(super) text: String,
    calls: Vec<Call>,
    pub(super) stop: StopReason,
    pub(super) tokens_in: u64,
    pub(super) tokens_out: u64,
    /// Tokens written to the cache for minutes and for an hour, on Anthropic's wire.
    pub(super) written: (u64, u64),
    /// How many tokens of the prompt came from the cache. They are counted as each wire counts them.
    pub(super) cached: u64,
    /// How many tokens of the answer were thought, where the wire says so.
    pub(super) reasoned: u64,
    /// What the model thinks before it answers, shown to those who ask for it.
    pub(super) thoughts: String,
    /// Whose signatures are under it.
    pub(super) owner: &'static str,
    /// Whether a filter of the provider stopped the answer.
    pub(super) is_filtered: bool,
}

/// A tool call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    arguments: String,
}

impl Turn {
    /// Says words.
    pub fn text(text: &str) -> Self {
        Self { saying: Saying { text: text.to_owned(), ..Saying::default() }, ..Self::default() }
    }

    /// Calls a tool as well. The arguments are sent as they are, good or bad.
    #[must_use]
    pub fn call(mut self, id: &str, name: &str, arguments: &str) -> Self {
        self.saying.stop = StopReason::ToolUse;
        self.saying.calls.push(Call { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() });
        self
    }

    /// Thinks as well, on the wires of OpenAI and Ollama: a text in pieces, or a list of blocks. A server that wants the field back refuses a request
    /// without it; one that does not refuses a request with it.
    #[must_use]
    pub fn beside(mut self, field: &str, value: Value, back: Back) -> Self {
        self.saying.beside.insert(field.to_owned(), value);
        self.saying.is_wanted = back == Back::Wanted;
        self
    }

    /// Thinks before it answers, on the wires of Anthropic, Gemini and the Responses API. The thoughts are shown to those who ask for them.
    #[must_use]
    pub fn thinks(mut self, thoughts: &str) -> Self {
        thoughts.clone_into(&mut self.saying.thoughts);
        self
    }

    /// Is stopped by a filter of the provider: on OpenAI's wires after the words, on Gemini's before any, because of the prompt.
    #[must_use]
    pub fn filtered(mut self) -> Self {
        self.saying.is_filtered = true;
        self
    }

    /// Says that so many tokens of the prompt came from the cache, besides those of `used`.
    #[must_use]
    pub fn cached(mut self, tokens: u64) -> Self {
        self.saying.cached = tokens;
        self
    }

    /// Says that so many tokens of the answer were thought, where the wire says so.
    #[must_use]
    pub fn reasoned(mut self, tokens: u64) -> Self {
        self.saying.reasoned = tokens;
        self
    }

    /// Signs the first call, on OpenAI's wire. A request without the same signature is refused.
    #[must_use]
    pub fn beside_call(mut self, extra_content: Value) -> Self {
        self.saying.beside_call = Some(extra_content);
        self
    }

    /// Says other figures of what was used; none at all where `tokens` is none.
    #[must_use]
    pub fn tokens(mut self, tokens: Option<(u64, u64)>) -> Self {
        self.saying.is_uncounted = tokens.is_none();
        (self.saying.tokens_in, self.saying.tokens_out) = tokens.unwrap_or_default();
        self
    }

    /// Stops for another reason than the usual one.
    #[must_use]
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.saying.stop = stop;
        self
    }

    /// Says that it used so many tokens.
    #[must_use]
    pub fn used(mut self, tokens_in: u64, tokens_out: u64) -> Self {
        (self.saying.tokens_in, self.saying.tokens_out) = (tokens_in, tokens_out);
        self
    }

    /// Says that so many tokens were written to the cache for minutes and for an hour, on Anthropic's wire.
    #[must_use]
    pub fn written(mut self, minutes: u64, hour: u64) -> Self {
        self.saying.written = (minutes, hour);
        self
    }

    /// Lets something go wrong.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Sends nothing, not even headers, until this is true.
    #[must_use]
    pub fn held(mut self, until: &watch::Sender<bool>) -> Self {
        self.held = Some(until.subscribe());
        self
    }

    /// An error status.
    pub fn status(status: u16, headers: Vec<(&'static str, String)>, message: &str) -> Self {
        Self::default().fault(Fault::Status { status, headers, message: message.to_owned() })
    }

    /// The same, signed by this provider.
    pub(super) fn by(mut self, owner: &'static str) -> Self {
        self.saying.owner = owner;
        self
    }

    /// The turn that a script has for a request.
    pub(super) fn scripted(script: &Script, request: &Request) -> Self {
        let cue = match script.cue(&request.first_words, request.assistant_messages) {
            Ok(cue) => cue,
            Err(missing) => return Self::status(400, Vec::new(), &missing),
        };
        let calls = cue.reply.calls.iter().enumerate().map(|(nth, call)| Call {
            id: cue.call_id(nth),
            name: call.name.clone(),
            arguments: call.input().text().to_owned(),
        });
        let saying = Saying {
            text: cue.reply.text.clone(),
            calls: calls.collect(),
            stop: cue.stop(),
            tokens_in: cue.reply.tokens_in.unwrap_or_else(|| estimate(request.raw.len())),
            tokens_out: cue.tokens_out(),
            ..Saying::default()
        };
        let fault = cue.failure(request.attempt).map(|kind| fault(kind, cue.reply.retry_after_ms));
        let delay = Duration::from_millis(cue.reply.delay_ms);
        let chunk_delay = Duration::from_millis(cue.reply.chunk_delay_ms);
        Self { saying, fault, delay, chunk_delay, held: None }
    }

    /// What was given beside the words, under the name by which the answer is known when it comes back.
    pub(super) fn given(&self, request: &Request) -> Option<(String, Given)> {
        let Saying { beside, beside_call, is_wanted, text, .. } = &self.saying;
        let name = self.first_call().unwrap_or_else(|| text.clone());
        let thinking =
            if request.wire == Wire::Anthropic { anthropic::thinking(&self.saying, &request.body) } else { None };
        let thinking = thinking.map(|block| (block, anthropic::before(&request.body, None)));
        let thinking: Vec<(Value, Value)> = thinking.into_iter().collect();
        let given = Given {
            members: beside.clone(),
            of_call: beside_call.clone(),
            is_wanted: *is_wanted,
            thinking: thinking.clone(),
        };
        let is_paused = self.saying.stop == StopReason::Paused;
        let is_remembered = !beside.is_empty() || beside_call.is_some() || is_paused || !thinking.is_empty();
        is_remembered.then_some((name, given))
    }

    /// The id of the first call.
    pub(super) fn first_call(&self) -> Option<String> {
        self.saying.calls.first().map(|call| call.id.clone())
    }

    /// Does it.
    pub(super) async fn respond(self, request: &Request, open: Open) -> Response {
        if let Some(mut held) = self.held {
            // The test that held it may be over.
            let _ = held.wait_for(|is_free| *is_free).await;
        }
        tokio::time::sleep(self.delay).await;
        let (mut frames, closing) = match request.wire {
            Wire::Anthropic => (anthropic::frames(&self.saying, &request.body), anthropic::CLOSING_FRAMES),
            Wire::OpenAi => (openai::frames(&self.saying), openai::CLOSING_FRAMES),
            Wire::Responses => (responses::frames(&self.saying, &request.body), responses::CLOSING_FRAMES),
            Wire::Gemini => (gemini::frames(&self.saying, &request.body), gemini::CLOSING_FRAMES),
            Wire::Ollama => (ollama::frames(&self.saying), ollama::CLOSING_FRAMES),
        };
        if self.fault == Some(Fault::Unfinished) {
            frames.truncate(frames.len() - closing);
        }
        if self.fault == Some(Fault::Unclosed) {
            frames.pop();
        }
        if self.fault == Some(Fault::Failed) {
            frames.truncate(frames.len() - closing);
            frames.push(strict::error_in_stream(request.wire));
        }
        let pieces = frames.into_iter().map(|frame| Piece { after: self.chunk_delay, bytes: frame.into() }).collect();
        let stream = |pieces, ending, open| {
            let mut response = stream(pieces, ending, open);
            if request.wire == Wire::Ollama {
                extend(response.headers_mut(), vec![("content-type", "application/x-ndjson".to_owned())]);
            }
            response
        };
        match self.fault {
            None | Some(Fault::Unfinished | Fault::Unclosed | Fault::Failed) => stream(pieces, Ending::Clean, open),
            Some(Fault::CutAfter(bytes)) => stream(first(pieces, bytes), Ending::Clean, open),
            Some(Fault::ResetAfter(bytes)) => stream(first(pieces, bytes), Ending::Reset, open),
            Some(Fault::StallAfter(bytes)) => stream(first(pieces, bytes), Ending::Stall, open),
            Some(Fault::Drip) => stream(one_by_one(&pieces), Ending::Clean, open),
            Some(Fault::Silence) => {
                let _open = open;
                std::future::pending().await
            }
            Some(Fault::Other { headers, body }) => {
                open.finish();
                let mut response = Response::new(body.into());
                extend(response.headers_mut(), headers);
                response
            }
            Some(Fault::Status { status, headers, message }) => {
                open.finish();
                let status = StatusCode::from_u16(status).expect("a script names a status that exists");
                let mut response = strict::error(request.wire, status, error_type(status), &message);
                extend(response.headers_mut(), headers);
                response
            }
        }
    }
}

impl Default for Saying {
    fn default() -> Self {
        Self {
            beside: Map::new(),
            beside_call: None,
            is_wanted: false,
            is_uncounted: false,
            text: String::new(),
            calls: Vec::new(),
            stop: StopReason::EndTurn,
            tokens_in: 10,
            tokens_out: 5,
            written: (0, 0),
            cached: 0,
            reasoned: 0,
            thoughts: String::new(),
            owner: "",
            is_filtered: false,
        }
    }
}

impl Saying {
    /// The signature of one of its calls, or of its words.
    pub(super) fn sign(&self, of: &str) -> String {
        Signatures::sign(self.owner, of)
    }

    /// The first call, if there is one.
    pub(super) fn first_call(&self) -> Option<&Call> {
        self.calls.first()
    }

    /// The text, word by word.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split_inclusive(' ')
    }

    /// The calls, each with its arguments in small pieces.
    pub(super) fn calls_in_pieces(&self) -> impl Iterator<Item = (&Call, Vec<String>)> {
        self.calls.iter().map(|call| {
            let letters: Vec<char> = call.arguments.chars().collect();
            (call, letters.chunks(9).map(|piece| piece.iter().collect()).collect())
        })
    }
}

/// How a provider shows a failure of each kind.
fn fault(kind: CallErrorKind, retry_after_ms: Option<u64>) -> Fault {
    let headers: Vec<_> = retry_after_ms.map(|ms| ("retry-after-ms", ms.to_string())).into_iter().collect();
    let status =
        |status, message: &str| Fault::Status { status, headers: headers.clone(), message: message.to_owned() };
    match kind {
        CallErrorKind::RateLimited => status(429, "This request would exceed your rate limit"),
        CallErrorKind::Overloaded => status(529, "Overloaded"),
        CallErrorKind::Server => status(500, "Internal server error"),
        CallErrorKind::Auth => status(401, "invalid x-api-key"),
        CallErrorKind::ContextTooLong => status(400, "prompt is too long: 210000 tokens > 200000 maximum"),
        CallErrorKind::Rejected => status(400, "the request is not valid"),
        CallErrorKind::Unsupported => status(400, "this model does not support tools"),
        CallErrorKind::Connection => Fault::ResetAfter(0),
        CallErrorKind::Truncated => Fault::Unfinished,
        CallErrorKind::Garbled => {
            let headers = vec![("content-type", "text/event-stream".to_owned())];
            Fault::Other { headers, body: b"data: {\"oh\n\n".to_vec() }
        }
        CallErrorKind::Cancelled => Fault::Silence,
    }
}

fn error_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

/// The first `bytes` bytes.
fn first(pieces: Vec<Piece>, bytes: usize) -> Vec<Piece> {
    let mut left = bytes;
    let mut kept = Vec::new();
    for mut piece in pieces {
        piece.bytes.truncate(left);
        left -= piece.bytes.len();
        kept.push(piece);
        if left == 0 {
            break;
        }
    }
    kept
}

fn one_by_one(pieces: &[Piece]) -> Vec<Piece> {
    let bytes = pieces.iter().flat_map(|piece| (0..piece.bytes.len()).map(|at| piece.bytes.slice(at..=at)));
    bytes.map(|bytes| Piece { after: Duration::ZERO, bytes }).collect()
}

fn extend(map: &mut HeaderMap, headers: Vec<(&'static str, String)>) {
    for (name, value) in headers {
        map.insert(
            HeaderName::from_static(name),
            HeaderValue::from_str(&value).expect("a script's header can be sent"),
        );
    }
}
