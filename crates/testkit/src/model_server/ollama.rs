//! Ollama's own API from the other side: what is refused, and what an answer looks like in bytes.
//!
//! The real server forgives more: it leaves out fields that it does not know, and a request without `num_ctx` gets a small window of which
//! nothing is said. Both are refused here.

use std::collections::{HashMap, HashSet};

use agent::model::StopReason;
use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use super::Given;
use super::strict::{
    Checked, answered, bad, count, headers as check_headers, list, media, name, object, only, require, text,
};
use super::turn::Saying;

const FIELDS: [&str; 10] =
    ["model", "messages", "stream", "format", "keep_alive", "tools", "options", "think", "truncate", "shift"];

const OPTIONS: [&str; 12] = [
    "num_ctx",
    "num_predict",
    "num_keep",
    "num_batch",
    "num_gpu",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "seed",
    "stop",
    "repeat_penalty",
];

/// Refuses what the server refuses, and a request without a window or without a limit.
pub(super) fn check(headers: &HeaderMap, body: &Value, given: &HashMap<String, Given>) -> Checked {
    // On a person's own machine it asks for no key.
    if headers.contains_key("authorization") {
        check_headers(headers, "authorization", &format!("Bearer {}", super::KEY))?;
    }
    let body = object(body, "body")?;
    only(body, &FIELDS, "")?;
    let field = |key: &str| body.get(key).unwrap_or(&Value::Null);
    text(field("model"), "model")?;
    require(field("stream") == true, || "stream: this server only streams".to_owned())?;
    for cut in ["truncate", "shift"] {
        require(field(cut) == false, || format!("{cut}: what does not fit would be cut off without a word"))?;
    }
    let options = object(field("options"), "options")?;
    only(options, &OPTIONS, "options.")?;
    for needed in ["num_ctx", "num_predict"] {
        let value = options.get(needed).unwrap_or(&Value::Null);
        count(value, &format!("options.{needed}"))?;
    }
    let has_number = options.get("temperature").is_none_or(Value::is_number);
    require(has_number, || "option \"temperature\" must be of type float32".to_owned())?;
    let think = field("think");
    let is_level = |level: &str| ["high", "medium", "low", "max"].contains(&level);
    require(think.is_null() || think.is_boolean() || think.as_str().is_some_and(is_level), || {
        format!("invalid think value: {think} (must be \"high\", \"medium\", \"low\", \"max\", true, or false)")
    })?;
    let format = field("format");
    require(format.is_null() || format == "json" || format.is_object(), || {
        format!("invalid format: {format}; expected \"json\" or a valid JSON Schema object")
    })?;
    let has_tools = check_tools(body)?;
    require(format.is_null() || !has_tools, || "format: a model that is held to a schema calls no tools".to_owned())?;
    check_messages(list(field("messages"), "messages")?, has_tools, given)
}

/// The server reads the schemas of tools into types of its own, so that a schema which is right may still be refused.
fn check_tools(body: &Map<String, Value>) -> Checked<bool> {
    let Some(tools) = body.get("tools") else { return Ok(false) };
    let mut names = HashSet::new();
    for (nth, tool) in list(tools, "tools")?.iter().enumerate() {
        let place = format!("tools[{nth}]");
        only(object(tool, &place)?, &["type", "function"], &format!("{place}."))?;
        require(tool["type"] == "function", || format!("{place}.type: must be function"))?;
        let function = object(&tool["function"], &format!("{place}.function"))?;
        only(function, &["name", "description", "parameters"], &format!("{place}.function."))?;
        let name = name(&tool["function"]["name"], 64, &format!("{place}.function.name"))?;
        require(names.insert(name), || format!("{place}: tool names must be unique"))?;
        let parameters = &tool["function"]["parameters"];
        object(parameters, &format!("{place}.function.parameters"))?;
        check_property(parameters, &format!("{place}.function.parameters"))?;
    }
    Ok(true)
}

fn check_property(property: &Value, place: &str) -> Checked {
    let property = object(property, place)?;
    let is_list_of_texts = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    let field = |key: &str| property.get(key).unwrap_or(&Value::Null);
    let kind = field("type");
    require(kind.is_null() || kind.is_string() || is_list_of_texts(kind), || {
        format!("{place}.type: json: cannot unmarshal into Go value of type []string")
    })?;
    let required = field("required");
    require(required.is_null() || is_list_of_texts(required), || format!("{place}.required: must be names"))?;
    require(field("enum").is_null() || field("enum").is_array(), || format!("{place}.enum: must be a list"))?;
    let mut below = property.get("properties").and_then(Value::as_object).into_iter().flatten();
    below.try_for_each(|(name, below)| check_property(below, &format!("{place}.{name}")))
}

fn check_messages(messages: &[Value], has_tools: bool, given: &HashMap<String, Given>) -> Checked {
    let mut seen = HashSet::new();
    let (mut asked, mut results): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let said = messages.iter().position(|message| message["role"] != "system").unwrap_or(messages.len());
    require(messages.get(said).is_some_and(|first| first["role"] == "user"), || {
        "messages: the first message must be a user's".to_owned()
    })?;
    for (nth, message) in messages.iter().enumerate() {
        let place = format!("messages[{nth}]");
        let role = message["role"].as_str().unwrap_or_default();
        require(message["content"].is_string(), || {
            format!("{place}: json: cannot unmarshal into Go struct field ChatRequest.messages.content of type string")
        })?;
        if role != "tool" {
            answered(&asked, &results, &place)?;
            asked.clear();
            results.clear();
        }
        let known: &[&str] = match role {
            "system" => &["role", "content"],
            "user" => &["role", "content", "images"],
            "assistant" => &["role", "content", "thinking", "tool_calls"],
            "tool" => &["role", "content", "tool_name", "tool_call_id"],
            other => return Err(bad(format!("{place}.role: `{other}` is not one of system, user, assistant, tool"))),
        };
        only(object(message, &place)?, known, &format!("{place}."))?;
        match role {
            "user" => {
                let images = message.get("images").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                images.iter().try_for_each(|image| media(&json!("image/png"), image, true, &place))?;
                require(!images.is_empty() || message["content"] != "", || format!("{place}: must not be empty"))?;
            }
            "assistant" => {
                check_thinking(message, given, &place)?;
                asked = check_calls(message, &place)?;
                for id in &asked {
                    require(seen.insert(*id), || format!("{place}: tool call ids must be unique: {id}"))?;
                }
                require(has_tools || asked.is_empty(), || {
                    format!("{place}: tool calls in a request that defines no tools")
                })?;
            }
            "tool" => {
                let tool = name(&message["tool_name"], 64, &format!("{place}.tool_name"))?;
                require(!asked.is_empty(), || format!("{place}: the result has no call in the previous message"))?;
                results.push(message["tool_call_id"].as_str().unwrap_or(tool));
            }
            _ => {}
        }
    }
    answered(&asked, &results, "messages")?;
    let last = messages.last().map(|message| &message["role"]);
    require(last.is_some_and(|role| role != "assistant"), || "messages: the last message is the model's own".to_owned())
}

/// What the model thought comes back as it was given, for its template needs it behind a call.
fn check_thinking(message: &Value, given: &HashMap<String, Given>, place: &str) -> Checked {
    let name = message["tool_calls"][0]["id"].as_str().or(message["content"].as_str()).unwrap_or_default();
    let kept = given.get(name).and_then(|given| given.members.get("thinking"));
    require(message.get("thinking") == kept, || format!("{place}.thinking: is not what was given"))
}

fn check_calls<'a>(message: &'a Value, place: &str) -> Checked<Vec<&'a str>> {
    let Some(calls) = message.get("tool_calls") else {
        return text(&message["content"], &format!("{place}.content")).map(|_| Vec::new());
    };
    let mut ids = Vec::new();
    for call in list(calls, &format!("{place}.tool_calls"))? {
        let place = format!("{place}.tool_calls");
        only(object(call, &place)?, &["id", "function"], &format!("{place}."))?;
        let function = object(&call["function"], &place)?;
        only(function, &["index", "name", "arguments"], &format!("{place}.function."))?;
        let tool = name(&call["function"]["name"], 64, &format!("{place}.function.name"))?;
        object(&call["function"]["arguments"], &format!("{place}.function.arguments"))?;
        ids.push(call["id"].as_str().unwrap_or(tool));
    }
    Ok(ids)
}

/// How many of the last lines tell the end.
pub(super) const CLOSING_FRAMES: usize = 1;

/// The answer as lines.
pub(super) fn frames(saying: &Saying) -> Vec<String> {
    let line = |message: Value, more: Value| {
        let mut line = json!({"model": "test-model", "created_at": "2026-01-15T10:00:00.000000Z", "message": message, "done": false});
        for (key, value) in more.as_object().into_iter().flatten() {
            line[key] = value.clone();
        }
        format!("{line}\n")
    };
    let message = |more: Value| {
        let mut message = json!({"role": "assistant", "content": ""});
        for (key, value) in more.as_object().into_iter().flatten() {
            message[key] = value.clone();
        }
        message
    };
    let thought = saying.beside.get("thinking").and_then(Value::as_str).unwrap_or_default();
    let mut frames: Vec<String> =
        thought.split_inclusive(' ').map(|word| line(message(json!({"thinking": word})), json!({}))).collect();
    frames.extend(saying.words().map(|word| line(message(json!({"content": word})), json!({}))));
    for (nth, (call, pieces)) in saying.calls_in_pieces().enumerate() {
        // Arguments come whole; the server reads them before it sends them.
        let arguments = pieces.concat();
        let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(&arguments) else {
            frames.push(format!("{}\n", json!({"error": format!("error parsing tool call: raw='{arguments}'")})));
            return frames;
        };
        let call = json!({"id": call.id, "function": {"index": nth, "name": call.name, "arguments": arguments}});
        frames.push(line(message(json!({"tool_calls": [call]})), json!({})));
    }
    let reason = if saying.stop == StopReason::MaxTokens { "length" } else { "stop" };
    let mut end =
        json!({"done": true, "done_reason": reason, "total_duration": 5_191_566_416_u64, "load_duration": 2_154_458});
    if !saying.is_uncounted {
        (end["prompt_eval_count"], end["eval_count"]) = (saying.tokens_in.into(), saying.tokens_out.into());
    }
    frames.push(line(message(json!({})), end));
    frames
}
