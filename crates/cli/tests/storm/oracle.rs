//! What a command really does: it is run in a throw-away copy, without any sandbox, and the copy is looked at.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::site::{differences, fill, state, write};

/// A folder that commands are tried in.
pub struct Copy {
    pattern: tempfile::TempDir,
}

impl Copy {
    pub fn new() -> Self {
        let pattern = tempfile::tempdir().expect("a passing folder");
        fill(pattern.path());
        write(pattern.path(), "evil.sh", "#!/bin/sh\ntouch made-by-evil\n");
        Self { pattern }
    }

    /// What a command changes, a line each.
    pub fn changes(&self, command: &str) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a passing folder");
        let root = folder.path().join("work");
        copy(self.pattern.path(), &root);
        let before = state(&root);
        let mut shell = Command::new("timeout");
        shell.args(["5", "bash", "-c", command]).current_dir(&root).env("HOME", folder.path());
        shell.env("GIT_OPTIONAL_LOCKS", "0");
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.status().expect("a shell");
        differences(&before, &state(&root))
    }
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-a").args([from, to]).status().expect("cp");
    assert!(done.success());
}
