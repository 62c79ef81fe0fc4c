//! One look at everything that is protected in a workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{folders, settings};
use crate::protected::{self, Kind, Role};
use crate::workspace::followed;

/// How deep repositories in repositories are followed.
const MAX_MODULES_DEPTH: usize = 6;
/// So many links behind each other are followed, as by the kernel.
const MAX_LINKS: usize = 40;
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
    /// Of these, the ones that are repositories by what is in them and not by their name.
    pub bare: BTreeSet<PathBuf>,
    /// Repositories that the sandbox keeps from being renamed.
    pub pinned: BTreeSet<PathBuf>,
    /// Paths that are protected because something else names them: folders for hooks in settings, what protected links lead to.
    pub named: BTreeMap<PathBuf, (String, Kind)>,
    /// Outermost protected paths that the sandbox keeps read-only.
    pub kept: BTreeSet<PathBuf>,
    #[serde(skip)]
    repair: Option<Repair>,
    /// Why a folder could not be read.
    #[serde(skip)]
    pub unread: Option<String>,
    /// Folders whose paths are longer than the kernel takes.
    #[serde(default)]
    pub deep: BTreeSet<PathBuf>,
}

/// What git obeys in a repository.
const OBEYED: [&str; 5] = ["config", "config.worktree", "commondir", "hooks", "info/attributes"];

/// A protected file or link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The name of its place.
    pub place: String,
    pub kind: Kind,
    pub stamp: Stamp,
    /// Whether the sandbox keeps it as it is.
    pub is_kept: bool,
    pub copy: Copy,
}

/// What it held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Copy {
    /// Not known: it is kept by the sandbox, or too long.
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

/// What is protected in a workspace at this moment. Links are not followed. A folder that cannot be read for another reason
/// than its permissions is an error: it could hold anything.
pub(crate) fn look(root: &Path) -> Result<Look, String> {
    let mut look = looked(root, Repair::Never);
    look.note_led_to(root);
    look.named = look.named_by_others(root);
    look.note_named(root);
    match look.unread.take() {
        Some(why) => Err(why),
        None => Ok(look),
    }
}

/// The same after a command, with what was named as protected before: settings and links that a command has made do not say
/// which of the user's files are protected. What cannot be read is missing in it, and [`Look::unread`] says why.
pub(super) fn look_after(root: &Path, before: &Look) -> Look {
    let mut look = looked(root, Repair::Folders);
    // What was a repository is looked at as one, whatever parts of it are gone: something else may lead to it.
    for folder in before.bare.iter().filter(|folder| !look.repositories.contains_key(*folder)).collect::<Vec<_>>() {
        look.note_bare(root, folder);
    }
    look.named = before.named.clone();
    look.note_named(root);
    look
}

/// Whether a folder that may not be read is made readable: it could hide what is in it from a look, and not from programs that
/// open it by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    Never,
    Folders,
}

fn looked(root: &Path, repair: Repair) -> Look {
    let told = folders::telling(root, repair);
    let mut look = Look { repair: Some(repair), unread: told.failed, deep: told.deep, ..Look::default() };
    for (folder, content) in told.telling {
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
            look.note_bare(root, &folder);
        }
    }
    look
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
                let inside = self.entries(&root.join(&path));
                rest.extend(inside.into_iter().map(|(name, _)| path.join(name)));
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
        if let Some(holder) = holder_of(path).and_then(|parent| fs::symlink_metadata(root.join(parent)).ok()) {
            self.holders.insert(path.to_owned(), holder.ino());
        }
    }

    /// Whether the folder that holds a protected path is the same as then. A mount in a folder cannot be replaced there, but
    /// the folder itself can be renamed with the mount in it.
    pub fn is_held(&self, root: &Path, path: &Path) -> bool {
        let noted = path.ancestors().find_map(|top| Some((top, *self.holders.get(top)?)));
        let is_same = |(top, inode): (&Path, u64)| {
            let holder = holder_of(top).and_then(|parent| fs::symlink_metadata(root.join(parent)).ok());
            holder.is_some_and(|holder| holder.ino() == inode)
        };
        noted.is_some_and(is_same)
    }

    /// Notes as repositories what `.git` files and `commondir` files lead to: git obeys it there also where other parts of a
    /// repository are missing.
    fn note_led_to(&mut self, root: &Path) {
        let pointers = self.files.iter().filter(|(_, entry)| entry.kind == Kind::Pointer).map(|(path, _)| path.clone());
        for pointer in pointers.collect::<Vec<_>>() {
            for folder in led_to(root, &pointer) {
                if !self.repositories.contains_key(&folder) {
                    self.note_bare(root, &folder);
                }
            }
        }
    }

    /// Notes what git obeys in a folder that is a repository by what is in it and not by its name. Everything else there may
    /// be anybody's.
    fn note_bare(&mut self, root: &Path, folder: &Path) {
        if let Ok(there) = fs::symlink_metadata(root.join(folder)) {
            self.repositories.insert(folder.to_owned(), there.ino());
            self.bare.insert(folder.to_owned());
            self.note_holder(root, folder);
        }
        for name in OBEYED {
            let parts: Vec<&str> = name.split('/').collect();
            if let Some(place) = protected::role_in_repository(&parts) {
                self.note_all(root, &folder.join(name), place.name, place.kind);
            }
        }
    }

    /// What git obeys in such a folder.
    pub fn obeyed<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = (&'a PathBuf, &'a Entry)> {
        let is_obeyed = |path: &Path| OBEYED.iter().any(|name| path.starts_with(folder.join(name)));
        self.files
            .range(folder.to_owned()..)
            .take_while(move |(path, _)| path.starts_with(folder))
            .filter(move |(path, _)| is_obeyed(path))
    }

    /// Notes what is protected in a repository's own folder.
    fn note_repository(&mut self, root: &Path, repository: &Path, depth: usize) {
        if let Ok(there) = fs::symlink_metadata(root.join(repository)) {
            self.repositories.insert(repository.to_owned(), there.ino());
            self.note_holder(root, repository);
        }
        for (name, _) in self.entries(&root.join(repository)) {
            let name = name.to_string_lossy();
            let path = repository.join(&*name);
            match &*name {
                "modules" | "worktrees" if depth < MAX_MODULES_DEPTH => self.note_inner(root, &path, depth),
                "info" | "rebase-merge" | "rebase-apply" | "sequencer" => {
                    for (inner, _) in self.entries(&root.join(&path)) {
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

    /// What settings of repositories name for hooks, and what protected links lead to, inside the workspace.
    fn named_by_others(&self, root: &Path) -> BTreeMap<PathBuf, (String, Kind)> {
        let own = self.repositories.keys().flat_map(|repository| {
            let repository = root.join(repository);
            settings::named(root, &repository, repository.parent().unwrap_or(root))
        });
        // The workspace may be a part of a work tree, or one whose repository is elsewhere.
        let above = root.ancestors().flat_map(|tree| {
            let repository = tree.join(".git");
            let text = content(&repository).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
            let elsewhere = text.strip_prefix("gitdir: ").map(|to| tree.join(to.trim_end_matches(['\n', '\r'])));
            let common = elsewhere.as_deref().and_then(common_of);
            let all = [Some(repository), elsewhere, common].into_iter().flatten();
            all.flat_map(|repository| settings::named(root, &repository, tree)).collect::<Vec<_>>()
        });
        let links = self.files.iter().filter(|(_, entry)| entry.stamp.is_link()).filter_map(|(path, entry)| {
            let real = end_of_link(&root.join(path))?;
            let inside = real.strip_prefix(root).ok().filter(|inside| !inside.as_os_str().is_empty())?;
            Some((inside.to_owned(), (entry.place.clone(), Kind::Plain)))
        });
        let by_path = protected::by_path(root).into_iter();
        let of_commands = by_path.map(|path| (path, (protected::COMMANDS.to_owned(), Kind::Plain)));
        own.chain(above).chain(links).chain(of_commands).collect()
    }

    /// The place of a path that is protected for what is in the workspace.
    pub fn place(&self, root: &Path, path: &Path) -> Option<String> {
        if let Some((place, _)) = path.ancestors().find_map(|top| self.named.get(top)) {
            return Some(place.clone());
        }
        let text = |name: &OsStr| name.to_string_lossy().into_owned();
        path.ancestors().skip(1).find_map(|folder| {
            let names: Vec<String> = path.strip_prefix(folder).ok()?.iter().map(text).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let obeyed = self.repositories.contains_key(folder).then(|| protected::place_obeyed(&names)).flatten();
            obeyed.or_else(|| protected::place_in_bare(&root.join(folder), &names)).map(str::to_owned)
        })
    }

    fn note_named(&mut self, root: &Path) {
        for (path, (place, kind)) in self.named.clone() {
            self.note_all(root, &path, &place, kind);
        }
    }

    /// What is in a folder of the workspace; nothing where it is none.
    fn entries(&mut self, folder: &Path) -> Vec<(OsString, FileType)> {
        entries(folder, self.repair.unwrap_or(Repair::Never)).unwrap_or_else(|error| {
            // No program can open it by a path either.
            if !is_too_long(&error) {
                self.unread = Some(format!("{} cannot be read: {error}", folder.display()));
            }
            Vec::new()
        })
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
        for (name, kind) in self.entries(&root.join(folder)) {
            let path = folder.join(name);
            if !kind.is_dir() {
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

    /// Copies what the sandbox does not keep.
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
    pub fn of(there: &fs::Metadata) -> Self {
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

/// The folder that holds a protected path: of `.cargo/config.toml` it is the one that `.cargo` is in, since that name is a part
/// of what is protected.
fn holder_of(path: &Path) -> Option<&Path> {
    let parent = path.parent()?;
    let is_part =
        parent.file_name().and_then(|name| name.to_str()).is_some_and(|name| protected::behind(name).is_some());
    if is_part { parent.parent() } else { Some(parent) }
}

/// Where a link leads in the end, also where nothing is there yet; none if that cannot be told.
fn end_of_link(link: &Path) -> Option<PathBuf> {
    let mut at = link.to_owned();
    for _ in 0..MAX_LINKS {
        let (exists, real) = followed(&at);
        if exists {
            return Some(real);
        }
        // The last name may itself be a link that leads to nothing.
        match fs::read_link(&real) {
            Ok(to) => at = real.parent()?.join(to),
            Err(_) => return real.components().all(|part| part != Component::ParentDir).then_some(real),
        }
    }
    None
}

/// The folders of the workspace that a file leads git to that says where a repository, or a part of it, is.
fn led_to(root: &Path, pointer: &Path) -> Vec<PathBuf> {
    let text = |path: &Path| content(path).and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(folder) = pointer.parent().map(|folder| root.join(folder)) else { return Vec::new() };
    let found = match pointer.file_name().and_then(|name| name.to_str()) {
        Some("commondir") => vec![common_of(&folder)],
        // Git only compares it.
        Some("gitdir") => Vec::new(),
        _ => {
            let text = text(&root.join(pointer)).unwrap_or_default();
            let target = text.strip_prefix("gitdir: ").map(|to| folder.join(to.trim_end_matches(['\n', '\r'])));
            vec![target.as_deref().and_then(common_of), target]
        }
    };
    let inside = |path: PathBuf| Some(path.canonicalize().ok()?.strip_prefix(root).ok()?.to_owned());
    found.into_iter().flatten().filter_map(inside).filter(|inside| root.join(inside).is_dir()).collect()
}

/// The folder that a repository's own folder names for what it shares with others.
fn common_of(folder: &Path) -> Option<PathBuf> {
    let text = String::from_utf8(content(&folder.join("commondir"))?).ok()?;
    Some(folder.join(text.trim_end_matches(['\n', '\r'])))
}

/// What is in a folder; nothing where it is a link or no folder at all, or where it may not be read and is left so.
fn entries(folder: &Path, repair: Repair) -> io::Result<Vec<(OsString, FileType)>> {
    opened(folder, repair)?.map_or_else(|| Ok(Vec::new()), |opened| listed(&opened))
}

/// A folder, opened; none where it is a link or no folder at all, or where it may not be read and is left so.
pub(super) fn opened(folder: &Path, repair: Repair) -> io::Result<Option<fs::File>> {
    let open = |flags: i32| {
        let mut options = fs::OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW | flags).open(folder)
    };
    let opened = match open(libc::O_DIRECTORY) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && repair == Repair::Folders => {
            // By its handle, which no link that is swapped now can change.
            let held = open(libc::O_PATH | libc::O_DIRECTORY)?;
            let mode = held.metadata()?.mode() | 0o700;
            fs::set_permissions(format!("/proc/self/fd/{}", held.as_raw_fd()), fs::Permissions::from_mode(mode))?;
            open(libc::O_DIRECTORY)
        }
        opened => opened,
    };
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && repair == Repair::Never => Ok(None),
        Err(error) => {
            let is_gone = matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP));
            if is_gone { Ok(None) } else { Err(error) }
        }
    }
}

/// Whether something cannot be opened because its path is longer than the kernel takes.
pub(super) fn is_too_long(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENAMETOOLONG)
}

/// What is in an open folder.
pub(super) fn listed(opened: &fs::File) -> io::Result<Vec<(OsString, FileType)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(format!("/proc/self/fd/{}", opened.as_raw_fd()))? {
        let entry = entry?;
        // What has gone meanwhile is not there.
        if let Ok(kind) = entry.file_type() {
            found.push((entry.file_name(), kind));
        }
    }
    Ok(found)
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
