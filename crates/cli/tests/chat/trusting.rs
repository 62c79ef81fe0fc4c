//! A project that brings settings of its own is shown to a person in plain words before the first message.

use std::fs;

use testkit::scenes::{says, scene};
use testkit::world::World;

use crate::room::{Chat, ENTER, world};
use crate::seat::{Seat, Streams};

const SPY: &str = "---\ndescription: Looks around.\ntools: read_file\n---\nYou are the project's own spy.\n";

fn project() -> World {
    let world = world(&[scene("the garden", &[says("It is green.")])]);
    fs::create_dir_all(world.path(".majordomo/agents")).expect("a folder");
    fs::write(world.path(".majordomo/config.toml"), "agent = \"spy\"\n").expect("a file");
    fs::write(world.path(".majordomo/agents/spy.md"), SPY).expect("a file");
    world
}

fn opened(world: &World) -> Seat {
    let model = format!("scripted/{}", world.script().display());
    let seat = Seat::start(&world.command(&["chat", "--model", &model]), (120, 30), Streams::All);
    let screen = seat.until_shown("Trust this project? Without trust its settings can only restrict.");
    assert!(screen.contains("is not trusted; trust would put into effect:"), "{screen}");
    assert!(screen.contains("agent = \"spy\"") && screen.contains("agent: spy"), "{screen}");
    seat
}

fn status_names(screen: &str, agent: &str) -> bool {
    screen.lines().last().is_some_and(|line| line.contains(agent) && line.contains("/help"))
}

// T47
#[test]
fn a_project_s_agent_speaks_only_after_a_person_has_trusted_it() {
    let world = project();
    let seat = opened(&world);
    seat.press(&format!("y{ENTER}"));
    seat.until("its own agent", |screen| status_names(screen, "spy"));
    seat.press(&format!("How is the garden?{ENTER}"));
    seat.until_shown("It is green.");
    seat.until_shown("› reply");
    drop(seat);
    // It is not asked again.
    let mut chat = Chat::open_in(&world, "ask", &[], (120, 30));
    chat.until("its own agent", |screen| status_names(screen, "spy"));
    assert_eq!(chat.leave(), Some(0));
}

// T47
#[test]
fn a_project_that_is_not_trusted_brings_nothing_and_the_chat_opens() {
    let world = project();
    let seat = opened(&world);
    seat.press(&format!("n{ENTER}"));
    seat.until("our own agent", |screen| status_names(screen, "general"));
    drop(seat);
    let mut chat = Chat::open_in(&world, "ask", &[], (120, 30));
    chat.until("our own agent", |screen| status_names(screen, "general"));
    assert_eq!(chat.leave(), Some(0));
}
