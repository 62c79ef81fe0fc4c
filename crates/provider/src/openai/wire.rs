//! The shapes of chat completions: only the fields that are written or read.

use std::borrow::Cow;
use std::ops::Deref;

use agent::Json;
use agent::message::Attachment;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A message, as it is written.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum WireMessage<'a> {
    User {
        content: &'a str,
    },
    #[serde(rename = "user")]
    UserContent {
        content: Vec<Content<'a>>,
    },
    Assistant {
        /// Null beside calls when there are no words.
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: &'a str,
    },
}

/// A piece of a message that is more than text.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Content<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: Address },
    File { file: File<'a> },
}

/// Where an image is: here, in the address itself.
#[derive(Serialize)]
pub(super) struct Address {
    url: String,
}

/// A document.
#[derive(Serialize)]
pub(super) struct File<'a> {
    filename: &'a str,
    file_data: String,
}

impl<'a> Content<'a> {
    /// An image or a document, whose bytes are in the address.
    pub(super) fn of(attachment: &'a Attachment, url: String) -> Self {
        match attachment.media.is_image() {
            true => Self::ImageUrl { image_url: Address { url } },
            false => Self::File { file: File { filename: &attachment.name, file_data: url } },
        }
    }
}

/// A tool call of the model, as it is sent back.
#[derive(Serialize)]
pub(super) struct Call<'a> {
    pub(super) id: Cow<'a, str>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: Called<'a>,
}

/// Which function, and with what.
#[derive(Serialize)]
pub(super) struct Called<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: &'a str,
}

/// A tool, as it is advertised.
#[derive(Serialize)]
pub(super) struct Tool<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: Function<'a>,
}

/// The function inside a tool.
#[derive(Serialize)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: &'a Json,
}

/// A text that may be missing: borrowed where nothing in it is escaped, which an optional [`Cow`] never is.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// One event. Any of its fields may be missing.
#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

/// One of the alternatives; only the first is asked for.
#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
    /// Some gateways put the bill here.
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// What is added.
#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
}

/// What is added to a call.
#[derive(Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionDelta<'a>>,
}

/// What is added to a call's name and arguments.
#[derive(Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<Text<'a>>,
    /// A string with a piece of JSON; from some servers the object itself.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_borrowed_from_the_stream() {
        let is_borrowed = |text: &str| {
            let delta: Delta<'_> = serde_json::from_str(text).expect("a delta");
            matches!(delta.content, Some(Text(Cow::Borrowed(_))))
        };
        assert!(is_borrowed(r#"{"content":"plain"}"#));
        assert!(!is_borrowed(r#"{"content":"a\nb"}"#), "what is escaped must be copied");
    }
}
