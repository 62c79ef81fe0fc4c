//! The guard: a small process between the runtime and a command, which ends everything that the command has started.
//!
//! It is a subreaper, so that whatever detaches from the command (a double fork, a new session) becomes its child and stays
//! in reach. Its standard input is a socket to the runtime. The runtime sends one [`Order`] and may do so long after the guard
//! was made; while the socket is open the command may run; once it is closed, by the runtime or by the runtime's
//! death, everything ends. The last thing the guard does is to send its [`Outcome`].
//!
//! A closed socket says the same as a parent-death signal and says it rightly: the signal comes when the *thread* that
//! started the guard ends, and is lost if that is over before it is asked for.
//!
//! Guards are made by a [fork server](fork_server), which the runtime starts before its first command. The program of both is
//! embedded in `crates/tool` and copied for every command, so that this crate is kept small: one thread, no JSON, nothing that the runtime can compute for it. It knows no clock: timeouts are the runtime's. What a
//! sandbox allows is decided in `crates/tool`; the guard builds what its order says ([`sandbox`]).

pub mod fork_server;
mod group;
mod landlock;
pub mod limits;
mod mounted;
pub mod order;
pub mod processes;
pub mod sandbox;
mod supervise;

use std::ffi::OsString;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::process::{Resource, Rlimit};

use crate::group::Group;
use crate::order::{Order, Outcome, Received, Streams};
use crate::sandbox::Started;

pub use crate::landlock::probe as probe_landlock;

/// The argument that makes a program part of the guard: `<program> __guard …`.
pub const WORD: &str = "__guard";

/// The argument after [`WORD`] that makes it confine itself by Landlock and become the command.
pub(crate) const CONFINE: &str = "confine";

/// The argument after [`WORD`] with which it does nothing, to find out whether it can be started.
pub const PROBE: &str = "probe";

/// The argument after [`WORD`] that makes it a [fork server](fork_server), whose clones are the guards.
pub const FORK_SERVER: &str = "fork-server";

/// Does what the first of `args` says. They are those that follow [`WORD`].
///
/// Call it first thing in `main`, before any thread is started.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    close_others();
    let word = args.into_iter().next();
    match word.as_ref().and_then(|word| word.to_str()) {
        Some(FORK_SERVER) => fork_server::serve(guard),
        Some(CONFINE) => own_line().map_or(ExitCode::FAILURE, sandbox::confine),
        Some(PROBE) => ExitCode::SUCCESS,
        _ => {
            eprintln!("{WORD} is how majordomo starts its own parts; it is not a command for people");
            ExitCode::from(2)
        }
    }
}

/// The socket that is the standard input.
fn own_line() -> std::io::Result<UnixStream> {
    std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from)
}

/// Guards one command, in control groups that are named in pairs: the group to enter, and that of the runtime.
fn guard(groups: &[OsString]) {
    let Ok(line) = own_line() else { return };
    let group = Group::named(groups);
    let ready = prepared().and_then(|children| group.enter().map(|()| children));
    let outcome = match order::receive(&line) {
        // The runtime is gone, or needs no guard.
        Ok(None) => None,
        Ok(Some(received)) => Some(ready.and_then(|children| guarded(received, &line, &children))),
        Err(error) => Some(Err(format!("the guard cannot read its order: {error}"))),
    };
    let is_told = outcome.is_some_and(|outcome| {
        let outcome = outcome.unwrap_or_else(|problem| Outcome { problem: Some(problem), ..Outcome::default() });
        (&line).write_all(&outcome.to_bytes()).is_ok()
    });
    if !is_told {
        group.remove();
    }
}

/// Closes the files that this process has inherited: a command would inherit them too, and an open folder is a way around
/// the sandbox. Nothing in this process has opened anything yet that it wants to keep.
fn close_others() {
    let numbers = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<i32> = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| *number > 2) {
        // The one by which they were listed is closed already.
        let _ = nix::unistd::close(number);
    }
}

/// Makes this process a guard. The descriptor becomes readable when a child ends.
fn prepared() -> Result<SignalFd, String> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| format!("no subreaper: {error}"))?;
    // A session of its own has no terminal: nothing can ask a question there and wait, and Ctrl-C reaches only the runtime.
    // It fails where the guard leads a group already, and then it has been started so on purpose.
    let _ = rustix::process::setsid();
    // A core dump would be a copy of memory in the workspace.
    let _ = rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // When memory runs out, it is a command that goes and not the runtime.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    // What is started gets an empty mask again.
    let mut ended = SigSet::empty();
    ended.add(Signal::SIGCHLD);
    let noticed = ended
        .thread_block()
        .and_then(|()| SignalFd::with_flags(&ended, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC));
    noticed.map_err(|error| format!("the guard would not notice the end of processes: {error}"))
}

fn guarded(received: Received, line: &UnixStream, children: &SignalFd) -> Result<Outcome, String> {
    let Received { order, cwd, streams } = received;
    rustix::process::fchdir(&cwd).map_err(|error| format!("the command's folder is gone: {error}"))?;
    drop(cwd);
    let started = match sandbox::start(&order, &streams)? {
        Some(started) => started,
        None => Started::bare(bare(&order, &streams)?),
    };
    // The runtime reads until the last writer is gone.
    drop(streams);
    Ok(supervise::supervise(started, line, children))
}

/// Starts the command without a sandbox.
fn bare(order: &Order, streams: &Streams) -> Result<i32, String> {
    let (program, args) = order.command.split_first().ok_or("a guard needs a command")?;
    let mut shell = Command::new(program);
    shell.args(args).stdin(sandbox::input(streams).map_err(|error| error.to_string())?);
    let started = sandbox::started(&mut shell, order, streams);
    started.map_err(|error| format!("the program does not start: {error}"))
}
