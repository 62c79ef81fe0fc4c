//! What the rules will look up when an input is handled, so that it can be found out before.
//!
//! It may name more than is used in the end, never less. It costs no more than the input is large.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;

use crate::approval::Decision;
use crate::catalog::Catalog;
use crate::event::TurnKind;
use crate::facts::{Consent, Facts, Needs};
use crate::id::{ThreadId, Time};
use crate::input::{Input, Outside};
use crate::json::Json;
use crate::message::Part;
use crate::model::Answer;
use crate::policy::ContextMode;
use crate::thread::{Graph, Node, Phase, Thread};
use crate::tools::{READ_FILE, RUN_COMMAND};
use crate::turn::spawn;
use crate::turn::starting::Starting;
use crate::vocabulary::{self, VerbCall};

impl Thread {
    /// What has to be known before `input` can be handled at `now`, besides what is known already.
    pub fn needs(&self, known: &Facts, input: &Input, now: Time) -> Needs {
        let (mut needs, catalog) = (Needs::default(), &*known.catalog);
        match input {
            Input::ModelAnswered { turn, answer, .. } => self.answer_needs(catalog, *turn, answer, &mut needs),
            Input::ChildReported { child, .. } => self.report_needs(catalog, child, &mut needs),
            Input::TimePassed { .. } => self.expiry_needs(catalog, now, &mut needs),
            Input::Reopened if known.consent == Consent::Nobody => {
                for approval in self.approvals.open.values() {
                    self.call_needs(catalog, &approval.tool, &approval.input, &mut needs);
                }
            }
            Input::ToolSamples { .. } => needs.rules = true,
            Input::Begin
            | Input::Arrived
            | Input::ModelFailed { .. }
            | Input::ToolFinished { .. }
            | Input::ToolAsks { .. }
            | Input::SampleAnswered { .. }
            | Input::ChecksFinished { .. }
            | Input::ChildSaid { .. }
            | Input::ChildPaused { .. }
            | Input::ChildTold { .. }
            | Input::Reopened
            | Input::Panicked { .. } => {}
        }
        self.decision_needs(catalog, now, &mut needs);
        needs
    }

    /// What has to be known to say what would become of a call.
    pub fn needs_of_call(&self, known: &Facts, tool: &str, input: &Json) -> Needs {
        let mut needs = Needs::default();
        self.call_needs(&known.catalog, tool, input, &mut needs);
        needs
    }

    fn answer_needs(&self, catalog: &Catalog, turn: u32, answer: &Answer, needs: &mut Needs) {
        let Some(Phase::Asking(asking)) = self.run.as_ref().map(|run| &run.phase) else { return };
        if asking.turn.turn != turn || asking.turn.kind != TurnKind::Work || asking.cancelled {
            return;
        }
        let most = self.created.policy.max_calls_per_answer as usize;
        let mut distinct: BTreeSet<(&str, &str)> = BTreeSet::new();
        for part in &answer.parts {
            let Part::ToolCall { name, input, .. } = part else { continue };
            // Calls beyond the limit are refused unseen.
            if distinct.len() >= most {
                return;
            }
            if distinct.insert((name, input.text())) {
                let (name, input) = self.called(name, input);
                self.call_needs(catalog, &name, &input, needs);
            }
        }
    }

    /// A report may let subtasks begin that waited for it.
    fn report_needs(&self, catalog: &Catalog, child: &ThreadId, needs: &mut Needs) {
        let Some(child) = self.children.live.get(child) else { return };
        let Some(graph) = self.calls.graph(child.call()) else { return };
        let (mut over, mut seen) = (Vec::from_iter(child.subtask()), BTreeSet::new());
        while let Some(index) = over.pop() {
            // One that begins may be answered at once with the report of an earlier run, and so on.
            for next in waiting(graph, index).filter(|next| seen.insert(*next)) {
                let agent = graph.subtasks[next as usize].agent.as_deref();
                needs.models.extend(agent_model(catalog, agent));
                over.push(next);
            }
        }
    }

    fn expiry_needs(&self, catalog: &Catalog, now: Time, needs: &mut Needs) {
        for approval in self.approvals.open.values().filter(|approval| approval.expires_at <= now) {
            needs.rules |= approval.sampling.is_some();
            self.call_needs(catalog, &approval.tool, &approval.input, needs);
        }
    }

    /// Decisions that wait in the queue: of the call as it was shown, and as a person changed it.
    fn decision_needs(&self, catalog: &Catalog, now: Time, needs: &mut Needs) {
        for (_, input) in &self.inbox.arrived {
            let Outside::Decided { approval, decision, .. } = input else { continue };
            let Some(approval) = self.approvals.open.get(approval) else { continue };
            match decision {
                Decision::Allow { input, .. } => {
                    needs.rules |= approval.sampling.is_some();
                    let wanted = input.as_ref().unwrap_or(&approval.input);
                    self.call_needs(catalog, &approval.tool, wanted, needs);
                }
                Decision::Deny { .. } | Decision::Answer { .. } => {}
            }
            self.expiry_needs(catalog, now, needs);
        }
    }

    fn call_needs(&self, catalog: &Catalog, name: &str, input: &Json, needs: &mut Needs) {
        if !self.tools.has(name) {
            return;
        }
        needs.rules = true;
        if catalog.tools.contains_key(name) {
            return needs.call(name, input);
        }
        let Some(starting) = Starting::of(self, catalog, name, input) else { return };
        match starting.model() {
            Some(named) => {
                needs.models.insert(named.clone());
            }
            None => needs.models.extend(starting.lookups().filter_map(|agent| agent_model(catalog, Some(agent)))),
        }
        if spawn::reads_files(self, catalog) {
            for file in starting.files() {
                needs.call(READ_FILE, &reading(file));
            }
        }
        if catalog.tools.contains_key(RUN_COMMAND) {
            for command in starting.commands() {
                needs.call(RUN_COMMAND, &running(command));
            }
        }
        needs.schemas.extend(starting.schemas().cloned());
        if self.created.policy.context == ContextMode::Structured
            && let Ok(VerbCall::HandOver(order)) = vocabulary::read(self, name, input)
        {
            needs.preferences.extend([order.agent]);
        }
    }
}

/// The arguments with which a file would be read.
pub fn reading(file: &str) -> Json {
    Json::of(&json!({"path": file}))
}

/// The arguments with which a command would be run.
pub fn running(command: &str) -> Json {
    Json::of(&json!({"command": command}))
}

fn waiting(graph: &Graph, index: u32) -> impl Iterator<Item = u32> {
    graph.dependents(index).iter().copied().filter(|next| graph.nodes[*next as usize] == Node::Waiting)
}

/// The model that an agent names; without a name, the agent is `general`.
fn agent_model(catalog: &Catalog, name: Option<&str>) -> Option<Arc<str>> {
    catalog.agent(name.unwrap_or("general"))?.model.clone()
}
