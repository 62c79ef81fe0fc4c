//! The rules of one thread, where a story would be too long: tables over every field, mode and wish, and chance.
//!
//! What happens between threads, and in which order, is told by the stories of the testkit.

mod again;
mod alone;
mod approvals;
mod butler;
mod clocks;
mod engine;
mod golden;
mod grants;
mod late;
mod lost;
mod midway;
mod operations;
mod permission;
mod places;
mod policy;
mod room;
mod sampling;
mod servers;
mod settings;
mod sharing;
mod starts;
mod tools;
mod words;
