//! Images and PDF documents as models take them: what a file is, by its first bytes; within which size it is taken; and an image that is
//! larger than models look at, made smaller.
//!
//! Providers scale what is larger than about 1568 pixels themselves, after it was sent and paid for. Absent: reading text out of either.

use std::io::Cursor;

use agent::message::{Attachment, Media};
use image::{DynamicImage, ImageFormat, ImageReader, Limits, imageops::FilterType};

use crate::artefacts::Artefacts;
use crate::text;

/// The largest image file that is read.
const MAX_IMAGE_BYTES: usize = 30 << 20;
/// The largest image that is sent as it is.
const MAX_SENT_BYTES: usize = 3 << 20;
/// The largest PDF document. Providers take no more than this in a request.
const MAX_PDF_BYTES: usize = 10 << 20;
/// The longest side of an image that is sent.
const MAX_SIDE: u32 = 1568;
/// The longest side of an image that is read: memory is needed for all of it.
const MAX_READ_SIDE: u32 = 20_000;
/// The most memory for reading an image.
const MAX_MEMORY: u64 = 512 << 20;
/// Pixels that a model counts as one token.
const PIXELS_PER_TOKEN: u64 = 750;
/// Tokens of a page of a PDF document, roughly.
const TOKENS_PER_PAGE: u64 = 2_000;

/// Whether a file is an image or a PDF document, by its first bytes.
pub fn is_attachable(bytes: &[u8]) -> bool {
    kind(bytes).is_some()
}

/// What kind of image a file is, by its first bytes, as browsers call it; none where it is no image.
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match kind(bytes)? {
        Kind::Image(format) => Some(format.to_mime_type()),
        Kind::Pdf => None,
    }
}

/// Why a file cannot be shown to models, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is larger than what is taken.
    #[error("{0}")]
    TooLarge(String),
    /// It is of another kind than what is taken.
    #[error("{0}")]
    Kind(String),
    /// It is broken, or cannot be kept.
    #[error("{0}")]
    Unusable(String),
}

/// Keeps a file as something that models are shown.
pub fn attach(name: &str, bytes: Vec<u8>, artefacts: &Artefacts) -> Result<Attachment, Refusal> {
    let Some(kind) = kind(&bytes) else {
        let what = "is neither an image (PNG, JPEG, GIF, WebP) nor a PDF document";
        return Err(Refusal::Kind(format!("'{name}' {what}")));
    };
    let (bytes, media, tokens) = match kind {
        Kind::Pdf => pdf(name, bytes)?,
        Kind::Image(format) => picture(name, bytes, format)?,
    };
    let digest =
        artefacts.keep(&bytes).map_err(|error| Refusal::Unusable(format!("'{name}' cannot be kept: {error}")))?;
    Ok(Attachment { digest: digest.into(), media, name: name.into(), bytes: bytes.len() as u64, tokens })
}

enum Kind {
    Pdf,
    Image(ImageFormat),
}

fn kind(bytes: &[u8]) -> Option<Kind> {
    const RIFF: usize = 12;
    match bytes {
        _ if bytes.starts_with(b"%PDF-") => Some(Kind::Pdf),
        _ if bytes.starts_with(b"\x89PNG\r\n\x1a\n") => Some(Kind::Image(ImageFormat::Png)),
        _ if bytes.starts_with(b"\xff\xd8\xff") => Some(Kind::Image(ImageFormat::Jpeg)),
        _ if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") => Some(Kind::Image(ImageFormat::Gif)),
        _ if bytes.len() > RIFF && bytes.starts_with(b"RIFF") && bytes[8..RIFF] == *b"WEBP" => {
            Some(Kind::Image(ImageFormat::WebP))
        }
        _ => None,
    }
}

fn pdf(name: &str, bytes: Vec<u8>) -> Result<(Vec<u8>, Media, u64), Refusal> {
    if bytes.len() > MAX_PDF_BYTES {
        return Err(too_large(name, bytes.len(), MAX_PDF_BYTES));
    }
    // Pages that are packed into streams are not found; then the size has to do.
    let pages = memchr::memmem::find_iter(&bytes, b"/Type /Page")
        .count()
        .max(memchr::memmem::find_iter(&bytes, b"/Type/Page").count());
    let pages = pages.max(bytes.len() / (100 << 10)).max(1) as u64;
    Ok((bytes, Media::Pdf, pages * TOKENS_PER_PAGE))
}

fn picture(name: &str, bytes: Vec<u8>, format: ImageFormat) -> Result<(Vec<u8>, Media, u64), Refusal> {
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err(too_large(name, bytes.len(), MAX_IMAGE_BYTES));
    }
    let broken = |error: image::ImageError| Refusal::Unusable(format!("'{name}' cannot be read as an image: {error}"));
    let (width, height) = ImageReader::with_format(Cursor::new(&bytes), format).into_dimensions().map_err(broken)?;
    let as_is = match format {
        ImageFormat::Png => Some(Media::Png),
        ImageFormat::Jpeg => Some(Media::Jpeg),
        ImageFormat::WebP => Some(Media::Webp),
        // Not every provider takes it.
        _ => None,
    };
    if let Some(media) = as_is.filter(|_| width.max(height) <= MAX_SIDE && bytes.len() <= MAX_SENT_BYTES) {
        return Ok((bytes, media, tokens(width, height)));
    }
    let mut reader = ImageReader::with_format(Cursor::new(&bytes), format);
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MAX_READ_SIDE), Some(MAX_READ_SIDE));
    limits.max_alloc = Some(MAX_MEMORY);
    reader.limits(limits);
    let image = reader.decode().map_err(broken)?;
    let image =
        if width.max(height) > MAX_SIDE { image.resize(MAX_SIDE, MAX_SIDE, FilterType::Triangle) } else { image };
    let tokens = tokens(image.width(), image.height());
    let (bytes, media) = written(image).map_err(broken)?;
    Ok((bytes, media, tokens))
}

/// As JPEG, or as PNG where something is transparent.
fn written(image: DynamicImage) -> Result<(Vec<u8>, Media), image::ImageError> {
    let (format, media, image) = match image.color().has_alpha() {
        true => (ImageFormat::Png, Media::Png, image),
        false => (ImageFormat::Jpeg, Media::Jpeg, DynamicImage::ImageRgb8(image.into_rgb8())),
    };
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format)?;
    Ok((bytes.into_inner(), media))
}

fn tokens(width: u32, height: u32) -> u64 {
    (u64::from(width) * u64::from(height) / PIXELS_PER_TOKEN).max(100)
}

fn too_large(name: &str, bytes: usize, most: usize) -> Refusal {
    let (bytes, most) = (text::size(bytes as u64), text::size(most as u64));
    Refusal::TooLarge(format!("'{name}' has {bytes}, and at most {most} are taken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artefacts() -> (tempfile::TempDir, Artefacts) {
        let data = tempfile::tempdir().expect("a folder");
        let artefacts = Artefacts::at(data.path());
        (data, artefacts)
    }

    fn image(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(width, height).write_to(&mut bytes, format).expect("an image");
        bytes.into_inner()
    }

    #[test]
    fn a_small_image_is_kept_as_it_is_and_a_large_one_is_made_smaller() {
        let (_data, artefacts) = artefacts();
        let small = image(100, 50, ImageFormat::Png);
        let kept = attach("small.png", small.clone(), &artefacts).expect("kept");
        assert_eq!((kept.media, artefacts.read(&kept.digest)), (Media::Png, Some(small)));
        let large = attach("large.png", image(4000, 1000, ImageFormat::Png), &artefacts).expect("kept");
        let bytes = artefacts.read(&large.digest).expect("there");
        let size =
            ImageReader::with_format(Cursor::new(&bytes), ImageFormat::Jpeg).into_dimensions().expect("an image");
        assert_eq!((large.media, size), (Media::Jpeg, (1568, 392)));
        assert_eq!(large.tokens, 1568 * 392 / 750);
    }

    #[test]
    fn a_gif_becomes_an_image_that_every_provider_takes() {
        let (_data, artefacts) = artefacts();
        let kept = attach("moving.gif", image(20, 20, ImageFormat::Gif), &artefacts).expect("kept");
        assert!(matches!(kept.media, Media::Png | Media::Jpeg), "{kept:?}");
    }

    #[test]
    fn what_is_broken_too_large_or_no_image_is_refused_with_a_sentence() {
        let (_data, artefacts) = artefacts();
        let refused = |name: &str, bytes: Vec<u8>| attach(name, bytes, &artefacts).expect_err("refused").to_string();
        assert!(refused("a.txt", b"words".to_vec()).contains("neither an image"));
        assert!(refused("a.png", b"\x89PNG\r\n\x1a\n and no more".to_vec()).contains("cannot be read as an image"));
        let mut large = b"%PDF-1.7".to_vec();
        large.resize(MAX_PDF_BYTES + 1, b' ');
        assert!(refused("a.pdf", large).contains("at most 10.0 MiB are taken"), "");
    }

    #[test]
    fn a_document_is_counted_by_its_pages() {
        let (_data, artefacts) = artefacts();
        let kept = attach("a.pdf", b"%PDF-1.4 << /Type /Page >> << /Type /Page >>".to_vec(), &artefacts).expect("kept");
        assert_eq!((kept.media, kept.tokens), (Media::Pdf, 4_000));
    }
}
