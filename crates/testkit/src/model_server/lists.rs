//! What a model server says about itself: its list of models, and whatever else it has an address for. Each wants the key, as the model does.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::{KEY, ModelServer, Shared, lock};

impl ModelServer {
    /// Answers a `GET` of this path, or a `POST` about one model, with this.
    #[must_use]
    pub fn with_list(self, path: &str, list: Value) -> Self {
        lock(&self.shared.lists).insert(path.to_owned(), list);
        self
    }

    /// The address without a path, as it is set for Ollama.
    pub fn host(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Anything that is no request to a model.
pub(super) async fn answer(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap) -> Response {
    let list = lock(&shared.lists).get(uri.path()).cloned();
    let Some(list) = list else {
        return (StatusCode::NOT_FOUND, json!({"error": {"message": "Not Found"}}).to_string()).into_response();
    };
    // Ollama and what else is on a person's own machine asks for none.
    let is_open = ["/api/", "/props"].iter().any(|begin| uri.path().starts_with(begin));
    let keys = ["x-api-key", "x-goog-api-key", "authorization"];
    let has_key = keys.iter().any(|name| {
        let value = headers.get(*name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| value.strip_prefix("Bearer ").unwrap_or(value) == KEY)
    });
    if !is_open && !has_key {
        let error = json!({"error": {"type": "authentication_error", "message": "the key is not valid"}});
        return (StatusCode::UNAUTHORIZED, error.to_string()).into_response();
    }
    axum::Json(list).into_response()
}
