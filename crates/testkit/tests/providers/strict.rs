//! The server itself: what a provider refuses, it refuses.

use agent::message::{Message, Origin, Part, Role};
use agent::model::CallErrorKind as Kind;
use majordomo_testkit::model_server::{Back, KEY, ModelServer, Turn};
use provider::{Ask, Conversation, ProviderConfig, Wire};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

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

/// A model of each of the four wires that thinks, and the path at which it is asked.
const THINKERS: [(Wire, &str, &str); 4] = [
    (Wire::OpenAi, "deepseek-v4", "/v1/chat/completions"),
    (Wire::Anthropic, "claude-sonnet-5-5", "/v1/messages"),
    (Wire::Responses, "gpt-6.1-sol", "/v1/responses"),
    (Wire::Gemini, "gemini-3.8-flash", "/v1beta/models/gemini-3.8-flash:streamGenerateContent"),
];

/// A server that thought before it called a tool, and the second request of the conversation, which it took.
async fn thoughtful(wire: Wire, model: &str) -> (ModelServer, Value) {
    let server = ModelServer::start(move |request| match (request.assistant_messages, wire) {
        (0, Wire::OpenAi) => {
            let blocks = json!([{"type": "thinking", "thinking": "Two files.", "signature": "c2ln"}]);
            Turn::text("I look.").call("c1", "read_file", "{}").beside("thinking_blocks", blocks, Back::Wanted)
        }
        (0, _) => Turn::text("I look.").call("c1", "read_file", "{}").thinks("Two files."),
        _ => Turn::text("Done."),
    })
    .await;
    let providers = providers(config(wire, server.url(wire)));
    let mut conversation = providers.open(&format!("test/{model}")).expect("a model");
    conversation.begin("be brief", "", &[tool()]);
    conversation.push(&Message::user("go", Origin::Person));
    let answer = conversation.ask(ask()).await.expect("a call");
    conversation.push(&assistant(answer.parts));
    conversation.push(&user(vec![result("c1")]));
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let asking = Ask { output_schema: Some(agent::Json::of(&schema)), ..ask() };
    conversation.ask(asking).await.expect("an answer");
    assert_eq!(server.refusals(), [""; 0], "{wire:?}");
    let good = server.requests()[1].body.clone();
    (server, good)
}

/// What the server says to a body.
async fn told(server: &ModelServer, wire: Wire, path: &str, body: &impl ToString) -> String {
    let key = match wire {
        Wire::Anthropic => format!("x-api-key: {KEY}\r\nanthropic-version: 2023-06-01"),
        Wire::Gemini => format!("x-goog-api-key: {KEY}"),
        Wire::OpenAi | Wire::Responses | Wire::Ollama => format!("Authorization: Bearer {KEY}"),
    };
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    let address = server.host().trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("the server is there");
    stream.write_all(request.as_bytes()).await.expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

/// The part of a request that holds what the model thought before its call: the value that must come back.
fn thought(wire: Wire, body: &mut Value) -> &mut Value {
    let with = |list: &mut Value, is: fn(&Value) -> bool| -> usize {
        list.as_array().expect("a list").iter().position(is).expect("it is there")
    };
    match wire {
        Wire::OpenAi => &mut body["messages"][2]["thinking_blocks"][0]["signature"],
        Wire::Anthropic => &mut body["messages"][1]["content"][0]["signature"],
        Wire::Responses => {
            let nth = with(&mut body["input"], |item| item["type"] == "reasoning");
            &mut body["input"][nth]["encrypted_content"]
        }
        Wire::Gemini | Wire::Ollama => {
            let nth = with(&mut body["contents"][1]["parts"], |part| part.get("functionCall").is_some());
            &mut body["contents"][1]["parts"][nth]["thoughtSignature"]
        }
    }
}

/// The same request without what the model thought.
fn without_thought(wire: Wire, body: &mut Value) {
    let remove = |list: &mut Value, kind: &str| {
        list.as_array_mut().expect("a list").retain(|item| item["type"] != kind);
    };
    match wire {
        Wire::OpenAi => drop(body["messages"][2].as_object_mut().expect("a message").remove("thinking_blocks")),
        Wire::Anthropic => remove(&mut body["messages"][1]["content"], "thinking"),
        Wire::Responses => remove(&mut body["input"], "reasoning"),
        Wire::Gemini | Wire::Ollama => {
            for part in body["contents"][1]["parts"].as_array_mut().expect("parts") {
                part.as_object_mut().expect("a part").remove("thoughtSignature");
            }
        }
    }
}

#[tokio::test]
async fn reasoning_that_is_lost_or_changed_and_a_field_that_is_not_known_or_stands_twice_are_refused_on_every_wire() {
    for (wire, model, path) in THINKERS {
        let (server, good) = thoughtful(wire, model).await;
        assert!(told(&server, wire, path, &good).await.contains("200 OK"), "{wire:?}: as it was");
        let mut changed = good.clone();
        let signature = thought(wire, &mut changed);
        *signature = json!(format!("{}x", signature.as_str().expect("a signature")));
        let mut lost = good.clone();
        without_thought(wire, &mut lost);
        let mut unknown = good.clone();
        unknown["nonsense"] = json!(1);
        let of_thoughts = match wire {
            Wire::OpenAi => ["is not what was given", "must be passed back"],
            Wire::Anthropic => ["Invalid `signature`", "Expected `thinking`"],
            Wire::Responses => ["with a changed one", "without its 'reasoning' item"],
            Wire::Gemini | Wire::Ollama => ["missing a thought_signature"; 2],
        };
        for (what, body, words) in [
            ("changed", changed, of_thoughts[0]),
            ("lost", lost, of_thoughts[1]),
            ("unknown", unknown, "nonsense: Extra inputs are not permitted"),
        ] {
            let answer = told(&server, wire, path, &body).await;
            assert!(answer.contains("400 Bad Request") && answer.contains(words), "{wire:?} {what}: {answer}");
        }
        let (key, _) = good.as_object().and_then(|body| body.iter().next()).expect("a field");
        let twice = good.to_string().replacen('{', &format!(r#"{{"{key}":null,"#), 1);
        let answer = told(&server, wire, path, &twice).await;
        let words = format!("the key `{key}` stands twice in one object");
        assert!(answer.contains("400 Bad Request") && answer.contains(&words), "{wire:?}: {answer}");
        assert_eq!(server.refusals().len(), 4, "{wire:?}");
    }
}

#[tokio::test]
async fn an_open_schema_is_refused_where_the_provider_holds_a_model_strictly_to_it() {
    for (wire, model, path) in THINKERS {
        let (server, good) = thoughtful(wire, model).await;
        let mut open = good.clone();
        let schema = match wire {
            Wire::OpenAi => &mut open["response_format"]["json_schema"]["schema"],
            Wire::Anthropic => &mut open["output_config"]["format"]["schema"],
            Wire::Responses => &mut open["text"]["format"]["schema"],
            Wire::Gemini | Wire::Ollama => &mut open["generationConfig"]["responseJsonSchema"],
        };
        let is_closed = schema["additionalProperties"] == false;
        schema.as_object_mut().expect("a schema").remove("additionalProperties");
        let answer = told(&server, wire, path, &open).await;
        // Gemini's documentation asks for no such thing, and takes an open schema.
        let is_refused = answer.contains("400 Bad Request") && answer.contains("additionalProperties");
        assert_eq!((is_closed, is_refused), (wire != Wire::Gemini, wire != Wire::Gemini), "{wire:?}: {answer}");
    }
}
