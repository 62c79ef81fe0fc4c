//! The composer: several lines, pastes, history, completion.

use testkit::scenes::{calls, says, scene, spawn, waits_for_go};

use crate::room::{CONTROL_C, Chat, ENTER, TAB, UP, world};
use crate::seat::{Seat, Streams};

#[test]
fn a_paste_of_five_thousand_lines_is_one_chip_and_is_sent_whole() {
    let world = world(&[scene("line 4999", &[says("All lines were read.")])]);
    let mut chat = Chat::open(&world, &[], (80, 24));
    let pasted: String = (0..5000).map(|line| format!("line {line}\n")).collect();
    chat.press(&format!("look: \u{1b}[200~{pasted}\u{1b}[201~"));
    chat.until_shown("› look: [paste 1: 5000 lines]");
    chat.press(ENTER);
    chat.until_shown("All lines were read.");
    assert_eq!(chat.leave(), Some(0));
    let prompts: Vec<String> = world
        .log()
        .iter()
        .filter_map(|record| match &*record.event {
            agent::Event::RunStarted { prompt, .. } => Some(prompt.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(prompts, [format!("look: {pasted}")]);
}

#[test]
fn lines_are_broken_and_earlier_messages_come_back() {
    let world = world(&[scene("one", &[says("Yes."), says("Yes again.")])]);
    let mut chat = Chat::open(&world, &[], (80, 24));
    chat.press(&format!("one\u{1b}\rtwo\\{ENTER}three\u{1b}[13;2ufour"));
    chat.until_shown("› one\n  two\n  three\n  four");
    chat.press(ENTER);
    chat.until_shown("Yes.");
    chat.until_shown("› reply");
    chat.press(UP);
    chat.until("the message", |screen| screen.matches("  four").count() == 2);
    chat.press("\u{3}\u{12}tw");
    chat.until_shown("search: tw");
    chat.press(ENTER);
    chat.until("the message", |screen| screen.matches("  four").count() == 2);
    chat.press("\u{3}");
    chat.until_shown("› reply");
    assert_eq!(chat.leave(), Some(0));
    // Another chat of this folder knows it, too.
    let mut chat = Chat::open(&world, &[], (80, 24));
    chat.press(UP);
    chat.until_shown("› one\n  two\n  three\n  four");
    chat.press("\u{3}");
    chat.until_shown("› ask anything");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn files_and_commands_are_completed_and_a_wrong_command_names_the_right_one() {
    let world = world(&[scene("look", &[says("It is a poem.")])]);
    std::fs::create_dir(world.path("src")).expect("a folder");
    std::fs::write(world.path("src/poem.txt"), "roses\n").expect("a file");
    let mut chat = Chat::open(&world, &[], (80, 30));
    chat.press("look at @po");
    chat.until_shown("▸ @src/poem.txt");
    chat.press(TAB);
    chat.until_shown("› look at @src/poem.txt");
    chat.press("\u{3}/mode da");
    chat.until_shown("▸ dangerous");
    chat.press(TAB);
    chat.until_shown("› /mode dangerous");
    chat.press("\u{15}/tasks arch");
    chat.until_shown("▸ archive");
    chat.press(TAB);
    chat.until_shown("› /tasks archive");
    chat.press("\u{15}/cos");
    chat.until_shown("▸ /cost");
    chat.press(&format!("{TAB}{ENTER}"));
    chat.until_shown("nothing was used yet");
    // The beginning of a command that takes nothing more is enough; one that takes something is completed first.
    chat.press("/cos");
    chat.until_shown("▸ /cost");
    chat.press(ENTER);
    chat.until("it is carried out", |screen| screen.matches("nothing was used yet").count() == 2);
    chat.press("/task");
    chat.until_shown("▸ /tasks");
    chat.press(ENTER);
    chat.until_shown("› /tasks");
    chat.press("\u{15}");
    chat.press(&format!("/tresume{ENTER}"));
    chat.until_shown("there is no command /tresume; did you mean /resume?");
    chat.press(&format!("/help{ENTER}"));
    let screen = chat.until_shown("/quit");
    assert!(screen.contains("Write the conversation to a file"), "{screen}");
    chat.press(&format!("/tasks add Water the plants{ENTER}"));
    chat.until_shown("t1");
    chat.press(&format!("/tasks{ENTER}"));
    chat.until_shown("Water");
    chat.press(&format!("/quit{ENTER}"));
    assert_eq!(chat.done(), Some(0));
}

#[test]
fn models_are_completed_whose_provider_can_be_used() {
    let world = world(&[]);
    let model = format!("scripted/{}", world.script().display());
    let mut command = world.command(&["chat", "--model", &model]);
    command.env("ANTHROPIC_API_KEY", "sk-not-used");
    let seat = Seat::start(&command, (80, 24), Streams::All);
    seat.until_shown("/help");
    seat.press("/model claude-hai");
    seat.until_shown("▸ anthropic/claude-haiku");
    seat.press(TAB);
    seat.until_shown("› /model anthropic/claude-haiku");
    seat.press("\u{15}/model gemini");
    seat.until("none without a key", |screen| screen.contains("› /model gemini") && !screen.contains('▸'));
}

#[test]
fn an_editor_writes_the_message() {
    let world = world(&[scene("roses", &[says("Red ones.")])]);
    let editor = world.path("editor.sh");
    std::fs::write(&editor, "printf ' and roses' >> \"$1\"\n").expect("a file");
    let model = format!("scripted/{}", world.script().display());
    let mut command = world.command(&["chat", "--model", &model]);
    command.env("EDITOR", format!("sh {}", editor.display()));
    let seat = Seat::start(&command, (80, 24), Streams::All);
    seat.until_shown("/help");
    seat.press("violets");
    seat.until_shown("› violets");
    seat.press("\u{7}");
    seat.until_shown("› violets and roses");
    seat.press(ENTER);
    seat.until_shown("Red ones.");
}

#[test]
fn agents_and_threads_are_completed_behind_a_sign() {
    let world = world(&[
        scene("the whole", &[calls(&[spawn("left part")]), says("All is done."), says("I asked it.")]),
        scene("left part", &[calls(&[waits_for_go("left")]), says("left is done")]),
    ]);
    let mut chat = Chat::open(&world, &[], (100, 40));
    chat.press("ask @expl");
    chat.until("the agent", |screen| screen.lines().any(|line| line.contains("▸ @explore") && line.contains("agent")));
    chat.press(TAB);
    chat.until_shown("› ask @explore");
    chat.press(CONTROL_C);
    chat.until_shown("› ask anything");
    chat.say("Do the whole");
    world.until_lines("begun", 1);
    let child = world.rows().iter().find(|row| !row.id.is_root()).expect("a sub-agent").id.clone();
    chat.until("the tree", |screen| screen.contains("run_command"));
    chat.press(&format!("tell @{}", &child.as_str()[..child.as_str().len() - 2]));
    chat.until("the thread", |screen| {
        screen.lines().any(|line| line.contains(&format!("@{child}")) && line.contains("general: left part"))
    });
    chat.press(TAB);
    chat.until_shown(&format!("› tell @{child}"));
    chat.press(CONTROL_C);
    chat.until_shown("› a message for its next step");
    // Behind a command its name alone is meant.
    chat.press("/look ");
    chat.until("the thread", |screen| screen.lines().any(|line| line.contains(child.as_str()) && line.contains("▸")));
    chat.press(TAB);
    chat.until_shown(&format!("› /look {child}"));
    chat.press(ENTER);
    chat.until_shown("general › general (Backspace: parent)");
    world.go();
    chat.until_shown("left is done");
    assert_eq!(chat.leave(), Some(0));
}
