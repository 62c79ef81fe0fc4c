//! The program at work, and what it came to.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::PATIENCE;

/// The program at work.
pub struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

/// What the program came to.
#[derive(Debug)]
pub struct Done {
    /// Its exit code; none when it was killed.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// Its stdout.
    pub out: String,
    /// Its stderr.
    pub err: String,
}

impl Running {
    pub(super) fn new(child: Child, out: PathBuf, err: PathBuf) -> Self {
        Self { child, out, err }
    }

    /// Sends a signal to the program, and to nobody else.
    pub fn signal(&self, what: Signal) {
        super::signal(self.child.id().cast_signed(), what);
    }

    /// Kills it as if the machine had: nothing of it runs afterwards, and it had no warning.
    pub fn kill(&mut self) {
        self.child.kill().expect("the program can be killed");
        self.child.wait().expect("the program ends");
    }

    /// What it has said on stderr so far.
    pub fn said(&self) -> String {
        read(&self.err)
    }

    /// What it has printed on stdout so far.
    pub fn printed(&self) -> String {
        read(&self.out)
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.ended().is_some()
    }

    /// Waits for its end.
    pub fn done(mut self) -> Done {
        let begun = Instant::now();
        let status = loop {
            match self.ended() {
                Some(status) => break status,
                None if begun.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
                None => panic!("it does not end; it said: {}", self.said()),
            }
        };
        Done { code: status.code(), signal: status.signal(), out: self.printed(), err: self.said() }
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("the program can be waited for")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended is not there to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Done {
    /// The answer, when the program ended with this code.
    #[track_caller]
    pub fn answer(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "out: {}\nerr: {}", self.out, self.err);
        self.out.trim_end()
    }

    /// Whether nothing but a kill without warning ended it.
    pub fn was_killed(&self) -> bool {
        self.signal == Some(Signal::KILL.as_raw())
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
