//! The task: from the command line, from stdin, or from both. An idle stdin is never waited for where a task was given.

use std::io::{self, IsTerminal, Read};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::Failure;

/// How long to wait for the first byte of piped input.
const FIRST_BYTE: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };

/// The task as the agent is given it.
pub fn read(argument: Option<&str>) -> Result<String, Failure> {
    let task = match argument {
        Some("-") => whole_stdin()?,
        Some(task) => {
            let piped = if io::stdin().is_terminal() || !has_input() { String::new() } else { whole_stdin()? };
            if piped.trim().is_empty() { task.to_owned() } else { format!("{task}\n\n<stdin>\n{piped}\n</stdin>") }
        }
        None if io::stdin().is_terminal() => {
            return Err(Failure::usage("no task given: majordomo run \"…\", or - to read it from stdin"));
        }
        None => whole_stdin()?,
    };
    if task.trim().is_empty() {
        return Err(Failure::usage("the task is empty"));
    }
    Ok(task)
}

/// The task of a process that was started with it.
pub fn piped() -> Result<String, Failure> {
    whole_stdin()
}

fn has_input() -> bool {
    let stdin = io::stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
    matches!(poll(&mut ready, Some(&FIRST_BYTE)), Ok(count) if count > 0) && ready[0].revents().contains(PollFlags::IN)
}

fn whole_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::failed(format!("cannot read stdin: {error}")))?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
