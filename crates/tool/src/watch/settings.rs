//! What the settings of a repository name in the workspace: folders for hooks, and files with more settings.
//!
//! Git is not asked, since the settings may be hostile. They are read generously instead: whatever could be taken for such a
//! name by git is one, of all that are there, whether or not a condition holds for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::look::content;
use crate::protected::Kind;

/// So many files with settings are followed, as by git.
const MAX_INCLUDED: usize = 10;

/// What a repository in the folder `repository` with its files in `tree` names, by the path from the workspace, with the
/// name of the protected place. All paths are whole.
pub(super) fn named(root: &Path, repository: &Path, tree: &Path) -> BTreeMap<PathBuf, (String, Kind)> {
    let mut found = BTreeMap::new();
    let mut rest = vec![repository.join("config"), repository.join("config.worktree")];
    let mut read = BTreeSet::new();
    while let Some(file) = rest.pop() {
        if read.len() > MAX_INCLUDED || !read.insert(file.clone()) {
            continue;
        }
        let Some(text) = content(&file.canonicalize().unwrap_or(file.clone())) else { continue };
        for (name, value) in values(&String::from_utf8_lossy(&text)) {
            let (base, place, kind) = match name {
                Name::Hooks => (tree, ".git/hooks", Kind::Hook),
                Name::Included => (file.parent().unwrap_or(root), ".git/config", Kind::Settings),
            };
            let path = plain(&base.join(value));
            let inside = path.strip_prefix(root).ok().filter(|inside| !inside.as_os_str().is_empty());
            if let Some(inside) = inside {
                found.insert(inside.to_owned(), (place.to_owned(), kind));
            }
            if name == Name::Included {
                rest.push(path);
            }
        }
    }
    found
}

/// What a setting names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// The folder for hooks.
    Hooks,
    /// A file with more settings, or a program.
    Included,
}

/// The settings of a text that name something, each value in every way in which it could be meant.
fn values(text: &str) -> Vec<(Name, String)> {
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut found = Vec::new();
    for line in text.lines() {
        // The part of a section's header may hold the same sign.
        for (at, _) in line.match_indices('=') {
            let key = line[..at].rsplit(['[', ']', '"', ' ', '\t']).find(|word| !word.is_empty()).unwrap_or_default();
            let name = match key.to_ascii_lowercase().as_str() {
                "hookspath" => Name::Hooks,
                "path" => Name::Included,
                _ => continue,
            };
            let whole = &line[at + 1..];
            let cut = whole.split(['#', ';']).next().unwrap_or_default();
            for value in [whole, cut] {
                let value = value.replace("\\\\", "\\").replace('"', "");
                if !value.trim().is_empty() {
                    found.push((name, value.trim().to_owned()));
                }
            }
        }
    }
    found
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    // T66
    #[test]
    fn a_name_is_found_however_it_is_written() {
        for text in [
            "[core]\n\thooksPath = hk\n",
            "[core] hooksPath = hk\n",
            "[CORE]HOOKSPATH=hk",
            "[core]\n\thooksPath = \"h\"k # mine\n",
            "[core]\n\thooks\\\nPath = h\\\nk\n",
            "[core]\n\thooksPath = ./x/../hk ; mine\n",
            "[core]\n\thooksPath = other\n[core]\n\thooksPath = hk\n",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            std::fs::create_dir(root.join(".git")).unwrap();
            std::fs::write(root.join(".git/config"), text).unwrap();
            let found = named(&root, &root.join(".git"), &root);
            assert!(found.contains_key(Path::new("hk")), "{text}: {found:?}");
        }
    }
}
