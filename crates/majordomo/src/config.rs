//! The effective configuration: flags over variables over the project's file over the user's file over a preset over defaults,
//! merged key by key, with the origin of each value kept.
//!
//! The environment and the file system enter through [`Surroundings`]. What a project's file may not say is decided in
//! `narrowing`; whether a person trusts it, in [`crate::trust`]; the rules in the same files are read by [`crate::rules`]. Keys of providers are named by their variables, and no value that can be shown holds one.
//! Deliberately absent: `.env` files, `${…}` in values, a global configuration.

mod checks;
mod edit;
mod environment;
mod error;
mod flags;
mod household;
mod key;
mod kind;
mod layer;
mod merge;
mod model;
mod narrowing;
mod origin;
mod providers;
mod servers;
mod suggestion;
mod surroundings;
mod values;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent::Mode;
use agent::budget::Grant;
use agent::permission::Rule;
use agent::policy::Policy;
use mcp::ServerSettings;
use provider::{ModelEntry, ProviderConfig};
use serde::Deserialize;

pub use self::edit::{Edited, with_value, without_key};
pub use self::error::Error;
pub use self::flags::Flags;
pub use self::household::{HouseholdConfig, Route};
pub use self::origin::{Origin, Warning};
pub use self::surroundings::{Files, Surroundings};

pub(crate) use self::flags::setting;
pub(crate) use self::key::Key;
pub(crate) use self::layer::{Layers, Setting, checked, of_text};
pub(crate) use self::suggestion::{clause, likeness, nearest};
pub(crate) use self::surroundings::{read_own, read_within};
pub(crate) use self::values::nested;

use self::merge::Merged;
use self::values::Values;
use crate::agents;
use crate::trust::{Project, Standing};

/// Everything that can be configured, as it holds.
#[derive(Clone, Debug)]
pub struct Config {
    /// `provider/model` that a root speaks with: named, or found by a key or an address that is there.
    pub model: Option<String>,
    /// The agent that a root plays.
    pub agent: String,
    /// How much a root may do without a person.
    pub mode: Mode,
    /// The preset that lies under the other layers.
    pub preset: String,
    /// The format of events on the wire.
    pub dialect: String,
    /// The folder for state, absolute.
    pub data: PathBuf,
    /// The policy in force.
    pub policy: Policy,
    /// What a root may spend.
    pub grant: Grant,
    /// What is done with a limit on money where the price of the model is not known.
    pub unknown_price: UnknownPrice,
    /// The providers that can be asked, those that are known without configuration first.
    pub providers: Vec<ProviderConfig>,
    /// What is configured about models, by `provider/model`.
    pub models: BTreeMap<String, ModelEntry>,
    /// The household that agents look after; none where no folder of one is named.
    pub household: Option<HouseholdConfig>,
    /// Whether the sample household takes its place.
    pub demo: bool,
    /// Tasks.
    pub tasks: TasksConfig,
    /// The servers of tools that are used: the user's own, and those of a trusted project.
    pub servers: Vec<ServerSettings>,
    /// Instructions in files.
    pub instructions: InstructionsConfig,
    /// Skills.
    pub skills: SkillsConfig,
    /// Hooks.
    pub hooks: HooksConfig,
    /// The tools that read the web.
    pub web: WebConfig,
    /// Where all is remembered: a database that many machines share, or else a file in the folder for state.
    pub store: store::Location,
    /// This machine, where several share the store.
    pub machine: store::Machine,
    /// How surely what is remembered survives a loss of power.
    pub durability: Durability,
    /// What keeps commands to their workspace.
    pub sandbox: SandboxKind,
    /// The rules of the files that were read, with where each is written. Standing consents are not among them: they are in the
    /// store, and [`crate::rules::in_force`] looks them up.
    pub rules: Vec<Rule>,
    /// What the project brings along, and how a person stands to it.
    pub project: Project,
    /// What the project says and nobody has trusted.
    pub withheld: Withheld,
    /// What a person should see.
    pub warnings: Vec<Warning>,
    /// Whether the model was named for this one process, which weighs more than what an agent's file says.
    model_is_asked_for: bool,
    /// Whether the agent was named by anybody: in a file, a variable, a flag or by the program.
    agent_is_asked_for: bool,
    /// All values, before the preset of the agent was laid under them.
    before_preset: Layers,
    entries: Vec<Entry>,
}

/// `[tasks]`: boards of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct TasksConfig {
    /// Whether all agents have the verbs for tasks. The command line needs no setting.
    pub enabled: bool,
    /// How many agents may work for a board at the same time.
    pub max_concurrent: u32,
    /// How often agents may wake each other over a task before a person has to act on it.
    pub max_wakes: u32,
}

/// `[instructions]`: `AGENTS.md` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct InstructionsConfig {
    /// Whether they are shown to models.
    pub enabled: bool,
    /// Whether sub-agents are shown them, too.
    pub sub_agents: bool,
    /// How many bytes of them are shown, of all files together.
    pub max_bytes: u64,
}

/// `[skills]`: folders with a `SKILL.md`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SkillsConfig {
    /// Whether models can use them.
    pub enabled: bool,
    /// The skills whose text counts as the user's own, by name; that of all others is untrusted text.
    pub trusted: Vec<String>,
}

/// `[hooks]`: commands of the user that are run when something happens.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HooksConfig {
    /// Files with hooks besides `hooks.json`, such as `~/.claude/settings.json`.
    pub files: Vec<String>,
}

/// `[web]`: the tools that read the web.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WebConfig {
    /// Whether agents can read pages.
    pub fetch: bool,
    /// Hosts that may lead to private addresses, as `host` or `host:port`.
    pub private_hosts: Vec<String>,
    /// How many seconds one call may take.
    pub timeout_s: u64,
    /// The most bytes of a page that are read.
    pub max_bytes: usize,
    /// The service that searches.
    pub search: SearchService,
    /// Where the service is, where that is not its usual address.
    pub search_url: Option<String>,
    /// The variable that holds its key, where that is not the usual one.
    pub search_key_env: Option<String>,
}

/// A service that searches the web.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchService {
    /// None: there is no tool that searches.
    None,
    /// SearXNG.
    Searxng,
    /// Brave.
    Brave,
    /// Tavily.
    Tavily,
}

/// How surely what is remembered survives a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Every commit is on the disk before it counts.
    Full,
    /// The last commits may be lost with the power, never with the process.
    Normal,
}

/// What is done with a limit on money where the price of the model is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownPrice {
    /// The run is not started.
    #[default]
    Refuse,
    /// It is, and the limit does not hold.
    Allow,
}

/// What keeps commands to their workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxKind {
    /// Bubblewrap where it works, else Landlock.
    Auto,
    /// Bubblewrap or nothing.
    Bubblewrap,
    /// Landlock or nothing.
    Landlock,
    /// Nothing: every command needs approval, except in mode `dangerous`, and none runs in mode `plan`.
    Off,
}

/// What a project says and what would count if a person trusted it.
#[derive(Clone, Debug, Default)]
pub struct Withheld {
    /// Its values.
    pub settings: Vec<Entry>,
    /// Its rules that allow.
    pub rules: Vec<Rule>,
    /// How many agents it has.
    pub agents: usize,
    /// Its servers of tools, each with exactly what would be started or reached.
    pub servers: Vec<(String, String)>,
    /// How many files with hooks it has.
    pub hooks: usize,
    /// How many skills it has.
    pub skills: usize,
    /// How many instruction files it has.
    pub instructions: usize,
}

/// One value and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, dotted as in TOML.
    pub key: String,
    /// The value; null when there is none. Its text is TOML too.
    pub value: serde_json::Value,
    /// Where it comes from.
    pub origin: Origin,
}

/// What depends on the agent that a root plays.
pub(crate) struct RootSettings {
    pub(crate) policy: Policy,
    pub(crate) preset: String,
    pub(crate) grant: Grant,
}

impl Config {
    /// Reads all layers and merges them.
    pub fn load(surroundings: &Surroundings, flags: &Flags) -> Result<Self, Error> {
        Self::with_settings(surroundings, flags.settings()?, flags.demo)
    }

    /// The same with settings of a program on top.
    pub(crate) fn with_settings(surroundings: &Surroundings, top: Vec<Setting>, demo: bool) -> Result<Self, Error> {
        let mut warnings = Vec::new();
        let merged = merge::merged(surroundings, top, &mut warnings)?;
        let Merged { mut layers, rules, project, withheld: (settings, waiting) } = merged;
        let count = |files: usize| if project.is_trusted() { 0 } else { files };
        let of_project = servers::of_project(&project, surroundings, &servers::key_variables(&layers));
        let waiting_servers = if project.is_trusted() { Vec::new() } else { of_project.shown.clone() };
        let withheld = Withheld {
            settings: settings.iter().map(entry).collect(),
            rules: waiting,
            agents: count(project.agents.len() + project.foreign_agents.len()),
            servers: waiting_servers,
            hooks: count(usize::from(project.hooks.is_some())),
            skills: count(project.skills.len()),
            instructions: count(project.instructions.len()),
        };
        warnings.extend(withheld.told(&project));
        checks::complete_providers(&mut layers)?;
        checks::whole_names(&layers)?;
        checks::whole_prices(&layers)?;
        let values = Values::of(&layers);
        let servers = servers::all(
            values.mcp,
            of_project.if_trusted(project.is_trusted()),
            &layers,
            surroundings,
            &mut warnings,
        )?;
        let providers = providers::resolved(values.providers, &layers, surroundings);
        let named = layers.setting(&Key::dotted("model")).map(|setting| setting.origin.clone());
        let model_is_asked_for = matches!(named, Some(Origin::Flag(_) | Origin::Variable(_) | Origin::Builder(_)));
        let model = match demo && !model_is_asked_for {
            true => Some((household::RULES.to_owned(), Origin::Flag("--demo"))),
            false => values.model.zip(named).or_else(|| model::found(&providers, &layers)),
        };
        household::choose_agent(&mut layers, demo, model.is_some());
        let before_preset = layers.clone();
        let agent_is_asked_for =
            layers.setting(&Key::dotted("agent")).is_some_and(|setting| setting.origin != Origin::Default);
        household::choose_preset(&mut layers, |agent| agents::preset_of(surroundings, &project, agent));
        let values = Values::of(&layers);
        checks::consistent(&values.policy, &layers)?;
        let model = model.or_else(|| household::model_of(&values.agent));
        warnings.extend(values.household.missing(&layers));
        let grant = values.root_grant();
        let machine = store::Machine::named(values.store.machine.as_deref(), values.workspace.shared);
        let store = merge::store_location(values.store.url.as_deref(), &machine, &values.data, surroundings)?;
        Ok(Self {
            entries: entries(&layers, model.as_ref()),
            model: model.map(|(name, _)| name),
            agent: values.agent,
            mode: values.mode,
            preset: values.preset,
            dialect: values.dialect,
            data: values.data,
            grant,
            unknown_price: values.grant.unknown_price,
            policy: values.policy,
            providers,
            models: values.models,
            household: Some(values.household).filter(HouseholdConfig::is_there),
            demo,
            tasks: values.tasks,
            servers,
            instructions: values.instructions,
            skills: values.skills,
            hooks: values.hooks,
            web: values.web,
            store,
            machine,
            durability: values.store.durability,
            sandbox: values.sandbox.kind,
            rules,
            project,
            withheld,
            warnings,
            model_is_asked_for,
            agent_is_asked_for,
            before_preset,
        })
    }

    /// What holds for a root that an agent plays whose file names this preset: as everywhere, it holds where nobody chose one.
    pub(crate) fn for_agent(&self, agent: &str, preset: Option<&str>) -> Result<RootSettings, Error> {
        let mut layers = self.before_preset.clone();
        let named = Setting { key: Key::dotted("agent"), value: agent.into(), origin: Origin::Default };
        layers.lay(vec![named]);
        household::choose_preset(&mut layers, |_| preset.map(str::to_owned));
        let values = Values::of(&layers);
        checks::consistent(&values.policy, &layers)?;
        Ok(RootSettings { grant: values.root_grant(), policy: values.policy, preset: values.preset })
    }

    /// Whether the agent was named by anybody: in a file, a variable, a flag or by the program.
    pub(crate) fn agent_is_asked_for(&self) -> bool {
        self.agent_is_asked_for
    }

    /// The model to speak with, or an error that says how to get one. An agent's own stands over what a file names or a key
    /// leads to, and under what a flag or a variable names.
    pub fn model_for<'a>(&'a self, agents_own: Option<&'a str>) -> Result<&'a str, Error> {
        let configured = self.model.as_deref();
        let model = if self.model_is_asked_for { configured } else { agents_own.or(configured) };
        model.ok_or(Error::NoModel)
    }

    /// Every value with its origin, in a fixed order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

impl Withheld {
    /// Whether there is anything that trust would let in.
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
            && self.rules.is_empty()
            && self.servers.is_empty()
            && self.agents + self.hooks + self.skills + self.instructions == 0
    }

    /// What waits, in a few words.
    pub fn summary(&self) -> String {
        const SHOWN: usize = 3;
        let mut parts: Vec<String> = self.settings.iter().take(SHOWN).map(|entry| entry.key.clone()).collect();
        let count = |number: usize, one: &str, many: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            number => Some(format!("{number} {many}")),
        };
        parts.extend(count(self.settings.len().saturating_sub(SHOWN), "more key", "more keys"));
        parts.extend(count(self.rules.len(), "rule that allows", "rules that allow"));
        parts.extend(count(self.agents, "agent", "agents"));
        parts.extend(count(self.servers.len(), "MCP server", "MCP servers"));
        parts.extend(count(self.hooks, "file with hooks", "files with hooks"));
        parts.extend(count(self.skills, "skill", "skills"));
        parts.extend(count(self.instructions, "instruction file", "instruction files"));
        parts.join(", ")
    }

    /// One sentence for all of it; none where there is nothing, or where a person has said no to just this.
    fn told(&self, project: &Project) -> Option<Warning> {
        let why = match project.standing {
            _ if self.is_empty() => return None,
            Standing::Empty | Standing::Trusted | Standing::Declined => return None,
            Standing::Changed => "it has changed since you decided about it",
            Standing::Unknown => "it is not trusted",
        };
        let message = format!(
            "{why}, so this is not in effect: {}. `majordomo trust` shows it and asks whether to trust it",
            self.summary()
        );
        Some(Warning { origin: Origin::Folder(project.root.clone()), message })
    }
}

fn entries(layers: &Layers, model: Option<&(String, Origin)>) -> Vec<Entry> {
    let mut settings: Vec<&Setting> = layers.settings().filter(|setting| setting.key.section() != "model").collect();
    settings.sort_by_cached_key(|setting| {
        let (section, name, position) = setting.key.rank();
        (section, name.to_owned(), position)
    });
    let model = Entry {
        key: "model".to_owned(),
        value: model.map(|(name, _)| name.as_str()).into(),
        origin: model.map_or(Origin::Default, |(_, origin)| origin.clone()),
    };
    std::iter::once(model).chain(settings.into_iter().map(entry)).collect()
}

fn entry(setting: &Setting) -> Entry {
    let shown = setting.key.kind().map_or_else(|| setting.value.clone(), |kind| kind.shown(&setting.value));
    Entry {
        key: setting.key.to_string(),
        value: serde_json::to_value(&shown).unwrap_or_default(),
        origin: setting.origin.clone(),
    }
}
