//! Questions of agents, in line.

use testkit::scenes::{call, calls, command, says, scene, spawn};

use crate::room::{CONTROL_Y, Chat, ENTER, ESCAPE, world};

fn writes(content: &str) -> String {
    calls(&[call("write_file", &format!("path = \"poem.txt\", content = {content:?}"))])
}

#[test]
fn an_approval_shows_the_difference_and_is_given_with_a_key() {
    let world = world(&[scene(
        "the poem",
        &[calls(&[call("read_file", "path = \"poem.txt\"")]), writes("roses\nviolets\n"), says("It is written.")],
    )]);
    std::fs::write(world.path("poem.txt"), "roses\nweeds\n").expect("a file");
    let mut chat = Chat::open_in(&world, "ask", &[], (100, 30));
    chat.say("Write the poem");
    let screen = chat.until_shown("needs your approval");
    assert!(screen.contains("general needs your approval"), "{screen}");
    assert!(screen.contains("write_file") && screen.contains("risk"), "{screen}");
    assert!(screen.contains("- weeds") && screen.contains("+ violets"), "{screen}");
    assert!(screen.contains("⚑ 1 approval"), "{screen}");
    chat.until_armed();
    chat.press("y");
    chat.until_shown("It is written.");
    assert_eq!(world.lines("poem.txt"), ["roses", "violets"]);
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn keys_that_were_pressed_before_a_question_appeared_do_not_answer_it() {
    let world = world(&[scene("the poem", &[crate::room::after(700, &writes("roses\n")), says("It is written.")])]);
    let chat = Chat::open_in(&world, "ask", &[], (100, 30));
    chat.say("Write the poem");
    chat.press("yyy");
    chat.until_shown("› yyy");
    let screen = chat.until_shown("needs your approval");
    assert!(screen.contains("Ctrl-Y answers it"), "{screen}");
    chat.press("y");
    let screen = chat.until_shown("› yyyy");
    assert!(screen.contains("needs your approval"), "it is still open: {screen}");
    assert!(!world.path("poem.txt").exists());
    chat.press(CONTROL_Y);
    chat.until_shown("n deny");
    chat.press("n");
    chat.until_shown("A reason for the agent");
    chat.press(&format!("no poems{ENTER}"));
    let screen = chat.until_shown("It is written.");
    assert!(screen.contains("no poems"), "the agent was told why: {screen}");
    chat.until_shown("› yyyy");
    assert!(!world.path("poem.txt").exists());
}

#[test]
fn a_question_of_a_child_is_put_off_and_decided_elsewhere() {
    let world = world(&[
        scene("the whole", &[calls(&[spawn("left part")]), says("All is done.")]),
        scene("left part", &[calls(&[command("touch made")]), says("left is done")]),
    ]);
    let mut chat = Chat::open_in(&world, "ask", &[], (100, 30));
    chat.say("Do the whole");
    let screen = chat.until_shown("general › general needs your approval");
    assert!(screen.contains("$ touch made"), "{screen}");
    chat.until_armed();
    chat.press(ESCAPE);
    let screen = chat.until_shown("put off");
    assert!(!screen.contains("needs your approval"), "{screen}");
    let id = world.call(&["approve", "ls", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&id.out).expect("JSON");
    let id = rows[0]["id"].as_str().expect("an id").to_owned();
    chat.press(CONTROL_Y);
    chat.until_shown("needs your approval");
    world.call(&["approve", "yes", &id]);
    chat.until("it is closed with a word", |screen| {
        screen.contains("approved, once") && !screen.contains("needs your approval")
    });
    chat.until_shown("All is done.");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn an_agent_that_wants_to_know_something_is_answered() {
    let world = world(&[scene(
        "the poem",
        &[
            calls(&[call("ask_user", "question = \"Which flower?\", choices = [\"rose\", \"tulip\"]")]),
            says("A tulip it is."),
        ],
    )]);
    let mut chat = Chat::open_in(&world, "ask", &[], (100, 30));
    chat.say("Write the poem");
    let screen = chat.until_shown("Which flower?");
    assert!(screen.contains("1. rose") && screen.contains("2. tulip"), "{screen}");
    chat.until_armed();
    chat.press("2");
    chat.until_shown("answer › 2");
    chat.press(ENTER);
    chat.until_shown("is answered: tulip");
    chat.until_shown("A tulip it is.");
    assert_eq!(chat.leave(), Some(0));
}
