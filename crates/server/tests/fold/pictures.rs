//! Frames go in, the picture that must come out comes out: held against the view where there is a log, and against a
//! file.
//!
//! `UPDATE_GOLDEN=1` writes what comes out; the difference is then read by a person.

use std::fs;

use serde_json::Value;

use crate::engine::Engine;
use crate::fixture::{self, Fixture};
use crate::folded;

/// The page's picture of frames, in the order in which they are given.
pub fn picture(engine: &Engine, frames: &[String]) -> Value {
    engine.call("load", &[&frames.join("\n")]);
    let order = serde_json::to_string(&(0..frames.len()).collect::<Vec<_>>()).expect("numbers");
    engine.call("picture", &[&order]).parse().expect("a picture is JSON")
}

// DESIGN 8, INV-7, KATA-2, KATA-9 to KATA-14, KATA-18
#[test]
fn the_page_shows_what_the_view_shows_after_every_event_of_every_family() {
    let engine = Engine::new();
    for Fixture { name, events, .. } in fixture::families() {
        for cut in 1..=events.len() {
            let frames = fixture::frames(&events[..cut]);
            let mut page = folded::common(&picture(&engine, &frames));
            let mut view = folded::picture(&events[..cut], &frames);
            if folded::owes_figures(&events[..cut]) {
                (page, view) = (folded::without_figures(page), folded::without_figures(view));
            }
            assert_eq!(page, view, "{name}, after {cut} events: left is the page, right the view");
        }
    }
}

// KATA-9, KATA-11 to KATA-17, INV-7
#[test]
fn every_stream_gives_the_picture_beside_it() {
    let engine = Engine::new();
    let streams = fixture::streams();
    assert!(streams.len() >= 8, "the streams are part of the repository");
    for Fixture { name, frames, .. } in streams {
        let path = fixture::folder().join(format!("{name}.json"));
        let came_out = picture(&engine, &frames);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            let text = serde_json::to_string_pretty(&came_out).expect("JSON") + "\n";
            fs::write(&path, text).expect("fixtures can be written");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default().parse().unwrap_or(Value::Null);
        assert_eq!(came_out, expected, "{name}: left came out, right is {name}.json");
    }
}

#[test]
fn a_client_that_connects_in_the_middle_of_an_answer_reads_it_from_its_beginning() {
    let heard = |content: &str, so_far: &str| {
        format!(r#"{{"type":"text_delta","run":"r","thread":"r","turn":1,"content":"{content}"{so_far}}}"#)
    };
    let begun = r#"{"type":"run_started","seq":1000,"run":"r","thread":"r","agent":"a","number":1,"prompt":"Say"}"#;
    let frames = [begun.to_owned(), heard("upon", ""), heard("Once upon", r#","so_far":true"#), heard(" a time", "")];
    let shown = picture(&Engine::new(), &frames).to_string();
    assert!(shown.contains("\"Once upon a time\""), "{shown}");
}

// ORION-23, ORION-24
#[test]
fn the_body_of_the_seeds_browser_test_is_read_as_it_is() {
    let engine = Engine::new();
    let body = fs::read_to_string(fixture::folder().join("seed-2.3.4.sse")).expect("the body");
    let frames: Vec<Value> = serde_json::from_str(&engine.call("stream", &[&body])).expect("frames are JSON");
    let frames: Vec<String> = frames.iter().map(|sent| sent["frame"].to_string()).collect();
    let active: Vec<_> =
        (1..=frames.len()).map(|cut| picture(&engine, &frames[..cut])["active"].as_str().map(str::to_owned)).collect();
    let names: Vec<_> = active.iter().map(|name| name.as_deref().unwrap_or("-")).collect();
    assert_eq!(names, ["butler", "triage", "triage", "triage", "butler", "-"]);
    let picture = picture(&engine, &frames);
    let rows: Vec<_> =
        picture["loose"].as_array().expect("rows").iter().map(|row| (&row["kind"], &row["text"])).collect();
    let said = (&Value::from("text"), &Value::from("Checking your inbox..."));
    assert_eq!(rows, [said, (&Value::from("end"), &Value::from(""))]);
    assert_eq!(picture["loose"][0]["agent"], "triage", "the active agent said it");
    assert_eq!(picture["loose"][1]["state"], "done", "a stream that knows no outcomes ends well");
}
