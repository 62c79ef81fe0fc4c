//! A process that writes, and whether it is still alive.
//!
//! On the same host the kernel is asked; for another host only its heartbeat is known. A wrong answer costs a takeover and
//! nothing more, for the epoch keeps the old owner from writing.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fmt, io};

use agent::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// After this long without a heartbeat a process on another host counts as dead.
pub const HEARTBEAT_EXPIRES_MS: u64 = 30_000;

/// The name of a process, unique among all that ever open the store.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessId(Arc<str>);

impl ProcessId {
    /// A process's name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A process that works on threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Its name.
    #[schemars(with = "String")]
    pub id: ProcessId,
    /// Its number on its host.
    pub pid: u32,
    /// When it was started, as its kernel counts; 0 where the kernel does not tell. It tells a process from a later one of the same number.
    pub start_time: u64,
    /// The host it runs on.
    pub host: Arc<str>,
}

impl Process {
    /// This process. The same for as long as it lives.
    pub fn current() -> Process {
        static CURRENT: OnceLock<Process> = OnceLock::new();
        CURRENT
            .get_or_init(|| {
                let pid = std::process::id();
                let start_time = started(pid).ok().flatten().unwrap_or(0);
                let host = this_host();
                let unique = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
                Process { id: ProcessId::new(format!("{host}-{pid}-{unique:x}")), pid, start_time, host }
            })
            .clone()
    }

    /// This process as one more that owns threads: several may be open in it at a time, and each lets go only of its own. The first is
    /// known by the name of [`Process::current`].
    pub fn next() -> Process {
        static OPENED: AtomicU32 = AtomicU32::new(0);
        let current = Self::current();
        match OPENED.fetch_add(1, Ordering::Relaxed) {
            0 => current,
            before => Process { id: ProcessId::new(format!("{}-{}", current.id, before + 1)), ..current },
        }
    }

    /// Whether the process is alive, given its last heartbeat. Others ask the store (`Ownership::living`).
    pub(crate) fn is_alive(&self, beat_at: Time, now: Time) -> bool {
        let is_heard_of = now.since_ms(beat_at) < HEARTBEAT_EXPIRES_MS;
        if self.host != this_host() {
            return is_heard_of;
        }
        match started(self.pid) {
            Ok(Some(start_time)) => self.start_time == 0 || self.start_time == start_time,
            Ok(None) => false,
            // Where the kernel cannot be asked, the heartbeat decides, as for another host.
            Err(_) => is_heard_of,
        }
    }
}

fn this_host() -> Arc<str> {
    rustix::system::uname().nodename().to_string_lossy().into()
}

/// When the process of this number was started; none if there is none, or only a zombie.
#[cfg(target_os = "linux")]
fn started(pid: u32) -> io::Result<Option<u64>> {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => Ok(start_time(&stat)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a process ended before or while it was looked at.
#[cfg(target_os = "linux")]
fn is_gone(error: &io::Error) -> bool {
    let gone = rustix::io::Errno::SRCH.raw_os_error();
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(gone)
}

/// Reads a line of `/proc/<pid>/stat`. The program's name comes second, in brackets, and may itself hold brackets and spaces.
#[cfg(target_os = "linux")]
fn start_time(stat: &str) -> Option<u64> {
    const STATE: usize = 3;
    const START_TIME: usize = 22;
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(START_TIME - STATE - 1)?.parse().ok()
}

/// 0 if the process exists: this kernel does not tell more.
#[cfg(not(target_os = "linux"))]
fn started(pid: u32) -> io::Result<Option<u64>> {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return Ok(None) };
    match rustix::process::test_kill_process(pid) {
        Ok(()) | Err(rustix::io::Errno::PERM) => Ok(Some(0)),
        Err(rustix::io::Errno::SRCH) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_000_000);

    #[test]
    fn this_process_is_alive_however_old_its_heartbeat_is() {
        assert!(Process::current().is_alive(Time(0), NOW));
        assert_eq!(Process::current(), Process::current());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_later_process_of_the_same_number_is_another_one() {
        let current = Process::current();
        let earlier = Process { start_time: current.start_time - 1, ..current };
        assert!(!earlier.is_alive(NOW, NOW));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_has_ended_is_dead_even_before_anybody_waits_for_it() {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = Process { pid: child.id(), start_time: 0, ..Process::current() };
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&child)), ended).unwrap();
        assert!(!process.is_alive(NOW, NOW));
        child.wait().unwrap();
        assert!(!process.is_alive(NOW, NOW));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_start_time_is_found_behind_any_program_name_and_a_zombie_has_none() {
        let fields = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20";
        assert_eq!(start_time(&format!("42 (a ) Z (b) {fields}")), Some(777));
        assert_eq!(start_time(&format!("42 (sh) {}", fields.replacen('S', "Z", 1))), None);
        assert_eq!(start_time("42 (sh"), None);
    }

    #[test]
    fn of_another_host_only_the_heartbeat_is_known() {
        let far = Process { host: "far away".into(), ..Process::current() };
        assert!(far.is_alive(NOW, NOW.plus_ms(HEARTBEAT_EXPIRES_MS - 1)));
        assert!(!far.is_alive(NOW, NOW.plus_ms(HEARTBEAT_EXPIRES_MS)));
    }
}
