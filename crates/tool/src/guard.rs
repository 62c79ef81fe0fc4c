//! The guard: a small process between the runtime and a command, which ends everything that the command has started.
//!
//! It is a subreaper, so that whatever detaches from the command (a double fork, a new session) becomes its child and stays
//! in reach. Its standard input is a socket to the runtime: while that is open the command may run; once it is closed, by
//! the runtime or by the runtime's death, everything ends. The last thing the guard does is to tell how it went.
//!
//! A closed socket says the same as a parent-death signal and says it rightly: the signal comes when the *thread* that
//! started the guard ends, and is lost if that is over before it is asked for.
//!
//! It knows no clock: timeouts are the runtime's. It builds no sandbox either, but has it built: a command that shall be
//! confined comes with a plan for its sandbox.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, WaitOptions, WaitStatus};
use serde::{Deserialize, Serialize};

use crate::command::processes::{self, EndedCount, ProcessInfo};
use crate::sandbox::plan::Plan;
use crate::sandbox::start::{self, CONFINE, Started};

/// The argument that makes a program a guard: `<program> __guard <plan> <shell> -c <command>`.
pub const WORD: &str = "__guard";

/// In the place of a plan: the command is not confined.
pub(crate) const NO_PLAN: &str = "-";

/// How long the end of a process that has been killed may take to be noticed.
const NOTICE_TIME: Duration = Duration::from_millis(200);

/// Runs a command as its guard. `args` are those that follow [`WORD`].
///
/// Call it first thing in `main`, before any thread is started.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    close_others();
    let mut args = args.into_iter();
    let plan = args.next().unwrap_or_default();
    if plan == CONFINE {
        return start::confine(args);
    }
    let Ok(line) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::FAILURE;
    };
    let told = watch(&plan, args, &line)
        .unwrap_or_else(|problem| GuardResult { problem: Some(problem), ..GuardResult::default() });
    // The runtime may be gone; then the answer is dropped.
    let _ = (&line).write_all(&serde_json::to_vec(&told).unwrap_or_default());
    ExitCode::SUCCESS
}

/// Closes the files that this process has inherited: a command would inherit it, and an open folder is a way around
/// the sandbox. Nothing in this process has opened anything yet that it wants to keep.
fn close_others() {
    let numbers = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<i32> = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| *number > 2) {
        // The one by which they were listed is closed already.
        let _ = nix::unistd::close(number);
    }
}

/// What a guard tells at the end.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct GuardResult {
    /// The command's exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it was not started.
    pub problem: Option<String>,
    /// Processes that were ended with it.
    pub swept: usize,
    /// Processes that could not be ended.
    pub left: usize,
}

impl GuardResult {
    /// What a guard has told; none if it died before it told all.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

/// Why a guard stops watching.
enum Over {
    /// The command has ended by itself.
    Left(WaitStatus),
    /// The runtime wants it to end, or is gone.
    Wanted,
}

fn watch(plan: &OsStr, args: impl Iterator<Item = OsString>, line: &UnixStream) -> Result<GuardResult, String> {
    let listener = line.try_clone().map_err(|error| error.to_string())?;
    prepare()?;
    let (leader, sandboxed) = begin(plan, args)?;

    let (tell, over) = mpsc::channel();
    let tell_wanted = tell.clone();
    std::thread::spawn(move || {
        // Nothing is ever said on this line: whatever ends the read is the end.
        let _ = (&listener).read(&mut [0]);
        let _ = tell_wanted.send(Over::Wanted);
    });
    let alone = Arc::new(AtomicBool::new(false));
    let reaper_alone = alone.clone();
    std::thread::spawn(move || reap(leader, &tell, &reaper_alone));

    let first = over.recv().map_err(|error| error.to_string())?;
    let us = std::process::id().cast_signed();
    let below_us = || processes::below(us).into_iter().filter(|process| process.pid != us).collect();
    let is_sandbox_process =
        |process: &ProcessInfo| sandboxed.as_ref().is_some_and(|sandboxed| sandboxed.is_sandbox_process(process));
    let EndedCount { ended, left } =
        processes::end(leader, 0, is_sandbox_process, || (!alone.load(Ordering::Acquire)).then(below_us));
    let problem = sandboxed.and_then(Started::problem);
    let (status, problem) = match first {
        // Walls that were killed from outside have had a command in them, for all that is known.
        Over::Left(status) => (Some(status), problem.filter(|_| status.exited())),
        Over::Wanted => match over.recv_timeout(NOTICE_TIME) {
            Ok(Over::Left(status)) => (Some(status), None),
            _ => (None, None),
        },
    };
    Ok(GuardResult {
        code: status.and_then(WaitStatus::exit_status),
        signal: status.and_then(WaitStatus::terminating_signal),
        problem,
        swept: ended,
        left,
    })
}

/// Starts the command, in a sandbox if there is a plan for one.
fn begin(plan: &OsStr, mut args: impl Iterator<Item = OsString>) -> Result<(i32, Option<Started>), String> {
    if plan != NO_PLAN {
        let plan = plan.to_str().and_then(Plan::from_argument).ok_or("a guard needs a plan that it can read")?;
        let sandboxed = start::start(&plan, args)?;
        return Ok((sandboxed.leader, Some(sandboxed)));
    }
    let program = args.next().ok_or("a guard needs a command")?;
    let bare = Command::new(program).args(args).stdin(Stdio::null()).process_group(0).spawn();
    let bare = bare.map_err(|error| format!("the shell does not start: {error}"))?;
    Ok((bare.id().cast_signed(), None))
}

fn prepare() -> Result<(), String> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| format!("no subreaper: {error}"))?;
    // A session of its own has no terminal: nothing can ask a question there and wait, and Ctrl-C reaches only the runtime.
    // It fails where the guard leads a group already, and then it has been started so on purpose.
    let _ = rustix::process::setsid();
    // A core dump would be a copy of memory in the workspace.
    let _ = rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // When memory runs out, it is a command that goes and not the runtime.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    Ok(())
}

/// Takes leave of every child, adopted ones too, and tells of the leader's end. A subreaper without children has no
/// descendants at all: the kernel's word for it is surer than any look at `/proc`.
fn reap(leader: i32, tell: &mpsc::Sender<Over>, alone: &AtomicBool) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == leader => {
                // The watch may be over already.
                let _ = tell.send(Over::Left(status));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return alone.store(true, Ordering::Release),
        }
    }
}
