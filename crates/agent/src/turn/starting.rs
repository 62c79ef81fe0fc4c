//! What a call of a verb would start. It is looked at before anybody is started: to ask a person, to hold places while that
//! person thinks, and to explain.
//!
//! Waiting, listing, telling a running one and stopping are free, and a call that cannot be parsed starts no sub-agent: it gets its error at once.
//! Starting changes nothing by itself. What a sub-agent then does is judged call by call, with the word of everybody above it.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::checks::{self, Checks, Seen};
use crate::facts::Facts;
use crate::json::Json;
use crate::machine::Moment;
use crate::permission::{self, Asked, Judgement, Layer};
use crate::policy::{Policy, StartApproval};
use crate::thread::Thread;
use crate::tools::{Assessment, RUN_COMMAND, Reach, Risk, ToolInfo};
use crate::turn::needs::running;
use crate::turn::spawn::{self, ChildRequest};
use crate::vocabulary::{self, VerbCall};

/// Whom a call would start.
pub struct Starting {
    /// The agents, one for each place that is needed; for a temporary one what it would be called.
    agents: Vec<Arc<str>>,
    /// The model that the call names for them.
    model: Option<Arc<str>>,
    /// The files whose content they are passed.
    files: Vec<Arc<str>>,
    /// What must hold before each of them is done, and what the one who would do it may do.
    checks: Vec<(Layer, Checks)>,
    is_temporary: bool,
    is_batch: bool,
    /// Whether it is a child that has reported and goes on.
    is_again: bool,
}

impl Starting {
    /// Which sub-agents a call of the verb `name` would start; none if it would start none.
    pub fn of(thread: &Thread, catalog: &Catalog, name: &str, input: &Json) -> Option<Self> {
        // A rule is for the agent that is meant, however its name was written.
        let known = |name: Option<&Arc<str>>| match name {
            None => "general".into(),
            Some(name) => catalog.agent(name).map_or_else(|| name.clone(), |agent| agent.name.clone()),
        };
        let plain = |agents| Self {
            agents,
            model: None,
            files: Vec::new(),
            checks: Vec::new(),
            is_temporary: false,
            is_batch: false,
            is_again: false,
        };
        let one = |agent| plain(vec![agent]);
        let checked = |request: &ChildRequest| {
            let agent = catalog.agent(request.agent.as_deref().unwrap_or("general"));
            (!request.checks.is_empty()).then(|| (spawn::layer(thread, agent, request), request.checks.clone()))
        };
        let requested = |agent, request: ChildRequest| {
            let checks = checked(&request).into_iter().collect();
            Self { model: request.model, files: request.files, checks, ..one(agent) }
        };
        let batch = |agents| Self { is_batch: true, ..plain(agents) };
        match vocabulary::read(thread, name, input).ok()? {
            VerbCall::Start { request, is_temporary: true } => {
                Some(Self { is_temporary: true, ..requested(request.name.clone()?, *request) })
            }
            VerbCall::Start { request, is_temporary: false } => {
                Some(requested(known(request.agent.as_ref()), *request))
            }
            VerbCall::HandOver(order) => Some(one(known(Some(&order.agent)))),
            VerbCall::Split { subtasks, .. } => {
                let checks = subtasks.iter().filter_map(|subtask| {
                    let (agent, checks) = (subtask.agent.clone(), subtask.checks.clone());
                    checked(&ChildRequest { agent, checks, ..ChildRequest::default() })
                });
                let checks = checks.collect();
                Some(Self { checks, ..batch(subtasks.iter().map(|subtask| known(subtask.agent.as_ref())).collect()) })
            }
            VerbCall::Message { who, .. } => {
                let child = thread.finished_child(&who).ok()??;
                let (kin, _) = thread.children.reported.get(&child)?;
                Some(Self { is_again: true, ..one(kin.agent.clone()) })
            }
            VerbCall::Wait { .. } | VerbCall::Stop { .. } | VerbCall::List(_) => None,
        }
    }

    /// The model that the call names.
    pub fn model(&self) -> Option<&Arc<str>> {
        self.model.as_ref()
    }

    /// The agents that are looked up: a temporary one is made from `general`.
    pub fn lookups(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(|agent| if self.is_temporary { "general" } else { agent })
    }

    /// The files whose content would be passed.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().take(spawn::MAX_FILES).map(AsRef::as_ref)
    }

    /// The commands that would be run when they are done.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().flat_map(|(_, checks)| checks.commands.iter().map(AsRef::as_ref))
    }

    /// The JSON Schemas that their reports would have to match.
    pub fn schemas(&self) -> impl Iterator<Item = &Json> {
        self.checks.iter().filter_map(|(_, checks)| checks.schema.as_ref())
    }

    /// The commands with what each leads to at this moment.
    fn seen(&self, facts: &Facts) -> Vec<Seen> {
        if !facts.catalog.tools.contains_key(RUN_COMMAND) {
            return Vec::new();
        }
        let digest = |command: &str| facts.assessment(RUN_COMMAND, &running(command)).digest.clone();
        self.commands().map(|command| Seen { command: command.into(), digest: digest(command) }).collect()
    }

    /// The most cautious word about the commands, each as if the one whom it checks had called it; none where there are no commands.
    pub fn weigh_checks(&self, thread: &Thread, facts: &Facts) -> Option<CheckWeighed> {
        let tool = facts.catalog.tools.get(RUN_COMMAND)?;
        let mut worst: Option<CheckWeighed> = None;
        for (layer, command) in
            self.checks.iter().flat_map(|(layer, checks)| checks.commands.iter().map(move |command| (layer, command)))
        {
            let assessment = facts.assessment(RUN_COMMAND, &running(command));
            let asked = Asked { tool: RUN_COMMAND, assessment, foreign: thread.foreign, asks: None };
            let chain: Vec<Layer> = thread.chain().into_iter().chain([layer.clone()]).collect();
            let mut judgement = permission::judge(&chain, facts.rules(), &thread.approvals.granted, &asked);
            judgement.by = format!("the check `{command}`: {}", judgement.by).into();
            let risk = asked.risk();
            if worst.as_ref().is_none_or(|worst| judgement.action > worst.judgement.action) {
                worst = Some(CheckWeighed { tool: tool.clone(), assessment: assessment.clone(), risk, judgement });
            }
        }
        worst
    }

    /// How many places it needs. A child that goes on has its place, or is given it when it does.
    pub fn places(&self) -> u32 {
        if self.is_again { 0 } else { self.agents.len() as u32 }
    }

    /// Whether it starts one sub-agent and not a list of them.
    pub fn is_single(&self) -> bool {
        !self.is_batch
    }

    fn effect(&self) -> Arc<str> {
        let commands: Vec<String> = self.commands().map(|command| format!("`{command}`")).collect();
        if commands.is_empty() {
            return self.start_effect();
        }
        format!("{}; when it is done, runs {}", self.start_effect(), commands.join(", ")).into()
    }

    fn start_effect(&self) -> Arc<str> {
        match (self.agents.as_slice(), self.is_temporary) {
            ([agent], _) if self.is_again => format!("asks the sub-agent {agent} something more").into(),
            ([name], true) => format!("starts the temporary sub-agent '{name}'").into(),
            ([agent], false) => format!("starts the sub-agent {agent}").into(),
            (agents, _) => format!("starts {} sub-agents: {}", agents.len(), agents.join(", ")).into(),
        }
    }
}

/// What the rules say about a check.
pub struct CheckWeighed {
    /// The tool by which it is run.
    pub tool: ToolInfo,
    /// What it would do.
    pub assessment: Assessment,
    /// How much a person should think.
    pub risk: Risk,
    /// What is done about it.
    pub judgement: Judgement,
}

/// What a call of a verb would do that starts these.
pub fn assess(verb: &ToolInfo, input: &Json, starting: Option<&Starting>, facts: &Facts) -> Assessment {
    let plain = Assessment { reach: Reach::ReadOnly, ..Assessment::of(verb, input) };
    let Some(starting) = starting else {
        return Assessment { effect: "starts no sub-agent".into(), ..plain };
    };
    let standing = match starting.agents.as_slice() {
        // A pattern says any text by a star: a name that has one cannot be said by a pattern.
        [agent] if !starting.is_temporary && !agent.contains('*') => Some(agent.clone()),
        _ => None,
    };
    Assessment {
        effect: starting.effect(),
        // An approval of the start is one of these commands, too, as they are when it is asked for.
        digest: checks::with_seen(&plain.digest, &starting.seen(facts)),
        standing,
        // What a temporary one is called tells nothing of what it is, so that no name allows it.
        is_plain: !starting.is_temporary,
        subjects: starting.agents.clone(),
        ..plain
    }
}

/// Why the policy wants a person to decide on a verb that starts sub-agents.
pub fn asks(policy: &Policy, risk: Risk) -> Option<&'static str> {
    match policy.approval {
        StartApproval::Always => Some("policy.approval = always: starting a sub-agent needs approval"),
        StartApproval::ByRisk if risk >= Risk::High => Some("policy.approval = by_risk: what is of high risk asks"),
        StartApproval::ByRisk | StartApproval::Never => None,
    }
}

/// Whether there is room for what a call would start, before anybody is asked about it.
pub fn check(moment: &Moment<'_>, name: &str, starting: &Starting) -> Result<(), String> {
    let most = moment.thread.created.policy.max_subtasks;
    if starting.is_batch && starting.places() > most {
        let (reason, count) = (format!("Maximum {most} subtasks (policy.max_subtasks)"), starting.places());
        return Err(vocabulary::refusal(name, format!("{reason}, and there are {count}: nothing was begun")));
    }
    if !starting.is_temporary && !starting.is_again {
        for agent in &starting.agents {
            spawn::find_agent(moment, Some(agent)).map_err(|reason| vocabulary::refusal(name, reason))?;
        }
    }
    spawn::room(moment.thread, starting.places()).map_err(|why| vocabulary::no_room(name, &why))
}
