//! Words in passing: shown while they come, and gone with the turn they belong to.

use serde_json::{Value, json};

use crate::engine::Engine;
use crate::fixture::{told, whispered};
use crate::pictures::picture;

#[test]
fn what_was_being_said_is_not_shown_under_the_next_question() {
    let engine = Engine::new();
    let frames = [
        told(1, "run_started", "r", json!({"prompt": "Tell me"})),
        whispered(1, "Once "),
        told(2, "run_started", "r", json!({"prompt": "Something else"})),
        whispered(2, "In "),
        whispered(2, "1816 "),
    ];
    let coming = |count: usize| picture(&engine, &frames[..count])["deltas"].clone();
    assert_eq!(coming(2), json!([{"thread": "r", "turn": 1, "text": "Once "}]));
    assert_eq!(coming(3), json!([]), "the run that said it is not the one that goes on");
    assert_eq!(coming(5), json!([{"thread": "r", "turn": 2, "text": "In 1816 "}]));
}

#[test]
fn what_is_not_waited_for_any_more_is_not_shown_as_coming() {
    let engine = Engine::new();
    let frames = [
        told(1, "run_started", "r", json!({"prompt": "Tell me"})),
        whispered(1, "Once upon "),
        told(2, "notification", "r", json!({"kind": "stopping", "message": "stopping: enough"})),
        whispered(2, "I was about "),
    ];
    let coming = |count: usize| picture(&engine, &frames[..count])["deltas"].clone();
    assert_eq!(coming(3), json!([]));
    assert_eq!(coming(4), json!([{"thread": "r", "turn": 2, "text": "I was about "}]), "last words are heard");
}

#[test]
fn a_later_turn_takes_the_place_of_one_that_broke_off_whichever_is_heard_first() {
    let engine = Engine::new();
    for turns in [[1, 2], [2, 1]] {
        let [first, second] = turns.map(|turn| whispered(turn, "so"));
        let frames = [told(1, "run_started", "r", json!({"prompt": "Tell me"})), first, second];
        assert_eq!(picture(&engine, &frames)["deltas"], json!([{"thread": "r", "turn": 2, "text": "so"}]), "{turns:?}");
    }
}

#[test]
fn what_is_thought_is_shown_apart_until_the_log_tells_it() {
    let engine = Engine::new();
    let thought =
        |words: &str| json!({"type": "thinking_delta", "run": "r", "thread": "r", "turn": 1, "content": words});
    let frames = [
        told(1, "run_started", "r", json!({"prompt": "Tell me"})),
        thought("Let me ").to_string(),
        thought("see").to_string(),
        whispered(1, "Once "),
        told(2, "thinking", "r", json!({"content": "Let me see"})),
        told(3, "text", "r", json!({"content": "Once upon"})),
        told(4, "usage", "r", json!({"turn": 1})),
        thought("late").to_string(),
    ];
    let seen = picture(&engine, &frames[..4]);
    assert_eq!(seen["thoughts"], json!([{"thread": "r", "turn": 1, "text": "Let me see"}]));
    assert_eq!(seen["deltas"], json!([{"thread": "r", "turn": 1, "text": "Once "}]));
    let seen = picture(&engine, &frames);
    assert_eq!((&seen["thoughts"], &seen["deltas"]), (&Value::Null, &json!([])));
    let kinds: Vec<&str> = seen["threads"][0]["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|item| item["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["prompt", "thinking", "text"]);
}

#[test]
fn what_a_person_says_meanwhile_waits_until_the_model_is_asked_again() {
    let engine = Engine::new();
    let frames = [
        told(1, "run_started", "r", json!({"prompt": "Long work"})),
        told(2, "state", "r", json!({"state": "processing"})),
        told(3, "steered", "r", json!({"from": "person", "content": "Hurry"})),
        told(4, "state", "r", json!({"state": "waiting_for_tool"})),
        told(5, "state", "r", json!({"state": "processing"})),
    ];
    let is_read = |thread: &Value| thread["thoughtAt"].as_f64() > thread["items"][1]["seq"].as_f64();
    let seen = picture(&engine, &frames[..4])["threads"][0].clone();
    assert_eq!(seen["items"][1]["kind"], "steer");
    assert_eq!(seen["items"][1]["text"], "Hurry", "the words alone, as they were said");
    assert!(!is_read(&seen), "nobody has read it: {seen}");
    assert!(is_read(&picture(&engine, &frames)["threads"][0]), "it is read with the next turn");
}
