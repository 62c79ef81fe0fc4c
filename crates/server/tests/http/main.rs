//! The server over real sockets: who may use it, what can be asked, what it survives, and that what is watched has neither gaps
//! nor duplicates.
//!
//! Whatever is waited for is waited for with a bound that only a broken server reaches ([`open::PATIENCE`]), and says then what was
//! seen last.

mod deciding;
mod document;
mod enduring;
mod entering;
mod files;
mod managing;
mod open;
mod repeating;
mod talking;
mod tasks;
mod watching;
