//! `majordomo doctor`: checks everything that a run needs, and reports problems.
//!
//! Except with `--rebuild`, it changes nothing that is kept. It creates nothing permanent: no database is created, and the file that tests whether the data folder is writable
//! is removed again. It removes the temporary files of processes that were killed. A key is never shown, only whether its
//! variable is set. A model that is named with `-m` is sent a short request; without that, nothing leaves the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use majordomo::config::{Config, Flags, Surroundings};
use majordomo::connection::{Answered, Trial, try_model};
use majordomo::models::Models;
use majordomo::servers::OpenServers;
use majordomo::staff::{location, open_store};
use majordomo::trust::Standing;
use serde_json::{Value, json};
use store::{Address, Location, PostgresStore};
use tool::{Cleared, CommandHost, Guard, Sandbox};
use view::{clock, safe};

use super::{registry, sandbox, surroundings};
use crate::error::{CONFIGURATION, Failure, PROVIDER};
use crate::out;

/// What is looked at whose problems have exit codes of their own.
const HOOKS: &str = "hooks";

/// The widest that a finding is shown.
const WIDE: usize = 400;

/// `majordomo doctor`.
pub async fn doctor(flags: &Flags, json: bool, rebuild: bool) -> Result<u8, Failure> {
    let surroundings = surroundings()?;
    let (findings, code) = match Config::load(&surroundings, flags) {
        Ok(config) => {
            let mut findings = examined(&surroundings, &config).await;
            if rebuild {
                findings.push(rebuilt(&config).await);
            }
            if let Some(model) = &flags.model {
                findings.push(connection(&config, model).await);
            }
            let is_broken =
                |about: &str| findings.iter().any(|finding| finding.state == State::Broken && finding.about == about);
            let code = match findings.iter().any(|finding| finding.state == State::Broken) {
                false => 0,
                true if is_broken(CONNECTION) => PROVIDER,
                true if is_broken(HOOKS) => CONFIGURATION,
                true => 1,
            };
            (findings, code)
        }
        Err(error) => (vec![Finding::broken("configuration", error.to_string())], CONFIGURATION),
    };
    let mut result = out::Result::Stdout;
    if json {
        let findings: Vec<Value> = findings.iter().map(Finding::object).collect();
        result.line(&json!({ "is_well": code == 0, "findings": findings }).to_string())?;
        return Ok(code);
    }
    for Finding { about, state, says } in &findings {
        if !result.line(&out::hanging(&format!("{:<6} {about:<13} ", state.as_str()), &safe::line(says, WIDE)))? {
            break;
        }
    }
    Ok(code)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// As it should be.
    Well,
    /// Worth knowing; a run goes on without it.
    Note,
    /// In the way of a run.
    Broken,
}

struct Finding {
    about: &'static str,
    state: State,
    says: String,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Well => "ok",
            Self::Note => "note",
            Self::Broken => "broken",
        }
    }
}

impl Finding {
    fn well(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, state: State::Well, says: says.into() }
    }

    fn note(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, state: State::Note, says: says.into() }
    }

    fn broken(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, state: State::Broken, says: says.into() }
    }

    fn object(&self) -> Value {
        json!({ "id": self.about, "about": self.about, "state": self.state.as_str(), "says": self.says })
    }
}

async fn examined(surroundings: &Surroundings, config: &Config) -> Vec<Finding> {
    let mut findings = configuration(surroundings, config);
    findings.push(data(&config.data));
    findings.push(temporary_files(&surroundings.cwd, &config.data));
    findings.push(database(config).await);
    findings.extend(model(config).await);
    findings.push(household(config));
    findings.push(trust(config));
    findings.extend(servers(surroundings, config).await);
    findings.extend(rules(surroundings, config));
    findings.extend(hooks(surroundings, config));
    findings.extend(walls(&sandbox(surroundings, config)));
    findings
}

/// Whether each MCP server starts and answers.
async fn servers(surroundings: &Surroundings, config: &Config) -> Vec<Finding> {
    if config.servers.is_empty() {
        return Vec::new();
    }
    let host = CommandHost { guard: Guard::EmbeddedOrSelf, sandbox: sandbox(surroundings, config) };
    let open = match OpenServers::open_to_look(surroundings, config, host) {
        Ok(open) => open,
        Err(error) => return vec![Finding::note("MCP servers", error.to_string())],
    };
    open.servers.start().await;
    let status = open.servers.status();
    open.close().await;
    let finding = |status: &majordomo::servers::mcp::Status| {
        let name = &status.settings.name;
        match &status.failure {
            Some(why) => Finding::note("MCP servers", format!("{name} does not work: {why}; runs go on without it")),
            None => Finding::well("MCP servers", format!("{name} works and has {} tools", status.tools.len())),
        }
    };
    status.iter().map(finding).collect()
}

fn configuration(surroundings: &Surroundings, config: &Config) -> Vec<Finding> {
    let user = surroundings.user_folder().map(|folder| folder.join("config.toml")).filter(|path| path.exists());
    let project = config.project.config.as_ref().map(|file| file.path.clone());
    let files: Vec<String> = user.into_iter().chain(project).map(|path| path.display().to_string()).collect();
    let files =
        if files.is_empty() { "no configuration file; the defaults apply".to_owned() } else { files.join(", ") };
    let mut findings = vec![Finding::well("configuration", files)];
    findings.extend(config.warnings.iter().map(|warning| Finding::note("configuration", warning.to_string())));
    findings
}

/// What to do about a data folder that cannot be used.
const OTHER_FOLDER: &str = "make it writable for this user, or choose another folder with --data or MAJORDOMO_DATA";

/// Whether files can be written to the data folder, or where it will be made. Permission bits do not tell: the disk may be
/// read-only or full, and root is not bound by them. So a file is written and removed again.
fn data(folder: &Path) -> Finding {
    let shown = folder.display();
    let there = folder.ancestors().find(|path| fs::symlink_metadata(path).is_ok()).unwrap_or(folder);
    match tool::try_to_write(there) {
        Ok(()) if there == folder => Finding::well("data", shown.to_string()),
        Ok(()) => Finding::well("data", format!("{shown} (created by the first run)")),
        Err(error) if there == folder => {
            Finding::broken("data", format!("{shown} cannot be written ({error}): {OTHER_FOLDER}"))
        }
        Err(error) => {
            let there = there.display();
            Finding::broken(
                "data",
                format!("{shown} cannot be created because {there} is not writable ({error}): {OTHER_FOLDER}"),
            )
        }
    }
}

/// Removes the temporary files that killed processes left in the current folder and in the data folder.
fn temporary_files(workspace: &Path, data: &Path) -> Finding {
    let searched: Vec<Cleared> =
        [workspace, data].into_iter().filter_map(|place| tool::clear_below(place).ok()).collect();
    let removed: usize = searched.iter().map(|cleared| cleared.removed).sum();
    let rest = match searched.iter().all(|cleared| cleared.complete) {
        true => "",
        false => "; some folders were not searched because there are too many",
    };
    match removed {
        0 => Finding::well("temporary", format!("no temporary files left by killed processes{rest}")),
        1 => Finding::note("temporary", format!("removed a file that a killed process had left{rest}")),
        _ => Finding::note("temporary", format!("removed {removed} files that killed processes had left{rest}")),
    }
}

async fn database(config: &Config) -> Finding {
    if let Location::Postgres(address) = location(config) {
        return server(config, &address).await;
    }
    if !location(config).exists() {
        return Finding::well("database", "not created yet");
    }
    let store = match open_store(config) {
        Ok(store) => store,
        Err(error) => return Finding::broken("database", error.to_string()),
    };
    let found = store.check().await;
    store.close().await;
    match found {
        Err(error) => Finding::broken("database", error.to_string()),
        Ok(health) if health.faults.is_empty() => {
            Finding::well("database", format!("integrity check passed; {}", health.engine))
        }
        Ok(health) => Finding::broken("database", health.faults.join("; ")),
    }
}

/// A clock that is so far off is worth a word: times in lists are those of the machine that wrote them.
const CLOCK_MS: u64 = 2_000;

/// Whether a database server can be reached and used.
async fn server(config: &Config, address: &Address) -> Finding {
    const ABOUT: &str = "database";
    let status = match PostgresStore::status(address, out::now) {
        Ok(status) => status,
        Err(error) => return Finding::broken(ABOUT, format!("{address}: {error}")),
    };
    let store = match open_store(config) {
        Ok(store) => store,
        Err(error) => return Finding::broken(ABOUT, error.to_string()),
    };
    let found = store.check().await;
    store.close().await;
    let engine = match found {
        Err(error) => return Finding::broken(ABOUT, format!("{address}: {error}")),
        Ok(health) if !health.faults.is_empty() => return Finding::broken(ABOUT, health.faults.join("; ")),
        Ok(health) => health.engine,
    };
    let clock = status.clock_ahead_ms;
    if clock.unsigned_abs() > CLOCK_MS {
        let says =
            format!("{address}: its clock and that of this machine are {clock} ms apart: set both by NTP; {engine}");
        return Finding::note(ABOUT, says);
    }
    let rights = if status.can_create { "" } else { "; this role cannot run `majordomo db migrate`" };
    Finding::well(ABOUT, format!("{address}: {engine}, clock {clock} ms ahead{rights}"))
}

/// Makes what is folded from boards anew from the log.
async fn rebuilt(config: &Config) -> Finding {
    const ABOUT: &str = "tasks";
    if !location(config).exists() {
        return Finding::well(ABOUT, "there is no database to rebuild");
    }
    let store = match open_store(config) {
        Ok(store) => store,
        Err(error) => return Finding::broken(ABOUT, error.to_string()),
    };
    let rebuilt = store.rebuild_boards().await;
    store.close().await;
    match rebuilt {
        Err(error) => Finding::broken(ABOUT, error.to_string()),
        Ok(made) if made.differences == 0 => Finding::well(
            ABOUT,
            format!("{} tasks of {} boards made anew from the log: they were right", made.tasks, made.boards),
        ),
        Ok(made) => Finding::note(
            ABOUT,
            format!(
                "{} tasks of {} boards made anew from the log: {} rows were wrong and are right now",
                made.tasks, made.boards, made.differences
            ),
        ),
    }
}

/// How to choose a language model.
const WAYS: &str = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name a local one with -m ollama/MODEL";

/// The model of a run, and what else there is to know: that it ends soon, or that Ollama is running here where no model is chosen.
async fn model(config: &Config) -> Vec<Finding> {
    let chosen = config.model_for(None);
    let mut findings = vec![chosen_model(config, chosen.as_ref().ok().map(|model| &**model))];
    let Ok(models) = Models::new(config) else { return findings };
    match chosen {
        Ok(model) if !model.starts_with("builtin/") => {
            let today = jiff::Timestamp::from_millisecond(out::now().0).unwrap_or_default();
            let end = models.near_end(model, today.to_zoned(jiff::tz::TimeZone::UTC).date());
            findings.extend(
                end.map(|end| Finding::note("model", format!("{model} {end}; `majordomo models ls` lists others"))),
            );
            if models.takes_no_tools(model) {
                findings.push(Finding::note("model", format!("{model} takes no tools, so its agents get none")));
            }
        }
        Ok(_) | Err(_) => findings.extend(models.ollama().await.map(|offer| Finding::note("model", offer))),
    }
    findings
}

fn chosen_model(config: &Config, model: Option<&str>) -> Finding {
    let Some(model) = model else {
        return Finding::broken("model", majordomo::config::Error::NoModel.to_string());
    };
    let name = model.split('/').next().unwrap_or_default();
    let Some(provider) = config.providers.iter().find(|provider| provider.name == name) else {
        return match name {
            "builtin" => Finding::note(
                "model",
                format!("{model}: the offline rules engine, for the household only; for a language model {WAYS}"),
            ),
            "scripted" => Finding::well("model", format!("{model}: replies are read from a file")),
            _ => Finding::broken("model", format!("{model}: no provider '{name}' is configured")),
        };
    };
    let key = match (&provider.key_env, &provider.key) {
        (Some(variable), Some(_)) => format!("{variable} is set"),
        (Some(variable), None) => format!("{variable} is not set"),
        (None, _) => "no key is needed".to_owned(),
    };
    let says = format!("{model} at {}; {key}", provider.base_url);
    if provider.needs_key && provider.key.is_none() {
        Finding::broken("model", says)
    } else {
        Finding::well("model", says)
    }
}

/// What a finding about a model that was asked is called.
const CONNECTION: &str = "connection";
/// How long a model has to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends the model that was named a short request. What lives in this process has no connection to try.
async fn connection(config: &Config, model: &str) -> Finding {
    if model.starts_with("builtin/") {
        return Finding::well(CONNECTION, "none is needed");
    }
    match try_model(config, model, Trial::Words, PATIENCE).await {
        Ok(Answered { took, tokens, learnt, .. }) => {
            let took = clock::duration(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
            let used = tokens.map(|tokens| format!(", {} tokens", tokens.total())).unwrap_or_default();
            let learnt: String = learnt.iter().map(|learnt| format!("; {learnt}")).collect();
            Finding::well(CONNECTION, format!("{model} answered in {took}{used}{learnt}"))
        }
        Err(why) => Finding::broken(CONNECTION, why),
    }
}

fn household(config: &Config) -> Finding {
    let Some(named) = &config.household else {
        return Finding::well("household", "not configured; set household.folder, or try `majordomo run --demo`");
    };
    let places = [
        ("folder", &named.folder),
        ("mail", &named.mail),
        ("calendars", &named.calendars),
        ("notes", &named.notes),
        ("contacts", &named.contacts),
    ];
    let told = |(name, place): &(&str, &Option<PathBuf>)| Some(format!("{name} {}", place.as_ref()?.display()));
    Finding::well("household", places.iter().filter_map(told).collect::<Vec<_>>().join(", "))
}

fn trust(config: &Config) -> Finding {
    let root = config.project.root.display();
    let left_out = || match config.withheld.is_empty() {
        true => "its settings only restrict".to_owned(),
        false => format!("not in effect: {}; `majordomo trust` shows it", config.withheld.summary()),
    };
    match config.project.standing {
        Standing::Empty => Finding::well("trust", format!("{root} has no settings of its own")),
        Standing::Trusted => Finding::well("trust", format!("{root} is trusted")),
        Standing::Declined => Finding::well("trust", format!("{root} is not trusted, as you chose; {}", left_out())),
        Standing::Changed => Finding::note("trust", format!("{root} has changed since it was trusted; {}", left_out())),
        Standing::Unknown => Finding::note("trust", format!("{root} is not trusted; {}", left_out())),
    }
}

fn rules(surroundings: &Surroundings, config: &Config) -> Vec<Finding> {
    let rules = majordomo::rules::in_force(config);
    let mut files: Vec<&str> =
        rules.iter().map(|rule| rule.origin.rsplit_once(':').map_or(&*rule.origin, |(file, _)| file)).collect();
    files.dedup();
    let all = match rules.len() {
        0 => Finding::well("rules", "none; the mode decides"),
        count => Finding::well("rules", format!("{count} in {}", files.join(", "))),
    };
    let without_tool = majordomo::staff::rules_without_tool(surroundings, config, registry(Sandbox::default()));
    std::iter::once(all).chain(without_tool.into_iter().map(|says| Finding::broken("rules", says))).collect()
}

/// Whether every hook is run that is written down: a person may rely on one to refuse what must not happen.
fn hooks(surroundings: &Surroundings, config: &Config) -> Vec<Finding> {
    let (hooks, warnings) = majordomo::hooks::load(surroundings, config);
    let mut files: Vec<String> = hooks.all().iter().map(|hook| hook.file.display().to_string()).collect();
    let count = files.len();
    files.dedup();
    let well = (count > 0).then(|| Finding::well(HOOKS, format!("{count} in {}", files.join(", "))));
    well.into_iter().chain(warnings.into_iter().map(|warning| Finding::broken(HOOKS, warning))).collect()
}

fn walls(sandbox: &Sandbox) -> Vec<Finding> {
    let facts = sandbox.describe();
    let finding = |fact: tool::Fact| {
        let advice = fact.advice.map(|advice| format!("; {advice}")).unwrap_or_default();
        let says = format!("{}: {}{advice}", fact.name, fact.how);
        if fact.in_force { Finding::well("sandbox", says) } else { Finding::note("sandbox", says) }
    };
    facts.into_iter().map(finding).collect()
}
