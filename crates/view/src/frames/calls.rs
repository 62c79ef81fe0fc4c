//! Frames of tool calls: each begins at most once, and has one result.
//!
//! A verb is a call that the house answers; it begins with the event that shows that it was accepted, so that a group of
//! a sub-agent's frames has its row (KATA-1). A call that is refused never begins.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::event::{Answered, VerdictKind};
use agent::message::Part;
use agent::tools::ToolResult;
use agent::{CallId, Json, ThreadId};

use super::{Bodies, FRAMES_PER_EVENT, Frames};
use crate::Notice;
use crate::frame::Body;

/// Refusals of one answer that are told one by one; the rest is told in one sentence. Leaves room for the answer's other frames.
const MAX_REFUSALS: usize = FRAMES_PER_EVENT as usize - 100;

/// A call that has no result yet.
#[derive(Clone, Debug)]
pub(super) struct OpenCall {
    name: Arc<str>,
    input: Json,
    is_verb: bool,
    is_begun: bool,
    agent_slug: Option<Arc<str>>,
}

impl Frames {
    /// Keeps the calls of an answer in mind, and tells of those that were refused with it.
    pub(super) fn tell_calls(&mut self, thread: &ThreadId, answered: &Answered, out: &mut Bodies) {
        let verdicts: BTreeMap<_, _> = answered.verdicts.iter().map(|verdict| (&verdict.call, &verdict.what)).collect();
        let told = self.told(thread);
        for part in &answered.parts {
            let Part::ToolCall { id, name, input } = part else { continue };
            let is_verb = match verdicts.get(id) {
                Some(VerdictKind::Refused { reason, .. }) => {
                    if told.refused.insert(id.clone()) && told.refused.len() <= MAX_REFUSALS {
                        out.push((thread.clone(), refusal(id, name, reason)));
                    }
                    continue;
                }
                Some(VerdictKind::Verb) => true,
                Some(VerdictKind::Run { .. }) | None => false,
            };
            let call =
                OpenCall { name: name.clone(), input: in_one_line(input), is_verb, is_begun: false, agent_slug: None };
            told.calls.insert(id.clone(), call);
        }
        if let Some(more) = told.refused.len().checked_sub(MAX_REFUSALS + 1) {
            let message = format!("{} more calls of this answer were refused", more + 1);
            out.push((thread.clone(), Body::Notification { kind: Notice::CallsRefused, message }));
        }
    }

    /// Tells that a call is carried out; a second time it tells nothing (KATA-14).
    pub(super) fn tell_call_started(
        &mut self,
        thread: &ThreadId,
        id: &CallId,
        agent: Option<&Arc<str>>,
        out: &mut Bodies,
    ) {
        let Some(call) = self.told(thread).calls.get_mut(id) else { return };
        if std::mem::replace(&mut call.is_begun, true) {
            return;
        }
        call.agent_slug = agent.cloned();
        let body = Body::ToolStart {
            tool_use_id: id.clone(),
            tool_name: call.name.clone(),
            input: call.input.clone(),
            agent_slug: call.agent_slug.clone(),
        };
        out.push((thread.clone(), body));
    }

    /// Tells a call's result, once.
    pub(super) fn tell_call_finished(
        &mut self,
        thread: &ThreadId,
        id: &CallId,
        result: &ToolResult,
        duration_ms: Option<u64>,
        out: &mut Bodies,
    ) {
        let Some(call) = self.told(thread).calls.get(id) else { return };
        if call.is_verb && !result.is_error {
            self.tell_call_started(thread, id, None, out);
        }
        let Some(call) = self.told(thread).calls.remove(id) else { return };
        let body = Body::ToolResult {
            tool_use_id: id.clone(),
            tool_name: call.name,
            output: result.content.clone(),
            is_error: result.is_error,
            duration_ms,
            agent_slug: call.agent_slug,
        };
        out.push((thread.clone(), body));
    }
}

/// The words of an answer, as one message.
pub(super) fn spoken(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } if !text.is_empty() => Some(text.as_ref()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// JSON that a model laid out over several lines, in one. Within valid JSON a line break stands only between tokens.
pub(super) fn in_one_line(json: &Json) -> Json {
    if !json.text().contains(['\n', '\r']) {
        return json.clone();
    }
    Json::parse(&json.text().replace(['\n', '\r'], " ")).expect("JSON stays JSON when blanks replace its line breaks")
}

fn refusal(id: &CallId, name: &Arc<str>, reason: &Arc<str>) -> Body {
    Body::ToolResult {
        tool_use_id: id.clone(),
        tool_name: name.clone(),
        output: reason.clone(),
        is_error: true,
        duration_ms: None,
        agent_slug: None,
    }
}
