//! The end of what each agent says at this moment, and of what its tool prints: for a row that has room for a few words.

use std::collections::BTreeMap;

use agent::{Event, ThreadId};

use crate::{Logged, StreamSource, Streamed};

/// Characters that are kept of each; no row shows more.
const KEPT: usize = 160;

/// The newest words of each thread that is producing any.
#[derive(Clone, Debug, Default)]
pub struct LastWords(BTreeMap<ThreadId, Words>);

#[derive(Clone, Debug)]
struct Words {
    source: StreamSource,
    text: String,
}

impl LastWords {
    /// Takes a piece of text in.
    pub fn push(&mut self, piece: &Streamed) {
        let words = self.entry(piece);
        words.text.push_str(&piece.text);
        words.forget();
    }

    /// Takes in that a thread says something, and not what: it is shown elsewhere.
    pub fn mark(&mut self, piece: &Streamed) {
        self.entry(piece);
    }

    fn entry(&mut self, piece: &Streamed) -> &mut Words {
        if self.0.get(&piece.thread).is_none_or(|words| words.source != piece.source) {
            self.0.insert(piece.thread.clone(), Words { source: piece.source.clone(), text: String::new() });
        }
        self.0.get_mut(&piece.thread).expect("it was put there if it was missing")
    }

    /// Forgets words that the log holds by now, and those of a thread that has ended.
    pub fn settle(&mut self, logged: &Logged<'_>) {
        let is_settled = |words: &Words| match (logged.event, &words.source) {
            (Event::Answered(answered), StreamSource::Turn(turn) | StreamSource::Thought(turn)) => {
                answered.turn >= *turn
            }
            (Event::CallFailed { turn: failed, .. }, StreamSource::Turn(turn) | StreamSource::Thought(turn)) => {
                failed >= turn
            }
            (Event::ToolFinished { call: finished, .. }, StreamSource::Call(call)) => finished == call,
            (Event::Reported(_), _) => true,
            _ => false,
        };
        if self.0.get(logged.thread).is_some_and(is_settled) {
            self.0.remove(logged.thread);
        }
    }

    /// What a thread does with its words: it thinks them, or writes them.
    pub fn verb(&self, thread: &ThreadId) -> &'static str {
        match self.0.get(thread).map(|words| &words.source) {
            Some(StreamSource::Thought(_)) => "thinking",
            Some(StreamSource::Turn(_) | StreamSource::Call(_)) | None => "writing",
        }
    }

    /// The last line that a thread has begun, without blanks around it; none where it says nothing at this moment.
    pub fn of(&self, thread: &ThreadId) -> Option<&str> {
        let text = self.0.get(thread)?.text.trim();
        text.rsplit('\n').next().map(str::trim)
    }
}

impl Words {
    /// Keeps the end, once there is twice as much as is kept.
    fn forget(&mut self) {
        if self.text.len() > 2 * KEPT * 4 {
            let start = self.text.char_indices().rev().nth(KEPT).map_or(0, |(at, _)| at);
            self.text.drain(..start);
        }
    }
}

#[cfg(test)]
mod tests {
    use agent::{CallId, Outcome, Report, Time};

    use super::*;

    fn piece(source: StreamSource, text: &str) -> Streamed {
        Streamed { thread: ThreadId::new("r.1"), source, text: text.to_owned() }
    }

    #[test]
    fn the_last_line_is_kept_however_much_is_said() {
        let thread = ThreadId::new("r.1");
        let mut words = LastWords::default();
        assert_eq!(words.of(&thread), None);
        for text in ["First line\n", "\nSecond ", "line \n"] {
            words.push(&piece(StreamSource::Turn(1), text));
        }
        assert_eq!(words.of(&thread), Some("Second line"));
        for _ in 0..10_000 {
            words.push(&piece(StreamSource::Turn(1), "é word "));
        }
        assert!(words.of(&thread).is_some_and(|line| line.ends_with("é word") && line.len() < 4 * 2 * KEPT + 20));
        words.push(&piece(StreamSource::Turn(2), "Anew"));
        assert_eq!(words.of(&thread), Some("Anew"));
    }

    #[test]
    fn words_end_with_what_they_belong_to() {
        let thread = ThreadId::new("r.1");
        let mut words = LastWords::default();
        words.push(&piece(StreamSource::Call(CallId::new("c")), "50 %"));
        let settle = |words: &mut LastWords, event: &Event| {
            words.settle(&Logged { seq: 1, thread: &thread, at: Time(0), event });
        };
        settle(&mut words, &Event::ToolStarted { call: CallId::new("c") });
        assert_eq!(words.of(&thread), Some("50 %"));
        settle(&mut words, &Event::Reported(Box::new(Report::empty(Outcome::Completed, ""))));
        assert_eq!(words.of(&thread), None);
    }
}
