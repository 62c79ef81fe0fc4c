//! One look at everything that is protected in a workspace.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folders::Folders;
use crate::protected::{self, Kind, Role};

/// A workspace with more folders than this is not one that anybody works in.
const MAX_FOLDERS: usize = 2_000_000;
/// How deep repositories in repositories are followed.
const MAX_MODULES_DEPTH: usize = 6;
/// A protected file that is longer is not copied.
const MAX_COPY_BYTES: u64 = 4 * 1024 * 1024;

/// Everything that is protected in a workspace at one moment, by its path from there.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Look {
    /// Files and links.
    pub files: BTreeMap<PathBuf, Entry>,
    /// Repositories, by their own folder (`.git`), with the number of its inode.
    pub repositories: BTreeMap<PathBuf, u64>,
    /// The outermost protected paths: each is a file, a link, or a folder of which everything is protected.
    pub tops: BTreeMap<PathBuf, Kind>,
}

/// A protected file or link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The name of its place.
    pub place: String,
    pub kind: Kind,
    pub stamp: Stamp,
    /// Whether walls keep it as it is.
    pub is_kept: bool,
    pub copy: Copy,
}

/// What it held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Copy {
    /// Not known: it is kept by walls, or too long.
    #[default]
    None,
    /// A file, under this name among the copies.
    File(String),
    /// A link that leads there.
    Link(PathBuf),
}

/// Two files with the same stamp are the same file, unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Stamp {
    inode: u64,
    size: u64,
    pub mode: u32,
    /// The time of the last change of anything about it; unlike that of its content it cannot be set.
    changed: (i64, i64),
}

/// What is protected in a workspace at this moment. Links are not followed.
pub(crate) fn look(root: &Path) -> Result<Look, String> {
    let mut look = Look::default();
    let mut folders = Folders::of(root);
    let mut rest = vec![(PathBuf::new(), false)];
    let mut entered = 0;
    while let Some((folder, is_package)) = rest.pop() {
        entered += 1;
        if entered > MAX_FOLDERS {
            return Err(format!("the workspace has more than {MAX_FOLDERS} folders; work in a smaller one"));
        }
        let content = folders.content(root, &folder, is_package);
        for (name, role, is_folder) in &content.protected {
            let path = folder.join(name);
            match role {
                Role::Repository if *is_folder => look.note_repository(root, &path, 0),
                Role::Repository => look.note_all(root, &path, ".git", Kind::Pointer),
                Role::Protected(place) => look.note_all(root, &path, place.name, place.kind),
                Role::Open => {}
            }
        }
        // A folder that looks like a repository is one to git that is started in it.
        if content.is_repository {
            look.note_repository(root, &folder, 0);
        }
        rest.extend(content.folders.iter().map(|name| (folder.join(name), content.is_package)));
    }
    folders.keep();
    Ok(look)
}

impl Look {
    /// Notes a file, or everything below a folder, as one protected thing.
    fn note_all(&mut self, root: &Path, path: &Path, place: &str, kind: Kind) {
        if fs::symlink_metadata(root.join(path)).is_ok() {
            self.tops.insert(path.to_owned(), kind);
        }
        let mut rest = vec![path.to_owned()];
        while let Some(path) = rest.pop() {
            let Ok(there) = fs::symlink_metadata(root.join(&path)) else { continue };
            if there.is_dir() {
                let entries = fs::read_dir(root.join(&path)).into_iter().flatten().flatten();
                rest.extend(entries.map(|entry| path.join(entry.file_name())));
                continue;
            }
            // The samples that git puts there are never run.
            if kind == Kind::Hook && path.extension().is_some_and(|extension| extension == "sample") {
                continue;
            }
            let (place, stamp) = (place.to_owned(), Stamp::of(&there));
            self.files.insert(path, Entry { place, kind, stamp, is_kept: false, copy: Copy::None });
        }
    }

    /// Notes what is protected in a repository's own folder.
    fn note_repository(&mut self, root: &Path, repository: &Path, depth: usize) {
        if let Ok(there) = fs::symlink_metadata(root.join(repository)) {
            self.repositories.insert(repository.to_owned(), there.ino());
        }
        if let Some(hooks) = protected::hooks_folder(&root.join(repository)) {
            let hooks = repository.parent().unwrap_or(Path::new("")).join(hooks);
            self.note_all(root, &hooks, ".git/hooks", Kind::Hook);
        }
        for entry in fs::read_dir(root.join(repository)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = repository.join(&*name);
            match &*name {
                "modules" | "worktrees" if depth < MAX_MODULES_DEPTH => self.note_inner(root, &path, depth),
                "info" | "rebase-merge" | "rebase-apply" | "sequencer" => {
                    for inner in fs::read_dir(root.join(&path)).into_iter().flatten().flatten() {
                        let inner = inner.file_name();
                        let place = protected::role_in_repository(&[&name, &inner.to_string_lossy()]);
                        if let Some(place) = place {
                            self.note_all(root, &path.join(&inner), place.name, place.kind);
                        }
                    }
                }
                _ => {
                    if let Some(place) = protected::role_in_repository(&[&name]) {
                        self.note_all(root, &path, place.name, place.kind);
                    }
                }
            }
        }
    }

    /// Notes the repositories in a folder of a repository; their names may have several parts.
    fn note_inner(&mut self, root: &Path, folder: &Path, depth: usize) {
        for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let has = |name: &str| fs::symlink_metadata(root.join(&path).join(name)).is_ok();
            if ["HEAD", "config", "config.worktree", "hooks", "commondir"].iter().any(|name| has(name)) {
                self.note_repository(root, &path, depth + 1);
            } else if depth < MAX_MODULES_DEPTH {
                self.note_inner(root, &path, depth + 1);
            }
        }
    }

    /// Copies what no walls keep.
    pub fn copy(&mut self, root: &Path, copies: &Path) -> io::Result<()> {
        for (path, entry) in self.files.iter_mut().filter(|(_, entry)| !entry.is_kept) {
            entry.copy = match entry.stamp.is_link() {
                true => fs::read_link(root.join(path)).map_or(Copy::None, Copy::Link),
                false => match content(&root.join(path)) {
                    Some(bytes) => Copy::File(keep(copies, &bytes)?),
                    None => Copy::None,
                },
            };
        }
        Ok(())
    }
}

impl Stamp {
    fn of(there: &fs::Metadata) -> Self {
        Self {
            inode: there.ino(),
            size: there.size(),
            mode: there.mode(),
            changed: (there.ctime(), there.ctime_nsec()),
        }
    }

    pub fn is_link(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFLNK
    }
}

/// What a plain file holds, unless it is too long. Nothing is waited for and no link is followed.
pub(super) fn content(path: &Path) -> Option<Vec<u8>> {
    let mut options = fs::OpenOptions::new();
    let file = options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).ok()?;
    let there = file.metadata().ok()?;
    if !there.is_file() || there.len() > MAX_COPY_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_COPY_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Puts bytes among the copies, and gives their name.
fn keep(copies: &Path, bytes: &[u8]) -> io::Result<String> {
    let name = blake3::hash(bytes).to_hex().to_string();
    let file = copies.join(&name);
    if !file.exists() {
        let passing = copies.join(format!("{name}.{}", std::process::id()));
        fs::write(&passing, bytes)?;
        fs::rename(passing, file)?;
    }
    Ok(name)
}
