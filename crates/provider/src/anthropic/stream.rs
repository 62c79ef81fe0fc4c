//! Answers: Anthropic's events, read into blocks by index. Unknown events and unknown deltas are passed over; unknown
//! blocks are kept.

use agent::Json;
use agent::model::{Answer, CallError, CallErrorKind, StopReason, Tokens};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::WIRE;
use super::wire::{
    BlockDelta, BlockStart, Delta, Event, Failed, MessageDelta, MessageStart, StartedBlock, WholeMessage,
};
use crate::answer::{Draft, Piece, Room};
use crate::codec::AnswerReader;
use crate::failure::{failed, in_stream};
use crate::stream_reader::StreamState;
use crate::template::EventTemplate;
use crate::usage::UsageTally;

/// The kinds of what most events add.
const TEXT: &str = "text_delta";
const INPUT: &str = "input_json_delta";

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Blocks in the order in which they began, each with the index that its deltas name.
    blocks: Vec<(u64, Block)>,
    usage: UsageTally,
    stop_reason: Option<String>,
    ended: bool,
    room: Room,
    said: u64,
    /// What was thought since it was last asked for.
    fresh_thoughts: String,
    template: Option<EventTemplate<What>>,
    #[cfg(any(test, fuzzing))]
    is_plain: bool,
}

/// What most events add, and to which block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Text(u64),
    Input(u64),
}

#[derive(Debug)]
enum Block {
    Text(String),
    Call { id: String, name: String, arguments: String },
    Opaque(Opaque),
}

/// A block as it began, and what was added to it since.
#[derive(Debug, Default)]
struct Opaque {
    raw: String,
    is_thinking: bool,
    thinking: String,
    signature: String,
    input: String,
}

impl Reader {
    /// A reader that reads every event by itself.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn plain() -> Self {
        Self { is_plain: true, ..Self::default() }
    }
}

impl AnswerReader for Reader {
    /// How many events there were, those not counted that only keep the connection alive.
    fn said(&self) -> u64 {
        self.said
    }

    /// Takes the data of one event.
    fn event(&mut self, data: &[u8], say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        self.said += 1;
        let text = std::str::from_utf8(data).ok();
        match text.and_then(|text| self.template.as_ref()?.read(text)) {
            Some((What::Text(index), text)) => {
                return self.grow(index, &Delta { kind: TEXT.into(), text, ..Delta::default() }, say);
            }
            Some((What::Input(index), partial_json)) => {
                return self.grow(index, &Delta { kind: INPUT.into(), partial_json, ..Delta::default() }, say);
            }
            None => {}
        }
        match &*read::<Event<'_>>(data)?.kind {
            "message_start" => self.usage.note(read::<MessageStart<'_>>(data)?.message.usage),
            "content_block_start" => self.start(&read(data)?, say)?,
            "content_block_delta" => {
                let BlockDelta { index, delta } = read(data)?;
                self.grow(index, &delta, say)?;
                self.template = text.and_then(|text| template(text, index, &delta));
                #[cfg(any(test, fuzzing))]
                self.template.take_if(|_| self.is_plain);
            }
            "message_delta" => {
                let event: MessageDelta<'_> = read(data)?;
                self.usage.note(event.usage);
                self.stop_reason = event.delta.stop_reason.or(self.stop_reason.take());
            }
            "message_stop" => self.ended = true,
            "error" => return Err(in_stream(&read::<Failed>(data)?.error)),
            // `ping` among them.
            _ => self.said -= 1,
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        let message: WholeMessage<'_> = read(body)?;
        let Some(content) = message.content else { return self.event(body, say) };
        self.usage.note(message.usage);
        for (index, content_block) in (0..).zip(content) {
            self.start(&BlockStart { index, content_block }, say)?;
        }
        self.stop_reason = message.stop_reason;
        self.ended = self.stop_reason.is_some();
        Ok(())
    }

    fn take_thoughts(&mut self) -> String {
        std::mem::take(&mut self.fresh_thoughts)
    }

    /// How far the answer is. The bill comes before the end.
    fn heard(&self) -> StreamState {
        if self.ended { StreamState::End } else { StreamState::Part }
    }

    /// The words so far.
    fn text(&self) -> String {
        let text =
            |(_, block): &'_ (u64, Block)| if let Block::Text(text) = block { text.clone() } else { String::new() };
        self.blocks.iter().map(text).collect()
    }

    /// What the answer used; none before the figures are final, which they are once it is said why the model stopped.
    fn bill(&self) -> Option<Tokens> {
        self.stop_reason.as_ref().and_then(|_| self.usage.anthropic())
    }

    fn bytes(&self) -> usize {
        self.room.used()
    }

    /// The answer, once its end was heard.
    fn finish(mut self: Box<Self>) -> Answer {
        self.blocks.sort_by_key(|(index, _)| *index);
        let stop = match self.stop_reason.as_deref() {
            Some("tool_use") => StopReason::ToolUse,
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::MaxTokens,
            Some("refusal") => StopReason::Refusal,
            Some("pause_turn") => StopReason::Paused,
            _ => StopReason::EndTurn,
        };
        let pieces = self.blocks.into_iter().filter_map(|(_, block)| block.into_piece()).collect();
        Draft { pieces, stop, tokens: self.usage.anthropic() }.finish()
    }
}

impl Reader {
    fn start(&mut self, event: &BlockStart<'_>, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        self.room.part()?;
        let raw = event.content_block.get();
        let started: StartedBlock<'_> = read(raw.as_bytes())?;
        let block = match &*started.kind {
            "text" => {
                self.room.bytes(started.text.len())?;
                say(&started.text);
                Block::Text(started.text.into_owned())
            }
            "tool_use" => {
                let (mut id, mut name, mut arguments) = (String::new(), String::new(), String::new());
                self.room.name(&mut id, &started.id)?;
                self.room.name(&mut name, &started.name)?;
                // An empty object is what stands here while the arguments are still to come.
                let input = started.input.map(|input| input.get()).filter(|input| *input != "{}" && *input != "null");
                self.room.arguments(&mut arguments, input.unwrap_or_default())?;
                Block::Call { id, name, arguments }
            }
            kind => {
                self.room.bytes(raw.len())?;
                self.fresh_thoughts.push_str(&started.thinking);
                Block::Opaque(Opaque { raw: raw.to_owned(), is_thinking: kind == "thinking", ..Opaque::default() })
            }
        };
        self.blocks.push((event.index, block));
        Ok(())
    }

    fn grow(&mut self, index: u64, delta: &Delta<'_>, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        let Self { blocks, room, fresh_thoughts, .. } = self;
        let Some((_, block)) = blocks.iter_mut().rev().find(|(of, _)| *of == index) else {
            return Err(failed(
                CallErrorKind::Garbled,
                format!("the answer went on with block {index}, which never began"),
            ));
        };
        match (block, &*delta.kind) {
            (Block::Text(text), TEXT) => {
                room.bytes(delta.text.len())?;
                text.push_str(&delta.text);
                say(&delta.text);
            }
            (Block::Call { arguments, .. }, INPUT) => room.arguments(arguments, &delta.partial_json)?,
            (Block::Opaque(block), kind) => {
                fresh_thoughts.push_str(&delta.thinking);
                block.grow(kind, delta, room)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The template of an event that adds a string to a block.
fn template(event: &str, index: u64, delta: &Delta<'_>) -> Option<EventTemplate<What>> {
    match &*delta.kind {
        TEXT => EventTemplate::of(What::Text(index), event, &delta.text),
        INPUT => EventTemplate::of(What::Input(index), event, &delta.partial_json),
        _ => None,
    }
}

impl Opaque {
    fn grow(&mut self, kind: &str, delta: &Delta<'_>, room: &mut Room) -> Result<(), CallError> {
        let (so_far, more) = match kind {
            "thinking_delta" => (&mut self.thinking, &delta.thinking),
            "signature_delta" => (&mut self.signature, &delta.signature),
            INPUT => (&mut self.input, &delta.partial_json),
            _ => return Ok(()),
        };
        room.bytes(more.len())?;
        so_far.push_str(more);
        Ok(())
    }

    /// The whole block: as it began when nothing was added, so that not a byte of it changes.
    fn into_json(self) -> Option<Json> {
        if self.thinking.is_empty() && self.signature.is_empty() && self.input.is_empty() {
            return self.is_sendable(&self.raw).then(|| Json::parse(&self.raw).ok()).flatten();
        }
        let mut block: Map<String, Value> = serde_json::from_str(&self.raw).ok()?;
        for (key, more) in [("thinking", &self.thinking), ("signature", &self.signature)] {
            if !more.is_empty() {
                let begun = block.get(key).and_then(Value::as_str).unwrap_or_default();
                block.insert(key.to_owned(), Value::String(format!("{begun}{more}")));
            }
        }
        if !self.input.is_empty() {
            block.insert("input".to_owned(), serde_json::from_str(&self.input).ok()?);
        }
        let json = Json::of(&block);
        self.is_sendable(json.text()).then_some(json)
    }

    /// Thinking that was cut off before its signature is refused when it is sent back.
    fn is_sendable(&self, block: &str) -> bool {
        #[derive(Deserialize)]
        struct Signed {
            #[serde(default)]
            signature: String,
        }
        !self.is_thinking || serde_json::from_str::<Signed>(block).is_ok_and(|block| !block.signature.is_empty())
    }
}

impl Block {
    fn into_piece(self) -> Option<Piece> {
        match self {
            Self::Text(text) => Some(Piece::Text(text)),
            Self::Call { id, name, arguments } => Some(Piece::Call { id, name, arguments }),
            Self::Opaque(block) => block.into_json().map(|raw| Piece::Opaque { wire: WIRE, raw }),
        }
    }
}

fn read<'a, T: Deserialize<'a>>(data: &'a [u8]) -> Result<T, CallError> {
    serde_json::from_slice(data)
        .map_err(|why| failed(CallErrorKind::Garbled, format!("an event of the answer could not be read: {why}")))
}
