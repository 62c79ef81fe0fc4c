//! What a model takes as the table or the user says, and further fields that the user puts into requests.

use agent::Json;
use agent::message::{Message, Origin};
use agent::model::CallErrorKind as Kind;
use majordomo_testkit::model_server::{ModelServer, Turn};
use provider::{Ability, Ask, Conversation, Effort, ModelEntry, ModelSettings, ModelTable, Options, ProviderConfig};
use provider::{Providers, Wire};
use serde_json::{Value, json};

use super::stage::{WIRES, ask, config, tool};

/// Providers with what the user has set for `test/a-model`.
fn knowing(config: ProviderConfig, own: ModelEntry) -> Providers {
    let table = ModelTable::builtin().with([("test/a-model".to_owned(), own)].into());
    Providers::new(vec![config], table, Options::default()).expect("a good configuration")
}

fn taking(takes: &[Ability]) -> ModelEntry {
    ModelEntry { takes: Some(takes.to_vec()), ..ModelEntry::default() }
}

fn open(providers: &Providers, model: &str) -> Conversation {
    let mut conversation = providers.open(model).expect("a model");
    conversation.begin("be brief", "", &[tool()]);
    conversation.push(&Message::user("go", Origin::Brief));
    conversation
}

fn with_schema() -> Ask {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    Ask { output_schema: Some(Json::of(&schema)), ..ask() }
}

#[tokio::test]
async fn what_the_table_says_a_model_does_not_take_is_not_sent() {
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("```json\n{\"a\": \"b\"}\n```")).await;
        let providers = knowing(config(wire, server.url(wire)), taking(&[]));
        assert!(providers.takes_no_tools("test/a-model") && !providers.takes_no_tools("test/another"));
        open(&providers, "test/a-model").with_effort(Effort::High).ask(with_schema()).await.expect("an answer");
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
        let body = server.requests().remove(0).body;
        assert_eq!(body.get("tools"), None, "{wire:?}: no tools");
        let text = body.to_string();
        assert!(text.contains("It must fit this JSON Schema"), "{wire:?}: the schema is in the prompt");
        for field in ["json_schema", "responseJsonSchema", "effort", "thinkingConfig", "summary", "\"think\""] {
            assert!(!text.contains(field), "{wire:?}: {field} in {text}");
        }
    }
}

#[tokio::test]
async fn the_built_in_table_is_asked_for_models_of_other_names_on_the_same_wire() {
    let server = ModelServer::start(|_| Turn::text("good")).await;
    // Takes neither tools nor an effort.
    let config = config(Wire::OpenAi, server.url(Wire::OpenAi));
    let providers = Providers::new(vec![config], ModelTable::builtin(), Options::default()).expect("good");
    let model = "test/gpt-4o-search-preview";
    assert!(providers.takes_no_tools(model));
    open(&providers, model).with_effort(Effort::High).ask(ask()).await.expect("an answer");
    let body = server.requests().remove(0).body;
    assert_eq!((body.get("tools"), body.get("reasoning_effort")), (None, None));
}

#[tokio::test]
async fn a_setting_of_the_user_wins_over_the_table_and_what_the_user_says_of_a_model_over_its_provider() {
    let server = ModelServer::start(|_| Turn::text("good")).await;
    let settings = ModelSettings { temperature: Some(0.5), effort: Some(Effort::Low), ..ModelSettings::default() };
    let config = || ProviderConfig { settings: settings.clone(), ..config(Wire::OpenAi, server.url(Wire::OpenAi)) };
    let sent = async |providers: &Providers, model: &str| {
        open(providers, model).with_effort(Effort::High).ask(ask()).await.expect("an answer");
        let body = server.requests().pop().expect("a request").body;
        (body["temperature"].clone(), body["reasoning_effort"].clone())
    };
    // The table says that these models take no temperature, and the second no effort.
    let providers = knowing(config(), ModelEntry::default());
    assert_eq!(sent(&providers, "test/gpt-5").await, (json!(0.5), json!("high")), "set for the provider");
    assert_eq!(sent(&providers, "test/gpt-4o").await, (json!(0.5), json!("high")), "set for the provider");
    // The user says so of one model, and has set something for it, or not.
    let providers = knowing(config(), taking(&[Ability::Tools]));
    assert_eq!(sent(&providers, "test/a-model").await, (Value::Null, Value::Null), "not for this model");
    let own = ModelEntry { temperature: Some(0.1), effort: Some(Effort::Medium), ..taking(&[Ability::Tools]) };
    let providers = knowing(config(), own);
    assert_eq!(sent(&providers, "test/a-model").await, (json!(0.1), json!("high")), "set for this model");
}

#[tokio::test]
async fn a_temperature_that_a_model_no_longer_takes_is_left_out_once_it_was_refused() {
    let server = ModelServer::start(|_| Turn::text("good")).await;
    let settings = ModelSettings { temperature: Some(0.5), ..ModelSettings::default() };
    let config = ProviderConfig { settings, ..config(Wire::Anthropic, server.url(Wire::Anthropic)) };
    let providers = super::stage::providers(config);
    let conversation = open(&providers, "test/claude-sonnet-5-5");
    let error = conversation.ask(ask()).await.expect_err("refused");
    assert_eq!(error.kind, Kind::Unsupported, "{error}");
    conversation.ask(ask()).await.expect("without it");
    assert_eq!(server.refusals(), ["`temperature` is deprecated for this model."]);
}

#[tokio::test]
async fn a_further_field_replaces_what_the_program_writes_and_no_key_stands_twice() {
    for (wire, extra, expected) in [
        (Wire::OpenAi, json!({"temperature": 0.9, "reasoning_effort": "low"}), ["temperature", "reasoning_effort"]),
        (Wire::Responses, json!({"temperature": 0.9, "reasoning": {"effort": "low"}}), ["temperature", "reasoning"]),
        (
            Wire::Anthropic,
            json!({"temperature": 0.9, "output_config": {"effort": "low"}}),
            ["temperature", "output_config"],
        ),
        (Wire::Gemini, json!({"generationConfig": {"temperature": 0.9}}), ["generationConfig", "generationConfig"]),
        (Wire::Ollama, json!({"options": {"temperature": 0.9}, "think": "low"}), ["options", "think"]),
    ] {
        let server = ModelServer::start(|_| Turn::text("good")).await;
        let body = serde_json::from_value(extra.clone()).expect("an object");
        let (temperature, effort) = (Some(0.5), Some(Effort::High));
        let settings = ModelSettings { temperature, effort, body, ..ModelSettings::default() };
        let providers = super::stage::providers(ProviderConfig { settings, ..config(wire, server.url(wire)) });
        open(&providers, "test/a-model").ask(ask()).await.expect("an answer");
        assert_eq!(server.refusals(), [""; 0], "{wire:?}: the server refuses a key that stands twice");
        let request = server.requests().remove(0);
        for field in expected {
            let (sent, set) = (&request.body[field], &extra[field]);
            match set.as_object() {
                Some(members) => assert!(members.iter().all(|(key, value)| sent[key] == *value), "{wire:?}: {sent}"),
                None => assert_eq!(sent, set, "{wire:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_field_that_is_the_programs_own_is_refused_before_anything_is_sent() {
    let body = |extra: Value| -> ModelSettings {
        ModelSettings { body: serde_json::from_value(extra).expect("an object"), ..ModelSettings::default() }
    };
    for (wire, extra, words) in [
        (Wire::OpenAi, json!({"messages": []}), "providers.test.body.messages cannot be set"),
        (Wire::Responses, json!({"max_output_tokens": 9}), "set `max_output_tokens` of the model"),
        (Wire::Anthropic, json!({"stream": false}), "providers.test.body.stream cannot be set"),
        (Wire::Gemini, json!({"generationConfig": {"maxOutputTokens": 1}}), "body.generationConfig.maxOutputTokens"),
        (Wire::Ollama, json!({"options": {"num_ctx": 1}}), "set `context_tokens` of the model"),
    ] {
        let config = ProviderConfig { settings: body(extra.clone()), ..config(wire, "http://127.0.0.1:1".into()) };
        let error = Providers::new(vec![config.clone()], ModelTable::builtin(), Options::default());
        let error = error.expect_err("refused").to_string();
        assert!(error.contains(words), "{wire:?}: {error}");
        // The same for one model.
        let own = ModelEntry { body: body(extra).body, ..ModelEntry::default() };
        let table = ModelTable::builtin().with([("test/a*".to_owned(), own)].into());
        let config = ProviderConfig { settings: ModelSettings::default(), ..config };
        let error = Providers::new(vec![config], table, Options::default()).expect_err("refused").to_string();
        assert!(error.contains("models.\"test/a*\".body."), "{wire:?}: {error}");
    }
}
