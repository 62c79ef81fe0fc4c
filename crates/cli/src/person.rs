//! The person at this terminal, as an agent can ask them. One question at a time, in the order in which they come; one that
//! nobody waits for any more is given up, so that the next can be asked.

use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::Mutex;
use tool::Person;
use view::safe;

/// How often it is looked whether anybody still waits for the answer.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// The person at this terminal.
#[derive(Default)]
pub struct AtTerminal {
    turn: Arc<Mutex<()>>,
    open: Arc<AtomicUsize>,
}

impl AtTerminal {
    /// Whether the terminal belongs to a question.
    pub fn is_asked(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }
}

impl Person for AtTerminal {
    fn ask(&self, who: &str, question: &str, choices: &[String]) -> BoxFuture<'_, Option<String>> {
        let mut text = format!("\n? {} asks: {}\n", safe::line(who, 80), safe::block(question));
        for (number, choice) in choices.iter().enumerate() {
            text.push_str(&format!("  {}. {}\n", number + 1, safe::line(choice, 200)));
        }
        text.push_str("> ");
        let (turn, choices, open) = (self.turn.clone(), choices.to_vec(), self.open.clone());
        async move {
            let question = Question::open(open);
            let turn = turn.lock_owned().await;
            let is_over = question.is_over.clone();
            let answer = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                ask_terminal(&text, &is_over)
            });
            let answer = answer.await.ok()??;
            let chosen = answer.trim().parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
            Some(chosen.cloned().unwrap_or_else(|| answer.trim().to_owned())).filter(|answer| !answer.is_empty())
        }
        .boxed()
    }
}

/// A question that somebody waits for; over once it is dropped.
struct Question {
    open: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Question {
    fn open(open: Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self { open, is_over: Arc::default() }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

fn ask_terminal(text: &str, is_over: &AtomicBool) -> Option<String> {
    let terminal = std::fs::File::options().read(true).write(true).open("/dev/tty").ok()?;
    (&terminal).write_all(text.as_bytes()).ok()?;
    while !is_over.load(Ordering::Relaxed) {
        match poll(&mut [PollFd::new(&terminal, PollFlags::IN)], Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => {
                let mut answer = String::new();
                let read = BufReader::new(&terminal).read_line(&mut answer).ok()?;
                return (read > 0).then_some(answer);
            }
            Err(_) => return None,
        }
    }
    None
}
