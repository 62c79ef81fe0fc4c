//! The rules of a board, from outside: single decisions in sentences, and properties under any order of commands.

mod bench;
mod commands;
mod notices;
mod properties;
