//! The tools that a thread has at this moment.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::role::Role;
use crate::verb::{Starts, Verb};

/// The tools that a thread has. It begins with those of its role; `ToolsChanged` changes them, and nothing else does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tools {
    /// In the order in which they are advertised.
    names: Vec<Arc<str>>,
    /// The version of the catalogue that they were taken from.
    version: Arc<str>,
    /// Tools that it had once and no longer has, so that a call of one is answered with the reason.
    removed: BTreeSet<Arc<str>>,
    /// Tools that came with a notice. It gets those that there are before its next turn, and keeps them.
    lent: BTreeSet<Arc<str>>,
}

impl Tools {
    pub(super) fn of(role: &Role) -> Self {
        Self {
            names: role.tools.clone(),
            version: role.catalog.clone(),
            removed: BTreeSet::new(),
            lent: BTreeSet::new(),
        }
    }

    /// Tools that came with a notice.
    pub fn lent(&self) -> &BTreeSet<Arc<str>> {
        &self.lent
    }

    pub(super) fn lend(&mut self, tools: &[Arc<str>]) {
        self.lent.extend(tools.iter().cloned());
    }

    /// Their names, verbs included, in the order in which they are advertised.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// Whether the thread has a tool.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|tool| &**tool == name)
    }

    /// Whether any of them starts sub-agents, for which the thread may then wait.
    pub fn start_agents(&self) -> bool {
        self.names.iter().any(|name| Verb::of(name).is_some_and(|verb| verb.starts() != Starts::Nothing))
    }

    /// Whether the thread had a tool that was removed since.
    pub fn had(&self, name: &str) -> bool {
        self.removed.contains(name)
    }

    /// The version of the catalogue that they were taken from.
    pub fn version(&self) -> &Arc<str> {
        &self.version
    }

    pub(super) fn change(&mut self, version: &Arc<str>, added: &[Arc<str>], removed: &[Arc<str>]) {
        self.version = version.clone();
        self.names.retain(|name| !removed.contains(name));
        self.names.extend(added.iter().cloned());
        self.removed.extend(removed.iter().cloned());
        for name in added {
            self.removed.remove(name);
        }
    }
}
