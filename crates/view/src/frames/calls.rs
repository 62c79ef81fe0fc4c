//! Frames of tool calls: each begins at most once, and has one result.
//!
//! A verb is a call that Majordomo answers itself; it begins with the event that shows that it was accepted, so that a group of
//! a sub-agent's frames has its row (KATA-1). A call that is refused never begins.

use std::sync::Arc;

use agent::approval::{Approval, ApprovalId, ApprovalKind, Resolution};
use agent::event::{Answered, MadeCall, VerdictKind};
use agent::message::Part;
use agent::tools::{ASK_USER, CHECKS, ToolResult};
use agent::{CallId, Json, ThreadId};

use super::{Bodies, FRAMES_PER_EVENT, Frames};
use crate::frame::Body;
use crate::known::checks_input;
use crate::{Notice, clock};

/// Refusals of one answer that have a frame each; the rest is one sentence. Leaves room for the answer's other frames.
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
    /// Keeps the calls of an answer, and makes the frames of those that were refused with it.
    pub(super) fn tell_calls(&mut self, thread: &ThreadId, answered: &Answered, out: &mut Bodies) {
        let emitted = self.emitted(thread);
        for MadeCall { call: id, name, input, verdict } in answered.calls() {
            let is_verb = match verdict.map(|verdict| &verdict.what) {
                Some(VerdictKind::Refused { reason, .. }) => {
                    if emitted.refused.insert(id.clone()) && emitted.refused.len() <= MAX_REFUSALS {
                        out.push((thread.clone(), refusal(id, &name, reason)));
                    }
                    continue;
                }
                Some(VerdictKind::Verb | VerdictKind::VerbAsked) => true,
                Some(VerdictKind::Run { .. } | VerdictKind::Asked { .. }) | None => false,
            };
            let call = OpenCall { name, input: in_one_line(&input), is_verb, is_begun: false, agent_slug: None };
            emitted.calls.insert(id.clone(), call);
        }
        if let Some(more) = emitted.refused.len().checked_sub(MAX_REFUSALS + 1) {
            let message = format!("{} more calls of this answer were refused", more + 1);
            out.push((thread.clone(), Body::Notification { kind: Notice::CallsRefused, message }));
        }
    }

    /// A person may have put other arguments in the place of the agent's.
    pub(super) fn change_input(&mut self, thread: &ThreadId, id: &CallId, resolution: &Resolution) {
        if let Resolution::Allowed { input: Some(input), .. } = resolution
            && let Some(call) = self.emitted(thread).calls.get_mut(id)
        {
            call.input = in_one_line(input);
        }
    }

    /// The frame of a call that is carried out; a second time there is none (KATA-14).
    pub(super) fn tell_call_started(
        &mut self,
        thread: &ThreadId,
        id: &CallId,
        agent: Option<&Arc<str>>,
        out: &mut Bodies,
    ) {
        let Some(call) = self.emitted(thread).calls.get_mut(id) else { return };
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

    /// The checks of a brief are shown as a call that the agent did not make itself.
    pub(super) fn tell_checks(&mut self, thread: &ThreadId, id: &CallId, commands: &[Arc<str>], out: &mut Bodies) {
        let (name, input) = (CHECKS.into(), checks_input(commands));
        let call = OpenCall { name, input, is_verb: false, is_begun: false, agent_slug: None };
        self.emitted(thread).calls.insert(id.clone(), call);
        self.tell_call_started(thread, id, None, out);
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
        let Some(call) = self.emitted(thread).calls.get(id) else { return };
        // A question to a person is answered without a tool that begins.
        let is_answer = !call.is_begun && !result.is_error && *call.name == *ASK_USER;
        if is_answer || call.is_verb && !result.is_error {
            self.tell_call_started(thread, id, None, out);
        }
        let Some(call) = self.emitted(thread).calls.remove(id) else { return };
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

/// A person is asked.
pub(super) fn question(approval: &Approval) -> Body {
    Body::ValidationRequired {
        kind: approval.kind(),
        validation_id: approval.id.clone(),
        tool_use_id: approval.call.clone(),
        tool_name: approval.tool.clone(),
        input: in_one_line(&approval.input),
        digest: approval.digest.clone(),
        path: approval.path.clone(),
        workspace: approval.workspace.clone(),
        why: approval.why.clone(),
        effect: approval.effect.clone(),
        risk_level: approval.risk,
        protected: approval.protected.clone(),
        foreign: approval.foreign,
        standing: approval.standing.clone(),
        question: approval.question.clone(),
        expires_at: clock::timestamp(approval.expires_at),
    }
}

/// What came of a question.
pub(super) fn decision(kind: ApprovalKind, approval: &ApprovalId, call: &CallId, resolution: &Resolution) -> Body {
    let (mut scope, mut input, mut reason, mut answer) = (None, None, None, None);
    match resolution {
        Resolution::Allowed { scope: given, input: edited, .. } => {
            (scope, input) = (Some(*given), edited.as_ref().map(in_one_line));
        }
        Resolution::Answered { text } => answer = Some(text.clone()),
        Resolution::Denied { reason: given } => reason.clone_from(given),
        Resolution::Withdrawn { reason: why } => reason = Some(why.clone()),
        Resolution::Forbidden { rule } | Resolution::Expired { rule } | Resolution::Unanswered { rule } => {
            reason = Some(rule.clone());
        }
    }
    let (validation_id, tool_use_id, decision) = (approval.clone(), call.clone(), resolution.as_str());
    Body::ValidationResolved { kind, validation_id, tool_use_id, decision, scope, input, reason, answer }
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
