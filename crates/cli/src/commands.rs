//! One file per verb.

mod completion;
mod config;
mod ps;
mod run;
mod steer;
mod stop;
mod thread;

use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::{self, Options, Staff};
use tool::{CommandHost, Guard, Registry};

use crate::arguments::{Command, ConfigCommand, Desk, ThreadCommand};
use crate::error::Failure;
use crate::out;

/// Carries out a command; its exit code.
pub async fn carry_out(desk: Desk) -> Result<u8, Failure> {
    match desk.command {
        Command::Run(run) => run::run(*run).await,
        Command::Thread(ThreadCommand::Ls { place, json, limit, all }) => {
            thread::ls(&place.flags(), json, limit, all).await
        }
        Command::Thread(ThreadCommand::Show { thread, place, json, jsonl, dialect, full }) => {
            thread::show(&thread, &place.flags(), thread::Form { json, jsonl, dialect, full }).await
        }
        Command::Thread(ThreadCommand::Resume { thread, questions, output, place }) => {
            run::resume(&thread, &place.flags(), &questions, output).await
        }
        Command::Ps { place, json, watch } => ps::ps(&place.flags(), json, watch).await,
        Command::Stop { thread, now, reason, place } => stop::stop(&thread, now, &reason, &place.flags()).await,
        Command::Steer { thread, text, place } => steer::steer(&thread, &text, &place.flags()).await,
        Command::Config(ConfigCommand::Show { settings, json }) => config::show(&settings.flags(), json),
        Command::Completion { shell } => completion::completion(shell),
    }
}

/// The configuration, with its warnings shown.
fn configured(flags: &Flags) -> Result<(Surroundings, Config), Failure> {
    let surroundings =
        Surroundings::of_process().map_err(|error| Failure::failed(format!("no current folder: {error}")))?;
    let config = Config::load(&surroundings, flags)?;
    for warning in &config.warnings {
        out::note(&format!("warning: {warning}"));
    }
    Ok((surroundings, config))
}

/// A staff whose commands are guarded by this program.
async fn staff(surroundings: &Surroundings, config: Config, options: Options) -> Result<Staff, staff::Error> {
    let tools = Registry::standard(CommandHost { guard: Guard::SelfExe, ..CommandHost::default() });
    Staff::open(surroundings, config, Options { tools, ..options }).await
}
