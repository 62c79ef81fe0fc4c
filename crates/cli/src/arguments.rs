//! The command line: its verbs, flags and help texts.

mod databases;
mod judging;
mod servers;
mod tasks;
pub mod unknown_command;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use majordomo::config::Flags;

pub use self::databases::DbCommand;
pub use self::judging::{Explain, Trust, TrustCommand};
pub use self::servers::McpCommand;
pub use self::tasks::{AddTask, BoardArgs, ChangeArgs, EditTask, TaskCommand};

/// Runs agents that delegate work to sub-agents, with budgets, permissions, approvals and a complete log
#[derive(Debug, Parser)]
#[command(name = "majordomo", version, arg_required_else_help = true, after_help = CHAT_HELP, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The command line with the command that is meant where none is named: a chat, for flags, for a prompt of several words, and for nothing at
/// all at a terminal. A first word without white space is a command.
pub fn as_typed(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut typed: Vec<OsString> = arguments.collect();
    let is_chat = match typed.get(1).map(|first| first.to_string_lossy()) {
        None => std::io::stdin().is_terminal() && std::io::stderr().is_terminal(),
        Some(first) if matches!(&*first, "-h" | "--help" | "-V" | "--version" | "-") => false,
        Some(first) => first.starts_with('-') || first.contains(char::is_whitespace),
    };
    if is_chat {
        typed.insert(1.min(typed.len()), "chat".into());
    }
    typed
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open a conversation at this terminal, with a live tree of agents. `majordomo` alone does the same
    #[command(after_help = CHAT_HELP)]
    Chat(Box<Chat>),
    /// Run one task and exit. The answer goes to stdout, everything else to stderr
    #[command(after_help = RUN_HELP)]
    Run(Box<Run>),
    /// List, show, resume, rename, copy, export and delete threads (conversations of agents)
    #[command(subcommand)]
    Thread(ThreadCommand),
    /// Tasks for agents and people: add, list, assign and complete them
    #[command(subcommand)]
    Task(TaskCommand),
    /// Show running agents as a tree
    Ps {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Update until nothing is running
        #[arg(long, conflicts_with = "json")]
        watch: bool,
        /// Show every process of every machine, what it drives, and how long ago it was heard of
        #[arg(long, conflicts_with = "watch")]
        all: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Stop a thread and its sub-agents, and wait until they have stopped
    Stop {
        /// The thread id, or the beginning of it
        thread: String,
        /// Stop at once, without a final answer
        #[arg(long)]
        now: bool,
        /// The reason that its report gives
        #[arg(long, default_value = "a person stopped it")]
        reason: String,
        #[command(flatten)]
        place: Place,
    },
    /// Speak to any thread, also to a sub-agent that has finished, and go on with it
    #[command(after_help = SEND_HELP)]
    Send(Box<Send>),
    /// Wait until a thread's run is over, or a task is done, and print its report; exits with the code of the run
    Wait {
        /// The thread id, or the beginning of it; or a task, such as t12 (exit code 0 completed, 1 blocked, 9 archived)
        thread: String,
        /// Give up after this many seconds, with exit code 7
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<f64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Work what is runnable until Ctrl-C: start agents for tasks, and go on with those that another process left. Approvals wait
    Work(Work),
    /// Send a message to a running thread; it reads it before its next step
    Steer {
        /// The thread id, or the beginning of it
        thread: String,
        /// The message
        text: String,
        #[command(flatten)]
        place: Place,
    },
    /// List, show and decide the approvals that agents wait for
    #[command(subcommand)]
    Approve(ApproveCommand),
    /// Explain whether a tool call of a thread is allowed, needs approval or is denied, and by which rule
    Explain(Explain),
    /// Show which settings and agents a project's files define, and trust the project or not
    Trust(Trust),
    /// Start the web UI and the HTTP API
    Serve(Box<Serve>),
    /// Create a sample household (mail, calendar, notes, contacts)
    #[command(subcommand)]
    Demo(DemoCommand),
    /// Look at the folders of your mail, calendars, notes and contacts
    #[command(subcommand)]
    Household(HouseholdCommand),
    /// Show what is added to the prompts of agents here: instruction files and skills
    Context {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print the instructions as a model is shown them
        #[arg(long, conflicts_with = "json")]
        text: bool,
        #[command(flatten)]
        place: Place,
    },
    /// List, show, check and import the agents that can be started by name
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// List the models of the providers, and try one
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Show what was used: requests, tokens and money, by model, agent or day
    Usage {
        /// Only what was used in the last days, hours or minutes, such as 7d, 12h or 30m
        #[arg(long, value_name = "AGE")]
        since: Option<String>,
        /// What is added up in one line
        #[arg(long, value_enum, default_value = "model")]
        by: UsageBy,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// List, add, remove and try MCP servers, and approve their tools
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Show the effective configuration, and change your own
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Make a database ready, look at it, and delete old threads
    #[command(subcommand)]
    Db(DbCommand),
    /// Check configuration, data folder, database, model and sandbox, and report problems
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Make the lists of tasks and their agents anew from the log, and say whether they were right
        #[arg(long)]
        rebuild: bool,
        #[command(flatten)]
        settings: Settings,
    },
    /// Print a completion script for a shell
    Completion {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const CHAT_HELP: &str = "Without a command, `majordomo` opens a chat and takes these flags, too: majordomo -c; majordomo \"fix the tests\" (a prompt of \
    several words is sent first). In the chat: /help, Ctrl-T for the tree of agents, Ctrl-C twice to leave.";

const RUN_HELP: &str = "Exit codes: 0 done · 1 failed · 2 usage · 3 configuration · 4 provider, key or network · \
    5 approval was needed or denied · 6 budget · 7 timeout · 9 stopped · \
    130/143 interrupted by a signal (continue with: majordomo thread resume ID)";

const SEND_HELP: &str = "Without --wait it returns at once, and the answer counts as unread until `majordomo wait` or the web UI has \
    shown it. A thread that is working takes the message up when it is done; `majordomo steer` reaches it before.";

/// `majordomo send`.
#[derive(Debug, Args)]
pub struct Send {
    /// The thread id, or the beginning of it
    pub thread: String,
    /// The message; - reads it from stdin
    pub text: String,
    /// Wait for the answer and print it
    #[arg(long)]
    pub wait: bool,
    /// This process was started by another one to answer the message on stdin
    #[arg(long, hide = true)]
    pub detached: bool,
    #[command(flatten)]
    pub questions: Questions,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub place: Place,
}

/// `majordomo work`.
#[derive(Debug, Args)]
pub struct Work {
    /// The number of threads of tasks that run at the same time
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub concurrency: usize,
    /// Take only tasks with this label; can be repeated
    #[arg(long, value_name = "WORD")]
    pub label: Vec<String>,
    #[command(flatten)]
    pub place: Place,
}

/// `majordomo chat`.
#[derive(Debug, Args)]
pub struct Chat {
    /// The first message
    pub prompt: Option<String>,
    /// Go on with the last conversation of this folder, with its agent, model and mode
    #[arg(short, long = "continue", conflicts_with = "resume")]
    pub continues: bool,
    /// Go on with another conversation: choose one of this folder, or name it
    #[arg(short, long, value_name = "ID")]
    pub resume: Option<Option<String>>,
    /// A file to pass with the first message: text, image (PNG, JPEG, GIF, WebP) or PDF; can be repeated
    #[arg(short, long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// Use the sample household, with its clock at 2026-01-15
    #[arg(long)]
    pub demo: bool,
    /// Lines below one another, read and written without drawing: for screen readers, simple terminals and scripts
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub settings: Settings,
}

/// `majordomo run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The task; - reads it from stdin. Piped input is appended to a task that is given here
    pub prompt: Option<String>,
    /// A file to pass with the task: text, image (PNG, JPEG, GIF, WebP) or PDF; can be repeated. @FILE in the task does the same
    #[arg(short, long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// A JSON Schema that the answer must match
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Use the sample household, with its clock at 2026-01-15
    #[arg(long)]
    pub demo: bool,
    /// Go on with the last conversation of this folder
    #[arg(short, long = "continue", conflicts_with = "thread")]
    pub continues: bool,
    /// Go on with this conversation, or with this sub-agent of one
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,
    /// Start in the background and print the thread id; approvals wait for `majordomo approve` or the web UI
    #[arg(long, conflicts_with_all = ["json", "jsonl", "output", "approvals"])]
    pub detach: bool,
    /// This process was started by another one to do the task on stdin
    #[arg(long, hide = true)]
    pub detached: bool,
    #[command(flatten)]
    pub questions: Questions,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub settings: Settings,
}

/// `majordomo serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// The address to listen on. Any address but loopback needs a password in MAJORDOMO_PASSWORD
    #[arg(long, default_value = "127.0.0.1:4870")]
    pub addr: String,
    /// A further host name that browsers may use in the address, behind a proxy for example
    #[arg(long, value_name = "HOST")]
    pub name: Vec<String>,
    /// Open a browser at the web UI
    #[arg(long)]
    pub open: bool,
    /// Use the sample household, with its clock at 2026-01-15
    #[arg(long)]
    pub demo: bool,
    /// Serve the web UI's files from a folder, for development
    #[arg(long, value_name = "DIR", hide = true)]
    pub page: Option<PathBuf>,
    #[command(flatten)]
    pub settings: Settings,
}

/// Who answers approvals.
#[derive(Debug, Default, Args)]
pub struct Questions {
    /// Who answers approvals: ask at this terminal, wait for `majordomo approve` or the web UI, or deny
    /// [default: ask at a terminal, else deny]
    #[arg(long, value_enum, value_name = "ask|wait|deny", hide_possible_values = true)]
    pub approvals: Option<Approvals>,
}

/// Who answers approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Approvals {
    /// A person at this terminal.
    Ask,
    /// A person who decides in another interface, later.
    Wait,
    /// No person: policy denies at once.
    Deny,
}

impl Questions {
    /// Approvals wait for a person who decides elsewhere.
    pub fn waiting() -> Self {
        Self { approvals: Some(Approvals::Wait) }
    }
}

/// How a conversation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown, to read.
    Md,
    /// A line of JSON for each event, to import.
    Jsonl,
}

/// Settings that override variables and files.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub struct Settings {
    /// The agent to run
    #[arg(short, long)]
    agent: Option<String>,
    /// The model, as provider/model
    #[arg(short, long, value_name = "PROVIDER/MODEL")]
    model: Option<String>,
    /// What is allowed without approval: plan (read only), ask, auto, dangerous
    #[arg(long)]
    mode: Option<String>,
    /// The policy preset: default, kata, lace, opta, orion, zileo
    #[arg(long)]
    preset: Option<String>,
    /// Limit of tool calls of the root agent
    #[arg(long, value_name = "N")]
    max_tool_calls: Option<String>,
    /// Limit of model requests of the run, with sub-agents (a number, or unlimited) [default: 20000]
    #[arg(long, value_name = "N")]
    max_requests: Option<String>,
    /// Limit of tokens of the run, with sub-agents (a number, or unlimited) [default: 100000000]
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// Limit of the cost of the run, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<String>,
    /// Time limit of the run, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<String>,
    /// Limit of nested levels of sub-agents
    #[arg(long, value_name = "N")]
    max_depth: Option<String>,
    /// Limit of sub-agents of one thread, at any depth
    #[arg(long, value_name = "N")]
    max_children: Option<String>,
    /// Limit of sub-agents of one thread that run at the same time
    #[arg(long, value_name = "N")]
    max_concurrent: Option<String>,
    #[command(flatten)]
    place: Place,
}

/// The data folder, and any configuration key.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub struct Place {
    /// The data folder (database, token, files)
    #[arg(long, value_name = "DIR")]
    data: Option<String>,
    /// Keep everything in a database that many machines share, as postgres://user@host/database
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Set any configuration key; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// How the result is shown.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Print one JSON object: answer, outcome, usage, exit code
    #[arg(long, conflicts_with = "jsonl")]
    pub json: bool,
    /// Print every event as a line of JSON while it happens
    #[arg(long)]
    pub jsonl: bool,
    /// With --jsonl: streamed text of the models, too
    #[arg(long, requires = "jsonl")]
    pub deltas: bool,
    /// With --jsonl: the format of the events: canonical, kata, lace, opta, orion, zileo
    #[arg(long, requires = "jsonl", value_name = "NAME")]
    pub dialect: Option<String>,
    /// Write the result to a file instead of stdout
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Plain ASCII lines and the answer as it was written, as when the output is not a terminal
    #[arg(long)]
    pub plain: bool,
    /// No progress and no tree on stderr
    #[arg(short, long)]
    pub quiet: bool,
}

/// `majordomo thread`.
#[derive(Debug, Subcommand)]
pub enum ThreadCommand {
    /// List root threads, the newest first
    Ls {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The number of rows
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
        /// Include sub-agents
        #[arg(long)]
        all: bool,
        /// List only this conversation with its sub-agents
        #[arg(long, value_name = "ID")]
        of: Option<String>,
        /// List only threads that were put away
        #[arg(long)]
        archived: bool,
        /// List only threads in which these words were said, or that are called so
        #[arg(long, value_name = "WORDS", conflicts_with_all = ["of", "archived"])]
        search: Option<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Show a thread's conversation
    Show {
        /// The thread id, or the beginning of it
        thread: String,
        /// Print the rows as JSON
        #[arg(long, conflicts_with = "jsonl")]
        json: bool,
        /// Print the events of the thread and its sub-agents, as `run --jsonl` does
        #[arg(long)]
        jsonl: bool,
        /// With --jsonl: the format of the events: canonical, kata, lace, opta, orion, zileo
        #[arg(long, requires = "jsonl", value_name = "NAME")]
        dialect: Option<String>,
        /// Do not shorten tool results
        #[arg(long)]
        full: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Give a thread a title; an empty one takes it away
    Rename {
        /// The thread id, or the beginning of it
        thread: String,
        /// The title
        title: String,
        #[command(flatten)]
        place: Place,
    },
    /// Copy a conversation as far as one of its answers, and print the id of the copy
    Fork {
        /// The thread id, or the beginning of it
        thread: String,
        /// The number of the answer, as `thread show` numbers messages [default: the last]
        #[arg(long, value_name = "N")]
        at: Option<usize>,
        #[command(flatten)]
        place: Place,
    },
    /// Print a conversation with all its sub-agents, to read or to import it elsewhere
    Export {
        /// The thread id, or the beginning of it
        thread: String,
        /// md to read, jsonl to import
        #[arg(long, value_enum, default_value = "md")]
        format: Format,
        /// Write to a file instead of stdout
        #[arg(short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
    },
    /// Take in a conversation that was exported as jsonl. What was allowed in it is not allowed here, and it works in this folder
    Import {
        /// The file; - reads it from stdin
        file: PathBuf,
        #[command(flatten)]
        place: Place,
    },
    /// Put a thread away, so that lists leave it out
    Archive {
        /// The thread id, or the beginning of it
        thread: String,
        /// Take it out again
        #[arg(long)]
        undo: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Move a conversation with all its sub-agents to another store, under the same ids. No run of it may be under way
    Move {
        /// The thread id, or the beginning of it
        thread: String,
        /// The other store: postgres://user@host/database, or a data folder
        #[arg(long, value_name = "URL|DIR")]
        to: String,
        #[command(flatten)]
        place: Place,
    },
    /// Delete a conversation with all its sub-agents, for ever
    Rm {
        /// The thread ids, or the beginnings of them
        #[arg(required = true)]
        threads: Vec<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Continue an interrupted run and print its answer
    Resume {
        /// The thread id, or the beginning of it
        thread: String,
        #[command(flatten)]
        questions: Questions,
        #[command(flatten)]
        output: Output,
        #[command(flatten)]
        place: Place,
    },
}

/// `majordomo approve`.
#[derive(Debug, Subcommand)]
pub enum ApproveCommand {
    /// List pending approvals and questions, the newest first
    Ls {
        /// Include approvals that were decided
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// The number of rows
        #[arg(short = 'n', long, default_value_t = 100)]
        limit: usize,
        #[command(flatten)]
        place: Place,
    },
    /// Show an approval with the exact call that it is for, or a question
    Show {
        /// The approval id, such as k3f9.1/2
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Allow the call once, or more with a flag
    Yes {
        /// The approval id, such as k3f9.1/2
        id: String,
        /// Allow calls of this thread that match the pattern shown by `approve show`
        #[arg(long)]
        thread: bool,
        /// Allow all later calls that match that pattern, as a standing consent (see `approve rules ls`)
        #[arg(long, conflicts_with = "thread")]
        always: bool,
        /// Run the call with these arguments instead of the agent's
        #[arg(long, value_name = "JSON", conflicts_with_all = ["thread", "always"])]
        input: Option<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Answer a question that an agent asked with `ask_user`
    Answer {
        /// The id of the question, such as k3f9.1/2
        id: String,
        /// The answer; the number of a choice stands for that choice
        text: String,
        #[command(flatten)]
        place: Place,
    },
    /// Deny the call, or leave a question unanswered
    No {
        /// The approval id, such as k3f9.1/2
        id: String,
        /// The reason, which the agent is told
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Standing consents: what was allowed for ever
    #[command(subcommand)]
    Rules(RulesCommand),
}

/// `majordomo approve rules`.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List the standing consents, and the rules of the rules file
    Ls {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Take a standing consent back: from now on it is asked again
    Rm {
        /// The consent, as `approve rules ls` names it
        id: String,
        #[command(flatten)]
        place: Place,
    },
}

/// `majordomo demo`.
#[derive(Debug, Subcommand)]
pub enum DemoCommand {
    /// Write the sample household into a new folder: mail, calendars, notes and contacts of an invented person
    Init {
        /// The folder to create
        folder: PathBuf,
    },
}

/// `majordomo household`.
#[derive(Debug, Subcommand)]
pub enum HouseholdCommand {
    /// Say what was found, how many of each, what could not be read and why, and what looks stale
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Look at the sample household
        #[arg(long)]
        demo: bool,
        #[command(flatten)]
        settings: Settings,
    },
}

/// `majordomo agents`.
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// List built-in agents, your own, those of other products, and those of a trusted project
    Ls {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Show an agent: where it is defined, what it may use, what of its file has no effect, its prompt
    Show {
        /// Its name
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Check agent files, also those of other products; exits with 3 if one cannot be used
    Validate {
        /// The files; without any, all that are found
        files: Vec<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Copy an agent of another product into your own agents, in the format of this one
    Import {
        /// The agent's name, or a file
        agent: String,
        /// Replace an agent of yours that has the same name
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        place: Place,
    },
}

/// `majordomo models`.
#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// List the models that the providers offer, with what is known of each
    Ls {
        /// Only the models of this provider
        #[arg(long, value_name = "NAME")]
        provider: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Send a model one short request with a tool, and say what works
    Test {
        /// The model, as provider/model
        model: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
}

/// What `majordomo usage` adds up in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UsageBy {
    /// What agents of one name used
    Agent,
    /// What was used of one model
    Model,
    /// What was used on one day
    Day,
}

/// `majordomo config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every value and where it was set
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        settings: Box<Settings>,
    },
    /// Set a value in your configuration file
    Set {
        /// The key, such as policy.max_depth; `majordomo config show` lists them
        key: String,
        /// The value
        #[arg(allow_hyphen_values = true)]
        value: String,
        #[command(flatten)]
        place: Place,
    },
    /// Take a value out of your configuration file
    Unset {
        /// The key
        key: String,
        #[command(flatten)]
        place: Place,
    },
}

impl Settings {
    /// Whether one of them is chosen with the first message of a conversation.
    pub fn begins(&self) -> bool {
        let Self { agent, model, mode, preset, max_tool_calls, max_requests, max_tokens, max_cost, timeout, .. } = self;
        let limits = [max_tool_calls, max_requests, max_tokens, max_cost, timeout];
        let tree = [&self.max_depth, &self.max_children, &self.max_concurrent];
        [agent, model, mode, preset].into_iter().chain(limits).chain(tree).any(Option::is_some)
    }

    /// As the configuration takes them.
    pub fn flags(&self) -> Flags {
        Flags {
            model: self.model.clone(),
            agent: self.agent.clone(),
            mode: self.mode.clone(),
            preset: self.preset.clone(),
            max_tool_calls: self.max_tool_calls.clone(),
            max_requests: self.max_requests.clone(),
            max_tokens: self.max_tokens.clone(),
            max_cost: self.max_cost.clone(),
            timeout: self.timeout.clone(),
            max_depth: self.max_depth.clone(),
            max_children: self.max_children.clone(),
            max_concurrent: self.max_concurrent.clone(),
            ..self.place.flags()
        }
    }
}

impl Place {
    /// As the configuration takes them.
    pub fn flags(&self) -> Flags {
        Flags { data: self.data.clone(), store: self.store.clone(), set: self.set.clone(), ..Flags::default() }
    }
}
