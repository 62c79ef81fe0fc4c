//! `majordomo thread import` is killed before and after every event that it writes. What it leaves is no conversation: the next import
//! of the same file takes all of it in, and a worker that starts removes what is left of it.

use rustix::process::Signal;
use testkit::scenes::{calls, says, scene, spawn, whenever_asked};
use testkit::world::{World, until};

use crate::runs::TASK;
use crate::trial::{Death, Side};
use crate::world;

/// A conversation of two runs with a sub-agent, as a file, and the world in which it is no more.
fn exported() -> (World, String, u64) {
    let scenes = [
        scene(TASK, &[calls(&[spawn("look around")]), says("all is well"), says("still well")]),
        scene("look around", &[whenever_asked(&says("nothing there"))]),
    ];
    let world = world(&scenes);
    world.launch(world.task(TASK, &["--quiet"])).done().answer(0);
    let root = world.root().to_string();
    world.call(&["run", "and now?", "--quiet", "--thread", &root]).answer(0);
    let file = world.call(&["thread", "export", &root, "--format", "jsonl"]).answer(0).to_owned();
    // As if it had been made for a task: of a board that is not here.
    let file = file.replacen("\"thread_created\":{", "\"thread_created\":{\"created_for\":\"/elsewhere/t1\",", 1);
    assert!(file.contains("/elsewhere/t1"), "{file}");
    std::fs::write(world.path("conversation.jsonl"), &file).expect("a file");
    remove(&world, &root);
    let events = file.lines().count() as u64 - 1;
    (world, root, events)
}

fn remove(world: &World, root: &str) {
    world.call(&["thread", "rm", root]).answer(0);
}

/// Imports the file, and dies on the way.
fn dies(world: &World, death: Death) {
    let mut import = world.command(&["thread", "import", "conversation.jsonl"]);
    import.env("MAJORDOMO_FAILPOINT", death.to_string());
    let died = world.launch(import).done();
    assert!(died.was_killed(), "{death}: {died:?}");
}

/// What there is of it once all of it was taken in.
fn taken_in(world: &World, root: &str) -> String {
    assert_eq!(world.call(&["thread", "import", "conversation.jsonl"]).answer(0).trim(), root);
    world.call(&["thread", "export", root, "--format", "jsonl"]).answer(0).to_owned()
}

#[test]
fn an_import_that_dies_leaves_nothing_that_stands_in_the_way_of_the_next() {
    // F1, INV-8
    let (world, root, events) = exported();
    assert!(events > 8, "there are moments to die at: {events}");
    let whole = taken_in(&world, &root);
    assert!(!whole.contains("/elsewhere/t1"), "no task of a file is a task of a board here: {whole}");
    remove(&world, &root);
    for event in 1..=events {
        // One side of each event: the other is that of its neighbour.
        let side = if event % 2 == 0 { Side::Before } else { Side::After };
        dies(&world, Death { side, event });
        assert_eq!(taken_in(&world, &root), whole, "{event}");
        remove(&world, &root);
    }
}

#[test]
fn a_worker_that_starts_removes_what_an_import_has_left() {
    // F1, F3
    let (world, root, events) = exported();
    for event in [2, events / 2, events] {
        dies(&world, Death { side: Side::After, event });
        assert!(!world.rows().is_empty(), "a part of it is there");
        let mut work = world.command(&["work"]);
        work.env("MAJORDOMO_MODEL", format!("scripted/{}", world.script().display()));
        let worker = world.launch(work);
        until("the conversation to be gone", || world.rows().is_empty().then_some(()));
        worker.signal(Signal::INT);
        assert_eq!(worker.done().code, Some(130));
    }
    // One that was taken in whole stays.
    let whole = taken_in(&world, &root);
    is_refused(&world);
    assert_eq!(world.call(&["thread", "export", &root, "--format", "jsonl"]).answer(0), whole);
}

/// An import of what is there already is refused, and takes nothing away.
fn is_refused(world: &World) {
    let refused = world.call(&["thread", "import", "conversation.jsonl"]);
    assert!(refused.code != Some(0) && refused.err.contains("exists already"), "{refused:?}");
}
