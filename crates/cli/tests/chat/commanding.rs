//! Slash commands do what their sentence says.

use testkit::scenes::{call, calls, says, scene, spawn};

use crate::room::{Chat, ENTER, world};

#[test]
fn our_own_commands_are_run_with_the_settings_of_the_chat() {
    let world = world(&[]);
    let chat = Chat::open(&world, &["--set", "policy.max_depth=7"], (120, 60));
    chat.press(&format!("/config{ENTER}"));
    let words = |line: &str, words: &[&str]| words.iter().all(|word| line.contains(word));
    let script = world.script();
    let script = script.file_name().expect("a name").to_string_lossy().into_owned();
    testkit::world::until("the settings", || {
        let shown = chat.transcript();
        let holds = |wanted: &[&str]| shown.lines().any(|line| words(line, wanted));
        (holds(&["policy.max_depth", "7"]) && holds(&["model", "scripted/"]) && shown.contains(&script)).then_some(())
    });
}

#[test]
fn a_conversation_is_exported_and_a_failure_is_not_called_a_success() {
    let world = world(&[scene("apples", &[says("Boskoop and Elstar.")])]);
    let mut chat = Chat::open(&world, &[], (100, 30));
    chat.say("Name two apples");
    chat.until_shown("Boskoop and Elstar.");
    chat.until_shown("› reply");
    chat.press(&format!("/export nowhere/at/all.md{ENTER}"));
    chat.until_shown("all.md");
    chat.until("why it failed", |screen| screen.contains("error") || screen.contains("No such file"));
    assert!(!chat.screen().contains("written to nowhere"), "{}", chat.screen());
    chat.press(&format!("/export apples.md{ENTER}"));
    chat.until_shown("written to apples.md");
    let written = std::fs::read_to_string(world.path("apples.md")).expect("a file");
    assert!(written.contains("Name two apples") && written.contains("Boskoop and Elstar."), "{written}");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn the_context_the_cost_and_the_approvals_are_shown() {
    let world = world(&[
        scene("the whole", &[calls(&[spawn("left part")]), says("All is done.")]),
        scene(
            "left part",
            &[calls(&[call("write_file", "path = \"a.txt\", content = \"roses\"")]), says("left is done")],
        ),
    ]);
    let mut chat = Chat::open_in(&world, "ask", &[], (120, 50));
    chat.say("Do the whole");
    chat.until_shown("needs your approval");
    chat.until_armed();
    chat.press("\u{1b}");
    chat.until_shown("put off");
    chat.press(&format!("/approvals{ENTER}"));
    let screen = chat.until_shown("Waiting for your decision");
    assert!(screen.contains("▸ general › general") && screen.contains("a.txt"), "{screen}");
    chat.press(ENTER);
    chat.until_shown("y once");
    chat.until_shown("+ roses");
    chat.press("t");
    chat.until_shown("All is done.");
    chat.until_shown("› reply");
    assert_eq!(world.lines("a.txt"), ["roses"]);
    chat.press(&format!("/context{ENTER}"));
    chat.until_shown("% full: its last request and answer took");
    chat.press(&format!("/cost{ENTER}"));
    let screen = chat.until_shown("tool calls ·");
    assert!(screen.contains("left part") && screen.contains("requests"), "{screen}");
    assert_eq!(chat.leave(), Some(0));
}
