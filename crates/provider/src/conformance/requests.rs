//! What is written: the same conversation in both wires, as a strict provider would look at it.

use std::sync::Arc;

use agent::message::{Message, Origin, Role};
use agent::tools::{Reach, Risk, ToolInfo};
use agent::{CallId, Json};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::conversation::Ask;
use crate::history::History;
use crate::opening_cache::OpeningCache;
use crate::{anthropic, openai};

fn tool() -> ToolInfo {
    ToolInfo {
        name: "read_file".into(),
        description: "Reads a file.".into(),
        schema: Json::parse(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#).expect("JSON"),
        reach: Reach::ReadOnly,
        idempotent: true,
        risk: Risk::Low,
    }
}

fn call(id: &str) -> Part {
    let input = Json::parse(r#"{"path": "a.txt"}"#).expect("JSON");
    Part::ToolCall { id: CallId::new(id), name: "read_file".into(), input }
}

fn result(id: &str, is_error: bool) -> Part {
    Part::ToolResult { id: CallId::new(id), content: "what was \"in\" it\0".into(), is_error }
}

fn text(text: &str) -> Part {
    Part::Text { text: text.into(), origin: Origin::Program }
}

fn opaque(wire: &str) -> Part {
    let raw = Json::parse(r#"{"type":"thinking",  "thinking":"hm","signature":"s"}"#).expect("JSON");
    Part::Opaque { wire: wire.into(), raw }
}

/// A turn with calls, its results among notices in several messages, and an answer.
fn conversation() -> Vec<Message> {
    let said = |role, parts| Message { role, parts };
    vec![
        Message::user("the brief", Origin::Brief),
        said(Role::Assistant, vec![opaque("anthropic"), opaque("elsewhere"), text("looking"), call("a"), call("b:1")]),
        said(Role::User, vec![text("a notice"), result("a", false)]),
        said(Role::User, vec![result("b:1", true), text("  "), text("steer left")]),
        said(Role::Assistant, vec![]),
        said(Role::Assistant, vec![text("done")]),
        Message::user("one more", Origin::Person),
    ]
}

fn history(wire: Wire, tools: &[ToolInfo], messages: &[Message]) -> History {
    let opening = OpeningCache::default().of(wire, "be brief", tools);
    let mut history = History::begin(opening, "be brief", tools);
    for message in messages {
        history.push(Some(wire), message);
    }
    history
}

fn ask() -> Ask {
    Ask {
        max_tokens: 512,
        calls_allowed: true,
        output_schema: None,
        cancel: CancellationToken::new(),
        deltas: None,
        label: Arc::from("test"),
    }
}

fn bytes(wire: Wire, history: &History, ask: &Ask) -> Vec<u8> {
    match wire {
        Wire::Anthropic => anthropic::body(history, "a-model", ask),
        Wire::OpenAi => openai::body(history, "a-model", ask, false),
    }
}

fn body(wire: Wire, ask: &Ask) -> Value {
    let history = history(wire, &[tool()], &conversation());
    serde_json::from_slice(&bytes(wire, &history, ask)).expect("a body is JSON")
}

#[test]
fn anthropic_gets_blocks_with_all_results_first_and_its_own_opaque_ones_back() {
    // F4
    let mark = json!({"type": "ephemeral"});
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "the brief"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "looking"},
            {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "a.txt"}},
            {"type": "tool_use", "id": "b_1", "name": "read_file", "input": {"path": "a.txt"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "what was \"in\" it\0"},
            {"type": "tool_result", "tool_use_id": "b_1", "content": "what was \"in\" it\0", "is_error": true},
            {"type": "text", "text": "a notice"},
            {"type": "text", "text": "steer left", "cache_control": mark},
        ]},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        {"role": "user", "content": [{"type": "text", "text": "one more", "cache_control": mark}]},
    ]);
    assert_eq!(body(Wire::Anthropic, &ask())["messages"], expected);
}

#[test]
fn anthropic_gets_opaque_blocks_byte_for_byte() {
    let history = history(Wire::Anthropic, &[tool()], &conversation());
    let body = String::from_utf8(bytes(Wire::Anthropic, &history, &ask())).expect("text");
    assert!(body.contains(r#"{"type":"thinking",  "thinking":"hm","signature":"s"}"#));
}

#[test]
fn anthropic_keeps_to_its_number_of_cache_marks() {
    let body = body(Wire::Anthropic, &ask());
    let mark = json!({"type": "ephemeral"});
    assert_eq!(body["system"], json!([{"type": "text", "text": "be brief", "cache_control": mark}]));
    assert_eq!(body["tools"][0]["cache_control"], mark);
    assert_eq!(body.to_string().matches("cache_control").count(), 4, "four is the most that is accepted");
}

#[test]
fn openai_gets_results_directly_behind_the_calls() {
    // F4
    let function = |id: &str| json!({"id": id, "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a.txt\"}"}});
    let expected = json!([
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "the brief"},
        {"role": "assistant", "content": "looking", "tool_calls": [function("a"), function("b_1")]},
        {"role": "tool", "tool_call_id": "a", "content": "what was \"in\" it\0"},
        {"role": "tool", "tool_call_id": "b_1", "content": "what was \"in\" it\0"},
        {"role": "user", "content": "a notice"},
        {"role": "user", "content": "  \n\nsteer left"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "one more"},
    ]);
    assert_eq!(body(Wire::OpenAi, &ask())["messages"], expected);
}

#[test]
fn a_message_of_calls_alone_has_null_for_words() {
    let messages = [Message::user("go", Origin::Person), Message { role: Role::Assistant, parts: vec![call("a")] }];
    let history = history(Wire::OpenAi, &[tool()], &messages);
    let body: Value = serde_json::from_slice(&bytes(Wire::OpenAi, &history, &ask())).expect("JSON");
    assert_eq!(body["messages"][2]["content"], Value::Null);
}

#[test]
fn without_leave_to_call_the_tools_are_still_advertised() {
    let ask = Ask { calls_allowed: false, ..ask() };
    let anthropic = body(Wire::Anthropic, &ask);
    assert_eq!(anthropic["tool_choice"], json!({"type": "none"}));
    assert_eq!(anthropic["tools"][0]["input_schema"]["type"], "object");
    let openai = body(Wire::OpenAi, &ask);
    assert_eq!(openai["tool_choice"], "none");
    assert_eq!(openai["tools"][0]["function"]["parameters"]["type"], "object");
    for wire in WIRES {
        assert_eq!(body(wire, &self::ask()).get("tool_choice"), None);
        let bare = bytes(wire, &history(wire, &[], &conversation()[..1]), &ask);
        let bare: Value = serde_json::from_slice(&bare).expect("JSON");
        assert!(bare.get("tools").is_none() && bare.get("tool_choice").is_none(), "no tools, no choice");
    }
}

#[test]
fn a_schema_for_the_answer_goes_where_the_wire_wants_it() {
    let schema = Json::parse(r#"{"type":"object","properties":{},"additionalProperties":false}"#).expect("JSON");
    let ask = Ask { output_schema: Some(schema.clone()), ..ask() };
    let anthropic = body(Wire::Anthropic, &ask);
    assert_eq!(anthropic["output_config"], json!({"format": {"type": "json_schema", "schema": schema.value()}}));
    let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema.value()}});
    assert_eq!(body(Wire::OpenAi, &ask)["response_format"], format);
}

#[test]
fn the_limit_of_the_answer_has_the_name_that_the_server_knows() {
    assert_eq!(body(Wire::Anthropic, &ask())["max_tokens"], 512);
    let other = body(Wire::OpenAi, &ask());
    assert_eq!((&other["max_tokens"], other.get("max_completion_tokens")), (&json!(512), None));
    let history = history(Wire::OpenAi, &[], &conversation());
    let own: Value = serde_json::from_slice(&openai::body(&history, "gpt-5", &ask(), true)).expect("JSON");
    assert_eq!((&own["max_completion_tokens"], own.get("max_tokens")), (&json!(512), None));
    assert_eq!(own["stream_options"], json!({"include_usage": true}));
}

#[test]
fn the_prompt_only_grows() {
    for wire in WIRES {
        let (messages, tools) = (conversation(), [tool()]);
        let written = |n: usize| {
            let body = bytes(wire, &history(wire, &tools, &messages[..n]), &ask());
            let text = String::from_utf8(body).expect("text").replace(r#","cache_control":{"type":"ephemeral"}"#, "");
            text.trim_end_matches("]}").to_owned()
        };
        // Messages 3 and 4 are one turn of the world: its results move to the front while it lasts, before it is sent.
        for (before, after) in [(1, 2), (2, 4), (4, 5), (5, 6), (6, 7)] {
            assert!(written(after).starts_with(&written(before)), "{wire:?}: from {before} to {after} messages");
        }
    }
}
