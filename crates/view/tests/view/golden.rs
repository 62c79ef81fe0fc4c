//! Every story, byte for byte: its frames, its lines in each dialect, its progress, its tree and its transcript.
//!
//! `UPDATE_GOLDEN=1` writes what comes out; the difference is then read by a person.

use std::fmt::Write;
use std::fs;

use jiff::tz::TimeZone;
use majordomo_view::draw::{DrawOptions, Marks, Progress, tree};
use majordomo_view::{Dialect, Transcript};

use crate::story::{self, Record};

macro_rules! stories {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*

        #[test]
        fn every_folder_is_a_story_that_is_checked() {
            assert_eq!(story::names(), [$(stringify!($name)),*]);
        }
    };
}

stories! {
    a_background_child,
    a_child_over_budget,
    a_child_that_asks,
    a_child_that_is_asked_more,
    a_crash_and_a_reopening,
    a_provider_retry,
    a_refused_tool,
    a_single_answer,
    a_steered_run_that_is_stopped,
    an_answer_with_thoughts_files_and_offers,
    one_child,
    two_children_and_one_queued,
}

fn check(name: &str) {
    let events = story::events(name);
    compare(name, "frames.jsonl", &lines(&events, "canonical"));
    compare(name, "kata.jsonl", &lines(&events, "kata"));
    compare(name, "opta.jsonl", &lines(&events, "opta"));
    compare(name, "orion.jsonl", &lines(&events, "orion"));
    compare(name, "zileo.jsonl", &lines(&events, "zileo"));
    compare(name, "progress.txt", &progress(&events));
    compare(name, "tree.txt", &drawn(&events));
    compare(name, "transcript.txt", &transcript(&events));
}

fn lines(events: &[Record], dialect: &str) -> String {
    let mut dialect = Dialect::named(dialect).expect("the dialect exists");
    joined(story::frames(events).iter().filter_map(|frame| dialect.map(frame)))
}

fn progress(events: &[Record]) -> String {
    let mut progress = Progress::new(TimeZone::UTC);
    joined(story::frames(events).iter().filter_map(|frame| progress.line(frame)))
}

/// The tree halfway and at the end.
fn drawn(events: &[Record]) -> String {
    let mut text = String::new();
    for part in [&events[..events.len() / 2], events] {
        let now = part.last().expect("a story has events").at;
        let look = DrawOptions { now, width: 100, marks: Marks::Unicode };
        text += &joined(tree(&story::roots(part), &look));
        text += "\n";
    }
    text
}

fn transcript(events: &[Record]) -> String {
    let mut transcript = Transcript::new(events[0].thread.root());
    for record in events {
        transcript.push(&record.logged());
    }
    let mut text = String::new();
    for entry in transcript.entries() {
        writeln!(text, "{}", serde_json::to_string(&entry).unwrap()).unwrap();
    }
    text
}

fn joined(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

fn compare(story: &str, file: &str, came_out: &str) {
    let path = story::folder().join(story).join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, came_out).expect("the stories can be written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        came_out == expected,
        "{story}/{file} differs; UPDATE_GOLDEN=1 writes it anew. It came out as:\n{came_out}"
    );
}
