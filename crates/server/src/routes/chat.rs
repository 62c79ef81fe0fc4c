//! `/api/chat` and `/api/stream/{id}`: a message in, the run's frames out, and the end with its `done`.

use agent::{InputId, ThreadId};
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use majordomo::follow::{logged, root_report};
use schemars::JsonSchema;
use serde::Deserialize;
use store::Store;
use view::{FRAMES_PER_EVENT, Lines};

use super::asked::{Asked, Named, Sent, Speech};
use super::events::sse;
use super::threads::{begin, go_on};
use crate::access::{Caller, is_same_origin, is_visit};
use crate::live::{Told, to_its_end};
use crate::problem::Problem;
use crate::shapes::{Begin, Chat, MAX_MESSAGE, NOT_BLANK};
use crate::window::Shared;

/// In which words the answer is wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InWords {
    /// In whose words: our own (`canonical`) where nobody says.
    #[serde(default)]
    dialect: Speech,
}

/// `POST /api/chat`. The answer says in its head, too, which thread it is about: whoever loses the stream before the first frame
/// can follow its events.
pub async fn chat(
    State(shared): State<Shared>,
    Asked(words): Asked<InWords>,
    Sent(Chat { message, thread_id, agent }): Sent<Chat>,
) -> Result<Response, Problem> {
    let run = converse(&shared, message, thread_id, agent).await?;
    let place = format!("/api/v1/threads/{}", run.root);
    Ok(([(header::CONTENT_LOCATION, place)], sse(run.frames(&shared, &words.dialect))).into_response())
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
    /// In whose words: Orion's where nobody says.
    #[serde(default = "orion")]
    dialect: Speech,
}

fn orion() -> Speech {
    Speech::named("orion")
}

/// `GET /api/stream/{id}`: the same for those who can only get. It starts work only for our own page or for a program. A
/// reconnection starts nothing and goes on where it broke off: as only its last id tells for certain of which thread that was,
/// the ids of this stream name it.
///
/// A browser shows its cookie alone here, for `EventSource` can send no header in which there could be more. That it stands on our
/// own page is not enough either: a link in an agent's words stands there, too, and whoever follows it does not read a stream
/// but goes to an address.
pub async fn streamed(
    State(shared): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
    Asked(wanted): Asked<Streamed>,
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
        let run = Run { root, seen: frame.parse().map_err(|_| unknown())?, message: None };
        if run.is_told(&**shared.store(), &wanted.dialect).await? {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        return Ok(sse(run.named_frames(&shared, &wanted.dialect)));
    }
    if caller == Caller::Browser && !is_same_origin(&headers) {
        return Err(not_ours());
    }
    let prompt = wanted.prompt.ok_or_else(|| Problem::unusable("say what is to be done: ?prompt=…"))?;
    let run = converse(&shared, prompt, wanted.session_id, None).await?;
    Ok(sse(run.named_frames(&shared, &wanted.dialect)))
}

async fn converse(
    shared: &Shared,
    message: String,
    thread: Option<String>,
    agent: Option<String>,
) -> Result<Run, Problem> {
    match thread {
        None => Ok(Run { root: begin(shared, Begin { message, agent }).await?, seen: 0, message: None }),
        Some(name) => {
            let root = shared.store().resolve(&name).await?.root();
            let newest = newest(&**shared.store(), &root).await?;
            let message = Some(go_on(shared, &root, message).await?);
            Ok(Run { root, seen: FRAMES_PER_EVENT * (newest + 1) - 1, message })
        }
    }
}

/// A run that is watched to its end.
struct Run {
    root: ThreadId,
    /// The last frame that was seen.
    seen: u64,
    /// The message that begins it, where another run may go on before.
    message: Option<InputId>,
}

impl Run {
    fn frames(self, shared: &Shared, words: &Speech) -> impl Stream<Item = Bytes> + Send + use<> {
        let run = Told { root: self.root, last_event_id: self.seen, message: self.message };
        to_its_end(shared.store().clone(), run, words.begin(), shared.live.closing.clone())
    }

    /// The same under ids that name the thread. The first is there before anything has happened: whoever comes back with it does
    /// not begin anew.
    fn named_frames(self, shared: &Shared, words: &Speech) -> impl Stream<Item = Bytes> + Send + use<> {
        let id = format!("id: {}/", self.root);
        let first = stream::iter([Bytes::from(format!("{id}{}\n\n", self.seen))]);
        let frames = self.frames(shared, words).map(move |bytes| {
            let text = String::from_utf8_lossy(&bytes);
            let named = text.split_inclusive('\n').map(|line| match line.strip_prefix("id: ") {
                Some(number) => format!("{id}{number}"),
                None => line.to_owned(),
            });
            named.collect::<String>().into()
        });
        first.chain(frames)
    }

    /// Whether everything was seen to the end of the run.
    async fn is_told(&self, store: &dyn Store, words: &Speech) -> Result<bool, Problem> {
        let mut lines = Lines::new(self.root.clone(), words.begin(), self.seen);
        let (seq, _) = view::Frames::resume_point(self.seen);
        let mut at = 0;
        loop {
            let page = store.tree(&self.root, at, 1000).await?;
            let Some(newest) = page.last() else { return Ok(false) };
            at = newest.seq;
            for record in page.iter().take_while(|record| record.seq <= seq) {
                let rest = lines.push(&logged(record));
                if record.seq == seq {
                    return Ok(rest.is_empty() && root_report(record, &self.root).is_some());
                }
            }
        }
    }
}

/// The number of a family's newest event.
async fn newest(store: &dyn Store, root: &ThreadId) -> Result<u64, Problem> {
    let (mut seq, page) = (0, 1000);
    loop {
        let records = store.tree(root, seq, page).await?;
        match records.last() {
            Some(last) => seq = last.seq,
            None => return Ok(seq),
        }
    }
}
