//! What becomes of a call: by the tools that the thread has, by what the call would do, and by everybody's modes and rules.

use std::sync::Arc;

use serde_json::json;

use crate::context::operations;
use crate::event::{ThreadCreated, VerdictKind};
use crate::house::{Consent, House};
use crate::json::Json;
use crate::machine::Moment;
use crate::mode::Mode;
use crate::permission::{self, Action, Asked, Judgement, Layer, Weighed};
use crate::policy::{STARTING_VERBS, VERBS};
use crate::thread::Thread;
use crate::tools::{Assessment, READ_FILE, Reach, Risk, ToolInfo};
use crate::turn::operation;
use crate::turn::spawn::NoRoom;
use crate::turn::starting::{self, Starting};

impl Thread {
    /// What would become of a call of this thread at this moment, with the word of everybody above it.
    pub fn weigh(&self, house: &House, tool: &ToolInfo, input: &Json) -> Weighed {
        let is_verb = house.is_verb(&tool.name);
        let assessment = if is_verb {
            starting::assess(self, house, tool, input)
        } else {
            (house.assess)(&self.created.workspace, tool, input)
        };
        let asks = if is_verb { starting::asks(&self.created.policy, tool.risk) } else { None };
        let asked = Asked { tool: &tool.name, assessment: &assessment, foreign: self.foreign, asks };
        let judgement = permission::judge(&self.created.chain(), &(house.rules)(), &self.granted, &asked);
        Weighed { risk: asked.risk(), judgement, assessment }
    }

    /// What would become of a file that this thread wants to read and a child of it to see.
    pub fn weigh_giving(&self, house: &House, read_file: &ToolInfo, file: &str, child: Layer) -> Judgement {
        let assessment = (house.assess)(&self.created.workspace, read_file, &Json::of(&json!({"path": file})));
        let asked = Asked { tool: READ_FILE, assessment: &assessment, foreign: self.foreign, asks: None };
        let chain: Vec<Layer> = self.created.chain().into_iter().chain([child]).collect();
        permission::judge(&chain, &(house.rules)(), &self.granted, &asked)
    }
}

impl ThreadCreated {
    /// What the thread may not read by any tool: the patterns of the rules that deny it, or anybody above it, `read_file`.
    pub fn unreadable(&self, house: &House) -> Vec<Arc<str>> {
        let rules = (house.rules)();
        if rules.is_empty() { Vec::new() } else { permission::forbidden(&self.chain(), &rules, READ_FILE) }
    }

    /// What the thread is, to those below it.
    pub fn layer(&self) -> Layer {
        Layer { agent: self.role.name.clone(), mode: self.mode }
    }

    fn chain(&self) -> Vec<Layer> {
        self.above.iter().cloned().chain([self.layer()]).collect()
    }
}

/// What becomes of a call, and the rule that decided where it was not the mode alone.
pub fn judge(moment: &Moment<'_>, name: &str, input: &Json) -> (VerdictKind, Option<Arc<str>>) {
    let created = &moment.thread.created;
    let refused = |reason: String| (VerdictKind::Refused { reason: reason.into(), rule: None }, None);
    if !created.role.tools.iter().any(|tool| &**tool == name) {
        if VERBS.contains(&name) && created.grant.depth == 0 && created.policy.enabled {
            return refused(operation::no_room(name, &NoRoom::TooDeep { most: created.policy.max_depth }));
        }
        let known = moment.house.tools.contains_key(name) || VERBS.contains(&name);
        let what = if known { "is not permitted to you" } else { "is no tool" };
        let tools = created.role.tools.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
        return refused(format!("{name} {what}. Your tools: {tools}"));
    }
    match moment.house.tools.get(name) {
        None if VERBS.contains(&name) => verb(moment, name, input),
        None => refused(format!("{name} is not available in this process")),
        Some(tool) => by_rules(moment, tool, input),
    }
}

/// A verb is decided about only where it would start somebody.
fn verb(moment: &Moment<'_>, name: &str, input: &Json) -> (VerdictKind, Option<Arc<str>>) {
    let policy = &moment.thread.created.policy;
    let could_object =
        || starting::asks(policy, operations::risk(name)).is_some() || !(moment.house.rules)().is_empty();
    let starts = || Starting::of(moment.thread, moment.house, name, input).is_some();
    let is_judged = STARTING_VERBS.contains(&name) && could_object() && starts();
    match is_judged.then(|| moment.house.tool(name, &moment.thread.created)).flatten() {
        Some(verb) => by_rules(moment, &verb, input),
        None => (VerdictKind::Verb, None),
    }
}

fn by_rules(moment: &Moment<'_>, tool: &ToolInfo, input: &Json) -> (VerdictKind, Option<Arc<str>>) {
    // Reading is free in every mode, so that only a rule could say otherwise.
    if tool.reach == Reach::ReadOnly && (moment.house.rules)().is_empty() {
        return (VerdictKind::Run { reach: tool.reach, idempotent: tool.idempotent }, None);
    }
    let Weighed { assessment, judgement, .. } = moment.thread.weigh(moment.house, tool, input);
    let (reach, idempotent, by) = (assessment.reach, tool.idempotent, judgement.by.clone());
    let (free, asked) = match moment.house.is_verb(&tool.name) {
        true => (VerdictKind::Verb, VerdictKind::VerbAsked),
        false => (VerdictKind::Run { reach, idempotent }, VerdictKind::Asked { reach, idempotent }),
    };
    match judgement.action {
        Action::Allow => {
            let by_mode = by.starts_with("mode ");
            (free, (!by_mode).then_some(by))
        }
        Action::Ask if moment.house.consent == Consent::Asked => (asked, Some(by)),
        Action::Ask => {
            let reason = format!(
                "{} was refused: it needs a person's consent ({by}), and nobody can give it here. \
                 Go on without it, or say what you would have done",
                tool.name
            );
            let rule = Some(way_out(moment.house, tool, &assessment, &by));
            (VerdictKind::Refused { reason: reason.into(), rule }, Some(by))
        }
        Action::Deny => {
            let reason = format!("{} is not permitted: {by}", tool.name).into();
            (VerdictKind::Refused { reason, rule: None }, Some(by))
        }
    }
}

/// What would have allowed a call that nobody could be asked about, and that `by` wanted a person to decide.
pub fn way_out(house: &House, tool: &ToolInfo, assessment: &Assessment, by: &str) -> Arc<str> {
    let name = &tool.name;
    if house.is_verb(name) {
        // A rule that asks outranks one that allows.
        if by.starts_with("rule: ") {
            return format!("{name}: allowed without the {by}").into();
        }
        let pattern = assessment.standing.as_ref().map_or_else(String::new, |agent| format!(", pattern = \"{agent}\""));
        let rule = format!("the rule {{tool = \"{name}\"{pattern}, action = \"allow\"}}");
        return format!("{name}: allowed by --set policy.approval=never, or by {rule}").into();
    }
    let is_mild = assessment.reach <= Reach::Workspace && assessment.risk < Risk::High;
    let mode = if is_mild { Mode::Auto } else { Mode::Dangerous };
    let rule = |pattern: &str| format!("the rule {{tool = \"{name}\", pattern = \"{pattern}\", action = \"allow\"}}");
    match (&assessment.standing, assessment.protected.first()) {
        (_, Some(place)) => format!("{name}: allowed by {}", rule(&format!("*{place}*"))),
        (Some(pattern), None) => format!("{name}: allowed by --mode {mode}, or by {}", rule(pattern)),
        (None, None) => format!("{name}: allowed by --mode {mode}"),
    }
    .into()
}
