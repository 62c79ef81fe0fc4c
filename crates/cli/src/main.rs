//! The command line: parses arguments, hands them to the library, and draws what the log says. It holds no state.

mod arguments;
mod chat;
mod commands;
mod consent;
mod error;
mod out;
mod person;
mod prompt;
mod question;
mod screen;
mod show;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::arguments::{Cli, unknown_command};

/// Many tasks allocate and free small strings at the same time, which this allocator does faster than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|argument| argument == tool::guard::WORD) {
        return tool::guard::main(arguments);
    }
    hide_from_other_processes();
    let cli = match Cli::try_parse_from(arguments::as_typed(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => match unknown_command::message(&error, &Cli::command()) {
            Some(message) => return error::Failure::usage(message).tell(),
            None => error.exit(),
        },
    };
    out::log_to_stderr();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return error::Failure::from(anyhow::Error::from(error)).tell(),
    };
    // The table of models is needed soon, and reading it takes as long as reading all settings: both are done at the same time.
    runtime.spawn_blocking(|| drop(majordomo::provider::ModelTable::builtin()));
    let ended = runtime.block_on(commands::carry_out(cli));
    // A thread that waits for input at the terminal would keep the process alive.
    runtime.shutdown_background();
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => failure.tell(),
    }
}

/// Keeps the API keys in our environment and memory from the commands that we run: no core dump, nothing to read in `/proc`.
fn hide_from_other_processes() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // A system that does not support it offers no other way.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
