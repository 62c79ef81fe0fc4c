//! Recorded families: one folder under `golden/` each, with the events that go in and everything that comes out.

use std::fs;
use std::path::PathBuf;

use agent::{Event, ThreadId, Time};
use majordomo_view::{Frame, Frames, Logged, Node, Tree};
use serde::Deserialize;

/// A line of `events.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub struct Record {
    pub seq: u64,
    pub thread: ThreadId,
    pub at: Time,
    pub event: Event,
}

impl Record {
    pub fn logged(&self) -> Logged<'_> {
        Logged { seq: self.seq, thread: &self.thread, at: self.at, event: &self.event }
    }
}

/// The folder of all stories.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// The names of all stories, in order.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("the stories are part of the crate");
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The events of a story.
pub fn events(name: &str) -> Vec<Record> {
    let text = fs::read_to_string(folder().join(name).join("events.jsonl")).expect("every story has its events");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error} in {line}")))
        .collect()
}

/// All frames of a story.
pub fn frames(events: &[Record]) -> Vec<Frame> {
    let mut frames = Frames::new(events[0].thread.root());
    events.iter().flat_map(|record| frames.push(&record.logged())).collect()
}

/// The tree that events make, in the order in which they are given.
pub fn roots<'a>(events: impl IntoIterator<Item = &'a Record>) -> Vec<Node> {
    let mut tree = Tree::new();
    for record in events {
        tree.push(&record.logged());
    }
    tree.roots()
}
