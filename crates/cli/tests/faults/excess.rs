//! Answers that are too much: each ends at a limit that is named, with the exit code of a provider that failed.

use provider::{Wire, limits};
use testkit::model_server::{Fault, ModelServer, Request, Turn};
use testkit::world::Done;

use crate::place::{Place, answers, fails};

/// What a run comes to when this is the answer.
async fn answered_with(wire: Wire, turn: Turn) -> Done {
    let server = ModelServer::start(move |_| turn.clone()).await;
    run(&server, wire)
}

/// What a run comes to at this server.
fn run(server: &ModelServer, wire: Wire) -> Done {
    tokio::task::block_in_place(|| Place::at(server, wire).call(&["run", "Go", "--mode", "dangerous"]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_fifty_megabytes_ends_at_the_limit_of_a_line() {
    // F19
    for wire in Wire::ALL {
        let (kind, begin) = match wire {
            Wire::Ollama => ("application/x-ndjson", "{\"message\":"),
            _ => ("text/event-stream", "data: "),
        };
        let headers = vec![("content-type", kind.to_owned())];
        let body = [begin.as_bytes(), &vec![b'x'; 50 << 20]].concat();
        let done = answered_with(wire, Turn::default().fault(Fault::Other { headers, body })).await;
        fails(&done, 4, &[&limits::LINE_BYTES.to_string()]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_calls_end_at_the_limit_of_an_answer_and_none_is_run() {
    // F19
    for wire in Wire::ALL {
        let call = |turn: Turn, nth: usize| turn.call(&format!("call_{nth}"), "run_command", r#"{"command":"echo x"}"#);
        let turn = (0..10_000).fold(Turn::default(), call);
        let done = answered_with(wire, turn).await;
        fails(&done, 4, &[&limits::PARTS.to_string()]);
        assert!(!done.err.contains("tool run_command"), "{}", done.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_a_megabyte_ends_at_the_limit_of_a_name_and_is_not_shown() {
    // F19
    for wire in Wire::ALL {
        let turn = Turn::default().call("call_1", &"n".repeat(1 << 20), "{}");
        let done = answered_with(wire, turn).await;
        fails(&done, 4, &[&limits::TOOL_NAME_BYTES.to_string()]);
        assert!(done.err.len() < 10_000, "{} bytes on stderr", done.err.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_more_calls_than_an_answer_may_hold_the_rest_is_refused_and_the_run_goes_on() {
    // F19, T15
    for wire in Wire::ALL {
        let call = |turn: Turn, nth: usize| {
            turn.call(&format!("call_{nth}"), "list_dir", &format!(r#"{{"path":".","depth":{nth}}}"#))
        };
        let many = (1..=300).fold(Turn::default(), call);
        let answer = move |request: &Request| match request.assistant_messages {
            0 => many.clone(),
            _ => Turn::text("Enough."),
        };
        let server = ModelServer::start(answer).await;
        let done = run(&server, wire);
        answers(&done, 0, "Enough.");
        assert_eq!(server.refusals(), [""; 0], "every call has its result");
        let told = String::from_utf8(server.requests()[1].raw.to_vec()).expect("text");
        assert_eq!(told.matches("not run: one answer may hold 128 calls").count(), 300 - 128, "{wire:?}");
    }
}
