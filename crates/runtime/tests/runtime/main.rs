//! The runtime at work in this process: with the store in memory and the one on disk, with memories that fail, tools that
//! panic, and people who say something at any moment.
//!
//! Models are scripts. Tools wait at a gate that the test opens, so that no moment is left to chance. What a whole
//! family's log must fulfil is held against the books of the rehearsal (`testkit::invariants`). Real processes, signals
//! and crashes are the business of the desk's tests.

mod gate;
mod letters;
mod memory;
mod moody;
mod ownership;
mod panics;
mod room;
mod runs;
mod script;
mod storms;
mod takeover;
mod tools;
