//! Guards: how one is made, how its end is waited for, and the one that waits for the next command.
//!
//! A fork server (`guard::fork_server`) makes them: it is started before the first command and again when it was killed. A guard takes its
//! order when it comes. So one is made ahead of each command that runs in a sandbox: entering its control group takes the kernel many
//! milliseconds, for which no command has to wait then.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use guard::fork_server;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};

use crate::sandbox::Group;

/// A guard without an order, or one that is at its end. It is a child of this process.
pub(super) struct GuardProcess {
    handle: OwnedFd,
    /// Whether its end was waited for.
    is_reaped: bool,
    group: Group,
}

/// A guard, with the socket for its order.
pub(super) struct Waiting {
    pub process: GuardProcess,
    pub line: UnixStream,
}

/// The process that makes guards.
struct ForkServer {
    program: PathBuf,
    child: Child,
    line: OwnedFd,
}

static SERVER: Mutex<Option<ForkServer>> = Mutex::new(None);

/// The guard that waits for the next command, with its program.
static NEXT: Mutex<Option<(PathBuf, Waiting)>> = Mutex::new(None);

impl Waiting {
    /// The guard that waits, or a new one, in a control group of its own. Another one is started for the next command.
    pub fn in_group(program: &Path) -> io::Result<Self> {
        let next = || NEXT.lock().unwrap_or_else(PoisonError::into_inner);
        let is_right = |(its, waiting): &mut (PathBuf, Self)| its == program && waiting.process.is_running();
        let found = next().take_if(is_right).map(|(_, waiting)| waiting);
        let program = program.to_owned();
        let taken = found.map_or_else(|| Self::start(&program, Group::new()), Ok);
        tokio::task::spawn_blocking(move || {
            // Without one, the next command starts its own and meets the same error.
            if let Ok(started) = Self::start(&program, Group::new()) {
                // One that was started meanwhile ends.
                drop(next().replace((program, started)));
            }
        });
        taken
    }

    /// Makes a guard.
    pub fn start(program: &Path, group: Group) -> io::Result<Self> {
        let (pid, line) = ForkServer::guard(program, &group)?;
        let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("the fork server told no process number"))?;
        // Its number stays its own until its end is waited for, which only this process does. Without an order it ends with its socket.
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Self { process: GuardProcess { handle, is_reaped: false, group }, line })
    }
}

impl ForkServer {
    /// A guard of this program: its process number, and the socket for its order.
    fn guard(program: &Path, group: &Group) -> io::Result<(i32, UnixStream)> {
        let mut kept = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = kept.as_ref().filter(|server| server.program == program) {
            match server.ask(group) {
                Err(error) if is_gone(&error) => {}
                answer => return answer,
            }
        }
        // The one before was killed or is of another program. It ends as it is replaced.
        kept.insert(Self::start(program)?).ask(group)
    }

    /// A socket is made for every request: one that was not answered may have made a guard, and no two guards may read the same order.
    fn ask(&self, group: &Group) -> io::Result<(i32, UnixStream)> {
        let (line, theirs) = UnixStream::pair()?;
        Ok((fork_server::ask(self.line.as_fd(), theirs.as_fd(), group.arguments())?, line))
    }

    fn start(program: &Path) -> io::Result<Self> {
        let (line, theirs) = fork_server::line()?;
        let mut server = Command::new(program);
        server.arg0("majordomo").args([guard::WORD, guard::FORK_SERVER]);
        // It holds neither a folder nor a key, and so do the guards.
        server.current_dir("/").env_clear().stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { program: program.to_owned(), child: server.spawn()?, line })
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        // What cannot be killed or waited for is gone.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Whether an error says that a fork server was killed, or has been stopped and does not answer.
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, WouldBlock};
    matches!(error.kind(), BrokenPipe | ConnectionReset | WouldBlock)
}

impl GuardProcess {
    fn is_running(&mut self) -> bool {
        if !self.is_reaped {
            self.is_reaped = !matches!(reap(&self.handle, WaitIdOptions::NOHANG), Ok(false));
        }
        !self.is_reaped
    }

    /// Kills it, if it has not ended.
    pub fn kill(&mut self) {
        // Whether it was dead before or dies now makes no difference.
        let _ = rustix::process::pidfd_send_signal(&self.handle, Signal::KILL);
    }

    /// Waits until it has ended. Call it when that is near, for it takes a thread.
    pub async fn ended(&mut self) {
        if self.is_running()
            && let Ok(handle) = self.handle.try_clone()
        {
            // A wait that fails is one for a process that is gone.
            let ended = tokio::task::spawn_blocking(move || reap(&handle, WaitIdOptions::empty())).await;
            self.is_reaped = ended.is_ok();
        }
    }
}

impl Drop for GuardProcess {
    /// A guard whose socket is closed ends by itself, but not at once; its group is removed after it.
    fn drop(&mut self) {
        if self.is_running()
            && let Ok(handle) = self.handle.try_clone()
        {
            let group = std::mem::take(&mut self.group);
            std::thread::spawn(move || {
                // A wait that fails is one for a process that is gone.
                let _ = reap(&handle, WaitIdOptions::empty());
                drop(group);
            });
        }
    }
}

/// Waits for the end of a child, and says whether it has come.
fn reap(handle: &OwnedFd, how: WaitIdOptions) -> Result<bool, Errno> {
    let ended = rustix::io::retry_on_intr(|| {
        rustix::process::waitid(WaitId::PidFd(handle.as_fd()), WaitIdOptions::EXITED | how)
    });
    ended.map(|ended| ended.is_some())
}
