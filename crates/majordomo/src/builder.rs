//! Puts a staff together for a program that embeds the library: what it says, and as much of its surroundings as it wants.
//!
//! Everything that is said here becomes a layer of the configuration (`config`) or an option of [`Staff::open`]; there is no other way
//! to a staff.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::approval::{Approval, Decision};
use agent::permission::Rule;
use agent::policy::VERBS;
use agent::role::Agent;
use agent::{Consent, Mode};
use async_recursion::async_recursion as boxed;
use household::TOOLS;
use provider::{Secret, builtin_providers};
use store::Store;
use tool::{CommandHost, Registry};

use crate::agents;
use crate::approvals::Approver;
use crate::config::{Config, Files, Origin, Setting, Surroundings, clause, likeness, nearest, setting};
use crate::limits::Limits;
use crate::model::Model;
use crate::program_tool::Tool;
use crate::staff::{Error, Kept, NOWHERE, Options, Staff};

/// The engine of rules, which plays the household's agents where there is no model.
const RULES: &str = "builtin/rules";

/// How much of its surroundings a staff reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Environment {
    /// Nothing: what is not said on the builder has its default. Keys are given by [`StaffBuilder::api_key`].
    Ignored,
    /// The variables in which the providers' own tools keep keys and addresses (`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`,
    /// `OPENAI_BASE_URL` and so on), and those that a setting `providers.NAME.key_env` names. No file.
    #[default]
    ProviderKeys,
    /// Everything that the program `majordomo` reads: its variables (`MAJORDOMO_…`), the user's and the project's configuration,
    /// rules and agents. What is said on the builder counts more.
    Full,
}

/// Puts a [`Staff`] together. [`Staff::builder`] makes one; [`build`](Self::build) ends it.
///
/// What is not said has a default that suits a library: no file of the user's is read, nothing is written to the disk, agents have no
/// tools but those that are added here and those by which they start sub-agents, and a call that needs approval is refused.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), majordomo::Error> {
/// use majordomo::{Agent, Limits, Mode, Model, Staff};
///
/// let staff = Staff::builder()
///     .model(Model::replies(["Three mistakes."])) // or "anthropic/claude-sonnet-5-5"
///     .define(Agent::new("critic", "Finds mistakes in a text", "You find mistakes, and only mistakes."))
///     .agent("critic")
///     .mode(Mode::Plan)
///     .limits(Limits::new().tokens(100_000).children(4))
///     .set("policy.child.max_tokens", 20_000)
///     .build()
///     .await?;
/// assert_eq!(&*staff.run("Read this").await?.answer()?, "Three mistakes.");
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder does nothing before `build().await`"]
#[derive(Default)]
pub struct StaffBuilder {
    environment: Environment,
    settings: Vec<Said>,
    model: Option<Model>,
    models: Vec<Model>,
    keys: Vec<(String, String)>,
    tools: Vec<Tool>,
    agents: Vec<Agent>,
    agent_files: Vec<PathBuf>,
    rules: Vec<Rule>,
    approver: Option<Approver>,
    consent: Option<Consent>,
    workspace: Option<PathBuf>,
    command_host: CommandHost,
    store: Option<Kept>,
    /// What was said that cannot be used, where that is no setting.
    unusable: Option<String>,
}

/// A key, its value, and the call that said it.
struct Said {
    key: String,
    value: String,
    call: &'static str,
}

impl StaffBuilder {
    /// The model that agents speak with, where they have none of their own: `"anthropic/claude-sonnet-5-5"`, `"openai/gpt-6.1-sol"`,
    /// `"ollama/qwen3"` …, or a [`Model`]. Where none is named, the first provider whose key is in the environment gives one.
    pub fn model(mut self, model: impl Into<Model>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// A further model that agents can name: one that is an object of the program. Models of the providers need not be added.
    pub fn add_model(mut self, model: Model) -> Self {
        self.models.push(model);
        self
    }

    /// The key of a provider, in the place of its variable. It is never logged or shown.
    pub fn api_key(mut self, provider: impl Into<String>, key: impl Into<String>) -> Self {
        self.keys.push((provider.into(), key.into()));
        self
    }

    /// A tool that agents can use; see [`Tool::from_fn`].
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// An agent. Others can hand work to it by its name, and [`agent`](Self::agent) or [`Work::agent`](crate::Work::agent) gives it
    /// tasks. One takes the place of a built-in agent of the same name.
    pub fn define(mut self, agent: Agent) -> Self {
        self.agents.push(agent);
        self
    }

    /// An agent that is written in a Markdown file with front matter, as the program `majordomo` reads them.
    pub fn define_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.agent_files.push(path.into());
        self
    }

    /// The agent that gets the tasks where the [`Work`](crate::Work) names none; `general` where nothing is said.
    pub fn agent(self, name: impl Into<String>) -> Self {
        self.said("agent", name.into(), "agent()")
    }

    /// The folder that agents work in. With it they have the tools for files and commands, confined to that folder: `read_file`,
    /// `write_file`, `edit_file`, `list_dir`, `find_files`, `search_files`, `run_command`, `todo`, `memory`, `ask_user`.
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// How commands of agents are run. By default they are guarded, so that nothing they start outlives them, and have no sandbox, so
    /// that each one needs approval; `Sandbox::probe(&[])` finds one.
    pub fn command_host(mut self, host: CommandHost) -> Self {
        self.command_host = host;
        self
    }

    /// What a run may spend, and how many sub-agents it may have.
    pub fn limits(mut self, limits: Limits) -> Self {
        let said = |(key, value): (&str, String)| Said { key: key.to_owned(), value, call: "limits()" };
        self.settings.extend(limits.settings().into_iter().map(said));
        self
    }

    /// How much agents may do without approval; [`Mode::Ask`] where nothing is said.
    pub fn mode(self, mode: Mode) -> Self {
        self.said("mode", mode.to_string(), "mode()")
    }

    /// A rule on calls: `Rule::allow("run_command").on("cargo test*")`, `Rule::deny("read_file").on("*.pem")`. Of rules that fit the same call, one
    /// that denies wins over one that asks, and that over one that allows.
    pub fn rule(mut self, rule: Rule) -> Self {
        let origin = if rule.origin.is_empty() { "set by the program".into() } else { rule.origin };
        self.rules.push(Rule { origin, ..rule });
        self
    }

    /// Decides what needs approval. It is called for each call that a rule or the mode wants to be approved, by an agent at any depth,
    /// several at a time; the agents that do not ask go on meanwhile. A question that expires or is decided elsewhere (`majordomo
    /// approve`) is taken back by dropping the future. A handler that panics refuses.
    ///
    /// Without it, and without [`approve_in_inbox`](Self::approve_in_inbox), such a call is refused at once: the agent is told, and
    /// [`Report::unanswered`](crate::Report::unanswered) names the rule that would have allowed it.
    ///
    /// # Questions
    /// What an agent wants to know from a person (the tool `ask_user`, which comes with [`workspace`](Self::workspace), and what MCP servers
    /// ask) comes to the same handler. [`Approval::question`](crate::Approval::question) is set then, with the text and the offered choices, and
    /// the handler returns [`Decision::answer`](crate::Decision::answer). An answer to a call, and consent to a question, decide nothing: the
    /// agent is told that it was denied, and why.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), majordomo::Error> {
    /// use majordomo::{Decision, Model, Risk, Staff};
    ///
    /// let staff = Staff::builder()
    ///     .model(Model::replies(["done"]))
    ///     .approve(|request| async move {
    ///         println!("{} wants to use {}: {}", request.path.join(" > "), request.tool, request.effect);
    ///         if request.risk < Risk::High { Decision::allow() } else { Decision::deny("not today") }
    ///     })
    ///     .build()
    ///     .await?;
    /// # staff.run("Go").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn approve<F, A>(mut self, decide: F) -> Self
    where
        F: Fn(Approval) -> A + Send + Sync + 'static,
        A: Future<Output = Decision> + Send + 'static,
    {
        self.approver = Some(Approver::new(decide));
        self
    }

    /// What needs approval waits, up to a day, until it is decided elsewhere: by [`Session::decide`](crate::Session::decide), by
    /// `majordomo approve` on the same data folder, or in the web UI. It survives a restart.
    pub fn approve_in_inbox(mut self) -> Self {
        self.consent = Some(Consent::Asked);
        self
    }

    /// Keeps every conversation in this folder, where it survives the program. Without it all is kept in memory.
    /// Its path must be UTF-8.
    pub fn data_folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.store = Some(Kept::InFolder);
        let folder = folder.as_ref();
        match folder.to_str() {
            Some(path) => self.said("data", path.to_owned(), "data_folder()"),
            None => {
                self.unusable = Some(format!("data_folder({}): the path is not UTF-8", folder.display()));
                self
            }
        }
    }

    /// Keeps every conversation in a store of the program's own.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(Kept::In(store));
        self
    }

    /// The preset: a named set of rules for sub-agents, such as `default` or `opta`.
    pub fn preset(self, name: impl Into<String>) -> Self {
        self.said("preset", name.into(), "preset()")
    }

    /// Any key of the configuration: `set("policy.child.max_tokens", 20_000)`, `set("providers.acme.base_url",
    /// "http://localhost:8080/v1")`. Of several calls for one key the last counts. An unknown key is an error.
    #[expect(clippy::needless_pass_by_value, reason = "a value is written as 3 or \"text\", not as a reference")]
    pub fn set(self, key: impl Into<String>, value: impl ToString) -> Self {
        self.said(key, value.to_string(), "set()")
    }

    /// How much of its surroundings the staff reads; [`Environment::ProviderKeys`] where nothing is said.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Puts the staff together. What is wrong with the model, the agents, the tools or a setting is an error here, before anything runs.
    #[boxed]
    pub async fn build(mut self) -> Result<Staff, Error> {
        if let Some(unusable) = self.unusable.take() {
            return Err(Error::Setting(unusable));
        }
        let surroundings = self.surroundings()?;
        let command_host = std::mem::take(&mut self.command_host);
        let mut tools = match &self.workspace {
            Some(_) => Registry::standard(command_host.clone()),
            None => Registry::new(),
        };
        for tool in std::mem::take(&mut self.tools) {
            tools = tool.add_to(tools)?;
        }
        let (agents, preset) = self.agents(&tools)?;
        let config = self.config(&surroundings, preset)?;
        let options = Options {
            tools,
            command_host,
            agents,
            rules: self.rules,
            models: self.models.into_iter().chain(self.model).collect(),
            consent: self.consent.unwrap_or(Consent::Nobody),
            store: self.store.unwrap_or(Kept::InMemory),
            household_clock: None,
        };
        let staff = Staff::open_with(&surroundings, config, options, self.approver).await?;
        let model = staff.model().map_err(|error| match error {
            Error::Config(crate::config::Error::NoModel) => Error::NoModel,
            error => error,
        });
        match model.and_then(|model| staff.check_model(model)) {
            Ok(()) => Ok(staff),
            Err(error) => {
                staff.close().await;
                Err(error)
            }
        }
    }

    fn said(mut self, key: impl Into<String>, value: String, call: &'static str) -> Self {
        self.settings.push(Said { key: key.into(), value, call });
        self
    }

    fn surroundings(&self) -> Result<Surroundings, Error> {
        let of_process = Surroundings::of_process()
            .map_err(|error| Error::Setting(format!("the current folder cannot be found: {error}")))?;
        let mut surroundings = match self.environment {
            Environment::Full => of_process,
            Environment::Ignored => {
                Surroundings { cwd: of_process.cwd, files: Files::Ignored, ..Surroundings::default() }
            }
            Environment::ProviderKeys => {
                let usual =
                    builtin_providers().iter().flat_map(|known| known.key_env.into_iter().chain([known.base_url_env]));
                let named =
                    self.settings.iter().filter(|said| said.key.ends_with(".key_env")).map(|said| said.value.as_str());
                let wanted: Vec<&str> = usual.chain(named).collect();
                let mut env = of_process.env;
                env.retain(|name, _| wanted.contains(&name.as_str()));
                Surroundings { env, cwd: of_process.cwd, home: None, files: Files::Ignored }
            }
        };
        if let Some(folder) = &self.workspace {
            let missing = |error| Error::Setting(format!("workspace({}): {error}", folder.display()));
            surroundings.cwd = folder.canonicalize().map_err(missing)?;
        }
        Ok(surroundings)
    }

    /// The agents that are defined here, and the preset of the one that gets the tasks.
    fn agents(&self, tools: &Registry) -> Result<(Vec<Agent>, Option<String>), Error> {
        let infos = tools.infos();
        let known: Vec<&str> = infos.keys().map(AsRef::as_ref).chain(VERBS).chain(TOOLS).collect();
        let mut presets = Vec::new();
        let mut all = self.agents.clone();
        for path in &self.agent_files {
            let wrong = |why: String| Error::Agent(format!("{}: {why}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let definition = agents::read(&text, &stem, &known).map_err(wrong)?;
            if let Some(warning) = definition.warnings.into_iter().next() {
                return Err(wrong(warning));
            }
            presets.extend(definition.preset.map(|preset| (definition.agent.name.clone(), preset)));
            all.push(definition.agent);
        }
        for (at, agent) in all.iter().enumerate() {
            let name = &agent.name;
            if all[..at].iter().any(|other| other.name == *name) {
                return Err(Error::Agent(format!("two agents are named '{name}': rename one")));
            }
            if name.trim().is_empty() || agent.prompt.trim().is_empty() || agent.description.trim().is_empty() {
                return Err(Error::Agent(format!("agent '{name}' needs a name, a description and a prompt")));
            }
            let unknown = |tool: &&Arc<str>| !known.contains(&&***tool);
            if let Some(tool) = agent.tools.iter().flatten().chain(&agent.lends).find(unknown) {
                let meant = clause(nearest(&known, |known| likeness(tool, known)));
                let hint = if self.workspace.is_none() && BUILT_IN.contains(&&**tool) {
                    "; .workspace(folder) adds the tools for files and commands"
                } else {
                    ""
                };
                return Err(Error::Agent(format!(
                    "agent '{name}' asks for the tool '{tool}', which does not exist{meant}{hint}"
                )));
            }
        }
        let last = |key: &str| self.settings.iter().rfind(|said| said.key == key).map(|said| said.value.clone());
        let chosen = last("agent").filter(|_| last("preset").is_none());
        let preset = presets.into_iter().find(|(name, _)| chosen.as_deref() == Some(name)).map(|(_, preset)| preset);
        Ok((all, preset))
    }

    fn config(&self, surroundings: &Surroundings, preset: Option<String>) -> Result<Config, Error> {
        let mut top: Vec<Setting> = Vec::new();
        let mut say = |key: &str, value: &str, call| {
            top.extend(setting(key, value, &Origin::Builder(call))?);
            Ok::<_, Error>(())
        };
        if !matches!(self.store, Some(Kept::InFolder)) {
            say("data", NOWHERE, "store()")?;
        }
        if let Some(preset) = preset {
            say("preset", &preset, "define_file()")?;
        }
        for said in &self.settings {
            say(&said.key, &said.value, said.call)?;
        }
        if let Some(model) = &self.model {
            say("model", &model.name(), "model()")?;
        }
        let mut config = Config::with_settings(surroundings, top, false)?;
        for warning in &config.warnings {
            match warning.origin {
                Origin::Builder(_) => return Err(Error::Setting(warning.to_string())),
                _ => tracing::warn!("{warning}"),
            }
        }
        for (name, key) in &self.keys {
            let known: Vec<&str> = config.providers.iter().map(|provider| provider.name.as_str()).collect();
            let meant = clause(nearest(&known, |known| likeness(name, known)));
            let unknown = format!("api_key(): there is no provider '{name}'{meant}; there are: {}", known.join(", "));
            let provider = config.providers.iter_mut().find(|provider| provider.name == *name);
            provider.ok_or(Error::Setting(unknown))?.key = Some(Secret::new(key));
        }
        // The rules engine only plays a household's agents.
        let is_rules = config.model.as_deref() == Some(RULES) && self.model.is_none();
        if is_rules && config.household.is_none() && self.agents.iter().all(|agent| agent.model.is_none()) {
            return Err(Error::NoModel);
        }
        Ok(config)
    }
}

/// The tools that come with a workspace.
const BUILT_IN: [&str; 10] = [
    "read_file",
    "write_file",
    "edit_file",
    "list_dir",
    "find_files",
    "search_files",
    "run_command",
    "todo",
    "memory",
    "ask_user",
];
