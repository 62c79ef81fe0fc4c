//! Boards of tasks, for interfaces and agents: which board a folder has, who can be given a task, how tasks are written and shown.
//!
//! What a command means is decided by the rules of a board (`crates/board`) and kept by the store. `chores.rs` carries out what follows:
//! it hands tasks to agents and tells agents what concerns them. `tools.rs` are the verbs that agents have.

pub mod chores;
mod of_family;
pub mod tools;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use agent::{InputId, ThreadId, Time};
use async_recursion::async_recursion as boxed;
use board::import::{self, Draft, Line};
use board::{Actor, Assignee, BoardId, Command, NewTask, Refusal, Reply, Request, Status, Task, TaskId, Who};
use schemars::JsonSchema;
use serde::Serialize;
use store::{Machine, Store, TaskQuery};

use crate::agents::{Agents, Known};
use crate::config::{Config, Surroundings};

pub use board;
pub use of_family::{Concern, TasksOfFamily};

/// The agent that a new thread plays where none is named.
pub const GENERAL: &str = "general";

/// Why a command on a board was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The board does not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store failed, or a thread that was named is not there.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Whether a text is the name of a task: `t12`, or `BOARD/t12`.
pub fn is_task_id(text: &str) -> bool {
    TaskId::parse(text).is_some() || text.rsplit_once('/').is_some_and(|(_, task)| TaskId::parse(task).is_some())
}

/// The board and the task that a text names; `here` is the board where none is named.
pub fn task_named(text: &str, here: &BoardId) -> Result<(BoardId, TaskId), Refusal> {
    let (board, task) = match text.rsplit_once('/') {
        Some((board, task)) => (BoardId::new(board), task),
        None => (here.clone(), text),
    };
    let unknown =
        || Refusal::usage(format!("'{text}' is no task: tasks are named t1, t2 … (`majordomo task ls` lists them)"));
    Ok((board, TaskId::parse(task).ok_or_else(unknown)?))
}

/// The board of a folder: that of the project which the folder belongs to, as `majordomo trust` means it.
pub fn board_of(surroundings: &Surroundings, machine: Option<&Machine>) -> BoardId {
    let project = surroundings.project();
    let project = project.canonicalize().unwrap_or(project);
    board_at(&project, machine)
}

/// The board of a project. Where several machines share the store and not their folders, its name begins with that of this machine: the same
/// path is another folder elsewhere.
pub(crate) fn board_at(project: &Path, machine: Option<&Machine>) -> BoardId {
    let path = project.display();
    match machine.and_then(Machine::of_folders) {
        Some(machine) => BoardId::new(format!("{machine}:{path}")),
        None => BoardId::new(path.to_string()),
    }
}

/// The path of a board's folder, on the machine that it belongs to.
pub(crate) fn path_of(folder: &str) -> &Path {
    match folder.split_once(':') {
        Some((_, path)) if !folder.starts_with('/') => Path::new(path),
        _ => Path::new(folder),
    }
}

/// The board that an agent in this folder works with.
pub(crate) fn board_of_folder(folder: &Path, surroundings: &Surroundings, machine: Option<&Machine>) -> BoardId {
    board_of(&Surroundings { cwd: folder.to_owned(), ..surroundings.clone() }, machine)
}

/// A board that a person named. It has no `/`, which the boards of folders have.
pub fn board_named(name: &str) -> Result<BoardId, Refusal> {
    let is_name =
        !name.is_empty() && name.len() <= 64 && !name.chars().any(|c| c == '/' || c.is_whitespace() || c.is_control());
    if is_name {
        Ok(BoardId::new(name))
    } else {
        Err(Refusal::usage(format!("'{name}' is no name for a board: use letters, digits, - and _")))
    }
}

/// Who can be given a task besides threads.
#[derive(Clone, Debug, Default)]
pub struct Staffing {
    agents: BTreeSet<Arc<str>>,
    providers: BTreeSet<Arc<str>>,
}

impl Staffing {
    /// The agents and providers of a configuration, without opening anything.
    pub fn of(surroundings: &Surroundings, config: &Config) -> Self {
        let infos = tool::Registry::standard(tool::CommandHost::default()).infos();
        let names =
            infos.keys().map(AsRef::as_ref).chain(agent::policy::VERBS).chain(household::TOOLS).chain(tools::NAMES);
        let found = Agents::load(surroundings, &config.project, &Known::new(names, config)).found;
        Self::new(
            found.into_iter().map(|found| found.agent.name),
            config.providers.iter().map(|provider| provider.name.as_str()),
        )
    }

    pub(crate) fn new<'a>(agents: impl Iterator<Item = Arc<str>>, providers: impl Iterator<Item = &'a str>) -> Self {
        // The rules engine and scripts are there without being configured.
        let providers = providers.map(Arc::from).chain(["builtin", "scripted"].map(Arc::from)).collect();
        Self { agents: agents.collect(), providers }
    }

    fn agent(&self, name: &str) -> Option<&Arc<str>> {
        let plain = |name: &str| name.to_lowercase().replace(['-', ' '], "_");
        self.agents.get(name).or_else(|| self.agents.iter().find(|agent| plain(agent) == plain(name)))
    }

    fn list(&self) -> String {
        self.agents.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ")
    }

    /// Who is meant by what a person or a model wrote.
    #[boxed]
    pub async fn assignee(&self, store: &dyn Store, text: &str) -> Result<Assignee, Error> {
        match Who::parse(text)? {
            Who::Human => Ok(Assignee::Human),
            Who::Name(name) => match self.agent(&name) {
                Some(agent) => Ok(Assignee::Agent(agent.clone())),
                None => match store.resolve(&name).await {
                    Ok(thread) => Ok(Assignee::Thread(thread)),
                    Err(store::Error::UnknownThread(_)) => Err(Refusal::unknown_assignee(&name, &self.list()).into()),
                    Err(error) => Err(error.into()),
                },
            },
            Who::New(mut new) => {
                let assignee = Assignee::New(new.clone());
                if let Some(agent) = &new.agent {
                    let known = self.agent(agent).cloned();
                    let why = || format!("there is no agent '{agent}'; there are: {}", self.list());
                    new.agent = Some(known.ok_or_else(|| Refusal::unknown_agent(&assignee, &why()))?);
                }
                let provider =
                    new.model.as_deref().and_then(|model| model.split_once('/')).map(|(provider, _)| provider);
                if let Some(provider) = provider.filter(|provider| !self.providers.contains(*provider)) {
                    let known = self.providers.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
                    let why = format!("there is no provider '{provider}'; there are: {known}");
                    return Err(Refusal::unknown_agent(&assignee, &why).into());
                }
                Ok(Assignee::New(new))
            }
        }
    }
}

/// A board of a store, to be asked things. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TaskBoard {
    store: Arc<dyn Store>,
    id: BoardId,
    folder: Arc<str>,
}

impl TaskBoard {
    /// A board; `folder` is where its agents work, if it does not exist yet.
    pub fn new(store: Arc<dyn Store>, id: BoardId, folder: impl Into<Arc<str>>) -> Self {
        Self { store, id, folder: folder.into() }
    }

    /// The board's name.
    pub fn id(&self) -> &BoardId {
        &self.id
    }

    /// The store that keeps it.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Carries out a command. Sent again under the same name, it is not carried out again.
    #[boxed]
    pub async fn ask(&self, by: Actor, name: Option<InputId>, command: Command, at: Time) -> Result<Reply, Error> {
        self.request(Request::new(by, name, self.folder.clone(), command), at, false).await
    }

    /// The same for a request that names what limits it. With `leased`, what follows from it is the caller's to carry out for a while.
    pub(crate) async fn request(&self, request: Request, at: Time, leased: bool) -> Result<Reply, Error> {
        Ok(store::carry_out(&*self.store, &self.id, request, at, leased).await??)
    }

    /// What a request would lead to, without doing it: an error where the board refuses it.
    #[boxed]
    pub(crate) async fn foresee(&self, request: &Request, at: Time) -> Result<Foreseen, Error> {
        let facts = self.store.board_facts(&self.id, request.clone()).await?;
        if let Some(earlier) = &facts.earlier {
            let failed = earlier.iter().find_map(|event| match event {
                board::Event::ChecksFailed { what, .. } => Some(what.clone()),
                _ => None,
            });
            return Ok(Foreseen::WasDone { failed });
        }
        let step = board::handle(request, facts, at)?;
        Ok(if step.events.is_empty() { Foreseen::IsSo } else { Foreseen::Change })
    }

    /// Where its agents work, if it does not exist yet.
    pub(crate) fn folder(&self) -> &Arc<str> {
        &self.folder
    }

    /// The task of that name, or a sentence that says that there is none.
    #[boxed]
    pub async fn task(&self, task: &TaskId) -> Result<Task, Error> {
        let found = self.store.task(&self.id, task).await?;
        found.ok_or_else(|| {
            Refusal::usage(format!("there is no task {task} on this board; `majordomo task ls` lists them")).into()
        })
    }

    /// All tasks of a status, or all but archived ones, page by page.
    pub async fn each(&self, status: Option<Status>, mut see: impl FnMut(Task) -> bool) -> Result<(), Error> {
        const PAGE: usize = 500;
        let mut query = TaskQuery { status, limit: PAGE, ..TaskQuery::of(&self.id) };
        loop {
            let page = self.store.tasks(query.clone()).await?;
            let is_last = page.len() < PAGE;
            query.after = page.last().map(|task| task.id.clone());
            for task in page {
                if !see(task) {
                    return Ok(());
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// The tasks that drafts stand for, with their assignees looked up. `foreign` says whether their words may be untrusted text.
    #[boxed]
    pub async fn drafted(&self, staffing: &Staffing, lines: &[Line], foreign: bool) -> Result<Vec<NewTask>, Error> {
        let mut tasks = import::tasks(lines)?;
        for (task, line) in tasks.iter_mut().zip(lines) {
            task.foreign = foreign;
            let named = |refusal| Error::Refused(import::at(line.number, refusal));
            if let Some(due) = &line.draft.due {
                task.due = self::due(due).map_err(named)?;
            }
            if let Some(schema) = &task.checks.schema {
                runtime::check_schema(schema).map_err(|error| named(Refusal::usage(error.to_string())))?;
            }
            if let Some(who) = &line.draft.assign {
                let assignee = staffing.assignee(&*self.store, who).await;
                task.assignee = Some(match assignee {
                    Err(Error::Refused(refusal)) => return Err(named(refusal)),
                    other => other?,
                });
            }
        }
        Ok(tasks)
    }
}

/// What a request would lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Foreseen {
    /// Something would be different.
    Change,
    /// Nothing: it is so already.
    IsSo,
    /// Nothing: the command of that name was carried out before.
    WasDone {
        /// What had failed then, where checks had.
        failed: Option<Arc<str>>,
    },
}

/// One draft that stands in no file.
pub fn line(draft: Draft) -> Line {
    Line { number: 0, draft }
}

/// When a task should be done, as people and models write it: a day (its end, here), a moment with its zone, or `none`.
pub fn due(text: &str) -> Result<Option<Time>, Refusal> {
    let wrong = || {
        Refusal::usage(format!(
            "due: '{text}' is no day such as 2026-01-31, no moment such as 2026-01-31T17:00:00Z, and not none"
        ))
    };
    if text == "none" {
        return Ok(None);
    }
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Ok(Some(Time(moment.as_millisecond())));
    }
    let day: jiff::civil::Date = text.parse().map_err(|_| wrong())?;
    let end = day.at(23, 59, 59, 0).to_zoned(crate::zone::local()).map_err(|_| wrong())?;
    Ok(Some(Time(end.timestamp().as_millisecond())))
}

/// A task as lists and programs are given it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Task")]
pub struct ShownTask {
    /// Its name in the board, such as `t12`.
    pub id: String,
    /// The board: the path of its folder, or its name.
    pub board: String,
    /// One line.
    pub title: Arc<str>,
    /// What is to be done.
    pub prompt: Arc<str>,
    /// Whether it goes before others.
    #[schemars(with = "schema::TaskPriority")]
    pub priority: &'static str,
    /// How far it is.
    #[schemars(with = "schema::TaskStatus")]
    pub status: &'static str,
    /// Who made it: `human`, `system` or a thread.
    pub created_by: String,
    /// Who has it: the thread once there is one, else as it was asked for; null where no one has.
    pub assignee: Option<String>,
    /// The thread that works on it; null while there is none.
    pub thread: Option<String>,
    /// The tasks that it comes after.
    pub after: Vec<String>,
    /// How many of those are not completed.
    pub open: u32,
    /// Its place among others; less is earlier.
    pub rank: i64,
    /// When it should be done, in milliseconds since 1970; null where nothing was said.
    pub due: Option<i64>,
    /// Words by which tasks are chosen.
    pub labels: Vec<Arc<str>>,
    /// Commands that must succeed before it counts as completed.
    pub checks: Vec<Arc<str>>,
    /// JSON Schema that its result must match before it counts as completed; null where there is none.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub schema: Option<agent::Json>,
    /// The most tool calls of its agent; null where only the configuration says.
    pub max_tool_calls: Option<u32>,
    /// The most tokens of its agent; null where only the configuration says.
    pub max_tokens: Option<u64>,
    /// The most that its agent may cost, in dollars; null where only the configuration says.
    #[schemars(with = "Option<f64>")]
    pub max_cost: Option<serde_json::Number>,
    /// The most time of its agent, in seconds; null where only the configuration says.
    pub timeout_s: Option<u64>,
    /// Why it is blocked or waits; null where it does not.
    pub reason: Option<String>,
    /// What its agent handed in; null where it has not.
    pub result: Option<Arc<str>>,
    /// Who completed it; null where no one has.
    pub completed_by: Option<String>,
    /// How many notes there are.
    pub note_count: u32,
    /// The newest notes, the oldest first.
    pub notes: Vec<ShownNote>,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// When it last changed, in milliseconds since 1970.
    pub updated_at: i64,
}

/// A note as programs are given it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Note")]
pub struct ShownNote {
    /// Who made it.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The words.
    pub content: Arc<str>,
}

impl ShownTask {
    /// A task of a board.
    pub fn of(board: &BoardId, task: &Task) -> Self {
        Self {
            id: task.id.to_string(),
            board: board.to_string(),
            title: task.title.clone(),
            prompt: task.prompt.clone(),
            priority: task.priority.as_str(),
            status: task.status.as_str(),
            created_by: task.created_by.to_string(),
            assignee: task.assigned_to(),
            thread: task.thread.as_ref().map(ThreadId::to_string),
            after: task.after.iter().map(TaskId::to_string).collect(),
            open: task.open,
            rank: task.rank,
            due: task.due.map(|due| due.0),
            labels: task.labels.clone(),
            checks: task.checks.commands.clone(),
            schema: task.checks.schema.clone(),
            max_tool_calls: task.budget.max_tool_calls,
            max_tokens: task.budget.max_tokens,
            max_cost: task.budget.max_cost_microusd.and_then(dollars),
            timeout_s: task.budget.timeout_ms.map(|milliseconds| milliseconds.div_ceil(1000)),
            reason: task.waits_for(),
            result: task.result.clone(),
            completed_by: task.completed_by.as_ref().map(Actor::to_string),
            note_count: task.note_count,
            notes: task.recent_notes.iter().map(ShownNote::of).collect(),
            created_at: task.created_at.0,
            updated_at: task.updated_at.0,
        }
    }
}

fn dollars(microusd: u64) -> Option<serde_json::Number> {
    serde_json::Number::from_f64(microusd as f64 / 1e6)
}

impl ShownNote {
    /// A note.
    pub fn of(note: &board::Note) -> Self {
        Self { by: note.by.to_string(), at: note.at.0, content: note.content.clone() }
    }
}

/// An event of a board as a line of JSON for programs: `task_created`, `task_updated`, `task_completed` or `notification`; none for what is
/// only of interest inside. `board_seq` counts the events of the board; `seq` is left to threads, whose frames it counts.
pub fn frame(board: &BoardId, record: &store::BoardRecord) -> Option<serde_json::Value> {
    use board::{DeliveryKind, Event};
    use serde_json::json;
    let event = &record.entry.event;
    let (kind, more) = match event {
        Event::TaskAdded(task) => ("task_created", json!({ "task": ShownTask::of(board, task) })),
        Event::TaskEdited { edit, .. } => ("task_updated", json!({ "changes": edit })),
        Event::TaskAssigned { assignee, .. } => {
            ("task_updated", json!({ "assignee": assignee.as_ref().map(ToString::to_string), "status": "pending" }))
        }
        Event::NoteAdded { note, .. } => ("task_updated", json!({ "note": ShownNote::of(note) })),
        Event::TaskBegun { thread, .. } => {
            ("task_updated", json!({ "status": "in_progress", "assignee": thread.as_str(), "thread": thread.as_str() }))
        }
        Event::StartFailed { reason, .. } => ("task_updated", json!({ "status": "pending", "reason": reason })),
        Event::TaskInProgress { .. } => ("task_updated", json!({ "status": "in_progress" })),
        Event::ChecksFailed { what, .. } => ("task_updated", json!({ "failed_checks": what })),
        Event::TaskCompleted { by, result, .. } => {
            ("task_completed", json!({ "status": "completed", "completed_by": by, "result": result }))
        }
        Event::TaskBlocked { reason, result, .. } => {
            ("task_updated", json!({ "status": "blocked", "reason": reason, "result": result }))
        }
        Event::TaskReopened { .. } => ("task_updated", json!({ "status": "pending" })),
        Event::TaskArchived { .. } => ("task_updated", json!({ "status": "archived" })),
        Event::TaskRemoved { .. } => ("task_updated", json!({ "removed": true })),
        Event::Told { delivery, .. } => match &delivery.kind {
            DeliveryKind::Tell { to, notice } => {
                ("notification", json!({ "to": to.as_str(), "about": notice.as_str() }))
            }
            DeliveryKind::Start { .. } | DeliveryKind::Assign { .. } => return None,
        },
        Event::BoardOpened { .. }
        | Event::TaskAttended { .. }
        | Event::TaskMarkedForeign { .. }
        | Event::DependencyClosed { .. }
        | Event::DependencyOpened { .. }
        | Event::TaskHandedOut { .. }
        | Event::TaskNamed { .. }
        | Event::DeliveryDone { .. } => return None,
    };
    let mut frame = json!({
        "type": kind,
        "board_seq": record.n,
        "timestamp": view::clock::timestamp(record.at),
        "board": board.as_str(),
        "task_id": event.task().map(TaskId::as_str),
        "by": record.entry.by,
    });
    if let (Some(frame), serde_json::Value::Object(more)) = (frame.as_object_mut(), more) {
        frame.extend(more);
    }
    Some(frame)
}
