//! Tries whether a model answers, and whether it calls a tool: one short request, over the same way that a run takes. A server that refuses
//! a part of it is asked again without that part, as in a run.
//!
//! A list of models (`models.rs`) would cost nothing, but not every server has one, and it says nothing of the model itself.

use std::time::{Duration, Instant};

use agent::Json;
use agent::message::{Message, Origin, Part, Role};
use agent::model::{CallErrorKind, Tokens};
use agent::tools::{Reach, Risk, ToolInfo};
use async_recursion::async_recursion as boxed;
use provider::{Ask, ModelTable, Providers};
use tokio_util::sync::CancellationToken;

use crate::config::Config;

/// The longest answer that is asked for. Some providers take no less.
const MAX_TOKENS: u64 = 16;
/// The longest answer with a tool: a model that thinks does so first.
const MAX_TOKENS_WITH_TOOL: u64 = 1024;
/// What is said. The answer does not matter.
const WORDS: &str = "Answer with the word: ok";
/// What is said where a tool is to be called.
const WORDS_WITH_TOOL: &str = "Call the tool `note_number` with the number 7. Do nothing else.";
/// Requests after the first that may each leave out something that the server does not take.
const UNSUPPORTED_RETRIES: usize = 8;
/// The tool.
const TOOL: &str = "note_number";

/// A model that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// How long it took.
    pub took: Duration,
    /// What it used, as the provider says; none where it does not.
    pub tokens: Option<Tokens>,
    /// Whether it called the tool as it was told.
    pub called: bool,
    /// What its server did not take, and what was done about it: one sentence for each request that was made again.
    pub learnt: Vec<String>,
}

/// What a model is tried with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// A few words.
    Words,
    /// A few words and a tool that it should call.
    Tool,
}

/// Sends a model one short request, and again without what its server does not take. The failure is a sentence that says what is wrong
/// and what to do.
#[boxed]
pub async fn try_model(config: &Config, model: &str, trial: Trial, within: Duration) -> Result<Answered, String> {
    let begun = Instant::now();
    let models = ModelTable::builtin().with(config.models.clone());
    let said = |error: provider::Error| error.to_string();
    let providers = Providers::new(config.providers.clone(), models, provider::Options::default()).map_err(said)?;
    let mut conversation = providers.open(model).map_err(said)?;
    // As a run would ask, so that a local server loads the model in the way in which it is used.
    providers.learn(model).await;
    let window_tokens = providers.model(model).map_err(said)?.context_tokens;
    let (words, max_tokens, tools) = match trial {
        Trial::Words => (WORDS, MAX_TOKENS, Vec::new()),
        Trial::Tool => (WORDS_WITH_TOOL, MAX_TOKENS_WITH_TOOL, vec![tool()]),
    };
    conversation.begin("", "", &tools);
    let text = Part::Text { text: words.into(), origin: Origin::Person };
    conversation.push(&Message { role: Role::User, parts: vec![text] });
    let ask = Ask {
        max_tokens,
        window_tokens: Some(window_tokens),
        may_wait: false,
        calls_allowed: trial == Trial::Tool,
        output_schema: None,
        cancel: CancellationToken::new(),
        deltas: None,
        label: "doctor".into(),
    };
    let mut learnt = Vec::new();
    let answered = async {
        loop {
            match conversation.ask(ask.clone()).await {
                Err(error) if error.kind == CallErrorKind::Unsupported && learnt.len() < UNSUPPORTED_RETRIES => {
                    learnt.push(error.message.to_string());
                }
                answered => return answered,
            }
        }
    };
    match tokio::time::timeout(within, answered).await {
        Ok(Ok(answer)) => {
            let called = answer.parts.iter().any(is_call);
            Ok(Answered { took: begun.elapsed(), tokens: answer.tokens, called, learnt })
        }
        Ok(Err(error)) => Err(error.message.to_string()),
        Err(_) => Err(format!(
            "no answer within {} s: is the address right, and is there a proxy in between",
            within.as_secs()
        )),
    }
}

fn tool() -> ToolInfo {
    let schema = r#"{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"],"additionalProperties":false}"#;
    ToolInfo {
        name: TOOL.into(),
        description: "Notes a number".into(),
        schema: Json::parse(schema).expect("the schema is JSON"),
        risk: Risk::Low,
        reach: Reach::ReadOnly,
        idempotent: true,
    }
}

fn is_call(part: &Part) -> bool {
    match part {
        Part::ToolCall { name, input, .. } => &**name == TOOL && input.text().replace(' ', "") == r#"{"number":7}"#,
        _ => false,
    }
}
