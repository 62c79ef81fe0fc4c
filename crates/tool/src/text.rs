//! Bytes and long text made fit for a model: valid, bounded, and marked where something is missing.

use std::borrow::Cow;

/// What is said below a text that `readable` had to change.
pub(crate) const LOSSY_NOTE: &str = "[bytes that are not UTF-8 text are shown as \u{FFFD}]";

/// Bytes as text without NUL, and whether any of them were no text.
pub(crate) fn readable(bytes: &[u8]) -> (String, bool) {
    let text = String::from_utf8_lossy(bytes);
    let lossy = matches!(text, Cow::Owned(_)) || text.contains('\0');
    let text = if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text.into_owned() };
    (text, lossy)
}

/// Whether a file's beginning says that it holds no text: the test that git and ripgrep use too.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(8 * 1024)].contains(&0)
}

/// A text of at most `max` characters and a mark that tells how many are missing.
pub(crate) fn clip(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let missing = text[end..].chars().count();
            Cow::Owned(format!("{}… [{missing} characters left out]", &text[..end]))
        }
    }
}

/// A count of bytes as people say it.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// `1 line`, `2 lines`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    // INV-9
    #[test]
    fn a_clipped_text_ends_at_a_character_and_says_how_much_is_missing() {
        assert_eq!(clip("grüße", 5), "grüße");
        assert_eq!(clip("grüße", 3), "grü… [2 characters left out]");
        assert_eq!(clip("", 0), "");
    }

    // INV-9
    #[test]
    fn bytes_that_are_no_text_are_replaced_and_told() {
        assert_eq!(readable("grüße".as_bytes()), ("grüße".to_owned(), false));
        assert_eq!(readable(b"a\xFFb"), ("a\u{FFFD}b".to_owned(), true));
        assert_eq!(readable(b"a\0b"), ("a\u{FFFD}b".to_owned(), true));
    }
}
