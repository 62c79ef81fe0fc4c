//! Files that go with messages: dropped, named on the command line, and named in the text.

use agent::Event;
use testkit::scenes::{calls, says, scene, waits_for_go};
use testkit::world::World;

use crate::room::{Chat, ENTER, TAB, world};

/// The messages that began a run, with how many files each has.
fn messages(world: &World) -> Vec<(String, bool)> {
    let log = world.log();
    let begun = log.iter().filter_map(|record| match &*record.event {
        Event::RunStarted { prompt, .. } => {
            let event = serde_json::to_string(&*record.event).expect("JSON");
            Some((prompt.lines().next().unwrap_or_default().to_owned(), event.contains("roses are red")))
        }
        _ => None,
    });
    begun.collect()
}

#[test]
fn a_file_that_is_dropped_goes_with_the_message_that_it_was_dropped_into() {
    let world = world(&[scene("", &[calls(&[waits_for_go("first")]), says("Worked."), says("Read.")])]);
    let poem = world.path("a poem.txt");
    std::fs::write(&poem, "roses are red\n").expect("a file");
    let mut chat = Chat::open(&world, &[], (100, 30));
    chat.say("Work");
    world.until_lines("begun", 1);
    chat.until_shown("a message for its next step");
    chat.press(&format!("Look: \u{1b}[200~'{}'\u{1b}[201~", poem.display()));
    chat.until_shown("› Look: [file 1: a poem.txt]");
    // It is queued, taken back and sent: the file is still there.
    chat.press(TAB);
    chat.until_shown("⧗ Look: [file 1: a poem.txt]");
    chat.press(TAB);
    chat.until_shown("› Look: [file 1: a poem.txt]");
    chat.press(ENTER);
    chat.until_shown("a message with files is read when the agent is done");
    world.go();
    chat.until_shown("Read.");
    chat.until_shown("› reply");
    let said = messages(&world);
    assert!(said[1].0.starts_with("Look: [file 1: a poem.txt]"), "{said:?}");
    assert_eq!(said.iter().map(|(_, has_file)| *has_file).collect::<Vec<_>>(), [false, true]);
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn files_of_the_command_line_and_of_the_text_go_with_their_messages() {
    let world = world(&[scene("", &[says("First."), calls(&[waits_for_go("next")]), says("Worked."), says("Last.")])]);
    std::fs::write(world.path("poem.txt"), "roses are red\n").expect("a file");
    let mut chat = Chat::open(&world, &["--file", "poem.txt", "Look at it"], (100, 30));
    chat.until_shown("First.");
    chat.until_shown("› reply");
    chat.say("Work");
    world.until_lines("begun", 1);
    chat.until_shown("a message for its next step");
    // The agent works: the message waits for its next turn, with its file.
    chat.press(&format!("And at @poem.txt too {ENTER}"));
    chat.until_shown("a message with files is read when the agent is done");
    world.go();
    chat.until_shown("Last.");
    chat.until_shown("› reply");
    let said: Vec<bool> = messages(&world).into_iter().map(|(_, has_file)| has_file).collect();
    assert_eq!(said, [true, false, true], "{:?}", messages(&world));
    assert_eq!(chat.leave(), Some(0));
}
