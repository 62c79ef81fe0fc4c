//! What was written before in this folder, kept in a file of the data folder that only its owner can read.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Messages of a folder that are remembered.
const MOST: usize = 1000;
/// A file that is larger than this is made shorter when it is read.
const LARGE: usize = 4 << 20;
/// Longer messages are not kept.
const LONGEST: usize = 100_000;

/// What was written before, the newest last.
#[derive(Debug, Default)]
pub struct History {
    file: Option<PathBuf>,
    folder: String,
    messages: Vec<String>,
    /// Which message stands in the composer; none while it is a new one.
    at: Option<usize>,
}

/// What comes after the message that stands in the composer.
#[derive(Debug, PartialEq, Eq)]
pub enum Newer {
    Message(String),
    /// The new one, which stood there before.
    Draft,
    /// It is the new one.
    Nothing,
}

#[derive(Serialize, Deserialize)]
struct Written<'a> {
    folder: std::borrow::Cow<'a, str>,
    text: std::borrow::Cow<'a, str>,
}

impl History {
    /// What was written in a folder.
    pub fn read(data: &Path, folder: &Path) -> Self {
        let file = data.join("chat-history.jsonl");
        let folder = folder.to_string_lossy().into_owned();
        // Where nothing can be read, nothing was written.
        let text = fs::read_to_string(&file).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let is_mine = |line: &&str| {
            let written: Written<'_> = serde_json::from_str(line).ok()?;
            (written.folder == folder).then(|| written.text.into_owned())
        };
        let mut messages: Vec<String> = lines.iter().filter_map(is_mine).collect();
        messages.drain(..messages.len().saturating_sub(MOST));
        if text.len() > LARGE {
            let kept = lines[lines.len() / 2..].join("\n") + "\n";
            // A file that cannot be made shorter stays long.
            let _ =
                open(&file, false).and_then(|mut file| file.set_len(0).and_then(|()| file.write_all(kept.as_bytes())));
        }
        Self { file: Some(file), folder, messages, at: None }
    }

    /// Remembers a message.
    pub fn push(&mut self, text: &str) {
        self.at = None;
        if text.trim().is_empty() || text.len() > LONGEST || self.messages.last().is_some_and(|last| last == text) {
            return;
        }
        self.messages.push(text.to_owned());
        let written = Written { folder: self.folder.as_str().into(), text: text.into() };
        if let Some(file) = &self.file
            && let Ok(line) = serde_json::to_string(&written)
        {
            // What cannot be written is remembered until the end.
            let _ = open(file, true).and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        }
    }

    /// Whether an earlier message stands there.
    pub fn is_at_old(&self) -> bool {
        self.at.is_some()
    }

    /// The message before the one that stands there.
    pub fn older(&mut self) -> Option<&str> {
        let at = self.at.unwrap_or(self.messages.len()).checked_sub(1)?;
        self.at = Some(at);
        self.messages.get(at).map(String::as_str)
    }

    /// The message after the one that stands there; the new one at the end.
    pub fn newer(&mut self) -> Newer {
        let Some(at) = self.at else { return Newer::Nothing };
        self.at = Some(at + 1).filter(|at| *at < self.messages.len());
        self.at.map_or(Newer::Draft, |at| Newer::Message(self.messages[at].clone()))
    }

    /// The newest message before the `before`th that holds these words, and its number.
    pub fn find(&self, words: &str, before: usize) -> Option<(usize, &str)> {
        let words = words.to_lowercase();
        let found = self.messages.iter().enumerate().take(before).rev();
        found.map(|(at, text)| (at, text.as_str())).find(|(_, text)| text.to_lowercase().contains(&words))
    }
}

fn open(file: &Path, appends: bool) -> std::io::Result<File> {
    File::options().create(true).append(appends).write(true).truncate(false).mode(0o600).open(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_kept_by_folder_and_found_again() {
        let data = tempfile::tempdir().expect("a folder");
        let mut history = History::read(data.path(), Path::new("/one"));
        for text in ["first", "second\nline", "second\nline", "third"] {
            history.push(text);
        }
        History::read(data.path(), Path::new("/two")).push("elsewhere");
        let mut history = History::read(data.path(), Path::new("/one"));
        assert_eq!(history.messages.len(), 3);
        assert_eq!(history.older(), Some("third"));
        assert_eq!(history.older(), Some("second\nline"));
        assert_eq!(history.older(), Some("first"));
        assert_eq!(history.older(), None);
        assert_eq!(history.newer(), Newer::Message("second\nline".into()));
        assert_eq!(history.newer(), Newer::Message("third".into()));
        assert_eq!(history.newer(), Newer::Draft);
        assert_eq!(history.newer(), Newer::Nothing);
        assert_eq!(history.find("SECOND", usize::MAX), Some((1, "second\nline")));
        assert_eq!(history.find("second", 1), None);
    }
}
