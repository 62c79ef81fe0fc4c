//! Stopped from another process: a root, a child, a grandchild; with a last word and without; dead or alive.

use agent::{Outcome, ThreadId};
use testkit::scenes::{calls, command, never_answers, says, says_and_calls, scene, spawn, waits_for_go};
use testkit::world::{World, count, events, report_of};

use crate::world;

const TERM_PROOF: &str = "trap '' TERM HUP INT; echo proof >> begun; while :; do sleep 0.1; done";

#[test]
fn a_root_that_is_stopped_has_a_last_word_and_exits_9() {
    let world = world(&[scene(
        "the whole",
        &[says_and_calls("Half is found.", &[waits_for_go("root")]), says("Half is done, half is left.")],
    )]);
    let run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    let stopped = world.call(&["stop", root.as_str(), "--reason", "enough of it"]);
    assert_eq!(stopped.answer(0), "");
    assert!(stopped.err.contains("cancelled"), "{}", stopped.err);
    assert!(world.commands().is_empty(), "stopped is said once it is true");
    let done = run.done();
    assert_eq!(done.answer(9), "Half is done, half is left.");
    assert!(done.err.contains("enough of it"), "{}", done.err);
    world.assert_at_rest(&root);
}

#[test]
fn a_root_that_is_stopped_at_once_keeps_what_it_had_said() {
    let world = world(&[scene(
        "the whole",
        &[says_and_calls("Half is found.", &[waits_for_go("root")]), says("No last word was asked for.")],
    )]);
    let run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    world.call(&["stop", root.as_str(), "--now"]).answer(0);
    assert!(world.commands().is_empty(), "stopped is said once it is true");
    assert_eq!(run.done().answer(9), "Half is found.");
    assert_eq!(count(&world.log(), &root, "turn_started"), 1);
    world.assert_at_rest(&root);
}

/// A root with two children; the first has a child of its own, and they all wait inside commands.
fn three_levels() -> World {
    world(&[
        scene("the whole", &[calls(&[spawn("take the left"), spawn("take the right")]), says("both are back")]),
        scene("take the left", &[calls(&[spawn("go deeper")]), says("left went on alone")]),
        scene("take the right", &[calls(&[waits_for_go("right")]), says("right is done")]),
        scene("go deeper", &[says_and_calls("deep thoughts", &[waits_for_go("deeper")]), says("deep last word")]),
    ])
}

#[test]
fn a_grandchild_that_is_stopped_leaves_everybody_else_at_work() {
    let world = three_levels();
    let run = world.run("the whole", &[]);
    let root = world.root();
    let (left, right, deeper) = (root.child(1), root.child(2), root.child(1).child(1));
    world.until_lines("begun", 2);
    world.call(&["stop", deeper.as_str()]).answer(0);
    let log = world.until_logged("the left to go on", |log| count(log, &left, "reported") == 1);
    assert_eq!(report_of(&log, &deeper).outcome, Outcome::Cancelled);
    assert_eq!(&*report_of(&log, &deeper).text, "deep last word");
    assert_eq!(&*report_of(&log, &left).text, "left went on alone");
    assert!(world.row(&right).state.is_live() && world.row(&root).state.is_live());
    let shown = world.call(&["thread", "show", left.as_str()]);
    assert!(shown.answer(0).contains("deep last word"), "the parent was told: {}", shown.out);
    world.go();
    assert_eq!(run.done().answer(0), "both are back");
    world.assert_at_rest(&root);
}

#[test]
fn a_child_that_is_stopped_at_once_ends_with_all_below_it() {
    let world = three_levels();
    let run = world.run("the whole", &[]);
    let root = world.root();
    let (left, right, deeper) = (root.child(1), root.child(2), root.child(1).child(1));
    world.until_lines("begun", 2);
    world.call(&["stop", left.as_str(), "--now"]).answer(0);
    let log = world.log();
    for ended in [&left, &deeper] {
        assert_eq!(report_of(&log, ended).outcome, Outcome::Cancelled, "{ended}");
    }
    assert_eq!(&*report_of(&log, &deeper).text, "deep thoughts");
    assert!(world.row(&right).state.is_live());
    world.go();
    assert_eq!(run.done().answer(0), "both are back");
    let log = world.log();
    assert_eq!(&*report_of(&log, &right).text, "right is done");
    let is_left = |event: &agent::Event| match event {
        agent::Event::ChildReported { child, report, .. } => *child == left && report.outcome == Outcome::Cancelled,
        _ => false,
    };
    assert_eq!(events(&log, &root).filter(|event| is_left(event)).count(), 1, "the parent has the report");
    world.assert_at_rest(&root);
}

#[test]
fn a_second_stop_changes_nothing_and_a_third_finds_nothing_to_stop() {
    // F28
    let world = world(&[scene("the whole", &[calls(&[command(TERM_PROOF)]), says("never said")])]);
    let run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    let stops = [(); 2].map(|()| world.start(&["stop", root.as_str(), "--now"]));
    for stop in stops {
        let done = stop.done();
        // The slower of the two may find that everything is over.
        assert!(done.code == Some(0) || done.err.contains("is not running"), "{done:?}");
    }
    assert_eq!(run.done().answer(9), "");
    let third = world.call(&["stop", root.as_str()]);
    assert_eq!(third.answer(1), "");
    assert!(third.err.contains(&format!("thread {root} is not running")), "{}", third.err);
    assert_eq!(count(&world.log(), &root, "stop_begun"), 1);
    assert!(world.commands().is_empty());
    world.assert_at_rest(&root);
}

#[test]
fn a_stop_at_once_overtakes_one_that_waits_for_a_last_word() {
    let silent = [says_and_calls("Half is found.", &[waits_for_go("root")]), never_answers()];
    let world = world(&[scene("the whole", &silent)]);
    let run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    let patient = world.start(&["stop", root.as_str()]);
    world.until_logged("the last turn", |log| count(log, &root, "turn_started") == 2);
    world.call(&["stop", root.as_str(), "--now"]).answer(0);
    patient.done().answer(0);
    assert_eq!(run.done().answer(9), "Half is found.");
    world.assert_at_rest(&root);
}

#[test]
fn a_run_whose_process_is_gone_is_stopped_without_asking_any_model() {
    for strength in [&["--now"][..], &[]] {
        let world = world(&[
            scene("the whole", &[calls(&[spawn("take the left"), spawn("take the right")]), says("both are back")]),
            scene("take the left", &[calls(&[spawn("go deeper")]), says("left is done")]),
            scene("take the right", &[never_answers()]),
            scene("go deeper", &[calls(&[waits_for_go("deeper")]), says("deep is done")]),
        ]);
        let mut run = world.run("the whole", &[]);
        let root = world.root();
        let right = root.child(2);
        world.until_lines("begun", 1);
        world.until_logged("the right's request", |log| count(log, &right, "turn_started") == 1);
        run.kill();
        world.rewrite(&[scene("nobody ever says this", &[says("nor this")])]);
        let before = world.log().len();
        let mut arguments = vec!["stop", root.as_str()];
        arguments.extend(strength);
        let stopped = world.call(&arguments);
        assert_eq!(stopped.answer(0), "");
        let log = world.log();
        let asked = |kind| log[before..].iter().any(|record| record.event.kind() == kind);
        assert!(!asked("turn_started") && !asked("answered") && !asked("call_repeated"), "no model is asked");
        for thread in [root.clone(), root.child(1), right, root.child(1).child(1)] {
            assert_eq!(report_of(&log, &thread).outcome, Outcome::Cancelled, "{thread}");
        }
        world.assert_at_rest(&root);
        let resumed = world.call(&["thread", "resume", root.as_str()]);
        assert_eq!(resumed.answer(9), "");
        assert!(resumed.err.contains("already finished"), "{}", resumed.err);
    }
}

#[test]
fn a_child_that_was_stopped_after_its_process_died_is_told_to_the_run_when_it_is_resumed() {
    let world = three_levels();
    let mut run = world.run("the whole", &[]);
    let root = world.root();
    let (left, right) = (root.child(1), root.child(2));
    world.until_lines("begun", 2);
    run.kill();
    world.call(&["stop", left.as_str()]).answer(0);
    assert_eq!(report_of(&world.log(), &left).outcome, Outcome::Cancelled);
    assert!(world.row(&right).state.is_live() && world.row(&root).state.is_live(), "only that subtree is stopped");
    assert_eq!(world.row(&root).epoch, 1);
    let resumed = world.call(&["thread", "resume", root.as_str()]);
    assert_eq!(resumed.answer(0), "both are back");
    assert_eq!(&*report_of(&world.log(), &right).text, "right is done");
    world.assert_at_rest(&root);
}

#[test]
fn a_thread_that_does_not_exist_is_not_stopped() {
    let world = world(&[scene("the whole", &[says("done")])]);
    world.run("the whole", &[]).done().answer(0);
    let root: ThreadId = world.root();
    for name in ["nobody", root.child(7).as_str()] {
        let refused = world.call(&["stop", name]);
        assert_eq!(refused.answer(2), "");
        assert!(refused.err.contains(&format!("no thread is called '{name}'")), "{}", refused.err);
    }
}
