//! The page in a real browser, over the real program: what a person sees, does and decides.
//!
//! One file for each thing that a person cares about. What the routes answer is tested beside the server, what the page makes of
//! frames beside its reducer; here nothing is asked but what can be seen, and nothing is done but with keys and a pointer.

mod answering;
mod attaching;
mod cutter;
mod deciding;
mod ending;
mod entering;
mod hostile;
mod keyboard;
mod losing;
mod managing;
mod offering;
mod places;
mod reach;
mod seed;
mod site;
mod tasks;
mod thinking;
mod tree;
