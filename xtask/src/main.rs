//! The commands that README, CI and people share: `cargo xtask test` is what CI runs, to the letter.
//!
//! A command is a list of steps (`steps`), which are run one after the other up to the first that fails (`step`).
//! What a machine must have besides Rust is said and fetched in `needs`.

mod command;
mod corpus;
mod needs;
mod skipped;
mod step;
mod steps;

use std::path::Path;
use std::process::ExitCode;

use crate::command::{Command, HELP};

fn main() -> ExitCode {
    let command = match Command::parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(wrong) => {
            eprint!("{wrong}{HELP}");
            return ExitCode::from(2);
        }
    };
    match run(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\n{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> anyhow::Result<()> {
    if command.needs_tools() {
        needs::fetch()?;
    }
    match command {
        Command::Fuzz { .. } => corpus::unpack(Path::new("."))?,
        Command::FuzzAdd { target, file } => corpus::add(Path::new("."), target, Path::new(file))?,
        Command::Test => skipped::forget()?,
        Command::TestServers => {
            needs::python()?;
            skipped::forget()?;
            if needs::npm() == needs::Npm::Missing {
                eprintln!(
                    "npm is not on this machine: the MCP reference server is not installed, and its test is skipped"
                );
            }
        }
        _ => {}
    }
    let ran = steps::of(command).iter().try_for_each(step::Step::run);
    if matches!(command, Command::Test | Command::TestServers) {
        eprint!("{}", skipped::summary());
    }
    ran
}
