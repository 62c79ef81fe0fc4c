//! What no agent may read or change: keys, tokens and sessions, by the places in which programs are known to keep them, and our own state.
//!
//! This is the one list: the sandbox hides these places from commands, and the file tools refuse them, whatever the mode and wherever the
//! workspace is. A table is never complete. What is ours (state, configuration, the server's token) is added by [`keep_secret`], by the
//! caller, who knows where it lies.
//!
//! A workspace that lies in such a place was chosen there by a person: its files are reached as any others. Our own state is none at all.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::read_file::RESULTS;
use crate::workspace::{Followed, folded};

/// Beneath a home folder.
const IN_HOME: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".oci",
    ".terraform.d/credentials.tfrc.json",
    ".docker/config.json",
    ".netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gh",
    ".config/glab-cli",
    ".config/gcloud",
    ".config/git/credentials",
    ".config/containers/auth.json",
    ".config/rclone",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".config/hub",
    ".local/share/keyrings",
    ".password-store",
    // sessions of browsers and of other agents are as good as passwords
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".var/app/org.mozilla.firefox",
    "snap/firefox",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".config/github-copilot",
    ".config/goose/secrets.yaml",
    ".local/share/majordomo",
    ".vault-token",
    ".cache/huggingface/token",
    ".huggingface/token",
    // what was typed, passwords among it
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".psql_history",
    ".python_history",
    ".node_repl_history",
    ".history",
    ".sh_history",
    ".ksh_history",
    ".tcsh_history",
    ".local/share/nushell/history.txt",
    ".config/nushell/history.txt",
    ".config/nushell/history.sqlite3",
    ".local/share/powershell/PSReadLine/ConsoleHost_history.txt",
    ".local/share/atuin",
    ".local/state/python_history",
    ".ipython/profile_default/history.sqlite",
    ".irb_history",
    ".mysql_history",
    ".mariadb_history",
    ".sqlite_history",
    ".rediscli_history",
    ".mongo_history",
    ".dbshell",
    ".mongodb/mongosh/mongosh_repl_history",
    ".mongodb/mongosh/.mongosh_repl_history",
    ".duckdb_history",
    ".influx_history",
    ".cassandra/cqlsh_history",
    ".viminfo",
    ".lesshst",
];

/// Of the machine.
const OF_MACHINE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/kubernetes",
    "/run/secrets",
    "/run/credentials",
    "/run/user",
    "/var/run/secrets",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/spool/mail",
];

/// Variables that move one of these places, and what is secret beneath the place that they name.
const MOVED_BY: &[(&str, &[&str])] = &[
    ("CARGO_HOME", &["credentials", "credentials.toml"]),
    (
        "XDG_CONFIG_HOME",
        &["gh", "glab-cli", "gcloud", "git/credentials", "rclone", "op", "github-copilot", "goose/secrets.yaml"],
    ),
    ("XDG_DATA_HOME", &["majordomo", "keyrings", "opencode/auth.json", "fish/fish_history", "atuin"]),
    ("CODEX_HOME", &["auth.json"]),
    ("CLAUDE_CONFIG_DIR", &[".credentials.json", ".claude.json"]),
    ("HF_HOME", &["token"]),
    ("HISTFILE", &[""]),
    ("MYSQL_HISTFILE", &[""]),
    ("PSQL_HISTORY", &[""]),
    ("GNUPGHOME", &[""]),
    ("DOCKER_CONFIG", &["config.json"]),
    ("KUBECONFIG", &[""]),
    ("AWS_SHARED_CREDENTIALS_FILE", &[""]),
    ("AWS_CONFIG_FILE", &[""]),
    ("GOOGLE_APPLICATION_CREDENTIALS", &[""]),
    ("NETRC", &[""]),
    ("NPM_CONFIG_USERCONFIG", &[""]),
];

/// What is ours and secret in this process.
static OURS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// What is secret in a workspace, as it was found a moment ago, by the workspace.
static KNOWN: Mutex<BTreeMap<PathBuf, (Instant, Secrets)>> = Mutex::new(BTreeMap::new());

/// So long a list of what is secret is believed: links may move a place.
const FRESH: Duration = Duration::from_secs(1);
/// Workspaces of which the list is kept.
const MAX_KNOWN: usize = 256;

/// From now on no tool of this process reads or changes anything in these places, also where nothing is there yet.
pub fn keep_secret(places: impl IntoIterator<Item = PathBuf>) {
    lock(&OURS).extend(places.into_iter().filter(|place| place.is_absolute()));
    lock(&KNOWN).clear();
}

/// What of a workspace is secret, for every tool that asks.
#[derive(Clone, Debug)]
pub(crate) struct Secrets {
    /// By their real names, as a file system that knows no case would compare them.
    places: Arc<[String]>,
    /// The folder of results of tools, which is not secret for lying in our own state.
    results: Arc<str>,
}

impl Secrets {
    /// Those of a workspace, by its real name.
    pub fn of(root: &Path) -> Self {
        let mut known = lock(&KNOWN);
        if let Some((_, secrets)) = known.get(root).filter(|(found, _)| found.elapsed() < FRESH) {
            return secrets.clone();
        }
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        let secrets = Self::found(root, &lock(&OURS), |name| std::env::var_os(name));
        known.insert(root.to_owned(), (Instant::now(), secrets.clone()));
        secrets
    }

    fn found(root: &Path, ours: &BTreeSet<PathBuf>, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let whole = |path: &Path| folded(&path.to_string_lossy());
        let root_itself = whole(root);
        let mut known = Followed::default();
        let mut real = |path: &PathBuf| Some(known.of(path)).filter(|real| holds_files(real)).map(|real| whole(&real));
        let ours: BTreeSet<String> = ours.iter().filter_map(&mut real).collect();
        // A place that holds the workspace was chosen by a person, unless it is our own state.
        let counts = |place: &String| lies_in(place, &root_itself) && (*place != root_itself || ours.contains(place));
        let named = known_places(variable);
        let places: BTreeSet<String> =
            named.iter().filter_map(real).chain(ours.iter().cloned()).filter(counts).collect();
        Self { places: places.into_iter().collect(), results: whole(&root.join(RESULTS)).trim_end_matches('/').into() }
    }

    /// Refuses what lies in a secret place, by its real path.
    pub fn check(&self, shown: &str, real: &Path) -> Result<(), Error> {
        match self.covers(real) {
            true => Err(Error::Secret { path: shown.to_owned() }),
            false => Ok(()),
        }
    }

    /// Whether a real path lies in a secret place.
    pub fn covers(&self, real: &Path) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let real = folded(&real.to_string_lossy());
        let is_result = lies_in(&real, &self.results);
        let mut places = self.places.iter().filter(|place| lies_in(&real, place));
        places.any(|place| !is_result || !lies_in(&self.results, place))
    }
}

/// Whether a path is a place or lies in it.
fn lies_in(path: &str, place: &str) -> bool {
    let rest = path.strip_prefix(place.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The secrets that exist on this machine, by their real names, together with `ours`.
pub(crate) fn existing(ours: &[PathBuf], variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut all = known_places(variable);
    all.extend_from_slice(ours);
    all.extend(lock(&OURS).iter().cloned());
    // Of most of them nothing is there, which one look says; for the real name each folder on the way is looked at.
    all.retain(|path| path.symlink_metadata().is_ok());
    outermost(all.iter().filter_map(|path| path.canonicalize().ok()).filter(|path| holds_files(path)).collect())
}

/// Whether a place can be hidden: histories are often links to `/dev/null`, which every command needs.
fn holds_files(path: &Path) -> bool {
    path != Path::new("/") && !["/dev", "/proc", "/sys"].iter().any(|made| path.starts_with(made))
}

/// Where programs keep secrets, whether or not anything is there.
fn known_places(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let homes = [variable("HOME").map(PathBuf::from), Some(PathBuf::from("/root"))];
    let homes = homes.into_iter().flatten().filter(|home| home.is_absolute());
    let mut all: Vec<PathBuf> = homes.flat_map(|home| IN_HOME.iter().map(move |name| home.join(name))).collect();
    all.extend(OF_MACHINE.iter().map(PathBuf::from));
    for (name, beneath) in MOVED_BY {
        let Some(place) = variable(name).map(PathBuf::from).filter(|place| place.is_absolute()) else { continue };
        all.extend(beneath.iter().map(|name| if name.is_empty() { place.clone() } else { place.join(name) }));
    }
    all
}

/// Each place once, and none that lies in another.
fn outermost(mut places: Vec<PathBuf>) -> Vec<PathBuf> {
    places.sort();
    places.dedup();
    let mut kept: Vec<PathBuf> = Vec::new();
    for place in places {
        if !kept.iter().any(|other| place.starts_with(other)) {
            kept.push(place);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    // T43
    #[test]
    fn secrets_are_found_in_the_home_folder_behind_links_and_where_variables_have_moved_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for name in ["home/.ssh", "home/.config", "elsewhere/aws", "cargo", "ours/inner"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        std::fs::write(at("cargo/credentials.toml"), "").unwrap();
        std::os::unix::fs::symlink(at("elsewhere/aws"), at("home/.aws")).unwrap();
        std::os::unix::fs::symlink("/dev/null", at("home/.mysql_history")).unwrap();
        let variable = |name: &str| match name {
            "HOME" => Some(at("home").into_os_string()),
            "HISTFILE" => Some("/dev/null".into()),
            "CARGO_HOME" => Some(at("cargo").into_os_string()),
            _ => None,
        };
        let found = existing(&[at("ours"), at("ours/inner"), at("none")], variable);
        for name in ["home/.ssh", "elsewhere/aws", "cargo/credentials.toml", "ours"] {
            assert!(found.contains(&at(name)), "{name}: {found:?}");
        }
        assert!(!found.contains(&at("ours/inner")), "it lies in another: {found:?}");
        assert!(!found.contains(&at("home/.config")) && !found.contains(&at("none")), "{found:?}");
        assert!(!found.contains(&"/dev/null".into()), "every command needs it");
        if Path::new("/etc/shadow").exists() {
            assert!(found.contains(&"/etc/shadow".into()));
        }
    }

    // T43
    #[test]
    fn what_is_secret_in_a_workspace_is_known_by_any_spelling_and_before_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("elsewhere/aws")).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere/aws"), root.join(".aws")).unwrap();
        let home = |name: &str| (name == "HOME").then(|| root.clone().into_os_string());
        let ours = BTreeSet::from([root.join("state"), root.join(".majordomo")]);
        let secrets = Secrets::found(&root, &ours, home);
        for name in [
            ".ssh/id_rsa",
            ".SSH/id_rsa",
            ".netrc",
            "elsewhere/aws/credentials",
            "state",
            "state/rules.toml",
            ".majordomo/x",
            ".gemini/oauth_creds.json",
            ".claude.json",
            ".vault-token",
            ".mysql_history",
            ".local/share/majordomo/server.token",
        ] {
            assert!(secrets.covers(&root.join(name)), "{name}");
        }
        for name in ["", "a", "states", ".local/share", ".majordomo/results/a.txt", ".claude/agents/a.md"] {
            assert!(!secrets.covers(&root.join(name)), "{name}");
        }
        let inside = Secrets::found(&root.join(".ssh"), &ours, home);
        assert!(!inside.covers(&root.join(".ssh/config")), "a workspace in such a place was chosen there");
        assert!(
            Secrets::found(&root.join("state"), &ours, home).covers(&root.join("state/rules.toml")),
            "but not ours"
        );
    }
}
