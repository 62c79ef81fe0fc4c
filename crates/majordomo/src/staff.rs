//! Agents to work with: store, providers, tools and runtime, put together from a configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::creation::Root;
use agent::delegation::Preference;
use agent::permission::Rule;
use agent::policy::VERBS;
use agent::role::Agent;
use agent::{Catalog, Json, Report, ThreadId};
use household::TOOLS;
use provider::{ModelTable, Providers};
use runtime::{Gatherer, Runtime, Sources, Start};
use store::{Current, Location, Store};
use tool::{Collision, CommandHost, CurrentTools, Person, Registry};

use crate::agents::{Agents, Found};
use crate::config::{self, Config, Durability, RootSettings, Surroundings};
use crate::follow::Updates;
use crate::home::Home;
use crate::route;
use crate::rules::{self, Rulebook};
use crate::session::{Run, Session};
use crate::trust;

pub use agent::Consent;

/// What can be decided besides the configuration.
pub struct Options {
    /// The tools that agents can use.
    pub tools: Registry,
    /// The person who answers an agent's questions; without one they are refused.
    pub person: Option<Arc<dyn Person>>,
    /// Whether a person's consent can be had for what needs it. Where it can, a question waits in the log until a person
    /// decides it (`Lists::approvals`, `Outside::Decided`); where it cannot, it is refused at once.
    pub consent: Consent,
    /// Keep nothing on the disk.
    pub in_memory: bool,
}

impl Default for Options {
    /// The standard tools, no person to ask, everything kept on disk. Commands have a guard and no sandbox.
    fn default() -> Self {
        let tools = Registry::standard(CommandHost::default());
        Self { tools, person: None, consent: Consent::Nobody, in_memory: false }
    }
}

/// Something to be done. Whatever is not said is as configured.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// The task, in words.
    pub prompt: String,
    /// The folder to work in; the current one where none is named.
    pub workspace: Option<PathBuf>,
    /// JSON Schema that the answer must fit.
    pub output_schema: Option<Json>,
    /// The agent. Where none is named: the butler for what is plainly about a configured household, else the configured one.
    pub agent: Option<String>,
}

/// Who gets some work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The agent.
    pub agent: String,
    /// The model that it speaks with: what the agent reads is sent there.
    pub model: String,
    /// Whether the agent was chosen because the prompt is about the household.
    pub is_routed: bool,
}

impl Work {
    /// Work with a prompt and nothing else.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..Self::default() }
    }
}

/// What keeps a staff from working.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A provider cannot be used.
    #[error(transparent)]
    Provider(#[from] provider::Error),
    /// The store cannot be used.
    #[error("{location}: {source}")]
    Store {
        /// Where it lies.
        location: Location,
        /// Why.
        source: store::Error,
    },
    /// The runtime cannot do what was asked.
    #[error(transparent)]
    Runtime(#[from] runtime::Error),
    /// The household cannot be used.
    #[error(transparent)]
    Household(#[from] household::Error),
    /// Two tools have the same name.
    #[error(transparent)]
    Tools(#[from] Collision),
    /// There is no such agent.
    #[error("{0}")]
    Agent(String),
    /// A message was not taken up.
    #[error("the message was not taken up: {0}")]
    Dropped(Arc<str>),
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        Self::Runtime(error.into())
    }
}

/// Agents that can be given work.
#[derive(Clone)]
pub struct Staff {
    runtime: Runtime,
    config: Arc<Config>,
    catalog: Arc<Catalog>,
    /// The presets that the files of agents name, by agent.
    presets: Arc<BTreeMap<Arc<str>, String>>,
    providers: Providers,
    home: Home,
    cwd: PathBuf,
}

impl Staff {
    /// Puts a staff together.
    pub async fn open(surroundings: &Surroundings, config: Config, options: Options) -> Result<Self, Error> {
        let store: Arc<dyn Store> =
            if options.in_memory { open_at(&Location::Memory, &config)? } else { open_store(&config)? };
        let home = Home::open(&config, options.in_memory, Some(&store))?;
        let providers = providers(&config, &home)?;
        let tools = CurrentTools::new(home.tools(options.tools))?;
        if options.in_memory {
            // It begins with what holds for the folder, and changes nothing there.
            for event in trust::events(&config.data)?.into_iter().chain(rules::events(&config.data)) {
                store.record(event, runtime::Clock::default().now()).await.map_err(runtime::Error::from)?;
            }
        } else {
            trust::take_over(&config.data)?;
        }
        let installation = Current::open(&store).await.map_err(runtime::Error::from)?;
        let (catalog, presets) = catalog(surroundings, &config, &tools.snapshot());
        let (catalog, presets) = (Arc::new(catalog), Arc::new(presets));
        let rulebook = Rulebook::open(surroundings, &config.data, Some(installation))?;
        let runtime = Runtime::begin(runtime::Options {
            store,
            providers: providers.clone(),
            tools,
            catalog: catalog.clone(),
            consent: options.consent,
            sources: Arc::new(Standing { rulebook, home: home.clone() }),
            person: options.person,
            data: (!options.in_memory).then(|| config.data.clone()),
        })
        .await?;
        let cwd = surroundings.cwd.clone();
        Ok(Self { runtime, config: Arc::new(config), catalog, presets, providers, home, cwd })
    }

    /// The model of a root, where the prompt does not decide on the agent.
    pub fn model(&self) -> Result<&str, Error> {
        self.model_of(&self.config.agent)
    }

    /// The agents that can be asked for.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.catalog.agents.values()
    }

    /// The names of the providers that can be asked.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.providers.providers()
    }

    /// Who would get some work, and with which model. The same work is always assigned in the same way.
    pub fn assign(&self, work: &Work) -> Result<Assignment, Error> {
        let (agent, is_routed) = route::agent_for(work, &self.config, &self.home);
        Ok(Assignment { agent: agent.to_owned(), model: self.model_of(agent)?.to_owned(), is_routed })
    }

    /// Starts a conversation and returns its first run at once.
    pub async fn start(&self, work: Work) -> Result<Run, Error> {
        let Assignment { agent, model, .. } = &self.assign(&work)?;
        let settings = self.settings_of(agent)?;
        // Opened before anything is written, so that a wrong name or a missing key is not found by a failed run.
        self.check_model(model)?;
        if self.config.grant.cost_microusd.is_some() && self.providers.model(model)?.price.is_none() {
            tracing::warn!(
                "no price is known for {model}, so a limit on money does not hold it: set models.\"{model}\".price"
            );
        }
        let workspace = work.workspace.as_deref().unwrap_or(&self.cwd);
        let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
        loop {
            let root = self.root(agent, model, &settings, &workspace, work.output_schema.clone());
            // Before the run starts, so that the first words of its answer are among the updates.
            let updates = Updates::new(&self.runtime, root.id.clone());
            match self.runtime.start(Start { root, prompt: work.prompt.as_str().into() }).await {
                // Two runs may draw the same name on the same day.
                Err(runtime::Error::Taken(_)) => {}
                other => return Ok(Run::started(&self.runtime, updates, other?)),
            }
        }
    }

    /// Runs to the report.
    pub async fn run(&self, work: Work) -> Result<Report, Error> {
        self.start(work).await?.report().await
    }

    /// The conversation that a thread belongs to. Nothing is read or started by this.
    pub fn session(&self, thread: &ThreadId) -> Session {
        Session::new(self.clone(), thread.root())
    }

    /// The runtime: its store, its clock, and how to leave.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The configuration that holds.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether a model can be asked from here.
    pub(crate) fn check_model(&self, model: &str) -> Result<(), Error> {
        drop(self.providers.open(model)?);
        Ok(())
    }

    fn model_of(&self, agent: &str) -> Result<&str, Error> {
        let agent = self.catalog.agent(agent).ok_or_else(|| {
            let known = self.catalog.agent_names();
            Error::Agent(format!("there is no agent '{agent}'; there are: {known}"))
        })?;
        Ok(self.config.model_for(agent.model.as_deref())?)
    }

    /// What holds for a root that an agent plays.
    fn settings_of(&self, agent: &str) -> Result<RootSettings, Error> {
        let config = &self.config;
        if agent == config.agent {
            let (policy, preset, grant) = (config.policy.clone(), config.preset.clone(), config.grant.clone());
            return Ok(RootSettings { policy, preset, grant });
        }
        // An agent is also found by a name that is written in another way.
        let preset = self.catalog.agent(agent).and_then(|agent| self.presets.get(&agent.name));
        Ok(config.for_agent(agent, preset.map(String::as_str))?)
    }

    fn root(
        &self,
        agent: &str,
        model: &str,
        settings: &RootSettings,
        workspace: &Path,
        output_schema: Option<Json>,
    ) -> Root {
        let config = &self.config;
        let now = jiff::Timestamp::from_millisecond(self.runtime.clock().now().0).unwrap_or_default();
        let today = self.home.today().unwrap_or_else(|| now.to_zoned(jiff::tz::TimeZone::system()).date());
        let day = now.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%d").to_string();
        Root {
            id: ThreadId::new(format!("{day}-{}", runtime::short_name())),
            agent: agent.into(),
            model: model.into(),
            mode: config.mode,
            policy: Arc::new(settings.policy.clone()),
            preset: settings.preset.as_str().into(),
            grant: settings.grant.clone(),
            workspace: workspace.display().to_string().into(),
            today: today.to_string().into(),
            household: self.home.name(),
            output_schema,
        }
    }
}

/// Where the store of a configuration is.
pub fn location(config: &Config) -> Location {
    Location::folder(&config.data)
}

/// The store of a configuration, without the rest of the staff: for those who only look.
pub fn open_store(config: &Config) -> Result<Arc<dyn Store>, Error> {
    open_at(&location(config), config)
}

fn open_at(location: &Location, config: &Config) -> Result<Arc<dyn Store>, Error> {
    let durability = match config.durability {
        Durability::Full => store::Durability::Full,
        Durability::Normal => store::Durability::Normal,
    };
    let options = store::Options { durability, ..store::Options::default() };
    store::open(location, &options).map_err(|source| Error::Store { location: location.clone(), source })
}

/// What facts are gathered from and all tools, without the rest of the staff: to explain a decision.
pub fn open_facts(
    surroundings: &Surroundings,
    config: &Config,
    tools: Registry,
) -> Result<(Gatherer, Arc<Registry>), Error> {
    let home = Home::open(config, true, None)?;
    let (tools, providers) = (CurrentTools::new(home.tools(tools))?.snapshot(), providers(config, &home)?);
    let catalog = Arc::new(catalog(surroundings, config, &tools).0);
    let sources = Standing { rulebook: Rulebook::open(surroundings, &config.data, None)?, home };
    Ok((Gatherer::new(catalog, Consent::Nobody, providers, Arc::new(sources)), tools))
}

/// The rules in force and the person's preferences.
struct Standing {
    rulebook: Rulebook,
    home: Home,
}

impl Sources for Standing {
    fn rules(&self) -> Arc<[Rule]> {
        self.rulebook.rules()
    }

    fn preferences(&self, agent: &str) -> Vec<Preference> {
        self.home.preferences(agent)
    }
}

fn providers(config: &Config, home: &Home) -> Result<Providers, Error> {
    let models = ModelTable::builtin().with(config.models.clone());
    let providers = Providers::new(config.providers.clone(), models, provider::Options::default())?;
    Ok(home.providers(providers))
}

/// The tools and agents, and the presets that the files of agents name.
fn catalog(surroundings: &Surroundings, config: &Config, tools: &Registry) -> (Catalog, BTreeMap<Arc<str>, String>) {
    let infos = tools.infos();
    let names: Vec<&str> = infos.keys().map(AsRef::as_ref).chain(VERBS).chain(TOOLS).collect();
    let found = Agents::load(surroundings, &config.project, &names);
    for notice in found.warnings.iter().chain(&found.broken) {
        tracing::warn!("{notice}");
    }
    let preset = |found: &Found| Some((found.agent.name.clone(), found.preset.clone()?));
    let presets = found.found.iter().filter_map(preset).collect();
    let agents: BTreeMap<Arc<str>, Agent> =
        found.found.into_iter().map(|found| (found.agent.name.clone(), found.agent)).collect();
    let version = tools.digest().clone();
    (Catalog { tools: infos, reserved: TOOLS.map(Arc::from).into(), agents, version }, presets)
}
