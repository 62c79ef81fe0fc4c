//! Requests: our messages as Anthropic's blocks, and a body joined from blocks that were written once.

use agent::Json;
use agent::message::{Message, Part, Role};
use agent::tools::ToolInfo;

use super::wire::{Block, Event, Source, Tool};
use super::{WIRE, schema as narrower};
use crate::attached::{Attached, Shown};
use crate::compat::{Compat, SchemaForm};
use crate::config::{CacheTime, ModelSettings, Wire};
use crate::conversation::Ask;
use crate::history::{History, Opening, Rendered, fragment, fragments, join};
use crate::{names, schema, settings};

/// The longest tool name that this wire accepts.
const LONGEST_TOOL_NAME: usize = 128;

/// How many of the last user messages are marked. The last one for the next request; the one before because it is where
/// the previous request's mark stood, which is found even when an answer brought more blocks than the provider looks back.
const MARKED_MESSAGES: usize = 2;

/// A part of the system prompt, without a mark: those are set when the body is joined.
pub(crate) fn system(text: &str) -> String {
    fragment(&Block::Text { text })
}

/// A tool.
pub(crate) fn tool(tool: &ToolInfo) -> String {
    fragment(&Tool { name: &tool.name, description: &tool.description, input_schema: &tool.schema })
}

/// One message as blocks. Blank texts and blocks of other wires are left out: the provider accepts neither.
pub(crate) fn render(message: &Message, attached: &Attached) -> Rendered {
    let mut results = Vec::new();
    let mut rest = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text { text, .. } if text.trim().is_empty() => {}
            Part::Text { text, .. } => rest.push(fragment(&Block::Text { text })),
            Part::ToolCall { id, name, input } => {
                rest.push(fragment(&Block::ToolUse {
                    id: names::call(id.as_str()),
                    name: names::tool(name, LONGEST_TOOL_NAME),
                    input,
                }));
            }
            Part::ToolResult { id, content, is_error } => results.push(fragment(&Block::ToolResult {
                tool_use_id: names::call(id.as_str()),
                content,
                is_error: *is_error,
            })),
            Part::Attached(attachment) => rest.push(match attached.shown(attachment) {
                Shown::Words(text) => fragment(&Block::Text { text: &text }),
                Shown::Data(data) => {
                    let source = Source { kind: "base64", media_type: attachment.media.mime(), data: &data };
                    match attachment.media.is_image() {
                        true => fragment(&Block::Image { source }),
                        false => fragment(&Block::Document { source, title: &attachment.name }),
                    }
                }
            }),
            Part::Opaque { wire, raw, .. } if &**wire == WIRE => rest.push(raw.text().to_owned()),
            Part::Opaque { .. } => {}
        }
    }
    Rendered::new(message.role, results.join(","), rest.join(","))
}

/// Whether a block is what the model thought.
pub(crate) fn is_thought(block: &Json) -> bool {
    let kind = serde_json::from_str::<Event<'_>>(block.text()).map(|block| block.kind);
    kind.is_ok_and(|kind| kind == "thinking" || kind == "redacted_thinking")
}

/// The body of a request.
pub(crate) fn body(history: &History, model: &str, ask: &Ask, compat: &Compat, settings: &ModelSettings) -> Vec<u8> {
    let mut body = Vec::with_capacity(history.bytes + history.bytes / 4 + 1024);
    let name = fragment(model);
    body.extend_from_slice(format!(r#"{{"model":{name},"max_tokens":{},"stream":true"#, ask.max_tokens).as_bytes());
    let schema = ask.output_schema.as_ref().filter(|_| compat.schema == SchemaForm::Strict);
    let format = schema
        .map(|schema| format!(r#""format":{{"type":"json_schema","schema":{}}}"#, narrower::accepted(schema).text()));
    let effort = settings::anthropic_effort(model, settings, compat).map(|effort| format!(r#""effort":"{effort}""#));
    if format.is_some() || effort.is_some() {
        body.extend_from_slice(br#","output_config":{"#);
        join(&mut body, format.iter().chain(&effort).map(String::as_str));
        body.push(b'}');
    }
    body.extend_from_slice(settings::members(Wire::Anthropic, model, settings, ask.max_tokens, compat).as_bytes());
    // As the provider reads it: tools, then the system prompt. Of the four marks that it takes, the messages have two. What is this
    // conversation's own has none: it is short, and the mark of the first message keeps it, too.
    let kept = settings::cache_time(settings, ask);
    let Opening { system, tools, .. } = &history.opening;
    let by_prompt = ask.output_schema.as_ref().filter(|_| compat.schema != SchemaForm::Strict);
    let own = history.opening.own_with(Wire::Anthropic, by_prompt.map(schema::words));
    if !tools.is_empty() && compat.tools {
        body.extend_from_slice(br#","tools":["#);
        body.extend_from_slice(tools.as_bytes());
        mark(&mut body, kept);
        body.push(b']');
        if !ask.calls_allowed {
            body.extend_from_slice(br#","tool_choice":{"type":"none"}"#);
        }
    }
    if !(system.is_empty() && own.is_empty()) {
        body.extend_from_slice(br#","system":["#);
        if !system.is_empty() {
            body.extend_from_slice(system.as_bytes());
            mark(&mut body, kept);
        }
        if !(system.is_empty() || own.is_empty()) {
            body.push(b',');
        }
        body.extend_from_slice(own.as_bytes());
        body.push(b']');
    }
    body.extend_from_slice(br#","messages":["#);
    messages(&mut body, &history.said, kept);
    body.extend_from_slice(b"]}");
    body
}

/// Neighbours in the same role become one message, so that all results of a turn stand together, first.
fn messages(body: &mut Vec<u8>, said: &[Rendered], kept: CacheTime) {
    let runs: Vec<&[Rendered]> = said.chunk_by(|a, b| a.role == b.role).collect();
    let mut users_left = runs.iter().filter(|run| run[0].role == Role::User).count();
    for (nth, run) in runs.into_iter().enumerate() {
        if nth > 0 {
            body.push(b',');
        }
        match run[0].role {
            Role::User => body.extend_from_slice(br#"{"role":"user","content":["#),
            Role::Assistant => body.extend_from_slice(br#"{"role":"assistant","content":["#),
        }
        join(body, fragments(run));
        if run[0].role == Role::User {
            if users_left <= MARKED_MESSAGES {
                mark(body, kept);
            }
            users_left -= 1;
        }
        body.extend_from_slice(b"]}");
    }
}

/// Marks the block or tool that was written last: everything up to here is worth keeping for the next request.
fn mark(body: &mut Vec<u8>, kept: CacheTime) {
    let brace = body.pop();
    debug_assert_eq!(brace, Some(b'}'), "a block is an object");
    body.extend_from_slice(kept.mark().as_bytes());
    body.push(b'}');
}
