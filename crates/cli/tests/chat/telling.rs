//! A person who looks elsewhere is told, in the way that the terminal knows; one who looks is not.

use testkit::scenes::{call, calls, says, scene};
use testkit::world::until;

use crate::room::{ENTER, world};
use crate::seat::{Seat, Streams};

const FOCUS_LOST: &str = "\u{1b}[O";
const FOCUS_GAINED: &str = "\u{1b}[I";

#[test]
fn a_question_and_an_answer_are_told_to_a_person_who_looks_elsewhere() {
    let ways = [
        ("TERM", "xterm-256color", "\u{1b}]9;majordomo: "),
        ("VTE_VERSION", "7600", "\u{1b}]777;notify;majordomo;"),
        ("TERM", "linux", "\u{7}"),
    ];
    for (name, value, way) in ways {
        let world = world(&[scene(
            "the poem",
            &[
                says("I am listening."),
                calls(&[call("ask_user", "question = \"Which flower?\"")]),
                says("A tulip it is."),
            ],
        )]);
        let model = format!("scripted/{}", world.script().display());
        let mut command = world.command(&["chat", "--model", &model, "--mode", "ask"]);
        command.env("TERM", "xterm-256color").env(name, value);
        let seat = Seat::start(&command, (100, 30), Streams::All);
        let told = || String::from_utf8_lossy(&seat.bytes()).matches(way).count();
        seat.until_shown("/help");
        // Focus is reported because it was asked for.
        assert!(String::from_utf8_lossy(&seat.bytes()).contains("\u{1b}[?1004h"));
        seat.press(&format!("{FOCUS_LOST}{FOCUS_GAINED}the poem{ENTER}"));
        seat.until_shown("I am listening.");
        seat.until_shown("› reply");
        assert_eq!(told(), 0, "{value}: it is looked at");
        seat.press(&format!("{FOCUS_LOST}go on with the poem{ENTER}"));
        seat.until_shown("Which flower?");
        until("the question is told", || (told() == 1).then_some(()));
        let bytes = seat.bytes();
        let words = String::from_utf8_lossy(&bytes).into_owned();
        assert!(value == "linux" || words.contains(&format!("{way}general needs your answer")), "{value}");
        seat.press(FOCUS_GAINED);
        seat.press("\u{19}");
        seat.until_shown("answer ›");
        seat.press(&format!("a tulip{ENTER}{FOCUS_LOST}"));
        seat.until_shown("A tulip it is.");
        until("the answer is told", || (told() == 2).then_some(()));
        // Nothing of it stands on the screen.
        assert!(
            !seat.screen().contains("notify") && !seat.screen().contains("the answer is there"),
            "{}",
            seat.screen()
        );
    }
}
