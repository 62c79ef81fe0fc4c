//! What holds for everything that is drawn.

use agent::{Outcome, Time};
use jiff::tz::TimeZone;
use majordomo_view::draw::{DrawOptions, Marks, Progress, tree};

use crate::family::Family;
use crate::story::{self, Record};

fn drawn(events: &[Record], width: usize, marks: Marks) -> Vec<String> {
    let now = events.last().map_or(Time(0), |record| record.at);
    tree(&story::roots(events), &DrawOptions { now, width, marks })
}

fn lines(events: &[Record]) -> Vec<String> {
    let mut progress = Progress::new(TimeZone::UTC);
    story::frames(events).iter().filter_map(|frame| progress.line(frame)).collect()
}

#[test]
fn a_tree_is_never_wider_than_its_terminal_and_shows_every_running_thread() {
    for story in story::names() {
        let events = story::events(&story);
        for end in 1..=events.len() {
            for width in [0, 40, 41, 55, 80, 120, 200, 1000] {
                let lines = drawn(&events[..end], width, Marks::Ascii);
                let room = width.clamp(40, 200);
                assert!(lines.iter().all(|line| line.chars().count() <= room), "{story} at {width}: {lines:#?}");
                assert!(lines.iter().all(|line| line.is_ascii() && line.trim_end() == line), "{story}: {lines:#?}");
            }
        }
    }
}

#[test]
fn the_columns_of_a_tree_stand_under_each_other() {
    let events = story::events("one_child");
    for width in [60, 80, 120, 200] {
        let lines = drawn(&events, width, Marks::Unicode);
        let cost: Vec<_> = lines.iter().map(|line| line.chars().position(|c| c == '$')).collect();
        assert_eq!(cost.len(), 2);
        assert!(cost[0].is_some() && cost[0] == cost[1], "{lines:#?}");
    }
}

#[test]
fn those_who_wait_in_line_share_one() {
    let mut family = Family::default();
    family.created("r", "root").spawned("r", "r.1", true).spawned("r", "r.2", true).created("r.3", "worker");
    let lines = drawn(&family.0, 80, Marks::Unicode);
    assert_eq!(lines.len(), 3);
    assert!(lines[1].starts_with("├─ ● worker"), "{lines:#?}");
    assert_eq!(lines[2], "└─ … 2 queued");
}

#[test]
fn every_outcome_has_a_mark_and_a_word_of_its_own() {
    let mut seen = std::collections::BTreeSet::new();
    for marks in [Marks::Unicode, Marks::Ascii] {
        for outcome in Outcome::ALL {
            let mut family = Family::default();
            family.created("r", "root").run_started("r", "go").reported("r", outcome);
            let line = drawn(&family.0, 80, marks).remove(0);
            assert!(seen.insert(line.chars().next()), "{line}");
            assert!(outcome == Outcome::Completed || line.contains(outcome.as_str()), "{line}");
        }
    }
}

#[test]
fn what_has_no_price_is_local() {
    assert!(drawn(&story::events("a_single_answer"), 80, Marks::Unicode)[0].ends_with("$0.00 (local)"));
    assert!(drawn(&story::events("one_child"), 80, Marks::Unicode)[0].ends_with("$0.01"));
}

// T24
#[test]
fn what_strangers_wrote_cannot_move_the_cursor_hide_or_break_a_line() {
    let evil = "a\u{1b}[2J\nb\u{202e}c\u{200b}d";
    let mut family = Family::default();
    family.created("r", evil).run_started("r", evil).turn_started("r", 1);
    let call = ("c", evil, "{\"path\":\"x\\u001b]0;y\\u0007\"}", crate::family::refused(evil));
    family.called("r", &[call]).said("r", evil);
    let shown: Vec<_> = drawn(&family.0, 200, Marks::Unicode).into_iter().chain(lines(&family.0)).collect();
    assert!(shown.len() >= 3);
    for line in &shown {
        assert!(line.contains("a\\u{1b}[2J\\nb\\u{202e}c\\u{200b}d"), "{line}");
        assert!(!line.contains(|c: char| c.is_control() || matches!(c, '\u{202e}' | '\u{200b}')), "{line}");
    }
}

#[test]
fn a_thread_is_named_where_its_name_is_not_enough() {
    let lines = lines(&story::events("two_children_and_one_queued"));
    assert!(lines.iter().any(|line| line == "10:00:02 review(.1) done ok 1.4s tools=0 tokens=330"), "{lines:#?}");
    let single = self::lines(&story::events("one_child"));
    assert!(single.iter().any(|line| line == "10:00:05 triage done ok 4.0s tools=2 tokens=2100"), "{single:#?}");
}
