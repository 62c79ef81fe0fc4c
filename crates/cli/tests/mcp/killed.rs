//! The program is killed before and after every event of a run that uses a server, and resumed: nothing hangs, no call is made twice, and no
//! server is left.

use agent::Event;
use testkit::scenes::{call, calls, says, scene, spawn};

use crate::{configure, configure_rules, world};

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
    let mut reached = 0;
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
            reached += 1;
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
    println!("{reached} of {} points were reached", 2 * events);
    assert!(reached * 4 >= 2 * events * 3, "{reached} of {} points were reached", 2 * events);
}

// F1, F41
#[test]
fn twenty_servers_end_with_the_program_and_the_run_goes_on_without_a_call_made_twice() {
    let names: Vec<String> = (0..20).map(|n| format!("s{n}")).collect();
    let counting: Vec<String> =
        names.iter().map(|name| call(&format!("{name}__count"), &format!("text = {name:?}"))).collect();
    let waits = call("s7__wait", "text = \"on\"");
    let world = world(&[scene("All", &[calls(&counting), calls(&[waits]), says("Done.")])]);
    for name in &names {
        configure(&world, name, "", "");
    }
    configure_rules(&world, "[[rules]]\ntool = \"s*__*\"\naction = \"allow\"\n");
    let mut running = world.launch(world.task_in("ask", "All", &[]));
    world.until_lines("waiting.txt", 1);
    running.kill();
    world.assert_commands_gone();
    let root = world.root();
    world.call(&["thread", "resume", root.as_str(), "--quiet"]).answer(0);
    world.assert_commands_gone();
    let mut counted = world.lines("counted.txt");
    counted.sort();
    let mut expected = names;
    expected.sort();
    assert_eq!(counted, expected, "each was called once");
    assert_eq!(world.lines("waiting.txt").len(), 1, "the call that was lost is not made again");
    world.assert_at_rest(&root);
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

// F1, F3, T54
#[test]
fn a_run_whose_server_asks_the_model_survives_its_death_at_every_event_and_pays_each_request_once() {
    let asks = calls(&[call("kit__ask_model", "text = \"Sum it up\", times = 2")]);
    let scenes = [scene("The whole", &[asks, says("Done.")]), scene("Sum it up", &[says("In short: yes.")])];
    let settings = format!("sampling = true\n{ALLOW}");
    let whole = world(&scenes);
    configure(&whole, "kit", "polite,older", &settings);
    whole.launch(whole.task_in("ask", "The whole", &[])).done().answer(0);
    let started = |event: &Event| matches!(event, Event::SamplingStarted(_));
    let events = whole.log().len();
    assert_eq!(whole.log().iter().filter(|record| started(&record.event)).count(), 2);
    for event in 1..=events {
        for side in ["before", "after"] {
            let at = format!("{side}:{event}");
            let world = world(&scenes);
            configure(&world, "kit", "polite,older", &settings);
            let mut command = world.task_in("ask", "The whole", &[]);
            command.env("MAJORDOMO_FAILPOINT", &at).env("MAJORDOMO_STORE_DURABILITY", "normal");
            assert!(world.launch(command).done().was_killed(), "{at}");
            world.assert_commands_gone();
            let Some(root) = world.log().first().map(|record| record.thread.root()) else { continue };
            world.call(&["thread", "resume", root.as_str(), "--quiet"]).answer(0);
            world.assert_commands_gone();
            let log = world.log();
            let mut open: Vec<u32> = Vec::new();
            for record in &log {
                match &*record.event {
                    Event::SamplingStarted(started) => open.push(started.number),
                    Event::SamplingEnded(ended) => {
                        let before = open.len();
                        open.retain(|number| *number != ended.number);
                        assert_eq!(before - open.len(), 1, "{at}: what ended had begun");
                        assert!(ended.booked.requests == 1 && ended.booked.tokens > 0, "{at}: {ended:?}");
                    }
                    _ => {}
                }
            }
            assert!(open.is_empty(), "{at}: a request has no end");
            let calls = log.iter().filter(|record| matches!(&*record.event, Event::ToolStarted { .. })).count();
            assert!(calls <= 1, "{at}: the call was made {calls} times");
            world.assert_at_rest(&root);
        }
    }
}
