//! Whether the mounts of a sandbox are the ones that were wanted.
//!
//! Bubblewrap is told paths, and resolves them again when it mounts. Another command that runs in the same workspace could have
//! put a link in the place of a folder meanwhile, and the mount would lead out of the workspace. So the mounts are compared, by
//! where they really lead, before the command may begin.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Pid;

/// Mounts that are not there by then are not coming.
const TIME: Duration = Duration::from_secs(5);

/// Until the first look at the mounts. Each later one waits half as long again, up to the most: on a busy machine bubblewrap
/// takes long, and looks would take its time.
const FIRST_LOOK: Duration = Duration::from_micros(700);
const MOST_WAIT: Duration = Duration::from_millis(10);

/// Waits until the namespace of a process is complete, and checks that every one of these paths, which were mounted in the
/// workspace, leads to itself.
pub(crate) fn check(first: Pid, workspace: &Path, mounted: &[PathBuf]) -> Result<(), String> {
    if mounted.is_empty() {
        return Ok(());
    }
    let begun = Instant::now();
    let table = format!("/proc/{}/mountinfo", first.as_raw_nonzero());
    let mut wait = FIRST_LOOK;
    loop {
        // Each look keeps the mounts from being made for a moment.
        std::thread::sleep(wait);
        wait = (wait * 3 / 2).min(MOST_WAIT);
        // A process that has ended has none, and the startup tells why.
        let Ok(text) = std::fs::read(&table) else { return Ok(()) };
        let mounts: Vec<Mount> = text.split(|byte| *byte == b'\n').filter_map(Mount::read).collect();
        // Before it is complete, everything is mounted elsewhere.
        if mounts.iter().any(|mount| mount.at == workspace) {
            return lead_to_themselves(&mounts, workspace, mounted);
        }
        // One that is ending has none either.
        if mounts.is_empty() {
            return Ok(());
        }
        if begun.elapsed() > TIME {
            return Err("its mounts were not complete in time".to_owned());
        }
    }
}

/// One line of the kernel's table.
#[derive(Debug)]
struct Mount {
    device: Vec<u8>,
    /// The folder of the file system that is mounted.
    leads_to: PathBuf,
    /// Where it is mounted.
    at: PathBuf,
}

impl Mount {
    fn read(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        let device = fields.next()?.to_owned();
        let (leads_to, at) = (plain(fields.next()?), plain(fields.next()?));
        Some(Self { device, leads_to, at })
    }
}

/// A path of the table: spaces, tabs, new lines and backslashes stand as three digits.
fn plain(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| *first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(std::ffi::OsStr::from_bytes(&bytes))
}

fn lead_to_themselves(mounts: &[Mount], workspace: &Path, mounted: &[PathBuf]) -> Result<(), String> {
    let at = |path: &Path| mounts.iter().rfind(|mount| mount.at == path);
    let Some(outer) = at(workspace) else { return Ok(()) };
    for path in mounted {
        let Ok(inside) = path.strip_prefix(workspace) else { continue };
        let is_itself = |mount: &Mount| mount.device == outer.device && mount.leads_to == outer.leads_to.join(inside);
        if !at(path).is_some_and(is_itself) {
            return Err(format!("{} changed while the sandbox was built, or is a mount of its own", path.display()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // T42
    #[test]
    fn a_mount_that_leads_elsewhere_is_noticed() {
        let workspace = Path::new("/home/a b/work");
        let mounted = ["/home/a b/work/sub/.git", "/home/a b/work/.envrc"].map(PathBuf::from);
        let table = |git: &str, envrc: &str| {
            let lines = [
                "1 0 8:1 / / ro - ext4 x rw",
                r"2 1 8:1 /home/a\040b/work /home/a\040b/work rw - ext4 x rw",
                git,
                envrc,
            ];
            lines.map(|line| Mount::read(line.as_bytes()).unwrap())
        };
        let git = r"3 2 8:1 /home/a\040b/work/sub/.git /home/a\040b/work/sub/.git rw - ext4 x rw";
        let envrc = r"4 2 8:1 /home/a\040b/work/.envrc /home/a\040b/work/.envrc ro - ext4 x rw";
        assert_eq!(lead_to_themselves(&table(git, envrc), workspace, &mounted), Ok(()));
        for (git, envrc) in [
            (r"3 2 8:1 /home/a\040b/other/.git /home/a\040b/work/sub/.git rw - ext4 x rw", envrc),
            (r"3 2 8:1 /home/a\040b/other/.git /home/a\040b/other/.git rw - ext4 x rw", envrc),
            (r"3 2 8:2 /home/a\040b/work/sub/.git /home/a\040b/work/sub/.git rw - ext4 x rw", envrc),
            (git, r"4 2 8:1 /etc/passwd /home/a\040b/work/.envrc ro - ext4 x rw"),
        ] {
            assert!(lead_to_themselves(&table(git, envrc), workspace, &mounted).is_err(), "{git} {envrc}");
        }
    }
}
