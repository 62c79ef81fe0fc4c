//! Images and documents of a conversation as a request shows them: their bytes, or a sentence where the model does not take them or
//! the bytes are gone.

use std::fmt;
use std::sync::Arc;

use agent::message::Attachment;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::models::{Ability, ModelEntry};

/// Finds the bytes of an attachment by their digest.
#[derive(Clone)]
pub struct AttachedBytes(Arc<Read>);

type Read = dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync;

impl AttachedBytes {
    /// Bytes that are found so.
    pub fn new(read: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }
}

impl fmt::Debug for AttachedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AttachedBytes")
    }
}

/// What one model is shown of attachments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attached {
    bytes: Option<AttachedBytes>,
    /// What the model is known not to take.
    refuses_images: bool,
    refuses_documents: bool,
}

/// An attachment in a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Its bytes, in base64.
    Data(String),
    /// A sentence in its place.
    Words(String),
}

impl Attached {
    /// For a model of which so much is known.
    pub(crate) fn new(bytes: Option<AttachedBytes>, entry: &ModelEntry) -> Self {
        let refuses = |ability: Ability| entry.takes(ability) == Some(false);
        Self { bytes, refuses_images: refuses(Ability::Images), refuses_documents: refuses(Ability::Pdf) }
    }

    /// The sentence in the place of an attachment that the model does not take.
    pub(crate) fn refused(attachment: &Attachment) -> String {
        format!("[the {} '{}' is not shown: this model does not take one]", kind(attachment), attachment.name)
    }

    /// An attachment as the model is shown it.
    pub(crate) fn shown(&self, attachment: &Attachment) -> Shown {
        let (name, what) = (&attachment.name, kind(attachment));
        let refuses = if attachment.media.is_image() { self.refuses_images } else { self.refuses_documents };
        if refuses {
            return Shown::Words(Self::refused(attachment));
        }
        match self.bytes.as_ref().and_then(|bytes| (bytes.0)(&attachment.digest)) {
            Some(bytes) => Shown::Data(BASE64_STANDARD.encode(bytes)),
            None => Shown::Words(format!("[the {what} '{name}' is not shown: it is no longer in the data folder]")),
        }
    }
}

fn kind(attachment: &Attachment) -> &'static str {
    if attachment.media.is_image() { "image" } else { "PDF document" }
}

/// The bytes as an address, as OpenAI's wires take them.
pub(crate) fn data_url(attachment: &Attachment, data: &str) -> String {
    format!("data:{};base64,{data}", attachment.media.mime())
}
