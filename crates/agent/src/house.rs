//! What the rules may look up while they decide: the tools, agents and models that this process has.
//!
//! It is not in the log: what was decided with its help is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::Model;
use crate::role::Agent;
use crate::tools::ToolInfo;

/// Finds a model's figures by name, or says why there is none.
pub type Models = dyn Fn(&str) -> Result<Model, String> + Send + Sync;

/// The tools, agents and models of a process.
pub struct House {
    /// Tools by name, verbs excluded.
    pub tools: BTreeMap<Arc<str>, ToolInfo>,
    /// Agents by name.
    pub agents: BTreeMap<Arc<str>, Agent>,
    /// Finds a model's figures by `provider/model`, or says in a sentence why there is none. Pure.
    pub models: Box<Models>,
}

impl House {
    /// An agent by name, ignoring case and the difference between `-`, `_` and space.
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        let plain = |name: &str| name.to_lowercase().replace(['-', ' '], "_");
        let wanted = plain(name);
        self.agents.get(name).or_else(|| self.agents.values().find(|agent| plain(&agent.name) == wanted))
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
