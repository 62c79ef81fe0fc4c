//! Streams, however they are written and however they are cut.

use serde_json::{Value, json};

use crate::engine::Engine;

fn events(body: &str) -> Vec<Value> {
    let engine = Engine::new();
    let whole = serde_json::from_str(&engine.call("stream", &[body])).expect("events are JSON");
    let differ = engine.call("cuts", &[body]);
    assert_eq!(differ, "[]", "a cut at these places changes what is read");
    whole
}

fn frames(body: &str) -> Vec<Value> {
    events(body).into_iter().map(|sent| sent["frame"].clone()).collect()
}

#[test]
fn a_stream_is_the_same_wherever_it_is_cut() {
    let body = r#"id: 1
data: {"type":"text","content":"grüße 🦊"}

id: 2
data: {"type":"done"}

"#;
    let expected = [
        json!({"id": 1, "frame": {"type": "text", "content": "grüße 🦊"}}),
        json!({"id": 2, "frame": {"type": "done"}}),
    ];
    for ends in ["\n", "\r\n", "\r"] {
        assert_eq!(events(&body.replace('\n', ends)), expected, "{ends:?}");
    }
}

#[test]
fn an_event_is_there_with_the_end_of_its_line() {
    let engine = Engine::new();
    let pieces = json!(["data: {\"type\":\"a\"}", "\r", "\n", "\n", "data: {\"type\":", "\"b\"}\n"]).to_string();
    assert_eq!(engine.call("piecewise", &[&pieces]), "[[0,null],[1,null],[0,null],[0,null],[0,null],[1,null]]");
}

#[test]
fn a_mark_at_the_beginning_comments_and_other_fields_are_passed_over() {
    let body =
        "\u{feff}: hello\nevent: message\ndata: {\"type\":\"a\"}\n\n:\n: ping\n\ndata\ndatax: {\"type\":\"no\"}\n\n";
    assert_eq!(frames(body), [json!({"type": "a"})]);
}

#[test]
fn data_of_several_lines_is_joined_where_the_lines_are_no_event_by_themselves() {
    let body = r#"data: {
data:   "type": "text",
data:   "list": [
data: {"a": 1}
data: ]}

data: {"type":"b"}
"#;
    assert_eq!(frames(body), [json!({"type": "text", "list": [{"a": 1}]}), json!({"type": "b"})]);
}

#[test]
fn what_is_broken_is_passed_over_and_hides_nothing_after_it() {
    let body = r#"data: {"type":"cut o
data: {"type":"a"}

data: nothing

data: 5

data: null

data: [1]

data: {"type":"b"}
"#;
    assert_eq!(frames(body), [json!({"type": "a"}), json!({"type": "b"})]);
}

// ORION-23
#[test]
fn a_body_may_be_indented_and_have_no_empty_lines() {
    let body =
        "\n        data: {\"type\":\"agent_start\",\"agent\":\"butler\"}\n        data: {\"type\":\"done\"}\n      ";
    assert_eq!(frames(body), [json!({"type": "agent_start", "agent": "butler"}), json!({"type": "done"})]);
}

#[test]
fn the_last_event_needs_no_end_of_line() {
    assert_eq!(frames("data: {\"type\":\"a\"}"), [json!({"type": "a"})]);
    assert_eq!(frames("data: {\ndata: \"type\":\"a\"}"), [json!({"type": "a"})]);
}

#[test]
fn a_number_belongs_to_the_next_event_and_else_the_frame_has_its_own() {
    let body = r#"id: 7

data: {"type":"a","seq":3}

data: {"type":"b","seq":9}

id: x
data: {"type":"c"}

"#;
    let ids: Vec<_> = events(body).iter().map(|sent| sent["id"].clone()).collect();
    assert_eq!(ids, [json!(7), json!(9), Value::Null]);
}

#[test]
fn a_stream_may_say_when_to_come_back() {
    let pieces = json!(["retry: 1500\n", "retry: soon\n", "retry: 20", "00\n"]).to_string();
    let told = Engine::new().call("piecewise", &[&pieces]);
    assert_eq!(told, "[[0,1500],[0,1500],[0,1500],[0,2000]]");
}
