//! Anthropic Messages from the other side: what is refused, and what an answer looks like in bytes.

use std::collections::{HashMap, HashSet};

use agent::model::StopReason;
use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use super::strict::{
    Checked, answered, bad, count, headers as check_headers, list, media, name, object, only, require, text,
};
use super::turn::Saying;
use super::{Given, Signatures};

const FIELDS: [&str; 14] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "output_config",
    "metadata",
    "stop_sequences",
    "temperature",
    "top_k",
    "top_p",
    "thinking",
];

const MOST_CACHE_MARKS: usize = 4;

/// Refuses what the provider refuses.
pub(super) fn check(
    headers: &HeaderMap,
    body: &Value,
    given: &HashMap<String, Given>,
    signatures: &Signatures,
) -> Checked {
    match headers.contains_key("authorization") {
        true => check_headers(headers, "authorization", &format!("Bearer {}", super::KEY))?,
        false => check_headers(headers, "x-api-key", super::KEY)?,
    }
    require(headers.get("anthropic-version").is_some_and(|version| version == "2023-06-01"), || {
        "anthropic-version: header is required".to_owned()
    })?;
    let whole = body;
    let body = object(body, "body")?;
    only(body, &FIELDS, "")?;
    let field = |key: &str| body.get(key).unwrap_or(&Value::Null);
    text(field("model"), "model")?;
    count(field("max_tokens"), "max_tokens")?;
    require(field("stream") == true, || "stream: this server only streams".to_owned())?;
    if let Some(system) = body.get("system") {
        for block in list(system, "system")? {
            check_block(block, "system", "system")?;
        }
    }
    check_settings(body)?;
    let has_tools = check_tools(body)?;
    if let Some(choice) = body.get("tool_choice") {
        require(has_tools, || "tool_choice: may only be specified while providing tools".to_owned())?;
        let kinds = ["auto", "any", "tool", "none"];
        require(kinds.iter().any(|kind| choice["type"] == *kind), || "tool_choice.type: unknown".to_owned())?;
    }
    if let Some(config) = body.get("output_config") {
        only(object(config, "output_config")?, &["format", "effort"], "output_config.")?;
        let efforts = ["low", "medium", "high", "xhigh", "max"];
        let effort = config.get("effort").and_then(Value::as_str);
        require(effort.is_none_or(|effort| efforts.contains(&effort)), || "output_config.effort: unknown".to_owned())?;
        let format = &config["format"];
        let good = format["type"] == "json_schema" && format["schema"].is_object();
        require(good || config.get("format").is_none(), || {
            "output_config.format: must be a json_schema with a schema".to_owned()
        })?;
        check_closed(&format["schema"])?;
    }
    check_messages(whole, has_tools, given)?;
    check_signatures(whole, signatures)?;
    check_marks(body)
}

/// Models of the fifth generation think unasked, as much as they think fit, and take no temperature. Those before 4.6 refuse to think as
/// they think fit.
fn check_settings(body: &Map<String, Value>) -> Checked {
    let kind = body.get("thinking").and_then(|thinking| thinking["type"].as_str()).unwrap_or_default();
    let Some(version) = version(&body["model"]) else { return Ok(()) };
    require(version >= (4, 6) || kind != "adaptive", || "adaptive thinking is not supported on this model".to_owned())?;
    if version < (5, 0) {
        return Ok(());
    }
    require(!body.contains_key("temperature"), || "`temperature` is deprecated for this model.".to_owned())?;
    require(kind != "enabled", || {
        "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to \
         control thinking behavior."
            .to_owned()
    })
}

/// Whether one of Anthropic's models is of the fifth generation; none where it is not one of Anthropic's.
fn thinks_unasked(model: &Value) -> Option<bool> {
    Some(version(model)?.0 >= 5)
}

/// The version of one of Anthropic's models: 4 and 5 of `claude-opus-4-5`.
fn version(model: &Value) -> Option<(u32, u32)> {
    let name = model.as_str()?.strip_prefix("claude-").filter(|name| name.starts_with(char::is_alphabetic))?;
    let mut words = name.split('-').skip(1);
    let major = words.next()?.parse().ok()?;
    Some((major, words.next().and_then(|minor| minor.parse().ok()).unwrap_or(0)))
}

/// The provider holds a model to no schema that lets fields through which it does not name.
fn check_closed(schema: &Value) -> Checked {
    let is_object = schema["type"] == "object" || schema.get("properties").is_some();
    require(!is_object || schema["additionalProperties"] == false, || {
        "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
            .to_owned()
    })?;
    let below = schema.as_object().into_iter().flat_map(Map::values).chain(schema.as_array().into_iter().flatten());
    below.filter(|value| value.is_object() || value.is_array()).try_for_each(check_closed)
}

/// The block of thinking before an answer, where the model thinks: it does before a call, and where a test says what it thinks. The words are
/// sent to those who ask for them.
pub(super) fn thinking(saying: &Saying, asked: &Value) -> Option<Value> {
    let thinking = &asked["thinking"];
    let thinks = thinks_unasked(&asked["model"]) == Some(true) || thinking.is_object();
    let is_shown = thinking["display"] == "summarized" || thinking["type"] == "enabled";
    let of = saying.first_call().map(|call| call.id.as_str());
    let is_thought = thinks && thinking["type"] != "disabled" && (of.is_some() || !saying.thoughts.is_empty());
    let words = if is_shown { saying.thoughts.as_str() } else { "" };
    let signature = saying.sign(of.unwrap_or(&saying.text));
    is_thought.then(|| json!({"type": "thinking", "thinking": words, "signature": signature}))
}

/// Four marks at most, and none that is kept longer behind one that is kept shorter.
fn check_marks(body: &Map<String, Value>) -> Checked {
    let mut marks = Vec::new();
    // The order in which the provider reads a request.
    for part in ["tools", "system", "messages"] {
        find_marks(body.get(part).unwrap_or(&Value::Null), part, &mut marks);
    }
    check_found_marks(marks)
}

/// The same for marks that were found elsewhere, each with its place.
pub(super) fn check_found_marks(marks: Vec<(String, &Value)>) -> Checked {
    let found = marks.len();
    require(found <= MOST_CACHE_MARKS, || {
        format!("A maximum of {MOST_CACHE_MARKS} blocks with cache_control may be provided. Found {found}.")
    })?;
    let mut is_short = false;
    for (place, mark) in marks {
        require(mark["type"] == "ephemeral", || format!("{place}.cache_control.type: must be ephemeral"))?;
        let ttl = mark.get("ttl").map_or(Some("5m"), Value::as_str);
        require(matches!(ttl, Some("5m" | "1h")), || format!("{place}.cache_control.ttl: must be 5m or 1h"))?;
        require(!(is_short && ttl == Some("1h")), || {
            format!(
                "{place}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note \
                 that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        })?;
        is_short |= ttl == Some("5m");
    }
    Ok(())
}

fn find_marks<'a>(value: &'a Value, place: &str, marks: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(nth, below)| find_marks(below, &format!("{place}.{nth}"), marks));
        }
        Value::Object(block) => {
            if let Some(content) = block.get("content") {
                find_marks(content, &format!("{place}.content"), marks);
            }
            marks.extend(block.get("cache_control").map(|mark| (place.to_owned(), mark)));
        }
        _ => {}
    }
}

fn check_tools(body: &Map<String, Value>) -> Checked<bool> {
    let Some(tools) = body.get("tools") else { return Ok(false) };
    let mut names = HashSet::new();
    let tools = tools.as_array().ok_or_else(|| bad("tools: must be a list"))?;
    for (nth, tool) in tools.iter().enumerate() {
        let place = format!("tools.{nth}");
        let known = ["type", "name", "description", "input_schema", "cache_control"];
        only(object(tool, &place)?, &known, &format!("{place}."))?;
        let name = name(&tool["name"], 128, &format!("{place}.name"))?;
        require(names.insert(name), || "tools: Tool names must be unique.".to_owned())?;
        let is_object = tool["input_schema"]["type"] == "object";
        require(is_object, || format!("{place}.input_schema.type: must be object"))?;
    }
    Ok(!tools.is_empty())
}

/// Roles take turns here, which the provider would forgive; those who host its models for others do not.
fn check_messages(body: &Value, has_tools: bool, given: &HashMap<String, Given>) -> Checked {
    let messages = list(&body["messages"], "messages")?;
    let mut seen = HashSet::new();
    let mut asked: Vec<&str> = Vec::new();
    for (nth, message) in messages.iter().enumerate() {
        let place = format!("messages.{nth}");
        only(object(message, &place)?, &["role", "content"], &format!("{place}."))?;
        let role = if nth % 2 == 0 { "user" } else { "assistant" };
        require(message["role"] == role, || format!("{place}: roles must take turns, beginning with user"))?;
        let blocks = match &message["content"] {
            Value::String(_) => {
                text(&message["content"], &format!("{place}.content"))?;
                &[]
            }
            content => list(content, &format!("{place}.content"))?,
        };
        for (nth, block) in blocks.iter().enumerate() {
            check_block(block, role, &format!("{place}.content.{nth}"))?;
        }
        let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
        let results: Vec<&str> = of("tool_result").filter_map(|block| block["tool_use_id"].as_str()).collect();
        let first = blocks.iter().take_while(|block| block["type"] == "tool_result").count();
        require(first == results.len(), || format!("{place}: tool_result blocks must come before any other content"))?;
        answered(&asked, &results, &place)?;
        asked = of("tool_use").filter_map(|block| block["id"].as_str()).collect();
        check_thinking(body, nth, &asked, given, &place)?;
        for id in &asked {
            require(seen.insert(*id), || format!("{place}: `tool_use` ids must be unique: {id}"))?;
        }
        require(has_tools || (asked.is_empty() && results.is_empty()), || {
            format!("{place}: requests with `tool_use` or `tool_result` blocks must define tools")
        })?;
    }
    // Only an answer in which the server made a pause is sent back to be gone on with.
    let newest = messages.last().and_then(|message| message["content"].as_array()?.last()?["text"].as_str());
    let is_paused = newest.is_some_and(|text| given.contains_key(text));
    require(messages.len() % 2 == 1 || is_paused, || {
        "messages: the conversation must end with a user message".to_owned()
    })
}

/// The model of a request and what it says before one of its messages, or in all of them, without marks for the cache: what a thought is
/// bound to.
pub(super) fn before(body: &Value, nth: Option<usize>) -> Value {
    fn unmarked(value: &mut Value) {
        match value {
            Value::Object(object) => {
                object.remove("cache_control");
                object.values_mut().for_each(unmarked);
            }
            Value::Array(list) => list.iter_mut().for_each(unmarked),
            _ => {}
        }
    }
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let messages = &messages[..nth.unwrap_or(messages.len())];
    let mut before =
        json!({"model": body["model"], "system": body["system"], "tools": body["tools"], "messages": messages});
    unmarked(&mut before);
    before
}

fn blocks_of(message: &Value) -> &[Value] {
    message["content"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn thinks(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// A thought of another provider is refused.
fn check_signatures(body: &Value, signatures: &Signatures) -> Checked {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    messages.iter().enumerate().try_for_each(|(nth, message)| {
        let mut thoughts = blocks_of(message).iter().filter(|block| block["type"] == "thinking");
        require(!thoughts.any(|block| signatures.is_foreign(&block["signature"])), || {
            format!("messages.{nth}.content.0: Invalid `signature` in `thinking` block")
        })
    })
}

/// The last message of a request before which something besides thoughts has changed since the model thought there. Up to it thoughts may be
/// left out; those that came later belong to the conversation as it is now.
fn last_changed(body: &Value, given: &HashMap<String, Given>) -> Option<usize> {
    let without_thoughts = |mut said: Value| {
        for message in said["messages"].as_array_mut().into_iter().flatten() {
            if let Some(blocks) = message["content"].as_array_mut() {
                blocks.retain(|block| !thinks(block));
            }
        }
        said
    };
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has_changed = |(nth, message): &(usize, &Value)| {
        let id = blocks_of(message).iter().find_map(|block| block["id"].as_str());
        let given = id.and_then(|id| given.get(id)).filter(|given| !given.thinking.is_empty());
        given.is_some_and(|given| {
            let now = without_thoughts(before(body, Some(*nth)));
            given.thinking.iter().all(|(_, said_before)| without_thoughts(said_before.clone()) != now)
        })
    };
    messages.iter().enumerate().filter(has_changed).map(|(nth, _)| nth).next_back()
}

/// What the model thought before a call comes back before that call, to the letter. Where anything before it has changed, it must not.
fn check_thinking(
    body: &Value,
    nth: usize,
    asked: &[&str],
    given_all: &HashMap<String, Given>,
    place: &str,
) -> Checked {
    let blocks = blocks_of(&body["messages"][nth]);
    let given =
        asked.first().and_then(|id| given_all.get(*id)).map(|given| given.thinking.as_slice()).unwrap_or_default();
    if given.is_empty() {
        return Ok(());
    }
    let said_before = before(body, Some(nth));
    let Some((given, _)) = given.iter().find(|(_, before)| *before == said_before) else {
        return require(!blocks.iter().any(thinks), || {
            format!(
                "{place}.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, \
                 or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
            )
        });
    };
    if !blocks.iter().any(thinks) && last_changed(body, given_all).is_some_and(|last| nth <= last) {
        return Ok(());
    }
    let found = blocks[0]["type"].as_str().unwrap_or_default();
    require(thinks(&blocks[0]), || {
        format!(
            "{place}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a final \
             `assistant` message must start with a thinking block"
        )
    })?;
    require(blocks[0]["signature"] == given["signature"], || {
        format!("{place}.content.0: Invalid `signature` in `thinking` block")
    })?;
    require(blocks[0] == *given, || {
        format!(
            "{place}.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These \
             blocks must remain as they were in the original response."
        )
    })
}

fn check_block(block: &Value, role: &str, place: &str) -> Checked {
    let kind = block["type"].as_str().unwrap_or_default();
    let fields: &[&str] = match (kind, role) {
        ("text", _) => &["type", "text", "cache_control"],
        ("image", "user") => &["type", "source", "cache_control"],
        ("document", "user") => &["type", "source", "title", "cache_control"],
        ("tool_use", "assistant") => &["type", "id", "name", "input", "cache_control"],
        ("tool_result", "user") => &["type", "tool_use_id", "content", "is_error", "cache_control"],
        ("thinking", "assistant") => &["type", "thinking", "signature"],
        ("redacted_thinking", "assistant") => &["type", "data"],
        _ => return Err(bad(format!("{place}.type: `{kind}` is not permitted in a message of {role}"))),
    };
    only(object(block, place)?, fields, &format!("{place}."))?;
    match kind {
        "text" => text(&block["text"], &format!("{place}.text")).map(drop),
        "image" | "document" => {
            let source = &block["source"];
            only(object(source, place)?, &["type", "media_type", "data"], &format!("{place}.source."))?;
            require(source["type"] == "base64", || format!("{place}.source.type: must be base64"))?;
            media(&source["media_type"], &source["data"], kind == "image", place)
        }
        "tool_use" => {
            name(&block["id"], 256, &format!("{place}.id"))?;
            name(&block["name"], 128, &format!("{place}.name"))?;
            object(&block["input"], &format!("{place}.input")).map(drop)
        }
        "tool_result" => name(&block["tool_use_id"], 256, &format!("{place}.tool_use_id")).map(drop),
        "thinking" => text(&block["signature"], &format!("{place}.signature")).map(drop),
        _ => text(&block["data"], &format!("{place}.data")).map(drop),
    }
}

/// How many of the last events tell the end.
pub(super) const CLOSING_FRAMES: usize = 2;

/// The answer as events.
pub(super) fn frames(saying: &Saying, asked: &Value) -> Vec<String> {
    let (minutes, hour) = saying.written;
    let written = json!({"ephemeral_5m_input_tokens": minutes, "ephemeral_1h_input_tokens": hour});
    let usage = json!({"input_tokens": saying.tokens_in, "cache_creation_input_tokens": minutes + hour,
        "cache_creation": written, "cache_read_input_tokens": saying.cached, "output_tokens": 1});
    let message = json!({"id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant", "model": "test-model",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
    let mut events = vec![json!({"type": "message_start", "message": message}), json!({"type": "ping"})];
    let mut index = 0;
    let mut block = |events: &mut Vec<Value>, start: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.extend(
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    if let Some(thinking) = thinking(saying, asked) {
        let mut deltas: Vec<Value> = Vec::new();
        let text = thinking["thinking"].as_str().unwrap_or_default();
        deltas.extend(text.split_inclusive(' ').map(|word| json!({"type": "thinking_delta", "thinking": word})));
        deltas.push(json!({"type": "signature_delta", "signature": thinking["signature"]}));
        block(&mut events, json!({"type": "thinking", "thinking": "", "signature": ""}), deltas);
    }
    if !saying.text.is_empty() {
        let words = saying.words().map(|word| json!({"type": "text_delta", "text": word})).collect();
        block(&mut events, json!({"type": "text", "text": ""}), words);
    }
    for (call, pieces) in saying.calls_in_pieces() {
        let pieces = pieces.iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect();
        block(&mut events, json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}), pieces);
    }
    let stop = match saying.stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::Refusal => "refusal",
        StopReason::Paused => "pause_turn",
    };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": {"output_tokens": saying.tokens_out, "output_tokens_details": {"thinking_tokens": saying.reasoned}}}));
    events.push(json!({"type": "message_stop"}));
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_are_kept_longer_come_before_those_that_are_kept_shorter() {
        let mark = |ttl: &str| json!({"type": "ephemeral", "ttl": ttl});
        let body = |first: &str, second: &str| {
            let content = json!([{"type": "text", "text": "hello", "cache_control": mark(second)}]);
            let body =
                json!({"tools": [{"name": "a", "cache_control": mark(first)}], "messages": [{"content": content}]});
            body.as_object().expect("an object").clone()
        };
        for (first, second, is_good) in
            [("1h", "5m", true), ("1h", "1h", true), ("5m", "5m", true), ("5m", "1h", false)]
        {
            assert_eq!(check_marks(&body(first, second)).is_ok(), is_good, "{first} before {second}");
        }
        assert!(check_marks(&body("2h", "5m")).is_err());
    }
}
