//! Waiting for the end of a command, and ending what it has started.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::sys::signalfd::SignalFd;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{WaitOptions, WaitStatus};

use crate::order::Outcome;
use crate::processes::{self, EndedCount, ProcessInfo};
use crate::sandbox::Started;

/// How long the end of a process that has been killed may take to be noticed.
const NOTICE_TIME: Duration = Duration::from_millis(200);

/// How long the processes of a sandbox may take to end by themselves after its leader, which ends all others.
const TEAR_DOWN_TIME: Duration = Duration::from_millis(100);

/// Waits until the command has ended or the socket is closed, ends whatever is left, and says how it went.
pub(crate) fn supervise(started: Started, line: &UnixStream, children: &SignalFd) -> Outcome {
    let mut family = Family { leader: started.leader, status: None, is_gone: false };
    family.take_leave();
    let mut is_wanted = true;
    while family.status.is_none() && is_wanted {
        // Nothing is ever said on this line after the order: whatever can be read is the end.
        is_wanted = !wait(&[line.as_fd(), children.as_fd()], None)[0];
        noticed(children);
        family.take_leave();
    }
    if is_wanted && started.ends_with_leader() {
        let begun = Instant::now();
        while !family.is_gone && begun.elapsed() < TEAR_DOWN_TIME {
            family.pause(children, TEAR_DOWN_TIME.saturating_sub(begun.elapsed()));
        }
    }
    let us = std::process::id().cast_signed();
    let is_sandbox_process = |process: &ProcessInfo| started.is_sandbox_process(process);
    let family = std::cell::RefCell::new(family);
    let EndedCount { ended, left } = processes::end(
        started.leader,
        0,
        is_sandbox_process,
        || {
            let mut family = family.borrow_mut();
            family.take_leave();
            let others = || processes::below(us).into_iter().filter(|process| process.pid != us).collect();
            (!family.is_gone).then(others)
        },
        |time| family.borrow_mut().pause(children, time),
    );
    let mut family = family.into_inner();
    let begun = Instant::now();
    while !family.is_gone && family.status.is_none() && begun.elapsed() < NOTICE_TIME {
        family.pause(children, NOTICE_TIME.saturating_sub(begun.elapsed()));
    }
    let problem = started.problem();
    let status = family.status;
    Outcome {
        code: status.and_then(WaitStatus::exit_status),
        signal: status.and_then(WaitStatus::terminating_signal),
        // A sandbox that was killed from outside has had a command in it, for all that is known.
        problem: problem.filter(|_| is_wanted && status.is_some_and(WaitStatus::exited)),
        swept: ended,
        left,
    }
}

/// The processes below this one.
struct Family {
    leader: i32,
    /// How the leader ended, once it has.
    status: Option<WaitStatus>,
    /// Whether nobody is left. A subreaper without children has no descendants at all: the kernel's word for it is surer
    /// than any look at `/proc`.
    is_gone: bool,
}

impl Family {
    /// Takes leave of every child that has ended, adopted ones too.
    fn take_leave(&mut self) {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == self.leader => self.status = Some(status),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return,
                Err(_) => {
                    self.is_gone = true;
                    return;
                }
            }
        }
    }

    /// Waits until a child ends, but not longer than this.
    fn pause(&mut self, children: &SignalFd, time: Duration) {
        wait(&[children.as_fd()], Some(time));
        noticed(children);
        self.take_leave();
    }
}

/// Waits until one of these can be read, and tells which.
fn wait<const N: usize>(files: &[std::os::fd::BorrowedFd<'_>; N], time: Option<Duration>) -> [bool; N] {
    let mut polled = files.map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
    let time = time.and_then(|time| Timespec::try_from(time).ok());
    // One that was interrupted is called again by the loop around it.
    let _ = rustix::event::poll(&mut polled, time.as_ref());
    polled.map(|file| !file.revents().is_empty())
}

/// Forgets the ends of children that were announced; `take_leave` finds them all.
fn noticed(children: &SignalFd) {
    while let Ok(Some(_)) = children.read_signal() {}
}
