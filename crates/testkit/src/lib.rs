//! The rehearsal: stories, a strict model server, a simulator.

pub mod invariants;
pub mod model_server;
pub mod sim;
pub mod story;
