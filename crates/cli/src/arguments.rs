//! The command line: its words, its flags, their help.

mod judging;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use majordomo::config::Flags;

pub use self::judging::{Explain, Trust, TrustCommand};

/// Gives any language model a staff: agents that hand work to sub-agents, within budgets, with everything remembered.
#[derive(Debug, Parser)]
#[command(name = "majordomo", version, arg_required_else_help = true, max_term_width = 110)]
pub struct Desk {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Do one task, then exit. The answer goes to stdout, everything else to stderr
    #[command(after_help = RUN_HELP)]
    Run(Box<Run>),
    /// List threads, show one, go on with one
    #[command(subcommand)]
    Thread(ThreadCommand),
    /// Show what runs, as a tree
    Ps {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Go on until nothing runs any more
        #[arg(long, conflicts_with = "json")]
        watch: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Stop a thread and everything below it, and wait until that is true
    Stop {
        /// The thread, or a beginning of its name
        thread: String,
        /// Without a last word
        #[arg(long)]
        now: bool,
        /// Why, for its report
        #[arg(long, default_value = "a person stopped it")]
        reason: String,
        #[command(flatten)]
        place: Place,
    },
    /// Tell a running thread something; it reads it at its next step
    Steer {
        /// The thread, or a beginning of its name
        thread: String,
        /// What to tell it
        text: String,
        #[command(flatten)]
        place: Place,
    },
    /// List what agents ask a person's consent for, show it, decide it
    #[command(subcommand)]
    Approve(ApproveCommand),
    /// Say what would become of a call of a thread: allow, ask or deny, by whose word and which rule
    Explain(Explain),
    /// Show what a project's files would bring into force, and trust them or not
    Trust(Trust),
    /// Open a window on the house: a page for your browser, and HTTP with live events for programs
    Serve(Box<Serve>),
    /// A household to try things on
    #[command(subcommand)]
    Demo(DemoCommand),
    /// List the agents that a task can be given to
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// Show the configuration that holds
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Look at everything that a run stands on, and say what is wrong
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        settings: Settings,
    },
    /// Print a completion script for a shell
    Completion {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const RUN_HELP: &str = "Exit codes: 0 done · 1 failed · 2 usage · 3 configuration · 4 provider, key or network · \
    5 something was refused for want of a person · 6 budget · 7 timeout · 9 stopped · \
    130/143 interrupted (go on with: majordomo thread resume ID)";

/// `majordomo run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The task; - reads it from stdin. What is piped in besides is added to it
    pub prompt: Option<String>,
    /// JSON Schema that the answer must fit
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Look after the sample household, whose clock stands at 2026-01-15
    #[arg(long)]
    pub demo: bool,
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
    /// Where to listen. Anything but this machine needs a password in MAJORDOMO_PASSWORD
    #[arg(long, default_value = "127.0.0.1:4870")]
    pub addr: String,
    /// A further name under which the window is known, as browsers have it in their address line
    #[arg(long, value_name = "HOST")]
    pub name: Vec<String>,
    /// Open a browser
    #[arg(long)]
    pub open: bool,
    /// Look after the sample household, whose clock stands at 2026-01-15
    #[arg(long)]
    pub demo: bool,
    /// Read the page's files from a folder, for work on the page
    #[arg(long, value_name = "DIR", hide = true)]
    pub page: Option<PathBuf>,
    #[command(flatten)]
    pub settings: Settings,
}

/// Who answers an agent's questions.
#[derive(Debug, Default, Args)]
pub struct Questions {
    /// Who consents to what needs a person: ask at this terminal, wait for `majordomo approve`, or deny
    /// [default: ask at a terminal, else deny]
    #[arg(long, value_enum, value_name = "ask|wait|deny", hide_possible_values = true)]
    pub approvals: Option<Approvals>,
}

/// Who answers an agent's questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Approvals {
    /// A person at this terminal.
    Ask,
    /// Whoever decides from elsewhere, sooner or later.
    Wait,
    /// Nobody: policy answers at once.
    Deny,
}

/// Settings that stand above all files.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub struct Settings {
    /// The agent that takes the task
    #[arg(short, long)]
    agent: Option<String>,
    /// The model, as provider/model
    #[arg(short, long, value_name = "PROVIDER/MODEL")]
    model: Option<String>,
    /// How much it may do without a person: plan, ask, auto, dangerous
    #[arg(long)]
    mode: Option<String>,
    /// The set of rules to begin with: default, opta, orion, zileo
    #[arg(long)]
    preset: Option<String>,
    /// Tool calls of the root
    #[arg(long, value_name = "N")]
    max_tool_calls: Option<String>,
    /// Requests to models of the whole run, sub-agents included (a number, or unlimited) [default: 20000]
    #[arg(long, value_name = "N")]
    max_requests: Option<String>,
    /// Tokens of the whole run, sub-agents included (a number, or unlimited) [default: 100000000]
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// Money of the whole run, in dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<String>,
    /// Time of the whole run, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<String>,
    /// Levels of sub-agents
    #[arg(long, value_name = "N")]
    max_depth: Option<String>,
    /// Descendants of one thread
    #[arg(long, value_name = "N")]
    max_children: Option<String>,
    /// Children of one thread that run at the same time
    #[arg(long, value_name = "N")]
    max_concurrent: Option<String>,
    #[command(flatten)]
    place: Place,
}

/// Where state lies, and any configuration key.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub struct Place {
    /// The folder for state
    #[arg(long, value_name = "DIR")]
    data: Option<String>,
    /// Any configuration key, several times
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
    /// With --jsonl: words of the models while they come, too
    #[arg(long, requires = "jsonl")]
    pub deltas: bool,
    /// With --jsonl: the shape of the events: canonical, kata, opta, orion, zileo
    #[arg(long, requires = "jsonl", value_name = "NAME")]
    pub dialect: Option<String>,
    /// Write the result to a file instead of stdout
    #[arg(short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Plain ASCII lines, as without a terminal
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
        /// How many
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
        /// Sub-agents too
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Show a thread's conversation
    Show {
        /// The thread, or a beginning of its name
        thread: String,
        /// Print the rows as JSON
        #[arg(long, conflicts_with = "jsonl")]
        json: bool,
        /// Print the events of the thread's whole family as they went out
        #[arg(long)]
        jsonl: bool,
        /// With --jsonl: the shape of the events: canonical, kata, opta, orion, zileo
        #[arg(long, requires = "jsonl", value_name = "NAME")]
        dialect: Option<String>,
        /// Whole results of tools
        #[arg(long)]
        full: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Go on with a run that was left in the middle, and print its answer
    Resume {
        /// The thread, or a beginning of its name
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
    /// List the questions that wait for a person, the newest first
    Ls {
        /// Those that are answered, too
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// How many
        #[arg(short = 'n', long, default_value_t = 100)]
        limit: usize,
        #[command(flatten)]
        place: Place,
    },
    /// Show a question with everything that its answer is bound to
    Show {
        /// The question, such as k3f9.1/2
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Allow what a question asks for: once, unless more is said
    Yes {
        /// The question, such as k3f9.1/2
        id: String,
        /// And whatever else of this thread fits the pattern that `approve show` tells
        #[arg(long)]
        thread: bool,
        /// And whatever fits that pattern from now on, as a standing consent (see `approve rules ls`)
        #[arg(long, conflicts_with = "thread")]
        always: bool,
        /// With these arguments in the place of the agent's
        #[arg(long, value_name = "JSON", conflicts_with_all = ["thread", "always"])]
        input: Option<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Refuse what a question asks for
    No {
        /// The question, such as k3f9.1/2
        id: String,
        /// Why, for the agent
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
    /// Lay the sample household into a new folder: mail, calendars, notes and contacts of somebody who does not exist
    Init {
        /// The folder, which is made
        folder: PathBuf,
    },
}

/// `majordomo agents`.
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// List the agents that are built in, yours, and those of a project that you trust
    Ls {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
}

/// `majordomo config`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every value and where it comes from
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        settings: Settings,
    },
}

impl Settings {
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
        Flags { data: self.data.clone(), set: self.set.clone(), ..Flags::default() }
    }
}
