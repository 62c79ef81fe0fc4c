//! A butler hands work over: an intent leads to an agent, which is told all that it should know and answers with one object.
//!
//! Which intent leads where is data (`policy.delegates`). Whether the child may be had, and with what, is decided in
//! `spawn.rs` as for every other.

use std::sync::Arc;

use crate::brief::Brief;
use crate::context;
use crate::delegation::{AgentResult, DelegationContext, Said, Speaker};
use crate::id::CallId;
use crate::json::Json;
use crate::machine::Moment;
use crate::message::{Origin, Part};
use crate::policy::{ContextMode, Policy};
use crate::report::Report;
use crate::thread::{SlotState, Thread, VerbState};
use crate::tools::ToolResult;
use crate::turn::arguments::{Arguments, ignored_line};
use crate::turn::spawn::{self, Accepted, Wish};
use crate::turn::tool_calls;
use crate::verb::Verb;

const EXAMPLE: &str = r#"{"intent": "delegate_triage", "task": "List today's urgent mail", "delegationReasoning": "it is about the inbox"}"#;

/// Hands work over, or says why not.
pub fn start(moment: &mut Moment<'_>, call: &CallId, input: &Json, siblings: u32) -> Result<(), String> {
    let order = read(input)?;
    let policy = &moment.thread.created.policy;
    let target = target(policy, &order.intent)?;
    if moment.facts.catalog.agent(&target).is_none() {
        return Err(format!("Unknown agent type: {target}"));
    }
    let asked = last_asked(moment.thread).unwrap_or_default();
    let task = order.task.clone().unwrap_or_else(|| asked.clone());
    let context = match policy.context {
        ContextMode::Brief => None,
        ContextMode::Structured => Some(told(moment, &order, &target, asked)?),
    };
    let brief = Brief { context, ..Brief::task(task.clone()) };
    let wish = Wish { task, agent: Some(target), ..Wish::default() };
    if let Accepted::Recalled(child) = spawn::accept(moment, call, None, &wish, brief, siblings)? {
        let known = moment.thread.reuse.reusable.values().find(|(id, _)| *id == child);
        let name = moment.thread.children.reported.get(&child).map_or("specialist", |(name, _)| name);
        let text = known.map(|(_, report)| context::recalled(&child, name, report)).unwrap_or_default();
        tool_calls::answer(moment, call, ToolResult::ok(text));
    }
    Ok(())
}

/// The agent that a call hands work to; none where it cannot be read.
pub fn handed_to(policy: &Policy, input: &Json) -> Option<Arc<str>> {
    target(policy, &read(input).ok()?.intent).ok()
}

/// What a call is answered with when its child reports; none where the call or the policy wants a report as any other.
pub fn result(moment: &Moment<'_>, call: &CallId, report: &Report, is_error: bool) -> Option<ToolResult> {
    let thread = &*moment.thread;
    let slot = thread.calls.slot(call)?;
    let SlotState::Verb(VerbState::Child(_)) = &slot.state else { return None };
    if Verb::of(&slot.name) != Some(Verb::Delegate) || thread.created.policy.context != ContextMode::Structured {
        return None;
    }
    let order = read(&slot.input).ok()?;
    let target = target(&thread.created.policy, &order.intent).ok()?;
    let object = Json::of(&AgentResult::of(&target, report));
    let content = format!("{}{}", object.text(), ignored_line(&order.ignored));
    let foreign = report.foreign.then(|| format!("report of {target}").into());
    Some(ToolResult { is_error, foreign, ..ToolResult::ok(content) })
}

/// A call, as it was meant.
struct Order {
    intent: Arc<str>,
    task: Option<Arc<str>>,
    entities: Option<Vec<Arc<str>>>,
    time: Option<Arc<str>>,
    reasoning: Arc<str>,
    ignored: Vec<String>,
}

fn read(input: &Json) -> Result<Order, String> {
    let mut arguments = Arguments::read(Verb::Delegate.name(), EXAMPLE, input)?;
    Ok(Order {
        intent: arguments.needed(&["intent"])?,
        task: arguments.text(&["task", "prompt", "message"])?,
        entities: arguments.texts(&["relevantEntities", "relevant_entities"])?,
        time: arguments.text(&["timeConstraints", "time_constraints"])?,
        reasoning: arguments.needed(&["delegationReasoning", "delegation_reasoning", "reasoning"])?,
        ignored: arguments.ignored(),
    })
}

fn target(policy: &Policy, intent: &str) -> Result<Arc<str>, String> {
    if let Some((_, agent)) = policy.delegates.iter().find(|(known, _)| &**known == intent) {
        return Ok(agent.clone());
    }
    let known = policy.delegates.iter().map(|(intent, _)| &**intent).collect::<Vec<_>>().join(", ");
    let what = if intent.starts_with("delegate_") {
        "leads to nobody"
    } else {
        "is nothing to hand over: answer it yourself, or use an intent that is"
    };
    Err(format!("the intent '{intent}' {what}; there are: {known} (policy.delegates)"))
}

/// What the target is told besides its task, as JSON text.
fn told(moment: &Moment<'_>, order: &Order, target: &Arc<str>, asked: Arc<str>) -> Result<Arc<str>, String> {
    let created = &moment.thread.created;
    let preferences = moment.facts.preferences(target).to_vec();
    let history = said(moment.thread);
    let mut context = DelegationContext {
        parent_agent: created.role.name.clone(),
        target_agent: target.clone(),
        relevant_entities: order.entities.clone(),
        time_constraints: order.time.clone(),
        user_preferences: (!preferences.is_empty()).then_some(preferences),
        conversation_history: (!history.is_empty()).then_some(history),
        original_user_message: asked,
        delegation_reasoning: order.reasoning.clone(),
    };
    context.check(&created.policy)?;
    context.fit(created.policy.max_context_tokens)?;
    Ok(Json::of(&context).text().into())
}

/// The words that the person said last.
fn last_asked(thread: &Thread) -> Option<Arc<str>> {
    let parts = thread.talk.messages().iter().rev().flat_map(|message| message.parts.iter().rev());
    parts.into_iter().find_map(asked)
}

fn asked(part: &Part) -> Option<Arc<str>> {
    match part {
        Part::Text { text, origin: Origin::Person | Origin::Brief } => Some(text.clone()),
        Part::Text { .. } | Part::ToolCall { .. } | Part::ToolResult { .. } | Part::Opaque { .. } => None,
    }
}

/// What was said in the conversation: words alone, no calls and no results, and not what was asked last.
fn said(thread: &Thread) -> Vec<Said> {
    let parts: Vec<&Part> = thread.talk.messages().iter().flat_map(|message| &message.parts).collect();
    let newest = parts.iter().rposition(|part| asked(part).is_some());
    let others = parts.iter().enumerate().filter(|(at, _)| Some(*at) != newest);
    others.filter_map(|(_, part)| words(part)).collect()
}

fn words(part: &Part) -> Option<Said> {
    let Part::Text { text, origin } = part else { return None };
    let role = match origin {
        Origin::Person | Origin::Brief | Origin::Steer => Speaker::User,
        Origin::House => Speaker::System,
        Origin::Model => Speaker::Assistant,
    };
    (!text.trim().is_empty()).then(|| Said { role, content: text.clone() })
}
