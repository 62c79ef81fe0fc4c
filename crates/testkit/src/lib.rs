//! The rehearsal: stories, a strict model server, a simulator, a world for the real program, and a browser to look at it with.

pub mod browser;
pub mod dice;
pub mod invariants;
pub mod model_server;
pub mod scenes;
pub mod sim;
pub mod story;
pub mod world;
