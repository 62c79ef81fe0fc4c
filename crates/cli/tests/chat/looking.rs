//! Looking into sub-agents, and talking to them.

use testkit::scenes::{calls, says, scene, spawn, waits_for_go};

use crate::room::{BACKSPACE, CONTROL_T, Chat, DOWN, ENTER, world};

#[test]
fn a_grandchild_is_looked_into_and_spoken_to_and_asked_more_when_it_is_done() {
    let world = world(&[
        scene("the whole", &[calls(&[spawn("left part")]), says("All is done.")]),
        scene("left part", &[calls(&[spawn("inner part")]), says("left is done")]),
        scene("inner part", &[calls(&[waits_for_go("inner")]), says("inner is done"), says("It was easy.")]),
    ]);
    let mut chat = Chat::open(&world, &["--max-depth", "3"], (100, 40));
    chat.say("Do the whole");
    world.until_lines("begun", 1);
    chat.until_shown("inner part");
    chat.press(CONTROL_T);
    chat.until_shown("Enter opens");
    chat.press(DOWN);
    chat.until("the grandchild is chosen", |screen| {
        screen.lines().any(|line| line.starts_with("▸") && line.contains("inner part"))
    });
    chat.press(ENTER);
    let screen = chat.until_shown("general › general › general (Backspace: parent)");
    assert!(screen.contains("brief: inner part"), "{screen}");
    chat.say("mind the gap");
    world.go();
    let screen = chat.until_shown("inner is done");
    assert!(screen.contains("› mind the gap (while it works)"), "{screen}");
    // The main conversation went on meanwhile, and is not lost.
    assert!(!screen.contains("All is done."), "{screen}");
    chat.until("it is over", |screen| screen.contains("› reply"));
    chat.say("Was it hard?");
    chat.until_shown("It was easy.");
    chat.until("it is over", |screen| screen.contains("› reply"));
    chat.press(BACKSPACE);
    chat.until_shown("── general › general (Backspace: parent)");
    chat.press(BACKSPACE);
    chat.until_shown("All is done.");
    assert_eq!(chat.leave(), Some(0));
    let all = chat.transcript();
    assert_eq!(all.matches("All is done.").count(), 1, "{all}");
}

/// A root with a chain of three below it.
fn chain() -> Vec<String> {
    vec![
        scene("the whole", &[calls(&[spawn("second level")]), says("All is done.")]),
        scene("second level", &[calls(&[spawn("third level")]), says("second is done")]),
        scene("third level", &[calls(&[spawn("fourth level")]), says("third is done")]),
        scene("fourth level", &[calls(&[waits_for_go("fourth")]), says("fourth is done")]),
    ]
}

#[test]
fn a_fourth_level_is_in_the_tree_with_what_each_branch_costs_and_is_looked_into() {
    let world = world(&chain());
    let mut chat = Chat::open(&world, &["--max-depth", "4"], (140, 40));
    chat.say("Do the whole");
    world.until_lines("begun", 1);
    let screen = chat.until("four levels", |screen| {
        let row = |goal: &str| screen.lines().find(|line| line.contains("●") && line.contains(goal)).map(str::to_owned);
        let at = |goal: &str| row(goal).and_then(|row| row.find('●'));
        let all = ["Do the whole", "second level", "third level", "fourth level"].map(at);
        all.iter().all(Option::is_some) && all.is_sorted_by(|one, other| one < other)
    });
    // Of a branch both are shown: what the agent used itself, and what it and all below it used.
    let second = screen.lines().find(|line| line.contains("●") && line.contains("second level")).expect("a row");
    assert!(second.split_whitespace().any(|word| word.contains('/') && word.contains('k')), "{second}");
    chat.press(CONTROL_T);
    chat.until_shown("Enter opens");
    for goal in ["third level", "fourth level"] {
        chat.press(DOWN);
        chat.until(goal, |screen| screen.lines().any(|line| line.starts_with("▸") && line.contains(goal)));
    }
    chat.press(ENTER);
    let screen = chat.until_shown("general › general › general › general (Backspace: parent)");
    assert!(screen.contains("brief: fourth level"), "{screen}");
    chat.say("mind the gap");
    world.go();
    chat.until_shown("fourth is done");
    chat.until_shown("› reply");
    for _ in 0..3 {
        chat.press(BACKSPACE);
    }
    chat.until_shown("All is done.");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn the_key_x_stops_the_chosen_agent_and_asks_first_if_others_work_below_it() {
    let world = world(&chain());
    let mut chat = Chat::open(&world, &["--max-depth", "4"], (140, 40));
    chat.say("Do the whole");
    world.until_lines("begun", 1);
    chat.until("four levels", |screen| screen.matches('●').count() == 4);
    chat.press(CONTROL_T);
    chat.until_shown("Enter opens");
    chat.until("the second is chosen", |screen| {
        screen.lines().any(|line| line.starts_with("▸") && line.contains("second level"))
    });
    chat.press("x");
    chat.until_shown("Stop general and 2 running sub-agents? y/n");
    chat.press("n");
    chat.until("nothing is stopped", |screen| !screen.contains("y/n") && screen.matches('●').count() == 4);
    chat.press(CONTROL_T);
    chat.until_shown("Enter opens");
    for goal in ["third level", "fourth level"] {
        chat.press(DOWN);
        chat.until(goal, |screen| screen.lines().any(|line| line.starts_with("▸") && line.contains(goal)));
    }
    chat.press("x");
    // The others are told of it, and go on.
    chat.until_shown("All is done.");
    chat.until_shown("› reply");
    assert_eq!(chat.leave(), Some(0));
    let outcomes: Vec<_> = world.rows().iter().map(|row| (row.id.depth(), row.outcome)).collect();
    let stopped = outcomes.iter().filter(|(_, outcome)| *outcome == Some(agent::Outcome::Cancelled)).count();
    assert_eq!((outcomes.len(), stopped), (4, 1), "{outcomes:?}");
    world.assert_commands_gone();
}
