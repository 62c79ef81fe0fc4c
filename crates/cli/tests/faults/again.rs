//! A model that says the same thing again: a call is run once however often it stands in an answer, and one that comes
//! for ever is put an end to.

use std::fs;

use provider::Wire;
use testkit::model_server::{ModelServer, Request, Turn};
use testkit::world::Done;

use crate::place::{ANSWER, Place, frames};

const RUN: &str = r#"{"command":"echo one >> begun"}"#;
const OTHER: &str = r#"{"command":"echo two >> begun"}"#;

/// What a run comes to at a server, and the commands that it ran. The server refuses what a provider would.
async fn ran(wire: Wire, answering: impl Fn(&Request) -> Turn + Send + Sync + 'static) -> (Done, Vec<String>) {
    let server = ModelServer::start(answering).await;
    let (done, ran) = tokio::task::block_in_place(|| {
        let place = Place::at(&server, wire);
        let done = place.call(&["run", "Go", "--mode", "dangerous", "--jsonl"]);
        (done, fs::read_to_string(place.path("begun")).unwrap_or_default())
    });
    assert_eq!(server.refusals(), [""; 0], "every call has its result, and names are used once");
    (done, ran.lines().map(str::to_owned).collect())
}

fn last(done: &Done) -> serde_json::Value {
    frames(&done.out).pop().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_stands_twice_in_an_answer_is_run_once() {
    // F5
    for wire in Wire::ALL {
        let (done, ran) = ran(wire, |request| match request.assistant_messages {
            0 => Turn::default().call("call_1", "run_command", RUN).call("call_1", "run_command", RUN),
            _ => Turn::text(ANSWER),
        })
        .await;
        assert_eq!((done.code, last(&done)["answer"].as_str()), (Some(0), Some(ANSWER)), "{}", done.err);
        assert_eq!(ran, ["one"], "{wire:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_calls_under_a_name_that_was_used_are_run_once_each() {
    // F5
    for wire in Wire::ALL {
        let (done, ran) = ran(wire, |request| match request.assistant_messages {
            0 => Turn::default().call("call_1", "run_command", RUN),
            1 => Turn::default().call("call_1", "run_command", OTHER),
            _ => Turn::text(ANSWER),
        })
        .await;
        assert_eq!((done.code, last(&done)["answer"].as_str()), (Some(0), Some(ANSWER)), "{}", done.err);
        assert_eq!(ran, ["one", "two"], "{wire:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_for_ever_is_refused_and_then_ends_the_run() {
    // F5: under one name and under ever other ones.
    for wire in Wire::ALL {
        for is_named_alike in [true, false] {
            let (done, ran) = ran(wire, move |request| {
                let name = if is_named_alike { 1 } else { request.assistant_messages };
                Turn::default().call(&format!("call_{name}"), "run_command", RUN)
            })
            .await;
            assert_eq!(done.code, Some(1), "{}", done.err);
            let reason = "run_command was called 8 times in a row with the same arguments";
            assert_eq!(last(&done)["reason"], reason, "{}", done.out);
            assert!(!done.err.contains("panicked"), "{}", done.err);
            assert_eq!(ran.len(), 4, "{wire:?}: from the fifth on it is refused");
        }
    }
}
