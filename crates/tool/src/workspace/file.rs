//! Reading and replacing one file beneath a directory handle.

use std::io::{self, Read, Write};
use std::path::Path;

use cap_std::fs::{Dir, File, FileTypeExt, Metadata, OpenOptions, OpenOptionsExt};
use rustix::fs::{OFlags, RenameFlags};
use rustix::io::Errno;

use super::leftover;
use crate::error::Error;

/// The most that is ever read or written at once.
pub(crate) const MAX_BYTES: u64 = MAX_MIB * 1024 * 1024;
const MAX_MIB: u64 = 32;

/// What a file held when it was opened.
pub(crate) struct Found {
    pub bytes: Vec<u8>,
    pub metadata: Metadata,
}

/// Whether the last part of a path may be a link.
#[derive(Clone, Copy)]
pub(crate) enum Links {
    /// Followed, as long as it stays beneath the handle.
    Inside,
    /// Refused: what is about to be replaced must be the file itself.
    Refused,
}

/// Reads a plain file.
pub(crate) fn read(dir: &Dir, at: impl AsRef<Path>, shown: &str, links: Links) -> Result<Found, Error> {
    read_open(open(dir, at, shown, links)?, shown)
}

/// Opens a file. It does not block on a pipe.
pub(crate) fn open(dir: &Dir, at: impl AsRef<Path>, shown: &str, links: Links) -> Result<File, Error> {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if let Links::Refused = links {
        flags |= OFlags::NOFOLLOW;
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits() as i32);
    dir.open_with(at, &options).map_err(|source| Error::at(shown, source))
}

/// Reads an open file. Nothing is read before it is known to be plain.
pub(crate) fn read_open(file: File, shown: &str) -> Result<Found, Error> {
    let io = |source| Error::at(shown, source);
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(Error::NotAFile { path: shown.to_owned(), what: kind(&metadata) });
    }
    let too_large = || Error::TooLarge { path: shown.to_owned(), limit_mib: MAX_MIB };
    if metadata.len() > MAX_BYTES {
        return Err(too_large());
    }
    // The length may lie: files that the kernel makes up say 0 and may never end.
    let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large());
    }
    Ok(Found { bytes, metadata })
}

/// Puts a file into a folder: written whole under a passing name, then renamed. `old` is what it replaces, whose
/// permissions it keeps; without `old` the name must still be free.
pub(crate) fn put(dir: &Dir, name: &str, shown: &str, bytes: &[u8], old: Option<&Metadata>) -> Result<(), Error> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::TooLarge { path: shown.to_owned(), limit_mib: MAX_MIB });
    }
    let io = |source| Error::at(shown, source);
    let (passing, mut file) = leftover::make(dir, 0o666).map_err(io)?;
    let written = old
        .map_or(Ok(()), |old| file.set_permissions(old.permissions()))
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_data())
        .and_then(|()| rename(dir, &passing, name, old.is_some()));
    if written.is_err() {
        // Best effort: the error that is told is the one that mattered.
        let _ = dir.remove_file(&passing);
    }
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => Error::Changed { path: shown.to_owned() },
        _ => io(source),
    })
}

fn rename(dir: &Dir, from: &str, to: &str, over: bool) -> io::Result<()> {
    if !over {
        match rustix::fs::renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE) {
            // Some file systems cannot promise that a name is free.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            done => return done.map_err(io::Error::from),
        }
    }
    dir.rename(from, dir, to)
}

fn kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "something special"
    }
}
