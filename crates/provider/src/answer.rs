//! An answer while it is read: what both wire formats have in common.
//!
//! Only here it is decided that an incomplete tool call is no tool call.

use std::sync::Arc;

use agent::message::{Origin, Part};
use agent::model::{Answer, CallError, CallErrorKind, StopReason, Tokens};
use agent::{CallId, Json};
use serde_json::{Map, Value};

use crate::failure::failed;
use crate::limits;

/// The pieces of an answer, in the order in which the model made them.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) stop: StopReason,
    pub(crate) tokens: Option<Tokens>,
}

/// One piece.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Words.
    Text(String),
    /// A tool call with its arguments as they arrived.
    Call { id: String, name: String, arguments: String },
    /// A block that only the provider understands.
    Opaque { wire: &'static str, raw: Json },
}

impl Draft {
    /// The answer, with every call either whole or named as malformed.
    pub(crate) fn finish(mut self) -> Answer {
        let mut cut_call = None;
        match self.stop {
            // What was being written when the space ran out. Whole arguments end in a brace that closes them; no
            // arguments at all may be arguments that never came.
            StopReason::MaxTokens => {
                let is_half =
                    |piece: &mut Piece| matches!(piece, Piece::Call { arguments, .. } if object(arguments).is_err());
                if let Some(Piece::Call { name, .. }) = self.pieces.pop_if(is_half) {
                    cut_call = Some(name.into());
                }
            }
            // A provider that declines withdraws what was said; its calls are not wishes of the model any more.
            StopReason::Refusal => self.pieces.retain(|piece| !matches!(piece, Piece::Call { .. })),
            StopReason::EndTurn | StopReason::ToolUse | StopReason::Paused => {}
        }
        let mut answer = Answer {
            parts: Vec::with_capacity(self.pieces.len()),
            stop: self.stop,
            tokens: self.tokens,
            malformed: Vec::new(),
            cut_call,
        };
        for piece in self.pieces {
            take(&mut answer, piece);
        }
        // A server that counts nothing, or not the answer, has not counted.
        let may_be_empty = answer.parts.is_empty() || answer.stop == StopReason::Refusal;
        answer.tokens = answer.tokens.filter(|tokens| tokens.prompt() > 0 && (tokens.output > 0 || may_be_empty));
        // Local servers often say "stop" behind a call, or "tool calls" behind none.
        let has_calls = answer.parts.iter().any(|part| matches!(part, Part::ToolCall { .. }));
        answer.stop = match answer.stop {
            StopReason::EndTurn | StopReason::ToolUse if has_calls => StopReason::ToolUse,
            StopReason::ToolUse => StopReason::EndTurn,
            other => other,
        };
        answer
    }
}

fn take(answer: &mut Answer, piece: Piece) {
    match piece {
        Piece::Text(text) if text.is_empty() => {}
        Piece::Text(text) => answer.parts.push(Part::Text { text: text.into(), origin: Origin::Model }),
        Piece::Opaque { wire, raw } => answer.parts.push(Part::Opaque { wire: wire.into(), from: None, raw }),
        Piece::Call { id, name, arguments } => {
            let id = CallId::new(id);
            let input = if arguments.trim().is_empty() { Ok(Json::object()) } else { object(&arguments) };
            let input = input.unwrap_or_else(|why| {
                answer.malformed.push((id.clone(), why));
                Json::object()
            });
            answer.parts.push(Part::ToolCall { id, name: name.into(), input });
        }
    }
}

/// The arguments as written, when they are a JSON object that every reader can read; else the sentence for the model.
/// Parsing all of it is the point: raw JSON text may hold lone surrogates or nesting that nobody can take apart later.
fn object(arguments: &str) -> Result<Json, Arc<str>> {
    serde_json::from_str::<Map<String, Value>>(arguments)
        .and_then(|_| Json::parse(arguments))
        .map_err(|why| format!("the arguments are not a JSON object that can be read: {why}").into())
}

/// Whether a call's arguments are whole, so that more of them would be too much.
pub(crate) fn is_whole(arguments: &str) -> bool {
    arguments.trim_end().ends_with('}') && object(arguments).is_ok()
}

/// Counts what an answer keeps, and refuses what is too much.
#[derive(Debug, Default)]
pub(crate) struct Room {
    bytes: usize,
    parts: usize,
}

impl Room {
    /// How many bytes came.
    pub(crate) fn used(&self) -> usize {
        self.bytes
    }

    /// Makes room for `bytes` more of anything.
    pub(crate) fn bytes(&mut self, bytes: usize) -> Result<(), CallError> {
        self.bytes = self.bytes.saturating_add(bytes);
        within(self.bytes, limits::ANSWER_BYTES, "the answer", "bytes")
    }

    /// Makes room for another block or call.
    pub(crate) fn part(&mut self) -> Result<(), CallError> {
        self.parts += 1;
        within(self.parts, limits::PARTS, "the answer", "blocks and calls")
    }

    /// Appends to a call's arguments.
    pub(crate) fn arguments(&mut self, so_far: &mut String, more: &str) -> Result<(), CallError> {
        self.bytes(more.len())?;
        within(so_far.len() + more.len(), limits::TOOL_INPUT_BYTES, "the arguments of a tool call", "bytes")?;
        so_far.push_str(more);
        Ok(())
    }

    /// Appends to a tool's name, or to a call's id.
    pub(crate) fn name(&mut self, so_far: &mut String, more: &str) -> Result<(), CallError> {
        within(so_far.len() + more.len(), limits::TOOL_NAME_BYTES, "the name of a tool call", "bytes")?;
        so_far.push_str(more);
        Ok(())
    }
}

fn within(size: usize, limit: usize, what: &str, unit: &str) -> Result<(), CallError> {
    if size <= limit {
        return Ok(());
    }
    Err(failed(CallErrorKind::Garbled, format!("{what} went over the limit of {limit} {unit} and was given up")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> Piece {
        Piece::Call { id: "c1".into(), name: "write_file".into(), arguments: arguments.into() }
    }

    fn answer(stop: StopReason, pieces: Vec<Piece>) -> Answer {
        Draft { pieces, stop, tokens: None }.finish()
    }

    #[test]
    fn arguments_that_are_no_object_are_an_empty_object_and_a_sentence() {
        // F20
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for bad in ["nonsense", "[1]", "3", "null", r#"{"a":1"#, r#"{"a":"\ud800"}"#, "{} {}", &deep] {
            let answer = answer(StopReason::ToolUse, vec![call(bad)]);
            let short = &bad[..bad.len().min(20)];
            assert_eq!(answer.malformed.len(), 1, "{short}");
            assert!(matches!(&answer.parts[0], Part::ToolCall { input, .. } if input.text() == "{}"), "{short}");
        }
    }

    #[test]
    fn arguments_are_kept_as_written_and_none_are_an_empty_object() {
        for (written, kept) in [(r#" {"b": 1, "a": 2.50} "#, r#"{"b": 1, "a": 2.50}"#), ("", "{}"), ("  ", "{}")] {
            let answer = answer(StopReason::ToolUse, vec![call(written)]);
            assert_eq!(answer.malformed, []);
            assert!(matches!(&answer.parts[0], Part::ToolCall { input, .. } if input.text() == kept), "{written}");
        }
    }

    #[test]
    fn a_call_that_the_token_limit_cut_off_is_not_there() {
        // F21
        for cut in ["", r#"{"path":"/etc"#, r#"{"path":"/"#] {
            let answer = answer(StopReason::MaxTokens, vec![Piece::Text("so".into()), call(r#"{"a":1}"#), call(cut)]);
            assert_eq!((answer.parts.len(), answer.malformed.len()), (2, 0), "{cut}");
            // T70: the rules count answers that were cut off in a call.
            assert_eq!(answer.cut_call.as_deref(), Some("write_file"), "{cut}");
        }
        let whole = answer(StopReason::MaxTokens, vec![call(r#"{"a":1}"#)]);
        assert_eq!((whole.parts.len(), whole.stop, whole.cut_call), (1, StopReason::MaxTokens, None));
    }

    #[test]
    fn a_refused_answer_has_no_calls() {
        // F21
        let answer = answer(StopReason::Refusal, vec![Piece::Text("no".into()), call("{}")]);
        assert_eq!(answer.parts.len(), 1);
        assert_eq!(answer.stop, StopReason::Refusal);
    }

    #[test]
    fn the_reason_to_stop_agrees_with_the_calls() {
        assert_eq!(answer(StopReason::EndTurn, vec![call("{}")]).stop, StopReason::ToolUse);
        assert_eq!(answer(StopReason::ToolUse, vec![Piece::Text("a".into())]).stop, StopReason::EndTurn);
    }
}
