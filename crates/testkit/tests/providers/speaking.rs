//! Good calls.

use agent::message::{Message, Origin, Role};
use agent::model::{CallErrorKind as Kind, StopReason, Tokens};
use majordomo_testkit::model_server::{Fault, ModelServer, Turn};
use provider::scripted::Script;
use provider::{Ask, DeltaSink, Wire};

use super::stage::{WIRES, ask, heading, open, providers, result, said, with};

const SCRIPT: &str = r#"
[[script]]
on = "the brief"
[[script.reply]]
text = "I will look."
calls = [{ name = "read_file", input = { path = "a" } }, { name = "read_file", input = { path = "é" } }]
tokens_in = 40
tokens_out = 9
[[script.reply]]
text = "It is done."
"#;

fn script() -> Script {
    Script::parse("speaking", SCRIPT).expect("a good script")
}

#[tokio::test]
async fn a_whole_turn_with_tools_is_taken_by_a_strict_provider() {
    // F4
    for wire in WIRES {
        let server = ModelServer::scripted(script()).await;
        let mut conversation = with(&server, wire);
        let answer = conversation.ask(ask()).await.expect("an answer");
        assert_eq!(heading(&answer), ("I will look.".into(), vec!["call_0_0".into(), "call_0_1".into()]), "{wire:?}");
        assert_eq!(answer.stop, StopReason::ToolUse);
        assert_eq!(answer.tokens, Some(Tokens { input: 40, output: 9, ..Tokens::default() }));
        conversation.push(&said(Role::Assistant, answer.parts));
        conversation.push(&said(Role::User, vec![result("call_0_1"), result("call_0_0")]));
        conversation.push(&Message::user("a notice", Origin::Program));
        let answer = conversation.ask(Ask { calls_allowed: false, ..ask() }).await.expect("an answer");
        assert_eq!((heading(&answer).0.as_str(), answer.stop), ("It is done.", StopReason::EndTurn));
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
    }
}

#[tokio::test]
async fn a_request_holds_its_brief_and_nothing_of_another_thread() {
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("good")).await;
        let providers = providers(super::stage::config(wire, server.url(wire)));
        for brief in ["the first secret", "the second secret"] {
            open(&providers, brief).ask(ask()).await.expect("an answer");
        }
        let bodies: Vec<String> = server.requests().iter().map(|request| request.body.to_string()).collect();
        assert!(bodies[0].contains("first") && !bodies[0].contains("second"));
        assert!(bodies[1].contains("second") && !bodies[1].contains("first"));
        assert_eq!(server.requests()[1].first_words, "the second secret");
    }
}

#[tokio::test]
async fn words_arrive_in_passing_and_byte_by_byte() {
    // F17
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("Grüße aus 東京 🗼").fault(Fault::Drip)).await;
        let (sender, heard) = std::sync::mpsc::channel();
        let sink = DeltaSink::new(move |word| sender.send(word.to_owned()).expect("the receiver is open"));
        let answer = with(&server, wire).ask(Ask { deltas: Some(sink), ..ask() }).await.expect("an answer");
        assert_eq!(heading(&answer).0, "Grüße aus 東京 🗼");
        assert_eq!(heard.iter().collect::<Vec<_>>(), ["Grüße ", "aus ", "東京 ", "🗼"], "{wire:?}");
    }
}

#[tokio::test]
async fn two_hundred_calls_at_once_all_come_back() {
    let server = ModelServer::start(|request| Turn::text(&request.first_words)).await;
    let providers = providers(super::stage::config(Wire::Anthropic, server.url(Wire::Anthropic)));
    let calls: Vec<_> = (0..200).map(|n| tokio::spawn(open(&providers, &format!("brief {n}")).ask(ask()))).collect();
    for (n, call) in calls.into_iter().enumerate() {
        let answer = call.await.expect("no panic").expect("an answer");
        assert_eq!(heading(&answer).0, format!("brief {n}"));
    }
    let (_, state) = providers.governors()[0];
    assert_eq!((state.running, state.waiting), (0, 0));
}

#[tokio::test]
async fn an_id_that_the_server_begins_again_with_every_answer_is_made_unique() {
    // F5
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("look").call("call_0", "read_file", "{}")).await;
        let mut conversation = with(&server, wire);
        for _ in 0..3 {
            let answer = conversation.ask(ask()).await.expect("an answer");
            let (_, ids) = heading(&answer);
            conversation.push(&said(Role::Assistant, answer.parts));
            conversation.push(&said(Role::User, ids.iter().map(|id| result(id)).collect()));
        }
        assert!(conversation.ask(ask()).await.is_ok(), "{wire:?}");
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
    }
}

#[tokio::test]
async fn unreadable_arguments_are_named_and_can_be_answered() {
    // F20. On the wires of Gemini and Ollama arguments are JSON, and a call that is none is the provider's own error.
    for wire in WIRES.into_iter().filter(|wire| !matches!(wire, Wire::Gemini | Wire::Ollama)) {
        let server = ModelServer::start(|_| Turn::text("").call("c", "read_file", "[not json")).await;
        let mut conversation = with(&server, wire);
        let answer = conversation.ask(ask()).await.expect("an answer");
        assert_eq!(answer.malformed.len(), 1);
        conversation.push(&said(Role::Assistant, answer.parts));
        conversation.push(&said(Role::User, vec![result("c")]));
        assert!(conversation.ask(ask()).await.is_ok(), "{wire:?}");
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
    }
}

#[tokio::test]
async fn why_an_answer_ended_is_told_on_every_wire() {
    // F21
    for wire in WIRES {
        for (said, heard) in [
            (StopReason::EndTurn, StopReason::EndTurn),
            (StopReason::MaxTokens, StopReason::MaxTokens),
            // Ollama has no word for it.
            (StopReason::Refusal, if wire == Wire::Ollama { StopReason::EndTurn } else { StopReason::Refusal }),
        ] {
            let server = ModelServer::start(move |_| Turn::text("I cannot say more.").stop(said)).await;
            let answer = with(&server, wire).ask(ask()).await.expect("an answer");
            assert_eq!((heading(&answer).0.as_str(), answer.stop), ("I cannot say more.", heard), "{wire:?}");
            assert_eq!(server.refusals(), [""; 0], "{wire:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_a_filter_stopped_is_a_refusal() {
    // F21
    for wire in [Wire::OpenAi, Wire::Responses] {
        let server = ModelServer::start(|_| Turn::text("I will").filtered()).await;
        let answer = with(&server, wire).ask(ask()).await.expect("an answer");
        assert_eq!((heading(&answer).0.as_str(), answer.stop), ("I will", StopReason::Refusal), "{wire:?}");
    }
    // Gemini can refuse a prompt before it answers, and says why.
    let server = ModelServer::start(|_| Turn::text("I will").filtered()).await;
    let answer = with(&server, Wire::Gemini).ask(ask()).await.expect("an answer");
    assert_eq!(answer.stop, StopReason::Refusal);
    assert!(heading(&answer).0.contains("PROHIBITED_CONTENT"), "{answer:?}");
}

#[tokio::test]
async fn an_answer_that_the_provider_ends_with_an_error_has_its_kind_and_can_be_asked_for_again() {
    // F15
    for wire in WIRES {
        let server = ModelServer::start(|request| match request.attempt {
            1 => Turn::text("Let me").fault(Fault::Failed),
            _ => Turn::text("It is done."),
        })
        .await;
        let conversation = with(&server, wire);
        let error = conversation.ask(ask()).await.expect_err("it failed");
        assert_eq!((error.kind, error.partial.as_deref()), (Kind::Overloaded, Some("Let me")), "{wire:?}: {error}");
        assert_eq!(heading(&conversation.ask(ask()).await.expect("an answer")).0, "It is done.", "{wire:?}");
    }
}

#[tokio::test]
async fn tokens_from_the_cache_and_tokens_that_were_thought_are_counted_as_each_wire_says_them() {
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("good").used(40, 9).cached(100).reasoned(7)).await;
        let answer = with(&server, wire).ask(ask()).await.expect("an answer");
        // Ollama says neither.
        let (input, cache_read) = if wire == Wire::Ollama { (40, 0) } else { (40, 100) };
        let reasoning = if wire == Wire::Ollama { 0 } else { 7 };
        let expected = Tokens { input, cache_read, output: 9, reasoning, ..Tokens::default() };
        assert_eq!(answer.tokens, Some(expected), "{wire:?}");
    }
}
