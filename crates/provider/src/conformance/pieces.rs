//! However alike its events are, an answer is put together from what each of them says.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// What one event adds.
#[derive(Clone, Debug)]
enum Piece {
    Words(String),
    Arguments(String),
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let text = prop_oneof!["[a-z ]{0,6}", any::<String>(), Just("\",\"text\":\"".to_owned()), Just("\\".to_owned())];
    let piece =
        (any::<bool>(), text).prop_map(|(words, text)| if words { Piece::Words(text) } else { Piece::Arguments(text) });
    prop::collection::vec(piece, 0..30)
}

/// A stream of the wire with these pieces between its beginning and its end.
fn stream(wire: Wire, pieces: &[Piece], mark: impl Fn(usize) -> Option<usize>) -> Vec<u8> {
    let mut events: Vec<Value> = Vec::new();
    match wire {
        Wire::OpenAi => {
            let event = |delta: Value, end: Value| json!({ "id": "c", "choices": [{ "index": 0, "delta": delta, "finish_reason": end }] });
            let call = json!({ "index": 0, "id": "a", "function": { "name": "look", "arguments": "" } });
            events.push(event(json!({ "role": "assistant", "content": "", "tool_calls": [call] }), Value::Null));
            events.extend(pieces.iter().map(|piece| match piece {
                Piece::Words(text) => event(json!({ "content": text }), Value::Null),
                Piece::Arguments(text) => {
                    event(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": text } }] }), Value::Null)
                }
            }));
            events.push(event(json!({}), json!("tool_calls")));
        }
        Wire::Anthropic => {
            let delta =
                |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
            let start = |index: u64, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
            events.push(json!({ "type": "message_start", "message": { "usage": { "input_tokens": 1 } } }));
            events.push(start(0, json!({ "type": "text", "text": "" })));
            events.push(start(1, json!({ "type": "tool_use", "id": "a", "name": "look", "input": {} })));
            events.extend(pieces.iter().map(|piece| match piece {
                Piece::Words(text) => delta(0, json!({ "type": "text_delta", "text": text })),
                Piece::Arguments(text) => delta(1, json!({ "type": "input_json_delta", "partial_json": text })),
            }));
            events.push(json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": {} }));
            events.push(json!({ "type": "message_stop" }));
        }
        Wire::Responses => {
            let message = json!({ "type": "message", "content": [] });
            let call = json!({ "type": "function_call", "call_id": "a", "name": "look", "arguments": "" });
            for (index, item) in [message, call].into_iter().enumerate() {
                events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": item }));
            }
            events.extend(pieces.iter().map(|piece| match piece {
                Piece::Words(text) => {
                    json!({ "type": "response.output_text.delta", "output_index": 0, "delta": text })
                }
                Piece::Arguments(text) => {
                    json!({ "type": "response.function_call_arguments.delta", "output_index": 1, "delta": text })
                }
            }));
            events.push(json!({ "type": "response.completed", "response": {} }));
        }
        Wire::Gemini | Wire::Ollama => panic!("arguments come whole"),
    }
    let mut stream = String::new();
    for (nth, mut event) in events.into_iter().enumerate() {
        if let Some(mark) = mark(nth) {
            event["mark"] = mark.into();
        }
        stream.push_str(&format!("data: {event}\n\n"));
    }
    stream.into_bytes()
}

proptest! {
    #[test]
    fn events_that_are_alike_are_read_as_events_that_are_not(pieces in pieces()) {
        let joined = |wanted: bool| -> String {
            let of = |piece: &'_ Piece| match piece {
                Piece::Words(text) if wanted => text.clone(),
                Piece::Arguments(text) if !wanted => text.clone(),
                _ => String::new(),
            };
            pieces.iter().map(of).collect()
        };
        for wire in WIRES.into_iter().filter(|wire| !matches!(wire, Wire::Gemini | Wire::Ollama)) {
            let alike = listen(wire, [&*stream(wire, &pieces, |_| None)]).expect("a whole answer");
            let marked = listen(wire, [&*stream(wire, &pieces, Some)]).expect("a whole answer");
            prop_assert_eq!(&alike, &marked, "{:?}", wire);
            prop_assert_eq!(heading(&alike).text, joined(true), "{:?}", wire);
            let arguments = joined(false);
            let is_whole = arguments.trim().is_empty() || serde_json::from_str::<serde_json::Map<_, Value>>(&arguments).is_ok();
            prop_assert_eq!(alike.malformed.is_empty(), is_whole, "{:?}: {}", wire, arguments);
        }
    }
}
