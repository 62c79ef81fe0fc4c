//! What holds for everything that is drawn.

use agent::event::VerdictKind;
use agent::tools::Reach;
use agent::{CallId, Event, Outcome, Time};
use jiff::tz::TimeZone;
use majordomo_view::draw::{DrawOptions, Line, Marks, Progress, tree, tree_lines};
use majordomo_view::{LastWords, StreamSource, Streamed};

use crate::family::Family;
use crate::story::{self, Record};

/// A call that is carried out.
const RUN: VerdictKind = VerdictKind::Run { reach: Reach::ReadOnly, idempotent: true };

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
fn what_is_answered_in_this_process_costs_nothing_and_a_price_that_is_not_known_is_not_zero() {
    let free = story::events("a_single_answer");
    assert!(drawn(&free, 80, Marks::Unicode)[0].ends_with("$0.00"));
    let mut remote = free;
    for record in &mut remote {
        if let Event::ThreadCreated(created) = &mut record.event {
            created.role.model.name = "gateway/unheard-of".into();
        }
    }
    assert!(drawn(&remote, 80, Marks::Unicode)[0].ends_with("price unknown"));
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

#[test]
fn tokens_that_are_estimates_are_marked_in_every_line() {
    let lines = lines(&story::events("a_crash_and_a_reopening"));
    let told: Vec<&String> = lines.iter().filter(|line| line.contains("tokens=")).collect();
    assert!(told.iter().any(|line| line.contains("finished")), "{lines:#?}");
    assert!(told.iter().all(|line| line.contains("tokens=~")), "{told:#?}");
}

/// A root with so many children that work, and as many that are done.
fn crowd(running: usize, done: usize) -> Family {
    let mut family = Family::default();
    family.created("r", "root").run_started("r", "Do it all");
    for nth in 1..=running + done {
        let (child, name) = (format!("r.{nth}"), format!("worker {nth}"));
        family.spawned("r", &child, false).created(&child, &name).turn_started(&child, 1);
        if nth > running {
            family.reported(&child, Outcome::Completed);
        }
    }
    family
}

fn live(events: &[Record], width: usize, most: usize) -> Vec<String> {
    let now = events.last().map_or(Time(0), |record| record.at);
    let options = DrawOptions { now, width, marks: Marks::Unicode };
    let lines = tree_lines(&story::roots(events), &LastWords::default(), &options, most);
    lines.iter().map(Line::text).collect()
}

#[test]
fn a_tree_takes_no_more_lines_than_it_is_given_and_counts_the_rest() {
    let family = crowd(30, 0);
    for most in 2..40 {
        let lines = live(&family.0, 80, most);
        assert!(lines.len() <= most, "{most}: {lines:#?}");
        assert!(lines[0].starts_with("● root"), "{lines:#?}");
        if most < 31 {
            assert_eq!(lines.last().map(String::as_str), Some(format!("… {} more", 31 - (most - 1)).as_str()));
        }
    }
}

#[test]
fn those_who_are_done_share_a_line_where_there_is_no_room_for_all() {
    let family = crowd(3, 20);
    let lines = live(&family.0, 80, 30);
    assert_eq!(lines.len(), 24, "there is room for all: {lines:#?}");
    let lines = live(&family.0, 80, 8);
    assert_eq!(lines.len(), 5, "{lines:#?}");
    assert_eq!(lines[1], "├─ ✓ 20 done");
    assert!(lines[4].starts_with("└─ ● worker 3"), "{lines:#?}");
}

#[test]
fn an_agent_that_waits_for_a_person_is_shown_before_all_others() {
    let mut family = crowd(30, 0);
    let input = r#"{"question":"Which one?"}"#;
    family.called("r.27", &[("q", "ask_user", input, RUN)]);
    family.log("r.27", Event::ToolStarted { call: CallId::new("q") });
    let lines = live(&family.0, 80, 5);
    assert_eq!(lines.len(), 5, "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("⚑ worker 27")), "{lines:#?}");
}

#[test]
fn a_request_that_is_sent_again_is_one_row_that_counts() {
    let mut family = Family::default();
    family.created("r", "root").run_started("r", "go").turn_started("r", 1);
    let mut rows = Vec::new();
    for attempt in 1..=8 {
        family.fails("r", 1, attempt, 4_000);
        rows.extend(live(&family.0, 80, 10));
    }
    assert_eq!(rows.len(), 8, "one row each time: {rows:#?}");
    assert!(rows[0].contains("retry 1 in 4.0s: overloaded") && rows[7].contains("retry 8 in 4.0s: overloaded"));
    // As lines that are never redrawn: the first, and the number once it is answered.
    family.said("r", "at last");
    let lines = lines(&family.0);
    let of_retries: Vec<&String> = lines.iter().filter(|line| line.contains("retr")).collect();
    assert_eq!(of_retries.len(), 2, "{lines:#?}");
    assert!(of_retries[0].ends_with("root retry 1 in 4.0s \"busy\""), "{lines:#?}");
    assert!(of_retries[1].ends_with("root answered after 8 retries"), "{lines:#?}");
}

#[test]
fn what_an_agent_does_keeps_its_room_on_a_narrow_terminal() {
    let mut family = Family::default();
    family.created("r", "root").run_started("r", "Review the whole of the workspace").turn_started("r", 1);
    let input = r#"{"path":"crates/store/src/sqlite/writer.rs"}"#;
    family.called("r", &[("c", "read_file", input, RUN)]);
    family.log("r", Event::ToolStarted { call: CallId::new("c") });
    for width in [50, 60] {
        let line = live(&family.0, width, 10).remove(0);
        assert!(line.contains("read_file \"crates"), "{width}: {line}");
        assert!(line.contains("3.0s"), "{width}: {line}");
    }
    let line = live(&family.0, 40, 10).remove(0);
    assert_eq!(line, "● root  Review the…   read_file \"…  3.0s");
}

#[test]
fn each_running_agent_has_a_name_a_state_and_a_part_of_its_goal_at_forty_columns() {
    let mut family = Family::default();
    family.created("r", "general").run_started("r", "Do the whole").turn_started("r", 1);
    for thread in ["r.1", "r.1.1", "r.1.1.1", "r.2"] {
        let parent = thread.rsplit_once('.').expect("a parent").0;
        family.spawned(parent, thread, false).created(thread, "general");
        family.run_started(thread, &format!("part {thread} of the work")).turn_started(thread, 1);
    }
    family.called("r.2", &[("c", "run_command", r#"{"command":"sleep 20"}"#, RUN)]);
    family.log("r.2", Event::ToolStarted { call: CallId::new("c") });
    let lines = live(&family.0, 37, 8);
    let wanted = [
        "● general        Do the w…  for model",
        "├ ● general      part r.1…  for model",
        "│ └ ● general    part r.1…  for model",
        "│   └ ● general  part r.1…  for model",
        "└ ● general      part r.2…  run_comm…",
    ];
    assert_eq!(lines, wanted);
    let wide = live(&family.0, 80, 8);
    assert!(wide[3].starts_with("│     └─ ● general  part r.1.1.1"), "{wide:#?}");
}

#[test]
fn what_is_written_at_this_moment_stands_in_the_row_of_its_agent() {
    let mut family = Family::default();
    family.created("r", "root").run_started("r", "go").turn_started("r", 1);
    let mut words = LastWords::default();
    let text = "The harvest covers three of four orders.\nTopaz falls short by 160 kg".to_owned();
    words.push(&Streamed { thread: crate::family::id("r"), source: StreamSource::Turn(1), text });
    let options = DrawOptions { now: Time(0), width: 60, marks: Marks::Unicode };
    let line = tree_lines(&story::roots(&family.0), &words, &options, 5)[0].text();
    assert!(line.contains("writing ") && line.contains("by 160 kg"), "{line}");
    assert!(!line.contains("harvest"), "only the last line: {line}");
    let text = format!("{} and these are the newest", "words of a long line ".repeat(20));
    words.push(&Streamed { thread: crate::family::id("r"), source: StreamSource::Turn(2), text });
    let line = tree_lines(&story::roots(&family.0), &words, &options, 5)[0].text();
    assert!(line.contains("are the newest"), "the end of a long line: {line}");
}
