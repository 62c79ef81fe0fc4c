//! The commands that README, CI and people share.
fn main() {}
