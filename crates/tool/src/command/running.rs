//! A command that is running, held by its guard or by us, and how it is let go.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::Dir;
use guard::order::{self, Order, Outcome};
use guard::processes::{self, EndedCount};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::waiting::{GuardProcess, Waiting};
use super::{CommandHost, CommandSpec, How, environment};
use crate::sandbox::plan::Plan;
use crate::sandbox::{Group, ordered};

/// How long a process whose end is certain may take to leave.
const LEAVE_TIME: Duration = Duration::from_millis(500);

/// A command that is running.
pub(super) enum RunningCommand {
    Guarded(Guarded),
    Unguarded(Unguarded),
}

/// How it ended, and what had to be ended with it.
pub(super) struct Ending {
    pub how: How,
    pub swept: usize,
    pub left: usize,
}

/// The guard is our child, the shell is the guard's. The guard ends everything once `line` is closed, by us or by our death.
pub(super) struct Guarded {
    guard: GuardProcess,
    line: Option<OwnedWriteHalf>,
    told: OwnedReadHalf,
    /// What the guard has told so far.
    heard: Vec<u8>,
    mark: String,
}

/// The shell is our child.
pub(super) struct Unguarded {
    /// Dropped before the shell, which until then is not reaped and keeps its number.
    kill_on_drop: KillOnDrop,
    shell: Child,
    sweep: Option<JoinHandle<EndedCount>>,
}

/// Ends a shell that nobody waits for any more.
struct KillOnDrop {
    pid: i32,
    mark: String,
    /// Set once the sweep is under way.
    off: bool,
}

/// What is started, with everything that it gets.
pub(super) struct Launch<'a> {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    pub cwd: &'a Dir,
    /// The plan of its sandbox, for its guard.
    pub plan: Option<&'a Plan>,
    /// Where its output goes.
    pub output: OwnedFd,
    /// Its input and where its errors go; without them its input is empty and errors go where output goes.
    pub talk: Option<(OwnedFd, OwnedFd)>,
}

impl RunningCommand {
    /// Starts a command of the shell.
    pub async fn start(host: &CommandHost, spec: &CommandSpec<'_>, writer: io::PipeWriter) -> io::Result<Self> {
        let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
        let launch = Launch {
            command: [shell, "-c", spec.command].map(Into::into).into(),
            environment: environment::clean(std::env::vars_os(), spec.root),
            cwd: &spec.cwd,
            plan: spec.plan,
            output: writer.into(),
            talk: None,
        };
        Self::launch(host, launch).await
    }

    /// Starts a program.
    pub async fn launch(host: &CommandHost, launch: Launch<'_>) -> io::Result<Self> {
        let Launch { command, mut environment, cwd, plan, output, talk } = launch;
        let mark = unique_mark();
        environment.push((processes::MARK.into(), (&mark).into()));
        // The folder as it was resolved beneath the workspace: a path could mean another one by now.
        let place = format!("/proc/self/fd/{}", cwd.as_raw_fd());
        let Some(program) = host.guard.program() else {
            assert!(plan.is_none(), "a sandbox is planned only where a guard can build it");
            let (shell, args) = command.split_first().ok_or_else(|| io::Error::other("there is no command"))?;
            let mut command = Command::new(shell);
            command.args(args).current_dir(place).env_clear().envs(environment).process_group(0);
            let (input, errors) = match talk {
                Some((input, errors)) => (Stdio::from(input), errors),
                None => (Stdio::null(), output.try_clone()?),
            };
            let shell = command.stdin(input).stdout(output).stderr(errors).spawn()?;
            let pid = shell.id().map_or(0, u32::cast_signed);
            let kill_on_drop = KillOnDrop { pid, mark, off: false };
            return Ok(Self::Unguarded(Unguarded { kill_on_drop, shell, sweep: None }));
        };
        let sandbox = match plan {
            None => order::Sandbox::None,
            Some(plan) => ordered(plan, &std::fs::read_link(place)?, &mut environment)
                .map_err(|problem| io::Error::other(format!("the sandbox could not be built: {problem}")))?,
        };
        let bytes = Order { environment, command, sandbox }.to_bytes();
        let Waiting { process: guard, line } = match plan {
            None => Waiting::start(program, Group::default())?,
            Some(_) => Waiting::in_group(program)?,
        };
        line.set_nonblocking(true)?;
        let mut line = UnixStream::from_std(line)?;
        let mut files = vec![cwd.as_fd(), output.as_fd()];
        files.extend(talk.iter().flat_map(|(input, errors)| [input.as_fd(), errors.as_fd()]));
        let sent = order::send_files(&line, &bytes, &files)?;
        line.write_all(&bytes[sent..]).await?;
        let (told, line) = line.into_split();
        Ok(Self::Guarded(Guarded { guard, line: Some(line), told, heard: Vec::new(), mark }))
    }

    /// Begins to end it. What came of that is told by `ended`.
    pub fn end(&mut self) {
        match self {
            Self::Guarded(held) => held.line = None,
            Self::Unguarded(held) => held.sweep(),
        }
    }

    /// Waits until nothing of it is left. May be dropped and called again.
    pub async fn ended(&mut self) -> io::Result<Ending> {
        match self {
            Self::Guarded(held) => held.ended().await,
            Self::Unguarded(held) => held.ended().await,
        }
    }

    /// Ends it without the guard's help, which has been waited for in vain.
    pub async fn take_over(&mut self) -> io::Result<Ending> {
        match self {
            Self::Guarded(held) => held.lost().await,
            Self::Unguarded(held) => held.ended().await,
        }
    }
}

impl Guarded {
    async fn ended(&mut self) -> io::Result<Ending> {
        while self.told.read_buf(&mut self.heard).await.unwrap_or(0) > 0 {}
        let Some(told) = Outcome::read(&self.heard) else { return self.lost().await };
        if tokio::time::timeout(LEAVE_TIME, self.guard.ended()).await.is_err() {
            self.guard.kill();
        }
        let how = match (told.code, told.signal, told.problem) {
            // Nothing was run, so that it may be tried again.
            (_, _, Some(problem)) => return Err(io::Error::new(io::ErrorKind::ResourceBusy, problem)),
            (Some(code), _, _) => How::Exited(code),
            (None, Some(signal), _) => How::Signaled(signal),
            (None, None, None) => How::Lost,
        };
        Ok(Ending { how, swept: told.swept, left: told.left })
    }

    /// The guard is dead or does not answer. Its command is found by the mark that everything it started has inherited.
    async fn lost(&mut self) -> io::Result<Ending> {
        // One that cannot die is not waited for.
        self.guard.kill();
        let _ = tokio::time::timeout(LEAVE_TIME, self.guard.ended()).await;
        let mark = self.mark.clone();
        let sweep = tokio::task::spawn_blocking(move || {
            let find = || processes::unless_gone(|| processes::marked(&mark));
            processes::end(0, processes::STROKES, processes::no_sandbox, find, std::thread::sleep)
        });
        let EndedCount { ended, left } = sweep.await.map_err(io::Error::other)?;
        Ok(Ending { how: How::Lost, swept: ended, left })
    }
}

impl Unguarded {
    fn sweep(&mut self) {
        let (pid, mark) = (self.kill_on_drop.pid, self.kill_on_drop.mark.clone());
        self.sweep.get_or_insert_with(|| tokio::task::spawn_blocking(move || end_all_of(pid, &mark)));
        self.kill_on_drop.off = true;
    }

    async fn ended(&mut self) -> io::Result<Ending> {
        if self.sweep.is_none() {
            self.shell.wait().await?;
            self.sweep();
        }
        let sweep = self.sweep.as_mut().expect("a sweep has begun");
        let EndedCount { ended, left } = sweep.await.map_err(io::Error::other)?;
        // A shell that could not be ended is not waited for.
        let how = match tokio::time::timeout(LEAVE_TIME, self.shell.wait()).await {
            Err(_) => How::Lost,
            Ok(status) => {
                let status = status?;
                status.code().map_or_else(|| How::Signaled(status.signal().unwrap_or(0)), How::Exited)
            }
        };
        Ok(Ending { how, swept: ended, left })
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        if !self.off {
            processes::kill_group(self.pid);
            let (pid, mark) = (self.pid, std::mem::take(&mut self.mark));
            std::thread::spawn(move || end_all_of(pid, &mark));
        }
    }
}

/// Ends a shell of ours and everything that it has started.
fn end_all_of(pid: i32, mark: &str) -> EndedCount {
    let look = || {
        let mut all = processes::below(pid);
        all.extend(processes::marked(mark));
        all.sort_by_key(|process| process.pid);
        all.dedup_by_key(|process| process.pid);
        all
    };
    let find = || processes::unless_gone(look);
    processes::end(pid, processes::STROKES, processes::no_sandbox, find, std::thread::sleep)
}

/// A word that no other command on this machine has.
fn unique_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{}-{}-{nanos}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
