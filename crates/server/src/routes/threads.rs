//! `threads`: conversations, from the first message to the last report.

use std::convert::Infallible;

use agent::{Event, InputId, Outside, Strength, ThreadId};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use majordomo::follow::logged;
use majordomo::threads::object;
use majordomo::{Run, Work, staff, threads, transfer};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use store::{AgentMetadata, SearchQuery, Selection, ThreadQuery};
use view::{Node, Transcript, Tree};

use super::MAX_BODY;
use super::extract::{JsonBody, Limit, PathParam, QueryParams, Switch};
use super::files::with_files;
use super::repeat::{Key, Keyed};
use crate::problem::Problem;
use crate::server::Shared;
use crate::shapes::{Begin, Fork, MAX_MESSAGE, Marks, Messages, Said, SentFile, Started, Stop, Words};

/// Threads that are listed where no limit is given.
const LISTED: usize = 50;
const MOST_LISTED: usize = 500;

/// Which threads are wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// At most so many.
    #[schemars(extend("default" = LISTED))]
    limit: Option<Limit<MOST_LISTED>>,
    /// Only those that are older than this one: the last of the page before.
    before: Option<String>,
    /// Also the descendants of roots.
    #[serde(default)]
    all: Switch,
    /// Only those in which something goes on.
    #[serde(default)]
    live: Switch,
    /// Only the family of this root.
    root: Option<String>,
    /// Only those that were put away; without it, only those that were not.
    #[serde(default)]
    archived: Switch,
    /// Only those in which these words were said, or that are called so, the best match first. The rest but `limit` has no effect then.
    search: Option<String>,
}

/// `GET threads`.
pub async fn list(
    State(shared): State<Shared>,
    QueryParams(listing): QueryParams<Listing>,
) -> Result<Response, Problem> {
    if let Some(words) = &listing.search {
        return search(&shared, words, listing.limit.map_or(LISTED, |Limit(limit)| limit)).await;
    }
    let root = match &listing.root {
        Some(name) => Some(shared.store().resolve(name).await?.root()),
        None => None,
    };
    let before = match &listing.before {
        Some(name) => Some(shared.store().resolve(name).await?),
        None => None,
    };
    let limit = listing.limit.map_or(LISTED, |Limit(limit)| limit);
    // One more is asked for than is shown: it shows whether there is another page.
    let query = ThreadQuery {
        root_only: !listing.all.0 && root.is_none(),
        live_only: listing.live.0,
        archived: root.is_none().then_some(listing.archived.0),
        root,
        before,
        limit: limit + 1,
        ..ThreadQuery::default()
    };
    let rows = shared.store().threads(query).await?;
    let living = shared.store().living(shared.staff.runtime().clock().now()).await?;
    let mut headers = HeaderMap::new();
    if let Some(last) = rows.get(limit - 1).filter(|_| rows.len() > limit) {
        headers.extend(next_page(&listing, limit, &last.id).map(|link| (header::LINK, link)));
    }
    let page: Vec<Value> = rows.iter().take(limit).map(|row| object(row, &living)).collect();
    Ok((headers, Json(page)).into_response())
}

/// Threads in which words were said.
async fn search(shared: &Shared, words: &str, limit: usize) -> Result<Response, Problem> {
    let found = shared.store().search(SearchQuery { text: words.into(), limit }).await?;
    let living = shared.store().living(shared.staff.runtime().clock().now()).await?;
    let mut page = Vec::new();
    for one in found {
        // One that was deleted meanwhile is left out.
        page.extend(shared.store().thread(&one.thread).await?.map(|row| object(&row, &living)));
    }
    Ok(Json(page).into_response())
}

/// Where the page after a thread is. Names of threads need no escapes in an address.
fn next_page(listing: &Listing, limit: usize, last: &ThreadId) -> Option<HeaderValue> {
    let mut address = format!("/api/v1/threads?limit={limit}&before={last}");
    for (name, on) in [("all", listing.all.0), ("live", listing.live.0), ("archived", listing.archived.0)] {
        address += &if on { format!("&{name}=1") } else { String::new() };
    }
    if listing.root.is_some() {
        address += &format!("&root={}", last.root());
    }
    HeaderValue::from_str(&format!("<{address}>; rel=\"next\"")).ok()
}

/// `POST threads`.
pub async fn start(State(shared): State<Shared>, Keyed { key, body }: Keyed<Begin>) -> Result<Response, Problem> {
    let thread = begin(&shared, body, key).await?.root().clone();
    let place = format!("/api/v1/threads/{thread}");
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(started(&thread))).into_response())
}

/// `GET threads/{id}`.
pub async fn show(State(shared): State<Shared>, PathParam(id): PathParam) -> Result<Json<Value>, Problem> {
    let thread = shared.store().resolve(&id).await?;
    let row =
        shared.store().thread(&thread).await?.ok_or_else(|| Problem::missing(format!("no thread is called '{id}'")))?;
    let living = shared.store().living(shared.staff.runtime().clock().now()).await?;
    Ok(Json(object(&row, &living)))
}

/// `GET threads/{id}/agent` (LACE-16).
pub async fn agent(State(shared): State<Shared>, PathParam(id): PathParam) -> Result<Json<AgentMetadata>, Problem> {
    let missing = || Problem::missing(format!("No agent found for thread {id}"));
    let thread = match shared.store().resolve(&id).await {
        Err(store::Error::UnknownThread(_)) => return Err(missing()),
        resolved => resolved?,
    };
    Ok(Json(shared.store().agent_metadata(&thread).await?.ok_or_else(missing)?))
}

/// `GET threads/{id}/agents` (LACE-15).
pub async fn agents(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
) -> Result<Json<Vec<AgentMetadata>>, Problem> {
    let thread = shared.store().resolve(&id).await?;
    Ok(Json(shared.store().session_agents(&thread).await?))
}

/// `PATCH threads/{id}`: what a person says of a thread.
pub async fn mark(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    JsonBody(Marks { title, archived, read }): JsonBody<Marks>,
) -> Result<Json<Value>, Problem> {
    let thread = shared.store().resolve(&id).await?;
    let row = shared.store().thread(&thread).await?;
    let row = row.ok_or_else(|| Problem::missing(format!("no thread is called '{id}'")))?;
    let changes = title.is_some() || archived.is_some_and(|archived| archived != row.archived) || read && row.unread;
    if changes {
        let said = Outside::Marked { title: title.map(Into::into), archived, read };
        threads::mark(&**shared.store(), &thread, said, shared.staff.runtime().clock().now()).await?;
    }
    show(State(shared), PathParam(thread.to_string())).await
}

/// `POST threads/{id}/fork`: a copy of a conversation.
pub async fn fork(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    Keyed { key, body: Fork { at } }: Keyed<Fork>,
) -> Result<Response, Problem> {
    let from = shared.store().resolve(&id).await?;
    let before = match &key {
        Some(key) => key.begun(&**shared.store()).await?,
        None => None,
    };
    let to = match before {
        Some(copy) => copy,
        None => {
            let to = key.map_or_else(|| shared.staff.fresh_id(), |key| shared.staff.id_named(&key.thread()));
            let now = shared.staff.runtime().clock().now();
            transfer::fork(shared.store(), &from, at, &to, now).await.map_err(untransferable)?;
            to
        }
    };
    let place = format!("/api/v1/threads/{to}");
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(started(&to))).into_response())
}

/// `GET threads/{id}/export.md`: a conversation to read.
pub async fn export_markdown(State(shared): State<Shared>, PathParam(id): PathParam) -> Result<Response, Problem> {
    let root = shared.store().resolve(&id).await?.root();
    let text = transfer::markdown(&**shared.store(), &root).await.map_err(untransferable)?;
    Ok(saved(&root, "md", "text/markdown; charset=utf-8", text + "\n"))
}

/// `GET threads/{id}/export.jsonl`: a conversation to take in elsewhere.
pub async fn export_log(State(shared): State<Shared>, PathParam(id): PathParam) -> Result<Response, Problem> {
    let root = shared.store().resolve(&id).await?.root();
    let artefacts = shared.staff.artefacts().ok_or_else(|| Problem::unusable("there is no data folder"))?;
    let export = transfer::export(&**shared.store(), &root, artefacts).await.map_err(untransferable)?;
    // The bytes of images and documents are read while it is sent.
    let pieces = stream::unfold(export.into_lines(), |mut lines| async {
        let piece = tokio::task::spawn_blocking(move || {
            let mut piece = String::new();
            while let Some(line) = (piece.len() < PIECE).then(|| lines.next()).flatten() {
                piece.push_str(&line);
                piece.push('\n');
            }
            (!piece.is_empty()).then_some((Ok::<_, Infallible>(piece), lines))
        });
        piece.await.ok()?
    });
    Ok(saved(&root, "jsonl", "application/octet-stream", Body::from_stream(pieces)))
}

/// So many bytes of a saved log are made at once, or one line that is longer.
const PIECE: usize = 256 * 1024;

/// A file that a browser saves. Names of threads need no escapes.
fn saved(root: &ThreadId, ending: &str, kind: &'static str, body: impl Into<Body>) -> Response {
    let name = format!("attachment; filename=\"{root}.{ending}\"");
    ([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, name)], body.into()).into_response()
}

fn untransferable(error: transfer::Error) -> Problem {
    match error {
        transfer::Error::Store(error) => error.into(),
        other => Problem::unusable(other.to_string()),
    }
}

/// `DELETE threads/{id}`: forgets a root and all its descendants.
pub async fn remove(State(shared): State<Shared>, PathParam(id): PathParam) -> Result<StatusCode, Problem> {
    let thread = shared.store().resolve(&id).await?;
    if thread.root() != thread {
        return Err(Problem::conflict("only a whole family is forgotten: name its root"));
    }
    match shared.store().remove(&thread, shared.staff.runtime().clock().now()).await {
        Err(store::Error::Owned { .. }) => Err(Problem::conflict("it is still at work: stop it first")),
        removed => Ok(removed.map(|()| StatusCode::NO_CONTENT)?),
    }
}

/// `GET threads/{id}/messages`: one thread's conversation, as a person reads it.
pub async fn messages(State(shared): State<Shared>, PathParam(id): PathParam) -> Result<Json<Messages>, Problem> {
    let thread = shared.store().resolve(&id).await?;
    let mut transcript = Transcript::new(thread.clone());
    for record in shared.staff.session_of(&thread).history().await? {
        transcript.push(&logged(&record));
    }
    Ok(Json(Messages { id: thread, entries: transcript.entries() }))
}

/// `POST threads/{id}/messages`: the next message of a conversation.
pub async fn say(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    Keyed { key, body: Said { text, files } }: Keyed<Said>,
) -> Result<(StatusCode, Json<Started>), Problem> {
    let thread = shared.store().resolve(&id).await?;
    go_on(&shared, &thread, work(text, files)?, key).await?;
    Ok((StatusCode::ACCEPTED, Json(started(&thread))))
}

/// `POST threads/{id}/steer`: a word to a thread that works.
pub async fn steer(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    Keyed { key, body: Words { text } }: Keyed<Words>,
) -> Result<StatusCode, Problem> {
    let text = words(text)?;
    let thread = shared.store().resolve(&id).await?;
    match key {
        Some(key) if key.is_sent(&**shared.store(), &thread).await? => {}
        Some(key) => shared.staff.runtime().send_as(key.input(), &thread, Outside::person_steers(text)).await?,
        None => shared.staff.session_of(&thread).steer(&thread, &text).await?,
    }
    Ok(StatusCode::ACCEPTED)
}

/// `POST threads/{id}/stop`: answered once it is true.
pub async fn stop(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    Keyed { key, body: stop }: Keyed<Stop>,
) -> Result<Json<Value>, Problem> {
    let thread = shared.store().resolve(&id).await?;
    let strength = if stop.now { Strength::Kill } else { Strength::Cancel };
    let reason = stop.reason.unwrap_or_else(|| "stopped by a person".to_owned());
    match key {
        // The run that it was for is over, or the request before this one waits for that, too.
        Some(key) if key.is_sent(&**shared.store(), &thread).await? => {
            stopped(&shared, &thread, &key.input()).await?;
        }
        Some(key) => shared.staff.runtime().stop_as(key.input(), &thread, strength, &reason).await?,
        None => shared.staff.session_of(&thread).stop(&thread, strength, &reason).await?,
    }
    show(State(shared), PathParam(thread.to_string())).await
}

/// Waits for the end of the run that a stop is for which is in the log.
async fn stopped(shared: &Shared, thread: &ThreadId, stop: &InputId) -> Result<(), Problem> {
    let mut log = store::follow(shared.store(), Selection::thread(thread));
    let mut is_sent = false;
    while let Some(page) = log.next().await {
        for record in page? {
            match &*record.event {
                Event::InputArrived { id, .. } => is_sent |= id == stop,
                Event::InputDropped { input, .. } if input == stop => return Ok(()),
                Event::Reported(_) if is_sent => return Ok(()),
                _ => {}
            }
        }
    }
    Ok(())
}

/// `GET threads/{id}/tree`: who is there, what each one does and what it cost.
pub async fn tree(State(shared): State<Shared>, PathParam(id): PathParam) -> Result<Json<Vec<Node>>, Problem> {
    let thread = shared.store().resolve(&id).await?;
    let mut tree = Tree::new();
    for record in shared.staff.session_of(&thread).history().await? {
        tree.push(&logged(&record));
    }
    Ok(Json(tree.roots()))
}

/// Starts a conversation; under a key that began one before, its run is returned.
pub async fn begin(shared: &Shared, begin: Begin, key: Option<Key>) -> Result<Run, Problem> {
    let run_of = |thread: &ThreadId| shared.staff.session_of(thread).run_after(0);
    if let Some(key) = &key
        && let Some(thread) = key.begun(&**shared.store()).await?
    {
        return Ok(run_of(&thread)?);
    }
    let work = work(begin.message, begin.files)?;
    let work = match begin.agent {
        Some(agent) => work.agent(agent),
        None => work,
    };
    let work = match key {
        Some(key) => work.thread(shared.staff.id_named(&key.thread())),
        None => work,
    };
    match shared.staff.stream(work).await {
        // The same request came at the same time.
        Err(staff::Error::Runtime(runtime::Error::Taken(thread))) => Ok(run_of(&thread)?),
        begun => Ok(begun?),
    }
}

/// Sends the next message to a thread; under a key that sent one before, its run is returned.
pub async fn go_on(shared: &Shared, thread: &ThreadId, work: Work, key: Option<Key>) -> Result<Run, Problem> {
    let session = shared.staff.session_of(thread);
    match key {
        Some(key) if key.is_sent(&**shared.store(), thread).await? => Ok(session.run_of(thread, key.input())),
        Some(key) => Ok(session.ask(thread, work.input(key.input())).await?),
        None => Ok(session.ask(thread, work).await?),
    }
}

/// A message with its files. Whether a person looks at the answer is not known here: it is unread until a page says that it was read.
pub fn work(text: String, files: Vec<SentFile>) -> Result<Work, Problem> {
    // What comes with a message may be larger than its words.
    if text.len() > MAX_BODY {
        let most = MAX_BODY / 1024;
        let detail = format!("the words of the message are too large: {most} kB is the most");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    with_files(Work::new(words(text)?).unwatched(), files)
}

fn started(thread: &ThreadId) -> Started {
    Started { id: thread.to_string() }
}

/// A message that can be worked on: as the shapes describe it.
fn words(text: String) -> Result<String, Problem> {
    if text.trim().is_empty() {
        return Err(Problem::unusable("there is nothing in the message"));
    }
    // A text has no more characters than bytes, which are known without counting.
    if text.len() > MAX_MESSAGE {
        let length = text.chars().count();
        if length > MAX_MESSAGE {
            return Err(Problem::unusable(format!(
                "the message has {length} characters, and {MAX_MESSAGE} is the most: put the text into a file of the \
                 workspace and name the file in the message"
            )));
        }
    }
    Ok(text)
}
