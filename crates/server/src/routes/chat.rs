//! `/api/chat` and `/api/stream/{id}`: a message in, the run's frames out, and the end with its `done`.

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use store::Store;
use view::{Dialect, Frames};

use super::events::{dialect, last_event_id, sse};
use super::threads::{Begin, begin, body, go_on};
use crate::access::{has_bearer, is_same_origin};
use crate::live::to_its_end;
use crate::problem::Problem;
use crate::window::Shared;

/// A message, to a thread that there is or to a new one.
#[derive(Deserialize)]
pub struct Chat {
    message: String,
    #[serde(alias = "threadId", alias = "sessionId")]
    thread_id: Option<String>,
    agent: Option<String>,
}

/// In which words the answer is wanted.
#[derive(Deserialize)]
pub struct Words {
    dialect: Option<String>,
}

/// `POST /api/chat`.
pub async fn chat(State(shared): State<Shared>, Query(words): Query<Words>, sent: Bytes) -> Result<Response, Problem> {
    let Chat { message, thread_id, agent } = body(&sent)?;
    converse(&shared, message, thread_id, agent, dialect(words.dialect)?).await
}

/// What a page's `EventSource` asks for.
#[derive(Deserialize)]
pub struct Streamed {
    prompt: Option<String>,
    #[serde(rename = "sessionId")]
    session_id: Option<String>,
    dialect: Option<String>,
}

/// `GET /api/stream/{id}`: the same for those who can only get. It starts work only for our own page or for a program, and a
/// reconnection goes on where it broke off.
pub async fn stream(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(wanted): Query<Streamed>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let words = dialect(Some(wanted.dialect.unwrap_or_else(|| "orion".to_owned())))?;
    if let Some(seen) = last_event_id(&headers) {
        let thread = shared.store().resolve(wanted.session_id.as_deref().unwrap_or(&id)).await?;
        let (seq, _) = Frames::resume_point(seen);
        let is_over = shared.store().thread(&thread).await?.is_none_or(|row| !row.state.is_live());
        let later = shared.store().tree(&thread, seq, 1).await?;
        if is_over && later.is_empty() {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        let speech = Dialect::named(&words).unwrap_or_default();
        return Ok(sse(to_its_end(shared.store().clone(), thread, speech, seq, shared.live.closing.clone())));
    }
    if !is_same_origin(&headers) && !has_bearer(&headers) {
        return Err(Problem::new(StatusCode::FORBIDDEN, "work is begun for our own page, or for a bearer"));
    }
    let prompt = wanted.prompt.ok_or_else(|| Problem::unusable("say what is to be done: ?prompt=…"))?;
    converse(&shared, prompt, wanted.session_id, None, words).await
}

async fn converse(
    shared: &Shared,
    message: String,
    thread: Option<String>,
    agent: Option<String>,
    words: String,
) -> Result<Response, Problem> {
    let (root, after_seq) = match thread {
        None => (begin(shared, Begin { message, agent }).await?, 0),
        Some(name) => {
            let thread = shared.store().resolve(&name).await?.root();
            let newest = newest(&**shared.store(), &thread).await?;
            go_on(shared, &thread, message).await?;
            (thread, newest)
        }
    };
    let speech = Dialect::named(&words).unwrap_or_default();
    Ok(sse(to_its_end(shared.store().clone(), root, speech, after_seq, shared.live.closing.clone())))
}

/// The number of a family's newest event.
async fn newest(store: &dyn Store, root: &agent::ThreadId) -> Result<u64, Problem> {
    let (mut seq, page) = (0, 1000);
    loop {
        let records = store.tree(root, seq, page).await?;
        match records.last() {
            Some(last) => seq = last.seq,
            None => return Ok(seq),
        }
    }
}
