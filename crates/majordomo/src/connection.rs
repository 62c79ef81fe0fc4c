//! Tries whether a model answers: one short request, over the same way that a run takes.
//!
//! A list of models would cost nothing, but not every server has one, and it says nothing of the model itself.

use std::time::{Duration, Instant};

use agent::message::{Message, Origin, Part, Role};
use agent::model::Tokens;
use provider::{Ask, ModelTable, Providers};
use tokio_util::sync::CancellationToken;

use crate::config::Config;

/// The longest answer that is asked for. Some providers take no less.
const MAX_TOKENS: u64 = 16;
/// What is said. The answer does not matter.
const WORDS: &str = "Answer with the word: ok";

/// A model that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// How long it took.
    pub took: Duration,
    /// What it used, as the provider says; none where it does not.
    pub tokens: Option<Tokens>,
}

/// Sends a model one short request. The failure is a sentence that says what is wrong and what to do.
pub async fn try_model(config: &Config, model: &str, within: Duration) -> Result<Answered, String> {
    let begun = Instant::now();
    let models = ModelTable::builtin().with(config.models.clone());
    let providers = Providers::new(config.providers.clone(), models, provider::Options::default());
    let opened = providers.and_then(|providers| providers.open(model));
    let mut conversation = opened.map_err(|error| error.to_string())?;
    conversation.begin("", &[]);
    let text = Part::Text { text: WORDS.into(), origin: Origin::Person };
    conversation.push(&Message { role: Role::User, parts: vec![text] });
    let ask = Ask {
        max_tokens: MAX_TOKENS,
        calls_allowed: false,
        output_schema: None,
        cancel: CancellationToken::new(),
        deltas: None,
        label: "doctor".into(),
    };
    match tokio::time::timeout(within, conversation.ask(ask)).await {
        Ok(Ok(answer)) => Ok(Answered { took: begun.elapsed(), tokens: answer.tokens }),
        Ok(Err(error)) => Err(error.message.to_string()),
        Err(_) => Err(format!(
            "no answer within {} s: is the address right, and is there a proxy in between",
            within.as_secs()
        )),
    }
}
