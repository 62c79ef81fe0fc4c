//! Whom the rail shows, frame by frame.

use serde_json::{Value, json};

use crate::engine::Engine;

#[test]
fn while_several_agents_work_the_one_that_is_shown_stays_until_it_is_done() {
    let frames = [
        thread(1, "agent_start", "r", "general", json!({})),
        thread(2, "agent_delegate", "r", "general", json!({"from": "general", "to": "explore", "sub_agent_id": "r.1"})),
        thread(3, "agent_delegate", "r", "general", json!({"from": "general", "to": "review", "sub_agent_id": "r.2"})),
        thread(4, "agent_start", "r.1", "explore", json!({})),
        thread(5, "agent_start", "r.2", "review", json!({})),
        thread(6, "state", "r", "general", json!({"state": "delegating"})),
        child(7, "sub_agent_complete", "r.1", "explore"),
        child(8, "sub_agent_complete", "r.2", "review"),
        thread(9, "agent_resume", "r", "general", json!({})),
        thread(10, "done", "r", "general", json!({"outcome": "completed"})),
    ];
    let shown =
        ["general", "explore", "explore", "explore", "explore", "explore", "review", "review", "general", "general"];
    assert_eq!(rail(&frames), shown);
}

#[test]
fn whoever_hands_over_gives_the_word_away_though_it_works_on() {
    let frames = [
        thread(1, "agent_start", "r", "butler", json!({})),
        thread(2, "state", "r", "butler", json!({"state": "processing"})),
        thread(3, "agent_delegate", "r", "butler", json!({"from": "butler", "to": "triage", "sub_agent_id": "r.1"})),
        thread(4, "state", "r", "butler", json!({"state": "processing"})),
    ];
    assert_eq!(rail(&frames), ["butler", "butler", "triage", "triage"]);
}

#[test]
fn the_word_goes_to_somebody_at_work_where_the_last_to_begin_is_done() {
    let frames = [
        thread(1, "agent_delegate", "r", "general", json!({"from": "general", "to": "explore", "sub_agent_id": "r.1"})),
        thread(2, "state", "r", "general", json!({"state": "delegating"})),
        thread(3, "agent_delegate", "r", "general", json!({"from": "general", "to": "plan", "sub_agent_id": "r.2"})),
        thread(4, "agent_delegate", "r", "general", json!({"from": "general", "to": "review", "sub_agent_id": "r.3"})),
        child(5, "sub_agent_complete", "r.3", "review"),
        child(6, "sub_agent_error", "r.1", "explore"),
    ];
    assert_eq!(rail(&frames), ["explore", "explore", "explore", "explore", "explore", "plan"]);
}

fn rail(frames: &[Value]) -> Vec<String> {
    let engine = Engine::new();
    let lines: Vec<String> = frames.iter().map(Value::to_string).collect();
    engine.call("load", &[&lines.join("\n")]);
    serde_json::from_str(&engine.call("rail", &[])).expect("names")
}

fn thread(seq: u64, kind: &str, thread: &str, agent: &str, more: Value) -> Value {
    let mut frame = json!({"type": kind, "seq": seq, "run": "r", "thread": thread, "agent": agent});
    let Value::Object(more) = more else { panic!("fields") };
    frame.as_object_mut().expect("an object").extend(more);
    frame
}

fn child(seq: u64, kind: &str, id: &str, agent: &str) -> Value {
    thread(seq, kind, id, agent, json!({"sub_agent_id": id, "parent_agent_id": "r"}))
}
