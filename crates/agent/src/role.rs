//! An agent: a role that a thread plays, and the role as it is pinned in a thread's log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::mode::Mode;
use crate::model::Model;
use crate::permission::matches;

/// An agent that can be asked for by name: built in, from a file, or given by an embedder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Its name.
    pub name: Arc<str>,
    /// One line that tells a model when to use it.
    pub description: Arc<str>,
    /// Its role, as the opening of the system prompt.
    pub prompt: Arc<str>,
    /// `provider/model`; none means the parent's, or for a root the configured one.
    #[serde(default)]
    pub model: Option<Arc<str>>,
    /// The tools it may use, verbs included; none means all that its parent has.
    #[serde(default)]
    pub tools: Option<Vec<Arc<str>>>,
    /// Tools that it does not use itself and hands on to those below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lends: Vec<Arc<str>>,
    /// The MCP servers whose tools it gets; none means those of its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<Arc<str>>>,
    /// The most it may do; none means as much as its parent.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// How much its model thinks, in a word that the providers know; none means as is set for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Arc<str>>,
    /// Labels that a machine must have on which it works, where several machines share a store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Arc<str>>,
}

/// The role as a thread plays it, for good: resuming needs no file that may have changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// The agent's name.
    pub name: Arc<str>,
    /// The role's words.
    pub prompt: Arc<str>,
    /// The model that speaks.
    pub model: Model,
    /// The tools that it begins with, verbs included: exactly those that are advertised.
    pub tools: Vec<Arc<str>>,
    /// The tools that it can only hand on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lends: Vec<Arc<str>>,
    /// The servers whose tools it may have; none means all that its parent has, and for a root all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<Arc<str>>>,
    /// Whether it also gets tools that are published later: neither its agent nor its parent chose its tools by name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gets_new_tools: bool,
    /// The version of the catalogue that its tools were taken from; empty in logs in which that was not written down.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub catalog: Arc<str>,
    /// JSON Schema that every answer must fit. Only in logs of earlier versions: a schema belongs to a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Json>,
    /// Labels that a machine must have on which it works.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Arc<str>>,
}

fn is_empty(text: &Arc<str>) -> bool {
    text.is_empty()
}

impl Agent {
    /// An agent that has the tools, the model and the mode of its parent. The description is one line that tells a model when to use
    /// it; the prompt is its role.
    pub fn new(name: impl Into<Arc<str>>, description: impl Into<Arc<str>>, prompt: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            prompt: prompt.into(),
            model: None,
            tools: None,
            lends: Vec::new(),
            mcp_servers: None,
            mode: None,
            effort: None,
            requires: Vec::new(),
        }
    }

    /// The same with a model of its own, `provider/model`.
    #[must_use]
    pub fn model(self, model: impl Into<Arc<str>>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// The same with these tools alone. The verbs that start and stop sub-agents, such as `spawn_agent`, are tools, too.
    #[must_use]
    pub fn tools<T: Into<Arc<str>>>(self, tools: impl IntoIterator<Item = T>) -> Self {
        Self { tools: Some(tools.into_iter().map(Into::into).collect()), ..self }
    }

    /// The same with the tools of these servers alone.
    #[must_use]
    pub fn mcp_servers<T: Into<Arc<str>>>(self, servers: impl IntoIterator<Item = T>) -> Self {
        Self { mcp_servers: Some(servers.into_iter().map(Into::into).collect()), ..self }
    }

    /// Whether it names a tool: by its name, by a pattern such as `git__*`, or by its server.
    pub(crate) fn names(&self, tool: &str, server: Option<&Arc<str>>) -> bool {
        let by_server = server.is_some_and(|server| self.mcp_servers.iter().flatten().any(|chosen| chosen == server));
        let named = |own: &Arc<str>| &**own == tool || server.is_some() && matches(own, tool);
        by_server || self.tools.iter().flatten().any(named)
    }

    /// The same with the most that it may do without a person.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode: Some(mode), ..self }
    }

    /// Whether it could do its work with what `has` says is there: an agent that names tools needs one of them.
    pub fn can_work(&self, has: impl Fn(&str) -> bool) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.is_empty() || tools.iter().any(|tool| has(tool)))
    }
}

impl Role {
    /// Whether those below it can be given a tool.
    pub fn can_give(&self, tool: &str) -> bool {
        self.tools.iter().chain(&self.lends).any(|own| &**own == tool)
    }
}
