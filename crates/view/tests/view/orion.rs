//! Orion's words, held against the sample of its seed.

use agent::State;
use majordomo_view::Dialect;
use serde_json::Value;

use crate::story;

fn lines(name: &str) -> Vec<Value> {
    let mut orion = Dialect::named("orion").expect("the dialect exists");
    let frames = story::frames(&story::events(name));
    frames.iter().filter_map(|frame| orion.map(frame)).map(|line| line.parse().expect("a line is JSON")).collect()
}

fn told(line: &Value) -> String {
    let word = |key: &str| line[key].as_str().unwrap_or_default();
    match word("type") {
        "agent_delegate" => format!("agent_delegate {}->{}", word("from"), word("to")),
        "done" => "done".to_owned(),
        kind => format!("{kind} {}", word("agent")),
    }
}

// ORION-11, ORION-13, ORION-14
#[test]
fn the_sample_of_the_seed_comes_out_in_its_order() {
    let told: Vec<String> = lines("one_child").iter().map(told).collect();
    assert_eq!(
        told,
        [
            "agent_start butler",
            "text butler",
            "agent_delegate butler->triage",
            "agent_start triage",
            "text triage",
            "agent_complete triage",
            "agent_resume butler",
            "text butler",
            "done",
        ]
    );
}

// ORION-10, ORION-12
#[test]
fn every_line_has_exactly_the_fields_of_its_seed() {
    for line in story::names().iter().flat_map(|name| lines(name)) {
        let mut fields: Vec<&str> = line.as_object().expect("an object").keys().map(String::as_str).collect();
        fields.sort_unstable();
        let expected: &[&str] = match line["type"].as_str().expect("a type") {
            "agent_start" | "agent_complete" | "agent_resume" => &["agent", "timestamp", "type"],
            "agent_delegate" => &["from", "timestamp", "to", "type"],
            "text" => &["agent", "content", "type"],
            "done" => &["type"],
            other => panic!("Orion knows no {other}"),
        };
        assert_eq!(fields, expected);
        if let Some(timestamp) = line["timestamp"].as_str() {
            timestamp.parse::<jiff::Timestamp>().expect("a moment");
        }
    }
}

// ORION-15
#[test]
fn there_are_nine_states_and_one_is_delegating_while_a_specialist_works() {
    let all = [
        State::Idle,
        State::Initializing,
        State::LoadingContext,
        State::Processing,
        State::WaitingForTool,
        State::WaitingForUser,
        State::Delegating,
        State::Completing,
        State::Error,
    ];
    let words =
        "idle initializing loading_context processing waiting_for_tool waiting_for_user delegating completing error";
    assert_eq!(all.map(State::as_str).join(" "), words);
    let frames = story::frames(&story::events("one_child"));
    let at = |kind: &str, agent: &str| {
        let is_it = |frame: &majordomo_view::Frame| {
            let value: Value = frame.json().parse().expect("JSON");
            value["type"] == kind && value["agent"] == agent
        };
        frames.iter().position(is_it).expect("it is told")
    };
    let state_of_butler = |before: usize| {
        frames[..before].iter().rev().find_map(|frame| match frame.body {
            majordomo_view::Body::State { state } if frame.thread.is_root() => Some(state),
            _ => None,
        })
    };
    assert_eq!(state_of_butler(at("text", "triage")), Some(State::Delegating));
    assert_ne!(state_of_butler(at("agent_resume", "butler")), Some(State::Delegating));
}
