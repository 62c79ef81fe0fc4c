//! The tools and agents that this process has: data that does not change while one input is decided.
//!
//! It is not in the log: what was decided with its help is. When other tools are published, the runtime hands in another catalogue
//! with another version; `turn/tools.rs` says what follows from that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::context::{self, ShownSpawn};
use crate::role::Agent;
use crate::thread::Thread;
use crate::tools::ToolInfo;
use crate::verb::Verb;

/// The tools and agents of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Tools by name, verbs excluded.
    pub tools: BTreeMap<Arc<str>, ToolInfo>,
    /// Tools that only an agent which names them has: for all others they would only be longer prompts.
    pub reserved: BTreeSet<Arc<str>>,
    /// Agents by name.
    pub agents: BTreeMap<Arc<str>, Agent>,
    /// Tools that are not shown in each request: a thread that has them finds them, and calls them by way of
    /// [`CALL_TOOL`](crate::tools::CALL_TOOL).
    pub deferred: BTreeSet<Arc<str>>,
    /// Tools of servers, each with the name of its server.
    pub servers: BTreeMap<Arc<str>, Arc<str>>,
    /// Tools that are shown to models in the words of a server which no person vouches for: a thread that has one has read a stranger's words.
    pub foreign: BTreeSet<Arc<str>>,
    /// Names the set of tools. The same name means the same tools, with the same descriptions and schemas, in any process.
    pub version: Arc<str>,
    /// What was put together of the rest and is needed again and again.
    pub shown_spawn: ShownSpawn,
}

impl Catalog {
    /// A tool by name, or a verb as it is advertised to this thread.
    pub fn tool(&self, name: &str, thread: &Thread) -> Option<ToolInfo> {
        self.tools.get(name).cloned().or_else(|| context::verb(name, thread, self))
    }

    /// Whether a name is that of a verb, and no tool has the same name.
    pub fn is_verb(&self, name: &str) -> bool {
        Verb::of(name).is_some() && !self.tools.contains_key(name)
    }

    /// Whether an agent that chose servers has a tool: any that no server offers, and those of its servers. All where it chose none.
    pub fn is_chosen(&self, servers: Option<&[Arc<str>]>, tool: &str) -> bool {
        match (servers, self.servers.get(tool)) {
            (Some(chosen), Some(server)) => chosen.contains(server),
            (None, _) | (_, None) => true,
        }
    }

    /// An agent by name, ignoring case and the difference between `-`, `_` and space.
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        let plain = |name: &str| name.to_lowercase().replace(['-', ' '], "_");
        let wanted = plain(name);
        self.agents.get(name).or_else(|| self.agents.values().find(|agent| plain(&agent.name) == wanted))
    }

    /// The agents that a thread can usefully start: those that could be given a tool to work with.
    pub fn offered<'a>(&'a self, thread: &'a Thread) -> impl Iterator<Item = &'a Agent> {
        self.agents.values().filter(|agent| agent.can_work(|tool| thread.can_give(tool)))
    }

    /// The names of all agents, for an error that names the right ones.
    pub fn agent_names(&self) -> String {
        self.agents.keys().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
    }
}
