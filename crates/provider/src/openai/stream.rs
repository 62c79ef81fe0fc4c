//! Answers: chunks of a chat completion, read into one text and a list of calls.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use agent::model::{Answer, CallError, CallErrorKind, StopReason};

use super::wire::{CallDelta, Choice, Chunk, Delta, FunctionDelta};
use crate::answer::{Draft, Piece, Room, is_whole};
use crate::codec::AnswerReader;
use crate::failure::{failed, in_stream};
use crate::stream_reader::StreamState;
use crate::template::EventTemplate;
use crate::usage::UsageTally;

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    text: String,
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
    /// To the call with this index.
    Arguments(Option<u64>),
}

#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
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
            self.thought(data);
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

    /// The answer, once its end was heard.
    fn finish(self: Box<Self>) -> Answer {
        let stop = match self.finish_reason.as_deref() {
            _ if !self.refusal.is_empty() => StopReason::Refusal,
            Some("length") => StopReason::MaxTokens,
            Some("tool_calls" | "function_call") => StopReason::ToolUse,
            Some("content_filter") => StopReason::Refusal,
            _ => StopReason::EndTurn,
        };
        let mut pieces = Vec::with_capacity(2 + self.calls.len());
        pieces.extend([Piece::Text(self.text), Piece::Text(self.refusal)]);
        pieces.extend(self.calls.into_iter().enumerate().map(|(nth, call)| {
            let id = if call.id.is_empty() { format!("call_{nth}") } else { call.id };
            Piece::Call { id, name: call.name, arguments: call.arguments }
        }));
        Draft { pieces, stop, tokens: self.usage.openai() }.finish()
    }
}

impl Reader {
    /// Takes an event that adds nothing to the answer. Some models think aloud in fields that are not read, for as long as they
    /// like; what only keeps the connection alive says the same each time.
    fn thought(&mut self, data: &[u8]) {
        let mut hasher = DefaultHasher::new();
        data.hash(&mut hasher);
        let is_other = self.last_thought.replace(hasher.finish()) != Some(hasher.finish());
        self.said += u64::from(is_other);
    }

    fn choice(&mut self, choice: Choice<'_>, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        self.usage.note(choice.usage);
        let Delta { content, refusal, tool_calls } =
            choice.delta.unwrap_or(Delta { content: None, refusal: None, tool_calls: None });
        if let Some(more) = content {
            self.words(&more, say)?;
        }
        if let Some(more) = refusal {
            self.room.bytes(more.len())?;
            self.said += u64::from(!more.is_empty());
            self.refusal.push_str(&more);
            say(&more);
        }
        for delta in tool_calls.into_iter().flatten() {
            let name = delta.function.as_ref().and_then(|function| function.name.as_deref()).unwrap_or_default();
            self.call(delta.index, delta.id.as_deref().unwrap_or_default(), name, &arguments(&delta)?)?;
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.said += 1;
            self.finish_reason = Some(reason);
        }
        Ok(())
    }

    fn words(&mut self, more: &str, say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        self.room.bytes(more.len())?;
        self.said += u64::from(!more.is_empty());
        self.text.push_str(more);
        say(more);
        Ok(())
    }

    fn call(&mut self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> Result<(), CallError> {
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
        self.room.arguments(&mut call.arguments, arguments)
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
    match delta {
        Delta { content: Some(words), refusal: None, tool_calls: None } => EventTemplate::of(What::Words, event, words),
        Delta { content: None, refusal: None, tool_calls: Some(calls) } => {
            let [CallDelta { index, id: None, function: Some(function) }] = &calls[..] else { return None };
            let FunctionDelta { name: None, arguments: Some(arguments) } = function else { return None };
            let arguments = arguments.get().strip_prefix('"')?.strip_suffix('"')?;
            EventTemplate::of(What::Arguments(*index), event, arguments)
        }
        _ => None,
    }
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
