//! Protected places: files of a workspace that decide what programs run later, outside of any agent's work.
//!
//! This is the one list. The file tools ask [`place_of_file`] and the reading of commands asks [`place`] before anything is done, the sandbox
//! keeps what is there read-only, and the [watch](crate::watch) over a command finds what was put there all the same.
//! Names count at any depth and in any case of letters, also where nothing is there yet. Besides names, files of one workspace can be
//! protected by their path ([`protect`]): those that commands of servers and hooks name.
//!
//! A repository is protected as a whole but for the names that everyday git commands write (`is_ordinary`): a name that
//! a later git gives a meaning to is protected before it is known here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// What a path has to do with protected places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A repository's folder: what is in it is protected by name.
    Repository,
    /// Protected, with everything below it.
    Protected(Place),
    /// Something below it may be protected, as anywhere.
    Open,
}

/// A protected place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its name, by which rules speak of it.
    pub name: &'static str,
    pub kind: Kind,
}

/// What is done with a protected file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(crate) enum Kind {
    /// A file that git runs.
    Hook,
    /// A repository's settings.
    Settings,
    /// A file that says where a repository, or a part of it, is.
    Pointer,
    /// The list of what git does next in a sequence of commits; it may hold commands.
    Sequence,
    /// Anything else: settings of editors, shells, agents and package managers.
    Plain,
}

/// Names that are protected with everything below them, in the order in which they are compared.
const WHOLE: [&str; 114] = [
    ".agents",
    ".aider.conf.yml",
    ".amazonq",
    ".amp",
    ".appveyor.yml",
    ".augment",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".buildkite",
    ".circleci",
    ".cirrus.yml",
    ".claude",
    ".claude-plugin",
    ".codex",
    ".continue",
    ".copilot",
    ".crush",
    ".crush.json",
    ".cshrc",
    ".cursor",
    ".devcontainer",
    ".devcontainer.json",
    ".dir-locals-2.el",
    ".dir-locals.el",
    ".direnv",
    ".direnvrc",
    ".drone.yaml",
    ".drone.yml",
    ".emacs",
    ".envrc",
    ".exrc",
    ".factory",
    ".fleet",
    ".gdbinit",
    ".gemini",
    ".ghci",
    ".gitattributes",
    ".gitconfig",
    ".githooks",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".goose",
    ".gvimrc",
    ".hgrc",
    ".husky",
    ".idea",
    ".inputrc",
    ".irbrc",
    ".junie",
    ".kilocode",
    ".kiro",
    ".kshrc",
    ".lefthook.toml",
    ".lefthook.yaml",
    ".lefthook.yml",
    ".lldbinit",
    ".login",
    ".majordomo",
    ".mcp.json",
    ".mvn",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".opencode",
    ".pam_environment",
    ".pdbrc",
    ".pre-commit-config.yaml",
    ".profile",
    ".pryrc",
    ".psqlrc",
    ".pypirc",
    ".qwen",
    ".renviron",
    ".roo",
    ".rprofile",
    ".screenrc",
    ".sqliterc",
    ".ssh",
    ".tcshrc",
    ".tmux.conf",
    ".trae",
    ".travis.yml",
    ".vim",
    ".vimrc",
    ".vscode",
    ".windsurf",
    ".woodpecker",
    ".woodpecker.yaml",
    ".woodpecker.yml",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zed",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "crush.json",
    "jenkinsfile",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    "opencode.json",
    "opencode.jsonc",
];

/// What the name of a file ends with by which Visual Studio Code opens several folders: it holds settings and tasks.
const WORKSPACE_OF_AN_EDITOR: &str = ".code-workspace";

/// Names of which only something below is protected. A name that ends in a star stands for all that begin so.
const WITHIN: [(&str, &str, &str); 34] = [
    (".cargo", "config*", ".cargo/config"),
    (".config", "fish", ".config/fish"),
    (".config", "git", ".config/git"),
    (".config", "majordomo", ".config/majordomo"),
    (".config", "opencode", ".config/opencode"),
    (".config", "goose", ".config/goose"),
    (".config", "code", ".config/Code"),
    (".config", "systemd", ".config/systemd"),
    (".config", "autostart", ".config/autostart"),
    (".local", "bin", ".local/bin"),
    (".github", "workflows", ".github/workflows"),
    (".github", "agents", ".github/agents"),
    (".github", "chatmodes", ".github/chatmodes"),
    (".github", "skills", ".github/skills"),
    (".config", "zed", ".config/zed"),
    (".config", "crush", ".config/crush"),
    (".config", "nvim", ".config/nvim"),
    (".config", "vim", ".config/vim"),
    (".config", "emacs", ".config/emacs"),
    (".config", "helix", ".config/helix"),
    (".config", "jj", ".config/jj"),
    (".config", "direnv", ".config/direnv"),
    (".config", "mise", ".config/mise"),
    (".config", "nushell", ".config/nushell"),
    (".config", "powershell", ".config/powershell"),
    (".config", "tmux", ".config/tmux"),
    (".config", "environment.d", ".config/environment.d"),
    (".github", "actions", ".github/actions"),
    (".github", "hooks", ".github/hooks"),
    (".forgejo", "workflows", ".forgejo/workflows"),
    (".gitea", "workflows", ".gitea/workflows"),
    (".hg", "hgrc*", ".hg/hgrc"),
    (".emacs.d", "init*", ".emacs.d/init"),
    (".emacs.d", "early-init*", ".emacs.d/early-init"),
];

/// Folders of other people's packages: what their authors left there is opened by nobody's editor or shell, and package
/// managers write it in passing. Repositories in them are protected all the same.
const PACKAGES: [&str; 2] = ["node_modules", "site-packages"];

/// What git writes in a repository in the course of everyday commands, besides names in capitals (`HEAD`, `MERGE_MSG`),
/// locks and indexes.
const ORDINARY: [&str; 13] = [
    "objects",
    "refs",
    "logs",
    "packed-refs",
    "description",
    "shallow",
    "rr-cache",
    "gc.log",
    "gc.pid",
    "lfs",
    "annex",
    "fsmonitor--daemon",
    "reftable",
];

/// What files are called that commands of servers and hooks name.
pub(crate) const COMMANDS: &str = "files of servers and hooks";

/// What files are called that settings of git name as programs.
pub(crate) const RUN_BY_GIT: &str = "programs in settings of git";

/// What everything is called where protected files cannot be looked for.
pub(crate) const UNKNOWN: &str = "files that cannot be looked at";

/// Files that are protected by their path, by workspace: both as they are named from there.
static NAMED: RwLock<BTreeMap<PathBuf, BTreeSet<PathBuf>>> = RwLock::new(BTreeMap::new());

/// From now on these files of a workspace are protected in this process, also those that are not there yet. `root` is the real path of the
/// workspace, and the files are named from it.
pub fn protect(root: &Path, files: impl IntoIterator<Item = PathBuf>) {
    let mut named = NAMED.write().unwrap_or_else(PoisonError::into_inner);
    named.entry(root.to_owned()).or_default().extend(files);
}

/// The files of a workspace that are protected by their path.
pub(crate) fn by_path(root: &Path) -> BTreeSet<PathBuf> {
    NAMED.read().unwrap_or_else(PoisonError::into_inner).get(root).cloned().unwrap_or_default()
}

/// The place of a path from a workspace, where the file is protected by its path.
pub(crate) fn place_by_path(root: &Path, path: &str) -> Option<&'static str> {
    let named = NAMED.read().unwrap_or_else(PoisonError::into_inner);
    let named = named.get(root)?;
    let mut plain = PathBuf::new();
    for part in Path::new(path.strip_prefix(root.to_str()?).unwrap_or(path)).components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    named.iter().any(|file| plain.starts_with(file)).then_some(COMMANDS)
}

/// Whether a path leads into a protected place by its names, whatever workspace it lies in.
pub fn is_protected(path: &Path) -> bool {
    place(&path.to_string_lossy()).is_some()
}

/// The protected place that a path leads into, whatever folder it begins in.
pub(crate) fn place(given: &str) -> Option<&'static str> {
    let path = given.to_lowercase();
    let mut names: Vec<&str> = Vec::new();
    for name in path.split(['/', '\\']) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            // Other systems take a name without what they cannot store at its end.
            name => names.push(name.trim_end_matches(['.', ' '])),
        }
    }
    // Where git finds this file beside objects, the folder is a repository to it.
    let is_head = given.rsplit(['/', '\\']).next() == Some("HEAD") && !names.contains(&".git");
    within(&names).map(|place| place.name).or(is_head.then_some(".git"))
}

/// The protected place that a file tool would write into: any file of a repository's folder is git's own to write.
pub(crate) fn place_of_file(path: &str) -> Option<&'static str> {
    let mut above = path.split('/').map(str::to_lowercase);
    place(path).or_else(|| above.any(|name| is_git(&name)).then_some(".git"))
}

/// The place of a file in a folder that has, or then has, the parts of a repository, by the names from that folder: what git obeys there, and what
/// makes the folder a repository.
pub(crate) fn place_in_bare(folder: &Path, names: &[&str]) -> Option<&'static str> {
    let first = names.first()?.to_lowercase();
    let is_there = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    let has = |name: &str| first == name.to_lowercase() || is_there(name);
    if !has("HEAD") || !(has("objects") || has("commondir")) {
        return None;
    }
    let was_repository = is_there("HEAD") && (is_there("objects") || is_there("commondir"));
    place_obeyed(names).or((!was_repository).then_some(".git"))
}

/// The place of a file that git obeys in a repository of any name, by the names from its folder.
pub(crate) fn place_obeyed(names: &[&str]) -> Option<&'static str> {
    match names.first()?.to_lowercase().as_str() {
        "config" | "config.worktree" => Some(".git/config"),
        "hooks" => Some(".git/hooks"),
        "commondir" | "gitdir" => Some(".git/commondir"),
        "info" => Some(".git/info/attributes"),
        "head" => Some(".git"),
        _ => None,
    }
}

/// The place that the path of these names, in small letters, leads into.
fn within(names: &[&str]) -> Option<Place> {
    let mut is_package = false;
    for (at, name) in names.iter().enumerate() {
        let below = &names[at + 1..];
        if is_git(name) {
            // The folder itself is protected only as what it is; to make one is `git init`.
            return match below.is_empty() {
                true => Some(Place { name: ".git", kind: Kind::Pointer }),
                false => in_repository(below),
            };
        }
        if !is_package && let Some(place) = named(name, below.first().copied()) {
            return Some(place);
        }
        is_package |= PACKAGES.contains(name);
    }
    None
}

/// An extended regular expression that finds every path in which something may be protected, and some others.
pub(crate) fn pattern() -> String {
    let names = WHOLE.iter().copied().chain(WITHIN.iter().map(|(folder, ..)| *folder)).chain([".git"]);
    let names: Vec<String> = names.map(|name| name.replace('.', "[.]")).collect();
    format!("(^|/|\")({}|[^/]*[.]code-workspace)(/|\"|$)", names.join("|"))
}

/// Whether a name is that of a repository's folder, also as a file system that knows short names or ignores characters
/// would read it.
fn is_git(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| !matches!(c, '\u{200C}' | '\u{200D}' | '\u{FEFF}')).collect();
    plain == ".git" || plain == "git~1"
}

/// The place that a name is, or is with the name below it.
fn named(name: &str, below: Option<&str>) -> Option<Place> {
    let plain = |name| Place { name, kind: Kind::Plain };
    if let Ok(at) = WHOLE.binary_search(&name) {
        return Some(plain(WHOLE[at]));
    }
    if name.ends_with(WORKSPACE_OF_AN_EDITOR) {
        return Some(plain(WORKSPACE_OF_AN_EDITOR));
    }
    let below = below?;
    let is_wanted = |wanted: &str| match wanted.strip_suffix('*') {
        Some(begin) => below.starts_with(begin),
        None => below == wanted,
    };
    let found = WITHIN.iter().find(|(folder, wanted, _)| *folder == name && is_wanted(wanted));
    found.map(|(.., shown)| plain(shown))
}

/// The place that these names lead into from a repository's folder.
fn in_repository(names: &[&str]) -> Option<Place> {
    let place = |name, kind| Some(Place { name, kind });
    let (first, below) = names.split_first()?;
    match (*first, below) {
        ("config" | "config.worktree", []) => place(".git/config", Kind::Settings),
        ("hooks", _) => place(".git/hooks", Kind::Hook),
        ("commondir" | "gitdir", []) => place(".git/commondir", Kind::Pointer),
        ("info", ["attributes", ..]) => place(".git/info/attributes", Kind::Plain),
        ("info", _) => None,
        ("rebase-merge" | "rebase-apply", ["git-rebase-todo" | "git-rebase-todo.backup"]) => {
            place(".git/rebase-merge/git-rebase-todo", Kind::Sequence)
        }
        ("sequencer", ["todo"]) => place(".git/sequencer/todo", Kind::Sequence),
        ("rebase-merge" | "rebase-apply" | "sequencer", _) => None,
        // Repositories in a repository, each in a folder of any depth.
        ("modules" | "worktrees", [] | [_]) => None,
        // The name of a module may have several parts, so that what stands where in it is not known.
        ("modules", [_, rest @ ..]) => in_repository(rest).or(place(".git", Kind::Plain)),
        ("worktrees", [_, "locked"]) => None,
        ("worktrees", [_, rest @ ..]) => in_repository(rest),
        (name, _) if is_ordinary(name) => None,
        _ => place(".git", Kind::Plain),
    }
}

fn is_ordinary(name: &str) -> bool {
    let is_pseudo_ref = name.chars().all(|c| c.is_ascii_alphabetic() || c == '_') && name.ends_with("head");
    is_pseudo_ref
        || ORDINARY.contains(&name)
        || name == "index"
        || ["index.", "sharedindex.", "bisect_", "merge_", "notes_"].iter().any(|begin| name.starts_with(begin))
        || ["commit_editmsg", "tag_editmsg", "squash_msg", "auto_merge", "edit_description"].contains(&name)
        || name.ends_with(".lock")
        || name.starts_with("addp-hunk-edit")
}

/// What a name in a folder of the workspace is, for one who walks through it. `is_package` says that a folder above holds
/// other people's packages.
pub(crate) fn role(folder: Option<&str>, name: &str, is_package: bool) -> Role {
    let name = name.to_lowercase();
    if is_git(&name) {
        return Role::Repository;
    }
    if is_package {
        return Role::Open;
    }
    let above = folder.map(str::to_lowercase);
    let found = named(&name, None).or_else(|| named(above.as_deref()?, Some(&name)));
    found.map_or(Role::Open, Role::Protected)
}

/// The place that a folder of this name holds: a link of that name decides what is there.
pub(crate) fn behind(name: &str) -> Option<Place> {
    let name = name.to_lowercase();
    let (.., shown) = WITHIN.iter().find(|(folder, ..)| *folder == name)?;
    Some(Place { name: shown, kind: Kind::Plain })
}

/// Whether a folder of this name holds other people's packages.
pub(crate) fn holds_packages(name: &str) -> bool {
    PACKAGES.contains(&name)
}

/// What a name in a repository's folder is; none where git writes it every day.
pub(crate) fn role_in_repository(names: &[&str]) -> Option<Place> {
    let small: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    in_repository(&small.iter().map(String::as_str).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    // T19, T66, T68
    #[test]
    fn a_protected_place_is_known_at_any_depth_and_however_it_is_written() {
        let inside = [
            (".git/hooks/pre-commit", ".git/hooks"),
            ("sub/new/.git/hooks/post-merge", ".git/hooks"),
            ("./a/../.git//hooks/x", ".git/hooks"),
            (".GIT/Hooks/x", ".git/hooks"),
            (".git/config", ".git/config"),
            (".git/config.worktree", ".git/config"),
            (".git/modules/lib/config", ".git/config"),
            (".git/modules/lib/hooks/x", ".git/hooks"),
            (".git/modules/third/lfs/hooks/x", ".git"),
            ("src/HEAD", ".git"),
            (".config/git/config", ".config/git"),
            (".config/fish/config.fish", ".config/fish"),
            (".git/worktrees/w/commondir", ".git/commondir"),
            (".git/commondir", ".git/commondir"),
            (".git/info/attributes", ".git/info/attributes"),
            (".git/rebase-merge/git-rebase-todo", ".git/rebase-merge/git-rebase-todo"),
            (".git/sequencer/todo", ".git/sequencer/todo"),
            (".git/something-new", ".git"),
            (".git", ".git"),
            ("sub/.git", ".git"),
            ("node_modules/x/.git/config", ".git/config"),
            (".majordomo/agents/evil.md", ".majordomo"),
            ("x/.bashrc", ".bashrc"),
            (".vscode/tasks.json", ".vscode"),
            (".vscode", ".vscode"),
            (".cargo/config.toml", ".cargo/config"),
            (".github/workflows/ci.yml", ".github/workflows"),
            (".gitlab-ci.yml", ".gitlab-ci.yml"),
            ("/home/ann/.ssh/authorized_keys", ".ssh"),
            // What other agents, editors, shells, debuggers and services obey once a folder is opened in them.
            ("opencode.json", "opencode.json"),
            ("sub/OpenCode.jsonc", "opencode.jsonc"),
            ("crush.json", "crush.json"),
            (".devcontainer/devcontainer.json", ".devcontainer"),
            ("api.code-workspace", ".code-workspace"),
            ("Jenkinsfile", "jenkinsfile"),
            (".Rprofile", ".rprofile"),
            (".hg/hgrc", ".hg/hgrc"),
            (".pre-commit-config.yaml", ".pre-commit-config.yaml"),
            (".forgejo/workflows/ci.yml", ".forgejo/workflows"),
            (".github/actions/build/action.yml", ".github/actions"),
            (".zed/tasks.json", ".zed"),
        ];
        for (path, expected) in inside {
            assert_eq!(place(path), Some(expected), "{path}");
        }
        let outside = [
            "src/hooks/mod.rs",
            ".github/README.md",
            ".cargo/audit.toml",
            "git/hooks/x",
            "profile",
            "a.bashrc",
            "",
            ".gitignore",
            ".git/objects/ab/cd",
            ".git/refs/heads/main",
            ".git/logs/HEAD",
            ".git/index",
            ".git/index.lock",
            ".git/HEAD",
            ".git/ORIG_HEAD",
            ".git/COMMIT_EDITMSG",
            ".git/MERGE_MSG",
            ".git/rebase-merge/done",
            ".git/info/exclude",
            ".git/packed-refs",
            "src/head",
            "node_modules/x/.vscode/settings.json",
            ".hg/store/data",
            "src/opencode.json.rs",
            "code-workspace",
        ];
        for path in outside {
            assert_eq!(place(path), None, "{path}");
        }
    }

    // T19, T48
    #[test]
    fn a_file_that_a_command_names_is_protected_by_its_path_and_no_other_is() {
        let root = Path::new("/nowhere/at/all");
        protect(root, [PathBuf::from("tools/serve.py")]);
        for path in ["tools/serve.py", "./tools/../tools/serve.py", "/nowhere/at/all/tools/serve.py"] {
            assert_eq!(place_by_path(root, path), Some(COMMANDS), "{path}");
        }
        for path in ["tools/other.py", "serve.py", "", "tools", "tools/serve.pyc"] {
            assert_eq!(place_by_path(root, path), None, "{path}");
        }
        assert_eq!(place_by_path(Path::new("/elsewhere"), "tools/serve.py"), None);
    }

    #[test]
    fn names_are_in_the_order_in_which_they_are_looked_up() {
        assert!(WHOLE.is_sorted());
        for name in WHOLE {
            assert_eq!((place(name), name.to_lowercase()), (Some(name), name.to_owned()));
        }
    }

    #[test]
    fn one_who_walks_sees_what_the_whole_path_says() {
        let cases = [
            (None, ".vscode", Role::Protected(Place { name: ".vscode", kind: Kind::Plain })),
            (Some(".cargo"), "config.toml", Role::Protected(Place { name: ".cargo/config", kind: Kind::Plain })),
            (Some("cargo"), "config.toml", Role::Open),
            (Some("sub"), ".GIT", Role::Repository),
            (None, ".cargo", Role::Open),
        ];
        for (folder, name, expected) in cases {
            assert_eq!(role(folder, name, false), expected, "{folder:?} {name}");
        }
        assert_eq!(role(None, ".vscode", true), Role::Open);
        assert_eq!(role(None, ".git", true), Role::Repository);
    }
}
