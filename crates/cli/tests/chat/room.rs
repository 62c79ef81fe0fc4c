//! A chat at a terminal of its own, and the keys that people press in it.

use std::ops::Deref;

use testkit::world::World;

use crate::seat::{Seat, Streams};

pub const ENTER: &str = "\r";
pub const ESCAPE: &str = "\u{1b}";
pub const UP: &str = "\u{1b}[A";
pub const DOWN: &str = "\u{1b}[B";
pub const BACKSPACE: &str = "\u{7f}";
pub const TAB: &str = "\t";
pub const CONTROL_C: &str = "\u{3}";
pub const CONTROL_T: &str = "\u{14}";
pub const CONTROL_Y: &str = "\u{19}";

/// A world whose model speaks by these scenes.
pub fn world(scenes: &[String]) -> World {
    World::new(env!("CARGO_BIN_EXE_majordomo"), scenes)
}

/// A chat.
pub struct Chat(Seat);

impl Chat {
    /// Opens a chat in mode `dangerous` with further arguments.
    pub fn open(world: &World, arguments: &[&str], size: (u16, u16)) -> Self {
        Self::open_in(world, "dangerous", arguments, size)
    }

    /// Opens a chat in a mode.
    pub fn open_in(world: &World, mode: &str, arguments: &[&str], size: (u16, u16)) -> Self {
        let model = format!("scripted/{}", world.script().display());
        let settings = ["chat", "--model", &model, "--mode", mode];
        Self::start(world, &[&settings, arguments].concat(), size)
    }

    /// Starts the program with these arguments, and waits for its prompt.
    pub fn start(world: &World, arguments: &[&str], size: (u16, u16)) -> Self {
        let seat = Seat::start(&world.command(arguments), size, Streams::All);
        seat.until("the prompt", |screen| screen.contains('›') && screen.contains("/help"));
        Self(seat)
    }

    /// Writes a message and sends it.
    pub fn say(&self, text: &str) {
        self.press(text);
        self.until_shown(text);
        self.press(ENTER);
    }

    /// Leaves, and the exit code.
    pub fn leave(&mut self) -> Option<i32> {
        self.press(CONTROL_C);
        self.until_shown("Ctrl-C again");
        self.press(CONTROL_C);
        self.0.done().0
    }

    /// Waits for the end; the exit code.
    pub fn done(&mut self) -> Option<i32> {
        self.0.done().0
    }
}

impl Deref for Chat {
    type Target = Seat;

    fn deref(&self) -> &Seat {
        &self.0
    }
}

/// A reply of words that come one by one, so slowly that a test can look at each stage.
pub fn slowly(text: &str, chunk_delay_ms: u64) -> String {
    format!("[[script.reply]]\ntext = {text:?}\nchunk_delay_ms = {chunk_delay_ms}\n")
}

/// A reply that comes after so many milliseconds.
pub fn after(delay_ms: u64, reply: &str) -> String {
    testkit::scenes::after_ms(delay_ms, reply)
}

impl Chat {
    /// Waits until keys answer the question that is shown: its choices are drawn in bold then.
    pub fn until_armed(&self) {
        testkit::world::until("the question takes keys", || {
            let bytes = self.bytes();
            let written = String::from_utf8_lossy(&bytes);
            let at = written.rfind("Esc later")?;
            let start = written[..at].rfind('\u{1b}')?;
            written[start..].starts_with("\u{1b}[1m").then_some(())
        });
    }
}
