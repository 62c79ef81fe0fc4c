//! A command that goes on in a process of its own: `run --detach`, and `send` where no process drives the thread.
//!
//! The command starts itself again, in a session of its own and without a terminal. The task goes in by stdin; what comes back by stdout is
//! the thread, once it is in the log. From then on the log tells everything. What the process says besides goes into a file of the data
//! folder.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use agent::ThreadId;

use crate::arguments::Output;
use crate::error::Failure;

/// What a detached process says besides.
const SAID: &str = "detached.log";

/// Flags that a detached process does not have.
const OURS: [&str; 2] = ["--detach", "--wait"];

/// Starts this command again as a process of its own, with its task, and says which thread it works on.
pub fn start(data: &Path, task: &str) -> Result<String, Failure> {
    let failed = |what: &str, error: std::io::Error| Failure::failed(format!("{what}: {error}"));
    let made = DirBuilder::new().recursive(true).mode(0o700).create(data);
    made.map_err(|error| failed(&format!("cannot make {}", data.display()), error))?;
    let path = data.join(SAID);
    let log = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(&path);
    let mut log = log.map_err(|error| failed(&format!("cannot write {}", path.display()), error))?;
    let before = log.seek(SeekFrom::End(0)).map_err(|error| failed("cannot read what was said", error))?;
    let program = std::env::current_exe().map_err(|error| failed("this program is not found", error))?;
    let arguments = std::env::args_os().skip(1).filter(|argument| !OURS.iter().any(|ours| argument == ours));
    let said = log.try_clone().map_err(|error| failed("cannot write what is said", error))?;
    let mut process = Command::new(program)
        .args(arguments)
        .arg("--detached")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::from(said))
        .spawn()
        .map_err(|error| failed("no process could be started", error))?;
    if let Some(mut stdin) = process.stdin.take() {
        // A process that has failed already reads nothing, and says why below.
        let _ = stdin.write_all(task.as_bytes());
    }
    let mut thread = String::new();
    if let Some(stdout) = process.stdout.take() {
        BufReader::new(stdout).read_line(&mut thread).map_err(|error| failed("the process cannot be heard", error))?;
    }
    let thread = thread.trim().to_owned();
    if !thread.is_empty() {
        return Ok(thread);
    }
    let ended = process.wait().map_err(|error| failed("the process is lost", error))?;
    let mut words = String::new();
    let read = log.seek(SeekFrom::Start(before)).and_then(|_| log.read_to_string(&mut words));
    read.map_err(|error| failed("cannot read what was said", error))?;
    let words = match words.trim().trim_start_matches("error: ") {
        "" => format!("the process in the background ended before it began: {ended}"),
        words => words.to_owned(),
    };
    Err(Failure::with_code(words, ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// This process is a detached one: it leaves the terminal of the one that started it.
pub fn leave_terminal() {
    // Refused to the leader of a session, which has left already.
    let _ = rustix::process::setsid();
}

/// A detached process shows nothing: the log tells everything.
pub fn silent() -> Output {
    Output { quiet: true, output: Some("/dev/null".into()), ..Output::default() }
}

/// The thread of a detached process is in the log.
pub fn started(thread: &ThreadId) -> Result<(), Failure> {
    crate::out::Result::Stdout.line(thread.as_str())?;
    Ok(())
}
