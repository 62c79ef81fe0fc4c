//! Answers: chunks of a chat completion, read into one text and a list of calls.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use agent::Json;
use agent::model::{Answer, CallError, CallErrorKind, StopReason, Tokens};
use serde_json::Value;
use serde_json::value::RawValue;

use super::WIRE;
use super::thoughts::{Field, Thoughts};
use super::wire::{CallDelta, Choice, Chunk, ContentDelta, Delta, FunctionDelta, KeptOfCall};
use crate::answer::{Draft, Piece, Room, is_whole};
use crate::codec::AnswerReader;
use crate::failure::{failed, in_stream};
use crate::stream_reader::StreamState;
use crate::template::EventTemplate;
use crate::think_tags::Lead;
use crate::usage::UsageTally;

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    text: String,
    /// Thoughts at the beginning of the text, while they may be there.
    lead: Lead,
    thoughts: Thoughts,
    /// What was thought since it was last asked for.
    fresh_thoughts: String,
    refusal: String,
    calls: Vec<PartialCall>,
    usage: UsageTally,
    finish_reason: Option<String>,
    done: bool,
    room: Room,
    said: u64,
    /// What the last event without a word of the answer was, as a number.
    last_thought: Option<u64>,
    template: Option<EventTemplate<What>>,
    #[cfg(any(test, fuzzing))]
    is_plain: bool,
}

/// What most events add, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Words,
    Thought(Field),
    /// To the call with this index.
    Arguments(Option<u64>),
}

#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra_content: Option<String>,
}

impl Reader {
    /// A reader that reads every event by itself.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn plain() -> Self {
        Self { is_plain: true, ..Self::default() }
    }
}

impl AnswerReader for Reader {
    /// How often something was said: words, a call, an end, a bill, another thought.
    fn said(&self) -> u64 {
        self.said
    }

    /// Takes the data of one event.
    fn event(&mut self, data: &[u8], say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        if data.trim_ascii() == b"[DONE]" {
            self.done = true;
            return Ok(());
        }
        // Text that is known to be text is not looked at again, string by string.
        let text = std::str::from_utf8(data).ok();
        match text.and_then(|text| self.template.as_ref()?.read(text)) {
            Some((What::Words, words)) => return self.words(&words, say),
            Some((What::Thought(field), thought)) => return self.thought(field, &thought),
            Some((What::Arguments(index), arguments)) => return self.call(index, "", "", &arguments),
            None => {}
        }
        let chunk = text.map_or_else(|| serde_json::from_slice(data), serde_json::from_str);
        let chunk: Chunk<'_> = chunk
            .map_err(|why| failed(CallErrorKind::Garbled, format!("a chunk of the answer could not be read: {why}")))?;
        self.template = text.and_then(|text| template(text, &chunk));
        #[cfg(any(test, fuzzing))]
        self.template.take_if(|_| self.is_plain);
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(in_stream(&error));
        }
        self.said += u64::from(chunk.usage.is_some());
        self.usage.note(chunk.usage);
        let said = self.said;
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0) {
            self.choice(choice, say)?;
        }
        if self.said == said {
            self.sign_of_life(data);
        }
        Ok(())
    }

    /// How far the answer is. Its end is the reason why it ended: `[DONE]` alone is also what a gateway says when the
    /// server behind it broke off.
    fn heard(&self) -> StreamState {
        match (&self.finish_reason, self.done) {
            (Some(_), true) => StreamState::End,
            (Some(_), false) => StreamState::Whole,
            (None, _) => StreamState::Part,
        }
    }

    /// The words so far.
    fn text(&self) -> String {
        format!("{}{}", self.text, self.refusal)
    }

    fn take_thoughts(&mut self) -> String {
        std::mem::take(&mut self.fresh_thoughts) + &self.lead.take_thoughts()
    }

    /// What the answer used; none before the figures are final, which they are once it is said why the model stopped.
    fn bill(&self) -> Option<Tokens> {
        self.finish_reason.as_ref().and_then(|_| self.usage.openai())
    }

    fn bytes(&self) -> usize {
        self.room.used()
    }

    /// The answer, once its end was heard.
    fn finish(mut self: Box<Self>) -> Answer {
        let stop = match self.finish_reason.as_deref() {
            _ if !self.refusal.is_empty() => StopReason::Refusal,
            Some("length") => StopReason::MaxTokens,
            Some("tool_calls" | "function_call") => StopReason::ToolUse,
            Some("content_filter") => StopReason::Refusal,
            _ => StopReason::EndTurn,
        };
        let (think, words) = self.lead.finish(stop == StopReason::MaxTokens);
        self.text.push_str(&words);
        let mut pieces = Vec::with_capacity(3 + self.calls.len());
        pieces.extend(self.thoughts.kept(&think).map(|raw| Piece::Opaque { wire: WIRE, raw }));
        pieces.extend([Piece::Text(self.text), Piece::Text(self.refusal)]);
        for (nth, call) in self.calls.into_iter().enumerate() {
            let extra_content = call.extra_content.and_then(|raw| Json::parse(&raw).ok());
            let kept = extra_content.map(|extra| Json::of(&KeptOfCall { call_extra_content: extra.raw() }));
            pieces.extend(kept.map(|raw| Piece::Opaque { wire: WIRE, raw }));
            let id = if call.id.is_empty() { format!("call_{nth}") } else { call.id };
            pieces.push(Piece::Call { id, name: call.name, arguments: call.arguments });
        }
        Draft { pieces, stop, tokens: self.usage.openai() }.finish()
    }
}

impl Reader {
    /// Takes an event that adds nothing to the answer. Some models think aloud in fields that are not known, for as long as they
    /// like; what only keeps the connection alive says the same each time.
    fn sign_of_life(&mut self, data: &[u8]) {
        let mut hasher = DefaultHasher::new();
        data.hash(&mut hasher);
        let is_other = self.last_thought.replace(hasher.finish()) != Some(hasher.finish());
        self.said += u64::from(is_other);
    }

    fn choice(&mut self, choice: Choice<'_>, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        self.usage.note(choice.usage);
        let delta = choice.delta.unwrap_or_default();
        self.beside(&delta)?;
        match delta.content {
            // Gemini's server marks thoughts that stand in the place of words.
            Some(ContentDelta::Words(more)) if is_thought(delta.extra_content) => {
                self.thought(Field::Reasoning, &more)?;
            }
            Some(ContentDelta::Words(more)) => self.words(&more, say)?,
            Some(ContentDelta::List(parts)) => {
                for part in &parts {
                    self.part(part, say)?;
                }
            }
            None => {}
        }
        if let Some(more) = delta.refusal {
            self.room.bytes(more.len())?;
            self.said += u64::from(!more.is_empty());
            self.refusal.push_str(&more);
            say(&more);
        }
        for delta in delta.tool_calls.into_iter().flatten() {
            let name = delta.function.as_ref().and_then(|function| function.name.as_deref()).unwrap_or_default();
            let nth =
                self.call_part(delta.index, delta.id.as_deref().unwrap_or_default(), name, &arguments(&delta)?)?;
            if let Some(extra) = there(delta.extra_content) {
                self.room.bytes(extra.get().len())?;
                self.calls[nth].extra_content = Some(extra.get().to_owned());
            }
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.said += 1;
            self.finish_reason = Some(reason);
        }
        Ok(())
    }

    /// Takes what stands beside the words.
    fn beside(&mut self, delta: &Delta<'_>) -> Result<(), CallError> {
        for (field, raw) in [(Field::ReasoningContent, delta.reasoning_content), (Field::Reasoning, delta.reasoning)] {
            if let Some(Ok(more)) = raw.map(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get())) {
                self.thought(field, &more)?;
            }
        }
        let Self { thoughts, room, said, .. } = self;
        if let Some(raw) = there(delta.reasoning_details) {
            *said += 1;
            thoughts.details(raw, room)?;
        }
        if let Some(raw) = there(delta.thinking_blocks) {
            *said += 1;
            thoughts.blocks(raw, room)?;
        }
        if let Some(raw) = there(delta.extra_content).filter(|raw| !is_thought(Some(raw))) {
            thoughts.extra(raw, room)?;
        }
        Ok(())
    }

    /// Takes a part of a list of words and thoughts. Parts of other kinds add nothing.
    fn part(&mut self, part: &Value, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        match (part["type"].as_str(), &part["thinking"]) {
            (Some("thinking"), Value::String(thought)) => self.thought(Field::Thinking, thought),
            (Some("thinking"), Value::Array(thoughts)) => thoughts
                .iter()
                .filter_map(|thought| thought["text"].as_str())
                .try_for_each(|thought| self.thought(Field::Thinking, thought)),
            _ => self.words(part["text"].as_str().unwrap_or_default(), say),
        }
    }

    fn thought(&mut self, field: Field, more: &str) -> Result<(), CallError> {
        self.thoughts.text(field, more, &mut self.room)?;
        self.said += u64::from(!more.is_empty());
        self.fresh_thoughts.push_str(more);
        Ok(())
    }

    fn words(&mut self, more: &str, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        self.room.bytes(more.len())?;
        self.said += u64::from(!more.is_empty());
        if self.lead.is_over() {
            self.text.push_str(more);
            say(more);
            return Ok(());
        }
        let words = self.lead.take(more);
        self.text.push_str(&words);
        say(&words);
        Ok(())
    }

    fn call(&mut self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> Result<(), CallError> {
        self.call_part(index, id, name, arguments).map(drop)
    }

    /// Takes a piece of a call, and says which call it is.
    fn call_part(&mut self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> Result<usize, CallError> {
        self.said += u64::from(!(id.is_empty() && name.is_empty() && arguments.is_empty()));
        let nth = match self.find(index, id, name) {
            Some(nth) => nth,
            None => {
                self.room.part()?;
                self.calls.push(PartialCall { index, ..PartialCall::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[nth];
        if call.id.is_empty() {
            self.room.name(&mut call.id, id)?;
        }
        // Some servers repeat the name in every chunk, a few send it in pieces.
        if call.name != name {
            self.room.name(&mut call.name, name)?;
        }
        self.room.arguments(&mut call.arguments, arguments)?;
        Ok(nth)
    }

    /// The call that a delta goes on with: by id, else by index, else the last one. A whole call followed by another
    /// name without an id is the way in which some servers begin the next call.
    fn find(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let same_index = |call: &PartialCall| match (call.index, index) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        if !id.is_empty() {
            let is_it = |call: &PartialCall| call.id == id || (call.id.is_empty() && call.index.is_some());
            return self.calls.iter().rposition(|call| is_it(call) && same_index(call));
        }
        let nth = self.calls.iter().rposition(same_index)?;
        let call = &self.calls[nth];
        let begins_another = !name.is_empty() && is_whole(&call.arguments);
        (!begins_another).then_some(nth)
    }
}

/// The template of a chunk that adds a string to the first choice and says nothing else.
fn template(event: &str, chunk: &Chunk<'_>) -> Option<EventTemplate<What>> {
    let Chunk { choices: Some(choices), usage: None, error: None } = chunk else { return None };
    let [Choice { index: None | Some(0), delta: Some(delta), finish_reason: None, usage: None }] = &choices[..] else {
        return None;
    };
    let alone = |delta: &Delta<'_>| {
        delta.refusal.is_none()
            && [delta.reasoning_details, delta.thinking_blocks, delta.extra_content].iter().all(Option::is_none)
    };
    match delta {
        delta if !alone(delta) => None,
        Delta {
            content: Some(ContentDelta::Words(words)),
            tool_calls: None,
            reasoning_content: None,
            reasoning: None,
            ..
        } => EventTemplate::of(What::Words, event, words),
        Delta { content: None, tool_calls: None, reasoning_content, reasoning, .. } => {
            let (field, raw) = match (reasoning_content, reasoning) {
                (Some(raw), None) => (Field::ReasoningContent, raw),
                (None, Some(raw)) => (Field::Reasoning, raw),
                _ => return None,
            };
            EventTemplate::of(What::Thought(field), event, unquoted(raw)?)
        }
        Delta { content: None, tool_calls: Some(calls), reasoning_content: None, reasoning: None, .. } => {
            let [CallDelta { index, id: None, function: Some(function), extra_content: None }] = &calls[..] else {
                return None;
            };
            let FunctionDelta { name: None, arguments: Some(arguments) } = function else { return None };
            EventTemplate::of(What::Arguments(*index), event, unquoted(arguments)?)
        }
        _ => None,
    }
}

/// What stands between the quotes of a string.
fn unquoted(raw: &RawValue) -> Option<&str> {
    raw.get().strip_prefix('"')?.strip_suffix('"')
}

/// A value that is not null.
fn there(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}

/// Whether the words beside it are the model's thoughts.
fn is_thought(extra_content: Option<&RawValue>) -> bool {
    let extra: Option<Value> = extra_content.and_then(|raw| serde_json::from_str(raw.get()).ok());
    extra.is_some_and(|extra| extra["google"]["thought"] == true || extra["vertex"]["thought"] == true)
}

fn arguments<'a>(delta: &CallDelta<'a>) -> Result<Cow<'a, str>, CallError> {
    let Some(raw) = delta.function.as_ref().and_then(|function| function.arguments) else { return Ok("".into()) };
    match raw.get() {
        "null" => Ok("".into()),
        text if text.starts_with('"') => serde_json::from_str::<String>(text)
            .map(Cow::Owned)
            .map_err(|why| failed(CallErrorKind::Garbled, format!("arguments of a call could not be read: {why}"))),
        text => Ok(Cow::Borrowed(text)),
    }
}
