//! What is measured: a runtime with one agent, one tool that answers at once, one model, and limits that are never reached.

use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use majordomo::agent::budget::Grant;
use majordomo::agent::creation::Root;
use majordomo::agent::model::Model;
use majordomo::agent::policy::Policy;
use majordomo::agent::role::Agent;
use majordomo::agent::tools::{Assessment, Reach, Risk, ToolInfo, ToolResult};
use majordomo::agent::{Catalog, Consent, Facts, Json, Mode, ThreadId};
use majordomo::agent::{Input, Thread, Time};
use majordomo::provider::{
    self, ModelEntry, ModelTable, Pace, ProviderConfig, Providers, Timeouts, Wire, builtin_providers,
};
use majordomo::runtime::{self, Runtime, Said, Start};
use majordomo::store::{self, Durability, Location, Store};
use majordomo::tool::{CurrentTools, Registry, Tool, ToolContext};

use crate::Keep;
use crate::answer;

/// Requests that are under way at once, by Majordomo and by the bare client alike.
pub const REQUESTS: usize = 1024;

const MODEL: &str = "bench/model";

const PROMPT: &str = "You are a careful member of a large household. You are given one task at a time, you look at what you \
                      were told to look at, and you say what you saw in a few plain sentences. You never guess: what you \
                      did not see, you leave out, and what you could not do, you name.";

/// A runtime with the benchmark's tool and agent, and the providers that it speaks with.
pub async fn open(server: &str, store: Arc<dyn Store>) -> anyhow::Result<(Runtime, Providers)> {
    let local = builtin_providers().iter().find(|known| !known.needs_key).expect("one needs no key");
    let provider = ProviderConfig {
        name: "bench".to_owned(),
        wire: Wire::OpenAi,
        base_url: format!("{server}/v1"),
        timeouts: Timeouts::default(),
        ..local.config(None)
    };
    let pace = Pace { start: REQUESTS, max: REQUESTS };
    let Model { context_tokens, max_output_tokens, .. } = model();
    let figures = ModelEntry {
        context_tokens: Some(context_tokens),
        max_output_tokens: Some(max_output_tokens),
        ..ModelEntry::default()
    };
    let models = ModelTable::default().with([(MODEL.to_owned(), figures)].into());
    let providers = Providers::new(vec![provider], models, provider::Options { pace })?;
    let options = runtime::Options {
        store,
        providers: providers.clone(),
        tools: CurrentTools::new(Registry::new().with(Look(look())))?,
        catalog: Arc::new(catalog()),
        consent: Consent::Nobody,
        sources: Arc::new(()),
        data: None,
    };
    Ok((Runtime::begin(options).await?, providers))
}

/// What the rules may look up.
pub fn catalog() -> Catalog {
    let agent = Agent {
        name: "general".into(),
        description: "Looks after anything.".into(),
        prompt: PROMPT.into(),
        model: None,
        tools: None,
        lends: Vec::new(),
        requires: Vec::new(),
        mcp_servers: None,
        mode: None,
        effort: None,
    };
    Catalog {
        tools: [(answer::TOOL.into(), look())].into(),
        agents: [(agent.name.clone(), agent)].into(),
        ..Catalog::default()
    }
}

/// What ten thousand sub-agents say together is longer than any real context window.
pub fn model() -> Model {
    Model {
        name: MODEL.into(),
        context_tokens: 1 << 30,
        max_output_tokens: 4096,
        price: None,
        patience: Default::default(),
        effort: None,
    }
}

/// What a thread needs to know for an input: there are no rules, and the tool does what it declares.
pub fn facts(catalog: &Arc<Catalog>, thread: &Thread, input: &Input, at: Time) -> Facts {
    let mut facts = Facts::new(catalog.clone(), Consent::Nobody);
    let needs = thread.needs(&facts, input, at);
    facts.rules = needs.rules.then(|| [].into());
    for (tool, input) in needs.calls {
        facts.assessed(&tool, &input, Assessment::of(&look(), &input));
    }
    facts
}

/// A store that remembers as well as is asked.
pub fn store(keep: Keep, folder: &Path) -> anyhow::Result<Arc<dyn Store>> {
    let (location, durability) = match keep {
        Keep::Memory => (Location::Memory, Durability::Normal),
        Keep::Normal => (Location::folder(folder), Durability::Normal),
        Keep::Full => (Location::folder(folder), Durability::Full),
    };
    Ok(store::open(&location, &store::Options { durability, ..store::Options::default() })?)
}

/// A root with room for so many sub-agents.
pub fn root(id: ThreadId, children: usize) -> Root {
    let most = u32::try_from(children).unwrap_or(u32::MAX);
    let policy = Policy {
        max_depth: 1,
        max_children: most,
        max_concurrent: most,
        max_subtasks: most,
        max_calls_per_answer: most,
        ..Policy::default()
    };
    Root {
        id,
        agent: "general".into(),
        model: MODEL.into(),
        mode: Mode::Auto,
        policy: Arc::new(policy),
        preset: "default".into(),
        grant: Grant::default(),
        workspace: std::env::temp_dir().display().to_string().into(),
        today: "2026-01-15".into(),
        household: None,
        place: Default::default(),
        notice: None,
        instructions: None,
    }
}

/// The work of a root with so many sub-agents.
pub fn work(id: ThreadId, children: usize) -> Start {
    Start { root: root(id, children), said: Said::new(answer::prompt(children)) }
}

fn look() -> ToolInfo {
    ToolInfo {
        name: answer::TOOL.into(),
        description: "Says what stands in a place.".into(),
        schema: Json::parse(r#"{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}"#)
            .expect("the tool's schema is JSON"),
        reach: Reach::ReadOnly,
        idempotent: true,
        risk: Risk::Low,
    }
}

/// A tool that answers at once.
struct Look(ToolInfo);

impl Tool for Look {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn run<'a>(&'a self, _input: &'a Json, _bench: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        async { ToolResult::ok("Twelve books, a lamp, and a bowl with three apples in it.") }.boxed()
    }
}
