//! One file per verb.

mod approve;
mod completion;
mod config;
mod ps;
mod run;
mod steer;
mod stop;
mod thread;

use agent::approval::Scope;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::{self, Options, Staff};
use tool::{CommandHost, Guard, Registry};

use crate::arguments::{ApproveCommand, Command, ConfigCommand, Desk, ThreadCommand};
use crate::error::Failure;
use crate::out;

pub use thread::is_left;

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
        Command::Approve(command) => approval(command).await,
        Command::Config(ConfigCommand::Show { settings, json }) => config::show(&settings.flags(), json),
        Command::Completion { shell } => completion::completion(shell),
    }
}

async fn approval(command: ApproveCommand) -> Result<u8, Failure> {
    match command {
        ApproveCommand::Ls { all, json, limit, place } => approve::ls(&place.flags(), all, json, limit).await,
        ApproveCommand::Show { id, json, place } => approve::show(&id, &place.flags(), json).await,
        ApproveCommand::Yes { id, thread, always, input, place } => {
            let scope = match (thread, always) {
                (_, true) => Scope::Always,
                (true, false) => Scope::Thread,
                (false, false) => Scope::Once,
            };
            approve::yes(&id, scope, input.as_deref(), &place.flags()).await
        }
        ApproveCommand::No { id, reason, place } => approve::no(&id, reason.as_deref(), &place.flags()).await,
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
