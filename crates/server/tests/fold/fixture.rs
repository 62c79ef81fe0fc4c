//! What is folded: recorded families, families made up for one case, and streams that no log of ours would give.

use std::fs;
use std::path::PathBuf;

use agent::{Event, ThreadId, Time};
use serde::Deserialize;
use serde_json::{Value, json};
use view::{Frames, Logged};

/// A line of a recorded log.
#[derive(Clone, Debug, Deserialize)]
pub struct Record {
    seq: u64,
    thread: ThreadId,
    at: Time,
    event: Event,
}

impl Record {
    pub fn logged(&self) -> Logged<'_> {
        Logged { seq: self.seq, thread: &self.thread, at: self.at, event: &self.event }
    }
}

/// A list of frames, and the events they come from where there are any.
pub struct Fixture {
    pub name: String,
    pub events: Vec<Record>,
    pub frames: Vec<String>,
}

impl Fixture {
    /// Whether every frame that is kept has a number, so that its order cannot matter.
    pub fn is_numbered(&self) -> bool {
        let fleeting = ["\"type\":\"text_delta\"", "\"type\":\"thinking_delta\"", "\"type\":\"tool_progress\""];
        let is_free = |frame: &String| fleeting.iter().any(|kind| frame.contains(kind));
        self.frames.iter().all(|frame| frame.contains("\"seq\":") || is_free(frame))
    }
}

/// Families with a log: recorded ones, and those made up for one case.
pub fn families() -> Vec<Fixture> {
    let golden = view_folder().join("golden");
    let stories = names(&golden).into_iter().map(|name| (golden.join(&name).join("events.jsonl"), name));
    let made_up = names(&folder()).into_iter().filter(|name| name.ends_with(".events.jsonl"));
    let made_up = made_up.map(|name| (folder().join(&name), name.replace(".events.jsonl", "")));
    stories
        .chain(made_up)
        .map(|(path, name)| {
            let events: Vec<Record> = lines(&path).iter().map(|line| record(&name, line)).collect();
            let frames = frames(&events);
            Fixture { name, events, frames }
        })
        .collect()
}

/// Streams that no log of ours would give.
pub fn streams() -> Vec<Fixture> {
    let names = names(&folder()).into_iter().filter(|name| name.ends_with(".frames.jsonl"));
    names
        .map(|name| {
            let frames = lines(&folder().join(&name));
            Fixture { name: name.replace(".frames.jsonl", ""), events: Vec::new(), frames }
        })
        .collect()
}

/// The frames of a log, as they are sent.
pub fn frames(events: &[Record]) -> Vec<String> {
    let Some(first) = events.first() else { return Vec::new() };
    let mut frames = Frames::new(first.thread.root());
    events.iter().flat_map(|record| frames.push(&record.logged())).map(|frame| frame.json()).collect()
}

/// A frame of the run `r` about one of its threads, with further fields. A second passes from number to number.
pub fn told(seq: u64, kind: &str, thread: &str, more: Value) -> String {
    let timestamp = format!("2026-01-15T10:00:{seq:02}.000Z");
    let mut frame =
        json!({"type": kind, "seq": seq, "timestamp": timestamp, "run": "r", "thread": thread, "agent": "a"});
    let Value::Object(more) = more else { panic!("fields, not {more}") };
    frame.as_object_mut().expect("a frame has fields").extend(more);
    frame.to_string()
}

/// Words in passing of the run `r`.
pub fn whispered(turn: u64, words: &str) -> String {
    json!({"type": "text_delta", "run": "r", "thread": "r", "turn": turn, "content": words}).to_string()
}

/// The folder of what was made up.
pub fn folder() -> PathBuf {
    view_folder().join("tests/fixtures")
}

fn view_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../view")
}

fn names(folder: &PathBuf) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("fixtures are part of the repository");
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn lines(path: &PathBuf) -> Vec<String> {
    fs::read_to_string(path).expect("a fixture").lines().map(str::to_owned).collect()
}

fn record(name: &str, line: &str) -> Record {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error} in {line}"))
}
