//! Life and death of the real program: killed, stopped, interrupted, resumed, with real processes and a real database.
//!
//! Models are scripts, so that every run is the same; where a test needs a moment, a command waits for a file or the log
//! is looked at until it holds what is waited for. What a whole family's log must fulfil is held against the books of
//! the rehearsal (`testkit::invariants`). What goes over the wires and what is printed is the business of `it`.

mod again;
mod crash;
mod flood;
mod hang;
mod owner;
mod signals;
mod steer;
mod stop;
mod threads;

use testkit::world::World;

/// A world for the program whose tests these are.
fn world(scenes: &[String]) -> World {
    World::new(env!("CARGO_BIN_EXE_majordomo"), scenes)
}
