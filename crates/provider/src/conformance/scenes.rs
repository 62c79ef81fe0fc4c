//! The recorded scenes: whole, cut at every byte, and in every way of cutting and ending lines.

use super::*;

/// Scenes that exist in every wire, but that Ollama's has no word for a refusal.
const COMMON: [&str; 6] = ["words", "parallel_calls", "cut_call", "declined", "overloaded", "strange"];

/// Scenes that only one wire can have.
const OWN: [(Wire, &str); 15] = [
    (Wire::Anthropic, "thinking"),
    (Wire::Anthropic, "out_of_order"),
    (Wire::OpenAi, "no_index"),
    (Wire::OpenAi, "one_index_twice"),
    (Wire::OpenAi, "no_ids"),
    (Wire::OpenAi, "interleaved"),
    (Wire::OpenAi, "reasoning"),
    (Wire::OpenAi, "think_tags"),
    (Wire::Responses, "reasoning"),
    (Wire::Responses, "at_once"),
    (Wire::Gemini, "signed"),
    (Wire::Gemini, "blocked"),
    (Wire::Ollama, "thinking"),
    (Wire::Ollama, "think_tags"),
    (Wire::Ollama, "no_ids"),
];

fn all() -> impl Iterator<Item = (Wire, &'static str)> {
    let common = WIRES.into_iter().flat_map(|wire| COMMON.map(|scene| (wire, scene)));
    common.filter(|known| *known != (Wire::Ollama, "declined")).chain(OWN)
}

fn answer(wire: Wire, scene: &str) -> Answer {
    listen(wire, [recording(wire, scene).as_slice()]).unwrap_or_else(|error| panic!("{wire:?} {scene}: {error}"))
}

fn calls(calls: &[(&str, &str)]) -> Vec<(String, String)> {
    calls.iter().map(|(name, input)| ((*name).to_owned(), (*input).to_owned())).collect()
}

#[test]
fn every_recording_belongs_to_a_scene() {
    for wire in WIRES {
        let folder = format!("{}/fixtures/{}", env!("CARGO_MANIFEST_DIR"), wire.name());
        for entry in std::fs::read_dir(folder).expect("the recordings") {
            let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
            let scene = name.strip_suffix(&format!(".{}", ending(wire))).expect("a recording");
            assert!(all().any(|known| known == (wire, scene)), "no test plays {name} of {wire:?}");
        }
    }
}

#[test]
fn words_come_whole_with_their_tokens() {
    for wire in WIRES {
        let expected = Heading {
            text: "Grüße aus 東京 🗼!\n".into(),
            calls: vec![],
            stop: StopReason::EndTurn,
            tokens: Some(Tokens { input: 25, output: 15, ..Tokens::default() }),
            malformed: 0,
        };
        assert_eq!(heading(&answer(wire, "words")), expected, "{wire:?}");
    }
}

#[test]
fn parallel_calls_keep_order_and_arguments_to_the_byte() {
    for wire in WIRES {
        let heading = heading(&answer(wire, "parallel_calls"));
        assert_eq!(heading.text, "I will look at both.", "{wire:?}");
        assert_eq!(
            heading.calls,
            calls(&[
                ("read_file", r#"{"path": "a.txt", "note": "quote \" é"}"#),
                ("read_file", r#"{"path": "b.txt"}"#),
                ("list_agents", "{}"),
            ]),
            "{wire:?}"
        );
        assert_eq!((heading.stop, heading.malformed), (StopReason::ToolUse, 0), "{wire:?}");
        let tokens = heading.tokens.expect("all tell it");
        let cached = if wire == Wire::Ollama { 0 } else { 2048 };
        assert_eq!((tokens.prompt(), tokens.cache_read, tokens.output), (2156, cached, 89), "{wire:?}");
    }
}

#[test]
fn a_call_cut_by_the_token_limit_is_left_out_and_a_whole_one_stays() {
    // F21
    for wire in WIRES {
        let heading = heading(&answer(wire, "cut_call"));
        assert_eq!(heading.calls, calls(&[("write_file", r#"{"path":"a"}"#)]), "{wire:?}");
        assert_eq!((heading.stop, heading.malformed), (StopReason::MaxTokens, 0), "{wire:?}");
    }
}

#[test]
fn a_refusal_is_told_with_its_words() {
    // F21
    for wire in WIRES.into_iter().filter(|wire| *wire != Wire::Ollama) {
        let heading = heading(&answer(wire, "declined"));
        assert_eq!(
            (heading.text.as_str(), heading.stop),
            ("I cannot help with that.", StopReason::Refusal),
            "{wire:?}"
        );
    }
}

#[test]
fn an_error_in_the_stream_has_its_kind_and_keeps_the_words_before_it() {
    // F15
    for wire in WIRES {
        let error = listen(wire, [recording(wire, "overloaded").as_slice()]).expect_err("it broke off");
        assert_eq!((error.kind, error.partial.as_deref()), (CallErrorKind::Overloaded, Some("Let me")), "{wire:?}");
    }
}

#[test]
fn unknown_fields_are_ignored_and_senseless_usage_is_none() {
    // F18
    for wire in WIRES {
        let expected =
            Heading { text: "still here".into(), calls: vec![], stop: StopReason::EndTurn, tokens: None, malformed: 0 };
        assert_eq!(heading(&answer(wire, "strange")), expected, "{wire:?}");
    }
}

#[test]
fn thinking_and_unknown_blocks_are_kept_in_their_place() {
    let answer = answer(Wire::Anthropic, "thinking");
    let shapes: Vec<String> = answer
        .parts
        .iter()
        .map(|part| match part {
            Part::Opaque { wire, raw, .. } => {
                assert_eq!(&**wire, "anthropic");
                raw.text().to_owned()
            }
            Part::Text { text, .. } => format!("text {text}"),
            Part::ToolCall { name, input, .. } => format!("call {name} {}", input.text()),
            Part::ToolResult { .. } | Part::Attached(_) => "result".to_owned(),
        })
        .collect();
    assert_eq!(
        shapes,
        [
            r#"{"signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds","thinking":"Two files to read — 二つ","type":"thinking"}"#,
            r#"{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpP"}"#,
            "text First.",
            r#"{"signature":"ErUBCkYIARgCIkA","thinking":"Now the call.","type":"thinking"}"#,
            r#"{"id":"srvtoolu_01","input":{"query":"x"},"name":"web_search","type":"server_tool_use"}"#,
            r#"call read_file {"path":"a.txt"}"#,
        ]
    );
}

/// The parts of an answer, in words.
fn shapes(answer: &Answer) -> Vec<String> {
    let shape = |part: &Part| match part {
        Part::Attached(attachment) => attachment.name.to_string(),
        Part::Opaque { wire, raw, .. } => format!("{wire} {}", raw.text()),
        Part::Text { text, .. } => format!("text {text}"),
        Part::ToolCall { id, name, input } => format!("call {id} {name} {}", input.text()),
        Part::ToolResult { .. } => panic!("a model never answers with a result"),
    };
    answer.parts.iter().map(shape).collect()
}

#[test]
fn reasoning_items_are_kept_as_they_were_told_at_their_end() {
    let answer = answer(Wire::Responses, "reasoning");
    assert_eq!(
        shapes(&answer),
        [
            r#"responses {"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Two files to read — 二つ"}],"encrypted_content":"gAAAAABpQenc-one-0123456789"}"#,
            r#"responses {"phase":"commentary"}"#,
            "text First.",
            r#"responses {"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"gAAAAABpQenc-two-0123456789"}"#,
            r#"call call_1 read_file {"path":"a.txt"}"#,
        ]
    );
    assert_eq!(
        answer.tokens,
        Some(Tokens { input: 8, cache_write: 32, reasoning: 20, output: 30, ..Tokens::default() })
    );
}

#[test]
fn thoughts_beside_the_words_are_kept_as_whole_blocks_with_their_signatures() {
    assert_eq!(
        shapes(&answer(Wire::OpenAi, "reasoning")),
        [
            r#"openai {"reasoning":"Two files to read — 二つ","reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h","text":"Two files to read — 二つ","type":"reasoning.text"}]}"#,
            "text First.",
            r#"call toolu_01 read_file {"path":"a.txt"}"#,
        ]
    );
    assert_eq!(
        shapes(&answer(Wire::OpenAi, "think_tags")),
        [r#"openai {"think":"<think>\nTwo < files — 二つ\n</think>\n\n"}"#, "text It is so."]
    );
}

#[test]
fn thoughts_of_ollama_are_kept_apart_from_the_words_in_both_forms() {
    assert_eq!(
        shapes(&answer(Wire::Ollama, "thinking")),
        [
            r#"ollama {"thinking":"Two files to read — 二つ"}"#,
            "text First.",
            r#"call call_00000000 read_file {"path":"a.txt"}"#,
        ]
    );
    assert_eq!(
        shapes(&answer(Wire::Ollama, "think_tags")),
        [r#"ollama {"think":"<think>\nTwo < files — 二つ\n</think>\n\n"}"#, "text It is so."]
    );
    assert_eq!(
        shapes(&answer(Wire::Ollama, "no_ids")),
        [r#"call own_call_0 read_file {"path":"a"}"#, r#"call own_call_1 read_file {"path":"b"}"#]
    );
}

#[test]
fn what_is_told_only_at_the_end_is_read_there() {
    let answer = answer(Wire::Responses, "at_once");
    assert_eq!(shapes(&answer), ["text All at once.", r#"call c1 read_file {"path":"a"}"#]);
    assert_eq!(answer.stop, StopReason::ToolUse);
}

#[test]
fn signatures_stand_before_the_part_that_they_belong_to() {
    let answer = answer(Wire::Gemini, "signed");
    assert_eq!(
        shapes(&answer),
        [
            r#"gemini {"thought":true,"text":"Two files"}"#,
            "text First.",
            r#"gemini {"thoughtSignature":"c2lnLW9uZQ=="}"#,
            r#"call fc-1 read_file {"path":"a.txt"}"#,
            r#"call fc-2 read_file {"path":"b.txt"}"#,
            r#"gemini {"text":"","thoughtSignature":"c2lnLXR3bw=="}"#,
        ]
    );
    assert_eq!(answer.tokens, Some(Tokens { input: 40, output: 50, reasoning: 20, ..Tokens::default() }));
}

#[test]
fn a_request_that_gemini_blocks_is_a_refusal_that_says_why() {
    let answer = answer(Wire::Gemini, "blocked");
    assert_eq!(heading(&answer).text, "The provider blocked the request (PROHIBITED_CONTENT).");
    assert_eq!((answer.stop, answer.tokens.map(|tokens| tokens.input)), (StopReason::Refusal, Some(12)));
}

#[test]
fn blocks_that_arrive_out_of_order_stand_in_the_order_of_their_index() {
    // F17
    let answer = answer(Wire::Anthropic, "out_of_order");
    assert!(matches!(&answer.parts[..], [Part::Text { text, .. }, Part::ToolCall { .. }] if &**text == "Looking."));
    assert_eq!(heading(&answer).calls, calls(&[("read_file", r#"{"path":"a"}"#)]));
}

#[test]
fn the_liberties_of_local_servers_do_not_mix_calls_up() {
    for scene in ["no_index", "one_index_twice", "no_ids", "interleaved"] {
        let answer = answer(Wire::OpenAi, scene);
        let heading = heading(&answer);
        assert_eq!(
            heading.calls,
            calls(&[("read_file", r#"{"path":"a"}"#), ("read_file", r#"{"path":"b"}"#)]),
            "{scene}"
        );
        assert_eq!((heading.stop, heading.malformed), (StopReason::ToolUse, 0), "{scene}");
        assert_eq!(heading.tokens.is_some(), scene != "no_index", "{scene}");
    }
}

#[test]
fn a_stream_cut_at_any_byte_is_told_and_never_holds_half_a_call() {
    // F16
    for (wire, scene) in all() {
        let bytes = recording(wire, scene);
        let whole = listen(wire, [bytes.as_slice()]);
        for cut in 0..bytes.len() {
            let outcome = listen(wire, [&bytes[..cut]]);
            let place = format!("{wire:?} {scene} cut at {cut}");
            match (&outcome, &whole) {
                (Ok(cut), Ok(whole)) => assert_eq!((&cut.parts, cut.stop), (&whole.parts, whole.stop), "{place}"),
                (Ok(_), Err(_)) => panic!("{place}: an answer out of a stream that has none"),
                (Err(error), _) => {
                    let expected = if cut == 0 { CallErrorKind::Connection } else { CallErrorKind::Truncated };
                    assert!(error.kind == expected || Some(error.kind) == kind(&whole), "{place}: {error}");
                    let text = whole.as_ref().map_or("Let me".to_owned(), |whole| heading(whole).text);
                    assert!(
                        scene == "out_of_order" || text.starts_with(error.partial.as_deref().unwrap_or("")),
                        "{place}"
                    );
                }
            }
        }
    }
}

#[test]
fn however_the_bytes_come_the_answer_is_the_same() {
    // F17
    for (wire, scene) in all() {
        let bytes = recording(wire, scene);
        let text = String::from_utf8(bytes.clone()).expect("recordings are text");
        let whole = listen(wire, [bytes.as_slice()]);
        let crlf = text.replace('\n', "\r\n");
        let variants = [
            ("crlf", crlf.clone()),
            ("cr", text.replace('\n', "\r")),
            ("a byte order mark", format!("\u{feff}{text}")),
            ("comments", text.replace("data:", ": keep-alive\n:\ndata:")),
            ("no space", text.replace("data: ", "data:")),
        ];
        for (way, variant) in &variants {
            assert_eq!(listen(wire, [variant.as_bytes()]), whole, "{wire:?} {scene}: {way}");
            assert_eq!(listen(wire, variant.as_bytes().chunks(1)), whole, "{wire:?} {scene}: {way}, byte by byte");
        }
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(listen(wire, bytes.chunks(size)), whole, "{wire:?} {scene}: {size} bytes at a time");
        }
    }
}

#[test]
fn words_in_passing_add_up_to_the_text() {
    for wire in WIRES {
        let (sender, heard) = std::sync::mpsc::channel();
        let sink = crate::DeltaSink::new(move |piece| sender.send(piece.to_owned()).expect("the receiver is open"));
        let mut listener = StreamReader::new(wire, Some(sink));
        for chunk in recording(wire, "parallel_calls").chunks(5) {
            listener.hear(chunk).expect("a good stream");
        }
        drop(listener);
        assert_eq!(heard.iter().collect::<String>(), "I will look at both.", "{wire:?}");
    }
}
