//! Gives any language model a staff: the library to embed.

pub mod agents;
pub mod config;
pub mod presets;
pub mod staff;
