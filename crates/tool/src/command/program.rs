//! A program that runs beside the work and is talked to, such as a server of tools: started in the sandbox of commands, with pipes for
//! its input, output and errors, and ended with everything that it has started.
//!
//! Unlike a command it has no time limit and nothing reads its output here: that is for the code that talks to it. Its guard ends it when
//! this process ends, however that happens.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use tokio::net::unix::pipe;

use super::running::{Launch, RunningCommand};
use super::{CommandHost, How, environment};
use crate::context::ToolContext;
use crate::sandbox::plan::{Cache, Kept, Network};
use crate::sandbox::{Confinement, Sandbox, Writing};
use crate::watch::{self, Watch};
use crate::workspace::Workspace;

/// A program to start.
#[derive(Clone, Debug)]
pub struct ProgramSpec {
    /// The program and its arguments. A name without a slash is searched on the path, without folders of the workspace.
    pub command: Vec<OsString>,
    /// The variables that are named for it. Besides them it gets `PATH`, `HOME`, `LANG` and `TMPDIR`.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder that it is started in, in the workspace; the workspace itself where none is given.
    pub cwd: Option<String>,
    /// Whether it has a network.
    pub network: bool,
    /// A folder of its own that it may write and that stays; in the sandbox it is the cache folder of the home folder.
    pub cache: Option<PathBuf>,
}

/// A program that runs. Dropping it ends it.
pub struct Program {
    /// What is written here is its input.
    pub input: pipe::Sender,
    /// What it prints.
    pub output: pipe::Receiver,
    /// What it prints as errors.
    pub errors: pipe::Receiver,
    /// Its end.
    pub life: ProgramLife,
}

/// The processes of a program. Dropping it ends them.
pub struct ProgramLife {
    running: RunningCommand,
    is_sandboxed: bool,
}

impl CommandHost {
    /// Starts a program in a workspace, in the sandbox of this host where one is in force. Files that a rule forbids to read are hidden
    /// from it; where they cannot be, it is not started.
    #[boxed]
    pub async fn start_program(&self, workspace: &Arc<Workspace>, spec: &ProgramSpec) -> Result<Program, String> {
        let sandbox = if self.can_confine() { self.sandbox.clone() } else { Sandbox::default() };
        let (folder, cache, network) = (workspace.clone(), spec.cache.clone(), spec.network);
        let planned = tokio::task::spawn_blocking(move || {
            let mut look = watch::look(folder.root())?;
            let network = if network { Network::On } else { Network::Off };
            let writing = Writing::Workspace { look: &mut look, consented: &[] };
            let mut plan = sandbox.plan(&folder, &mut Confinement { network, writing })?;
            match &mut plan {
                Some(plan) => {
                    // The folder that is made for a mount would be there as long as the program runs, and other processes would take it
                    // for the root of a project. What is put there counts for nothing before a person trusts it.
                    plan.kept.retain(|kept| !matches!(kept, Kept::Absent(path) if path.ends_with(".majordomo")));
                    plan.cache = cache.map(made).transpose()?;
                }
                None => {
                    if let Some(hidden) = folder.unreadable().found()?.first() {
                        let hidden = hidden.display();
                        return Err(format!(
                            "a rule forbids reading {hidden}, and without a sandbox it cannot be hidden"
                        ));
                    }
                }
            }
            Ok(plan)
        });
        let plan = planned.await.map_err(|broken| format!("the sandbox failed: {broken}"))??;
        let place = workspace.path(spec.cwd.as_deref().unwrap_or(".")).map_err(|error| error.to_string())?;
        let cwd = workspace.folder(&place).map_err(|error| error.to_string())?;
        let started = async {
            let (input, ours) = io::pipe()?;
            let (theirs, output) = io::pipe()?;
            let (printed, errors) = io::pipe()?;
            let launch = Launch {
                command: spec.command.clone(),
                environment: environment::for_program(std::env::vars_os(), workspace.root(), &spec.environment),
                cwd: &cwd,
                plan: plan.as_ref(),
                output: output.into(),
                talk: Some((input.into(), errors.into())),
            };
            let running = RunningCommand::launch(self, launch).await?;
            Ok::<_, io::Error>(Program {
                input: pipe::Sender::from_owned_fd(ours.into())?,
                output: pipe::Receiver::from_owned_fd(theirs.into())?,
                errors: pipe::Receiver::from_owned_fd(printed.into())?,
                life: ProgramLife { running, is_sandboxed: plan.is_some() },
            })
        };
        started.await.map_err(|error| error.to_string())
    }
}

impl ProgramLife {
    /// Whether it runs in a sandbox.
    pub fn is_sandboxed(&self) -> bool {
        self.is_sandboxed
    }

    /// Begins to end it and everything that it has started; [`ended`](Self::ended) says when that is done.
    pub fn end(&mut self) {
        self.running.end();
    }

    /// Waits until nothing of it is left, and says how it ended, as the end of a sentence.
    #[boxed]
    pub async fn ended(&mut self) -> String {
        match self.running.ended().await {
            // Shells and sandboxes report a signal so.
            Ok(ending) => match ending.how {
                How::Exited(code @ 129..=192) if self.is_sandboxed => format!("it was ended by signal {}", code - 128),
                How::Exited(127) if self.is_sandboxed => {
                    "it exited with code 127: the program was not found".to_owned()
                }
                How::Exited(code) => format!("it exited with code {code}"),
                How::Signaled(signal) => format!("it was ended by signal {signal}"),
                How::TimedOut | How::Stopped | How::Flooded | How::Filled | How::Lost => "it was ended".to_owned(),
            },
            Err(error) => error.to_string(),
        }
    }
}

/// A folder that exists, and where a program finds it.
fn made(folder: PathBuf) -> Result<Cache, String> {
    let cannot = |error: io::Error| format!("its cache folder {} cannot be made: {error}", folder.display());
    std::fs::create_dir_all(&folder).map_err(cannot)?;
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let shown_at = home.iter().flat_map(|home| [home.join(".cache"), home.join(".npm")]);
    // A place that is not there could not be mounted on a file system that is read-only.
    let shown_at = shown_at.filter(|place| is_folder(place)).collect();
    Ok(Cache { folder, shown_at })
}

fn is_folder(place: &Path) -> bool {
    place.is_dir() || place.ends_with(".cache") && std::fs::create_dir_all(place).is_ok()
}

/// Watches over the protected places of the workspace while `act` goes on, as over a command. What it has done there without consent is put
/// back; a line each says so.
pub async fn watched<T>(
    context: &ToolContext,
    timeout_s: u64,
    act: impl Future<Output = T>,
) -> Result<(T, Vec<String>), String> {
    let (root, data) = (context.workspace.root().to_owned(), context.data.clone());
    let call = format!("{}_{}", context.thread, context.call);
    let timeout_s = i64::try_from(timeout_s).unwrap_or(i64::MAX / 2);
    let begun = tokio::task::spawn_blocking(move || {
        let unnoted = |error| format!("protected files cannot be noted in the state folder: {error}");
        let left = watch::settle_left_in(data.as_deref(), &root);
        let registered = watch::Registered::new(&root, data.as_deref(), &[]).map_err(unnoted)?;
        let look = watch::look(&root)?;
        let watched = watch::Watched { call, timeout_s, keeps_new: false };
        Ok::<_, String>((Watch::begin(registered, look, &watched).map_err(unnoted)?, left))
    });
    let (watch, mut lines) = begun.await.map_err(|broken| format!("the watch failed: {broken}"))??;
    let came = act.await;
    let settled = tokio::task::spawn_blocking(move || watch.settle()).await;
    lines.extend(settled.unwrap_or_else(|broken| vec![format!("protected files could not be compared: {broken}")]));
    Ok((came, lines))
}
