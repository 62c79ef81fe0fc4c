//! Questions of a call that is under way, and hooks that hear of the end of a run before it ends.

use majordomo_agent::approval::{Decision, Question, Resolution};
use majordomo_agent::checks::CheckedBy;
use majordomo_agent::input::Outside;
use majordomo_agent::policy::Policy;
use majordomo_agent::tools::ToolResult;
use majordomo_agent::{CallId, Consent, Effect, Event, Input, InputId, Mode, Outcome, Strength, Thread};

use crate::room::Room;

fn asks(number: u32) -> Input {
    let question = Question { text: "Which branch?".into(), choices: Vec::new(), midway: Some(number) };
    Input::ToolAsks { call: CallId::new("c1"), question }
}

/// A room in which a command runs, and whether a person can be asked.
fn running(consent: Consent) -> Room {
    let mut room = Room::with(Policy::default(), Mode::Dangerous, Default::default());
    room.world.consent = consent;
    room.calls(&[("run_command", "{}")]);
    assert_eq!(room.run(), 1);
    room
}

fn answers(room: &Room) -> Vec<(u32, Option<String>)> {
    let answer = |effect: &Effect| match effect {
        Effect::AnswerTool { number, answer, .. } => Some((*number, answer.as_ref().map(ToString::to_string))),
        _ => None,
    };
    room.effects.iter().filter_map(answer).collect()
}

fn decides(room: &mut Room, decision: Decision) {
    let approval = room.thread.approvals.open.values().next().expect("something is asked").clone();
    let id = InputId::new(format!("d{}", room.events.len()));
    let input = Outside::Decided { approval: approval.id, digest: approval.digest, decision };
    room.thread.apply(room.now, &Event::InputArrived { id, input });
    room.hears(Input::Arrived);
}

#[test]
fn a_call_that_is_under_way_asks_a_person_and_is_handed_the_answer() {
    let mut room = running(Consent::Asked);
    room.hears(asks(1));
    let approval = room.thread.approvals.open.values().next().expect("it is asked").clone();
    assert_eq!((&*approval.tool, approval.midway(), approval.foreign), ("run_command", Some(1), true));
    assert!(room.thread.is_paused(), "the clock stops while a person thinks");
    decides(&mut room, Decision::answer("main"));
    assert_eq!(answers(&room), [(1, Some("main".to_owned()))]);
    assert!(!room.thread.is_paused());
    assert!(room.results().is_empty(), "the call itself goes on");
    room.returns("c1", "merged");
    assert_eq!(room.results(), [("merged", false)]);
}

#[test]
fn where_nobody_can_be_asked_or_nobody_wants_to_answer_the_call_hears_that() {
    let mut room = running(Consent::Nobody);
    room.hears(asks(1));
    assert_eq!((answers(&room), room.thread.approvals.open.len()), (vec![(1, None)], 0));
    let said: Vec<&str> = room.events.iter().rev().take(2).map(Event::kind).collect();
    assert_eq!(said, ["approval_resolved", "approval_requested"], "it is remembered before the call hears of it");
    assert!(room.thread.findings.unanswered.is_empty(), "no rule would have answered it");
    let mut room = running(Consent::Asked);
    room.hears(asks(1));
    decides(&mut room, Decision::deny("no"));
    assert_eq!(answers(&room), [(1, None)]);
    // A call that is over waits for nothing.
    room.returns("c1", "done");
    let before = room.events.len();
    room.hears(asks(2));
    assert_eq!((answers(&room), room.events.len()), (vec![(1, None)], before));
}

#[test]
fn questions_end_with_their_call_however_it_ends() {
    let mut room = running(Consent::Asked);
    room.hears(asks(1));
    room.returns("c1", "done without an answer");
    assert!(room.thread.approvals.open.is_empty());
    let withdrawn =
        |event: &Event| matches!(event, Event::ApprovalResolved { resolution: Resolution::Withdrawn { .. }, .. });
    assert!(room.events.iter().any(withdrawn));

    let mut room = running(Consent::Asked);
    room.hears(asks(1));
    let input = Outside::stopped(Strength::Kill, "enough");
    room.thread.apply(room.now, &Event::InputArrived { id: InputId::new("stop"), input });
    room.hears(Input::Arrived);
    room.hears(Input::ToolFinished { call: CallId::new("c1"), result: ToolResult::error("stopped") });
    assert!(room.thread.approvals.open.is_empty() && room.thread.run.is_none());
}

#[test]
fn after_a_crash_the_call_is_gone_and_so_is_its_question() {
    let mut room = running(Consent::Asked);
    room.hears(asks(1));
    let first = Event::ThreadCreated(Box::new(room.thread.created.clone()));
    let said = Event::InputArrived { id: InputId::new("i1"), input: Outside::said("Go") };
    let log: Vec<Event> = [first, said].into_iter().chain(room.events.clone()).collect();
    let now = room.now;
    room.thread = Thread::replay(log.iter().map(|event| (now, event))).expect("a log");
    room.effects.clear();
    room.hears(Input::Reopened);
    assert!(room.thread.approvals.open.is_empty());
    assert!(
        room.results().last().is_some_and(|(text, is_error)| *is_error && text.contains("unknown")),
        "{:?}",
        room.results()
    );
}

fn hooked() -> Room {
    let mut room = Room::with(Policy::default(), Mode::Auto, Default::default());
    room.world.stop_hooks = true;
    room
}

fn hooks_say(room: &mut Room, refused: Option<&str>) {
    let started = room.events.iter().rev().find_map(|event| match event {
        Event::ChecksStarted { call, by: CheckedBy::Hooks, .. } => Some(call.clone()),
        _ => None,
    });
    let call = started.expect("the hooks run");
    let result = match refused {
        Some(why) => ToolResult { executed: true, ..ToolResult::error(why) },
        None => ToolResult::ok(""),
    };
    room.hears(Input::ChecksFinished { call, result });
}

#[test]
fn a_hook_sends_an_agent_back_to_work_with_the_reason() {
    let mut room = hooked();
    room.says("Done.");
    assert!(room.effects.iter().any(|effect| matches!(effect, Effect::RunChecks { by: CheckedBy::Hooks, .. })));
    assert!(room.thread.run.is_some(), "no report before the hooks have spoken");
    hooks_say(&mut room, Some("the tests fail"));
    let told = room.thread.talk.messages().last().expect("a message").text();
    assert!(told.contains("A hook of the user sends you back to work: the tests fail"), "{told}");
    room.says("Now it is done.");
    hooks_say(&mut room, None);
    let Some(Event::Reported(report)) = room.events.last() else { panic!("{:?}", room.events.last()) };
    assert_eq!((report.outcome, &*report.text), (Outcome::Completed, "Now it is done."));
}

#[test]
fn a_hook_that_never_agrees_cannot_keep_an_agent_for_ever() {
    let mut room = hooked();
    let mut times = 0;
    while room.thread.run.is_some() {
        room.says("Done.");
        hooks_say(&mut room, Some("never"));
        times += 1;
        assert!(times < 10, "it ends");
    }
    assert_eq!(times, 4, "sent back three times, and then let go");
    let Some(Event::Reported(report)) = room.events.last() else { panic!("it reports") };
    assert_eq!(report.outcome, Outcome::Completed);
}
