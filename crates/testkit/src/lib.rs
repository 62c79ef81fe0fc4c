//! The rehearsal: stories, a strict model server, a simulator.

pub mod story;
