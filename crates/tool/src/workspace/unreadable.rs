//! What an agent may not read of a workspace, whichever tool it uses: files by the patterns of the rules that forbid it.
//!
//! A file is known by where it really is, which is asked of the open file itself, so that a link that is swapped in the last
//! moment leads nowhere. Names are no secret: listing a folder shows them.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::permission::matches;
use cap_std::fs::File;

use crate::error::Error;

/// So many entries are looked at for what must be hidden from a command.
const MAX_ENTRIES: usize = 400_000;
/// So many files and folders are hidden one by one: each is a mount, and mounts are not free.
const MAX_FOUND: usize = 256;

/// What an agent may not read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unreadable {
    root: PathBuf,
    patterns: Arc<[Arc<str>]>,
}

impl Unreadable {
    pub fn new(root: &Path, patterns: Vec<Arc<str>>) -> Self {
        Self { root: root.to_owned(), patterns: patterns.into() }
    }

    /// Refuses an open file that may not be read, by the name under which it was asked for and by its real one.
    pub fn check(&self, shown: &str, file: &File) -> Result<(), Error> {
        if self.patterns.is_empty() {
            return Ok(());
        }
        let real = real_path(file).map_err(|source| Error::at(shown, source))?;
        let beneath = real.strip_prefix(&self.root).unwrap_or(&real);
        if self.covers(Path::new(shown)) || self.covers(beneath) {
            return Err(Error::Unreadable { path: shown.to_owned() });
        }
        Ok(())
    }

    /// The files and folders that are there and may not be read, or why that cannot be said.
    pub fn found(&self) -> Result<Vec<PathBuf>, String> {
        let mut found = Vec::new();
        if self.patterns.is_empty() {
            return Ok(found);
        }
        let too_many =
            |what: &str| Err(format!("a rule forbids reading files, and {what} to hide them all from a command"));
        let (mut folders, mut left) = (vec![PathBuf::new()], MAX_ENTRIES);
        while let Some(folder) = folders.pop() {
            // What cannot be listed by us cannot be read by a command of ours.
            for entry in fs::read_dir(self.root.join(&folder)).into_iter().flatten().flatten() {
                let Some(rest) = left.checked_sub(1) else { return too_many("the workspace is too large") };
                left = rest;
                let path = folder.join(entry.file_name());
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if self.covers(&path) || is_folder && self.covers_all_in(&path) {
                    found.push(self.root.join(path));
                } else if is_folder {
                    folders.push(path);
                }
            }
        }
        if found.len() > MAX_FOUND { too_many("there are too many") } else { Ok(found) }
    }

    fn covers(&self, path: &Path) -> bool {
        let (beneath, whole) = (path.to_string_lossy(), self.root.join(path));
        self.patterns.iter().any(|pattern| matches(pattern, &beneath) || matches(pattern, &whole.to_string_lossy()))
    }

    /// Whether some pattern is for whatever a folder may hold.
    fn covers_all_in(&self, folder: &Path) -> bool {
        let open = self.patterns.iter().filter(|pattern| pattern.ends_with('*'));
        let beneath = format!("{}/", folder.display());
        let whole = self.root.join(&beneath).display().to_string();
        open.into_iter().any(|pattern| matches(pattern, &beneath) || matches(pattern, &whole))
    }
}

/// Where an open file or folder really is.
pub(super) fn real_path(open: &impl AsRawFd) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", open.as_raw_fd()))
}
