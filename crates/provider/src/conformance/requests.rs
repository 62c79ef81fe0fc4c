//! What is written: the same conversation in every wire, as a strict provider would look at it.

use std::sync::Arc;

use agent::message::{Message, Origin, Role};
use agent::tools::{Reach, Risk, ToolInfo};
use agent::{CallId, Json};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::attached::Attached;
use crate::codec::Host;
use crate::compat::{Compat, SchemaForm, Takes};
use crate::config::{Effort, ModelSettings};
use crate::conversation::Ask;
use crate::history::{History, Writing};
use crate::opening_cache::OpeningCache;

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
    Part::Opaque { wire: wire.into(), from: None, raw }
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

fn writing(wire: Wire) -> Option<Writing> {
    Some(Writing { wire, model: "test/a-model".into(), attached: Attached::default() })
}

fn history(wire: Wire, tools: &[ToolInfo], messages: &[Message]) -> History {
    let opening = OpeningCache::default().of(wire, "be brief", tools);
    let mut history = History::begin(writing(wire), opening, "be brief".len(), tools);
    for message in messages {
        history.push(message);
    }
    history
}

fn ask() -> Ask {
    Ask {
        max_tokens: 512,
        window_tokens: Some(8_192),
        may_wait: false,
        calls_allowed: true,
        output_schema: None,
        cancel: CancellationToken::new(),
        deltas: None,
        label: Arc::from("test"),
    }
}

fn bytes(wire: Wire, history: &History, ask: &Ask) -> Vec<u8> {
    wire.body(history, "a-model", ask, &compat("a-model"), &ModelSettings::default())
}

fn compat(model: &str) -> Compat {
    Compat::of(Host::default(), Wire::OpenAi, "llm.example", model, Takes::default())
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
fn responses_gets_items_in_their_order_and_its_own_opaque_ones_back() {
    let own = |raw: &str| Part::Opaque { wire: "responses".into(), from: None, raw: Json::parse(raw).expect("JSON") };
    let reasoning = r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"e"}"#;
    let answer = |parts| Message { role: Role::Assistant, parts };
    let mut messages = conversation();
    messages[1].parts.splice(0..0, [own(reasoning), own(r#"{"phase":"commentary"}"#)]);
    // Nothing follows it: a call was cut off behind it.
    messages.extend([answer(vec![text("cut"), own(reasoning)]), Message::user("go on", Origin::Person)]);
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "read_file", "arguments": "{\"path\": \"a.txt\"}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "what was \"in\" it\0"});
    let said = |role: &str, text: &str| json!({"type": "message", "role": role, "content": text});
    let expected = json!([
        said("user", "the brief"),
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "e"},
        {"type": "message", "role": "assistant", "content": "looking", "phase": "commentary"},
        call("a"),
        call("b_1"),
        output("a"),
        output("b_1"),
        said("user", "a notice"),
        said("user", "steer left"),
        said("assistant", "done"),
        said("user", "one more"),
        said("assistant", "cut"),
        said("user", "go on"),
    ]);
    let history = history(Wire::Responses, &[tool()], &messages);
    let body: Value = serde_json::from_slice(&bytes(Wire::Responses, &history, &ask())).expect("JSON");
    assert_eq!(body["input"], expected);
    assert_eq!((&body["instructions"], &body["store"]), (&json!("be brief"), &json!(false)));
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    let tool = json!({"type": "function", "name": "read_file", "description": "Reads a file.", "strict": false,
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}});
    assert_eq!(body["tools"], json!([tool]));
    let without = Wire::Responses.body(&history, "gpt-4.1", &ask(), &compat("gpt-4.1"), &ModelSettings::default());
    let without: Value = serde_json::from_slice(&without).expect("JSON");
    assert_eq!(without.get("include"), None, "a model that does not reason refuses to be asked for it");
}

#[test]
fn gemini_gets_named_results_and_its_signatures_back_with_their_parts() {
    let own = |raw: &str| Part::Opaque { wire: "gemini".into(), from: None, raw: Json::parse(raw).expect("JSON") };
    let mut messages = conversation();
    messages[1].parts.insert(3, own(r#"{"thoughtSignature":"of a"}"#));
    messages[1].parts.push(own(r#"{"text":"","thoughtSignature":"of the end"}"#));
    // The provider gave no id to this one.
    messages[1].parts.push(Part::ToolCall {
        id: CallId::new("own_call_2"),
        name: "list".into(),
        input: Json::object(),
    });
    messages[2].parts.push(result("own_call_2", false));
    let args = json!({"path": "a.txt"});
    let expected = json!([
        {"role": "user", "parts": [{"text": "the brief"}]},
        {"role": "model", "parts": [
            {"text": "looking"},
            {"functionCall": {"id": "a", "name": "read_file", "args": args}, "thoughtSignature": "of a"},
            {"functionCall": {"id": "b_1", "name": "read_file", "args": args}},
            {"text": "", "thoughtSignature": "of the end"},
            {"functionCall": {"name": "list", "args": {}}},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "a", "name": "read_file", "response": {"output": "what was \"in\" it\0"}}},
            {"functionResponse": {"name": "list", "response": {"output": "what was \"in\" it\0"}}},
            {"functionResponse": {"id": "b_1", "name": "read_file", "response": {"error": "what was \"in\" it\0"}}},
            {"text": "a notice"},
            {"text": "steer left"},
        ]},
        {"role": "model", "parts": [{"text": "done"}]},
        {"role": "user", "parts": [{"text": "one more"}]},
    ]);
    let history = history(Wire::Gemini, &[tool()], &messages);
    let body: Value = serde_json::from_slice(&bytes(Wire::Gemini, &history, &ask())).expect("JSON");
    assert_eq!(body["contents"], expected);
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "be brief"}]}));
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 512);
}

#[test]
fn ollama_gets_named_results_arguments_as_objects_and_its_thoughts_back() {
    let own = |raw: &str| Part::Opaque { wire: "ollama".into(), from: None, raw: Json::parse(raw).expect("JSON") };
    let mut messages = conversation();
    messages[1].parts.insert(0, own(r#"{"thinking":"hm \"so\""}"#));
    // The server gave no id to this one.
    messages[1].parts.push(Part::ToolCall {
        id: CallId::new("own_call_2"),
        name: "list".into(),
        input: Json::object(),
    });
    messages[2].parts.push(result("own_call_2", false));
    messages[5].parts.insert(0, own(r#"{"think":"<think>hm</think>"}"#));
    let args = json!({"path": "a.txt"});
    let content = "what was \"in\" it\0";
    let expected = json!([
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "the brief"},
        {"role": "assistant", "content": "looking", "thinking": "hm \"so\"", "tool_calls": [
            {"id": "a", "function": {"index": 0, "name": "read_file", "arguments": args}},
            {"id": "b_1", "function": {"index": 1, "name": "read_file", "arguments": args}},
            {"function": {"index": 2, "name": "list", "arguments": {}}},
        ]},
        {"role": "tool", "tool_name": "read_file", "tool_call_id": "a", "content": content},
        {"role": "tool", "tool_name": "list", "content": content},
        {"role": "tool", "tool_name": "read_file", "tool_call_id": "b_1", "content": content},
        {"role": "user", "content": "a notice"},
        {"role": "user", "content": "  \n\nsteer left"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "one more"},
    ]);
    let history = history(Wire::Ollama, &[tool()], &messages);
    let body: Value = serde_json::from_slice(&bytes(Wire::Ollama, &history, &ask())).expect("JSON");
    assert_eq!(body["messages"], expected);
    assert_eq!((&body["truncate"], &body["shift"]), (&json!(false), &json!(false)));
    assert_eq!(body["options"], json!({"num_ctx": 8_192, "num_predict": 512}));
}

#[test]
fn a_message_of_calls_alone_has_null_for_words() {
    let messages = [Message::user("go", Origin::Person), Message { role: Role::Assistant, parts: vec![call("a")] }];
    let history = history(Wire::OpenAi, &[tool()], &messages);
    let body: Value = serde_json::from_slice(&bytes(Wire::OpenAi, &history, &ask())).expect("JSON");
    assert_eq!(body["messages"][2]["content"], Value::Null);
    let compat = Compat { empty_words: true, ..compat("a-model") };
    let body: Value =
        serde_json::from_slice(&Wire::OpenAi.body(&history, "a-model", &ask(), &compat, &ModelSettings::default()))
            .expect("a body is JSON");
    assert_eq!(body["messages"][2]["content"], "", "where null is refused");
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
    let responses = body(Wire::Responses, &ask);
    assert_eq!(responses["tool_choice"], "none");
    assert_eq!(responses["tools"][0]["parameters"]["type"], "object");
    let gemini = body(Wire::Gemini, &ask);
    assert_eq!(gemini["toolConfig"]["functionCallingConfig"]["mode"], "NONE");
    assert_eq!(gemini["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"]["type"], "object");
    for wire in WIRES {
        let choice = |body: &Value| body.get("tool_choice").or(body.get("toolConfig")).is_some();
        assert!(!choice(&body(wire, &self::ask())), "{wire:?}");
        let bare = bytes(wire, &history(wire, &[], &conversation()[..1]), &ask);
        let bare: Value = serde_json::from_slice(&bare).expect("JSON");
        assert!(bare.get("tools").is_none() && !choice(&bare), "no tools, no choice");
    }
}

#[test]
fn a_schema_for_the_answer_goes_where_the_wire_wants_it() {
    let schema = Json::parse(r#"{"type":"object","properties":{},"additionalProperties":false}"#).expect("JSON");
    let ask = Ask { output_schema: Some(schema.clone()), ..ask() };
    let anthropic = body(Wire::Anthropic, &ask);
    assert_eq!(anthropic["output_config"], json!({"format": {"type": "json_schema", "schema": schema.value()}}));
    let format =
        json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema.value()}});
    assert_eq!(body(Wire::OpenAi, &ask)["response_format"], format);
    let format = json!({"format": {"type": "json_schema", "name": "answer", "strict": true, "schema": schema.value()}});
    assert_eq!(body(Wire::Responses, &ask)["text"], format);
    let gemini = &body(Wire::Gemini, &ask)["generationConfig"];
    assert_eq!(gemini["responseMimeType"], "application/json");
    assert_eq!(gemini["responseJsonSchema"], schema.value());
}

#[test]
fn the_limit_of_the_answer_has_the_name_that_the_server_knows() {
    assert_eq!(body(Wire::Anthropic, &ask())["max_tokens"], 512);
    let other = body(Wire::OpenAi, &ask());
    assert_eq!((&other["max_tokens"], other.get("max_completion_tokens")), (&json!(512), None));
    let history = history(Wire::OpenAi, &[], &conversation());
    let openai = Host { is_openai: true, ..Host::default() };
    let compat = Compat::of(openai, Wire::OpenAi, "api.openai.com", "gpt-4.1", Takes::default());
    let own: Value =
        serde_json::from_slice(&Wire::OpenAi.body(&history, "gpt-4.1", &ask(), &compat, &ModelSettings::default()))
            .expect("JSON");
    assert_eq!((&own["max_completion_tokens"], own.get("max_tokens")), (&json!(512), None));
    assert_eq!(own["stream_options"], json!({"include_usage": true}));
}

#[test]
fn a_server_that_passes_marks_on_to_anthropic_gets_them_and_others_get_none() {
    let opening =
        OpeningCache::default().of(Wire::OpenAi, "be brief", &[tool()]).with_own(Wire::OpenAi, "\nYou are 'a'.");
    let mut history = History::begin(writing(Wire::OpenAi), opening, 0, &[tool()]);
    history.push(&Message::user("hello", Origin::Person));
    let system = |model: &str, host: Host| -> Value {
        let body: Value = serde_json::from_slice(&Wire::OpenAi.body(
            &history,
            model,
            &ask(),
            &Compat::of(host, Wire::OpenAi, "", model, Takes::default()),
            &ModelSettings::default(),
        ))
        .expect("JSON");
        body["messages"][0]["content"].clone()
    };
    let router = Host { is_openrouter: true, ..Host::default() };
    let mark = json!({"type": "ephemeral"});
    let parts = json!([
        {"type": "text", "text": "be brief", "cache_control": mark},
        {"type": "text", "text": "\nYou are 'a'.", "cache_control": mark},
    ]);
    assert_eq!(system("anthropic/claude-sonnet-5", router), parts);
    for (model, host) in [("openai/gpt-5", router), ("anthropic/claude-sonnet-5", Host::default())] {
        assert_eq!(system(model, host), "be brief\nYou are 'a'.", "{model}");
    }
}

#[test]
fn a_model_that_takes_no_schema_is_told_it_in_the_prompt() {
    let schema = Json::parse(r#"{"type":"object","title":"an \"answer\""}"#).expect("JSON");
    let ask = Ask { output_schema: Some(schema), ..ask() };
    for wire in WIRES {
        for form in [SchemaForm::JsonMode, SchemaForm::Prompt] {
            let compat = Compat { schema: form, ..compat("a-model") };
            for system in ["be brief", ""] {
                let opening = OpeningCache::default().of(wire, system, &[]);
                let mut history = History::begin(writing(wire), opening, system.len(), &[]);
                history.push(&Message::user("go", Origin::Person));
                let body: Value =
                    serde_json::from_slice(&wire.body(&history, "a-model", &ask, &compat, &ModelSettings::default()))
                        .expect("a body is JSON");
                let told = match wire {
                    Wire::Anthropic => &body["system"],
                    Wire::OpenAi | Wire::Ollama => &body["messages"][0],
                    Wire::Responses => &body["instructions"],
                    Wire::Gemini => &body["systemInstruction"]["parts"],
                };
                let told = told.to_string();
                assert!(told.contains(system) && told.contains("It must fit this JSON Schema"), "{wire:?}: {told}");
                let format = [
                    (Wire::OpenAi, body["response_format"] == json!({"type": "json_object"})),
                    (Wire::Responses, body["text"] == json!({"format": {"type": "json_object"}})),
                    (Wire::Gemini, body["generationConfig"]["responseMimeType"] == "application/json"),
                    (Wire::Anthropic, form == SchemaForm::JsonMode && body.get("output_config").is_none()),
                    (Wire::Ollama, body["format"] == "json"),
                ];
                let has_mode = format.iter().any(|(of, is)| *of == wire && *is);
                assert_eq!(has_mode, form == SchemaForm::JsonMode, "{wire:?} {body}");
            }
        }
    }
}

#[test]
fn openai_gets_thoughts_back_as_they_came_where_they_are_wanted_and_signed_ones_everywhere() {
    let own = |raw: &str| Part::Opaque { wire: "openai".into(), from: None, raw: Json::parse(raw).expect("JSON") };
    let sent = |kept: &str, returns_thoughts: bool| {
        let signature = own(r#"{"call_extra_content":{"google":  {"thought_signature":"s"}}}"#);
        let parts = vec![own(kept), text("so"), signature, call("a"), call("b")];
        let messages = [Message::user("go", Origin::Person), Message { role: Role::Assistant, parts }];
        let history = history(Wire::OpenAi, &[tool()], &messages);
        let compat = Compat { returns_thoughts, ..compat("a-model") };
        let body = Wire::OpenAi.body(&history, "a-model", &ask(), &compat, &ModelSettings::default());
        let text = String::from_utf8(body.clone()).expect("text");
        assert_eq!(text.matches(r#""extra_content":{"google":  {"thought_signature":"s"}}"#).count(), 1, "{text}");
        serde_json::from_slice::<Value>(&body).expect("JSON")["messages"][2].clone()
    };
    for field in ["reasoning_content", "reasoning"] {
        let kept = format!(r#"{{"{field}":"hm \u00e9"}}"#);
        assert_eq!(sent(&kept, true)[field], "hm é");
        assert_eq!(sent(&kept, false).get(field), None);
    }
    assert_eq!(sent(r#"{"think":"<think>\nhm</think>\n\n"}"#, true)["content"], "<think>\nhm</think>\n\nso");
    assert_eq!(sent(r#"{"think":"<think>\nhm</think>\n\n"}"#, false)["content"], "so");
    let list =
        json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "so"}]);
    assert_eq!(sent(r#"{"thinking":"hm"}"#, true)["content"], list);
    assert_eq!(sent(r#"{"thinking":"hm"}"#, false)["content"], "so");
    for field in ["reasoning_details", "thinking_blocks"] {
        for returns_thoughts in [true, false] {
            let kept = format!(r#"{{"reasoning_content":"hm","{field}":[{{"type":"t","signature":"s"}}]}}"#);
            let message = sent(&kept, returns_thoughts);
            assert_eq!(message[field], json!([{"type": "t", "signature": "s"}]));
            assert_eq!(message.get("reasoning_content"), None, "it says the same once more");
        }
    }
}

#[test]
fn what_is_set_about_a_model_is_said_in_the_words_of_its_wire() {
    let body = |wire: Wire, model: &str, settings: &ModelSettings, omitted: Vec<&'static str>| {
        let history = history(wire, &[], &conversation()[..1]);
        let ask = Ask { max_tokens: 4_000, ..ask() };
        let compat = Compat { omitted, ..compat(model) };
        serde_json::from_slice::<Value>(&wire.body(&history, model, &ask, &compat, settings)).expect("a body is JSON")
    };
    let extra = [("top_p".to_owned(), json!(0.5))];
    let settings = ModelSettings {
        effort: Some(Effort::Max),
        temperature: Some(0.25),
        body: extra.into(),
        ..ModelSettings::default()
    };
    let openai = body(Wire::OpenAi, "m", &settings, vec![]);
    assert_eq!((&openai["reasoning_effort"], &openai["temperature"]), (&json!("high"), &json!(0.25)));
    let responses = body(Wire::Responses, "m", &settings, vec![]);
    assert_eq!(
        (&responses["reasoning"], &responses["temperature"]),
        (&json!({"effort": "high", "summary": "auto"}), &json!(0.25))
    );
    let anthropic = body(Wire::Anthropic, "m", &settings, vec![]);
    assert_eq!((&anthropic["output_config"], &anthropic["temperature"]), (&json!({"effort": "max"}), &json!(0.25)));
    let gemini = body(Wire::Gemini, "gemini-3.8-flash", &settings, vec![]);
    let config = &gemini["generationConfig"];
    assert_eq!(
        (&config["thinkingConfig"], &config["temperature"]),
        (&json!({"thinkingLevel": "high", "includeThoughts": true}), &json!(0.25))
    );
    let older = body(Wire::Gemini, "gemini-2.5-pro", &settings, vec![]);
    assert_eq!(older["generationConfig"]["thinkingConfig"], json!({"thinkingBudget": 32_768, "includeThoughts": true}));
    let ollama = body(Wire::Ollama, "m", &settings, vec![]);
    let options = json!({"num_ctx": 8_192, "num_predict": 4_000, "temperature": 0.25});
    assert_eq!((&ollama["think"], &ollama["options"]), (&json!("max"), &options));
    let little = ModelSettings { effort: Some(Effort::Minimal), ..ModelSettings::default() };
    assert_eq!(body(Wire::Ollama, "m", &little, vec![])["think"], false);
    for (wire, body) in
        [(Wire::OpenAi, &openai), (Wire::Anthropic, &anthropic), (Wire::Responses, &responses), (Wire::Ollama, &ollama)]
    {
        assert_eq!((&body["top_p"], &body["model"]), (&json!(0.5), &json!("m")), "{wire:?}");
    }
    let budget = ModelSettings { thinking_tokens: Some(9_000), ..ModelSettings::default() };
    let thinking = json!({"type": "enabled", "budget_tokens": 3_999});
    assert_eq!(body(Wire::Anthropic, "m", &budget, vec![])["thinking"], thinking, "less than the answer's limit");
    assert_eq!(
        body(Wire::Gemini, "gemini-3.8-flash", &budget, vec![])["generationConfig"]["thinkingConfig"],
        json!({"thinkingBudget": 9_000, "includeThoughts": true})
    );
    let refused = body(Wire::OpenAi, "m", &settings, vec!["temperature", "reasoning_effort"]);
    assert_eq!((refused.get("temperature"), refused.get("reasoning_effort")), (None, None), "what it refused");
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
