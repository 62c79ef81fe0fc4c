//! The kind of a failed call, and the sentence that a person reads about it: what happened, what to do, and the
//! provider's own message.
//!
//! Kinds alone decide what is done about a failure; whether it is tried again is decided by the rules.

pub(crate) mod output_limit;
mod retry_after;
mod window;

use agent::model::{CallError, CallErrorKind as Kind};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::limits::ERROR_TEXT_CHARS;
use crate::sse::TooLong;

/// What stands before a provider's own words.
pub(crate) const SAID: &str = "; it said: ";

/// A failure without a wish of the provider.
pub(crate) fn failed(kind: Kind, message: impl AsRef<str>) -> CallError {
    CallError::new(kind, message.as_ref())
}

/// The call was ended by us, before anything came.
pub(crate) fn cancelled() -> CallError {
    CallError { received_bytes: Some(0), ..failed(Kind::Cancelled, "the request was ended before its answer") }
}

impl From<TooLong> for CallError {
    fn from(_: TooLong) -> Self {
        failed(Kind::Garbled, format!("a line of the answer was longer than {} bytes", crate::limits::LINE_BYTES))
    }
}

/// Whom a failed request was for, as far as the sentence about it needs to know.
pub(crate) struct Asked<'a> {
    pub(crate) provider: &'a str,
    pub(crate) model: &'a str,
    /// The address without anything secret in it.
    pub(crate) base_url: &'a str,
    pub(crate) has_key: bool,
    pub(crate) key_env: Option<&'a str>,
}

impl Asked<'_> {
    /// What an HTTP status other than success means.
    pub(crate) fn status(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> CallError {
        let body = ErrorBody::read(body);
        let kind = advised(headers, by_status(status, &body));
        let cure = match kind {
            Kind::Auth => self.key_cure(),
            Kind::Rejected if status == StatusCode::NOT_FOUND => {
                format!("is the model name `{}` right, and is {} the right address", self.model, self.base_url)
            }
            Kind::Rejected if status.is_redirection() => {
                "it wants to send us elsewhere, which is not followed because of the key: set its final address".into()
            }
            Kind::Rejected if body.is_out_of_quota() => "the account has no quota left: check plan and billing".into(),
            Kind::RateLimited => "too many requests or tokens".into(),
            Kind::Overloaded => "it has too much to do".into(),
            Kind::ContextTooLong => self.window_cure(body.window_tokens),
            _ => "it did not take the request".into(),
        };
        let words = if body.message.is_empty() { String::new() } else { format!("{SAID}{}", body.message) };
        let message = format!("{} answered {}: {cure}{words}", self.provider, status.as_u16());
        let window_tokens =
            body.window_tokens.filter(|_| kind == Kind::ContextTooLong).and_then(|tokens| u32::try_from(tokens).ok());
        CallError { retry_after_ms: retry_after::read(headers), window_tokens, ..failed(kind, message) }
    }

    /// What it means that no answer began.
    pub(crate) fn unreachable(&self, error: reqwest::Error) -> CallError {
        let error = error.without_url();
        let cure = if error.is_timeout() {
            format!("{} did not take the connection in time", self.base_url)
        } else if is_about_tls(&error) {
            format!(
                "no secure connection to {}: does the server speak https, and is its certificate trusted here",
                self.base_url
            )
        } else if error.is_connect() {
            format!("nothing answers at {}: is the server running, and is the address right", self.base_url)
        } else {
            format!("the connection to {} broke before an answer", self.base_url)
        };
        failed(Kind::Connection, format!("{}: {cure} ({})", self.provider, innermost(&error)))
    }

    /// The headers did not come. The server has taken the request, and may be at work on it.
    pub(crate) fn silent(&self, seconds: u64) -> CallError {
        let message = format!("{} at {} said nothing for {seconds} s", self.provider, self.base_url);
        CallError { received_bytes: Some(0), ..failed(Kind::Connection, message) }
    }

    fn window_cure(&self, told: Option<u64>) -> String {
        let model = self.model;
        match told {
            Some(tokens) => format!(
                "the conversation does not fit into `{model}`, whose context window is {tokens} tokens; it goes on with less, and to send \
                 less from the start, set models.\"{}/{model}\".context_tokens = {tokens}",
                self.provider
            ),
            None => format!("the conversation does not fit into `{model}`"),
        }
    }

    fn key_cure(&self) -> String {
        let verb = if self.has_key { "the key was refused" } else { "it wants a key" };
        match self.key_env {
            Some(variable) => format!("{verb}: set {variable} to a valid one"),
            None => format!("{verb}: set a valid one for provider `{}`", self.provider),
        }
    }
}

/// What an error told in the middle of a stream means.
pub(crate) fn in_stream(error: &Value) -> CallError {
    let body = ErrorBody::of(error);
    let kind = by_type(&body).unwrap_or(Kind::Server);
    let words = if body.message.is_empty() { "no reason was given" } else { &body.message };
    let window_tokens =
        body.window_tokens.filter(|_| kind == Kind::ContextTooLong).and_then(|tokens| u32::try_from(tokens).ok());
    CallError { window_tokens, ..failed(kind, format!("the provider ended its answer with an error: {words}")) }
}

/// Whether a failure of the body means that what came is not what was said to come, rather than that it ended early.
pub(crate) fn is_corrupt(error: &reqwest::Error) -> bool {
    chain(error).any(|cause| {
        let kind = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        matches!(kind, Some(std::io::ErrorKind::InvalidData | std::io::ErrorKind::InvalidInput))
    })
}

/// Whether the two sides could not agree on a secure connection.
fn is_about_tls(error: &reqwest::Error) -> bool {
    chain(error).any(is_tls_error)
}

/// An I/O error holds another error inside, which is not its source.
fn is_tls_error(error: &(dyn std::error::Error + 'static)) -> bool {
    match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(inner) => is_tls_error(inner),
        None => error.is::<rustls::Error>(),
    }
}

/// The cause that says most.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    readable(&chain(error).last().map_or_else(|| error.to_string(), ToString::to_string))
}

fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(std::error::Error::source(error), |cause| cause.source())
}

/// What an error's body told, in whichever shape.
#[derive(Debug, Default)]
struct ErrorBody {
    /// The provider's own word for it: `type`, or `code` where there is one.
    kind: String,
    code: String,
    message: String,
    /// Why, in a word, where the details say so.
    reason: String,
    /// How many tokens fit into a request, where that is why this one was refused.
    window_tokens: Option<u64>,
}

impl ErrorBody {
    fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            // Gemini's server for OpenAI's wire puts its error into a list.
            let value = value.as_array().and_then(|list| list.first()).unwrap_or(&value);
            return Self::of(value.get("error").unwrap_or(value));
        }
        let text = text.trim();
        let message = if text.starts_with('<') { "a web page".to_owned() } else { readable(text) };
        Self { message, window_tokens: window::told(text), ..Self::default() }
    }

    fn of(error: &Value) -> Self {
        let word = |key: &str| match error.get(key) {
            Some(Value::String(word)) => word.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let message = match error {
            Value::String(message) => message.clone(),
            _ => ["message", "detail", "error"].map(word).into_iter().find(|said| !said.is_empty()).unwrap_or_else(
                || {
                    // Some servers send a list of what is wrong, each with its place.
                    let list = error.get("message").or_else(|| error.get("detail"));
                    list.filter(|list| list.is_array() || list.is_object()).map(Value::to_string).unwrap_or_default()
                },
            ),
        };
        let details = error.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let reason = details.iter().find_map(|detail| detail.get("reason")?.as_str()).unwrap_or_default();
        let kind = if error.get("status").is_some() { word("status") } else { word("type") };
        let window_tokens = error.get("n_ctx").and_then(Value::as_u64).or_else(|| window::told(&message));
        Self { kind, code: word("code"), message: readable(&message), reason: reason.to_owned(), window_tokens }
    }

    fn is_out_of_quota(&self) -> bool {
        self.code == "insufficient_quota" || self.kind == "insufficient_quota"
    }

    /// No wire has one word for this; where there is none, the sentence is all there is to go by.
    fn is_context_too_long(&self) -> bool {
        const WORDS: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];
        const SENTENCES: [&str; 11] = [
            "prompt is too long",
            "input is too long for requested model",
            "exceed context limit",
            "exceed context window",
            "maximum context length",
            "context length exceeded",
            "context length of only",
            "greater than the context length",
            "exceeds the context length",
            "exceeds the available context size",
            "exceeds the maximum number of tokens allowed",
        ];
        let message = self.message.to_ascii_lowercase();
        WORDS.iter().any(|word| self.code == *word || self.kind == *word)
            || SENTENCES.iter().any(|sentence| message.contains(sentence))
    }
}

fn by_status(status: StatusCode, body: &ErrorBody) -> Kind {
    match status.as_u16() {
        401 | 403 => Kind::Auth,
        400 if body.reason == "API_KEY_INVALID" => Kind::Auth,
        413 => Kind::ContextTooLong,
        429 if body.is_out_of_quota() => Kind::Rejected,
        429 => Kind::RateLimited,
        503 | 529 => Kind::Overloaded,
        // Older versions of llama.cpp say so with the status of a failure of their own.
        400 | 500 if body.is_context_too_long() => Kind::ContextTooLong,
        408 | 409 | 500.. => Kind::Server,
        _ if body.is_context_too_long() => Kind::ContextTooLong,
        _ => Kind::Rejected,
    }
}

fn by_type(body: &ErrorBody) -> Option<Kind> {
    if body.is_context_too_long() {
        return Some(Kind::ContextTooLong);
    }
    let by_word = |word: &str| match word {
        "overloaded_error"
        | "engine_overloaded"
        | "server_is_overloaded"
        | "slow_down"
        | "UNAVAILABLE"
        | "503"
        | "529" => Some(Kind::Overloaded),
        "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" | "429" => Some(Kind::RateLimited),
        "authentication_error" | "permission_error" | "401" | "403" => Some(Kind::Auth),
        "insufficient_quota"
        | "invalid_request_error"
        | "invalid_prompt"
        | "not_found_error"
        | "billing_error"
        | "bio_policy"
        | "misalignment_policy_violation"
        | "data_residency_mismatch"
        | "400"
        | "404" => Some(Kind::Rejected),
        "request_too_large" => Some(Kind::ContextTooLong),
        _ => None,
    };
    // Ollama has no words of its own for kinds.
    let is_busy = || body.message.starts_with("server busy").then_some(Kind::Overloaded);
    by_word(&body.code).or_else(|| by_word(&body.kind)).or_else(is_busy)
}

/// A provider may say outright whether the same request is worth another try. A refused key is not, whatever it says.
fn advised(headers: &HeaderMap, kind: Kind) -> Kind {
    match headers.get("x-should-retry").map(|value| value.as_bytes()) {
        Some(b"false") if kind.is_retryable() => Kind::Rejected,
        Some(b"true") if kind == Kind::Rejected => Kind::Server,
        _ => kind,
    }
}

/// Foreign words on one line, without control characters, not too long.
fn readable(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut words: String = text.chars().map(clean).take(ERROR_TEXT_CHARS).collect();
    if text.chars().nth(ERROR_TEXT_CHARS).is_some() {
        words.push('…');
    }
    words.trim().to_owned()
}

#[cfg(test)]
mod tests;
