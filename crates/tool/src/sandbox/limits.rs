//! How much a command may take: processes, memory, file sizes, open files.
//!
//! A control group holds a command's processes together, however many they are; where none can be made, what remains are
//! limits that each process has for itself, which its guard sets. Of these the one on processes counts per user, within a
//! user namespace: it holds for an ordinary user in one, and never for root.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) use guard::limits::{FILE_BYTES, PROCESS_MEMORY, PROCESSES};

/// What all processes of a command may use, at most; less where the machine has less.
pub(super) const GROUP_MEMORY: u64 = 16 << 30;
/// What can be put into each of the private passing folders, which live in memory.
pub(super) const PASSING_BYTES: u64 = 2 << 30;

/// A control group for one command. Removed with its last process.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// One folder where all controllers are in one tree, one for each where they are not, with the group of this process in the same tree.
    folders: Vec<(PathBuf, PathBuf)>,
    /// What it limits.
    pub(super) holds: Holds,
}

/// What a control group limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Holds {
    pub processes: bool,
    pub memory: bool,
}

const PREFIX: &str = "majordomo-";

/// Groups that this process has made.
static MADE: AtomicU64 = AtomicU64::new(0);

impl Group {
    /// A new group beneath that of this process, or beside it, as far as that is permitted.
    pub fn new() -> Self {
        let places = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let name = format!("{PREFIX}{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let mut group = Self::default();
        let mut limit = |controller, files: &[&str], most| {
            parents(&places, &mounts, controller).iter().any(|parent| group.limit_in(parent, &name, files, most))
        };
        let processes = limit("pids", &["pids.max"], PROCESSES);
        let memory = limit("memory", &["memory.limit_in_bytes", "memory.max"], memory_most());
        group.holds = Holds { processes, memory };
        group
    }

    /// What a guard is told of it, to enter it.
    pub fn arguments(&self) -> impl Iterator<Item = &OsStr> {
        self.folders.iter().flat_map(|(folder, home)| [folder.as_os_str(), home.as_os_str()])
    }

    /// Makes a folder there and writes the limit to the first of these files that it has. Leaves nothing behind if that
    /// does not work.
    fn limit_in(&mut self, parent: &Parent, name: &str, files: &[&str], most: u64) -> bool {
        let folder = parent.folder.join(name);
        let is_known = self.folders.iter().any(|(known, _)| *known == folder);
        if !is_known {
            sweep(&parent.folder);
            if fs::create_dir(&folder).is_err() {
                return false;
            }
        }
        let mut limits = files.iter().map(|name| folder.join(name)).filter(|file| file.exists());
        let written = limits.any(|file| fs::write(file, most.to_string()).is_ok());
        if written && !is_known {
            self.folders.push((folder, parent.home.clone()));
        } else if !is_known {
            // It has no processes: nothing can hold it.
            let _ = fs::remove_dir(&folder);
        }
        written
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for (folder, _) in &self.folders {
            // A process that could not be ended holds it; the next group that is made tries again.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Removes groups whose makers were killed before they could.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse::<u32>().ok());
        if maker.is_some_and(|maker| !Path::new(&format!("/proc/{maker}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Where a group may be made.
struct Parent {
    folder: PathBuf,
    /// The group of this process.
    home: PathBuf,
}

/// Where a group with this controller may be made: in our own group and, since one that has processes cannot give its
/// controllers on, beside it. The tree of that controller alone comes first, then the one for all.
fn parents(places: &str, mounts: &str, controller: &str) -> Vec<Parent> {
    let mut parents = Vec::new();
    for line in places.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(place)) = (parts.next(), parts.next()) else { continue };
        let is_alone = controllers.split(',').any(|name| name == controller);
        if !is_alone && !controllers.is_empty() {
            continue;
        }
        let kind = if is_alone { "cgroup" } else { "cgroup2" };
        let Some(mount) = mount_point(mounts, kind, if is_alone { controller } else { "" }) else { continue };
        let own = mount.join(place.trim_start_matches('/'));
        let beside = own.parent().filter(|parent| parent.starts_with(&mount)).map(Path::to_owned);
        let found = [Some(own.clone()), beside].into_iter().flatten();
        let found = found.map(|folder| Parent { folder, home: own.clone() });
        if is_alone { parents.splice(0..0, found).for_each(drop) } else { parents.extend(found) }
    }
    parents
}

/// Where a file system of this kind, with this among its options, is mounted.
fn mount_point(mounts: &str, kind: &str, option: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let options = (after.next()? == kind).then(|| after.nth(1)).flatten()?;
        let fits = option.is_empty() || options.split(',').any(|one| one == option);
        fits.then(|| before.split(' ').nth(4)).flatten().map(PathBuf::from)
    })
}

/// What all processes of a command may use together: three quarters of the machine's memory, within bounds.
pub(super) fn memory_most() -> u64 {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total =
        info.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    total.map_or(PROCESS_MEMORY, |kilobytes| kilobytes * 1024 / 4 * 3).min(GROUP_MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "30 24 0:26 / /sys/fs/cgroup/pids rw shared:9 - cgroup cgroup rw,pids\n\
                          31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn a_group_is_made_in_our_own_or_beside_it_in_either_kind_of_tree() {
        let folders = |found: Vec<Parent>| found.into_iter().map(|parent| parent.folder).collect::<Vec<_>>();
        let paths = |of| folders(parents("8:pids:/a\n0::/user.slice/me.scope\n", MOUNTS, of));
        let all = ["/sys/fs/cgroup/unified/user.slice/me.scope", "/sys/fs/cgroup/unified/user.slice"];
        assert_eq!(paths("memory"), all.map(PathBuf::from));
        let alone = ["/sys/fs/cgroup/pids/a", "/sys/fs/cgroup/pids"];
        assert_eq!(paths("pids"), alone.into_iter().chain(all).map(PathBuf::from).collect::<Vec<_>>());
        assert!(parents("0::/\n", "", "pids").is_empty(), "nothing is mounted");
        let root = folders(parents("0::/\n", MOUNTS, "pids"));
        assert_eq!(root, [PathBuf::from("/sys/fs/cgroup/unified")], "nothing is beside the root");
    }

    #[test]
    fn a_group_leaves_nothing_behind() {
        let group = Group::new();
        let folders = group.folders.clone();
        assert_eq!(folders.is_empty(), group.holds == Holds::default());
        drop(group);
        assert!(folders.iter().all(|(folder, _)| !folder.exists()), "{folders:?}");
    }
}
