//! Agents to work with: store, providers, tools and runtime, put together from a configuration.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agent::creation::{Errand, Root, errand};
use agent::delegation::Preference;
use agent::event::{Place, ThreadCreated};
use agent::message::Attachment;
use agent::permission::Rule;
use agent::policy::VERBS;
use agent::report::Ended;
use agent::role::Agent;
use agent::{Catalog, InputId, Report, ThreadId};
use async_recursion::async_recursion as boxed;
use futures_util::future::BoxFuture;
use household::TOOLS;
use provider::{AttachedBytes, ModelTable, Providers};
use runtime::{Gatherer, HookMoment, HookOutcome, Registration, RunLimits, Runtime, Said, Sources, Start, StopHooks};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use store::{Current, Location, Process, Store};
use tool::{Artefacts, Collision, CommandHost, CurrentTools, Registry};

use crate::agents::{Agents, Found, HOUSEHOLD, Known};
use crate::approvals::{Approvals, Approver};
use crate::builder::StaffBuilder;
use crate::config::{
    self, Config, Durability, Files, RootSettings, Route, SearchService, Surroundings, UnknownPrice, clause, likeness,
    nearest,
};
use crate::files::{self, Refusal};
use crate::follow::Updates;
use crate::home::Home;
use crate::hooks::Hooks;
use crate::limits::Limits;
use crate::model::Model;
use crate::models::Models;
use crate::route;
use crate::rules::{self, Rulebook};
use crate::run::Run;
use crate::servers::{Around, StaffServers};
use crate::session::Session;
use crate::tasks::tools::TaskTools;
use crate::tasks::{self, Staffing};
use crate::typed::Wanted;
use crate::work::{Beginning, Work};
use crate::{hooks, instructions, own, servers, skills, trust};

pub use agent::Consent;

/// What is decided besides the configuration. [`StaffBuilder`] fills it in for a program that embeds the library;
/// an interface that reads the configuration itself fills it in directly.
pub struct Options {
    /// The tools that agents can use.
    pub tools: Registry,
    /// How programs of servers of tools are run.
    pub command_host: CommandHost,
    /// Agents besides those in files. One takes the place of another of the same name.
    pub agents: Vec<Agent>,
    /// Rules besides those in files.
    pub rules: Vec<Rule>,
    /// Models besides those that are reached by a provider.
    pub models: Vec<Model>,
    /// Whether a person's consent can be had for what needs it. Where it can, a question waits in the log until a person
    /// decides it (`Lists::approvals`, `Outside::Decided`); where it cannot, it is refused at once.
    pub consent: Consent,
    /// Where everything is kept.
    pub store: Kept,
    /// The clock of the configured household; the system's where none is given. With another one, a copy of a household is looked at as it was on
    /// an earlier day. The sample household keeps its own.
    pub household_clock: Option<household::Now>,
}

/// Where a staff keeps everything.
#[derive(Clone, Debug)]
pub enum Kept {
    /// In the configured data folder.
    InFolder,
    /// In memory: it is gone with the staff.
    InMemory,
    /// In a store of the program's own.
    In(Arc<dyn Store>),
}

impl Default for Options {
    /// The standard tools, no person to ask, everything kept on disk. Commands have a guard and no sandbox.
    fn default() -> Self {
        Self {
            tools: Registry::standard(CommandHost::default()),
            command_host: CommandHost::default(),
            agents: Vec::new(),
            rules: Vec::new(),
            models: Vec::new(),
            consent: Consent::Nobody,
            store: Kept::InFolder,
            household_clock: None,
        }
    }
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

/// The thread of a task, as it is to be started.
#[derive(Clone, Debug)]
pub(crate) struct TaskThread {
    /// Its name: from [`Staff::fresh_id`] for a root, from [`Runtime::issue_child`] for a sub-agent of the task's creator. It is written down
    /// by the caller before, so that it is started once however often it is tried.
    pub(crate) id: ThreadId,
    /// The agent; none for the configured one.
    pub(crate) agent: Option<String>,
    /// `provider/model`; none for the agent's.
    pub(crate) model: Option<String>,
    /// What it is called on screens; none for the agent's name.
    pub(crate) name: Option<String>,
    /// What it reads first, word for word.
    pub(crate) prompt: String,
    /// The folder to work in; none for that of the staff.
    pub(crate) workspace: Option<PathBuf>,
    /// How much it may do without approval; a sub-agent never more than its parent.
    pub(crate) mode: Option<agent::Mode>,
    /// What it may spend at the most on its task; never more than what is configured.
    pub(crate) limits: RunLimits,
    /// The task, as its board names it.
    pub(crate) created_for: String,
    /// Tools that it has besides those of its agent.
    pub(crate) extra_tools: Vec<Arc<str>>,
    /// Whether who wrote the task had read untrusted text.
    pub(crate) foreign: bool,
}

/// What lies in the folders of the configured household, or of the sample one; none where no household is configured.
pub fn check_household(config: &Config) -> Result<Option<Vec<household::CheckedPart>>, Error> {
    Ok(Home::open(config, false, None, None)?.check())
}

/// The data folder of a staff that has none: nothing is there, and nobody can put anything there.
pub(crate) const NOWHERE: &str = "/dev/null/majordomo";

/// What keeps a staff from working. Each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A provider cannot be used.
    #[error(transparent)]
    Provider(#[from] provider::Error),
    /// No model was named, and none was found.
    #[error(
        "no model: name one with .model(\"provider/model\"), such as .model(\"anthropic/claude-sonnet-5-5\") or \
         .model(\"ollama/qwen3\"), or set ANTHROPIC_API_KEY or OPENAI_API_KEY"
    )]
    NoModel,
    /// There is a limit on money, and the price of the model is not known.
    #[error(
        "no price is known for {0}, so a limit on money (--max-cost, grant.cost) cannot hold it: set models.\"{0}\".price, or start \
         without the limit holding by grant.unknown_price = \"allow\" (--set grant.unknown_price=allow)"
    )]
    UnknownPrice(String),
    /// The store cannot be used.
    #[error("{location}: {source}")]
    Store {
        /// Where it lies.
        location: Box<Location>,
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
    /// A tool of the program cannot be used.
    #[error("tool '{name}': {why}")]
    Tool {
        /// Its name.
        name: Arc<str>,
        /// What is wrong with it.
        why: String,
    },
    /// There is no such agent, or it cannot be used.
    #[error("{0}")]
    Agent(String),
    /// A setting of the builder is wrong.
    #[error("{0}")]
    Setting(String),
    /// A limit is none.
    #[error("{0}")]
    Limit(Arc<str>),
    /// A file cannot be passed with a prompt.
    #[error(transparent)]
    File(Refusal),
    /// A message was not taken up.
    #[error("the message was not taken up: {0}")]
    Dropped(Arc<str>),
    /// A run ended in another way than with the answer that was asked for.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// An answer is no value of the type that was asked for, though it fits the type's schema.
    #[error("the answer is no {type_name}: {source}")]
    Answer {
        /// The type.
        type_name: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// A hook of the user refused the message.
    #[error("a hook refused the message: {0}")]
    Hook(Arc<str>),
    /// The staff was closed.
    #[error("this staff is closed: build another, which can resume the runs in its data folder")]
    Closed,
    /// Nothing was said in a conversation yet.
    #[error("nothing was said in this conversation yet: send a message first")]
    NotBegun,
    /// A later message asks for what is chosen with the first.
    #[error(
        "conversation {0} has begun: its agent, folder, mode and limits are chosen with its first message; \
         begin another by Staff::session, or leave them out"
    )]
    Begun(ThreadId),
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        Self::Runtime(error.into())
    }
}

/// Agents that can be given work. Cheap to clone; all clones are the same staff.
///
/// [`Staff::builder`] puts one together. [`run`](Self::run) waits for the report on one task, [`run_as`](Self::run_as) for a typed answer,
/// [`stream`](Self::stream) gives events and text while they come, [`session`](Self::session) is a conversation.
///
/// ```no_run
/// # async fn example() -> Result<(), majordomo::Error> {
/// use majordomo::Staff;
///
/// let staff = Staff::builder().model("anthropic/claude-sonnet-5-5").build().await?;
/// let report = staff.run("Name three rivers of France").await?;
/// println!("{}", report.answer()?);
/// staff.close().await;
/// # Ok(())
/// # }
/// ```
///
/// # When it ends
/// [`close`](Self::close) ends every task of the staff and waits for that: requests to models are closed, tools and the processes they
/// started are ended, approval handlers are dropped. A run that is not over gets no report; who waits for it gets an error. With a
/// data folder it stays as it is in the log, and [`Session::resume`] goes on with it, in this or another process; in memory it is gone.
///
/// When the last clone is dropped without `close`, together with the [`Session`]s and [`Run`]s that were made from it, the same is done in
/// the background.
#[derive(Clone)]
pub struct Staff(Arc<Inner>);

struct Inner {
    runtime: Runtime,
    config: Arc<Config>,
    catalog: Arc<Catalog>,
    /// The presets that the files of agents name, by agent.
    presets: BTreeMap<Arc<str>, String>,
    providers: Providers,
    home: Home,
    cwd: PathBuf,
    /// Commands that are run when something happens.
    hooks: Hooks,
    /// Whether a conversation was begun, which ends with the staff.
    has_begun: AtomicBool,
    /// Instructions that only root agents are shown.
    instructions: Option<Arc<str>>,
    /// Where images and documents are kept; none where nothing is kept.
    artefacts: Option<Artefacts>,
    /// Servers of tools, started with the first work.
    servers: Arc<StaffServers>,
    approvals: Arc<Approvals>,
    /// Whether the store was opened here and is closed here.
    owns_store: bool,
    /// Where the background work of a staff goes that is dropped.
    tasks: tokio::runtime::Handle,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.approvals.close();
        self.servers.begin_to_close();
        if self.runtime.is_leaving() {
            return;
        }
        self.runtime.begin_to_leave();
        let runtime = self.runtime.clone();
        self.tasks.spawn(async move { runtime.leave().await });
    }
}

impl Staff {
    /// Puts a staff together.
    pub fn builder() -> StaffBuilder {
        StaffBuilder::default()
    }

    /// Puts a staff together from a configuration that was read: for an interface. A program that embeds the library uses
    /// [`Staff::builder`].
    #[boxed]
    pub async fn open(surroundings: &Surroundings, config: Config, options: Options) -> Result<Self, Error> {
        Self::open_with(surroundings, config, options, None).await
    }

    pub(crate) async fn open_with(
        surroundings: &Surroundings,
        config: Config,
        options: Options,
        approver: Option<Approver>,
    ) -> Result<Self, Error> {
        own::keep(surroundings, &config);
        let store: Arc<dyn Store> = match &options.store {
            Kept::InMemory => open_at(&Location::Memory, &config)?,
            Kept::InFolder => open_store(&config)?,
            Kept::In(store) => store.clone(),
        };
        let mut process = Process::next();
        if let Some(machine) = store.machine() {
            process.host = machine.name;
        }
        let mut registration = Some(Registration::begin(process, store.clone()));
        let opened = Self::put_together(surroundings, config, options, approver, store, &mut registration).await;
        if let Some(unused) = registration {
            unused.withdraw().await;
        }
        opened
    }

    /// Reads what a staff consists of while its process is made known to the store.
    async fn put_together(
        surroundings: &Surroundings,
        config: Config,
        options: Options,
        approver: Option<Approver>,
        store: Arc<dyn Store>,
        registration: &mut Option<Registration>,
    ) -> Result<Self, Error> {
        let Options { tools, command_host, agents, rules, models, consent, store: kept, household_clock } = options;
        let in_memory = matches!(kept, Kept::InMemory);
        let owns_store = !matches!(kept, Kept::In(_));
        let home = Home::open(&config, in_memory, Some(&store), household_clock)?;
        let mut providers = providers(&config, &home)?;
        for model in &models {
            providers = model.install(providers)?;
        }
        let task_tools = Arc::new(TaskTools {
            store: store.clone(),
            surroundings: surroundings.clone(),
            staffing: OnceLock::new(),
            check_attempts: config.policy.check_attempts,
            max_wakes: config.tasks.max_wakes,
            max_depth: config.policy.max_depth,
        });
        let base = tasks::tools::register(home.tools(tools), &task_tools);
        let base = with_configured(base, surroundings, &config);
        let tools = CurrentTools::new(base.clone())?;
        let instructions = instructions::load(surroundings, &config).text;
        if in_memory {
            // It begins with what holds for the folder, and changes nothing there.
            for event in trust::events(&config)?.into_iter().chain(rules::events(&config)) {
                store.record(event, runtime::Clock::default().now()).await.map_err(runtime::Error::from)?;
            }
        } else {
            trust::take_over(&config)?;
        }
        let known_store = store.clone();
        let installation = tokio::spawn(async move { Current::open(&known_store).await });
        let (mut catalog, presets, of_agents) = catalog(surroundings, &config, &tools.snapshot(), agents);
        let instructions = instructions.filter(|text| !shown_to_all(&mut catalog, text, &config)).map(Arc::from);
        let catalog = Arc::new(catalog);
        // Set once; nothing else sets it.
        let _ = task_tools.staffing.set(Staffing::new(catalog.agents.keys().cloned(), providers.providers()));
        let data = (!in_memory && config.data != Path::new(NOWHERE)).then(|| config.data.clone());
        let own = [rules, of_agents].concat();
        // The task ends early only together with the process.
        let installation = installation.await.unwrap_or(Err(store::Error::Closed)).map_err(runtime::Error::from)?;
        let rulebook = Rulebook::with_own(surroundings, &config, Some(installation.clone()), own)?;
        let around = Around {
            host: command_host,
            workspace: &surroundings.cwd,
            data: data.as_deref(),
            rules: &rulebook.rules(),
        };
        let servers = StaffServers::new(config.servers.clone(), &around, base, installation);
        let servers = Arc::new(servers.map_err(Error::Setting)?);
        servers.publish_in(tools.clone());
        let consent = if approver.is_some() { Consent::Asked } else { consent };
        let approvals = Approvals::new(approver, consent);
        let (mut hooks, warnings) = hooks::load(surroundings, &config);
        warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        if let Some(data) = &data {
            hooks = hooks.with_transcripts(store.clone(), data);
        }
        let sources =
            Standing { rulebook, home: home.clone(), approvals: Some(approvals.clone()), hooks: hooks.clone() };
        let artefacts = data.as_deref().map(Artefacts::at);
        if let Some(artefacts) = artefacts.clone() {
            providers = providers.with_attached_bytes(AttachedBytes::new(move |digest| artefacts.read(digest)));
        }
        let runtime = runtime::Options {
            store,
            providers: providers.clone(),
            tools,
            catalog: catalog.clone(),
            consent,
            sources: Arc::new(sources),
            data,
        };
        let registration = registration.take().expect("a staff is registered once");
        let runtime = Runtime::begin_registered(registration, runtime).await?;
        Ok(Self(Arc::new(Inner {
            runtime,
            config: Arc::new(config),
            catalog,
            presets,
            providers,
            home,
            cwd: surroundings.cwd.clone(),
            hooks,
            has_begun: AtomicBool::new(false),
            instructions,
            artefacts,
            servers,
            approvals,
            owns_store,
            tasks: tokio::runtime::Handle::current(),
        })))
    }

    /// Gives one task to the staff and waits for the report: how it ended, what it says, what it used.
    /// [`Report::answer`] is the text of a run that completed, and else an error.
    pub async fn run(&self, work: impl Into<Work>) -> Result<Report, Error> {
        self.stream(work).await?.report().await
    }

    /// Gives one task to the staff and waits for an answer of a type. Its JSON Schema goes to the model, doc comments included; an
    /// answer that does not fit is asked for again, twice at most. A run that ends in any other way is an [`Error::Ended`], which holds
    /// the report.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), majordomo::Error> {
    /// use majordomo::{Model, Staff};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct City {
    ///     name: String,
    ///     country: String,
    /// }
    ///
    /// let model = Model::replies([r#"{"name": "Windsor", "country": "Canada"}"#]);
    /// let staff = Staff::builder().model(model).build().await?;
    /// let city: City = staff.run_as("Which city lies south of Detroit?").await?;
    /// assert_eq!(city.country, "Canada");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_as<T: DeserializeOwned + JsonSchema>(&self, work: impl Into<Work>) -> Result<T, Error> {
        let wanted = Wanted::of::<T>();
        let report = self.run(work.into().schema(wanted.schema.clone())).await?;
        wanted.read(report)
    }

    /// Gives one task to the staff and returns its [`Run`] at once: a stream of events and text that ends with the report.
    pub async fn stream(&self, work: impl Into<Work>) -> Result<Run, Error> {
        self.begin(work.into()).await
    }

    /// A new conversation. It begins with its first message; nothing is read or started by this.
    pub fn session(&self) -> Session {
        Session::new(self.clone())
    }

    /// The conversation that a thread belongs to. Nothing is read or started by this.
    pub fn session_of(&self, thread: &ThreadId) -> Session {
        Session::of(self.clone(), thread.root())
    }

    /// Runs the hooks for the end of a session, if a conversation was begun. [`close`](Self::close) does it, too.
    #[boxed]
    pub async fn end_sessions(&self) {
        if self.0.has_begun.swap(false, Ordering::Relaxed) {
            self.0.hooks.outside("SessionEnd", ("reason", "other"), &self.0.cwd).await;
        }
    }

    /// Ends every task of the staff, and waits until they have ended; see [above](Self#when-it-ends). The store is closed, too, unless the
    /// program brought its own.
    #[boxed]
    pub async fn close(&self) {
        self.end_sessions().await;
        self.0.approvals.close();
        self.0.runtime.leave().await;
        self.0.servers.close().await;
        if self.0.owns_store {
            self.store().close().await;
        }
    }

    /// The model of a root, where the prompt does not decide on the agent.
    pub fn model(&self) -> Result<&str, Error> {
        self.model_of(&self.0.config.agent)
    }

    /// The agents that can be asked for.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.0.catalog.agents.values()
    }

    /// Who can be given a task besides threads.
    pub fn staffing(&self) -> Staffing {
        Staffing::new(self.0.catalog.agents.keys().cloned(), self.providers())
    }

    /// The board of its folder.
    pub fn board(&self) -> board::BoardId {
        tasks::board_at(&self.0.config.project.root, self.store().machine().as_ref())
    }

    /// The names of the providers that can be asked.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.0.providers.providers()
    }

    /// The models of its providers.
    pub fn models(&self) -> Models {
        Models::of(self.0.providers.clone())
    }

    /// The end of a model that is near or over, as the rest of a sentence.
    pub fn near_end(&self, model: &str) -> Option<String> {
        self.models().near_end(model, self.now().to_zoned(jiff::tz::TimeZone::UTC).date())
    }

    /// Who would get some work, and with which model. The same work is always assigned in the same way.
    pub fn assign(&self, work: &Work) -> Result<Assignment, Error> {
        let (agent, is_routed) = route::agent_for(work, &self.0.config, &self.0.home);
        Ok(Assignment { agent: agent.to_owned(), model: self.model_of(agent)?.to_owned(), is_routed })
    }

    /// Whether an agent has only the rules engine, and none of the tools with which that answers from a household: it was not made for
    /// that, or its preset takes them away.
    pub fn needs_model(&self, assignment: &Assignment) -> Result<bool, Error> {
        let verbs = self.settings_of(&assignment.agent)?.policy.verbs;
        let has_delegate = verbs.iter().any(|verb| **verb == *"delegate");
        let is_offline =
            |tool: &Arc<str>| has_delegate && **tool == *"delegate" || self.0.catalog.reserved.contains(tool);
        let tools = self.0.catalog.agent(&assignment.agent).and_then(|agent| agent.tools.as_ref());
        Ok(assignment.model == "builtin/rules" && !tools.is_some_and(|tools| tools.iter().any(is_offline)))
    }

    /// The store: every conversation, with all its events.
    pub fn store(&self) -> &Arc<dyn Store> {
        self.0.runtime.store()
    }

    /// The configuration that holds.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// The runtime below, for an interface: its clock, and streamed text of every thread.
    pub fn runtime(&self) -> &Runtime {
        &self.0.runtime
    }

    pub(crate) fn approvals(&self) -> &Arc<Approvals> {
        &self.0.approvals
    }

    /// Starts a conversation with its first message.
    #[boxed]
    pub(crate) async fn begin(&self, work: Work) -> Result<Run, Error> {
        self.check_open()?;
        self.tools_ready().await;
        let Assignment { agent, model, .. } = &self.assign(&work)?;
        // Opened before anything is written, so that a wrong name or a missing key is not found by a failed run.
        self.check_model(model)?;
        let template = self.root(agent, model, &work.beginning)?;
        self.check_price(&template)?;
        let (prompt, attachments) = self.with_files(&work, model).await?;
        let (prompt, foreign) = self.with_mentions(&work, &prompt).await?;
        self.0.has_begun.store(true, Ordering::Relaxed);
        let begun = self.0.hooks.outside("SessionStart", ("source", "startup"), &self.0.cwd).await;
        let prompt = self.submitted(prompt, begun.told).await?;
        loop {
            let id = work.beginning.thread.clone().unwrap_or_else(|| self.fresh_id());
            let root = Root { id: id.clone(), ..template.clone() };
            // Before the run starts, so that the first words of its answer are among the updates.
            let updates = Updates::new(self.runtime(), id.clone());
            let first = InputId::new(runtime::FIRST_INPUT);
            self.0.approvals.begin(self.runtime(), &id, &first, work.approver.clone());
            let (text, output_schema) = (prompt.clone(), work.output_schema.clone());
            let said =
                Said { text, output_schema, attachments: attachments.clone(), unwatched: work.unwatched, foreign };
            match self.runtime().start(Start { root, said }).await {
                Ok(handle) => return Ok(Run::started(self, updates, handle)),
                Err(error) => {
                    self.0.approvals.end(&id, &first);
                    // Two runs may draw the same name on the same day.
                    let is_drawn = work.beginning.thread.is_none();
                    if !(is_drawn && matches!(error, runtime::Error::Taken(_))) {
                        return Err(error.into());
                    }
                }
            }
        }
    }

    /// A message as the hooks for messages let it pass, with what they add to it.
    pub(crate) async fn submitted(&self, prompt: Arc<str>, before: Option<Arc<str>>) -> Result<Arc<str>, Error> {
        let said = self.0.hooks.outside("UserPromptSubmit", ("prompt", &prompt), &self.0.cwd).await;
        if let Some(reason) = said.refused {
            return Err(Error::Hook(reason));
        }
        let told: Vec<Arc<str>> = before.into_iter().chain(said.told).collect();
        match told.is_empty() {
            true => Ok(prompt),
            false => Ok(format!("{prompt}\n\n[said by a hook of the user: {}]", told.join("\n")).into()),
        }
    }

    /// The words of some work with what it names of servers (`@server:uri`, `/server:prompt`), and whether that is anything. `words` are those
    /// of the work with its files.
    pub(crate) async fn with_mentions(&self, work: &Work, words: &Arc<str>) -> Result<(Arc<str>, bool), Error> {
        let expanded = self.0.servers.expanded(&work.prompt).await.map_err(Error::Setting)?;
        match expanded.foreign {
            false => Ok((words.clone(), false)),
            // Files were added behind the words.
            true => {
                let files = words.strip_prefix(work.prompt.as_str()).unwrap_or_default();
                Ok((format!("{}{files}", expanded.text).into(), true))
            }
        }
    }

    /// The words of some work with its files.
    pub(crate) async fn with_files(&self, work: &Work, model: &str) -> Result<(Arc<str>, Vec<Attachment>), Error> {
        if work.files.is_empty() {
            return Ok((work.prompt.as_str().into(), Vec::new()));
        }
        self.0.providers.learn(model).await;
        let entry = self.0.providers.entry(model)?;
        let artefacts = self.0.artefacts.clone();
        let (mut prompt, files, model) = (work.prompt.clone(), work.files.clone(), model.to_owned());
        // It is never closed.
        let _permit = files::READING.acquire().await;
        let added = tokio::task::spawn_blocking(move || {
            let attachments = files::add(&mut prompt, &files, artefacts.as_ref(), (&model, &entry))?;
            Ok::<_, Refusal>((prompt.into(), attachments))
        });
        let gone = |_| Err(Refusal::Unusable("the process is going away".to_owned()));
        added.await.unwrap_or_else(gone).map_err(Error::File)
    }

    /// Where images and documents that came with messages are kept; none without a data folder.
    pub fn artefacts(&self) -> Option<&Artefacts> {
        self.0.artefacts.as_ref()
    }

    /// The bytes of an image or a document that came with a message, by the id under which the log names it.
    #[boxed]
    pub async fn attached_bytes(&self, id: &str) -> Option<Vec<u8>> {
        let (artefacts, id) = (self.0.artefacts.clone()?, id.to_owned());
        tokio::task::spawn_blocking(move || artefacts.read(&id)).await.ok().flatten()
    }

    /// Starts the thread of a task, once: where the thread of that name exists, nothing is done.
    #[boxed]
    pub(crate) async fn start_for_task(&self, task: TaskThread) -> Result<ThreadId, Error> {
        self.check_open()?;
        self.tools_ready().await;
        let agent = task.agent.as_deref().unwrap_or(&self.0.config.agent);
        let model = match &task.model {
            Some(model) => model.clone(),
            None => self.model_of(agent)?.to_owned(),
        };
        self.check_model(&model)?;
        let beginning = Beginning {
            thread: Some(task.id.clone()),
            agent: task.agent.clone(),
            workspace: task.workspace.clone(),
            mode: task.mode,
            limits: Limits::new(),
        };
        let root = self.root(agent, &model, &beginning)?;
        let root = Root { grant: task.limits.narrow(&root.grant), ..root };
        self.check_price(&root)?;
        let parent = match task.id.parent() {
            Some(parent) => {
                let created = self.runtime().created(&parent).await?;
                // A person may have chosen another mode since.
                let mode = self.store().thread(&parent).await?.map_or(created.mode, |row| row.mode);
                Some(ThreadCreated { mode, ..created })
            }
            None => None,
        };
        let wanted = Errand {
            name: task.name.map(Into::into),
            prompt: task.prompt.into(),
            created_for: task.created_for.into(),
            tools: task.extra_tools,
            foreign: task.foreign,
        };
        let model = self.0.providers.model(&model)?;
        let tools = self.runtime().tools().snapshot();
        let catalog = Catalog {
            tools: tools.infos(),
            deferred: tools.deferred(),
            servers: tools.servers(),
            version: tools.digest().clone(),
            ..(*self.0.catalog).clone()
        };
        let created = errand(&catalog, root, model, parent.as_ref(), wanted).map_err(Error::Agent)?;
        self.runtime().begin_thread(created).await?;
        Ok(task.id)
    }

    /// Whether a limit on money holds the model of a root. The same of sub-agents is decided by the rules.
    fn check_price(&self, root: &Root) -> Result<(), Error> {
        let model = &root.model;
        if root.grant.cost_microusd.is_some() && !self.0.providers.model(model)?.has_known_cost() {
            match self.0.config.unknown_price {
                UnknownPrice::Refuse => return Err(Error::UnknownPrice(model.to_string())),
                UnknownPrice::Allow => tracing::warn!(
                    "no price is known for {model}, so a limit on money does not hold it: set models.\"{model}\".price"
                ),
            }
        }
        Ok(())
    }

    /// Starts the servers of tools, if that was not done, and waits until each has answered or failed. Called before work begins or goes
    /// on; without servers it costs nothing.
    #[boxed]
    pub(crate) async fn tools_ready(&self) {
        self.0.servers.ready().await;
    }

    /// Whether it was not closed.
    pub(crate) fn check_open(&self) -> Result<(), Error> {
        if self.runtime().is_leaving() { Err(Error::Closed) } else { Ok(()) }
    }

    /// Whether a model can be asked from here.
    pub(crate) fn check_model(&self, model: &str) -> Result<(), Error> {
        drop(self.0.providers.open(model)?);
        Ok(())
    }

    /// A model that can be asked from here, as an agent speaks with it.
    pub(crate) fn model_for(&self, agent: &str, model: &str) -> Result<agent::model::Model, Error> {
        self.check_model(model)?;
        let effort = self.0.catalog.agent(agent).and_then(|agent| agent.effort.clone());
        Ok(agent::model::Model { effort, ..self.0.providers.model(model)? })
    }

    fn model_of(&self, agent: &str) -> Result<&str, Error> {
        let agent = self.0.catalog.agent(agent).ok_or_else(|| {
            let names: Vec<&Arc<str>> = self.0.catalog.agents.keys().collect();
            let meant = clause(nearest(&names, |name| likeness(agent, name)));
            let known = self.0.catalog.agent_names();
            Error::Agent(format!("there is no agent '{agent}'{meant}; there are: {known}"))
        })?;
        Ok(self.0.config.model_for(agent.model.as_deref())?)
    }

    /// What holds for a root that an agent plays.
    fn settings_of(&self, agent: &str) -> Result<RootSettings, Error> {
        let config = &self.0.config;
        if agent == config.agent {
            let (policy, preset, grant) = (config.policy.clone(), config.preset.clone(), config.grant.clone());
            return Ok(RootSettings { policy, preset, grant });
        }
        // An agent is also found by a name that is written in another way.
        let preset = self.0.catalog.agent(agent).and_then(|agent| self.0.presets.get(&agent.name));
        Ok(config.for_agent(agent, preset.map(String::as_str))?)
    }

    fn root(&self, agent: &str, model: &str, beginning: &Beginning) -> Result<Root, Error> {
        let config = &self.0.config;
        let workspace = beginning.workspace.as_deref().unwrap_or(&self.0.cwd);
        let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
        let today = self.0.home.today().unwrap_or_else(|| self.now().to_zoned(crate::zone::local()).date());
        let RootSettings { mut policy, preset, mut grant } = self.settings_of(agent)?;
        beginning.limits.apply(&mut grant, &mut policy)?;
        policy.allow_unknown_price = config.unknown_price == UnknownPrice::Allow;
        Ok(Root {
            id: beginning.thread.clone().unwrap_or_else(|| self.fresh_id()),
            agent: agent.into(),
            model: model.into(),
            mode: beginning.mode.unwrap_or(config.mode),
            policy: Arc::new(policy),
            preset: preset.into(),
            grant,
            workspace: workspace.display().to_string().into(),
            today: today.to_string().into(),
            household: self.0.home.name(),
            notice: self.0.servers.notice(),
            instructions: self.0.instructions.clone(),
            place: self.place(),
        })
    }

    /// Where its roots work, where several machines share the store. What the folder brings along holds nowhere else.
    fn place(&self) -> Place {
        let machine = self.store().machine().and_then(|machine| machine.of_folders().cloned());
        let is_bound = machine.is_some() && self.0.config.project.standing != trust::Standing::Empty;
        Place { machine, is_bound }
    }

    /// The name of a root that is to be started: no thread has it, as far as chance tells.
    pub fn fresh_id(&self) -> ThreadId {
        self.id_named(&runtime::short_name())
    }

    /// The name of a root that begins today, with this part after the date.
    pub fn id_named(&self, name: &str) -> ThreadId {
        let day = self.now().to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%d").to_string();
        ThreadId::new(format!("{day}-{name}"))
    }

    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0.runtime.clock().now().0).unwrap_or_default()
    }
}

/// Where the store of a configuration is.
pub fn location(config: &Config) -> Location {
    config.store.clone()
}

/// The store of a configuration, without the rest of the staff: for those who only look.
pub fn open_store(config: &Config) -> Result<Arc<dyn Store>, Error> {
    open_at(&location(config), config)
}

/// The store at a place, opened as a configuration says.
pub fn open_at(location: &Location, config: &Config) -> Result<Arc<dyn Store>, Error> {
    if let Location::Postgres(_) = location {
        // A database does not make the folder for all else that is kept.
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&config.data);
        made.map_err(|error| Error::Store {
            location: Box::new(location.clone()),
            source: store::Error::Io(Arc::new(error)),
        })?;
    }
    let durability = match config.durability {
        Durability::Full => store::Durability::Full,
        Durability::Normal => store::Durability::Normal,
    };
    let options = store::Options { durability, ..store::Options::default() };
    store::open(location, &options).map_err(|source| Error::Store { location: Box::new(location.clone()), source })
}

/// The names of the tools that agents of a staff can be given, without opening one.
pub fn tool_names(surroundings: &Surroundings, config: &Config, tools: Registry) -> Vec<String> {
    with_configured(tools, surroundings, config).infos().into_keys().map(|name| name.to_string()).collect()
}

/// What is told of rules whose tool no agent can have here: such a rule decides nothing, and one that was meant to forbid forbids nothing. What
/// tools a server has is known only when it is asked, so that names which begin with that of a server are taken as they are.
pub fn rules_without_tool(surroundings: &Surroundings, config: &Config, tools: Registry) -> Vec<String> {
    if config.rules.is_empty() {
        return Vec::new();
    }
    let mut names = tool_names(surroundings, config, tools);
    let others = VERBS.into_iter().chain(TOOLS).chain(crate::tasks::tools::NAMES);
    let others =
        others.chain([web::FETCH, web::SEARCH, skills::TOOL, agent::tools::FIND_TOOLS, agent::tools::CALL_TOOL]);
    names.extend(others.map(str::to_owned));
    let is_unknown = |rule: &&Rule| {
        !rule.tool.contains(mcp::SEPARATOR) && !names.iter().any(|name| agent::permission::matches(&rule.tool, name))
    };
    let warning = |rule: &Rule| {
        let meant = nearest(&names, |name| likeness(&rule.tool, name));
        format!("no tool is named '{}', so that this rule decides nothing: {rule}{}", rule.tool, clause(meant))
    };
    config.rules.iter().filter(is_unknown).map(warning).collect()
}

/// These tools, with those that depend on the configuration and on the files of the user and of the project.
/// An embedded staff that reads no files has the tools that its program gave it, and no others.
fn with_configured(tools: Registry, surroundings: &Surroundings, config: &Config) -> Registry {
    if surroundings.files == Files::Ignored {
        return tools;
    }
    let tools = skills::register(tools, skills::load(surroundings, config));
    // A program that embeds the library may bring tools of the same names.
    let has = |name: &str| tools.get(name).is_some();
    let settings = web_settings(surroundings, config);
    let settings = web::Settings {
        fetch: settings.fetch && !has(web::FETCH),
        search: settings.search.filter(|_| !has(web::SEARCH)),
        ..settings
    };
    tools.join(web::tools(&settings))
}

fn web_settings(surroundings: &Surroundings, config: &Config) -> web::Settings {
    let config = &config.web;
    let (service, key) = match config.search {
        SearchService::None => (None, ""),
        SearchService::Searxng => (Some(web::Service::Searxng), ""),
        SearchService::Brave => (Some(web::Service::Brave), "BRAVE_API_KEY"),
        SearchService::Tavily => (Some(web::Service::Tavily), "TAVILY_API_KEY"),
    };
    let variable = config.search_key_env.as_deref().unwrap_or(key);
    let key = surroundings.variable(variable).map(str::to_owned);
    web::Settings {
        fetch: config.fetch,
        private_hosts: config.private_hosts.clone(),
        timeout: Duration::from_secs(config.timeout_s),
        max_bytes: config.max_bytes,
        search: service.map(|service| web::Search { service, url: config.search_url.clone(), key }),
        resolver: None,
    }
}

/// Adds instructions to the prompts of all agents but those of the household, if sub-agents are to be shown them; whether that was done.
fn shown_to_all(catalog: &mut Catalog, text: &str, config: &Config) -> bool {
    if config.instructions.sub_agents {
        let others = catalog.agents.values_mut().filter(|agent| !HOUSEHOLD.contains(&&*agent.name));
        others.for_each(|agent| agent.prompt = format!("{}{text}", agent.prompt.trim_end()).into());
    }
    config.instructions.sub_agents
}

/// What facts are gathered from, all tools and the hooks, without the rest of the staff: to explain a decision.
pub fn open_facts(
    surroundings: &Surroundings,
    config: &Config,
    tools: Registry,
) -> Result<(Gatherer, Arc<Registry>, Hooks), Error> {
    own::keep(surroundings, config);
    // Files that the commands of hooks and servers name are protected in a run, and so they are here.
    let (hooks, _) = hooks::load(surroundings, config);
    servers::protect_files(&config.servers, &surroundings.cwd);
    let home = Home::open(config, true, None, None)?;
    let tools = CurrentTools::new(with_configured(home.tools(tools), surroundings, config))?.snapshot();
    let providers = providers(config, &home)?;
    let (catalog, _, of_agents) = catalog(surroundings, config, &tools, Vec::new());
    let catalog = Arc::new(catalog);
    let rulebook = Rulebook::with_own(surroundings, config, None, of_agents)?;
    let sources = Standing { rulebook, home, approvals: None, hooks: Hooks::default() };
    Ok((Gatherer::new(catalog, Consent::Nobody, providers, Arc::new(sources)), tools, hooks))
}

/// The rules in force, the person's preferences and hooks, and which conversations the program decides about.
struct Standing {
    rulebook: Rulebook,
    home: Home,
    approvals: Option<Arc<Approvals>>,
    hooks: Hooks,
}

impl Sources for Standing {
    fn rules(&self) -> Arc<[Rule]> {
        self.rulebook.rules()
    }

    fn preferences(&self, agent: &str) -> Vec<Preference> {
        self.home.preferences(agent)
    }

    fn can_ask(&self, thread: &ThreadId, message: Option<&InputId>) -> bool {
        self.approvals.as_ref().is_some_and(|approvals| approvals.are_asked(thread, message))
    }

    fn stop_hooks(&self) -> StopHooks {
        self.hooks.stop_hooks()
    }

    fn hooks(&self, moment: HookMoment) -> Option<BoxFuture<'static, HookOutcome>> {
        self.hooks.at(&moment)
    }
}

fn providers(config: &Config, home: &Home) -> Result<Providers, Error> {
    let models = ModelTable::builtin().with(config.models.clone());
    let providers = Providers::new(config.providers.clone(), models, provider::Options::default())?;
    Ok(home.providers(providers))
}

/// The agent that gets what is not plainly about the household.
const GENERAL: &str = "general";

/// Lets an agent without tools of its own choice hand questions about the household to the agents that have its tools. It gets none of them itself.
fn lend_household(agent: &mut Agent) {
    if agent.tools.is_none() && agent.lends.is_empty() {
        agent.lends = TOOLS.map(Arc::from).to_vec();
        agent.prompt = format!("{}{LENT}", agent.prompt).into();
    }
}

const LENT: &str = "\n\nThe user's mail, calendars, notes and contacts: hand such a question to `triage` (mail), `scheduler` (calendars), `communicator` (drafts) \
    or `navigator` (notes, people, facts), only if the user asks for it, and say which agent answered.";

/// The tools and agents, the presets that the files of agents name, and what those files forbid their agents.
fn catalog(
    surroundings: &Surroundings,
    config: &Config,
    tools: &Registry,
    own: Vec<Agent>,
) -> (Catalog, BTreeMap<Arc<str>, String>, Vec<Rule>) {
    let infos = tools.infos();
    let names = infos.keys().map(AsRef::as_ref).chain(VERBS).chain(TOOLS);
    let found = Agents::load(surroundings, &config.project, &Known::new(names, config));
    for notice in found.told_at_start() {
        tracing::warn!("{notice}");
    }
    let rules = found.found.iter().flat_map(|found| found.rules.iter().cloned()).collect();
    let preset = |found: &Found| Some((found.agent.name.clone(), found.preset.clone()?));
    let mut presets: BTreeMap<Arc<str>, String> = found.found.iter().filter_map(preset).collect();
    let mut agents: BTreeMap<Arc<str>, Agent> =
        found.found.into_iter().map(|found| (found.agent.name.clone(), found.agent)).collect();
    // A program's own agent stands for itself, and not for the file of the same name.
    own.iter().for_each(|agent| drop(presets.remove(&agent.name)));
    agents.extend(own.into_iter().map(|agent| (agent.name.clone(), agent)));
    if config.household.as_ref().is_some_and(|household| household.route == Route::Auto) {
        agents.get_mut(GENERAL).into_iter().for_each(lend_household);
    }
    let version = tools.digest().clone();
    // The verbs for tasks are for those who work with tasks: others do not pay for them.
    let for_tasks = tasks::tools::NAMES.into_iter().filter(|_| !config.tasks.enabled);
    let reserved = TOOLS.into_iter().chain(for_tasks).map(Arc::from).collect();
    let (deferred, servers, foreign) = (tools.deferred(), tools.servers(), tools.foreign());
    let shown_spawn = Default::default();
    (Catalog { tools: infos, reserved, deferred, servers, foreign, agents, version, shown_spawn }, presets, rules)
}
