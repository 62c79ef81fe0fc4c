//! The OpenAI Responses API from the other side: what is refused, and what an answer looks like in bytes.

use std::collections::HashSet;

use agent::model::StopReason;
use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use super::Signatures;
use super::strict::{
    Checked, answered, bad, closed, data_url, headers as check_headers, list, name, object, only, require, text,
};
use super::turn::Saying;

const FIELDS: [&str; 15] = [
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "store",
    "include",
    "max_output_tokens",
    "text",
    "reasoning",
    "temperature",
    "top_p",
    "prompt_cache_key",
];

/// The smallest limit of an answer.
const LEAST_OUTPUT_TOKENS: u64 = 16;

/// Refuses what the provider refuses, and what would leave a conversation at the provider or without its reasoning.
pub(super) fn check(headers: &HeaderMap, body: &Value, signatures: &Signatures) -> Checked {
    check_headers(headers, "authorization", &format!("Bearer {}", super::KEY))?;
    let body = object(body, "body")?;
    only(body, &FIELDS, "")?;
    let field = |key: &str| body.get(key).unwrap_or(&Value::Null);
    text(field("model"), "model")?;
    require(field("max_output_tokens").as_u64().is_some_and(|limit| limit >= LEAST_OUTPUT_TOKENS), || {
        format!("max_output_tokens: must be an integer of at least {LEAST_OUTPUT_TOKENS}")
    })?;
    require(field("stream") == true, || "stream: this server only streams".to_owned())?;
    require(field("store") == false, || "store: this server keeps nothing".to_owned())?;
    if let Some(instructions) = body.get("instructions") {
        text(instructions, "instructions")?;
    }
    let has_tools = check_tools(body)?;
    require(has_tools || !body.contains_key("tool_choice"), || {
        "'tool_choice' is only allowed when 'tools' are specified.".to_owned()
    })?;
    if let Some(format) = body.get("text").map(|text| &text["format"]) {
        let is_schema = format["type"] == "json_schema" && format["name"].is_string() && format["schema"].is_object();
        require(is_schema || format["type"] == "json_object", || {
            "text.format: must be a json_schema with a name and a schema".to_owned()
        })?;
        if format["strict"] == true {
            closed(&format["schema"], "text.format.schema")?;
        }
    }
    let items = list(field("input"), "input")?;
    check_items(items, has_tools, signatures)?;
    // Reasoning of another provider is refused.
    let mut reasoning = items.iter().filter(|item| item["type"] == "reasoning");
    let foreign = reasoning.find(|item| signatures.is_foreign(&item["encrypted_content"]));
    foreign.map_or(Ok(()), |item| {
        Err(bad(format!("The encrypted content for item {} could not be verified.", item["id"])))
    })
}

fn check_tools(body: &Map<String, Value>) -> Checked<bool> {
    let Some(tools) = body.get("tools") else { return Ok(false) };
    let mut names = HashSet::new();
    for (nth, tool) in list(tools, "tools")?.iter().enumerate() {
        let place = format!("tools[{nth}]");
        only(object(tool, &place)?, &["type", "name", "description", "parameters", "strict"], &format!("{place}."))?;
        require(tool["type"] == "function", || format!("{place}.type: must be function"))?;
        let name = name(&tool["name"], 64, &format!("{place}.name"))?;
        require(names.insert(name), || format!("{place}: tool names must be unique"))?;
        object(&tool["parameters"], &format!("{place}.parameters"))?;
        require(tool["strict"].is_boolean(), || format!("{place}.strict: must be true or false"))?;
        if tool["strict"] == true {
            closed(&tool["parameters"], &format!("{place}.parameters"))?;
        }
    }
    Ok(true)
}

fn check_items(items: &[Value], has_tools: bool, signatures: &Signatures) -> Checked {
    let mut seen = HashSet::new();
    let (mut asked, mut results): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    require(is_user(&items[0]), || "input: the first item must be a user's message".to_owned())?;
    for (nth, item) in items.iter().enumerate() {
        let place = format!("input[{nth}]");
        let kind = item["type"].as_str().unwrap_or("message");
        if kind != "function_call_output" && (is_user(item) || !results.is_empty()) {
            answered(&asked, &results, &place)?;
            asked.clear();
            results.clear();
        }
        match kind {
            "message" => check_message(item, &place)?,
            "reasoning" => {
                let known = ["id", "type", "summary", "encrypted_content", "content", "status"];
                only(object(item, &place)?, &known, &format!("{place}."))?;
                text(&item["id"], &format!("{place}.id"))?;
                text(&item["encrypted_content"], &format!("{place}.encrypted_content"))?;
                require(item["summary"].is_array(), || format!("{place}.summary: must be a list"))?;
                let is_followed =
                    items.get(nth + 1).is_some_and(|next| !is_user(next) && next["type"] != "function_call_output");
                require(is_followed, || {
                    format!(
                        "Item '{}' of type 'reasoning' was provided without its required following item.",
                        item["id"]
                    )
                })?;
            }
            "function_call" => {
                let known = ["type", "id", "call_id", "name", "arguments", "status"];
                only(object(item, &place)?, &known, &format!("{place}."))?;
                name(&item["name"], 64, &format!("{place}.name"))?;
                let id = name(&item["call_id"], 64, &format!("{place}.call_id"))?;
                require(seen.insert(id), || format!("{place}: call ids must be unique: {id}"))?;
                let is_object =
                    serde_json::from_str::<Map<String, Value>>(item["arguments"].as_str().unwrap_or("")).is_ok();
                require(is_object, || format!("{place}.arguments: must be a JSON object in a string"))?;
                require(has_tools, || format!("{place}: a call in a request that defines no tools"))?;
                if let Some(expected) = signatures.of(id) {
                    let reasoning = items[..nth].iter().rev().find(|item| item["type"] == "reasoning");
                    require(reasoning.is_some_and(|item| item["encrypted_content"] == expected.as_str()), || {
                        format!("{place}: `{id}` was provided without its 'reasoning' item, or with a changed one")
                    })?;
                }
                asked.push(id);
            }
            "function_call_output" => {
                only(object(item, &place)?, &["type", "call_id", "output", "id", "status"], &format!("{place}."))?;
                require(item["output"].is_string(), || format!("{place}.output: must be a string"))?;
                results.push(name(&item["call_id"], 64, &format!("{place}.call_id"))?);
            }
            other => return Err(bad(format!("{place}.type: `{other}` is not known"))),
        }
    }
    answered(&asked, &results, "input")?;
    let last = items.last().is_some_and(|item| is_user(item) || item["type"] == "function_call_output");
    require(last, || "input: the last item is the model's own".to_owned())
}

fn is_user(item: &Value) -> bool {
    item["role"] == "user"
}

fn check_message(item: &Value, place: &str) -> Checked {
    only(object(item, place)?, &["type", "role", "content", "phase", "id", "status"], &format!("{place}."))?;
    let is_known = ["user", "assistant", "system", "developer"].iter().any(|role| item["role"] == *role);
    require(is_known, || format!("{place}.role: must be user, assistant, system or developer"))?;
    let has_phase = item.get("phase").is_some_and(|phase| !phase.is_null());
    require(!has_phase || item["role"] == "assistant", || format!("{place}.phase: belongs to an assistant's message"))?;
    let Some(parts) = item["content"].as_array() else {
        return text(&item["content"], &format!("{place}.content")).map(|_| ());
    };
    require(item["role"] == "user", || format!("{place}.content: images and files belong to a user's message"))?;
    for part in parts {
        match part["type"].as_str().unwrap_or_default() {
            "input_text" => text(&part["text"], &format!("{place}.content.text")).map(|_| ())?,
            "input_image" => {
                only(object(part, place)?, &["type", "image_url", "detail"], &format!("{place}.content."))?;
                data_url(&part["image_url"], true, place)?;
            }
            "input_file" => {
                only(object(part, place)?, &["type", "filename", "file_data"], &format!("{place}.content."))?;
                text(&part["filename"], &format!("{place}.content.filename"))?;
                data_url(&part["file_data"], false, place)?;
            }
            other => return Err(bad(format!("{place}.content.type: `{other}` is not known"))),
        }
    }
    Ok(())
}

/// The first words of the user, and how often the model has answered.
pub(super) fn said(body: &Value) -> (String, usize) {
    let items = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    let first = items.iter().find(|item| is_user(item)).and_then(|item| item["content"].as_str()).unwrap_or_default();
    let is_model = |item: &Value| !is_user(item) && item["type"] != "function_call_output";
    let answers = items.chunk_by(|a, b| is_model(a) == is_model(b)).filter(|run| is_model(&run[0])).count();
    (first.to_owned(), answers)
}

/// How many of the last events tell the end.
pub(super) const CLOSING_FRAMES: usize = 1;

/// The answer as events. Reasoning comes before the answer, as a model that thinks sends it.
pub(super) fn frames(saying: &Saying, asked: &Value) -> Vec<String> {
    let mut frames = Frames::default();
    let response = |status: &str, output: &[Value], usage: Value, why: Value| {
        json!({"id": "resp_0a1b", "object": "response", "created_at": 1_768_471_200, "model": "test-model",
            "status": status, "error": null, "incomplete_details": why, "output": output, "usage": usage})
    };
    frames.push(
        "response.created",
        json!({"response": {"id": "resp_0a1b", "object": "response", "status": "in_progress"}}),
    );
    let mut output = Vec::new();
    let is_shown = asked["reasoning"]["summary"].is_string() && !saying.thoughts.is_empty();
    let summary: Vec<Value> =
        if is_shown { vec![json!({"type": "summary_text", "text": saying.thoughts})] } else { vec![] };
    // Before the first call, or before the answer where a test says what is thought.
    let signed =
        saying.first_call().map(|call| call.id.clone()).or((!saying.thoughts.is_empty()).then(|| "answer".into()));
    if let Some(signed) = &signed {
        let item = json!({"id": format!("rs_{signed}"), "type": "reasoning", "summary": summary,
            "encrypted_content": saying.sign(signed)});
        if is_shown {
            frames.push("response.reasoning_summary_part.added", json!({"output_index": 0, "summary_index": 0}));
            for word in saying.thoughts.split_inclusive(' ') {
                let more = json!({"output_index": 0, "summary_index": 0, "delta": word});
                frames.push("response.reasoning_summary_text.delta", more);
            }
        }
        frames.item("done", output.len(), &item);
        output.push(item);
    }
    if !saying.text.is_empty() {
        let index = output.len();
        let (delta, part) = if saying.stop == StopReason::Refusal {
            ("response.refusal.delta", json!({"type": "refusal", "refusal": saying.text}))
        } else {
            ("response.output_text.delta", json!({"type": "output_text", "text": saying.text, "annotations": []}))
        };
        let message = |status: &str, content: Value| json!({"id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": content});
        frames.item("added", index, &message("in_progress", json!([])));
        for word in saying.words() {
            frames.push(delta, json!({"item_id": "msg_1", "output_index": index, "content_index": 0, "delta": word}));
        }
        let whole = message("completed", json!([part]));
        frames.item("done", index, &whole);
        output.push(whole);
    }
    for (call, pieces) in saying.calls_in_pieces() {
        let index = output.len();
        let id = format!("fc_{}", call.id);
        let item = |status: &str, arguments: &str| json!({"id": id, "type": "function_call", "status": status, "call_id": call.id, "name": call.name, "arguments": arguments});
        frames.item("added", index, &item("in_progress", ""));
        for piece in &pieces {
            let more = json!({"item_id": id, "output_index": index, "delta": piece});
            frames.push("response.function_call_arguments.delta", more);
        }
        let whole = item("completed", &pieces.concat());
        frames.item("done", index, &whole);
        output.push(whole);
    }
    let (prompt, answer) = (saying.tokens_in + saying.cached, saying.tokens_out);
    let usage = json!({"input_tokens": prompt, "input_tokens_details": {"cached_tokens": saying.cached, "cache_write_tokens": 0},
        "output_tokens": answer, "output_tokens_details": {"reasoning_tokens": saying.reasoned}, "total_tokens": prompt + answer});
    if saying.stop == StopReason::MaxTokens || saying.is_filtered {
        let why = json!({"reason": if saying.is_filtered { "content_filter" } else { "max_output_tokens" }});
        frames.push("response.incomplete", json!({"response": response("incomplete", &output, usage, why)}));
    } else {
        frames.push("response.completed", json!({"response": response("completed", &output, usage, Value::Null)}));
    }
    frames.0
}

#[derive(Default)]
struct Frames(Vec<String>);

impl Frames {
    fn push(&mut self, kind: &str, mut event: Value) {
        event["type"] = kind.into();
        event["sequence_number"] = self.0.len().into();
        self.0.push(format!("event: {kind}\ndata: {event}\n\n"));
    }

    fn item(&mut self, what: &str, index: usize, item: &Value) {
        self.push(&format!("response.output_item.{what}"), json!({"output_index": index, "item": item}));
    }
}
