//! What can be asked, by address; and what is looked at and added for every request alike.

mod approvals;
mod chat;
mod enter;
mod events;
mod house;
mod threads;

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::page;
use crate::problem::Problem;
use crate::window::Shared;

/// The largest body, and how long it may take to arrive.
const MAX_BODY: usize = 1024 * 1024;
const BODY_WITHIN: Duration = Duration::from_secs(20);

/// The page may load what is here and nothing else, and may stand in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Everything that can be asked.
pub(crate) fn all(shared: Shared) -> Router {
    let api = Router::new()
        .route("/threads", get(threads::list).post(threads::start))
        .route("/threads/{id}", get(threads::show).delete(threads::remove))
        .route("/threads/{id}/messages", get(threads::messages).post(threads::say))
        .route("/threads/{id}/tree", get(threads::tree))
        .route("/threads/{id}/stop", post(threads::stop))
        .route("/threads/{id}/steer", post(threads::steer))
        .route("/threads/{id}/events", get(events::of_thread))
        .route("/approvals", get(approvals::list))
        .route("/approvals/{id}", get(approvals::show))
        .route("/approvals/{id}/decision", post(approvals::decision))
        .route("/agents", get(house::agents))
        .route("/models", get(house::models))
        .route("/executions", get(house::executions))
        .route("/usage", get(house::usage))
        .route("/config", get(house::config))
        .route("/healthz", get(house::health));
    Router::new()
        .nest("/api/v1", api)
        .route("/api/chat", post(chat::chat))
        .route("/api/stream/{id}", get(chat::stream))
        .route("/", get(page::index))
        .route("/chat", get(page::index))
        .route("/t/{id}", get(page::index))
        .route("/page/{*path}", get(page::asset))
        .layer(middleware::from_fn_with_state(shared.clone(), let_in))
        .route("/healthz", get(house::health))
        .route("/enter", get(enter::by_link).post(enter::by_password))
        .fallback(async || Problem::missing("there is nothing at this address"))
        .layer(middleware::from_fn_with_state(shared.clone(), from_here))
        .with_state(shared)
}

/// Refuses whoever is led here from elsewhere, and says to browsers what may be done with the answer.
async fn from_here(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let is_page = !request.uri().path().starts_with("/api/");
    let mut response = match shared.access.come_from_here(&request) {
        Ok(()) => match arrived(request).await {
            Ok(request) => next.run(request).await,
            Err(problem) => problem.into_response(),
        },
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    let said = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in said {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !is_page && !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// A request whose body has arrived whole.
async fn arrived(request: Request) -> Result<Request, Problem> {
    let too_large = || Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large: a megabyte is the most");
    let (head, body) = request.into_parts();
    let length =
        head.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > MAX_BODY) {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_WITHIN, to_bytes(body, MAX_BODY)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, Body::from(bytes))),
        Ok(Err(_)) => Err(too_large()),
        Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time")),
    }
}

/// Refuses whoever knows no secret. Whoever wants to see the page is shown the door.
async fn let_in(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    match shared.access.know_a_secret(request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(_) if request.uri().path() == "/" => enter::door(&shared, StatusCode::UNAUTHORIZED),
        Err(problem) => problem.into_response(),
    }
}
