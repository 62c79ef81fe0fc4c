//! Logs that were written before the texts for the model were part of them, and the requests that they led to. They must lead to
//! the same requests for ever: the files are never written again.

#![expect(clippy::disallowed_methods, reason = "the test reads its files; the rules do not")]

use std::path::{Path, PathBuf};

use majordomo_agent::message::{Part, Told};
use majordomo_agent::policy::Policy;
use majordomo_agent::{Event, InputId, Thread, Time, context};
use serde::Deserialize;
use serde_json::{Value, json};

use super::room::Room;

#[derive(Deserialize)]
struct Line {
    at: Time,
    event: Event,
}

#[test]
fn a_log_from_before_leads_to_the_same_requests() {
    for name in ["butler", "child", "cut", "root", "schema", "summary"] {
        let log: Vec<Line> = lines(&format!("{name}.log.jsonl"));
        let expected: Vec<Value> = lines(&format!("{name}.requests.jsonl"));
        let found = requests(&log);
        assert_eq!(found.len(), expected.len(), "{name}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{name}");
        }
    }
}

#[test]
fn what_a_model_is_told_is_what_stands_in_the_log() {
    let mut room = Room::new(Policy::default());
    let told = Told { before: "(".into(), after: ")".into(), without: false };
    let (input, text, from) = (InputId::new("s"), "hurry".into(), "person".into());
    room.thread.apply(room.now, &Event::Steered { input, text, from, told: Some(told) });
    assert!(matches!(&room.thread.inbox.notices[..], [Part::Text { text, .. }] if &**text == "(hurry)"));
}

#[test]
fn a_text_is_kept_around_another_and_whole_again() {
    for (whole, text) in [("a b c", "b"), ("aaa", "a"), ("a", ""), ("(no text)", "   "), ("grüße ä", "ä")] {
        assert_eq!(&*Told::of(whole, text).with(text), whole, "{whole} {text}");
    }
}

/// The requests that a log leads to, and the conversation at its end.
fn requests(log: &[Line]) -> Vec<Value> {
    let mut thread = Thread::new(log[0].at, &log[0].event);
    let messages = |thread: &Thread| -> Vec<Value> {
        let messages = thread.talk.messages().iter();
        messages.map(|message| serde_json::to_value(&**message).expect("a message is JSON")).collect()
    };
    let mut all = Vec::new();
    for Line { at, event } in &log[1..] {
        thread.apply(*at, event);
        if let Event::TurnStarted(turn) = event {
            let last_text = thread.run.as_ref().map(|run| run.words.last_text.clone());
            let system = context::system(&thread.created);
            all.push(
                json!({"turn": turn.turn, "system": system, "messages": messages(&thread), "last_text": last_text}),
            );
        }
    }
    let system = context::system(&thread.created);
    all.push(json!({"turn": null, "system": system, "messages": messages(&thread)}));
    all
}

fn lines<T: for<'de> Deserialize<'de>>(name: &str) -> Vec<T> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules/golden").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}"))).collect()
}
