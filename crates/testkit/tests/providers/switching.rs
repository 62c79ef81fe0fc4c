//! A conversation that goes on with another model: what the first one thought is not for the second, whose server may demand what was never
//! thought.

use agent::message::{Message, Origin, Part, Role};
use agent::model::{CallError, CallErrorKind as Kind};
use majordomo_testkit::model_server::{Back, ModelServer, Request, Turn};
use provider::{Conversation, ModelSettings, ModelTable, Options, ProviderConfig, Providers, Wire};
use serde_json::{Value, json};

use super::stage::{ask, call, config, result, said, tool};

/// The wires on which models think, each with a model that does.
const THINKERS: [(Wire, &str); 5] = [
    (Wire::Anthropic, "claude-sonnet-5-5"),
    (Wire::OpenAi, "deepseek-v4"),
    (Wire::Responses, "gpt-6.1-sol"),
    (Wire::Gemini, "gemini-3.8-flash"),
    (Wire::Ollama, "a-model"),
];

/// A server that thinks before three calls, which are named after it.
async fn thinking(owner: &'static str, wire: Wire) -> ModelServer {
    ModelServer::of(owner, move |request| {
        let turn = match request.assistant_messages {
            nth @ 0..3 => Turn::text("I look.").call(&format!("{owner}-{nth}"), "read_file", "{}"),
            _ => Turn::text("Done."),
        };
        match wire {
            Wire::OpenAi => {
                let blocks =
                    json!([{"type": "thinking", "thinking": format!("thought by {owner}"), "signature": "EqQB"}]);
                turn.beside("thinking_blocks", blocks, Back::Wanted)
            }
            Wire::Ollama => turn.beside("thinking", json!(format!("thought by {owner}")), Back::Wanted),
            _ => turn.thinks(&format!("thought by {owner}")),
        }
    })
    .await
}

fn named(name: &str, wire: Wire, server: &ModelServer) -> ProviderConfig {
    ProviderConfig { name: name.into(), ..config(wire, server.url(wire)) }
}

fn both(configs: Vec<ProviderConfig>) -> Providers {
    Providers::new(configs, ModelTable::builtin(), Options::default()).expect("a good configuration")
}

/// A conversation in which so much was said.
fn holding(providers: &Providers, model: &str, messages: &[Message]) -> Conversation {
    let mut conversation = providers.open(model).expect("a model");
    conversation.begin("be brief", "", &[tool()]);
    conversation.push(&Message::user("go", Origin::Brief));
    for message in messages {
        conversation.push(message);
    }
    conversation
}

/// Asks a model for its next call, and adds call and result to what was said.
async fn goes_on(providers: &Providers, model: &str, messages: &mut Vec<Message>) -> Result<(), CallError> {
    let answer = holding(providers, model, messages).ask(ask()).await?;
    let calls =
        answer.parts.iter().filter_map(|part| if let Part::ToolCall { id, .. } = part { Some(id) } else { None });
    let results = calls.map(|id| result(id.as_str())).collect();
    messages.extend([said(Role::Assistant, answer.parts), said(Role::User, results)]);
    Ok(())
}

fn sent(server: &ModelServer, nth: usize) -> String {
    server.requests()[nth].body.to_string()
}

#[tokio::test]
async fn what_a_model_thought_goes_back_to_it_alone() {
    for (wire, model) in THINKERS {
        let (one, two) = (thinking("one", wire).await, thinking("two", wire).await);
        let providers = both(vec![named("one", wire, &one), named("two", wire, &two)]);
        let mut messages = Vec::new();
        for name in ["one", "two", "one"] {
            goes_on(&providers, &format!("{name}/{model}"), &mut messages)
                .await
                .unwrap_or_else(|error| panic!("{wire:?} {name}: {error}"));
        }
        assert_eq!((one.refusals(), two.refusals()), (vec![], vec![]), "{wire:?}");
        // Gemini's thoughts are no part of a request, only their signatures.
        if wire != Wire::Gemini {
            assert!(!sent(&two, 0).contains("thought by one"), "{wire:?}: {}", sent(&two, 0));
            let again = sent(&one, 1);
            assert!(again.contains("thought by one") && !again.contains("thought by two"), "{wire:?}: {again}");
        }
        // Claude's thoughts are bound to the model, so that they do not go to another one of the same provider either.
        if wire == Wire::Anthropic {
            holding(&providers, "two/claude-opus-5-5", &messages).ask(ask()).await.expect("an answer");
            let last = two.requests().len() - 1;
            assert!(!sent(&two, last).contains("thought by"), "{}", sent(&two, last));
        }
    }
}

#[tokio::test]
async fn a_thought_of_which_it_is_not_written_down_who_gave_it_is_left_out_once_it_was_refused() {
    for (wire, model) in THINKERS.into_iter().filter(|(wire, _)| *wire != Wire::Ollama) {
        let (one, two) = (thinking("one", wire).await, thinking("two", wire).await);
        let providers = both(vec![named("one", wire, &one), named("two", wire, &two)]);
        let mut messages = Vec::new();
        goes_on(&providers, &format!("one/{model}"), &mut messages).await.expect("a call");
        for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
            if let Part::Opaque { from, .. } = part {
                assert_eq!(from.take().as_deref(), Some(&*format!("one/{model}")), "{wire:?}: it is written down");
            }
        }
        let name = format!("two/{model}");
        let conversation = holding(&providers, &name, &messages);
        let error = conversation.ask(ask()).await.expect_err("the other server did not give it");
        assert_eq!(error.kind, Kind::Unsupported, "{wire:?}: {error}");
        assert!(error.message.contains("earlier thoughts are left out"), "{wire:?}: {error}");
        conversation.ask(ask()).await.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
        assert_eq!(two.refusals().len(), 1, "{wire:?}: {:?}", two.refusals());
    }
}

/// A conversation with a call beside which nothing was thought.
fn thoughtless() -> Vec<Message> {
    vec![said(Role::Assistant, vec![call("c1")]), said(Role::User, vec![result("c1")])]
}

#[tokio::test]
async fn gemini_gets_a_placeholder_for_the_signature_of_a_call_that_another_model_made() {
    let server = ModelServer::start(|_| Turn::text("good")).await;
    let providers = both(vec![named("one", Wire::Gemini, &server)]);
    for model in ["one/gemini-3.8-flash", "one/gemini-2.5-pro"] {
        holding(&providers, model, &thoughtless()).ask(ask()).await.unwrap_or_else(|error| panic!("{model}: {error}"));
    }
    let signature = |nth: usize| server.requests()[nth].body["contents"][1]["parts"][0]["thoughtSignature"].clone();
    assert_eq!((signature(0), signature(1)), (json!("skip_thought_signature_validator"), Value::Null));
    assert_eq!(server.refusals(), [""; 0]);
}

/// A server that wants something beside every call, and says so in these words.
async fn demanding(words: &'static str, has_it: fn(&Value) -> bool) -> ModelServer {
    ModelServer::start(move |request: &Request| {
        let messages = request.body["messages"].as_array().expect("messages");
        let mut calls = messages.iter().filter(|message| message.get("tool_calls").is_some());
        if calls.all(has_it) { Turn::text("good") } else { Turn::status(400, vec![], words) }
    })
    .await
}

#[tokio::test]
async fn a_server_that_demands_thoughts_beside_every_call_gets_a_blank_where_another_model_made_it() {
    for (model, words) in [
        ("one/deepseek-v4", "The reasoning_content in the thinking mode must be passed back to the API."),
        ("one/a-model", "Missing `reasoning_content` field in the assistant message at message index 2."),
    ] {
        let server = demanding(words, |message| message["reasoning_content"].is_string()).await;
        let providers = both(vec![named("one", Wire::OpenAi, &server)]);
        let conversation = holding(&providers, model, &thoughtless());
        let error = conversation.ask(ask()).await.expect_err("refused once");
        assert_eq!(error.kind, Kind::Unsupported, "{model}: {error}");
        conversation.ask(ask()).await.unwrap_or_else(|error| panic!("{model}: {error}"));
        assert_eq!(server.requests()[1].body["messages"][2]["reasoning_content"], " ", "{model}");
        holding(&providers, model, &thoughtless()).ask(ask()).await.expect("it is remembered");
    }
}

#[tokio::test]
async fn geminis_server_for_openais_wire_gets_the_placeholder_once_it_has_asked_for_a_signature() {
    let words = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly";
    let server = demanding(words, |message| message["tool_calls"][0]["extra_content"].is_object()).await;
    let providers = both(vec![named("one", Wire::OpenAi, &server)]);
    let conversation = holding(&providers, "one/gemini-3.8-flash", &thoughtless());
    let error = conversation.ask(ask()).await.expect_err("refused once");
    assert_eq!(error.kind, Kind::Unsupported, "{error}");
    conversation.ask(ask()).await.expect("an answer");
    holding(&providers, "one/gemini-3.8-flash", &thoughtless()).ask(ask()).await.expect("it is remembered");
}

#[tokio::test]
async fn a_claude_that_wants_a_thought_before_every_call_is_not_asked_to_think_where_another_model_made_one() {
    let words = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is \
                 enabled, a final `assistant` message must start with a thinking block";
    let server = ModelServer::start(move |request: &Request| match request.body["thinking"]["type"] == "enabled" {
        true if request.assistant_messages > 0 => Turn::status(400, vec![], words),
        _ => Turn::text("good"),
    })
    .await;
    let settings = ModelSettings { thinking_tokens: Some(2_000), ..ModelSettings::default() };
    let providers = both(vec![ProviderConfig { settings, ..named("one", Wire::Anthropic, &server) }]);
    let asking = || provider::Ask { max_tokens: 4_000, ..ask() };
    let conversation = holding(&providers, "one/claude-haiku-4-5", &thoughtless());
    let error = conversation.ask(asking()).await.expect_err("refused once");
    assert_eq!(error.kind, Kind::Unsupported, "{error}");
    conversation.ask(asking()).await.expect("without thinking");
    holding(&providers, "one/claude-haiku-4-5", &[]).ask(asking()).await.expect("an answer");
    let thinking: Vec<Value> =
        server.requests().iter().map(|request| request.body["thinking"]["type"].clone()).collect();
    assert_eq!(thinking, [json!("enabled"), Value::Null, json!("enabled")], "other conversations think on");
}
