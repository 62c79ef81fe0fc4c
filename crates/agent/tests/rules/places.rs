//! How many descendants there can be, whichever thread asks and however often.

use majordomo_agent::policy::Policy;
use majordomo_agent::{Outcome, Usage};

use super::room::Room;

#[test]
fn of_fifty_spawns_that_race_for_three_places_exactly_the_first_three_get_one() {
    // T15
    let mut room = Room::new(Policy { max_children: 3, ..Policy::default() });
    let tasks: Vec<String> = (0..50).map(|number| format!(r#"{{"task":"{number}"}}"#)).collect();
    let calls: Vec<(&str, &str)> = tasks.iter().map(|task| ("spawn_agent", task.as_str())).collect();
    room.calls(&calls);
    let accepted: Vec<&str> = room.spawned().iter().map(|child| child.call.as_str()).collect();
    assert_eq!(accepted, ["c1", "c2", "c3"]);
    assert_eq!(room.results().len(), 47);
    for (text, is_error) in room.results() {
        assert!(is_error && text.contains("policy.max_children") && text.contains("do the task yourself"), "{text}");
    }
}

#[test]
fn a_place_is_taken_for_life_so_that_stopping_children_gives_none_back() {
    // T16: spawn, kill, spawn resets nothing
    let mut room = Room::new(Policy { max_children: 2, max_depth: 1, ..Policy::default() });
    for number in 1..=3 {
        room.calls(&[("spawn_agent", r#"{"task":"a"}"#)]);
        room.reports(&format!("r.{number}"), Outcome::Cancelled, Usage::default());
    }
    assert_eq!(room.spawned().len(), 2);
    assert_eq!(room.thread.descendants_left(), 0);
}

#[test]
fn places_below_a_child_come_back_unless_they_were_taken() {
    let mut room = Room::new(Policy { max_children: 9, ..Policy::default() });
    room.calls(&[("spawn_agent", r#"{"task":"a"}"#)]);
    let below = room.spawned()[0].grant.descendants;
    assert_eq!(below, 4, "what is left besides the child is shared between it and its parent");
    assert_eq!(room.thread.descendants_left(), 9 - 1 - below);
    room.reports("r.1", Outcome::Completed, Usage { children: 2, ..Usage::default() });
    assert_eq!(room.thread.descendants_left(), 9 - 1 - 2);
}

#[test]
fn a_delegation_that_needs_more_places_than_there_are_starts_nothing() {
    let mut room = Room::new(Policy { max_children: 2, ..Policy::default() });
    room.calls(&[("delegate_task", r#"{"subtasks":["a","b",{"task":"c","depends_on":0}]}"#)]);
    assert_eq!(room.spawned().len(), 0);
    assert!(room.results()[0].0.contains("policy.max_children"), "{:?}", room.results());
}

#[test]
fn places_held_for_subtasks_are_not_given_to_others() {
    let mut room = Room::new(Policy { max_children: 2, ..Policy::default() });
    let delegation = r#"{"subtasks":["a",{"task":"b","depends_on":0}]}"#;
    room.calls(&[("delegate_task", delegation), ("spawn_agent", r#"{"task":"c"}"#)]);
    assert_eq!(room.spawned().len(), 1);
    room.reports("r.1", Outcome::Completed, Usage::default());
    assert_eq!(room.spawned().len(), 2, "the subtask that waited has its place");
}
