//! The conversation of a thread as a file for hooks, in the lines that Claude Code writes: one JSON object each, of the types `user` and
//! `assistant`. A file is written before the hooks of one moment are run and removed when they have ended.
//!
//! Left to others: what happened (`view::Transcript`). Absent on purpose: thoughts, notices and costs, which that format does not name.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use agent::ThreadId;
use async_recursion::async_recursion as boxed;
use serde_json::{Value, json};
use store::{Record, Store};
use view::{Entry, Logged, Transcript};

/// The folder in the folder for state.
const FOLDER: &str = "hook-transcripts";
/// How many events are read at once.
const PAGE: usize = 1_000;
/// A file that is older was left by a process that was killed.
const OLDEST: Duration = Duration::from_secs(24 * 3600);

/// Writes the files.
pub(super) struct Transcripts {
    store: Arc<dyn Store>,
    folder: PathBuf,
    written: AtomicU64,
}

/// A file, which is removed with this value.
pub(super) struct Written(PathBuf);

impl Written {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // It may have been removed by a hook.
        let _ = fs::remove_file(&self.0);
    }
}

impl Transcripts {
    pub fn new(store: Arc<dyn Store>, data: &Path) -> Self {
        Self { store, folder: data.join(FOLDER), written: AtomicU64::new(0) }
    }

    /// The conversation of a thread up to now; without a thread, none has begun and the file is empty.
    #[boxed]
    pub async fn write(&self, thread: Option<&ThreadId>) -> io::Result<Written> {
        let mut lines = String::new();
        if let Some(thread) = thread {
            let mut transcript = Transcript::new(thread.clone());
            let mut read: u64 = 0;
            loop {
                let records = self.store.read(thread, read, PAGE).await.map_err(io::Error::other)?;
                let count = records.len();
                records.iter().for_each(|record| transcript.push(&logged(record)));
                read += count as u64;
                if count < PAGE {
                    break;
                }
            }
            for line in transcript.entries().iter().flat_map(|entry| said(thread, entry)) {
                lines.push_str(&line.to_string());
                lines.push('\n');
            }
        }
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let name = thread.map_or_else(|| "none".to_owned(), ToString::to_string);
        let path = self.folder.join(format!("{name}-{}-{number}.jsonl", std::process::id()));
        let folder = self.folder.clone();
        let writing = tokio::task::spawn_blocking(move || {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
            remove_old(&folder);
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
            let written = Written(path);
            file.write_all(lines.as_bytes())?;
            Ok(written)
        });
        writing.await.map_err(io::Error::other)?
    }
}

fn logged(record: &Record) -> Logged<'_> {
    Logged { seq: record.seq, thread: &record.thread, at: record.at, event: &record.event }
}

/// Removes what a killed process left.
fn remove_old(folder: &Path) {
    let is_old = |entry: &fs::DirEntry| {
        let changed = entry.metadata().and_then(|file| file.modified());
        changed.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > OLDEST))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_old) {
        // Another process may have been first.
        let _ = fs::remove_file(entry.path());
    }
}

/// The lines of one row of a conversation.
fn said(thread: &ThreadId, entry: &Entry) -> Vec<Value> {
    let line = |role: &str, content: Value| {
        json!({
            "type": role,
            "sessionId": thread.root().to_string(),
            "isSidechain": !thread.is_root(),
            "message": { "role": role, "content": content },
        })
    };
    match entry {
        Entry::Prompt { text, .. } | Entry::Steer { text, .. } => vec![line("user", (&**text).into())],
        Entry::Brief { text, .. } => vec![line("user", text.as_str().into())],
        Entry::Text { text, .. } => vec![line("assistant", json!([{ "type": "text", "text": &**text }]))],
        Entry::Tool(row) => {
            let called = row.name.as_ref().map(|name| {
                let (name, input) = super::named(name, row.input.as_ref());
                line(
                    "assistant",
                    json!([{ "type": "tool_use", "id": row.call.to_string(), "name": name, "input": input }]),
                )
            });
            let result = row.output.as_ref().map(|output| {
                let id = row.call.to_string();
                let result = json!([{
                    "type": "tool_result", "tool_use_id": id, "content": &**output, "is_error": row.is_error,
                }]);
                line("user", result)
            });
            called.into_iter().chain(result).collect()
        }
        Entry::Child(_) | Entry::Thinking { .. } | Entry::Notice { .. } | Entry::End { .. } => Vec::new(),
    }
}
