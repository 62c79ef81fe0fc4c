//! What becomes of a call: by the tools that the thread has, by what the call would do, and by everybody's modes and rules.

use std::sync::Arc;

use crate::approval::Question;
use crate::catalog::Catalog;
use crate::context;
use crate::event::{ThreadCreated, VerdictKind};
use crate::facts::{Consent, Facts};
use crate::json::Json;
use crate::message::Part;
use crate::mode::Mode;
use crate::permission::{self, Action, Asked, Decider, Judgement, Layer, Weighed};
use crate::thread::Thread;
use crate::tools::{Assessment, CALL_TOOL, READ_FILE, Reach, Risk, ToolInfo, named_call};
use crate::turn::needs::reading;
use crate::turn::spawn::NoRoom;
use crate::turn::starting::{self, Starting};
use crate::verb::Verb;
use crate::vocabulary;

impl Thread {
    /// What would become of a call of this thread at this moment, with the word of everybody above it.
    pub fn weigh(&self, facts: &Facts, tool: &ToolInfo, input: &Json) -> Weighed {
        self.weigh_start(facts, tool, input, self.starting(facts, &tool.name, input).as_ref())
    }

    /// Which sub-agents a call would start; none where it is no verb or starts none.
    fn starting(&self, facts: &Facts, name: &str, input: &Json) -> Option<Starting> {
        facts.catalog.is_verb(name).then(|| Starting::of(self, &facts.catalog, name, input)).flatten()
    }

    fn weigh_start(&self, facts: &Facts, tool: &ToolInfo, input: &Json, starting: Option<&Starting>) -> Weighed {
        let is_verb = facts.catalog.is_verb(&tool.name);
        let assessment = if is_verb {
            starting::assess(tool, input, starting, facts)
        } else {
            facts.assessment(&tool.name, input).clone()
        };
        let asks = if is_verb { starting::asks(&self.created.policy, tool.risk) } else { None };
        let foreign = self.foreign || assessment.reach == Reach::Network && self.has_read();
        let asked = Asked { tool: &tool.name, assessment: &assessment, foreign, asks };
        let judgement = permission::judge(&self.chain(), facts.rules(), &self.approvals.granted, &asked);
        let risk = asked.risk();
        let check = starting.and_then(|starting| starting.weigh_checks(self, facts));
        match check.filter(|check| check.judgement.action > judgement.action) {
            // A lasting consent to the start would say nothing of what is run at the end.
            Some(check) => Weighed {
                risk: risk.max(check.risk),
                way_out: Some(way_out(&facts.catalog, &check.tool, &check.assessment, &check.judgement)),
                judgement: check.judgement,
                assessment: Assessment { standing: None, ..assessment },
            },
            None => Weighed { risk, judgement, assessment, way_out: None },
        }
    }

    /// Whether the thread knows anything that no person said to it in this conversation: a brief, results, a summary of earlier ones, or a file
    /// that was passed with a message.
    fn has_read(&self) -> bool {
        let is_read = |part: &Part| match part {
            Part::ToolResult { .. } | Part::Attached(_) => true,
            // The text of a file stands in the message.
            Part::Text { text, .. } => context::holds_fenced(text),
            _ => false,
        };
        self.created.brief.is_some()
            || self.talk.epoch() > 0
            || self.talk.messages().iter().any(|message| message.parts.iter().any(is_read))
    }

    /// What would become of a file that this thread wants to read and a child of it to see.
    pub fn weigh_giving(&self, facts: &Facts, file: &str, child: Layer) -> Judgement {
        let assessment = facts.assessment(READ_FILE, &reading(file));
        let asked = Asked { tool: READ_FILE, assessment, foreign: self.foreign, asks: None };
        let chain: Vec<Layer> = self.chain().into_iter().chain([child]).collect();
        permission::judge(&chain, facts.rules(), &self.approvals.granted, &asked)
    }
}

impl Thread {
    /// What the thread is, to those below it.
    pub fn layer(&self) -> Layer {
        Layer { agent: self.created.role.name.clone(), mode: self.mode }
    }

    /// Everybody on the way from the root to the thread, itself last.
    pub fn chain(&self) -> Vec<Layer> {
        self.created.above.iter().cloned().chain([self.layer()]).collect()
    }

    /// The tool that a call is a call of, and its arguments: a tool that is not shown in each request is called by way of
    /// [`CALL_TOOL`].
    pub fn called(&self, name: &Arc<str>, input: &Json) -> (Arc<str>, Json) {
        let is_way = &**name == CALL_TOOL && self.tools.has(CALL_TOOL);
        let named = is_way.then(|| named_call(input)).flatten().filter(|(name, _)| Verb::of(name).is_none());
        named.unwrap_or_else(|| (name.clone(), input.clone()))
    }
}

impl ThreadCreated {
    /// What the thread is when it is created, to those below it.
    pub fn layer(&self) -> Layer {
        Layer { agent: self.role.name.clone(), mode: self.mode }
    }

    /// Everybody on the way from the root to the thread, itself last.
    pub fn chain(&self) -> Vec<Layer> {
        self.above.iter().cloned().chain([self.layer()]).collect()
    }
}

/// What becomes of a call, and why. The one decision: what is done with it is done by [`Ruling::verdict`], what is told of it by
/// `majordomo explain`.
#[derive(Clone, Debug)]
pub struct Ruling {
    /// What is done about the call. Where no person can be asked, a question is answered by refusing.
    pub action: Action,
    /// Who decided.
    pub decider: Decider,
    /// The rule, the mode or the reason that decided, in words.
    pub by: Arc<str>,
    /// What the call would do and what each layer says; none where the thread does not have the tool.
    pub weighed: Option<Weighed>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// The thread cannot make such a call. Holds what the model is told.
    NoTool(Arc<str>),
    /// A verb that starts no sub-agent, which is free.
    FreeVerb,
    /// Decided by rules and modes.
    Judged(Box<ToolInfo>),
    /// Decided by rules and modes; where it is allowed, a person answers it.
    Question(Box<ToolInfo>),
}

impl Thread {
    /// What becomes of a call of this thread at this moment.
    pub fn rule_on(&self, facts: &Facts, name: &str, input: &Json) -> Ruling {
        let (created, catalog) = (&self.created, &*facts.catalog);
        let no_tool = |by: &str, told: String| Ruling {
            action: Action::Deny,
            decider: Decider::Tools,
            by: by.into(),
            weighed: None,
            kind: Kind::NoTool(told.into()),
        };
        if !self.tools.has(name) {
            if Verb::of(name).is_some() && created.grant.depth == 0 && created.policy.enabled {
                let told = vocabulary::no_room(name, &NoRoom::TooDeep { most: created.policy.max_depth });
                return no_tool("the thread is too deep to start sub-agents", told);
            }
            let known = catalog.tools.contains_key(name) || Verb::of(name).is_some();
            let what = match (self.tools.had(name), known) {
                (true, _) => "was removed and is no longer available",
                (false, true) => "is not permitted to you",
                (false, false) => "is no tool",
            };
            let shown = self.tools.names().iter().filter(|name| !catalog.deferred.contains(*name));
            let tools = shown.map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
            return no_tool(&format!("{name} is none of its tools"), format!("{name} {what}. Your tools: {tools}"));
        }
        let Some(tool) = catalog.tool(name, self) else {
            let told = format!("{name} is not available in this process");
            return no_tool(&told.clone(), told);
        };
        let starting = self.starting(facts, name, input);
        let weighed = self.weigh_start(facts, &tool, input, starting.as_ref());
        // Waiting, listing, telling and stopping are free, and a call that cannot be read gets its error at once.
        if catalog.is_verb(name) && starting.is_none() {
            let by: Arc<str> = "it starts no sub-agent, which is always free".into();
            let (action, decider) = (Action::Allow, Decider::Tools);
            let judgement = Judgement { action, decider, by: by.clone(), is_undecided: false, chain: Vec::new() };
            let weighed = Some(Weighed { judgement, ..weighed });
            return Ruling { action, decider, by, weighed, kind: Kind::FreeVerb };
        }
        let Judgement { action, decider, .. } = weighed.judgement;
        let by = weighed.judgement.by.clone();
        let kind = match Question::of(name, input) {
            Some(_) => Kind::Question(Box::new(tool)),
            None => Kind::Judged(Box::new(tool)),
        };
        Ruling { action, decider, by, weighed: Some(weighed), kind }
    }
}

impl Ruling {
    /// What is written down of it and done, and the rule that decided where it was not the mode alone.
    pub fn verdict(self, facts: &Facts) -> (VerdictKind, Option<Arc<str>>) {
        let is_question = matches!(self.kind, Kind::Question(_));
        let (tool, Weighed { assessment, judgement, way_out: of_check, .. }) = match (self.kind, self.weighed) {
            (Kind::NoTool(reason), _) => return (VerdictKind::Refused { reason, rule: None }, None),
            (Kind::FreeVerb, _) => return (VerdictKind::Verb, None),
            (Kind::Judged(tool) | Kind::Question(tool), Some(weighed)) => (tool, weighed),
            (Kind::Judged(_) | Kind::Question(_), None) => unreachable!("what was judged was weighed"),
        };
        let (reach, idempotent, by) = (assessment.reach, tool.idempotent, self.by);
        let (free, asked) = match facts.catalog.is_verb(&tool.name) {
            true => (VerdictKind::Verb, VerdictKind::VerbAsked),
            false => (VerdictKind::Run { reach, idempotent }, VerdictKind::Asked { reach, idempotent }),
        };
        match self.action {
            Action::Allow => {
                let by_mode = self.decider == Decider::Mode;
                let is_asked = is_question && facts.consent == Consent::Asked;
                (if is_asked { asked } else { free }, (!by_mode).then_some(by))
            }
            Action::Ask if facts.consent == Consent::Asked => (asked, Some(by)),
            Action::Ask => {
                let reason = format!(
                    "{} was refused: it needs a person's consent ({by}), and nobody can give it here. \
                     Go on without it, or say what you would have done",
                    tool.name
                );
                let rule = of_check.or_else(|| Some(way_out(&facts.catalog, &tool, &assessment, &judgement)));
                (VerdictKind::Refused { reason: reason.into(), rule }, Some(by))
            }
            Action::Deny => {
                let reason = format!("{} is not permitted: {by}", tool.name).into();
                (VerdictKind::Refused { reason, rule: None }, Some(by))
            }
        }
    }
}

/// What would have allowed a call for which no person could be asked.
pub fn way_out(catalog: &Catalog, tool: &ToolInfo, assessment: &Assessment, judgement: &Judgement) -> Arc<str> {
    let (name, by) = (&tool.name, &judgement.by);
    if judgement.is_undecided {
        // Where nothing asks it is denied, and no rule that allows outranks one that denies.
        return format!("{name}: allowed without the {by}").into();
    }
    if catalog.is_verb(name) {
        // A rule that asks outranks one that allows.
        if judgement.decider == Decider::Rule {
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
