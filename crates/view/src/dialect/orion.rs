//! Orion's frames: which agent starts, delegates, completes and resumes, and what each one says (ORION-10..14).
//!
//! Orion knows a butler and those whom it asks, so that frames of their calls, states and figures have no line, and `done`
//! says nothing but that.

use std::sync::Arc;

use serde::Serialize;

use crate::frame::Body;
use crate::{Frame, clock};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    AgentStart { agent: &'a str, timestamp: String },
    AgentDelegate { from: &'a str, to: &'a str, timestamp: String },
    AgentComplete { agent: &'a str, timestamp: String },
    AgentResume { agent: &'a str, timestamp: String },
    Text { content: &'a str, agent: &'a str },
    Done {},
}

/// The frame as a line of Orion's.
pub(super) fn map(frame: &Frame) -> Option<String> {
    let agent: &Arc<str> = &frame.agent;
    let timestamp = || clock::timestamp(frame.at);
    let line = match &frame.body {
        Body::AgentStart {} => Line::AgentStart { agent, timestamp: timestamp() },
        Body::AgentDelegate { from, to, .. } => Line::AgentDelegate { from, to, timestamp: timestamp() },
        Body::AgentComplete { .. } => Line::AgentComplete { agent, timestamp: timestamp() },
        Body::AgentResume {} => Line::AgentResume { agent, timestamp: timestamp() },
        Body::Text { content, .. } => Line::Text { content, agent },
        Body::Done(_) => Line::Done {},
        _ => return None,
    };
    Some(serde_json::to_string(&line).expect("a line holds only text"))
}
