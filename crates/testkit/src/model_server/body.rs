//! The bytes of an answer on their way out, and the news of a client that did not wait for the end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;

use super::Shared;

/// Some bytes, and how long they take.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) after: Duration,
    pub(super) bytes: Bytes,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    Clean,
    /// The connection breaks.
    Reset,
    /// It does not end.
    Stall,
}

/// An answer under way. Dropped before it is finished, it was given up by the client.
#[derive(Debug)]
pub(super) struct Open {
    shared: Arc<Shared>,
    finished: bool,
}

impl Open {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        shared.open.send_modify(|open| *open += 1);
        Self { shared, finished: false }
    }

    /// Everything was said that was to be said.
    pub(super) fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.shared.open.send_modify(|open| *open -= 1);
        if !self.finished {
            self.shared.closed_early.send_modify(|closed| *closed += 1);
        }
    }
}

/// An answer of events, piece by piece.
pub(super) fn stream(pieces: Vec<Piece>, ending: Ending, open: Open) -> Response {
    let body = stream::unfold((pieces.into_iter(), Some(open)), move |(mut pieces, mut open)| async move {
        if let Some(piece) = pieces.next() {
            if !piece.after.is_zero() {
                tokio::time::sleep(piece.after).await;
            }
            // A client may go as soon as it has the last piece: from here on the answer counts as taken.
            if pieces.len() == 0
                && matches!(ending, Ending::Clean)
                && let Some(open) = open.take()
            {
                open.finish();
            }
            return Some((Ok(piece.bytes), (pieces, open)));
        }
        match ending {
            Ending::Stall => std::future::pending().await,
            Ending::Clean => None,
            Ending::Reset => {
                // The server writes out what it holds whenever its body has nothing at the moment.
                tokio::task::yield_now().await;
                open.take()?.finish();
                Some((Err(io::Error::other("the script breaks the connection")), (pieces, None)))
            }
        }
    });
    ([(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")], Body::from_stream(body)).into_response()
}
