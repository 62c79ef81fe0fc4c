//! The verbs by which agents deal with tasks: `task_add`, `task_update`, `task_list`. One verb a concept, small schemas, and errors that
//! name the right verb.
//!
//! They are tools like any other. All agents have them under `tasks.enabled`; an agent that was started for a task always has
//! `task_update`. Each call is one command of its board under the call's own name, so that a call which is made again after a crash does
//! nothing twice.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use agent::tools::{Reach, Risk, ToolInfo, ToolResult};
use agent::{Event, InputId, Json, Mode};
use board::import::{Draft, Line};
use board::words::Passing;
use board::{Actor, Assignee, BoardId, Change, Command, Edit, Refusal, Reply, Request, Status, Task, TaskId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use runtime::Clock;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use store::{Selection, Store, TaskQuery, replay_until};
use tool::{PriorConsent, Registry, Tool, ToolContext};

use super::{Error, Foreseen, Staffing, TaskBoard, board_of_folder};
use crate::config::Surroundings;

/// The names of the verbs.
pub const NAMES: [&str; 3] = ["task_add", "task_update", "task_list"];

/// The verb that an agent has which was started for a task.
pub const UPDATE: &str = NAMES[1];

/// Tasks that are added at once at most.
const ADDED: usize = 100;

/// Tasks that are listed at most.
const LISTED: usize = 100;

/// What the verbs work with.
pub(crate) struct TaskTools {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) surroundings: Surroundings,
    /// Known once all agents are.
    pub(crate) staffing: OnceLock<Staffing>,
    /// How often the checks of a task may fail before it is blocked.
    pub(crate) check_attempts: u32,
    /// How often agents may wake each other over a task before a person has to act on it.
    pub(crate) max_wakes: u32,
    /// How many tasks may have led to each other before no agent is started by a further one.
    pub(crate) max_depth: u32,
}

/// The tools of a staff, with the verbs for tasks.
pub(crate) fn register(registry: Registry, tools: &Arc<TaskTools>) -> Registry {
    registry
        .with(Verb { info: info(NAMES[0], ADD, ADD_SCHEMA, Reach::Own), tools: tools.clone(), act: Act::Add })
        .with(Verb { info: info(NAMES[1], CHANGE, UPDATE_SCHEMA, Reach::Own), tools: tools.clone(), act: Act::Update })
        .with(Verb { info: info(NAMES[2], LIST, LIST_SCHEMA, Reach::ReadOnly), tools: tools.clone(), act: Act::List })
}

const ADD: &str = "Add tasks to the board. A task assigned to new:provider/model or new:AGENT gets an agent of its own, which starts when \
                   the tasks it comes after are done; you are told when it is completed.";
const ADD_SCHEMA: &str = r#"{"type":"object","properties":{"tasks":{"type":"array","items":{"type":"object","properties":{"title":{"type":"string"},"prompt":{"type":"string","description":"all that its agent needs to know"},"assign":{"type":"string","description":"new:provider/model, new:AGENT, an agent, a thread or human"},"priority":{"enum":["high","medium","low"]},"after":{"type":"array","items":{"type":"string"},"description":"task ids, or #0 for the first of this list"},"checks":{"type":"array","items":{"type":"string"},"description":"commands that must succeed before it is completed"},"due":{"type":"string","description":"2026-01-31 or 2026-01-31T17:00:00Z"}},"required":["title"],"additionalProperties":false}}},"required":["tasks"],"additionalProperties":false}"#;
const CHANGE: &str =
    "Change a task: say that it is completed or blocked, add a note, assign it. Without id it is your own task.";
const UPDATE_SCHEMA: &str = r#"{"type":"object","properties":{"id":{"type":"string"},"status":{"enum":["pending","in_progress","completed","blocked","archived"]},"note":{"type":"string","description":"what was done, or why it is blocked"},"assign":{"type":"string"},"result":{"type":"string","description":"what the task asked for, if it asked for a result"},"due":{"type":"string"}},"additionalProperties":false}"#;
const LIST: &str = "List the tasks of the board, or show one.";
const LIST_SCHEMA: &str = r#"{"type":"object","properties":{"status":{"enum":["pending","in_progress","blocked","completed","archived"]},"id":{"type":"string"}},"additionalProperties":false}"#;

fn info(name: &str, description: &str, schema: &str, reach: Reach) -> ToolInfo {
    let (schema, description) = (Json::parse(schema).expect("a schema is JSON"), description.into());
    ToolInfo { name: name.into(), description, schema, reach, idempotent: true, risk: Risk::Low }
}

#[derive(Clone, Copy)]
enum Act {
    Add,
    Update,
    List,
}

struct Verb {
    info: ToolInfo,
    tools: Arc<TaskTools>,
    act: Act,
}

impl Tool for Verb {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assesses_at_once(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        async move {
            let done = match self.act {
                Act::Add => self.tools.add(input, context).await,
                Act::Update => self.tools.update(input, context).await,
                Act::List => self.tools.list(input, context).await,
            };
            done.unwrap_or_else(|error| ToolResult::error(error.to_string()))
        }
        .boxed()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    tasks: Vec<Draft>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Update {
    id: Option<String>,
    status: Option<String>,
    note: Option<Arc<str>>,
    assign: Option<String>,
    result: Option<Arc<str>>,
    due: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct List {
    id: Option<String>,
    status: Option<String>,
}

impl TaskTools {
    async fn add(&self, input: &Json, context: &ToolContext) -> Result<ToolResult, Error> {
        // One task may stand alone.
        let fields = input.value();
        let drafts = if fields.get("tasks").is_none() && fields.get("title").is_some() {
            vec![read::<Draft>(input, "a task takes title, prompt, assign, priority, after, checks and due")?]
        } else {
            read::<Add>(input, "task_add takes tasks: [{title, prompt, assign, priority, after, checks, due}]")?.tasks
        };
        if drafts.len() > ADDED {
            return Err(Refusal::usage(format!("task_add takes at most {ADDED} tasks at once")).into());
        }
        self.check_depth(context).await?;
        let board = self.board(context).await?;
        let lines: Vec<Line> = drafts.into_iter().map(super::line).collect();
        let mut tasks = board.drafted(self.staffing()?, &lines, context.foreign).await?;
        for task in &tasks {
            self.check_assignee(task.assignee.as_ref(), &board, context).await?;
        }
        let (mode, wakes) = (self.mode(context).await?, self.rounds(context).await?);
        tasks.iter_mut().for_each(|task| (task.mode, task.wakes) = (mode, wakes));
        let command = Command::Add { tasks };
        let ids = match self.ask(&board, context, "add", command).await? {
            Reply::Added(ids) => ids,
            _ => Vec::new(),
        };
        let mut said = Vec::new();
        for id in &ids {
            said.push(shown(&board.task(id).await?));
        }
        Ok(ToolResult::ok(format!("added:\n{}", said.join("\n"))))
    }

    async fn update(&self, input: &Json, context: &ToolContext) -> Result<ToolResult, Error> {
        let update: Update = read(
            input,
            "task_update takes id, status, note, assign, due and result. To add a task call task_add, to see tasks call task_list",
        )?;
        let (board, task) = self.task(context, update.id.as_deref()).await?;
        let is_empty = update.status.is_none() && update.note.is_none();
        if is_empty && update.assign.is_none() && update.due.is_none() {
            return Err(Refusal::usage("task_update needs a status, a note, assign or due").into());
        }
        let is_used_up = task.wakes >= self.max_wakes;
        let edit = Edit { due: update.due.as_deref().map(super::due).transpose()?, ..Edit::default() };
        let assign = match &update.assign {
            None => None,
            Some(who) => {
                self.check_depth(context).await?;
                let assignee = self.staffing()?.assignee(&*self.store, who).await?;
                self.check_assignee(Some(&assignee), &board, context).await?;
                Some(assignee)
            }
        };
        let change = update.status.as_deref().map(|status| change(status, &update)).transpose()?;
        let mut wanted = board::Update { edit, assign, change, note: update.note.clone() };
        let failed = match &wanted.change {
            Some(Change::Completed { result }) if !task.checks.is_empty() => {
                // A call that the board refuses, or that changes nothing, runs no command.
                let request = self.request(&board, context, "set", updated(&task, &wanted)).await?;
                match board.foresee(&request, now()).await? {
                    Foreseen::Change => self.failed(&board, &task, result.as_deref(), context).await?,
                    Foreseen::IsSo => None,
                    Foreseen::WasDone { failed } => failed.map(|what| (what, self.check_attempts)),
                }
            }
            _ => None,
        };
        if let Some((what, most)) = &failed {
            wanted.change = Some(Change::ChecksFailed { what: what.clone(), most: *most });
        }
        // One command: where a part of it is refused, nothing of it is done.
        self.ask(&board, context, "set", updated(&task, &wanted)).await?;
        let task = board.task(&task.id).await?;
        Ok(match failed {
            None if update.note.is_some() && is_used_up => ToolResult::ok(format!(
                "{}\nIt is kept, and no agent is told of it: agents have woken each other {} times over {} since a person last acted on it. \
                 Say in your answer what is left.",
                shown(&task),
                task.wakes,
                task.id
            )),
            None => ToolResult::ok(shown(&task)),
            Some((what, _)) if task.status == Status::Blocked => {
                ToolResult::error(format!("{} is not completed and is blocked now: {what}", task.id))
            }
            Some((what, _)) => {
                let left = self.check_attempts.saturating_sub(task.failed_checks);
                ToolResult {
                    executed: true,
                    ..ToolResult::error(format!(
                        "{} is not completed: {what}\nMake it right and call task_update again ({left} more times before it is blocked)",
                        task.id
                    ))
                }
            }
        })
    }

    /// Which of the things that must hold for a completed task do not, and after how many such failures it is blocked. Its commands run in
    /// the task's folder and nowhere else: in another one they would say nothing about the task, and a file of the same name is not the one
    /// that their author meant.
    async fn failed(
        &self,
        board: &TaskBoard,
        task: &Task,
        result: Option<&str>,
        context: &ToolContext,
    ) -> Result<Option<(Arc<str>, u32)>, Error> {
        if let Some(what) = task.checks.schema.as_ref().and_then(|schema| runtime::result_misfit(schema, result)) {
            return Ok(Some((what.into(), self.check_attempts)));
        }
        let folder = self.store.board(board.id()).await?.map(|board| board.folder).unwrap_or_default();
        let here = context.workspace.root();
        if !task.checks.commands.is_empty() && canonical(Path::new(&*folder)) != canonical(here) {
            let (id, here) = (&task.id, here.display());
            return Err(Refusal::state(format!(
                "the checks of {id} run in {folder}, and you work in {here}: say in a note what was done, and leave it to an agent of that \
                 folder or to a person to complete {id}"
            ))
            .into());
        }
        // What a person wrote needs no further consent; what a person took in from a file does.
        let is_written = task.created_by == Actor::Human && !task.imported;
        let consent = if is_written { PriorConsent::Written } else { PriorConsent::None };
        let ran = runtime::run_checks(&task.checks.commands, context.nested.as_deref(), |_| consent.clone()).await;
        Ok(match (ran.is_error, ran.executed) {
            (false, _) => None,
            (true, true) => Some((ran.content, self.check_attempts)),
            // No work of the agent's would change that.
            (true, false) => Some((ran.content, 1)),
        })
    }

    async fn list(&self, input: &Json, context: &ToolContext) -> Result<ToolResult, Error> {
        let list: List = read(input, "task_list takes status or id. To change a task call task_update")?;
        if let Some(id) = &list.id {
            let (board, task) = self.task(context, Some(id)).await?;
            let notes = self.store.notes(board.id(), &task.id).await?;
            let reader = self.mode(context).await?.unwrap_or(Mode::Dangerous);
            let is_untrusted =
                task.foreign || notes.iter().any(|note| Passing::of_note(&task, note, reader) != Passing::Whole);
            let notes: Vec<String> = notes.iter().map(|note| format!("- {}: {}", note.by, note.content)).collect();
            let result = task.result.as_ref().map(|result| format!("\nresult: {result}")).unwrap_or_default();
            let words = format!("{}\n{}{result}\n{}", shown(&task), task.prompt, notes.join("\n"));
            return Ok(listed(words.trim_end(), is_untrusted));
        }
        let status = list.status.as_deref().map(|word| {
            Status::parse(word).ok_or_else(|| {
                Refusal::usage(format!(
                    "'{word}' is no status: it is pending, in_progress, blocked, completed or archived"
                ))
            })
        });
        let board = self.board(context).await?;
        let query = TaskQuery { status: status.transpose()?, limit: LISTED + 1, ..TaskQuery::of(board.id()) };
        let tasks = self.store.tasks(query).await?;
        if tasks.is_empty() {
            return Ok(ToolResult::ok("there are no tasks"));
        }
        let mut lines: Vec<String> = tasks.iter().take(LISTED).map(shown).collect();
        if tasks.len() > LISTED {
            lines.push(format!("… and more; ask for one status to see others than the first {LISTED}"));
        }
        Ok(listed(&lines.join("\n"), tasks.iter().take(LISTED).any(|task| task.foreign)))
    }

    /// Asks a board for what a call wants. What the calling thread may do, and what it has read, goes with it.
    async fn ask(
        &self,
        board: &TaskBoard,
        context: &ToolContext,
        what: &str,
        command: Command,
    ) -> Result<Reply, Error> {
        board.request(self.request(board, context, what, command).await?, now(), false).await
    }

    async fn request(
        &self,
        board: &TaskBoard,
        context: &ToolContext,
        what: &str,
        command: Command,
    ) -> Result<Request, Error> {
        let (by, name) = (Actor::Thread(context.thread.clone()), name(context, what));
        let request = Request::new(by, Some(name), board.folder().clone(), command);
        let (mode, most_wakes) = (self.mode(context).await?, self.max_wakes);
        Ok(Request { foreign: context.foreign, mode, most_wakes, ..request })
    }

    fn staffing(&self) -> Result<&Staffing, Error> {
        self.staffing.get().ok_or_else(|| Refusal::state("the agents are not known yet: try again").into())
    }

    /// Refuses to let tasks lead to tasks without end: an agent of a task pays from a grant of its own, so that nothing else would stop
    /// agents that add tasks for agents that add tasks.
    async fn check_depth(&self, context: &ToolContext) -> Result<(), Error> {
        let (mut depth, mut at) = (0, Some(context.thread.clone()));
        while let Some(thread) = at {
            let created_for = self.store.thread(&thread).await?.and_then(|row| row.created_for);
            let task = match created_for.and_then(|named| super::task_named(&named, &BoardId::new("")).ok()) {
                Some((board, task)) => self.store.task(&board, &task).await?,
                None => None,
            };
            depth += u32::from(task.is_some());
            at = match task {
                Some(task) => task.created_by.thread().cloned(),
                None => thread.parent(),
            };
        }
        if depth < self.max_depth.max(1) {
            return Ok(());
        }
        let refusal = format!(
            "you work on a task that other tasks led to ({depth} in a row, policy.max_depth is {}): do it yourself, or say in a note what is left",
            self.max_depth
        );
        Err(Refusal::state(refusal).into())
    }

    /// In how many turns the calling thread, or one above it, has added tasks since a person last spoke to it, where each turn was begun by a
    /// notice: so long is the way that tasks have led to tasks by themselves.
    async fn rounds(&self, context: &ToolContext) -> Result<u32, Error> {
        let (mut most, mut at) = (0, Some(context.thread.clone()));
        while let Some(thread) = at {
            let (mut rounds, mut is_to_count) = (0, false);
            let look = |record: store::Record| {
                match &*record.event {
                    Event::RunStarted { .. } if record.event.is_begun_by_notice() => is_to_count = true,
                    Event::RunStarted { .. } => (rounds, is_to_count) = (0, false),
                    Event::Answered(answered)
                        if is_to_count && answered.calls().any(|call| &*call.name == NAMES[0]) =>
                    {
                        (rounds, is_to_count) = (rounds + 1, false);
                    }
                    _ => {}
                }
                std::ops::ControlFlow::<()>::Continue(())
            };
            replay_until(&*self.store, Selection::thread(&thread), look).await?;
            most = most.max(rounds);
            at = thread.parent();
        }
        Ok(most)
    }

    /// The board of the task that the calling thread was started for, else that of its folder.
    async fn board(&self, context: &ToolContext) -> Result<TaskBoard, Error> {
        if let Some((board, _)) = self.store.task_of_thread(&context.thread).await? {
            return Ok(TaskBoard::new(self.store.clone(), board, ""));
        }
        let board = self.board_of_folder(context);
        let folder: Arc<str> = board.as_str().into();
        Ok(TaskBoard::new(self.store.clone(), board, folder))
    }

    fn board_of_folder(&self, context: &ToolContext) -> BoardId {
        board_of_folder(context.workspace.root(), &self.surroundings, self.store.machine().as_ref())
    }

    /// Refuses a thread of another project: an agent gives tasks to threads of its own conversation, to those of its project, and to those
    /// that have a task of the same board.
    async fn check_assignee(
        &self,
        assignee: Option<&Assignee>,
        board: &TaskBoard,
        context: &ToolContext,
    ) -> Result<(), Error> {
        let Some(Assignee::Thread(thread)) = assignee else { return Ok(()) };
        if thread.root() == context.thread.root() {
            return Ok(());
        }
        let its_board = self.store.task_of_thread(thread).await?.map(|(board, _)| board);
        let first = self.store.read(thread, 0, 1).await?;
        let project = first.first().and_then(|record| match &*record.event {
            Event::ThreadCreated(created) => {
                let (folder, machine) = (Path::new(&*created.workspace), self.store.machine());
                Some(board_of_folder(folder, &self.surroundings, machine.as_ref()))
            }
            _ => None,
        });
        if its_board.as_ref() == Some(board.id()) || project == Some(self.board_of_folder(context)) {
            return Ok(());
        }
        let refusal = format!("{thread} works in another project: assign the task to new:AGENT or to human");
        Err(Refusal::state(refusal).into())
    }

    async fn task(&self, context: &ToolContext, id: Option<&str>) -> Result<(TaskBoard, Task), Error> {
        let board = self.board(context).await?;
        match id {
            Some(text) => {
                let (named, id) = super::task_named(text, board.id())?;
                let is_own = named == *board.id() || named == self.board_of_folder(context);
                let board = TaskBoard { id: named, ..board };
                if is_own {
                    let task = board.task(&id).await?;
                    return Ok((board, task));
                }
                // Of another board it does not even learn whether there is such a task.
                let task = self.store.task(board.id(), &id).await?.filter(|task| is_of_family(task, context));
                let not_yours = || {
                    Refusal::usage(format!(
                        "{text} is neither on your board nor of your conversation; task_list shows your board"
                    ))
                };
                Ok((board, task.ok_or_else(not_yours)?))
            }
            None => match self.store.task_of_thread(&context.thread).await? {
                Some((_, task)) => Ok((board, task)),
                None => {
                    Err(Refusal::usage("you have no task of your own: name one by id; task_list shows them").into())
                }
            },
        }
    }

    /// The most that an agent may do that works on a task of the calling thread: no more than the thread itself.
    async fn mode(&self, context: &ToolContext) -> Result<Option<Mode>, Error> {
        Ok(self.store.thread(&context.thread).await?.map(|row| row.mode))
    }
}

/// What a status that an agent asks for leads to.
fn change(status: &str, update: &Update) -> Result<Change, Refusal> {
    let unknown = || {
        let words: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
        Refusal::usage(format!("'{status}' is no status: it is one of {}", words.join(", ")))
    };
    Ok(match Status::parse(status).ok_or_else(unknown)? {
        Status::Pending => Change::Reopened,
        Status::InProgress => Change::InProgress,
        Status::Archived => Change::Archived,
        Status::Completed => Change::Completed { result: update.result.clone() },
        Status::Blocked => {
            let needed = || Refusal::usage("a blocked task needs a note that says why");
            Change::Blocked { reason: update.note.clone().ok_or_else(needed)? }
        }
    })
}

/// Whether a task was made by the conversation that a call comes from, or is its to do.
fn is_of_family(task: &Task, context: &ToolContext) -> bool {
    let root = context.thread.root();
    [task.created_by.thread(), task.thread.as_ref()].into_iter().flatten().any(|thread| thread.root() == root)
}

/// What a list says. The words of others are fenced where they may be untrusted text.
fn listed(words: &str, is_untrusted: bool) -> ToolResult {
    ToolResult { foreign: is_untrusted.then(|| "the task board".into()), ..ToolResult::ok(words) }
}

/// The command that changes a task in this way.
fn updated(task: &Task, wanted: &board::Update) -> Command {
    Command::Update { task: task.id.clone(), update: Box::new(wanted.clone()) }
}

/// The folder without links in its path; as it is named where it is gone.
fn canonical(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

fn read<T: DeserializeOwned>(input: &Json, form: &str) -> Result<T, Refusal> {
    input.read().map_err(|error| Refusal::usage(format!("{error}. {form}")))
}

/// The name of a command: one for each thing that a call does.
fn name(context: &ToolContext, what: &str) -> InputId {
    InputId::new(format!("{}/{}/{what}", context.thread, context.call))
}

fn now() -> agent::Time {
    Clock::default().now()
}

/// A task in one line.
fn shown(task: &Task) -> String {
    let mut line = format!("{} [{}] {}", task.id, task.status, task.title);
    if let Some(assignee) = task.assigned_to() {
        line.push_str(&format!(" → {assignee}"));
    }
    if task.priority != board::Priority::Medium {
        line.push_str(&format!(" ({} priority)", task.priority));
    }
    if !task.after.is_empty() {
        let after: Vec<&str> = task.after.iter().map(TaskId::as_str).collect();
        line.push_str(&format!(" after {}", after.join(", ")));
    }
    if let Some(reason) = task.reason.as_ref().filter(|_| task.status != Status::Completed) {
        line.push_str(&format!(": {reason}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{ADD_SCHEMA, LIST_SCHEMA, UPDATE_SCHEMA};

    fn assert_closed(schema: &Value) {
        if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
            assert_eq!(schema["additionalProperties"], false, "{schema}");
            fields.values().for_each(assert_closed);
        }
        schema.get("items").into_iter().for_each(assert_closed);
    }

    #[test]
    fn the_schemas_of_the_verbs_name_every_field_that_there_is() {
        for schema in [ADD_SCHEMA, UPDATE_SCHEMA, LIST_SCHEMA] {
            assert_closed(&serde_json::from_str(schema).expect("a schema is JSON"));
        }
    }
}
