//! One look at everything that is protected in a workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
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
    /// Of these and of repositories, the folder that holds each, by the number of its inode.
    pub holders: BTreeMap<PathBuf, u64>,
    /// Repositories that walls keep from being renamed.
    pub pinned: BTreeSet<PathBuf>,
    /// Folders that settings of repositories name for hooks.
    pub hooks: BTreeSet<PathBuf>,
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
    look_with(root, None)
}

/// The same with these folders for hooks, where they are known from before: settings that a command has written do not say
/// what of the user's files is a hook.
pub(super) fn look_with(root: &Path, hooks: Option<&BTreeSet<PathBuf>>) -> Result<Look, String> {
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
    let hooks = hooks.cloned().unwrap_or_else(|| look.named_hooks(root));
    for folder in &hooks {
        look.note_all(root, folder, ".git/hooks", Kind::Hook);
    }
    look.hooks = hooks;
    Ok(look)
}

impl Look {
    /// Notes a file, or everything below a folder, as one protected thing.
    fn note_all(&mut self, root: &Path, path: &Path, place: &str, kind: Kind) {
        if fs::symlink_metadata(root.join(path)).is_ok() {
            self.tops.insert(path.to_owned(), kind);
            self.note_holder(root, path);
        }
        let mut rest = vec![path.to_owned()];
        while let Some(path) = rest.pop() {
            let Ok(there) = fs::symlink_metadata(root.join(&path)) else { continue };
            if there.is_dir() {
                let inside = entries(&root.join(&path));
                rest.extend(inside.into_iter().map(|entry| path.join(entry.file_name())));
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

    fn note_holder(&mut self, root: &Path, path: &Path) {
        if let Some(holder) = path.parent().and_then(|parent| fs::symlink_metadata(root.join(parent)).ok()) {
            self.holders.insert(path.to_owned(), holder.ino());
        }
    }

    /// Whether the folder that holds a protected path is the same as then. A mount in a folder cannot be replaced there, but
    /// the folder itself can be renamed with the mount in it.
    pub fn is_held(&self, root: &Path, path: &Path) -> bool {
        let noted = path.ancestors().find_map(|top| Some((top, *self.holders.get(top)?)));
        let is_same = |(top, inode): (&Path, u64)| {
            let holder = top.parent().and_then(|parent| fs::symlink_metadata(root.join(parent)).ok());
            holder.is_some_and(|holder| holder.ino() == inode)
        };
        noted.is_some_and(is_same)
    }

    /// Notes what is protected in a repository's own folder.
    fn note_repository(&mut self, root: &Path, repository: &Path, depth: usize) {
        if let Ok(there) = fs::symlink_metadata(root.join(repository)) {
            self.repositories.insert(repository.to_owned(), there.ino());
            self.note_holder(root, repository);
        }
        for entry in entries(&root.join(repository)) {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = repository.join(&*name);
            match &*name {
                "modules" | "worktrees" if depth < MAX_MODULES_DEPTH => self.note_inner(root, &path, depth),
                "info" | "rebase-merge" | "rebase-apply" | "sequencer" => {
                    for inner in entries(&root.join(&path)) {
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

    /// The folders that settings of repositories name for hooks.
    fn named_hooks(&self, root: &Path) -> BTreeSet<PathBuf> {
        let named = |repository: &PathBuf| {
            let hooks = protected::hooks_folder(&root.join(repository))?;
            Some(repository.parent().unwrap_or(Path::new("")).join(hooks))
        };
        self.repositories.keys().filter_map(named).collect()
    }

    /// The outermost protected path that a path belongs to.
    pub fn top(&self, path: &Path) -> Option<&Path> {
        path.ancestors().find_map(|top| Some(self.tops.get_key_value(top)?.0.as_path()))
    }

    /// The folder that holds the outermost protected path, by the number of its inode.
    pub fn holder(&self, path: &Path) -> Option<u64> {
        self.holders.get(self.top(path)?).copied()
    }

    /// Notes the repositories in a folder of a repository; their names may have several parts.
    fn note_inner(&mut self, root: &Path, folder: &Path, depth: usize) {
        for entry in entries(&root.join(folder)) {
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
            entry.copy = Copy::of(&root.join(path), entry.stamp, copies)?;
        }
        Ok(())
    }
}

impl Entry {
    /// A protected file as it is now, with a copy; none where no file is.
    pub fn at(root: &Path, path: &Path, copies: &Path) -> Option<Self> {
        let there = fs::symlink_metadata(root.join(path)).ok().filter(|there| !there.is_dir())?;
        let stamp = Stamp::of(&there);
        // Without a copy it is compared all the same.
        let copy = Copy::of(&root.join(path), stamp, copies).unwrap_or_default();
        let place = path.to_str().and_then(protected::place).unwrap_or(".git/hooks").to_owned();
        Some(Self { place, kind: Kind::Plain, stamp, is_kept: false, copy })
    }
}

impl Copy {
    fn of(path: &Path, stamp: Stamp, copies: &Path) -> io::Result<Self> {
        if stamp.is_link() {
            return Ok(fs::read_link(path).map_or(Self::None, Self::Link));
        }
        content(path).map_or(Ok(Self::None), |bytes| Ok(Self::File(keep(copies, &bytes)?)))
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

    /// When it was last changed, in seconds.
    pub fn changed_s(&self) -> i64 {
        self.changed.0
    }

    pub fn is_link(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFLNK
    }
}

/// What is in a folder. One that was made unreadable is made readable again: it could hide what is in it from this look and
/// not from the programs that open it by name.
pub(super) fn entries(folder: &Path) -> Vec<fs::DirEntry> {
    let read = fs::read_dir(folder).or_else(|error| {
        let there = fs::symlink_metadata(folder)?;
        if error.kind() != io::ErrorKind::PermissionDenied || !there.is_dir() {
            return Err(error);
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(there.mode() | 0o700))?;
        fs::read_dir(folder)
    });
    read.into_iter().flatten().flatten().collect()
}

/// What a plain file holds, unless it is too long. Nothing is waited for and no link is followed.
pub(crate) fn content(path: &Path) -> Option<Vec<u8>> {
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
        let mut made = fs::File::create(&passing)?;
        made.write_all(bytes)?;
        made.sync_all()?;
        fs::rename(passing, file)?;
    }
    Ok(name)
}
