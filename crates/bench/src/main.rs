//! Benchmarks: what the runtime costs, compared with the same work without it. `cargo xtask bench` builds and runs this.
//!
//! Figures are ratios taken in one run on one machine, so that they mean the same on another. Every measurement is a process
//! of its own, which prints one line; the model is played by a further process, whose work is not counted.
//! What is measured, in which order and against which bounds, is `suite.rs`.
//!
//! Deliberately absent: any part in `cargo xtask test`. A machine that is busy with something else makes every figure worse.

mod answer;
mod bare;
mod board;
mod chat;
mod client;
mod cluster;
mod cold_start;
mod commands;
mod fan_out;
mod figure;
mod gauge;
mod household_index;
mod idle_threads;
mod long_thread;
mod memory_in_use;
mod model_server;
mod page;
mod plain_log;
mod processes;
mod program;
mod reading;
mod reopen;
mod setup;
mod stop;
mod suite;
mod watchers;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Many small pieces of text are made and dropped by many tasks at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the runtime costs, compared with the same work without it.
#[derive(Debug, Parser)]
struct Bench {
    #[command(subcommand)]
    part: Option<Part>,
    /// Without the largest cases: ten thousand sub-agents, a million idle threads, a household of a life
    #[arg(long)]
    quick: bool,
    /// Only these measurements, separated by commas
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',')]
    only: Vec<Topic>,
}

/// What is measured, by name. The order is that of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Topic {
    /// `majordomo run` with many sub-agents, compared with a client that does as little as possible
    Program,
    /// Processor time per sub-agent, in the library
    Cpu,
    /// Duration of a run of the library while a model takes its time
    Wall,
    /// Memory per sub-agent
    Memory,
    /// `majordomo run` until its first request, and how long first requests are
    Start,
    /// The first answer of `majordomo run --demo`
    Demo,
    /// A thread with a long past goes on
    Reopen,
    /// Commands with and without a sandbox, compared with `sh -c`
    Commands,
    /// Stopping, or killing, a run with many commands
    Stop,
    /// A thousand clients of the web server
    Watchers,
    /// A long conversation in a browser (needs Chromium)
    Page,
    /// Index and search of a large household (not with --quick, unless named)
    Household,
    /// A million idle threads (not with --quick, unless named)
    Crowd,
    /// A hundred thousand tasks and ten thousand idle agents
    Board,
    /// `majordomo chat` at a terminal, while a hundred sub-agents stream
    Chat,
    /// The store in PostgreSQL, and workers on it (needs PostgreSQL; minutes)
    Cluster,
}

impl Topic {
    /// Whether `--quick` leaves it out where it is not named.
    fn is_large(self) -> bool {
        matches!(self, Self::Household | Self::Crowd)
    }
}

/// The parts that run as processes of their own.
#[derive(Debug, Subcommand)]
enum Part {
    /// Play the model until stdin closes
    #[command(hide = true)]
    Serve {
        /// How long each answer takes
        #[arg(long, default_value_t = 0)]
        latency_ms: u64,
        /// Keep every sub-agent's last answer back until it is asked for
        #[arg(long)]
        hold: bool,
    },
    /// Start the server for a log that grows, and follow the commands on stdin
    #[command(hide = true)]
    ServeEvents(watchers::Past),
    /// Broadcast what a server sent, and follow the commands on stdin
    #[command(hide = true)]
    ServeBroadcast(watchers::Recorded),
    /// Take one measurement and print it as a line of JSON
    #[command(hide = true, subcommand)]
    Measure(Measure),
}

/// One measurement.
#[derive(Debug, Subcommand)]
enum Measure {
    /// A root and its sub-agents, by Majordomo
    FanOut(FanOut),
    /// The same requests, by a client and nothing else
    Bare {
        #[command(flatten)]
        fan_out: FanOut,
        /// A database of Majordomo in which the same work was done, to take the events from
        #[arg(long)]
        recorded: Option<PathBuf>,
    },
    /// `majordomo run` with many sub-agents, as a process
    Program(Program),
    /// The same requests as `majordomo run`, by a client and nothing else
    BareProgram {
        #[command(flatten)]
        fan_out: FanOut,
        /// The data folder of that run, to take the events from
        #[arg(long)]
        recorded: PathBuf,
        /// Write each request and read each answer, instead of sending prepared bytes and dropping what comes
        #[arg(long)]
        reads: bool,
    },
    /// Memory while all sub-agents run
    Held(FanOut),
    /// Write a long thread and leave it in the middle
    WriteLong(Log),
    /// Go on with that thread
    Reopen(Log),
    /// Write idle threads
    WriteCrowd(Log),
    /// Open a database, and list its newest threads
    List(Log),
    /// Append to many threads of a database
    Append(Appends),
    /// The same rows, by a client and nothing else
    AppendBare(Appends),
    /// Write idle threads to a database
    WriteMany(InDatabase),
    /// List the newest threads of a database
    ListMany(InDatabase),
    /// Write a board of tasks, and idle agents
    WriteBoard(BoardSize),
    /// List a page of its tasks
    ListTasks(BoardSize),
    /// Move some of its tasks
    MoveTasks(BoardSize),
    /// Speak to one of its idle agents
    Wake(BoardSize),
    /// Run a command that writes a file, many times
    Commands(Commands),
    /// Memory of commands while they run
    HeldCommands(Commands),
    /// Write a household
    WriteHousehold(Amount),
    /// Read its notes for the first time
    IndexNotes(Place),
    /// Read its mails for the first time
    IndexMails(Place),
    /// Search its notes
    SearchNotes {
        #[command(flatten)]
        place: Place,
        #[arg(long, value_enum)]
        way: Way,
    },
}

/// Where a household is.
#[derive(Clone, Debug, Args)]
struct Place {
    #[arg(long)]
    folder: PathBuf,
}

/// How much is in a household.
#[derive(Clone, Debug, Args)]
struct Amount {
    #[arg(long)]
    folder: PathBuf,
    #[arg(long)]
    notes: usize,
    #[arg(long)]
    mails: usize,
}

/// Who searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    /// A process of Majordomo that has done so before.
    Later,
    /// One that has not: it looks at every file.
    First,
    /// A question to the tables and nothing else.
    Bare,
}

/// Where commands run, and through what.
#[derive(Clone, Debug, Args)]
struct Commands {
    /// The workspace
    #[arg(long)]
    workspace: PathBuf,
    #[arg(long, value_enum)]
    through: Through,
}

/// What runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Through {
    /// `sh -c`, and nothing else.
    Sh,
    /// `run_command` without a sandbox.
    Plain,
    /// `run_command` in a sandbox.
    Sandbox,
}

/// How many sub-agents, against which model, remembered how.
#[derive(Clone, Debug, Args)]
struct FanOut {
    #[arg(long)]
    server: String,
    #[arg(long)]
    children: usize,
    #[arg(long, value_enum)]
    keep: Keep,
    /// The database
    #[arg(long)]
    database: PathBuf,
}

/// How the program is run.
#[derive(Clone, Debug, Args)]
struct Program {
    #[arg(long)]
    server: String,
    #[arg(long)]
    children: usize,
    /// A data folder that does not exist yet
    #[arg(long)]
    data: PathBuf,
    /// Show progress on a terminal
    #[arg(long)]
    progress: bool,
}

/// A database and how much is in it.
#[derive(Clone, Debug, Args)]
struct Log {
    #[arg(long)]
    database: PathBuf,
    #[arg(long, default_value_t = 0)]
    count: usize,
}

/// Appends to a PostgreSQL database.
#[derive(Clone, Debug, Args)]
struct Appends {
    /// Its address
    #[arg(long)]
    store: String,
    /// What is in the names of the threads of this round
    #[arg(long)]
    round: String,
    #[arg(long)]
    threads: usize,
    /// Commits to each thread
    #[arg(long)]
    commits: usize,
}

/// A PostgreSQL database and how much is in it.
#[derive(Clone, Debug, Args)]
struct InDatabase {
    /// Its address
    #[arg(long)]
    store: String,
    #[arg(long)]
    count: usize,
}

/// A database with a board, and how much is in it.
#[derive(Clone, Debug, Args)]
struct BoardSize {
    #[arg(long)]
    database: PathBuf,
    #[arg(long, default_value_t = 0)]
    tasks: usize,
    #[arg(long, default_value_t = 0)]
    agents: usize,
    /// The model that an agent asks
    #[arg(long)]
    server: Option<String>,
}

/// What is remembered, and how well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Keep {
    /// Nothing outlives the process.
    Memory,
    /// A log that survives the process.
    Normal,
    /// A log that survives the loss of power.
    Full,
}

impl Keep {
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Normal => "normal",
            Self::Full => "full",
        }
    }

    fn words(self) -> String {
        match self {
            Self::Memory => "no log".to_owned(),
            Self::Normal | Self::Full => format!("log `{}`", self.name()),
        }
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let scales = Bench::parse();
    let runtime = tokio::runtime::Runtime::new()?;
    match scales.part {
        None => runtime.block_on(suite::run(scales.quick, &scales.only))?,
        Some(Part::Serve { latency_ms, hold }) => runtime.block_on(model_server::serve(latency_ms, hold))?,
        Some(Part::ServeEvents(past)) => runtime.block_on(watchers::serve_events(&past))?,
        Some(Part::ServeBroadcast(recorded)) => runtime.block_on(watchers::serve_broadcast(&recorded))?,
        Some(Part::Measure(measure)) => {
            let taken = match measure {
                Measure::FanOut(fan_out) => runtime.block_on(fan_out::measure(&fan_out)),
                Measure::Bare { fan_out, recorded } => runtime.block_on(bare::measure(&fan_out, recorded.as_deref())),
                Measure::Program(program) => runtime.block_on(program::measure(&program)),
                Measure::BareProgram { fan_out, recorded, reads } => {
                    runtime.block_on(bare::measure_program(&fan_out, &recorded, reads))
                }
                Measure::Held(fan_out) => runtime.block_on(memory_in_use::measure(&fan_out)),
                Measure::WriteLong(log) => runtime.block_on(reopen::write(&log)),
                Measure::Reopen(log) => runtime.block_on(reopen::measure(&log)),
                Measure::WriteCrowd(log) => runtime.block_on(idle_threads::write(&log)),
                Measure::List(log) => runtime.block_on(idle_threads::measure(&log)),
                Measure::Append(appends) => runtime.block_on(cluster::append::measure(&appends)),
                Measure::AppendBare(appends) => runtime.block_on(cluster::append::measure_bare(&appends)),
                Measure::WriteMany(many) => {
                    runtime.block_on(idle_threads::write_to(cluster::store(&many.store)?, many.count))
                }
                Measure::ListMany(many) => {
                    runtime.block_on(idle_threads::measure_in(cluster::store(&many.store)?, many.count))
                }
                Measure::WriteBoard(size) => runtime.block_on(board::write(&size)),
                Measure::ListTasks(size) => runtime.block_on(board::list(&size)),
                Measure::MoveTasks(size) => runtime.block_on(board::move_tasks(&size)),
                Measure::Wake(size) => runtime.block_on(board::wake(&size)),
                Measure::Commands(commands) => runtime.block_on(commands::measure(&commands)),
                Measure::HeldCommands(commands) => runtime.block_on(commands::measure_held(&commands)),
                Measure::WriteHousehold(amount) => household_index::write(&amount),
                Measure::IndexNotes(place) => household_index::index_notes(&place),
                Measure::IndexMails(place) => runtime.block_on(household_index::index_mails(&place)),
                Measure::SearchNotes { place, way } => household_index::search(&place, way),
            }?;
            println!("{}", serde_json::to_string(&taken)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}
