//! A server of tools behind an address: streamable HTTP with plain JSON answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde_json::{Value, json};

/// A server that listens; it ends with the runtime.
#[derive(Debug)]
pub struct HttpServer {
    /// Its address.
    pub url: String,
    waiting: Arc<AtomicUsize>,
}

impl HttpServer {
    /// Starts one. With a token, requests without it are refused as a server refuses them that wants a login.
    pub async fn start(token: Option<&'static str>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let waiting = Arc::new(AtomicUsize::new(0));
        let app = Router::new().route("/mcp", any(answer)).with_state((token, waiting.clone()));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, waiting }
    }

    /// How many calls came that are never answered.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }
}

type Shared = (Option<&'static str>, Arc<AtomicUsize>);

async fn answer(State((token, waiting)): State<Shared>, headers: HeaderMap, body: String) -> Response {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if token.is_some_and(|token| given != Some(token)) {
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer realm=\"mcp\"")]).into_response();
    }
    if body.contains("\"WAIT\"") {
        waiting.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<()>().await;
    }
    answered(&body)
}

/// The answer to a message. `text` of a call can be the word for an answer that no honest server gives.
pub(super) fn answered(body: &str) -> Response {
    let Ok(message) = serde_json::from_str::<Value>(body) else {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    };
    let (id, params) = (&message["id"], &message["params"]);
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let plain = |body: Vec<u8>| ([(header::CONTENT_TYPE, "application/json")], body).into_response();
    match params["arguments"]["text"].as_str() {
        Some("HUGE") => return plain(vec![b'x'; 64 * 1024 * 1024]),
        Some("HUGE EVENT") => {
            let body = [b"data: ".as_slice(), &vec![b'x'; 64 * 1024 * 1024]].concat();
            return ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response();
        }
        Some("DEEP") => return plain([vec![b'['; 100_000], vec![b']'; 100_000]].concat()),
        Some("PAGE") => return ([(header::CONTENT_TYPE, "text/html")], "<p>Hello").into_response(),
        Some("REDIRECT") => {
            return (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "http://127.0.0.1:1/mcp")]).into_response();
        }
        _ => {}
    }
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"result": {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "testkit", "version": "1"},
        }}),
        Some("tools/list") => {
            json!({"result": {"tools": [{"name": "echo", "description": "Returns the text", "inputSchema": schema}]}})
        }
        Some("tools/call") => json!({"result": {"content": [{"type": "text", "text": params["arguments"]["text"]}]}}),
        _ => json!({"error": {"code": -32601, "message": "no such method"}}),
    };
    let mut whole = json!({"jsonrpc": "2.0", "id": id});
    whole.as_object_mut().expect("an object").extend(result.as_object().expect("an object").clone());
    ([(header::CONTENT_TYPE, "application/json")], whole.to_string()).into_response()
}
