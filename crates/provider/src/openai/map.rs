//! Requests: our messages as chat messages, and a body joined from messages that were written once.

use agent::message::{Message, Part, Role};
use agent::tools::ToolInfo;

use super::wire::{Call, Called, Content, Function, Tool, WireMessage};
use crate::attached::{Attached, Shown, data_url};
use crate::codec::Host;
use crate::conversation::Ask;
use crate::history::{History, Opening, Rendered, fragment, fragments, join};
use crate::names;

/// The longest tool name that this wire accepts.
const LONGEST_TOOL_NAME: usize = 64;

/// A tool.
pub(crate) fn tool(tool: &ToolInfo) -> String {
    let function = Function { name: &tool.name, description: &tool.description, parameters: &tool.schema };
    fragment(&Tool { kind: "function", function })
}

/// One message of ours as messages of the wire: each result is one, all words together are one. Opaque blocks stay
/// away: this wire has none.
pub(crate) fn render(message: &Message, attached: &Attached) -> Rendered {
    let mut words = String::new();
    let mut files = Vec::new();
    let mut results = Vec::new();
    let mut tool_calls = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text { text, .. } if text.is_empty() => {}
            Part::Text { text, .. } => add_words(&mut words, text),
            Part::Attached(attachment) => match attached.shown(attachment) {
                Shown::Words(text) => add_words(&mut words, &text),
                Shown::Data(data) => files.push(Content::of(attachment, data_url(attachment, &data))),
            },
            Part::ToolCall { id, name, input } => tool_calls.push(Call {
                id: names::call(id.as_str()),
                kind: "function",
                function: Called { name: names::tool(name, LONGEST_TOOL_NAME), arguments: input.text() },
            }),
            Part::ToolResult { id, content, .. } => {
                results.push(fragment(&WireMessage::Tool { tool_call_id: names::call(id.as_str()), content }));
            }
            Part::Opaque { .. } => {}
        }
    }
    let rest = match message.role {
        _ if words.is_empty() && tool_calls.is_empty() && files.is_empty() => String::new(),
        Role::User if !files.is_empty() => {
            let words = Some(Content::Text { text: &words }).filter(|_| !words.is_empty());
            fragment(&WireMessage::UserContent { content: words.into_iter().chain(files).collect() })
        }
        Role::User => fragment(&WireMessage::User { content: &words }),
        Role::Assistant => fragment(&WireMessage::Assistant {
            content: Some(words.as_str()).filter(|words| !words.is_empty()),
            tool_calls,
        }),
    };
    Rendered { role: message.role, results: results.join(",").into(), rest: rest.into() }
}

/// The system prompt in parts, marked where the next conversation that begins alike differs.
fn marked_system(opening: &Opening) -> String {
    let part = |text: &str| format!(r#"{{"type":"text","text":{text},"cache_control":{{"type":"ephemeral"}}}}"#);
    let parts: Vec<String> =
        [&opening.system, &opening.own].into_iter().filter(|text| !text.is_empty()).map(|text| part(text)).collect();
    format!(r#"{{"role":"system","content":[{}]}}"#, parts.join(","))
}

fn add_words(words: &mut String, text: &str) {
    if !words.is_empty() {
        words.push_str("\n\n");
    }
    words.push_str(text);
}

/// The body of a request. Only OpenAI itself wants the newer name of the answer's limit, and its newer models refuse
/// the older one; others know only the older.
pub(crate) fn body(history: &History, model: &str, ask: &Ask, host: Host) -> Vec<u8> {
    let mut body = Vec::with_capacity(history.bytes + history.bytes / 4 + 1024);
    let takes_marks = host.takes_marks(model);
    let model = fragment(model);
    let limit = if host.is_openai { "max_completion_tokens" } else { "max_tokens" };
    body.extend_from_slice(
        format!(
            r#"{{"model":{model},"{limit}":{},"stream":true,"stream_options":{{"include_usage":true}}"#,
            ask.max_tokens
        )
        .as_bytes(),
    );
    let (system, tools) = (history.opening.joined_system(), &history.opening.tools);
    if !tools.is_empty() {
        body.extend_from_slice(br#","tools":["#);
        body.extend_from_slice(tools.as_bytes());
        body.push(b']');
        if !ask.calls_allowed {
            body.extend_from_slice(br#","tool_choice":"none""#);
        }
    }
    if let Some(schema) = &ask.output_schema {
        body.extend_from_slice(br#","response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":"#);
        body.extend_from_slice(schema.text().as_bytes());
        body.extend_from_slice(b"}}");
    }
    body.extend_from_slice(br#","messages":["#);
    let system = match &*system {
        "" => String::new(),
        _ if takes_marks => marked_system(&history.opening),
        system => format!(r#"{{"role":"system","content":{system}}}"#),
    };
    let said = history.said.chunk_by(|a, b| a.role == b.role).flat_map(fragments);
    join(&mut body, std::iter::once(&*system).chain(said));
    body.extend_from_slice(b"]}");
    body
}
