//! The shapes of `generateContent`: only the fields that are written or read.

use std::borrow::Cow;

use agent::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A part, as it is written.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WirePart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_call: Option<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_response: Option<CallResult<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inline_data: Option<Blob<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<String>,
}

/// The bytes of an image or a document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    pub(super) mime_type: &'static str,
    pub(super) data: &'a str,
}

/// A call of the model, as it is sent back.
#[derive(Serialize)]
pub(super) struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Cow<'a, str>,
    pub(super) args: &'a Json,
}

/// The result of a call.
#[derive(Serialize)]
pub(super) struct CallResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Cow<'a, str>,
    pub(super) response: Output<'a>,
}

/// What came of a call.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Output<'a> {
    Output(&'a str),
    Error(&'a str),
}

/// A tool, as it is advertised.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Declaration<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters_json_schema: &'a Json,
}

/// A signature that belongs to the part behind it.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Signature {
    pub(super) thought_signature: String,
}

/// What the model thought, which is kept to be shown and is not sent back.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Thought {
    pub(super) thought: bool,
    pub(super) text: String,
}

/// One event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default)]
    pub(super) prompt_feedback: Option<Feedback>,
    #[serde(borrow, default)]
    pub(super) usage_metadata: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

/// One of the alternatives; only the first is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<Content<'a>>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
    #[serde(default)]
    pub(super) finish_message: Option<String>,
    #[serde(default)]
    pub(super) index: Option<u64>,
}

/// What a candidate adds.
#[derive(Deserialize)]
pub(super) struct Content<'a> {
    #[serde(borrow, default)]
    pub(super) parts: Option<Vec<&'a RawValue>>,
}

/// A part of an answer, as far as it is understood.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AnswerPart<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) thought: bool,
    #[serde(default)]
    pub(super) thought_signature: Option<String>,
    #[serde(borrow, default)]
    pub(super) function_call: Option<AnswerCall<'a>>,
}

/// A call in an answer.
#[derive(Deserialize)]
pub(super) struct AnswerCall<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) args: Option<&'a RawValue>,
}

/// Why a request was not answered.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Feedback {
    #[serde(default)]
    pub(super) block_reason: Option<String>,
    #[serde(default)]
    pub(super) block_reason_message: Option<String>,
}
