//! Answers: chunks of `generateContent`, each with some parts, read into one list of parts. Unknown parts are kept.

use agent::Json;
use agent::model::{Answer, CallError, CallErrorKind, StopReason};

use super::wire::{AnswerPart, Candidate, Chunk, Feedback, Signature, Thought};
use super::{OWN_ID, WIRE};
use crate::answer::{Draft, Piece, Room};
use crate::codec::AnswerReader;
use crate::failure::{failed, in_stream};
use crate::stream_reader::StreamState;
use crate::usage::UsageTally;

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pieces: Vec<Piece>,
    /// Whether the next text belongs to the last piece: a signed part stands alone.
    is_open: bool,
    calls: usize,
    usage: UsageTally,
    end: Option<StopReason>,
    room: Room,
    said: u64,
    /// What was thought since the last piece that is no thought, and how much of it was not yet asked for.
    thoughts: String,
    fresh_thoughts: String,
}

impl AnswerReader for Reader {
    fn event(&mut self, data: &[u8], say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|why| garbled(&why))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(in_stream(&error));
        }
        self.usage.note(chunk.usage_metadata);
        for candidate in chunk.candidates.into_iter().flatten().filter(|it| it.index.unwrap_or(0) == 0) {
            self.said += 1;
            self.candidate(candidate, say)?;
        }
        if let Some(Feedback { block_reason: Some(reason), block_reason_message }) = chunk.prompt_feedback {
            self.said += 1;
            let words = block_reason_message.unwrap_or_else(|| format!("The provider blocked the request ({reason})."));
            self.text(&words, say)?;
            self.end = Some(StopReason::Refusal);
        }
        Ok(())
    }

    fn take_thoughts(&mut self) -> String {
        std::mem::take(&mut self.fresh_thoughts)
    }

    fn said(&self) -> u64 {
        self.said
    }

    fn heard(&self) -> StreamState {
        match (self.end, self.usage.gemini()) {
            (Some(_), Some(_)) => StreamState::End,
            (Some(_), None) => StreamState::Whole,
            (None, _) => StreamState::Part,
        }
    }

    fn text(&self) -> String {
        let text = |piece: &'_ Piece| if let Piece::Text(text) = piece { text.clone() } else { String::new() };
        self.pieces.iter().map(text).collect()
    }

    fn bytes(&self) -> usize {
        self.room.used()
    }

    fn finish(mut self: Box<Self>) -> Answer {
        self.end_thoughts();
        let stop = self.end.unwrap_or(StopReason::EndTurn);
        Draft { pieces: self.pieces, stop, tokens: self.usage.gemini() }.finish()
    }
}

impl Reader {
    fn candidate(&mut self, candidate: Candidate<'_>, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        for raw in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
            self.part(raw.get(), say)?;
        }
        let Some(reason) = candidate.finish_reason.filter(|reason| !reason.is_empty()) else { return Ok(()) };
        let words = candidate.finish_message.unwrap_or_else(|| reason.clone());
        self.end = Some(match &*reason {
            "MAX_TOKENS" | "CONTINUATION" => StopReason::MaxTokens,
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "ESCALATION"
            | "MODEL_ARMOR"
            | "PUP_LIMITED_DISABLED" => StopReason::Refusal,
            "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL" => {
                return Err(failed(CallErrorKind::Garbled, format!("the model wrote what cannot be read: {words}")));
            }
            "MISSING_THOUGHT_SIGNATURE" => {
                return Err(failed(CallErrorKind::Rejected, format!("the provider refused the conversation: {words}")));
            }
            _ => StopReason::EndTurn,
        });
        Ok(())
    }

    fn part(&mut self, raw: &str, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        let part: AnswerPart<'_> = serde_json::from_str(raw).map_err(|why| garbled(&why))?;
        let is_plain = part.function_call.is_none() && part.thought_signature.is_none();
        match part {
            AnswerPart { function_call: Some(call), thought_signature, .. } => {
                self.end_thoughts();
                self.sign(thought_signature)?;
                self.room.part()?;
                let (mut id, mut name, mut arguments) = (String::new(), String::new(), String::new());
                match call.id.as_deref().filter(|id| !id.is_empty()) {
                    Some(given) => self.room.name(&mut id, given)?,
                    None => id = format!("{OWN_ID}{}", self.calls),
                }
                self.calls += 1;
                self.room.name(&mut name, &call.name)?;
                let args = call.args.map_or("", |args| args.get());
                self.room.arguments(&mut arguments, if args == "null" { "" } else { args })?;
                self.pieces.push(Piece::Call { id, name, arguments });
                self.is_open = false;
                Ok(())
            }
            AnswerPart { thought: true, text, .. } if is_plain => self.think(&text.unwrap_or_default()),
            AnswerPart { text: Some(text), thought: false, thought_signature: None, .. } => self.text(&text, say),
            AnswerPart { text: Some(text), thought: false, thought_signature, .. } if !text.is_empty() => {
                self.sign(thought_signature)?;
                self.text(&text, say)?;
                self.is_open = false;
                Ok(())
            }
            part => {
                self.end_thoughts();
                self.room.part()?;
                self.room.bytes(raw.len())?;
                // A thought with a signature is kept as it came, and shown like any other.
                if part.thought {
                    self.fresh_thoughts.push_str(part.text.as_deref().unwrap_or_default());
                }
                self.pieces.extend(Json::parse(raw).ok().map(|raw| Piece::Opaque { wire: WIRE, raw }));
                self.is_open = false;
                Ok(())
            }
        }
    }

    fn think(&mut self, more: &str) -> Result<(), CallError> {
        if self.thoughts.is_empty() {
            self.room.part()?;
        }
        self.room.bytes(more.len())?;
        self.thoughts.push_str(more);
        self.fresh_thoughts.push_str(more);
        Ok(())
    }

    /// Keeps what was thought before the part that comes next.
    fn end_thoughts(&mut self) {
        let text = std::mem::take(&mut self.thoughts);
        if !text.trim().is_empty() {
            self.pieces.push(Piece::Opaque { wire: WIRE, raw: Json::of(&Thought { thought: true, text }) });
            self.is_open = false;
        }
    }

    /// Keeps the signature of the part that comes next.
    fn sign(&mut self, signature: Option<String>) -> Result<(), CallError> {
        let Some(thought_signature) = signature else { return Ok(()) };
        self.end_thoughts();
        self.room.part()?;
        self.room.bytes(thought_signature.len())?;
        self.pieces.push(Piece::Opaque { wire: WIRE, raw: Json::of(&Signature { thought_signature }) });
        self.is_open = false;
        Ok(())
    }

    fn text(&mut self, more: &str, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        self.end_thoughts();
        self.room.bytes(more.len())?;
        say(more);
        if let (true, Some(Piece::Text(text))) = (self.is_open, self.pieces.last_mut()) {
            text.push_str(more);
            return Ok(());
        }
        self.room.part()?;
        self.pieces.push(Piece::Text(more.to_owned()));
        self.is_open = true;
        Ok(())
    }
}

fn garbled(why: &serde_json::Error) -> CallError {
    failed(CallErrorKind::Garbled, format!("a chunk of the answer could not be read: {why}"))
}
