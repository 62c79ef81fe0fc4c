//! The shapes of Anthropic Messages: only the fields that are written or read.

use std::borrow::Cow;

use agent::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A content block, as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        title: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: &'a Json,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "str::is_empty")]
        content: &'a str,
        #[serde(skip_serializing_if = "is_false")]
        is_error: bool,
    },
}

/// The bytes of an image or a document.
#[derive(Serialize)]
pub(super) struct Source<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) media_type: &'static str,
    pub(super) data: &'a str,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A tool, as it is advertised.
#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) input_schema: &'a Json,
}

/// All that every event has.
#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
}

/// `message_start`.
#[derive(Deserialize)]
pub(super) struct MessageStart<'a> {
    #[serde(borrow)]
    pub(super) message: Usage<'a>,
}

/// Whatever carries usage.
#[derive(Deserialize)]
pub(super) struct Usage<'a> {
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// A whole answer, from a server that does not stream.
#[derive(Deserialize)]
pub(super) struct WholeMessage<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    pub(super) stop_reason: Option<String>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// `content_block_start`.
#[derive(Deserialize)]
pub(super) struct BlockStart<'a> {
    pub(super) index: u64,
    #[serde(borrow)]
    pub(super) content_block: &'a RawValue,
}

/// The block that starts, as far as it is understood.
#[derive(Deserialize)]
pub(super) struct StartedBlock<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) text: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) thinking: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
}

/// `content_block_delta`.
#[derive(Deserialize)]
pub(super) struct BlockDelta<'a> {
    pub(super) index: u64,
    #[serde(borrow)]
    pub(super) delta: Delta<'a>,
}

/// What is added to a block: one of these fields, told apart by `kind`.
#[derive(Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) text: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) thinking: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) signature: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) partial_json: Cow<'a, str>,
}

/// `message_delta`.
#[derive(Deserialize)]
pub(super) struct MessageDelta<'a> {
    pub(super) delta: Stop,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// Why the model stopped.
#[derive(Deserialize)]
pub(super) struct Stop {
    #[serde(default)]
    pub(super) stop_reason: Option<String>,
}

/// `error`.
#[derive(Deserialize)]
pub(super) struct Failed {
    #[serde(default)]
    pub(super) error: Value,
}
