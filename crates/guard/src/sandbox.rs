//! Starting a command in its sandbox: the guard's part, and that of the process which confines itself.
//!
//! If anything fails on the way to the command, the command is not run. Behind bubblewrap it is held at a gate until its
//! mounts are checked and its limits are in force.

use std::fs::{DirBuilder, File};
use std::io::{self, BufRead, BufReader, PipeReader, Read, Seek, Write};
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

use crate::order::{self, Bubblewrap, Landlock, Order, Sandbox, Streams};
use crate::processes::{self, ProcessInfo};
use crate::{CONFINE, WORD, landlock, limits, mounted};

/// A command that runs.
pub(crate) struct Started {
    /// The process that was started.
    pub leader: i32,
    startup: StartupStatus,
    /// Folders that were made as mount points.
    mount_points: Vec<PathBuf>,
    passing: Option<Passing>,
}

/// Who knows whether the command itself was ever begun.
enum StartupStatus {
    /// Without a sandbox, it was.
    Begun,
    /// Bubblewrap writes the command's exit code, if there was a command. The first process of its namespace is its own.
    Bubblewrap { status: BufReader<PipeReader>, first: Option<Pid> },
    /// A process that cannot confine itself says why.
    Confined(UnixStream),
}

/// Starts a command in the sandbox of an order; none if it has none.
pub(crate) fn start(order: &Order, streams: &Streams) -> Result<Option<Started>, String> {
    let started = match &order.sandbox {
        Sandbox::None => return Ok(None),
        Sandbox::Bubblewrap(with) => {
            limits::set_own();
            behind_bubblewrap(with, order, streams)
        }
        Sandbox::Landlock(with) => {
            limits::set_own();
            behind_landlock(with, order, streams)
        }
    };
    started.map(Some).map_err(|problem| format!("the sandbox could not be built: {problem}"))
}

/// Starts a program with the environment of an order, in a process group of its own.
pub(crate) fn started(command: &mut Command, order: &Order, streams: &Streams) -> io::Result<i32> {
    command.env_clear().envs(order.environment.iter().map(|(name, value)| (name, value))).process_group(0);
    let errors = streams.talk.as_ref().map_or(&streams.output, |(_, errors)| errors);
    command.stdout(streams.output.try_clone()?).stderr(errors.try_clone()?);
    Ok(command.spawn()?.id().cast_signed())
}

/// The standard input of a command: its pipe, or nothing.
pub(crate) fn input(streams: &Streams) -> io::Result<Stdio> {
    streams.talk.as_ref().map_or_else(|| Ok(Stdio::null()), |(input, _)| Ok(input.try_clone()?.into()))
}

impl Started {
    /// A command without a sandbox.
    pub fn bare(leader: i32) -> Self {
        Self { leader, startup: StartupStatus::Begun, mount_points: Vec::new(), passing: None }
    }

    /// Whether a process is part of the sandbox itself. It is not asked to end, for with it everything would be torn down at once.
    pub fn is_sandbox_process(&self, process: &ProcessInfo) -> bool {
        match self.startup {
            StartupStatus::Bubblewrap { first, .. } => {
                process.pid == self.leader || Pid::from_raw(process.pid) == first
            }
            StartupStatus::Begun | StartupStatus::Confined(_) => false,
        }
    }

    /// Whether the kernel ends all other processes once the leader has ended.
    pub fn ends_with_leader(&self) -> bool {
        matches!(self.startup, StartupStatus::Bubblewrap { .. })
    }

    /// Clears away, and tells why the command was not begun if it was not. Call it when all processes have ended.
    pub fn problem(mut self) -> Option<String> {
        let mut said = String::new();
        let problem = match &mut self.startup {
            StartupStatus::Begun => None,
            StartupStatus::Bubblewrap { status, .. } => {
                let heard = status.read_to_string(&mut said).is_ok() && said.contains("\"exit-code\"");
                (!heard).then(|| "the sandbox could not be built, and the command was not run".to_owned())
            }
            StartupStatus::Confined(line) => {
                let _ = line.read_to_string(&mut said);
                (!said.is_empty()).then(|| format!("the sandbox could not be built: {said}"))
            }
        };
        for folder in &self.mount_points {
            // Only if it is empty: otherwise another process has put files there.
            let _ = std::fs::remove_dir(folder);
        }
        drop(self.passing.take());
        problem
    }
}

fn behind_bubblewrap(with: &Bubblewrap, order: &Order, streams: &Streams) -> Result<Started, String> {
    let filter = in_memory(&with.filter).map_err(words)?;
    let (status, status_end) = io::pipe().map_err(words)?;
    let (gate_end, gate) = io::pipe().map_err(words)?;
    let mut bwrap = Command::new(&with.program);
    bwrap.args(&with.arguments).stdin(input(streams).map_err(words)?);
    for (word, file) in
        [("--seccomp", filter.as_fd()), ("--json-status-fd", status_end.as_fd()), ("--block-fd", gate_end.as_fd())]
    {
        // Left open for what is started. The guard has one thread and starts one thing.
        rustix::io::fcntl_setfd(file, FdFlags::empty()).map_err(words)?;
        bwrap.arg(word).arg(file.as_raw_fd().to_string());
    }
    bwrap.arg("--").args(&order.command);
    let leader = started(&mut bwrap, order, streams).map_err(words)?;
    drop((filter, status_end, gate_end));
    let mut status = BufReader::new(status);
    let first = first_process(&mut status);
    if let Some(first) = first {
        if let Err(problem) = mounted::check(first, &with.workspace, &with.mounted) {
            // It waits at the gate, which opens when this ends.
            processes::kill_group(leader);
            return Err(problem);
        }
        limits::set_processes(first);
    }
    // Without a first process none waits at the gate, and the startup will tell.
    drop(gate);
    let startup = StartupStatus::Bubblewrap { status, first };
    Ok(Started { leader, startup, mount_points: with.mount_points.clone(), passing: None })
}

fn behind_landlock(with: &Landlock, order: &Order, streams: &Streams) -> Result<Started, String> {
    let passing = Passing::new(&with.temporary).map_err(words)?;
    let (ours, theirs) = UnixStream::pair().map_err(words)?;
    let mut confined = order.clone();
    confined.environment.retain(|(name, _)| name != "TMPDIR");
    confined.environment.push(("TMPDIR".into(), passing.0.clone().into()));
    let mut with = with.clone();
    with.write.push(passing.0.clone());
    confined.sandbox = Sandbox::Landlock(with);
    let mut program = Command::new("/proc/self/exe");
    program.arg0("majordomo").args([WORD, CONFINE]).stdin(OwnedFd::from(theirs));
    let leader = started(&mut program, &confined, streams).map_err(words)?;
    // The command object holds the other end of the line, whose end would never come.
    drop(program);
    let bytes = confined.to_bytes();
    let sent = match &streams.talk {
        Some((input, _)) => order::send_files(&ours, &bytes, &[input.as_fd()]).map_err(words)?,
        None => 0,
    };
    (&ours).write_all(&bytes[sent..]).map_err(words)?;
    Ok(Started { leader, startup: StartupStatus::Confined(ours), mount_points: Vec::new(), passing: Some(passing) })
}

/// Confines this process and becomes the command that is ordered on the line. Comes back only if it fails.
pub(crate) fn confine(mut line: UnixStream) -> ExitCode {
    let problem = become_the_command(&line).unwrap_or_else(|problem| problem);
    // A guard that is gone needs no telling.
    let _ = line.write_all(problem.as_bytes());
    ExitCode::FAILURE
}

fn become_the_command(line: &UnixStream) -> Result<String, String> {
    let (order, files) = order::receive_with_files(line).map_err(words)?.ok_or("there is no order")?;
    let Sandbox::Landlock(with) = &order.sandbox else { return Err("there is no sandbox".to_owned()) };
    let (program, args) = order.command.split_first().ok_or("there is no command")?;
    let input = match files.into_iter().next() {
        Some(input) => input,
        None => File::open("/dev/null").map_err(words)?.into(),
    };
    drop_powers();
    landlock::restrict(with)?;
    landlock::filter(&with.filter)?;
    rustix::stdio::dup2_stdin(input).map_err(words)?;
    let error = Command::new(program).args(args).exec();
    Ok(format!("the program does not start: {error}"))
}

/// Takes the powers of root from what root starts. A process without them cannot and need not do this.
fn drop_powers() {
    for power in CapabilitySet::all().iter() {
        let _ = rustix::thread::remove_capability_from_bounding_set(power);
    }
}

/// The first process of the namespace, by the number that bubblewrap tells: `{ "child-pid": 42, … }`.
fn first_process(status: &mut BufReader<PipeReader>) -> Option<Pid> {
    let mut line = String::new();
    status.read_line(&mut line).ok()?;
    first_number(&line)
}

fn first_number(line: &str) -> Option<Pid> {
    let (_, after) = line.split_once("\"child-pid\"")?;
    let number = after.trim_start().strip_prefix(':')?.trim_start();
    let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    Pid::from_raw(number[..end].parse().ok()?)
}

/// A file in memory that bubblewrap inherits and reads.
fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("filter", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A folder for temporary files, removed with what is in it.
struct Passing(PathBuf);

impl Passing {
    fn new(place: &Path) -> io::Result<Self> {
        let folder = place.canonicalize()?.join(format!("majordomo-{}", std::process::id()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_process_is_read_from_what_bubblewrap_tells() {
        let number = |line| first_number(line).map(|pid| pid.as_raw_nonzero().get());
        assert_eq!(number(r#"{ "child-pid": 4711, "mnt-namespace": 4026532 }"#), Some(4711));
        assert_eq!(number(r#"{"child-pid":7}"#), Some(7));
        assert_eq!(number(r#"{ "exit-code": 3 }"#), None);
        assert_eq!(number(""), None);
    }
}
