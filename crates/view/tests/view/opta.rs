//! Opta's words for our outcomes.

use agent::{Outcome, Time};
use majordomo_view::frame::{Child, ChildData, ChildEnd};
use majordomo_view::{Body, Dialect, Frame};
use serde_json::Value;

use crate::family::{id, report};

/// The line in which a child's end is told.
fn ended(outcome: Outcome, text: &str) -> Value {
    let report = agent::Report { text: text.into(), reason: Some("because".into()), ..report(outcome) };
    let child = Child {
        workflow_id: id("r"),
        parent_agent_id: Some(id("r")),
        sub_agent_id: id("r.1"),
        sub_agent_name: "helper".into(),
        path: Vec::new(),
        tool_use_id: None,
    };
    let end = ChildEnd { child, turn: 1, data: ChildData::of(&report) };
    let frame = Frame {
        seq: 1,
        at: Time(0),
        run: id("r"),
        thread: id("r.1"),
        agent: "helper".into(),
        parent_tool_use_id: None,
        body: Body::SubAgentError(end),
    };
    let line = Dialect::named("opta").and_then(|mut opta| opta.map(&frame)).expect("an end is told");
    serde_json::from_str(&line).expect("a line is JSON")
}

// OPTA-8, C12
#[test]
fn every_outcome_has_a_phase_a_status_and_what_tells_it_apart() {
    let told = Outcome::ALL.map(|outcome| {
        let line = ended(outcome, "");
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (word(&line["phase"]), word(&line["result"]["status"]), word(&line["result"]["response"]))
    });
    let expected = [
        ("done", "completed", "because"),
        ("error", "error", "[ERROR] because"),
        ("done", "budget_exceeded", "because"),
        ("timeout", "timeout", "because"),
        ("error", "error", "[REFUSED] because"),
        ("cancelled", "error", "[CANCELLED] because"),
        ("error", "error", "[ERROR] because"),
        ("error", "error", "[ERROR] because"),
    ];
    assert_eq!(told.each_ref().map(|(phase, status, response)| (&**phase, &**status, &**response)), expected);
}

// OPTA-25, OPTA-30
#[test]
fn partial_work_is_kept_in_the_response() {
    let response = |outcome, text| ended(outcome, text)["result"]["response"].as_str().map(str::to_owned);
    assert_eq!(response(Outcome::Timeout, "half").as_deref(), Some("half"));
    assert_eq!(response(Outcome::Cancelled, "half").as_deref(), Some("[CANCELLED] because\n\nhalf"));
}

// OPTA-8
#[test]
fn a_result_has_exactly_the_fields_of_its_seed() {
    let line = ended(Outcome::Completed, "done");
    let fields: Vec<_> =
        line["result"].as_object().expect("a result is an object").keys().map(String::as_str).collect();
    let expected = "durationMs filesModified filesRead response status taskId tokenEstimate toolCallCount";
    assert_eq!(fields, expected.split(' ').collect::<Vec<_>>());
}

#[test]
fn an_unknown_dialect_is_none() {
    assert!(Dialect::named("klingon").is_none());
    assert!(Dialect::NAMES.iter().all(|name| Dialect::named(name).is_some()));
}
