//! What a decision needs to know of the world, gathered before it and handed in as data.
//!
//! For one input, [`Thread::needs`](crate::Thread::needs) names what the rules will look up ([`Needs`]); the driver finds
//! it out, which may take time, and hands it to [`Thread::handle`](crate::Thread::handle) as [`Facts`]. Facts are not
//! logged: what was decided with them is in the events (verdict, reason, digest, grant, role), so that a replay needs none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::delegation::Preference;
use crate::json::Json;
use crate::model::Model;
use crate::permission::Rule;
use crate::tools::Assessment;

/// Whether a person's consent can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// A question waits until a person decides.
    Asked,
    /// Nobody is there: a question is answered at once, by refusing.
    Nobody,
}

/// What the rules will look up for one input. More may be handed in; less is an error of the driver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Whether the rules in force are needed.
    pub rules: bool,
    /// Calls that are to be assessed in the thread's workspace, each once: the tool and its arguments.
    pub calls: Vec<(Arc<str>, Json)>,
    /// Models whose figures are needed, as `provider/model`.
    pub models: BTreeSet<Arc<str>>,
    /// Agents for which a person's preferences are needed.
    pub preferences: BTreeSet<Arc<str>>,
    /// JSON Schemas of which it has to be known whether they can be used.
    pub schemas: Vec<Json>,
}

impl Needs {
    /// Whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        !self.rules
            && self.calls.is_empty()
            && self.models.is_empty()
            && self.preferences.is_empty()
            && self.schemas.is_empty()
    }

    /// One more call to assess.
    pub(crate) fn call(&mut self, tool: &str, input: &Json) {
        if !self.calls.iter().any(|(known, same)| &**known == tool && same == input) {
            self.calls.push((tool.into(), input.clone()));
        }
    }
}

/// What is known of the world when an input is handled.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The tools and agents of the process.
    pub catalog: Arc<Catalog>,
    /// Whether a person's consent can be had.
    pub consent: Consent,
    /// Whether hooks of the person hear of the end of a run of this thread before it ends.
    pub stop_hooks: bool,
    /// The rules in force; none where they were not asked for.
    pub rules: Option<Arc<[Rule]>>,
    /// What each model can do and costs, or a sentence that says why it cannot be used.
    pub models: BTreeMap<Arc<str>, Result<Model, Arc<str>>>,
    /// What a person prefers, as far as it matters to an agent.
    pub preferences: BTreeMap<Arc<str>, Vec<Preference>>,
    /// JSON Schemas that cannot be used, by their text, with the reason.
    pub bad_schemas: BTreeMap<Arc<str>, Arc<str>>,
    /// What each call would do: by tool, then by the text of its arguments.
    assessments: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Assessment>>,
}

impl Facts {
    /// What is known without looking anything up.
    pub fn new(catalog: Arc<Catalog>, consent: Consent) -> Self {
        Self {
            catalog,
            consent,
            stop_hooks: false,
            rules: None,
            models: BTreeMap::new(),
            preferences: BTreeMap::new(),
            bad_schemas: BTreeMap::new(),
            assessments: BTreeMap::new(),
        }
    }

    /// Adds what a call would do.
    pub fn assessed(&mut self, tool: &Arc<str>, input: &Json, assessment: Assessment) {
        self.assessments.entry(tool.clone()).or_default().insert(input.text().into(), assessment);
    }

    /// What a call would do.
    pub(crate) fn assessment(&self, tool: &str, input: &Json) -> &Assessment {
        let found = self.assessments.get(tool).and_then(|calls| calls.get(input.text()));
        found.unwrap_or_else(|| panic!("a call of {tool} is assessed before it is decided on"))
    }

    /// The rules in force.
    pub(crate) fn rules(&self) -> &[Rule] {
        self.rules.as_deref().expect("the rules in force are gathered before a call is decided on")
    }

    /// A model's figures.
    pub(crate) fn model(&self, name: &str) -> Result<&Model, &str> {
        let found = self.models.get(name).unwrap_or_else(|| panic!("the model {name} is looked up before it is used"));
        found.as_ref().map_err(|why| &**why)
    }

    /// What a person prefers, as far as it matters to `agent`.
    pub(crate) fn preferences(&self, agent: &str) -> &[Preference] {
        let found = self.preferences.get(agent);
        found.unwrap_or_else(|| panic!("preferences for {agent} are read before it is started"))
    }
}
