//! What all wires are strict about, and how each says no.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use provider::Wire;
use serde_json::{Map, Value, json};

const JSON: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

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
        Wire::OpenAi | Wire::Responses => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
        Wire::Ollama => json!({"error": message}),
        // A wrong key is a bad request here, and only the details say what is bad about it.
        Wire::Gemini if kind == "authentication_error" => {
            let details = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
            let error = json!({"code": 400, "message": message, "status": "INVALID_ARGUMENT", "details": details});
            return (StatusCode::BAD_REQUEST, JSON, json!({"error": error}).to_string()).into_response();
        }
        Wire::Gemini => {
            let word = if status == StatusCode::TOO_MANY_REQUESTS { "RESOURCE_EXHAUSTED" } else { "INVALID_ARGUMENT" };
            json!({"error": {"code": status.as_u16(), "message": message, "status": word}})
        }
    };
    (status, JSON, body.to_string()).into_response()
}

/// The last event of an answer that an overloaded provider gives up, in the shape of its wire.
pub(super) fn error_in_stream(wire: Wire) -> String {
    let words = "Overloaded";
    match wire {
        Wire::Anthropic => {
            let event = json!({"type": "error", "error": {"type": "overloaded_error", "message": words}});
            format!("event: error\ndata: {event}\n\n")
        }
        Wire::OpenAi => {
            let error = json!({"message": words, "type": "server_error", "param": null, "code": "engine_overloaded"});
            format!("data: {}\n\n", json!({ "error": error }))
        }
        Wire::Responses => {
            let error = json!({"code": "server_is_overloaded", "message": words});
            let response = json!({"id": "resp_0a1b", "object": "response", "status": "failed", "error": error,
                "incomplete_details": null, "output": [], "usage": null});
            let event = json!({"type": "response.failed", "sequence_number": 99, "response": response});
            format!("event: response.failed\ndata: {event}\n\n")
        }
        Wire::Gemini => {
            format!("data: {}\r\n\r\n", json!({"error": {"code": 503, "message": words, "status": "UNAVAILABLE"}}))
        }
        Wire::Ollama => {
            format!("{}\n", json!({"error": "server busy, please try again. maximum pending requests exceeded"}))
        }
    }
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

/// A schema that a strict wire takes: every object names all its fields as required and allows no others.
pub(super) fn closed(schema: &Value, place: &str) -> Checked {
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        let is_closed = schema["additionalProperties"] == false;
        require(is_closed, || format!("{place}: 'additionalProperties' is required to be supplied and to be false"))?;
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let missing = fields.keys().find(|name| !required.iter().any(|it| it == name.as_str()));
        require(missing.is_none(), || format!("{place}: 'required' must include every key in properties"))?;
    }
    let below = schema.as_object().into_iter().flat_map(Map::values).chain(schema.as_array().into_iter().flatten());
    below.filter(|value| value.is_object() || value.is_array()).try_for_each(|value| closed(value, place))
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

/// An image, or a PDF document, as its kind and its bytes in base64.
pub(super) fn media(kind: &Value, data: &Value, is_image: bool, place: &str) -> Checked {
    let known: &[&str] =
        if is_image { &["image/png", "image/jpeg", "image/webp", "image/gif"] } else { &["application/pdf"] };
    require(known.iter().any(|known| kind == *known), || format!("{place}: the media type {kind} is not supported"))?;
    let bytes = BASE64_STANDARD.decode(data.as_str().unwrap_or_default()).unwrap_or_default();
    require(!bytes.is_empty(), || format!("{place}: the data is no base64"))
}

/// The same in an address.
pub(super) fn data_url(url: &Value, is_image: bool, place: &str) -> Checked {
    let url = url.as_str().and_then(|url| url.strip_prefix("data:")).and_then(|url| url.split_once(";base64,"));
    let (kind, data) = url.ok_or_else(|| bad(format!("{place}: must be an address with data")))?;
    media(&json!(kind), &json!(data), is_image, place)
}
