//! A large family is stopped: fifty threads on three levels, twenty commands of every clinging kind.

use agent::{Event, Outcome};
use testkit::scenes::{calls, command, never_answers, says, scene, spawn};
use testkit::world::{count, report_of};

use crate::world;

const CHILDREN: usize = 6;
const GRANDCHILDREN: usize = 8;
/// Of each child's children so many run a command that will not end; the others wait for their model.
const COMMANDS: [&str; 4] = [
    "echo plain >> begun; sleep 300",
    "setsid sh -c 'echo session >> begun; exec sleep 300' & wait",
    "(setsid sh -c 'echo forked >> begun; sleep 300; true' &) ; nohup sleep 300 > /dev/null 2>&1",
    "trap '' TERM HUP INT; echo proof >> begun; while :; do sleep 0.5; done",
];

#[test]
fn a_family_of_fifty_is_over_at_one_word() {
    // F26
    let children: Vec<String> = (0..CHILDREN).map(|child| spawn(&format!("lead group {child}"))).collect();
    let group: Vec<String> = (0..GRANDCHILDREN).map(|number| spawn(&format!("work number {number}"))).collect();
    let mut scenes = vec![
        scene("the whole", &[calls(&children), says("never said")]),
        scene("lead group", &[calls(&group), says("never said")]),
    ];
    for (number, clinging) in COMMANDS.iter().enumerate() {
        scenes.push(scene(&format!("work number {number}"), &[calls(&[command(clinging)]), says("never said")]));
    }
    scenes.push(scene("work number", &[never_answers()]));
    let world = world(&scenes);
    let run = world.run("the whole", &["--max-children", "100", "--max-concurrent", "20"]);
    let root = world.root();
    world.until_lines("begun", CHILDREN * COMMANDS.len());
    let all = 1 + CHILDREN + CHILDREN * GRANDCHILDREN;
    world.until_logged("everybody to be at work", |log| {
        log.iter().filter(|record| matches!(*record.event, Event::TurnStarted(_))).count() == all
    });
    assert!(world.commands().len() >= CHILDREN * COMMANDS.len());

    world.call(&["stop", root.as_str(), "--now"]).answer(0);
    let log = world.log();
    assert!(world.rows().iter().all(|row| !row.state.is_live()), "over is said once it is true");
    assert!(world.commands().is_empty(), "no process is left");
    assert_eq!(run.done().answer(9), "");
    assert_eq!(world.rows().len(), all);
    for row in world.rows() {
        assert_eq!(report_of(&log, &row.id).outcome, Outcome::Cancelled, "{}", row.id);
    }
    assert_eq!(world.log(), log, "nothing happens afterwards");
    assert_eq!(count(&log, &root, "child_reported"), CHILDREN);
    // How long it takes is measured by the benchmark. Here the order counts: a stop goes down, and the ends come up, each one after
    // all ends below it.
    let place = |is_it: &dyn Fn(&store::Record) -> bool| log.iter().position(is_it).expect("it is in the log");
    let end =
        |id: &agent::ThreadId| place(&|record| record.thread == *id && matches!(*record.event, Event::Reported(_)));
    let begun = place(&|record| record.thread == root && matches!(*record.event, Event::StopBegun { .. }));
    for row in world.rows() {
        assert!(begun < end(&row.id), "{}", row.id);
        if let Some(parent) = row.id.parent() {
            assert!(end(&row.id) < end(&parent), "{} is over before its parent", row.id);
        }
    }
    world.assert_at_rest(&root);
}
