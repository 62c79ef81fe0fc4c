//! Requests: our messages as parts, and a body joined from parts that were written once.

use std::borrow::Cow;

use agent::message::{Message, Part, Role};
use agent::tools::ToolInfo;
use agent::{CallId, Json};

use super::wire::{AnswerPart, Blob, Call, CallResult, Declaration, Output, Signature, Thought, WirePart};
use super::{OWN_ID, WIRE};
use crate::attached::{Attached, Shown};
use crate::compat::{Compat, SchemaForm};
use crate::config::{ModelSettings, Wire};
use crate::conversation::Ask;
use crate::history::{CallNames, History, Opening, Rendered, fragment, join};
use crate::{names, schema, settings};

/// The longest tool name that this wire accepts.
const LONGEST_TOOL_NAME: usize = 64;

/// What stands in the place of a signature where another model made the call, by the provider's documentation.
pub(crate) const PLACEHOLDER: &str = "skip_thought_signature_validator";

/// A part of the system prompt.
pub(crate) fn system(text: &str) -> String {
    fragment(&text_part(text, None))
}

/// A tool.
pub(crate) fn tool(tool: &ToolInfo) -> String {
    fragment(&Declaration { name: &tool.name, description: &tool.description, parameters_json_schema: &tool.schema })
}

/// One message as parts. A result must name its tool, which `calls` knows.
pub(crate) fn render(message: &Message, calls: &CallNames, attached: &Attached) -> Rendered {
    let (mut results, mut rest) = (Vec::new(), Vec::new());
    let mut signature = None;
    let mut placeholder = None;
    let mut is_signed = false;
    for part in &message.parts {
        match part {
            Part::Text { text, .. } if text.trim().is_empty() => {}
            Part::Text { text, .. } => rest.push(fragment(&text_part(text, signature.take()))),
            Part::ToolCall { id, name, input } => {
                let call = Call { id: own(id), name: names::tool(name, LONGEST_TOOL_NAME), args: input };
                let thought_signature: Option<String> = signature.take();
                is_signed |= thought_signature.is_some();
                let mut part = WirePart { function_call: Some(call), thought_signature, ..WirePart::default() };
                rest.push(fragment(&part));
                if placeholder.is_none() {
                    part.thought_signature = Some(PLACEHOLDER.to_owned());
                    placeholder = Some((rest.len() - 1, fragment(&part)));
                }
            }
            Part::ToolResult { id, content, is_error } => {
                let name = calls.get(id).map_or("unnamed", |name| &**name);
                let response = if *is_error { Output::Error(content) } else { Output::Output(content) };
                let result = CallResult { id: own(id), name: names::tool(name, LONGEST_TOOL_NAME), response };
                results.push(fragment(&WirePart { function_response: Some(result), ..WirePart::default() }));
            }
            Part::Attached(attachment) => rest.push(match attached.shown(attachment) {
                Shown::Words(text) => fragment(&text_part(&text, None)),
                Shown::Data(data) => {
                    let inline_data = Some(Blob { mime_type: attachment.media.mime(), data: &data });
                    fragment(&WirePart { inline_data, ..WirePart::default() })
                }
            }),
            Part::Opaque { wire, raw, .. } if &**wire == WIRE => match serde_json::from_str::<Signature>(raw.text()) {
                Ok(of_next) => signature = Some(of_next.thought_signature),
                Err(_) if serde_json::from_str::<Thought>(raw.text()).is_ok() => {}
                Err(_) => rest.push(raw.text().to_owned()),
            },
            Part::Opaque { .. } => {}
        }
    }
    // What it belonged to was left out; the provider takes it with an empty text.
    rest.extend(signature.map(|signature| fragment(&text_part("", Some(signature)))));
    let plain = rest.join(",");
    // The provider wants the first call of an answer signed.
    let filled = placeholder.filter(|_| !is_signed).map(|(nth, call)| {
        rest[nth] = call;
        rest.join(",")
    });
    Rendered::new(message.role, results.join(","), plain).or_with_thoughts(filled.unwrap_or_default())
}

/// Whether a block is what the model thought, or signs it.
pub(crate) fn is_thought(block: &Json) -> bool {
    serde_json::from_str::<AnswerPart<'_>>(block.text())
        .is_ok_and(|part| part.thought || part.thought_signature.is_some())
}

fn text_part(text: &str, thought_signature: Option<String>) -> WirePart<'_> {
    WirePart { text: Some(text), thought_signature, ..WirePart::default() }
}

/// The provider's own id of a call, if it gave one.
fn own(id: &CallId) -> Option<Cow<'_, str>> {
    (!id.as_str().starts_with(OWN_ID)).then(|| names::call(id.as_str()))
}

/// The body of a request.
pub(crate) fn body(history: &History, model: &str, ask: &Ask, compat: &Compat, settings: &ModelSettings) -> Vec<u8> {
    let mut body = Vec::with_capacity(history.bytes + history.bytes / 4 + 1024);
    body.push(b'{');
    let Opening { system, tools, .. } = &history.opening;
    let by_prompt = ask.output_schema.as_ref().filter(|_| compat.schema != SchemaForm::Strict);
    let own = history.opening.own_with(Wire::Gemini, by_prompt.map(schema::words));
    // What siblings share stands before what is a conversation's own.
    body.extend_from_slice(format!(r#""generationConfig":{{"maxOutputTokens":{}"#, ask.max_tokens).as_bytes());
    if let Some(wanted) = ask.output_schema.as_ref().filter(|_| compat.schema != SchemaForm::Prompt) {
        body.extend_from_slice(br#","responseMimeType":"application/json""#);
        if compat.schema == SchemaForm::Strict {
            body.extend_from_slice(br#","responseJsonSchema":"#);
            body.extend_from_slice(wanted.text().as_bytes());
        }
    }
    body.extend_from_slice(settings::gemini_members(model, settings, compat).as_bytes());
    body.extend_from_slice(b"},");
    if !tools.is_empty() && compat.tools {
        body.extend_from_slice(br#""tools":[{"functionDeclarations":["#);
        body.extend_from_slice(tools.as_bytes());
        body.extend_from_slice(b"]}],");
        if !ask.calls_allowed {
            body.extend_from_slice(br#""toolConfig":{"functionCallingConfig":{"mode":"NONE"}},"#);
        }
    }
    if !(system.is_empty() && own.is_empty()) {
        body.extend_from_slice(br#""systemInstruction":{"parts":["#);
        join(&mut body, [&**system, &*own]);
        body.extend_from_slice(b"]},");
    }
    body.extend_from_slice(br#""contents":["#);
    for (nth, run) in history.said.chunk_by(|a, b| a.role == b.role).enumerate() {
        if nth > 0 {
            body.push(b',');
        }
        match run[0].role {
            Role::User => body.extend_from_slice(br#"{"role":"user","parts":["#),
            Role::Assistant => body.extend_from_slice(br#"{"role":"model","parts":["#),
        }
        let words = run.iter().map(|said| match &*said.with_thoughts {
            filled if compat.fills_signatures && !filled.is_empty() => filled,
            _ => &*said.rest,
        });
        join(&mut body, run.iter().map(|said| &*said.results).chain(words));
        body.extend_from_slice(b"]}");
    }
    body.extend_from_slice(b"]}");
    body
}
