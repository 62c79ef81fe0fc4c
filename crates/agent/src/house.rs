//! What the rules may look up while they decide: the tools, agents and models that this process has.
//!
//! It is not in the log: what was decided with its help is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::context;
use crate::delegation::Preference;
use crate::event::ThreadCreated;
use crate::json::Json;
use crate::model::Model;
use crate::permission::Rule;
use crate::policy::VERBS;
use crate::role::{Agent, Role};
use crate::tools::{Assessment, ToolInfo};

/// Finds a model's figures by name, or says why there is none.
pub type Models = dyn Fn(&str) -> Result<Model, String> + Send + Sync;

/// Says what a call of a tool would do, in the workspace that is named first.
pub type Assess = dyn Fn(&str, &ToolInfo, &Json) -> Assessment + Send + Sync;

/// The rules as they stand.
pub type Rules = dyn Fn() -> Arc<[Rule]> + Send + Sync;

/// What is known of a person's preferences that an agent should heed.
pub type Preferences = dyn Fn(&str) -> Vec<Preference> + Send + Sync;

/// Whether a person's consent can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Whoever is asked will decide, sooner or later.
    Asked,
    /// Nobody is there: a question is answered at once, by refusing.
    Nobody,
}

/// The tools, agents and models of a process.
pub struct House {
    /// Tools by name, verbs excluded.
    pub tools: BTreeMap<Arc<str>, ToolInfo>,
    /// Tools that only an agent which names them has: to all others they would be so many words.
    pub reserved: BTreeSet<Arc<str>>,
    /// Agents by name.
    pub agents: BTreeMap<Arc<str>, Agent>,
    /// Finds a model's figures by `provider/model`, or says in a sentence why there is none. Pure.
    pub models: Box<Models>,
    /// Says what a call would do.
    pub assess: Box<Assess>,
    /// The rules as they stand at this moment.
    pub rules: Box<Rules>,
    /// The preferences that an agent should heed.
    pub preferences: Box<Preferences>,
    /// Whether a person's consent can be had.
    pub consent: Consent,
}

impl House {
    /// A house with these tools, agents and models, which knows of a call what its tool declares, keeps no tool back, has no rules,
    /// no preferences, and nobody to ask.
    pub fn new(
        tools: BTreeMap<Arc<str>, ToolInfo>,
        agents: BTreeMap<Arc<str>, Agent>,
        models: impl Fn(&str) -> Result<Model, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            tools,
            reserved: BTreeSet::new(),
            agents,
            models: Box::new(models),
            assess: Box::new(|_, tool, input| Assessment::of(tool, input)),
            rules: Box::new(|| [].into()),
            preferences: Box::new(|_| Vec::new()),
            consent: Consent::Nobody,
        }
    }

    /// A tool by name, or a verb as it is advertised to this thread.
    pub fn tool(&self, name: &str, thread: &ThreadCreated) -> Option<ToolInfo> {
        self.tools.get(name).cloned().or_else(|| context::verb(name, &thread.policy, &thread.role, self))
    }

    /// Whether a name stands for a verb: what is no tool of this house.
    pub fn is_verb(&self, name: &str) -> bool {
        VERBS.contains(&name) && !self.tools.contains_key(name)
    }

    /// An agent by name, ignoring case and the difference between `-`, `_` and space.
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        let plain = |name: &str| name.to_lowercase().replace(['-', ' '], "_");
        let wanted = plain(name);
        self.agents.get(name).or_else(|| self.agents.values().find(|agent| plain(&agent.name) == wanted))
    }

    /// The agents that are worth offering to whoever plays `role`: those that could be given something to work with.
    pub fn offered<'a>(&'a self, role: &'a Role) -> impl Iterator<Item = &'a Agent> {
        self.agents.values().filter(|agent| agent.can_work(|tool| role.can_give(tool)))
    }

    /// The names of all agents, for an error that names the right ones.
    pub fn agent_names(&self) -> String {
        self.agents.keys().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
    }
}

impl std::fmt::Debug for House {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("House").field("tools", &self.tools.len()).field("agents", &self.agents.len()).finish()
    }
}
