//! Gemini `generateContent` from the other side: what is refused, and what an answer looks like in bytes.

use std::collections::HashSet;

use agent::model::StopReason;
use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use super::Signatures;
use super::strict::{
    Checked, answered, bad, count, headers as check_headers, list, media, name, object, only, require,
};
use super::turn::Saying;

const FIELDS: [&str; 6] =
    ["contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings"];

/// Refuses what the provider refuses, and an answer without a limit.
pub(super) fn check(headers: &HeaderMap, path: &str, body: &Value, signatures: &Signatures) -> Checked {
    check_headers(headers, "x-goog-api-key", super::KEY)?;
    let body = object(body, "body")?;
    only(body, &FIELDS, "")?;
    let field = |key: &str| body.get(key).unwrap_or(&Value::Null);
    let generation = object(field("generationConfig"), "generationConfig")?;
    let known = ["maxOutputTokens", "responseMimeType", "responseJsonSchema", "temperature", "topP", "thinkingConfig"];
    only(generation, &known, "generationConfig.")?;
    count(generation.get("maxOutputTokens").unwrap_or(&Value::Null), "generationConfig.maxOutputTokens")?;
    let has_schema = generation.contains_key("responseJsonSchema");
    require(!has_schema || generation.get("responseMimeType") == Some(&json!("application/json")), || {
        "generationConfig.responseJsonSchema: needs the response mime type application/json".to_owned()
    })?;
    if let Some(system) = body.get("systemInstruction") {
        for part in list(&system["parts"], "systemInstruction.parts")? {
            require(part["text"].is_string(), || "systemInstruction.parts: must be texts".to_owned())?;
        }
    }
    let has_tools = check_tools(body)?;
    require(has_tools || !body.contains_key("toolConfig"), || {
        "toolConfig: function calling config is set without function declarations in tools".to_owned()
    })?;
    let contents = list(field("contents"), "contents")?;
    check_contents(contents, has_tools, signatures)?;
    check_signatures(path, contents, signatures)
}

fn check_tools(body: &Map<String, Value>) -> Checked<bool> {
    let Some(tools) = body.get("tools") else { return Ok(false) };
    let mut names = HashSet::new();
    for tool in list(tools, "tools")? {
        for (nth, tool) in list(&tool["functionDeclarations"], "tools.functionDeclarations")?.iter().enumerate() {
            let place = format!("tools[0].functionDeclarations[{nth}]");
            only(object(tool, &place)?, &["name", "description", "parametersJsonSchema"], &format!("{place}."))?;
            let name = name(&tool["name"], 128, &format!("{place}.name"))?;
            require(names.insert(name), || format!("{place}: tool names must be unique"))?;
            object(&tool["parametersJsonSchema"], &format!("{place}.parametersJsonSchema"))?;
        }
    }
    Ok(true)
}

/// A signature of another provider is refused, and from the third generation on a first call without any. A call that another model made has
/// a placeholder.
fn check_signatures(path: &str, contents: &[Value], signatures: &Signatures) -> Checked {
    let generation = path.split_once("/gemini-").and_then(|(_, rest)| rest.split(['.', '-', ':']).next()?.parse().ok());
    let is_strict = generation.is_some_and(|generation: u32| generation >= 3);
    for content in contents {
        let parts = content["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut signed = parts.iter().filter_map(|part| part.get("thoughtSignature"));
        require(!signed.any(|signature| signatures.is_foreign(signature)), || {
            "Thought signature is not valid.".to_owned()
        })?;
        let first = parts.iter().find(|part| part.get("functionCall").is_some());
        require(!is_strict || first.is_none_or(|call| call.get("thoughtSignature").is_some()), || {
            "Function call is missing a thought_signature in functionCall parts.".to_owned()
        })?;
    }
    Ok(())
}

fn check_contents(contents: &[Value], has_tools: bool, signatures: &Signatures) -> Checked {
    let mut seen = HashSet::new();
    let mut asked: Vec<(&str, &str)> = Vec::new();
    require(contents[0]["role"] == "user", || "contents: the first content must be a user's".to_owned())?;
    for (nth, content) in contents.iter().enumerate() {
        let place = format!("contents[{nth}]");
        only(object(content, &place)?, &["role", "parts"], &format!("{place}."))?;
        let is_model = content["role"] == "model";
        require(is_model || content["role"] == "user", || format!("{place}.role: must be user or model"))?;
        let mut results = Vec::new();
        let mut called = Vec::new();
        for part in list(&content["parts"], &format!("{place}.parts"))? {
            let place = format!("{place}.parts");
            only(
                object(part, &place)?,
                &["text", "functionCall", "functionResponse", "thoughtSignature", "thought", "inlineData"],
                &place,
            )?;
            if let Some(blob) = part.get("inlineData") {
                only(object(blob, &place)?, &["mimeType", "data"], &format!("{place}.inlineData."))?;
                require(!is_model, || format!("{place}: an image is not the model's"))?;
                media(&blob["mimeType"], &blob["data"], blob["mimeType"] != "application/pdf", &place)?;
                continue;
            }
            match (&part["text"], &part["functionCall"], &part["functionResponse"]) {
                (Value::String(text), Value::Null, Value::Null) => {
                    let is_signed = part["thoughtSignature"].is_string();
                    require(!text.is_empty() || is_signed, || format!("{place}: a text must not be empty"))?;
                }
                (Value::Null, Value::Object(call), Value::Null) => {
                    only(call, &["id", "name", "args"], &format!("{place}.functionCall."))?;
                    require(is_model && has_tools, || format!("{place}: a call needs the role model and tools"))?;
                    let tool = name(&part["functionCall"]["name"], 128, &format!("{place}.functionCall.name"))?;
                    object(&part["functionCall"]["args"], &format!("{place}.functionCall.args"))?;
                    let id = part["functionCall"]["id"].as_str().unwrap_or(tool);
                    require(seen.insert(id), || format!("{place}: call ids must be unique: {id}"))?;
                    if let Some(expected) = signatures.of(id) {
                        require(part["thoughtSignature"] == expected.as_str(), || {
                            format!("{place}: Function call `{id}` is missing a thought_signature")
                        })?;
                    }
                    called.push((id, tool));
                }
                (Value::Null, Value::Null, Value::Object(result)) => {
                    only(result, &["id", "name", "response"], &format!("{place}.functionResponse."))?;
                    require(!is_model, || format!("{place}: a result is not the model's"))?;
                    let tool = name(&part["functionResponse"]["name"], 128, &format!("{place}.functionResponse.name"))?;
                    object(&part["functionResponse"]["response"], &format!("{place}.functionResponse.response"))?;
                    let id = part["functionResponse"]["id"].as_str().unwrap_or(tool);
                    let is_known = asked.iter().all(|(of, name)| *of != id || *name == tool);
                    require(is_known, || format!("{place}: the result for `{id}` names another function"))?;
                    results.push(id);
                }
                _ => return Err(bad(format!("{place}: must have exactly one field of data"))),
            }
        }
        if !is_model {
            let ids: Vec<&str> = asked.iter().map(|(id, _)| *id).collect();
            answered(&ids, &results, &place)?;
        }
        asked = called;
    }
    let last = contents.last().is_some_and(|content| content["role"] == "user");
    require(last && asked.is_empty(), || "contents: the last content is the model's own".to_owned())
}

/// The first words of the user, and how often the model has answered.
pub(super) fn said(body: &Value) -> (String, usize) {
    let contents = body["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let first = contents.iter().find(|content| content["role"] == "user");
    let first = first.and_then(|content| content["parts"][0]["text"].as_str()).unwrap_or_default();
    (first.to_owned(), contents.iter().filter(|content| content["role"] == "model").count())
}

/// How many of the last events tell the end.
pub(super) const CLOSING_FRAMES: usize = 1;

/// The answer as events. The first call of an answer is signed, as a model that thinks signs it.
pub(super) fn frames(saying: &Saying, asked: &Value) -> Vec<String> {
    let chunk = |parts: Vec<Value>, more: Value| {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if let Value::String(reason) = &more["finishReason"] {
            candidate["finishReason"] = reason.as_str().into();
        }
        let chunk = json!({"candidates": [candidate], "usageMetadata": more["usage"], "modelVersion": "test-model"});
        format!("data: {chunk}\r\n\r\n")
    };
    if saying.is_filtered {
        let usage = json!({"promptTokenCount": saying.tokens_in, "totalTokenCount": saying.tokens_in});
        let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage, "modelVersion": "test-model"});
        return vec![format!("data: {blocked}\r\n\r\n")];
    }
    let is_shown = asked["generationConfig"]["thinkingConfig"]["includeThoughts"] == true;
    let thoughts = saying.thoughts.split_inclusive(' ').filter(|_| is_shown);
    let mut frames: Vec<String> =
        thoughts.map(|word| chunk(vec![json!({"text": word, "thought": true})], json!({}))).collect();
    frames.extend(saying.words().map(|word| chunk(vec![json!({"text": word})], json!({}))));
    for (nth, (call, pieces)) in saying.calls_in_pieces().enumerate() {
        // Arguments come whole; those that are no JSON are what the provider calls malformed.
        let Ok(args) = serde_json::from_str::<Value>(&pieces.concat()) else {
            frames.push(chunk(Vec::new(), json!({"finishReason": "MALFORMED_FUNCTION_CALL"})));
            return frames;
        };
        let mut part = json!({"functionCall": {"id": call.id, "name": call.name, "args": args}});
        if nth == 0 {
            part["thoughtSignature"] = saying.sign(&call.id).into();
        }
        frames.push(chunk(vec![part], json!({})));
    }
    let finish_reason = match saying.stop {
        StopReason::EndTurn | StopReason::ToolUse | StopReason::Paused => "STOP",
        StopReason::MaxTokens => "MAX_TOKENS",
        StopReason::Refusal => "SAFETY",
    };
    let (prompt, answer) = (saying.tokens_in + saying.cached, saying.tokens_out);
    let mut usage = json!({"promptTokenCount": prompt, "candidatesTokenCount": answer - saying.reasoned.min(answer),
        "totalTokenCount": prompt + answer});
    for (key, count) in [("cachedContentTokenCount", saying.cached), ("thoughtsTokenCount", saying.reasoned)] {
        if count > 0 {
            usage[key] = count.into();
        }
    }
    frames.push(chunk(vec![], json!({"finishReason": finish_reason, "usage": usage})));
    frames
}
