//! The tools and agents that this process has: data that does not change while one input is decided.
//!
//! It is not in the log: what was decided with its help is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::context;
use crate::event::ThreadCreated;
use crate::policy::VERBS;
use crate::role::{Agent, Role};
use crate::tools::ToolInfo;

/// The tools and agents of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Tools by name, verbs excluded.
    pub tools: BTreeMap<Arc<str>, ToolInfo>,
    /// Tools that only an agent which names them has: for all others they would only be longer prompts.
    pub reserved: BTreeSet<Arc<str>>,
    /// Agents by name.
    pub agents: BTreeMap<Arc<str>, Agent>,
}

impl Catalog {
    /// A tool by name, or a verb as it is advertised to this thread.
    pub fn tool(&self, name: &str, thread: &ThreadCreated) -> Option<ToolInfo> {
        self.tools.get(name).cloned().or_else(|| context::verb(name, &thread.policy, &thread.role, self))
    }

    /// Whether a name is that of a verb, and no tool has the same name.
    pub fn is_verb(&self, name: &str) -> bool {
        VERBS.contains(&name) && !self.tools.contains_key(name)
    }

    /// An agent by name, ignoring case and the difference between `-`, `_` and space.
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        let plain = |name: &str| name.to_lowercase().replace(['-', ' '], "_");
        let wanted = plain(name);
        self.agents.get(name).or_else(|| self.agents.values().find(|agent| plain(&agent.name) == wanted))
    }

    /// The agents that a thread with this role can usefully start: those that could be given a tool to work with.
    pub fn offered<'a>(&'a self, role: &'a Role) -> impl Iterator<Item = &'a Agent> {
        self.agents.values().filter(|agent| agent.can_work(|tool| role.can_give(tool)))
    }

    /// The names of all agents, for an error that names the right ones.
    pub fn agent_names(&self) -> String {
        self.agents.keys().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
    }
}
