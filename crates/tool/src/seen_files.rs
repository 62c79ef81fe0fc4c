//! What a thread knows of the files: the content that each had when it was last read or written here.
//!
//! It lives as long as the thread is loaded and is never stored: a thread that is loaded again knows no file, so that its
//! first change to one needs a fresh read. That costs one call after a restart and can never overwrite unseen work.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// What one thread knows of the files.
#[derive(Debug, Default)]
pub struct SeenFiles {
    /// By path from the workspace root. Grows with the files that a thread touches and is dropped with it.
    seen: Mutex<HashMap<Box<str>, Mark>>,
}

/// Enough of a content to tell it from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    len: usize,
    hash: u64,
}

impl SeenFiles {
    /// An empty seen_files.
    pub fn new() -> Self {
        Self::default()
    }

    /// The thread has seen, or made, this content.
    pub fn note(&self, path: &str, content: &[u8]) {
        self.lock().insert(path.into(), Mark::of(content));
    }

    /// Whether what a file holds is what the thread has last seen in it; otherwise the error says what to do.
    pub fn check(&self, path: &str, content: &[u8]) -> Result<(), Error> {
        match self.lock().get(path) {
            Some(mark) if *mark == Mark::of(content) => Ok(()),
            Some(_) => Err(Error::Changed { path: path.to_owned() }),
            None => Err(Error::Unread { path: path.to_owned() }),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Box<str>, Mark>> {
        // A mark is written whole or not at all, so that a panic elsewhere leaves nothing half done.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mark {
    fn of(content: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(content);
        Self { len: content.len(), hash: hasher.finish() }
    }
}
