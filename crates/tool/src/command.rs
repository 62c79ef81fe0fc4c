//! Running one command: started with a clean environment, its output bounded, and ended with everything it has started.
//!
//! The tree of processes is ended by a guard (`crates/guard`), a small process between us and the shell, so that it ends
//! even if this process is killed. Its program is [embedded]. Where none can be started, the same is done from this
//! process, which then must live to do it.
//!
//! Limits on memory, processes, files and network belong to the [sandbox](crate::sandbox), whose plan for one command is
//! only passed on here.

mod disk;
mod embedded;
mod environment;
mod output;
pub(crate) mod program;
mod running;
mod waiting;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

pub use environment::search_path;

use crate::context::Progress;
use crate::sandbox::Sandbox;
use crate::sandbox::plan::Plan;
use disk::Disk;
use output::Output;
use running::RunningCommand;

/// How commands are run.
#[derive(Clone, Debug, Default)]
pub struct CommandHost {
    /// Who watches over a command's processes.
    pub guard: Guard,
    /// Their sandbox. It cannot be built without a guard.
    pub sandbox: Sandbox,
}

impl CommandHost {
    /// Whether commands run in a sandbox.
    pub fn is_confining(&self) -> bool {
        self.can_confine() && self.sandbox.is_in_force()
    }

    pub(crate) fn can_confine(&self) -> bool {
        self.guard.program().is_some()
    }

    /// Why commands run without a sandbox, for their results; none where nobody wanted any.
    pub(crate) fn apology(&self) -> Option<String> {
        match self.can_confine() {
            true => self.sandbox.apology(),
            false => self.sandbox.is_in_force().then(|| "no guard is there to build a sandbox".to_owned()),
        }
    }
}

/// Who watches over a command's processes.
#[derive(Clone, Debug, Default)]
pub enum Guard {
    /// The small program that is embedded in this library. Where it cannot be started (a build for another machine, a
    /// system that forbids programs in memory files), it is as with [`Guard::None`].
    #[default]
    Embedded,
    /// The same; where it cannot be started, our own program, started again as `<program> __guard …`. Its `main` must hand
    /// the arguments that follow to [`guard::main`](crate::guard::main).
    EmbeddedOrSelf,
    /// Another program that does so, by its absolute path.
    Program(PathBuf),
    /// This process. Nothing is left running after a stop, a timeout or the command's end; if this process is killed,
    /// what it was running lives on.
    None,
}

impl Guard {
    /// The program to start; none if this process is the guard.
    pub(crate) fn program(&self) -> Option<&Path> {
        match self {
            Self::Embedded => embedded::program(),
            // The running program itself, even if its file has been replaced.
            Self::EmbeddedOrSelf => Some(embedded::program().unwrap_or(Path::new("/proc/self/exe"))),
            Self::Program(program) => Some(program),
            Self::None => None,
        }
    }
}

/// A command to run.
pub(crate) struct CommandSpec<'a> {
    pub command: &'a str,
    /// The workspace's real name.
    pub root: &'a Path,
    pub cwd: Dir,
    /// The plan of its sandbox, for its guard.
    pub plan: Option<&'a Plan>,
    pub timeout: Duration,
    pub stop: &'a CancellationToken,
    pub progress: Option<&'a Progress>,
}

/// What a command came to.
pub(crate) struct Finish {
    pub how: How,
    /// What it printed, bounded and readable.
    pub output: String,
    /// Processes that were ended with it.
    pub swept: usize,
    /// Processes that could not be ended.
    pub left: usize,
    pub took: Duration,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Exited(i32),
    Signaled(i32),
    TimedOut,
    Stopped,
    /// It printed more than anybody could want.
    Flooded,
    /// It left too little room on the disk.
    Filled,
    /// Its guard was killed.
    Lost,
}

/// From here on output is not slow to read, it is an accident.
const FLOOD_BYTES: u64 = 256 * 1024 * 1024;
/// How long a guard that was told to end is believed to be at it.
const GUARD_TIME: Duration = Duration::from_millis(1500);
/// How long output is awaited after the last process is gone: none, unless a process that could not be ended holds the pipe.
const DRAIN_TIME: Duration = Duration::from_millis(200);
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
const DISK_EVERY: Duration = Duration::from_millis(250);

/// Runs a command and comes back when nothing of it is left. Dropping the future ends it too.
pub(crate) async fn run(host: &CommandHost, spec: CommandSpec<'_>) -> io::Result<Finish> {
    let begun = Instant::now();
    let (reader, writer) = io::pipe()?;
    let mut pipe = pipe::Receiver::from_owned_fd(reader.into())?;
    let mut running = RunningCommand::start(host, &spec, writer).await?;
    let mut output = Output::default();
    let mut progress_due = begun;
    let mut buffer = vec![0; 64 * 1024];
    let mut pipe_open = true;
    let disk = Disk::of(&spec.cwd);
    let mut disk_due = tokio::time::interval(DISK_EVERY);
    disk_due.set_missed_tick_behavior(MissedTickBehavior::Delay);

    let deadline = tokio::time::sleep(spec.timeout);
    tokio::pin!(deadline);
    let mut cut: Option<How> = None;
    let mut guard_due = tokio::time::Instant::now();
    let last = loop {
        let cutting = tokio::select! {
            biased;
            () = spec.stop.cancelled(), if cut.is_none() => How::Stopped,
            () = &mut deadline, if cut.is_none() => How::TimedOut,
            last = running.ended() => break last,
            () = tokio::time::sleep_until(guard_due), if cut.is_some() => break running.take_over().await,
            _ = disk_due.tick(), if cut.is_none() => {
                if !disk.is_nearly_full(&spec.cwd) {
                    continue;
                }
                How::Filled
            }
            read = pipe.read(&mut buffer), if pipe_open => {
                let read = read.unwrap_or(0);
                pipe_open = read > 0;
                output.push(&buffer[..read]);
                let line = output::last_line(&buffer[..read]);
                if let Some(progress) = spec.progress && !line.is_empty() && progress_due <= Instant::now() {
                    progress_due = Instant::now() + PROGRESS_EVERY;
                    progress(&line);
                }
                if output.total() < FLOOD_BYTES || cut.is_some() {
                    continue;
                }
                How::Flooded
            }
        };
        cut = Some(cutting);
        guard_due = tokio::time::Instant::now() + GUARD_TIME;
        running.end();
    };
    let drained = async {
        while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
            output.push(&buffer[..read]);
        }
    };
    // A process that still holds the pipe is named in the result.
    let _ = tokio::time::timeout(DRAIN_TIME, drained).await;
    let last = match last {
        Ok(last) => last,
        // The guard may have written why it failed to start the command.
        Err(error) => {
            let said = output.into_text();
            let said = said.trim();
            return Err(if said.is_empty() { error } else { io::Error::new(error.kind(), format!("{error}\n{said}")) });
        }
    };
    Ok(Finish {
        how: cut.unwrap_or(last.how),
        output: output.into_text(),
        swept: last.swept,
        left: last.left,
        took: begun.elapsed(),
    })
}
