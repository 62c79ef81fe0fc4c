//! ZILEO's words: when a sub-agent starts, completes or fails, and when a person is asked (ZILEO-22, ZILEO-25, ZILEO-26).
//!
//! Its stream names each sub-agent by workflow, parent and self; a line of it needs nothing that came before.

use agent::policy::VERBS;
use agent::tools::Risk;
use agent::{Json, ThreadId};
use serde::Serialize;

use crate::Frame;
use crate::frame::{Body, Child, ChildData, ChildEnd};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    SubAgentStart(SubAgent<'a>),
    SubAgentComplete(SubAgent<'a>),
    SubAgentError(SubAgent<'a>),
    ValidationRequired {
        validation_id: &'a str,
        workflow_id: ThreadId,
        agent_id: &'a ThreadId,
        validation_type: ValidationType,
        operation: &'a str,
        details: &'a Json,
        risk_level: Risk,
    },
    ValidationResolved {
        validation_id: &'a str,
        workflow_id: ThreadId,
        status: ValidationStatus,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
}

#[derive(Serialize)]
struct SubAgent<'a> {
    workflow_id: &'a ThreadId,
    parent_agent_id: Option<&'a ThreadId>,
    sub_agent_id: &'a ThreadId,
    sub_agent_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Data<'a>>,
}

#[derive(Serialize)]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    metrics: Metrics,
}

#[derive(Serialize)]
struct Metrics {
    duration_ms: u64,
    tokens_input: u64,
    tokens_output: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ValidationType {
    SubAgent,
    Tool,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ValidationStatus {
    Approved,
    Rejected,
}

/// The frame as a line of ZILEO's.
pub(super) fn map(frame: &Frame) -> Option<String> {
    let line = match &frame.body {
        Body::SubAgentStart(begin) => Line::SubAgentStart(sub_agent(&begin.child, None)),
        Body::SubAgentComplete(end) => Line::SubAgentComplete(ended(end)),
        Body::SubAgentError(end) => Line::SubAgentError(ended(end)),
        Body::ValidationRequired { validation_id, tool_name, input, effect, risk_level, .. } => {
            let is_verb = VERBS.contains(&&**tool_name);
            Line::ValidationRequired {
                validation_id: validation_id.as_str(),
                workflow_id: frame.thread.root(),
                agent_id: &frame.thread,
                validation_type: if is_verb { ValidationType::SubAgent } else { ValidationType::Tool },
                operation: effect,
                details: input,
                risk_level: *risk_level,
            }
        }
        Body::ValidationResolved { validation_id, decision, reason, .. } => Line::ValidationResolved {
            validation_id: validation_id.as_str(),
            workflow_id: frame.thread.root(),
            status: if *decision == "approved" { ValidationStatus::Approved } else { ValidationStatus::Rejected },
            reason: reason.as_deref(),
        },
        _ => return None,
    };
    Some(serde_json::to_string(&line).expect("a line holds only text, numbers and JSON"))
}

fn ended(end: &ChildEnd) -> SubAgent<'_> {
    sub_agent(&end.child, Some(data(&end.data)))
}

fn sub_agent<'a>(child: &'a Child, data: Option<Data<'a>>) -> SubAgent<'a> {
    SubAgent {
        workflow_id: &child.workflow_id,
        parent_agent_id: child.parent_agent_id.as_ref(),
        sub_agent_id: &child.sub_agent_id,
        sub_agent_name: &child.sub_agent_name,
        data,
    }
}

fn data(data: &ChildData) -> Data<'_> {
    Data {
        report: Some(&*data.report).filter(|report| !report.is_empty()),
        // Also beside a result that is not whole, where it says why there is no more of it.
        error: data.error.as_deref(),
        metrics: Metrics {
            duration_ms: data.metrics.duration_ms,
            tokens_input: data.metrics.tokens_input,
            tokens_output: data.metrics.tokens_output,
        },
    }
}
