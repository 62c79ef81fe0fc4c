//! `tasks`: the board of the server's folder, and any other by name.

use std::sync::Arc;

use agent::{InputId, Time};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use majordomo::tasks::board::import::{Draft, Reference, microusd, priority};
use majordomo::tasks::board::{Actor, BoardId, Budget, Change, Command, Edit, Refusal, Reply, Status, TaskId, Update};
use majordomo::tasks::{self, ShownNote, ShownTask, TaskBoard, board_named};
use schemars::JsonSchema;
use serde::Deserialize;
use store::TaskQuery;

use super::extract::{JsonBody, Limit, PathParam, QueryParams};
use crate::problem::Problem;
use crate::server::Shared;
use crate::shapes::{NewNote, NewTask, TaskChange};

/// Tasks that are listed where no limit is given.
const LISTED: usize = 100;
const MOST_LISTED: usize = 500;

/// Which tasks are wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// A board by name; that of the server's folder where none is named.
    board: Option<String>,
    /// Only those of this status; all but archived ones where none is named.
    #[schemars(with = "Option<schema::TaskStatus>")]
    status: Option<String>,
    /// Only those after this one: the last of the page before.
    after: Option<String>,
    /// At most so many.
    #[schemars(extend("default" = LISTED))]
    limit: Option<Limit<MOST_LISTED>>,
}

/// Which board is meant.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfBoard {
    /// A board by name; that of the server's folder where none is named.
    board: Option<String>,
}

/// `GET tasks`.
pub async fn list(
    State(shared): State<Shared>,
    QueryParams(listing): QueryParams<Listing>,
) -> Result<Response, Problem> {
    let board = board(&shared, listing.board.as_deref())?;
    let limit = listing.limit.map_or(LISTED, |Limit(limit)| limit);
    let status = listing.status.as_deref().map(status).transpose()?;
    let after = listing.after.as_deref().map(task_id).transpose()?;
    // One more is asked for than is shown: it shows whether there is another page.
    let query = TaskQuery { board: board.id().clone(), status, after, limit: limit + 1 };
    let mut found = shared.store().tasks(query).await?;
    let is_last = found.len() <= limit;
    found.truncate(limit);
    let next = found.last().filter(|_| !is_last).map(|last| {
        let board = listing.board.as_ref().map(|board| format!("&board={board}")).unwrap_or_default();
        let status = status.map(|status| format!("&status={status}")).unwrap_or_default();
        format!("</api/v1/tasks?after={}&limit={limit}{board}{status}>; rel=\"next\"", last.id)
    });
    let shown: Vec<ShownTask> = found.iter().map(|task| ShownTask::of(board.id(), task)).collect();
    let mut response = Json(shown).into_response();
    if let Some(link) = next.and_then(|link| HeaderValue::from_str(&link).ok()) {
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

/// `POST tasks`.
pub async fn add(
    State(shared): State<Shared>,
    QueryParams(of): QueryParams<OfBoard>,
    headers: HeaderMap,
    JsonBody(new): JsonBody<NewTask>,
) -> Result<Response, Problem> {
    let board = board(&shared, of.board.as_deref())?;
    let text = |text: String| -> Arc<str> { text.into() };
    let draft = Draft {
        title: new.title.into(),
        prompt: new.prompt.unwrap_or_default().into(),
        priority: new.priority.map(text),
        assign: new.assign.map(text),
        after: new.after.into_iter().map(|id| Reference::Name(id.into())).collect(),
        due: new.due.map(text),
        labels: new.labels.into_iter().map(text).collect(),
        checks: new.checks.into_iter().map(text).collect(),
        max_tool_calls: new.max_tool_calls,
        max_tokens: new.max_tokens,
        max_cost: new.max_cost,
        timeout_s: new.timeout_s,
        schema: new.schema,
        id: None,
    };
    let tasks = board.drafted(&shared.staff.staffing(), &[tasks::line(draft)], false).await?;
    let reply = board.ask(Actor::Human, name(&headers), Command::Add { tasks }, now(&shared)).await?;
    let id = match reply {
        Reply::Added(ids) => ids.into_iter().next(),
        _ => None,
    };
    let id = id.ok_or_else(|| Problem::conflict("this Idempotency-Key was used for something else"))?;
    let task = board.task(&id).await?;
    let mut response = (StatusCode::CREATED, Json(ShownTask::of(board.id(), &task))).into_response();
    if let Ok(place) = HeaderValue::from_str(&format!("/api/v1/tasks/{id}")) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    Ok(response)
}

/// `GET tasks/{id}`.
pub async fn show(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    QueryParams(of): QueryParams<OfBoard>,
) -> Result<Json<ShownTask>, Problem> {
    shown(&board(&shared, of.board.as_deref())?, &task_id(&id)?).await
}

/// `PATCH tasks/{id}`.
pub async fn change(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    QueryParams(of): QueryParams<OfBoard>,
    JsonBody(change): JsonBody<TaskChange>,
) -> Result<Json<ShownTask>, Problem> {
    let (board, task) = (board(&shared, of.board.as_deref())?, task_id(&id)?);
    board.task(&task).await.map_err(|_| missing(&task))?;
    let edit = Edit {
        title: change.title.map(Into::into),
        prompt: change.prompt.map(Into::into),
        priority: change.priority.as_deref().map(priority).transpose().map_err(tasks::Error::from)?,
        after: change.after.map(|after| after.iter().map(|id| task_id(id)).collect()).transpose()?,
        rank: change.rank,
        due: change.due.as_deref().map(tasks::due).transpose().map_err(tasks::Error::from)?,
        labels: change.labels.map(|labels| labels.into_iter().map(Into::into).collect()),
        checks: change.checks.map(|checks| checks.into_iter().map(Into::into).collect()),
        budget: Budget {
            max_tool_calls: change.max_tool_calls,
            max_tokens: change.max_tokens,
            max_cost_microusd: change.max_cost.as_ref().map(microusd).transpose().map_err(tasks::Error::from)?,
            timeout_ms: change.timeout_s.map(|seconds| seconds.saturating_mul(1000)),
        },
    };
    let assign = match &change.assign {
        Some(who) => Some(shared.staff.staffing().assignee(&**shared.store(), who).await?),
        None => None,
    };
    let change = change.status.as_deref().map(status).transpose()?.map(|status| match status {
        Status::Pending => Change::Reopened,
        Status::InProgress => Change::InProgress,
        Status::Completed => Change::Completed { result: None },
        Status::Archived => Change::Archived,
        Status::Blocked => Change::Blocked { reason: change.reason.as_deref().unwrap_or("a person blocked it").into() },
    });
    // One command: where a part of it is refused, nothing of it is done.
    let update = Box::new(Update { edit, assign, change, note: None });
    board.ask(Actor::Human, None, Command::Update { task: task.clone(), update }, now(&shared)).await?;
    shown(&board, &task).await
}

/// `DELETE tasks/{id}`.
pub async fn remove(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    QueryParams(of): QueryParams<OfBoard>,
) -> Result<StatusCode, Problem> {
    let (board, task) = (board(&shared, of.board.as_deref())?, task_id(&id)?);
    board.task(&task).await.map_err(|_| missing(&task))?;
    board.ask(Actor::Human, None, Command::Remove { task }, now(&shared)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET tasks/{id}/notes`.
pub async fn notes(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    QueryParams(of): QueryParams<OfBoard>,
) -> Result<Json<Vec<ShownNote>>, Problem> {
    let (board, task) = (board(&shared, of.board.as_deref())?, task_id(&id)?);
    board.task(&task).await.map_err(|_| missing(&task))?;
    let notes = shared.store().notes(board.id(), &task).await?;
    Ok(Json(notes.iter().map(ShownNote::of).collect()))
}

/// `POST tasks/{id}/notes`.
pub async fn note(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    QueryParams(of): QueryParams<OfBoard>,
    headers: HeaderMap,
    JsonBody(note): JsonBody<NewNote>,
) -> Result<(StatusCode, Json<ShownTask>), Problem> {
    let (board, task) = (board(&shared, of.board.as_deref())?, task_id(&id)?);
    board.task(&task).await.map_err(|_| missing(&task))?;
    let command = Command::Note { task: task.clone(), text: note.text.into() };
    board.ask(Actor::Human, name(&headers), command, now(&shared)).await?;
    Ok((StatusCode::CREATED, shown(&board, &task).await?))
}

async fn shown(board: &TaskBoard, task: &TaskId) -> Result<Json<ShownTask>, Problem> {
    let found = board.store().task(board.id(), task).await?.ok_or_else(|| missing(task))?;
    Ok(Json(ShownTask::of(board.id(), &found)))
}

fn board(shared: &Shared, name: Option<&str>) -> Result<TaskBoard, Problem> {
    let here = shared.staff.board();
    let id = match name {
        Some(name) if BoardId::new(name) == here => here.clone(),
        Some(name) => board_named(name).map_err(tasks::Error::from)?,
        None => here.clone(),
    };
    Ok(TaskBoard::new(shared.store().clone(), id, here.as_str()))
}

fn task_id(text: &str) -> Result<TaskId, Problem> {
    TaskId::parse(text).ok_or_else(|| Problem::missing(format!("'{text}' is no task: tasks are named t1, t2 …")))
}

fn missing(task: &TaskId) -> Problem {
    Problem::missing(format!("there is no task {task} on this board"))
}

fn status(word: &str) -> Result<Status, Problem> {
    let words: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
    Status::parse(word)
        .ok_or_else(|| Problem::unusable(format!("'{word}' is no status: it is one of {}", words.join(", "))))
}

/// The name that a client gave to its request: sent again under the same name, it is not carried out again.
fn name(headers: &HeaderMap) -> Option<InputId> {
    let key = headers.get("idempotency-key")?.to_str().ok()?;
    Some(InputId::new(format!("http/{key}")))
}

fn now(shared: &Shared) -> Time {
    shared.staff.runtime().clock().now()
}

impl From<tasks::Error> for Problem {
    fn from(error: tasks::Error) -> Self {
        match error {
            tasks::Error::Refused(Refusal { message, is_usage: true }) => Self::unusable(message.to_string()),
            tasks::Error::Refused(Refusal { message, is_usage: false }) => Self::conflict(message.to_string()),
            tasks::Error::Store(error) => error.into(),
        }
    }
}
