//! Walls without namespaces: a process gives up its own rights with Landlock, for good and for all that it starts.
//!
//! Landlock says what is allowed beneath a folder and takes nothing out of that again. So what may be read is everything
//! *beside* the secrets, folder by folder; names can be listed everywhere. For the same reason it can neither keep a file
//! in a writable workspace as it is, nor hide one there: the first is found out afterwards, the second is refused.
//! A command that may change nothing gets no right to write at all; permissions, times and attributes, which Landlock does
//! not know, are then kept by the filter of system calls.
//! It also keeps processes from looking into those outside, `/proc/*/environ` and `mem` among it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};

use super::plan::{self, Plan};

/// Without the rights of this version a file could be emptied that may not be written (Linux 6.2).
const LEAST: ABI = ABI::V3;

/// Of the devices, those that hold nothing.
const DEVICES: [&str; 8] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"];

/// Of these, the ones that no terminal is behind.
const NULL_DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Whether Landlock works here, tried in a thread that ends with it.
pub(super) fn probe() -> Result<(), String> {
    let tried = std::thread::spawn(|| {
        let rules = Rules { read: vec!["/proc".into()], write: Vec::new(), devices: &NULL_DEVICES };
        rules.restrict()?;
        match File::open("/etc/passwd") {
            Ok(_) => Err("Landlock is there but does not hold".to_owned()),
            Err(_) => Ok(()),
        }
    });
    tried.join().unwrap_or_else(|_| Err("Landlock could not be tried".to_owned()))
}

/// Gives up whatever the plan does not leave to a command. `passing` is the folder for its temporary files.
pub(super) fn restrict(plan: &Plan, passing: &Path) -> Result<(), String> {
    if let Some(inside) = plan.hidden.iter().find(|hidden| hidden.starts_with(&plan.workspace)) {
        return Err(format!("without bubblewrap, {} inside the workspace cannot be hidden", inside.display()));
    }
    let mut hidden = plan.hidden.clone();
    hidden.push("/dev".into());
    let mut read = Vec::new();
    beside(Path::new("/"), &hidden, &mut read);
    match plan.access {
        plan::Access::ReadOnly => Rules { read, write: vec![passing.to_owned()], devices: &NULL_DEVICES },
        plan::Access::Workspace => {
            Rules { read, write: vec![plan.workspace.clone(), passing.to_owned()], devices: &DEVICES }
        }
    }
    .restrict()
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

struct Rules {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    devices: &'static [&'static str],
}

impl Rules {
    fn restrict(&self) -> Result<(), String> {
        match self.apply() {
            Ok(RulesetStatus::NotEnforced) => Err("Landlock is not enabled in this kernel".to_owned()),
            Ok(_) => Ok(()),
            Err(error) => Err(format!("Landlock does not work here: {error}")),
        }
    }

    fn apply(&self) -> Result<RulesetStatus, RulesetError> {
        let look = AccessFs::Execute | AccessFs::ReadFile;
        let all = AccessFs::from_all(ABI::V5);
        let devices: BitFlags<AccessFs> =
            AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev;
        let status = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(LEAST))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(all)?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
            .add_rules(path_beneath_rules(&self.read, look))?
            .add_rules(path_beneath_rules(self.devices, devices))?
            .add_rules(path_beneath_rules(&self.write, all))?
            .restrict_self()?;
        Ok(status.ruleset)
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
