//! The arguments of `majordomo task`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

/// `majordomo task`.
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Add a task. With - the first line of stdin is the title and the rest the prompt
    #[command(after_help = ADD_HELP)]
    Add(Box<AddTask>),
    /// List tasks, all but archived ones
    Ls {
        /// Only tasks of this status: pending, in_progress, blocked, completed, archived
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
        /// The number of rows
        #[arg(short = 'n', long, default_value_t = 200)]
        limit: usize,
        /// Print JSON, all of them
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        board: BoardArgs,
    },
    /// Show a task with its notes
    Show {
        /// The task, such as t12
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        board: BoardArgs,
    },
    /// Change the words, the place, the dependencies, the labels, the checks, the limits or the due day of a task
    Edit(Box<EditTask>),
    /// Give a task to an agent, a thread or a person
    #[command(after_help = WHO)]
    Assign {
        /// The task, such as t12
        id: String,
        /// Who gets it
        who: String,
        #[command(flatten)]
        at: ChangeArgs,
    },
    /// Add a note to a task; its agent and its creator are told
    Note {
        /// The task, such as t12
        id: String,
        /// The note; - reads it from stdin
        text: String,
        #[command(flatten)]
        at: ChangeArgs,
    },
    /// Complete a task
    Done {
        /// The task, such as t12
        id: String,
        /// A note on it
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        #[command(flatten)]
        at: ChangeArgs,
    },
    /// Block a task
    Block {
        /// The task, such as t12
        id: String,
        /// Why it cannot go on
        #[arg(long, value_name = "TEXT", default_value = "a person blocked it")]
        reason: String,
        #[command(flatten)]
        at: ChangeArgs,
    },
    /// Have a task done again: it is pending, and goes to its agent once more
    Reopen {
        /// The task, such as t12
        id: String,
        #[command(flatten)]
        at: ChangeArgs,
    },
    /// Put a task out of the way
    Archive {
        /// The task, such as t12
        id: String,
        #[command(flatten)]
        at: ChangeArgs,
    },
    /// Delete a task that no other task comes after
    Rm {
        /// The task, such as t12
        id: String,
        #[command(flatten)]
        at: ChangeArgs,
    },
    /// Add all tasks of a file, or none if a line is wrong
    #[command(after_help = IMPORT_HELP)]
    Import {
        /// A Markdown checklist or lines of JSON; - reads stdin
        file: PathBuf,
        /// I wrote the file: its words are no untrusted text, and its checks need no approval
        #[arg(long)]
        trusted: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        board: BoardArgs,
    },
    /// Show what happens to the tasks while it happens
    Watch {
        /// Print every event as a line of JSON
        #[arg(long)]
        jsonl: bool,
        /// Start with the first event of the board
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        board: BoardArgs,
    },
}

/// Which board.
#[derive(Debug, Default, Args)]
pub struct BoardArgs {
    /// A board by name, instead of the one of this folder
    #[arg(long, value_name = "NAME")]
    pub board: Option<String>,
    #[command(flatten)]
    pub place: Place,
}

/// Which board a task is changed on, and how the task is shown then.
#[derive(Debug, Default, Args)]
pub struct ChangeArgs {
    /// Print the task as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub board: BoardArgs,
}

/// `majordomo task add`.
#[derive(Debug, Args)]
pub struct AddTask {
    /// The title; - reads title and prompt from stdin
    pub title: String,
    /// What is to be done; - reads it from stdin [default: the title]
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// Who gets it: a thread, an agent, human, new:provider/model
    #[arg(long, value_name = "WHO")]
    pub assign: Option<String>,
    /// high, medium or low
    #[arg(long, default_value = "medium")]
    pub priority: String,
    /// A task that must be completed before; can be repeated
    #[arg(long, value_name = "ID")]
    pub after: Vec<String>,
    /// A command that must succeed before it counts as completed; can be repeated
    #[arg(long, value_name = "COMMAND")]
    pub check: Vec<String>,
    /// A JSON Schema that its result must fit
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// When it should be done: 2026-01-31 or 2026-01-31T17:00:00Z
    #[arg(long)]
    pub due: Option<String>,
    /// A label, by which `majordomo work --label` chooses; can be repeated
    #[arg(long, value_name = "WORD")]
    pub label: Vec<String>,
    /// Limit of tool calls of its agent
    #[arg(long, value_name = "N")]
    pub max_tool_calls: Option<u32>,
    /// Limit of tokens of its agent
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Limit of the cost of its agent, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    pub max_cost: Option<f64>,
    /// Time limit of its agent, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Print the task as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub board: BoardArgs,
}

/// `majordomo task edit`.
#[derive(Debug, Args)]
pub struct EditTask {
    /// The task, such as t12
    pub id: String,
    /// Another title
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Another prompt; - reads it from stdin
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// high, medium or low
    #[arg(long)]
    pub priority: Option<String>,
    /// A task that must be completed before, instead of those that it comes after now, or none; can be repeated
    #[arg(long, value_name = "ID")]
    pub after: Vec<String>,
    /// When it should be done: 2026-01-31, 2026-01-31T17:00:00Z or none
    #[arg(long)]
    pub due: Option<String>,
    /// A label, instead of those that it has now, or none; can be repeated
    #[arg(long, value_name = "WORD")]
    pub label: Vec<String>,
    /// Its place among tasks of the same priority; less is earlier (`task ls --json` shows it)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub rank: Option<i64>,
    /// A command that must succeed, instead of its checks now, or none; can be repeated
    #[arg(long, value_name = "COMMAND")]
    pub check: Vec<String>,
    /// Limit of tool calls of its agent
    #[arg(long, value_name = "N")]
    pub max_tool_calls: Option<u32>,
    /// Limit of tokens of its agent
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u64>,
    /// Limit of the cost of its agent, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    pub max_cost: Option<f64>,
    /// Time limit of its agent, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    #[command(flatten)]
    pub at: ChangeArgs,
}

const WHO: &str = "WHO is a thread id, an agent's name (the agent that had the last such task, else a new one), human, \
    new:provider/model, new:AGENT@provider/model or new:AGENT. Agents are started by `majordomo work` and `majordomo serve`.";

const ADD_HELP: &str = "WHO is a thread id, an agent's name (the agent that had the last such task, else a new one), human, \
    new:provider/model, new:AGENT@provider/model or new:AGENT. Agents are started by `majordomo work` and `majordomo serve`.\n\
    Example: majordomo task add \"Fix the build\" --assign new:anthropic/claude-sonnet-5-5 --check \"cargo test\"";

const IMPORT_HELP: &str = "A checklist has lines such as `- [ ] Title @WHO !high #label`; an item waits for the items indented below it, \
    and text indented below it is its prompt. Lines of JSON are objects with title, prompt, assign, priority, after, id, labels, checks, due.";
