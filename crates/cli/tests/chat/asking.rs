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

#[test]
fn always_is_asked_once_more_and_the_next_call_of_another_conversation_needs_no_consent() {
    let world = world(&[scene("the poem", &[writes("roses\n"), says("It is written.")])]);
    let mut chat = Chat::open_in(&world, "ask", &[], (100, 30));
    chat.say("Write the poem");
    let screen = chat.until_shown("always would allow write_file of 'poem.txt'");
    assert!(screen.contains("a always"), "{screen}");
    chat.until_armed();
    chat.press("a");
    chat.until_shown("Allow this from now on, in every conversation? y/n");
    assert!(!world.path("poem.txt").exists());
    // Any key but y goes back to the choices.
    chat.press("q");
    chat.until_shown("y once · t thread · a always");
    chat.press("a");
    chat.until_shown("in every conversation? y/n");
    chat.press("y");
    chat.until_shown("It is written.");
    chat.until_shown("› reply");
    std::fs::remove_file(world.path("poem.txt")).expect("it was written");
    chat.press(&format!("/new{ENTER}"));
    chat.until_shown("› ask anything");
    chat.say("Write the poem again");
    testkit::world::until("it is written without a question", || world.path("poem.txt").exists().then_some(()));
    assert_eq!(chat.leave(), Some(0));
    let asked = |record: &store::Record| matches!(&*record.event, agent::Event::ApprovalRequested(_));
    assert_eq!(world.log().iter().filter(|record| asked(record)).count(), 1);
}

#[test]
fn the_input_of_a_call_is_edited_and_shown_before_it_is_allowed() {
    let world = world(&[scene("the poem", &[calls(&[command("touch roses")]), says("It is done.")])]);
    let mut chat = Chat::open_in(&world, "ask", &[], (100, 30));
    chat.say("Write the poem");
    chat.until_shown("$ touch roses");
    chat.until_armed();
    chat.press("e");
    let screen = chat.until_shown("Change the input below");
    assert!(screen.contains("\"command\": \"touch roses\""), "{screen}");
    // What is no JSON is refused with the reason.
    chat.press("\u{15}\u{b}");
    chat.press(&format!("!{ENTER}"));
    chat.until_shown("this is not");
    for _ in 0..40 {
        chat.press("\u{7f}");
    }
    chat.press("\u{15}");
    chat.press("{\"command\": \"touch tulips\"}");
    chat.press(ENTER);
    let screen = chat.until_shown("Allow it once with this input? y/n");
    assert!(screen.contains("touch tulips"), "{screen}");
    assert!(!world.path("tulips").exists());
    chat.press("y");
    chat.until_shown("It is done.");
    assert!(world.path("tulips").exists() && !world.path("roses").exists());
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn on_a_narrow_screen_all_keys_of_a_question_and_what_always_covers_are_seen() {
    let world = world(&[scene("the poem", &[writes("roses\n"), says("It is written.")])]);
    let mut chat = Chat::open_in(&world, "ask", &[], (40, 20));
    chat.say("Write the poem");
    let screen = chat.until_shown("Esc later");
    for words in ["y once", "t thread", "a always", "n deny", "e edit", "? all", "+ roses", "poem.txt"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    assert!(screen.lines().all(|line| line.chars().count() <= 40), "{screen}");
    chat.until_armed();
    chat.press("a");
    let screen = chat.until_shown("y/n");
    assert!(screen.contains("Allow this from now on"), "{screen}");
    chat.press("y");
    chat.until_shown("It is written.");
    assert_eq!(chat.leave(), Some(0));
}
