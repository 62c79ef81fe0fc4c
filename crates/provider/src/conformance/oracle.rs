//! The recorded scenes as another library reads them: rig decodes the same wires, and `cargo xtask oracle` writes what it finds to
//! `fixtures/rig.json`. Where ours differs, the difference is listed here with its reason.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::*;
use crate::conversation::{Delta, DeltaSink};

/// What is read in a recording: none where the answer ends with an error.
type Reading = Option<Found>;

#[derive(Debug, Deserialize, PartialEq)]
struct Found {
    text: String,
    /// Without blanks: libraries separate one thought from the next in their own ways.
    thoughts: String,
    calls: Vec<(String, Map<String, Value>)>,
    stop: Value,
    tokens: Figures,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
struct Figures {
    prompt: Option<u64>,
    cached: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
}

/// Where ours differs on purpose: the scene, the part of it, and why.
const DIFFERENCES: [(&str, &str, &str); 10] = [
    ("anthropic/cut_call", "calls", "a call that the limit cut off is left out; rig closes its arguments"),
    ("openai/cut_call", "calls", "as above"),
    ("responses/cut_call", "calls", "as above"),
    ("openai/no_ids", "calls", "a second name begins a second call, whatever its index is; rig loses that call"),
    ("openai/think_tags", "text", "thoughts in tags before the words are no answer; rig leaves them in"),
    ("openai/think_tags", "thoughts", "as above"),
    ("openai/declined", "stop", "an answer in the field for refusals is a refusal; to rig it is an answer like others"),
    ("responses/declined", "stop", "as above"),
    ("gemini/strange", "tokens", "a negative number of tokens makes the usage unknown; rig takes it for zero"),
    ("gemini/blocked", "all", "a prompt that is refused is a refusal with its reason; rig makes it an error"),
];

#[test]
fn another_library_reads_the_same_in_every_recording() {
    let path = format!("{}/fixtures/rig.json", env!("CARGO_MANIFEST_DIR"));
    let read: BTreeMap<String, Value> =
        serde_json::from_slice(&std::fs::read(path).expect("what rig reads")).expect("JSON");
    let mut recorded = Vec::new();
    let mut differences = Vec::new();
    for wire in WIRES {
        let folder = format!("{}/fixtures/{}", env!("CARGO_MANIFEST_DIR"), wire.name());
        for entry in std::fs::read_dir(folder).expect("the recordings") {
            let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
            let scene = name.strip_suffix(&format!(".{}", ending(wire))).expect("a recording");
            let key = format!("{}/{scene}", wire.name());
            let theirs = read.get(&key).unwrap_or_else(|| panic!("run `cargo xtask oracle`: it knows no {key}"));
            differences
                .extend(compare(&ours(wire, scene), &theirs_of(theirs)).into_iter().map(|part| (key.clone(), part)));
            recorded.push(key);
        }
    }
    recorded.sort_unstable();
    assert_eq!(recorded, read.into_keys().collect::<Vec<_>>(), "run `cargo xtask oracle`");
    let mut expected: Vec<_> = DIFFERENCES.map(|(key, part, _)| (key.to_owned(), part)).into();
    expected.sort_unstable();
    differences.sort_unstable();
    assert_eq!(differences, expected);
}

/// The parts in which two readings differ.
fn compare(ours: &Reading, theirs: &Reading) -> Vec<&'static str> {
    let (ours, theirs) = match (ours, theirs) {
        (None, None) => return vec![],
        (Some(ours), Some(theirs)) => (ours, theirs),
        _ => return vec!["all"],
    };
    let parts = [
        ("text", ours.text == theirs.text),
        ("thoughts", ours.thoughts == theirs.thoughts),
        ("calls", ours.calls == theirs.calls),
        ("stop", ours.stop == theirs.stop),
        ("tokens", ours.tokens == theirs.tokens),
    ];
    parts.into_iter().filter(|(_, is_same)| !is_same).map(|(part, _)| part).collect()
}

fn ours(wire: Wire, scene: &str) -> Reading {
    let thoughts: Arc<Mutex<String>> = Arc::default();
    let heard = Arc::clone(&thoughts);
    let sink = DeltaSink::with_thoughts(move |delta| {
        if let Delta::Thought(thought) = delta {
            heard.lock().expect("no other panics").push_str(thought);
        }
    });
    let mut reader = StreamReader::new(wire, Some(sink));
    let answer = reader.hear(&recording(wire, scene)).and_then(|_| reader.end()).ok()?;
    let heading = heading(&answer);
    let calls = heading.calls.iter().map(|(name, input)| (name.clone(), serde_json::from_str(input).expect("JSON")));
    let figures = |tokens: Tokens| Figures {
        prompt: Some(tokens.prompt()),
        cached: Some(tokens.cache_read),
        output: Some(tokens.output),
        reasoning: Some(tokens.reasoning),
    };
    let stop = match answer.stop {
        StopReason::EndTurn | StopReason::Paused => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens => "length",
        StopReason::Refusal => "content_filter",
    };
    let thoughts = without_blanks(&thoughts.lock().expect("no other panics"));
    let tokens = heading.tokens.map(figures).unwrap_or_default();
    Some(Found { text: heading.text, thoughts, calls: calls.collect(), stop: stop.into(), tokens })
}

/// What rig reads, in our words: a reason to end that it does not know is an end, and a figure that was not told is nothing.
fn theirs_of(read: &Value) -> Reading {
    if read["failed"] == true {
        return None;
    }
    let mut found: Found = serde_json::from_value(read.clone()).expect("as the oracle writes it");
    found.thoughts = without_blanks(&found.thoughts);
    if found.stop.is_object() {
        found.stop = "stop".into();
    }
    found.tokens = match found.tokens {
        Figures { prompt: Some(prompt), cached, output: Some(output), reasoning } => {
            let (cached, reasoning) = (cached.or(Some(0)), reasoning.or(Some(0)));
            Figures { prompt: Some(prompt), cached, output: Some(output), reasoning }
        }
        _ => Figures::default(),
    };
    Some(found)
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}
