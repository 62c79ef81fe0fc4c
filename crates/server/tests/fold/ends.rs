//! How something ended is told where it ends, and only there.

use serde_json::{Value, json};

use crate::engine::Engine;
use crate::fixture::told;

#[test]
fn the_cause_of_a_failure_stands_in_the_end_alone() {
    let engine = Engine::new();
    let frames = [
        told(1, "run_started", "r", json!({"prompt": "Go"})),
        told(2, "retry", "r", json!({"turn": 1, "message": "no answer"})),
        told(3, "notification", "r", json!({"kind": "stopping", "message": "stopping: no answer"})),
        told(4, "error", "r", json!({"message": "no answer"})),
        told(5, "error", "r", json!({"message": "the disk is full"})),
        told(6, "done", "r", json!({"outcome": "error", "reason": "no answer"})),
    ];
    let rows = |count: usize| {
        engine.call("load", &[&frames[..count].join("\n")]);
        serde_json::from_str::<Vec<String>>(&engine.call("rows", &["r"])).expect("rows")
    };
    let again = "notice: The model is asked again: no answer";
    assert_eq!(rows(3), ["prompt: Go", again, "notice: stopping: no answer"], "it is told while it ends");
    assert_eq!(rows(6), ["prompt: Go", again, "notice: the disk is full", "end: no answer"]);
}

#[test]
fn the_last_bar_of_a_thread_that_was_stopped_lasts_until_its_end_and_says_so() {
    let engine = Engine::new();
    let child = |seq: u64, kind: &str, data: Value| {
        told(seq, kind, "r.1", json!({"parent_agent_id": "r", "sub_agent_id": "r.1", "goal": "Look", "data": data}))
    };
    let frames = [
        told(1, "run_started", "r", json!({"prompt": "Go"})),
        child(2, "sub_agent_start", Value::Null),
        told(3, "state", "r.1", json!({"state": "processing"})),
        told(5, "state", "r.1", json!({"state": "completing"})),
        child(8, "sub_agent_error", json!({"outcome": "cancelled", "report": "", "error": "enough"})),
    ];
    engine.call("load", &[&frames.join("\n")]);
    let bars: Value = engine.call("bars", &[]).parse().expect("bars");
    assert_eq!(bars["r.1"], json!([["model", 5000, "stopped"]]));
}
