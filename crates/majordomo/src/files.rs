//! Files that come with a prompt: a text is added to the words, an image or a PDF document is kept in the data folder and shown to models.
//!
//! What is absent: what a person may pass. A file that is named with the prompt is the person's own choice, as the prompt is.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::context::fenced;
use agent::message::Attachment;
use provider::{Ability, ModelEntry};
use tokio::sync::Semaphore;
pub use tool::{Artefacts, Refusal, image_type};
use tool::{attach, is_attachable};

/// The longest text file that is added to a prompt.
const MAX_TEXT_BYTES: usize = 256 << 10;
/// The largest file that is read.
const MAX_BYTES: u64 = 32 << 20;

/// So many messages have their files read at once: an image that is made smaller takes much memory meanwhile.
pub(crate) static READING: Semaphore = Semaphore::const_new(2);

/// A file that comes with a prompt.
#[derive(Clone, Debug)]
pub(crate) enum File {
    /// One on the disk.
    At(PathBuf),
    /// One that was handed over, with the name that it had.
    Bytes(String, Arc<[u8]>),
}

/// Adds files to a prompt.
pub(crate) fn add(
    prompt: &mut String,
    files: &[File],
    artefacts: Option<&Artefacts>,
    (model, entry): (&str, &ModelEntry),
) -> Result<Vec<Attachment>, Refusal> {
    let mut attachments = Vec::new();
    for file in files {
        let (name, bytes) = match file {
            File::At(path) => {
                let name = path.display().to_string();
                let bytes = read(path).map_err(|why| why.of(&name))?;
                (name, bytes)
            }
            File::Bytes(name, bytes) => (name.clone(), bytes.to_vec()),
        };
        if !is_attachable(&bytes) {
            prompt.push_str(&format!("\n\n{}", text(&name, &bytes)?));
            continue;
        }
        let artefacts = artefacts.ok_or_else(|| {
            Refusal::Unusable(format!("{name} cannot be passed: there is no data folder to keep it in"))
        })?;
        let attachment = attach(&name, bytes, artefacts)?;
        let (ability, what) = match attachment.media.is_image() {
            true => (Ability::Images, "images"),
            false => (Ability::Pdf, "PDF documents"),
        };
        if entry.takes(ability) == Some(false) {
            return Err(Refusal::Unusable(format!(
                "{model} takes no {what}, so {name} cannot be passed: use another model (`majordomo models ls` shows what each takes), \
                 or set models.\"{model}\".takes if that is wrong"
            )));
        }
        // The model and the person know it by its name.
        prompt.push_str(&format!("\n\n[attached: {name}]"));
        attachments.push(attachment);
    }
    Ok(attachments)
}

/// Why a file on the disk cannot be read.
enum Unread {
    TooLarge,
    Other(String),
}

impl Unread {
    fn of(self, name: &str) -> Refusal {
        let sentence = |why: &str| format!("the file {name} cannot be passed: {why}");
        match self {
            Self::TooLarge => Refusal::TooLarge(sentence("it is larger than 32 MiB")),
            Self::Other(why) => Refusal::Unusable(sentence(&why)),
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Unread> {
    let failed = |error: std::io::Error| Unread::Other(error.to_string());
    let file = std::fs::File::open(path).map_err(failed)?;
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return Err(Unread::Other("it is no plain file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES { Err(Unread::TooLarge) } else { Ok(bytes) }
}

fn text(name: &str, bytes: &[u8]) -> Result<String, Refusal> {
    if bytes.contains(&0) {
        let what = "is neither a text, nor an image (PNG, JPEG, GIF, WebP), nor a PDF document";
        return Err(Refusal::Kind(format!("{name} {what}")));
    }
    if bytes.len() > MAX_TEXT_BYTES {
        let most = MAX_TEXT_BYTES >> 10;
        return Err(Refusal::TooLarge(format!(
            "the text {name} is longer than {most} KiB: name it in the prompt, so that the agent reads it in parts"
        )));
    }
    Ok(fenced(&format!("file {name}"), &String::from_utf8_lossy(bytes)))
}
