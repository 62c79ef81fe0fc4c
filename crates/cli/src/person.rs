//! The person at this terminal, as an agent can ask them. One question at a time, in the order in which they come.

use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::Mutex;
use tool::Person;
use view::safe;

/// The person at this terminal.
#[derive(Default)]
pub struct AtTerminal {
    turn: Arc<Mutex<()>>,
}

impl Person for AtTerminal {
    fn ask(&self, who: &str, question: &str, choices: &[String]) -> BoxFuture<'_, Option<String>> {
        let mut text = format!("\n? {} asks: {}\n", safe::line(who, 80), safe::block(question));
        for (number, choice) in choices.iter().enumerate() {
            text.push_str(&format!("  {}. {}\n", number + 1, safe::line(choice, 200)));
        }
        text.push_str("> ");
        let (turn, choices) = (self.turn.clone(), choices.to_vec());
        async move {
            let turn = turn.lock_owned().await;
            let answer = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                ask_terminal(&text)
            });
            let answer = answer.await.ok()??;
            let chosen = answer.trim().parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
            Some(chosen.cloned().unwrap_or_else(|| answer.trim().to_owned())).filter(|answer| !answer.is_empty())
        }
        .boxed()
    }
}

fn ask_terminal(text: &str) -> Option<String> {
    let terminal = std::fs::File::options().read(true).write(true).open("/dev/tty").ok()?;
    (&terminal).write_all(text.as_bytes()).ok()?;
    let mut answer = String::new();
    let read = BufReader::new(&terminal).read_line(&mut answer).ok()?;
    (read > 0).then_some(answer)
}
