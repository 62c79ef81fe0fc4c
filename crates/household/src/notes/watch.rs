//! Whether the folder of notes has changed since it was last read.
//!
//! Listing fifty thousand files takes longer than searching them. The kernel reports changes in watched folders, so that a process
//! which has listed them once need not do so again before something changed. Where that is not available (too many folders, no such
//! service), every use lists them.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;

/// How long a watch is believed. The kernel does not hear of what others change on a file system that lies elsewhere.
const BELIEVED: Duration = Duration::from_secs(30);

/// A watch over folders.
pub(super) struct Watch {
    inotify: Option<OwnedFd>,
    begun: Instant,
}

impl Watch {
    /// Begins, over nothing.
    pub(super) fn begin() -> Self {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok();
        Self { inotify, begun: Instant::now() }
    }

    /// Takes a folder in. To be done before it is read, so that nothing falls between.
    pub(super) fn over(&mut self, folder: &Path) {
        let what = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        if self.inotify.as_ref().is_some_and(|inotify| inotify::add_watch(inotify, folder, what).is_err()) {
            self.inotify = None;
        }
    }

    /// Whether nothing happened since it began.
    pub(super) fn is_quiet(&self) -> bool {
        let is_silent = |inotify: &OwnedFd| matches!(rustix::io::read(inotify, &mut [0; 512]), Err(Errno::AGAIN));
        self.begun.elapsed() < BELIEVED && self.inotify.as_ref().is_some_and(is_silent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_in_place_a_new_file_and_a_removed_one_are_heard() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a.md");
        let heard = |act: &dyn Fn()| {
            let mut watch = Watch::begin();
            watch.over(folder.path());
            let before = watch.is_quiet();
            act();
            (before, watch.is_quiet())
        };
        assert_eq!(heard(&|| std::fs::write(&file, "a").expect("written")), (true, false), "new");
        assert_eq!(heard(&|| std::fs::write(&file, "b").expect("written")), (true, false), "in place");
        assert_eq!(heard(&|| drop(std::fs::read(&file))), (true, true), "reading is no change");
        assert_eq!(heard(&|| std::fs::remove_file(&file).expect("removed")), (true, false), "removed");
    }

    #[test]
    fn a_folder_that_cannot_be_watched_is_never_quiet() {
        let mut watch = Watch::begin();
        watch.over(Path::new("/nowhere/at/all"));
        assert!(!watch.is_quiet());
    }
}
