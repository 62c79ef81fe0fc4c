//! Tests that cannot show anything on this machine say so: what was not tested must not look tested.
//!
//! No test runner here can skip a test while it runs. So a line is printed, and added to the file that `MAJORDOMO_SKIPPED` names:
//! `cargo xtask test` sets it and prints that file at its end. Where everything is there that a sandbox needs (root, and an installed
//! bubblewrap, as on CI), a missing sandbox is no reason to skip but a failure.
//!
//! `crates/tool/tests` includes this file by its path, for that crate is below this one.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::MetadataExt;

/// Says that a test shows nothing, or less than elsewhere, because no sandbox of this kind works here.
///
/// # Panics
/// Where one must work.
#[track_caller]
pub fn without_sandbox(kind: &str) {
    assert!(
        !(kind == "bubblewrap" && must_have_sandbox()),
        "this is root, and bubblewrap is installed: a sandbox must work here; see `majordomo doctor`"
    );
    skipped(&format!("no sandbox of this kind works on this machine ({kind})"));
}

/// Says that a test, or a part of it, was not run, and why.
pub fn skipped(why: &str) {
    let line = format!("skipped: {}: {why}\n", test());
    eprint!("{line}");
    if let Some(file) = std::env::var_os("MAJORDOMO_SKIPPED") {
        let file = OpenOptions::new().create(true).append(true).open(file);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("what is skipped can be noted");
    }
}

fn must_have_sandbox() -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_installed = std::env::split_paths(&folders).any(|folder| folder.join("bwrap").is_file());
    is_installed && std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// The test that is running.
fn test() -> String {
    let by_runner = std::env::var("NEXTEST_TEST_NAME").ok();
    by_runner.unwrap_or_else(|| std::thread::current().name().unwrap_or("a test").to_owned())
}
