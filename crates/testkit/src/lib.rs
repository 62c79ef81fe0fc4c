//! The rehearsal: stories, a strict model server, a simulator.

pub mod model_server;
pub mod story;
