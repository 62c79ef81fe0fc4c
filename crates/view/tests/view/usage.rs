//! What holds for the ledger.

use std::collections::BTreeMap;

use agent::{Event, ThreadId, Usage};
use majordomo_view::Ledger;

use crate::story;

fn ledger(events: &[story::Record]) -> Ledger {
    let mut ledger = Ledger::default();
    for record in events {
        ledger.push(&record.logged());
    }
    ledger
}

#[test]
fn the_sum_over_a_tree_is_what_its_root_shows() {
    for story in story::names() {
        let events = story::events(&story);
        let ledger = ledger(&events);
        let root = events[0].thread.root();
        let mut threads: Vec<_> = events.iter().map(|record| record.thread.clone()).collect();
        threads.sort();
        threads.dedup();
        let sum = threads.iter().fold(Usage::default(), |sum, thread| sum.plus(&ledger.totals(thread).own));
        assert_eq!(sum, ledger.totals(&root).tree, "{story}");
        let by_model = ledger.by_model(&root);
        assert_eq!(by_model.iter().fold(Usage::default(), |sum, model| sum.plus(&model.usage)), sum, "{story}");
        assert!(sum.tokens.total() > 0 && by_model.len() == 1, "{story}");
    }
}

#[test]
fn the_ledger_agrees_with_every_childs_own_reports() {
    for story in story::names() {
        let events = story::events(&story);
        let ledger = ledger(&events);
        let mut told: BTreeMap<&ThreadId, (Usage, Usage)> = BTreeMap::new();
        for record in events.iter().filter(|record| !record.thread.is_root()) {
            if let Event::Reported(report) = &record.event {
                let sum = told.entry(&record.thread).or_default();
                *sum = (sum.0.plus(&report.usage), sum.1.plus(&report.tree));
            }
        }
        for (thread, told) in told {
            let totals = ledger.totals(thread);
            assert_eq!((totals.own, totals.tree), told, "{story}: {thread}");
        }
    }
}

#[test]
fn an_event_counts_once() {
    let events = story::events("one_child");
    let mut ledger = ledger(&events);
    let before = ledger.totals(&events[0].thread);
    assert!(events.iter().all(|record| !ledger.push(&record.logged())));
    assert_eq!(ledger.totals(&events[0].thread), before);
}

#[test]
fn models_are_told_apart_and_a_price_is_known_or_not() {
    let mut ledger = Ledger::default();
    for story in ["one_child", "a_single_answer"] {
        for mut record in story::events(story) {
            // Both stories as children of one root, so that two models meet in one tree.
            let child = if story == "one_child" { 1 } else { 2 };
            record.thread = crate::family::id("r").child(child);
            if let Event::ThreadCreated(created) = &mut record.event {
                created.id = record.thread.clone();
                if child == 2 {
                    created.role.model.name = "gateway/unheard-of".into();
                }
            }
            record.seq += 1000 * u64::from(child);
            ledger.push(&record.logged());
        }
    }
    let root = crate::family::id("r");
    let models: Vec<_> = ledger.by_model(&root).iter().map(|model| (model.model.to_string(), model.priced)).collect();
    assert_eq!(models, [("anthropic/claude-sonnet".to_owned(), true), ("gateway/unheard-of".to_owned(), false)]);
    assert!(ledger.is_priced(&root.child(1)) && !ledger.is_priced(&root.child(2)));
    assert!(!ledger.is_priced(&root), "what is known is only a part of what the tree cost");
}

#[test]
fn what_is_answered_in_this_process_costs_nothing() {
    let events = story::events("a_single_answer");
    let ledger = ledger(&events);
    assert!(ledger.by_model(&events[0].thread).iter().all(|model| model.priced));
    assert!(ledger.is_priced(&events[0].thread));
}

#[test]
fn what_was_reserved_for_a_lost_request_is_an_estimate_until_the_end() {
    let events = story::events("a_crash_and_a_reopening");
    let booked: u64 = events
        .iter()
        .map(|record| if let Event::CallRepeated { booked, .. } = &record.event { booked.tokens } else { 0 })
        .sum();
    assert!(booked > 0);
    let totals = ledger(&events).totals(&events[0].thread);
    assert_eq!((totals.own.estimated_tokens, totals.tree.estimated_tokens), (0, booked), "it was the child's");
    let of_type = |frame: &serde_json::Value| frame["type"] == "usage";
    let frames: Vec<serde_json::Value> =
        story::frames(&events).iter().map(|frame| serde_json::to_value(frame).unwrap()).filter(of_type).collect();
    let told: Vec<bool> = frames.iter().map(|frame| frame["estimated"].as_bool().unwrap()).collect();
    assert!(!told[0] && told[1..].iter().all(|estimated| *estimated), "{frames:#?}");
}
