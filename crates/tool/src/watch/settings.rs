//! What the settings of a repository name in the workspace: folders for hooks, files with more settings, and programs.
//!
//! Git is not asked, since the settings may be hostile. They are read generously instead: whatever could be taken for such a
//! name by git is one, of all that are there, whether or not a condition holds for it. The user's own settings count in every repository.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::look::content;
use crate::named;
use crate::protected::{Kind, RUN_BY_GIT};

/// So many files with settings are read.
const MAX_INCLUDED: usize = 13;

/// Settings, by the last part of their names, of which no word names a program or anything that git runs.
const NAMES_NO_PROGRAM: [&str; 18] = [
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "url",
    "pushurl",
    "insteadof",
    "pushinsteadof",
    "fetch",
    "merge",
    "name",
    "email",
    "signingkey",
    "template",
    "excludesfile",
    "ignorerevsfile",
    "worktree",
];

/// What a repository in the folder `repository` with its files in `tree` names, by the path from the workspace, with the
/// name of the protected place. All paths are whole.
pub(super) fn named(root: &Path, repository: &Path, tree: &Path) -> BTreeMap<PathBuf, (String, Kind)> {
    let mut found = BTreeMap::new();
    // The last one is read first: the repository's own come before those of the user.
    let mut rest: Vec<PathBuf> = of_user(|name| std::env::var_os(name)).collect();
    rest.extend([repository.join("config"), repository.join("config.worktree")]);
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
                Name::Run => {
                    for program in programs(&value, tree, root) {
                        found.entry(program).or_insert_with(|| (RUN_BY_GIT.to_owned(), Kind::Plain));
                    }
                    continue;
                }
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

/// The user's own settings, and those of the machine.
fn of_user(variable: impl Fn(&str) -> Option<OsString>) -> impl Iterator<Item = PathBuf> {
    let place =
        |name: &str, below: &str| Some(PathBuf::from(variable(name)?).join(below)).filter(|path| path.is_absolute());
    let config = place("XDG_CONFIG_HOME", "git/config").or_else(|| place("HOME", ".config/git/config"));
    [place("HOME", ".gitconfig"), config, Some(PathBuf::from("/etc/gitconfig"))].into_iter().flatten()
}

/// The files of the workspace that the words of a value name.
fn programs(value: &str, tree: &Path, root: &Path) -> Vec<PathBuf> {
    let plain = value.replace(['"', '\'', '\\'], "");
    let is_end = |c: char| c.is_whitespace() || ";|&()<>\"'`!".contains(c);
    named::in_words(value.split(is_end).chain(plain.split(is_end)), tree, root)
}

/// What a setting names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// The folder for hooks.
    Hooks,
    /// A file with more settings, or a program.
    Included,
    /// Anything else: it may be a program.
    Run,
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
                key if NAMES_NO_PROGRAM.contains(&key) => continue,
                _ => Name::Run,
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

    // T33, T66
    #[test]
    fn programs_that_settings_name_in_the_workspace_are_found() {
        for setting in [
            "[core]\n\tfsmonitor = ./tools/run.sh\n",
            "[core]\n\tfsmonitor = \"tools/run.sh\"\n",
            "[core] sshCommand = sh tools/run.sh -v",
            "[filter \"x\"]\n\tclean = python3 tools/run.sh %f\n",
            "[diff]\n\texternal = ./tools/run.sh # mine\n",
            "[diff \"x\"]\n\ttextconv = 'tools/run.sh'\n",
            "[merge \"x\"]\n\tdriver = ./tools/run.sh %O %A %B\n",
            "[alias]\n\tst = !./tools/run.sh\n",
            "[alias]\n\tst = \"!f() { tools/run.sh; }; f\"\n",
            "[credential]\n\thelper = !sh tools/run.sh\n",
            "[something]\n\tnew = --program=tools/run.sh\n",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            for (name, text) in [(".git/config", setting), ("tools/run.sh", ""), ("main", "")] {
                std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
                std::fs::write(root.join(name), text).unwrap();
            }
            let found = named(&root, &root.join(".git"), &root);
            assert!(found.contains_key(Path::new("tools/run.sh")), "{setting}: {found:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        std::fs::write(root.join("main"), "").unwrap();
        let harmless = "[core]\n\tbare = false\n[user]\n\tname = main\n[remote \"origin\"]\n\turl = main\n";
        std::fs::write(root.join(".git/config"), harmless).unwrap();
        assert!(!named(&root, &root.join(".git"), &root).contains_key(Path::new("main")));
    }

    // T66
    #[test]
    fn the_users_own_settings_are_read_where_git_reads_them() {
        let of = |set: &[(&str, &str)]| -> Vec<String> {
            let variable = |name: &str| Some(set.iter().find(|(its, _)| *its == name)?.1.into());
            of_user(variable).map(|path| path.display().to_string()).collect()
        };
        let of_machine = "/etc/gitconfig";
        assert_eq!(of(&[("HOME", "/h")]), ["/h/.gitconfig", "/h/.config/git/config", of_machine]);
        assert_eq!(of(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]), ["/h/.gitconfig", "/c/git/config", of_machine]);
        assert_eq!(of(&[("HOME", "h")]), [of_machine]);
    }
}
