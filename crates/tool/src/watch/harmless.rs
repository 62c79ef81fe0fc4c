//! What may be new in a protected place without consent: the parts of a repository that git itself makes, as long as they
//! name nothing to run.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::look::{Entry, Look, content};
use crate::protected::Kind;

/// Whether a new file is one that git makes in the course of ordinary work.
pub(super) fn is_harmless(root: &Path, path: &Path, entry: &Entry, before: &Look, after: &Look) -> bool {
    if entry.stamp.is_link() {
        return false;
    }
    let text = || content(&root.join(path)).and_then(|bytes| String::from_utf8(bytes).ok());
    match entry.kind {
        Kind::Settings => text().is_some_and(|text| names_nothing_to_run(&text)),
        Kind::Sequence => text().is_some_and(|text| text.lines().all(is_plain_step)),
        Kind::Pointer => text().is_some_and(|text| leads_to_own(root, path, &text, before, after)),
        // Samples are no entries at all.
        Kind::Hook | Kind::Plain => false,
    }
}

/// Settings of a repository that only say what it is and where it comes from, as `section.key`.
const SETTINGS: [&str; 33] = [
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.abbrev",
    "extensions.objectformat",
    "extensions.compatobjectformat",
    "extensions.refstorage",
    "extensions.worktreeconfig",
    "extensions.partialclone",
    "remote.url",
    "remote.pushurl",
    "remote.fetch",
    "remote.tagopt",
    "remote.promisor",
    "remote.partialclonefilter",
    "branch.remote",
    "branch.merge",
    "branch.rebase",
    "user.name",
    "user.email",
    "submodule.url",
    "submodule.active",
    "lfs.repositoryformatversion",
    "init.defaultbranch",
];

/// Whether settings can be read and hold nothing but settings from the list. What git could read in another way than this is
/// not harmless: quotes, escapes and comments behind a value are not understood here.
fn names_nothing_to_run(text: &str) -> bool {
    let mut section = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        if let Some(header) = line.strip_prefix('[') {
            match header.strip_suffix(']').and_then(section_of) {
                Some(name) => section = name,
                None => return false,
            }
            continue;
        }
        let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
        let name = format!("{section}.{}", key.to_ascii_lowercase());
        let is_address = name.ends_with("url");
        if !SETTINGS.contains(&name.as_str())
            || value.contains(['"', '\\', '#', ';'])
            || (is_address && (value.contains("::") || value.starts_with('-')))
        {
            return false;
        }
    }
    true
}

/// The name of a section from its header, `name` or `name "part"`, in small letters.
fn section_of(header: &str) -> Option<String> {
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./ ".contains(c));
    let name = match header.split_once(' ') {
        None => header,
        Some((name, part)) => {
            let part = part.strip_prefix('"')?.strip_suffix('"')?;
            is_plain(part).then_some(name)?
        }
    };
    (!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')).then(|| name.to_ascii_lowercase())
}

/// Whether a line of a sequence of commits runs nothing.
fn is_plain_step(line: &str) -> bool {
    const STEPS: [&str; 24] = [
        "pick",
        "p",
        "reword",
        "r",
        "edit",
        "e",
        "squash",
        "s",
        "fixup",
        "f",
        "drop",
        "d",
        "label",
        "l",
        "reset",
        "t",
        "merge",
        "m",
        "update-ref",
        "u",
        "noop",
        "break",
        "b",
        "revert",
    ];
    let word = line.split_whitespace().next().unwrap_or_default();
    word.is_empty() || word.starts_with('#') || STEPS.contains(&word)
}

/// Whether a file that says where a repository is leads to where git itself puts it: a work tree or a module to a folder in
/// its repository, and that folder back. Git obeys the settings and hooks of what it leads to at the end, and needs no `HEAD`
/// there: that must be a repository that is looked at as one ([`is_sound`]).
fn leads_to_own(root: &Path, path: &Path, text: &str, before: &Look, after: &Look) -> bool {
    // Git takes off ends of lines and nothing else.
    let text = text.trim_end_matches(['\n', '\r']);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some(folder) = path.parent() else { return false };
    let is_sound = |repository: &Path| is_sound(root, repository, before, after);
    match name {
        "commondir" => text == "../.." && owner_of_worktree(folder).is_some_and(is_sound),
        // It leads out of the repository to a work tree, and git only compares it.
        "gitdir" => folder.parent().is_some_and(|above| above.ends_with("worktrees")),
        _ => {
            let Some(target) = text.strip_prefix("gitdir: ").and_then(|target| led(root, folder, target)) else {
                return false;
            };
            let common = target.join("commondir");
            let owner = match content(&root.join(&common)).map(String::from_utf8) {
                Some(Ok(text)) if leads_to_own(root, &common, &text, before, after) => owner_of_worktree(&target),
                // One that was found and moved away meanwhile counts as there.
                None if !after.files.contains_key(&common) && fs::symlink_metadata(root.join(&common)).is_err() => {
                    target
                        .ancestors()
                        .filter(|above| above.ends_with("modules") && *above != target)
                        .filter_map(Path::parent)
                        .find(|owner| after.repositories.contains_key(*owner))
                }
                _ => None,
            };
            owner.is_some_and(is_sound) && is_sound(&target)
        }
    }
}

/// The repository that holds the folder of a work tree, by its path.
fn owner_of_worktree(folder: &Path) -> Option<&Path> {
    folder.parent().filter(|above| above.ends_with("worktrees"))?.parent()
}

/// Whether a folder is a repository that was there before, or a new one of which nothing is left that could run programs: in
/// one that is known by its name each file is judged alone, in any other only the file that makes it one is moved away.
fn is_sound(root: &Path, repository: &Path, before: &Look, after: &Look) -> bool {
    let Some(inode) = after.repositories.get(repository) else { return false };
    before.repositories.get(repository) == Some(inode)
        || !after.bare.contains(repository)
        || after.obeyed(repository).all(|(path, entry)| is_harmless(root, path, entry, before, after))
}

/// Where a path leads from a folder; none if it leads out of the workspace, or cannot be told without following links.
fn led(root: &Path, folder: &Path, target: &str) -> Option<PathBuf> {
    match Path::new(target).strip_prefix(root) {
        Ok(inside) => inside.components().all(|part| matches!(part, Component::Normal(_))).then(|| inside.to_owned()),
        Err(_) => joined(folder, target),
    }
}

/// A path from a folder, put together; none if it leads out of the workspace.
fn joined(folder: &Path, target: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    // Behind a link `..` leads elsewhere than it reads, so that it may only stand at the beginning.
    let is_turning = Path::new(target).components().skip_while(|part| *part == Component::ParentDir);
    if is_turning.into_iter().any(|part| part == Component::ParentDir) {
        return None;
    }
    for part in Path::new(target).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::Normal(name) => path.push(name),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    // T66
    #[test]
    fn settings_that_name_nothing_to_run_are_told_from_all_others() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert!(names_nothing_to_run(plain));
        for evil in [
            "[core]\n\tfsmonitor = ./x\n",
            "[core] fsmonitor = ./x\n",
            "[core] fsmonitor = ./x #]\n",
            "[core \"a]\"] fsmonitor = x ]\n",
            "[remote \"x\"]\n\turl = ext\":\":sh -c x\n",
            "[core]\n\thooksPath = x\n",
            "[core]\n\tsshCommand = x\n",
            "[CORE]\n\tPager = x\n",
            "[include]\n\tpath = x\n",
            "[includeIf \"gitdir:x\"]\n\tpath = x\n",
            "[filter \"lfs\"]\n\tclean = x\n",
            "[diff \"x\"]\n\ttextconv = x\n",
            "[alias]\n\tst = !x\n",
            "[core]\n\tworktree = ..\n",
            "[remote \"x\"]\n\turl = ext::sh -c x\n",
            "[remote \"x\"]\n\tuploadpack = x\n",
            "[user]\n\tname = a\\\n[core]\n\tfsmonitor = x\n",
            "[user\n",
            "nonsense\n",
        ] {
            assert!(!names_nothing_to_run(evil), "{evil}");
        }
    }

    #[test]
    fn a_sequence_of_commits_may_not_run_commands() {
        assert!("pick abc1 a\nfixup -C abc2\n# exec\n\nlabel x".lines().all(is_plain_step));
        for evil in ["exec touch x", "x touch x", "  exec y", "\texec y"] {
            assert!(!evil.lines().all(is_plain_step), "{evil}");
        }
    }
}
