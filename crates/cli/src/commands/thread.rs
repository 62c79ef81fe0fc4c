//! `majordomo thread ls` and `show`.

use std::collections::BTreeSet;
use std::io::IsTerminal;

use agent::{ThreadId, Usage};
use majordomo::config::Flags;
use majordomo::follow::logged;
use majordomo::staff::open_store;
use majordomo::threads::{ThreadState, TreeUsage, object, tree_usage};
use serde_json::{Value, json};
use store::{ApprovalQuery, Living, SearchQuery, Selection, Store, ThreadQuery, ThreadRow, read_all};
use view::draw::columns::{self, cut, left, right};
use view::{Dialect, Entry, Lines, Transcript, draw, safe};

use super::configured;
use super::wait::mark_read;
use crate::error::Failure;
use crate::out;

/// How a thread is shown.
pub struct Form {
    pub json: bool,
    pub jsonl: bool,
    pub dialect: Option<String>,
    pub full: bool,
}

/// The longest name that is listed whole.
const NAME: usize = 12;
/// The column of the cost, which stands to the right.
const COST: usize = 4;
/// As much of a goal as is listed where no terminal says how much room there is.
const GOAL: usize = 60;
/// Lines of a tool's result that are shown unless all are asked for.
const SHORT: usize = 6;

/// Which threads are listed.
pub struct Which {
    pub all: bool,
    pub of: Option<String>,
    pub archived: bool,
    pub search: Option<String>,
}

/// `majordomo thread ls`.
pub async fn ls(flags: &Flags, json: bool, limit: usize, which: Which) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let store = open_store(&config)?;
    if let Some(words) = &which.search {
        return search(&*store, json, limit, words).await;
    }
    let root = match &which.of {
        Some(name) => Some(store.resolve(name).await?.root()),
        None => None,
    };
    let archived = root.is_none().then_some(which.archived);
    let query =
        ThreadQuery { root_only: !which.all && root.is_none(), root, archived, limit, ..ThreadQuery::default() };
    let rows = store.threads(query).await?;
    let living = store.living(runtime::Clock::default().now()).await?;
    let trees = tree_usage(&*store, &rows).await?;
    let open = ApprovalQuery { limit: usize::MAX, ..ApprovalQuery::default() };
    // A conversation waits for a person if any of its agents does.
    let waiting: BTreeSet<ThreadId> =
        store.approvals(open).await?.into_iter().flat_map(|row| [row.root, row.question.id.thread()]).collect();
    let mut result = out::Result::Stdout;
    if json {
        let listed = rows.iter().zip(&trees).map(|(row, tree)| {
            let mut listed = object(row, &living);
            listed["tree"] = json!(tree);
            listed["waiting"] = json!(waiting.contains(&row.id));
            listed
        });
        let rows: Vec<Value> = listed.collect();
        result.line(&Value::from(rows).to_string())?;
        return Ok(0);
    }
    for line in table(&rows, &trees, &living, &waiting) {
        if !result.line(&line)? {
            break;
        }
    }
    if rows.is_empty() {
        out::note("there are no threads yet; majordomo run \"…\" starts one");
    } else if rows.len() == limit {
        out::note(&format!("the newest {limit} are shown; -n shows more"));
    }
    Ok(0)
}

/// Threads in which words were said.
async fn search(store: &dyn Store, json: bool, limit: usize, words: &str) -> Result<u8, Failure> {
    let query = SearchQuery { text: words.into(), limit };
    let found = store.search(query).await?;
    let mut result = out::Result::Stdout;
    if json {
        let found = found.iter().map(|one| json!({"id": one.thread, "at": one.at, "excerpt": one.excerpt}));
        result.line(&Value::from(found.collect::<Vec<_>>()).to_string())?;
        return Ok(0);
    }
    let wide = found.iter().map(|one| columns::width(one.thread.as_str())).max().unwrap_or(0);
    for one in &found {
        if !result.line(&format!("{} {}", left(one.thread.as_str(), wide), safe::line(&one.excerpt, 160)))? {
            break;
        }
    }
    if found.is_empty() {
        out::note("nothing was found");
    }
    Ok(0)
}

/// `majordomo thread show`.
pub async fn show(name: &str, flags: &Flags, form: Form) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let dialect = form.dialect.as_deref().unwrap_or(&config.dialect);
    let dialect = Dialect::named(dialect).ok_or_else(|| {
        Failure::usage(format!("there is no dialect '{dialect}'; the dialects are: {}", Dialect::NAMES.join(", ")))
    })?;
    let store = open_store(&config)?;
    let thread = store.resolve(name).await?;
    let records = read_all(&*store, Selection::tree(&thread.root())).await?;
    let mut result = out::Result::Stdout;
    if form.jsonl {
        let mut lines = Lines::new(thread.root(), dialect, 0);
        for record in &records {
            for line in lines.push(&logged(record)) {
                if !result.line(&line.text)? {
                    return Ok(0);
                }
            }
        }
        return Ok(0);
    }
    let mut transcript = Transcript::new(thread.clone());
    for record in &records {
        transcript.push(&logged(record));
    }
    let entries = transcript.entries();
    let task = store.thread(&thread).await?.and_then(|row| row.current_task);
    if form.json {
        let object = json!({ "id": thread, "current_task": task, "entries": entries });
        result.line(&object.to_string())?;
        return Ok(0);
    }
    if let Some(task) = task {
        let title = safe::line(&task.title, 200);
        if !result.line(&format!("works on {}: {title}\n", task.id))? {
            return Ok(0);
        }
    }
    let mut number = 0;
    for entry in &entries {
        let mut line = draw_entry(entry, form.full);
        // What is asked and what is answered are the messages that `fork --at` counts.
        match entry {
            Entry::Prompt { .. } | Entry::Brief { .. } => {
                number += 1;
                line = format!("[{number}] {line}");
            }
            Entry::End { .. } => {
                number += 1;
                line = format!("{line} [{number}]");
            }
            Entry::Steer { .. }
            | Entry::Thinking { .. }
            | Entry::Text { .. }
            | Entry::Tool(_)
            | Entry::Child(_)
            | Entry::Notice { .. } => {}
        }
        if !result.line(&line)? {
            break;
        }
    }
    mark_read(&*store, &thread).await?;
    Ok(0)
}

/// The thread that a person means, and what is kept of it.
pub async fn find(store: &dyn Store, name: &str) -> Result<(ThreadId, ThreadRow), Failure> {
    let id = store.resolve(name).await?;
    let row = store.thread(&id).await?;
    row.map(|row| (id, row)).ok_or_else(|| Failure::usage(format!("no thread is called '{name}'")))
}

/// Threads as lines whose columns are as wide as they must be; the goal has the rest of the terminal.
fn table(rows: &[ThreadRow], trees: &[TreeUsage], living: &Living, waiting: &BTreeSet<ThreadId>) -> Vec<String> {
    let zone = majordomo::zone::local();
    let when = |at: agent::Time| {
        let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
        moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
    };
    let cost = |tree: &TreeUsage| {
        let estimated_tokens = if tree.estimated { tree.tokens } else { 0 };
        let usage = Usage { cost_microusd: tree.cost_microusd, estimated_tokens, ..Usage::default() };
        draw::cost(&usage, !tree.price_unknown)
    };
    let cells = |(row, tree): (&ThreadRow, &TreeUsage)| {
        let name = safe::line(&row.name, NAME);
        [row.id.to_string(), ThreadState::of(row, living).to_string(), when(row.updated_at), name, cost(tree)]
    };
    let cells: Vec<[String; 5]> = rows.iter().zip(trees).map(cells).collect();
    let wide = |column: usize| cells.iter().map(|cells| columns::width(&cells[column])).max().unwrap_or(0);
    let stdout = std::io::stdout();
    let room = if stdout.is_terminal() { out::width(&stdout) } else { usize::MAX };
    // A narrow terminal loses the name first, then the moment, then the cost.
    let mut widths = [0, 1, 2, 3, 4].map(wide);
    let left_over = columns::leave_out(&mut widths, &[3, 2, 4], NAME, room);
    let goal = if stdout.is_terminal() { left_over } else { GOAL };
    let line = |(row, cells): (&ThreadRow, &[String; 5])| {
        let mut line = String::new();
        for (column, text) in cells.iter().enumerate().filter(|(column, _)| widths[*column] > 0) {
            let width = widths[column];
            line.push_str(&if column == COST { right(text, width) } else { left(text, width) });
            line.push(' ');
        }
        let mark = match (waiting.contains(&row.id), row.unread) {
            (true, _) => "? ",
            (false, true) => "* ",
            (false, false) => "",
        };
        let called = match (&row.title, &row.current_task) {
            (Some(title), Some(task)) => format!("{title} ({})", task.id),
            (Some(title), None) => title.to_string(),
            (None, Some(task)) => format!("{}: {}", task.id, task.title),
            (None, None) => row.goal.to_string(),
        };
        let called = format!("{mark}{}", safe::line(&called, goal));
        line.push_str(&cut(&called, goal, '…'));
        line.trim_end().to_owned()
    };
    rows.iter().zip(&cells).map(line).collect()
}

fn draw_entry(entry: &Entry, full: bool) -> String {
    match entry {
        Entry::Prompt { text, .. } => format!("you: {}\n", safe::shaped(text)),
        Entry::Brief { text, .. } => format!("brief: {}\n", safe::shaped(text)),
        Entry::Steer { from, text, .. } => {
            format!("{} (while it worked): {}\n", safe::line(from, 60), safe::shaped(text))
        }
        Entry::Thinking { agent, text, .. } => {
            format!("  {} is thinking:\n{}", safe::line(agent, 40), indented(text, full))
        }
        Entry::Text { agent, text, .. } => format!("{}: {}\n", safe::line(agent, 40), safe::shaped(text)),
        Entry::Tool(row) => {
            let name = row.name.as_deref().unwrap_or("a tool");
            let argument =
                row.argument.as_deref().map(|words| format!(" {}", safe::line(words, 100))).unwrap_or_default();
            let mark = if row.is_error { " (failed)" } else { "" };
            let output = row.output.as_deref().unwrap_or("(no result yet)");
            format!("  [{}{argument}]{mark}\n{}", safe::line(name, 40), indented(output, full))
        }
        Entry::Child(row) => {
            let report = row.report.as_deref().unwrap_or("");
            let goal = safe::line(&row.goal, 100);
            format!(
                "  [{} {}] {goal}\n  {}\n{}",
                row.thread,
                safe::line(&row.name, 40),
                row.status,
                indented(report, full)
            )
        }
        Entry::Notice { text, .. } => format!("  ({})", safe::line(text, 200)),
        Entry::End { status, .. } => format!("-- {}", safe::line(status, 400)),
    }
}

fn indented(text: &str, full: bool) -> String {
    let text = safe::shaped(text);
    let lines: Vec<&str> = text.lines().collect();
    let shown = if full { lines.len() } else { lines.len().min(SHORT) };
    let mut out: String = lines[..shown].iter().map(|line| format!("{}\n", format!("    {line}").trim_end())).collect();
    if shown < lines.len() {
        out.push_str(&format!("    … {} more lines (--full)\n", lines.len() - shown));
    }
    out
}
