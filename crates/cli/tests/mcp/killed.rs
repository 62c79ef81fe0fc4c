//! The program is killed before and after every event of a run that uses a server, and resumed: nothing hangs, no call is made twice, and no
//! server is left.

use agent::Event;
use testkit::scenes::{call, calls, says, scene, spawn};

use crate::{configure, world};

const ALLOW: &str = "[[rules]]\ntool = \"kit__*\"\naction = \"allow\"\n";

fn count(word: &str) -> String {
    call("kit__count", &format!("text = {word:?}"))
}

// F1, F41
#[test]
fn a_run_with_a_server_survives_its_death_at_every_event() {
    let scenes = [
        scene("The whole", &[calls(&[count("first"), spawn("The part")]), calls(&[count("last")]), says("Counted.")]),
        scene("The part", &[calls(&[count("part")]), says("The part is done.")]),
    ];
    let whole = world(&scenes);
    configure(&whole, "kit", "", ALLOW);
    whole.launch(whole.task_in("ask", "The whole", &[])).done().answer(0);
    let events = whole.log().len();
    assert!(events >= 20, "{events}");
    for event in 1..=events {
        for side in ["before", "after"] {
            let at = format!("{side}:{event}");
            let world = world(&scenes);
            configure(&world, "kit", "", ALLOW);
            let mut command = world.task_in("ask", "The whole", &[]);
            command.env("MAJORDOMO_FAILPOINT", &at).env("MAJORDOMO_STORE_DURABILITY", "normal");
            let died = world.launch(command).done();
            if !died.was_killed() {
                // Threads that work at once write their events in another order, and the last may not be reached.
                continue;
            }
            world.assert_commands_gone();
            let Some(root) = world.log().first().map(|record| record.thread.root()) else { continue };
            world.call(&["thread", "resume", root.as_str(), "--quiet"]).answer(0);
            world.assert_commands_gone();
            let log = world.log();
            for word in ["first", "part", "last"] {
                let made = world.lines("counted.txt").iter().filter(|line| *line == word).count();
                assert!(made <= 1, "{at}: {word} was counted {made} times");
                let is_unknown = log.iter().any(|record| match &*record.event {
                    Event::ToolFinished { result, .. } => result.is_error && result.content.contains("unknown"),
                    _ => false,
                });
                assert!(made == 1 || is_unknown, "{at}: {word} was not counted, and nobody was told");
            }
            world.assert_at_rest(&root);
        }
    }
}

// F41
#[test]
fn servers_that_are_killed_again_and_again_leave_no_call_waiting_and_none_done_twice() {
    let turn = |n: usize| calls(&[call("kit__die", ""), count(&format!("n{n}"))]);
    let replies: Vec<String> = (0..3).map(turn).chain([says("Done.")]).collect();
    let world = world(&[scene("Count", &replies)]);
    configure(&world, "kit", "", ALLOW);
    let done = world.launch(world.task_in("ask", "Count", &["--jsonl"])).done();
    done.answer(0);
    assert_eq!(done.out.matches("outcome unknown").count(), 3, "{}", done.out);
    assert_eq!(world.lines("counted.txt"), ["n0", "n1", "n2"]);
    world.assert_commands_gone();
}
