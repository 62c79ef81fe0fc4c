//! A person is asked: once, for what was shown; and what becomes of it when the world, the rules or the time change meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use majordomo_agent::approval::{Approval, ApprovalKind, Decision, EXPIRES_MS, Resolution, Scope};
use majordomo_agent::budget::Grant;
use majordomo_agent::event::VerdictKind;
use majordomo_agent::facts::Consent;
use majordomo_agent::permission::{Action, Rule};
use majordomo_agent::policy::Policy;
use majordomo_agent::tools::Assessment;
use majordomo_agent::{Effect, Event, Input, InputId, Json, Mode, Outcome, Outside, Strength, Thread, ThreadId};

use super::room::Room;

#[test]
fn a_write_waits_for_a_person_and_runs_with_what_the_consent_is_bound_to() {
    let mut room = asking();
    room.calls(&[("edit_file", r#"{"path":"a"}"#), ("read_file", "{}")]);
    assert_eq!(room.run(), 0, "nobody overtakes a call that is asked about");
    let asked = question(&room, 0);
    assert_eq!((asked.id.as_str(), &*asked.tool, asked.input.text()), ("r/1", "edit_file", r#"{"path":"a"}"#));
    assert_eq!((&*asked.why, &*asked.path[0]), ("mode ask: writing needs approval", "general"));
    decide(&mut room, "d1", &asked, once());
    let ran = room.effects.iter().filter_map(|effect| match effect {
        Effect::RunTool { name, approved, .. } => Some((&**name, approved.clone())),
        _ => None,
    });
    assert_eq!(ran.collect::<Vec<_>>(), [("edit_file", Some(asked.digest.clone()))]);
    room.returns("c1", "written");
    assert_eq!(room.run(), 2);
}

#[test]
fn a_question_is_decided_once() {
    // T21
    let mut room = asking();
    room.calls(&[("edit_file", "{}")]);
    let asked = question(&room, 0);
    decide(&mut room, "d1", &asked, Decision::Deny { reason: Some("not this file".into()) });
    decide(&mut room, "d2", &asked, once());
    decide(&mut room, "d2", &asked, once());
    assert_eq!(room.run(), 0);
    assert!(room.results()[0].0.starts_with("a person refused edit_file: not this file."), "{:?}", room.results());
    assert_eq!(dropped(&room), ["the question is answered already, or was never asked"]);
}

#[test]
fn a_decision_for_something_else_than_what_was_shown_is_none() {
    // T20, T22
    let mut room = asking();
    room.calls(&[("edit_file", r#"{"path":"a"}"#), ("edit_file", r#"{"path":"b"}"#)]);
    let (first, second) = (question(&room, 0), question(&room, 1));
    decide(&mut room, "d1", &Approval { digest: second.digest, ..first }, once());
    assert_eq!(dropped(&room), ["the decision is for something else than what is asked"]);
    assert_eq!((room.run(), room.thread.approvals.open.len()), (0, 2));
}

#[test]
fn what_changed_behind_the_question_is_asked_again() {
    // T20
    let world = Arc::new(AtomicU32::new(1));
    let seen = world.clone();
    let mut room = asking();
    room.world.assess = Box::new(move |tool, input| Assessment {
        digest: format!("world {}", seen.load(Ordering::Relaxed)).into(),
        ..Assessment::of(tool, input)
    });
    room.calls(&[("edit_file", "{}")]);
    let asked = question(&room, 0);
    world.store(2, Ordering::Relaxed);
    decide(&mut room, "d1", &asked, once());
    assert_eq!((room.run(), room.thread.approvals.open.len()), (0, 1));
    let again = question(&room, 1);
    assert_eq!((again.id.as_str(), &*again.digest), ("r/2", "world 2"));
    decide(&mut room, "d2", &again, once());
    assert_eq!(room.run(), 1);
}

#[test]
fn a_rule_that_was_tightened_meanwhile_outranks_consent() {
    // T13
    let mut room = asking();
    room.calls(&[("edit_file", "{}")]);
    let asked = question(&room, 0);
    let (tool, action) = ("edit_file".into(), Action::Deny);
    room.world.rules = vec![Rule { tool, pattern: None, agent: None, action, origin: "".into() }];
    decide(&mut room, "d1", &asked, once());
    assert_eq!(room.run(), 0);
    assert!(
        room.results()[0].0.starts_with("edit_file is not permitted: rule: deny edit_file"),
        "{:?}",
        room.results()
    );
}

#[test]
fn consent_for_the_thread_covers_what_the_pattern_covers() {
    // T26
    let mut room = asking();
    room.world.assess = Box::new(|tool, input| {
        let path: Arc<str> = input.value()["path"].as_str().unwrap_or_default().into();
        Assessment { subjects: vec![path.clone()], standing: Some(path), ..Assessment::of(tool, input) }
    });
    room.calls(&[("edit_file", r#"{"path":"a"}"#)]);
    let asked = question(&room, 0);
    decide(&mut room, "d1", &asked, Decision::Allow { scope: Scope::Thread, input: None });
    room.returns("c1", "written");
    room.calls(&[("edit_file", r#"{"path":"a"}"#), ("edit_file", r#"{"path":"b"}"#)]);
    assert_eq!(room.run(), 2, "the same path is not asked about again");
    assert_eq!(question(&room, 1).input.text(), r#"{"path":"b"}"#);
}

#[test]
fn where_no_pattern_was_shown_consent_is_for_once() {
    let mut room = asking();
    room.calls(&[("run_command", r#"{"command":"x"}"#)]);
    let asked = question(&room, 0);
    decide(&mut room, "d1", &asked, Decision::Allow { scope: Scope::Always, input: None });
    assert!(room.thread.approvals.granted.is_empty());
    assert!(matches!(resolutions(&room)[0], Resolution::Allowed { scope: Scope::Once, .. }));
}

#[test]
fn changed_arguments_are_what_runs_and_the_model_is_told() {
    let mut room = asking();
    room.calls(&[("edit_file", r#"{"path":"a"}"#)]);
    let input = Json::parse(r#"{"path":"b"}"#).expect("this is JSON");
    let asked = question(&room, 0);
    decide(&mut room, "d1", &asked, Decision::Allow { scope: Scope::Once, input: Some(input) });
    let Some(Effect::RunTool { input, approved, .. }) = room.effects.last() else { panic!("a tool runs") };
    assert_eq!((input.text(), approved.as_deref()), (r#"{"path":"b"}"#, Some(r#"edit_file {"path":"b"}"#)));
    room.returns("c1", "written");
    let told = room.thread.talk.messages().last().expect("something was said");
    assert!(format!("{told:?}").contains(r#"A person changed the arguments to {\"path\":\"b\"}"#), "{told:?}");
}

#[test]
fn changed_arguments_are_not_run_twice_whatever_the_first_ones_were() {
    // F3: a call that only looks may be repeated after a crash; what a person made of it was never judged so
    let mut room = asking();
    let (tool, action) = ("read_file".into(), Action::Ask);
    room.world.rules = vec![Rule { tool, pattern: None, agent: None, action, origin: "".into() }];
    room.calls(&[("read_file", "{}")]);
    let asked = question(&room, 0);
    let input = Json::parse(r#"{"path":"b"}"#).expect("this is JSON");
    decide(&mut room, "d1", &asked, Decision::Allow { scope: Scope::Once, input: Some(input) });
    assert_eq!(room.run(), 1);
    room.hears(Input::Reopened);
    assert_eq!(room.run(), 1);
    assert!(room.results()[0].0.contains("outcome unknown"), "{:?}", room.results());
}

#[test]
fn unanswered_is_refused_after_a_day_and_said_so() {
    // F32
    let mut room = asking();
    room.calls(&[("edit_file", "{}")]);
    let asked = question(&room, 0);
    assert_eq!(room.thread.next_wake(None), Some(asked.expires_at));
    assert_eq!(asked.expires_at, room.now.plus_ms(EXPIRES_MS));
    room.now = asked.expires_at;
    room.hears(Input::TimePassed { heard: None });
    assert!(room.results()[0].0.starts_with("edit_file was refused: nobody decided in 24 hours"));
    assert_eq!(room.thread.findings.unanswered, ["edit_file: allowed by --mode auto".into()]);
    decide(&mut room, "d1", &asked, once());
    assert_eq!(room.run(), 0, "T21: a late decision changes nothing");
}

#[test]
fn a_stop_takes_the_question_back() {
    // T21
    let mut room = asking();
    room.calls(&[("edit_file", "{}")]);
    let asked = question(&room, 0);
    send(&mut room, "s", Outside::stopped(Strength::Cancel, "enough"));
    assert!(matches!(&resolutions(&room)[0], Resolution::Withdrawn { reason } if &**reason == "enough"));
    assert!(room.thread.approvals.open.is_empty());
    decide(&mut room, "d1", &asked, once());
    assert_eq!(room.run(), 0);
}

#[test]
fn a_question_survives_its_process_and_is_refused_where_nobody_can_answer() {
    // F32, promise 4
    let mut room = asking();
    room.calls(&[("edit_file", "{}")]);
    let asked = question(&room, 0);
    room.hears(Input::Reopened);
    assert_eq!(room.thread.approvals.open.len(), 1);
    decide(&mut room, "d1", &asked, once());
    assert_eq!(room.run(), 1);

    let mut room = asking();
    room.calls(&[("edit_file", "{}")]);
    room.world.consent = Consent::Nobody;
    room.hears(Input::Reopened);
    assert!(matches!(resolutions(&room)[0], Resolution::Unanswered { .. }));
    assert_eq!(room.thread.findings.unanswered.len(), 1);
}

#[test]
fn the_clock_stands_still_while_a_person_decides() {
    let grant = Grant { time_ms: Some(10_000), ..Grant::default() };
    let mut room = Room::with(Policy::default(), Mode::Ask, grant);
    room.world.consent = Consent::Asked;
    room.now = room.now.plus_ms(4_000);
    room.calls(&[("edit_file", "{}")]);
    let asked = question(&room, 0);
    assert!(room.thread.is_paused());
    room.now = room.now.plus_ms(3_600_000);
    room.hears(Input::TimePassed { heard: None });
    assert!(room.thread.run.as_ref().is_some_and(|run| run.closing.ending.is_none()), "an hour later it still waits");
    decide(&mut room, "d1", &asked, once());
    let deadline = room.thread.run.as_ref().and_then(|run| run.clock.deadline);
    assert_eq!(deadline, Some(room.now.plus_ms(6_000)));
}

#[test]
fn a_parent_that_only_waits_for_such_a_child_stands_still_with_it() {
    let grant = Grant { time_ms: Some(10_000), ..Grant::default() };
    let mut room = Room::with(Policy::default(), Mode::Ask, grant);
    room.calls(&[("spawn_agent", r#"{"task":"a"}"#), ("spawn_agent", r#"{"task":"b"}"#)]);
    let pause = |room: &mut Room, child: &str, paused| {
        room.hears(Input::ChildPaused { child: ThreadId::new(child), paused });
    };
    pause(&mut room, "r.1", true);
    assert!(!room.thread.is_paused(), "the other child works");
    pause(&mut room, "r.2", true);
    assert!(room.thread.is_paused());
    room.now = room.now.plus_ms(60_000);
    pause(&mut room, "r.1", false);
    assert!(!room.thread.is_paused());
    assert_eq!(room.thread.run.as_ref().and_then(|run| run.clock.deadline), Some(room.now.plus_ms(10_000)));
    room.reports("r.2", Outcome::Completed, Default::default());
    assert!(room.thread.children.paused.is_empty());
}

#[test]
fn a_child_is_bound_by_everybody_above_it_at_every_call() {
    // T10, T12, T13: a rule for the parent's agent holds for what its child does
    let mut room = Room::with(Policy::default(), Mode::Dangerous, Grant::default());
    let (tool, agent) = ("edit_file".into(), Some("general".into()));
    room.world.rules = vec![Rule { tool, pattern: None, agent, action: Action::Deny, origin: "test".into() }];
    room.calls(&[("spawn_agent", r#"{"task":"t","agent":"scribe"}"#)]);
    let child = ThreadId::new("r.1");
    let created = room.thread.child_created(&child).expect("a parent knows its child");
    assert_eq!(&*created.role.name, "scribe");
    let thread = Thread::new(room.now, &Event::ThreadCreated(Box::new(created)));
    let weighed = room.world.weigh(&thread, "edit_file", &Json::object());
    assert_eq!(weighed.judgement.action, Action::Deny);
    let said: Vec<(&str, Action)> =
        weighed.judgement.chain.iter().map(|link| (&*link.layer.agent, link.action)).collect();
    assert_eq!(said, [("general", Action::Deny), ("scribe", Action::Allow)]);
}

#[test]
fn with_nobody_there_the_verdict_names_the_rule_and_no_question_is_asked() {
    // T12
    let mut room = Room::with(Policy::default(), Mode::Ask, Grant::default());
    room.calls(&[("edit_file", "{}")]);
    assert_eq!((room.run(), room.thread.approvals.open.len()), (0, 0));
    let verdicts = room.events.iter().find_map(|event| match event {
        Event::Answered(answered) => Some(&answered.verdicts),
        _ => None,
    });
    let verdict = &verdicts.expect("the model answered")[0];
    assert!(matches!(&verdict.what, VerdictKind::Refused { rule: Some(rule), .. } if rule.contains("--mode auto")));
    assert_eq!(verdict.by.as_deref(), Some("mode ask: writing needs approval"));
}

#[test]
fn however_many_questions_there_are_none_is_answered_by_their_number() {
    // T27
    let mut room = asking();
    let inputs: Vec<String> = (0..100).map(|number| format!(r#"{{"path":"{number}"}}"#)).collect();
    let calls: Vec<(&str, &str)> = inputs.iter().map(|input| ("edit_file", input.as_str())).collect();
    room.calls(&calls);
    assert_eq!((room.run(), room.thread.approvals.open.len()), (0, 100));
    assert!(room.thread.is_paused(), "nothing goes on, and no clock runs");
    // The last is decided first, and keeps its place in the line.
    let last = question(&room, 99);
    decide(&mut room, "d", &last, once());
    assert_eq!((room.run(), room.thread.approvals.open.len()), (0, 99));
    let first = question(&room, 0);
    decide(&mut room, "e", &first, once());
    assert_eq!(room.run(), 1);
}

#[test]
fn nobody_reaches_those_who_are_not_below_it() {
    // T17: neither a sibling's name nor the parent's means anybody to a child
    let mut room = Room::new(Policy::default());
    room.calls(&[("spawn_agent", r#"{"task":"a"}"#), ("spawn_agent", r#"{"task":"b"}"#)]);
    let created = room.thread.child_created(&ThreadId::new("r.1")).expect("a parent knows its child");
    room.thread = Thread::new(room.now, &Event::ThreadCreated(Box::new(created)));
    room.hears(Input::Begin);
    let before = room.results().len();
    let strangers = ["r", "r.2", "r.1"];
    for stranger in strangers {
        let (told, stopped) =
            (format!(r#"{{"agent":"{stranger}","text":"x"}}"#), format!(r#"{{"agent":"{stranger}"}}"#));
        room.calls(&[("message_agent", &told), ("stop_agent", &stopped)]);
    }
    let answers: Vec<(&str, bool)> = room.results().into_iter().skip(before).collect();
    assert_eq!(answers.len(), 2 * strangers.len());
    assert!(answers.iter().all(|(_, is_error)| *is_error), "{answers:?}");
    let reached = |effect: &Effect| matches!(effect, Effect::TellChild { .. } | Effect::StopChild { .. });
    assert!(!room.effects.iter().any(reached));
}

const ASKS: (&str, &str) = ("ask_user", r#"{"question":"Which one?","choices":["left","right"]}"#);

#[test]
fn what_an_agent_wants_to_know_is_asked_like_an_approval_and_the_answer_is_the_result() {
    let mut room = asking();
    room.calls(&[ASKS, ("read_file", "{}")]);
    let asked = question(&room, 0);
    assert_eq!((asked.kind(), &*asked.effect), (ApprovalKind::Question, "Which one?"));
    let asks = asked.question.as_ref().expect("a question");
    assert_eq!(asks.choices, ["left".into(), "right".into()]);
    assert_eq!((asks.answer(" 2\n").as_deref(), asks.answer("3").as_deref()), (Some("right"), Some("3")));
    assert_eq!(asks.answer("  "), None);
    assert_eq!((room.run(), room.thread.is_paused()), (0, true));
    room.hears(Input::Reopened);
    decide(&mut room, "d1", &asked, Decision::Answer { text: "left".into() });
    assert_eq!(room.results(), [("left", false)]);
    assert_eq!(room.run(), 1, "what was behind it goes on, and ask_user itself never ran");
    assert!(matches!(&resolutions(&room)[0], Resolution::Answered { text } if &**text == "left"));
    decide(&mut room, "d2", &asked, Decision::Answer { text: "right".into() });
    assert_eq!(dropped(&room), ["the question is answered already, or was never asked"]);
}

#[test]
fn a_question_is_answered_and_an_approval_is_allowed_and_neither_is_the_other() {
    let mut room = asking();
    room.calls(&[ASKS, ("edit_file", "{}")]);
    let (asks, writes) = (question(&room, 0), question(&room, 1));
    decide(&mut room, "d1", &asks, once());
    decide(&mut room, "d2", &asks, Decision::Answer { text: " ".into() });
    decide(&mut room, "d3", &writes, Decision::Answer { text: "yes".into() });
    assert_eq!(
        dropped(&room),
        [
            "it is a question, which is answered and not allowed",
            "the answer is empty",
            "it asks whether a call may be made, which is allowed or denied and not answered",
        ]
    );
    assert_eq!(room.thread.approvals.open.len(), 2);
}

#[test]
fn a_question_without_an_answer_leaves_the_decision_to_the_agent_and_refuses_nothing() {
    type Leave = fn(&mut Room, &Approval);
    let unanswered: [(&str, Leave); 3] = [
        ("the person does not answer: ask me tomorrow", |room, asked| {
            decide(room, "d1", asked, Decision::Deny { reason: Some("ask me tomorrow".into()) });
        }),
        ("nobody answered in 24 hours", |room, asked| {
            room.now = asked.expires_at;
            room.hears(Input::TimePassed { heard: None });
        }),
        ("nobody is there to answer", |room, _| {
            room.world.consent = Consent::Nobody;
            room.hears(Input::Reopened);
        }),
    ];
    for (words, leave) in unanswered {
        let mut room = asking();
        room.calls(&[ASKS]);
        let asked = question(&room, 0);
        leave(&mut room, &asked);
        let told = format!("{words}; decide yourself, and say in your answer what you assumed");
        assert_eq!(room.results(), [(&*told, true)]);
        assert_eq!(room.thread.findings.unanswered, [] as [Arc<str>; 0], "no rule would have answered it");
    }
}

#[test]
fn where_nobody_can_answer_or_nothing_is_asked_the_tool_itself_says_so() {
    let mut room = asking();
    room.world.consent = Consent::Nobody;
    room.calls(&[ASKS]);
    assert_eq!((room.run(), room.thread.approvals.open.len()), (1, 0));
    let mut room = asking();
    room.calls(&[("ask_user", r#"{"choices":["left"]}"#)]);
    assert_eq!((room.run(), room.thread.approvals.open.len()), (1, 0));
}

fn asking() -> Room {
    let mut room = Room::with(Policy::default(), Mode::Ask, Grant::default());
    room.world.consent = Consent::Asked;
    room
}

pub fn once() -> Decision {
    Decision::Allow { scope: Scope::Once, input: None }
}

pub fn decide(room: &mut Room, id: &str, asked: &Approval, decision: Decision) {
    send(room, id, Outside::Decided { approval: asked.id.clone(), digest: asked.digest.clone(), decision });
}

pub fn send(room: &mut Room, id: &str, input: Outside) {
    room.thread.apply(room.now, &Event::InputArrived { id: InputId::new(id), input });
    room.hears(Input::Arrived);
}

pub fn question(room: &Room, index: usize) -> Approval {
    let mut asked = room.events.iter().filter_map(|event| match event {
        Event::ApprovalRequested(approval) => Some((**approval).clone()),
        _ => None,
    });
    asked.nth(index).expect("a person was asked")
}

fn resolutions(room: &Room) -> Vec<&Resolution> {
    let resolved = room.events.iter().filter_map(|event| match event {
        Event::ApprovalResolved { resolution, .. } => Some(resolution),
        _ => None,
    });
    resolved.collect()
}

fn dropped(room: &Room) -> Vec<&str> {
    let dropped = room.events.iter().filter_map(|event| match event {
        Event::InputDropped { reason, .. } => Some(&**reason),
        _ => None,
    });
    dropped.collect()
}
