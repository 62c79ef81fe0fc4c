//! Words in passing: shown while they come, and gone with the turn they belong to.

use serde_json::{Value, json};

use crate::engine::Engine;
use crate::pictures::picture;

#[test]
fn what_was_being_said_is_not_shown_under_the_next_question() {
    let engine = Engine::new();
    let begins = |seq: u64, prompt: &str| json!({"type": "run_started", "seq": seq, "run": "r", "thread": "r", "agent": "a", "prompt": prompt});
    let says = |turn: u64, words: &str| json!({"type": "text_delta", "run": "r", "thread": "r", "turn": turn, "content": words});
    let frames =
        [begins(1, "Tell me"), says(1, "Once "), begins(2, "Something else"), says(2, "In "), says(2, "1816 ")];
    let coming = |count: usize| {
        let frames: Vec<String> = frames[..count].iter().map(Value::to_string).collect();
        picture(&engine, &frames)["deltas"].clone()
    };
    assert_eq!(coming(2), json!([{"thread": "r", "turn": 1, "text": "Once "}]));
    assert_eq!(coming(3), json!([]), "the run that said it is not the one that goes on");
    assert_eq!(coming(5), json!([{"thread": "r", "turn": 2, "text": "In 1816 "}]));
}

#[test]
fn a_later_turn_takes_the_place_of_one_that_broke_off_whichever_is_heard_first() {
    let engine = Engine::new();
    let run = json!({"type": "run_started", "seq": 1, "run": "r", "thread": "r", "agent": "a", "prompt": "Tell me"});
    let says = |turn: u64| json!({"type": "text_delta", "run": "r", "thread": "r", "turn": turn, "content": "so"});
    for turns in [[1, 2], [2, 1]] {
        let frames: Vec<String> = [&run, &says(turns[0]), &says(turns[1])].map(Value::to_string).to_vec();
        assert_eq!(picture(&engine, &frames)["deltas"], json!([{"thread": "r", "turn": 2, "text": "so"}]), "{turns:?}");
    }
}

#[test]
fn what_a_person_says_meanwhile_waits_until_the_model_is_asked_again() {
    let engine = Engine::new();
    let about = |seq: u64, kind: &str, more: Value| {
        let mut frame = json!({"type": kind, "seq": seq, "run": "r", "thread": "r", "agent": "a"});
        let more = more.as_object().expect("fields").clone();
        frame.as_object_mut().expect("fields").extend(more);
        frame.to_string()
    };
    let mut frames = vec![
        about(1, "run_started", json!({"prompt": "Long work"})),
        about(2, "state", json!({"state": "processing"})),
        about(3, "steered", json!({"from": "person", "content": "Hurry"})),
    ];
    let thread = |frames: &[String]| picture(&engine, frames)["threads"][0].clone();
    let seen = thread(&frames);
    assert_eq!(seen["items"][1]["kind"], "steer");
    assert_eq!(seen["items"][1]["text"], "Hurry", "the words alone, as they were said");
    assert!(seen["thoughtAt"].as_f64() < seen["items"][1]["seq"].as_f64(), "nobody has read it");
    frames.push(about(4, "state", json!({"state": "waiting_for_tool"})));
    frames.push(about(5, "state", json!({"state": "processing"})));
    let seen = thread(&frames);
    assert!(seen["thoughtAt"].as_f64() > seen["items"][1]["seq"].as_f64(), "it is read with the next turn");
}
