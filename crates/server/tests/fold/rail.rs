//! Whom the rail shows, frame by frame.

use serde_json::json;

use crate::engine::Engine;
use crate::fixture::told;

#[test]
fn while_several_agents_work_the_one_that_is_shown_stays_until_it_is_done() {
    let frames = [
        of("general", 1, "agent_start", "r"),
        delegates("general", 2, "explore", "r.1"),
        delegates("general", 3, "review", "r.2"),
        of("explore", 4, "agent_start", "r.1"),
        of("review", 5, "agent_start", "r.2"),
        is("general", 6, "delegating"),
        ends("explore", 7, "sub_agent_complete", "r.1"),
        ends("review", 8, "sub_agent_complete", "r.2"),
        of("general", 9, "agent_resume", "r"),
        of("general", 10, "done", "r"),
    ];
    let shown =
        ["general", "explore", "explore", "explore", "explore", "explore", "review", "review", "general", "general"];
    assert_eq!(rail(&frames), shown);
}

#[test]
fn an_agent_that_delegates_is_no_longer_the_active_one_though_it_works_on() {
    let frames = [
        of("butler", 1, "agent_start", "r"),
        is("butler", 2, "processing"),
        delegates("butler", 3, "triage", "r.1"),
        is("butler", 4, "processing"),
    ];
    assert_eq!(rail(&frames), ["butler", "butler", "triage", "triage"]);
}

#[test]
fn an_agent_at_work_becomes_the_active_one_where_the_last_to_begin_is_done() {
    let frames = [
        delegates("general", 1, "explore", "r.1"),
        is("general", 2, "delegating"),
        delegates("general", 3, "plan", "r.2"),
        delegates("general", 4, "review", "r.3"),
        ends("review", 5, "sub_agent_complete", "r.3"),
        ends("explore", 6, "sub_agent_error", "r.1"),
    ];
    assert_eq!(rail(&frames), ["explore", "explore", "explore", "explore", "explore", "plan"]);
}

fn rail(frames: &[String]) -> Vec<String> {
    let engine = Engine::new();
    engine.call("load", &[&frames.join("\n")]);
    serde_json::from_str(&engine.call("rail", &[])).expect("names")
}

/// A frame of an agent.
fn of(agent: &str, seq: u64, kind: &str, thread: &str) -> String {
    told(seq, kind, thread, json!({"agent": agent}))
}

fn is(agent: &str, seq: u64, state: &str) -> String {
    told(seq, "state", "r", json!({"agent": agent, "state": state}))
}

fn delegates(agent: &str, seq: u64, to: &str, child: &str) -> String {
    told(seq, "agent_delegate", "r", json!({"agent": agent, "from": agent, "to": to, "sub_agent_id": child}))
}

fn ends(agent: &str, seq: u64, kind: &str, id: &str) -> String {
    told(seq, kind, id, json!({"agent": agent, "sub_agent_id": id, "parent_agent_id": "r"}))
}
