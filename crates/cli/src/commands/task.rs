//! `majordomo task`: the board of a folder, and of any other by name.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

use agent::Json;
use futures_util::StreamExt;
use majordomo::config::{Config, Surroundings};
use majordomo::staff::open_store;
use majordomo::tasks::board::import::{self, Draft, Line, Reference};
use majordomo::tasks::board::{
    Actor, Budget, Change, Command, Edit, Entry, Event, Refusal, Reply, Status, Task, TaskId,
};
use majordomo::tasks::{self, ShownNote, ShownTask, Staffing, TaskBoard, board_named, board_of};
use serde_json::{Value, json};
use store::{TaskQuery, follow_board};
use view::draw::columns::{self, cut, left};
use view::safe;

use super::configured;
use crate::arguments::{AddTask, BoardArgs, ChangeArgs, EditTask, TaskCommand};
use crate::error::Failure;
use crate::out;

/// The widest assignee and the widest title that are listed where no terminal says how much room there is.
const WIDE: (usize, usize) = (28, 80);

/// What is said to take something away from a task.
const NONE: &str = "none";

/// Carries out a command on a board.
pub async fn task(command: TaskCommand) -> Result<u8, Failure> {
    match command {
        TaskCommand::Add(add) => self::add(*add).await,
        TaskCommand::Ls { status, limit, json, board } => ls(&board, status.as_deref(), limit, json).await,
        TaskCommand::Show { id, json, board } => show(&board, &id, json).await,
        TaskCommand::Edit(arguments) => edit(*arguments).await,
        TaskCommand::Assign { id, who, at } => {
            let desk = Desk::open(&at.board)?;
            let to = desk.staffing().assignee(&**desk.board.store(), &who).await?;
            desk.change(&id, at.json, |task| Command::Assign { task, to: Some(to) }).await
        }
        TaskCommand::Note { id, text, at } => {
            let text = if text == "-" { stdin()? } else { text };
            change(&id, &at, |task| Command::Note { task, text: text.trim_end().into() }).await
        }
        TaskCommand::Done { id, note, at } => {
            let note = note.as_deref().map(Into::into);
            change(&id, &at, |task| Command::Set { task, change: Change::Completed { result: None }, note }).await
        }
        TaskCommand::Block { id, reason, at } => set(&id, &at, Change::Blocked { reason: reason.into() }).await,
        TaskCommand::Reopen { id, at } => set(&id, &at, Change::Reopened).await,
        TaskCommand::Archive { id, at } => set(&id, &at, Change::Archived).await,
        TaskCommand::Rm { id, at } => change(&id, &at, |task| Command::Remove { task }).await,
        TaskCommand::Import { file, trusted, json, board } => import(&board, &file, trusted, json).await,
        TaskCommand::Watch { jsonl, all, board } => watch(&board, jsonl, all).await,
    }
}

/// Waits until a task is completed (0), blocked (1) or archived (9); 7 if that takes longer than `timeout`.
pub async fn wait(id: &str, timeout: Option<f64>, json: bool, board: BoardArgs) -> Result<u8, Failure> {
    if timeout.is_some_and(|seconds| !(0.0..1e9).contains(&seconds)) {
        return Err(Failure::usage("--timeout takes a number of seconds"));
    }
    let timeout = timeout.map(Duration::from_secs_f64);
    let desk = Desk::open(&board)?;
    let (named, task) = tasks::task_named(id, desk.board.id())?;
    let board = TaskBoard::new(desk.board.store().clone(), named.clone(), "");
    board.task(&task).await?;
    let mut changes = follow_board(board.store(), &named, 0, Duration::from_millis(30));
    let settled = async {
        loop {
            let task = board.task(&task).await?;
            match task.status {
                Status::Completed => return Ok((0, task)),
                Status::Blocked => return Ok((1, task)),
                Status::Archived => return Ok((9, task)),
                Status::Pending | Status::InProgress => {}
            }
            match changes.next().await {
                Some(page) => drop(page.map_err(Failure::from)?),
                None => return Err(Failure::from(store::Error::Closed)),
            }
        }
    };
    let settled = match timeout {
        None => settled.await,
        Some(most) => match tokio::time::timeout(most, settled).await {
            Ok(settled) => settled,
            Err(_) => {
                out::note(&format!("{id} is not done yet; it was waited for {:.1} s", most.as_secs_f64()));
                return Ok(7);
            }
        },
    };
    let (code, task) = settled?;
    if json {
        let mut shown = json!(ShownTask::of(&named, &task));
        shown["exit_code"] = json!(code);
        out::Result::Stdout.line(&shown.to_string())?;
        return Ok(code);
    }
    let words = task.result.clone().or_else(|| task.recent_notes.last().map(|note| note.content.clone()));
    if let Some(words) = words {
        out::Result::Stdout.words(&words, false)?;
    }
    if code != 0 {
        let why = task.reason.as_deref().map(|reason| format!(": {}", safe::line(reason, 400))).unwrap_or_default();
        out::note(&format!("{} is {}{why}", task.id, task.status));
    }
    Ok(code)
}

/// A board, with what is needed to say who gets a task.
struct Desk {
    surroundings: Surroundings,
    config: Config,
    board: TaskBoard,
}

impl Desk {
    fn open(arguments: &BoardArgs) -> Result<Self, Failure> {
        let (surroundings, config) = configured(&arguments.place.flags())?;
        let here = board_of(&surroundings, config.store.machine().as_ref());
        let folder = here.as_str().to_owned();
        let id = match &arguments.board {
            Some(name) => board_named(name)?,
            None => here,
        };
        let board = TaskBoard::new(open_store(&config)?, id, folder);
        Ok(Self { surroundings, config, board })
    }

    fn staffing(&self) -> Staffing {
        Staffing::of(&self.surroundings, &self.config)
    }

    async fn ask(&self, command: Command) -> Result<Reply, Failure> {
        Ok(self.board.ask(Actor::Human, None, command, out::now()).await?)
    }

    /// Carries out a command on one task and shows how it stands then, as JSON where that is wanted.
    async fn change(&self, id: &str, json: bool, command: impl FnOnce(TaskId) -> Command) -> Result<u8, Failure> {
        let (named, task) = tasks::task_named(id, self.board.id())?;
        let board = TaskBoard::new(self.board.store().clone(), named, self.board.id().as_str());
        let command = command(task.clone());
        let is_removed = matches!(command, Command::Remove { .. });
        let reply = board.ask(Actor::Human, None, command, out::now()).await?;
        if is_removed {
            if json {
                out::Result::Stdout.line(&json!({ "id": task.as_str(), "removed": true }).to_string())?;
            } else {
                out::note(&format!("{task} is gone"));
            }
            return Ok(0);
        }
        let task = board.task(&task).await?;
        if json {
            out::Result::Stdout.line(&json!(ShownTask::of(board.id(), &task)).to_string())?;
            return Ok(0);
        }
        let already = if reply == Reply::Unchanged { " already" } else { "" };
        out::Result::Stdout.line(&format!("{}{already}", brief(&task)))?;
        self.hint(&task);
        Ok(0)
    }

    /// How a task that waits for an agent is taken up.
    fn hint(&self, task: &Task) {
        if task.is_runnable() {
            out::note("`majordomo work` starts agents for tasks; so does `majordomo serve`");
        }
    }
}

/// Carries out a command on one task of a board.
async fn change(id: &str, at: &ChangeArgs, command: impl FnOnce(TaskId) -> Command) -> Result<u8, Failure> {
    Desk::open(&at.board)?.change(id, at.json, command).await
}

async fn set(id: &str, at: &ChangeArgs, change: Change) -> Result<u8, Failure> {
    self::change(id, at, |task| Command::Set { task, change, note: None }).await
}

async fn add(arguments: AddTask) -> Result<u8, Failure> {
    let desk = Desk::open(&arguments.board)?;
    let mut draft = Draft {
        title: arguments.title.as_str().into(),
        prompt: arguments.prompt.as_deref().unwrap_or_default().into(),
        priority: Some(arguments.priority.as_str().into()),
        assign: arguments.assign.as_deref().map(Into::into),
        after: arguments.after.iter().map(|id| Reference::Name(id.as_str().into())).collect(),
        due: arguments.due.as_deref().map(Into::into),
        labels: arguments.label.iter().map(|label| label.as_str().into()).collect(),
        checks: arguments.check.iter().map(|check| check.as_str().into()).collect(),
        schema: arguments.schema.as_deref().map(schema).transpose()?,
        max_tool_calls: arguments.max_tool_calls,
        max_tokens: arguments.max_tokens,
        max_cost: arguments.max_cost.map(dollars).transpose()?,
        timeout_s: arguments.timeout,
        id: None,
    };
    if arguments.title == "-" {
        let text = stdin()?;
        let (title, prompt) = text.split_once('\n').unwrap_or((&text, ""));
        draft.title = title.trim().into();
        if arguments.prompt.is_none() {
            draft.prompt = prompt.trim().into();
        }
    }
    if arguments.prompt.as_deref() == Some("-") {
        if arguments.title == "-" {
            return Err(Failure::usage("stdin can be read once: give the title or the prompt as an argument"));
        }
        draft.prompt = stdin()?.trim().into();
    }
    let tasks = desk.board.drafted(&desk.staffing(), &[tasks::line(draft)], false).await?;
    let id = match desk.ask(Command::Add { tasks }).await? {
        Reply::Added(ids) => ids.into_iter().next(),
        _ => None,
    };
    let id = id.ok_or_else(|| Failure::failed("no task was added"))?;
    let task = desk.board.task(&id).await?;
    let mut result = out::Result::Stdout;
    if arguments.json {
        result.line(&json!(ShownTask::of(desk.board.id(), &task)).to_string())?;
    } else {
        result.line(&brief(&task))?;
        desk.hint(&task);
    }
    Ok(0)
}

async fn edit(arguments: EditTask) -> Result<u8, Failure> {
    // Said once and alone, it takes away what there is.
    let listed = |words: &[String]| match words {
        [] => None,
        [only] if only == NONE => Some(Vec::new()),
        words => Some(words.to_vec()),
    };
    let prompt = match arguments.prompt.as_deref() {
        Some("-") => Some(stdin()?.trim().into()),
        prompt => prompt.map(Into::into),
    };
    let named = |id: &String| {
        TaskId::parse(id).ok_or_else(|| Failure::usage(format!("'{id}' is no task: tasks are named t1, t2 …")))
    };
    let after = listed(&arguments.after).map(|after| after.iter().map(named).collect()).transpose()?;
    let edit = Edit {
        title: arguments.title.as_deref().map(Into::into),
        prompt,
        priority: arguments.priority.as_deref().map(import::priority).transpose()?,
        after,
        rank: arguments.rank,
        due: arguments.due.as_deref().map(tasks::due).transpose()?,
        labels: listed(&arguments.label).map(|labels| labels.into_iter().map(Into::into).collect()),
        checks: listed(&arguments.check).map(|checks| checks.into_iter().map(Into::into).collect()),
        budget: Budget {
            max_tool_calls: arguments.max_tool_calls,
            max_tokens: arguments.max_tokens,
            max_cost_microusd: arguments
                .max_cost
                .map(dollars)
                .transpose()?
                .as_ref()
                .map(import::microusd)
                .transpose()?,
            timeout_ms: arguments.timeout.map(|seconds| seconds.saturating_mul(1000)),
        },
    };
    if edit == Edit::default() {
        let say = "say what should be different: --title, --prompt, --priority, --rank, --after, --due, --label, --check or a limit";
        return Err(Failure::usage(say));
    }
    change(&arguments.id, &arguments.at, |task| Command::Edit { task, edit }).await
}

async fn ls(board: &BoardArgs, status: Option<&str>, limit: usize, json: bool) -> Result<u8, Failure> {
    let status = status.map(self::status).transpose()?;
    let desk = Desk::open(board)?;
    let mut result = out::Result::Stdout;
    if json {
        let mut rows: Vec<Value> = Vec::new();
        let see = |task: Task| {
            rows.push(json!(ShownTask::of(desk.board.id(), &task)));
            true
        };
        desk.board.each(status, see).await?;
        result.line(&Value::from(rows).to_string())?;
        return Ok(0);
    }
    let query = TaskQuery { status, limit, ..TaskQuery::of(desk.board.id()) };
    let tasks = desk.board.store().tasks(query).await?;
    for line in table(&tasks) {
        if !result.line(&line)? {
            break;
        }
    }
    if tasks.is_empty() {
        out::note("there are no tasks here; majordomo task add \"…\" adds one");
    } else if tasks.len() == limit {
        out::note(&format!("the first {limit} are shown; -n shows more"));
    }
    Ok(0)
}

async fn show(board: &BoardArgs, id: &str, json: bool) -> Result<u8, Failure> {
    let desk = Desk::open(board)?;
    let (named, id) = tasks::task_named(id, desk.board.id())?;
    let board = TaskBoard::new(desk.board.store().clone(), named, "");
    let task = board.task(&id).await?;
    let notes = board.store().notes(board.id(), &id).await?;
    let mut result = out::Result::Stdout;
    if json {
        let notes: Vec<ShownNote> = notes.iter().map(ShownNote::of).collect();
        let shown = ShownTask { notes, ..ShownTask::of(board.id(), &task) };
        result.line(&json!(shown).to_string())?;
        return Ok(0);
    }
    let list = |tasks: &[TaskId]| tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ");
    let mut lines = vec![format!("{} {}", task.id, safe::line(&task.title, 500)), format!("status    {}", task.status)];
    let mut push = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            lines.push(format!("{name:<9} {value}"));
        }
    };
    push("why", task.waits_for().map(|why| safe::shaped(&why)));
    push("priority", Some(task.priority.to_string()));
    push("assignee", task.assigned_to().map(|who| safe::line(&who, 200)));
    push("made by", Some(safe::line(task.created_by.as_str(), 200)));
    push("after", (!task.after.is_empty()).then(|| list(&task.after)));
    push("labels", (!task.labels.is_empty()).then(|| safe::line(&task.labels.join(", "), 400)));
    push("due", task.due.map(|due| moment(due.0)));
    push("checks", (!task.checks.commands.is_empty()).then(|| safe::line(&task.checks.commands.join(" · "), 400)));
    push("schema", task.checks.schema.as_ref().map(|schema| safe::line(schema.text(), 400)));
    push("limits", limits(&task.budget));
    lines.push(String::new());
    lines.push(safe::shaped(&task.prompt));
    if let Some(answer) = &task.result {
        lines.push(format!("\nresult:\n{}", safe::shaped(answer)));
    }
    for note in &notes {
        lines.push(format!(
            "\n{} ({}): {}",
            safe::line(note.by.as_str(), 60),
            moment(note.at.0),
            safe::shaped(&note.content)
        ));
    }
    result.line(&lines.join("\n"))?;
    Ok(0)
}

/// What the agent of a task may spend; none where only the configuration says.
fn limits(budget: &Budget) -> Option<String> {
    let Budget { max_tool_calls, max_tokens, max_cost_microusd, timeout_ms } = *budget;
    let limits = [
        max_tool_calls.map(|calls| format!("{calls} tool calls")),
        max_tokens.map(|tokens| format!("{tokens} tokens")),
        max_cost_microusd.map(view::draw::money),
        timeout_ms.map(|milliseconds| format!("{} s", milliseconds.div_ceil(1000))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    (!limits.is_empty()).then(|| limits.join(", "))
}

async fn import(board: &BoardArgs, file: &Path, trusted: bool, json: bool) -> Result<u8, Failure> {
    let desk = Desk::open(board)?;
    let text = match file == Path::new("-") {
        true => stdin()?,
        false => std::fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?,
    };
    let name = file.display();
    let in_file = |refusal: Refusal| Failure::usage(format!("{name}: {}; nothing was added", refusal.message));
    let list = import::read(&text).map_err(in_file)?;
    let lines: Vec<Line> = list.lines;
    if lines.is_empty() {
        out::note("all of it is checked off; nothing was added");
        return Ok(0);
    }
    let refused = |error: tasks::Error| match error {
        tasks::Error::Refused(refusal) => in_file(refusal),
        tasks::Error::Store(error) => error.into(),
    };
    let tasks = desk.board.drafted(&desk.staffing(), &lines, !trusted).await.map_err(refused)?;
    let reply = desk.board.ask(Actor::Human, None, Command::Add { tasks }, out::now()).await.map_err(refused)?;
    let ids = match reply {
        Reply::Added(ids) => ids,
        _ => Vec::new(),
    };
    let mut result = out::Result::Stdout;
    let mut rows = Vec::new();
    for id in &ids {
        let task = desk.board.task(id).await?;
        match json {
            true => rows.push(json!(ShownTask::of(desk.board.id(), &task))),
            false => drop(result.line(&brief(&task))?),
        }
    }
    if json {
        result.line(&Value::from(rows).to_string())?;
    } else if list.done > 0 {
        out::note(&format!("{} items were checked off and left out", list.done));
    }
    Ok(0)
}

/// Shows what happens until no one reads it any more, or a signal comes.
async fn watch(board: &BoardArgs, jsonl: bool, all: bool) -> Result<u8, Failure> {
    let desk = Desk::open(board)?;
    let (store, id) = (desk.board.store(), desk.board.id());
    let after = if all { 0 } else { store.board(id).await?.map_or(0, |board| board.n) };
    let mut events = follow_board(store, id, after, Duration::from_millis(50));
    let mut result = out::Result::Stdout;
    loop {
        let page = tokio::select! {
            _ = tokio::signal::ctrl_c() => return Ok(130),
            page = events.next() => page,
        };
        for record in page.ok_or(store::Error::Closed)?? {
            let line = match jsonl {
                true => tasks::frame(id, &record).map(|frame| frame.to_string()),
                false => told(&record.entry).map(|words| format!("{} {words}", moment(record.at.0))),
            };
            if let Some(line) = line
                && !result.line(&line)?
            {
                return Ok(0);
            }
        }
    }
}

/// An event of a board in one line; none where it is of no interest to a person.
fn told(entry: &Entry) -> Option<String> {
    let by = safe::line(entry.by.as_str(), 60);
    Some(match &entry.event {
        Event::TaskAdded(task) => format!("{} added by {by}: {}", task.id, safe::line(&task.title, 200)),
        Event::TaskEdited { task, .. } => format!("{task} edited by {by}"),
        Event::TaskAssigned { task, assignee: Some(who), .. } => format!("{task} assigned to {who} by {by}"),
        Event::TaskAssigned { task, assignee: None, .. } => format!("{task} taken from its assignee by {by}"),
        Event::NoteAdded { task, note } => format!("{task} note by {by}: {}", safe::line(&note.content, 400)),
        Event::TaskBegun { task, thread, .. } => format!("{task} in progress at {thread}"),
        Event::TaskInProgress { task, .. } => format!("{task} in progress, says {by}"),
        Event::StartFailed { task, reason, .. } => format!("{task} could not be started: {}", safe::line(reason, 400)),
        Event::ChecksFailed { task, what } => format!("{task} checks failed: {}", safe::line(what, 400)),
        Event::TaskCompleted { task, by, .. } => format!("{task} completed by {by}"),
        Event::TaskBlocked { task, reason, .. } => format!("{task} blocked: {}", safe::line(reason, 400)),
        Event::TaskReopened { task, .. } => format!("{task} reopened by {by}"),
        Event::TaskArchived { task } => format!("{task} archived by {by}"),
        Event::TaskRemoved { task } => format!("{task} removed by {by}"),
        Event::BoardOpened { .. }
        | Event::TaskMarkedForeign { .. }
        | Event::DependencyClosed { .. }
        | Event::DependencyOpened { .. }
        | Event::TaskHandedOut { .. }
        | Event::TaskNamed { .. }
        | Event::Told { .. }
        | Event::TaskAttended { .. }
        | Event::DeliveryDone { .. } => return None,
    })
}

/// A task in one line.
fn brief(task: &Task) -> String {
    let mut line = format!("{} {} {}", task.id, task.status, safe::line(&task.title, 200));
    if let Some(who) = task.assigned_to() {
        line.push_str(&format!(" → {}", safe::line(&who, 200)));
    }
    if let Some(why) = task.waits_for() {
        line.push_str(&format!(" ({})", safe::line(&why, 400)));
    }
    line
}

/// Tasks as lines whose columns are as wide as they must be.
fn table(tasks: &[Task]) -> Vec<String> {
    let cells = |task: &Task| {
        let who = task.assigned_to().map_or_else(|| "-".to_owned(), |who| safe::line(&who, WIDE.0));
        [task.id.to_string(), task.status.to_string(), task.priority.to_string(), who]
    };
    let cells: Vec<[String; 4]> = tasks.iter().map(cells).collect();
    let wide = |column: usize| cells.iter().map(|cells| columns::width(&cells[column])).max().unwrap_or(0);
    let stdout = std::io::stdout();
    let room = if stdout.is_terminal() { out::width(&stdout) } else { usize::MAX };
    // A narrow terminal loses the priority first, then the assignee.
    let mut widths = [0, 1, 2, 3].map(wide);
    let left_over = columns::leave_out(&mut widths, &[2, 3], 12, room);
    let most = if stdout.is_terminal() { left_over } else { WIDE.1 };
    let line = |(task, cells): (&Task, &[String; 4])| {
        let mut line = String::new();
        for (column, text) in cells.iter().enumerate().filter(|(column, _)| widths[*column] > 0) {
            line.push_str(&left(text, widths[column]));
            line.push(' ');
        }
        let why = task.waits_for().map(|why| format!(" ({why})")).unwrap_or_default();
        line.push_str(&cut(&safe::line(&format!("{}{why}", task.title), most), most, '…'));
        line.trim_end().to_owned()
    };
    tasks.iter().zip(&cells).map(line).collect()
}

fn status(word: &str) -> Result<Status, Failure> {
    let words: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
    Status::parse(word)
        .ok_or_else(|| Failure::usage(format!("'{word}' is no status: it is one of {}", words.join(", "))))
}

fn schema(path: &Path) -> Result<Json, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read the schema {}: {error}", path.display())))?;
    Json::parse(&text)
        .map_err(|error| Failure::usage(format!("the schema {} is not valid JSON: {error}", path.display())))
}

fn dollars(amount: f64) -> Result<serde_json::Number, Failure> {
    serde_json::Number::from_f64(amount).ok_or_else(|| Failure::usage("--max-cost is an amount of dollars"))
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format!("stdin cannot be read as text: {error}")))?;
    Ok(text)
}

fn moment(ms: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    moment.to_zoned(majordomo::zone::local()).strftime("%Y-%m-%d %H:%M").to_string()
}
