//! `threads`: conversations, from the first message to the last report.

use agent::{Outside, Strength, ThreadId};
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use majordomo::Work;
use majordomo::follow::{Follower, logged};
use majordomo::threads::object;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::ThreadQuery;
use view::{Transcript, Tree};

use crate::problem::Problem;
use crate::window::Shared;

/// Threads that are listed where nobody says how many.
const LISTED: usize = 50;
const MOST_LISTED: usize = 500;

/// Which threads are wanted.
#[derive(Deserialize)]
pub struct Listing {
    limit: Option<usize>,
    /// Also the descendants of roots.
    #[serde(default)]
    all: bool,
    /// Only those in which something goes on.
    #[serde(default)]
    live: bool,
    /// Only the family of this root.
    root: Option<String>,
}

/// `GET threads`.
pub async fn list(State(shared): State<Shared>, Query(listing): Query<Listing>) -> Result<axum::Json<Value>, Problem> {
    let root = match &listing.root {
        Some(name) => Some(shared.store().resolve(name).await?.root()),
        None => None,
    };
    let query = ThreadQuery {
        root_only: !listing.all && root.is_none(),
        live_only: listing.live,
        root,
        limit: listing.limit.unwrap_or(LISTED).min(MOST_LISTED),
        ..ThreadQuery::default()
    };
    let now = shared.staff.heart().clock().now();
    let rows = shared.store().threads(query).await?;
    Ok(axum::Json(rows.iter().map(|row| object(row, now)).collect()))
}

/// What begins a thread.
#[derive(Deserialize)]
pub struct Begin {
    /// The first message.
    pub message: String,
    /// The agent; the configured one where none is named.
    pub agent: Option<String>,
}

/// `POST threads`.
pub async fn start(State(shared): State<Shared>, sent: Bytes) -> Result<Response, Problem> {
    let thread = begin(&shared, body(&sent)?).await?;
    let place = format!("/api/v1/threads/{thread}");
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], axum::Json(json!({ "id": thread }))).into_response())
}

/// `GET threads/{id}`.
pub async fn show(State(shared): State<Shared>, Path(id): Path<String>) -> Result<axum::Json<Value>, Problem> {
    let thread = shared.store().resolve(&id).await?;
    let row =
        shared.store().thread(&thread).await?.ok_or_else(|| Problem::missing(format!("no thread is called '{id}'")))?;
    Ok(axum::Json(object(&row, shared.staff.heart().clock().now())))
}

/// `DELETE threads/{id}`: forgets a root and all its descendants.
pub async fn remove(State(shared): State<Shared>, Path(id): Path<String>) -> Result<StatusCode, Problem> {
    let thread = shared.store().resolve(&id).await?;
    if thread.root() != thread {
        return Err(Problem::conflict("only a whole family is forgotten: name its root"));
    }
    shared.store().remove(&thread, shared.staff.heart().clock().now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET threads/{id}/messages`: one thread's conversation, as a person reads it.
pub async fn messages(State(shared): State<Shared>, Path(id): Path<String>) -> Result<axum::Json<Value>, Problem> {
    let thread = shared.store().resolve(&id).await?;
    let mut transcript = Transcript::new(thread.clone());
    for record in Follower::new(shared.store().clone(), thread.root()).read_all().await? {
        transcript.push(&logged(&record));
    }
    Ok(axum::Json(json!({ "id": thread, "entries": transcript.entries() })))
}

/// Words for a thread.
#[derive(Deserialize)]
pub struct Words {
    #[serde(alias = "message")]
    text: String,
}

/// `POST threads/{id}/messages`: the next message of a conversation.
pub async fn say(State(shared): State<Shared>, Path(id): Path<String>, sent: Bytes) -> Result<Response, Problem> {
    let Words { text } = body(&sent)?;
    let thread = shared.store().resolve(&id).await?;
    go_on(&shared, &thread, text).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(json!({ "id": thread }))).into_response())
}

/// `POST threads/{id}/steer`: a word to a thread that works.
pub async fn steer(State(shared): State<Shared>, Path(id): Path<String>, sent: Bytes) -> Result<StatusCode, Problem> {
    let Words { text } = body(&sent)?;
    let text = words(text)?;
    let thread = shared.store().resolve(&id).await?;
    shared.staff.heart().send(&thread, Outside::Steered { text: text.into(), from: "person".into() }).await?;
    Ok(StatusCode::ACCEPTED)
}

/// How a thread is to end.
#[derive(Deserialize)]
pub struct Stop {
    /// Without a last word.
    #[serde(default)]
    now: bool,
    reason: Option<String>,
}

/// `POST threads/{id}/stop`: answered once it is true.
pub async fn stop(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    sent: Bytes,
) -> Result<axum::Json<Value>, Problem> {
    let stop: Stop = if sent.is_empty() { Stop { now: false, reason: None } } else { body(&sent)? };
    let thread = shared.store().resolve(&id).await?;
    let strength = if stop.now { Strength::Kill } else { Strength::Cancel };
    let reason = stop.reason.unwrap_or_else(|| "stopped by a person".to_owned());
    shared.staff.heart().stop(&thread, strength, &reason).await?;
    show(State(shared), Path(thread.to_string())).await
}

/// `GET threads/{id}/tree`: who is there, what each one does and what it cost.
pub async fn tree(State(shared): State<Shared>, Path(id): Path<String>) -> Result<axum::Json<Value>, Problem> {
    let thread = shared.store().resolve(&id).await?;
    let mut tree = Tree::new();
    for record in Follower::new(shared.store().clone(), thread.root()).read_all().await? {
        tree.push(&logged(&record));
    }
    Ok(axum::Json(json!(tree.roots())))
}

/// Starts a run.
pub async fn begin(shared: &Shared, begin: Begin) -> Result<ThreadId, Problem> {
    let work = Work { agent: begin.agent, ..Work::new(words(begin.message)?) };
    Ok(shared.staff.start(work).await?.thread)
}

/// Says something in a thread that there is, and goes on with it where nothing did.
pub async fn go_on(shared: &Shared, thread: &ThreadId, text: String) -> Result<(), Problem> {
    if thread.root() != *thread {
        return Err(Problem::conflict("a sub-agent is told something by steering it: POST …/steer"));
    }
    let text = words(text)?;
    let heart = shared.staff.heart();
    heart.send(thread, Outside::UserSaid { text: text.into() }).await?;
    match shared.staff.resume(thread).await {
        // It runs, here or elsewhere, and reads the message by itself; or it did so already.
        Ok(_) => Ok(()),
        Err(majordomo::Error::Heart(
            runtime::Error::Alive(_) | runtime::Error::Idle(_) | runtime::Error::Store(store::Error::Owned { .. }),
        )) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A body of JSON.
pub fn body<T: DeserializeOwned>(sent: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(sent)
        .map_err(|error| Problem::unusable(format!("the body is not what is asked for here: {error}")))
}

fn words(text: String) -> Result<String, Problem> {
    if text.trim().is_empty() { Err(Problem::unusable("there is nothing in the message")) } else { Ok(text) }
}
