//! Files that are dropped into a terminal: it writes their path, in quotes, with escaped blanks, or as a `file://` address.

use std::path::{Path, PathBuf};

/// The file that a pasted text names, if it is nothing but the whole path of one.
pub fn dropped(text: &str) -> Option<PathBuf> {
    let text = text.trim();
    if text.is_empty() || text.contains('\n') || text.len() > 4096 {
        return None;
    }
    let unquoted = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let path = match (unquoted, text.strip_prefix("file://")) {
        (Some(path), _) => path.to_owned(),
        (None, Some(address)) => decoded(address),
        (None, None) => text.replace("\\ ", " "),
    };
    let path = Path::new(&path);
    (path.is_absolute() && path.is_file()).then(|| path.to_owned())
}

/// An address with its percent signs read.
fn decoded(address: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = address.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let hex = behind.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_file_is_found_however_its_path_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("two words.png");
        std::fs::write(&file, "x").expect("a file");
        let path = file.to_str().expect("letters");
        for text in [format!("'{path}'"), path.replace(' ', "\\ "), format!("file://{}", path.replace(' ', "%20"))] {
            assert_eq!(dropped(&format!("{text} ")), Some(file.clone()), "{text}");
        }
        for text in ["two words.png", "/no/such/file", "", "some words"] {
            assert_eq!(dropped(text), None, "{text}");
        }
    }
}
