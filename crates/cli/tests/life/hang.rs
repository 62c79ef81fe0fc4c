//! One of a family hangs or fails: it ends alone, its parent hears of it, and nobody is left behind.

use agent::Outcome;
use testkit::scenes::{
    calls, command, fails, never_answers, says, says_and_calls, scene, spawn, spawn_with, waits_for_go,
};
use testkit::world::{count, report_of};

use crate::world;

/// In the background, and with so little that its parent can go on meanwhile.
const BESIDE: &str = ", background = true, max_tokens = 20000";

#[test]
fn a_child_that_hangs_ends_at_its_deadline_and_its_siblings_go_on() {
    // F24: once a silent model, once a silent tool.
    // Long enough for a command to begin on a machine that has other work.
    let timeout = ", timeout_s = 5";
    let tasks = [spawn_with("ask in vain", timeout), spawn_with("wait in vain", timeout), spawn("take your time")];
    let world = world(&[
        scene("the whole", &[calls(&tasks), calls(&[waits_for_go("root")]), says("one of three is back")]),
        scene("ask in vain", &[never_answers()]),
        scene("wait in vain", &[says_and_calls("so far so good", &[waits_for_go("vain")]), says("never said")]),
        scene("take your time", &[calls(&[command("until [ -e late ]; do sleep 0.02; done")]), says("took it")]),
    ]);
    let run = world.run("the whole", &["--set", "policy.min_child_timeout_ms=100"]);
    let root = world.root();
    let [silent, stuck, patient] = [1, 2, 3].map(|number| root.child(number));
    let over = |log: &[_]| [&silent, &stuck].into_iter().all(|child| count(log, child, "reported") == 1);
    let log = world.until_logged("both deadlines", over);
    assert_eq!(report_of(&log, &silent).outcome, Outcome::Timeout);
    assert_eq!(report_of(&log, &stuck).outcome, Outcome::Timeout);
    assert_eq!(&*report_of(&log, &stuck).text, "so far so good", "partial work is kept");
    assert!(world.row(&patient).state.is_live(), "the sibling is not touched");
    std::fs::write(world.path("late"), "").expect("a file");
    world.until_lines("begun", 2);
    world.go();
    assert_eq!(run.done().answer(0), "one of three is back");
    assert_eq!(&*report_of(&world.log(), &patient).text, "took it");
    world.assert_at_rest(&root);
}

#[test]
fn a_parent_that_fails_takes_its_children_with_it() {
    // F27: a child with a child of its own.
    let world = world(&[
        scene("the whole", &[calls(&[spawn("fail halfway")]), says("it failed, and I know")]),
        scene("fail halfway", &[calls(&[spawn_with("wait inside", BESIDE), waits_for_begun()]), fails()]),
        scene("wait inside", &[calls(&[waits_for_go("inside")]), says("never said")]),
    ]);
    let done = world.run("the whole", &[]).done();
    assert_eq!(done.answer(0), "it failed, and I know");
    let root = world.root();
    let log = world.log();
    assert_eq!(report_of(&log, &root.child(1)).outcome, Outcome::Error);
    assert_eq!(report_of(&log, &root.child(1).child(1)).outcome, Outcome::Cancelled);
    assert!(world.commands().is_empty());
    world.assert_at_rest(&root);
}

#[test]
fn a_root_that_fails_leaves_no_child_behind() {
    // F27
    let world = world(&[
        scene("the whole", &[calls(&[spawn_with("wait inside", BESIDE), waits_for_begun()]), fails()]),
        scene("wait inside", &[calls(&[waits_for_go("inside")]), says("never said")]),
    ]);
    let done = world.run("the whole", &[]).done();
    assert_eq!(done.answer(4), "");
    let root = world.root();
    assert_eq!(report_of(&world.log(), &root.child(1)).outcome, Outcome::Cancelled);
    assert!(world.commands().is_empty());
    world.assert_at_rest(&root);
}

/// A command that ends once another has begun.
fn waits_for_begun() -> String {
    command("until [ -e begun ]; do sleep 0.02; done")
}
