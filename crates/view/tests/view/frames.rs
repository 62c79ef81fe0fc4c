//! What holds for frames, whatever happened.

use std::collections::{BTreeMap, BTreeSet};

use agent::event::VerdictKind;
use agent::{Outcome, State};
use majordomo_view::{Body, Dialect, FRAMES_PER_EVENT, Frame, Frames, Lines, Notice};

use crate::family::{Family, id, refused};
use crate::story;

fn all_stories() -> Vec<(String, Vec<story::Record>, Vec<Frame>)> {
    let with_frames = |name: String| {
        let events = story::events(&name);
        let frames = story::frames(&events);
        (name, events, frames)
    };
    story::names().into_iter().map(with_frames).collect()
}

#[test]
fn the_stories_show_every_type_of_frame() {
    let seen: BTreeSet<_> = all_stories().iter().flat_map(|(_, _, frames)| frames.iter().map(Frame::kind)).collect();
    assert_eq!(seen, BTreeSet::from(Body::KINDS));
}

// ORION-15
#[test]
fn the_stories_show_every_state() {
    let seen: BTreeSet<_> = all_stories()
        .iter()
        .flat_map(|(_, _, frames)| frames)
        .filter_map(|frame| match &frame.body {
            Body::State { state } => Some(state.as_str()),
            _ => None,
        })
        .collect();
    let words =
        "idle initializing loading_context processing waiting_for_tool waiting_for_user delegating completing error";
    assert_eq!(seen, words.split(' ').collect());
}

#[test]
fn a_frame_is_one_line_that_begins_with_its_type() {
    for (story, _, frames) in all_stories() {
        for frame in frames {
            let line = frame.json();
            assert!(!line.contains('\n'), "{story}: {line}");
            assert!(line.starts_with(&format!(
                "{{\"type\":\"{}\",\"seq\":{},\"timestamp\":\"",
                frame.kind(),
                frame.seq
            )));
            serde_json::from_str::<serde_json::Value>(&line).expect("a frame is JSON");
        }
    }
}

#[test]
fn numbers_grow_strictly_and_lead_back_to_their_event() {
    for (story, events, frames) in all_stories() {
        assert!(frames.windows(2).all(|pair| pair[0].seq < pair[1].seq), "{story}");
        for frame in frames {
            let (event, seen) = Frames::resume_point(frame.seq);
            let event = events.iter().find(|record| record.seq == event).expect("the event is in the log");
            assert_eq!(event.at, frame.at, "{story}");
            assert_eq!((event.seq, seen), (frame.seq / FRAMES_PER_EVENT, frame.seq % FRAMES_PER_EVENT + 1));
        }
    }
}

// INV-1, ZILEO-22
#[test]
fn every_child_that_was_handed_work_ends_exactly_once_for_each_turn() {
    let mut children = 0;
    for (story, _, frames) in all_stories() {
        let (mut handed, mut begun) = (BTreeMap::new(), BTreeSet::new());
        let mut ends: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for frame in &frames {
            match &frame.body {
                Body::AgentDelegate { sub_agent_id, .. } => *handed.entry(sub_agent_id).or_insert(0) += 1,
                Body::SubAgentStart(begin) => {
                    assert!(begun.insert((&begin.child.sub_agent_id, begin.turn)), "{story}: a turn begins once");
                }
                Body::SubAgentComplete(end) | Body::SubAgentError(end) => {
                    assert!(handed.contains_key(&end.child.sub_agent_id), "{story}: a child is handed work first");
                    ends.entry((&end.child.sub_agent_id, end.turn)).or_default().push(frame.kind());
                }
                _ => {}
            }
        }
        children += handed.len();
        assert!(ends.values().all(|ends| ends.len() == 1), "{story}: {ends:?}");
        assert!(begun.iter().all(|turn| ends.contains_key(turn)), "{story}: {begun:?} {ends:?}");
        for (child, times) in handed {
            let turns = ends.keys().filter(|(ended, _)| *ended == child).count();
            assert!(turns >= times, "{story}: {child} was handed work {times} times and ended {turns} times");
        }
    }
    assert!(children > 8, "the stories hold {children} children");
}

#[test]
fn done_is_the_last_frame_of_its_run_and_agrees_with_the_usage_before_it() {
    for (story, _, frames) in all_stories() {
        let done = frames.iter().rposition(|frame| frame.kind() == "done").expect("a run ends");
        // Only what a person asks a sub-agent afterwards comes behind it.
        let asked = |frame: &Frame| matches!(&frame.body, Body::SubAgentStart(begin) if begin.turn > 1);
        let behind = &frames[done + 1..];
        assert!(behind.is_empty() || behind.iter().any(asked), "{story}");
        assert!(behind.iter().all(|frame| !frame.thread.is_root()), "{story}");
        let mut usage = None;
        for frame in frames.iter().filter(|frame| frame.thread.is_root()) {
            match &frame.body {
                Body::RunStarted { .. } => usage = None,
                Body::Usage { totals, .. } => usage = Some(*totals),
                Body::Done(done) => {
                    assert!(usage.is_none_or(|usage| usage == done.usage), "{story}: {usage:?} {done:?}");
                }
                _ => {}
            }
        }
    }
}

// KATA-1, KATA-2, KATA-14
#[test]
fn a_call_begins_at_most_once_has_one_result_and_is_never_its_own_parent() {
    for (story, _, frames) in all_stories() {
        let (mut begun, mut results) = (BTreeSet::new(), BTreeSet::new());
        for frame in &frames {
            let call = match &frame.body {
                Body::ToolStart { tool_use_id, .. } => {
                    assert!(begun.insert((&frame.thread, tool_use_id)), "{story}: {tool_use_id} begins twice");
                    tool_use_id
                }
                Body::ToolResult { tool_use_id, .. } => {
                    assert!(results.insert((&frame.thread, tool_use_id)), "{story}: {tool_use_id} has two results");
                    tool_use_id
                }
                _ => continue,
            };
            assert_ne!(Some(call), frame.parent_tool_use_id.as_ref(), "{story}");
            assert_eq!(frame.parent_tool_use_id.is_none(), frame.thread.is_root(), "{story}");
        }
        assert!(begun.is_subset(&results), "{story}: a call that began has no result");
    }
}

// ORION-11, ORION-13, ORION-14
#[test]
fn a_delegation_is_told_in_the_order_of_its_hand_overs() {
    let frames = story::frames(&story::events("one_child"));
    let told: Vec<_> = frames
        .iter()
        .filter(|frame| frame.kind().starts_with("agent_") || matches!(frame.kind(), "text" | "done"))
        .map(|frame| format!("{} {}", frame.kind(), frame.agent))
        .collect();
    let expected = [
        "agent_start butler",
        "text butler",
        "agent_delegate butler",
        "agent_start triage",
        "text triage",
        "agent_complete triage",
        "agent_resume butler",
        "text butler",
        "done butler",
    ];
    assert_eq!(told, expected);
}

// KATA-5
#[test]
fn the_call_that_starts_a_child_names_its_agent_and_the_childs_calls_name_that_call() {
    let frames = story::frames(&story::events("one_child"));
    let start = |name: &str| {
        let is_it = |frame: &&Frame| matches!(&frame.body, Body::ToolStart { tool_name, .. } if **tool_name == *name);
        serde_json::to_value(frames.iter().find(is_it).expect("the tool began")).unwrap()
    };
    assert_eq!(start("spawn_agent")["agent_slug"], "triage");
    assert_eq!(start("spawn_agent")["parent_tool_use_id"], serde_json::Value::Null);
    assert_eq!(start("read_file")["parent_tool_use_id"], start("spawn_agent")["tool_use_id"]);
    assert_eq!(start("read_file").get("agent_slug"), None);
}

#[test]
fn children_of_one_delegation_share_their_call_and_differ_in_their_thread() {
    let frames = story::frames(&story::events("two_children_and_one_queued"));
    let handed: Vec<_> = frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::AgentDelegate { tool_use_id, sub_agent_id, .. } => Some((tool_use_id, sub_agent_id)),
            _ => None,
        })
        .collect();
    assert_eq!(handed.len(), 3);
    assert!(handed.iter().all(|(call, _)| call.as_str() == "tu_1"));
    assert_eq!(handed.iter().map(|(_, child)| child).collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn a_child_that_never_began_is_told_of_by_its_parents_log() {
    let frames = story::frames(&story::events("a_steered_run_that_is_stopped"));
    let of_it: Vec<_> = frames.iter().filter(|frame| frame.thread.as_str().ends_with(".2")).map(Frame::kind).collect();
    assert_eq!(of_it, ["sub_agent_queued", "agent_complete", "sub_agent_error"]);
}

#[test]
fn a_refused_call_has_a_result_and_no_beginning() {
    let frames = story::frames(&story::events("a_refused_tool"));
    let begun: Vec<_> = frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::ToolStart { tool_name, .. } => Some(tool_name.as_ref()),
            _ => None,
        })
        .collect();
    assert_eq!(begun, ["list_agents", "read_file"], "neither the refused command nor the spawn without a task began");
}

#[test]
fn every_refused_call_of_a_long_answer_has_its_frame() {
    let names: Vec<_> = (0..128).map(|n| format!("call-{n}")).collect();
    let calls: Vec<_> = names.iter().map(|name| (name.as_str(), "run_command", "{}", refused("no"))).collect();
    let mut family = Family::default();
    family.created("r", "general").run_started("r", "go").turn_started("r", 1).called("r", &calls);
    let frames = story::frames(&family.0);
    assert_eq!(frames.iter().filter(|frame| frame.kind() == "tool_result").count(), 128);
}

#[test]
fn an_answer_with_more_refusals_than_one_event_has_room_for_says_how_many_are_left() {
    let names: Vec<_> = (0..2000).map(|n| format!("call-{n}")).collect();
    let calls: Vec<_> = names.iter().map(|name| (name.as_str(), "run_command", "{}", refused("no"))).collect();
    let mut family = Family::default();
    family.created("r", "general").run_started("r", "go").called("r", &calls);
    let frames = story::frames(&family.0);
    let of_it: Vec<_> = frames.iter().filter(|frame| Frames::resume_point(frame.seq).0 == 3).collect();
    assert!(of_it.len() < FRAMES_PER_EVENT as usize);
    let told = of_it.iter().filter(|frame| frame.kind() == "tool_result").count();
    let rest = of_it.iter().find_map(|frame| match &frame.body {
        Body::Notification { kind: Notice::CallsRefused, message } => Some(message.as_str()),
        _ => None,
    });
    assert_eq!(rest, Some(format!("{} more calls of this answer were refused", 2000 - told).as_str()));
}

#[test]
fn arguments_that_a_model_laid_out_over_several_lines_stay_in_one() {
    let mut family = Family::default();
    let call = ("c", "list_agents", "{\n  \"path\": \"a\\nb\",\r\n  \"n\": 1\n}", VerdictKind::Verb);
    family.created("r", "general").run_started("r", "go").called("r", &[call]);
    family.log(
        "r",
        agent::Event::ToolFinished {
            call: agent::CallId::new("c"),
            result: agent::tools::ToolResult::ok("ok"),
            duration_ms: None,
            told: None,
        },
    );
    let frames = story::frames(&family.0);
    let line = frames.iter().find(|frame| frame.kind() == "tool_start").expect("a verb that was answered began").json();
    assert!(!line.contains(['\n', '\r']));
    assert!(line.contains(r#""path": "a\nb","#), "{line}");
}

#[test]
fn events_of_another_family_or_a_second_time_yield_nothing() {
    let events = story::events("a_single_answer");
    let mut frames = Frames::new(events[0].thread.clone());
    assert!(!frames.push(&events[0].logged()).is_empty());
    assert!(frames.push(&events[0].logged()).is_empty());
    let mut others = Frames::new(id("20260115-other"));
    assert!(events.iter().all(|record| others.push(&record.logged()).is_empty()));
}

#[test]
fn a_reader_that_resumes_after_any_line_gets_the_rest_without_gap_or_repetition() {
    for (story, events, _) in all_stories() {
        for dialect in Dialect::NAMES {
            let lines_after = |last: u64| {
                let dialect = Dialect::named(dialect).expect("it is on the list");
                let mut lines = Lines::new(events[0].thread.root(), dialect, last);
                events.iter().flat_map(|record| lines.push(&record.logged())).collect::<Vec<_>>()
            };
            let all = lines_after(0);
            for (place, line) in all.iter().enumerate() {
                assert_eq!(lines_after(line.id), all[place + 1..], "{story} in {dialect} after {}", line.id);
            }
        }
    }
}

#[test]
fn a_thread_that_was_only_created_is_idle_and_says_nothing_of_it() {
    let mut family = Family::default();
    family.created("r", "general");
    let kinds: Vec<_> = story::frames(&family.0).iter().map(Frame::kind).collect();
    assert_eq!(kinds, ["thread_created"]);
    assert_eq!(story::roots(&family.0)[0].state, State::Idle);
}

#[test]
fn a_failure_without_a_retry_is_told_once_by_the_report() {
    let frames = story::frames(&story::events("a_provider_retry"));
    let errors: Vec<_> = frames.iter().filter(|frame| frame.kind() == "error").collect();
    assert_eq!(errors.len(), 1);
    assert!(matches!(&errors[0].body, Body::Error { kind, .. } if **kind == *"provider"));
    let codes: Vec<_> = frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::Done(done) => Some((done.outcome, done.exit_code)),
            _ => None,
        })
        .collect();
    assert_eq!(codes, [(Outcome::Completed, 0), (Outcome::Error, 4)]);
}
