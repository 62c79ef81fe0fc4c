//! The environment of a command: what a build needs to find its tools, and nothing that opens a door.
//!
//! A list of names that are let through, not of names that are held back: a key whose variable nobody thought of stays
//! here. What changes how programs are loaded or started (`LD_*`, `BASH_ENV`, `GIT_SSH_COMMAND`, `NODE_OPTIONS`) is not on
//! the list either.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

const LET_THROUGH: [&str; 35] = [
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "JAVA_HOME",
    "MAVEN_HOME",
    "GRADLE_USER_HOME",
    "NVM_DIR",
    "PNPM_HOME",
    "BUN_INSTALL",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_CACHE_DIR",
    "RBENV_ROOT",
    "NIX_PROFILES",
];

/// Proxies are needed where there is no other way out, and are let through unless they carry a password.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

/// Nobody is at a terminal: no colours, no pagers, no questions.
const SET: [(&str, &str); 5] =
    [("TERM", "dumb"), ("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What a command in this workspace gets of these variables.
pub(super) fn clean(
    variables: impl Iterator<Item = (OsString, OsString)>,
    workspace: &Path,
) -> Vec<(OsString, OsString)> {
    let mut path = OsString::from(DEFAULT_PATH);
    let mut kept = Vec::new();
    for (name, value) in variables {
        let Some(plain) = name.to_str() else { continue };
        if plain == "PATH" {
            path = search_path(&value, &[workspace]);
        } else if LET_THROUGH.contains(&plain)
            || plain.starts_with("LC_")
            || (PROXIES.contains(&&*plain.to_ascii_uppercase()) && !value.as_encoded_bytes().contains(&b'@'))
        {
            kept.push((name, value));
        }
    }
    kept.push(("PATH".into(), path));
    kept.extend(SET.map(|(name, value)| (name.into(), value.into())));
    kept
}

/// What a program of another vendor gets that runs beside the work: where programs, the home folder and temporary files are, and the
/// language. Everything else is named for it.
const FOR_PROGRAMS: [&str; 3] = ["HOME", "LANG", "TMPDIR"];

/// The environment of a program that runs beside the work in this workspace. A variable that is `named` for it takes the place of one
/// of ours.
pub(super) fn for_program(
    variables: impl Iterator<Item = (OsString, OsString)>,
    workspace: &Path,
    named: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let mut kept = vec![("PATH".into(), OsString::from(DEFAULT_PATH))];
    for (name, value) in variables {
        match name.to_str() {
            Some("PATH") => kept[0].1 = search_path(&value, &[workspace]),
            Some(plain) if FOR_PROGRAMS.contains(&plain) => kept.push((name, value)),
            Some(_) | None => {}
        }
    }
    kept.retain(|(name, _)| named.iter().all(|(other, _)| other != name));
    kept.extend(named.iter().cloned());
    kept
}

/// A search path without `.` and its like, and without these folders, those of a workspace: what a program's name means must depend
/// neither on the folder that it is said in nor on what a command has put there.
pub fn search_path(path: &(impl AsRef<OsStr> + ?Sized), folders: &[&Path]) -> OsString {
    let is_in_one = |part: &Path| folders.iter().any(|folder| part.starts_with(folder));
    let is_inside = |part: &PathBuf| is_in_one(part) || part.canonicalize().is_ok_and(|real| is_in_one(&real));
    let kept = std::env::split_paths(path).filter(|part| part.is_absolute() && !is_inside(part));
    std::env::join_paths(kept).unwrap_or_else(|_| DEFAULT_PATH.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(variables: &[(&str, &str)]) -> Vec<(String, String)> {
        let given = variables.iter().map(|(name, value)| (name.into(), value.into()));
        let text = |text: OsString| text.into_string().unwrap();
        clean(given, Path::new("/work")).into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    // T32, T37
    #[test]
    fn keys_and_variables_that_change_how_programs_start_are_not_inherited() {
        let held_back = [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "CARGO_REGISTRY_TOKEN",
            "PGPASSWORD",
            "DATABASE_URL",
            "SSH_AUTH_SOCK",
            "MAJORDOMO_DATA",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "BASH_ENV",
            "ENV",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_GLOBAL",
            "NODE_OPTIONS",
            "PYTHONSTARTUP",
            "PERL5OPT",
            "RUSTC_WRAPPER",
        ];
        let given: Vec<_> = held_back.iter().map(|name| (*name, "canary")).chain([("HOME", "/home/a")]).collect();
        let kept = cleaned(&given);
        assert!(kept.iter().all(|(_, value)| value != "canary"), "{kept:?}");
        assert!(kept.contains(&("HOME".into(), "/home/a".into())));
        assert!(kept.contains(&("TERM".into(), "dumb".into())));
    }

    // T32
    #[test]
    fn programs_are_not_searched_in_the_folder_that_happens_to_be_current() {
        let path = |value: &str| cleaned(&[("PATH", value)]).into_iter().find(|(name, _)| name == "PATH").unwrap().1;
        assert_eq!(path(".:/usr/bin::bin:/bin"), "/usr/bin:/bin");
        assert_eq!(path("/work/bin:/usr/bin:/work:/worker/bin"), "/usr/bin:/worker/bin", "nor in the workspace");
        assert_eq!(cleaned(&[])[0], ("PATH".into(), DEFAULT_PATH.into()));
    }

    #[test]
    fn a_program_beside_the_work_gets_four_variables_and_those_that_are_named_for_it() {
        let given =
            [("HOME", "/home/a"), ("USER", "a"), ("CARGO_HOME", "/c"), ("OPENAI_API_KEY", "canary"), ("LANG", "C")];
        let given = given.into_iter().map(|(name, value)| (name.into(), value.into()));
        let named = [("TOKEN".into(), "t".into()), ("LANG".into(), "de".into())];
        let mut kept = for_program(given, Path::new("/work"), &named);
        kept.sort();
        let expected = [("HOME", "/home/a"), ("LANG", "de"), ("PATH", DEFAULT_PATH), ("TOKEN", "t")];
        assert_eq!(kept, expected.map(|(name, value)| (name.into(), value.into())));
    }

    #[test]
    fn a_proxy_with_a_password_stays_here() {
        let kept = cleaned(&[("https_proxy", "http://me:canary@proxy:1"), ("HTTP_PROXY", "http://proxy:1")]);
        assert!(kept.iter().all(|(name, _)| name != "https_proxy"));
        assert!(kept.contains(&("HTTP_PROXY".into(), "http://proxy:1".into())));
    }
}
