//! The shapes of the Responses API: only the fields that are written or read.

use std::borrow::Cow;

use agent::Json;
use agent::message::Attachment;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// An item of the conversation, as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum InputItem<'a> {
    Message {
        role: &'static str,
        content: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    #[serde(rename = "message")]
    MessageContent {
        role: &'static str,
        content: [FilePart<'a>; 1],
    },
    FunctionCall {
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: &'a str,
    },
}

/// An image or a document, whose bytes are in the address.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum FilePart<'a> {
    InputImage { image_url: String, detail: &'static str },
    InputFile { filename: &'a str, file_data: String },
}

impl<'a> FilePart<'a> {
    pub(super) fn of(attachment: &'a Attachment, url: String) -> Self {
        match attachment.media.is_image() {
            true => Self::InputImage { image_url: url, detail: "auto" },
            false => Self::InputFile { filename: &attachment.name, file_data: url },
        }
    }
}

/// A tool, as it is advertised. Not strict: a strict tool must name every argument as required.
#[derive(Serialize)]
pub(super) struct Tool<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: &'a Json,
    pub(super) strict: bool,
}

/// A label of an assistant message, kept beside its text. Models want it back.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phase {
    pub(super) phase: String,
}

/// The type of an item.
#[derive(Deserialize)]
pub(super) struct Kind<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Cow<'a, str>,
}

/// One event: any of these fields, told apart by `kind`.
#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default)]
    pub(super) output_index: u64,
    #[serde(borrow, default)]
    pub(super) delta: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'a RawValue>,
}

/// An item of an answer, as far as it is understood.
#[derive(Deserialize)]
pub(super) struct OutputItem<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) call_id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) arguments: Cow<'a, str>,
    #[serde(default)]
    pub(super) content: Option<Vec<Content>>,
    #[serde(default)]
    pub(super) phase: Option<String>,
}

/// A part of a message.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Content {
    pub(super) text: Option<String>,
    pub(super) refusal: Option<String>,
}

/// A response, as far as it is understood.
#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) incomplete_details: Option<Incomplete>,
    #[serde(default)]
    pub(super) error: Option<Value>,
    #[serde(borrow, default)]
    pub(super) output: Option<Vec<&'a RawValue>>,
}

/// Why an answer is not complete.
#[derive(Deserialize)]
pub(super) struct Incomplete {
    #[serde(default)]
    pub(super) reason: Option<String>,
}
