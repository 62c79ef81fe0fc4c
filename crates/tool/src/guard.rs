//! The guard: a small process between the runtime and a command, which ends everything that the command has started.
//!
//! It is a subreaper, so that whatever detaches from the command (a double fork, a new session) becomes its child and stays
//! in reach. Its standard input is a socket to the runtime: while that is open the command may run; once it is closed, by
//! the runtime or by the runtime's death, everything ends. The last thing the guard does is to tell how it went.
//!
//! A closed socket says the same as a parent-death signal and says it rightly: the signal comes when the *thread* that
//! started the guard ends, and is lost if that is over before it is asked for.
//!
//! It knows no clock: timeouts are the runtime's.

use std::ffi::OsString;
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

use crate::command::kin::{self, Swept};

/// The argument that makes a program a guard: `<program> __guard <shell> -c <command>`.
pub const WORD: &str = "__guard";

/// How long the end of a process that has been killed may take to be noticed.
const NOTICE_TIME: Duration = Duration::from_millis(200);

/// Runs a command as its guard. `args` are those that follow [`WORD`]: a program and its arguments.
///
/// Call it first thing in `main`, before any thread is started.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Ok(line) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::FAILURE;
    };
    let told =
        watch(args.into_iter(), &line).unwrap_or_else(|problem| Told { problem: Some(problem), ..Told::default() });
    // The runtime may be gone; then there is nobody to tell.
    let _ = (&line).write_all(&serde_json::to_vec(&told).unwrap_or_default());
    ExitCode::SUCCESS
}

/// What a guard tells at the end.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Told {
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

impl Told {
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

fn watch(mut args: impl Iterator<Item = OsString>, line: &UnixStream) -> Result<Told, String> {
    let program = args.next().ok_or("a guard needs a command")?;
    let listener = line.try_clone().map_err(|error| error.to_string())?;
    prepare()?;
    let leader = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("the shell does not start: {error}"))?
        .id()
        .cast_signed();

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
    let below_us = || kin::below(us).into_iter().filter(|kin| kin.pid != us).collect();
    let Swept { ended, left } = kin::end(leader, || (!alone.load(Ordering::Acquire)).then(below_us));
    let status = match first {
        Over::Left(status) => Some(status),
        Over::Wanted => match over.recv_timeout(NOTICE_TIME) {
            Ok(Over::Left(status)) => Some(status),
            _ => None,
        },
    };
    Ok(Told {
        code: status.and_then(WaitStatus::exit_status),
        signal: status.and_then(WaitStatus::terminating_signal),
        problem: None,
        swept: ended,
        left,
    })
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
