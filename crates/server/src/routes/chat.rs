//! `/api/chat` and `/api/stream/{id}`: a message in, the run's frames out, and the end with its `done`.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::time::Duration;

use agent::ThreadId;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use majordomo::Run;
use majordomo::follow::{logged, root_report};
use schemars::JsonSchema;
use serde::Deserialize;
use store::{Record, Selection, Store, replay_until};
use view::{FRAMES_PER_EVENT, Lines};

use super::events::sse;
use super::extract::{DialectName, PathParam, QueryParams};
use super::repeat::{Key, Keyed};
use super::threads::{begin, go_on, work};
use crate::access::{Caller, is_same_origin, is_visit};
use crate::live::{OPENED, to_its_end};
use crate::problem::Problem;
use crate::server::Shared;
use crate::shapes::{Begin, Chat, MAX_MESSAGE, NOT_BLANK};

/// A run that has no frame after so long waits for its turn.
const BEGINS_WITHIN: Duration = Duration::from_secs(2);

/// In which words the answer is wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InWords {
    /// The dialect: `canonical` where none is named.
    #[serde(default)]
    dialect: DialectName,
}

/// `POST /api/chat`. A header of the answer names the thread, too: a reader that loses the stream before the first frame
/// can follow its events.
pub async fn chat(
    State(shared): State<Shared>,
    QueryParams(words): QueryParams<InWords>,
    Keyed { key, body: sent }: Keyed<Chat>,
) -> Result<Response, Problem> {
    let run = converse(&shared, sent, key).await?;
    let place = format!("/api/v1/threads/{}", run.root());
    let frames = to_its_end(run, words.dialect.begin(), 0, shared.live.closing.clone());
    Ok(([(header::CONTENT_LOCATION, place)], sse(frames)).into_response())
}

/// What a page's `EventSource` asks for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Streamed {
    /// The message. It must be there unless `Last-Event-ID` is sent.
    #[schemars(length(min = 1, max = MAX_MESSAGE), regex(pattern = NOT_BLANK))]
    prompt: Option<String>,
    /// The thread; a new one where none is named.
    #[serde(rename = "sessionId")]
    session_id: Option<String>,
    /// The dialect: `orion` where none is named.
    #[serde(default = "orion")]
    dialect: DialectName,
}

fn orion() -> DialectName {
    DialectName::named("orion")
}

/// `GET /api/stream/{id}`: the same for those who can only get. It starts work only for our own page or for a program. A
/// reconnection starts nothing and goes on where it broke off: as only its last id tells for certain of which thread that was,
/// the ids of this stream name it.
///
/// A browser shows its cookie alone here, for `EventSource` can send no header in which there could be more. That it stands on our
/// own page is not enough either: a link in an agent's words stands there, too, and a person who follows it does not read a stream
/// but goes to an address.
pub async fn streamed(
    State(shared): State<Shared>,
    Extension(caller): Extension<Caller>,
    PathParam(id): PathParam,
    QueryParams(wanted): QueryParams<Streamed>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if method == Method::HEAD {
        return Err(Problem::not_allowed("GET"));
    }
    let not_ours = || Problem::new(StatusCode::FORBIDDEN, "work is begun for our own page, or for a bearer");
    if caller == Caller::Browser && is_visit(&headers) {
        return Err(not_ours());
    }
    if let Some(seen) = headers.get("last-event-id") {
        let unknown = || Problem::unusable("the last id is none of this stream's");
        let seen = seen.to_str().map_err(|_| unknown())?.trim();
        let (thread, frame) = seen.rsplit_once('/').unwrap_or((wanted.session_id.as_deref().unwrap_or(&id), seen));
        let root = shared.store().resolve(thread).await?.root();
        let seen = frame.parse().map_err(|_| unknown())?;
        if is_told(&**shared.store(), &root, seen, &wanted.dialect).await? {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        // Of an event that was seen in part, the rest is still to be sent.
        let run = shared.staff.session_of(&root).run_after(((seen + 1) / FRAMES_PER_EVENT).saturating_sub(1))?;
        return Ok(sse(frames_after(&shared, run, seen, &wanted.dialect)));
    }
    if caller == Caller::Browser && !is_same_origin(&headers) {
        return Err(not_ours());
    }
    let prompt = wanted.prompt.ok_or_else(|| Problem::unusable("say what is to be done: ?prompt=…"))?;
    // What is in the log before the message is not sent again to a reader that comes back.
    let seen = match &wanted.session_id {
        Some(name) => {
            let root = shared.store().resolve(name).await?.root();
            FRAMES_PER_EVENT * (shared.staff.session_of(&root).newest().await? + 1) - 1
        }
        None => 0,
    };
    let sent = Chat { message: prompt, thread_id: wanted.session_id, agent: None, files: Vec::new() };
    let run = converse(&shared, sent, None).await?;
    Ok(sse(named_frames(&shared, run, seen, &wanted.dialect)))
}

/// Sends a message to a conversation, or begins one with it.
async fn converse(shared: &Shared, sent: Chat, key: Option<Key>) -> Result<Run, Problem> {
    let Chat { message, thread_id, agent, files } = sent;
    match thread_id {
        None => begin(shared, Begin { message, agent, files }, key).await,
        Some(name) => {
            let root = shared.store().resolve(&name).await?.root();
            go_on(shared, &root, work(message, files)?, key).await
        }
    }
}

/// A run's frames under ids that name the thread: a reader that comes back with one starts nothing. The first frame, which comes as soon as
/// the run begins, brings the first id. A run that cannot begin yet, because its thread is at work on an earlier message, has no frame of
/// its own for a while; so that the reader has an id meanwhile, its stream begins with `stream_open`.
fn named_frames(shared: &Shared, run: Run, seen: u64, words: &DialectName) -> impl Stream<Item = Bytes> + Send + use<> {
    let opened = Bytes::from(format!("id: {}/{seen}\ndata: {OPENED}\n\n", run.root()));
    let mut frames = Box::pin(frames_after(shared, run, seen, words));
    let first = async move {
        let first = tokio::time::timeout(BEGINS_WITHIN, frames.next()).await;
        stream::iter(first.unwrap_or(Some(opened))).chain(frames)
    };
    stream::once(first).flatten()
}

/// The same for a reader that has an id.
fn frames_after(shared: &Shared, run: Run, seen: u64, words: &DialectName) -> impl Stream<Item = Bytes> + Send + use<> {
    let id = format!("id: {}/", run.root());
    to_its_end(run, words.begin(), seen, shared.live.closing.clone()).map(move |bytes| {
        let text = String::from_utf8_lossy(&bytes);
        let named = text.split_inclusive('\n').map(|line| match line.strip_prefix("id: ") {
            Some(number) => format!("{id}{number}"),
            None => line.to_owned(),
        });
        named.collect::<String>().into()
    })
}

/// Whether everything was seen to the end of a run.
async fn is_told(store: &dyn Store, root: &ThreadId, seen: u64, words: &DialectName) -> Result<bool, Problem> {
    let mut lines = Lines::new(root.clone(), words.begin(), seen);
    let (seq, _) = view::Frames::resume_point(seen);
    let see = |record: Record| {
        let rest = lines.push(&logged(&record));
        match record.seq.cmp(&seq) {
            Ordering::Less => ControlFlow::Continue(()),
            Ordering::Equal => ControlFlow::Break(rest.is_empty() && root_report(&record, root).is_some()),
            Ordering::Greater => ControlFlow::Break(false),
        }
    };
    Ok(replay_until(store, Selection::tree(root), see).await?.unwrap_or(false))
}
