//! What holds for transcripts.

use agent::{CallId, Event, Outcome};
use majordomo_view::{ChildRow, Entry, ToolRow, Transcript};

use crate::family::{Family, id, report};
use crate::story::{self, Record};

fn entries<'a>(thread: &str, events: impl IntoIterator<Item = &'a Record>) -> Vec<Entry> {
    let mut transcript = Transcript::new(id(thread));
    for record in events {
        transcript.push(&record.logged());
    }
    transcript.entries()
}

fn tools(entries: &[Entry]) -> Vec<&ToolRow> {
    let mut rows = Vec::new();
    for entry in entries {
        if let Entry::Tool(row) = entry {
            rows.push(row);
        }
    }
    rows
}

fn children(entries: &[Entry]) -> Vec<&ChildRow> {
    let mut rows = Vec::new();
    for entry in entries {
        if let Entry::Child(row) = entry {
            rows.push(row);
        }
    }
    rows
}

// KATA-12, KATA-14
#[test]
fn rows_are_the_same_in_whatever_order_and_however_often_events_arrive() {
    for story in story::names() {
        let events = story::events(&story);
        let root = events[0].thread.to_string();
        let expected = entries(&root, &events);
        assert_eq!(entries(&root, events.iter().rev().chain(&events)), expected, "{story}");
    }
}

// KATA-12
#[test]
fn a_result_without_its_call_has_a_row_that_the_call_fills_in() {
    let events = story::events("one_child");
    let child = "20260115-k3f9.1";
    let only_results = events.iter().filter(|record| matches!(record.event, Event::ToolFinished { .. }));
    let before = entries(child, only_results);
    assert_eq!(tools(&before).len(), 2);
    assert_eq!(
        (tools(&before)[0].name.as_deref(), tools(&before)[0].output.as_deref()),
        (None, Some("urgent.eml\nnews.eml"))
    );
    let after = entries(child, &events);
    assert_eq!((tools(&after).len(), tools(&after)[0].name.as_deref()), (2, Some("list_dir")));
}

#[test]
fn a_child_is_asked_by_its_brief_and_ends_with_its_report() {
    let entries = entries("20260115-k3f9.1", &story::events("one_child"));
    assert!(matches!(&entries[0], Entry::Brief { text, .. } if text == "Check inbox, last 24 h"));
    assert!(matches!(entries.last(), Some(Entry::End { outcome: Outcome::Completed, .. })));
}

// OPTA-30
#[test]
fn a_childs_row_says_how_it_ended_how_many_calls_it_made_and_how_long_it_took() {
    let events = story::events("one_child");
    let all = entries("20260115-k3f9", &events);
    let row = children(&all)[0];
    assert_eq!(row.status, "completed · 2 tool calls · 4.0s · 2100 tokens");
    assert_eq!(row.report.as_deref(), Some("Two urgent, eleven other."));
    let running = events.iter().position(|record| matches!(record.event, Event::ChildStarted { .. })).unwrap();
    assert_eq!(children(&entries("20260115-k3f9", &events[..=running]))[0].status, "running");
    let failed = entries("20260115-p4rx", &story::events("two_children_and_one_queued"));
    assert_eq!(
        children(&failed)[2].status,
        "no_output · 0 tool calls · 0.4s · 310 tokens · the agent ended without a word"
    );
}

#[test]
fn a_refused_call_shows_why() {
    let all = entries("20260115-rf5d", &story::events("a_refused_tool"));
    let row = *tools(&all).iter().find(|row| row.call == CallId::new("tu_1")).expect("the call has its row");
    assert!(row.is_error && row.output.as_deref().is_some_and(|output| output.contains("not permitted")));
    assert_eq!(row.argument.as_deref(), Some("rm -rf build"));
}

#[test]
fn a_summary_of_the_conversation_is_a_notice_and_not_something_the_agent_said() {
    let all = entries("20260115-st3j", &story::events("a_steered_run_that_is_stopped"));
    let said = |entry: &Entry| matches!(entry, Entry::Text { text, .. } if text.contains("Summary"));
    let noticed = |entry: &Entry| matches!(entry, Entry::Notice { text, .. } if text.contains("Summary"));
    assert!(!all.iter().any(said) && all.iter().any(noticed));
}

#[test]
fn words_that_broke_off_stand_at_the_end_and_words_that_were_said_stand_once() {
    let mut family = Family::default();
    family.created("r", "general").run_started("r", "go").turn_started("r", 1);
    let partial = agent::Report { text: "Hel".into(), ..report(Outcome::Error) };
    family.log("r", Event::Reported(Box::new(partial)));
    let last = |all: Vec<Entry>| match all.last() {
        Some(Entry::End { text, .. }) => text.as_deref().map(str::to_owned),
        other => panic!("a run that is over ends with its end, not with {other:?}"),
    };
    assert_eq!(last(entries("r", &family.0)).as_deref(), Some("Hel"));
    assert_eq!(last(entries("20260115-k3f9", &story::events("a_single_answer"))), None);
}
