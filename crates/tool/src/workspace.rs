//! The folder that tools are confined to, as one directory handle that is opened once.
//!
//! Every path is resolved by the kernel beneath that handle (`openat2` with `RESOLVE_BENEATH`), so that there is no moment
//! between a check and an open in which a link could be swapped. Links that stay inside are followed when reading.
//!
//! Writing replaces a file by a rename: a reader sees the old content or the new, and neither a link nor a second name of
//! the old file is written through. Who may write at all is the rules' business.

pub(crate) mod file;
pub(crate) mod leftover;
mod path;
mod unreadable;
pub(crate) mod walk;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt};

use crate::error::Error;
use crate::secrets::Secrets;
use crate::seen_files::SeenFiles;
use crate::{protected, text, watch};
pub use path::WorkPath;
pub(crate) use path::folded;
pub(crate) use unreadable::Unreadable;

/// The folder that tools are confined to, as one caller may see it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Workspace {
    folder: Arc<Folder>,
    unreadable: Unreadable,
}

/// What all threads that work in a folder share.
#[derive(Debug)]
struct Folder {
    dir: Dir,
    names: Names,
    /// Whether it is on a disk of this machine.
    is_local: bool,
    /// Held from the look at a file to its replacement: two threads of this process never change files at the same time.
    writing: Mutex<()>,
}

/// The names of a folder that tools are confined to, which is all that is needed to say what a call would do there.
#[derive(Debug)]
pub(crate) struct Names {
    /// The folder's real name, for display and for absolute paths that name it.
    root: PathBuf,
    /// The folder's name as it was given, which may pass through links.
    spelt: PathBuf,
}

/// Where a path leads at one moment.
#[derive(Debug)]
pub(crate) struct Destination {
    /// Whether something is there.
    pub exists: bool,
    /// The whole path with every link followed, as far as it exists.
    pub real: PathBuf,
    /// The same from the workspace root; none where it lies outside.
    pub beneath: Option<String>,
}

/// What a change did.
#[derive(Debug)]
pub struct Change {
    /// What the file held; none for a new one.
    pub before: Option<Vec<u8>>,
    /// What it holds.
    pub after: Vec<u8>,
}

impl Workspace {
    /// Opens a folder.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let open = || {
            let names = Names { root: path.canonicalize()?, spelt: std::path::absolute(path)? };
            let dir = Dir::open_ambient_dir(&names.root, ambient_authority())?;
            let folder = Folder { dir, is_local: is_local(&names.root), names, writing: Mutex::new(()) };
            Ok(Self { folder: Arc::new(folder), unreadable: Unreadable::default() })
        };
        open().map_err(|source| Error::Root { path: path.to_owned(), source })
    }

    /// The same folder for an agent that may not read the files of these patterns, by whatever tool.
    #[must_use]
    pub fn without(&self, patterns: Vec<Arc<str>>) -> Self {
        Self { folder: self.folder.clone(), unreadable: Unreadable::new(self.root(), patterns) }
    }

    /// The folder's name, for display. It may have been renamed since; the handle has not.
    pub fn root(&self) -> &Path {
        &self.folder.names.root
    }

    /// Whether it is on a disk of this machine, as it was when it was opened.
    pub(crate) fn is_local(&self) -> bool {
        self.folder.is_local
    }

    /// A path as a model wrote it, made relative to the workspace, or a refusal. The refusal depends on the text and on the
    /// name of the workspace alone, and not on what is in it.
    pub fn path(&self, text: &str) -> Result<WorkPath, Error> {
        self.folder.names.path(text)
    }

    /// Where a path leads at this moment. What is there can change until it is used: [`Workspace::change`] looks again.
    pub(crate) fn destination(&self, path: &WorkPath) -> Destination {
        let names = &self.folder.names;
        names.led(followed(&names.root.join(path.as_path())))
    }

    /// The protected places that a change at the end of a path would touch.
    pub(crate) fn protected(&self, path: &WorkPath) -> Vec<String> {
        self.folder.names.protected(path, &self.destination(path))
    }

    /// What a file holds. Never waits for anything that is not a plain file, and never returns more than 32 MiB.
    pub fn read(&self, path: &WorkPath) -> Result<Vec<u8>, Error> {
        Ok(self.read_in(&self.folder.dir, path.as_path(), path.as_str(), file::Links::Inside)?.bytes)
    }

    /// What a text file holds. Refused where its beginning says that it holds no text.
    pub fn read_text(&self, path: &WorkPath) -> Result<Vec<u8>, Error> {
        let bytes = self.read(path)?;
        self.as_text(path, bytes)
    }

    /// The bytes of a file, if they are text.
    pub(crate) fn as_text(&self, path: &WorkPath, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
        if text::is_binary(&bytes) {
            return Err(Error::Binary { path: path.as_str().to_owned(), size: text::size(bytes.len() as u64) });
        }
        Ok(bytes)
    }

    /// What a file of one of its folders holds, if it may be read.
    pub(crate) fn read_in(
        &self,
        folder: &Dir,
        name: impl AsRef<Path>,
        shown: &str,
        links: file::Links,
    ) -> Result<file::Found, Error> {
        let opened = file::open(folder, name, shown, links)?;
        self.unreadable.check(shown, &opened)?;
        self.secrets().check(shown, &unreadable::real_path(&opened).map_err(|source| Error::at(shown, source))?)?;
        file::read_open(opened, shown)
    }

    /// Replaces what a file holds by what `make` makes of it (of nothing, for a new file; missing folders are created).
    /// Refused if the file is not what the seen_files's owner has last seen in it.
    pub fn change(
        &self,
        path: &WorkPath,
        seen_files: &SeenFiles,
        make: impl FnOnce(Option<&[u8]>) -> Result<Vec<u8>, Error>,
    ) -> Result<Change, Error> {
        let shown = path.as_str();
        let Some((folder, name)) = path.split() else {
            return Err(Error::NotAFile { path: shown.to_owned(), what: "the workspace itself" });
        };
        let _writing = self.writing();
        let secrets = self.secrets();
        // Before anything is made on the way there.
        secrets.check(shown, &self.destination(path).real)?;
        let found = match self.read_in(&self.folder.dir, path.as_path(), shown, file::Links::Refused) {
            Ok(found) => Some(found),
            Err(Error::Missing { .. }) => None,
            Err(error) => return Err(error),
        };
        if let Some(found) = &found {
            if found.metadata.nlink() > 1 {
                return Err(Error::SecondName { path: shown.to_owned() });
            }
            seen_files.check(shown, &found.bytes)?;
        }
        let dir = &self.folder.dir;
        self.undisguised(path, self.destination(path).beneath.as_deref().unwrap_or_default())?;
        let after = make(found.as_ref().map(|found| &*found.bytes))?;
        let parent = match folder {
            None => dir.try_clone(),
            Some(folder) => dir.create_dir_all(folder).and_then(|()| dir.open_dir(folder)),
        };
        let parent = parent.map_err(|source| Error::at(shown, source))?;
        // Asked of the open folder, which no link that is swapped now can change.
        let real = unreadable::real_path(&parent).map_err(|source| Error::at(shown, source))?;
        secrets.check(shown, &real.join(name))?;
        self.undisguised(path, &self.folder.names.beneath(&real.join(name)).unwrap_or_default())?;
        let put = || file::put(&parent, name, shown, &after, found.as_ref().map(|found| &found.metadata));
        // A command that runs meanwhile would be taken for the one that changed it.
        let is_protected = !self.protected(path).is_empty();
        if is_protected { watch::with_consent(self.root(), path.as_path(), put) } else { put() }?;
        seen_files.note(shown, &after);
        Ok(Change { before: found.map(|found| found.bytes), after })
    }

    /// Refuses a path that names no protected place and leads into one. Whether such a place may be changed is decided by its
    /// name, before the call is made.
    fn undisguised(&self, path: &WorkPath, real: &str) -> Result<(), Error> {
        match (protected_place(path.as_str()), protected_place(real)) {
            (None, Some(place)) => Err(Error::Disguised { path: path.to_string(), place }),
            (Some(_), _) | (None, None) => Ok(()),
        }
    }

    /// Removes temporary files that killed processes left where a file was to be written.
    pub(crate) fn clear_beside(&self, path: &WorkPath) {
        let folder = path.split().map_or(".", |(folder, _)| folder.unwrap_or("."));
        if let Ok(folder) = self.folder.dir.open_dir(folder) {
            leftover::clear(&folder);
        }
    }

    /// A folder beneath the workspace, as a handle.
    pub(crate) fn folder(&self, path: &WorkPath) -> Result<Dir, Error> {
        Ok(self.folder_and_place(path)?.0)
    }

    /// A folder beneath the workspace, as a handle, and where it really is.
    pub(crate) fn folder_and_place(&self, path: &WorkPath) -> Result<(Dir, PathBuf), Error> {
        let dir = &self.folder.dir;
        let open = if path.is_root() { dir.try_clone() } else { dir.open_dir(path.as_path()) };
        let at = |source| Error::at(path.as_str(), source);
        let opened = open.map_err(at)?;
        let real = unreadable::real_path(&opened).map_err(at)?;
        self.secrets().check(path.as_str(), &real)?;
        Ok((opened, real))
    }

    /// Refuses a path that names a secret place or leads into one.
    pub(crate) fn not_secret(&self, path: &WorkPath) -> Result<(), Error> {
        self.folder.names.not_secret(path, &self.destination(path))
    }

    /// What of it is secret, for every agent that works in it.
    pub(crate) fn secrets(&self) -> Secrets {
        Secrets::of(self.root())
    }

    /// What of it may not be read.
    pub(crate) fn unreadable(&self) -> &Unreadable {
        &self.unreadable
    }

    /// The turn to write in this workspace.
    pub(crate) fn writing(&self) -> MutexGuard<'_, ()> {
        self.folder.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Names {
    /// The names of a folder that is there.
    pub(crate) fn of(path: &Path) -> std::io::Result<Self> {
        let names = Self { root: path.canonicalize()?, spelt: std::path::absolute(path)? };
        if names.root.metadata()?.is_dir() { Ok(names) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
    }

    /// The folder's real name.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path as a model wrote it, made relative to the folder, or a refusal.
    pub(crate) fn path(&self, text: &str) -> Result<WorkPath, Error> {
        WorkPath::parse(text, &[&self.root, &self.spelt])
    }

    /// Where a path leads at this moment. The folder itself was looked up just before: only what is below it is looked at, and
    /// the whole path where there is a link on the way, or nothing.
    pub(crate) fn destination(&self, path: &WorkPath) -> Destination {
        let mut real = self.root.clone();
        if !path.is_root() {
            for part in path.as_path() {
                real.push(part);
                if !real.symlink_metadata().is_ok_and(|found| !found.is_symlink()) {
                    return self.led(followed(&self.root.join(path.as_path())));
                }
            }
        }
        self.led((true, real))
    }

    /// Refuses a path that names a secret place or leads into one.
    pub(crate) fn not_secret(&self, path: &WorkPath, destination: &Destination) -> Result<(), Error> {
        let secrets = Secrets::of(&self.root);
        secrets.check(path.as_str(), &self.root.join(path.as_path()))?;
        secrets.check(path.as_str(), &destination.real)
    }

    /// The protected places that a change there would touch: the one that the path names, the one that it leads to.
    pub(crate) fn protected(&self, path: &WorkPath, destination: &Destination) -> Vec<String> {
        // Of a path inside, what is above the workspace says nothing.
        let beneath = destination.beneath.as_deref();
        let whole = beneath.map_or_else(|| destination.real.to_string_lossy(), std::borrow::Cow::Borrowed);
        let by_name = [
            protected_place(path.as_str()),
            protected_place(&whole),
            protected::place_by_path(&self.root, path.as_str())
                .or_else(|| protected::place_by_path(&self.root, &whole)),
        ];
        let mut places: Vec<String> = by_name.into_iter().flatten().map(str::to_owned).collect();
        // Names say enough: what is in the workspace is asked only of other files.
        if places.is_empty() {
            let mut paths = vec![path.as_path()];
            paths.extend(beneath.map(Path::new).filter(|real| *real != path.as_path()));
            places.extend(watch::places(&self.root, &paths));
        }
        places.dedup();
        places
    }

    fn led(&self, (exists, real): (bool, PathBuf)) -> Destination {
        let beneath = self.beneath(&real);
        Destination { exists, real, beneath }
    }

    fn beneath(&self, real: &Path) -> Option<String> {
        real.strip_prefix(&self.root).ok().map(|path| path.to_string_lossy().into_owned())
    }
}

/// Whether a folder is on a disk of this machine or in its memory, where a name is looked up in a moment. A network can be slow
/// or gone, and a program that plays a file system can do as it likes.
pub fn is_local(path: &Path) -> bool {
    /// Ext2 to ext4, XFS, Btrfs, F2FS, bcachefs, ZFS, tmpfs, ramfs, overlayfs, squashfs, EROFS.
    const LOCAL: [u64; 11] = [
        0xEF53,
        0x5846_5342,
        0x9123_683E,
        0xF2F5_2010,
        0xCA45_1A4E,
        0x2FC1_2FC1,
        0x0102_1994,
        0x8584_58F6,
        0x794C_7630,
        0x7371_7368,
        0xE0F5_E1E2,
    ];
    rustix::fs::statfs(path).is_ok_and(|found| LOCAL.contains(&(found.f_type as u64)))
}

/// The protected place that a path leads into, also on a file system that knows neither case nor Unicode forms.
fn protected_place(path: &str) -> Option<&'static str> {
    // Folded, a name in capitals is not known as one.
    protected::place_of_file(&path::folded(path)).or_else(|| protected::place_of_file(path))
}

/// Many paths with every link followed as far as they exist. What was found out of a folder on the way is not looked up again.
#[derive(Default)]
pub(crate) struct Followed(HashMap<PathBuf, PathBuf>);

impl Followed {
    pub(crate) fn of(&mut self, path: &Path) -> PathBuf {
        if let Some(real) = self.0.get(path) {
            return real.clone();
        }
        // Of most of them nothing is there: one look says so.
        let real = path.symlink_metadata().ok().and_then(|_| path.canonicalize().ok());
        let real = match (real, path.file_name(), path.parent()) {
            (Some(real), ..) => real,
            (None, Some(name), Some(parent)) => self.of(parent).join(name),
            (None, ..) => path.to_owned(),
        };
        self.0.insert(path.to_owned(), real.clone());
        real
    }
}

/// Whether something is there, and the path with every link followed as far as it exists.
pub(crate) fn followed(path: &Path) -> (bool, PathBuf) {
    let mut rest = Vec::new();
    let mut known = path.to_owned();
    loop {
        if let Ok(real) = known.canonicalize() {
            return (rest.is_empty(), rest.iter().rev().fold(real, |path, name| path.join(name)));
        }
        match (known.file_name().map(std::ffi::OsStr::to_owned), known.parent()) {
            (Some(name), Some(parent)) => {
                rest.push(name);
                known = parent.to_owned();
            }
            _ => return (false, path.to_owned()),
        }
    }
}
