//! The bytes of images and documents in the file of a conversation: a line of base64 for each, under the digest by which events name it.
//!
//! All files of one conversation have at most [`MAX_BYTES`] together; what is beyond that is named without its bytes, as what is missing in
//! the data folder is. What comes in is compared with its digest before anything is kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::message::{Attachment, Part};
use agent::{Event, Outside};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tool::Artefacts;

/// All files of one conversation have at most so many bytes.
pub const MAX_BYTES: u64 = 128 << 20;

/// A file as a line of its own.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileLine {
    /// What its bytes are.
    file: Arc<str>,
    /// The bytes, in base64.
    data: String,
}

/// The files that an event names.
pub(super) fn named_by(event: &Event) -> Vec<&Attachment> {
    match event {
        Event::RunStarted { attachments, .. }
        | Event::InputArrived { input: Outside::UserSaid { attachments, .. }, .. } => attachments.iter().collect(),
        Event::ToolFinished { result, .. } | Event::ChecksFinished { result, .. } => {
            result.attachments.iter().collect()
        }
        Event::Answered(answered) => answered
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Attached(attachment) => Some(attachment),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The files that events name, each once, by their digest.
pub(super) fn named_by_all<'a>(events: impl Iterator<Item = &'a Event>) -> BTreeMap<Arc<str>, &'a Attachment> {
    events.flat_map(named_by).map(|attachment| (attachment.digest.clone(), attachment)).collect()
}

/// The line of a file; none where its bytes are gone.
pub(super) fn line(artefacts: &Artefacts, digest: &Arc<str>) -> Option<String> {
    let data = STANDARD.encode(artefacts.read(digest)?);
    let line = FileLine { file: digest.clone(), data };
    Some(serde_json::to_string(&line).expect("our own types serialise to JSON"))
}

/// The files of a conversation that is read.
#[derive(Default)]
pub(super) struct Files {
    bytes: BTreeMap<Arc<str>, (usize, Vec<u8>)>,
    total: u64,
}

impl Files {
    /// Takes the file of a line in; what is wrong with it, in words.
    pub fn take(&mut self, at: usize, FileLine { file, data }: FileLine) -> Result<(), String> {
        let bytes = STANDARD.decode(data).map_err(|error| format!("the bytes of a file are no base64: {error}"))?;
        self.total += bytes.len() as u64;
        if self.total > MAX_BYTES {
            return Err(format!("all files of a conversation have at most {} MiB", MAX_BYTES >> 20));
        }
        if Artefacts::digest(&bytes) != *file {
            return Err(format!("the bytes of file {file} are not those that it is named by"));
        }
        match self.bytes.insert(file.clone(), (at, bytes)) {
            None => Ok(()),
            Some(_) => Err(format!("file {file} is there twice")),
        }
    }

    /// Checks that each file is one that an event names, with the size that it says. The line of the first that is not, and why.
    pub fn check<'a>(&self, events: impl Iterator<Item = &'a Event>) -> Result<(), (usize, String)> {
        let named = named_by_all(events);
        for (digest, (at, bytes)) in &self.bytes {
            match named.get(digest) {
                Some(attachment) if attachment.bytes == bytes.len() as u64 => {}
                Some(_) => return Err((*at, format!("file {digest} has another size than events say"))),
                None => return Err((*at, format!("no event names file {digest}"))),
            }
        }
        Ok(())
    }

    pub fn has(&self, digest: &str) -> bool {
        self.bytes.contains_key(digest)
    }

    /// Keeps all of them.
    pub fn keep(self, artefacts: &Artefacts) -> std::io::Result<()> {
        for (_, bytes) in self.bytes.into_values() {
            artefacts.keep(&bytes)?;
        }
        Ok(())
    }
}
