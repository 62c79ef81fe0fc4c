//! The folders of a workspace with what matters in each, remembered from one look to the next.
//!
//! A look goes through all folders before and after every command that may write. A folder whose time of change is the same
//! as when it was last read holds the same names: it is asked for its time only, which costs a fraction of reading it. That time
//! cannot be set, but it has a coarse clock: a folder that had changed shortly before it was read is read again. Only file
//! systems that keep this time are trusted with it.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::look::{Repair, entries};
use crate::protected::{self, Role};

/// A change that is younger than this when a folder is read may be followed by another with the same time.
const COARSE_S: i64 = 2;
/// So many workspaces are remembered.
const MAX_WORKSPACES: usize = 8;

/// File systems that keep the time of a folder's last change: ext, XFS, Btrfs, tmpfs, overlay, F2FS, ZFS, bcachefs.
const TRUSTED: [u64; 8] =
    [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];

/// What matters in a folder.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Names that are protected or hold something that is, and whether each is a folder.
    pub protected: Vec<(OsString, Role, bool)>,
    /// Folders to go on in.
    pub folders: Vec<OsString>,
    /// Whether it has the parts of a repository.
    pub is_repository: bool,
    /// Whether it holds other people's packages, or stands in such a folder.
    pub is_package: bool,
}

/// When a folder was last changed, and on which device it is.
type Moment = (u64, u64, i64, i64);

/// The folders of one workspace.
pub(super) struct Folders {
    root: PathBuf,
    /// The device on which times are trusted; none where they are not.
    device: Option<u64>,
    repair: Repair,
    known: HashMap<PathBuf, (Moment, Arc<Content>)>,
    seen: HashMap<PathBuf, (Moment, Arc<Content>)>,
}

/// What is remembered, the latest last. A look takes its workspace out and puts it back.
static REMEMBERED: Mutex<Vec<Folders>> = Mutex::new(Vec::new());

impl Folders {
    /// The folders of a workspace as they are remembered.
    pub fn of(root: &Path, repair: Repair) -> Self {
        let mut remembered = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = remembered.iter().position(|folders| folders.root == root) {
            return Self { repair, ..remembered.remove(at) };
        }
        let system = rustix::fs::statfs(root).map(|system| u64::try_from(system.f_type).unwrap_or_default());
        let is_trusted = system.is_ok_and(|kind| TRUSTED.contains(&kind));
        let device = fs::metadata(root).ok().filter(|_| is_trusted).map(|there| there.dev());
        Self { root: root.to_owned(), device, repair, known: HashMap::new(), seen: HashMap::new() }
    }

    /// What matters in a folder.
    pub fn content(&mut self, root: &Path, folder: &Path, is_package: bool) -> Result<Arc<Content>, String> {
        let path = root.join(folder);
        let moment =
            fs::symlink_metadata(&path).ok().map(|there| (there.dev(), there.ino(), there.ctime(), there.ctime_nsec()));
        if let Some((then, content)) = self.known.remove(folder).filter(|(then, _)| Some(*then) == moment) {
            self.seen.insert(folder.to_owned(), (then, content.clone()));
            return Ok(content);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs().cast_signed());
        let content = read(&path, is_package, self.repair);
        let content = Arc::new(content.map_err(|error| format!("{} cannot be read: {error}", path.display()))?);
        if let Some(moment) =
            moment.filter(|(device, _, changed, _)| Some(*device) == self.device && changed + COARSE_S < now)
        {
            self.seen.insert(folder.to_owned(), (moment, content.clone()));
        }
        Ok(content)
    }

    /// Remembers what was seen.
    pub fn keep(mut self) {
        self.known = std::mem::take(&mut self.seen);
        let mut remembered = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.retain(|folders| folders.root != self.root);
        if remembered.len() >= MAX_WORKSPACES {
            remembered.remove(0);
        }
        remembered.push(self);
    }
}

fn read(path: &Path, is_package: bool, repair: Repair) -> std::io::Result<Content> {
    let above = path.file_name().and_then(OsStr::to_str);
    let mut content =
        Content { is_package: is_package || above.is_some_and(protected::holds_packages), ..Content::default() };
    let (mut has_head, mut has_objects) = (false, false);
    for (name, kind) in entries(path, repair)? {
        let shown = name.to_string_lossy();
        // Objects and settings may be elsewhere, if a file says so.
        has_head |= shown == "HEAD";
        has_objects |= matches!(&*shown, "objects" | "commondir");
        match protected::role(above, &shown, content.is_package) {
            Role::Open if kind.is_dir() => content.folders.push(name),
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
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_read_again_once_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("sub")).unwrap();
        let names = |content: &Content| content.protected.len();
        let look = || {
            let mut folders = Folders::of(root, Repair::Never);
            let content = folders.content(root, Path::new("sub"), false).unwrap();
            folders.keep();
            content
        };
        assert_eq!(names(&look()), 0);
        fs::write(root.join("sub/.envrc"), "").unwrap();
        assert_eq!(names(&look()), 1, "also right after it was read");
        fs::remove_file(root.join("sub/.envrc")).unwrap();
        assert_eq!(names(&look()), 0);
    }

    #[test]
    fn a_folder_that_has_not_changed_for_long_is_not_read_again() {
        let Ok(root) = Path::new("/usr/share").canonicalize() else { return };
        let mut folders = Folders::of(&root, Repair::Never);
        let first = folders.content(&root, Path::new(""), false).unwrap();
        folders.keep();
        let mut folders = Folders::of(&root, Repair::Never);
        let second = folders.content(&root, Path::new(""), false).unwrap();
        assert!(folders.device.is_none() || Arc::ptr_eq(&first, &second), "it was read twice");
    }
}
