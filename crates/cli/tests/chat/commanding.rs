//! Slash commands do what their sentence says.

use testkit::scenes::{call, calls, says, scene, spawn, waits_for_go};

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

#[test]
fn stop_ends_a_named_sub_agent_and_without_a_name_the_agent_that_is_shown() {
    let world = world(&[
        scene("the whole", &[calls(&[spawn("left part"), spawn("right part")]), says("It is stopped.")]),
        scene("left part", &[calls(&[waits_for_go("left")]), says("left is done")]),
        scene("right part", &[calls(&[waits_for_go("right")]), says("right is done")]),
    ]);
    let mut chat = Chat::open(&world, &[], (120, 40));
    chat.say("Do the whole");
    world.until_lines("begun", 2);
    chat.until("both", |screen| screen.matches("run_command").count() == 2);
    let left = world.rows().iter().find(|row| &*row.goal == "left part").expect("a sub-agent").id.clone();
    chat.press(&format!("/stop {left}{ENTER}"));
    testkit::world::until("it is stopped", || {
        world.row(&left).outcome.filter(|outcome| *outcome == agent::Outcome::Cancelled)
    });
    let right = world.rows().iter().find(|row| &*row.goal == "right part").expect("a sub-agent").id.clone();
    assert_eq!(world.row(&right).outcome, None, "the other one goes on");
    chat.until_shown("› a message for its next step");
    chat.press(&format!("/stop{ENTER}"));
    chat.until_shown("Stop general and 1 running sub-agent? y/n");
    chat.press("y");
    chat.until_shown("It is stopped.");
    let screen = chat.until_shown("› reply");
    for part in ["left part", "right part"] {
        assert_eq!(screen.matches(&format!("✗ general: {part}  cancelled")).count(), 1, "{screen}");
    }
    assert!(!screen.contains("data, not instructions"), "words for the model are not shown: {screen}");
    assert_eq!(chat.leave(), Some(0));
    assert!(world.rows().iter().all(|row| row.outcome.is_some()), "{:?}", world.rows());
    world.assert_commands_gone();
}

#[test]
fn resume_opens_a_named_conversation_and_one_from_the_list_and_a_wrong_name_says_so() {
    let world = world(&[scene("apples", &[says("Boskoop."), says("Elstar.")]), scene("pears", &[says("Conference.")])]);
    let mut chat = Chat::open(&world, &[], (100, 40));
    chat.say("Name apples");
    chat.until_shown("Boskoop.");
    chat.until_shown("› reply");
    let first = world.root();
    chat.press(&format!("/new{ENTER}"));
    chat.until_shown("› ask anything");
    chat.say("Name pears");
    chat.until_shown("Conference.");
    chat.until_shown("› reply");
    chat.press(&format!("/resume nonsense{ENTER}"));
    chat.until_shown("error:");
    // The end of its name is enough, as on the command line.
    let short = first.as_str().rsplit('-').next().expect("a name").to_owned();
    chat.press(&format!("/resume {short}{ENTER}"));
    chat.until("the first conversation", |screen| screen.matches("Boskoop.").count() == 2);
    chat.say("One more of the apples");
    chat.until_shown("Elstar.");
    chat.until_shown("› reply");
    chat.press(&format!("/resume{ENTER}"));
    chat.until_shown("Conversations of this folder");
    chat.press("pears");
    chat.until_shown("▸ Name pears");
    chat.press(ENTER);
    chat.until("the second conversation", |screen| screen.matches("Conference.").count() == 2);
    assert_eq!(chat.leave(), Some(0));
    assert_eq!(world.rows().len(), 2, "no conversation was begun for it");
}

#[test]
fn init_lets_the_agent_write_the_instructions_of_the_project_with_consent() {
    let writes = calls(&[call("write_file", "path = \"AGENTS.md\", content = \"Build with make.\"")]);
    let world = world(&[scene("write a file AGENTS.md", &[writes, says("AGENTS.md is there.")])]);
    let mut chat = Chat::open_in(&world, "ask", &[], (100, 40));
    chat.press(&format!("/init{ENTER}"));
    chat.until_shown("+ Build with make.");
    chat.until_armed();
    chat.press("y");
    chat.until_shown("AGENTS.md is there.");
    assert_eq!(world.lines("AGENTS.md"), ["Build with make."]);
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn mcp_lists_the_servers_and_takes_the_arguments_of_the_command() {
    let world = world(&[]);
    let file = world.path("../home/.config/majordomo/config.toml");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    let server = "[mcp.servers.gardener]\ncommand = \"majordomo-test-no-such-program\"\n";
    std::fs::write(&file, format!("{server}{before}")).expect("a file");
    let mut chat = Chat::open(&world, &[], (120, 40));
    chat.press("/mcp ");
    let screen = chat.until_shown("login");
    assert!(screen.contains("tools") && screen.contains("ls"), "its words are completed: {screen}");
    chat.press(ENTER);
    chat.until_shown("gardener");
    chat.press(&format!("/mcp test gardener{ENTER}"));
    chat.until("why it cannot be used", |screen| screen.contains("majordomo-test-no-such-program"));
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn queue_keeps_a_message_until_the_agent_is_done_and_takes_one_back() {
    let world = world(&[scene("the whole", &[calls(&[waits_for_go("first")]), says("One."), says("Two.")])]);
    let mut chat = Chat::open(&world, &[], (100, 30));
    chat.say("Do the whole");
    world.until_lines("begun", 1);
    chat.press(&format!("/queue and then more{ENTER}"));
    chat.until("it waits", |screen| screen.contains("⧗ and then more") && screen.contains("1 queued"));
    chat.press(&format!("/queue{ENTER}"));
    let screen = chat.until_shown("› and then more");
    assert!(!screen.contains("⧗"), "{screen}");
    chat.press(" of it\t");
    chat.until_shown("⧗ and then more of it");
    world.go();
    chat.until_shown("Two.");
    let screen = chat.until_shown("› reply");
    assert!(screen.find("One.") < screen.find("› and then more of it"), "{screen}");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn back_leads_to_the_parent_and_threads_lists_the_conversations() {
    let world = world(&[
        scene("the whole", &[calls(&[spawn("left part")]), says("All is done.")]),
        scene("left part", &[says("left is done")]),
    ]);
    let mut chat = Chat::open(&world, &[], (100, 40));
    chat.say("Do the whole");
    chat.until_shown("All is done.");
    chat.until_shown("› reply");
    chat.press(&format!("/look 1{ENTER}"));
    chat.until_shown("general › general (Backspace: parent)");
    chat.until_shown("left is done");
    chat.press(&format!("/back{ENTER}"));
    chat.until("the parent", |screen| !screen.contains("(Backspace: parent)"));
    chat.press(&format!("/threads{ENTER}"));
    let screen = chat.until_shown("Conversations of this folder");
    assert!(screen.contains("▸ Do the whole"), "{screen}");
    chat.press("\u{1b}");
    chat.until("it is closed", |screen| !screen.contains("Enter chooses"));
    assert_eq!(chat.leave(), Some(0));
}
