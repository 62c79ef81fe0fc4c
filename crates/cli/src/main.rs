//! The desk: parses a command line, gives it to the house, draws what the log says. Nothing else.

mod arguments;
mod commands;
mod consent;
mod error;
mod out;
mod person;
mod prompt;
mod question;
mod show;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Desk;

/// Many small pieces of text are made and dropped by many tasks at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == tool::guard::WORD) {
        return tool::guard::main(words);
    }
    keep_to_ourselves();
    let desk = Desk::parse();
    out::log_to_stderr();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return error::Failure::from(anyhow::Error::from(error)).tell(),
    };
    let ended = runtime.block_on(commands::carry_out(desk));
    // A thread that waits at the terminal for an answer would hold the process up.
    runtime.shutdown_background();
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => failure.tell(),
    }
}

/// Keeps the keys in our environment and memory from the commands that we run: no core dump, nothing to read in `/proc`.
fn keep_to_ourselves() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // Where the system does not know it, there is nothing more to be done about it.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
