//! Test support: stories, a strict model server, a simulator, an environment for the real program, a proxy that
//! cuts connections, and a browser for its page.

pub mod browser;
pub mod dice;
pub mod invariants;
pub mod mcp_server;
pub mod model_server;
pub mod proxy;
pub mod scenes;
pub mod sim;
pub mod skip;
pub mod story;
pub mod world;
