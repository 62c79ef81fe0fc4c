//! Protected files that a command would change by what the workspace holds: a checkout that brings other settings of an
//! editor, a folder that is deleted with settings in it.
//!
//! Git itself is asked what it would bring, in the read-only sandbox, since the repository may be hostile. Where there is
//! no such sandbox nothing is asked, and the command needs approval anyway. More may be found than would change, never less
//! on purpose. What is missed is kept or put back like after any command.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use shell::GitCall;
use tokio_util::sync::CancellationToken;

use crate::command::{CommandHost, CommandSpec, How, run};
use crate::protected;
use crate::sandbox::plan::Network;
use crate::sandbox::{Confinement, Writing};
use crate::watch;
use crate::workspace::Workspace;

/// Git that takes longer to say what it would change is not waited for.
const TIME: Duration = Duration::from_secs(3);
/// So many calls of git in one command are asked about; the sandbox keeps the files of the rest.
const MAX_ASKED: usize = 4;
/// So many paths are shown.
const SHOWN: usize = 3;

/// Protected files that would change, by their paths from the workspace.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub paths: BTreeSet<String>,
}

impl Changes {
    /// The protected places that they are in.
    pub fn places(&self) -> impl Iterator<Item = Arc<str>> + '_ {
        // What is protected by its path is not known by its name.
        self.paths.iter().map(|path| protected::place(path).unwrap_or(protected::COMMANDS)).map(Arc::from)
    }

    /// Some of them, for people.
    pub fn shown(&self) -> String {
        let shown: Vec<&str> = self.paths.iter().take(SHOWN).map(String::as_str).collect();
        let more = self.paths.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    }
}

/// The protected files that a command would change.
pub(super) fn changes(host: &CommandHost, read: &shell::Assessment, workspace: &Path, cwd: &Path) -> Changes {
    let mut paths = deleted(read, workspace, cwd);
    for call in read.touched.git.iter().filter(|_| host.is_confining()).take(MAX_ASKED) {
        let folder = call.folder.as_ref().map_or_else(|| cwd.to_owned(), |folder| cwd.join(folder));
        paths.extend(brought(host, call, workspace, &folder));
    }
    Changes { paths }
}

/// Protected files in folders that are deleted or moved as a whole.
fn deleted(read: &shell::Assessment, workspace: &Path, cwd: &Path) -> BTreeSet<String> {
    let calls = read.parts.iter().filter(|part| part.starts_with("rm ") || part.starts_with("mv "));
    let words = calls.flat_map(|part| part.split(' ').skip(1)).filter(|word| !word.starts_with('-'));
    let mut found = BTreeSet::new();
    for word in words {
        let Ok(folder) = cwd.join(word).canonicalize() else { continue };
        let Ok(inside) = folder.strip_prefix(workspace) else { continue };
        if inside.as_os_str().is_empty() || !folder.is_dir() {
            continue;
        }
        let Ok(look) = watch::look(&folder) else { continue };
        found.extend(look.files.keys().map(|path| inside.join(path).display().to_string()));
        let by_path = protected::by_path(workspace).into_iter().filter(|path| path.starts_with(inside));
        found.extend(by_path.map(|path| path.display().to_string()));
    }
    found
}

/// Protected files that a call of git would bring, change or remove.
fn brought(host: &CommandHost, call: &GitCall, workspace: &Path, folder: &Path) -> BTreeSet<String> {
    let Some(script) = question(call) else { return BTreeSet::new() };
    let Some(said) = asked(host, &script, workspace, folder) else { return BTreeSet::new() };
    // Git names paths from the top of the work tree, which may lie below or above the folder.
    let mut lines = said.lines();
    let top = lines.next().unwrap_or_default().to_owned();
    let below = Path::new(&top).strip_prefix(workspace).map(Path::to_owned).unwrap_or_default();
    let place = |path: &str| protected::place(path).or_else(|| protected::place_by_path(workspace, path));
    let is_protected = |path: &PathBuf| path.to_str().is_some_and(|path| place(path).is_some());
    // A name with unusual characters stands in quotes.
    let paths = lines.map(|path| path.trim_matches('"')).filter(|path| !path.is_empty()).map(|path| below.join(path));
    paths.filter(is_protected).map(|path| path.display().to_string()).collect()
}

/// What git is asked: the paths that differ between what is there and what the call names, a line each, after the top of the
/// work tree.
fn question(call: &GitCall) -> Option<String> {
    // Branches, tags, commits and ranges. A word that names none is ignored by the question.
    let names: Vec<String> = (call.args.iter())
        .filter(|word| !word.starts_with('-') && !word.is_empty())
        .flat_map(|word| word.split("..").filter(|end| !end.is_empty()))
        .map(quoted)
        .collect();
    let against = |from: &str, names: &[String]| {
        let each = names.iter().map(|name| {
            format!(
                "for r in {name} refs/heads/{name} refs/remotes/origin/{name}; do \
                 git rev-parse -q --verify \"$r^{{commit}}\" >/dev/null && {{ git diff --name-only --no-renames \
                 --no-ext-diff --no-textconv {from} \"$r\" --; break; }}; done"
            )
        });
        each.collect::<Vec<_>>().join("; ")
    };
    let work_tree = "git diff --name-only --no-renames --no-ext-diff --no-textconv HEAD --";
    let told = match call.verb.as_str() {
        "checkout" | "switch" => format!("{}; {work_tree}", against("HEAD", &names)),
        "merge" | "rebase" | "pull" => against("HEAD", &names),
        "cherry-pick" | "revert" => {
            let each = names.iter().map(|name| format!("git diff-tree -r --root --no-commit-id --name-only -m {name}"));
            each.collect::<Vec<_>>().join("; ")
        }
        "reset" => format!("{}; {work_tree}", against("HEAD", &names)),
        "restore" => work_tree.to_owned(),
        "stash" => {
            "git diff --name-only HEAD --; git stash show --name-only --include-untracked 2>/dev/null".to_owned()
        }
        "worktree" => {
            // A new work tree is filled with everything; its paths are not known yet, but their names are.
            let rev = names.get(2).cloned().unwrap_or_else(|| "HEAD".to_owned());
            let names = if call.args.first().is_some_and(|verb| verb == "add") { vec![rev] } else { Vec::new() };
            names.iter().map(|name| format!("git ls-tree -r --name-only {name}")).collect::<Vec<_>>().join("; ")
        }
        "clean" => "git ls-files --others".to_owned(),
        _ => return None,
    };
    // What is printed is bounded, so that only what may be protected is printed.
    Some(format!(
        "git rev-parse --show-toplevel; {{ {told}; }} | LC_ALL=C grep -aiE {}; true",
        quoted(&protected::pattern())
    ))
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What a script of our own prints in the read-only sandbox; none if it cannot be run there.
fn asked(host: &CommandHost, script: &str, workspace: &Path, folder: &Path) -> Option<String> {
    let opened = Workspace::open(workspace).ok()?;
    let mut nothing = Confinement { network: Network::Off, writing: Writing::Nothing };
    let plan = host.sandbox.plan(&opened, &mut nothing).ok()??;
    let folder = folder.canonicalize().ok().filter(|folder| folder.starts_with(workspace))?;
    let cwd = Dir::open_ambient_dir(folder, ambient_authority()).ok()?;
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        let stop = CancellationToken::new();
        let (plan, root) = (Some(&plan), opened.root());
        let spec = CommandSpec { command: script, root, cwd, plan, timeout: TIME, stop: &stop, progress: None };
        runtime.block_on(run(host, spec)).ok()
    };
    // A runtime cannot be entered from a thread of another one.
    let finish = std::thread::scope(|scope| scope.spawn(work).join().ok()?)?;
    (finish.how == How::Exited(0)).then_some(finish.output)
}
