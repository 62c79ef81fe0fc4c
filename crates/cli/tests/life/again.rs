//! Threads that are spoken to again: finished sub-agents, idle conversations, runs in the background; from other processes, and after one
//! was killed.

use std::collections::BTreeSet;

use agent::{Event, Outcome, ThreadId};
use serde_json::Value;
use testkit::scenes::{call, calls, says, scene, spawn, waits_for_go};
use testkit::world::{World, count, events};

use crate::world;

/// A root whose child is done, with words for later.
fn done_once() -> (World, ThreadId) {
    let world = world(&[
        scene("the whole", &[calls(&[spawn("look around")]), says("all is seen"), says("and again")]),
        scene(
            "look around",
            &[says("one door"), calls(&[waits_for_go("child")]), says("two doors"), says("three doors")],
        ),
    ]);
    assert_eq!(world.run("the whole", &["-q"]).done().answer(0), "all is seen");
    let root = world.root();
    (world, root)
}

#[test]
fn a_finished_sub_agent_answers_a_person_and_a_second_process_attaches() {
    // LACE-7, LACE-16, LACE-17
    let (world, root) = done_once();
    let child = root.child(1);
    let asked = world.start(&["send", child.as_str(), "how many now?", "--wait", "-q"]);
    world.until_lines("begun", 1);
    // The child works in that process: this one hands its message over and does not drive it.
    let sent = world.call(&["send", child.as_str(), "and behind them?"]);
    assert_eq!(sent.answer(0), "");
    let waits = world.start(&["wait", child.as_str(), "--timeout", "60"]);
    world.go();
    assert_eq!(asked.done().answer(0), "two doors");
    assert_eq!(waits.done().answer(0), "three doors", "the report on the newest message");
    let log = world.log();
    assert_eq!((count(&log, &child, "run_started"), count(&log, &child, "reported")), (2, 3));
    assert_eq!(count(&log, &root, "child_reported"), 1, "its parent asked once");
    world.assert_at_rest(&root);
}

#[test]
fn each_turn_of_a_sub_agent_has_one_start_and_one_end_in_the_stream() {
    // INV-1
    let more = call("message_agent", "agent = \"1\", text = \"and the tests?\"");
    let world = world(&[
        scene("the whole", &[calls(&[spawn("look around")]), calls(&[more]), says("both are known")]),
        scene("look around", &[says("the code"), says("the tests")]),
    ]);
    let done = world.run("the whole", &["--jsonl"]).done();
    let frames: Vec<Value> = done.answer(0).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let turns = |kind: &str| -> Vec<(u64, String, String)> {
        let of_kind = frames.iter().filter(|frame| frame["type"] == kind);
        let told = of_kind.map(|frame| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let words = if kind == "sub_agent_start" { &frame["goal"] } else { &frame["data"]["report"] };
            (frame["turn"].as_u64().expect("a number"), text(words), text(&frame["tool_use_id"]))
        });
        told.collect()
    };
    let (starts, ends) = (turns("sub_agent_start"), turns("sub_agent_complete"));
    assert_eq!(
        starts.iter().map(|(turn, goal, _)| (*turn, goal.as_str())).collect::<Vec<_>>(),
        [(1, "look around"), (2, "and the tests?")]
    );
    assert_eq!(
        ends.iter().map(|(turn, report, _)| (*turn, report.as_str())).collect::<Vec<_>>(),
        [(1, "the code"), (2, "the tests")]
    );
    let calls: BTreeSet<&String> = starts.iter().map(|(_, _, call)| call).collect();
    assert_eq!(calls.len(), 2, "each is inside of the call that asked: {starts:?}");
    assert_eq!(frames.iter().filter(|frame| frame["type"] == "done").count(), 1);
}

#[test]
fn a_conversation_goes_on_from_the_command_line() {
    let (world, root) = done_once();
    let again = world.call(&["run", "-c", "go on", "-q"]);
    assert_eq!(again.answer(0), "and again");
    assert_eq!(world.contents().roots().count(), 1, "it is the same conversation");
    let agent = world.call(&["run", "--thread", root.as_str(), "-m", "builtin/rules", "x"]);
    assert_eq!(agent.answer(2), "");
    assert!(agent.err.contains("chosen with its first message"), "{}", agent.err);
    std::fs::create_dir(world.path("elsewhere")).expect("a folder");
    let mut elsewhere = world.command(&["run", "-c", "go on"]);
    elsewhere.current_dir(world.path("elsewhere"));
    let elsewhere = world.launch(elsewhere).done();
    assert_eq!(elsewhere.answer(2), "");
    assert!(elsewhere.err.contains("no conversation in this folder"), "{}", elsewhere.err);
    let nobody = world.call(&["send", "nobody", "hello", "--wait"]);
    assert_eq!(nobody.answer(2), "");
    assert!(nobody.err.contains("no thread is called 'nobody'"), "{}", nobody.err);
}

#[test]
fn a_run_in_the_background_prints_its_id_and_is_waited_for() {
    let world = world(&[scene("the whole", &[calls(&[waits_for_go("root")]), says("done behind")])]);
    let id = world.run("the whole", &["--detach"]).done().answer(0).to_owned();
    let root = world.root();
    assert_eq!(id, root.as_str());
    let early = world.call(&["wait", &id, "--timeout", "0.1"]);
    assert_eq!(early.answer(7), "");
    world.until_lines("begun", 1);
    assert!(world.call(&["ps"]).answer(0).contains("general"));
    world.go();
    assert_eq!(world.call(&["wait", &id]).answer(0), "done behind");
    assert_eq!(world.call(&["wait", &id, "--timeout", "0"]).answer(0), "done behind");
    assert!(!world.row(&root).unread, "it was printed");
    let told: Value = serde_json::from_str(world.call(&["wait", &id, "--json"]).answer(0)).expect("JSON");
    assert_eq!((&told["exit_code"], &told["answer"]), (&0.into(), &"done behind".into()));
    let wrong = world.run("the whole", &["--detach", "--preset", "nope"]).done();
    assert_eq!(wrong.answer(3), "");
    assert!(wrong.err.contains("nope"), "{}", wrong.err);
    world.assert_at_rest(&root);
}

#[test]
fn what_is_sent_to_a_run_in_the_background_is_answered_behind_it() {
    let replies = [calls(&[waits_for_go("root")]), says("done behind"), says("the second, too")];
    let world = world(&[scene("the whole", &replies)]);
    let id = world.run("the whole", &["--detach"]).done().answer(0).to_owned();
    let root = world.root();
    world.until_lines("begun", 1);
    world.call(&["send", &id, "and more"]).answer(0);
    world.go();
    let log = world.until_logged("both answers", |log| count(log, &root, "reported") == 2);
    assert_eq!(count(&log, &root, "run_started"), 2);
    assert_eq!(world.call(&["wait", &id]).answer(0), "the second, too");
    world.assert_at_rest(&root);
}

#[test]
fn the_first_run_of_all_can_be_in_the_background_and_its_answer_can_go_to_a_device() {
    let world = world(&[scene("the whole", &[says("done behind")])]);
    let data = world.path("../new/deeper").display().to_string();
    let id = world.run("the whole", &["--detach", "--data", &data]).done().answer(0).to_owned();
    assert_eq!(world.call(&["wait", &id, "--data", &data]).answer(0), "done behind");
    let nowhere = world.run("the whole", &["-q", "-o", "/dev/null"]).done();
    assert_eq!((nowhere.answer(0), nowhere.err.as_str()), ("", ""));
}

#[test]
fn what_is_sent_to_an_idle_thread_is_answered_by_a_process_of_its_own_and_unread_until_it_is_shown() {
    let (world, root) = done_once();
    world.call(&["send", root.as_str(), "go on"]).answer(0);
    let log = world.until_logged("the answer", |log| count(log, &root, "reported") == 2);
    assert_eq!(count(&log, &root, "run_started"), 2);
    assert!(world.row(&root).unread);
    assert!(world.call(&["thread", "ls"]).answer(0).contains("* the whole"), "it is marked");
    assert!(world.call(&["thread", "show", root.as_str()]).answer(0).contains("and again"));
    assert!(!world.row(&root).unread);
}

#[test]
fn a_question_to_a_finished_child_outlives_its_process() {
    // F26: killed in the middle of a later turn, it goes on, and nothing is asked twice
    let more = call("message_agent", "agent = \"1\", text = \"and the tests?\"");
    let world = world(&[
        scene("the whole", &[calls(&[spawn("look around")]), calls(&[more]), says("both are known")]),
        scene("look around", &[says("the code"), calls(&[waits_for_go("child")]), says("the tests")]),
    ]);
    let mut run = world.run("the whole", &[]);
    let root = world.root();
    world.until_lines("begun", 1);
    run.kill();
    world.go();
    assert_eq!(world.call(&["thread", "resume", root.as_str(), "-q"]).answer(0), "both are known");
    let log = world.log();
    let child = root.child(1);
    assert_eq!((count(&log, &child, "reported"), count(&log, &root, "child_asked")), (2, 1));
    let outcomes: Vec<Outcome> = events(&log, &root)
        .filter_map(|event| match event {
            Event::ChildReported { report, .. } => Some(report.outcome),
            _ => None,
        })
        .collect();
    assert_eq!(outcomes, [Outcome::Completed; 2]);
    world.assert_at_rest(&root);
}

#[test]
fn a_turn_that_a_person_began_and_its_process_left_is_resumed_by_itself() {
    let (world, root) = done_once();
    let child = root.child(1);
    let mut asked = world.start(&["send", child.as_str(), "how many now?", "--wait"]);
    world.until_lines("begun", 1);
    asked.kill();
    let waits = world.call(&["wait", child.as_str()]);
    assert_eq!(waits.answer(1), "");
    assert!(waits.err.contains("was interrupted"), "{}", waits.err);
    world.go();
    assert_eq!(world.call(&["thread", "resume", child.as_str(), "-q"]).answer(0), "two doors");
    world.assert_at_rest(&root);
}

#[test]
fn work_does_nothing_but_what_is_runnable_and_ends_with_a_signal() {
    let (world, root) = done_once();
    let head = world.row(&root).head;
    let work = world.start(&["work"]);
    testkit::world::until("the worker to say so", || work.said().contains("Ctrl-C").then_some(()));
    work.signal(rustix::process::Signal::INT);
    assert_eq!(work.done().code, Some(130));
    assert_eq!(world.row(&root).head, head, "an idle conversation is left alone");
    let none = world.call(&["work", "--concurrency", "0"]);
    assert_eq!(none.answer(2), "");
}
