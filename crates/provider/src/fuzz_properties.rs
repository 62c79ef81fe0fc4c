//! What holds whatever bytes arrive: the properties that fuzzing tries to break, and against which every test run holds
//! all that fuzzing has kept (`corpus/`).
//!
//! A stream is its own seed: where it is cut follows from its bytes, so that a file of the corpus is a stream as a
//! server would send it and nothing else. Built for tests and with `--cfg fuzzing`; no other build has it.

use agent::message::Part;
use agent::model::{Answer, CallError, StopReason};
use serde_json::{Map, Value};

use crate::config::Wire;
use crate::limits;
use crate::sse::{Decoder, TooLong};
use crate::stream_reader::{StreamReader, StreamState};

/// However a stream is cut, its events are the same.
pub fn events(stream: &[u8]) {
    let whole = decode([stream]);
    assert_eq!(decode(stream.chunks(1)), whole, "byte by byte");
    assert_eq!(decode(ragged(stream)), whole, "in pieces of many sizes");
}

/// However a stream is cut, and however alike its events are, its answer is the same; and no answer, not even that of a stream
/// that broke off, holds half a call.
pub fn answer(wire: Wire, stream: &[u8]) {
    let whole = listen(wire, [stream]);
    assert_eq!(listen(wire, stream.chunks(1)), whole, "byte by byte");
    assert_eq!(listen(wire, ragged(stream)), whole, "in pieces of many sizes");
    assert_eq!(hear(StreamReader::plain(wire), [stream]), whole, "event by event");
    if let Ok(answer) = &whole {
        assert_calls_whole(answer);
    }
    let (anywhere, after_event) = cuts(stream);
    if let Ok(answer) = listen(wire, [&stream[..anywhere]]) {
        assert_calls_whole(&answer);
    }
    if let Ok(answer) = listen(wire, [&stream[..after_event]]) {
        assert_calls_whole(&answer);
        let whole = whole.expect("what follows a whole answer takes nothing away");
        // The other wire tells its end before its bill.
        assert!(wire != Wire::Anthropic || whole == answer, "what follows the end adds nothing");
    }
}

/// Listens as `http` does: until the end is heard, or the stream ends.
pub(crate) fn listen<'a>(wire: Wire, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Answer, CallError> {
    hear(StreamReader::new(wire, None), chunks)
}

fn hear<'a>(mut listener: StreamReader, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Answer, CallError> {
    for chunk in chunks {
        if listener.hear(chunk)? == StreamState::End {
            break;
        }
    }
    listener.end()
}

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Vec<u8>>, TooLong> {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    let mut keep = |data: &[u8]| {
        events.push(data.to_vec());
        Ok::<(), TooLong>(())
    };
    for chunk in chunks {
        decoder.feed(chunk, &mut keep)?;
    }
    decoder.finish(&mut keep)?;
    Ok(events)
}

fn assert_calls_whole(answer: &Answer) {
    let mut calls = 0;
    for part in &answer.parts {
        if let Part::ToolCall { name, input, .. } = part {
            calls += 1;
            assert!(input.read::<Map<String, Value>>().is_ok(), "arguments are an object: {input:?}");
            assert!(name.len() <= limits::TOOL_NAME_BYTES);
        }
    }
    for (id, why) in &answer.malformed {
        let is_it =
            |part: &Part| matches!(part, Part::ToolCall { id: of, input, .. } if of == id && input.text() == "{}");
        assert!(answer.parts.iter().any(is_it), "of a call that cannot be read nothing is kept: {why}");
    }
    match answer.stop {
        StopReason::ToolUse => assert!(calls > 0),
        StopReason::EndTurn | StopReason::Refusal => assert_eq!(calls, 0),
        StopReason::MaxTokens | StopReason::Paused => {}
    }
}

/// Pieces of nought to sixteen bytes.
fn ragged(mut stream: &[u8]) -> Vec<&[u8]> {
    let mut dice = Dice::of(stream);
    let mut pieces = Vec::new();
    while !stream.is_empty() {
        let (piece, rest) = stream.split_at(dice.below(17).min(stream.len()));
        pieces.push(piece);
        stream = rest;
    }
    pieces
}

/// Somewhere in the stream, and somewhere behind a blank line of it.
fn cuts(stream: &[u8]) -> (usize, usize) {
    let mut dice = Dice::of(stream);
    let after: Vec<usize> = (2..=stream.len()).filter(|at| stream[..*at].ends_with(b"\n\n")).collect();
    let after_event = if after.is_empty() { stream.len() } else { after[dice.below(after.len())] };
    (dice.below(stream.len() + 1), after_event)
}

/// Numbers that look like chance and follow from the stream.
struct Dice(u64);

impl Dice {
    fn of(stream: &[u8]) -> Self {
        Self(
            stream
                .iter()
                .fold(0xcbf2_9ce4_8422_2325, |seed, byte| (seed ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)),
        )
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Every input of a packed corpus (see `xtask/src/corpus.rs`). Few of them mean that the rest was lost.
    fn corpus(target: &str, at_least: usize) -> impl Iterator<Item = (String, Vec<u8>)> {
        let pack = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("corpus/{target}.jsonl"));
        let text = fs::read_to_string(&pack).unwrap_or_else(|why| panic!("{}: {why}", pack.display()));
        let input = |line: &str| -> Vec<u8> {
            let value: Value = serde_json::from_str(line).expect("a line is JSON");
            let input = value["input"].as_str().expect("an input");
            input.chars().map(|c| u8::try_from(c).expect("a character is one byte")).collect()
        };
        let inputs: Vec<_> = text.lines().map(input).enumerate().collect();
        assert!(inputs.len() >= at_least, "{} holds {} inputs", pack.display(), inputs.len());
        inputs.into_iter().map(move |(line, input)| (format!("{}:{}", pack.display(), line + 1), input))
    }

    /// Every file in a folder of this crate. Few of them mean that the rest was lost.
    fn streams(folder: &str, at_least: usize) -> impl Iterator<Item = (String, Vec<u8>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let entries = fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
        let paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        assert!(paths.len() >= at_least, "{} holds {} files", folder.display(), paths.len());
        paths.into_iter().map(|path| (path.display().to_string(), fs::read(&path).expect("a file")))
    }

    /// Runs a property on every stream, and names the one that breaks it.
    fn replay(streams: impl Iterator<Item = (String, Vec<u8>)>, property: impl Fn(&[u8])) {
        for (name, stream) in streams {
            let held = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| property(&stream)));
            assert!(held.is_ok(), "broken by {name}");
        }
    }

    #[test]
    fn whatever_fuzzing_kept_gives_the_same_events_however_it_is_cut() {
        // F17, F18
        replay(corpus("sse", 20), events);
    }

    #[test]
    fn whatever_fuzzing_kept_gives_the_same_answer_and_never_half_a_call() {
        // F16, F17, F18
        for wire in [Wire::Responses, Wire::Gemini, Wire::Ollama] {
            replay(streams(&format!("fixtures/{}", wire.name()), 8), |stream| answer(wire, stream));
        }
        for (wire, target) in [(Wire::Anthropic, "anthropic"), (Wire::OpenAi, "openai")] {
            let folder = format!("fixtures/{target}");
            replay(corpus(target, 50).chain(streams(&folder, 8)), |stream| answer(wire, stream));
        }
    }

    #[test]
    fn the_corpus_is_small_enough_to_be_carried_along() {
        let targets = ["sse", "anthropic", "openai"];
        let bytes: usize = targets.iter().flat_map(|target| corpus(target, 1)).map(|(_, stream)| stream.len()).sum();
        assert!(bytes <= 300_000, "{bytes} bytes");
    }
}
