//! Answers: events of the Responses API, read into items by index. An item that is told whole at its end counts as it is told there.
//! Unknown events are passed over; unknown items are kept.

use agent::Json;
use agent::model::{Answer, CallError, CallErrorKind, StopReason};
use serde::Deserialize;
use serde_json::Value;

use super::WIRE;
use super::wire::{Event, OutputItem, Phase, Response};
use crate::answer::{Draft, Piece, Room};
use crate::codec::AnswerReader;
use crate::failure::{failed, in_stream};
use crate::stream_reader::StreamState;
use crate::usage::UsageTally;

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Items in the order in which they began, each with the index that its events name.
    items: Vec<(u64, Item)>,
    usage: UsageTally,
    /// Why the answer ended.
    end: Option<StopReason>,
    room: Room,
    said: u64,
    /// What was thought since it was last asked for.
    fresh_thoughts: String,
    has_thought: bool,
}

#[derive(Debug)]
enum Item {
    Message {
        text: String,
        refusal: String,
        phase: Option<String>,
    },
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// As it was told at its end; none before that.
    Opaque(Option<String>),
}

impl AnswerReader for Reader {
    fn event(&mut self, data: &[u8], say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        // A gateway may end the stream as the older wire does.
        if data.trim_ascii() == b"[DONE]" {
            return Ok(());
        }
        let event: Event<'_> = read(data)?;
        self.said += 1;
        let (index, delta) = (event.output_index, event.delta.as_deref().unwrap_or_default());
        match &*event.kind {
            "response.output_item.added" => self.begin(index, event.item.map_or("{}", |item| item.get()), say)?,
            "response.output_item.done" => self.end_item(index, event.item.map_or("{}", |item| item.get()), say)?,
            "response.output_text.delta" => self.text_delta(index, delta, say, |text, _| text)?,
            "response.refusal.delta" => self.text_delta(index, delta, say, |_, refusal| refusal)?,
            "response.function_call_arguments.delta" => self.arguments(index, delta)?,
            "response.completed" => self.end_all(event.response.map_or("{}", |response| response.get()), say)?,
            "response.incomplete" => {
                let response = event.response.map_or("{}", |response| response.get());
                self.end_all(response, say)?;
                let why = read::<Response<'_>>(response.as_bytes())?.incomplete_details.and_then(|why| why.reason);
                let is_filtered = why.as_deref() == Some("content_filter");
                self.end = Some(if is_filtered { StopReason::Refusal } else { StopReason::MaxTokens });
            }
            "response.failed" | "error" => {
                let told: Value = read(data)?;
                let nested = [&told["response"]["error"], &told["error"]].into_iter().find(|error| error.is_object());
                return Err(in_stream(nested.unwrap_or(&told)));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.room.bytes(delta.len())?;
                self.fresh_thoughts.push_str(delta);
                self.has_thought = true;
            }
            // One thought after another.
            "response.reasoning_summary_part.added" if self.has_thought => self.fresh_thoughts.push_str("\n\n"),
            // Also what says only that the server is at work.
            _ => self.said -= u64::from(!event.kind.starts_with("response.reasoning")),
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        #[derive(Deserialize)]
        struct Status {
            status: String,
        }
        let Ok(Status { status }) = read::<Status>(body) else { return self.event(body, say) };
        let told: Value = read(body)?;
        let output = told["output"].as_array().map(Vec::as_slice).unwrap_or_default();
        let summaries = output.iter().filter_map(|item| item["summary"].as_array()).flatten();
        let thoughts: Vec<&str> = summaries.filter_map(|summary| summary["text"].as_str()).collect();
        self.fresh_thoughts = thoughts.join("\n\n");
        let event = format!(r#"{{"type":"response.{status}","response":{}}}"#, String::from_utf8_lossy(body));
        self.event(event.as_bytes(), say)
    }

    fn take_thoughts(&mut self) -> String {
        std::mem::take(&mut self.fresh_thoughts)
    }

    fn said(&self) -> u64 {
        self.said
    }

    fn heard(&self) -> StreamState {
        if self.end.is_some() { StreamState::End } else { StreamState::Part }
    }

    fn text(&self) -> String {
        let text = |(_, item): &'_ (u64, Item)| match item {
            Item::Message { text, refusal, .. } => format!("{text}{refusal}"),
            Item::Call { .. } | Item::Opaque(_) => String::new(),
        };
        self.items.iter().map(text).collect()
    }

    fn bytes(&self) -> usize {
        self.room.used()
    }

    fn finish(mut self: Box<Self>) -> Answer {
        self.items.sort_by_key(|(index, _)| *index);
        let is_refusal = |(_, item): &(u64, Item)| matches!(item, Item::Message { refusal, .. } if !refusal.is_empty());
        let stop = match self.end {
            _ if self.items.iter().any(is_refusal) => StopReason::Refusal,
            Some(stop) => stop,
            None => StopReason::EndTurn,
        };
        let pieces = self.items.into_iter().flat_map(|(_, item)| item.into_pieces()).collect();
        Draft { pieces, stop, tokens: self.usage.responses() }.finish()
    }
}

impl Reader {
    /// Takes the beginning of an item.
    fn begin(&mut self, index: u64, raw: &str, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        self.room.part()?;
        let item: OutputItem<'_> = read(raw.as_bytes())?;
        let begun = match &*item.kind {
            "message" => Item::Message { text: String::new(), refusal: String::new(), phase: item.phase.clone() },
            "function_call" => {
                let (mut id, mut name) = (String::new(), String::new());
                self.room.name(&mut id, &item.call_id)?;
                self.room.name(&mut name, &item.name)?;
                Item::Call { id, name, arguments: String::new() }
            }
            _ => Item::Opaque(None),
        };
        self.items.push((index, begun));
        self.fill(index, &item, say)
    }

    /// Takes an item as it is at its end, also one that nothing was told of before.
    fn end_item(&mut self, index: u64, raw: &str, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        if self.find(index).is_none() {
            self.begin(index, raw, say)?;
        }
        let item: OutputItem<'_> = read(raw.as_bytes())?;
        self.fill(index, &item, say)?;
        if let Some(Item::Opaque(kept)) = self.items.iter_mut().rev().find(|(of, _)| *of == index).map(|(_, item)| item)
        {
            self.room.bytes(raw.len())?;
            *kept = Some(raw.to_owned());
        }
        Ok(())
    }

    /// Takes what an item says beyond its deltas.
    fn fill(&mut self, index: u64, item: &OutputItem<'_>, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        let Self { items, room, .. } = self;
        match items.iter_mut().rev().find(|(of, _)| *of == index).map(|(_, item)| item) {
            Some(Item::Message { text, refusal, phase }) => {
                let content = item.content.as_deref().unwrap_or_default();
                let whole = |part: fn(&super::wire::Content) -> Option<&str>| -> String {
                    content.iter().filter_map(part).collect()
                };
                complete(text, &whole(|part| part.text.as_deref()), room, say)?;
                complete(refusal, &whole(|part| part.refusal.as_deref()), room, say)?;
                if item.phase.is_some() {
                    phase.clone_from(&item.phase);
                }
                Ok(())
            }
            Some(Item::Call { arguments, .. }) => complete(arguments, &item.arguments, room, &mut |_| {}),
            Some(Item::Opaque(_)) | None => Ok(()),
        }
    }

    fn text_delta(
        &mut self,
        index: u64,
        delta: &str,
        say: &mut dyn FnMut(&str),
        which: for<'t> fn(&'t mut String, &'t mut String) -> &'t mut String,
    ) -> Result<(), CallError> {
        if self.find(index).is_none() {
            self.room.part()?;
            self.items.push((index, Item::Message { text: String::new(), refusal: String::new(), phase: None }));
        }
        self.room.bytes(delta.len())?;
        if let Some(Item::Message { text, refusal, .. }) = self.find(index) {
            which(text, refusal).push_str(delta);
            say(delta);
        }
        Ok(())
    }

    fn arguments(&mut self, index: u64, delta: &str) -> Result<(), CallError> {
        let Self { items, room, .. } = self;
        match items.iter_mut().rev().find(|(of, _)| *of == index) {
            Some((_, Item::Call { arguments, .. })) => room.arguments(arguments, delta),
            _ => {
                Err(failed(CallErrorKind::Garbled, format!("the answer went on with call {index}, which never began")))
            }
        }
    }

    /// Takes the end of the answer. A server that tells everything only there tells it here.
    fn end_all(&mut self, raw: &str, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        let response: Response<'_> = read(raw.as_bytes())?;
        if let Some(error) = response.error.filter(|error| !error.is_null()) {
            return Err(in_stream(&error));
        }
        if self.items.is_empty() {
            for (index, item) in (0..).zip(response.output.into_iter().flatten()) {
                self.end_item(index, item.get(), say)?;
            }
        }
        self.usage.note(response.usage);
        self.end = Some(StopReason::EndTurn);
        Ok(())
    }

    fn find(&mut self, index: u64) -> Option<&mut Item> {
        self.items.iter_mut().rev().find(|(of, _)| *of == index).map(|(_, item)| item)
    }
}

/// Makes a text what it is as a whole, and says what is new. What was streamed and is not its beginning stays as it is.
fn complete(so_far: &mut String, whole: &str, room: &mut Room, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
    if let Some(more) = whole.strip_prefix(so_far.as_str()).filter(|more| !more.is_empty()) {
        room.bytes(more.len())?;
        say(more);
        so_far.push_str(more);
    }
    Ok(())
}

impl Item {
    fn into_pieces(self) -> Vec<Piece> {
        match self {
            Self::Message { text, refusal, phase } => {
                let label = phase.filter(|_| !text.is_empty()).map(|phase| Json::of(&Phase { phase }));
                let label = label.map(|raw| Piece::Opaque { wire: WIRE, raw });
                label.into_iter().chain([Piece::Text(text), Piece::Text(refusal)]).collect()
            }
            Self::Call { id, name, arguments } => vec![Piece::Call { id, name, arguments }],
            Self::Opaque(raw) => {
                let raw = raw.and_then(|raw| Json::parse(&raw).ok());
                raw.map(|raw| Piece::Opaque { wire: WIRE, raw }).into_iter().collect()
            }
        }
    }
}

fn read<'a, T: Deserialize<'a>>(data: &'a [u8]) -> Result<T, CallError> {
    serde_json::from_slice(data)
        .map_err(|why| failed(CallErrorKind::Garbled, format!("an event of the answer could not be read: {why}")))
}
