//! What can be asked, by address; and what is looked at and added for every request alike.

mod approvals;
mod chat;
mod enter;
mod events;
mod extract;
mod files;
mod info;
mod repeat;
mod tasks;
mod threads;

use std::sync::LazyLock;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use majordomo::tasks::{ShownNote, ShownTask};
use store::{AgentMetadata, ApprovalRow, Execution, ThreadRow, UsageRow};
use view::Node;

use crate::openapi::{Operation, Table, get, post};
use crate::page;
use crate::problem::Problem;
use crate::server::Shared;
use crate::shapes::{
    AgentRole, Begin, Chat, Decided, Fork, Health, MAX_FILE_BYTES, Marks, Messages, Models, NewNote, NewTask, Said,
    Setting, Started, Stop, TaskChange, Word, Words,
};

/// The largest body, the largest without a secret, and how long one may take to arrive.
pub(crate) const MAX_BODY: usize = 1024 * 1024;
pub(crate) const MAX_BODY_OUTSIDE: usize = 4 * 1024;
const BODY_WITHIN: Duration = Duration::from_secs(20);
/// The same for a message with its files: those take a third more as text.
pub(crate) const MAX_MESSAGE_BODY: usize = MAX_FILE_BYTES / 3 * 4 + 2 * MAX_BODY;
const MESSAGE_WITHIN: Duration = Duration::from_secs(180);

/// The page may load what is here and nothing else, and may stand in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// What names in addresses are.
const THREAD: &str = "A thread: its name, or any beginning of it that only one has.";
const TASK: &str = "A task: its name in the board, such as `t12`.";
const KEY: &str = "A name for the request: sent again under the same name, it is not carried out again. Used for another request, it is refused (422).";
const QUESTION: &str = "A question: its name with `/` as `%2F`, or any beginning of it that only one has.";

/// Everything that can be asked.
pub(crate) fn all(shared: Shared) -> Router {
    inside()
        .router()
        .fallback(async || Problem::missing("there is nothing at this address"))
        // No body is read before the caller is authenticated.
        .layer(middleware::from_fn(async |request, next| arrived(request, MAX_BODY, BODY_WITHIN, next).await))
        .merge(messages().router().layer(middleware::from_fn(async |request, next| {
            arrived(request, MAX_MESSAGE_BODY, MESSAGE_WITHIN, next).await
        })))
        .layer(middleware::from_fn_with_state(shared.clone(), let_in))
        .merge(outside().router().layer(middleware::from_fn(async |request, next| {
            arrived(request, MAX_BODY_OUTSIDE, BODY_WITHIN, next).await
        })))
        .layer(middleware::from_fn_with_state(shared.clone(), from_here))
        .with_state(shared)
}

/// What takes a message, which may come with files; it needs a secret.
fn messages() -> Table {
    Table::default()
        .at(
            "/api/v1/threads",
            get(
                threads::list,
                Operation::new("listThreads", "Threads, the newest first")
                    .query::<threads::Listing>()
                    .answers::<Vec<ThreadRow>>("200", "A page of threads.")
                    .with("Link", "The next page, with rel=\"next\"; left out on the last one."),
            )
            .post(
                threads::start,
                Operation::new("startThread", "Begins a thread with its first message")
                    .header("Idempotency-Key", KEY)
                    .body::<Begin>()
                    .answers::<Started>("201", "The thread, which is at work.")
                    .with("Location", "Where it is."),
            ),
        )
        .at(
            "/api/v1/threads/{id}/messages",
            get(
                threads::messages,
                Operation::new("listMessages", "A thread's conversation, as a person reads it").of(THREAD)
                    .answers::<Messages>("200", "The conversation."),
            )
            .post(
                threads::say,
                Operation::new("sendMessage", "Says something in a thread, also in a sub-agent's that is over").of(THREAD)
                    .details(
                        "It is the next message of the conversation: taken up at once, or when the run that goes on is over. \
                         Nothing is written where it could not be worked on: the model cannot be asked (424), or does not take a file (422).",
                    )
                    .header("Idempotency-Key", KEY)
                    .body::<Said>()
                    .answers::<Started>("202", "It is in the log."),
            ),
        )
        .at(
            "/api/chat",
            post(
                chat::chat,
                Operation::new("chat", "A message in, the run's events out")
                    .details("The stream ends with the run's `done`. Closing it stops nothing.")
                    .query::<chat::InWords>()
                    .header("Idempotency-Key", KEY)
                    .body::<Chat>()
                    .streams("The run's events, in our own words; a dialect has shapes of its own."),
            ),
        )
}

/// What else needs a secret.
fn inside() -> Table {
    Table::default()
        .at(
            "/api/v1/threads/{id}",
            get(
                threads::show,
                Operation::new("showThread", "The current state of a thread").of(THREAD).answers::<ThreadRow>("200", "The thread."),
            )
            .patch(
                threads::mark,
                Operation::new("markThread", "Gives a thread a title, puts it away, or says that its answer was read").of(THREAD)
                    .body::<Marks>()
                    .answers::<ThreadRow>("200", "The thread."),
            )
            .delete(
                threads::remove,
                Operation::new("removeThread", "Forgets a root and all its descendants").of(THREAD)
                    .details("Refused (409) while a process drives one of them.")
                    .says("204", "It is gone."),
            ),
        )
        .at(
            "/api/v1/threads/{id}/agent",
            get(
                threads::agent,
                Operation::new("showTaskAgent", "What is known of a thread that was made for a task").of(THREAD)
                    .details("Not found (404) where the thread was not made for a task.")
                    .answers::<AgentMetadata>("200", "The agent, with the task that it works on."),
            ),
        )
        .at(
            "/api/v1/threads/{id}/agents",
            get(
                threads::agents,
                Operation::new("listTaskAgents", "The threads that were made for tasks under a thread, in the order of their making")
                    .of(THREAD)
                    .answers::<Vec<AgentMetadata>>("200", "The agents, each with the task that it works on."),
            ),
        )
        .at(
            "/api/v1/threads/{id}/fork",
            post(
                threads::fork,
                Operation::new("forkThread", "Copies a conversation as far as one of its answers").of(THREAD)
                    .details("What people allowed for the one does not hold for the other.")
                    .header("Idempotency-Key", KEY)
                    .body::<Fork>()
                    .answers::<Started>("201", "The copy.")
                    .with("Location", "Where it is."),
            ),
        )
        .at(
            "/api/v1/threads/{id}/export.md",
            get(
                threads::export_markdown,
                Operation::new("exportMarkdown", "A conversation with all its sub-agents, to read").of(THREAD)
                    .shows("200", "text/markdown", "The conversation.")
                    .with("Content-Disposition", "The name of a file to save it as."),
            ),
        )
        .at(
            "/api/v1/threads/{id}/export.jsonl",
            get(
                threads::export_log,
                Operation::new("exportLog", "The log of a conversation, for `majordomo thread import`").of(THREAD)
                    .details("One line of JSON an event, after a line that says what it is. Images and documents are named, and not part of it.")
                    .shows("200", "application/octet-stream", "The log.")
                    .with("Content-Disposition", "The name of a file to save it as."),
            ),
        )
        .at(
            "/api/v1/files/{id}",
            get(
                files::show,
                Operation::new("showAttachedFile", "An image or a document that came with a message").of("The file: the id under which a message names it.")
                    .details("An image is answered as what it is, as the model was shown it; everything else as bytes to be saved.")
                    .shows("200", "application/octet-stream", "The bytes."),
            ),
        )
        .at(
            "/api/v1/threads/{id}/tree",
            get(
                threads::tree,
                Operation::new("showTree", "A thread's whole family: who does what, and what it cost").of(THREAD)
                    .answers::<Vec<Node>>("200", "The root, with everybody below it."),
            ),
        )
        .at(
            "/api/v1/threads/{id}/stop",
            post(
                threads::stop,
                Operation::new("stopThread", "Stops a thread and its subtree").of(THREAD)
                    .details("Answered once it is true: requests are closed, and processes have ended.")
                    .header("Idempotency-Key", KEY)
                    .body::<Stop>()
                    .answers::<ThreadRow>("200", "The thread, which has ended."),
            ),
        )
        .at(
            "/api/v1/threads/{id}/steer",
            post(
                threads::steer,
                Operation::new("steerThread", "Tells something to a thread that is at work").of(THREAD)
                    .details("Refused (409) where nothing goes on.")
                    .header("Idempotency-Key", KEY)
                    .body::<Words>()
                    .says("202", "It is in the log."),
            ),
        )
        .at(
            "/api/v1/threads/{id}/events",
            get(
                events::of_thread,
                Operation::new("watchThread", "The events of a thread's whole family, as they happen").of(THREAD)
                    .details(
                        "Everything from the start, or from after the id that was seen last, and then what is new, for as long \
                         as the connection is open. Ids are the events' `seq`. An id that the family does not have starts over, after a \
                         `stream_reset`. A reader that is too slow is cut off, and comes back.",
                    )
                    .query::<events::OfThread>()
                    .header("Last-Event-ID", "The id of the last event that was seen.")
                    .streams("Events, in our own words; a dialect has shapes of its own."),
            ),
        )
        .at(
            "/api/v1/events",
            get(
                events::of_all,
                Operation::new("watchAllThreads", "The events of all threads, as they happen")
                    .details(
                        "From now on, or from after the id that was seen last; `after=0` for everything that ever happened. Ids are \
                         places in the whole log and have nothing to do with `seq`; the first line of an answer is one, so that nothing \
                         is lost before the first event. An id that is ahead of the log is answered with a `stream_reset`, and from \
                         now on. There is no streamed text here.",
                    )
                    .query::<events::OfAll>()
                    .header("Last-Event-ID", "The id of the last event that was seen.")
                    .streams("Events, in our own words; a dialect has shapes of its own."),
            ),
        )
        .at(
            "/api/v1/approvals",
            get(
                approvals::list,
                Operation::new("listApprovals", "What people are asked, the newest first")
                    .details("Everything that is open is among them, however much it is, unless a limit is given.")
                    .query::<approvals::Listing>()
                    .answers::<Vec<ApprovalRow>>("200", "Questions."),
            ),
        )
        .at(
            "/api/v1/approvals/{id}",
            get(
                approvals::show,
                Operation::new("showApproval", "A question and its status").of(QUESTION).answers::<ApprovalRow>("200", "The question."),
            ),
        )
        .at(
            "/api/v1/approvals/{id}/decision",
            post(
                approvals::decision,
                Operation::new("decideApproval", "A person's word on a question").of(QUESTION)
                    .details(
                        "Taken once, for exactly what was shown: a question that is decided, or that has changed since, is a conflict \
                         (409); one that is no longer asked is gone (410). An approval takes a decision with the digest of what was \
                         shown; a question of an agent takes an answer, or the decision `deny`.",
                    )
                    .header("Idempotency-Key", KEY)
                    .body::<Word>()
                    .answers::<Decided>("200", "What came of it."),
            ),
        )
        .at(
            "/api/v1/tasks",
            get(
                tasks::list,
                Operation::new("listTasks", "Tasks of a board, by rank")
                    .query::<tasks::Listing>()
                    .answers::<Vec<ShownTask>>("200", "A page of tasks.")
                    .with("Link", "The next page, with rel=\"next\"; left out on the last one."),
            )
            .post(
                tasks::add,
                Operation::new("addTask", "Makes a task")
                    .details("A task that is assigned to a new agent is handed out when the tasks that it comes after are completed.")
                    .query::<tasks::OfBoard>()
                    .header("Idempotency-Key", KEY)
                    .body::<NewTask>()
                    .answers::<ShownTask>("201", "The task.")
                    .with("Location", "Where it is."),
            ),
        )
        .at(
            "/api/v1/tasks/{id}",
            get(
                tasks::show,
                Operation::new("showTask", "A task").of(TASK).query::<tasks::OfBoard>().answers::<ShownTask>("200", "The task."),
            )
            .patch(
                tasks::change,
                Operation::new("changeTask", "Changes a task: its fields, who has it, how far it is").of(TASK)
                    .details("What a board does not allow is a conflict (409): a circle of dependencies, a task that is completed already.")
                    .query::<tasks::OfBoard>()
                    .body::<TaskChange>()
                    .answers::<ShownTask>("200", "The task."),
            )
            .delete(
                tasks::remove,
                Operation::new("removeTask", "Deletes a task that no other comes after").of(TASK)
                    .query::<tasks::OfBoard>()
                    .says("204", "It is gone."),
            ),
        )
        .at(
            "/api/v1/tasks/{id}/notes",
            get(
                tasks::notes,
                Operation::new("listNotes", "All notes on a task, the oldest first").of(TASK)
                    .query::<tasks::OfBoard>()
                    .answers::<Vec<ShownNote>>("200", "Notes."),
            )
            .post(
                tasks::note,
                Operation::new("addNote", "Adds a note to a task; those concerned are told").of(TASK)
                    .query::<tasks::OfBoard>()
                    .header("Idempotency-Key", KEY)
                    .body::<NewNote>()
                    .answers::<ShownTask>("201", "The task."),
            ),
        )
        .at(
            "/api/v1/agents",
            get(
                info::agents,
                Operation::new("listAgents", "The agents that can be asked for")
                    .answers::<Vec<AgentRole>>("200", "Agents."),
            ),
        )
        .at(
            "/api/v1/models",
            get(
                info::models,
                Operation::new("showModels", "The model of a new thread, the providers, and what is known of their models")
                    .details(
                        "Without a provider, no server is asked. With one, its own list is asked for; where it cannot be had, the models \
                         that are known without it are given, and the reason.",
                    )
                    .query::<info::OfProvider>()
                    .answers::<Models>("200", "Models."),
            ),
        )
        .at(
            "/api/v1/executions",
            get(
                info::executions,
                Operation::new("listExecutions", "Every sub-agent of a root, in the order of their spawning")
                    .query::<info::OfWorkflow>()
                    .answers::<Vec<Execution>>("200", "Executions."),
            ),
        )
        .at(
            "/api/v1/usage",
            get(
                info::usage,
                Operation::new("showUsage", "What was used, by thread and model")
                    .query::<info::OfRoot>()
                    .answers::<Vec<UsageRow>>("200", "Usage."),
            ),
        )
        .at(
            "/api/v1/config",
            get(
                info::config,
                Operation::new("showConfig", "Every value of the configuration, and where it comes from")
                    .details("Keys of providers are not among them.")
                    .answers::<Vec<Setting>>("200", "Settings."),
            ),
        )
        .at(
            "/api/v1/healthz",
            get(
                info::health,
                Operation::new("showHealth", "That the server is up, and that the secret is right")
                    .answers::<Health>("200", "The server is up."),
            ),
        )
        .at(
            "/api/v1/openapi.json",
            get(
                document,
                Operation::new("showDocument", "This document")
                    .by_cookie()
                    .answers::<serde_json::Map<String, serde_json::Value>>("200", "OpenAPI 3.1."),
            ),
        )
        .at(
            "/api/stream/{id}",
            get(
                chat::streamed,
                Operation::new("stream", "The same for those who can only get").of("Any name; that of a thread where only its last number is known.")
                    .details(
                        "Starts work for a bearer, or for a request that proves to come from our own page and to be no visit; never \
                         for a HEAD. Its \
                         events speak Orion's dialect where none is named, and their ids name the thread too. A client that comes back \
                         with the last id goes on where it broke off, and gets 204 once `done` was seen.",
                    )
                    .by_cookie()
                    .query::<chat::Streamed>()
                    .header("Last-Event-ID", "The id of the last event that was seen; nothing is begun then.")
                    .streams("The run's events, in our own words; a dialect has shapes of its own.")
                    .says("204", "There is nothing more to come."),
            ),
        )
        .at(
            "/",
            get(
                page::index,
                Operation::new("showPage", "The page for people")
                    .by_cookie()
                    .shows("200", "text/html", "The page.")
                    .shows("401", "text/html", "Not signed in: a page that says what to do."),
            ),
        )
        .at(
            "/chat",
            get(page::index, Operation::new("showChat", "The page, at its conversation").by_cookie().shows("200", "text/html", "The page.")),
        )
        .at(
            "/t/{id}",
            get(page::index, Operation::new("showThreadPage", "The page, at a thread").of(THREAD).by_cookie().shows("200", "text/html", "The page.")),
        )
        .at(
            "/page/{*path}",
            get(
                page::asset,
                Operation::new("showFile", "A file of the page").of("The file's name.").by_cookie().shows("200", "application/octet-stream", "The file."),
            ),
        )
}

/// What is there for everybody who comes from here.
fn outside() -> Table {
    Table::default()
        .at(
            "/healthz",
            get(
                info::health,
                Operation::new("showLife", "That the server is up, and nothing else")
                    .open()
                    .answers::<Health>("200", "The server is up."),
            ),
        )
        .at(
            "/enter",
            get(
                enter::by_link,
                Operation::new("enterByLink", "Lets a browser in by the link that was printed, once")
                    .open()
                    .query::<enter::Code>()
                    .shows("200", "text/html", "A page that leads to the web UI.")
                    .with("Set-Cookie", "The cookie of the browser.")
                    .says("303", "The browser has signed in before.")
                    .with("Location", "The page.")
                    .shows("401", "text/html", "The code is wrong or was used: a page that says what to do."),
            )
            .post(
                enter::by_password,
                Operation::new("enterByPassword", "Lets a browser in by the password, sent as a form")
                    .open()
                    .form::<enter::Password>()
                    .shows("200", "text/html", "A page that leads to the web UI.")
                    .with("Set-Cookie", "The cookie of the browser.")
                    .shows("401", "text/html", "The password is wrong, or there is none: a page that says what to do.")
                    .shows("429", "text/html", "Too many passwords are being tried: a page that says so."),
            ),
        )
}

/// `GET openapi.json`.
async fn document() -> impl IntoResponse {
    static DOCUMENT: LazyLock<String> =
        LazyLock::new(|| Table::document(&[messages(), inside(), outside()]).to_string());
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str())
}

/// Refuses requests that another site made, and tells browsers what may be done with the answer.
async fn from_here(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let is_page = !request.uri().path().starts_with("/api/");
    let mut response = match shared.access.come_from_here(&request) {
        Ok(()) => next.run(request).await,
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

/// Goes on once a request's body has arrived whole.
async fn arrived(request: Request, most: usize, within: Duration, next: Next) -> Response {
    let too_large = || {
        let detail = format!("the body is too large: {} kB is the most", most / 1024);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail).into_response()
    };
    let (head, body) = request.into_parts();
    let length =
        head.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > most) {
        return too_large();
    }
    match tokio::time::timeout(within, to_bytes(body, most)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(head, Body::from(bytes))).await,
        Ok(Err(_)) => too_large(),
        Err(_) => Problem::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time").into_response(),
    }
}

/// Refuses requests without a secret. A request for the page is answered with how to sign in.
async fn let_in(State(shared): State<Shared>, mut request: Request, next: Next) -> Response {
    match shared.access.authenticate(&request) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(_) if request.uri().path() == "/" => enter::door(&shared, StatusCode::UNAUTHORIZED),
        Err(problem) => problem.into_response(),
    }
}
