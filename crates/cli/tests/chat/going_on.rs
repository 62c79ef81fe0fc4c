//! Conversations that are left and gone on with; steering, queueing, interrupting, going back.

use testkit::scenes::{calls, never_answers, says, scene, spawn, waits_for_go};

use crate::room::{CONTROL_C, Chat, DOWN, ENTER, ESCAPE, TAB, slowly, world};

#[test]
fn a_chat_that_was_killed_goes_on_with_its_conversation_and_its_work() {
    let world =
        world(&[scene("the whole", &[says("First answer."), calls(&[waits_for_go("whole")]), says("All is done.")])]);
    let mut chat = Chat::open(&world, &[], (80, 30));
    chat.say("Begin with the whole");
    chat.until_shown("First answer.");
    chat.until_shown("› reply");
    chat.say("Now the rest");
    world.until_lines("begun", 1);
    chat.signal(rustix::process::Signal::KILL);
    chat.done();
    world.go();
    let mut chat = Chat::start(&world, &["-c"], (80, 30));
    let screen = chat.until_shown("The last run was interrupted. Go on with it?");
    assert!(screen.contains("First answer.") && screen.contains("› Now the rest"), "{screen}");
    chat.press("y");
    chat.until_shown("All is done.");
    chat.until_shown("› reply");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn a_message_while_it_works_is_read_at_the_next_step_and_a_queued_one_afterwards() {
    let world = world(&[scene(
        "the whole",
        &[calls(&[waits_for_go("whole")]), says("The first is done."), says("The second is done.")],
    )]);
    let mut chat = Chat::open(&world, &[], (80, 30));
    chat.say("Do the whole");
    world.until_lines("begun", 1);
    chat.press(&format!("and then this{TAB}"));
    chat.until_shown("⧗ and then this");
    chat.until_shown("1 queued");
    // It can be taken back, changed and queued again.
    chat.press(TAB);
    chat.until_shown("› and then this");
    chat.press(&format!(" too{TAB}"));
    chat.until_shown("⧗ and then this too");
    chat.say("be quick");
    world.go();
    let screen = chat.until_shown("The second is done.");
    let place = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}: {screen}"));
    assert!(place("› be quick (while it works)") < place("The first is done."), "{screen}");
    assert!(place("The first is done.") < place("› and then this too"), "{screen}");
    assert!(place("› and then this too") < place("The second is done."), "{screen}");
    chat.until_shown("› reply");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn escape_interrupts_the_agent_and_asks_first_where_others_work_for_it() {
    let world = world(&[
        scene("alone", &[never_answers(), says("I stopped."), says("again")]),
        scene("the whole", &[calls(&[spawn("left part")]), says("Stopped early.")]),
        scene("left part", &[calls(&[waits_for_go("left")]), says("left is done")]),
    ]);
    let mut chat = Chat::open(&world, &[], (80, 30));
    chat.say("Do it alone");
    chat.until_shown("Esc interrupts");
    chat.press(ESCAPE);
    chat.until("it is told", |screen| screen.contains("is told to stop") || screen.contains("cancelled"));
    chat.press(ESCAPE);
    chat.until_shown("cancelled");
    chat.until_shown("› reply");
    chat.press(&format!("/new{ENTER}"));
    chat.until_shown("› ask anything");
    chat.say("Do the whole");
    world.until_lines("begun", 1);
    chat.until_shown("run_command");
    chat.press(ESCAPE);
    chat.until_shown("Stop general and 1 running sub-agent? y/n");
    chat.press("n");
    chat.until("it goes on", |screen| !screen.contains("y/n") && screen.contains("run_command"));
    chat.press(ESCAPE);
    chat.until_shown("Stop general and 1 running sub-agent? y/n");
    chat.press("y");
    chat.until("it has ended", |screen| screen.contains("› reply"));
    world.assert_commands_gone();
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn escape_twice_goes_back_to_a_message_in_a_copy() {
    let world = world(&[scene("one", &[says("Answer one."), says("Answer two."), says("Answer three.")])]);
    let mut chat = Chat::open(&world, &[], (80, 40));
    for (text, answer) in [("one", "Answer one."), ("number two", "Answer two.")] {
        chat.say(text);
        chat.until_shown(answer);
        chat.until_shown("› reply");
    }
    chat.press(ESCAPE);
    chat.until_shown("Esc again");
    chat.press(ESCAPE);
    let screen = chat.until_shown("Go back to a message");
    assert!(screen.contains("▸ number two"), "{screen}");
    chat.press(ENTER);
    chat.until("the message is there to be changed", |screen| {
        screen.lines().rev().take(3).any(|line| line.starts_with("› number two"))
    });
    chat.press(" again");
    chat.press(ENTER);
    // The copy knows one answer, so the script goes on with the second.
    chat.until("the copy", |screen| {
        screen.contains("› number two again") && screen.matches("Answer two.").count() >= 1
    });
    chat.until_shown("› reply");
    let roots = world.rows().into_iter().filter(|row| row.id.is_root()).count();
    assert_eq!(roots, 2);
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn another_conversation_is_chosen_from_a_list() {
    let world = world(&[scene("apples", &[says("About apples.")]), scene("pears", &[says("About pears.")])]);
    let mut chat = Chat::open(&world, &["Tell me of apples"], (80, 30));
    chat.until_shown("About apples.");
    chat.until_shown("› reply");
    chat.press(&format!("/new{ENTER}"));
    chat.until_shown("› ask anything");
    chat.say("Tell me of pears");
    chat.until_shown("About pears.");
    chat.until_shown("› reply");
    assert_eq!(chat.leave(), Some(0));
    let mut chat = Chat::start(&world, &["-r"], (80, 30));
    let screen = chat.until_shown("Conversations of this folder");
    assert!(screen.contains("▸ Tell me of pears"), "{screen}");
    chat.press(DOWN);
    chat.until_shown("▸ Tell me of apples");
    chat.press(ENTER);
    chat.until_shown("About apples.");
    assert!(!chat.screen().contains("About pears."));
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn leaving_takes_two_presses_and_the_first_clears_what_was_written() {
    let world = world(&[scene("the whole", &[slowly("word by word by word", 2000)])]);
    let mut chat = Chat::open(&world, &[], (80, 24));
    chat.press("some words");
    chat.until_shown("› some words");
    chat.press(CONTROL_C);
    chat.until_shown("› ask anything");
    chat.say("Do the whole");
    chat.until_shown("Esc interrupts");
    chat.press(CONTROL_C);
    chat.until_shown("the work is kept");
    chat.press(CONTROL_C);
    assert_eq!(chat.done(), Some(0));
    let all = chat.transcript();
    assert!(all.contains("the work is kept; go on with: majordomo -c"), "{all}");
}
