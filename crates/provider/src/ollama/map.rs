//! Requests: our messages as Ollama's, and a body joined from messages that were written once.

use std::borrow::Cow;

use agent::CallId;
use agent::message::{Message, Part, Role};

use super::wire::{Call, Called, Kept, WireMessage};
use super::{OWN_ID, WIRE};
use crate::attached::{Attached, Shown};
use crate::compat::{Compat, SchemaForm};
use crate::config::{ModelSettings, Wire};
use crate::conversation::Ask;
use crate::history::{CallNames, History, Rendered, fragment, join};
use crate::{names, schema, settings};

/// The longest tool name that is sent. The server takes any; its models were taught with OpenAI's.
const LONGEST_TOOL_NAME: usize = 64;

/// One message of ours as messages of the wire: each result is one, all words together are one. A result names its tool, which
/// `calls` knows.
pub(crate) fn render(message: &Message, calls: &CallNames, attached: &Attached) -> Rendered {
    let mut words = String::new();
    let (mut images, mut results, mut tool_calls) = (Vec::new(), Vec::new(), Vec::new());
    let mut kept = Kept::default();
    for part in &message.parts {
        match part {
            Part::Text { text, .. } if text.is_empty() => {}
            Part::Text { text, .. } => add_words(&mut words, text),
            Part::Attached(attachment) if !attachment.media.is_image() => {
                add_words(&mut words, &Attached::refused(attachment));
            }
            Part::Attached(attachment) => match attached.shown(attachment) {
                Shown::Words(text) => add_words(&mut words, &text),
                Shown::Data(data) => images.push(data),
            },
            Part::ToolCall { id, name, input } => tool_calls.push(Call {
                id: own(id),
                function: Called {
                    index: tool_calls.len(),
                    name: names::tool(name, LONGEST_TOOL_NAME),
                    arguments: input,
                },
            }),
            Part::ToolResult { id, content, .. } => {
                let name = calls.get(id).map_or("unnamed", |name| &**name);
                results.push(fragment(&WireMessage {
                    role: "tool",
                    content,
                    tool_name: Some(names::tool(name, LONGEST_TOOL_NAME)),
                    tool_call_id: own(id),
                    ..WireMessage::default()
                }));
            }
            Part::Opaque { wire, raw, .. } if &**wire == WIRE => {
                kept = serde_json::from_str(raw.text()).unwrap_or_default();
            }
            Part::Opaque { .. } => {}
        }
    }
    let is_said = !(words.is_empty() && images.is_empty() && tool_calls.is_empty());
    let (role, thinking) = match message.role {
        Role::User => ("user", None),
        Role::Assistant => ("assistant", kept.thinking),
    };
    let said = WireMessage { role, content: &words, thinking, images, tool_calls, ..WireMessage::default() };
    let rest = if is_said { fragment(&said) } else { String::new() };
    Rendered::new(message.role, results.join(","), rest)
}

fn add_words(words: &mut String, text: &str) {
    if !words.is_empty() {
        words.push_str("\n\n");
    }
    words.push_str(text);
}

/// The server's own id of a call, if it gave one.
fn own(id: &CallId) -> Option<Cow<'_, str>> {
    (!id.as_str().starts_with(OWN_ID)).then(|| names::call(id.as_str()))
}

/// Whether the server holds the model to the schema of an answer. It does so from the first letter on, so that a model which is held
/// cannot call a tool.
pub(crate) fn holds_to_schema(history: &History, compat: &Compat) -> bool {
    compat.schema == SchemaForm::Strict && !has_tools(history, compat)
}

fn has_tools(history: &History, compat: &Compat) -> bool {
    !history.opening.tools.is_empty() && compat.tools
}

/// The body of a request.
pub(crate) fn body(history: &History, model: &str, ask: &Ask, compat: &Compat, settings: &ModelSettings) -> Vec<u8> {
    let mut body = Vec::with_capacity(history.bytes + history.bytes / 4 + 1024);
    // What does not fit is refused, and neither cut off at the front nor pushed out while the answer is written.
    let head = format!(r#"{{"model":{},"stream":true,"truncate":false,"shift":false"#, fragment(model));
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(format!(r#","options":{{{}}}"#, settings::ollama_options(ask, settings, compat)).as_bytes());
    let has_tools = has_tools(history, compat);
    if has_tools {
        body.extend_from_slice(br#","tools":["#);
        body.extend_from_slice(history.opening.tools.as_bytes());
        body.push(b']');
    }
    let wanted = ask.output_schema.as_ref();
    match (wanted, compat.schema) {
        (Some(wanted), SchemaForm::Strict) if !has_tools => {
            body.extend_from_slice(format!(r#","format":{}"#, schema::closed(wanted).0.text()).as_bytes());
        }
        (Some(_), SchemaForm::JsonMode) if !has_tools => body.extend_from_slice(br#","format":"json""#),
        _ => {}
    }
    body.extend_from_slice(settings::members(Wire::Ollama, model, settings, ask.max_tokens, compat).as_bytes());
    body.extend_from_slice(br#","messages":["#);
    let by_prompt = wanted.filter(|_| !holds_to_schema(history, compat));
    let own = history.opening.own_with(Wire::Ollama, by_prompt.map(schema::words));
    let system = match &*history.opening.joined_system(&own) {
        "" => String::new(),
        system => format!(r#"{{"role":"system","content":{system}}}"#),
    };
    let runs = history.said.chunk_by(|a, b| a.role == b.role);
    let said = runs.flat_map(|run| run.iter().map(|said| &*said.results).chain(run.iter().map(|said| &*said.rest)));
    join(&mut body, std::iter::once(&*system).chain(said));
    body.extend_from_slice(b"]}");
    body
}
