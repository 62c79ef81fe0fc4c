//! Questions outlive the process that asked: a kill, a restart, and a decision in between. Promise 4.

use rustix::process::Signal;
use serde_json::Value;
use testkit::scenes::{calls, says, scene, spawn};
use testkit::world::World;

use crate::{assert_only_what_was_approved_ran, question, run, world, write};

/// A grandchild that wants to write.
fn family() -> World {
    world(&[
        scene("the whole", &[calls(&[spawn("a part")]), says("all is done")]),
        scene("a part", &[calls(&[spawn("a piece")]), says("the part is done")]),
        scene("a piece", &[calls(&[write("deep.txt", "from below")]), says("the piece is done")]),
    ])
}

crate::also_on_postgres!(
    a_grandchilds_question_survives_a_kill_and_is_answered_in_the_next_process,
    a_decision_on_a_run_that_no_process_drives_is_kept_until_it_is_resumed,
    an_interrupted_run_leaves_its_question_pending,
    a_question_that_nobody_can_answer_any_more_is_refused_and_the_rule_is_named,
);

#[test]
fn a_grandchilds_question_survives_a_kill_and_is_answered_in_the_next_process() {
    // F32, promise 4
    let world = family();
    let mut running = run(&world, "the whole", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    assert_eq!(asked.path.len(), 3, "{:?}", asked.path);
    running.kill();
    world.until_left();
    let root = world.root();
    let listed: Value = serde_json::from_str(world.call(&["approve", "ls", "--json"]).answer(0)).expect("JSON");
    assert_eq!((&listed[0]["id"], &listed[0]["status"]), (&asked.id.as_str().into(), &"pending".into()));
    assert_eq!(listed[0]["root"], root.as_str());

    let resumed = world.start(&["thread", "resume", root.as_str(), "--approvals", "wait"]);
    testkit::world::until("a reminder", || resumed.said().contains(asked.id.as_str()).then_some(()));
    world.until_logged("the grandchild is resumed", |log| {
        testkit::world::count(log, &asked.id.thread(), "reopened") == 1
    });
    world.call(&["approve", "yes", asked.id.as_str()]).answer(0);
    assert_eq!(resumed.done().answer(0), "all is done");
    assert_eq!(world.lines("deep.txt"), ["from below"]);
    assert_only_what_was_approved_ran(&world.log());
    world.assert_at_rest(&root);
}

#[test]
fn a_decision_on_a_run_that_no_process_drives_is_kept_until_it_is_resumed() {
    // F32
    let world = family();
    let mut running = run(&world, "the whole", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    running.kill();
    world.until_left();
    let root = world.root();
    let kept = world.call(&["approve", "yes", asked.id.as_str()]);
    kept.answer(0);
    assert!(kept.err.contains(&format!("majordomo thread resume {root}")), "{}", kept.err);
    assert!(!world.path("deep.txt").exists());
    let again = world.call(&["approve", "no", asked.id.as_str()]);
    again.answer(2);
    assert!(again.err.contains("is already decided"), "{}", again.err);
    let listed = world.call(&["approve", "ls"]);
    assert!(listed.answer(0).contains("decided"), "{}", listed.out);

    // Even where nobody can be asked: this was asked, and answered.
    let resumed = world.call(&["thread", "resume", root.as_str(), "--approvals", "deny"]);
    assert_eq!(resumed.answer(0), "all is done");
    assert_eq!(world.lines("deep.txt"), ["from below"]);
    assert_only_what_was_approved_ran(&world.log());
    world.assert_at_rest(&root);
}

#[test]
fn an_interrupted_run_leaves_its_question_pending() {
    // F32
    let world = family();
    let running = run(&world, "the whole", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    running.signal(Signal::INT);
    let interrupted = running.done();
    interrupted.answer(130);
    assert!(interrupted.err.contains("majordomo thread resume"), "{}", interrupted.err);
    let shown = world.call(&["approve", "show", asked.id.as_str()]);
    assert!(shown.answer(0).contains("is pending"), "{}", shown.out);
}

#[test]
fn a_question_that_nobody_can_answer_any_more_is_refused_and_the_rule_is_named() {
    // T12
    let world = family();
    let mut running = run(&world, "the whole", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    running.kill();
    world.until_left();
    let resumed = world.call(&["thread", "resume", world.root().as_str()]);
    assert_eq!(resumed.answer(5), "all is done");
    assert!(resumed.err.contains("write_file: allowed by --mode auto"), "{}", resumed.err);
    let late = world.call(&["approve", "yes", asked.id.as_str()]);
    late.answer(2);
    assert!(late.err.contains("is unanswered"), "{}", late.err);
    assert!(!world.path("deep.txt").exists());
}
