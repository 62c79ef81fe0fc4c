//! What a person is shown before a decision: nothing is hidden, nothing is left out, and it is what will be done.

use serde_json::{Value, json};

use crate::engine::Engine;
use crate::fixture::told;

/// Characters from here on are not looked at in long runs: none of them is a blank.
const PLANE: u32 = 0x1_0000;

fn points(engine: &Engine, from: u32, to: u32, times: usize) -> Vec<u32> {
    let arguments = [from.to_string(), to.to_string(), times.to_string()];
    let found = engine.call("shownOtherwise", &arguments.each_ref().map(String::as_str));
    serde_json::from_str(&found).expect("a list of numbers")
}

/// What the terminal shows otherwise than it is.
fn in_the_terminal(from: u32, to: u32, times: usize) -> Vec<u32> {
    let is_other = |point: &u32| {
        let Some(sign) = char::from_u32(*point) else { return false };
        let text = sign.to_string().repeat(times);
        view::safe::block(&text) != text
    };
    (from..to).filter(is_other).collect()
}

// KATA-7, KATA-15
#[test]
fn a_badge_is_the_agent_else_what_its_call_says_else_task() {
    let child = json!({"sub_agent_id": "r.1", "parent_agent_id": "r", "tool_use_id": "c", "agent": null});
    let start = |seq, input: Value, slug: Option<&str>| {
        told(
            seq,
            "tool_start",
            "r",
            json!({"tool_use_id": "c", "tool_name": "Task", "input": input, "agent_slug": slug}),
        )
    };
    let frames = [
        told(1, "sub_agent_start", "r.1", child),
        start(2, json!({}), None),
        start(3, json!({"subagent_type": "Explore"}), None),
        start(4, json!({"subagent_type": "Explore"}), Some("explore")),
        told(5, "text", "r.1", json!({"agent": "gardener", "content": "Seen."})),
    ];
    let badges = |frames: &[String]| -> Vec<Value> {
        let engine = Engine::new();
        engine.call("load", &[&frames.join("\n")]);
        serde_json::from_str(&engine.call("badges", &["r.1"])).expect("a list")
    };
    assert_eq!(badges(&frames), ["Task", "Task", "Explore", "explore", "gardener"]);
    let backwards: Vec<String> = frames.iter().rev().cloned().collect();
    assert_eq!(badges(&backwards).last(), Some(&json!("gardener")), "whatever comes first");
    let hostile = [told(
        1,
        "sub_agent_start",
        "r.1",
        json!({"sub_agent_id": "r.1", "sub_agent_name": "a\u{202e}b", "agent": null}),
    )];
    assert_eq!(badges(&hostile), ["a⟨U+202E⟩b"], "T24");
}

// T24
#[test]
fn page_and_terminal_hide_nothing_and_agree_on_every_character() {
    let engine = Engine::new();
    for from in (0..=0x10_0000).step_by(PLANE as usize) {
        let (page, terminal) = (points(&engine, from, from + PLANE, 1), in_the_terminal(from, from + PLANE, 1));
        assert!(terminal.len() >= 2, "every plane ends with two that are no characters");
        let differ = |one: &[u32], other: &[u32]| -> Vec<String> {
            one.iter().filter(|point| !other.contains(point)).map(|point| format!("U+{point:04X}")).collect()
        };
        assert_eq!(differ(&page, &terminal), [] as [&str; 0], "only the page shows these by their numbers");
        assert_eq!(differ(&terminal, &page), [] as [&str; 0], "only the terminal does");
    }
}

// T24
#[test]
fn page_and_terminal_count_more_than_sixteen_blanks_of_every_kind() {
    let engine = Engine::new();
    // Blank lines stay as they are in the terminal, which has no frame to push them out of.
    let but_lines = |mut points: Vec<u32>| {
        points.retain(|point| *point != u32::from('\n'));
        points
    };
    let [few, many] = [16, 17].map(|times| in_the_terminal(0, PLANE, times));
    assert_eq!(but_lines(points(&engine, 0, PLANE, 16)), few);
    assert_eq!(but_lines(points(&engine, 0, PLANE, 17)), many);
    for blank in [' ', '\t', '\u{a0}', '\u{1680}', '\u{2003}', '\u{2800}', '\u{3000}'] {
        assert!(!few.contains(&blank.into()) && many.contains(&blank.into()), "U+{:04X}", u32::from(blank));
    }
    let mixed = format!("ls{}; rm -rf /", " \u{a0}\t\u{2800}".repeat(10));
    assert_eq!(engine.call("visible", &[&mixed]), "ls⟨blank ×40⟩; rm -rf /");
    assert_eq!(engine.call("visible", &[&format!("a{}b", "\n \t".repeat(20) + "\n")]), "a\n⟨blank line ×20⟩\nb");
    assert_eq!(engine.call("visible", &["a\n\n\n  b"]), "a\n\n\n  b");
}

// T24
#[test]
fn what_is_edited_shows_what_cannot_be_seen_and_comes_back_the_same() {
    let input = json!({"path": "a\u{202e}b\u{e0041}\u{a0}c d\u{13430}", "halves": "x"}).to_string();
    let (text, is_same): (String, bool) =
        serde_json::from_str(&Engine::new().call("edited", &[&input])).expect("an answer");
    assert!(text.contains(r"a\u202eb\udb40\udc41\u00a0c d\ud80d\udc30"), "{text}");
    assert!(is_same);
}

fn calls(tool: &str, input: &Value) -> Value {
    Engine::new().call("calls", &[tool, &input.to_string()]).parse().expect("an answer")
}

// T24, T25
#[test]
fn a_call_is_drawn_where_all_that_it_would_do_can_be_drawn() {
    let edit = |old: &str, fresh: &str, everywhere: bool| json!({"old": old, "fresh": fresh, "everywhere": everywhere});
    assert_eq!(
        calls("write_file", &json!({"file": "a", "text": "x\n"})),
        json!({"path": "a", "isWhole": true, "edits": [edit("", "x\n", false)]})
    );
    assert_eq!(
        calls("edit_file", &json!({"path": "a", "old_string": "x", "new_text": "y", "replace_all": true, "edits": []})),
        json!({"path": "a", "isWhole": false, "edits": [edit("x", "y", true)]})
    );
    let list = json!([{"old_text": "x", "new_text": "y"}, {"old_text": "1", "new_text": "", "all": true}]);
    assert_eq!(
        calls("edit_file", &json!({"path": "a", "edits": list})),
        json!({"path": "a", "isWhole": false, "edits": [edit("x", "y", false), edit("1", "", true)]})
    );
}

// T24, T25
#[test]
fn a_call_of_which_a_part_could_not_be_drawn_is_not_drawn_at_all() {
    let list = json!([{"old_text": "list = 1", "new_text": "list = 2"}]);
    let pair = |more: Value| {
        let mut input = json!({"path": "a", "old_text": "safe = true", "new_text": "safe = false"});
        let Value::Object(more) = more else { panic!("an object") };
        input.as_object_mut().expect("an object").extend(more);
        input
    };
    let edits = [
        pair(json!({"edits": list})),
        pair(json!({"edits": list.to_string()})),
        pair(json!({"edits": null})),
        pair(json!({"all": "true"})),
        pair(json!({"old_string": "x"})),
        pair(json!({"file": "b"})),
        pair(json!({"mode": "x"})),
        json!({"path": "a", "edits": list.to_string()}),
        json!({"path": "a", "edits": list, "all": true}),
        json!({"path": "a", "edits": list, "old_text": "x"}),
        json!({"path": "a", "edits": [{"old_text": "x", "new_text": "y", "then": "z"}]}),
        json!({"path": "a", "edits": [{"old_text": "x", "new_text": "y", "new_string": "z"}]}),
        json!({"path": "a", "edits": [{"old_text": "x", "new_text": "y"}, null]}),
        json!({"path": "a", "edits": []}),
        json!({"path": 1, "old_text": "x", "new_text": "y"}),
        json!([]),
        json!("path"),
        Value::Null,
    ];
    for input in edits {
        assert_eq!(calls("edit_file", &input), Value::Null, "{input}");
    }
    for input in [json!({"path": "a", "content": "x", "text": "y"}), json!({"path": "a", "content": "x", "mode": 7})] {
        assert_eq!(calls("write_file", &input), Value::Null, "{input}");
    }
    assert_eq!(calls("run_command", &json!({"path": "a", "content": "x"})), Value::Null);
}

// T24
#[test]
fn a_number_that_a_page_cannot_hold_is_known_and_shown_as_it_is_written() {
    let engine = Engine::new();
    for (number, is_rounded) in [
        ("9007199254740991", "false"),
        ("-9007199254740991", "false"),
        ("0.1", "false"),
        ("9007199254740993", "true"),
        ("-9007199254740993", "true"),
        ("1e400", "true"),
    ] {
        assert_eq!(
            engine.call("rounded", &[&format!(r#"{{"a": ["9007199254740993", {{"b": {number}}}]}}"#)]),
            is_rounded
        );
    }
    let row = r##"{"id":"x","input":{"to":9007199254740993,"#9":"\"#9 $","list":[-1.50,1e400,{}],"2":true},"n":1}"##;
    let shown = "{\n  \"to\": 9007199254740993,\n  \"#9\": \"\\\"#9 $\",\n  \"list\": [\n    -1.50,\n    1e400,\n    {}\n  ],\n  \"2\": true\n}";
    assert_eq!(engine.call("written", &[row, "input"]), shown);
}
