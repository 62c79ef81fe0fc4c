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
        content: Vec<FilePart<'a>>,
    },
    Assistant {
        /// Null beside calls when there are no words. Stands first: `map` finds it there.
        content: Content<'a>,
        #[serde(flatten)]
        members: Members<'a>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        tool_calls: &'a [Call<'a>],
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: &'a str,
    },
}

/// A piece of a message that is more than text.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum FilePart<'a> {
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

impl<'a> FilePart<'a> {
    /// An image or a document, whose bytes are in the address.
    pub(super) fn of(attachment: &'a Attachment, url: String) -> Self {
        match attachment.media.is_image() {
            true => Self::ImageUrl { image_url: Address { url } },
            false => Self::File { file: File { filename: &attachment.name, file_data: url } },
        }
    }
}

/// The words of an answer, as they are sent back.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Words(Option<Cow<'a, str>>),
    /// Words behind the thoughts that stood before them in the same list.
    List(Vec<ListPart<'a>>),
}

/// A part of a list of words and thoughts.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ListPart<'a> {
    Thinking {
        #[serde(rename = "type")]
        kind: &'static str,
        thinking: [ThinkingPart; 1],
    },
    Text {
        #[serde(rename = "type")]
        kind: &'static str,
        text: &'a str,
    },
}

/// Thoughts in a list.
#[derive(Serialize)]
pub(super) struct ThinkingPart {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) text: String,
}

/// What a server gave beside the words of an answer, as it is kept.
#[derive(Clone, Copy, Default, Deserialize, Serialize)]
pub(super) struct Kept<'a> {
    /// Thoughts in a field of their own, as text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<&'a RawValue>,
    /// Thoughts at the beginning of the words, with their tags and the blank lines behind them.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) think: Option<&'a RawValue>,
    /// Thoughts in a list with the words.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<&'a RawValue>,
    /// Thoughts with signatures, which exist to be sent back.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) thinking_blocks: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) extra_content: Option<&'a RawValue>,
}

/// What a server gave beside the call that comes next, as it is kept.
#[derive(Deserialize, Serialize)]
pub(super) struct KeptOfCall<'a> {
    #[serde(borrow)]
    pub(super) call_extra_content: &'a RawValue,
}

/// What stands beside the words of an answer when it is sent back.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Members<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_blocks: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra_content: Option<&'a RawValue>,
}

/// A tool call of the model, as it is sent back.
#[derive(Serialize)]
pub(super) struct Call<'a> {
    pub(super) id: Cow<'a, str>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: Called<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra_content: Option<&'a RawValue>,
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
    /// A server that does not stream sends the whole message.
    #[serde(borrow, default, alias = "message")]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
    /// Some gateways put the bill here.
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// What is added.
#[derive(Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<ContentDelta<'a>>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
    // Each of these is known by one server or another; what is in it is looked at only if it is what it should be.
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) thinking_blocks: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) extra_content: Option<&'a RawValue>,
}

/// Words, or a list of words and thoughts.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum ContentDelta<'a> {
    Words(#[serde(borrow)] Text<'a>),
    List(Vec<Value>),
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
    #[serde(borrow, default)]
    pub(super) extra_content: Option<&'a RawValue>,
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
            matches!(delta.content, Some(ContentDelta::Words(Text(Cow::Borrowed(_)))))
        };
        assert!(is_borrowed(r#"{"content":"plain"}"#));
        assert!(!is_borrowed(r#"{"content":"a\nb"}"#), "what is escaped must be copied");
    }
}
