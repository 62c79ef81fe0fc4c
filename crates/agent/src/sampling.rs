//! What a server of tools asks the model of an agent in the middle of a call (`sampling/createMessage` of the Model Context Protocol).
//!
//! The model hears the words of the server and nothing else: no tools, nothing of the conversation, no file. What it says goes back to the
//! server. Whether it is asked is decided like a call of a tool ([`tool_name`]), and it is paid by the agent whose call the server answers.
//! The rules are in `turn/sampling.rs`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::budget::Claim;
use crate::event::lost_usage;
use crate::id::CallId;
use crate::json::Json;
use crate::message::{Message, Origin, Part, Role};
use crate::model::Tokens;
use crate::report::Usage;

/// How long the words of a server may be, in bytes.
pub const LONGEST_WORDS: usize = 100_000;
/// The most messages that it may send.
const MOST_MESSAGES: usize = 64;

/// The name by which rules know the requests of a server to a model. No tool can have it: names of tools hold no `/`.
pub fn tool_name(server: &str) -> Arc<str> {
    format!("{server}__sampling/createMessage").into()
}

/// The model is asked on behalf of a server. Written before the request is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingStarted {
    /// The call that the server is answering.
    pub call: CallId,
    /// The request's number among those of the process.
    pub number: u32,
    /// The server.
    pub server: Arc<str>,
    /// What the server wants to hear, as a person was shown it.
    pub input: Json,
    /// The longest answer.
    pub max_tokens: u64,
    /// What is reserved for it.
    pub claim: Claim,
}

/// The model answered a server, or did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingEnded {
    /// The call that the server is answering.
    pub call: CallId,
    /// The request's number.
    pub number: u32,
    /// The server.
    pub server: Arc<str>,
    /// What the model said; empty where it said nothing.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub text: Arc<str>,
    /// Whether the answer was cut off at its limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Why there is no answer; none where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Arc<str>>,
    /// What is booked for it.
    #[serde(default)]
    pub booked: Claim,
    /// The figures of the provider, where it said any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

impl SamplingEnded {
    /// What it used.
    pub fn usage(&self) -> Usage {
        let used = lost_usage(&self.booked, self.tokens.as_ref());
        Usage { model_calls: u32::from(self.error.is_none()), ..used }
    }
}

/// An answer as it goes back to the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sampled {
    /// What the model said.
    pub text: Arc<str>,
    /// The model, as `provider/model`.
    pub model: Arc<str>,
    /// Whether the answer was cut off at its limit.
    pub is_cut: bool,
}

/// What a server wants to hear from a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingRequest {
    /// What is said before everything else.
    pub system: Arc<str>,
    /// The messages, both sides in turn, a user's first and last.
    pub messages: Vec<Message>,
    /// The longest answer that the server wants.
    pub max_tokens: u64,
}

impl SamplingRequest {
    /// Reads `{"system", "messages": [{"role", "text"}], "max_tokens"}`; or says what is wrong with it.
    pub fn read(input: &Json) -> Result<Self, &'static str> {
        if input.text().len() > LONGEST_WORDS {
            return Err("the words for the model are too long");
        }
        let input = input.value();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let system = match input.get("system") {
            None => String::new(),
            Some(system) => text(system).ok_or("system is no text")?,
        };
        let said = input.get("messages").and_then(Value::as_array).ok_or("there are no messages")?;
        if said.len() > MOST_MESSAGES {
            return Err("there are too many messages");
        }
        let mut turns: Vec<(Role, String)> = Vec::new();
        for message in said {
            let role = match message.get("role").and_then(Value::as_str) {
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                _ => return Err("a message is neither the user's nor the assistant's"),
            };
            let words = message.get("text").and_then(text).filter(|words| !words.trim().is_empty());
            let words = words.ok_or("a message has no text")?;
            match turns.last_mut() {
                Some((same, before)) if *same == role => {
                    before.push_str("\n\n");
                    before.push_str(&words);
                }
                _ => turns.push((role, words)),
            }
        }
        let is_users = |turn: Option<&(Role, String)>| turn.is_some_and(|(role, _)| *role == Role::User);
        if !is_users(turns.first()) || !is_users(turns.last()) {
            return Err("the first and the last message must be the user's");
        }
        let max_tokens = input.get("max_tokens").and_then(Value::as_u64).filter(|most| *most > 0);
        let max_tokens = max_tokens.ok_or("max_tokens is no number of tokens")?;
        let message = |(role, words): (Role, String)| {
            let origin = if role == Role::User { Origin::Program } else { Origin::Model };
            Message { role, parts: vec![Part::Text { text: words.into(), origin }] }
        };
        Ok(Self { system: system.into(), messages: turns.into_iter().map(message).collect(), max_tokens })
    }

    /// Bytes that the model reads.
    pub fn bytes(&self) -> usize {
        self.system.len() + self.messages.iter().map(Message::bytes).sum::<usize>()
    }

    /// The newest words of the server.
    pub fn newest(&self) -> String {
        self.messages.last().map(Message::text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &str) -> Result<SamplingRequest, &'static str> {
        SamplingRequest::read(&Json::parse(input).expect("it is JSON"))
    }

    #[test]
    fn words_of_one_side_in_a_row_are_one_message() {
        let two = r#"{"role": "user", "text": "a"}, {"role": "user", "text": "b"}"#;
        let request = read(&format!(r#"{{"system": "s", "messages": [{two}], "max_tokens": 5}}"#)).unwrap();
        assert_eq!((request.messages.len(), request.newest().as_str(), request.max_tokens), (1, "a\n\nb", 5));
        assert_eq!(&*request.system, "s");
    }

    // T54
    #[test]
    fn what_no_model_could_be_sent_is_refused_with_the_reason() {
        for wrong in [
            r#"{"messages": [], "max_tokens": 5}"#,
            r#"{"messages": [{"role": "user", "text": "a"}]}"#,
            r#"{"messages": [{"role": "user", "text": "a"}], "max_tokens": 0}"#,
            r#"{"messages": [{"role": "system", "text": "a"}], "max_tokens": 5}"#,
            r#"{"messages": [{"role": "user", "text": " "}], "max_tokens": 5}"#,
            r#"{"messages": [{"role": "user", "text": "a"}, {"role": "assistant", "text": "b"}], "max_tokens": 5}"#,
            r#"{"messages": [{"role": "user", "text": "a"}], "max_tokens": 5, "system": 3}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let long = "x".repeat(LONGEST_WORDS);
        assert!(read(&format!(r#"{{"messages": [{{"role": "user", "text": "{long}"}}], "max_tokens": 5}}"#)).is_err());
    }
}
