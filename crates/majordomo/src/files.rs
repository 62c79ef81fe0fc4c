//! Files that come with a prompt: a text is added to the words, an image or a PDF document is kept in the data folder and shown to models.
//!
//! What is absent: what a person may pass. A file that is named with the prompt is the person's own choice, as the prompt is.

use std::io::Read;
use std::path::Path;

use agent::context::fenced;
use agent::message::Attachment;
use provider::{Ability, ModelEntry};
use tool::{Artefacts, attach, is_attachable};

/// The longest text file that is added to a prompt.
const MAX_TEXT_BYTES: usize = 256 << 10;
/// The largest file that is read.
const MAX_BYTES: u64 = 32 << 20;

/// Adds files to a prompt. The failure is a sentence.
pub(crate) fn add(
    prompt: &mut String,
    files: &[impl AsRef<Path>],
    artefacts: Option<&Artefacts>,
    (model, entry): (&str, &ModelEntry),
) -> Result<Vec<Attachment>, String> {
    let mut attachments = Vec::new();
    for path in files {
        let path = path.as_ref();
        let name = path.display().to_string();
        let bytes = read(path).map_err(|why| format!("the file {name} cannot be passed: {why}"))?;
        if !is_attachable(&bytes) {
            prompt.push_str(&format!("\n\n{}", text(&name, &bytes)?));
            continue;
        }
        let artefacts =
            artefacts.ok_or_else(|| format!("{name} cannot be passed: there is no data folder to keep it in"))?;
        let attachment = attach(&name, bytes, artefacts)?;
        let (ability, what) = match attachment.media.is_image() {
            true => (Ability::Images, "images"),
            false => (Ability::Pdf, "PDF documents"),
        };
        if entry.takes(ability) == Some(false) {
            return Err(format!(
                "{model} takes no {what}, so {name} cannot be passed: use another model (`majordomo models ls` shows what each takes), \
                 or set models.\"{model}\".takes if that is wrong"
            ));
        }
        // The model and the person know it by its name.
        prompt.push_str(&format!("\n\n[attached: {name}]"));
        attachments.push(attachment);
    }
    Ok(attachments)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return Err("it is no plain file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES { Err("it is larger than 32 MiB".to_owned()) } else { Ok(bytes) }
}

fn text(name: &str, bytes: &[u8]) -> Result<String, String> {
    if bytes.contains(&0) {
        return Err(format!("{name} is neither a text, nor an image (PNG, JPEG, GIF, WebP), nor a PDF document"));
    }
    if bytes.len() > MAX_TEXT_BYTES {
        let most = MAX_TEXT_BYTES >> 10;
        return Err(format!(
            "the text {name} is longer than {most} KiB: name it in the prompt, so that the agent reads it in parts"
        ));
    }
    Ok(fenced(&format!("file {name}"), &String::from_utf8_lossy(bytes)))
}
