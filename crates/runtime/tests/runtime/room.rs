//! What a test works with: a runtime, a store, a script, a workspace, and ways to look at the result.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agent::budget::Grant;
use agent::creation::Root;
use agent::policy::Policy;
use agent::role::Agent;
use agent::{Catalog, Consent, Event, Mode, Report, ThreadId};
use futures_util::StreamExt;
use majordomo_runtime::{Error, Options, RunHandle, Runtime, Said, Start};
use provider::{ModelTable, Providers, Resident};
use store::{Location, MemoryStore, Process, ProcessId, Record, Selection, Store, ThreadQuery};
use testkit::invariants::{LogChecker, family};
use tool::{CurrentTools, Registry};

/// Until a test gives up waiting for something that must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a room is made of. The script is read when a model is first asked.
pub struct Plan {
    pub store: Arc<dyn Store>,
    pub tools: Registry,
    pub policy: Policy,
    pub scenes: Vec<String>,
    /// A model that speaks in the place of the script.
    pub witness: Option<Arc<dyn Resident>>,
    pub providers: Providers,
    /// The name of its process, where it is not this one's.
    pub process: Option<&'static str>,
}

impl Plan {
    /// A room with this script, a memory of its own, and no tools.
    pub fn new(scenes: &[String]) -> Self {
        Self {
            store: Arc::new(MemoryStore::new()),
            tools: Registry::new(),
            policy: Policy::default(),
            scenes: scenes.to_vec(),
            witness: None,
            providers: Providers::new(Vec::new(), ModelTable::builtin(), provider::Options::default())
                .expect("providers"),
            process: None,
        }
    }

    /// With another memory.
    #[must_use]
    pub fn store(self, store: Arc<dyn Store>) -> Self {
        Self { store, ..self }
    }

    /// As a process of this name, beside others on the same memory.
    #[must_use]
    pub fn process(self, name: &'static str) -> Self {
        Self { process: Some(name), ..self }
    }

    /// With one more tool.
    #[must_use]
    pub fn tool(self, tool: impl tool::Tool + 'static) -> Self {
        Self { tools: self.tools.with(tool), ..self }
    }

    /// With a model of its own in the place of the script.
    #[must_use]
    pub fn witness(self, witness: Arc<dyn Resident>) -> Self {
        Self { witness: Some(witness), ..self }
    }

    /// With other rules.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Opens the room.
    pub async fn open(self) -> Room {
        let folder = tempfile::tempdir().expect("a passing folder");
        std::fs::write(folder.path().join("script.toml"), self.scenes.concat()).expect("a script");
        let runtime = begin(&self).await;
        Room { runtime, store: self.store.clone(), plan: self, folder }
    }
}

/// A runtime at work.
pub struct Room {
    pub runtime: Runtime,
    pub store: Arc<dyn Store>,
    plan: Plan,
    folder: tempfile::TempDir,
}

impl Room {
    /// How its providers are reached.
    pub fn providers(&self) -> &Providers {
        &self.plan.providers
    }

    /// Starts a run.
    pub async fn start(&self, prompt: &str) -> RunHandle {
        static ROOTS: AtomicU32 = AtomicU32::new(1);
        let number = ROOTS.fetch_add(1, Ordering::Relaxed);
        let root = Root {
            id: ThreadId::new(format!("20260115-r{number}")),
            agent: "general".into(),
            model: match &self.plan.witness {
                Some(_) => "builtin/witness".into(),
                None => format!("scripted/{}", self.folder.path().join("script.toml").display()).into(),
            },
            mode: Mode::Dangerous,
            policy: Arc::new(self.plan.policy.clone()),
            preset: "default".into(),
            grant: Grant::default(),
            workspace: self.folder.path().display().to_string().into(),
            today: "2026-01-15".into(),
            household: None,
            place: Default::default(),
            notice: None,
            instructions: None,
        };
        self.runtime.start(Start { root, said: Said::new(prompt) }).await.expect("a run starts")
    }

    /// Runs to the report.
    pub async fn run(&self, prompt: &str) -> (ThreadId, Report) {
        let handle = self.start(prompt).await;
        let root = handle.thread.clone();
        (root, report(handle).await)
    }

    /// The same room with a new runtime, as after a restart of the process; the old one has left.
    pub async fn again(&mut self) {
        self.runtime.leave().await;
        self.runtime = begin(&self.plan).await;
    }

    /// One more runtime over the same memory, as of another process.
    pub async fn beside(&self) -> Runtime {
        begin_as(Process { id: ProcessId::new("beside"), ..Process::current() }, &self.plan).await
    }

    /// Goes on with a run, once the driver that ran here before has exited.
    pub async fn resume(&self, root: &ThreadId) -> RunHandle {
        let resumed = async {
            loop {
                match self.runtime.resume(root).await {
                    Err(Error::Alive(_)) => tokio::time::sleep(Duration::from_millis(1)).await,
                    resumed => break resumed,
                }
            }
        };
        soon("the live_slot to be free", resumed).await.expect("it can be resumed")
    }

    /// Every event of a family.
    pub async fn log(&self, root: &ThreadId) -> Vec<Record> {
        store::read_all(&*self.store, Selection::tree(root)).await.expect("the log can be read")
    }

    /// The report of a thread, which it has once.
    pub async fn report_of(&self, thread: &ThreadId) -> Report {
        let log = self.log(&thread.root()).await;
        let reports = log.iter().filter(|record| record.thread == *thread).filter_map(|record| match &*record.event {
            Event::Reported(report) => Some((**report).clone()),
            _ => None,
        });
        let reports: Vec<Report> = reports.collect();
        assert_eq!(reports.len(), 1, "{thread} reports once: {reports:?}");
        reports.into_iter().next().expect("a report")
    }

    /// How many events of a thread are of this kind.
    pub async fn count(&self, thread: &ThreadId, kind: &str) -> usize {
        let log = self.log(&thread.root()).await;
        log.iter().filter(|record| record.thread == *thread && record.event.kind() == kind).count()
    }

    /// Waits until the log of a family holds something.
    pub async fn until_logged(&self, root: &ThreadId, what: &str, holds: impl Fn(&[Record]) -> bool) {
        let mut log = store::follow(&self.store, Selection::tree(root));
        let look = async {
            let mut seen = Vec::new();
            while !holds(&seen) {
                seen.extend(log.next().await.expect("the store is there").expect("the log can be read"));
            }
        };
        soon(what, look).await;
    }

    /// Holds the log of a family against the contents: whatever happened, every rule holds and nothing is under way.
    pub async fn assert_at_rest(&self, root: &ThreadId) {
        let mut checkers: BTreeMap<ThreadId, LogChecker> = BTreeMap::new();
        for record in self.log(root).await {
            let seen = match (&*record.event, checkers.get_mut(&record.thread)) {
                (Event::ThreadCreated(created), None) => {
                    checkers.insert(record.thread.clone(), LogChecker::new(created));
                    Ok(())
                }
                (event, Some(checker)) => checker.see(event),
                (event, None) => panic!("{} begins with {}", record.thread, event.kind()),
            };
            seen.unwrap_or_else(|broken| panic!("{} at {}: {broken}", record.thread, record.seq));
        }
        let checkers = checkers.iter().map(|(id, checker)| (id.clone(), checker)).collect();
        family(root, &checkers).unwrap_or_else(|broken| panic!("{broken}"));
        let query = ThreadQuery { root: Some(root.clone()), live_only: true, ..ThreadQuery::default() };
        assert_eq!(self.store.threads(query).await.expect("the threads can be read"), []);
    }

    /// The workspace.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// The report of a run, which comes.
pub async fn report(handle: RunHandle) -> Report {
    soon("the report", handle.report()).await.expect("the run is not left")
}

/// What must come before retry ends.
pub async fn soon<T>(what: &str, coming: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, coming).await {
        Ok(came) => came,
        Err(_) => panic!("waited in vain for {what}"),
    }
}

/// Both kinds of store; what the second one needs is kept beside it.
pub fn stores() -> [(Arc<dyn Store>, Option<tempfile::TempDir>); 2] {
    let folder = tempfile::tempdir().expect("a passing folder");
    let on_disk = store::open(&Location::folder(folder.path()), &store::Options::default()).expect("a store");
    [(Arc::new(MemoryStore::new()), None), (on_disk, Some(folder))]
}

async fn begin(plan: &Plan) -> Runtime {
    let current = Process::current();
    let process = match plan.process {
        Some(name) => Process { id: ProcessId::new(name), ..current },
        None => current,
    };
    begin_as(process, plan).await
}

async fn begin_as(process: Process, plan: &Plan) -> Runtime {
    let providers = match &plan.witness {
        Some(witness) => plan.providers.clone().with_resident("builtin/witness", witness.clone()),
        None => plan.providers.clone(),
    };
    let general = Agent {
        name: "general".into(),
        description: "Does anything.".into(),
        prompt: "You work.".into(),
        model: None,
        tools: None,
        lends: Vec::new(),
        requires: Vec::new(),
        mcp_servers: None,
        mode: None,
        effort: None,
    };
    let agents = BTreeMap::from([(general.name.clone(), general)]);
    let catalog = Catalog { tools: plan.tools.infos(), agents, ..Catalog::default() };
    let options = Options {
        store: plan.store.clone(),
        providers,
        tools: CurrentTools::new(plan.tools.clone()).expect("each tool has its own name"),
        catalog: Arc::new(catalog),
        consent: Consent::Nobody,
        sources: Arc::new(()),
        data: None,
    };
    Runtime::begin_as(process, options).await.expect("a runtime begins")
}
