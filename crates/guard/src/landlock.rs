//! A sandbox without namespaces: a process gives up its own rights with Landlock, for good and for all that it starts.
//!
//! It also keeps processes from looking into those outside, `/proc/*/environ` and `mem` among it.

use std::fs::File;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};
use seccompiler::sock_filter;

use crate::order::Landlock;

/// Without the rights of this version a file could be emptied that may not be written (Linux 6.2).
const LEAST: ABI = ABI::V3;

/// Whether Landlock works here, tried in a thread that ends with it.
pub fn probe() -> Result<(), String> {
    let tried = std::thread::spawn(|| {
        let allowed = |path: &str| vec![PathBuf::from(path)];
        restrict(&Landlock { read: allowed("/proc"), devices: allowed("/dev/null"), ..Landlock::default() })?;
        match File::open("/etc/passwd") {
            Ok(_) => Err("Landlock is there but does not hold".to_owned()),
            Err(_) => Ok(()),
        }
    });
    tried.join().unwrap_or_else(|_| Err("Landlock could not be tried".to_owned()))
}

/// Gives up whatever is not allowed.
pub(crate) fn restrict(allowed: &Landlock) -> Result<(), String> {
    match apply(allowed) {
        Ok(RulesetStatus::NotEnforced) => Err("Landlock is not enabled in this kernel".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("Landlock does not work here: {error}")),
    }
}

/// Refuses the system calls that the filter names.
pub(crate) fn filter(bytes: &[u8]) -> Result<(), String> {
    let step = |step: &[u8; 8]| {
        let [code, more, jt, jf, a, b, c, d] = *step;
        sock_filter { code: u16::from_ne_bytes([code, more]), jt, jf, k: u32::from_ne_bytes([a, b, c, d]) }
    };
    let (steps, rest) = bytes.as_chunks::<8>();
    if steps.is_empty() || !rest.is_empty() {
        return Err("the filter of system calls is damaged".to_owned());
    }
    let program: Vec<sock_filter> = steps.iter().map(step).collect();
    seccompiler::apply_filter(&program).map_err(|error| format!("the filter of system calls is refused: {error}"))
}

fn apply(allowed: &Landlock) -> Result<RulesetStatus, RulesetError> {
    let look = AccessFs::Execute | AccessFs::ReadFile;
    let all = AccessFs::from_all(ABI::V5);
    let devices: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(&allowed.read, look))?
        .add_rules(path_beneath_rules(&allowed.devices, devices))?
        .add_rules(path_beneath_rules(&allowed.write, all))?
        .restrict_self()?;
    Ok(status.ruleset)
}
