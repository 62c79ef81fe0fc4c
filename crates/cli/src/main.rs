//! The command line: parses arguments, hands them to the library, and draws what the log says. It holds no state.

mod age;
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

use std::ffi::OsString;
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
    let arguments = flags_last(std::env::args_os().collect());
    let cli = match Cli::try_parse_from(arguments::as_typed(arguments.into_iter())) {
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

/// Where everything is kept and configuration keys: every verb knows these flags behind it, and they may stand before it, too.
const BEFORE_THE_VERB: [&str; 3] = ["--data", "--store", "--set"];

/// The command line with such flags behind the verb.
fn flags_last(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let mut taken = Vec::new();
    loop {
        let first = arguments.get(1).and_then(|first| first.to_str()).unwrap_or_default();
        let (name, length) = first.split_once('=').map_or((first, 2), |(name, _)| (name, 1));
        // Without anything behind them they are those of a chat.
        if !BEFORE_THE_VERB.contains(&name) || arguments.len() <= length + 1 {
            break;
        }
        taken.extend(arguments.drain(1..=length));
    }
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    arguments.splice(end..end, taken);
    arguments
}

/// Keeps the API keys in our environment and memory from the commands that we run: no core dump, nothing to read in `/proc`.
fn hide_from_other_processes() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // A system that does not support it offers no other way.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_data_folder_and_keys_may_be_named_before_the_verb() {
        let moved = |line: &str| {
            let arguments = flags_last(line.split(' ').map(OsString::from).collect());
            arguments.iter().map(|argument| argument.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(moved("majordomo --store postgres://db/x run hello"), "majordomo run hello --store postgres://db/x");
        assert_eq!(moved("majordomo --store=postgres://db/x db init"), "majordomo db init --store=postgres://db/x");
        assert_eq!(moved("majordomo --store u run -- --x"), "majordomo run --store u -- --x");
        assert_eq!(moved("majordomo --data d --set a=1 --set b=2 ps"), "majordomo ps --data d --set a=1 --set b=2");
        assert_eq!(moved("majordomo --data d -c"), "majordomo -c --data d");
        assert_eq!(moved("majordomo --database d ps"), "majordomo --database d ps");
        for as_it_was in ["majordomo run --store u x", "majordomo --store u", "majordomo --data=d", "majordomo --data"]
        {
            assert_eq!(moved(as_it_was), as_it_was);
        }
    }
}
