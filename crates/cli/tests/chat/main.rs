//! `majordomo chat` as a person sees it: the real program in a pseudo-terminal, and the screen that a terminal makes of what it writes.

mod asking;
mod attaching;
mod changing;
mod commanding;
mod composing;
mod going_on;
mod looking;
mod panicking;
mod plain;
mod room;
#[allow(dead_code, reason = "the tests of `run` use the rest")]
#[path = "../terminal/seat.rs"]
mod seat;
mod showing;
mod telling;
#[allow(dead_code, reason = "only its modes are tested, without a chat")]
#[path = "../../src/chat/terminal.rs"]
mod terminal;
mod trusting;
mod working;
