//! What is said: messages, their parts, and who wrote them.
//!
//! The system prompt is not a message: it belongs to the agent's role and stands before all of these.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::CallId;
use crate::json::Json;

/// One side's turn in a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks, as the model sees it.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

/// Who speaks, as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The world: a person, a parent's brief, tool results, notices.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Words, and who they are from.
    Text {
        /// The words.
        text: Arc<str>,
        /// Who wrote them: authority belongs to the writer, not to the role.
        origin: Origin,
    },
    /// The model asks for a tool.
    ToolCall {
        /// The call's name within the thread.
        id: CallId,
        /// The tool's name.
        name: Arc<str>,
        /// The arguments as the model wrote them; an empty object where they were no JSON.
        input: Json,
    },
    /// What a tool answered.
    ToolResult {
        /// The call it answers.
        id: CallId,
        /// The answer.
        content: Arc<str>,
        /// Whether the call failed or was refused.
        is_error: bool,
    },
    /// An image or a document, which is shown to models that take it.
    Attached(Attachment),
    /// A block that only the provider understands (thinking, signatures), sent back byte for byte to the model that gave it.
    Opaque {
        /// The wire it belongs to.
        wire: Arc<str>,
        /// The model that gave it, as `provider/model`; none in logs in which that was not written down.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Arc<str>>,
        /// The block.
        raw: Json,
    },
}

/// The name in the place of a wire of a block that holds offers.
const OFFERS: &str = "offers";

impl Part {
    /// A block that says what a person may answer. No model is shown it.
    pub fn offers(offers: &[Offer]) -> Self {
        Self::Opaque { wire: OFFERS.into(), from: None, raw: Json::of(&serde_json::json!({ OFFERS: offers })) }
    }

    /// The offers of such a block; none of any other part.
    pub fn offered(&self) -> Vec<Offer> {
        match self {
            Self::Opaque { wire, raw, .. } if **wire == *OFFERS => {
                // A block of an earlier or later version that reads differently offers nothing.
                serde_json::from_value(raw.value()[OFFERS].clone()).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }
}

/// Something that a person may answer: what it would do, and the words that accept exactly that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// What it would do.
    pub label: Arc<str>,
    /// What to say to accept it.
    pub say: Arc<str>,
}

/// An image or a document. Its bytes are kept in the data folder under their digest, and are not part of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// What its bytes are.
    pub digest: Arc<str>,
    /// What kind of file it is.
    pub media: Media,
    /// The name of the file, for the model and for people.
    pub name: Arc<str>,
    /// How large it is.
    pub bytes: u64,
    /// How many tokens a model counts for it, roughly.
    pub tokens: u64,
}

/// Kinds of files that models can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Media {
    /// An image.
    Png,
    /// An image.
    Jpeg,
    /// An image.
    Webp,
    /// A document.
    Pdf,
}

impl Media {
    /// Its name on the wires.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Pdf => "application/pdf",
        }
    }

    /// Whether it is an image.
    pub fn is_image(self) -> bool {
        match self {
            Self::Png | Self::Jpeg | Self::Webp => true,
            Self::Pdf => false,
        }
    }
}

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The person who started the run.
    Person,
    /// The parent, as the brief.
    Brief,
    /// Someone who steers a running thread: a person, or the parent by `message_agent`.
    Steer,
    /// This program: notices about children, limits, context. Logs have always called it `house`.
    #[serde(rename = "house")]
    Program,
    /// The model.
    Model,
}

/// A text as a model reads it, kept as what stands before and after another text of the same event. It is written when the
/// event is decided, so that a later edit of our sentences does not change a conversation that was had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// What stands before the other text.
    pub before: Arc<str>,
    /// What stands after it.
    pub after: Arc<str>,
    /// Whether the other text is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without: bool,
}

impl Told {
    /// `whole`, which is kept without the part of it that is `text`.
    pub fn of(whole: &str, text: &str) -> Self {
        // Mostly it stands at the beginning, and to look for a long text takes as long as to read it many times.
        let at = if whole.starts_with(text) { Some(0) } else { whole.find(text) };
        match at {
            Some(at) => {
                let (before, after) = (whole[..at].into(), whole[at + text.len()..].into());
                Self { before, after, without: false }
            }
            None => Self { before: whole.into(), after: "".into(), without: true },
        }
    }

    /// The whole again.
    pub fn with(&self, text: &str) -> Arc<str> {
        let text = if self.without { "" } else { text };
        format!("{}{text}{}", self.before, self.after).into()
    }
}

impl Part {
    /// The words of a text; none of anything else.
    pub fn words(&self) -> Option<&str> {
        match self {
            Part::Text { text, .. } => Some(text),
            Part::ToolCall { .. } | Part::ToolResult { .. } | Part::Attached(_) | Part::Opaque { .. } => None,
        }
    }
}

impl Message {
    /// A message from the world made of one text.
    pub fn user(text: impl Into<Arc<str>>, origin: Origin) -> Self {
        Self { role: Role::User, parts: vec![Part::Text { text: text.into(), origin }] }
    }

    /// All text parts, joined by newlines.
    pub fn text(&self) -> String {
        self.text_of(|_| true)
    }

    /// The text parts whose origin is wanted, joined by newlines.
    pub fn text_of(&self, is_wanted: impl Fn(Origin) -> bool) -> String {
        let mut all = String::new();
        let words = |part: &'_ Part| match part {
            Part::Text { text, origin } if is_wanted(*origin) && !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        for words in self.parts.iter().filter_map(words) {
            if !all.is_empty() {
                all.push('\n');
            }
            all.push_str(&words);
        }
        all
    }

    /// Bytes that the model will read, roughly: what the token estimate is made of.
    pub fn bytes(&self) -> usize {
        let part_bytes = |part: &Part| match part {
            Part::Text { text, .. } => text.len() + 8,
            Part::ToolCall { id, name, input } => id.as_str().len() + name.len() + input.text().len() + 24,
            Part::ToolResult { id, content, .. } => id.as_str().len() + content.len() + 24,
            // As many bytes as a text with as many tokens has.
            Part::Attached(attachment) => usize::try_from(attachment.tokens.saturating_mul(4)).unwrap_or(usize::MAX),
            Part::Opaque { raw, .. } => raw.text().len(),
        };
        8 + self.parts.iter().map(part_bytes).sum::<usize>()
    }
}
