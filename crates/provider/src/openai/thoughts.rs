//! The thoughts that a server shows beside an answer, in every form that is in use: two fields of text, two lists of blocks with
//! signatures, `<think>…</think>` before the words (`think_tags.rs`), and a list that holds words and thoughts.
//!
//! They are gathered apart from the words. Which of them a server gets back is decided where requests are written.

use agent::Json;
use agent::model::CallError;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::wire::Kept;
use crate::answer::Room;

/// The thoughts of one answer so far.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    reasoning_content: String,
    reasoning: String,
    thinking: String,
    details: Vec<Block>,
    blocks: Vec<Block>,
    extra_content: Option<String>,
}

/// A block of thoughts, with its text while nothing was added to it.
#[derive(Debug)]
struct Block {
    fields: Map<String, Value>,
    raw: Option<String>,
}

/// A field that holds thoughts as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    ReasoningContent,
    Reasoning,
    /// A part of the list that holds the words, too.
    Thinking,
}

impl Thoughts {
    /// Takes more of a text.
    pub(super) fn text(&mut self, field: Field, more: &str, room: &mut Room) -> Result<(), CallError> {
        room.bytes(more.len())?;
        match field {
            Field::ReasoningContent => self.reasoning_content.push_str(more),
            Field::Reasoning => self.reasoning.push_str(more),
            Field::Thinking => self.thinking.push_str(more),
        }
        Ok(())
    }

    /// Takes more `reasoning_details`. Pieces of one block have its type and its index.
    pub(super) fn details(&mut self, raw: &RawValue, room: &mut Room) -> Result<(), CallError> {
        let is_same = |one: &Map<String, Value>, other: &Map<String, Value>| {
            one.get("type") == other.get("type") && one.get("index") == other.get("index")
        };
        gather(&mut self.details, raw, &["text", "summary", "data"], is_same, room)
    }

    /// Takes more `thinking_blocks`. A block goes on until its signature has come; one that is redacted comes whole.
    pub(super) fn blocks(&mut self, raw: &RawValue, room: &mut Room) -> Result<(), CallError> {
        let is_same = |one: &Map<String, Value>, other: &Map<String, Value>| {
            let is_thinking = |block: &Map<String, Value>| block.get("type").is_some_and(|kind| kind == "thinking");
            let is_signed = one.get("signature").and_then(Value::as_str).is_some_and(|signature| !signature.is_empty());
            is_thinking(one) && is_thinking(other) && !is_signed
        };
        gather(&mut self.blocks, raw, &["thinking", "signature"], is_same, room)
    }

    /// Takes what stands beside the words for the provider alone. The last one counts.
    pub(super) fn extra(&mut self, raw: &RawValue, room: &mut Room) -> Result<(), CallError> {
        room.bytes(raw.get().len())?;
        self.extra_content = Some(raw.get().to_owned());
        Ok(())
    }

    /// What is kept of them, together with those that stood before the words; none where there were none.
    pub(super) fn kept(self, think: &str) -> Option<Json> {
        let text = |text: &str| (!text.is_empty()).then(|| Json::of(text));
        let block = |block: Block| match block.raw {
            Some(raw) => raw,
            None => Json::of(&block.fields).text().to_owned(),
        };
        let list = |list: Vec<Block>| {
            let blocks: Vec<String> = list.into_iter().map(block).collect();
            (!blocks.is_empty()).then(|| Json::parse(&format!("[{}]", blocks.join(","))).ok()).flatten()
        };
        let (reasoning_content, reasoning) = (text(&self.reasoning_content), text(&self.reasoning));
        let (think, thinking) = (text(think), text(&self.thinking));
        let (details, blocks) = (list(self.details), list(self.blocks));
        let extra_content = self.extra_content.and_then(|raw| Json::parse(&raw).ok());
        let all = [&reasoning_content, &reasoning, &think, &thinking, &details, &blocks, &extra_content];
        all.iter().any(|kept| kept.is_some()).then(|| {
            Json::of(&Kept {
                reasoning_content: reasoning_content.as_ref().map(Json::raw),
                reasoning: reasoning.as_ref().map(Json::raw),
                think: think.as_ref().map(Json::raw),
                thinking: thinking.as_ref().map(Json::raw),
                reasoning_details: details.as_ref().map(Json::raw),
                thinking_blocks: blocks.as_ref().map(Json::raw),
                extra_content: extra_content.as_ref().map(Json::raw),
            })
        })
    }
}

/// Adds the pieces of `raw` to the blocks that they go on with, or as blocks of their own. Only objects are blocks.
fn gather(
    blocks: &mut Vec<Block>,
    raw: &RawValue,
    grows: &[&str],
    is_same: impl Fn(&Map<String, Value>, &Map<String, Value>) -> bool,
    room: &mut Room,
) -> Result<(), CallError> {
    let Ok(pieces) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else { return Ok(()) };
    room.bytes(raw.get().len())?;
    for piece in pieces {
        let Ok(fields) = serde_json::from_str::<Map<String, Value>>(piece.get()) else { continue };
        let Some(block) = blocks.last_mut().filter(|block| is_same(&block.fields, &fields)) else {
            room.part()?;
            blocks.push(Block { fields, raw: Some(piece.get().to_owned()) });
            continue;
        };
        block.raw = None;
        for (key, value) in fields {
            match (block.fields.get_mut(&key), value) {
                (_, Value::Null) => {}
                (Some(Value::String(so_far)), Value::String(more)) if grows.contains(&key.as_str()) => {
                    so_far.push_str(&more);
                }
                (_, value) => drop(block.fields.insert(key, value)),
            }
        }
    }
    Ok(())
}
