//! The binary as its users meet it: real processes, a home of their own each, and models that answer over real wires.
//!
//! What a model is shown is read from the requests that a strict server received; what a person or a program is shown
//! is read from stdout, stderr, exit codes and files. Deliberately absent: any look inside the process.

mod heard;
mod setup;
mod stage;

mod asking;
mod checking;
mod choosing;
mod coming;
mod connecting;
mod delegating;
mod explaining;
mod failing;
mod finding;
mod fitting;
mod kata;
mod keeping;
mod looping;
mod obeying;
mod one_loop;
mod permitting;
mod ruling;
mod safety;
mod secrecy;
mod sharing;
mod showing;
mod spending;
mod tasking;
mod telling;
mod trusting;
mod wires;
mod working;
