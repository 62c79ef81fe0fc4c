//! An image or a document that came with a message, as interfaces show it. Its bytes are kept elsewhere, under its id.

use std::sync::Arc;

use agent::message::Attachment;
use schemars::JsonSchema;
use serde::Serialize;

/// An image or a document that came with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttachedFile {
    /// The name under which its bytes are kept: the digest of what they are.
    pub id: Arc<str>,
    /// The name that the file had.
    pub name: Arc<str>,
    /// What its bytes are, such as `image/png`.
    pub media: String,
    /// How large it is, in bytes.
    pub bytes: u64,
}

impl AttachedFile {
    /// What is shown of an attachment.
    pub(crate) fn of(attachment: &Attachment) -> Self {
        Self {
            id: attachment.digest.clone(),
            name: attachment.name.clone(),
            media: attachment.media.mime().to_owned(),
            bytes: attachment.bytes,
        }
    }
}
