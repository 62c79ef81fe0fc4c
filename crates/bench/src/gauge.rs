//! What a process has used: processor time, memory, time that went by. Linux only, like the figures.

use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// What one measurement took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Processor time of the process, all threads, children excluded.
    pub cpu_us: u64,
    /// Time that went by.
    pub wall_us: u64,
    /// Memory of the process at the end.
    pub resident_kb: u64,
}

/// A measurement that goes on.
pub struct Gauge {
    cpu: Duration,
    begun: Instant,
}

impl Gauge {
    /// Begins to measure.
    pub fn begin() -> Self {
        Self { cpu: cpu(), begun: Instant::now() }
    }

    /// What was used since then.
    pub fn end(&self) -> anyhow::Result<Taken> {
        let (cpu, wall) = (cpu().saturating_sub(self.cpu), self.begun.elapsed());
        Ok(Taken { cpu_us: micros(cpu), wall_us: micros(wall), resident_kb: status_kb("self", "VmRSS")? })
    }
}

/// A clock that all processes of the machine share.
pub fn moment_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// A line of a process's status, in kilobytes.
pub fn status_kb(process: &str, line: &str) -> anyhow::Result<u64> {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    find_kb(&status, line).with_context(|| format!("{path} has no {line}"))
}

/// What Linux tells programs in ticks is in hundredths of a second.
const TICK_MS: u64 = 10;

/// The CPU time of another process so far, all threads, children excluded.
pub fn cpu_of(process: &str) -> anyhow::Result<Duration> {
    let path = format!("/proc/{process}/stat");
    let stat = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    let ticks = find_ticks(&stat).with_context(|| format!("{path} has no times"))?;
    Ok(Duration::from_millis(ticks * TICK_MS))
}

/// How many sockets a process has open.
pub fn open_sockets(process: &str) -> anyhow::Result<usize> {
    let path = format!("/proc/{process}/fd");
    let files = std::fs::read_dir(&path).with_context(|| path.clone())?;
    let is_socket = |target: std::path::PathBuf| target.to_string_lossy().starts_with("socket:");
    Ok(files.filter(|file| file.as_ref().is_ok_and(|file| file.path().read_link().is_ok_and(is_socket))).count())
}

/// Lets this process open as many files as it ever may: a connection is one.
pub fn raise_file_limit() -> anyhow::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?)
}

fn find_kb(status: &str, line: &str) -> Option<u64> {
    let found = status.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(':'))?;
    found.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// The ticks that a process has used by itself and in the kernel. Its name may hold anything, and ends with the last parenthesis.
fn find_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut words = after_name.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(user + system)
}

fn cpu() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec.cast_unsigned(), u32::try_from(used.tv_nsec).unwrap_or(0))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_status_is_found_by_its_whole_name() {
        let status = "VmRSSX:\t    9 kB\nVmRSS:\t  1204 kB\nThreads:\t3\n";
        assert_eq!(find_kb(status, "VmRSS"), Some(1204));
        assert_eq!(find_kb(status, "Threads"), None, "it is no size");
        assert_eq!(find_kb(status, "VmHWM"), None);
    }

    #[test]
    fn the_ticks_of_a_process_are_found_whatever_its_name_is() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 120 30 5 6 20 0 1 0 99 1000 10";
        assert_eq!(find_ticks(stat), Some(150));
        assert_eq!(find_ticks("7 (a"), None);
    }
}
