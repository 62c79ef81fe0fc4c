//! `run_command`: a shell command in the workspace, behind the walls of a sandbox, with all that it starts ended when it
//! ends.
//!
//! The words and the bounds are here; how a command is started, watched and ended is `command`'s, and the walls are
//! `sandbox`'s. A command runs without walls only where no sandbox is in force, which its result then says.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::Json;
use agent::tools::{Assessment, Reach, Risk, ToolInfo, ToolResult};
use futures_util::future::BoxFuture;
use serde::Deserialize;

use crate::args::{self, Call};
use crate::bench::Bench;
use crate::command::{CommandHost, Finish, How, Order, run};
use crate::sandbox::plan::Network;
use crate::sandbox::{Sandbox, Walls};
use crate::tool::{STOPPED, Tool, info};
use crate::{named, protected};

const DEFAULT_TIMEOUT_S: u64 = 120;
const MAX_TIMEOUT_S: u64 = 600;
/// How often walls are built for one command before it is given up.
const MAX_TRIES: u32 = 5;
/// The kernel takes no single argument above 128 KiB.
const MAX_COMMAND_BYTES: usize = 100 * 1024;

pub(crate) fn tool(host: CommandHost) -> impl Tool {
    RunCommand { info: info("run_command", DESCRIPTION, SCHEMA, Reach::World, false, Risk::High), host }
}

const DESCRIPTION: &str = "Run a shell command in the workspace, without input or terminal. Returns stdout and stderr together and the exit code. Background processes end with it.";

const SCHEMA: &str = r#"{"type":"object","properties":{"command":{"type":"string"},"timeout_s":{"type":"integer","description":"default 120, at most 600"},"cwd":{"type":"string","description":"folder in the workspace"},"network":{"type":"boolean","description":"needs a person's consent"}},"required":["command"]}"#;

const EXAMPLE: &str = r#"{"command": "cargo test", "timeout_s": 300}"#;

struct RunCommand {
    info: ToolInfo,
    host: CommandHost,
}

#[derive(Deserialize)]
struct Args {
    #[serde(alias = "cmd")]
    command: String,
    #[serde(default, alias = "timeout", deserialize_with = "args::number")]
    timeout_s: Option<u64>,
    #[serde(default, alias = "workdir", alias = "dir")]
    cwd: Option<String>,
    #[serde(default, deserialize_with = "args::flag")]
    network: bool,
}

impl Tool for RunCommand {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, input: &Json, workspace: &Path) -> Assessment {
        match Call::<Args>::read(input, &self.info.name, EXAMPLE) {
            Ok(call) => self.judge(&call.args, workspace),
            // It fails before it does anything.
            Err(_) => Assessment { digest: "".into(), ..Assessment::of(&self.info, input) },
        }
    }

    fn run<'a>(&'a self, input: &'a Json, bench: &'a Bench) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let Call { args, ignored } = match Call::<Args>::read(input, &self.info.name, EXAMPLE) {
                Ok(call) => call,
                Err(wrong) => return wrong,
            };
            ignored.named_in(self.act(args, bench).await)
        })
    }
}

impl RunCommand {
    /// What a command would do: by its text, by the walls around it, and by whether it asks for a network.
    fn judge(&self, args: &Args, workspace: &Path) -> Assessment {
        let shell::Assessment { reach, risk, why, network, parts, is_plain, standing } = shell::assess(&args.command);
        let is_walled = self.host.is_confining();
        let network = network || args.network;
        let (_, cwd) = named::leads_to(&workspace.join(args.cwd.as_deref().unwrap_or(".")));
        let changes = reach > Reach::ReadOnly;
        let words = parts.iter().flat_map(|part| part.split(' ')).filter(|_| changes);
        let protected: BTreeSet<Arc<str>> = words.filter_map(protected::place).map(Arc::from).collect();
        let mut effect = why;
        if network {
            effect.push_str("; with a network");
        }
        if !is_walled {
            effect.push_str("; without a sandbox");
        }
        Assessment {
            // Without walls nothing bounds what a command does, whatever its text says.
            reach: if network || !is_walled { Reach::World } else { reach },
            risk: match (network, is_walled) {
                (true, _) => Risk::Critical,
                (false, false) => risk.max(Risk::High),
                (false, true) if protected.is_empty() => risk,
                (false, true) => risk.max(Risk::High),
            },
            effect: effect.into(),
            is_readable: !parts.is_empty() && !parts.iter().any(|part| hides(part)),
            subjects: parts.into_iter().map(Arc::from).collect(),
            also: Vec::new(),
            is_plain,
            standing: standing.filter(|_| protected.is_empty() && !network).map(Arc::from),
            protected: protected.into_iter().collect(),
            digest: format!("{cwd} {}", if is_walled { "walled" } else { "bare" }).into(),
        }
    }

    async fn act(&self, args: Args, bench: &Bench) -> ToolResult {
        if args.command.contains('\0') {
            return ToolResult::error("the command was not run: it holds a NUL");
        }
        if args.command.len() > MAX_COMMAND_BYTES {
            return ToolResult::error("the command was not run: it is too long; write it to a file and run that");
        }
        let place = match bench.workspace.path(args.cwd.as_deref().unwrap_or(".")) {
            Ok(place) => place,
            Err(error) => return ToolResult::error(format!("the command was not run: {error}")),
        };
        // Whoever let the command run knew that it needs a network, where it plainly does.
        let needs_network = args.network || shell::assess(&args.command).network;
        let network = if needs_network { Network::On } else { Network::Off };
        let timeout_s = args.timeout_s.unwrap_or(DEFAULT_TIMEOUT_S).clamp(1, MAX_TIMEOUT_S);
        let mut tries = 0;
        let (finished, notes, is_walled) = loop {
            let walls = match self.walls(bench, network).await {
                Ok(walls) => walls,
                Err(problem) => return ToolResult::error(format!("the command was not run: {problem}")),
            };
            let cwd = match bench.workspace.folder(&place) {
                Ok(cwd) => cwd,
                Err(error) => return ToolResult::error(format!("the command was not run: {error}")),
            };
            if bench.stop.is_cancelled() {
                return ToolResult::error(STOPPED);
            }
            let order = Order {
                command: &args.command,
                root: bench.workspace.root(),
                cwd,
                plan: walls.as_ref().map(|walls| &*walls.argument),
                timeout: Duration::from_secs(timeout_s),
                stop: &bench.stop,
                progress: bench.progress.as_ref(),
            };
            let is_walled = walls.is_some();
            let finished = run(&self.host, order).await;
            let notes = breaches(walls, bench).await;
            tries += 1;
            match &finished {
                // What the walls were to hang on was taken away by another command's end.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy && tries < MAX_TRIES => {}
                Ok(_) | Err(_) => break (finished, notes, is_walled),
            }
        };
        let mut notes = notes;
        if !is_walled {
            notes.extend(self.host.apology().map(|why| format!("not sandboxed: {why}")));
        }
        let origin = needs_network.then(|| Arc::from("output of a command with a network"));
        match finished {
            Ok(finish) => ToolResult { foreign: origin, ..told(&finish, timeout_s, is_walled, &notes) },
            Err(error) => ToolResult::error(format!("the command could not be started: {error}")),
        }
    }

    /// The walls for one command; none where no sandbox is in force.
    async fn walls(&self, bench: &Bench, network: Network) -> Result<Option<Walls>, String> {
        let sandbox = if self.host.can_confine() { self.host.sandbox.clone() } else { Sandbox::default() };
        let workspace = bench.workspace.clone();
        let built = tokio::task::spawn_blocking(move || match sandbox.walls(&workspace, network)? {
            Some(walls) => Ok(Some(walls)),
            None => match workspace.unreadable().found()?.first() {
                None => Ok(None),
                Some(hidden) => Err(format!(
                    "a rule forbids reading {}, and without a sandbox it cannot be hidden from a command",
                    hidden.display()
                )),
            },
        });
        built.await.map_err(|broken| format!("the sandbox broke off: {broken}"))?
    }
}

/// Whether a simple command runs something that its text does not say: then no rule can tell whether it is meant.
fn hides(part: &str) -> bool {
    const RUNNERS: [&str; 7] = ["eval", "source", ".", "sh", "bash", "dash", "zsh"];
    let program = part.split(' ').next().unwrap_or_default();
    program.contains(['$', '`', '*', '?', '[', '{', '~']) || RUNNERS.contains(&program)
}

/// What a command has put into protected places all the same.
async fn breaches(walls: Option<Walls>, bench: &Bench) -> Vec<String> {
    let (Some(walls), Ok(folder)) = (walls, bench.workspace.path(".").and_then(|root| bench.workspace.folder(&root)))
    else {
        return Vec::new();
    };
    let looked = tokio::task::spawn_blocking(move || walls.breaches(&folder)).await;
    looked.unwrap_or_else(|broken| vec![format!("protected places could not be looked at: {broken}")])
}

/// What a command came to, in words.
fn told(finish: &Finish, timeout_s: u64, is_walled: bool, notes: &[String]) -> ToolResult {
    let took = format!("{:.1} s", finish.took.as_secs_f64());
    let how = match &finish.how {
        // A shell that was ended by a signal is seen through the walls as shells tell it of others.
        How::Exited(code @ 129..=192) if is_walled => format!("exit code {code} (signal {}), {took}", code - 128),
        How::Exited(code) => format!("exit code {code}, {took}"),
        How::Signaled(signal) => format!("ended by signal {signal}, {took}"),
        How::TimedOut => format!("timed out after {timeout_s} s and was ended; what it printed until then is above"),
        How::Stopped => format!("stopped after {took}; what it printed until then is above"),
        How::Flooded => {
            format!("ended after {took}: it printed without end; send the output to a file, or limit it with head")
        }
        How::Filled => {
            format!("ended after {took}: it has nearly filled the disk; remove what it wrote and need not be")
        }
        How::Lost => format!("ended after {took} with its exit code unknown: the process that watched it was killed"),
    };
    let mut said = finish.output.clone();
    if !said.is_empty() && !said.ends_with('\n') {
        said.push('\n');
    }
    said.push_str(&format!("[{how}]"));
    if finish.swept > 0 && matches!(finish.how, How::Exited(_) | How::Signaled(_)) {
        said.push_str(&format!("\n[{} still running in the background ended with it]", processes(finish.swept)));
    }
    if finish.left > 0 {
        said.push_str(&format!("\n[{} could not be ended and may still run]", processes(finish.left)));
    }
    for note in notes {
        said.push_str(&format!("\n[{note}]"));
    }
    let is_error = finish.how != How::Exited(0);
    ToolResult { is_error, executed: is_error, ..ToolResult::ok(said) }
}

fn processes(number: usize) -> String {
    if number == 1 { "1 process".to_owned() } else { format!("{number} processes") }
}
