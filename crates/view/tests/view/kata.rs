//! Kata's words, held against what its seed says of `Task` and of those inside it.

use agent::event::VerdictKind;
use agent::{CallId, Event, Outcome, Report};
use majordomo_view::Dialect;
use serde_json::{Value, json};

use crate::family::{Family, id, report};
use crate::story::{self, Record};

fn lines(events: &[Record]) -> Vec<Value> {
    let mut kata = Dialect::named("kata").expect("the dialect exists");
    let frames = story::frames(events);
    frames.iter().filter_map(|frame| kata.map(frame)).map(|line| line.parse().expect("a line is JSON")).collect()
}

fn of<'a>(lines: &'a [Value], kind: &str, tool_use_id: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind && line["toolUseId"] == tool_use_id).collect()
}

fn told(line: &Value) -> String {
    let word = |key: &str| line[key].as_str().unwrap_or("-");
    let what = match word("type") {
        "tool_start" | "tool_result" | "tool_progress" => format!("{} {}", word("toolName"), word("toolUseId")),
        "text" => "…".to_owned(),
        _ => word("agentId").to_owned(),
    };
    format!("{} {what} in {}", word("type"), word("parentToolUseId"))
}

// KATA-1, KATA-2, KATA-3, KATA-4, KATA-23
#[test]
fn a_sub_agent_is_a_task_and_everything_inside_it_points_to_that_task() {
    let told: Vec<String> = lines(&story::events("one_child")).iter().map(told).collect();
    assert_eq!(
        told,
        [
            "text … in -",
            "tool_start Task tu_9 in -",
            "subagent_start 20260115-k3f9.1 in -",
            "tool_progress Task tu_9 in -",
            "tool_start list_dir tu_10 in tu_9",
            "tool_start read_file tu_11 in tu_9",
            "tool_result list_dir tu_10 in tu_9",
            "tool_result read_file tu_11 in tu_9",
            "text … in tu_9",
            "tool_progress Task tu_9 in -",
            "subagent_stop 20260115-k3f9.1 in -",
            "tool_result Task tu_9 in -",
            "text … in -",
        ]
    );
}

// KATA-1, KATA-5, KATA-6, KATA-15
#[test]
fn a_task_says_what_is_asked_of_whom_from_its_only_start_on() {
    let lines = lines(&story::events("a_child_over_budget"));
    let starts = of(&lines, "tool_start", "tu_1");
    let [start] = starts.as_slice() else { panic!("one call, one start: {starts:?}") };
    assert_eq!(
        start["input"],
        json!({"prompt": "Find every unwrap", "subagent_type": "explore", "description": "scout"})
    );
    assert_eq!(start["toolName"], "Task");
    let result = of(&lines, "tool_result", "tu_1")[0];
    assert_eq!(result["result"], "Two files so far; the rest is unread.");
    assert!([start, &result].iter().all(|line| line["agentSlug"] == "explore"));
    let others = lines.iter().filter(|line| line["toolUseId"] != "tu_1" && line["type"] != "subagent_start");
    assert!(others.filter(|line| line["type"] != "subagent_stop").all(|line| line.get("agentSlug").is_none()));
}

// KATA-12, KATA-14, KATA-23
#[test]
fn a_call_starts_once_and_then_has_its_one_result_in_every_story() {
    for story in story::names() {
        let lines = lines(&story::events(&story));
        let mut ids: Vec<_> = lines.iter().filter_map(|line| line["toolUseId"].as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let (starts, results) = (of(&lines, "tool_start", id).len(), of(&lines, "tool_result", id).len());
            assert!(starts <= 1 && results <= 1, "{story}: {id} starts {starts} times and ends {results} times");
            let place = |kind: &str| lines.iter().position(|line| line["type"] == kind && line["toolUseId"] == id);
            let (start, result) = (place("tool_start"), place("tool_result"));
            assert!(start.is_none() || result.is_none() || start < result, "{story}: {id} ends before it starts");
        }
    }
}

// KATA-13
#[test]
fn a_sub_agent_that_is_over_has_left_no_call_open_in_any_story() {
    for story in story::names() {
        let lines = lines(&story::events(&story));
        for task in lines.iter().filter(|line| line["type"] == "tool_result" && line["toolName"] == "Task") {
            let inside = lines.iter().filter(|line| line["parentToolUseId"] == task["toolUseId"]);
            for start in inside.filter(|line| line["type"] == "tool_start") {
                let call = start["toolUseId"].as_str().expect("a call has a name");
                assert_eq!(of(&lines, "tool_result", call).len(), 1, "{story}: {call}");
            }
        }
    }
}

// KATA-2, KATA-10
#[test]
fn a_call_that_starts_several_sub_agents_holds_a_task_for_each() {
    let lines = lines(&story::events("two_children_and_one_queued"));
    assert_eq!(of(&lines, "tool_start", "tu_1")[0]["toolName"], "delegate_task");
    for number in 1..=3 {
        let task = format!("20260115-p4rx.{number}");
        assert_eq!(of(&lines, "tool_start", &task)[0]["parentToolUseId"], "tu_1");
        assert_eq!(of(&lines, "tool_result", &task).len(), 1);
    }
    assert_eq!(of(&lines, "tool_start", "tu_2")[0]["parentToolUseId"], "20260115-p4rx.2");
    assert_eq!(of(&lines, "tool_result", "tu_1").len(), 1);
}

// KATA-11, KATA-17
#[test]
fn a_task_in_a_task_points_to_the_one_around_it() {
    let mut family = Family::default();
    family.created("r", "root").run_started("r", "go").turn_started("r", 1);
    for (parent, child) in [("r", "r.1"), ("r.1", "r.1.1")] {
        family.called(parent, &[(&format!("call-{child}"), "spawn_agent", "{}", VerdictKind::Verb)]);
        family.spawned(parent, child, false).created(child, "helper").turn_started(child, 1);
    }
    family.called("r.1.1", &[("tu_9", "read_file", "{}", VerdictKind::Verb)]);
    family.log("r.1.1", Event::ToolStarted { call: CallId::new("tu_9") });
    let lines = lines(&family.0);
    let parents: Vec<_> = ["call-r.1", "call-r.1.1", "tu_9"]
        .map(|call| of(&lines, "tool_start", call)[0]["parentToolUseId"].clone())
        .into_iter()
        .collect();
    assert_eq!(parents, [Value::Null, json!("call-r.1"), json!("call-r.1.1")]);
}

// KATA-19: what is inside of what is known by ids alone. However the calls of two tasks come in between each other, each is inside its own.
#[test]
fn no_order_of_events_changes_what_is_inside_of_what() {
    for order in (0..64_u8).filter(|order| order.count_ones() == 3) {
        let mut family = Family::default();
        family.created("r", "root").run_started("r", "go").turn_started("r", 1);
        let both = ["r.1", "r.2"];
        let calls = both.map(|child| format!("call-{child}"));
        family.called("r", &calls.each_ref().map(|call| (&**call, "spawn_agent", "{}", VerdictKind::Verb)));
        for child in both {
            family.spawned("r", child, false).created(child, "helper").turn_started(child, 1);
        }
        for number in 0..6 {
            let child = both[usize::from(order >> number & 1)];
            let call = format!("{child}-{number}");
            family.called(child, &[(&call, "read_file", "{}", VerdictKind::Verb)]);
            family.log(child, Event::ToolStarted { call: CallId::new(call) });
        }
        let lines = lines(&family.0);
        let inside = |child: &str| -> Vec<&str> {
            let starts = lines.iter().filter(|line| line["type"] == "tool_start");
            let own = starts.filter(|line| line["parentToolUseId"] == format!("call-{child}"));
            own.filter_map(|line| line["toolUseId"].as_str()).collect()
        };
        for child in both {
            let own = inside(child);
            assert!(own.len() == 3 && own.iter().all(|call| call.starts_with(child)), "{order:06b}: {own:?}");
        }
    }
}

/// How the end of a sub-agent is told.
fn ended(outcome: Outcome, background: bool) -> Value {
    let mut family = Family::default();
    family.created("r", "root").run_started("r", "go").turn_started("r", 1);
    family.called("r", &[("call-r.1", "spawn_agent", "{}", VerdictKind::Verb)]).spawned("r", "r.1", false);
    if let Some(Event::ChildSpawned(spawned)) = family.0.last_mut().map(|record| &mut record.event) {
        spawned.background = background;
    }
    let report = Report { reason: Some("because".into()), ..report(outcome) };
    family.log("r", Event::ChildReported { child: id("r.1"), report: Box::new(report), told: None });
    lines(&family.0).pop().expect("an end is told")
}

// C12
#[test]
fn every_outcome_is_a_completed_or_a_failed_call() {
    let told = Outcome::ALL.map(|outcome| {
        let line = ended(outcome, false);
        assert_eq!((&line["type"], &line["result"]), (&json!("tool_result"), &json!("because")));
        assert_eq!(line["isError"] == true, line["status"] == "error");
        line["status"].as_str().unwrap_or_default().to_owned()
    });
    assert_eq!(told, ["completed", "error", "completed", "error", "error", "error", "error", "error"]);
}

// KATA-21, C12
#[test]
fn a_sub_agent_that_nobody_waits_for_is_told_of_apart_when_it_ends() {
    let told = Outcome::ALL.map(|outcome| {
        let line = ended(outcome, true);
        assert_eq!((&line["type"], &line["taskId"]), (&json!("task_notification"), &json!("call-r.1")));
        line["status"].as_str().unwrap_or_default().to_owned()
    });
    assert_eq!(told, ["completed", "failed", "completed", "failed", "failed", "stopped", "failed", "failed"]);
    let lines = lines(&story::events("a_background_child"));
    let answered = lines.iter().position(|line| line["type"] == "tool_result" && line["toolUseId"] == "tu_1");
    let noticed = lines.iter().position(|line| line["type"] == "task_notification");
    assert!(answered.is_some() && answered < noticed);
}
