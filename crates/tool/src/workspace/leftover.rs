//! Temporary files: how they are named, which of them a killed process left behind, and their removal.
//!
//! A file is written under a temporary name in its own folder and then renamed (`file::put`). A process that is killed in
//! between leaves the temporary file. Its name holds the number of the process that made it, so that it can be told from one
//! that is in use. Nothing else is ever removed: not a link, not a folder, not a name that is only similar.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use guard::processes;

/// The most names that are looked at in one folder when a thread is resumed.
const MAX_NAMES: usize = 50_000;
/// The bounds of a search through a whole workspace.
const MAX_ENTRIES: usize = 200_000;
const MAX_DEPTH: usize = 64;
const MAX_TIME: Duration = Duration::from_secs(5);

/// Temporary files that this process has made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// What a search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleared {
    /// Files that were removed.
    pub removed: usize,
    /// Whether every folder was searched; the search is bounded.
    pub complete: bool,
}

/// Makes a temporary file in a folder. `mode` are its permissions, of which the umask takes some away.
pub(crate) fn make(dir: &Dir, mode: u32) -> io::Result<(String, File)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    loop {
        let name = name(std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        match dir.open_with(&name, &options) {
            // Left behind by a process of the same number that was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => return Ok((name, file)),
        }
    }
}

/// Whether files can be written in a folder, by a real attempt: a private file is made, written, flushed and removed.
pub fn try_to_write(folder: &Path) -> io::Result<()> {
    let dir = Dir::open_ambient_dir(folder, ambient_authority())?;
    let (name, mut file) = make(&dir, 0o600)?;
    let written = file.write_all(&[0; 4096]).and_then(|()| file.sync_data());
    dir.remove_file(&name)?;
    written
}

/// Removes what killed processes left in one folder. What cannot be listed or removed stays.
pub(crate) fn clear(dir: &Dir) {
    let Ok(entries) = dir.entries() else { return };
    for entry in entries.take(MAX_NAMES).flatten() {
        let name = entry.file_name();
        if is_left(&name) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // What cannot be removed is in nobody's way; `majordomo doctor` tries again.
            let _ = remove(dir, &name);
        }
    }
}

/// Removes what killed processes left in a folder and below it. Links are not followed, and `.git` is not entered.
pub fn clear_below(folder: &Path) -> io::Result<Cleared> {
    let dir = Dir::open_ambient_dir(folder, ambient_authority())?;
    let mut search = Search { removed: 0, left: MAX_ENTRIES, until: Instant::now() + MAX_TIME };
    let complete = search.folder(&dir, 0);
    Ok(Cleared { removed: search.removed, complete })
}

struct Search {
    removed: usize,
    /// Entries that may still be looked at.
    left: usize,
    until: Instant,
}

impl Search {
    /// Searches a folder; whether to its end.
    fn folder(&mut self, dir: &Dir, depth: usize) -> bool {
        // What cannot be listed holds nothing that could be removed.
        let Ok(entries) = dir.entries() else { return true };
        let mut complete = true;
        for entry in entries.flatten() {
            if self.left == 0 || Instant::now() > self.until {
                return false;
            }
            self.left -= 1;
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            if kind.is_file() && is_left(&name) {
                self.removed += usize::from(remove(dir, &name));
            } else if kind.is_dir() && name != ".git" {
                complete &=
                    depth < MAX_DEPTH && open_itself(dir, &name).is_none_or(|below| self.folder(&below, depth + 1));
            }
        }
        complete
    }
}

/// Removes a name; whether that was possible. It is the name that is removed, also if a link has taken its place since it was
/// looked at.
fn remove(dir: &Dir, name: &OsStr) -> bool {
    dir.remove_file(name).is_ok()
}

/// Opens a folder that is no link, even if it has become one since it was listed.
pub(super) fn open_itself(parent: &Dir, name: &OsStr) -> Option<Dir> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::DIRECTORY | OFlags::NOFOLLOW).bits() as i32);
    parent.open_with(name, &options).ok().map(|file| Dir::from_std_file(file.into_std()))
}

fn name(process: u32, count: u64) -> String {
    format!(".majordomo-{process}-{count}.tmp")
}

/// Whether a name is that of a temporary file whose process has ended.
fn is_left(found: &OsStr) -> bool {
    let numbers =
        found.to_str().and_then(|name| name.strip_prefix(".majordomo-")?.strip_suffix(".tmp")?.split_once('-'));
    let Some((process, count)) = numbers.and_then(|(one, other)| Some((one.parse().ok()?, other.parse().ok()?))) else {
        return false;
    };
    // Numbers can be written in other ways; such a name is not ours.
    *found == *name(process, count) && !may_be_in_use(process, count)
}

/// Whether a process may still be writing a file of this name.
fn may_be_in_use(process: u32, count: u64) -> bool {
    if process == std::process::id() {
        // A higher count was given by an earlier process of the same number.
        return count < MADE.load(Ordering::Relaxed);
    }
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return false };
    match test_kill_process(pid) {
        Err(Errno::SRCH) => false,
        // It may be one that has ended and that its parent has not waited for.
        Ok(()) => processes::is_running(pid.as_raw_nonzero().get()),
        // Another user's.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// The number of a process that has ended.
    fn ended() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    /// The names in a folder, in order.
    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_plain_files_of_ended_processes_with_exactly_our_names_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (ended, own) = (ended(), std::process::id());
        let mut waits = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let in_use = MADE.fetch_add(1, Ordering::Relaxed);
        let mut kept = vec![
            name(waits.id(), 0),
            name(own, in_use),
            format!(".majordomo-0{ended}-1.tmp"),
            format!(".majordomo-+{ended}-1.tmp"),
            format!(".majordomo-{ended}-01.tmp"),
            format!(".majordomo-{ended}-1-1.tmp"),
            format!(".majordomo-{ended}.tmp"),
            format!(".majordomo-{ended}-.tmp"),
            format!(".majordomo-{ended}-1.tmp~"),
            format!("x.majordomo-{ended}-1.tmp"),
            "majordomo.db".to_owned(),
        ];
        // A number that no process of this test run reaches: the count of an earlier process that had our number.
        let removed = [name(ended, 0), name(ended, 17), name(own, u64::MAX - 1), name(u32::MAX, 3)];
        for name in kept.iter().chain(&removed) {
            std::fs::write(folder.path().join(name), "half of someth").unwrap();
        }
        std::fs::create_dir(folder.path().join(name(ended, 2))).unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        symlink(outside.path(), folder.path().join(name(ended, 3))).unwrap();
        kept.extend([name(ended, 2), name(ended, 3)]);
        kept.sort();
        clear(&Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap());
        assert_eq!(names(folder.path()), kept);
        waits.kill().unwrap();
        // It has ended, and its parent has not waited for it yet.
        rustix::process::waitid(
            rustix::process::WaitId::Pid(Pid::from_child(&waits)),
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
        )
        .unwrap();
        clear(&Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap());
        assert!(!folder.path().join(name(waits.id(), 0)).exists());
        waits.wait().unwrap();
        assert!(outside.path().exists());
    }

    #[test]
    fn a_search_goes_into_folders_and_not_through_links() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let left = name(ended(), 0);
        let deep = folder.path().join("a/b/c");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        symlink(outside.path(), folder.path().join("a/link")).unwrap();
        for place in [&deep, folder.path(), outside.path(), &folder.path().join(".git")] {
            std::fs::write(place.join(&left), "x").unwrap();
        }
        std::fs::write(deep.join("kept"), "x").unwrap();
        assert_eq!(clear_below(folder.path()).unwrap(), Cleared { removed: 2, complete: true });
        assert_eq!(names(&deep), ["kept"]);
        assert_eq!(names(outside.path()), [left.as_str()], "it lies behind a link");
        assert_eq!(clear_below(folder.path()).unwrap(), Cleared { removed: 0, complete: true });
        assert!(clear_below(&folder.path().join("nothing")).is_err());
    }

    #[test]
    fn trying_to_write_leaves_nothing_and_fails_where_nothing_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        try_to_write(folder.path()).unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
        // Not even root can make files there.
        assert!(try_to_write(Path::new("/proc/self")).is_err());
        std::fs::write(folder.path().join("file"), "x").unwrap();
        assert!(try_to_write(&folder.path().join("file")).is_err());
    }
}
