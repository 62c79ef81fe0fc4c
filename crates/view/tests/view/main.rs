//! The mirror, looked at from outside: recorded families go in, what faces show comes out.

mod draw;
mod family;
mod frames;
mod golden;
mod kata;
mod opta;
mod orion;
mod story;
mod transcript;
mod tree;
mod usage;
