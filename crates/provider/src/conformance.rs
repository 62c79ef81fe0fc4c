//! One suite for all wires: the same scenes, recorded in each wire's own bytes, must come out as the same answers,
//! however the bytes are cut.

use agent::message::Part;
use agent::model::{Answer, CallError, CallErrorKind, StopReason, Tokens};

use crate::config::Wire;
use crate::fuzz_properties::listen;
use crate::stream_reader::StreamReader;

mod hostile;
mod oracle;
mod pieces;
mod requests;
mod scenes;

const WIRES: [Wire; 5] = Wire::ALL;

/// What a recording must come out as, in any wire.
#[derive(Debug, PartialEq)]
struct Heading {
    text: String,
    calls: Vec<(String, String)>,
    stop: StopReason,
    tokens: Option<Tokens>,
    malformed: usize,
}

/// A recording of `scene` in `wire`.
fn recording(wire: Wire, scene: &str) -> Vec<u8> {
    let path = format!("{}/fixtures/{}/{scene}.{}", env!("CARGO_MANIFEST_DIR"), wire.name(), ending(wire));
    std::fs::read(&path).unwrap_or_else(|why| panic!("{path}: {why}"))
}

/// How the name of a recording ends.
fn ending(wire: Wire) -> &'static str {
    if wire == Wire::Ollama { "ndjson" } else { "sse" }
}

fn heading(answer: &Answer) -> Heading {
    let mut heading = Heading {
        text: String::new(),
        calls: Vec::new(),
        stop: answer.stop,
        tokens: answer.tokens,
        malformed: answer.malformed.len(),
    };
    for part in &answer.parts {
        match part {
            Part::Text { text, .. } => heading.text.push_str(text),
            Part::ToolCall { name, input, .. } => heading.calls.push((name.to_string(), input.text().to_owned())),
            Part::Attached(_) | Part::Opaque { .. } => {}
            Part::ToolResult { .. } => panic!("a model never answers with a result"),
        }
    }
    heading
}

fn kind(outcome: &Result<Answer, CallError>) -> Option<CallErrorKind> {
    outcome.as_ref().err().map(|error| error.kind)
}
