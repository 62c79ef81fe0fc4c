//! The folders of a workspace with what matters in each, remembered from one look to the next.
//!
//! A look is taken before and after every command that may write, and most of a workspace is the same then. The kernel notes which
//! folders have changed (inotify): a folder from which no notice came is not touched at all. A notice is there before the
//! call that caused it returns, so that none of a command that has ended is missing; if there were too many, or if something was mounted, everything
//! is read again.
//!
//! Where no notices can be had (other file systems, more folders than there may be watches), a folder whose time of change
//! is the same as when it was last read holds the same names: it is asked for its time only. That time cannot be set, but
//! it has a coarse clock: a folder that had changed shortly before it was read is read again. Only file systems that keep
//! this time are trusted with it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use super::look::{Repair, is_too_long, listed, opened};
use crate::protected::{self, Role};

/// A change that is younger than this when a folder is read may be followed by another with the same time.
const COARSE_S: i64 = 2;
/// So many workspaces are remembered.
const MAX_WORKSPACES: usize = 8;
/// A workspace with more folders than this is not one that anybody works in.
const MAX_FOLDERS: usize = 2_000_000;
/// So many folders of a workspace are watched: a watch costs the kernel a kilobyte, and a user has a limited number.
const MAX_WATCHED: usize = 16_384;

/// File systems that keep the time of a folder's last change: ext, XFS, Btrfs, tmpfs, overlay, F2FS, ZFS, bcachefs.
const TRUSTED: [u64; 8] =
    [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];

/// What matters in a folder.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Names that are protected or hold something that is, and whether each is a folder.
    pub protected: Vec<(OsString, Role, bool)>,
    /// Folders to go on in.
    folders: BTreeSet<OsString>,
    /// Whether it has the parts of a repository.
    pub is_repository: bool,
    /// Whether it holds other people's packages, or stands in such a folder.
    is_package: bool,
}

/// The folders of one workspace.
struct Folders {
    root: PathBuf,
    /// The device on which times and notices are trusted; none where they are not.
    device: Option<u64>,
    /// The lines of the mount table that concern the workspace.
    mounts: Vec<u8>,
    known: BTreeMap<PathBuf, Known>,
    /// Of these, the ones from which no notice comes.
    unwatched: BTreeSet<PathBuf>,
    /// Of these, the ones in which something is protected.
    telling: BTreeSet<PathBuf>,
    /// Folders whose paths are too long to be opened.
    deep: BTreeSet<PathBuf>,
    notices: Option<Notices>,
}

/// A folder as it was read.
struct Known {
    /// Its device and inode.
    identity: (u64, u64),
    /// When it had changed, in seconds and nanoseconds; none if that is not to be trusted.
    changed: Option<(i64, i64)>,
    watch: Option<i32>,
    content: Arc<Content>,
}

/// The kernel's notes of changed folders.
struct Notices {
    file: OwnedFd,
    watched: HashMap<i32, PathBuf>,
}

/// What is remembered, the latest last. A look holds its workspace.
static REMEMBERED: Mutex<Vec<(PathBuf, Arc<Mutex<Folders>>)>> = Mutex::new(Vec::new());

/// What a look at all folders came to.
pub(super) struct Told {
    /// The folders in which something is protected.
    pub telling: Vec<(PathBuf, Arc<Content>)>,
    /// Folders whose paths are longer than the kernel takes: no program can open them or what is below by a path.
    pub deep: BTreeSet<PathBuf>,
    /// Why not all of them were read.
    pub failed: Option<String>,
}

/// The folders of a workspace in which something is protected, as they are now. One that cannot be read for another reason than
/// its permissions is told; all others are read nevertheless.
pub(super) fn telling(root: &Path, repair: Repair) -> Told {
    let folders = remembered(root);
    let mut folders = folders.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = folders.look(repair).err();
    let content = |path: &PathBuf| Some((path.clone(), folders.known.get(path)?.content.clone()));
    let telling = folders.telling.iter().filter_map(content).collect();
    let told = Told { telling, deep: folders.deep.clone(), failed };
    if told.failed.is_some() {
        *folders = Folders::new(root);
    }
    told
}

fn remembered(root: &Path) -> Arc<Mutex<Folders>> {
    let mut all = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.iter().position(|(its, _)| its == root).map(|at| all.remove(at));
    let (root, folders) = found.unwrap_or_else(|| (root.to_owned(), Arc::new(Mutex::new(Folders::new(root)))));
    if all.len() >= MAX_WORKSPACES {
        all.remove(0);
    }
    all.push((root, folders.clone()));
    folders
}

impl Folders {
    fn new(root: &Path) -> Self {
        let system = rustix::fs::statfs(root).map(|system| u64::try_from(system.f_type).unwrap_or_default());
        let is_trusted = system.is_ok_and(|kind| TRUSTED.contains(&kind));
        let device = fs::metadata(root).ok().filter(|_| is_trusted).map(|there| there.dev());
        // The table is read before any folder is.
        let mounts = mounts(root);
        let notices = device.and_then(|_| Notices::new());
        let (known, unwatched, telling, deep) = Default::default();
        Self { root: root.to_owned(), device, mounts, known, unwatched, telling, deep, notices }
    }

    /// Brings everything up to date; an error is told after everything else was read.
    fn look(&mut self, repair: Repair) -> Result<(), String> {
        let mut failed = Ok(());
        let noticed = self.notices.as_mut().map_or(Some(Noticed::default()), Notices::read);
        let mut new = Vec::new();
        match noticed.filter(|_| self.mounts == mounts(&self.root) && !self.known.is_empty()) {
            None => {
                *self = Self::new(&self.root);
                new.push((PathBuf::new(), false));
            }
            Some(Noticed { changed, lost }) => {
                self.unwatched.extend(lost.into_iter().filter(|folder| self.known.contains_key(folder)));
                let unwatched: Vec<PathBuf> = self.unwatched.iter().cloned().collect();
                for folder in changed {
                    failed = failed.and(self.look_again(folder, true, repair, &mut new));
                }
                for folder in unwatched {
                    failed = failed.and(self.look_again(folder, false, repair, &mut new));
                }
            }
        }
        while let Some((folder, is_package)) = new.pop() {
            let known = match self.read(&folder, is_package, repair) {
                Ok(Some(known)) => known,
                Ok(None) => continue,
                Err(why) => {
                    failed = failed.and(Err(why));
                    continue;
                }
            };
            new.extend(known.content.folders.iter().map(|name| (folder.join(name), known.content.is_package)));
            self.remember(folder, known);
            if self.known.len() > MAX_FOLDERS {
                return Err(format!("the workspace has more than {MAX_FOLDERS} folders; work in a smaller one"));
            }
        }
        failed
    }

    /// Looks at a folder that has changed, or may have. What is new in it is put on the list.
    fn look_again(
        &mut self,
        folder: PathBuf,
        has_changed: bool,
        repair: Repair,
        new: &mut Vec<(PathBuf, bool)>,
    ) -> Result<(), String> {
        // It may have gone with a folder above it.
        let Some(known) = self.known.get(&folder) else { return Ok(()) };
        if !has_changed && known.changed.is_some() && known.is_same(&self.root.join(&folder)) {
            return Ok(());
        }
        let is_package = folder.parent().and_then(|above| self.known.get(above));
        let is_package = is_package.is_some_and(|above| above.content.is_package);
        let Some(known) = self.read(&folder, is_package, repair)? else {
            self.forget(&folder);
            return Ok(());
        };
        let before = self.known.get(&folder).map(|known| known.content.clone()).unwrap_or_default();
        for name in before.folders.difference(&known.content.folders) {
            self.forget(&folder.join(name));
        }
        for name in &known.content.folders {
            let path = folder.join(name);
            // Another folder may have taken the name.
            let is_known =
                self.known.get(&path).is_some_and(|inner| Some(inner.identity) == identity(&self.root.join(&path)));
            if !is_known {
                self.forget(&path);
                new.push((path, known.content.is_package));
            }
        }
        self.remember(folder, known);
        Ok(())
    }

    /// Reads a folder, and lets it be watched before; none where there is no folder.
    fn read(&mut self, folder: &Path, is_package: bool, repair: Repair) -> Result<Option<Known>, String> {
        let path = self.root.join(folder);
        let unread = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
        let file = match opened(&path, repair) {
            Ok(file) => file,
            Err(error) if is_too_long(&error) => {
                self.deep.insert(folder.to_owned());
                return Ok(None);
            }
            Err(error) => return Err(unread(error)),
        };
        let Some(file) = file else {
            // One that may not be read is there, and holds nothing that could be seen.
            let there = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_dir);
            let content = Arc::new(Content { is_package, ..Content::default() });
            let known = |there: fs::Metadata| Known {
                identity: (there.dev(), there.ino()),
                changed: None,
                watch: None,
                content,
            };
            return Ok(there.map(known));
        };
        let there = file.metadata().map_err(unread)?;
        let is_trusted = Some(there.dev()) == self.device;
        let watch = match &mut self.notices {
            Some(notices) if is_trusted => notices.watch(file.as_raw_fd(), folder),
            _ => None,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs().cast_signed());
        let content = content(&path, listed(&file).map_err(unread)?, is_package);
        Ok(Some(Known {
            identity: (there.dev(), there.ino()),
            changed: (is_trusted && there.ctime() + COARSE_S < now).then(|| (there.ctime(), there.ctime_nsec())),
            watch,
            content: Arc::new(content),
        }))
    }

    fn remember(&mut self, folder: PathBuf, known: Known) {
        let mut note = |set: fn(&mut Self) -> &mut BTreeSet<PathBuf>, is_in: bool| {
            if is_in {
                set(self).insert(folder.clone());
            } else {
                set(self).remove(&folder);
            }
        };
        note(|folders| &mut folders.unwatched, known.watch.is_none());
        note(|folders| &mut folders.telling, !known.content.protected.is_empty() || known.content.is_repository);
        self.known.insert(folder, known);
    }

    /// Forgets a folder and everything below it.
    fn forget(&mut self, folder: &Path) {
        let below = self.known.range(folder.to_owned()..).take_while(|(path, _)| path.starts_with(folder));
        for path in below.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            if let (Some(Known { watch: Some(watch), .. }), Some(notices)) =
                (self.known.remove(&path), &mut self.notices)
            {
                notices.unwatch(watch, &path);
            }
            self.unwatched.remove(&path);
            self.telling.remove(&path);
        }
        let deep = self.deep.range(folder.to_owned()..).take_while(|path| path.starts_with(folder));
        for path in deep.cloned().collect::<Vec<_>>() {
            self.deep.remove(&path);
        }
    }
}

impl Known {
    /// Whether the folder at a path is the same and has not changed.
    fn is_same(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|there| {
            self.identity == (there.dev(), there.ino()) && self.changed == Some((there.ctime(), there.ctime_nsec()))
        })
    }
}

/// What the kernel noted.
#[derive(Default)]
struct Noticed {
    /// Folders that have changed.
    changed: BTreeSet<PathBuf>,
    /// Of these, the ones from which no more notice comes.
    lost: Vec<PathBuf>,
}

impl Notices {
    fn new() -> Option<Self> {
        let file = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        Some(Self { file, watched: HashMap::new() })
    }

    /// Watches an open folder; none where that cannot be done.
    fn watch(&mut self, opened: i32, folder: &Path) -> Option<i32> {
        if self.watched.len() >= MAX_WATCHED {
            return None;
        }
        let path = format!("/proc/self/fd/{opened}");
        let watch = inotify::add_watch(&self.file, path, WATCHED).ok()?;
        if self.watched.entry(watch).or_insert_with(|| folder.to_owned()) == folder {
            return Some(watch);
        }
        // The same folder at two paths: notices would be taken for those of one. The other path is told that its watch has ended.
        let _ = inotify::remove_watch(&self.file, watch);
        None
    }

    fn unwatch(&mut self, watch: i32, folder: &Path) {
        if self.watched.get(&watch).is_some_and(|watched| watched == folder) {
            self.watched.remove(&watch);
            // That of a folder which was deleted has gone with it.
            let _ = inotify::remove_watch(&self.file, watch);
        }
    }

    /// What was noted since the last time; none if that is not known.
    fn read(&mut self) -> Option<Noticed> {
        let mut noticed = Noticed::default();
        let mut space = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = inotify::Reader::new(&self.file, &mut space);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(rustix::io::Errno::AGAIN) => return Some(noticed),
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return None,
            };
            let what = event.events();
            if what.contains(ReadFlags::QUEUE_OVERFLOW) {
                return None;
            }
            // Attributes of what is in a folder do not matter.
            if what.contains(ReadFlags::ATTRIB) && event.file_name().is_some() {
                continue;
            }
            let Some(folder) = self.watched.get(&event.wd()).cloned() else { continue };
            if what.contains(ReadFlags::IGNORED) {
                self.watched.remove(&event.wd());
                noticed.lost.push(folder.clone());
            }
            noticed.changed.insert(folder);
        }
    }
}

/// What is noted of a folder: other names in it, other permissions, its own end.
const WATCHED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|there| (there.dev(), there.ino()))
}

/// The lines of the mount table for a folder, what is above it and what is below it. A mount changes what is at a path, and
/// no folder notices.
fn mounts(root: &Path) -> Vec<u8> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let concerns = |line: &&[u8]| {
        let at = line.split(|byte| *byte == b' ').nth(4).map(|at| Path::new(OsStr::from_bytes(at)));
        // Unusual characters stand as digits: such a path may be any.
        at.is_some_and(|at| at.starts_with(root) || root.starts_with(at) || at.as_os_str().as_bytes().contains(&b'\\'))
    };
    table.split_inclusive(|byte| *byte == b'\n').filter(concerns).flatten().copied().collect()
}

fn content(path: &Path, entries: Vec<(OsString, FileType)>, is_package: bool) -> Content {
    let above = path.file_name().and_then(OsStr::to_str);
    let mut content =
        Content { is_package: is_package || above.is_some_and(protected::holds_packages), ..Content::default() };
    let (mut has_head, mut has_objects) = (false, false);
    for (name, kind) in entries {
        let shown = name.to_string_lossy();
        // Objects and settings may be elsewhere, if a file says so.
        has_head |= shown == "HEAD";
        has_objects |= matches!(&*shown, "objects" | "commondir");
        match protected::role(above, &shown, content.is_package) {
            Role::Open if kind.is_dir() => drop(content.folders.insert(name)),
            // A link in the place of a folder in which something is protected.
            Role::Open if kind.is_symlink() && !content.is_package => {
                let role = protected::behind(&shown).map(Role::Protected);
                content.protected.extend(role.map(|role| (name, role, false)));
            }
            Role::Open => {}
            role => content.protected.push((name, role, kind.is_dir())),
        }
    }
    content.is_repository = has_head && has_objects;
    content
}

#[cfg(test)]
mod tests;
