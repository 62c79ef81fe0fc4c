//! Starting a command in its sandbox: the guard's part, and that of the process which puts up its own.
//!
//! Either way the command is held at a gate until its limits are in force. If anything fails before the gate opens or on
//! the way to the command, the command is not run.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{BufRead, BufReader, PipeReader, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use rustix::fs::MemfdFlags;
use rustix::io::FdFlags;
use rustix::process::Pid;
use rustix::thread::CapabilitySet;

use super::bubblewrap::{self, Lines};
use super::limits::{self, Group};
use super::plan::{Access, Kept, MadeOf, Plan};
use super::{filter, mounted, ruleset};
use crate::command::processes::{self, ProcessInfo};
use crate::guard;

/// The argument that makes a guard's program confine itself: `<program> __guard confine <plan> <folder> <command> …`.
pub(crate) const CONFINE: &str = "confine";

/// A command that runs in a sandbox.
pub(crate) struct Started {
    /// The process that was started.
    pub leader: i32,
    startup: StartupStatus,
    /// Folders that were made as mount points.
    hung_on: Vec<PathBuf>,
    passing: Option<Passing>,
    _group: Group,
}

/// Who knows whether the command itself was ever begun.
enum StartupStatus {
    /// Bubblewrap writes the command's exit code, if there was a command. The first process of its namespace is its own.
    Bubblewrap { status: BufReader<PipeReader>, first: Option<Pid> },
    /// A process that cannot confine itself says why.
    Confined(UnixStream),
}

/// Starts a command in the sandbox of a plan.
pub(crate) fn start(plan: &Plan, command: impl Iterator<Item = OsString>) -> Result<Started, String> {
    let cwd = std::env::current_dir().map_err(|error| format!("the command's folder is gone: {error}"))?;
    if !cwd.starts_with(&plan.workspace) {
        return Err(format!("the sandbox is for {}, which is not there any more", plan.workspace.display()));
    }
    limits::set_own();
    let group = Group::new();
    match &plan.made_of {
        MadeOf::Bubblewrap(program) => behind_bubblewrap(plan, program, &cwd, command, group),
        MadeOf::Landlock => behind_landlock(plan, command, group),
    }
    .map_err(|problem| format!("the sandbox could not be built: {problem}"))
}

impl Started {
    /// Whether a process is part of the sandbox itself. It is not asked to end, for with it everything would be torn down at once.
    pub fn is_sandbox_process(&self, process: &ProcessInfo) -> bool {
        match self.startup {
            StartupStatus::Bubblewrap { first, .. } => {
                process.pid == self.leader || Pid::from_raw(process.pid) == first
            }
            StartupStatus::Confined(_) => false,
        }
    }

    /// Clears away, and tells why the command was not begun if it was not. Call it when all processes have ended.
    pub fn problem(mut self) -> Option<String> {
        let mut said = String::new();
        let problem = match &mut self.startup {
            StartupStatus::Bubblewrap { status, .. } => {
                let heard = status.read_to_string(&mut said).is_ok() && said.contains("\"exit-code\"");
                (!heard).then(|| "the sandbox could not be built, and the command was not run".to_owned())
            }
            StartupStatus::Confined(line) => {
                let _ = line.read_to_string(&mut said);
                (!said.is_empty()).then(|| format!("the sandbox could not be built: {said}"))
            }
        };
        for folder in &self.hung_on {
            // Only if it is empty: otherwise another process has put files there.
            let _ = std::fs::remove_dir(folder);
        }
        drop(self.passing.take());
        problem
    }
}

fn behind_bubblewrap(
    plan: &Plan,
    program: &Path,
    cwd: &Path,
    command: impl Iterator<Item = OsString>,
    group: Group,
) -> Result<Started, String> {
    let filter = in_memory(&filter::bytes(filter::Sockets::Internet, filter::Metadata::Open)?).map_err(words)?;
    let (status, status_end) = std::io::pipe().map_err(words)?;
    let (gate_end, gate) = std::io::pipe().map_err(words)?;
    inherited(&status_end)?;
    inherited(&gate_end)?;
    let lines = Lines { filter: filter.as_raw_fd(), status: status_end.as_raw_fd(), gate: gate_end.as_raw_fd() };
    let mut bwrap = Command::new(program);
    bwrap.args(bubblewrap::arguments(plan, cwd, &lines)).args(command).stdin(Stdio::null()).process_group(0);
    settled(&mut bwrap, plan, Path::new("/tmp"));
    let leader = bwrap.spawn().map_err(words)?.id().cast_signed();
    drop((filter, status_end, gate_end));
    let mut status = BufReader::new(status);
    let first = first_process(&mut status);
    if let Some(first) = first {
        if let Err(problem) = mounted::check(first, plan).and_then(|()| group.take(first)) {
            // It waits at the gate, which opens when this ends.
            processes::kill_group(leader);
            return Err(problem);
        }
        limits::set_processes(first);
    }
    // Without a first process none waits at the gate, and the startup will tell.
    drop(gate);
    let absent = |kept: &Kept| match kept {
        Kept::Absent(path) => Some(path.clone()),
        Kept::AsItIs(_) => None,
    };
    let hung_on = plan.kept.iter().filter_map(absent).collect();
    Ok(Started { leader, startup: StartupStatus::Bubblewrap { status, first }, hung_on, passing: None, _group: group })
}

fn behind_landlock(plan: &Plan, command: impl Iterator<Item = OsString>, group: Group) -> Result<Started, String> {
    let passing = Passing::new().map_err(words)?;
    let (ours, theirs) = UnixStream::pair().map_err(words)?;
    let argument = plan.to_argument().ok_or("a path is no text")?;
    let mut confined = Command::new("/proc/self/exe");
    confined.arg0("majordomo").args([guard::WORD, CONFINE, &argument]).arg(&passing.0).args(command);
    confined.stdin(OwnedFd::from(theirs)).process_group(0);
    settled(&mut confined, plan, &passing.0);
    let leader = confined.spawn().map_err(words)?.id().cast_signed();
    // The command object holds the other end of the line, whose end would never come.
    drop(confined);
    if let Some(first) = Pid::from_raw(leader) {
        group.take(first)?;
    }
    (&ours).write_all(b"!").map_err(words)?;
    Ok(Started {
        leader,
        startup: StartupStatus::Confined(ours),
        hung_on: Vec::new(),
        passing: Some(passing),
        _group: group,
    })
}

/// Confines this process and becomes the command. `args` are those that follow [`CONFINE`]. Comes back only if it fails.
pub(crate) fn confine(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let Ok(mut line) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::FAILURE;
    };
    let problem = become_the_command(&mut args, &mut line).unwrap_or_else(|problem| problem);
    // A guard that is gone needs no telling.
    let _ = line.write_all(problem.as_bytes());
    ExitCode::FAILURE
}

fn become_the_command(args: &mut impl Iterator<Item = OsString>, line: &mut UnixStream) -> Result<String, String> {
    let plan = args.next().and_then(|plan| Plan::from_argument(plan.to_str()?)).ok_or("there is no plan")?;
    let passing = args.next().map(PathBuf::from).ok_or("the folder for temporary files is missing")?;
    let program = args.next().ok_or("there is no command")?;
    line.read_exact(&mut [0]).map_err(words)?;
    let nothing = File::open("/dev/null").map_err(words)?;
    let metadata = match plan.access {
        Access::ReadOnly => filter::Metadata::Kept,
        Access::Workspace => filter::Metadata::Open,
    };
    let filter = filter::program(plan.network.into(), metadata)?;
    drop_powers();
    ruleset::restrict(&plan, &passing)?;
    seccompiler::apply_filter(&filter).map_err(|error| format!("the filter of system calls is refused: {error}"))?;
    rustix::stdio::dup2_stdin(nothing).map_err(words)?;
    let error = Command::new(program).args(args).exec();
    Ok(format!("the shell does not start: {error}"))
}

/// Takes the powers of root from what root starts. A process without them cannot and need not do this.
fn drop_powers() {
    for power in CapabilitySet::all().iter() {
        let _ = rustix::thread::remove_capability_from_bounding_set(power);
    }
}

/// Git's settings in a sandbox. A command that only reads takes no locks and runs neither hooks nor a monitor of the
/// repository; whatever else a repository makes git run there can change nothing. A command that may write keeps all of
/// them, but does not write the repository's settings on the side.
fn git_settings(access: Access) -> &'static [(&'static str, &'static str)] {
    match access {
        Access::ReadOnly => &[("core.fsmonitor", "false"), ("core.hooksPath", "/dev/null")],
        Access::Workspace => &[("branch.autoSetupMerge", "false")],
    }
}

/// What is different in the environment in a sandbox: places that could not be written there, and settings of git.
fn settled(command: &mut Command, plan: &Plan, passing: &Path) {
    let settings = git_settings(plan.access);
    command.env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (at, (key, value)) in settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{at}"), key).env(format!("GIT_CONFIG_VALUE_{at}"), value);
    }
    if plan.access == Access::ReadOnly {
        command.env("GIT_OPTIONAL_LOCKS", "0");
    }
    command.env("TMPDIR", passing).env_remove("XDG_RUNTIME_DIR");
    let target = std::env::var_os("CARGO_TARGET_DIR");
    if target.is_some_and(|target| !Path::new(&target).starts_with(&plan.workspace)) {
        command.env_remove("CARGO_TARGET_DIR");
    }
}

/// The first process of the namespace, by the number that bubblewrap tells.
fn first_process(status: &mut BufReader<PipeReader>) -> Option<Pid> {
    let mut line = String::new();
    status.read_line(&mut line).ok()?;
    let told: serde_json::Value = serde_json::from_str(&line).ok()?;
    Pid::from_raw(told["child-pid"].as_i64()?.try_into().ok()?)
}

/// A file in memory that bubblewrap inherits and reads.
fn in_memory(bytes: &[u8]) -> std::io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("filter", MemfdFlags::empty())?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Leaves a descriptor open for what is started. The guard has one thread at this point and starts one thing.
fn inherited(end: impl AsFd) -> Result<(), String> {
    rustix::io::fcntl_setfd(end, FdFlags::empty()).map_err(words)
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A folder for temporary files, removed with what is in it.
struct Passing(PathBuf);

impl Passing {
    fn new() -> std::io::Result<Self> {
        let folder = std::env::temp_dir().canonicalize()?.join(format!("majordomo-{}", std::process::id()));
        // A folder that exists may have been made by an attacker; it is never used.
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        // What cannot be removed is left to the cleaning of the machine's temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
