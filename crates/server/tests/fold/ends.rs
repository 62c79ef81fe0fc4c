//! Why something ended is told where it ends, and only there.

use serde_json::{Value, json};

use crate::engine::Engine;

#[test]
fn the_cause_of_a_failure_stands_in_the_end_alone() {
    let engine = Engine::new();
    let frames = [
        json!({"type": "run_started", "seq": 1, "run": "r", "thread": "r", "prompt": "Go"}),
        json!({"type": "retry", "seq": 2, "run": "r", "thread": "r", "turn": 1, "message": "no answer"}),
        json!({"type": "notification", "seq": 3, "run": "r", "thread": "r", "kind": "stopping", "message": "it is being ended: no answer"}),
        json!({"type": "error", "seq": 4, "run": "r", "thread": "r", "message": "no answer"}),
        json!({"type": "error", "seq": 5, "run": "r", "thread": "r", "message": "the disk is full"}),
        json!({"type": "done", "seq": 6, "run": "r", "thread": "r", "outcome": "error", "reason": "no answer"}),
    ];
    let rows = |count: usize| {
        let lines: Vec<String> = frames[..count].iter().map(Value::to_string).collect();
        engine.call("load", &[&lines.join("\n")]);
        serde_json::from_str::<Vec<String>>(&engine.call("rows", &["r"])).expect("rows")
    };
    let asked_again = "notice: The model is asked again: no answer";
    assert_eq!(
        rows(3),
        ["prompt: Go", asked_again, "notice: it is being ended: no answer"],
        "while it ends it is told"
    );
    assert_eq!(rows(6), ["prompt: Go", asked_again, "notice: the disk is full", "end: no answer"]);
}
