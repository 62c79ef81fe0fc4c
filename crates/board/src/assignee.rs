//! Who gets a task, as it is written and as it is kept.
//!
//! Whether an agent or a thread of that name exists is not known here: the caller looks it up ([`Who`]).

use std::fmt;
use std::sync::Arc;

use agent::ThreadId;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// What an assignee looks like, for errors that show the right form.
const FORMS: &str = "a thread, an agent's name, human, new:provider/model (such as new:anthropic/claude-sonnet-5-5), \
                     new:AGENT@provider/model or new:AGENT";

/// Who gets a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assignee {
    /// A person.
    Human,
    /// A thread that exists.
    Thread(ThreadId),
    /// An agent by its name: the thread that played it last for a task of this board, else a new one.
    Agent(Arc<str>),
    /// A new thread.
    New(NewAgent),
}

/// The agent that a new thread plays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewAgent {
    /// The agent; `general` where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<str>>,
    /// `provider/model`; the agent's own, or the configured one, where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
}

/// What a person or a model wrote: complete in itself, or a name that has to be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// A person.
    Human,
    /// A new thread. Whether there is such an agent, provider and model is left to the caller.
    New(NewAgent),
    /// A thread or an agent.
    Name(Arc<str>),
}

impl Who {
    /// Reads an assignee. After `new:` it is split at the first `/` only, so that `new:ollama/llama3:8b` and `new:router/org/model` name
    /// those models.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        match text.split_once(':') {
            _ if text == "human" => Ok(Who::Human),
            Some(("new", spec)) => NewAgent::parse(spec).map(Who::New).ok_or_else(|| malformed(text)),
            _ if text.is_empty() || text.chars().any(char::is_whitespace) => Err(malformed(text)),
            _ => Ok(Who::Name(text.into())),
        }
    }
}

impl NewAgent {
    fn parse(spec: &str) -> Option<Self> {
        // An @ behind the first / belongs to the model's name.
        let (agent, model) = match spec.split_once('/') {
            None => (Some(spec), None),
            Some((before, name)) => match before.split_once('@') {
                None => (None, Some(format!("{before}/{name}"))),
                Some((agent, provider)) => (Some(agent), Some(format!("{provider}/{name}"))),
            },
        };
        let is_word = |text: &str| !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || c == '@');
        let is_model = |model: &str| {
            model.split_once('/').is_some_and(|(provider, name)| is_word(provider) && !name.is_empty())
                && !model.chars().any(char::is_whitespace)
        };
        let is_good = agent.is_none_or(is_word) && model.as_deref().is_none_or(is_model);
        is_good.then(|| Self { agent: agent.map(Into::into), model: model.map(Into::into) })
    }
}

/// The refusal of an assignee that is none.
pub(crate) fn malformed(text: &str) -> Refusal {
    Refusal::usage(format!("'{text}' is no assignee: write {FORMS}"))
}

impl Refusal {
    /// The refusal of a name that neither a thread nor an agent has; `agents` are those that there are.
    pub fn unknown_assignee(name: &str, agents: &str) -> Self {
        Self::usage(format!(
            "there is no thread and no agent '{name}'; the agents are: {agents}. An assignee is {FORMS}"
        ))
    }

    /// The refusal of a new agent that cannot be started.
    pub fn unknown_agent(assignee: &Assignee, why: &str) -> Self {
        Self::usage(format!("'{assignee}' cannot be started: {why}. An assignee is {FORMS}"))
    }
}

impl fmt::Display for Assignee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Assignee::Human => f.write_str("human"),
            Assignee::Thread(thread) => thread.fmt(f),
            Assignee::Agent(name) => f.write_str(name),
            Assignee::New(new) => new.fmt(f),
        }
    }
}

impl fmt::Display for NewAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.agent, &self.model) {
            (None, None) => f.write_str("new:general"),
            (Some(agent), None) => write!(f, "new:{agent}"),
            (None, Some(model)) => write!(f, "new:{model}"),
            (Some(agent), Some(model)) => write!(f, "new:{agent}@{model}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(agent: Option<&str>, model: Option<&str>) -> Who {
        Who::New(NewAgent { agent: agent.map(Into::into), model: model.map(Into::into) })
    }

    // LACE-1, LACE-2, LACE-21 (spec parsing)
    #[test]
    fn a_new_agent_is_named_by_provider_and_model_by_agent_or_by_both() {
        let cases = [
            ("new:anthropic/claude-3-sonnet", new(None, Some("anthropic/claude-3-sonnet"))),
            ("new:ollama/llama3:8b", new(None, Some("ollama/llama3:8b"))),
            ("new:router/org/model", new(None, Some("router/org/model"))),
            ("new:vertex/claude@20260101", new(None, Some("vertex/claude@20260101"))),
            ("new:explore@anthropic/claude-3-sonnet", new(Some("explore"), Some("anthropic/claude-3-sonnet"))),
            ("new:explore", new(Some("explore"), None)),
            ("human", Who::Human),
            ("explore", Who::Name("explore".into())),
            ("k3f9.1", Who::Name("k3f9.1".into())),
        ];
        for (text, who) in cases {
            assert_eq!(Who::parse(text), Ok(who.clone()), "{text}");
            if let Who::New(new) = who {
                assert_eq!(new.to_string(), text);
            }
        }
    }

    // LACE-2, LACE-21 (invalid rejection)
    #[test]
    fn a_malformed_spec_is_refused_with_an_example() {
        for text in
            ["new:", "new:/", "new:a/", "new:/b", "new:@a/b", "new:a@/b", "new:a@b@c/d", "new:a b/c", "", "two words"]
        {
            let refusal = Who::parse(text).unwrap_err().to_string();
            assert!(refusal.contains("new:provider/model"), "{text}: {refusal}");
        }
    }
}
