//! A device that fails: reading, writing, flushing and truncating what the program keeps comes back with an error for a while.
//!
//! The errors are made between the program and libc (`device.c`), so that everything above is the real thing.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::place::{ANSWER, Place, answers, fails, frames, until_says};

/// Stands between a program and its files.
pub struct Device(TempDir);

impl Device {
    /// A device that works.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a passing folder");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/device.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-Wall", "-Werror", source, "-o"]).arg(folder.path().join("device.so"));
        assert!(compiler.status().expect("there is a C compiler").success());
        Self(folder)
    }

    /// What puts it between a program and its files.
    pub fn variables(&self) -> [(String, String); 2] {
        [("LD_PRELOAD", self.path("device.so")), ("DEVICE", self.path("wish"))]
            .map(|(name, path)| (name.to_owned(), path.display().to_string()))
    }

    /// Has a call fail on every file whose path holds `part`, or ends with it where a `$` stands behind it.
    pub fn fail(&self, call: &str, error: Errno, part: &str) {
        self.wish(&format!("{call} {} {part}\n", error.raw_os_error()));
    }

    /// Has a call never come back on every such file.
    pub fn hang(&self, call: &str, part: &str) {
        self.wish(&format!("{call} -1 {part}\n"));
    }

    /// Has it work again.
    pub fn heal(&self) {
        fs::remove_file(self.path("wish")).expect("it failed before");
    }

    /// What became of calls on the database, in order: the call, the file, and what it failed with, or 0.
    fn seen(&self) -> Vec<String> {
        let seen = fs::read_to_string(self.path("wish.seen")).unwrap_or_default();
        seen.lines().map(str::to_owned).collect()
    }

    fn wish(&self, words: &str) {
        let draft = self.path("draft");
        fs::write(&draft, words).expect("a file");
        fs::rename(draft, self.path("wish")).expect("a wish is there at once");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

const FULL: &str = "no space left for the database";
const UNREACHABLE: &str = "the database cannot be reached: disk I/O error";
/// What can fail while a run is under way, and how it is told.
const FAULTS: [(&str, Errno, &str); 4] = [
    ("write", Errno::IO, UNREACHABLE),
    ("write", Errno::NOSPC, FULL),
    ("fsync", Errno::IO, UNREACHABLE),
    ("fsync", Errno::NOSPC, UNREACHABLE),
];
const LOG: &str = "majordomo.db-wal";

#[test]
fn a_run_whose_device_fails_says_why_it_waits_and_goes_on_when_it_works_again() {
    // F8
    let device = Device::new();
    for (call, error, told) in FAULTS {
        let place = Place::new().with(device.variables());
        let mut run = place.waiting_with(&["--jsonl"]);
        let before = place.log();
        device.fail(call, error, LOG);
        place.go();
        until_says(&mut run, told);
        place.kept(&run.printed());
        assert_eq!(place.log()[..before.len()], before);
        device.heal();
        let done = run.done();
        assert_eq!(done.code, Some(0), "{call} {error}: {}", done.err);
        assert!(!done.err.contains("panicked"), "{}", done.err);
        assert_eq!(frames(&done.out).last().map(|last| last["answer"] == ANSWER), Some(true), "{}", done.out);
        place.kept(&done.out);
        place.sound();
        assert_eq!(place.log()[..before.len()], before);
        assert_eq!(place.begun(), 1, "nothing is done twice");
    }
}

#[test]
fn a_run_that_ended_on_a_failing_device_is_resumed_when_it_works_again() {
    // F8, F1, F45
    let device = Device::new();
    for (nth, (call, error, told)) in FAULTS.into_iter().enumerate() {
        let place = Place::new().with(device.variables());
        let mut run = place.waiting_with(&["--jsonl"]);
        let thread = place.log()[0].thread.to_string();
        device.fail(call, error, LOG);
        place.go();
        until_says(&mut run, told);
        let shown = if nth % 2 == 0 {
            run.kill();
            run.printed()
        } else {
            run.signal(Signal::TERM);
            let done = run.done();
            assert_eq!(done.code, Some(143), "{}", done.err);
            done.out
        };
        fails(&place.call(&["thread", "resume", &thread]), 1, &[told]);
        device.heal();
        place.kept(&shown);
        answers(&place.call(&["thread", "resume", &thread]), 0, ANSWER);
        place.kept(&shown);
        place.sound();
        assert_eq!(place.begun(), 1, "nothing is done twice");
    }
}

#[test]
fn what_cannot_be_read_for_a_while_is_told_and_is_there_afterwards() {
    // F8
    let device = Device::new();
    let place = Place::new().with(device.variables());
    let mut run = place.waiting_with(&["--jsonl"]);
    let thread = place.log()[0].thread.to_string();
    run.kill();
    let shown = run.printed();
    device.fail("read", Errno::IO, "majordomo.db");
    for command in [&["thread", "resume", &thread][..], &["thread", "ls"], &["thread", "show", &thread]] {
        fails(&place.call(command), 1, &["the database cannot be reached"]);
    }
    device.heal();
    place.kept(&shown);
    place.go();
    answers(&place.call(&["thread", "resume", &thread]), 0, ANSWER);
    place.kept(&shown);
    place.sound();
}

#[test]
fn a_run_that_a_failing_device_keeps_from_beginning_is_not_begun() {
    // F8
    let device = Device::new();
    for (call, error, told) in FAULTS {
        let place = Place::new().with(device.variables());
        place.go();
        device.fail(call, error, "majordomo.db");
        fails(&place.wait().done(), 1, &[told]);
        assert_eq!(place.begun(), 0);
        device.heal();
        answers(&place.wait().done(), 0, ANSWER);
        assert_eq!(place.begun(), 1);
        place.sound();
    }
}

#[test]
fn after_a_failed_fsync_the_log_is_not_added_to_before_what_it_holds_is_safe_elsewhere() {
    // F8: the system may have dropped what it could not flush, and says so only once.
    let device = Device::new();
    let place = Place::new().with(device.variables());
    let mut run = place.waiting();
    device.fail("fsync", Errno::IO, LOG);
    place.go();
    until_says(&mut run, UNREACHABLE);
    device.heal();
    answers(&run.done(), 0, ANSWER);
    let seen = device.seen();
    let failed = seen.iter().position(|line| *line == format!("fsync {LOG} 5")).expect("an fsync failed");
    let after = |line: &str| seen[failed..].iter().position(|seen| seen == line).unwrap_or(usize::MAX);
    let (folded, cut) = (after("fsync majordomo.db 0"), after(&format!("truncate {LOG} 0")));
    let added = after(&format!("write {LOG} 0"));
    assert!(folded < cut && cut < added, "{:?}", &seen[failed..]);
}

#[test]
fn a_log_that_cannot_be_folded_into_the_database_stays_and_nobody_waits_for_it() {
    // F8
    let device = Device::new();
    for (call, error) in [("write", Errno::IO), ("write", Errno::NOSPC), ("fsync", Errno::IO)] {
        let place = Place::new().with(device.variables());
        let run = place.waiting();
        device.fail(call, error, "majordomo.db$");
        place.go();
        answers(&run.done(), 0, ANSWER);
        assert!(place.database("-wal").exists(), "it was not folded: {:?}", device.seen());
        let kept = place.log();
        device.heal();
        let shown = place.call(&["thread", "show", kept[0].thread.as_str()]);
        assert!(shown.code == Some(0) && shown.out.contains(ANSWER), "{shown:?}");
        assert_eq!(place.log(), kept);
        place.sound();
    }
}
