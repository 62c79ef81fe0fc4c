//! The terminal after a panic of the chat itself.

use std::process::Command;

use testkit::world::until;

use crate::seat::{Seat, Streams};
use crate::terminal::Modes;

/// Set for the process that panics: this test itself, started once more at a terminal.
const PANICS: &str = "MAJORDOMO_TEST_PANICS";

#[test]
fn the_terminal_is_as_it_was_before_a_panic_tells_what_happened() {
    if std::env::var_os(PANICS).is_some() {
        let _modes = Modes::on().expect("a terminal");
        // On another thread a panic ends a task, not the chat.
        std::thread::spawn(|| panic!("a task fails")).join().expect_err("it panics");
        panic!("the chat fails");
    }
    let folder = std::env::current_dir().expect("a folder");
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "panicking::the_terminal_is_as_it_was_before_a_panic_tells_what_happened", "--nocapture"]);
    command.env(PANICS, "1").current_dir(folder);
    let mut seat = Seat::start(&command, (100, 30), Streams::All);
    assert_eq!(seat.done().0, Some(101), "{}", seat.screen());
    until("the terminal is as before", || seat.echoes().then_some(()));
    let bytes = seat.bytes();
    let written = String::from_utf8_lossy(&bytes);
    let at = |words: &str| written.find(words).unwrap_or_else(|| panic!("{words:?} is not in {written:?}"));
    let off = at("\u{1b}[?2004l");
    assert!(at("a task fails") < off, "the chat goes on after a panic elsewhere: {written:?}");
    assert!(off < at("the chat fails"), "the message stands on a terminal in order: {written:?}");
    assert_eq!(written.matches("\u{1b}[?2004l").count(), 1, "{written:?}");
}
