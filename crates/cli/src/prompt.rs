//! The task: from the command line, from stdin, or from both, and the files that it names. An idle stdin is never waited for where a task was given.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;

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

/// The files that a task names as `@path`, each once: what begins a word and is a file. Everything else with an `@` is left as it is.
pub fn files_in(task: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for word in task.split_whitespace().filter_map(|word| word.trim_start_matches(['(', '"', '\'']).strip_prefix('@')) {
        let whole = PathBuf::from(word);
        // A sentence may end behind it.
        let bare = PathBuf::from(word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'']));
        let file = [whole, bare].into_iter().find(|path| !path.as_os_str().is_empty() && path.is_file());
        files.extend(file.filter(|file| !files.contains(file)));
    }
    files
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
