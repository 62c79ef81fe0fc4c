//! What both wires are strict about, and how each says no.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use provider::Wire;
use serde_json::{Map, Value, json};

/// A request that is not taken.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) kind: &'static str,
    pub(super) message: String,
}

/// The outcome of a check.
pub(super) type Checked<T = ()> = Result<T, Refusal>;

/// A bad request.
pub(super) fn bad(message: impl Into<String>) -> Refusal {
    Refusal { status: StatusCode::BAD_REQUEST, kind: "invalid_request_error", message: message.into() }
}

/// A bad request unless `good`.
pub(super) fn require(good: bool, message: impl FnOnce() -> String) -> Checked {
    if good { Ok(()) } else { Err(bad(message())) }
}

impl Refusal {
    /// The refusal in the shape of its wire.
    pub(super) fn response(&self, wire: Wire) -> Response {
        error(wire, self.status, self.kind, &self.message)
    }
}

/// An error in the shape of its wire.
pub(super) fn error(wire: Wire, status: StatusCode, kind: &str, message: &str) -> Response {
    let body = match wire {
        Wire::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"})
        }
        Wire::OpenAi => json!({"error": {"message": message, "type": kind, "param": null, "code": null}}),
    };
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// The key must be the right one, and the body must be announced as JSON.
pub(super) fn headers(headers: &HeaderMap, key_header: &str, expected: &str) -> Checked {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if text(key_header) != expected {
        let message = if text(key_header).is_empty() { "no key was given" } else { "the key is not valid" };
        return Err(Refusal {
            status: StatusCode::UNAUTHORIZED,
            kind: "authentication_error",
            message: format!("{message}: {}", text(key_header)),
        });
    }
    require(text("content-type").starts_with("application/json"), || "the body must be application/json".to_owned())
}

/// Only known fields.
pub(super) fn only(object: &Map<String, Value>, known: &[&str], place: &str) -> Checked {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(bad(format!("{place}{key}: Extra inputs are not permitted"))),
        None => Ok(()),
    }
}

/// A value that is an object.
pub(super) fn object<'a>(value: &'a Value, place: &str) -> Checked<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| bad(format!("{place}: must be an object")))
}

/// A value that is a list with something in it.
pub(super) fn list<'a>(value: &'a Value, place: &str) -> Checked<&'a [Value]> {
    match value.as_array().map(Vec::as_slice) {
        Some([]) => Err(bad(format!("{place}: must not be empty"))),
        Some(list) => Ok(list),
        None => Err(bad(format!("{place}: must be a list"))),
    }
}

/// A value that is a text with something in it.
pub(super) fn text<'a>(value: &'a Value, place: &str) -> Checked<&'a str> {
    let text = value.as_str().ok_or_else(|| bad(format!("{place}: must be a string")))?;
    require(!text.trim().is_empty(), || format!("{place}: must contain non-whitespace text"))?;
    Ok(text)
}

/// A name of a tool, or an id of a call.
pub(super) fn name<'a>(value: &'a Value, longest: usize, place: &str) -> Checked<&'a str> {
    let name = text(value, place)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    require(name.len() <= longest && name.chars().all(plain), || {
        format!("{place}: should match pattern '^[a-zA-Z0-9_-]{{1,{longest}}}$'")
    })?;
    Ok(name)
}

/// A whole number above zero.
pub(super) fn count(value: &Value, place: &str) -> Checked {
    require(value.as_u64().is_some_and(|count| count > 0), || format!("{place}: must be a positive integer"))
}

/// The ids that must be answered, each once, and nothing else.
pub(super) fn answered(asked: &[&str], results: &[&str], place: &str) -> Checked {
    for (nth, id) in results.iter().enumerate() {
        require(asked.contains(id), || format!("{place}: the result for `{id}` has no call in the previous message"))?;
        require(!results[..nth].contains(id), || {
            format!("{place}: each call must have a single result, `{id}` has more")
        })?;
    }
    let missing: Vec<&str> = asked.iter().copied().filter(|id| !results.contains(id)).collect();
    require(missing.is_empty(), || format!("{place}: calls without results immediately after: {}", missing.join(", ")))
}
