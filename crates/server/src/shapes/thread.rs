//! What begins a thread, what is said in it, and how it ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest message, in characters.
pub const MAX_MESSAGE: usize = 1_000_000;
/// What a message must have at least one of: a character that is no blank.
pub const NOT_BLANK: &str = r"\S";

/// What begins a thread.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The first message.
    #[schemars(length(min = 1, max = MAX_MESSAGE), regex(pattern = NOT_BLANK))]
    pub message: String,
    /// The agent. Where none is named: the butler for a message that is plainly about a configured household, else the configured one.
    pub agent: Option<String>,
    /// Files that come with it.
    #[serde(default)]
    #[schemars(length(max = MAX_FILES))]
    pub files: Vec<SentFile>,
}

/// The most files of one message.
pub const MAX_FILES: usize = 10;
/// The most bytes of all files of one message.
pub const MAX_FILE_BYTES: usize = 24 * 1024 * 1024;
/// The longest name of a file, in characters.
pub const MAX_FILE_NAME: usize = 255;

/// A file that comes with a message: a text is added to it, an image (PNG, JPEG, GIF, WebP) or a PDF document is shown to the model.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SentFile {
    /// The name of the file, without a folder.
    #[schemars(length(min = 1, max = MAX_FILE_NAME))]
    pub name: String,
    /// Its bytes, in base64 with padding.
    #[schemars(extend("contentEncoding" = "base64"))]
    pub data: String,
}

/// A message for a thread.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// The words; `message` is understood too.
    #[serde(alias = "message")]
    #[schemars(length(min = 1, max = MAX_MESSAGE), regex(pattern = NOT_BLANK))]
    pub text: String,
    /// Files that come with it.
    #[serde(default)]
    #[schemars(length(max = MAX_FILES))]
    pub files: Vec<SentFile>,
}

/// Words for a thread.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The words; `message` is understood too.
    #[serde(alias = "message")]
    #[schemars(length(min = 1, max = MAX_MESSAGE), regex(pattern = NOT_BLANK))]
    pub text: String,
}

/// A message, to a thread that there is or to a new one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chat {
    /// The words.
    #[schemars(length(min = 1, max = MAX_MESSAGE), regex(pattern = NOT_BLANK))]
    pub message: String,
    /// The thread; a new one where none is named. `threadId` and `sessionId` are understood too.
    #[serde(alias = "threadId", alias = "sessionId")]
    pub thread_id: Option<String>,
    /// The agent of a new thread. Where none is named: the butler for a message that is plainly about a configured household, else the
    /// configured one.
    pub agent: Option<String>,
    /// Files that come with it.
    #[serde(default)]
    #[schemars(length(max = MAX_FILES))]
    pub files: Vec<SentFile>,
}

/// How a thread is to end.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stop {
    /// Without a last word.
    pub now: bool,
    /// Why, for the log.
    pub reason: Option<String>,
}

/// What a person says of a thread. What is left out stays as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Marks {
    /// What it is called in lists, in one line; an empty text takes the title away.
    #[schemars(length(max = 1000))]
    pub title: Option<String>,
    /// Whether it is put away.
    pub archived: Option<bool>,
    /// Whether its newest answer was read.
    pub read: bool,
}

/// Up to where a conversation is copied.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fork {
    /// The number of the answer, counting what was asked and what was answered from 1; null for the last.
    pub at: Option<usize>,
}

/// A thread that was begun, or in which something was said.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Started {
    /// Its name.
    pub id: String,
}
