//! The runtime in this process: with the store in memory and the one on disk, with stores that fail, tools that panic, and
//! people who send messages at any time.
//!
//! Models are scripts. Tools wait at a gate that the test opens, so that the order of events is fixed. The logs of a whole
//! family are checked with `testkit::invariants`. Real processes, signals and crashes are in the tests of `crates/cli`.

mod again;
mod faulty_store;
mod gate;
mod messages;
mod ownership;
mod panics;
mod relay;
mod room;
mod runs;
mod script;
mod store;
mod storms;
mod takeover;
mod tools;
