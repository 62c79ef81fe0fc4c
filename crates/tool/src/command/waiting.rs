//! Guards: how one is started, how its end is waited for, and the one that waits for the next command.
//!
//! A guard takes its order when it comes. So one is started ahead of each command that runs in a sandbox: entering its
//! control group takes the kernel many milliseconds, for which no command has to wait then.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, PidfdFlags, Signal};

use crate::sandbox::Group;

/// A guard without an order, or one that is at its end.
pub(super) struct GuardProcess {
    /// None once its end is waited for.
    child: Option<Child>,
    handle: OwnedFd,
    group: Group,
}

/// A guard, with the socket for its order.
pub(super) struct Waiting {
    pub process: GuardProcess,
    pub line: UnixStream,
}

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

    /// Starts a guard.
    pub fn start(program: &Path, group: Group) -> io::Result<Self> {
        let (line, theirs) = UnixStream::pair()?;
        let mut guard = Command::new(program);
        guard.arg0("majordomo").arg(guard::WORD).args(group.arguments());
        // It holds neither a folder nor a key.
        guard.current_dir("/").env_clear().stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = guard.spawn()?;
        let pid = Pid::from_child(&child);
        match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => Ok(Self { process: GuardProcess { child: Some(child), handle, group }, line }),
            Err(error) => {
                // It has no order and ends with its socket.
                drop(line);
                child.wait()?;
                Err(error.into())
            }
        }
    }
}

impl GuardProcess {
    fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Kills it, if it has not ended.
    pub fn kill(&mut self) {
        // Whether it was dead before or dies now makes no difference.
        let _ = rustix::process::pidfd_send_signal(&self.handle, Signal::KILL);
    }

    /// Waits until it has ended. Call it when that is near, for it takes a thread.
    pub async fn ended(&mut self) {
        if self.is_running()
            && let Some(mut child) = self.child.take()
        {
            // A wait that fails is one for a process that is gone.
            let _ = tokio::task::spawn_blocking(move || child.wait()).await;
        }
    }
}

impl Drop for GuardProcess {
    /// A guard whose socket is closed ends by itself, but not at once; its group is removed after it.
    fn drop(&mut self) {
        if self.is_running()
            && let Some(mut child) = self.child.take()
        {
            let group = std::mem::take(&mut self.group);
            std::thread::spawn(move || {
                let _ = child.wait();
                drop(group);
            });
        }
    }
}
