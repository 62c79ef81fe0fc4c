//! Walls made of namespaces, built by bubblewrap: a read-only view of the file system with a few writable places, process
//! numbers of its own, and no network.
//!
//! The program is taken from the system's folders alone, and only if nobody but root may change it: one that lies in a
//! workspace, or on a search path that leads through one, would be the model's own idea of a sandbox.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::limits::PASSING_BYTES;
use super::plan::{Access, Kept, Network, Plan};

const PLACES: [&str; 4] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// A start that takes longer than this is none.
const PROBE_TIME: Duration = Duration::from_secs(5);

/// Where each command's own temporary files go. They are kept in memory and removed with the command.
const PASSING: [&str; 2] = ["/tmp", "/var/tmp"];

/// A bubblewrap that works here, or why there is none.
pub(super) fn probe() -> Result<PathBuf, String> {
    let program = PLACES.iter().find_map(|place| trusted(Path::new(place)));
    let program = program.ok_or("bubblewrap is not installed")?;
    let mut bwrap = Command::new(&program);
    bwrap.args(namespaces(Network::Off)).args(["--", "/bin/sh", "-c", "exit 0"]);
    bwrap.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut started = bwrap.spawn().map_err(|error| format!("bubblewrap does not start: {error}"))?;
    let begun = Instant::now();
    loop {
        match started.try_wait() {
            Ok(None) if begun.elapsed() < PROBE_TIME => std::thread::sleep(Duration::from_millis(1)),
            Ok(Some(status)) if status.success() => return Ok(program),
            Ok(Some(_)) => break,
            _ => {
                // Whether it can be killed or not, it is not used.
                let _ = started.kill();
                break;
            }
        }
    }
    let said = started.wait_with_output().map(|output| output.stderr).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    Err(format!("bubblewrap does not work here: {}", said.lines().next().unwrap_or("it gave no reason")))
}

/// The program at this place, by its real name, if only root can have put it there.
fn trusted(place: &Path) -> Option<PathBuf> {
    let real = place.canonicalize().ok()?;
    let there = real.metadata().ok()?;
    (there.is_file() && there.uid() == 0 && there.mode() & 0o022 == 0).then_some(real)
}

/// What bubblewrap is told, up to the open files that its guard adds and the command itself.
pub(super) fn arguments(plan: &Plan, cwd: &Path) -> Vec<OsString> {
    let mut all = Arguments(namespaces(plan.network));
    let (around, others): (Vec<_>, Vec<_>) = plan.hidden.iter().partition(|hidden| plan.workspace.starts_with(hidden));
    // A secret folder in which the workspace lies is entered on the way there, but shows nothing else.
    for hidden in &around {
        all.say(["--perms", "0111", "--tmpfs"], hidden);
    }
    let bind = match plan.access {
        Access::ReadOnly => "--ro-bind",
        Access::Workspace => "--bind",
    };
    all.say([bind], &plan.workspace).path(&plan.workspace);
    for hidden in &around {
        all.say(["--remount-ro"], hidden);
    }
    // What is mounted cannot be renamed.
    for pinned in &plan.pinned {
        all.say([bind], pinned).path(pinned);
    }
    for kept in &plan.kept {
        match kept {
            Kept::AsItIs(path) => all.say(["--ro-bind"], path).path(path),
            Kept::Absent(path) => all.say(["--tmpfs"], path).say(["--remount-ro"], path),
        };
    }
    if let Some(cache) = &plan.cache {
        for place in cache.shown_at.iter().filter(|place| !plan.workspace.starts_with(place)) {
            all.say(["--bind"], &cache.folder).path(place);
        }
    }
    // Secrets come last: nothing that was mounted before may show through.
    for hidden in others {
        let is_gone = PASSING.iter().any(|passing| hidden.starts_with(passing)) && !hidden.starts_with(&plan.workspace);
        if is_gone {
            continue;
        }
        match hidden.is_dir() {
            true => all.say(["--perms", "0000", "--tmpfs"], hidden).say(["--remount-ro"], hidden),
            // A device that may not be opened, since mounts here have none.
            false => all.say(["--ro-bind", "/dev/null"], hidden),
        };
    }
    all.say(["--chdir"], cwd);
    all.0
}

/// What is the same for every command.
fn namespaces(network: Network) -> Vec<OsString> {
    let size = PASSING_BYTES.to_string();
    let mut all = vec![
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--size",
        &size,
        "--tmpfs",
        "/dev/shm",
        "--remount-ro",
        "/dev",
        "--proc",
        "/proc",
    ];
    // Settings of the machine: root's commands are the owner of them, in every namespace.
    for settings in ["/proc/sys", "/proc/sysrq-trigger"] {
        all.extend(["--ro-bind-try", settings, settings]);
    }
    if network == Network::Off {
        all.push("--unshare-net");
    }
    for passing in PASSING {
        // One that is a link leads to the other.
        if std::fs::symlink_metadata(passing).is_ok_and(|there| there.is_dir()) {
            all.extend(["--size", &size, "--tmpfs", passing]);
        }
    }
    all.into_iter().map(OsString::from).collect()
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn say<const N: usize>(&mut self, words: [&str; N], path: &Path) -> &mut Self {
        self.0.extend(words.map(OsString::from));
        self.path(path)
    }

    fn path(&mut self, path: &Path) -> &mut Self {
        self.0.push(path.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{Cache, MadeOf};
    use super::*;

    // T32
    #[test]
    fn a_program_that_others_may_change_is_not_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("bwrap");
        assert!(trusted(&program).is_none(), "it is not there");
        std::fs::write(&program, "").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(trusted(&program).is_none());
        assert!(trusted(Path::new("/usr")).is_none(), "it is a folder");
        assert!(trusted(Path::new("/bin/sh")).is_some());
    }

    // T43
    #[test]
    fn secrets_are_hidden_after_everything_else_has_been_mounted() {
        let plan = Plan {
            made_of: MadeOf::Bubblewrap("/usr/bin/bwrap".into()),
            workspace: "/home/a/state/work".into(),
            access: Access::Workspace,
            pinned: vec!["/home/a/state/work/keys".into()],
            hidden: ["/home/a/state", "/etc", "/home/a/state/work/.ssh", "/tmp/gone"].map(PathBuf::from).into(),
            kept: vec![Kept::AsItIs("/home/a/state/work/.git/config".into())],
            network: Network::Off,
            cache: Some(Cache { folder: "/home/a/state/cache".into(), shown_at: vec!["/home/a/.cache".into()] }),
        };
        let all: Vec<String> = arguments(&plan, Path::new("/home/a/state/work/src"))
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect();
        let at = |words: &[&str]| {
            let found = all.windows(words.len()).position(|window| window == words);
            found.unwrap_or_else(|| panic!("{words:?}: {all:?}"))
        };
        let around = at(&["--perms", "0111", "--tmpfs", "/home/a/state"]);
        let bound = at(&["--bind", "/home/a/state/work", "/home/a/state/work"]);
        let pinned = at(&["--bind", "/home/a/state/work/keys", "/home/a/state/work/keys"]);
        assert!(bound < pinned);
        let kept = at(&["--ro-bind", "/home/a/state/work/.git/config", "/home/a/state/work/.git/config"]);
        let hidden = at(&["--perms", "0000", "--tmpfs", "/etc"]);
        assert!(around < bound && bound < kept && kept < hidden && hidden < at(&["--chdir", "/home/a/state/work/src"]));
        assert!(kept < at(&["--ro-bind", "/dev/null", "/home/a/state/work/.ssh"]), "in the workspace too");
        assert!(!all.contains(&"/tmp/gone".to_owned()), "the passing folders are empty anyway");
        assert!(all.contains(&"--unshare-net".to_owned()));
        assert!(at(&["--bind", "/home/a/state/cache", "/home/a/.cache"]) < hidden);
        let open = Plan { network: Network::On, ..plan.clone() };
        assert!(!arguments(&open, Path::new("/")).contains(&"--unshare-net".into()));
        let read_only = Plan { access: Access::ReadOnly, kept: Vec::new(), cache: None, ..plan };
        let all = arguments(&read_only, Path::new("/"));
        assert!(!all.contains(&"--bind".into()), "nothing of the file system can be written: {all:?}");
    }
}
