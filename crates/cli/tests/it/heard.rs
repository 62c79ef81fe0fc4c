//! What a request says, on either wire.

use provider::Wire;
use serde_json::Value;
use testkit::model_server::{ModelServer, Request};

/// Both wires; what holds on one must hold on the other.
pub const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

/// The requests of the conversation whose first words contain `words`, in order.
pub fn of(server: &ModelServer, words: &str) -> Vec<Request> {
    server.requests().into_iter().filter(|request| request.first_words.contains(words)).collect()
}

/// The messages after the system prompt, without the marks that tell a provider what to keep.
pub fn messages(request: &Request) -> Vec<Value> {
    let said = request.body["messages"].as_array().expect("a request has messages").iter();
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

/// The names of the tools that are advertised.
pub fn tools(request: &Request) -> Vec<String> {
    let tools = request.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name = |tool: &Value| match request.wire {
        Wire::Anthropic => tool["name"].as_str().expect("a name").to_owned(),
        Wire::OpenAi | Wire::Ollama => tool["function"]["name"].as_str().expect("a name").to_owned(),
        Wire::Responses | Wire::Gemini => panic!("read by the tests of the provider"),
    };
    tools.iter().map(name).collect()
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
        Wire::Responses | Wire::Gemini => panic!("read by the tests of the provider"),
    }
}

/// A quarter of the bytes, which is about what a provider counts.
pub fn tokens(request: &Request) -> usize {
    request.raw.len().div_ceil(4)
}
