//! `run_command`: a shell command in the workspace, in a sandbox, with all that it starts ended when it
//! ends.
//!
//! A command that is read as only looking runs where nothing can be written, so that a wrong reading costs an error and not
//! a file. Any other one may write the workspace, but for its protected places.
//!
//! The words and the bounds are here; how a command is started, watched and ended is `command`'s, and the sandbox is
//! `sandbox`'s. A command runs without a sandbox only where no sandbox is in force, which its result then says.

mod named;
mod tree;

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
use crate::command::{CommandHost, CommandSpec, Finish, How, run};
use crate::context::ToolContext;
use crate::error::Error;
use crate::on_path::refused;
use crate::protected;
use crate::read_file::{RESULTS, SAVED_RESULT};
use crate::sandbox::plan::{Network, Plan};
use crate::sandbox::{Confinement, Sandbox, Writing};
use crate::tool::{STOPPED, Tool, info};
use crate::watch::{self, Watch};
use crate::workspace::{WorkPath, Workspace};

/// What models call it by.
pub(crate) const NAME: &str = "run_command";

const DEFAULT_TIMEOUT_S: u64 = 120;
const MAX_TIMEOUT_S: u64 = 600;
/// How often a sandbox is built for one command before it is given up.
const MAX_TRIES: u32 = 5;
/// The kernel takes no single argument above 128 KiB.
const MAX_COMMAND_BYTES: usize = 100 * 1024;

pub(crate) fn tool(host: CommandHost) -> impl Tool {
    RunCommand { info: info(NAME, DESCRIPTION, SCHEMA, Reach::World, false, Risk::High), host }
}

const DESCRIPTION: &str = "Run a shell command in the workspace, without input or terminal. Returns stdout and stderr together and the exit code. Background processes end with it.";

const SCHEMA: &str = r#"{"type":"object","properties":{"command":{"type":"string"},"timeout_s":{"type":"integer","description":"default 120, at most 600"},"cwd":{"type":"string","description":"folder in the workspace"},"network":{"type":"boolean","description":"needs a person's consent"}},"required":["command"]}"#;

const EXAMPLE: &str = r#"{"command": "cargo test", "timeout_s": 300}"#;

struct RunCommand {
    info: ToolInfo,
    host: CommandHost,
}

#[derive(Deserialize)]
pub(crate) struct Args {
    #[serde(alias = "cmd")]
    pub command: String,
    #[serde(default, alias = "timeout", deserialize_with = "args::number")]
    pub timeout_s: Option<u64>,
    #[serde(default, alias = "workdir", alias = "dir")]
    pub cwd: Option<String>,
    #[serde(default, deserialize_with = "args::flag")]
    pub network: bool,
}

impl Args {
    /// The folder that the command runs in.
    fn place(&self, workspace: &Workspace) -> Result<WorkPath, Error> {
        workspace.path(self.cwd.as_deref().unwrap_or("."))
    }
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

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let Call { args, ignored } = match Call::<Args>::read(input, &self.info.name, EXAMPLE) {
                Ok(call) => call,
                Err(wrong) => return wrong,
            };
            ignored.named_in(self.act(args, context).await)
        })
    }
}

impl RunCommand {
    /// What a command would do: by its text, by its sandbox, and by whether it asks for a network.
    fn judge(&self, args: &Args, workspace: &Path) -> Assessment {
        // Where the workspace cannot be opened no command can be run in it either.
        let opened = Workspace::open(workspace).and_then(|workspace| {
            let place = args.place(&workspace)?;
            Ok((workspace.root().to_owned(), workspace.destination(&place).real, place))
        });
        let (root, cwd, place) = match opened {
            Ok((root, real, place)) => (root, real.display().to_string(), place.to_string()),
            Err(refusal @ Error::Path { .. }) => return refused(&refusal),
            Err(_) => (workspace.to_owned(), workspace.display().to_string(), ".".to_owned()),
        };
        let workspace = root.as_path();
        let read = self.read(args, workspace, &place);
        let shell::Assessment { reach, risk, why, parts, acts, perhaps, is_plain, standing, .. } = &read.shell;
        let is_sandboxed = self.host.is_confining();
        let tree = self.in_tree(&read, workspace, &cwd);
        let protected: BTreeSet<Arc<str>> = read.protected.iter().cloned().chain(tree.places()).collect();
        let mut effect = why.clone();
        if !tree.paths.is_empty() {
            effect.push_str(&format!("; it would change {}, which is protected", tree.shown()));
        }
        if read.network {
            effect.push_str("; with a network");
        }
        if !is_sandboxed {
            effect.push_str("; without a sandbox");
        }
        Assessment {
            // Without a sandbox nothing bounds what a command does, whatever its text says.
            reach: if read.network || !is_sandboxed { Reach::World } else { *reach },
            risk: match (read.network, is_sandboxed) {
                (true, _) => Risk::Critical,
                (false, false) => (*risk).max(Risk::High),
                (false, true) if protected.is_empty() => *risk,
                (false, true) => (*risk).max(Risk::High),
            },
            effect: effect.into(),
            is_readable: !parts.is_empty(),
            also: acts.iter().filter(|act| !parts.contains(act)).map(|act| act.as_str().into()).collect(),
            perhaps: perhaps.iter().map(|act| act.as_str().into()).collect(),
            subjects: parts.iter().map(|part| part.as_str().into()).collect(),
            is_plain: *is_plain,
            standing: standing.as_deref().filter(|_| protected.is_empty() && !read.network).map(Arc::from),
            digest: {
                // One that only looks is not asked about for what it reads.
                let named = (!read.is_read_only).then(|| named::contents(&args.command, Path::new(&cwd), workspace));
                let named = named.unwrap_or_default();
                format!("{cwd} {} {:?}{named}", if is_sandboxed { "sandboxed" } else { "bare" }, tree.paths).into()
            },
            protected: protected.into_iter().collect(),
        }
    }

    /// What the text of a command says that works in `place`, a folder of the workspace.
    fn read(&self, args: &Args, workspace: &Path, place: &str) -> Read {
        let shell = shell::assess_in(&args.command, workspace.to_str());
        let network = shell.network || args.network;
        let is_read_only = shell.reach == Reach::ReadOnly && !network && self.host.is_confining();
        let named = |name: &String| {
            let path = if name.starts_with('/') { name.clone() } else { format!("{place}/{name}") };
            protected::place(&format!("{place}/{name}")).or_else(|| protected::place_by_path(workspace, &path))
        };
        let protected: BTreeSet<Arc<str>> = shell.touched.names.iter().filter_map(named).map(Arc::from).collect();
        Read { shell, network, is_read_only, protected }
    }

    /// The protected files that a command would change by what the workspace holds, and not by what its text names.
    fn in_tree(&self, read: &Read, workspace: &Path, cwd: &str) -> tree::Changes {
        if read.is_read_only {
            return tree::Changes::default();
        }
        tree::changes(&self.host, &read.shell, workspace, Path::new(cwd))
    }

    async fn act(&self, args: Args, context: &ToolContext) -> ToolResult {
        if args.command.contains('\0') {
            return ToolResult::error("the command was not run: it holds a NUL");
        }
        if args.command.len() > MAX_COMMAND_BYTES {
            return ToolResult::error("the command was not run: it is too long; write it to a file and run that");
        }
        let place = match args.place(&context.workspace) {
            Ok(place) => place,
            Err(error) => return ToolResult::error(format!("the command was not run: {error}")),
        };
        // The text says the same as when the call was judged: what it names in protected places was consented to, or the
        // call would not have come here. What only the workspace says was, if a person was asked.
        let root = context.workspace.root().to_owned();
        let mut read = self.read(&args, &root, place.as_str());
        // A call that was let through as one that only reads never gets more, however it is read here.
        read.is_read_only |= context.reach == Some(Reach::ReadOnly);
        let mut consented: Vec<Arc<str>> = read.protected.iter().cloned().collect();
        if context.is_approved {
            let cwd = context.workspace.destination(&place).real.display().to_string();
            consented.extend(self.in_tree(&read, &root, &cwd).places());
        }
        let timeout_s = args.timeout_s.unwrap_or(DEFAULT_TIMEOUT_S).clamp(1, MAX_TIMEOUT_S);
        let mut tries = 0;
        let (finished, found, is_sandboxed) = loop {
            let Surroundings { plan, watch, left } =
                match self.surroundings(context, &read, &consented, timeout_s).await {
                    Ok(surroundings) => surroundings,
                    Err(problem) => return ToolResult::error(format!("the command was not run: {problem}")),
                };
            let finished = match context.workspace.folder(&place) {
                Err(error) => Err(io::Error::other(error)),
                Ok(_) if context.stop.is_cancelled() => Err(io::Error::other(STOPPED)),
                Ok(cwd) => {
                    let spec = CommandSpec {
                        command: &args.command,
                        root: context.workspace.root(),
                        cwd,
                        plan: plan.as_ref(),
                        timeout: Duration::from_secs(timeout_s),
                        stop: &context.stop,
                        progress: context.progress.as_ref(),
                    };
                    run(&self.host, spec).await
                }
            };
            let found = [left, settled(watch).await].concat();
            tries += 1;
            match &finished {
                // A mount point was removed by another command's end.
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy && tries < MAX_TRIES => {}
                Ok(_) | Err(_) => break (finished, found, plan.is_some()),
            }
        };
        for line in &found {
            tracing::warn!(thread = %context.thread, "run_command: {line}");
        }
        let mut notes = found.clone();
        if !is_sandboxed {
            notes.extend(self.host.apology().map(|why| format!("not sandboxed: {why}")));
        }
        let origin = match (read.network, names_results(&args.command, &place, &root)) {
            (true, _) => Some(Arc::from("output of a command with a network")),
            (false, true) => Some(Arc::from(SAVED_RESULT)),
            (false, false) => None,
        };
        let result = match finished {
            Ok(finish) => ToolResult { foreign: origin, ..told(&finish, timeout_s, is_sandboxed, &notes) },
            Err(error) => ToolResult::error(format!("the command could not be started: {error}")),
        };
        ToolResult { is_error: result.is_error || !found.is_empty(), ..result }
    }

    /// The sandbox of one command and the watch over what is protected; no plan where no sandbox is in force.
    async fn surroundings(
        &self,
        context: &ToolContext,
        read: &Read,
        consented: &[Arc<str>],
        timeout_s: u64,
    ) -> Result<Surroundings, String> {
        let sandbox = if self.host.can_confine() { self.host.sandbox.clone() } else { Sandbox::default() };
        let (context, consented) = (context.clone(), consented.to_vec());
        let (network, is_read_only) = (read.network, read.is_read_only);
        let network = if network { Network::On } else { Network::Off };
        let is_clone = read.shell.touched.git.iter().any(|call| matches!(call.verb.as_str(), "clone" | "submodule"));
        let timeout_s = i64::try_from(timeout_s).unwrap_or(i64::MAX / 2);
        let built = tokio::task::spawn_blocking(move || {
            let workspace = &context.workspace;
            if is_read_only {
                let plan = sandbox.plan(workspace, &mut Confinement { network, writing: Writing::Nothing })?;
                let plan = plan.ok_or("nothing keeps it from writing: the sandbox is not in force any more")?;
                return Ok(Surroundings { plan: Some(plan), watch: None, left: Vec::new() });
            }
            let left = watch::settle_left_in(context.data.as_deref(), workspace.root());
            let unnoted = |error| format!("protected files cannot be noted in the state folder: {error}");
            let registered =
                watch::Registered::new(workspace.root(), context.data.as_deref(), &consented).map_err(unnoted)?;
            let mut look = watch::look(workspace.root())?;
            let writing = Writing::Workspace { look: &mut look, consented: &consented };
            let plan = sandbox.plan(workspace, &mut Confinement { network, writing })?;
            if let (None, Some(hidden)) = (&plan, workspace.unreadable().found()?.first()) {
                return Err(format!(
                    "a rule forbids reading {}, and without a sandbox it cannot be hidden from a command",
                    hidden.display()
                ));
            }
            let call = format!("{}_{}", context.thread, context.call);
            let watched = watch::Watched { call, timeout_s, keeps_new: is_clone && context.is_approved };
            let watch = Watch::begin(registered, look, &watched);
            let watch = watch.map_err(unnoted)?;
            Ok(Surroundings { plan, watch: Some(watch), left })
        });
        built.await.map_err(|broken| format!("the sandbox failed: {broken}"))?
    }
}

/// What the text of a command says.
struct Read {
    shell: shell::Assessment,
    /// Whether it needs a network. The person or rule that allowed the command was told so, where it plainly does.
    network: bool,
    /// Whether it runs where nothing can be written.
    is_read_only: bool,
    /// Protected places that it names and may write.
    protected: BTreeSet<Arc<str>>,
}

/// What is around one command.
struct Surroundings {
    plan: Option<Plan>,
    watch: Option<Watch>,
    /// What was put in order before, after commands of a process that was killed.
    left: Vec<String>,
}

/// What a command has done to protected files all the same, and what was done about it, a line each.
async fn settled(watch: Option<Watch>) -> Vec<String> {
    let Some(watch) = watch else { return Vec::new() };
    let settled = tokio::task::spawn_blocking(move || watch.settle()).await;
    settled.unwrap_or_else(|broken| vec![format!("protected files could not be compared: {broken}")])
}

/// What a command came to, in words.
fn told(finish: &Finish, timeout_s: u64, is_sandboxed: bool, notes: &[String]) -> ToolResult {
    let took = format!("{:.1} s", finish.took.as_secs_f64());
    let how = match &finish.how {
        // A shell that was ended by a signal is reported by the sandbox as shells report it of others.
        How::Exited(code @ 129..=192) if is_sandboxed => format!("exit code {code} (signal {}), {took}", code - 128),
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

/// Whether a command names the folder of saved results, or runs in it: what it prints may be theirs. A glob that finds the folder without
/// naming it is not seen.
fn names_results(command: &str, place: &WorkPath, root: &Path) -> bool {
    let folder = RESULTS.split('/').next().unwrap_or_default();
    let plain: String = command.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    (plain.contains(folder) || place.as_str().starts_with(folder)) && root.join(RESULTS).is_dir()
}
