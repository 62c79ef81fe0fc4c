//! `threads/{id}/events`: the log of a family as it grows.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt};
use serde::Deserialize;
use view::Dialect;

use crate::live::Watched;
use crate::problem::Problem;
use crate::window::Shared;

/// What of the events is wanted.
#[derive(Deserialize)]
pub struct Wanted {
    dialect: Option<String>,
    deltas: Option<String>,
    /// As `Last-Event-ID`, for those who cannot set it.
    after: Option<u64>,
}

/// The frames of a thread's whole family, from after the last one that was seen, for as long as somebody watches.
pub async fn of_thread(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let thread = shared.store().resolve(&id).await?;
    let dialect = dialect(wanted.dialect)?;
    let seen = last_event_id(&headers).or(wanted.after).unwrap_or(0);
    let deltas = wanted.deltas.is_some_and(|deltas| deltas == "1" || deltas == "true");
    let watched = Watched { root: thread.root(), dialect, deltas };
    Ok(sse(shared.live.watch(watched, seen).await?))
}

/// The name of a dialect that there is.
pub fn dialect(name: Option<String>) -> Result<String, Problem> {
    let name = name.unwrap_or_else(|| "canonical".to_owned());
    match Dialect::named(&name) {
        Some(_) => Ok(name),
        None => Err(Problem::unusable(format!("there is no dialect '{name}': {}", Dialect::NAMES.join(", ")))),
    }
}

/// The number of the last frame that a reader has seen.
pub fn last_event_id(headers: &HeaderMap) -> Option<u64> {
    headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()
}

/// A stream of frames as an answer.
pub fn sse(frames: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let body = Body::from_stream(frames.map(Ok::<Bytes, Infallible>));
    let said = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONNECTION, "keep-alive"),
    ];
    (said, body).into_response()
}
