//! What was said of answers that are not in the log yet.
//!
//! Words in passing have no number, and nobody can come back to them. Whoever begins to listen in the middle of an answer is told
//! all of it that was heard so far, so that it does not begin in the middle of a sentence.

use std::collections::BTreeMap;

use agent::{Event, ThreadId};
use bytes::{Bytes, BytesMut};
use majordomo::follow::so_far;
use runtime::{Fleeting, FleetingKind};
use store::Record;

use super::put;

/// The answers that are being given, one for each agent.
#[derive(Default)]
pub(super) struct Whispers(BTreeMap<ThreadId, Fleeting>);

impl Whispers {
    pub fn hear(&mut self, said: &Fleeting) {
        if !matches!(said.what, FleetingKind::Turn(_)) {
            return;
        }
        match self.0.get_mut(&said.thread) {
            Some(known) if known.what == said.what => known.text.push_str(&said.text),
            _ => _ = self.0.insert(said.thread.clone(), said.clone()),
        }
    }

    /// An answer that is in the log, or that nobody will give any more, is whispered no longer.
    pub fn settle(&mut self, record: &Record) {
        let settled = match &*record.event {
            Event::Answered(answered) => answered.turn,
            Event::CallFailed { turn, .. } => *turn,
            Event::Reported(_) => u32::MAX,
            _ => return,
        };
        let is_settled = |known: &Fleeting| matches!(known.what, FleetingKind::Turn(turn) if turn <= settled);
        if self.0.get(&record.thread).is_some_and(is_settled) {
            self.0.remove(&record.thread);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of it, for somebody who begins to listen.
    pub fn bytes(&self) -> Bytes {
        let mut bytes = BytesMut::new();
        for said in self.0.values() {
            put(&mut bytes, None, &so_far(said));
        }
        bytes.freeze()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent::Time;
    use agent::budget::Claim;
    use agent::model::{CallError, CallErrorKind};

    use super::*;
    use crate::live::tests::root;

    fn said(turn: u32, text: &str) -> Fleeting {
        Fleeting { thread: root(), what: FleetingKind::Turn(turn), text: text.to_owned() }
    }

    fn told(whispers: &Whispers) -> String {
        String::from_utf8(whispers.bytes().to_vec()).expect("text")
    }

    #[test]
    fn an_answer_is_told_from_its_beginning_until_it_is_settled() {
        let mut whispers = Whispers::default();
        assert!(whispers.bytes().is_empty());
        for text in ["Once ", "upon ", "a time"] {
            whispers.hear(&said(2, text));
        }
        let frame = told(&whispers);
        assert!(frame.contains(r#""content":"Once upon a time""#) && frame.contains(r#""so_far":true"#), "{frame}");
        assert!(frame.starts_with("data: ") && frame.ends_with("\n\n"), "{frame}");
        whispers.hear(&said(3, "Now"));
        assert!(told(&whispers).contains(r#""content":"Now""#), "the answer before is not part of it");
        whispers.settle(&failed(2));
        assert!(!whispers.bytes().is_empty(), "that was an earlier one");
        whispers.settle(&failed(3));
        assert!(whispers.bytes().is_empty());
    }

    fn failed(turn: u32) -> Record {
        let error =
            CallError { kind: CallErrorKind::Overloaded, message: "busy".into(), retry_after_ms: None, partial: None };
        let event = Event::CallFailed { turn, attempt: 1, error, retry_at: None, booked: Claim::default() };
        Record { position: 1, seq: 1, thread: root(), n: 1, at: Time(0), event: Arc::new(event) }
    }
}
