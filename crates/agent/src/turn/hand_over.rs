//! Work is handed over: an intent leads to an agent, which is told all that it should know and answers with one object.
//!
//! Which intent leads where is data (`policy.delegates`). Whether the child is accepted, and with what, is decided in `spawn.rs`
//! as for every other.

use std::sync::Arc;

use crate::brief::Brief;
use crate::delegation::{DelegationContext, Said, Speaker};
use crate::id::CallId;
use crate::json::Json;
use crate::machine::Moment;
use crate::message::{Origin, Part};
use crate::policy::ContextMode;
use crate::thread::Thread;
use crate::turn::spawn::ChildRequest;
use crate::turn::verbs;
use crate::vocabulary::HandOver;

/// Hands work over, or says why not.
pub fn start(moment: &mut Moment<'_>, call: &CallId, order: &HandOver, siblings: u32) -> Result<(), String> {
    if moment.facts.catalog.agent(&order.agent).is_none() {
        return Err(format!("Unknown agent type: {}", order.agent));
    }
    let asked = last_asked(moment.thread).unwrap_or_default();
    let task = order.task.clone().unwrap_or_else(|| asked.clone());
    let context = match moment.thread.created.policy.context {
        ContextMode::Brief => None,
        ContextMode::Structured => Some(told(moment, order, asked)?),
    };
    let brief = Brief { context, ..Brief::task(task.clone()) };
    let request = ChildRequest { task, agent: Some(order.agent.clone()), ..ChildRequest::default() };
    verbs::start_one(moment, call, &request, brief, siblings)
}

/// What the target is told besides its task, as JSON text.
fn told(moment: &Moment<'_>, order: &HandOver, asked: Arc<str>) -> Result<Arc<str>, String> {
    let created = &moment.thread.created;
    let preferences = moment.facts.preferences(&order.agent).to_vec();
    let history = said(moment.thread);
    let mut context = DelegationContext {
        parent_agent: created.role.name.clone(),
        target_agent: order.agent.clone(),
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
        Part::Text { .. }
        | Part::ToolCall { .. }
        | Part::ToolResult { .. }
        | Part::Attached(_)
        | Part::Opaque { .. } => None,
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
        Origin::Program => Speaker::System,
        Origin::Model => Speaker::Assistant,
    };
    (!text.trim().is_empty()).then(|| Said { role, content: text.clone() })
}
