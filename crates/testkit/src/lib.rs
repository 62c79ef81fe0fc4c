//! The rehearsal: stories, a strict model server, a simulator, and a world for the real program.

pub mod dice;
pub mod invariants;
pub mod model_server;
pub mod scenes;
pub mod sim;
pub mod story;
pub mod world;
