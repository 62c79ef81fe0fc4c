//! Told something from another process while at work.

use agent::Event;
use testkit::scenes::{calls, says, scene, spawn, waits_for_go};
use testkit::world::{count, events};

use crate::world;

// INV-8
#[test]
fn what_a_thread_is_told_from_another_process_stands_before_its_next_request() {
    let world = world(&[
        scene("the whole", &[calls(&[spawn("wait inside")]), says("done")]),
        scene("wait inside", &[calls(&[waits_for_go("inside")]), says("waited")]),
    ]);
    let run = world.run("the whole", &[]);
    let root = world.root();
    let child = root.child(1);
    world.until_lines("begun", 1);
    for (thread, words) in [(&child, "look left"), (&root, "be brief")] {
        let steered = world.call(&["steer", thread.as_str(), words]);
        assert_eq!(steered.answer(0), "");
        assert!(steered.err.contains("next step"), "{}", steered.err);
    }
    let is_there = |thread, log: &[_]| count(log, thread, "steered") == 1;
    world.until_logged("both to have heard", |log| is_there(&child, log) && is_there(&root, log));
    world.go();
    assert_eq!(run.done().answer(0), "done");
    let log = world.log();
    for (thread, words) in [(&child, "look left"), (&root, "be brief")] {
        let told =
            events(&log, thread).position(|event| matches!(event, Event::Steered { text, .. } if **text == *words));
        let asked: Vec<usize> = events(&log, thread)
            .enumerate()
            .filter(|(_, event)| matches!(event, Event::TurnStarted(_)))
            .map(|(place, _)| place)
            .collect();
        assert!(told.is_some_and(|told| asked[0] < told && told < asked[1]), "{told:?} of {asked:?}");
        let shown = world.call(&["thread", "show", thread.as_str()]);
        assert!(shown.answer(0).contains(&format!("person (while it worked): {words}")), "{}", shown.out);
    }
    world.assert_at_rest(&root);
}

#[test]
fn who_is_done_is_told_nothing_and_the_sender_hears_so() {
    let world =
        world(&[scene("the whole", &[calls(&[spawn("be quick")]), says("done")]), scene("be quick", &[says("quick")])]);
    world.run("the whole", &[]).done().answer(0);
    let root = world.root();
    let before = world.log();
    for thread in [&root, &root.child(1)] {
        let refused = world.call(&["steer", thread.as_str(), "too late"]);
        assert_eq!(refused.answer(1), "");
        assert!(refused.err.contains(&format!("thread {thread} is not running")), "{}", refused.err);
    }
    assert_eq!(world.log(), before, "nothing was written");
    world.call(&["steer", root.as_str(), " "]).answer(2);
}

#[test]
fn a_message_that_was_not_read_before_the_end_is_shown_to_the_user() {
    let world = world(&[scene("the whole", &[calls(&[waits_for_go("it")]), says("done")])]);
    let run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    world.call(&["steer", root.as_str(), "be brief"]).answer(0);
    world.until_logged("it to have heard", |log| count(log, &root, "steered") == 1);
    world.call(&["stop", root.as_str(), "--now"]).answer(0);
    let done = run.done();
    done.answer(9);
    assert!(done.err.contains("unfinished: not read: ") && done.err.contains("be brief"), "{}", done.err);
}
