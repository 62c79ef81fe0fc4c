//! The person at this terminal. One question at a time, in the order in which they come; one that is no longer asked is given
//! up, so that the next can be asked. What is asked and what an answer means is the business of `consent`.
//!
//! What was typed before a question stood there answers nothing (T22).

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// How often it is looked whether anybody still waits for the answer.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// The person at this terminal.
pub struct AtTerminal {
    device: PathBuf,
    turn: Arc<Mutex<()>>,
    open: Arc<AtomicUsize>,
}

impl AtTerminal {
    /// The person at a terminal of this name.
    pub fn at(device: impl Into<PathBuf>) -> Self {
        Self { device: device.into(), turn: Arc::default(), open: Arc::default() }
    }

    /// Whether the terminal belongs to a question.
    pub fn is_asked(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }

    /// Waits until the terminal is free for a question, which is given up once `over` says why.
    pub async fn take(&self, over: Withdrawal) -> Prompt {
        self.open.fetch_add(1, Ordering::Relaxed);
        let open = Open(self.open.clone());
        let turn = self.turn.clone().lock_owned().await;
        let terminal = File::options().read(true).write(true).open(&self.device).ok();
        if let Some(terminal) = &terminal {
            // Where it cannot be done there is no terminal that holds anything back.
            let _ = tcflush(terminal, QueueSelector::IFlush);
        }
        Prompt { over, _open: open, held: Arc::new(Held { terminal, _turn: turn }) }
    }
}

impl Default for AtTerminal {
    /// The one that this process belongs to.
    fn default() -> Self {
        Self::at("/dev/tty")
    }
}

/// Why a question is no longer asked, once it is not.
#[derive(Clone, Debug, Default)]
pub struct Withdrawal(Arc<OnceLock<String>>);

impl Withdrawal {
    /// From here on it is not asked any more; what was said first holds.
    pub fn end(&self, why: impl Into<String>) {
        let _ = self.0.set(why.into());
    }

    /// Why it is no longer asked; none while it is.
    pub fn why(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

/// The terminal while it belongs to one question. The question is over once this is dropped.
pub struct Prompt {
    over: Withdrawal,
    _open: Open,
    held: Arc<Held>,
}

/// What a person said.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// A line.
    Line(String),
    /// The question is over.
    Withdrawn,
    /// Nobody is there, or has left.
    Nobody,
}

impl Prompt {
    /// Writes words and waits for a line.
    pub async fn ask(&self, text: String) -> Reply {
        let (held, over) = (self.held.clone(), self.over.clone());
        let reply = tokio::task::spawn_blocking(move || match &held.terminal {
            Some(terminal) => read(terminal, &text, &over),
            None => Reply::Nobody,
        });
        reply.await.unwrap_or(Reply::Nobody)
    }

    /// Writes words.
    pub fn say(&self, text: &str) {
        if let Some(mut terminal) = self.held.terminal.as_ref() {
            // Without a reader of the terminal the text is dropped.
            let _ = terminal.write_all(text.as_bytes());
        }
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        self.over.end("the answer is no longer needed");
    }
}

/// Counted among the questions for as long as it is there.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Held by the reader of the terminal; the next question waits until it is dropped.
struct Held {
    terminal: Option<File>,
    _turn: OwnedMutexGuard<()>,
}

fn read(terminal: &File, text: &str, over: &Withdrawal) -> Reply {
    let mut out = terminal;
    if out.write_all(text.as_bytes()).is_err() {
        return Reply::Nobody;
    }
    while over.why().is_none() {
        match poll(&mut [PollFd::new(terminal, PollFlags::IN)], Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => {
                let mut line = String::new();
                // A terminal hands out a line at a time, so that nothing is left behind in the reader.
                return match BufReader::new(terminal).read_line(&mut line) {
                    Ok(1..) => Reply::Line(line),
                    Ok(0) | Err(_) => Reply::Nobody,
                };
            }
            Err(_) => return Reply::Nobody,
        }
    }
    Reply::Withdrawn
}
