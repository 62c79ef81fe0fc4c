//! Whose run it is: as long as its process lives, nobody else goes on with it.

use rustix::process::Signal;
use testkit::scenes::{calls, says, scene, spawn, waits_for_go};
use testkit::world::{World, until};

use crate::world;

fn waiting() -> World {
    world(&scenes())
}

fn scenes() -> [String; 3] {
    [
        scene("the whole", &[calls(&[spawn("wait inside")]), says("done")]),
        scene("wait inside", &[calls(&[waits_for_go("inside")]), says("waited")]),
        scene("another", &[says("another answer")]),
    ]
}

#[test]
fn a_run_whose_process_lives_is_not_resumed_by_another() {
    let world = waiting();
    let run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    let refused = world.call(&["thread", "resume", root.as_str()]);
    assert_eq!(refused.answer(1), "");
    assert!(refused.err.contains("which is alive"), "{}", refused.err);
    assert!(
        refused.err.contains(&format!("majordomo stop {root}")),
        "the message says what can be done: {}",
        refused.err
    );
    world.go();
    assert_eq!(run.done().answer(0), "done");
    assert_eq!(world.row(&root).epoch, 1);
    assert_eq!(world.lines("begun"), ["inside"]);
    world.assert_at_rest(&root);
}

#[test]
fn a_process_that_is_held_still_owns_its_run() {
    // F35, F42: on the same host alive is what the kernel says, not what a heartbeat says.
    let world = waiting();
    let run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    run.signal(Signal::STOP);
    let refused = world.call(&["thread", "resume", root.as_str()]);
    assert_eq!(refused.answer(1), "");
    assert!(refused.err.contains("which is alive"), "{}", refused.err);
    run.signal(Signal::CONT);
    world.go();
    assert_eq!(run.done().answer(0), "done");
    assert_eq!(world.row(&root).epoch, 1);
}

#[test]
fn what_runs_is_shown_under_the_names_that_other_commands_take_until_its_process_is_gone() {
    let world = waiting();
    let mut run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    let (_, short) = root.as_str().split_once('-').expect("a day and a name");
    let shown = world.call(&["ps"]);
    for name in [format!(" {short} general "), format!(" {short}.1 general ")] {
        assert!(shown.answer(0).contains(&name), "{name} in {}", shown.out);
    }
    // OPTA-49: a tree, in which each one is marked with its state.
    let lines: Vec<&str> = shown.out.lines().collect();
    let place = |name: &str| lines.iter().position(|line| line.contains(name)).expect("a line");
    let (above, below) = (place(&format!(" {short} ")), place(&format!(" {short}.1 ")));
    // Plain signs, for nothing here is a terminal.
    assert!(above < below && lines[above].starts_with("* ") && lines[below].starts_with("`- * "), "{}", shown.out);
    world.call(&["thread", "show", &format!("{short}.1")]).answer(0);
    let watched = world.start(&["ps", "--watch"]);
    until("a picture", || watched.printed().contains(short).then_some(()));
    run.kill();
    let watched = watched.done();
    watched.answer(0);
    assert!(watched.err.contains(&format!("majordomo thread resume {root}")), "{}", watched.err);
}

#[test]
fn a_run_whose_model_cannot_be_asked_from_here_is_left_to_be_resumed() {
    let world = waiting();
    let mut run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    run.kill();
    world.assert_commands_gone();
    let before = world.log();
    world.rewrite(&["this is no script".to_owned()]);
    let refused = world.call(&["thread", "resume", root.as_str()]);
    assert_eq!(refused.answer(4), "");
    assert_eq!(world.log(), before, "nothing was written");
    world.rewrite(&scenes());
    world.go();
    assert_eq!(world.call(&["thread", "resume", root.as_str()]).answer(0), "done");
    world.assert_at_rest(&root);
}

#[test]
fn looking_steering_and_another_run_leave_a_run_that_was_killed_as_it_is() {
    let world = waiting();
    let mut run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    run.kill();
    world.assert_commands_gone();
    let before = world.log().len();

    let listed = world.call(&["thread", "ls"]);
    assert!(listed.answer(0).contains("interrupted"), "{}", listed.out);
    let processes = world.call(&["ps"]);
    assert!(processes.err.contains(&format!("majordomo thread resume {root}")), "{}", processes.err);
    assert_eq!(processes.answer(0), "", "what nobody drives does not run");
    assert!(world.call(&["ps", "--json"]).answer(0).contains(r#""state":"interrupted""#));
    world.call(&["thread", "show", root.as_str()]).answer(0);
    assert_eq!(world.log().len(), before, "looking writes nothing");
    let steered = world.call(&["steer", root.as_str(), "look left"]);
    steered.answer(0);
    assert!(steered.err.contains("whose process has ended"), "{}", steered.err);
    assert_eq!(world.run("another", &[]).done().answer(0), "another answer");
    assert_eq!(world.row(&root).epoch, 1, "nobody took it over");
    assert!(world.row(&root).state.is_live());

    world.go();
    let resumed = world.call(&["thread", "resume", root.as_str()]);
    assert_eq!(resumed.answer(0), "done");
    assert_eq!(world.row(&root).epoch, 2);
    assert_eq!(world.lines("begun"), ["inside"]);
    let shown = world.call(&["thread", "show", root.as_str()]);
    assert!(shown.answer(0).contains("look left"), "what was said meanwhile was read: {}", shown.out);
    world.assert_at_rest(&root);
}
