//! What holds for the ledger.

use agent::{Event, Usage};
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
fn the_ledger_agrees_with_every_childs_own_report() {
    for story in story::names() {
        let events = story::events(&story);
        let ledger = ledger(&events);
        for record in events.iter().filter(|record| !record.thread.is_root()) {
            if let Event::Reported(report) = &record.event {
                let totals = ledger.totals(&record.thread);
                assert_eq!((totals.own, totals.tree), (report.usage, report.tree), "{story}: {}", record.thread);
            }
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
            }
            record.seq += 1000 * u64::from(child);
            ledger.push(&record.logged());
        }
    }
    let root = crate::family::id("r");
    let models: Vec<_> = ledger.by_model(&root).iter().map(|model| (model.model.to_string(), model.priced)).collect();
    assert_eq!(models, [("anthropic/claude-sonnet".to_owned(), true), ("builtin/rules".to_owned(), false)]);
    assert!(ledger.is_priced(&root) && ledger.is_priced(&root.child(1)) && !ledger.is_priced(&root.child(2)));
}
