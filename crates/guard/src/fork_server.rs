//! A process that makes guards. It is started once and clones itself for every command: the clone has its program loaded and linked already,
//! which takes longer than all that a guard does for a short command.
//!
//! A guard that is made so is a child of the runtime and not of this process (`CLONE_PARENT`). So it is as if the runtime had started the
//! guard itself: the runtime waits for it, counts its processor time, and holds it by its socket. This process holds nothing. It ends when
//! its socket is closed, and if it is killed, the runtime starts another one and no command notices.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;
use std::time::Duration;

use nix::sched::CloneFlags;
use nix::sys::signal::Signal;
use rustix::io::Errno;
use rustix::net::sockopt::Timeout;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType,
};

/// The names of a guard's control groups are not longer than this together.
const MAX_BYTES: usize = 32 * 1024;

/// A fork server that has not answered by then does not answer.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// The stack of a guard. Only what is used of it takes memory.
const STACK_BYTES: usize = 1 << 20;

/// Two ends of a line to a fork server: ours, and the one that becomes its standard input.
pub fn line() -> io::Result<(OwnedFd, OwnedFd)> {
    // One message stays one message.
    let (ours, theirs) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    for timeout in [Timeout::Recv, Timeout::Send] {
        rustix::net::sockopt::set_socket_timeout(&ours, timeout, Some(ANSWER_TIME))?;
    }
    Ok((ours, theirs))
}

/// Asks a fork server for a guard with this socket, in these control groups (see [`main`](crate::main)). Tells its process number.
pub fn ask<'a>(
    server: BorrowedFd<'_>,
    socket: BorrowedFd<'_>,
    group: impl Iterator<Item = &'a OsStr>,
) -> io::Result<i32> {
    let names: Vec<&[u8]> = group.map(OsStr::as_bytes).collect();
    let names = names.join(&0);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut files = SendAncillaryBuffer::new(&mut space);
    let sent = [socket];
    assert!(files.push(SendAncillaryMessage::ScmRights(&sent)), "there is space for the socket");
    // A message has at least one byte: none is the end.
    rustix::net::sendmsg(server, &[IoSlice::new(&[0]), IoSlice::new(&names)], &mut files, SendFlags::NOSIGNAL)?;
    let mut answer = [0; 4];
    let length = rustix::io::retry_on_intr(|| rustix::net::recv(server, &mut answer, RecvFlags::empty()))?.1;
    match i32::from_le_bytes(answer) {
        _ if length < answer.len() => Err(io::ErrorKind::BrokenPipe.into()),
        number @ 1.. => Ok(number),
        errno => Err(io::Error::from_raw_os_error(-errno)),
    }
}

/// Makes guards until the socket, which is the standard input, is closed. `guard` is what each of them does.
pub(crate) fn serve(guard: impl Fn(&[OsString])) -> ExitCode {
    // Ctrl-C reaches only the runtime.
    let _ = rustix::process::setsid();
    let input = std::io::stdin();
    let mut stack = vec![0; STACK_BYTES];
    loop {
        let (socket, group) = match receive(input.as_fd()) {
            Ok(Some(asked)) => asked,
            Ok(None) => return ExitCode::SUCCESS,
            Err(_) => return ExitCode::FAILURE,
        };
        let answer = match cloned(&mut stack, socket, &group, &guard) {
            Ok(number) => number,
            Err(error) => -(error as i32),
        };
        if rustix::net::send(&input, &answer.to_le_bytes(), SendFlags::NOSIGNAL).is_err() {
            return ExitCode::FAILURE;
        }
    }
}

/// Makes a guard with this socket, and tells its process number.
fn cloned(
    stack: &mut [u8],
    socket: OwnedFd,
    group: &[OsString],
    guard: &impl Fn(&[OsString]),
) -> Result<i32, nix::Error> {
    let mut socket = Some(socket);
    let begin = || {
        // This closes the line of the fork server, which is not for guards.
        if socket.take().is_some_and(|socket| rustix::stdio::dup2_stdin(socket).is_ok()) {
            guard(group);
        }
        0
    };
    let (flags, at_its_end) = (CloneFlags::CLONE_PARENT, Some(Signal::SIGCHLD as i32));
    // SAFETY: this process has one thread, so that no lock is held by a thread that the clone does not have. Memory is copied and not
    // shared (CLONE_VM is not set): whatever the clone does to this stack and to everything else, it does to its own copy.
    #[expect(unsafe_code, reason = "there is no safe way to make a process without starting a program")]
    let made = unsafe { nix::sched::clone(Box::new(begin), stack, flags, at_its_end) };
    made.map(nix::unistd::Pid::as_raw)
}

/// Waits for a request; none if the socket is closed.
fn receive(line: BorrowedFd<'_>) -> io::Result<Option<(OwnedFd, Vec<OsString>)>> {
    let mut bytes = vec![0; MAX_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut files = RecvAncillaryBuffer::new(&mut space);
    let length = loop {
        match rustix::net::recvmsg(line, &mut [IoSliceMut::new(&mut bytes)], &mut files, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            got => break got?.bytes,
        }
    };
    let socket = files.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let names = bytes[..length].get(1..).unwrap_or_default().split(|byte| *byte == 0);
    let group = names.filter(|name| !name.is_empty()).map(|name| OsString::from_vec(name.to_vec())).collect();
    Ok(socket.map(|socket| (socket, group)))
}
