//! What a request says, on every wire.

use provider::Wire;
use serde_json::Value;
use testkit::model_server::{ModelServer, Request};

/// What holds on one wire must hold on all.
pub const WIRES: [Wire; 5] = Wire::ALL;

/// The requests of the conversation whose first words contain `words`, in order.
pub fn of(server: &ModelServer, words: &str) -> Vec<Request> {
    server.requests().into_iter().filter(|request| request.first_words.contains(words)).collect()
}

/// The messages after the system prompt, without the marks that tell a provider what to keep.
pub fn messages(request: &Request) -> Vec<Value> {
    let field = match request.wire {
        Wire::Anthropic | Wire::OpenAi | Wire::Ollama => "messages",
        Wire::Responses => "input",
        Wire::Gemini => "contents",
    };
    let said = request.body[field].as_array().expect("a request has messages").iter();
    let mut said: Vec<Value> = said.filter(|message| message["role"] != "system").cloned().collect();
    for block in said.iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten() {
        block.as_object_mut().expect("a block is an object").remove("cache_control");
    }
    said
}

/// The system prompt.
pub fn system(request: &Request) -> String {
    match request.wire {
        Wire::Anthropic => request.body["system"][0]["text"].as_str(),
        Wire::OpenAi | Wire::Ollama => request.body["messages"][0]["content"].as_str(),
        Wire::Responses => request.body["instructions"].as_str(),
        Wire::Gemini => request.body["systemInstruction"]["parts"][0]["text"].as_str(),
    }
    .expect("a request has a system prompt")
    .to_owned()
}

/// The results that the request brings, in order: the call and the words.
pub fn results(request: &Request) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let messages = messages(request);
    match request.wire {
        Wire::OpenAi | Wire::Ollama => messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| (text(&message["tool_call_id"]), text(&message["content"])))
            .collect(),
        Wire::Anthropic => messages
            .iter()
            .filter_map(|message| message["content"].as_array())
            .flatten()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| (text(&block["tool_use_id"]), text(&block["content"])))
            .collect(),
        Wire::Responses => messages
            .iter()
            .filter(|item| item["type"] == "function_call_output")
            .map(|item| (text(&item["call_id"]), text(&item["output"])))
            .collect(),
        Wire::Gemini => messages
            .iter()
            .filter_map(|content| content["parts"].as_array())
            .flatten()
            .map(|part| &part["functionResponse"])
            .filter(|result| result.is_object())
            .map(|result| {
                let response = &result["response"];
                (text(&result["id"]), text(response.get("output").unwrap_or(&response["error"])))
            })
            .collect(),
    }
}

/// A quarter of the bytes, which is about what a provider counts.
pub fn tokens(request: &Request) -> usize {
    request.raw.len().div_ceil(4)
}
