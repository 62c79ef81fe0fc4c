//! Another model, another mode, and a summary, in the middle of a conversation.

use agent::{Event, Mode};
use rustix::process::Signal;
use testkit::scenes::{call, calls, says, scene, waits_for_go};
use testkit::world::World;

use crate::room::{Chat, DOWN, ENTER, world};

fn writes(name: &str) -> String {
    calls(&[call("write_file", &format!("path = {name:?}, content = \"roses\""))])
}

/// What the log says was chosen.
fn changes(world: &World) -> Vec<(Option<String>, Option<Mode>)> {
    let change = |event: &Event| match event {
        Event::SettingsChanged { model, mode, .. } => Some((model.as_ref().map(|model| model.name.to_string()), *mode)),
        _ => None,
    };
    world.log().iter().filter_map(|record| change(&record.event)).collect()
}

fn roots(world: &World) -> usize {
    world.rows().iter().filter(|row| row.id.is_root()).count()
}

#[test]
fn another_model_speaks_from_the_next_turn_on_and_after_a_restart() {
    let world = world(&[scene("", &[says("The first speaks."), says("The first again.")])]);
    let other = world.path("other.toml");
    let replies = [says("not said"), says("The second speaks."), says("The second goes on.")];
    std::fs::write(&other, scene("", &replies)).expect("a script");
    let other = format!("scripted/{}", other.display());
    let mut chat = Chat::open(&world, &[], (200, 30));
    chat.say("Who is there?");
    chat.until_shown("The first speaks.");
    chat.until_shown("› reply");
    chat.press(&format!("/model {other}{ENTER}"));
    chat.until_shown(&format!("from here on: model {other}"));
    chat.until("the status line names it", |screen| screen.lines().last().is_some_and(|line| line.contains(&other)));
    chat.say("And now?");
    chat.until_shown("The second speaks.");
    chat.until_shown("› reply");
    assert_eq!(changes(&world), [(Some(other.clone()), None)]);
    // A model that is not there changes nothing.
    chat.press(&format!("/model nobody/nothing{ENTER}"));
    chat.until_shown("error:");
    chat.signal(Signal::KILL);
    chat.done();
    let mut chat = Chat::start(&world, &["-c"], (200, 30));
    chat.until("its model", |screen| screen.lines().last().is_some_and(|line| line.contains(&other)));
    chat.say("Still you?");
    chat.until_shown("The second goes on.");
    chat.until_shown("› reply");
    assert_eq!((changes(&world).len(), roots(&world)), (1, 1));
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn another_mode_holds_from_the_next_turn_on_and_after_a_restart() {
    let world = world(&[scene(
        "the garden",
        &[
            calls(&[waits_for_go("first")]),
            writes("too-late.txt"),
            says("I could not write."),
            writes("now.txt"),
            says("It is written."),
            writes("asked.txt"),
            says("I was not allowed to."),
        ],
    )]);
    let mut chat = Chat::open(&world, &[], (100, 40));
    chat.say("Look after the garden");
    world.until_lines("begun", 1);
    // The command that runs goes on; what the agent does in its next turn is judged by the new mode.
    chat.press(&format!("/mode plan{ENTER}"));
    chat.until_shown("from the agent's next turn on");
    world.go();
    let screen = chat.until_shown("I could not write.");
    assert!(screen.contains("from here on: mode plan"), "{screen}");
    assert!(!world.path("too-late.txt").exists());
    chat.until("the status line", |screen| screen.lines().last().is_some_and(|line| line.contains("· plan ·")));
    // Chosen from a list.
    chat.press(&format!("/mode{ENTER}"));
    chat.until_shown("Mode, now plan");
    chat.until_shown("▸ plan");
    chat.press(&format!("{DOWN}{DOWN}"));
    chat.until_shown("▸ auto");
    chat.press(ENTER);
    chat.until_shown("from here on: mode auto");
    chat.say("Now the garden");
    chat.until_shown("It is written.");
    assert!(world.path("now.txt").exists());
    // Shift-Tab turns to the next one.
    chat.until_shown("› reply");
    chat.press("\u{1b}[Z");
    chat.until("plan again", |screen| screen.lines().last().is_some_and(|line| line.contains("· plan ·")));
    chat.signal(Signal::KILL);
    chat.done();
    let mut chat = Chat::start(&world, &["-c"], (100, 40));
    chat.until("its mode", |screen| screen.lines().last().is_some_and(|line| line.contains("· plan ·")));
    chat.say("And the garden once more");
    chat.until_shown("I was not allowed to.");
    assert!(!world.path("asked.txt").exists());
    let modes: Vec<Mode> = changes(&world).into_iter().filter_map(|(_, mode)| mode).collect();
    assert_eq!((modes, roots(&world)), (vec![Mode::Plan, Mode::Auto, Mode::Plan], 1));
    chat.until_shown("› reply");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn an_agent_that_is_made_for_reading_gets_no_freer_mode() {
    let world = world(&[scene("the garden", &[says("It is green."), writes("no.txt"), says("I may not write.")])]);
    let mut chat = Chat::open_in(&world, "dangerous", &["-a", "explore"], (100, 30));
    chat.say("Look at the garden");
    chat.until_shown("It is green.");
    chat.until_shown("› reply");
    chat.press(&format!("/mode dangerous{ENTER}"));
    chat.until_shown("nothing was changed: mode plan");
    chat.say("Write of the garden");
    chat.until_shown("I may not write.");
    assert!(!world.path("no.txt").exists());
    chat.until_shown("› reply");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn a_conversation_is_replaced_by_a_summary_and_goes_on() {
    let world = world(&[scene("apples", &[says("Boskoop and Elstar."), says("We spoke of two apples.")])]);
    let mut chat = Chat::open(&world, &[], (80, 30));
    chat.press(&format!("/compact{ENTER}"));
    chat.until_shown("nothing was said yet");
    chat.say("Name two apples");
    chat.until_shown("Boskoop and Elstar.");
    chat.until_shown("› reply");
    chat.press(&format!("/compact{ENTER}"));
    chat.until_shown("the conversation was replaced by a summary of it");
    chat.until_shown("› reply");
    assert_eq!(chat.screen().matches("Boskoop and Elstar.").count(), 1);
    // The script goes by the answers that the model sees: there are none any more, and it begins anew.
    chat.say("Name them again");
    chat.until("it begins anew", |screen| screen.matches("Boskoop and Elstar.").count() == 2);
    chat.until_shown("› reply");
    assert_eq!(chat.leave(), Some(0));
    let log = world.log();
    let thread = agent::Thread::replay(log.iter().map(|record| (record.at, &*record.event))).expect("a thread");
    let said: Vec<String> = thread.talk.messages().iter().map(|message| message.text()).collect();
    assert!(said[0].contains("Name two apples") && said[1].contains("We spoke of two apples."), "{said:?}");
    assert_eq!(said.iter().filter(|text| text.contains("Boskoop and Elstar.")).count(), 1, "{said:?}");
    assert_eq!(thread.issued.runs, 3);
}
