//! Interrupted by a signal: what runs is ended, what was done is kept, and the run can be resumed.

use rustix::process::Signal;
use testkit::scenes::{calls, command, says, scene, spawn, waits_for_go};
use testkit::world::{Running, World, until};

use crate::world;

fn waiting() -> World {
    world(&[
        scene("the whole", &[calls(&[spawn("wait inside")]), says("done")]),
        scene("wait inside", &[calls(&[waits_for_go("first")]), calls(&[waits_for_go("second")]), says("waited")]),
    ])
}

fn assert_hint(said: &str, root: &agent::ThreadId) {
    assert!(said.contains(&format!("majordomo thread resume {root}")), "{said}");
}

#[test]
fn a_signal_ends_the_tools_and_leaves_the_run_to_be_resumed() {
    // F45
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let world = waiting();
        let run = world.run("the whole", &[]);
        let root = world.root();
        world.until_lines("begun", 1);
        run.signal(signal);
        let done = run.done();
        assert_eq!(done.answer(code), "");
        assert_hint(&done.err, &root);
        assert!(world.commands().is_empty(), "the tools have ended before the program did");
        assert!(world.row(&root).state.is_live());
        assert_eq!(world.row(&root).owner, None, "it was signed off");
        world.go();
        assert_eq!(world.call(&["thread", "resume", root.as_str()]).answer(0), "done");
        assert_eq!(world.lines("begun"), ["first", "second"]);
        world.assert_at_rest(&root);
    }
}

#[test]
fn a_resumed_run_can_be_interrupted_and_resumed_again() {
    let world = waiting();
    let run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    run.signal(Signal::INT);
    run.done().answer(130);
    let resumed = world.start(&["thread", "resume", root.as_str()]);
    world.until_lines("begun", 2);
    resumed.signal(Signal::INT);
    let done = resumed.done();
    assert_eq!(done.answer(130), "");
    assert_hint(&done.err, &root);
    assert!(world.commands().is_empty());
    assert_eq!(world.call(&["thread", "resume", root.as_str()]).answer(0), "done");
    assert_eq!(world.lines("begun"), ["first", "second"]);
    world.assert_at_rest(&root);
}

#[test]
fn a_second_signal_does_not_wait_for_what_will_not_end() {
    // F45
    for (signal, code, word) in [(Signal::INT, 130, "interrupted"), (Signal::TERM, 143, "terminated")] {
        let proof = "trap '' TERM HUP INT; echo proof >> begun; while :; do sleep 0.1; done";
        let world = world(&[scene("the whole", &[calls(&[command(proof)]), says("done")])]);
        let run = world.run("the whole", &[]);
        let root = world.root();
        world.until_lines("begun", 1);
        run.signal(signal);
        until_said(&run, word);
        run.signal(signal);
        let done = run.done();
        assert_eq!(done.answer(code), "");
        assert_hint(&done.err, &root);
        world.assert_commands_gone();
        assert_eq!(world.call(&["thread", "resume", root.as_str()]).answer(0), "done");
        assert_eq!(world.lines("begun"), ["proof"]);
    }
}

fn until_said(run: &Running, words: &str) {
    until(words, || run.said().contains(words).then_some(()));
}
