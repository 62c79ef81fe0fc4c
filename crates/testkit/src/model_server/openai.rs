//! OpenAI chat completions from the other side: what is refused, and what an answer looks like in bytes.

use std::collections::{HashMap, HashSet};

use agent::model::StopReason;
use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use super::strict::{
    Checked, answered, bad, closed, count, data_url, headers as check_headers, list, name, object, only, require, text,
};
use super::turn::Saying;
use super::{Given, anthropic};

/// Fields beside the words of an answer that some servers give.
const BESIDE: [&str; 5] = ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "extra_content"];

const FIELDS: [&str; 14] = [
    "reasoning_effort",
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "temperature",
    "top_p",
    "stop",
    "parallel_tool_calls",
];

/// Refuses what the provider refuses, and an answer without a limit, for which no amount could be reserved.
pub(super) fn check(headers: &HeaderMap, body: &Value, given: &HashMap<String, Given>) -> Checked {
    check_headers(headers, "authorization", &format!("Bearer {}", super::KEY))?;
    let body = object(body, "body")?;
    only(body, &FIELDS, "")?;
    let field = |key: &str| body.get(key).unwrap_or(&Value::Null);
    text(field("model"), "model")?;
    let limit = body.get("max_completion_tokens").or(body.get("max_tokens"));
    count(limit.unwrap_or(&Value::Null), "max_tokens")?;
    require(field("stream").is_boolean(), || "stream: must be a boolean".to_owned())?;
    require(field("stream") == true || !body.contains_key("stream_options"), || {
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.".to_owned()
    })?;
    let has_tools = check_tools(body)?;
    require(has_tools || !body.contains_key("tool_choice"), || {
        "'tool_choice' is only allowed when 'tools' are specified.".to_owned()
    })?;
    if let Some(format) = body.get("response_format") {
        let schema = &format["json_schema"];
        let is_schema = format["type"] == "json_schema" && schema["name"].is_string() && schema["schema"].is_object();
        let is_json = format["type"] == "json_object";
        require(is_schema || is_json, || "response_format: must be a json_schema with a name and a schema".to_owned())?;
        require(!is_json || field("messages").to_string().contains("JSON"), || {
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
                .to_owned()
        })?;
        if schema["strict"] == true {
            closed(&schema["schema"], "response_format.json_schema.schema")?;
        }
    }
    let messages = list(field("messages"), "messages")?;
    check_marks(headers, field("model"), messages)?;
    check_messages(messages, has_tools, given)
}

/// OpenRouter passes marks for the cache on to Anthropic's models, which take four at most. No other server knows them, and none takes a
/// system prompt or the result of a call in parts.
fn check_marks(headers: &HeaderMap, model: &Value, messages: &[Value]) -> Checked {
    let is_router = headers.get("host").is_some_and(|host| host == "openrouter.ai");
    let takes_marks = is_router && model.as_str().is_some_and(|model| model.starts_with("anthropic/"));
    let mut marks = Vec::new();
    for (nth, message) in messages.iter().enumerate() {
        let parts = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_plain = message["role"] == "system" || message["role"] == "tool";
        require(takes_marks || !is_plain || parts.is_empty(), || format!("messages[{nth}].content: must be a string"))?;
        let found = parts.iter().filter_map(|part| part.get("cache_control"));
        marks.extend(found.map(|mark| (format!("messages[{nth}].content.cache_control"), mark)));
    }
    if let (Some((place, _)), false) = (marks.first(), takes_marks) {
        return Err(bad(format!("{place}: Extra inputs are not permitted")));
    }
    anthropic::check_found_marks(marks)
}

/// What was given with an answer comes back as it was given, or not at all.
fn check_beside(message: &Value, given: &HashMap<String, Given>, place: &str) -> Checked {
    let name = message["tool_calls"][0]["id"].as_str().or(message["content"].as_str()).unwrap_or_default();
    let is_foreign = !given.contains_key(name);
    let given = given.get(name).cloned().unwrap_or_default();
    for field in BESIDE {
        // What stands for the thoughts of another model.
        if is_foreign && field == "reasoning_content" && message.get(field).is_some_and(|sent| sent == " ") {
            continue;
        }
        let (sent, kept) = (message.get(field), given.members.get(field));
        match (sent, kept.filter(|_| given.is_wanted)) {
            (None, None) => {}
            (Some(_), None) => return Err(bad(format!("{place}.{field}: Extra inputs are not permitted"))),
            (None, Some(_)) => {
                return Err(bad(format!("The {field} in the thinking mode must be passed back to the API. ({place})")));
            }
            (Some(sent), Some(kept)) => {
                require(sent == kept, || format!("{place}.{field}: is not what was given: {sent}"))?;
            }
        }
    }
    let of_call = message["tool_calls"][0].get("extra_content");
    let is_placeholder =
        of_call.is_some_and(|of_call| of_call["google"]["thought_signature"] == "skip_thought_signature_validator");
    require(of_call == given.of_call.as_ref() || (is_foreign && is_placeholder), || {
        format!("{place}: function call is missing a thought_signature")
    })
}

fn check_tools(body: &Map<String, Value>) -> Checked<bool> {
    let Some(tools) = body.get("tools") else { return Ok(false) };
    let mut names = HashSet::new();
    for (nth, tool) in list(tools, "tools")?.iter().enumerate() {
        let place = format!("tools[{nth}]");
        require(tool["type"] == "function", || format!("{place}.type: must be function"))?;
        let name = name(&tool["function"]["name"], 64, &format!("{place}.function.name"))?;
        require(names.insert(name), || format!("{place}: tool names must be unique"))?;
        object(&tool["function"]["parameters"], &format!("{place}.function.parameters"))?;
    }
    Ok(true)
}

fn check_messages(messages: &[Value], has_tools: bool, given: &HashMap<String, Given>) -> Checked {
    let mut seen = HashSet::new();
    let mut asked: Vec<&str> = Vec::new();
    let mut results: Vec<&str> = Vec::new();
    let said = messages.iter().position(|message| message["role"] != "system").unwrap_or(messages.len());
    require(messages.get(said).is_some_and(|first| first["role"] == "user"), || {
        "messages: the first message must be a user's".to_owned()
    })?;
    for (nth, message) in messages.iter().enumerate() {
        let place = format!("messages[{nth}]");
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" {
            answered(&asked, &results, &place)?;
            asked.clear();
            results.clear();
        }
        match role {
            "system" | "user" => {
                only(object(message, &place)?, &["role", "content"], &format!("{place}."))?;
                require(role == "user" || nth < said, || format!("{place}: a system message must come first"))?;
                match &message["content"] {
                    Value::Array(parts) => check_content(parts, &place)?,
                    content => text(content, &format!("{place}.content")).map(drop)?,
                }
            }
            "assistant" => {
                let known = ["role", "content", "tool_calls"];
                only(object(message, &place)?, &[&known[..], &BESIDE[..]].concat(), &format!("{place}."))?;
                check_beside(message, given, &place)?;
                asked = check_calls(message, &place)?;
            }
            "tool" => {
                only(object(message, &place)?, &["role", "content", "tool_call_id"], &format!("{place}."))?;
                require(!asked.is_empty(), || {
                    format!(
                        "{place}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
                    )
                })?;
                match &message["content"] {
                    // In parts only where they are marked for the cache, which is checked apart.
                    Value::Array(parts) => check_content(parts, &place)?,
                    content => require(content.is_string(), || format!("{place}.content: must be a string"))?,
                }
                results.push(name(&message["tool_call_id"], 256, &format!("{place}.tool_call_id"))?);
            }
            other => return Err(bad(format!("{place}.role: `{other}` is not one of system, user, assistant, tool"))),
        }
        if role == "assistant" {
            for id in &asked {
                require(seen.insert(*id), || format!("{place}: tool call ids must be unique: {id}"))?;
            }
        }
        require(has_tools || asked.is_empty(), || format!("{place}: tool calls in a request that defines no tools"))?;
    }
    answered(&asked, &results, "messages")?;
    let last = messages.last().map(|message| &message["role"]);
    require(last.is_some_and(|role| role != "assistant"), || "messages: the last message is the model's own".to_owned())
}

fn check_content(parts: &[Value], place: &str) -> Checked {
    for part in parts {
        match part["type"].as_str().unwrap_or_default() {
            "text" => text(&part["text"], &format!("{place}.content.text")).map(drop)?,
            "image_url" => data_url(&part["image_url"]["url"], true, place)?,
            "file" => {
                text(&part["file"]["filename"], &format!("{place}.content.file.filename"))?;
                data_url(&part["file"]["file_data"], false, place)?;
            }
            other => return Err(bad(format!("{place}.content.type: `{other}` is not known"))),
        }
    }
    Ok(())
}

fn check_calls<'a>(message: &'a Value, place: &str) -> Checked<Vec<&'a str>> {
    let Some(calls) = message.get("tool_calls") else {
        return text(&message["content"], &format!("{place}.content")).map(|_| Vec::new());
    };
    let mut ids = Vec::new();
    for call in list(calls, &format!("{place}.tool_calls"))? {
        require(call["type"] == "function", || format!("{place}.tool_calls: type must be function"))?;
        name(&call["function"]["name"], 64, &format!("{place}.tool_calls.function.name"))?;
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        let is_object = serde_json::from_str::<Map<String, Value>>(arguments).is_ok();
        require(is_object, || format!("{place}.tool_calls.function.arguments: must be a JSON object in a string"))?;
        ids.push(name(&call["id"], 256, &format!("{place}.tool_calls.id"))?);
    }
    Ok(ids)
}

/// How many of the last events tell the end.
pub(super) const CLOSING_FRAMES: usize = 3;

/// The answer as events.
pub(super) fn frames(saying: &Saying) -> Vec<String> {
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({"id": "chatcmpl-BwJ9ZlJ3b9", "object": "chat.completion.chunk", "created": 1_768_471_200,
            "model": "test-model", "choices": choices, "usage": usage});
        format!("data: {chunk}\n\n")
    };
    let delta = |delta: Value, finish_reason: Value| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish_reason}]), Value::Null)
    };
    let mut frames = vec![delta(json!({"role": "assistant", "content": ""}), Value::Null)];
    for (field, value) in &saying.beside {
        frames.extend(in_pieces(value).into_iter().map(|piece| delta(json!({field.as_str(): piece}), Value::Null)));
    }
    let key = if saying.stop == StopReason::Refusal { "refusal" } else { "content" };
    frames.extend(saying.words().map(|word| delta(json!({key: word}), Value::Null)));
    for (nth, (call, pieces)) in saying.calls_in_pieces().enumerate() {
        let mut begin =
            json!({"index": nth, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}});
        if let Some(extra_content) = saying.beside_call.as_ref().filter(|_| nth == 0) {
            begin["extra_content"] = extra_content.clone();
        }
        frames.push(delta(json!({"tool_calls": [begin]}), Value::Null));
        for piece in pieces {
            let more = json!({"index": nth, "function": {"arguments": piece}});
            frames.push(delta(json!({"tool_calls": [more]}), Value::Null));
        }
    }
    let finish_reason = match saying.stop {
        _ if saying.is_filtered => "content_filter",
        StopReason::EndTurn | StopReason::Refusal | StopReason::Paused => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens => "length",
    };
    frames.push(delta(json!({}), json!(finish_reason)));
    let (prompt, answer) = (saying.tokens_in + saying.cached, saying.tokens_out);
    let usage = json!({"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer,
        "prompt_tokens_details": {"cached_tokens": saying.cached},
        "completion_tokens_details": {"reasoning_tokens": saying.reasoned}});
    frames.push(chunk(json!([]), if saying.is_uncounted { Value::Null } else { usage }));
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

/// A text by a few letters at a time. Of a list, each block by itself, its text in two pieces and its signature behind them.
fn in_pieces(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => {
            let letters: Vec<char> = text.chars().collect();
            letters.chunks(4).map(|piece| piece.iter().collect::<String>().into()).collect()
        }
        Value::Array(blocks) => blocks.iter().flat_map(block_in_pieces).map(|piece| json!([piece])).collect(),
        other => vec![other.clone()],
    }
}

fn block_in_pieces(block: &Value) -> Vec<Value> {
    let grows = ["thinking", "text", "summary"].into_iter().find(|key| block[key].is_string());
    let Some((key, text)) = grows.and_then(|key| Some((key, block[key].as_str()?))) else { return vec![block.clone()] };
    let (first, rest) = text.split_at(text.char_indices().nth(3).map_or(text.len(), |(at, _)| at));
    let piece = |text: &str, signature: Value| {
        let mut piece = block.clone();
        piece[key] = text.into();
        if block.get("signature").is_some() {
            piece["signature"] = signature;
        }
        piece
    };
    let unsigned = if key == "thinking" { json!("") } else { Value::Null };
    let signature = block["signature"].clone();
    vec![piece(first, unsigned.clone()), piece(rest, unsigned), piece("", signature)]
}
