//! The server itself: what a provider refuses, it refuses.

use agent::message::{Message, Origin, Part, Role};
use agent::model::CallErrorKind as Kind;
use majordomo_testkit::model_server::{ModelServer, Turn};
use provider::{Conversation, ProviderConfig, Wire};

use super::stage::{WIRES, ask, call, config, providers, result, said, tool};

fn text(text: &str) -> Part {
    Part::Text { text: text.into(), origin: Origin::Model }
}

fn user(parts: Vec<Part>) -> Message {
    said(Role::User, parts)
}

fn assistant(parts: Vec<Part>) -> Message {
    said(Role::Assistant, parts)
}

/// What the server says to a conversation.
async fn verdict(wire: Wire, tools: bool, messages: &[Message]) -> Result<(), String> {
    let server = ModelServer::start(|_| Turn::text("good")).await;
    let mut conversation: Conversation =
        providers(config(wire, server.url(wire))).open("test/a-model").expect("a model");
    let known = [tool()];
    conversation.begin("", "", if tools { &known } else { &[] });
    for message in messages {
        conversation.push(message);
    }
    match conversation.ask(ask()).await {
        Ok(_) => Ok(()),
        Err(error) => {
            assert_eq!(error.kind, Kind::Rejected, "{error}");
            Err(server.refusals().remove(0))
        }
    }
}

#[tokio::test]
async fn a_conversation_that_no_provider_takes_is_refused() {
    // F4
    let go = || Message::user("go", Origin::Person);
    let cases: Vec<(&str, bool, Vec<Message>)> = vec![
        ("without results", true, vec![go(), assistant(vec![call("a"), call("b")]), user(vec![result("a")])]),
        ("without results", true, vec![go(), assistant(vec![call("a")]), user(vec![text("well?")])]),
        ("has no call", true, vec![go(), assistant(vec![call("a")]), user(vec![result("a"), result("b")])]),
        ("single result", true, vec![go(), assistant(vec![call("a")]), user(vec![result("a"), result("a")])]),
        (
            "must be unique",
            true,
            vec![
                go(),
                assistant(vec![call("a")]),
                user(vec![result("a")]),
                assistant(vec![call("a")]),
                user(vec![result("a")]),
            ],
        ),
        ("tools", false, vec![go(), assistant(vec![call("a")]), user(vec![result("a")])]),
        ("user", true, vec![assistant(vec![text("hello")]), go()]),
        ("", true, vec![go(), assistant(vec![text("the model has the last word")])]),
        ("empty", true, vec![]),
    ];
    for wire in WIRES {
        for (reason, tools, messages) in &cases {
            let refusal = verdict(wire, *tools, messages).await.expect_err(reason);
            let known = refusal.contains(reason) || (*reason == "empty" && refusal.contains("user's"));
            assert!(known, "{wire:?}: expected {reason:?}, got {refusal:?}");
        }
        let good = [go(), assistant(vec![text("so"), call("a")]), user(vec![result("a")])];
        assert_eq!(verdict(wire, true, &good).await, Ok(()));
    }
}

#[tokio::test]
async fn results_without_any_call_are_refused() {
    // F4
    for wire in WIRES {
        let orphan = [Message::user("go", Origin::Person), assistant(vec![text("so")]), user(vec![result("a")])];
        verdict(wire, true, &orphan).await.expect_err("an orphan");
    }
}

#[tokio::test]
async fn a_request_without_a_key_or_a_limit_is_refused() {
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("never")).await;
        let config = ProviderConfig { key: None, needs_key: false, ..config(wire, server.url(wire)) };
        let answer = super::stage::conversation(config).ask(ask()).await;
        if wire == Wire::Ollama {
            answer.expect("on a person's own machine it asks for none");
        } else {
            let error = answer.expect_err("no key");
            assert_eq!(error.kind, Kind::Auth);
            assert!(error.message.contains("it wants a key"), "{error}");
        }
        if wire == Wire::Responses {
            continue; // A limit is always sent: the smallest that the provider takes.
        }
        let unlimited = provider::Ask { max_tokens: 0, ..ask() };
        let error = super::stage::with(&server, wire).ask(unlimited).await.expect_err("no limit");
        let name = match wire {
            Wire::Gemini => "maxOutputTokens",
            Wire::Ollama => "num_predict",
            Wire::Anthropic | Wire::OpenAi | Wire::Responses => "max_tokens",
        };
        assert!(error.message.contains(name), "{error}");
    }
}
