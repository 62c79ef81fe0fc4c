//! One file per command.

mod agents;
mod approve;
mod approve_rules;
mod completion;
mod config;
mod context;
mod db;
mod demo;
mod detach;
mod doctor;
mod explain;
mod household;
mod models;
mod ps;
mod run;
mod send;
mod serve;
mod servers;
mod steer;
mod stop;
mod task;
mod thread;
mod thread_manage;
mod trust;
mod usage;
mod wait;
mod work;

use std::path::PathBuf;

use agent::Event;
use agent::approval::Scope;
use majordomo::SAMPLE;
use majordomo::config::{Config, Flags, SandboxKind, Surroundings};
use majordomo::staff::{self, Options, Staff};
use tool::{CommandHost, Guard, Registry, Sandbox};
use view::safe;

use crate::arguments::{
    AgentsCommand, ApproveCommand, BoardArgs, Cli, Command, ConfigCommand, DemoCommand, HouseholdCommand,
    ModelsCommand, RulesCommand, ThreadCommand, Trust, TrustCommand,
};
use crate::error::Failure;
use crate::{chat, out};

pub use self::run::last_here;
pub use self::trust::settled;
pub use self::work::opener;

/// The widest that a warning is shown.
const WIDE: usize = 400;

/// Carries out a command; its exit code.
pub async fn carry_out(cli: Cli) -> Result<u8, Failure> {
    match cli.command {
        Command::Chat(arguments) => chat::chat(*arguments).await,
        Command::Run(run) => run::run(*run).await,
        Command::Send(arguments) => send::send(*arguments).await,
        Command::Wait { thread, timeout, json, place } if majordomo::tasks::is_task_id(&thread) => {
            task::wait(&thread, timeout, json, BoardArgs { board: None, place }).await
        }
        Command::Wait { thread, timeout, json, place } => wait::wait(&thread, timeout, json, &place.flags()).await,
        Command::Work(arguments) => work::work(arguments).await,
        Command::Thread(ThreadCommand::Ls { place, json, limit, all, of, archived, search }) => {
            let which = thread::Which { all, of, archived, search };
            thread::ls(&place.flags(), json, limit, which).await
        }
        Command::Thread(ThreadCommand::Rename { thread, title, place }) => {
            thread_manage::rename(&thread, &title, &place.flags()).await
        }
        Command::Thread(ThreadCommand::Fork { thread, at, place }) => {
            thread_manage::fork(&thread, at, &place.flags()).await
        }
        Command::Thread(ThreadCommand::Export { thread, format, output, place }) => {
            thread_manage::export(&thread, format, output.as_deref(), &place.flags()).await
        }
        Command::Thread(ThreadCommand::Import { file, place }) => thread_manage::import(&file, &place.flags()).await,
        Command::Thread(ThreadCommand::Archive { thread, undo, place }) => {
            thread_manage::archive(&thread, !undo, &place.flags()).await
        }
        Command::Thread(ThreadCommand::Move { thread, to, place }) => {
            thread_manage::relocate(&thread, &to, &place.flags()).await
        }
        Command::Thread(ThreadCommand::Rm { threads, place }) => thread_manage::rm(&threads, &place.flags()).await,
        Command::Thread(ThreadCommand::Show { thread, place, json, jsonl, dialect, full }) => {
            thread::show(&thread, &place.flags(), thread::Form { json, jsonl, dialect, full }).await
        }
        Command::Thread(ThreadCommand::Resume { thread, questions, output, place }) => {
            run::resume(&thread, &place.flags(), &questions, output).await
        }
        Command::Task(command) => task::task(command).await,
        Command::Ps { place, json, all: true, .. } => ps::processes(&place.flags(), json).await,
        Command::Ps { place, json, watch, all: false } => ps::ps(&place.flags(), json, watch).await,
        Command::Stop { thread, now, reason, place } => stop::stop(&thread, now, &reason, &place.flags()).await,
        Command::Steer { thread, text, place } => steer::steer(&thread, &text, &place.flags()).await,
        Command::Approve(command) => approval(command).await,
        Command::Explain(arguments) => explain::explain(&arguments).await,
        Command::Trust(Trust { command: Some(TrustCommand::Ls { json, place }), .. }) => {
            trust::ls(&place.flags(), json)
        }
        Command::Trust(arguments) => trust::trust(&arguments),
        Command::Context { json, text, place } => context::context(&place.flags(), json, text),
        Command::Agents(AgentsCommand::Ls { json, place }) => agents::ls(&place.flags(), json),
        Command::Agents(AgentsCommand::Show { name, json, place }) => agents::show(&name, &place.flags(), json),
        Command::Agents(AgentsCommand::Validate { files, json, place }) => {
            agents::validate(&files, &place.flags(), json)
        }
        Command::Agents(AgentsCommand::Import { agent, force, place }) => agents::import(&agent, force, &place.flags()),
        Command::Models(ModelsCommand::Ls { provider, json, place }) => {
            models::ls(&place.flags(), provider.as_deref(), json).await
        }
        Command::Models(ModelsCommand::Test { model, json, place }) => models::test(&place.flags(), &model, json).await,
        Command::Db(command) => db::db(command).await,
        Command::Mcp(command) => servers::servers(command).await,
        Command::Doctor { settings, json, rebuild } => doctor::doctor(&settings.flags(), json, rebuild).await,
        Command::Serve(arguments) => serve::serve(*arguments).await,
        Command::Usage { since, by, json, place } => usage::usage(&place.flags(), since.as_deref(), by, json).await,
        Command::Demo(DemoCommand::Init { folder }) => demo::init(&folder),
        Command::Household(HouseholdCommand::Check { json, demo, settings }) => {
            household::check(&Flags { demo, ..settings.flags() }, json)
        }
        Command::Config(ConfigCommand::Show { settings, json }) => config::show(&settings.flags(), json),
        Command::Config(ConfigCommand::Set { key, value, place }) => config::set(&place.flags(), &key, &value),
        Command::Config(ConfigCommand::Unset { key, place }) => config::unset(&place.flags(), &key),
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
        ApproveCommand::Answer { id, text, place } => approve::answer(&id, &text, &place.flags()).await,
        ApproveCommand::No { id, reason, place } => approve::no(&id, reason.as_deref(), &place.flags()).await,
        ApproveCommand::Rules(RulesCommand::Ls { json, place }) => approve_rules::ls(&place.flags(), json),
        ApproveCommand::Rules(RulesCommand::Rm { id, place }) => approve_rules::rm(&id, &place.flags()).await,
    }
}

/// The configuration, with its warnings shown.
fn configured(flags: &Flags) -> Result<(Surroundings, Config), Failure> {
    let surroundings = surroundings()?;
    let config = Config::load(&surroundings, flags)?;
    warn(&surroundings, &config);
    Ok((surroundings, config))
}

/// The configuration as it is in another folder, with the same folder for state.
fn configured_in(
    folder: PathBuf,
    (here, config): (&Surroundings, &Config),
    flags: &Flags,
) -> Result<(Surroundings, Config), Failure> {
    let there = Surroundings { cwd: folder, ..here.clone() };
    let flags = Flags { data: Some(config.data.to_string_lossy().into_owned()), ..flags.clone() };
    let config = Config::load(&there, &flags)?;
    Ok((there, config))
}

/// The configuration of the folder that a thread works in, and the household that it was begun with: a thread keeps what it was created
/// with, whichever process it runs in.
pub async fn as_begun(name: &str, flags: &Flags) -> Result<(Surroundings, Config), Failure> {
    let here = surroundings()?;
    let config = Config::load(&here, flags)?;
    let store = staff::open_store(&config)?;
    let thread = match store.resolve(name).await {
        // The words of the task system whose preset this is (LACE-16).
        Err(store::Error::UnknownThread(_)) if config.preset == "lace" => {
            return Err(Failure::usage(format!("No agent found for thread {name}")));
        }
        resolved => resolved?,
    };
    let first = store.read(&thread, 0, 1).await?;
    store.close().await;
    let Some(Event::ThreadCreated(created)) = first.first().map(|record| &*record.event) else {
        return Err(store::Error::UnknownThread(name.into()).into());
    };
    let flags = Flags { demo: created.household.as_deref() == Some(SAMPLE), ..flags.clone() };
    let folder = PathBuf::from(&*created.workspace);
    // A folder that is gone has no settings; the thread says that it is gone when it is gone on with.
    let folder = if folder.is_dir() { folder } else { here.cwd.clone() };
    let (there, config) = configured_in(folder, (&here, &config), &flags)?;
    warn(&there, &config);
    Ok((there, config))
}

fn surroundings() -> Result<Surroundings, Failure> {
    Surroundings::of_process().map_err(|error| Failure::failed(format!("no current folder: {error}")))
}

fn warn(surroundings: &Surroundings, config: &Config) {
    let of_rules = majordomo::staff::rules_without_tool(surroundings, config, registry(Sandbox::default()));
    for warning in config.warnings.iter().map(ToString::to_string).chain(of_rules) {
        out::note(&format!("warning: {}", safe::line(&warning, WIDE)));
    }
}

/// A staff whose commands are guarded by this program.
pub async fn staff(surroundings: &Surroundings, config: Config, options: Options) -> Result<Staff, staff::Error> {
    let command_host = CommandHost { guard: Guard::EmbeddedOrSelf, sandbox: sandbox(surroundings, &config) };
    let tools = Registry::standard(command_host.clone());
    Staff::open(surroundings, config, Options { tools, command_host, ..options }).await
}

/// The tools of an agent, whose commands are guarded by this program.
fn registry(sandbox: Sandbox) -> Registry {
    Registry::standard(CommandHost { guard: Guard::EmbeddedOrSelf, sandbox })
}

/// The names of the tools that agents can be given here.
fn offered_tools(surroundings: &Surroundings, config: &Config) -> Vec<String> {
    majordomo::staff::tool_names(surroundings, config, registry(Sandbox::default()))
}

/// The sandbox for commands. Our own state cannot be read in it.
fn sandbox(surroundings: &Surroundings, config: &Config) -> Sandbox {
    let secret: Vec<PathBuf> = [config.data.clone()].into_iter().chain(surroundings.user_folder()).collect();
    match config.sandbox {
        SandboxKind::Auto => Sandbox::probe(&secret),
        SandboxKind::Bubblewrap => Sandbox::probe_bubblewrap(&secret),
        SandboxKind::Landlock => Sandbox::probe_landlock(&secret),
        SandboxKind::Off => Sandbox::default(),
    }
}
