//! Requests: our messages as items, and a body joined from items that were written once.

use agent::Json;
use agent::message::{Message, Part, Role};
use agent::tools::ToolInfo;

use super::WIRE;
use super::wire::{FilePart, InputItem, Kind, Phase, Tool};
use crate::attached::{Attached, Shown, data_url};
use crate::compat::{Compat, SchemaForm};
use crate::config::{ModelSettings, Wire};
use crate::conversation::Ask;
use crate::history::{History, Rendered, fragment, fragments, join};
use crate::{names, schema, settings};

/// The longest tool name that this wire accepts.
const LONGEST_TOOL_NAME: usize = 64;

/// The smallest limit of an answer that this wire accepts.
const LEAST_OUTPUT_TOKENS: u64 = 16;

/// A tool.
pub(crate) fn tool(tool: &ToolInfo) -> String {
    fragment(&Tool {
        kind: "function",
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.schema,
        strict: false,
    })
}

/// One message of ours as items. The provider refuses reasoning that nothing follows, so what stands at the end is left out.
pub(crate) fn render(message: &Message, attached: &Attached) -> Rendered {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let (mut results, mut rest) = (Vec::new(), Vec::new());
    let (mut phase, mut followed) = (None, 0);
    for part in &message.parts {
        match part {
            Part::Text { text, .. } if text.trim().is_empty() => {}
            Part::Text { text, .. } => {
                rest.push(fragment(&InputItem::Message { role, content: text, phase: phase.take() }));
                followed = rest.len();
            }
            Part::ToolCall { id, name, input } => {
                rest.push(fragment(&InputItem::FunctionCall {
                    call_id: names::call(id.as_str()),
                    name: names::tool(name, LONGEST_TOOL_NAME),
                    arguments: input.text(),
                }));
                followed = rest.len();
            }
            Part::ToolResult { id, content, .. } => {
                let call_id = names::call(id.as_str());
                results.push(fragment(&InputItem::FunctionCallOutput { call_id, output: content }));
            }
            Part::Attached(attachment) => {
                rest.push(match attached.shown(attachment) {
                    Shown::Words(text) => fragment(&InputItem::Message { role, content: &text, phase: None }),
                    Shown::Data(data) => {
                        let content = [FilePart::of(attachment, data_url(attachment, &data))];
                        fragment(&InputItem::MessageContent { role, content })
                    }
                });
                followed = rest.len();
            }
            Part::Opaque { wire, raw, .. } if &**wire == WIRE => match serde_json::from_str::<Phase>(raw.text()) {
                Ok(label) => phase = Some(label.phase),
                Err(_) => {
                    rest.push(raw.text().to_owned());
                    if !is_thought(raw) {
                        followed = rest.len();
                    }
                }
            },
            Part::Opaque { .. } => {}
        }
    }
    rest.truncate(followed);
    Rendered::new(message.role, results.join(","), rest.join(","))
}

/// Whether an item is what the model thought.
pub(crate) fn is_thought(item: &Json) -> bool {
    serde_json::from_str::<Kind<'_>>(item.text()).is_ok_and(|item| item.kind == "reasoning")
}

/// The body of a request.
pub(crate) fn body(history: &History, model: &str, ask: &Ask, compat: &Compat, settings: &ModelSettings) -> Vec<u8> {
    let mut body = Vec::with_capacity(history.bytes + history.bytes / 4 + 1024);
    let limit = ask.max_tokens.max(LEAST_OUTPUT_TOKENS);
    let model_name = fragment(model);
    body.extend_from_slice(
        format!(r#"{{"model":{model_name},"max_output_tokens":{limit},"stream":true,"store":false"#).as_bytes(),
    );
    if settings::includes_reasoning(model, compat) {
        body.extend_from_slice(br#","include":["reasoning.encrypted_content"]"#);
    }
    // What siblings share stands before what is a conversation's own.
    match (&ask.output_schema, compat.schema) {
        (Some(wanted), SchemaForm::Strict) => {
            let (schema, is_strict) = schema::closed(wanted);
            let format = format!(
                r#","text":{{"format":{{"type":"json_schema","name":"answer","strict":{is_strict},"schema":{}}}}}"#,
                schema.text()
            );
            body.extend_from_slice(format.as_bytes());
        }
        (Some(_), SchemaForm::JsonMode) => body.extend_from_slice(br#","text":{"format":{"type":"json_object"}}"#),
        (Some(_), SchemaForm::Prompt) | (None, _) => {}
    }
    body.extend_from_slice(settings::members(Wire::Responses, model, settings, ask.max_tokens, compat).as_bytes());
    let by_prompt = ask.output_schema.as_ref().filter(|_| compat.schema != SchemaForm::Strict);
    let own = history.opening.own_with(Wire::Responses, by_prompt.map(schema::words));
    let (system, tools) = (history.opening.joined_system(&own), &history.opening.tools);
    if !tools.is_empty() && compat.tools {
        body.extend_from_slice(br#","tools":["#);
        body.extend_from_slice(tools.as_bytes());
        body.push(b']');
        if !ask.calls_allowed {
            body.extend_from_slice(br#","tool_choice":"none""#);
        }
    }
    if !system.is_empty() {
        body.extend_from_slice(br#","instructions":"#);
        body.extend_from_slice(system.as_bytes());
    }
    body.extend_from_slice(br#","input":["#);
    join(&mut body, history.said.chunk_by(|a, b| a.role == b.role).flat_map(fragments));
    body.extend_from_slice(b"]}");
    body
}
