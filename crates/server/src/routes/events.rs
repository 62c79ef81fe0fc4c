//! The log as it grows: that of a thread's family (`threads/{id}/events`), and the whole log (`events`).

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use schemars::JsonSchema;
use serde::Deserialize;
use view::Frames;

use super::extract::{DialectName, PathParam, QueryParams, Switch};
use crate::live::{Place, Watched};
use crate::problem::Problem;
use crate::server::Shared;

/// What of a family's events is wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfThread {
    /// The dialect: `canonical` where none is named.
    #[serde(default)]
    dialect: DialectName,
    /// Also streamed text; only in the dialect `canonical`.
    #[serde(default)]
    deltas: Switch,
    /// As `Last-Event-ID`, for those who cannot set it; the header goes first.
    after: Option<Place>,
}

/// The frames of a thread's whole family, from after the last one that was seen, for as long as the connection is open.
pub async fn of_thread(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    QueryParams(wanted): QueryParams<OfThread>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let root = shared.store().resolve(&id).await?.root();
    let (dialect, deltas) = (wanted.dialect, wanted.deltas.0);
    if deltas && !dialect.is_canonical() {
        return Err(Problem::unusable(
            "streamed text comes in the dialect canonical only: leave out deltas, or the dialect",
        ));
    }
    let seen = last_event_id(&headers).or(wanted.after).unwrap_or_default();
    let (seq, _) = Frames::resume_point(seen.frame);
    // A family's events are numbered without gaps: one that is not there never was, or is of another log.
    let is_known = seq == 0 || !shared.store().tree(&root, seq - 1, 1).await?.is_empty();
    let frames = shared
        .live
        .watch(Watched { root, dialect: dialect.0, deltas }, if is_known { seen } else { Place::default() })
        .await?;
    Ok(sse(starting_over(!is_known).chain(frames)))
}

/// What of all events is wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfAll {
    /// The dialect: `canonical` where none is named.
    #[serde(default)]
    dialect: DialectName,
    /// As `Last-Event-ID`, for those who cannot set it; the header goes first. 0 for everything.
    after: Option<u64>,
}

/// The frames of all threads, from now on or from after the last one that was seen, for as long as the connection is open.
pub async fn of_all(
    State(shared): State<Shared>,
    QueryParams(wanted): QueryParams<OfAll>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let seen = last_event_id(&headers).map(|place| place.frame).or(wanted.after);
    let newest = *shared.store().tail().borrow();
    let known = seen.filter(|seen| Frames::resume_point(*seen).0 <= newest);
    let frames = shared.everything.watch(wanted.dialect.0, known);
    Ok(sse(starting_over(known != seen).chain(frames)))
}

/// The place of the last frame that a reader has seen.
fn last_event_id(headers: &HeaderMap) -> Option<Place> {
    headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()
}

/// What a reader is sent whose last id is not of this log.
fn starting_over(is_so: bool) -> impl Stream<Item = Bytes> + Send + 'static {
    stream::iter(is_so.then_some(Bytes::from_static(b"data: {\"type\":\"stream_reset\"}\n\n")))
}

/// A stream of frames as an answer.
pub fn sse(frames: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let body = Body::from_stream(frames.map(Ok::<Bytes, Infallible>));
    let said = [
        (header::CONTENT_TYPE, "text/event-stream"),
        // ORION-12 wants the first; that nothing is kept of it is ours to want.
        (header::CACHE_CONTROL, "no-cache, no-store"),
        (header::CONNECTION, "keep-alive"),
    ];
    (said, body).into_response()
}
