//! A person is asked, and answers: once, for exactly what was shown, or not at all, and then it is refused.

use std::sync::Arc;

use crate::approval::{Approval, ApprovalId, Decision, EXPIRES_MS, Question, Resolution, Scope};
use crate::effect::Effect;
use crate::event::{Event, VerdictKind};
use crate::facts::Consent;
use crate::id::{CallId, InputId};
use crate::json::Json;
use crate::machine::Moment;
use crate::permission::{Action, Weighed};
use crate::sampling::SamplingRequest;
use crate::thread::SlotState;
use crate::tools::{Risk, ToolInfo, ToolResult};
use crate::turn::permission::way_out;
use crate::turn::starting::Starting;
use crate::turn::{sampling, tool_calls, verbs};

/// Asks about every call of the newest answer that a person must decide on.
pub fn ask_all(moment: &mut Moment<'_>) {
    let slots = moment.thread.calls.slots().iter();
    let asked: Vec<CallId> =
        slots.filter(|slot| matches!(slot.verdict, VerdictKind::Asked { .. })).map(|slot| slot.call.clone()).collect();
    for call in asked {
        ask(moment, &call);
    }
}

/// A call that is under way wants to know something from a person. It goes on meanwhile, and whatever comes of the question is handed to it.
///
/// Where nobody can be asked, the question is withdrawn at once: the log says that it was asked before the call hears that it has no
/// answer. A call that is over waits for nothing, and its question means nothing.
pub fn wanted(moment: &mut Moment<'_>, call: &CallId, question: Question) {
    let number = question.midway.unwrap_or_default();
    let question = Question { midway: Some(number), ..question };
    let is_ending = moment.thread.run.as_ref().is_none_or(|run| run.closing.ending.is_some());
    let Some(slot) = moment.thread.calls.slot(call) else { return };
    let SlotState::Running { stopping, .. } = slot.state else { return };
    let why_nobody = match moment.facts.consent {
        _ if stopping || is_ending => Some("the call is being stopped"),
        Consent::Asked => None,
        Consent::Nobody => Some("nobody can be asked here"),
    };
    let thread = &*moment.thread;
    let id = ApprovalId::of(thread.id(), thread.issued.questions + 1);
    let approval = Approval {
        call: call.clone(),
        tool: slot.name.clone(),
        input: slot.input.clone(),
        // Nothing is done by an answer: it is bound to this question and to nothing else.
        digest: format!("{id} of {call}, question {number}").into(),
        id,
        path: thread.created.path.clone(),
        workspace: thread.created.workspace.clone(),
        why: format!("{} needs an answer to go on", slot.name).into(),
        effect: question.text.clone(),
        risk: Risk::Medium,
        protected: Vec::new(),
        // The words are those of the program behind the tool.
        foreign: true,
        standing: None,
        question: Some(question),
        sampling: None,
        places: 0,
        expires_at: moment.now.plus_ms(EXPIRES_MS),
    };
    let id = approval.id.clone();
    moment.emit(Event::ApprovalRequested(Box::new(approval)));
    if let Some(reason) = why_nobody {
        withdraw(moment, &id, reason);
    }
}

/// Questions of a call that is over are no longer of use.
pub fn withdraw_midway(moment: &mut Moment<'_>, call: &CallId, reason: &str) {
    withdraw_where(moment, reason, |open| open.midway().is_some() && open.call == *call);
}

/// The same of those about requests of servers to the model alone.
pub fn withdraw_sampling(moment: &mut Moment<'_>, call: &CallId, reason: &str) {
    withdraw_where(moment, reason, |open| open.sampling.is_some() && open.call == *call);
}

fn withdraw_where(moment: &mut Moment<'_>, reason: &str, is_one: impl Fn(&Approval) -> bool) {
    let open = moment.thread.approvals.open.values();
    let all: Vec<ApprovalId> = open.filter(|open| is_one(open)).map(|open| open.id.clone()).collect();
    for id in all {
        withdraw(moment, &id, reason);
    }
}

/// A person decided. What is no longer asked, or is not what was shown, stays as it is.
pub fn decided(moment: &mut Moment<'_>, input: InputId, id: &ApprovalId, digest: &str, decision: Decision) {
    let drop_it = |moment: &mut Moment<'_>, reason: &str| {
        moment.emit(Event::InputDropped { input: input.clone(), reason: reason.into() });
    };
    let Some(approval) = moment.thread.approvals.open.get(id).cloned() else {
        return drop_it(moment, "the question is answered already, or was never asked");
    };
    if *approval.digest != *digest {
        return drop_it(moment, "the decision is for something else than what is asked");
    }
    if approval.expires_at <= moment.now {
        drop_it(moment, "the question has expired");
        return expire(moment);
    }
    let resolution = match decision {
        Decision::Deny { reason } => Resolution::Denied { reason },
        Decision::Answer { .. } if approval.question.is_none() => {
            return drop_it(moment, "it asks whether a call may be made, which is allowed or denied and not answered");
        }
        Decision::Answer { text } if text.trim().is_empty() => return drop_it(moment, "the answer is empty"),
        Decision::Answer { text } => Resolution::Answered { text },
        Decision::Allow { .. } if approval.question.is_some() => {
            return drop_it(moment, "it is a question, which is answered and not allowed");
        }
        Decision::Allow { scope, input: edited } => {
            let wanted = edited.as_ref().unwrap_or(&approval.input);
            let Some(Weighed { assessment, judgement, .. }) = weigh(moment, &approval, wanted) else {
                return drop_it(moment, "the tool is not available in this process");
            };
            if let (Some(_), Err(why)) = (approval.sampling, SamplingRequest::read(wanted)) {
                return drop_it(moment, why);
            }
            // Neither the rules nor the world need be what they were when the question was asked.
            if judgement.action == Action::Deny {
                Resolution::Forbidden { rule: judgement.by }
            } else if edited.is_none() && assessment.digest != approval.digest {
                let reason: Arc<str> = "what it leads to has changed since it was asked".into();
                resolve(moment, &approval, Some(input), Resolution::Withdrawn { reason });
                return ask(moment, &approval.call);
            } else {
                // Consent beyond this call is for the pattern that was shown, and for nothing where none was.
                let shown = approval.standing.is_some() && edited.is_none();
                let scope = if shown { scope } else { Scope::Once };
                Resolution::Allowed { scope, digest: assessment.digest, input: edited }
            }
        }
    };
    resolve(moment, &approval, Some(input), resolution);
    verbs::start_allowed(moment, &approval.call);
    tool_calls::start_ready(moment);
}

/// Questions that nobody answered in time are refused.
pub fn expire(moment: &mut Moment<'_>) {
    let now = moment.now;
    let over = moment.thread.approvals.open.values().filter(|approval| approval.expires_at <= now);
    for approval in over.cloned().collect::<Vec<_>>() {
        let rule = rule_for(moment, &approval);
        resolve(moment, &approval, None, Resolution::Expired { rule });
    }
    tool_calls::start_ready(moment);
}

/// Nobody can be asked any more: every open question is refused.
pub fn nobody_answers(moment: &mut Moment<'_>) {
    for approval in moment.thread.approvals.open.values().cloned().collect::<Vec<_>>() {
        let rule = rule_for(moment, &approval);
        resolve(moment, &approval, None, Resolution::Unanswered { rule });
    }
}

/// A question that is no longer of use. Its call is answered by the caller.
pub fn withdraw(moment: &mut Moment<'_>, id: &ApprovalId, reason: &str) {
    if let Some(approval) = moment.thread.approvals.open.get(id).cloned() {
        resolve(moment, &approval, None, Resolution::Withdrawn { reason: reason.into() });
    }
}

/// Puts the question whether a call may be made; places for whomever it would start are held meanwhile.
pub fn ask(moment: &mut Moment<'_>, call: &CallId) {
    let Some(slot) = moment.thread.calls.slot(call) else { return };
    let (name, input) = (slot.name.clone(), slot.input.clone());
    let Some(tool) = moment.facts.catalog.tool(&name, moment.thread) else { return };
    let weighed = moment.thread.weigh(moment.facts, &tool, &input);
    let approval = question(moment, call.clone(), &tool, input, weighed);
    moment.emit(Event::ApprovalRequested(Box::new(approval)));
}

fn question(moment: &Moment<'_>, call: CallId, tool: &ToolInfo, input: Json, weighed: Weighed) -> Approval {
    let thread = &*moment.thread;
    let Weighed { assessment, risk, judgement, .. } = weighed;
    let catalog = &*moment.facts.catalog;
    let starting = Starting::of(thread, catalog, &tool.name, &input).filter(|_| catalog.is_verb(&tool.name));
    let question = Question::of(&tool.name, &input);
    let (why, effect) = match &question {
        Some(question) => ("the agent needs an answer to go on".into(), question.text.clone()),
        None => (judgement.by, assessment.effect),
    };
    Approval {
        id: ApprovalId::of(thread.id(), thread.issued.questions + 1),
        call,
        tool: tool.name.clone(),
        input,
        digest: assessment.digest,
        path: thread.created.path.clone(),
        workspace: thread.created.workspace.clone(),
        why,
        effect,
        risk,
        protected: assessment.protected,
        foreign: thread.foreign,
        // An answer is for one question.
        standing: assessment.standing.filter(|_| question.is_none()),
        question,
        sampling: None,
        places: starting.map_or(0, |starting| starting.places()),
        expires_at: moment.now.plus_ms(EXPIRES_MS),
    }
}

/// The question is answered, and so is its call, unless it may be made. A call that is under way is handed the answer.
pub fn resolve(moment: &mut Moment<'_>, approval: &Approval, input: Option<InputId>, resolution: Resolution) {
    if let Some(number) = approval.midway() {
        let answer = match &resolution {
            Resolution::Answered { text } => Some(text.clone()),
            _ => None,
        };
        let (id, call) = (approval.id.clone(), approval.call.clone());
        let resolved =
            Event::ApprovalResolved { approval: id, call: call.clone(), input, resolution: resolution.clone() };
        moment.emit(resolved);
        return match approval.sampling {
            Some(number) => sampling::decided(moment, approval, number, &resolution),
            None => moment.ask(Effect::AnswerTool { call, number, answer }),
        };
    }
    let result = match (&resolution, &approval.question) {
        (Resolution::Allowed { .. } | Resolution::Withdrawn { .. }, _) => None,
        (Resolution::Answered { text }, _) => Some(ToolResult::ok(text.clone())),
        (unanswered, Some(_)) => Some(ToolResult::error(not_answered(unanswered))),
        (refused, None) => Some(ToolResult::error(not_allowed(&approval.tool, refused))),
    };
    let (id, call) = (approval.id.clone(), approval.call.clone());
    moment.emit(Event::ApprovalResolved { approval: id, call: call.clone(), input, resolution });
    if let Some(result) = result {
        tool_calls::answer(moment, &call, result);
    }
}

/// What the model is told where its call may not be made.
fn not_allowed(tool: &str, resolution: &Resolution) -> String {
    let why = match resolution {
        Resolution::Denied { reason: Some(reason) } => format!("a person refused {tool}: {reason}"),
        Resolution::Denied { reason: None } => format!("a person refused {tool}"),
        Resolution::Forbidden { rule } => format!("{tool} is not permitted: {rule}"),
        Resolution::Expired { .. } => format!("{tool} was refused: nobody decided in {} hours", EXPIRES_MS / 3_600_000),
        Resolution::Unanswered { .. } => {
            format!("{tool} was refused: it needs a person's consent, and nobody can give it here")
        }
        Resolution::Allowed { .. } | Resolution::Answered { .. } | Resolution::Withdrawn { .. } => {
            unreachable!("this refuses nothing")
        }
    };
    format!("{why}. Do not try the same in another way; go on without it, or say what you need")
}

/// What the model is told where its question has no answer.
fn not_answered(resolution: &Resolution) -> String {
    let why = match resolution {
        Resolution::Denied { reason: Some(reason) } => format!("the person does not answer: {reason}"),
        Resolution::Denied { reason: None } => "the person does not answer".to_owned(),
        Resolution::Expired { .. } => format!("nobody answered in {} hours", EXPIRES_MS / 3_600_000),
        Resolution::Forbidden { .. } | Resolution::Unanswered { .. } => "nobody is there to answer".to_owned(),
        Resolution::Allowed { .. } | Resolution::Answered { .. } | Resolution::Withdrawn { .. } => {
            unreachable!("this refuses nothing")
        }
    };
    format!("{why}; decide yourself, and say in your answer what you assumed")
}

/// What would become of what is asked about; none where its tool is not there.
fn weigh(moment: &Moment<'_>, approval: &Approval, input: &Json) -> Option<Weighed> {
    let (thread, facts) = (&*moment.thread, moment.facts);
    if approval.sampling.is_some() {
        return Some(sampling::weigh(thread, facts, &approval.tool, input));
    }
    let tool = facts.catalog.tool(&approval.tool, thread)?;
    Some(thread.weigh(facts, &tool, input))
}

fn rule_for(moment: &Moment<'_>, approval: &Approval) -> Arc<str> {
    if approval.question.is_some() {
        return approval.why.clone();
    }
    if approval.sampling.is_some() {
        return sampling::way_out(moment, approval);
    }
    let Some(tool) = moment.facts.catalog.tool(&approval.tool, moment.thread) else {
        return approval.why.clone();
    };
    let weighed = moment.thread.weigh(moment.facts, &tool, &approval.input);
    let of_call = || way_out(&moment.facts.catalog, &tool, &weighed.assessment, &weighed.judgement);
    weighed.way_out.clone().unwrap_or_else(of_call)
}
