//! Gathers what the rules need to know of the world before an input is decided.
//!
//! Looking may block: an assessment may ask git for seconds, preferences are read from the household's index. So it happens on
//! threads that may block, the calls of one answer side by side, and no decision waits inside the rules. What takes a moment is
//! done at once: to look whether the files of the rules have changed, and to look up the few names that a call speaks of,
//! where the workspace is on a disk of this machine. An input for which nothing is needed costs nothing here.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use agent::delegation::Preference;
use agent::permission::Rule;
use agent::tools::{Assessment, ToolInfo};
use agent::{Catalog, Consent, Facts, InputId, Json, Needs, Thread, ThreadId};
use futures_util::future::{BoxFuture, join_all};
use provider::Providers;
use tokio::sync::Semaphore;
use tool::Registry;

use crate::hooks::{HookMoment, HookOutcome};
use crate::runtime::lock;
use crate::schema;

/// How many threads look at the same time, for the whole process.
const LOOKING: usize = 32;

/// The most calls of one answer that are assessed at once.
const AT_ONCE: usize = 16;

/// Where the rules in force and a person's preferences are read.
pub trait Sources: Send + Sync {
    /// The rules in force at this moment. Asked for every answer with calls, by a thread that should not block for long: it looks
    /// whether a few files have changed, and reads one again that has.
    fn rules(&self) -> Arc<[Rule]>;

    /// What a person prefers, as far as it matters to an agent. May block.
    fn preferences(&self, agent: &str) -> Vec<Preference>;

    /// Whether a person's consent can be had for the run of a thread, though in general it cannot. The run began with this message; none
    /// where it began with a brief, or none goes on. Must not block.
    fn can_ask(&self, thread: &ThreadId, message: Option<&InputId>) -> bool {
        let _ = (thread, message);
        false
    }

    /// Whether hooks hear of the end of a run before it ends: of roots, and of sub-agents. Asked once.
    fn stop_hooks(&self) -> StopHooks {
        StopHooks::default()
    }

    /// Runs the hooks for a moment; none where there are none. Dropping the future ends them.
    fn hooks(&self, moment: HookMoment) -> Option<BoxFuture<'static, HookOutcome>> {
        let _ = moment;
        None
    }
}

/// Which threads have hooks that hear of the end of a run before it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StopHooks {
    /// Roots.
    pub roots: bool,
    /// Sub-agents.
    pub sub_agents: bool,
}

/// No rules and no preferences.
impl Sources for () {
    fn rules(&self) -> Arc<[Rule]> {
        [].into()
    }

    fn preferences(&self, _agent: &str) -> Vec<Preference> {
        Vec::new()
    }
}

/// What facts are gathered from. Cheap to clone.
#[derive(Clone)]
pub struct Gatherer {
    /// What is known without looking, with the tools of the registry of this version.
    known: Arc<Mutex<(u64, Arc<Facts>)>>,
    providers: Providers,
    sources: Arc<dyn Sources>,
    stop_hooks: StopHooks,
    looking: Arc<Semaphore>,
    /// By workspace: whether it is on a disk of this machine.
    local: Arc<Mutex<HashMap<Arc<str>, bool>>>,
}

impl Gatherer {
    /// A gatherer of facts for one process. The tools of the catalogue are those of the registry in force.
    pub fn new(catalog: Arc<Catalog>, consent: Consent, providers: Providers, sources: Arc<dyn Sources>) -> Self {
        let known = Arc::new(Mutex::new((0, Arc::new(Facts::new(catalog, consent)))));
        let stop_hooks = sources.stop_hooks();
        Self {
            known,
            providers,
            sources,
            stop_hooks,
            looking: Arc::new(Semaphore::new(LOOKING)),
            local: Arc::default(),
        }
    }

    /// What is known without looking: the catalogue with these tools, and whether a person can be asked.
    pub fn known(&self, tools: &Registry) -> Arc<Facts> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != tools.version() {
            let catalog = Catalog {
                tools: tools.infos(),
                deferred: tools.deferred(),
                servers: tools.servers(),
                foreign: tools.foreign(),
                version: tools.digest().clone(),
                ..(*known.1.catalog).clone()
            };
            *known = (tools.version(), Arc::new(Facts::new(Arc::new(catalog), known.1.consent)));
        }
        known.1.clone()
    }

    /// The same for one thread: for its run a person may be asked, though in general none is.
    pub fn known_for(&self, thread: &Thread, tools: &Registry) -> Arc<Facts> {
        let known = self.known(tools);
        let message = thread.run.as_ref().and_then(|run| run.asked.as_ref());
        let thread = thread.id();
        let can_ask = known.consent == Consent::Nobody && self.sources.can_ask(thread, message);
        let stop_hooks = if thread.is_root() { self.stop_hooks.roots } else { self.stop_hooks.sub_agents };
        if !can_ask && !stop_hooks {
            return known;
        }
        let consent = if can_ask { Consent::Asked } else { known.consent };
        let mut known = Facts::new(known.catalog.clone(), consent);
        known.stop_hooks = stop_hooks;
        Arc::new(known)
    }

    /// Adds to what is known what a thread needs, in its workspace. Calls are assessed by `tools`.
    pub async fn gather(&self, known: &Arc<Facts>, tools: &Arc<Registry>, workspace: &Arc<str>, needs: Needs) -> Facts {
        let mut facts = (**known).clone();
        for name in &needs.models {
            self.providers.learn(name).await;
            let model = self.providers.model(name).map_err(|error| error.to_string().into());
            facts.models.insert(name.clone(), model);
        }
        for schema in &needs.schemas {
            if let Err(error) = schema::check(schema) {
                facts.bad_schemas.insert(schema.text().into(), error.to_string().into());
            }
        }
        if !needs.rules && needs.calls.is_empty() && needs.preferences.is_empty() {
            return facts;
        }
        if self.takes_a_moment(tools, workspace, &needs).await {
            facts.rules = needs.rules.then(|| self.sources.rules());
            for (tool, input) in &needs.calls {
                if let Some(info) = known.catalog.tools.get(tool) {
                    facts.assessed(tool, input, tools.assess(workspace, info, input));
                }
            }
            return facts;
        }
        let mut calls = needs.calls.into_iter().map(|(tool, input)| Call { tool, input });
        // The first call is assessed by the thread that reads the rest, for most answers have one call.
        let (first, sources) = (calls.next(), self.sources.clone());
        let (rules, preferences) = (needs.rules, needs.preferences);
        let assessor = || Assessor { known: known.clone(), tools: tools.clone(), workspace: workspace.clone() };
        let mine = assessor();
        let rest = self.blocking(move || {
            let rules = rules.then(|| sources.rules());
            let preferred = |agent: Arc<str>| (sources.preferences(&agent), agent);
            let preferences: Vec<_> = preferences.into_iter().map(preferred).collect();
            (rules, preferences, first.map(|call| mine.assess(call)))
        });
        let others = join_all(calls.map(|call| {
            let mine = assessor();
            self.blocking(move || mine.assess(call))
        }));
        let ((rules, preferences, first), others) = futures_util::join!(rest, others);
        facts.rules = rules;
        facts.preferences = preferences.into_iter().map(|(preferences, agent)| (agent, preferences)).collect();
        for (call, assessment) in first.into_iter().chain(others).flatten() {
            facts.assessed(&call.tool, &call.input, assessment);
        }
        facts
    }

    /// Whether everything that is needed can be looked up without blocking for long.
    async fn takes_a_moment(&self, tools: &Arc<Registry>, workspace: &Arc<str>, needs: &Needs) -> bool {
        let few = needs.preferences.is_empty() && needs.calls.len() <= AT_ONCE;
        few && needs.calls.iter().all(|(tool, _)| tools.assesses_at_once(tool))
            && (needs.calls.is_empty() || self.is_local(workspace).await)
    }

    async fn is_local(&self, workspace: &Arc<str>) -> bool {
        if let Some(is_local) = lock(&self.local).get(workspace) {
            return *is_local;
        }
        let asked = workspace.clone();
        let is_local = self.blocking(move || tool::is_local(Path::new(&*asked))).await;
        lock(&self.local).insert(workspace.clone(), is_local);
        is_local
    }

    /// Runs the hooks for a moment; none where there are none.
    pub(crate) fn hooks(&self, moment: HookMoment) -> Option<BoxFuture<'static, HookOutcome>> {
        self.sources.hooks(moment)
    }

    /// The rules in force at this moment.
    pub fn rules(&self) -> Arc<[Rule]> {
        self.sources.rules()
    }

    /// What a call is and leads to at this moment, as `tools` assess it.
    pub async fn digest(&self, tools: Arc<Registry>, workspace: String, tool: ToolInfo, input: Json) -> Arc<str> {
        self.assess(tools, workspace, tool, input).await.digest
    }

    /// What a call would do at this moment, as `tools` assess it.
    pub async fn assess(&self, tools: Arc<Registry>, workspace: String, tool: ToolInfo, input: Json) -> Assessment {
        self.blocking(move || tools.assess(&workspace, &tool, &input)).await
    }

    /// Does something on a thread that may block. A panic there is a panic here.
    async fn blocking<T: Send + 'static>(&self, look: impl FnOnce() -> T + Send + 'static) -> T {
        let _permit = self.looking.acquire().await.expect("the semaphore is never closed");
        match tokio::task::spawn_blocking(look).await {
            Ok(found) => found,
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The process is going away, and with it whatever waits here.
                Err(_) => std::future::pending().await,
            },
        }
    }
}

/// What calls of one thread are assessed with.
struct Assessor {
    known: Arc<Facts>,
    tools: Arc<Registry>,
    workspace: Arc<str>,
}

impl Assessor {
    fn assess(&self, call: Call) -> Option<(Call, Assessment)> {
        let tool = self.known.catalog.tools.get(&call.tool)?;
        let assessment = self.tools.assess(&self.workspace, tool, &call.input);
        Some((call, assessment))
    }
}

struct Call {
    tool: Arc<str>,
    input: Json,
}
