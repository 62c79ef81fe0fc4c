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
    images: Taken,
    documents: Taken,
}

/// Whether attachments of one kind are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Taken {
    #[default]
    Shown,
    /// The model takes none.
    NotByModel,
    /// The provider refused the request that held this one.
    NotThisOne,
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
        let taken = |ability: Ability| match entry.takes(ability) {
            Some(false) => Taken::NotByModel,
            _ => Taken::Shown,
        };
        Self { bytes, images: taken(Ability::Images), documents: taken(Ability::Pdf) }
    }

    /// The same, where a server has said that it does not take images or documents.
    pub(crate) fn without(&self, images: Taken, documents: Taken) -> Self {
        let either = |known: Taken, said: Taken| if known == Taken::Shown { said } else { known };
        Self {
            bytes: self.bytes.clone(),
            images: either(self.images, images),
            documents: either(self.documents, documents),
        }
    }

    /// The sentence in the place of an attachment that the model does not take.
    pub(crate) fn refused(attachment: &Attachment) -> String {
        format!("[the {} '{}' is not shown: this model does not take one]", kind(attachment), attachment.name)
    }

    /// An attachment as the model is shown it.
    pub(crate) fn shown(&self, attachment: &Attachment) -> Shown {
        let (name, what) = (&attachment.name, kind(attachment));
        match if attachment.media.is_image() { self.images } else { self.documents } {
            Taken::Shown => {}
            Taken::NotByModel => return Shown::Words(Self::refused(attachment)),
            Taken::NotThisOne => {
                return Shown::Words(format!("[the {what} '{name}' is not shown: the provider refused it]"));
            }
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
