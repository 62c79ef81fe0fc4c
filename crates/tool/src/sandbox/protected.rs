//! What in a workspace is run by others later: hooks and settings of git, our own project folder, start-up files of shells.
//!
//! Those that are there when a command begins are kept as they are by the walls, where walls can do that. A repository that
//! a command makes itself cannot be known beforehand, and making one is honest work (`git init`, `git clone`, a test's
//! fixture), so that it is neither forbidden nor undone: once the command has ended, a second look finds what is new. A new
//! hook loses its right to be executed, which git takes as no hook; new settings that name a program to run are told.
//! Nothing is deleted but links, and nothing that existed before is touched unless the command has changed it.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, PermissionsExt as _};

use super::plan::Kept;

/// A look goes no further than so many folders, those near the root first.
const MAX_FOLDERS: usize = 4_000;
/// So many places are kept by walls, those near the root first: each is a mount, and mounts are not free.
const MAX_KEPT: usize = 96;
/// How deep repositories in repositories are followed.
const MAX_MODULES_DEPTH: usize = 4;
const MAX_SETTINGS_BYTES: u64 = 64 * 1024;

/// Our own folder in a project.
const OURS: &str = ".majordomo";

/// Read by a shell or a tool that is started in the folder or has it as its home.
const START_UP: [&str; 14] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".config/fish/config.fish",
    ".gitconfig",
    ".mcp.json",
];

/// Settings of a repository, and the words in them that name something to run or to read settings from.
const SETTINGS: [&str; 2] = ["config", "config.worktree"];
const RUNNING_WORDS: [&str; 18] = [
    "fsmonitor",
    "hookspath",
    "sshcommand",
    "askpass",
    "editor",
    "pager",
    "external",
    "textconv",
    "driver",
    "helper",
    "clean",
    "smudge",
    "process",
    "program",
    "include",
    "gitproxy",
    "uploadpack",
    "!",
];

/// What was protected at one moment, by its path from the workspace.
#[derive(Debug, Default)]
pub(crate) struct Look {
    seen: BTreeMap<PathBuf, (Kind, Stamp)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A file that git runs.
    Hook,
    /// A repository's settings.
    Settings,
    /// Where a folder's repository is, if it is elsewhere.
    Pointer,
    /// A start-up file, or one in our own folder.
    Plain,
}

/// Two files with the same stamp are the same file, unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    mode: u32,
    changed: (i64, i64),
}

/// What is protected in a workspace at this moment.
pub(crate) fn look(root: &Path) -> Look {
    let mut look = Look::default();
    for name in START_UP {
        look.note(root, Path::new(name), Kind::Plain);
    }
    look.note_all_in(root, Path::new(OURS), Kind::Plain);
    let mut folders = VecDeque::from([PathBuf::new()]);
    let mut entered = 0;
    while let Some(folder) = folders.pop_front()
        && entered < MAX_FOLDERS
    {
        entered += 1;
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = folder.join(entry.file_name());
            match entry.file_name().to_str() {
                Some(".git") if kind.is_dir() => look.note_repository(root, &path, 0),
                Some(".git") => look.note(root, &path, Kind::Pointer),
                _ if kind.is_dir() => folders.push_back(path),
                _ => {}
            }
        }
    }
    look
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

impl Look {
    /// What the walls shall keep as it is.
    pub fn kept(&self, root: &Path) -> Vec<Kept> {
        let mut hooks: Vec<PathBuf> = Vec::new();
        let mut kept = Vec::new();
        for (path, (kind, _)) in &self.seen {
            match kind {
                // A repository's folder of hooks is kept as a whole: what is not in it yet shall not come in.
                Kind::Settings => hooks.extend(path.parent().map(|repository| repository.join("hooks"))),
                Kind::Pointer | Kind::Plain if !path.starts_with(OURS) => kept.push(Kept::AsItIs(root.join(path))),
                _ => {}
            }
            if *kind == Kind::Settings {
                kept.push(Kept::AsItIs(root.join(path)));
            }
        }
        hooks.sort();
        hooks.dedup();
        hooks.push(OURS.into());
        for folder in hooks.into_iter().map(|folder| root.join(folder)) {
            match fs::symlink_metadata(&folder) {
                // An empty one may be what another command's walls hang on, and gone in a moment.
                Ok(there) if there.is_dir() && is_empty(&folder) => kept.push(Kept::Absent(folder)),
                Ok(there) if there.is_dir() => kept.push(Kept::AsItIs(folder)),
                Ok(_) => {}
                Err(_) => kept.push(Kept::Absent(folder)),
            }
        }
        // A link could lead the walls astray; what it is and where it leads is compared afterwards instead.
        kept.retain(|kept| match kept {
            Kept::AsItIs(path) => path.canonicalize().is_ok_and(|real| real == *path),
            Kept::Absent(path) => {
                path.parent().and_then(|parent| parent.canonicalize().ok()).as_deref() == path.parent()
            }
        });
        kept.sort_by_key(|kept| kept.path().components().count());
        kept.truncate(MAX_KEPT);
        kept
    }

    /// Compares with what is there afterwards, takes the force from hooks, and tells about everything in a line each.
    pub fn told(&self, root: &Path, workspace: &Dir) -> Vec<String> {
        let after = look(root);
        let changed = after.seen.iter().filter(|(path, now)| self.seen.get(*path) != Some(now));
        let told = changed.filter_map(|(path, (kind, stamp))| {
            let name = path.display();
            match kind {
                Kind::Hook => {
                    let done = disarmed(workspace, path, stamp)?;
                    Some(format!("{name} is a hook that git would run: {done}"))
                }
                Kind::Settings if names_a_program(&root.join(path)) => {
                    Some(format!("{name} names programs for git to run: look at it before you use git there"))
                }
                Kind::Settings => None,
                Kind::Pointer => Some(format!("{name} makes git use another repository's hooks and settings")),
                Kind::Plain => Some(format!("{name} is read by programs when they start: look at it before they do")),
            }
        });
        told.collect()
    }

    fn note(&mut self, root: &Path, path: &Path, kind: Kind) {
        if let Ok(there) = fs::symlink_metadata(root.join(path)) {
            self.seen.insert(path.to_owned(), (kind, Stamp::of(&there)));
        }
    }

    /// Notes every file in a folder; of a link in its place, the link.
    fn note_all_in(&mut self, root: &Path, folder: &Path, kind: Kind) {
        let Ok(there) = fs::symlink_metadata(root.join(folder)) else { return };
        if !there.is_dir() {
            return self.note(root, folder, kind);
        }
        for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten().take(MAX_FOLDERS) {
            let path = folder.join(entry.file_name());
            // The samples that git puts there are never run.
            if kind == Kind::Hook && path.extension().is_some_and(|extension| extension == "sample") {
                continue;
            }
            match entry.file_type() {
                Ok(inner) if inner.is_dir() && kind == Kind::Plain && folder.components().count() < 4 => {
                    self.note_all_in(root, &path, kind);
                }
                _ => self.note(root, &path, kind),
            }
        }
    }

    fn note_repository(&mut self, root: &Path, repository: &Path, depth: usize) {
        for name in SETTINGS {
            self.note(root, &repository.join(name), Kind::Settings);
        }
        self.note_all_in(root, &repository.join("hooks"), Kind::Hook);
        if depth < MAX_MODULES_DEPTH {
            for folder in ["modules", "worktrees"] {
                for entry in fs::read_dir(root.join(repository).join(folder)).into_iter().flatten().flatten() {
                    if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                        self.note_repository(root, &repository.join(folder).join(entry.file_name()), depth + 1);
                    }
                }
            }
        }
    }
}

impl Stamp {
    fn of(there: &fs::Metadata) -> Self {
        Self {
            inode: there.ino(),
            size: there.size(),
            mode: there.mode(),
            // The time of the last change of anything about it; unlike that of its content it cannot be set.
            changed: (there.ctime(), there.ctime_nsec()),
        }
    }
}

/// What was done about a hook; none if it needs nothing. Works beneath the workspace's handle: a link leads nowhere else.
fn disarmed(workspace: &Dir, path: &Path, stamp: &Stamp) -> Option<&'static str> {
    let is_link = stamp.mode & libc::S_IFMT == libc::S_IFLNK;
    if !is_link && stamp.mode & 0o111 == 0 {
        return None;
    }
    let mode = fs::Permissions::from_mode(stamp.mode & 0o666).mode();
    let done = match is_link {
        true => workspace.remove_file(path),
        false => workspace.set_permissions(path, cap_std::fs::Permissions::from_mode(mode)),
    };
    Some(match (done, is_link) {
        (Ok(()), true) => "it was a link, which was removed",
        (Ok(()), false) => "it was made not executable; look at it before you make it so",
        (Err(_), _) => "it could not be disarmed: look at it before you use git there",
    })
}

fn names_a_program(settings: &Path) -> bool {
    let plain = fs::symlink_metadata(settings).is_ok_and(|there| there.is_file() && there.len() < MAX_SETTINGS_BYTES);
    // What cannot be read as settings is not harmless by that.
    let Some(text) = plain.then(|| fs::read_to_string(settings).ok()).flatten() else { return true };
    let text = text.to_ascii_lowercase();
    RUNNING_WORDS.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    fn room(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf, Dir) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write(&root, files);
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
        (folder, root, dir)
    }

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (name, content) in files {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), content).unwrap();
        }
    }

    fn executable(path: PathBuf) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    // T19
    #[test]
    fn what_is_there_is_kept_and_what_is_not_there_yet_too() {
        let (_folder, root, _) = room(&[
            (".git/config", ""),
            ("deep/down/.git/config", ""),
            ("deep/down/.git/hooks/pre-commit", ""),
            (".git/modules/inner/config", ""),
            ("tree/.git", "gitdir: elsewhere"),
            (".profile", ""),
            ("src/config", ""),
        ]);
        std::os::unix::fs::symlink("/etc/hostname", root.join(".zshrc")).unwrap();
        let kept = look(&root).kept(&root);
        for name in [
            ".git/config",
            "deep/down/.git/config",
            "deep/down/.git/hooks",
            ".git/modules/inner/config",
            "tree/.git",
            ".profile",
        ] {
            assert!(kept.contains(&Kept::AsItIs(root.join(name))), "{name}: {kept:?}");
        }
        for name in [".git/hooks", ".git/modules/inner/hooks", ".majordomo"] {
            assert!(kept.contains(&Kept::Absent(root.join(name))), "{name}: {kept:?}");
        }
        assert_eq!(kept.len(), 9, "no link, and nothing else: {kept:?}");
    }

    // T19
    #[test]
    fn a_hook_in_a_new_repository_loses_its_force_and_is_told() {
        let (_folder, root, dir) = room(&[(".git/config", "[core]\n"), (".git/hooks/pre-push", "#!/bin/sh\n")]);
        executable(root.join(".git/hooks/pre-push"));
        let before = look(&root);
        assert!(before.told(&root, &dir).is_empty(), "nothing has changed");
        write(
            &root,
            &[
                ("sub/.git/hooks/post-checkout", "#!/bin/sh\n"),
                ("sub/.git/hooks/update.sample", "#!/bin/sh\n"),
                ("sub/.git/hooks/notes", ""),
                ("sub/.git/config", "[core]\n\tbare = false\n"),
                ("other/.git/config", "[core]\n\tfsmonitor = ./run-me\n"),
                (".majordomo/agents/a.md", "evil"),
            ],
        );
        executable(root.join("sub/.git/hooks/post-checkout"));
        executable(root.join("sub/.git/hooks/update.sample"));
        std::os::unix::fs::symlink("/bin/true", root.join("sub/.git/hooks/pre-push")).unwrap();
        let told = before.told(&root, &dir);
        let names = |name: &str| told.iter().filter(|line| line.starts_with(name)).count();
        assert_eq!(names("sub/.git/hooks/post-checkout is a hook"), 1, "{told:?}");
        assert_eq!(names("sub/.git/hooks/pre-push is a hook that git would run: it was a link"), 1, "{told:?}");
        assert_eq!(names("other/.git/config names programs"), 1, "{told:?}");
        assert_eq!(names(".majordomo/agents/a.md is read"), 1, "{told:?}");
        assert_eq!(told.len(), 4, "a plain new repository is no news: {told:?}");
        let mode = |name: &str| fs::metadata(root.join(name)).unwrap().permissions().mode() & 0o111;
        assert_eq!(mode("sub/.git/hooks/post-checkout"), 0);
        assert_eq!(mode(".git/hooks/pre-push"), 0o111, "what was there before is left alone");
        assert!(!root.join("sub/.git/hooks/pre-push").exists());
    }
}
