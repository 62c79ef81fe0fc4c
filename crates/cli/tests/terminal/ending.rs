//! The terminal after a run that was ended from outside.

use rustix::process::Signal;
use testkit::scenes::{calls, says, scene, spawn, waits_for_go};
use testkit::world::{World, until};

use crate::seat::{Seat, Streams};
use crate::world;

fn waiting() -> (World, Seat) {
    let world = world(&[
        scene("the whole", &[calls(&[spawn("wait inside")]), says("done")]),
        scene("wait inside", &[calls(&[waits_for_go("first")]), says("waited")]),
    ]);
    let seat = Seat::start(&world.task("the whole", &[]), (80, 24), Streams::All);
    world.until_lines("begun", 1);
    seat.until_shown("run_command");
    (world, seat)
}

#[test]
fn ctrl_c_ends_with_130_and_says_how_to_go_on_below_the_tree() {
    // F45
    let (world, mut seat) = waiting();
    seat.press("\u{3}");
    let (code, _) = seat.done();
    assert_eq!(code, Some(130));
    let root = world.root();
    let end = seat.screen();
    let last = end.lines().last().unwrap_or_default();
    assert_eq!(last, format!("interrupted; continue with: majordomo thread resume {root}"), "{end}");
    assert!(end.contains("└─ ● general"), "what it was doing is still to be seen: {end}");
    assert!(seat.echoes(), "the terminal is as it was");
}

#[test]
fn a_signal_to_terminate_leaves_the_terminal_as_it_was() {
    let (world, mut seat) = waiting();
    seat.signal(Signal::TERM);
    let (code, _) = seat.done();
    assert_eq!(code, Some(143));
    assert!(seat.screen().ends_with(&format!("terminated; continue with: majordomo thread resume {}", world.root())));
    assert!(seat.echoes(), "the terminal is as it was");
    let bytes = seat.bytes();
    for changed in [&b"\x1b[?25l"[..], b"\x1b[?1049h", b"\x1b[?7l"] {
        assert!(
            !bytes.windows(changed.len()).any(|part| part == changed),
            "the terminal keeps its cursor and its screen"
        );
    }
}

#[test]
fn ctrl_z_leaves_the_terminal_as_it_was_and_the_tree_comes_back_when_the_run_goes_on() {
    let (world, mut seat) = waiting();
    seat.press("\u{1a}");
    until("the stop", || seat.is_stopped().then_some(()));
    let screen = seat.until("the end of the tree", |screen| !screen.contains("●"));
    assert!(screen.contains("model scripted/"), "what was above it stays: {screen}");
    assert!(seat.echoes(), "the shell gets the terminal as it was");
    seat.signal(Signal::CONT);
    seat.until_shown("└─ ● general");
    assert!(!seat.echoes());
    world.go();
    assert_eq!(seat.done().0, Some(0), "{}", seat.screen());
    assert_eq!(seat.transcript().matches("model scripted/").count(), 1, "{}", seat.transcript());
}

#[test]
fn a_resumed_run_is_shown_at_the_terminal_too() {
    let (world, mut seat) = waiting();
    seat.press("\u{3}");
    assert_eq!(seat.done().0, Some(130));
    let root = world.root();
    let mut seat = Seat::start(&world.command(&["thread", "resume", root.as_str()]), (80, 24), Streams::All);
    seat.until_shown("└─ ");
    world.go();
    assert_eq!(seat.done().0, Some(0), "{}", seat.screen());
    assert_eq!(seat.transcript().matches("done").count(), 1, "{}", seat.transcript());
}
