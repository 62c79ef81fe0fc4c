//! Inputs that answer nothing mean nothing (F28): they come late, twice, or from nowhere.

use majordomo_agent::model::{Answer, CallError, CallErrorKind, StopReason};
use majordomo_agent::policy::Policy;
use majordomo_agent::tools::ToolResult;
use majordomo_agent::{CallId, Input, Outcome, ThreadId, Usage};

use super::room::{Room, report};

#[test]
fn an_input_that_answers_nothing_changes_nothing() {
    let mut asking = Room::new(Policy::default());
    asking.calls(&[("read_file", r#"{"path":"a"}"#)]);
    asking.returns("c1", "text");
    let mut acting = Room::new(Policy::default());
    acting.calls(&[("read_file", r#"{"path":"a"}"#), ("spawn_agent", r#"{"task":"t","background":true}"#)]);
    acting.reports("r.1", Outcome::Completed, Usage::default());
    let mut over = Room::new(Policy::default());
    over.says("Done.");
    for mut room in [asking, acting, over] {
        for input in strays() {
            let before = room.thread.clone();
            let (events, effects) = (room.events.len(), room.effects.len());
            room.hears(input.clone());
            assert_eq!((room.events.len(), room.effects.len()), (events, effects), "{input:?}");
            assert_eq!(room.thread, before, "{input:?}");
        }
    }
}

/// Answers to a turn that is over, a call that has its result, a child that has reported or never was.
fn strays() -> Vec<Input> {
    let answer =
        Answer { parts: Vec::new(), stop: StopReason::EndTurn, tokens: None, malformed: Vec::new(), cut_call: None };
    let error = CallError::new(CallErrorKind::Truncated, "cut");
    let told = |call: &str| Input::ChildTold { call: CallId::new(call), delivered: true };
    let reported = |child: &str| Input::ChildReported {
        child: ThreadId::new(child),
        report: Box::new(report(Outcome::Completed, Usage { counted_tokens: 1000, ..Usage::default() })),
    };
    let finished = |call: &str| Input::ToolFinished { call: CallId::new(call), result: ToolResult::ok("late") };
    vec![
        Input::Begin,
        Input::Arrived,
        Input::ModelAnswered { turn: 0, answer: answer.clone(), schema_error: None },
        Input::ModelAnswered { turn: 99, answer, schema_error: None },
        Input::ModelFailed { turn: 0, error },
        finished("c99"),
        finished("c2"),
        reported("r.1"),
        reported("r.9"),
        told("c2"),
        told("c99"),
        Input::ChecksFinished { call: CallId::new("check-1"), result: ToolResult::ok("late") },
        Input::TimePassed { heard: None },
    ]
}
