//! Servers that differ from each other on the same wire: what they give beside an answer, and what they do not take.

use std::sync::{Arc, Mutex};

use agent::Json;
use agent::message::Role;
use agent::model::{Answer, CallError, CallErrorKind as Kind, StopReason, Tokens};
use majordomo_testkit::model_server::{Back, Fault, KEY, ModelServer, Turn};
use provider::{
    Ask, CacheTime, Conversation, Delta, DeltaSink, Effort, ModelEntry, ModelSettings, ModelTable, Options,
    ProviderConfig, Providers, Wire,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

use super::stage::{SHORT, WIRES, ask, config, heading, open, providers, result, said, tool, with};

/// What was said and thought in passing.
type Heard = Arc<Mutex<(String, String)>>;

fn listening() -> (Heard, Ask) {
    let heard = Heard::default();
    let sink = {
        let heard = heard.clone();
        DeltaSink::with_thoughts(move |delta| {
            let mut heard = heard.lock().expect("no other panics");
            match delta {
                Delta::Words(words) => heard.0.push_str(words),
                Delta::Thought(thought) => heard.1.push_str(thought),
            }
        })
    };
    (heard, Ask { deltas: Some(sink), ..ask() })
}

fn begin(providers: &Providers, model: &str) -> Conversation {
    let mut conversation = providers.open(model).expect("a model");
    conversation.begin("be brief", "", &[tool()]);
    conversation.push(&agent::message::Message::user("go", agent::message::Origin::Brief));
    conversation
}

fn push(conversation: &mut Conversation, answer: Answer, calls: &[&str]) {
    conversation.push(&said(Role::Assistant, answer.parts));
    conversation.push(&said(Role::User, calls.iter().map(|id| result(id)).collect()));
}

/// Asks until an answer comes, and says what failed before it.
async fn answered(conversation: &Conversation, ask: Ask) -> (Answer, Vec<CallError>) {
    let mut failures = Vec::new();
    for _ in 0..4 {
        match conversation.ask(ask.clone()).await {
            Ok(answer) => return (answer, failures),
            Err(error) => failures.push(error),
        }
    }
    panic!("no answer: {failures:?}");
}

#[tokio::test]
async fn thoughts_come_back_as_they_were_given_to_servers_that_want_them_and_are_no_answer() {
    let details = json!([
        {"type": "reasoning.text", "text": "two files", "signature": "sig-1", "format": "anthropic-claude-v1", "index": 0},
        {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "format": "openai-responses-v1", "index": 1},
    ]);
    let blocks = json!([
        {"type": "thinking", "thinking": "two files to read", "signature": "EqQB"},
        {"type": "redacted_thinking", "data": "EmwK"},
        {"type": "thinking", "thinking": "now the call", "signature": "ErUB"},
    ]);
    for (model, field, value) in [
        ("test/deepseek-v4", "reasoning_content", json!("two files — 二つ")),
        ("test/kimi-k3", "reasoning", json!("two files")),
        ("test/a-model", "reasoning_details", details),
        ("test/claude-sonnet-5-5", "thinking_blocks", blocks),
        ("test/gemini-3.8-flash", "extra_content", json!({"google": {"thought_signature": "c2ln"}})),
    ] {
        let turn = Turn::text("I look.").call("c1", "read_file", "{}").beside(field, value.clone(), Back::Wanted);
        let server = ModelServer::start(move |request| match request.assistant_messages {
            0 => turn.clone(),
            _ => Turn::text("Done."),
        })
        .await;
        let mut conversation = begin(&providers(config(Wire::OpenAi, server.url(Wire::OpenAi))), model);
        let (heard, ask) = listening();
        let answer = conversation.ask(ask).await.expect("an answer");
        assert_eq!(heading(&answer).0, "I look.", "{field}");
        let (words, thoughts) = heard.lock().expect("no other panics").clone();
        assert_eq!(words, "I look.", "{field}");
        assert_eq!(thoughts, value.as_str().unwrap_or_default(), "{field}");
        push(&mut conversation, answer, &["c1"]);
        let answer = conversation.ask(super::stage::ask()).await.expect("the server got back what it gave");
        assert_eq!((heading(&answer).0.as_str(), server.refusals()), ("Done.", vec![]), "{field}");
    }
}

#[tokio::test]
async fn a_signature_of_a_call_comes_back_with_that_call() {
    let signature = json!({"google": {"thought_signature": "EjQKMgEMOdbHJChLX75Q"}});
    let server = ModelServer::start(move |request| match request.assistant_messages {
        0 => Turn::text("").call("c1", "read_file", "{}").call("c2", "read_file", "{}").beside_call(signature.clone()),
        _ => Turn::text("Done."),
    })
    .await;
    let mut conversation = with(&server, Wire::OpenAi);
    let answer = conversation.ask(ask()).await.expect("an answer");
    push(&mut conversation, answer, &["c1", "c2"]);
    conversation.ask(ask()).await.expect("signed");
    assert_eq!(server.refusals(), [""; 0]);
}

#[tokio::test]
async fn whether_thoughts_go_back_is_learnt_from_the_server_where_it_is_not_known() {
    for (model, back, learns) in [
        ("test/a-model", Back::Refused, 0),
        ("test/a-model", Back::Wanted, 1),
        ("test/deepseek-v4", Back::Refused, 1),
        ("test/deepseek-v4", Back::Wanted, 0),
    ] {
        let server = ModelServer::start(move |request| match request.assistant_messages {
            0 => Turn::text("").call("c1", "read_file", "{}").beside("reasoning_content", json!("hm"), back),
            _ => Turn::text("Done."),
        })
        .await;
        let providers = providers(config(Wire::OpenAi, server.url(Wire::OpenAi)));
        for expected in [learns, 0] {
            let mut conversation = begin(&providers, model);
            let answer = conversation.ask(ask()).await.expect("an answer");
            push(&mut conversation, answer, &["c1"]);
            let (_, failures) = answered(&conversation, ask()).await;
            let kinds: Vec<Kind> = failures.iter().map(|error| error.kind).collect();
            assert_eq!(kinds, vec![Kind::Unsupported; expected], "{model} {back:?}: {failures:?}");
        }
    }
}

#[tokio::test]
async fn thoughts_in_tags_before_the_words_are_no_answer_however_they_come() {
    let server =
        ModelServer::start(|_| Turn::text("<think>\nI wonder < about > it.\n</think>\n\nIt is so.").fault(Fault::Drip))
            .await;
    let (heard, ask) = listening();
    let mut conversation = with(&server, Wire::OpenAi);
    let answer = conversation.ask(ask).await.expect("an answer");
    assert_eq!(heading(&answer).0, "It is so.");
    assert_eq!(heard.lock().expect("no other panics").0, "It is so.");
    conversation.push(&said(Role::Assistant, answer.parts));
    conversation.push(&agent::message::Message::user("more", agent::message::Origin::Person));
    conversation.ask(super::stage::ask()).await.expect("an answer");
    let sent = &server.requests()[1].body["messages"][2]["content"];
    assert_eq!(sent, "It is so.", "what the model thought is not sent to a server that did not ask for it");
}

fn other(content_type: &str, body: &str) -> Turn {
    let headers = vec![("content-type", content_type.to_owned())];
    Turn::default().fault(Fault::Other { headers, body: body.as_bytes().to_vec() })
}

#[tokio::test]
async fn words_and_thoughts_in_a_list_are_told_apart() {
    let chunk = |content: Value, end: Value| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": end}]}))
    };
    let thinking = |text: &str| json!([{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]);
    let stream = [
        chunk(thinking("two "), Value::Null),
        chunk(thinking("files"), Value::Null),
        chunk(json!([{"type": "text", "text": "It is "}, {"type": "reference", "reference_ids": [1]}]), Value::Null),
        chunk(json!("so."), json!("stop")),
        "data: [DONE]\n\n".to_owned(),
    ];
    let turn = other("text/event-stream", &stream.concat());
    let server = ModelServer::start(move |_| turn.clone()).await;
    let providers = providers(config(Wire::OpenAi, server.url(Wire::OpenAi)));
    let mut conversation = begin(&providers, "test/magistral-medium");
    let (heard, ask) = listening();
    let answer = conversation.ask(ask).await.expect("an answer");
    assert_eq!(heading(&answer).0, "It is so.");
    assert_eq!(*heard.lock().expect("no other panics"), ("It is so.".to_owned(), "two files".to_owned()));
    conversation.push(&said(Role::Assistant, answer.parts));
    conversation.push(&agent::message::Message::user("more", agent::message::Origin::Person));
    let _ = conversation.ask(super::stage::ask()).await;
    let sent = &server.requests()[1].body["messages"][2]["content"];
    assert_eq!(sent[0]["thinking"][0]["text"], "two files");
    assert_eq!(sent[1], json!({"type": "text", "text": "It is so."}));
}

/// A server that refuses with these words what `refuses` finds in a request.
async fn refusing(words: &'static str, refuses: fn(&Value) -> bool, good: Turn) -> ModelServer {
    ModelServer::start(move |request| match refuses(&request.body) {
        true => Turn::status(400, vec![], words),
        false => good.clone(),
    })
    .await
}

/// What a server says, which bodies it says it to, and what is said of it.
type Refusal = (&'static str, fn(&Value) -> bool, &'static str);

#[tokio::test]
async fn what_a_server_does_not_take_is_left_out_at_once_and_for_the_whole_run() {
    let cases: [Refusal; 4] = [
        ("a-model does not support tools", |body| body.get("tools").is_some(), "takes no tools"),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            |body| body.get("max_tokens").is_some(),
            "under its other name",
        ),
        ("stream_options: Extra inputs are not permitted", |body| body.get("stream_options").is_some(), "left out"),
        ("Unsupported value: 'temperature' does not support 0.5", |body| body.get("temperature").is_some(), "left out"),
    ];
    for (words, refuses, done) in cases {
        let server = refusing(words, refuses, Turn::text("good")).await;
        let settings = ModelSettings { temperature: Some(0.5), ..ModelSettings::default() };
        let providers = providers(ProviderConfig { settings, ..config(Wire::OpenAi, server.url(Wire::OpenAi)) });
        let (_, failures) = answered(&open(&providers, "the first"), ask()).await;
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert_eq!(failures[0].kind, Kind::Unsupported);
        assert!(failures[0].message.contains(done) && failures[0].message.contains(words), "{}", failures[0]);
        let (_, failures) = answered(&open(&providers, "the second"), ask()).await;
        assert!(failures.is_empty(), "it is remembered: {failures:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_longer_than_the_model_gives_is_asked_for_shorter_under_the_same_name() {
    for (wire, words) in [
        (
            Wire::OpenAi,
            "max_tokens is too large: 256. This model supports at most 100 completion tokens, whereas you provided 256.",
        ),
        (
            Wire::OpenAi,
            "max_tokens or max_completion_tokens is too large: 256. This model supports at most 100 completion tokens.",
        ),
        (Wire::Anthropic, "max_tokens: 256 > 100, which is the maximum allowed number of output tokens for a-model"),
        (
            Wire::Responses,
            "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 100, but got 256 instead.",
        ),
        (
            Wire::Gemini,
            "Unable to submit request because it has a maxOutputTokens value of 256 but the supported range is from 1 \
             (inclusive) to 101 (exclusive).",
        ),
    ] {
        let limit = move |body: &Value| match wire {
            Wire::Responses => body["max_output_tokens"].as_u64(),
            Wire::Gemini => body["generationConfig"]["maxOutputTokens"].as_u64(),
            _ => body["max_tokens"].as_u64(),
        };
        let server = ModelServer::start(move |request| match limit(&request.body) {
            Some(0..=100) => Turn::text("good"),
            _ => Turn::status(400, vec![], words),
        })
        .await;
        let providers = providers(config(wire, server.url(wire)));
        let (_, failures) = answered(&open(&providers, "the first"), ask()).await;
        assert_eq!(failures.iter().map(|error| error.kind).collect::<Vec<_>>(), [Kind::Unsupported], "{wire:?}");
        assert_eq!(limit(&server.requests()[1].body), Some(100), "{wire:?}");
        let (_, failures) = answered(&open(&providers, "the second"), ask()).await;
        assert!(failures.is_empty(), "{wire:?}: it is remembered: {failures:?}");
        assert_eq!(providers.model("test/a-model").expect("a model").max_output_tokens, 100, "{wire:?}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_whatever_is_left_out_is_not_asked_for_ever() {
    let server = ModelServer::start(|_| Turn::status(400, vec![], "a-model does not support tools")).await;
    let conversation = with(&server, Wire::OpenAi);
    let kinds =
        [conversation.ask(ask()).await, conversation.ask(ask()).await].map(|outcome| outcome.map_err(|e| e.kind));
    assert_eq!(kinds, [Err(Kind::Unsupported), Err(Kind::Rejected)]);
}

#[tokio::test]
async fn an_answer_without_words_is_sent_with_an_empty_text_where_null_is_refused() {
    let server = ModelServer::start(|request| match &request.body["messages"][2] {
        Value::Null => Turn::text("").call("c1", "read_file", "{}"),
        answer if answer["content"].is_null() => {
            Turn::status(400, vec![], "Invalid value for 'content': expected a string, got null.")
        }
        _ => Turn::text("Done."),
    })
    .await;
    let mut conversation = with(&server, Wire::OpenAi);
    let answer = conversation.ask(ask()).await.expect("a call");
    push(&mut conversation, answer, &["c1"]);
    let (answer, failures) = answered(&conversation, ask()).await;
    assert_eq!((heading(&answer).0.as_str(), failures.len()), ("Done.", 1));
    assert_eq!(server.requests()[2].body["messages"][2]["content"], "");
}

#[tokio::test]
async fn a_schema_is_asked_for_strictly_then_as_json_then_in_the_prompt() {
    let schema = json!({
        "type": "object",
        "properties": {"parts": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}},
        "required": ["parts"],
    });
    let asking = || Ask { output_schema: Some(Json::of(&schema)), ..ask() };
    for wire in WIRES.into_iter().filter(|wire| *wire != Wire::Ollama) {
        // How far a server goes: 0 takes the schema, 1 JSON mode, 2 neither.
        for takes in 0..=2 {
            let server = ModelServer::start(move |request| {
                let text = request.body.to_string();
                let form = if text.contains("json_schema\"") || text.contains("responseJsonSchema") {
                    0
                } else if text.contains("json_object") || text.contains("responseMimeType") {
                    1
                } else {
                    2
                };
                match form < takes {
                    true => Turn::status(
                        400,
                        vec![],
                        "response_format / output_config / responseJsonSchema / response mime type is not supported",
                    ),
                    false => Turn::text("```json\n{\"parts\": []}\n```"),
                }
            })
            .await;
            let providers = providers(config(wire, server.url(wire)));
            let (answer, failures) = answered(&open(&providers, "go"), asking()).await;
            let steps = if wire == Wire::Anthropic { takes.min(1) } else { takes };
            assert_eq!(failures.len(), steps, "{wire:?} {takes}: {failures:?}");
            let expected = if steps == 0 { "```json\n{\"parts\": []}\n```" } else { "{\"parts\": []}" };
            assert_eq!(
                heading(&answer).0,
                expected,
                "{wire:?} {takes}: a fence is taken off where the server does not hold the model"
            );
            assert_eq!(server.refusals(), [""; 0], "every object of a strict schema is closed");
            let last = server.requests().pop().expect("a request").body.to_string();
            assert_eq!(last.contains("It must fit this JSON Schema"), steps > 0, "{wire:?} {takes}");
        }
    }
}

#[tokio::test]
async fn ollama_holds_a_model_to_a_schema_where_it_has_no_tools_and_is_told_in_the_prompt_where_it_has() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let asking = || Ask { output_schema: Some(Json::of(&schema)), ..ask() };
    // How far the server goes: 0 takes the schema, 1 JSON mode, 2 neither.
    for takes in 0..=2_usize {
        let server = ModelServer::start(move |request| {
            let form = match &request.body["format"] {
                Value::Object(_) => 0,
                Value::String(_) => 1,
                _ => 2,
            };
            match form < takes {
                true => Turn::status(400, vec![], "invalid format: expected nothing"),
                false => Turn::text("```json\n{\"a\": \"b\"}\n```"),
            }
        })
        .await;
        let providers = providers(config(Wire::Ollama, server.url(Wire::Ollama)));
        let mut bare = providers.open("test/a-model").expect("a model");
        bare.begin("be brief", "", &[]);
        bare.push(&agent::message::Message::user("go", agent::message::Origin::Brief));
        let (answer, failures) = answered(&bare, asking()).await;
        assert_eq!(failures.len(), takes, "{failures:?}");
        assert_eq!(heading(&answer).0.starts_with("```"), takes == 0, "{takes}");
        let requests = server.requests();
        assert_eq!(requests[0].body["format"]["additionalProperties"], false, "closed");
        let last = requests.last().expect("a request").body.to_string();
        assert_eq!(last.contains("It must fit this JSON Schema"), takes > 0, "{takes}");
        let (answer, failures) = answered(&open(&providers, "go"), asking()).await;
        assert_eq!((heading(&answer).0.as_str(), failures.len()), ("{\"a\": \"b\"}", 0), "{takes}");
        assert!(server.requests().last().expect("a request").body.to_string().contains("It must fit this JSON Schema"));
        assert_eq!(server.refusals(), [""; 0], "{takes}");
    }
}

#[tokio::test]
async fn ollama_is_told_the_context_window_and_gets_its_options_and_thoughts_back() {
    let server = ModelServer::start(|request| match request.assistant_messages {
        0 => Turn::text("I look.").call("c1", "read_file", "{}").beside("thinking", json!("two files"), Back::Wanted),
        _ => Turn::text("Done."),
    })
    .await;
    let options = json!({"top_k": 7});
    let body = [("options".to_owned(), options), ("keep_alive".to_owned(), json!("10m"))].into();
    let settings = ModelSettings { temperature: Some(0.5), body, ..ModelSettings::default() };
    let config = ProviderConfig { settings, ..config(Wire::Ollama, server.url(Wire::Ollama)) };
    let mut conversation = open(&providers(config), "go");
    let (heard, ask) = listening();
    let answer = conversation.ask(Ask { window_tokens: Some(16_384), ..ask }).await.expect("an answer");
    assert_eq!(heard.lock().expect("no other panics").clone(), ("I look.".to_owned(), "two files".to_owned()));
    push(&mut conversation, answer, &["c1"]);
    conversation.ask(super::stage::ask()).await.expect("an answer");
    assert_eq!(server.refusals(), [""; 0]);
    let body = &server.requests()[0].body;
    let expected = json!({"num_ctx": 16_384, "num_predict": 256, "temperature": 0.5, "top_k": 7});
    assert_eq!((&body["options"], &body["keep_alive"]), (&expected, &json!("10m")));
    let result = &server.requests()[1].body["messages"][3];
    assert_eq!((&result["tool_name"], &result["tool_call_id"]), (&json!("read_file"), &json!("c1")));
}

#[tokio::test]
async fn what_ollama_says_of_a_model_that_cannot_think_or_of_a_request_that_does_not_fit_is_understood() {
    let words = "\"a-model\" does not support thinking";
    let server = refusing(words, |body| body.get("think").is_some(), Turn::text("good")).await;
    let settings = ModelSettings { effort: Some(Effort::High), ..ModelSettings::default() };
    let providers = providers(ProviderConfig { settings, ..config(Wire::Ollama, server.url(Wire::Ollama)) });
    let (_, failures) = answered(&open(&providers, "go"), ask()).await;
    assert_eq!(failures.iter().map(|failure| failure.kind).collect::<Vec<_>>(), [Kind::Unsupported]);
    for (status, said, kind) in [
        (400, "the input length exceeds the context length", Kind::ContextTooLong),
        (503, "server busy, please try again.  maximum pending requests exceeded", Kind::Overloaded),
        (404, "model 'a-model' not found", Kind::Rejected),
    ] {
        let server = ModelServer::start(move |_| Turn::status(status, vec![], said)).await;
        let error = with(&server, Wire::Ollama).ask(ask()).await.expect_err("an error");
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(said.trim_end_matches('.')), "{error}");
    }
}

#[tokio::test]
async fn a_stream_that_calls_itself_plain_text_and_a_whole_answer_are_read() {
    let stream =
        "data: {\"choices\":[{\"delta\":{\"content\":\"good\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5});
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}});
    let message = json!({"role": "assistant", "content": "good", "reasoning_content": "hm", "tool_calls": [call]});
    let chat = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage});
    let anthropic = json!({"type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [{"type": "text", "text": "good"}, {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a"}}],
        "usage": {"input_tokens": 10, "output_tokens": 5}});
    let responses = json!({"object": "response", "status": "completed", "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "good"}]},
        {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": "{\"path\":\"a\"}"}],
        "usage": {"input_tokens": 10, "output_tokens": 5}});
    let parts = json!([{"text": "good"}, {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a"}}}]);
    let gemini = json!([{"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}}]);
    let call = json!({"id": "c1", "function": {"name": "read_file", "arguments": {"path": "a"}}});
    let ollama = json!({"message": {"role": "assistant", "content": "good", "tool_calls": [call]}, "done": true,
        "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 5});
    for (wire, content_type, body, is_whole) in [
        (Wire::OpenAi, "text/plain; charset=utf-8", stream.to_owned(), false),
        (Wire::OpenAi, "application/octet-stream", format!("\n{stream}"), false),
        (Wire::OpenAi, "application/json", chat.to_string(), true),
        (Wire::OpenAi, "text/plain", format!("  {chat}\n"), true),
        (Wire::Anthropic, "application/json", anthropic.to_string(), true),
        (Wire::Responses, "application/json", responses.to_string(), true),
        (Wire::Gemini, "application/json", gemini.to_string(), true),
        (Wire::Ollama, "application/json; charset=utf-8", ollama.to_string(), true),
    ] {
        let turn = other(content_type, &body);
        let server = ModelServer::start(move |_| turn.clone()).await;
        let answer =
            with(&server, wire).ask(ask()).await.unwrap_or_else(|error| panic!("{wire:?} {content_type}: {error}"));
        assert_eq!(heading(&answer).0, "good", "{wire:?}");
        if is_whole {
            assert_eq!(heading(&answer).1, ["c1"], "{wire:?}");
            assert_eq!(answer.stop, StopReason::ToolUse, "{wire:?}");
            assert_eq!(answer.tokens, Some(Tokens { input: 10, output: 5, ..Tokens::default() }), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn an_error_of_geminis_server_for_openais_wire_is_read_out_of_its_list() {
    let body =
        json!([{"error": {"code": 429, "message": "Resource has been exhausted", "status": "RESOURCE_EXHAUSTED"}}]);
    let turn = other("application/json", &body.to_string());
    let server = ModelServer::start(move |_| turn.clone()).await;
    let error = with(&server, Wire::OpenAi).ask(ask()).await.expect_err("an error");
    assert_eq!(error.kind, Kind::RateLimited, "{error}");
    assert!(error.message.contains("Resource has been exhausted"), "{error}");
}

#[tokio::test]
async fn a_server_that_counts_nothing_has_not_counted() {
    for tokens in [None, Some((0, 0)), Some((10, 0))] {
        let server = ModelServer::start(move |_| Turn::text("good").tokens(tokens)).await;
        let answer = with(&server, Wire::OpenAi).ask(ask()).await.expect("an answer");
        assert_eq!(answer.tokens, None, "{tokens:?}");
    }
}

#[tokio::test]
async fn what_came_of_a_broken_answer_is_counted_in_bytes() {
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("some words and then none").fault(Fault::Unfinished)).await;
        let error = with(&server, wire).ask(ask()).await.expect_err("broken off");
        assert_eq!((error.kind, error.received_bytes), (Kind::Truncated, Some(24)), "{wire:?}");
    }
}

#[tokio::test]
async fn a_pause_of_the_provider_is_told_and_the_answer_goes_on_as_it_was_sent() {
    let server = ModelServer::start(|request| match request.assistant_messages {
        0 => Turn::text("So far so").stop(StopReason::Paused),
        _ => Turn::text(" good."),
    })
    .await;
    let mut conversation = with(&server, Wire::Anthropic);
    let answer = conversation.ask(ask()).await.expect("half an answer");
    assert_eq!(answer.stop, StopReason::Paused);
    conversation.push(&said(Role::Assistant, answer.parts));
    let rest = conversation.ask(ask()).await.expect("the other half");
    assert_eq!((heading(&rest).0.as_str(), server.refusals()), (" good.", vec![]));
}

#[tokio::test]
async fn effort_headers_and_tokens_are_sent_as_they_are_set() {
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("good")).await;
        let settings = ModelSettings { effort: Some(Effort::High), ..ModelSettings::default() };
        let headers = vec![("x-team".to_owned(), provider::Secret::new("research"))];
        let organization = Some("org-1".to_owned());
        let config = ProviderConfig { settings, headers, organization, ..config(wire, server.url(wire)) };
        let config = ProviderConfig { bearer: wire == Wire::Anthropic, ..config };
        let providers = providers(config);
        open(&providers, "go").ask(ask()).await.expect("an answer");
        open(&providers, "go").with_effort(Effort::Low).ask(ask()).await.expect("an answer");
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
        let requests = server.requests();
        let sent = [&requests[0].headers["openai-organization"], &requests[0].headers["x-team"]];
        assert_eq!(sent, ["org-1", "research"]);
        for (request, effort) in requests.iter().zip(["high", "low"]) {
            let body = &request.body;
            let sent = match wire {
                Wire::OpenAi => &body["reasoning_effort"],
                Wire::Responses => &body["reasoning"]["effort"],
                Wire::Anthropic => &body["output_config"]["effort"],
                Wire::Gemini => &body["generationConfig"]["thinkingConfig"]["thinkingLevel"],
                Wire::Ollama => &body["think"],
            };
            assert_eq!(sent, effort, "{wire:?} {body}");
        }
    }
}

#[tokio::test]
async fn the_number_of_requests_at_once_and_the_certificates_are_the_configured_ones() {
    let server = ModelServer::start(|_| Turn::text("good")).await;
    let config = || config(Wire::OpenAi, server.url(Wire::OpenAi));
    let limited = providers(ProviderConfig { concurrency: Some(3), ..config() });
    open(&limited, "go").ask(ask()).await.expect("an answer");
    assert_eq!(limited.governors()[0].1.limit, 3);
    // It holds for all models of the provider together.
    let free = watch::Sender::new(false);
    let held = free.clone();
    let busy = ModelServer::start(move |_| Turn::text("good").held(&held)).await;
    let two = ProviderConfig { concurrency: Some(2), ..super::stage::config(Wire::OpenAi, busy.url(Wire::OpenAi)) };
    let two = providers(two);
    let models = ["test/a", "test/b", "test/c"];
    let calls: Vec<_> = models.iter().map(|model| tokio::spawn(begin(&two, model).ask(ask()))).collect();
    busy.until_requested(2).await;
    tokio::time::timeout(SHORT, busy.until_requested(3)).await.expect_err("the third waits");
    free.send_replace(true);
    for call in calls {
        call.await.expect("no panic").expect("an answer");
    }
    assert_eq!(busy.requests().len(), 3);
    for (path, why) in [("/nowhere/ca.pem", "No such file"), ("/dev/null", "no certificates in PEM")] {
        let certified = providers(ProviderConfig { ca_file: Some(path.into()), ..config() });
        let error = certified.open("test/a-model").expect_err("no certificates").to_string();
        assert!(error.contains("ca_file") && error.contains(why), "{error}");
    }
}

#[tokio::test]
async fn requests_go_through_the_configured_proxy() {
    let proxy = ModelServer::start(|_| Turn::text("through the proxy")).await;
    let proxied = ProviderConfig {
        proxy: Some(proxy.url(Wire::Anthropic)),
        ..config(Wire::OpenAi, "http://llm.invalid/v1".to_owned())
    };
    let answer = open(&providers(proxied), "go").ask(ask()).await.expect("an answer");
    assert_eq!(heading(&answer).0, "through the proxy");
}

#[tokio::test]
async fn an_agent_that_may_wait_marks_its_prompt_for_an_hour_where_that_is_set_and_is_billed_for_it() {
    let server = ModelServer::start(|_| Turn::text("good").written(1_000, 2_000)).await;
    let marks = |nth: usize| {
        let sent = server.requests()[nth].body.to_string();
        (sent.matches("\"cache_control\"").count(), sent.matches("\"ttl\":\"1h\"").count())
    };
    for (nth, (parent_cache, may_wait, hour)) in [
        (None, true, false),
        (Some(CacheTime::FiveMinutes), true, false),
        (Some(CacheTime::OneHour), false, false),
        (Some(CacheTime::OneHour), true, true),
    ]
    .into_iter()
    .enumerate()
    {
        let settings = ModelSettings { parent_cache, ..ModelSettings::default() };
        let config = ProviderConfig { settings, ..config(Wire::Anthropic, server.url(Wire::Anthropic)) };
        let providers = providers(config);
        let mut conversation = providers.open("test/claude-haiku-4-5").expect("a model");
        conversation.begin("be brief", "You are 'a'.", &[tool()]);
        conversation.push(&agent::message::Message::user("go", agent::message::Origin::Brief));
        let answer = conversation.ask(Ask { may_wait, ..ask() }).await.expect("an answer");
        assert_eq!(server.refusals(), [""; 0]);
        assert_eq!(marks(nth), (3, if hour { 3 } else { 0 }), "{parent_cache:?} {may_wait}");
        let tokens = answer.tokens.expect("counted");
        assert_eq!((tokens.cache_write, tokens.cache_write_1h), (3_000, 2_000));
        // A dollar for a million fresh tokens, one and a quarter for those that are kept for minutes, two for an hour.
        let price = providers.model("test/claude-haiku-4-5").expect("a model").price.expect("a price");
        let written = Tokens { input: 0, output: 0, ..tokens };
        let is_set = parent_cache == Some(CacheTime::OneHour);
        assert_eq!(price.of(&written), if is_set { 1_250 + 4_000 } else { 3_750 }, "{parent_cache:?}");
    }
}

#[tokio::test]
async fn a_model_is_spoken_to_on_its_own_wire_where_one_is_set() {
    let server = ModelServer::start(|_| Turn::text("good")).await;
    let own = |wire: Wire| ModelEntry { wire: Some(wire), ..ModelEntry::default() };
    let overrides = [("test/claude*".to_owned(), own(Wire::Anthropic)), ("test/qwen3".to_owned(), own(Wire::Ollama))];
    let table = ModelTable::builtin().with(overrides.into());
    let config = config(Wire::OpenAi, server.url(Wire::OpenAi));
    let providers = Providers::new(vec![config], table, Options::default()).expect("a good configuration");
    let expected =
        [("test/a-model", Wire::OpenAi), ("test/claude-haiku-4-5", Wire::Anthropic), ("test/qwen3", Wire::Ollama)];
    for (model, _) in expected.into_iter().chain(expected) {
        begin(&providers, model).ask(ask()).await.expect("an answer");
    }
    let wires: Vec<Wire> = server.requests().iter().map(|request| request.wire).collect();
    assert_eq!(wires, expected.into_iter().chain(expected).map(|(_, wire)| wire).collect::<Vec<_>>());
    assert_eq!(server.refusals(), [""; 0], "each wire has its own headers");
    let price = |model: &str| providers.model(model).expect("a model").price.map(|price| price.output);
    assert_eq!(price("test/claude-haiku-4-5"), Some(5_000_000), "known by the wire that it is spoken to on");
}

/// OpenRouter, which is played by the server: requests to its address go through it as through a proxy.
fn router(server: &ModelServer, settings: ModelSettings) -> ProviderConfig {
    let config = config(Wire::OpenAi, "http://openrouter.ai/api/v1".to_owned());
    ProviderConfig { proxy: Some(server.host()), settings, ..config }
}

/// What a request has for its system prompt.
fn system_of(server: &ModelServer, nth: usize) -> Value {
    server.requests()[nth].body["messages"][0]["content"].clone()
}

#[tokio::test]
async fn openrouter_is_told_what_of_a_prompt_to_cache_for_the_models_that_can_and_no_other_server_is() {
    let server = ModelServer::start(|request| match request.assistant_messages {
        0 => Turn::text("I look.").call("toolu_1", "read_file", "{}"),
        _ => Turn::text("done"),
    })
    .await;
    let providers = providers(router(&server, ModelSettings::default()));
    let sibling = async |own: &str| {
        let mut conversation = providers.open("test/anthropic/claude-sonnet-5-5").expect("a model");
        conversation.begin("be brief", own, &[tool()]);
        conversation.push(&agent::message::Message::user("go", agent::message::Origin::Brief));
        let answer = conversation.ask(ask()).await.expect("the server takes it");
        conversation.push(&said(Role::Assistant, answer.parts));
        conversation.push(&said(Role::User, vec![result("toolu_1")]));
        conversation.ask(ask()).await.expect("the server takes it")
    };
    sibling("\nYou are 'a'.").await;
    sibling("\nYou are 'b'.").await;
    let mark = json!({ "type": "ephemeral" });
    let marked = |own: &str| {
        json!([
            { "type": "text", "text": "be brief", "cache_control": mark },
            { "type": "text", "text": own, "cache_control": mark },
        ])
    };
    // The newest two turns of the world are marked as well, so that the conversation is kept as it grows.
    let newest = |nth: usize| -> Vec<Value> {
        let messages = server.requests()[nth].body["messages"].as_array().expect("messages").clone();
        messages.iter().skip(1).map(|message| message["content"][0]["cache_control"].clone()).collect()
    };
    assert_eq!(newest(0), vec![mark.clone()], "the brief");
    assert_eq!(newest(1), [mark.clone(), Value::Null, mark.clone()], "the brief and the result, and no answer");
    let sent: Vec<Value> = (0..4).map(|nth| system_of(&server, nth)).collect();
    let (a, b) = (marked("\nYou are 'a'."), marked("\nYou are 'b'."));
    assert_eq!(sent, [a.clone(), a, b.clone(), b], "the same in every request of a conversation");
    // A parent that waits for its sub-agents may keep it for an hour.
    let an_hour = ModelSettings { parent_cache: Some(CacheTime::OneHour), ..ModelSettings::default() };
    let waiting = Ask { may_wait: true, ..ask() };
    let providers = super::stage::providers(router(&server, an_hour));
    begin(&providers, "test/anthropic/claude-sonnet-5-5").ask(waiting).await.expect("the server takes it");
    let hour = json!({ "type": "ephemeral", "ttl": "1h" });
    assert_eq!(system_of(&server, 4), json!([{ "type": "text", "text": "be brief", "cache_control": hour }]));
    // Models of other makers cache by themselves, and servers elsewhere do not know the field.
    begin(&providers, "test/openai/gpt-5").ask(ask()).await.expect("the server takes it");
    let elsewhere = super::stage::providers(config(Wire::OpenAi, server.url(Wire::OpenAi)));
    begin(&elsewhere, "test/anthropic/claude-sonnet-5-5").ask(ask()).await.expect("the server takes it");
    assert_eq!((system_of(&server, 5), system_of(&server, 6)), (json!("be brief"), json!("be brief")));
    assert_eq!(server.refusals(), Vec::<String>::new());
}

#[tokio::test]
async fn the_server_refuses_marks_for_the_cache_where_openrouter_is_not_or_has_too_many() {
    let server = ModelServer::start(|_| Turn::text("good")).await;
    let part = json!({ "type": "text", "text": "be brief", "cache_control": { "type": "ephemeral" } });
    let refused = async |model: &str, host: &str, parts: usize| {
        let body = json!({
            "model": model, "stream": true, "max_tokens": 9,
            "messages": [{ "role": "system", "content": vec![part.clone(); parts] }, { "role": "user", "content": "go" }],
        })
        .to_string();
        let request = format!(
            "POST /api/v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {KEY}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let address = server.host().trim_start_matches("http://").to_owned();
        let mut stream = tokio::net::TcpStream::connect(address).await.expect("the server is there");
        stream.write_all(request.as_bytes()).await.expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    };
    let claude = "anthropic/claude-sonnet-5-5";
    assert!(refused(claude, "openrouter.ai", 4).await.contains("good"));
    assert!(refused(claude, "openrouter.ai", 5).await.contains("A maximum of 4 blocks with cache_control"));
    assert!(refused("openai/gpt-5", "openrouter.ai", 1).await.contains("must be a string"));
    assert!(refused(claude, "example.org", 1).await.contains("must be a string"));
}

#[tokio::test]
async fn a_server_that_sends_an_empty_stream_is_asked_once_without_one_and_says_why() {
    let server = ModelServer::start(|request| match (request.first_words.as_str(), &request.body["stream"]) {
        ("short", _) => Turn::text("I see."),
        (_, Value::Bool(true)) => Turn::text("").fault(Fault::CutAfter(0)),
        _ => {
            let why = "This model's maximum context length is 512 tokens. However, you requested 14092 tokens.";
            Turn::status(400, vec![], why)
        }
    })
    .await;
    let providers = providers(config(Wire::OpenAi, server.url(Wire::OpenAi)));
    for round in 0..2 {
        let long = open(&providers, "long");
        let empty = long.ask(ask()).await.expect_err("nothing came");
        assert_eq!(empty.kind, Kind::Unsupported, "{empty}");
        let error = long.ask(ask()).await.expect_err("it does not fit");
        assert_eq!((error.kind, error.window_tokens), (Kind::ContextTooLong, Some(512)), "{error}");
        // What fits is streamed as before.
        assert_eq!(heading(&open(&providers, "short").ask(ask()).await.expect("an answer")).0, "I see.");
        let streams: Vec<Value> =
            server.requests()[3 * round..].iter().map(|request| request.body["stream"].clone()).collect();
        assert_eq!(streams, [true, false, true]);
    }
    assert_eq!(server.refusals(), Vec::<String>::new());
}
