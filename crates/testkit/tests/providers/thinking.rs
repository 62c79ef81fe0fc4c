//! What models think: they are asked to show it, it is no answer, and no request fails because a server does not show it.

use std::sync::{Arc, Mutex};

use agent::message::{Message, Origin, Part, Role};
use agent::model::{Answer, CallErrorKind as Kind};
use majordomo_testkit::model_server::{Fault, ModelServer, Turn};
use provider::{Ask, Conversation, Delta, DeltaSink, Effort, ModelSettings, ProviderConfig, Providers, Wire};
use serde_json::{Value, json};

use super::stage::{ask, config, heading, providers, result, said, tool};

/// The wires on which a model is asked to show what it thinks, with a model that thinks.
const THINKERS: [(Wire, &str); 3] =
    [(Wire::Anthropic, "claude-sonnet-5-5"), (Wire::Responses, "gpt-6.1-sol"), (Wire::Gemini, "gemini-3.8-flash")];

fn begin(providers: &Providers, model: &str) -> Conversation {
    let mut conversation = providers.open(&format!("test/{model}")).expect("a model");
    conversation.begin("be brief", "", &[tool()]);
    conversation.push(&Message::user("go", Origin::Brief));
    conversation
}

/// What was thought in passing.
fn listening() -> (Arc<Mutex<String>>, Ask) {
    let thoughts: Arc<Mutex<String>> = Arc::default();
    let heard = Arc::clone(&thoughts);
    let sink = DeltaSink::with_thoughts(move |delta| {
        if let Delta::Thought(thought) = delta {
            heard.lock().expect("no other panics").push_str(thought);
        }
    });
    (thoughts, Ask { deltas: Some(sink), ..ask() })
}

/// The field by which a request asks for thoughts.
fn asked_for(wire: Wire, body: &Value) -> Value {
    match wire {
        Wire::Anthropic => body["thinking"].clone(),
        Wire::Responses => body["reasoning"].clone(),
        Wire::Gemini => body["generationConfig"]["thinkingConfig"].clone(),
        Wire::OpenAi | Wire::Ollama => Value::Null,
    }
}

fn opaque(answer: &Answer) -> Vec<Value> {
    let blocks =
        answer.parts.iter().filter_map(|part| if let Part::Opaque { raw, .. } = part { Some(raw) } else { None });
    blocks.map(agent::Json::value).collect()
}

#[tokio::test]
async fn models_that_think_are_asked_to_show_it_and_get_it_back_as_they_want_it() {
    for (wire, model) in THINKERS {
        let server = ModelServer::start(|request| match request.assistant_messages {
            0 => Turn::text("I look.").call("c1", "read_file", "{}").thinks("Two files — 二つ."),
            _ => Turn::text("Done.").thinks("That was all."),
        })
        .await;
        let providers = providers(config(wire, server.url(wire)));
        let mut conversation = begin(&providers, model);
        let (thoughts, ask) = listening();
        let answer = conversation.ask(ask.clone()).await.expect("an answer");
        assert_eq!(*thoughts.lock().expect("no other panics"), "Two files — 二つ.", "{wire:?}: as it comes");
        assert_eq!(heading(&answer).0, "I look.", "{wire:?}: thoughts are no answer");
        let kept = opaque(&answer).iter().map(Value::to_string).collect::<String>();
        assert!(kept.contains("Two files — 二つ."), "{wire:?}: kept to be shown later: {kept}");
        conversation.push(&said(Role::Assistant, answer.parts));
        conversation.push(&said(Role::User, vec![result("c1")]));
        let answer = conversation.ask(ask).await.expect("the server got back what it gave");
        assert_eq!(heading(&answer).0, "Done.", "{wire:?}");
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
        let expected = match wire {
            Wire::Anthropic => json!({"type": "adaptive", "display": "summarized"}),
            Wire::Responses => json!({"summary": "auto"}),
            _ => json!({"includeThoughts": true}),
        };
        assert_eq!(asked_for(wire, &server.requests()[0].body), expected, "{wire:?}");
        let sent = String::from_utf8_lossy(&server.requests()[1].raw).contains("Two files");
        assert_eq!(
            sent,
            wire != Wire::Gemini,
            "{wire:?}: Gemini does not want its thoughts back, only their signatures"
        );
    }
}

#[tokio::test]
async fn models_that_do_not_think_unasked_are_not_asked_to() {
    for (wire, model) in [
        (Wire::Anthropic, "claude-haiku-4-5"),
        (Wire::Anthropic, "claude-opus-4-8"),
        (Wire::Anthropic, "a-model"),
        (Wire::Responses, "gpt-4.1"),
        (Wire::Gemini, "gemini-2.0-flash"),
        (Wire::Gemini, "a-model"),
    ] {
        let server = ModelServer::start(|_| Turn::text("good")).await;
        begin(&providers(config(wire, server.url(wire))), model).ask(ask()).await.expect("an answer");
        assert_eq!(asked_for(wire, &server.requests()[0].body), Value::Null, "{wire:?} {model}");
        assert_eq!(server.refusals(), [""; 0], "{wire:?} {model}");
    }
}

#[tokio::test]
async fn a_temperature_that_a_model_does_not_take_while_it_thinks_is_left_out_and_it_thinks_on() {
    let words = "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode. Please consult our documentation at \
                 https://docs.claude.com/en/docs/build-with-claude/extended-thinking";
    let server = ModelServer::start(move |request| match request.body.get("temperature") {
        Some(_) => Turn::status(400, vec![], words),
        None => Turn::text("good").thinks("hm"),
    })
    .await;
    let settings = ModelSettings { thinking_tokens: Some(2_000), temperature: Some(0.5), ..ModelSettings::default() };
    let providers = providers(ProviderConfig { settings, ..config(Wire::Anthropic, server.url(Wire::Anthropic)) });
    let conversation = begin(&providers, "claude-haiku-4-5");
    let asking = || Ask { max_tokens: 4_000, ..ask() };
    let error = conversation.ask(asking()).await.expect_err("refused once");
    assert_eq!(error.kind, Kind::Unsupported, "{error}");
    conversation.ask(asking()).await.expect("an answer");
    let body = server.requests()[1].body.clone();
    let budget = json!({"type": "enabled", "budget_tokens": 2_000});
    assert_eq!((body.get("temperature"), &body["thinking"]), (None, &budget));
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_shows_what_was_thought_as_well() {
    let answers = [
        (
            Wire::Anthropic,
            json!({"type": "message", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Hi"}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}),
        ),
        (
            Wire::OpenAi,
            json!({"choices": [{"message": {"role": "assistant", "reasoning_content": "hm", "content": "Hi"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1}}),
        ),
        (
            Wire::Responses,
            json!({"status": "completed", "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "e"},
                {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
            ], "usage": {"input_tokens": 1, "output_tokens": 1}}),
        ),
        // With a signature on the thought itself.
        (
            Wire::Gemini,
            json!({"candidates": [{"content": {"parts": [{"text": "hm", "thought": true, "thoughtSignature": "s"}, {"text": "Hi"}]},
                "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1}}),
        ),
    ];
    for (wire, body) in answers {
        let headers = vec![("content-type", "application/json".to_owned())];
        let turn = Turn::default().fault(Fault::Other { headers, body: body.to_string().into_bytes() });
        let server = ModelServer::start(move |_| turn.clone()).await;
        let (thoughts, ask) = listening();
        let answer = begin(&providers(config(wire, server.url(wire))), "a-model").ask(ask).await;
        let answer = answer.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
        assert_eq!(
            (heading(&answer).0.as_str(), thoughts.lock().expect("no other panics").as_str()),
            ("Hi", "hm"),
            "{wire:?}"
        );
    }
}

/// What servers say where a model, or an account, cannot show what it thinks.
const REFUSALS: [(Wire, &str); 7] = [
    (Wire::Anthropic, "thinking.adaptive.display: Extra inputs are not permitted"),
    (Wire::Anthropic, "adaptive thinking is not supported on this model"),
    (
        Wire::Responses,
        "Your organization must be verified to generate reasoning summaries. Please go to: \
         https://platform.openai.com/settings/organization/general and click on Verify Organization.",
    ),
    (Wire::Responses, "Unsupported parameter: 'reasoning.summary' is not supported with the 'x' model."),
    (Wire::Gemini, "Thinking is not enabled for models/x"),
    (
        Wire::Gemini,
        "Unable to submit request because Thinking_config.include_thoughts is only enabled when thinking is enabled..",
    ),
    (Wire::Gemini, "Invalid JSON payload received. Unknown name \"includeThoughts\": Cannot find field."),
];

#[tokio::test]
async fn a_server_that_shows_no_thoughts_is_asked_without_and_it_is_remembered() {
    for (wire, words) in REFUSALS {
        let server = ModelServer::start(move |request| {
            let asked = asked_for(wire, &request.body);
            let asks = ["display", "summary", "includeThoughts"].iter().any(|key| asked.get(key).is_some());
            if asks { Turn::status(400, vec![], words) } else { Turn::text("good") }
        })
        .await;
        let model = THINKERS.iter().find(|(of, _)| *of == wire).expect("one of each").1;
        let settings = ModelSettings { effort: Some(Effort::High), ..ModelSettings::default() };
        let providers = providers(ProviderConfig { settings, ..config(wire, server.url(wire)) });
        let first = begin(&providers, model);
        let error = first.ask(ask()).await.expect_err("refused once");
        assert_eq!(error.kind, Kind::Unsupported, "{wire:?} {words}: {error}");
        first.ask(ask()).await.expect("without it");
        begin(&providers, model).ask(ask()).await.expect("it is remembered");
        assert_eq!(server.requests().len(), 3, "{wire:?} {words}");
        let kept = server.requests()[2].body.to_string();
        assert!(kept.contains("\"high\""), "{wire:?} {words}: the effort that was set is still sent: {kept}");
    }
}

#[tokio::test]
async fn a_budget_for_thinking_that_a_model_refuses_leaves_its_thoughts_shown() {
    let server = ModelServer::start(|_| Turn::text("good").thinks("hm")).await;
    let settings = ModelSettings { thinking_tokens: Some(2_000), ..ModelSettings::default() };
    let providers = providers(ProviderConfig { settings, ..config(Wire::Anthropic, server.url(Wire::Anthropic)) });
    let conversation = begin(&providers, "claude-sonnet-5-5");
    let asking = || Ask { max_tokens: 4_000, ..ask() };
    let error = conversation.ask(asking()).await.expect_err("the fifth generation takes no budget");
    assert_eq!(error.kind, Kind::Unsupported, "{error}");
    conversation.ask(asking()).await.expect("an answer");
    let bodies: Vec<Value> = server.requests().iter().map(|request| request.body["thinking"].clone()).collect();
    let shown = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(bodies, [json!({"type": "enabled", "budget_tokens": 2_000}), shown]);
}

#[tokio::test]
async fn thoughts_that_are_bound_to_a_conversation_are_left_out_once_it_was_shortened() {
    let server = ModelServer::start(|request| match request.assistant_messages {
        nth @ 0..2 => Turn::text("I look.").call(&format!("c{nth}"), "read_file", "{}").thinks("Two files."),
        _ => Turn::text("Done."),
    })
    .await;
    let providers = providers(config(Wire::Anthropic, server.url(Wire::Anthropic)));
    let mut conversation = begin(&providers, "claude-sonnet-5-5");
    let mut answers = Vec::new();
    for id in ["c0", "c1"] {
        let answer = conversation.ask(ask()).await.expect("a call");
        conversation.push(&said(Role::Assistant, answer.parts.clone()));
        conversation.push(&said(Role::User, vec![result(id)]));
        answers.push(answer);
    }
    // As the runtime does to make room: the same messages, but for the oldest result.
    let mut shortened = begin(&providers, "claude-sonnet-5-5");
    for (id, answer) in ["c0", "c1"].into_iter().zip(answers) {
        shortened.push(&said(Role::Assistant, answer.parts));
        let content = if id == "c0" { "(left out)" } else { "its content" };
        let result = Part::ToolResult { id: agent::CallId::new(id), content: content.into(), is_error: false };
        shortened.push(&said(Role::User, vec![result]));
    }
    let error = shortened.ask(ask()).await.expect_err("what comes before the second thought has changed");
    assert_eq!(error.kind, Kind::Unsupported, "{error}");
    assert!(error.message.contains("was shortened"), "{error}");
    shortened.ask(ask()).await.expect("without them");
    assert_eq!(server.refusals().len(), 1, "{:?}", server.refusals());
    let sent = server.requests().pop().expect("a request").body;
    let kinds = |nth: usize| -> Vec<Value> {
        let blocks = sent["messages"][nth]["content"].as_array().expect("blocks");
        blocks.iter().map(|block| block["type"].clone()).collect()
    };
    assert_eq!((kinds(1), kinds(3)), (vec![json!("text"), json!("tool_use")], vec![json!("text"), json!("tool_use")]));
}

#[tokio::test]
async fn a_conversation_that_was_shortened_takes_no_thoughts_from_another_one_nor_those_that_come_later_from_itself() {
    let server = ModelServer::start(|request| match request.assistant_messages {
        nth @ 0..4 => Turn::text("I look.").call(&format!("c{nth}"), "read_file", "{}").thinks("Two files."),
        _ => Turn::text("Done."),
    })
    .await;
    let providers = providers(config(Wire::Anthropic, server.url(Wire::Anthropic)));
    let mut conversation = begin(&providers, "claude-sonnet-5-5");
    let mut answers = Vec::new();
    for id in ["c0", "c1"] {
        let answer = conversation.ask(ask()).await.expect("a call");
        conversation.push(&said(Role::Assistant, answer.parts.clone()));
        conversation.push(&said(Role::User, vec![result(id)]));
        answers.push(answer);
    }
    let shorten = |mut shortened: Conversation| {
        for (id, answer) in ["c0", "c1"].into_iter().zip(answers.clone()) {
            shortened.push(&said(Role::Assistant, answer.parts));
            let content = if id == "c0" { "(left out)" } else { "its content" };
            let result = Part::ToolResult { id: agent::CallId::new(id), content: content.into(), is_error: false };
            shortened.push(&said(Role::User, vec![result]));
        }
        shortened
    };
    let thoughts = |nth: usize| server.requests()[nth].body.to_string().matches(r#""type":"thinking""#).count();
    let mut shortened = shorten(begin(&providers, "claude-sonnet-5-5"));
    shortened.ask(ask()).await.expect_err("what comes before the second thought has changed");
    let answer = shortened.ask(ask()).await.expect("without them");
    // The other conversation still has all of its thoughts, which its server wants back.
    conversation.ask(ask()).await.expect("nothing before its thoughts has changed");
    assert_eq!(thoughts(4), 2);
    // What is thought from now on belongs to the conversation as it is now.
    shortened.push(&said(Role::Assistant, answer.parts));
    shortened.push(&said(Role::User, vec![result("c2")]));
    shortened.ask(ask()).await.expect("the server got back what it gave");
    assert_eq!(thoughts(5), 1);
    // The same conversation, shortened again: it is not refused a second time.
    let again = shorten(begin(&providers, "claude-sonnet-5-5").following(&shortened));
    again.ask(ask()).await.expect("its thoughts were left out");
    assert_eq!((thoughts(6), server.refusals().len()), (0, 1), "{:?}", server.refusals());
}

#[tokio::test]
async fn the_least_and_the_most_effort_are_words_that_each_wire_takes() {
    for (wire, model, least, most) in [
        (Wire::OpenAi, "gpt-5", json!("minimal"), json!("high")),
        (Wire::OpenAi, "a-model", json!("low"), json!("high")),
        (Wire::Responses, "gpt-6.1-sol", json!("low"), json!("max")),
        (Wire::Responses, "gpt-5.6-sol", json!("none"), json!("xhigh")),
        (Wire::Anthropic, "claude-sonnet-5-5", json!("low"), json!("max")),
        (Wire::Anthropic, "claude-opus-4-5", json!("low"), json!("high")),
        (Wire::Gemini, "gemini-3.8-flash", json!("low"), json!("high")),
        (Wire::Gemini, "gemini-2.5-pro", json!(128), json!(32_768)),
        (Wire::Gemini, "gemini-2.5-flash", json!(0), json!(24_576)),
        (Wire::Ollama, "a-model", json!(false), json!("max")),
    ] {
        let server = ModelServer::start(|_| Turn::text("good")).await;
        let providers = providers(config(wire, server.url(wire)));
        for effort in [Effort::Minimal, Effort::Max] {
            begin(&providers, model).with_effort(effort).ask(ask()).await.expect("an answer");
        }
        assert_eq!(server.refusals(), [""; 0], "{wire:?} {model}");
        let sent = |nth: usize| {
            let body = &server.requests()[nth].body;
            let thinking = &body["generationConfig"]["thinkingConfig"];
            match wire {
                Wire::OpenAi => &body["reasoning_effort"],
                Wire::Responses => &body["reasoning"]["effort"],
                Wire::Anthropic => &body["output_config"]["effort"],
                Wire::Gemini if thinking["thinkingBudget"].is_u64() => &thinking["thinkingBudget"],
                Wire::Gemini => &thinking["thinkingLevel"],
                Wire::Ollama => &body["think"],
            }
            .clone()
        };
        assert_eq!((sent(0), sent(1)), (least, most), "{wire:?} {model}");
    }
}
