//! Lace's frames: which threads there are, what is told to them about tasks, and what their agents say (LACE-9, LACE-10, LACE-15).
//!
//! Lace knows threads and texts, so that frames of calls, states and figures have no line, and `done` says nothing but whose.

use serde::Serialize;

use crate::frame::Body;
use crate::{Frame, Notice};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Line<'a> {
    ThreadCreated {
        thread_id: &'a str,
        parent_thread_id: Option<&'a str>,
        name: &'a str,
        provider: &'a str,
        model: &'a str,
    },
    TaskNotification {
        thread_id: &'a str,
        text: &'a str,
    },
    Text {
        thread_id: &'a str,
        content: &'a str,
    },
    Done {
        thread_id: &'a str,
    },
}

/// The frame as a line of Lace's.
pub(super) fn map(frame: &Frame) -> Option<String> {
    let thread_id = frame.thread.as_str();
    let line = match &frame.body {
        Body::ThreadCreated { name, parent, model, .. } => {
            let (provider, model) = model.split_once('/').unwrap_or(("", model));
            let parent_thread_id = parent.as_ref().map(agent::ThreadId::as_str);
            Line::ThreadCreated { thread_id, parent_thread_id, name, provider, model }
        }
        Body::Steered { content, .. } => Line::TaskNotification { thread_id, text: content },
        Body::Notification { kind: Notice::Task, message } => Line::TaskNotification { thread_id, text: message },
        Body::Text { content, .. } => Line::Text { thread_id, content },
        Body::Done(_) => Line::Done { thread_id },
        _ => return None,
    };
    Some(serde_json::to_string(&line).expect("a line holds only text"))
}
