//! The shapes of Ollama's `/api/chat`: only the fields that are written or read.

use std::borrow::Cow;

use agent::Json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A message, as it is written.
#[derive(Default, Serialize)]
pub(super) struct WireMessage<'a> {
    pub(super) role: &'static str,
    pub(super) content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) images: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<Cow<'a, str>>,
}

/// A call of the model, as it is sent back.
#[derive(Serialize)]
pub(super) struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) function: Called<'a>,
}

/// Which tool is called, and with what.
#[derive(Serialize)]
pub(super) struct Called<'a> {
    pub(super) index: usize,
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: &'a Json,
}

/// What is kept of an answer beside its words: thoughts in a field of their own, or in tags before the words.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) think: Option<Cow<'a, str>>,
}

/// One line.
#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) message: Option<Said<'a>>,
    /// In every line that is no error.
    #[serde(default)]
    pub(super) done: Option<bool>,
    #[serde(borrow, default)]
    pub(super) done_reason: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) error: Option<serde_json::Value>,
}

/// What a line adds to the answer.
#[derive(Deserialize)]
pub(super) struct Said<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<AnswerCall<'a>>>,
}

/// A call in an answer. It comes whole.
#[derive(Deserialize)]
pub(super) struct AnswerCall<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) function: AnswerFunction<'a>,
}

/// Which tool is called, and with what.
#[derive(Deserialize)]
pub(super) struct AnswerFunction<'a> {
    #[serde(borrow, default)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}
