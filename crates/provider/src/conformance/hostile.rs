//! Answers that no honest provider sends.

use super::*;
use crate::limits;
use crate::stream_reader::StreamState;

/// The beginning of a call in either wire, and one more piece of its arguments.
fn call(wire: Wire, index: usize, name: &str) -> String {
    match wire {
        Wire::Anthropic => format!(
            "data: {{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":{{\"type\":\"tool_use\",\"id\":\"t{index}\",\"name\":\"{name}\",\"input\":{{}}}}}}\n\n"
        ),
        Wire::OpenAi => format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"id\":\"t{index}\",\"function\":{{\"name\":\"{name}\"}}}}]}}}}]}}\n\n"
        ),
        Wire::Responses => format!(
            "data: {{\"type\":\"response.output_item.added\",\"output_index\":{index},\"item\":{{\"type\":\"function_call\",\"call_id\":\"t{index}\",\"name\":\"{name}\",\"arguments\":\"\"}}}}\n\n"
        ),
        Wire::Gemini => format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"functionCall\":{{\"id\":\"t{index}\",\"name\":\"{name}\",\"args\":{{}}}}}}]}}}}]}}\n\n"
        ),
        Wire::Ollama => format!(
            "{{\"message\":{{\"content\":\"\",\"tool_calls\":[{{\"id\":\"t{index}\",\"function\":{{\"name\":\"{name}\",\"arguments\":{{}}}}}}]}},\"done\":false}}\n"
        ),
    }
}

fn arguments(wire: Wire, piece: &str) -> String {
    match wire {
        Wire::Anthropic => format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":\"{piece}\"}}}}\n\n"
        ),
        Wire::OpenAi => format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":\"{piece}\"}}}}]}}}}]}}\n\n"
        ),
        Wire::Responses => format!(
            "data: {{\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"{piece}\"}}\n\n"
        ),
        Wire::Gemini | Wire::Ollama => panic!("arguments come whole"),
    }
}

/// The wires on which arguments come in pieces.
fn in_pieces() -> impl Iterator<Item = Wire> {
    WIRES.into_iter().filter(|wire| !matches!(wire, Wire::Gemini | Wire::Ollama))
}

fn words(wire: Wire, text: &str) -> String {
    match wire {
        Wire::Anthropic => format!(
            "data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}\n\n"
        ),
        Wire::OpenAi => format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"),
        Wire::Responses => {
            format!("data: {{\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"{text}\"}}\n\n")
        }
        Wire::Gemini => {
            format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}]}}}}]}}\n\n")
        }
        Wire::Ollama => format!("{{\"message\":{{\"content\":\"{text}\"}},\"done\":false}}\n"),
    }
}

/// Feeds the same piece again and again until it is refused, and tells how many were taken.
fn until_refused(wire: Wire, first: &str, piece: impl Fn(usize) -> String, most: usize) -> (CallError, usize) {
    let mut listener = StreamReader::new(wire, None);
    listener.hear(first.as_bytes()).expect("the beginning is good");
    for taken in 0..most {
        if let Err(error) = listener.hear(piece(taken).as_bytes()) {
            return (error, taken);
        }
    }
    panic!("{wire:?}: nothing stopped it");
}

fn refused(error: &CallError, limit: usize) {
    assert_eq!(error.kind, CallErrorKind::Garbled);
    assert!(error.message.contains(&limit.to_string()), "the limit is named: {error}");
}

#[test]
fn a_bill_without_its_last_blank_line_is_read() {
    // F16
    let end = r#"data: {"choices":[{"delta":{"content":"good"},"finish_reason":"stop"}]}"#;
    let bill = r#"data: {"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7}}"#;
    for tail in ["", "\n", "\n\n", "\n\ndata: [DONE]"] {
        let answer = listen(Wire::OpenAi, [format!("{end}\n\n{bill}{tail}").as_bytes()]).expect("a whole answer");
        assert_eq!(answer.tokens.map(|tokens| (tokens.input, tokens.output)), Some((11, 7)), "{tail:?}");
    }
    let half = format!("{end}\n\n{}", &bill[..30]);
    assert!(listen(Wire::OpenAi, [half.as_bytes()]).is_ok(), "a whole answer whose bill was cut off");
}

#[test]
fn bytes_without_end_behind_a_whole_answer_take_nothing_from_it() {
    // F19
    let end = "data: {\"choices\":[{\"delta\":{\"content\":\"good\"},\"finish_reason\":\"stop\"}]}\n\n";
    let comments = ": still here\n".repeat(100_000);
    let mut listener = StreamReader::new(Wire::OpenAi, None);
    let mut heard = listener.hear(end.as_bytes()).expect("good");
    for _ in 0..=limits::STREAM_BYTES / comments.len() {
        assert_eq!(heard, StreamState::Whole);
        heard = listener.hear(comments.as_bytes()).expect("nothing is taken away");
    }
    assert_eq!(heard, StreamState::End);
    assert_eq!(heading(&listener.end().expect("the answer")).text, "good");
}

#[test]
fn only_what_says_something_counts_as_said() {
    // F19
    for wire in WIRES {
        let mut listener = StreamReader::new(wire, None);
        let sign: &[u8] = match wire {
            Wire::Anthropic => b"event: ping\ndata: {\"type\":\"ping\"}\n\n",
            Wire::OpenAi => b"data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n",
            Wire::Responses => b"data: {\"type\":\"response.in_progress\"}\n\n",
            Wire::Gemini => b"data: {\"usageMetadata\":{\"promptTokenCount\":3}}\n\n",
            Wire::Ollama => b"{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":false}\n",
        };
        // Lines of JSON have no comments.
        let comment: &[u8] = if wire == Wire::Ollama { b"\n\n" } else { b": still here\n\n" };
        listener.hear(words(wire, "well").as_bytes()).expect("good");
        listener.hear(sign).expect("good");
        let said = listener.said();
        for sign in [sign, comment, sign] {
            listener.hear(sign).expect("good");
            assert_eq!(listener.said(), said, "{wire:?}");
        }
        listener.hear(words(wire, "well").as_bytes()).expect("good");
        assert_eq!(listener.said(), said + 1, "{wire:?}");
    }
    let mut listener = StreamReader::new(Wire::OpenAi, None);
    for thought in ["so", " it", " is"] {
        let said = listener.said();
        let event = format!("data: {{\"choices\":[{{\"delta\":{{\"reasoning_content\":\"{thought}\"}}}}]}}\n\n");
        listener.hear(event.as_bytes()).expect("good");
        assert_eq!(listener.said(), said + 1, "a model that thinks aloud is at work");
    }
}

#[test]
fn garbage_is_garbled_and_keeps_the_words_before_it() {
    // F18
    for wire in WIRES {
        for garbage in [
            "data: {not json\n\n",
            "data: [1,2]\n\n",
            "data: \"x\"\n\n",
            "data: {\"type\":7,\"choices\":7,\"candidates\":7,\"message\":7}\n\n",
        ] {
            let garbage = if wire == Wire::Ollama { garbage.trim_start_matches("data: ") } else { garbage };
            let stream = words(wire, "so far") + garbage;
            let error = listen(wire, [stream.as_bytes()]).expect_err("garbage");
            assert_eq!((error.kind, error.partial.as_deref()), (CallErrorKind::Garbled, Some("so far")), "{garbage}");
        }
        let binary = listen(wire, [b"data: \xff\xfe\n\n".as_slice()]).expect_err("no text");
        assert_eq!(binary.kind, CallErrorKind::Garbled);
        let page = listen(wire, [b"<html>\n\n<body>hello</body>".as_slice()]).expect_err("no stream");
        // A page has no events in it; it has lines.
        let expected = if wire == Wire::Ollama { CallErrorKind::Garbled } else { CallErrorKind::Truncated };
        assert_eq!(page.kind, expected);
    }
}

#[test]
fn done_without_a_reason_to_end_is_a_cut_answer() {
    // F16
    let stream = call(Wire::OpenAi, 0, "look") + "data: [DONE]\n\n";
    let error = listen(Wire::OpenAi, [stream.as_bytes()]).expect_err("a gateway says so when its server broke off");
    assert_eq!(error.kind, CallErrorKind::Truncated);
}

#[test]
fn garbage_behind_a_whole_answer_takes_nothing_away() {
    // F18
    for wire in WIRES {
        let mut bytes = recording(wire, "words");
        let whole = listen(wire, [bytes.as_slice()]);
        bytes.extend_from_slice(b"data: {not json\n\n");
        assert_eq!(listen(wire, [bytes.as_slice()]), whole, "{wire:?}");
    }
}

#[test]
fn what_follows_the_end_adds_nothing_however_soon_it_comes() {
    // F17
    for wire in WIRES {
        let mut bytes = recording(wire, "words");
        let whole = listen(wire, [bytes.as_slice()]);
        bytes.extend(recording(wire, "parallel_calls"));
        assert_eq!(listen(wire, [bytes.as_slice()]), whole, "{wire:?}");
        assert_eq!(listen(wire, bytes.chunks(1)), whole, "{wire:?}");
    }
}

#[test]
fn a_line_of_fifty_megabytes_is_refused_at_the_limit() {
    // F19
    let block = "x".repeat(1 << 20);
    for wire in WIRES {
        let (error, taken) = until_refused(wire, "data: ", |_| block.clone(), 50);
        refused(&error, limits::LINE_BYTES);
        assert!(taken <= limits::LINE_BYTES >> 20);
    }
}

#[test]
fn an_endless_stream_of_nothing_is_refused_at_the_limit() {
    // F19
    let block = ": nothing\n\n".repeat(100_000);
    // The limit is the same for every wire, and a stream of this size takes its time.
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let (error, taken) = until_refused(wire, "", |_| block.clone(), 1_000);
        refused(&error, limits::STREAM_BYTES);
        assert!(taken <= limits::STREAM_BYTES / block.len());
    }
}

#[test]
fn endless_words_are_refused_at_the_limit_and_kept_as_partial() {
    // F19
    let block = "x".repeat(1 << 20);
    for wire in WIRES {
        let (error, taken) = until_refused(wire, "", |_| words(wire, &block), 100);
        refused(&error, limits::ANSWER_BYTES);
        assert_eq!(error.partial.map(|partial| partial.len()), Some(taken << 20), "{wire:?}");
    }
}

#[test]
fn ten_thousand_calls_are_refused_at_the_limit() {
    // F19
    for wire in WIRES {
        let (error, taken) = until_refused(wire, "", |n| call(wire, n, "look"), 10_000);
        refused(&error, limits::PARTS);
        assert_eq!(taken, limits::PARTS);
    }
}

#[test]
fn a_name_of_a_megabyte_is_refused_at_the_limit() {
    // F19
    for wire in WIRES {
        let stream = call(wire, 0, &"n".repeat(1 << 20));
        refused(&listen(wire, [stream.as_bytes()]).expect_err("too long"), limits::TOOL_NAME_BYTES);
    }
}

#[test]
fn arguments_over_ten_megabytes_are_refused_at_the_limit() {
    // F19
    let block = "x".repeat(1 << 20);
    for wire in in_pieces() {
        let (error, taken) = until_refused(wire, &call(wire, 0, "write_file"), |_| arguments(wire, &block), 100);
        refused(&error, limits::TOOL_INPUT_BYTES);
        assert_eq!(taken, limits::TOOL_INPUT_BYTES >> 20);
    }
}

#[test]
fn arguments_in_very_many_small_pieces_are_put_together() {
    for wire in in_pieces() {
        let end = match wire {
            Wire::Anthropic => "data: {\"type\":\"message_stop\"}\n\n",
            Wire::OpenAi => "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
            Wire::Responses => "data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
            Wire::Gemini | Wire::Ollama => panic!("arguments come whole"),
        };
        let pieces = arguments(wire, "abcdefgh").repeat(25_000);
        let stream =
            [&*call(wire, 0, "write_file"), &arguments(wire, r#"{\"a\":\""#), &pieces, &arguments(wire, r#"\"}"#), end];
        let answer = listen(wire, [stream.concat().as_bytes()]).expect("a good stream");
        assert_eq!(heading(&answer).calls[0].1.len(), r#"{"a":""}"#.len() + 200_000, "{wire:?}");
    }
}

#[test]
fn bytes_at_random_never_panic() {
    // F18
    use proptest::prelude::*;
    proptest!(|(noise in prop::collection::vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>(), scene in prop::sample::select(vec!["parallel_calls", "strange", "overloaded"]))| {
        for wire in WIRES {
            let mut bytes = recording(wire, scene);
            let at = at.index(bytes.len());
            bytes.splice(at..(at + noise.len()).min(bytes.len()), noise.iter().copied());
            let _ = listen(wire, bytes.chunks(11));
        }
    });
}
