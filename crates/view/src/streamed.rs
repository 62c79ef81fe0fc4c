//! Text that is shown while it is produced: the frames `text_delta`, `thinking_delta` and `tool_progress`.
//!
//! It is never logged, its frames have no number, and no reader can come back to them. The logged answer, or the logged result of the
//! tool, replaces it; every interface is right without it.

use std::collections::BTreeMap;

use agent::{CallId, Event, ThreadId};
use serde::Serialize;

use crate::Logged;

/// A piece of text, as it was produced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streamed {
    /// The thread that it belongs to.
    pub thread: ThreadId,
    /// What produces it.
    pub source: StreamSource,
    /// The text.
    pub text: String,
}

/// What produces streamed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamSource {
    /// The model, in its answer to this turn.
    Turn(u32),
    /// The model, in what it thinks before it answers this turn.
    Thought(u32),
    /// A tool, in this call.
    Call(CallId),
}

impl Streamed {
    /// The frame, as one line of JSON.
    pub fn line(&self) -> String {
        self.frame(None)
    }

    /// The frame of a text that replaces all pieces of the same source so far.
    fn line_so_far(&self) -> String {
        self.frame(Some(true))
    }

    /// Whether an event holds the whole text that this is a piece of, or says that it will never be whole.
    pub fn is_settled_by(&self, logged: &Logged<'_>) -> bool {
        let is_same = match (logged.event, &self.source) {
            (Event::Answered(answered), StreamSource::Turn(turn) | StreamSource::Thought(turn)) => {
                answered.turn == *turn
            }
            (Event::CallFailed { turn: failed, .. }, StreamSource::Turn(turn) | StreamSource::Thought(turn)) => {
                failed == turn
            }
            (Event::ToolFinished { call: finished, .. }, StreamSource::Call(call)) => finished == call,
            _ => false,
        };
        is_same && *logged.thread == self.thread
    }

    fn frame(&self, so_far: Option<bool>) -> String {
        let (kind, turn, tool_use_id) = match &self.source {
            StreamSource::Turn(turn) => ("text_delta", Some(*turn), None),
            StreamSource::Thought(turn) => ("thinking_delta", Some(*turn), None),
            StreamSource::Call(call) => ("tool_progress", None, Some(call)),
        };
        let (run, thread) = (self.thread.root(), &self.thread);
        let frame = StreamedFrame { kind, run, thread, turn, tool_use_id, content: &self.text, so_far };
        serde_json::to_string(&frame).expect("names, numbers and text are JSON")
    }
}

#[derive(Serialize)]
struct StreamedFrame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    run: ThreadId,
    thread: &'a ThreadId,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<&'a CallId>,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    so_far: Option<bool>,
}

/// The answers that are being given, one for each agent: for a reader that joins in the middle of one, so that it does not begin in
/// the middle of a sentence.
#[derive(Clone, Debug, Default)]
pub struct UnfinishedAnswers(BTreeMap<ThreadId, Streamed>);

impl UnfinishedAnswers {
    /// Takes a piece of text in. Neither what tools say is kept, nor what a model thinks: who joins later sees it when it is logged.
    pub fn push(&mut self, piece: &Streamed) {
        if !matches!(piece.source, StreamSource::Turn(_)) {
            return;
        }
        match self.0.get_mut(&piece.thread) {
            Some(known) if known.source == piece.source => known.text.push_str(&piece.text),
            _ => _ = self.0.insert(piece.thread.clone(), piece.clone()),
        }
    }

    /// Forgets an answer that is in the log, or that will not be given any more.
    pub fn settle(&mut self, logged: &Logged<'_>) {
        let settled = match logged.event {
            Event::Answered(answered) => answered.turn,
            Event::CallFailed { turn, .. } => *turn,
            Event::Reported(_) => u32::MAX,
            _ => return,
        };
        let is_settled = |known: &Streamed| matches!(known.source, StreamSource::Turn(turn) if turn <= settled);
        if self.0.get(logged.thread).is_some_and(is_settled) {
            self.0.remove(logged.thread);
        }
    }

    /// What a thread is saying, as far as it was produced; none where it says nothing.
    pub fn of(&self, thread: &ThreadId) -> Option<&Streamed> {
        self.0.get(thread)
    }

    /// Whether no answer is being given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One frame for each answer, with all of it that was produced so far.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.0.values().map(Streamed::line_so_far)
    }
}

#[cfg(test)]
mod tests {
    use agent::Time;
    use agent::budget::Claim;
    use agent::model::{CallError, CallErrorKind};

    use super::*;

    fn piece(turn: u32, text: &str) -> Streamed {
        Streamed { thread: ThreadId::new("r.1"), source: StreamSource::Turn(turn), text: text.to_owned() }
    }

    fn lines(answers: &UnfinishedAnswers) -> Vec<String> {
        answers.lines().collect()
    }

    fn failed(turn: u32) -> Event {
        let error = CallError::new(CallErrorKind::Overloaded, "busy");
        Event::CallFailed { turn, attempt: 1, error, retry_at: None, booked: Claim::default() }
    }

    #[test]
    fn a_piece_is_a_frame_without_a_number() {
        assert_eq!(
            piece(2, "Once ").line(),
            r#"{"type":"text_delta","run":"r","thread":"r.1","turn":2,"content":"Once "}"#
        );
        let progress = Streamed { source: StreamSource::Call(CallId::new("tu_9")), ..piece(2, "5 %") };
        let frame = r#"{"type":"tool_progress","run":"r","thread":"r.1","tool_use_id":"tu_9","content":"5 %"}"#;
        assert_eq!(progress.line(), frame);
    }

    #[test]
    fn an_answer_is_told_from_its_beginning_until_it_is_settled() {
        let thread = ThreadId::new("r.1");
        let mut answers = UnfinishedAnswers::default();
        assert!(answers.is_empty());
        for text in ["Once ", "upon ", "a time"] {
            answers.push(&piece(2, text));
        }
        let whole =
            r#"{"type":"text_delta","run":"r","thread":"r.1","turn":2,"content":"Once upon a time","so_far":true}"#;
        assert_eq!(lines(&answers), [whole]);
        answers.push(&piece(3, "Now"));
        assert_eq!(lines(&answers).len(), 1);
        assert!(lines(&answers)[0].contains(r#""content":"Now""#), "the answer before is not part of it");
        let (second, third) = (failed(2), failed(3));
        let logged = |event| Logged { seq: 1, thread: &thread, at: Time(0), event };
        answers.settle(&logged(&second));
        assert!(!answers.is_empty(), "that was an earlier one");
        answers.settle(&logged(&third));
        assert!(answers.is_empty());
    }

    #[test]
    fn a_piece_is_settled_by_the_event_of_its_own_thread_and_turn() {
        let (own, other) = (ThreadId::new("r.1"), ThreadId::new("r.2"));
        let event = failed(2);
        let logged = |thread| Logged { seq: 1, thread, at: Time(0), event: &event };
        assert!(piece(2, "").is_settled_by(&logged(&own)));
        assert!(!piece(2, "").is_settled_by(&logged(&other)));
        assert!(!piece(3, "").is_settled_by(&logged(&own)));
    }
}
