//! Requests: our messages as chat messages, and a body joined from messages that were written once.

use std::borrow::Cow;

use agent::message::{Message, Part, Role};
use agent::tools::ToolInfo;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::WIRE;
use super::wire::{
    Call, Called, Content, FilePart, Function, Kept, KeptOfCall, ListPart, Members, ThinkingPart, Tool, WireMessage,
};
use crate::attached::{Attached, Shown, data_url};
use crate::compat::{Compat, LimitName, SchemaForm};
use crate::config::{CacheTime, ModelSettings, Wire};
use crate::conversation::Ask;
use crate::history::{History, Rendered, fragment, join};
use crate::{gemini, names, schema, settings};

/// The longest tool name that this wire accepts.
const LONGEST_TOOL_NAME: usize = 64;

/// How an answer without words begins, and how it begins for servers that want a text there.
const NO_WORDS: &str = r#"{"role":"assistant","content":null"#;
const EMPTY_WORDS: &str = r#"{"role":"assistant","content":"""#;

/// A tool.
pub(crate) fn tool(tool: &ToolInfo) -> String {
    let function = Function { name: &tool.name, description: &tool.description, parameters: &tool.schema };
    fragment(&Tool { kind: "function", function })
}

/// One message of ours as messages of the wire: each result is one, all words together are one. An answer with thoughts is
/// written twice: with their signatures alone, and with the thoughts for servers that want them back.
pub(crate) fn render(message: &Message, attached: &Attached) -> Rendered {
    let mut words = String::new();
    let mut files = Vec::new();
    let mut results = Vec::new();
    let mut tool_calls = Vec::new();
    let (mut kept, mut of_call) = (Kept::default(), None);
    for part in &message.parts {
        match part {
            Part::Text { text, .. } if text.is_empty() => {}
            Part::Text { text, .. } => add_words(&mut words, text),
            Part::Attached(attachment) => match attached.shown(attachment) {
                Shown::Words(text) => add_words(&mut words, &text),
                Shown::Data(data) => files.push(FilePart::of(attachment, data_url(attachment, &data))),
            },
            Part::ToolCall { id, name, input } => tool_calls.push(Call {
                id: names::call(id.as_str()),
                kind: "function",
                function: Called { name: names::tool(name, LONGEST_TOOL_NAME), arguments: input.text() },
                extra_content: of_call.take(),
            }),
            Part::ToolResult { id, content, .. } => {
                results.push(fragment(&WireMessage::Tool { tool_call_id: names::call(id.as_str()), content }));
            }
            Part::Opaque { wire, raw, .. } if &**wire == WIRE => {
                match serde_json::from_str::<KeptOfCall<'_>>(raw.text()) {
                    Ok(call) => of_call = Some(call.call_extra_content),
                    Err(_) => kept = serde_json::from_str(raw.text()).unwrap_or_default(),
                }
            }
            Part::Opaque { .. } => {}
        }
    }
    let (mut rest, mut with_thoughts) = (String::new(), String::new());
    match message.role {
        _ if words.is_empty() && tool_calls.is_empty() && files.is_empty() => {}
        Role::User if !files.is_empty() => {
            let words = Some(FilePart::Text { text: &words }).filter(|_| !words.is_empty());
            rest = fragment(&WireMessage::UserContent { content: words.into_iter().chain(files).collect() });
        }
        Role::User => rest = fragment(&WireMessage::User { content: &words }),
        Role::Assistant => {
            let said = Some(words.as_str()).filter(|words| !words.is_empty());
            let answer =
                |content, members| fragment(&WireMessage::Assistant { content, members, tool_calls: &tool_calls });
            rest = answer(Content::Words(said.map(Cow::Borrowed)), signed(&kept));
            with_thoughts =
                thoughtful(&kept, said).map(|(content, members)| answer(content, members)).unwrap_or_default();
        }
    }
    Rendered::new(message.role, results.join(","), rest).or_with_thoughts(with_thoughts)
}

/// What always goes back to the server that gave it: it exists for nothing else.
fn signed<'a>(kept: &Kept<'a>) -> Members<'a> {
    Members {
        reasoning_details: kept.reasoning_details,
        thinking_blocks: kept.thinking_blocks,
        extra_content: kept.extra_content,
        ..Members::default()
    }
}

/// An answer with its thoughts, as they came; none where there are none but signed ones. Text that says what the signed
/// thoughts say is left out.
fn thoughtful<'a>(kept: &Kept<'a>, said: Option<&'a str>) -> Option<(Content<'a>, Members<'a>)> {
    let text = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let mut members = signed(kept);
    let is_signed = members.reasoning_details.is_some() || members.thinking_blocks.is_some();
    if !is_signed {
        (members.reasoning_content, members.reasoning) = (kept.reasoning_content, kept.reasoning);
    }
    let content = if let Some(thoughts) = text(kept.thinking) {
        let words = said.map(|text| ListPart::Text { kind: "text", text });
        let thoughts =
            ListPart::Thinking { kind: "thinking", thinking: [ThinkingPart { kind: "text", text: thoughts }] };
        Content::List([thoughts].into_iter().chain(words).collect())
    } else if let Some(thoughts) = text(kept.think) {
        Content::Words(Some(Cow::Owned(thoughts + said.unwrap_or_default())))
    } else if members.reasoning_content.is_some() || members.reasoning.is_some() {
        Content::Words(said.map(Cow::Borrowed))
    } else {
        return None;
    };
    Some((content, members))
}

/// The system prompt in parts, marked where the next conversation that begins alike differs.
fn marked_system(system: &str, own: &str, kept: CacheTime) -> String {
    let part = |text: &str| format!(r#"{{"type":"text","text":{text}{}}}"#, kept.mark());
    let parts: Vec<String> = [system, own].into_iter().filter(|text| !text.is_empty()).map(part).collect();
    format!(r#"{{"role":"system","content":[{}]}}"#, parts.join(","))
}

/// How many of the newest turns of the world are marked, as on Anthropic's own wire: the last one for the next request, and the one before because
/// it is where the mark of the request before stood.
const MARKED_TURNS: usize = 2;

/// Marks the ends of the newest turns of the world. `written` holds, for each message in `said`, its results, and behind all results of a
/// turn its words.
fn mark_newest(written: &mut [Cow<'_, str>], said: &[Rendered], kept: CacheTime) {
    let mut end = written.len();
    let mut left = MARKED_TURNS;
    for run in said.chunk_by(|a, b| a.role == b.role).rev() {
        let begin = end - 2 * run.len();
        if run[0].role == Role::User && left > 0 {
            left -= 1;
            if let Some(last) = written[begin..end].iter_mut().rev().find(|text| !text.is_empty())
                && let Some(marked) = marked_last(last, kept)
            {
                *last = Cow::Owned(marked);
            }
        }
        end = begin;
    }
}

/// Messages of which the last one is marked at its end; none where it holds no words to mark.
fn marked_last(messages: &str, kept: CacheTime) -> Option<String> {
    let list = format!("[{messages}]");
    let mut messages: Vec<Value> = serde_json::from_str(&list).ok()?;
    let content = messages.last_mut()?.get_mut("content")?;
    let mark: Value = serde_json::from_str(&format!("{{{}}}", kept.mark().trim_start_matches(','))).ok()?;
    let mark = mark.get("cache_control")?.clone();
    match content {
        Value::String(text) if !text.trim().is_empty() => {
            *content = json!([{"type": "text", "text": text, "cache_control": mark}]);
        }
        Value::Array(parts) => {
            parts.last_mut()?.as_object_mut()?.insert("cache_control".to_owned(), mark);
        }
        _ => return None,
    }
    Some(messages.iter().map(Value::to_string).collect::<Vec<_>>().join(","))
}

fn add_words(words: &mut String, text: &str) {
    if !words.is_empty() {
        words.push_str("\n\n");
    }
    words.push_str(text);
}

/// The body of a request.
pub(crate) fn body(history: &History, model: &str, ask: &Ask, compat: &Compat, settings: &ModelSettings) -> Vec<u8> {
    let mut body = Vec::with_capacity(history.bytes + history.bytes / 4 + 1024);
    let name = fragment(model);
    let limit = match compat.limit {
        LimitName::MaxTokens => "max_tokens",
        LimitName::MaxCompletionTokens => "max_completion_tokens",
    };
    let streams = compat.sends("stream");
    body.extend_from_slice(format!(r#"{{"model":{name},"{limit}":{},"stream":{streams}"#, ask.max_tokens).as_bytes());
    if streams && compat.sends("stream_options") {
        body.extend_from_slice(br#","stream_options":{"include_usage":true}"#);
    }
    let tools = &history.opening.tools;
    if !tools.is_empty() && compat.tools {
        body.extend_from_slice(br#","tools":["#);
        body.extend_from_slice(tools.as_bytes());
        body.push(b']');
        if !ask.calls_allowed && compat.sends("tool_choice") {
            body.extend_from_slice(br#","tool_choice":"none""#);
        }
    }
    if let Some(wanted) = &ask.output_schema {
        match compat.schema {
            SchemaForm::Strict => {
                let (schema, is_strict) = schema::closed(wanted);
                let format = format!(
                    r#","response_format":{{"type":"json_schema","json_schema":{{"name":"answer","strict":{is_strict},"schema":{}}}}}"#,
                    schema.text()
                );
                body.extend_from_slice(format.as_bytes());
            }
            SchemaForm::JsonMode => body.extend_from_slice(br#","response_format":{"type":"json_object"}"#),
            SchemaForm::Prompt => {}
        }
    }
    body.extend_from_slice(settings::members(Wire::OpenAi, model, settings, ask.max_tokens, compat).as_bytes());
    body.extend_from_slice(br#","messages":["#);
    let by_prompt = ask.output_schema.as_ref().filter(|_| compat.schema != SchemaForm::Strict);
    let own = history.opening.own_with(Wire::OpenAi, by_prompt.map(schema::words));
    let system = match &*history.opening.joined_system(&own) {
        "" => String::new(),
        _ if compat.takes_marks => marked_system(&history.opening.system, &own, settings::cache_time(settings, ask)),
        system => format!(r#"{{"role":"system","content":{system}}}"#),
    };
    let mut answers: Vec<Cow<'_, str>> = Vec::new();
    for run in history.said.chunk_by(|a, b| a.role == b.role) {
        answers.extend(run.iter().map(|said| Cow::Borrowed(&*said.results)));
        answers.extend(run.iter().map(|said| answer(said, compat)));
    }
    if compat.takes_marks {
        mark_newest(&mut answers, &history.said, settings::cache_time(settings, ask));
    }
    join(&mut body, std::iter::once(&*system).chain(answers.iter().map(|answer| &**answer)));
    body.extend_from_slice(b"]}");
    body
}

/// A message in the form that the server wants.
fn answer<'a>(said: &'a Rendered, compat: &Compat) -> Cow<'a, str> {
    let is_thoughtful = compat.returns_thoughts && !said.with_thoughts.is_empty();
    let answer = if is_thoughtful { &*said.with_thoughts } else { &*said.rest };
    let answer = match answer.strip_prefix(NO_WORDS).filter(|_| compat.empty_words) {
        Some(rest) => Cow::Owned(format!("{EMPTY_WORDS}{rest}")),
        None => Cow::Borrowed(answer),
    };
    let is_filled = said.role == Role::Assistant && said.lacks_thoughts() && !answer.is_empty();
    match is_filled && (compat.fills_thoughts || compat.fills_signatures) {
        true => Cow::Owned(filled(&answer, compat)),
        false => answer,
    }
}

/// An answer of another model with placeholders for what the server demands beside its own.
fn filled(answer: &str, compat: &Compat) -> String {
    let Ok(mut answer) = serde_json::from_str::<Value>(answer) else { return answer.to_owned() };
    if compat.fills_thoughts {
        // Servers take a blank for a thought, and no empty text.
        answer["reasoning_content"] = json!(" ");
    }
    if compat.fills_signatures
        && let Some(call) = answer.pointer_mut("/tool_calls/0")
    {
        call["extra_content"] = json!({"google": {"thought_signature": gemini::PLACEHOLDER}});
    }
    answer.to_string()
}
