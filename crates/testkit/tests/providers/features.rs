//! Every feature of a request on every wire that has it. The server takes each request only if the types that the official libraries publish
//! allow it (`model_server/types`); here the requests are made, and each must hold its feature.

use agent::message::{Attachment, Media, Message, Origin, Part, Role};
use agent::{CallId, Json};
use majordomo_testkit::model_server::{Back, ModelServer, Turn};
use provider::{
    Ability, Ask, AttachedBytes, CacheTime, Conversation, Effort, ModelEntry, ModelSettings, ModelTable, Options,
    ProviderConfig, Providers, Wire,
};
use serde_json::{Value, json};

use super::stage::{WIRES, ask, call, config, result, said, tool};

/// What a request can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feature {
    Words,
    System,
    Tools,
    /// Tools are shown, and none may be called.
    NoCalls,
    Calls,
    Results,
    /// What the model thought comes back.
    Thoughts,
    /// The model is asked to show what it thinks.
    ThoughtsShown,
    Schema,
    JsonMode,
    SchemaInPrompt,
    Image,
    Pdf,
    Effort,
    ThinkingTokens,
    Temperature,
    FurtherField,
    Kept,
    KeptForAnHour,
    Window,
}

/// No such feature on this wire.
const NONE: &str = "";

/// Where a feature stands in a request, in the order of the wires.
const PLACES: [(Feature, [&str; WIRES.len()]); 20] = [
    (
        Feature::Words,
        [
            "/messages/0/content/0/text",
            "/messages/1/content",
            "/input/0/content",
            "/contents/0/parts/0/text",
            "/messages/1/content",
        ],
    ),
    (
        Feature::System,
        [
            "/system/0/text",
            "/messages/0/content",
            "/instructions",
            "/systemInstruction/parts/0/text",
            "/messages/0/content",
        ],
    ),
    (
        Feature::Tools,
        [
            "/tools/0/input_schema",
            "/tools/0/function/parameters",
            "/tools/0/parameters",
            "/tools/0/functionDeclarations/0/parametersJsonSchema",
            "/tools/0/function/parameters",
        ],
    ),
    (
        Feature::NoCalls,
        ["/tool_choice/type", "/tool_choice", "/tool_choice", "/toolConfig/functionCallingConfig/mode", NONE],
    ),
    (
        Feature::Calls,
        [
            "/messages/1/content/1/input",
            "/messages/2/tool_calls/1/function/arguments",
            "/input/2/arguments",
            "/contents/1/parts/1/functionCall/args",
            "/messages/2/tool_calls/1/function/arguments",
        ],
    ),
    (
        Feature::Results,
        [
            "/messages/2/content/1/is_error",
            "/messages/4/content",
            "/input/4/output",
            "/contents/2/parts/1/functionResponse/response/error",
            "/messages/4/content",
        ],
    ),
    (
        Feature::Thoughts,
        [
            "/messages/1/content/0/signature",
            "/messages/2/thinking_blocks/0/signature",
            "/input/1/encrypted_content",
            "/contents/1/parts/1/thoughtSignature",
            "/messages/2/thinking",
        ],
    ),
    (
        Feature::ThoughtsShown,
        ["/thinking/display", NONE, "/reasoning/summary", "/generationConfig/thinkingConfig/includeThoughts", NONE],
    ),
    (
        Feature::Schema,
        [
            "/output_config/format/schema",
            "/response_format/json_schema/schema",
            "/text/format/schema",
            "/generationConfig/responseJsonSchema",
            "/format/properties",
        ],
    ),
    (
        Feature::JsonMode,
        [NONE, "/response_format/type", "/text/format/type", "/generationConfig/responseMimeType", "/format"],
    ),
    (
        Feature::SchemaInPrompt,
        ["/system", "/messages/0/content", "/instructions", "/systemInstruction/parts", "/messages/0/content"],
    ),
    (
        Feature::Image,
        [
            "/messages/0/content/1/source/data",
            "/messages/1/content/1/image_url/url",
            "/input/1/content/0/image_url",
            "/contents/0/parts/1/inlineData/data",
            "/messages/1/images/0",
        ],
    ),
    (
        Feature::Pdf,
        [
            "/messages/0/content/1/source/data",
            "/messages/1/content/1/file/file_data",
            "/input/1/content/0/file_data",
            "/contents/0/parts/1/inlineData/data",
            NONE,
        ],
    ),
    (
        Feature::Effort,
        [
            "/output_config/effort",
            "/reasoning_effort",
            "/reasoning/effort",
            "/generationConfig/thinkingConfig/thinkingLevel",
            "/think",
        ],
    ),
    (
        Feature::ThinkingTokens,
        ["/thinking/budget_tokens", NONE, NONE, "/generationConfig/thinkingConfig/thinkingBudget", NONE],
    ),
    (
        Feature::Temperature,
        ["/temperature", "/temperature", "/temperature", "/generationConfig/temperature", "/options/temperature"],
    ),
    (Feature::FurtherField, ["/stop_sequences/0", "/stop/0", "/top_p", "/generationConfig/topP", "/keep_alive"]),
    (Feature::Kept, ["/system/0/cache_control/type", "/messages/0/content/0/cache_control/type", NONE, NONE, NONE]),
    (
        Feature::KeptForAnHour,
        ["/system/0/cache_control/ttl", "/messages/0/content/0/cache_control/ttl", NONE, NONE, NONE],
    ),
    (Feature::Window, [NONE, NONE, NONE, NONE, "/options/num_ctx"]),
];

/// The model that is asked: one that thinks where that is what matters.
fn model(feature: Feature, wire: Wire) -> &'static str {
    match (feature, wire) {
        (Feature::Thoughts | Feature::ThoughtsShown, Wire::Anthropic) => "claude-sonnet-5-5",
        (Feature::Thoughts, Wire::OpenAi) => "deepseek-v4",
        (Feature::Thoughts | Feature::ThoughtsShown | Feature::Effort, Wire::Responses) => "gpt-6.1-sol",
        (Feature::Thoughts | Feature::ThoughtsShown | Feature::Effort, Wire::Gemini) => "gemini-3.8-flash",
        (Feature::ThinkingTokens, Wire::Gemini) => "gemini-2.5-pro",
        (Feature::Kept | Feature::KeptForAnHour, Wire::OpenAi) => "anthropic/claude-sonnet-5-5",
        _ => "a-model",
    }
}

/// What a person has set.
fn settings(feature: Feature, wire: Wire) -> ModelSettings {
    let further = match wire {
        Wire::Anthropic => ("stop_sequences", json!(["END"])),
        Wire::OpenAi => ("stop", json!(["END"])),
        Wire::Responses => ("top_p", json!(0.5)),
        Wire::Gemini => ("generationConfig", json!({"topP": 0.5})),
        Wire::Ollama => ("keep_alive", json!("5m")),
    };
    let further = [(further.0.to_owned(), further.1)];
    ModelSettings {
        effort: (feature == Feature::Effort).then_some(Effort::High),
        thinking_tokens: (feature == Feature::ThinkingTokens).then_some(2_000),
        temperature: (feature == Feature::Temperature).then_some(0.5),
        body: if feature == Feature::FurtherField { further.into() } else { Default::default() },
        parent_cache: (feature == Feature::KeptForAnHour).then_some(CacheTime::OneHour),
    }
}

/// A provider with these settings. Marks for the cache are sent to OpenRouter on OpenAI's wire, which the server plays behind a proxy.
fn knowing(feature: Feature, wire: Wire, server: &ModelServer) -> Providers {
    let mut config = ProviderConfig { settings: settings(feature, wire), ..config(wire, server.url(wire)) };
    if wire == Wire::OpenAi && matches!(feature, Feature::Kept | Feature::KeptForAnHour) {
        config.base_url = "http://openrouter.ai/api/v1".to_owned();
        config.proxy = Some(server.host());
    }
    let takes = (feature == Feature::SchemaInPrompt).then(|| vec![Ability::Tools]);
    let entry = ModelEntry { takes, ..ModelEntry::default() };
    let table = ModelTable::builtin().with([("test/a-model".to_owned(), entry)].into());
    let providers = Providers::new(vec![config], table, Options::default()).expect("a good configuration");
    providers.with_attached_bytes(AttachedBytes::new(|_| Some(b"the bytes of a file".to_vec())))
}

fn attachment(media: Media, name: &str) -> Part {
    Part::Attached(Attachment { digest: name.into(), media, name: name.into(), bytes: 19, tokens: 10 })
}

fn begin(feature: Feature, wire: Wire, providers: &Providers) -> Conversation {
    let mut conversation = providers.open(&format!("test/{}", model(feature, wire))).expect("a model");
    // With tools, Ollama cannot hold a model to a schema.
    let is_bare = wire == Wire::Ollama && matches!(feature, Feature::Schema | Feature::JsonMode);
    conversation.begin("be brief", "\nYou are 'a'.", if is_bare { &[] } else { std::slice::from_ref(known_tool()) });
    let mut parts = vec![Part::Text { text: "go".into(), origin: Origin::Person }];
    match feature {
        Feature::Image => parts.push(attachment(Media::Png, "house.png")),
        Feature::Pdf => parts.push(attachment(Media::Pdf, "plan.pdf")),
        _ => {}
    }
    conversation.push(&said(Role::User, parts));
    if matches!(feature, Feature::Calls | Feature::Results) {
        conversation.push(&said(Role::Assistant, vec![call("a"), call("b")]));
        let failed = Part::ToolResult { id: CallId::new("b"), content: "no such file".into(), is_error: true };
        conversation.push(&said(Role::User, vec![result("a"), failed]));
    }
    conversation
}

fn known_tool() -> &'static agent::tools::ToolInfo {
    static TOOL: std::sync::OnceLock<agent::tools::ToolInfo> = std::sync::OnceLock::new();
    TOOL.get_or_init(tool)
}

fn asking(feature: Feature) -> Ask {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let wants = matches!(feature, Feature::Schema | Feature::JsonMode | Feature::SchemaInPrompt);
    Ask {
        max_tokens: 4_000,
        calls_allowed: feature != Feature::NoCalls,
        may_wait: feature == Feature::KeptForAnHour,
        output_schema: wants.then(|| Json::of(&schema)),
        ..ask()
    }
}

/// The request that holds a feature, as the server took it.
async fn taken(feature: Feature, wire: Wire) -> Value {
    let server = ModelServer::start(move |request| {
        let holds_to_schema = request.body.to_string().contains("\"additionalProperties\":false")
            || request.body["generationConfig"]["responseJsonSchema"].is_object();
        match (feature, request.assistant_messages) {
            (Feature::JsonMode, _) if holds_to_schema => {
                Turn::status(400, vec![], "response_format / format / responseJsonSchema is not supported")
            }
            (Feature::Thoughts, 0) => {
                let turn = Turn::text("I look.").call("c1", "read_file", "{}");
                let blocks = json!([{"type": "thinking", "thinking": "Two files.", "signature": "c2ln"}]);
                match wire {
                    Wire::OpenAi => turn.beside("thinking_blocks", blocks, Back::Wanted),
                    Wire::Ollama => turn.beside("thinking", json!("Two files."), Back::Wanted),
                    Wire::Anthropic | Wire::Responses | Wire::Gemini => turn.thinks("Two files."),
                }
            }
            _ => Turn::text(r#"{"a": "b"}"#),
        }
    })
    .await;
    let providers = knowing(feature, wire, &server);
    let mut conversation = begin(feature, wire, &providers);
    let mut answer = conversation.ask(asking(feature)).await;
    if feature == Feature::JsonMode {
        answer.expect_err("no schema is taken");
        answer = conversation.ask(asking(feature)).await;
    }
    let answer = answer.unwrap_or_else(|error| panic!("{wire:?} {feature:?}: {error}"));
    if feature == Feature::Thoughts {
        conversation.push(&said(Role::Assistant, answer.parts));
        conversation.push(&said(Role::User, vec![result("c1")]));
        conversation.push(&Message::user("go on", Origin::Person));
        conversation.ask(asking(feature)).await.unwrap_or_else(|error| panic!("{wire:?} {feature:?}: {error}"));
    }
    assert_eq!(server.refusals(), [""; 0], "{wire:?} {feature:?}");
    server.requests().pop().expect("a request").body
}

#[tokio::test]
async fn every_feature_of_a_request_is_valid_against_the_published_types_on_every_wire_that_has_it() {
    for (feature, places) in PLACES {
        for (wire, place) in WIRES.into_iter().zip(places) {
            if place == NONE {
                continue;
            }
            let body = taken(feature, wire).await;
            let found = body.pointer(place).unwrap_or_else(|| panic!("{wire:?} {feature:?}: no {place} in {body:#}"));
            let expected = match feature {
                Feature::JsonMode if wire == Wire::Ollama => Some(json!("json")),
                Feature::JsonMode if wire == Wire::Gemini => Some(json!("application/json")),
                Feature::JsonMode => Some(json!("json_object")),
                Feature::KeptForAnHour => Some(json!("1h")),
                Feature::Temperature => Some(json!(0.5)),
                Feature::Window => Some(json!(8_192)),
                _ => None,
            };
            if let Some(expected) = expected {
                assert_eq!(*found, expected, "{wire:?} {feature:?}");
            }
            if feature == Feature::SchemaInPrompt {
                assert!(found.to_string().contains("It must fit this JSON Schema"), "{wire:?}: {found}");
            }
        }
    }
}
