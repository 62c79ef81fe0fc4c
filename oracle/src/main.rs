//! Reads every recorded answer of `crates/provider/fixtures` with rig, and writes what it reads to `crates/provider/fixtures/rig.json`.
//! A test of `crates/provider` compares this with what our own decoders read.
//!
//! No connection is opened: rig gets the recorded bytes from a client that has nothing else to give.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use rig_core::completion::{AssistantContent, CompletionRequest, CompletionResponse};
use rig_core::driver::{Model, Transport};
use rig_core::operation::Completion;
use rig_core::providers::{
    anthropic::AnthropicConfig, gemini::GeminiConfig, ollama::OllamaConfig, openai::OpenAIConfig,
};
use rig_core::test_utils::MockStreamingClient;
use rig_core::wire::Wire;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/provider/fixtures");
    let mut all: BTreeMap<String, Value> = BTreeMap::new();
    for wire in ["anthropic", "gemini", "ollama", "openai", "responses"] {
        for entry in fs::read_dir(fixtures.join(wire))? {
            let path = entry?.path();
            let scene = path.file_stem().and_then(|name| name.to_str()).ok_or("a name that is no text")?;
            all.insert(format!("{wire}/{scene}"), read(wire, fs::read(&path)?));
        }
    }
    let text = serde_json::to_string_pretty(&all)?;
    fs::write(fixtures.join("rig.json"), text + "\n")?;
    println!("{} recordings were read", all.len());
    Ok(())
}

fn read(wire: &str, bytes: Vec<u8>) -> Value {
    let client = MockStreamingClient { sse_bytes: bytes.into() };
    let answer = match wire {
        "anthropic" => ask(&AnthropicConfig::new("key").connect(client).completion("claude-sonnet-5-5")),
        "gemini" => ask(&GeminiConfig::new("key").connect(client).completion("gemini-3.8-flash")),
        "ollama" => ask(&OllamaConfig::new().connect(client).native_completion("qwen3")),
        "openai" => ask(&OpenAIConfig::new("key").connect(client).chat("test-model")),
        _ => ask(&OpenAIConfig::new("key").connect(client).responses("gpt-6.1-sol")),
    };
    answer.map_or_else(|| json!({"failed": true}), |answer| found(&answer))
}

/// The answer; none where it ends with an error.
fn ask<W, T>(model: &Model<W, T>) -> Option<CompletionResponse>
where
    W: Wire<Op = Completion>,
    T: Transport<W>,
{
    futures_executor::block_on(model.stream(CompletionRequest::new("go")).ok()?.finish()).ok()
}

fn found(answer: &CompletionResponse) -> Value {
    let (mut text, mut thoughts, mut calls) = (String::new(), String::new(), Vec::new());
    for part in &answer.choice {
        match part {
            AssistantContent::Text(part) => text.push_str(&part.text),
            AssistantContent::Reasoning(part) => thoughts.push_str(&part.text),
            AssistantContent::ToolCall(call) => calls.push(json!([call.function.name, call.function.arguments])),
            _ => {}
        }
    }
    let usage = &answer.usage;
    json!({
        "text": text,
        "thoughts": thoughts,
        "calls": calls,
        "stop": answer.finish_reason(),
        "tokens": {
            "prompt": usage.input_tokens,
            "cached": usage.cached_input_tokens,
            "output": usage.output_tokens,
            "reasoning": usage.reasoning_tokens,
        },
    })
}
