//! Follows a root and all its descendants through the log, from its beginning, until a run is over.

use std::sync::Arc;

use agent::{Event, Report, ThreadId};
use runtime::{Fleeting, FleetingKind};
use serde_json::{Value, json};
use store::{Record, Store};
use view::Logged;

/// Records that are read at once.
const PAGE: usize = 1000;

/// A place in a family's log.
pub struct Follower {
    store: Arc<dyn Store>,
    root: ThreadId,
    seq: u64,
}

impl Follower {
    /// Begins at the beginning.
    pub fn new(store: Arc<dyn Store>, root: ThreadId) -> Self {
        Self { store, root, seq: 0 }
    }

    /// Begins after a place.
    pub fn after(store: Arc<dyn Store>, root: ThreadId, seq: u64) -> Self {
        Self { store, root, seq }
    }

    /// What was written since the last look; empty when there is nothing more.
    pub async fn read(&mut self) -> Result<Vec<Record>, store::Error> {
        let records = self.store.tree(&self.root, self.seq, PAGE).await?;
        if let Some(last) = records.last() {
            self.seq = last.seq;
        }
        Ok(records)
    }

    /// Everything that is written by now.
    pub async fn read_all(&mut self) -> Result<Vec<Record>, store::Error> {
        let mut all = Vec::new();
        loop {
            let page = self.read().await?;
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
        }
    }
}

/// A record as a fold takes it.
pub fn logged(record: &Record) -> Logged<'_> {
    Logged { seq: record.seq, thread: &record.thread, at: record.at, event: &record.event }
}

/// The report of the root, if this record is one.
pub fn root_report<'a>(record: &'a Record, root: &ThreadId) -> Option<&'a Report> {
    match &*record.event {
        Event::Reported(report) if record.thread == *root => Some(report),
        _ => None,
    }
}

/// Words in passing as a line of JSON. They have no number, and nobody can come back to them.
pub fn passing(said: &Fleeting) -> String {
    in_passing(said).to_string()
}

/// The same for all that was said so far, in place of whatever of it was heard.
pub fn so_far(said: &Fleeting) -> String {
    let mut line = in_passing(said);
    line["so_far"] = true.into();
    line.to_string()
}

fn in_passing(said: &Fleeting) -> Value {
    let (kind, key, value) = match &said.what {
        FleetingKind::Turn(turn) => ("text_delta", "turn", json!(turn)),
        FleetingKind::Call(call) => ("tool_progress", "tool_use_id", json!(call)),
    };
    json!({ "type": kind, "run": said.thread.root(), "thread": said.thread, key: value, "content": said.text })
}
