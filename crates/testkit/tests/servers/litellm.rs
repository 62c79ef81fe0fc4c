//! The LiteLLM proxy, which translates between the wires: our request goes to it, and its own goes to the strict server.

use agent::message::{Message, Part, Role};
use agent::model::{CallErrorKind, StopReason};
use majordomo_testkit::model_server::{KEY, ModelServer, Turn};
use provider::Wire;
use serde_json::json;

use super::program::{Program, ask, begin, tool};

/// Models of the proxy: one for each wire of the server behind it.
async fn proxy(folder: &tempfile::TempDir, server: &ModelServer) -> Program {
    let model = |name: &str, model: &str, url: String| json!({"model_name": name, "litellm_params": {"model": model, "api_base": url, "api_key": KEY}});
    let config = json!({
        "model_list": [
            model("chat", "openai/test-model", server.url(Wire::OpenAi)),
            model("claude", "anthropic/claude-haiku-4-5", server.url(Wire::Anthropic)),
        ],
        "litellm_settings": {"telemetry": false, "num_retries": 0},
        "general_settings": {"master_key": KEY},
    });
    // Every JSON document is a YAML document.
    std::fs::write(folder.path().join("config.yaml"), config.to_string()).expect("a file");
    let arguments = ["--config", "config.yaml", "--host", "127.0.0.1", "--port", "{port}"];
    Program::start(folder.path(), "litellm", &arguments, "/health/liveliness").await
}

/// Our wire at the proxy, and the model that it is asked for.
const WAYS: [(Wire, &str); 3] = [(Wire::OpenAi, "chat"), (Wire::OpenAi, "claude"), (Wire::Anthropic, "claude")];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the LiteLLM proxy: cargo xtask test --with-servers"]
async fn a_turn_with_a_tool_goes_through_the_proxy_of_litellm_on_every_wire_that_it_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|request| match request.assistant_messages {
        0 => Turn::text("I look.").call("toolu_1", "read_file", r#"{"path":"a.txt"}"#).used(40, 9),
        _ => Turn::text("It is done."),
    })
    .await;
    let proxy = proxy(&folder, &server).await;
    for (wire, model) in WAYS {
        let told = || format!("{wire:?} {model}: {:?}\n{}", server.refusals(), proxy.log());
        let mut conversation = begin(&proxy.providers(wire), model, "Look at a.txt.", &[tool()]);
        let answer = conversation.ask(ask(256)).await.unwrap_or_else(|error| panic!("{error}\n{}", told()));
        let call = answer.parts.iter().find_map(|part| match part {
            Part::ToolCall { id, name, input } => Some((id.clone(), name.to_string(), input.value())),
            _ => None,
        });
        let (id, name, input) = call.unwrap_or_else(|| panic!("no call: {answer:?}\n{}", told()));
        assert_eq!((name.as_str(), &input), ("read_file", &json!({"path": "a.txt"})), "{}", told());
        assert_eq!(answer.stop, StopReason::ToolUse);
        assert_eq!(answer.tokens.map(|tokens| (tokens.prompt(), tokens.output)), Some((40, 9)), "{}", told());
        conversation.push(&Message { role: Role::Assistant, parts: answer.parts });
        let result = Part::ToolResult { id, content: "its content".into(), is_error: false };
        conversation.push(&Message { role: Role::User, parts: vec![result] });
        let answer = conversation.ask(ask(256)).await.unwrap_or_else(|error| panic!("{error}\n{}", told()));
        let words = |part: &Part| matches!(part, Part::Text { text, .. } if &**text == "It is done.");
        assert!(answer.parts.iter().any(words), "{answer:?}\n{}", told());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the LiteLLM proxy: cargo xtask test --with-servers"]
async fn what_fails_behind_the_proxy_of_litellm_has_its_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|request| match request.first_words.as_str() {
        "too much" => Turn::status(429, vec![], "This request would exceed your rate limit"),
        _ => Turn::status(
            400,
            vec![],
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
        ),
    })
    .await;
    let proxy = proxy(&folder, &server).await;
    for (words, kind) in [("too much", CallErrorKind::RateLimited), ("too long", CallErrorKind::ContextTooLong)] {
        let error =
            begin(&proxy.providers(Wire::OpenAi), "chat", words, &[]).ask(ask(64)).await.expect_err("a failure");
        assert_eq!(error.kind, kind, "{error}\n{}", proxy.log());
        if kind == CallErrorKind::ContextTooLong {
            assert_eq!(error.window_tokens, Some(8192), "{error}");
        }
    }
    let unknown =
        begin(&proxy.providers(Wire::OpenAi), "nope", "hello", &[]).ask(ask(64)).await.expect_err("a failure");
    assert!(!unknown.kind.is_retryable(), "{unknown}");
}
