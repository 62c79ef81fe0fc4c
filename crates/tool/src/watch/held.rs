//! A path of the workspace, held by the folder that it is in: the folder is opened part by part without following any link, so
//! that nothing outside the workspace is touched, whatever a command has put there.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// A name in an open folder.
pub(super) struct Held {
    folder: OwnedFd,
    name: OsString,
}

/// What is done about folders that are missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// They are an error.
    Refused,
    /// They are made.
    Made,
}

impl Held {
    /// Opens the folder of a path below a root.
    pub fn open(root: &Path, path: &Path, missing: Missing) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let mut folder = OwnedFd::from(File::open(root)?);
        for part in path.parent().into_iter().flat_map(Path::components) {
            let Component::Normal(part) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let open = || rustix::fs::openat(&folder, part, flags, Mode::empty());
            let next = match open() {
                Err(rustix::io::Errno::NOENT) if missing == Missing::Made => {
                    rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o755))?;
                    open()
                }
                opened => opened,
            };
            folder = next?;
        }
        Ok(Self { folder, name })
    }

    /// A path to the name that leads through the open folder and no other. It is good as long as this is held; the name
    /// itself may be a link, which calls that follow links would follow.
    pub fn path(&self) -> PathBuf {
        self.beside(&self.name)
    }

    /// The same for another name in the folder.
    pub fn beside(&self, name: &std::ffi::OsStr) -> PathBuf {
        Path::new("/proc/self/fd").join(self.folder.as_raw_fd().to_string()).join(name)
    }

    /// Does something in the folder; where its permissions forbid that, they are opened for the moment.
    pub fn writable<T>(&self, act: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let mode = rustix::fs::fstat(&self.folder)?.st_mode;
                rustix::fs::fchmod(&self.folder, Mode::from_raw_mode(mode & 0o7777 | 0o700))?;
                let done = act();
                rustix::fs::fchmod(&self.folder, Mode::from_raw_mode(mode & 0o7777))?;
                done
            }
            done => done,
        }
    }
}
