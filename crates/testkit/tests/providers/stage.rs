//! What the tests need of a conversation: one provider, one model, one tool.

use std::time::Duration;

use agent::message::{Message, Origin, Part, Role};
use agent::model::{Answer, Patience};
use agent::tools::{Reach, Risk, ToolInfo};
use agent::{CallId, Json};
use majordomo_testkit::model_server::{KEY, ModelServer};
use provider::{
    Ask, Conversation, ModelSettings, ModelTable, Options, ProviderConfig, Providers, Secret, Timeouts, Wire,
};
use tokio_util::sync::CancellationToken;

pub const WIRES: [Wire; 5] = Wire::ALL;

/// A provider at `url`.
pub fn config(wire: Wire, url: String) -> ProviderConfig {
    ProviderConfig {
        name: "test".into(),
        wire,
        base_url: url,
        key: Some(Secret::new(KEY)),
        needs_key: true,
        key_env: Some("TEST_API_KEY".into()),
        headers: Vec::new(),
        organization: None,
        project: None,
        timeouts: Timeouts::default(),
        patience: Patience::default(),
        concurrency: None,
        settings: ModelSettings::default(),
        proxy: None,
        ca_file: None,
        bearer: false,
    }
}

/// How long tests that wait for silence wait for it. Everything else waits for events.
pub const SHORT: Duration = Duration::from_millis(200);

pub fn providers(config: ProviderConfig) -> Providers {
    Providers::new(vec![config], ModelTable::builtin(), Options::default()).expect("a good configuration")
}

/// A conversation that has begun with a brief.
pub fn conversation(config: ProviderConfig) -> Conversation {
    open(&providers(config), "the brief")
}

pub fn open(providers: &Providers, brief: &str) -> Conversation {
    let mut conversation = providers.open("test/a-model").expect("a model");
    conversation.begin("be brief", "", &[tool()]);
    conversation.push(&Message::user(brief, Origin::Brief));
    conversation
}

pub fn with(server: &ModelServer, wire: Wire) -> Conversation {
    conversation(config(wire, server.url(wire)))
}

pub fn ask() -> Ask {
    Ask {
        max_tokens: 256,
        window_tokens: Some(8_192),
        may_wait: false,
        calls_allowed: true,
        output_schema: None,
        cancel: CancellationToken::new(),
        deltas: None,
        label: "test".into(),
    }
}

pub fn tool() -> ToolInfo {
    ToolInfo {
        name: "read_file".into(),
        description: "Reads a file.".into(),
        schema: Json::parse(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#).expect("JSON"),
        reach: Reach::ReadOnly,
        idempotent: true,
        risk: Risk::Low,
    }
}

pub fn call(id: &str) -> Part {
    Part::ToolCall { id: CallId::new(id), name: "read_file".into(), input: Json::object() }
}

pub fn result(id: &str) -> Part {
    Part::ToolResult { id: CallId::new(id), content: "its content".into(), is_error: false }
}

pub fn said(role: Role, parts: Vec<Part>) -> Message {
    Message { role, parts }
}

/// The text and the ids of the calls.
pub fn heading(answer: &Answer) -> (String, Vec<String>) {
    let mut heading = (String::new(), Vec::new());
    for part in &answer.parts {
        match part {
            Part::Text { text, .. } => heading.0.push_str(text),
            Part::ToolCall { id, .. } => heading.1.push(id.to_string()),
            Part::ToolResult { .. } | Part::Attached(_) | Part::Opaque { .. } => {}
        }
    }
    heading
}
