//! The guard's program, which is a part of this library: a file in memory, from which it is started.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;

/// Made by the build script; empty in a build for another machine.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guard"));

/// The program as a file that no process can change any more.
struct InMemory {
    path: PathBuf,
    _file: File,
}

/// The program's path in this process and in what it starts; none where it cannot be started, which is found out by
/// starting it.
pub(super) fn program() -> Option<&'static Path> {
    static MADE: OnceLock<Option<InMemory>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let made = in_memory();
        if let Err(error) = &made {
            tracing::warn!("the embedded guard cannot be started: {error}");
        }
        made.ok()
    });
    Some(&made.as_ref()?.path)
}

fn in_memory() -> io::Result<InMemory> {
    if PROGRAM.is_empty() {
        return Err(io::Error::other("this is a build for another machine than the one that it was made on"));
    }
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let opened = match rustix::fs::memfd_create("majordomo-guard", flags | MemfdFlags::EXEC) {
        // Before Linux 6.3 every file in memory could be started.
        Err(Errno::INVAL) => rustix::fs::memfd_create("majordomo-guard", flags),
        opened => opened,
    };
    let mut file = File::from(opened?);
    file.write_all(PROGRAM)?;
    rustix::fs::fcntl_add_seals(&file, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let mut tried = Command::new(&path);
    tried.args([guard::WORD, guard::PROBE]).env_clear();
    let ended = tried.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if !ended.success() {
        return Err(io::Error::other(format!("it ended with {ended}")));
    }
    Ok(InMemory { path, _file: file })
}
