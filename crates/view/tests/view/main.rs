//! `crates/view` from outside: recorded logs go in, what interfaces show comes out.

mod draw;
mod family;
mod frames;
mod golden;
mod kata;
mod lace;
mod opta;
mod orion;
mod story;
mod transcript;
mod tree;
mod usage;
