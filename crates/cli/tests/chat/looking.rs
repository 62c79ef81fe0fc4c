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
