//! Lace's dialect: threads and texts, and nothing else.

use agent::{Mode, ThreadId, Time};
use majordomo_view::Dialect;
use majordomo_view::frame::{Body, Frame};
use serde_json::{Value, json};

fn frame(thread: &str, body: Body) -> Frame {
    Frame {
        seq: 1,
        at: Time(1_768_471_200_000),
        run: ThreadId::new("20260115-k3f9"),
        thread: ThreadId::new(thread),
        agent: "general".into(),
        parent_tool_use_id: None,
        body,
    }
}

fn line(body: Body) -> Option<Value> {
    let mut lace = Dialect::named("lace").expect("a dialect");
    lace.map(&frame("20260115-k3f9.1", body)).map(|line| serde_json::from_str(&line).expect("JSON"))
}

// LACE-9, LACE-10
#[test]
fn a_thread_is_told_with_its_parent_its_provider_and_its_model() {
    let created = Body::ThreadCreated {
        name: "general-t1".into(),
        parent: Some(ThreadId::new("20260115-k3f9")),
        model: "ollama/llama3:8b".into(),
        mode: Mode::Ask,
        preset: "lace".into(),
        workspace: "/work".into(),
    };
    let told = json!({
        "type": "thread_created", "threadId": "20260115-k3f9.1", "parentThreadId": "20260115-k3f9",
        "name": "general-t1", "provider": "ollama", "model": "llama3:8b",
    });
    assert_eq!(line(created), Some(told));
}

#[test]
fn what_is_told_to_a_thread_is_a_notification_and_what_it_says_a_text() {
    let told = line(Body::Steered { from: "board /work".into(), content: "[LACE TASK SYSTEM] …".into() });
    assert_eq!(
        told,
        Some(json!({ "type": "task_notification", "threadId": "20260115-k3f9.1", "text": "[LACE TASK SYSTEM] …" }))
    );
    let said = line(Body::Text { content: "Done.".into(), offers: Vec::new() });
    assert_eq!(said, Some(json!({ "type": "text", "threadId": "20260115-k3f9.1", "content": "Done." })));
    assert_eq!(line(Body::AgentStart {}), None);
}

// LACE-10, LACE-11: the assignment, and a notice that wakes a thread
#[test]
fn what_wakes_a_thread_is_a_notification_too() {
    let woken = Body::Notification { kind: majordomo_view::Notice::Task, message: "[LACE TASK SYSTEM] …".into() };
    let told = json!({ "type": "task_notification", "threadId": "20260115-k3f9.1", "text": "[LACE TASK SYSTEM] …" });
    assert_eq!(line(woken), Some(told));
    let other = Body::Notification { kind: majordomo_view::Notice::Reopened, message: "…".into() };
    assert_eq!(line(other), None);
}
