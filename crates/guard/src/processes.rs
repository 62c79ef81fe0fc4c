//! The processes that a command has started, read from `/proc`, and their end.
//!
//! A process is found by descent, or by a mark in its environment that it has inherited: the first holds while a subreaper
//! keeps orphans in the family, the second where there is none. A process number can be given to another process between a
//! look and a signal, so that a signal is sent through a handle whose start time has been compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal};

/// For processes without a sandbox.
pub fn no_sandbox(_: &ProcessInfo) -> bool {
    false
}

/// The variable that marks a command's processes.
pub const MARK: &str = "MAJORDOMO_COMMAND";

/// Between asking to end and ending.
const GRACE: Duration = Duration::from_millis(300);
/// A process that is left after this cannot be ended: it is another user's, or stuck in the kernel.
const PATIENCE: Duration = Duration::from_millis(1300);
/// So many strokes are enough for everybody who can be ended, however slow a busy machine makes them. A guard cannot wait for
/// them: it has to answer in time.
pub const STROKES: u32 = 30;
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A live process.
#[derive(Clone, Copy, Debug)]
pub struct ProcessInfo {
    /// Its number.
    pub pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    start: u64,
}

/// How many were ended, and how many could not be.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndedCount {
    /// How many were ended.
    pub ended: usize,
    /// How many could not be.
    pub left: usize,
}

/// Ends every process that `find` finds, again and again until none is left: first by asking, then by killing.
/// `leader` is the process whose group they were started in. A process for which `is_sandbox_process` is true holds the
/// others: not asked, not counted, but killed like them. No process is given up before so many strokes. `pause` waits
/// between two looks, at most that long.
pub fn end(
    leader: i32,
    least_strokes: u32,
    is_sandbox_process: impl Fn(&ProcessInfo) -> bool,
    find: impl Fn() -> Option<Vec<ProcessInfo>>,
    pause: impl Fn(Duration),
) -> EndedCount {
    let begun = Instant::now();
    let our_session = read(std::process::id().cast_signed()).map(|us| us.session);
    let mut known = BTreeSet::new();
    let mut strokes = 0;
    while let Some(found) = find() {
        let elapsed = begun.elapsed();
        if elapsed > PATIENCE && strokes >= least_strokes {
            let left = found.iter().filter(|process| !is_sandbox_process(process)).count();
            return EndedCount { ended: known.len().saturating_sub(left), left };
        }
        for process in found.iter().filter(|process| !is_sandbox_process(process)) {
            if known.insert(process.pid) && elapsed < GRACE {
                process.signal(Signal::TERM);
            }
        }
        if elapsed >= GRACE {
            strokes += 1;
            // A whole group dies at one stroke, however fast it forks. Only groups that the family has made are hit: a process
            // may have joined one that is not, but only in the session that it was born in.
            let is_theirs = |process: &&ProcessInfo| {
                process.group == leader
                    || known.contains(&process.group)
                    || our_session.is_some_and(|ours| process.session != ours)
            };
            let groups: BTreeSet<_> = found.iter().filter(is_theirs).map(|process| process.group).collect();
            groups.into_iter().for_each(kill_group);
            found.iter().for_each(|process| process.signal(Signal::KILL));
        }
        pause(LOOK_EVERY);
    }
    EndedCount { ended: known.len(), left: 0 }
}

/// What a look finds; none if a second one finds no process either. `/proc` is not read in one moment, and a process that is
/// born to a dying one can be missed by a single look.
pub fn unless_gone(look: impl Fn() -> Vec<ProcessInfo>) -> Option<Vec<ProcessInfo>> {
    let found = look();
    let found = if found.is_empty() { look() } else { found };
    (!found.is_empty()).then_some(found)
}

/// A process and everyone who descends from it.
pub fn below(root: i32) -> Vec<ProcessInfo> {
    let everyone = everyone();
    let mut children: BTreeMap<i32, Vec<ProcessInfo>> = BTreeMap::new();
    for process in everyone.values() {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut all: Vec<ProcessInfo> = everyone.get(&root).copied().into_iter().collect();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for process in children.get(&parent).into_iter().flatten() {
            all.push(*process);
            parents.push(process.pid);
        }
    }
    all
}

/// Everyone whose environment carries this mark.
pub fn marked(mark: &str) -> Vec<ProcessInfo> {
    let variable = format!("{MARK}={mark}");
    let carries = |process: &ProcessInfo| {
        let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    };
    everyone().into_values().filter(carries).collect()
}

/// Kills a process group at once.
pub fn kill_group(group: i32) {
    if let Some(group) = Pid::from_raw(group).filter(|_| group > 1) {
        // It may be gone already, which is what was wanted.
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

impl ProcessInfo {
    fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        // A process that is gone needs no signal; one that may not be signalled is counted as left.
        let _ = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) if read(self.pid).is_some_and(|process| process.start == self.start) => {
                rustix::process::pidfd_send_signal(handle, signal)
            }
            Ok(_) => Ok(()),
            Err(rustix::io::Errno::NOSYS) => rustix::process::kill_process(pid, signal),
            Err(gone) => Err(gone),
        };
    }
}

/// Every live process that can be seen.
fn everyone() -> BTreeMap<i32, ProcessInfo> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, read(pid)?))).collect()
}

/// Whether a process of this number runs, as `/proc` tells; one that has ended and only waits to be noticed does not.
pub fn is_running(pid: i32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => parse(pid, &stat).is_some(),
        // If this cannot be found out, the process is taken to run.
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

fn read(pid: i32) -> Option<ProcessInfo> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// A line of `/proc/<pid>/stat`; none for a process that has ended and only waits to be noticed.
fn parse(pid: i32, stat: &str) -> Option<ProcessInfo> {
    // The name stands in brackets and may hold anything, brackets too; what follows the last one is well formed.
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i64>().ok());
    let threads = number(17)?;
    // A process whose first thread has left looks dead while others of its threads run on.
    if matches!(*fields.first()?, "Z" | "X") && threads <= 1 {
        return None;
    }
    let small = |at| number(at).and_then(|number| i32::try_from(number).ok());
    let start = fields.get(19)?.parse().ok()?;
    Some(ProcessInfo { pid, parent: small(1)?, group: small(2)?, session: small(3)?, start })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_confuse_the_reader() {
        let line = "42 (a) Z (b) S 7 40 39 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9876 0 0";
        let process = parse(42, line).unwrap();
        assert_eq!((process.pid, process.parent, process.group, process.session, process.start), (42, 7, 40, 39, 9876));
    }

    #[test]
    fn the_dead_are_passed_over_but_not_a_process_whose_first_thread_has_left() {
        let line =
            |state: &str, threads: u32| format!("42 (x) {state} 7 40 40 0 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 9 0 0");
        assert!(parse(42, &line("Z", 1)).is_none());
        assert!(parse(42, &line("Z", 2)).is_some());
        assert!(parse(42, "").is_none());
    }

    #[test]
    fn we_descend_from_our_parent() {
        let us = std::process::id().cast_signed();
        let parent = read(us).unwrap().parent;
        assert!(below(parent).iter().any(|process| process.pid == us));
    }
}
