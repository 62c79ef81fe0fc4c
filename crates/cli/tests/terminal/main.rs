//! `majordomo run` as a person sees it: the real program in a pseudo-terminal, and the screen that a terminal makes of what it writes.

mod asking;
mod ending;
mod redirected;
mod running;
mod seat;

use testkit::world::World;

/// A world whose model speaks by these scenes.
fn world(scenes: &[String]) -> World {
    World::new(env!("CARGO_BIN_EXE_majordomo"), scenes)
}

/// A reply of words that come one by one, so slowly that a test can look at each stage.
fn slowly(text: &str, chunk_delay_ms: u64) -> String {
    format!("[[script.reply]]\ntext = {text:?}\nchunk_delay_ms = {chunk_delay_ms}\n")
}
