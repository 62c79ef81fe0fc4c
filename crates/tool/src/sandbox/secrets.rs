//! What no command may read: keys, tokens and sessions, by the places in which programs are known to keep them.
//!
//! A table is never complete, and needs not be: without a network a command can tell what it has read only to the model,
//! and the keys of our own providers are not in files that it could name. What is ours (state, configuration, the server's
//! token) is added by the caller, who knows where it lies.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
    ".claude/.credentials.json",
    ".codex/auth.json",
    // what was typed, passwords among it
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".psql_history",
    ".python_history",
    ".node_repl_history",
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
    ("XDG_CONFIG_HOME", &["gh", "glab-cli", "gcloud", "git/credentials", "rclone", "op"]),
    ("GNUPGHOME", &[""]),
    ("DOCKER_CONFIG", &["config.json"]),
    ("KUBECONFIG", &[""]),
    ("AWS_SHARED_CREDENTIALS_FILE", &[""]),
    ("AWS_CONFIG_FILE", &[""]),
    ("GOOGLE_APPLICATION_CREDENTIALS", &[""]),
    ("NETRC", &[""]),
    ("NPM_CONFIG_USERCONFIG", &[""]),
];

/// The secrets that exist on this machine, by their real names, together with `ours`.
pub(super) fn existing(ours: &[PathBuf], variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let homes = [variable("HOME").map(PathBuf::from), Some(PathBuf::from("/root"))];
    let homes = homes.into_iter().flatten().filter(|home| home.is_absolute());
    let mut all: Vec<PathBuf> = homes.flat_map(|home| IN_HOME.iter().map(move |name| home.join(name))).collect();
    all.extend(OF_MACHINE.iter().map(PathBuf::from));
    for (name, beneath) in MOVED_BY {
        let Some(place) = variable(name).map(PathBuf::from).filter(|place| place.is_absolute()) else { continue };
        all.extend(beneath.iter().map(|name| if name.is_empty() { place.clone() } else { place.join(name) }));
    }
    all.extend_from_slice(ours);
    outermost(all.iter().filter_map(|path| path.canonicalize().ok()).filter(|path| path != Path::new("/")).collect())
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
        let variable = |name: &str| match name {
            "HOME" => Some(at("home").into_os_string()),
            "CARGO_HOME" => Some(at("cargo").into_os_string()),
            _ => None,
        };
        let found = existing(&[at("ours"), at("ours/inner"), at("none")], variable);
        for name in ["home/.ssh", "elsewhere/aws", "cargo/credentials.toml", "ours"] {
            assert!(found.contains(&at(name)), "{name}: {found:?}");
        }
        assert!(!found.contains(&at("ours/inner")), "it lies in another: {found:?}");
        assert!(!found.contains(&at("home/.config")) && !found.contains(&at("none")), "{found:?}");
        if Path::new("/etc/shadow").exists() {
            assert!(found.contains(&"/etc/shadow".into()));
        }
    }
}
