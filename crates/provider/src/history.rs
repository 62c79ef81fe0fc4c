//! What a conversation has said so far, as its wire writes it. Each message is turned into bytes once, when it is said;
//! request bodies are joined from those. Only what a server does not take is written again without it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use agent::CallId;
use agent::message::{Message, Part, Role};
use agent::model::Answer;
use agent::tools::ToolInfo;

use crate::attached::{Attached, Taken};
use crate::config::Wire;

/// The tool of each call of a conversation.
pub(crate) type CallNames = HashMap<CallId, Arc<str>>;

/// A conversation so far. Cheap to clone: the bytes are shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// How messages are written; none where they are not.
    writing: Option<Writing>,
    /// System prompt and tools.
    pub(crate) opening: Opening,
    /// One entry per message that leaves something to be sent.
    pub(crate) said: Vec<Rendered>,
    /// The first words of the world: the brief, or the prompt.
    pub(crate) first_user_text: Option<Arc<str>>,
    /// How many messages there are.
    pub(crate) messages: usize,
    /// How many of them are the model's.
    pub(crate) assistant_messages: usize,
    /// What the model reads, roughly.
    pub(crate) bytes: usize,
    /// All calls, so that no answer brings one of them a second time.
    calls: CallNames,
}

/// System prompt and tools as JSON fragments of one wire; empty where there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opening {
    /// What conversations that begin alike share of the system prompt.
    pub(crate) system: Arc<str>,
    /// What this conversation alone has of it.
    pub(crate) own: Arc<str>,
    pub(crate) tools: Arc<str>,
}

impl Opening {
    /// This opening for one conversation, with what its system prompt says behind what all share.
    pub(crate) fn with_own(self, wire: Wire, own: &str) -> Self {
        if own.trim().is_empty() { self } else { Self { own: wire.system(own).into(), ..self } }
    }

    /// What this conversation alone has of the system prompt, and words that one request says behind it.
    pub(crate) fn own_with(&self, wire: Wire, words: Option<String>) -> Cow<'_, str> {
        let Some(words) = words else { return Cow::Borrowed(&*self.own) };
        match wire {
            Wire::Anthropic | Wire::Gemini => {
                let words = wire.system(&words);
                Cow::Owned(if self.own.is_empty() { words } else { format!("{},{words}", self.own) })
            }
            Wire::OpenAi | Wire::Responses | Wire::Ollama if self.system.is_empty() && self.own.is_empty() => {
                Cow::Owned(wire.system(&words))
            }
            Wire::OpenAi | Wire::Responses | Wire::Ollama => {
                let words = wire.system(&format!("\n\n{words}"));
                Cow::Owned(joined_strings(&self.own, &words).into_owned())
            }
        }
    }

    /// The whole system prompt, where both parts are JSON strings.
    pub(crate) fn joined_system<'a>(&'a self, own: &'a str) -> Cow<'a, str> {
        joined_strings(&self.system, own)
    }
}

/// Two JSON strings as one; an empty text is none.
fn joined_strings<'a>(one: &'a str, other: &'a str) -> Cow<'a, str> {
    match (one, other) {
        (one, "") => Cow::Borrowed(one),
        ("", other) => Cow::Borrowed(other),
        (one, other) => {
            let (one, other) = (one.strip_suffix('"'), other.strip_prefix('"'));
            Cow::Owned(format!("{}{}", one.unwrap_or_default(), other.unwrap_or_default()))
        }
    }
}

/// How the messages of a conversation are written.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    pub(crate) wire: Wire,
    /// The model, as `provider/model`. What another one gave is not for its server: it is refused there, and is nothing that it should see.
    pub(crate) model: Arc<str>,
    /// What the model is shown of images and documents.
    pub(crate) attached: Attached,
}

/// What requests leave out of what was said, because their server does not take it: of how many messages, from the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The model's thoughts.
    pub(crate) thoughts: usize,
    pub(crate) images: usize,
    pub(crate) documents: usize,
    /// What the model does not take at all.
    pub(crate) all_images: bool,
    pub(crate) all_documents: bool,
}

/// What a request holds that a server may not take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// The model's thoughts.
    pub(crate) thoughts: bool,
    pub(crate) images: bool,
    pub(crate) documents: bool,
}

/// A message of which a server may not take all.
#[derive(Clone, Debug)]
struct Source {
    /// Its place among all messages.
    nth: usize,
    message: Message,
}

impl Writing {
    /// A message without the blocks that another model gave.
    fn own<'a>(&self, message: &'a Message) -> Cow<'a, Message> {
        let is_foreign = |part: &Part| matches!(part, Part::Opaque { from: Some(from), .. } if **from != *self.model);
        if !message.parts.iter().any(is_foreign) {
            return Cow::Borrowed(message);
        }
        let mut message = message.clone();
        message.parts.retain(|part| !is_foreign(part));
        Cow::Owned(message)
    }

    /// One message without what is left out.
    fn write(&self, source: &Source, calls: &CallNames, left_out: &LeftOut) -> Rendered {
        let mut message = source.message.clone();
        if source.nth < left_out.thoughts {
            message.parts.retain(|part| !self.is_thought(part));
        }
        let taken = |is_refused: bool, nth: usize| match is_refused {
            true => Taken::NotByModel,
            false if source.nth < nth => Taken::NotThisOne,
            false => Taken::Shown,
        };
        let images = taken(left_out.all_images, left_out.images);
        let documents = taken(left_out.all_documents, left_out.documents);
        self.wire.render(&message, calls, &self.attached.without(images, documents))
    }

    fn is_thought(&self, part: &Part) -> bool {
        matches!(part, Part::Opaque { wire, raw, .. } if **wire == *self.wire.name() && self.wire.is_thought(raw))
    }
}

impl Held {
    fn or(self, other: Self) -> Self {
        Self {
            thoughts: self.thoughts || other.thoughts,
            images: self.images || other.images,
            documents: self.documents || other.documents,
        }
    }
}

impl Source {
    /// The message, if there is anything in it that a server may not take.
    fn of(nth: usize, message: &Message) -> Option<Self> {
        let may_be_refused = message.parts.iter().any(|part| matches!(part, Part::Opaque { .. } | Part::Attached(_)));
        may_be_refused.then(|| Self { nth, message: message.clone() })
    }

    /// What of it a request holds.
    fn held(&self, writing: &Writing, left_out: &LeftOut) -> Held {
        let has = |is: &dyn Fn(&Part) -> bool| self.message.parts.iter().any(is);
        let shows =
            |is_image: bool| has(&|part| matches!(part, Part::Attached(file) if file.media.is_image() == is_image));
        Held {
            thoughts: self.nth >= left_out.thoughts && has(&|part| writing.is_thought(part)),
            images: !left_out.all_images && self.nth >= left_out.images && shows(true),
            documents: !left_out.all_documents && self.nth >= left_out.documents && shows(false),
        }
    }
}

/// One message as JSON fragments of one wire, without the commas around them. Results of tools are apart, because all
/// wires want them directly behind the calls, before anything else that was said in the meantime.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    pub(crate) role: Role,
    pub(crate) results: Arc<str>,
    pub(crate) rest: Arc<str>,
    /// `rest` with the model's thoughts in it, or with placeholders for the signatures of calls that another model made, where a wire has
    /// both forms; else empty.
    pub(crate) with_thoughts: Arc<str>,
    /// The message, where it may have to be written again.
    source: Option<Source>,
}

impl Rendered {
    /// A message of a wire that has one form of it.
    pub(crate) fn new(role: Role, results: String, rest: String) -> Self {
        Self { role, results: results.into(), rest: rest.into(), with_thoughts: "".into(), source: None }
    }

    /// The same, with another form for servers that want the model's thoughts back.
    pub(crate) fn or_with_thoughts(self, with_thoughts: String) -> Self {
        Self { with_thoughts: with_thoughts.into(), ..self }
    }

    /// Whether no thoughts were kept beside it.
    pub(crate) fn lacks_thoughts(&self) -> bool {
        let is_opaque = |part: &Part| matches!(part, Part::Opaque { .. });
        !self.source.as_ref().is_some_and(|source| source.message.parts.iter().any(is_opaque))
    }

    fn is_empty(&self) -> bool {
        self.results.is_empty() && self.rest.is_empty()
    }
}

impl History {
    /// A conversation without messages. Where messages are not written, its opening is empty.
    pub(crate) fn begin(writing: Option<Writing>, opening: Opening, system_bytes: usize, tools: &[ToolInfo]) -> Self {
        let tool_bytes = |tool: &ToolInfo| tool.name.len() + tool.description.len() + tool.schema.text().len();
        let bytes = system_bytes + tools.iter().map(tool_bytes).sum::<usize>();
        Self { writing, opening, bytes, ..Self::default() }
    }

    /// Adds what was said.
    pub(crate) fn push(&mut self, message: &Message) {
        self.bytes += message.bytes();
        let nth = self.messages;
        self.messages += 1;
        self.assistant_messages += usize::from(message.role == Role::Assistant);
        for part in &message.parts {
            match part {
                Part::ToolCall { id, name, .. } => {
                    self.calls.insert(id.clone(), Arc::clone(name));
                }
                Part::Text { text, .. } if message.role == Role::User && self.first_user_text.is_none() => {
                    self.first_user_text = Some(Arc::clone(text));
                }
                Part::Text { .. } | Part::ToolResult { .. } | Part::Attached(_) | Part::Opaque { .. } => {}
            }
        }
        let Some(writing) = &self.writing else { return };
        let message = writing.own(message);
        let rendered = writing.wire.render(&message, &self.calls, &writing.attached);
        if !rendered.is_empty() {
            self.said.push(Rendered { source: Source::of(nth, &message), ..rendered });
        }
    }

    /// What a request without what is left out still holds.
    pub(crate) fn held(&self, left_out: &LeftOut) -> Held {
        let Some(writing) = &self.writing else { return Held::default() };
        let sources = self.said.iter().filter_map(|said| said.source.as_ref());
        sources.map(|source| source.held(writing, left_out)).fold(Held::default(), Held::or)
    }

    /// The conversation as a request without what is left out says it.
    pub(crate) fn without(&self, left_out: &LeftOut) -> Cow<'_, Self> {
        let Some(writing) = &self.writing else { return Cow::Borrowed(self) };
        if *left_out == LeftOut::default() {
            return Cow::Borrowed(self);
        }
        let said = self.said.iter().map(|said| match &said.source {
            Some(source) if source.held(writing, left_out) != source.held(writing, &LeftOut::default()) => {
                writing.write(source, &self.calls, left_out)
            }
            _ => said.clone(),
        });
        let said = said.filter(|said| !said.is_empty()).collect();
        Cow::Owned(Self { opening: self.opening.clone(), said, bytes: self.bytes, ..Self::default() })
    }

    /// Writes down which model gave the blocks of an answer that only it understands.
    pub(crate) fn signed(&self, mut answer: Answer) -> Answer {
        let Some(writing) = &self.writing else { return answer };
        for part in &mut answer.parts {
            if let Part::Opaque { from, .. } = part {
                *from = Some(Arc::clone(&writing.model));
            }
        }
        answer
    }

    /// Gives every call of an answer an id that the conversation has not seen. A call that stands twice in the same
    /// answer, id and all, is one call; an id that some servers begin again with every answer is a new call's.
    pub(crate) fn with_unique_calls(&self, mut answer: Answer) -> Answer {
        let mut parts: Vec<Part> = Vec::with_capacity(answer.parts.len());
        let mut fresh: HashSet<CallId> = HashSet::new();
        for mut part in std::mem::take(&mut answer.parts) {
            if let Part::ToolCall { id, .. } = &mut part
                && (self.calls.contains_key(id) || fresh.contains(id))
            {
                if fresh.contains(id) && parts.contains(&part) {
                    continue;
                }
                self.rename(&mut part, &mut answer.malformed, &fresh);
            }
            if let Part::ToolCall { id, .. } = &part {
                fresh.insert(id.clone());
            }
            parts.push(part);
        }
        answer.parts = parts;
        answer
    }

    fn rename(&self, part: &mut Part, malformed: &mut [(CallId, Arc<str>)], fresh: &HashSet<CallId>) {
        let Part::ToolCall { id, input, .. } = part else { return };
        let new = (0..)
            .map(|n| CallId::new(format!("{id}-{}-{n}", self.assistant_messages)))
            .find(|new| !self.calls.contains_key(new) && !fresh.contains(new))
            .expect("finitely many calls cannot take infinitely many ids");
        // A malformed call has an empty input; of several under one id, the last entry belongs to the last call.
        if let Some((of, _)) = malformed.iter_mut().rev().find(|(of, _)| of == id).filter(|_| input.text() == "{}") {
            of.clone_from(&new);
        }
        *id = new;
    }
}

/// Joins fragments by commas, leaving out the empty ones.
pub(crate) fn join<'a>(body: &mut Vec<u8>, fragments: impl IntoIterator<Item = &'a str>) {
    let mut first = true;
    for fragment in fragments.into_iter().filter(|fragment| !fragment.is_empty()) {
        if !std::mem::take(&mut first) {
            body.push(b',');
        }
        body.extend_from_slice(fragment.as_bytes());
    }
}

/// The fragments of neighbours in the same role: all their results, then all the rest.
pub(crate) fn fragments(run: &[Rendered]) -> impl Iterator<Item = &str> {
    run.iter().map(|said| &*said.results).chain(run.iter().map(|said| &*said.rest))
}

/// A value of ours as a JSON fragment.
pub(crate) fn fragment<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("our own types serialise to JSON")
}

#[cfg(test)]
mod tests {
    use agent::Json;
    use agent::model::StopReason;

    use super::*;

    fn call(id: &str, input: &str) -> Part {
        Part::ToolCall { id: CallId::new(id), name: "look".into(), input: Json::parse(input).expect("JSON") }
    }

    fn answer(parts: Vec<Part>) -> Answer {
        Answer { parts, stop: StopReason::ToolUse, tokens: None, malformed: Vec::new(), cut_call: None }
    }

    fn ids(answer: &Answer) -> Vec<&str> {
        answer
            .parts
            .iter()
            .filter_map(|part| if let Part::ToolCall { id, .. } = part { Some(id.as_str()) } else { None })
            .collect()
    }

    #[test]
    fn a_call_said_twice_in_one_answer_is_one_call() {
        // F5
        let history = History::default();
        let answer = history.with_unique_calls(answer(vec![call("a", "{}"), call("a", "{}")]));
        assert_eq!(ids(&answer), ["a"]);
    }

    #[test]
    fn an_id_used_again_for_another_call_becomes_a_new_id() {
        // F5
        let mut history = History::default();
        history.push(&Message { role: Role::Assistant, parts: vec![call("call_0", "{}")] });
        let mut twice = answer(vec![call("call_0", "{}"), call("call_1", "{}"), call("call_1", r#"{"a":1}"#)]);
        twice.malformed = vec![(CallId::new("call_0"), "no".into())];
        let answer = history.with_unique_calls(twice);
        assert_eq!(ids(&answer), ["call_0-1-0", "call_1", "call_1-1-0"]);
        assert_eq!(answer.malformed[0].0, CallId::new("call_0-1-0"));
    }
}
