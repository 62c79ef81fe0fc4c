//! Walls without namespaces: a process gives up its own rights with Landlock, for good and for all that it starts.
//!
//! Landlock says what is allowed beneath a folder and takes nothing out of that again. So what may be read is everything
//! *beside* the secrets, folder by folder; names can be listed everywhere. For the same reason it can neither keep a file
//! in a writable workspace as it is, nor hide one there: the first is found out afterwards, the second is refused.
//! A command that may change nothing gets no right to write at all; permissions, times and attributes, which Landlock does
//! not know, are then kept by the filter of system calls.
//!
//! What is allowed is listed here; the guard gives up the rest.

use std::fs;
use std::path::{Path, PathBuf};

use guard::order::Landlock;

use super::plan::{Access, Plan};

/// The devices that hold nothing, and the one that makes new terminals. The terminals themselves are not among them: a command would write on
/// the screens of the user, and read what is typed there, an approval or a password. Landlock cannot tell a new one from those, so that only a
/// program that is handed the other end of its own by the kernel (`TIOCGPTPEER`) has one.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx"];

/// Of these, the ones that no terminal is behind.
const NULL_DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What the plan leaves to a command.
pub(super) fn allowed(plan: &Plan) -> Result<Landlock, String> {
    if let Some(inside) = plan.hidden.iter().find(|hidden| hidden.starts_with(&plan.workspace)) {
        return Err(format!("without bubblewrap, {} inside the workspace cannot be hidden", inside.display()));
    }
    let mut hidden = plan.hidden.clone();
    hidden.push("/dev".into());
    let mut read = Vec::new();
    beside(Path::new("/"), &hidden, &mut read);
    let (mut write, devices): (_, &[&str]) = match plan.access {
        Access::ReadOnly => (Vec::new(), &NULL_DEVICES),
        Access::Workspace => (vec![plan.workspace.clone()], &DEVICES),
    };
    write.extend(plan.cache.iter().map(|cache| cache.folder.clone()));
    let devices = devices.iter().map(PathBuf::from).collect();
    Ok(Landlock { read, write, devices, ..Landlock::default() })
}

/// Everything at or beneath a folder that is not hidden, in as few places as possible. Links are left out: what they lead
/// to is reached by its own name, or not at all.
fn beside(place: &Path, hidden: &[PathBuf], found: &mut Vec<PathBuf>) {
    if hidden.iter().any(|hidden| hidden == place) {
        return;
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(place)) {
        return found.push(place.to_owned());
    }
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            beside(&entry.path(), hidden, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T43
    #[test]
    fn everything_beside_a_secret_is_named_and_no_link_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["home/.ssh", "home/src/deep", "usr/bin"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("home/.netrc"), "").unwrap();
        fs::write(at("home/notes"), "").unwrap();
        std::os::unix::fs::symlink(at("home/.ssh"), at("home/link")).unwrap();
        let mut found = Vec::new();
        beside(folder.path(), &[at("home/.ssh"), at("home/.netrc")], &mut found);
        found.sort();
        assert_eq!(found, [at("home/notes"), at("home/src"), at("usr")]);
    }
}
