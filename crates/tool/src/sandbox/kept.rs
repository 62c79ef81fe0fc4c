//! What of a workspace bubblewrap keeps as it is: each protected path is a mount of its own.
//!
//! What is not there yet cannot be mounted; the [watch](crate::watch) finds it afterwards.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::plan::Kept;
use crate::protected::Kind;
use crate::watch::Look;

/// So many paths are kept, those near the root first: each is a mount, and mounts are not free. The rest is copied.
const MAX_KEPT: usize = 256;

/// Our own folder in a project, which is kept away also while it does not exist.
const OURS: &str = ".majordomo";

/// What is mounted.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    /// Repositories, and folders on the way to what something else names: written by everyday commands, but not renamed, since what is
    /// mounted cannot be.
    pub pinned: Vec<PathBuf>,
    /// Read-only.
    pub kept: Vec<Kept>,
}

/// What is mounted for a command that may change the `consented` places, and notes in the look what is kept by it.
pub(super) fn mounts(root: &Path, look: &mut Look, consented: &[Arc<str>]) -> Mounts {
    let is_free = |place: &str| consented.iter().any(|consented| &**consented == place);
    let mut kept: Vec<Kept> = Vec::new();
    for (top, kind) in &look.tops {
        let inside = || look.files.range(top.clone()..).take_while(|(path, _)| path.starts_with(top));
        // Git rewrites it with every step of a sequence; what is in it is compared instead.
        if *kind == Kind::Sequence || inside().any(|(_, entry)| is_free(&entry.place)) {
            continue;
        }
        match fs::symlink_metadata(root.join(top)) {
            // A link could lead the mount astray; where it leads is compared instead.
            Ok(there) if there.is_symlink() => {}
            Ok(there) if there.is_dir() && is_hung_on(top) && is_empty(&root.join(top)) => {
                kept.push(Kept::Absent(root.join(top)));
            }
            Ok(_) => kept.push(Kept::AsItIs(root.join(top))),
            Err(_) => {}
        }
    }
    let outermost = |path: &&PathBuf| !look.repositories.keys().any(|other| *path != other && path.starts_with(other));
    let mut pinned: Vec<PathBuf> = (look.repositories.keys())
        .filter(outermost)
        .filter(|path| !path.as_os_str().is_empty() && path.to_str().is_some())
        .map(|path| root.join(path))
        .collect();
    look.pinned = pinned.iter().filter_map(|path| Some(path.strip_prefix(root).ok()?.to_owned())).collect();
    if !is_free(".git/hooks") {
        let missing = look.repositories.keys().map(|repository| repository.join("hooks"));
        kept.extend(missing.filter(|hooks| is_missing(root, hooks)).map(|hooks| Kept::Absent(root.join(hooks))));
    }
    if !is_free(OURS) && is_missing(root, Path::new(OURS)) {
        kept.push(Kept::Absent(root.join(OURS)));
    }
    // The guard is told paths as text. Others are copied.
    kept.retain(|kept| kept.path().to_str().is_some());
    kept.sort_by_key(|kept| kept.path().components().count());
    kept.dedup();
    kept.truncate(MAX_KEPT);
    for kept in &kept {
        let Ok(top) = kept.path().strip_prefix(root) else { continue };
        look.kept.insert(top.to_owned());
        let from = top.to_owned();
        look.files
            .range_mut(from..)
            .take_while(|(path, _)| path.starts_with(top))
            .for_each(|(path, entry)| entry.is_kept = has_one_name(&root.join(path)));
    }
    pinned.extend(ways(root, look, &kept));
    pinned.sort();
    pinned.dedup();
    Mounts { pinned, kept }
}

/// The folders on the way to what is kept because something else names it, such as the script of a hook: one that is renamed would leave its
/// place to another file, under the name that is run.
fn ways(root: &Path, look: &Look, kept: &[Kept]) -> Vec<PathBuf> {
    let is_kept = |named: &&PathBuf| kept.iter().any(|kept| root.join(named).starts_with(kept.path()));
    let above =
        |named: &PathBuf| -> Vec<PathBuf> { named.ancestors().skip(1).map(|folder| root.join(folder)).collect() };
    let is_folder = |path: &PathBuf| path != root && fs::symlink_metadata(path).is_ok_and(|there| there.is_dir());
    let is_outside = |path: &PathBuf| !kept.iter().any(|kept| path.starts_with(kept.path()));
    let ways = look.named.keys().filter(is_kept).flat_map(above);
    ways.filter(|path| path.to_str().is_some() && is_folder(path) && is_outside(path)).collect()
}

/// Whether no other name leads to a file: by that, what is in it could be written around the mount, so that it is copied and compared as well.
fn has_one_name(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.nlink() == 1)
}

fn is_missing(root: &Path, path: &Path) -> bool {
    fs::symlink_metadata(root.join(path)).is_err()
}

/// Whether a folder of this name is made as a mount point where there is none.
fn is_hung_on(top: &Path) -> bool {
    top == Path::new(OURS) || top.file_name().is_some_and(|name| name == "hooks")
}

/// An empty folder may be the mount point of another command's sandbox, and gone in a moment.
fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::look;

    // T19, T66
    #[test]
    fn what_is_there_is_kept_and_what_is_not_there_yet_too() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, content) in [
            (".git/config", ""),
            (".git/HEAD", ""),
            (".git/modules/inner/HEAD", ""),
            (".git/modules/inner/config", ""),
            ("deep/down/.git/config", ""),
            ("deep/down/.git/hooks/pre-commit", ""),
            ("tree/.git", "gitdir: elsewhere"),
            (".profile", ""),
            (".vscode/settings.json", "{}"),
            (".git/rebase-merge/git-rebase-todo", "pick a"),
            ("src/config", ""),
        ] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), content).unwrap();
        }
        std::os::unix::fs::symlink("/etc/hostname", root.join(".zshrc")).unwrap();
        let mut look = look(&root).unwrap();
        let Mounts { pinned, kept } = mounts(&root, &mut look, &[]);
        assert_eq!(pinned, [".git", "deep/down/.git"].map(|name| root.join(name)));
        for name in [
            ".git/config",
            "deep/down/.git/config",
            "deep/down/.git/hooks",
            ".git/modules/inner/config",
            "tree/.git",
            ".profile",
            ".vscode",
        ] {
            assert!(kept.contains(&Kept::AsItIs(root.join(name))), "{name}: {kept:?}");
        }
        for name in [".git/hooks", ".git/modules/inner/hooks", ".majordomo"] {
            assert!(kept.contains(&Kept::Absent(root.join(name))), "{name}: {kept:?}");
        }
        assert_eq!(kept.len(), 10, "no link, and nothing else: {kept:?}");
        assert!(look.files[Path::new(".vscode/settings.json")].is_kept);
        assert!(
            !look.files[Path::new(".zshrc")].is_kept
                && !look.files[Path::new(".git/rebase-merge/git-rebase-todo")].is_kept
        );
        let kept = mounts(&root, &mut look, &[".vscode".into()]).kept;
        assert!(!kept.contains(&Kept::AsItIs(root.join(".vscode"))), "what is consented to can be written");
    }
}
