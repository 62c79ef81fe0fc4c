//! Answers: lines of JSON, each with more of the words or the thoughts, or with whole calls; the last one says why it is the last, and
//! what was used.

use agent::Json;
use agent::model::{Answer, CallError, CallErrorKind, StopReason};
use serde_json::value::RawValue;

use super::wire::{AnswerCall, Chunk, Kept, Said};
use super::{OWN_ID, WIRE};
use crate::answer::{Draft, Piece, Room};
use crate::codec::AnswerReader;
use crate::failure::{failed, in_stream};
use crate::stream_reader::StreamState;
use crate::think_tags::Lead;
use crate::usage::UsageTally;

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Thoughts in tags before the words, of a model whose format the server does not know.
    lead: Lead,
    text: String,
    thinking: String,
    /// How much of the thoughts was passed on.
    told_thinking: usize,
    calls: Vec<Piece>,
    usage: UsageTally,
    end: Option<StopReason>,
    room: Room,
    said: u64,
}

impl AnswerReader for Reader {
    fn event(&mut self, data: &[u8], say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|why| garbled(&why.to_string()))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(in_stream(&error));
        }
        let is_last = chunk.done.ok_or_else(|| garbled("it is no part of an answer"))?;
        self.message(chunk.message, say)?;
        if is_last {
            self.said += 1;
            self.usage.note(serde_json::from_slice::<&RawValue>(data).ok());
            self.end = Some(match chunk.done_reason.as_deref() {
                Some("length") => StopReason::MaxTokens,
                _ => StopReason::EndTurn,
            });
        }
        Ok(())
    }

    fn take_thoughts(&mut self) -> String {
        let new = self.thinking[self.told_thinking..].to_owned();
        self.told_thinking = self.thinking.len();
        new + &self.lead.take_thoughts()
    }

    fn said(&self) -> u64 {
        self.said
    }

    fn heard(&self) -> StreamState {
        if self.end.is_some() { StreamState::End } else { StreamState::Part }
    }

    fn text(&self) -> String {
        self.text.clone()
    }

    fn bytes(&self) -> usize {
        self.room.used()
    }

    fn finish(self: Box<Self>) -> Answer {
        let stop = self.end.unwrap_or(StopReason::EndTurn);
        let (think, words) = self.lead.finish(stop == StopReason::MaxTokens);
        let there = |text: String| Some(text).filter(|text| !text.is_empty()).map(Into::into);
        let kept = Kept { thinking: there(self.thinking), think: there(think) };
        let is_kept = kept.thinking.is_some() || kept.think.is_some();
        let thoughts = is_kept.then(|| Piece::Opaque { wire: WIRE, raw: Json::of(&kept) });
        let text = Piece::Text(self.text + &words);
        let pieces = thoughts.into_iter().chain([text]).chain(self.calls).collect();
        Draft { pieces, stop, tokens: self.usage.ollama() }.finish()
    }
}

impl Reader {
    fn message(&mut self, message: Option<Said<'_>>, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        let Some(Said { content, thinking, tool_calls }) = message else { return Ok(()) };
        if let Some(thought) = thinking.filter(|thought| !thought.is_empty()) {
            self.said += 1;
            self.room.bytes(thought.len())?;
            self.thinking.push_str(&thought);
        }
        if let Some(more) = content.filter(|more| !more.is_empty()) {
            self.said += 1;
            self.room.bytes(more.len())?;
            let words = if self.lead.is_over() { more.into_owned() } else { self.lead.take(&more) };
            say(&words);
            self.text.push_str(&words);
        }
        for call in tool_calls.into_iter().flatten() {
            self.said += 1;
            self.call(&call)?;
        }
        Ok(())
    }

    fn call(&mut self, call: &AnswerCall<'_>) -> Result<(), CallError> {
        self.room.part()?;
        let (mut id, mut name, mut arguments) = (String::new(), String::new(), String::new());
        match call.id.as_deref().filter(|id| !id.is_empty()) {
            Some(given) => self.room.name(&mut id, given)?,
            None => id = format!("{OWN_ID}{}", self.calls.len()),
        }
        self.room.name(&mut name, &call.function.name)?;
        let given = call.function.arguments.map_or("", |arguments| arguments.get());
        self.room.arguments(&mut arguments, if given == "null" { "" } else { given })?;
        self.calls.push(Piece::Call { id, name, arguments });
        Ok(())
    }
}

fn garbled(why: &str) -> CallError {
    failed(CallErrorKind::Garbled, format!("a line of the answer could not be read: {why}"))
}
