//! Requests of servers to the model, in the middle of a call: who decides, who pays, and how they end.

use majordomo_agent::approval::{Approval, Decision, Resolution};
use majordomo_agent::budget::{Claim, Grant};
use majordomo_agent::input::Outside;
use majordomo_agent::message::{Origin, Part};
use majordomo_agent::model::{Answer, CallError, CallErrorKind, StopReason, Tokens};
use majordomo_agent::permission::Rule;
use majordomo_agent::policy::Policy;
use majordomo_agent::sampling::{SamplingEnded, tool_name};
use majordomo_agent::tools::ToolResult;
use majordomo_agent::{CallId, Consent, Effect, Event, Input, InputId, Json, Mode, Strength, Thread};

use crate::room::Room;

fn samples(number: u32, words: &str, max_tokens: u64) -> Input {
    let input = Json::of(&serde_json::json!({
        "messages": [{"role": "user", "text": words}], "max_tokens": max_tokens
    }));
    Input::ToolSamples { call: CallId::new("c1"), number, server: "kit".into(), input }
}

/// A room in which a command runs that a server stands behind.
fn running(mode: Mode, consent: Consent, grant: Grant, rules: &[Rule]) -> Room {
    let mut room = Room::with(Policy::default(), mode, grant);
    room.world.consent = consent;
    room.world.rules = rules.to_vec();
    room.world.rules.push(Rule::allow("run_command"));
    room.calls(&[("run_command", "{}")]);
    assert_eq!(room.run(), 1);
    room
}

fn may() -> Rule {
    Rule::allow(tool_name("kit"))
}

fn spoken(text: &str, input: u64, output: u64) -> Result<Answer, CallError> {
    let parts = vec![Part::Text { text: text.into(), origin: Origin::Model }];
    let tokens = Some(Tokens { input, output, ..Tokens::default() });
    Ok(Answer { parts, stop: StopReason::EndTurn, tokens, malformed: Vec::new(), cut_call: None })
}

/// What servers were handed.
fn handed(room: &Room) -> Vec<Result<String, String>> {
    let handed = |effect: &Effect| match effect {
        Effect::AnswerSample { answer, .. } => {
            Some(answer.as_ref().map(|said| said.text.to_string()).map_err(ToString::to_string))
        }
        _ => None,
    };
    room.effects.iter().filter_map(handed).collect()
}

/// The requests that were made.
fn made(room: &Room) -> usize {
    room.effects.iter().filter(|effect| matches!(effect, Effect::Sample { .. })).count()
}

fn ended(room: &Room) -> Vec<SamplingEnded> {
    let ended = |event: &Event| match event {
        Event::SamplingEnded(ended) => Some((**ended).clone()),
        _ => None,
    };
    room.events.iter().filter_map(ended).collect()
}

fn open(room: &Room) -> Approval {
    room.thread.approvals.open.values().next().expect("something is asked").clone()
}

fn decides(room: &mut Room, decision: Decision) {
    let approval = open(room);
    let id = InputId::new(format!("d{}", room.events.len()));
    let input = Outside::Decided { approval: approval.id, digest: approval.digest, decision };
    room.thread.apply(room.now, &Event::InputArrived { id, input });
    room.hears(Input::Arrived);
}

// T54
#[test]
fn a_person_is_asked_and_what_the_model_says_reaches_the_server_at_the_agents_expense() {
    let mut room = running(Mode::Ask, Consent::Asked, Grant::default(), &[]);
    let before = room.thread.spending.used;
    room.hears(samples(1, "Sum it up", 100));
    let approval = open(&room);
    assert_eq!((&*approval.tool, approval.foreign), ("kit__sampling/createMessage", true));
    assert!(approval.effect.contains("up to 100 tokens at this agent's expense"), "{}", approval.effect);
    assert!(approval.effect.contains("Sum it up") && approval.input.text().contains("Sum it up"));
    assert!(room.thread.is_paused(), "the clock stops while a person thinks");
    assert_eq!((made(&room), room.thread.claim()), (0, Claim::default()), "nothing is asked and nothing is reserved");
    decides(&mut room, Decision::allow());
    assert_eq!(made(&room), 1);
    let kinds: Vec<&str> = room.events.iter().rev().take(2).map(Event::kind).collect();
    assert_eq!(kinds, ["sampling_started", "approval_resolved"], "it is remembered before it is made");
    assert!(room.thread.claim().tokens >= 100 && room.thread.claim().requests == 1);
    assert!(!room.thread.is_paused());
    room.hears(Input::SampleAnswered { number: 1, outcome: spoken("In short: yes.", 40, 9) });
    assert_eq!(handed(&room), [Ok("In short: yes.".to_owned())]);
    let used = room.thread.spending.used;
    assert_eq!(used.requests - before.requests, 1);
    assert_eq!(used.counted_tokens - before.counted_tokens, 49);
    assert_eq!(used.cost_microusd - before.cost_microusd, 40 * 2 + 9 * 10);
    assert_eq!(room.thread.claim(), Claim::default());
    assert!(room.results().is_empty(), "the call itself goes on");
    // An answer that comes again changes nothing.
    let events = room.events.len();
    room.hears(Input::SampleAnswered { number: 1, outcome: spoken("again", 40, 9) });
    assert_eq!(room.events.len(), events);
    room.returns("c1", "done");
    assert_eq!(room.results(), [("done", false)]);
}

// T54
#[test]
fn rules_and_modes_decide_as_about_a_call_and_no_rule_for_a_tool_of_the_server_lets_it_pass() {
    let made_in = |mode, consent, rules: &[Rule]| {
        let mut room = running(mode, consent, Grant::default(), rules);
        room.hears(samples(1, "Sum it up", 100));
        (made(&room), room.thread.approvals.open.len())
    };
    for mode in [Mode::Ask, Mode::Auto] {
        assert_eq!(made_in(mode, Consent::Asked, &[]), (0, 1), "{mode}");
        assert_eq!(made_in(mode, Consent::Nobody, &[]), (0, 0), "{mode}");
        assert_eq!(made_in(mode, Consent::Asked, &[Rule::allow("kit__sampling")]), (0, 1), "that is a tool's name");
        assert_eq!(made_in(mode, Consent::Nobody, &[may()]), (1, 0), "{mode}");
        assert_eq!(
            made_in(mode, Consent::Asked, &[may().on("*poetry*")]),
            (0, 1),
            "the words are what the rule covers"
        );
        assert_eq!(made_in(mode, Consent::Asked, &[may(), Rule::deny("kit__*")]), (0, 0), "{mode}");
    }
    assert_eq!(made_in(Mode::Dangerous, Consent::Nobody, &[]), (1, 0));
    let mut nobody = running(Mode::Auto, Consent::Nobody, Grant::default(), &[]);
    nobody.hears(samples(1, "Sum it up", 100));
    assert!(handed(&nobody)[0].as_ref().is_err_and(|why| why.contains("nobody can give it")), "{:?}", handed(&nobody));
    let rule = &nobody.thread.findings.unanswered[0];
    assert!(rule.contains("kit__sampling/createMessage"), "what would have allowed it is named: {rule}");
}

// T54
#[test]
fn consent_for_the_conversation_covers_the_next_request_of_the_same_server_and_no_other() {
    let mut room = running(Mode::Ask, Consent::Asked, Grant::default(), &[]);
    room.hears(samples(1, "one", 100));
    decides(&mut room, Decision::allow_in_thread());
    room.hears(Input::SampleAnswered { number: 1, outcome: spoken("1", 4, 1) });
    room.hears(samples(2, "two", 100));
    assert_eq!((made(&room), room.thread.approvals.open.len()), (2, 0));
    let Input::ToolSamples { call, input, .. } = samples(3, "three", 100) else { unreachable!() };
    room.hears(Input::ToolSamples { call, number: 3, server: "other".into(), input });
    assert_eq!((made(&room), room.thread.approvals.open.len()), (2, 1));
}

// T54
#[test]
fn a_person_may_refuse_and_may_change_what_the_model_is_asked() {
    let mut room = running(Mode::Ask, Consent::Asked, Grant::default(), &[]);
    room.hears(samples(1, "Tell me", 100));
    decides(&mut room, Decision::deny("too nosy"));
    assert_eq!(handed(&room), [Err("a person refused it: too nosy".to_owned())]);
    room.hears(samples(2, "Tell me", 100));
    let broken = Json::parse(r#"{"messages": []}"#).expect("JSON");
    decides(&mut room, Decision::allow_with(broken));
    assert_eq!((made(&room), room.thread.approvals.open.len()), (0, 1), "what cannot be asked is not asked");
    let Input::ToolSamples { input, .. } = samples(2, "Tell less", 5) else { unreachable!() };
    decides(&mut room, Decision::allow_with(input));
    let Some(Effect::Sample { input, max_tokens: 5, .. }) = room.effects.last() else { panic!("it is made") };
    assert!(input.text().contains("Tell less"));
}

// T54
#[test]
fn what_the_grant_does_not_reach_for_is_refused_before_it_is_made() {
    let tokens = Grant { tokens: Some(30_000), ..Grant::default() };
    let money = Grant { cost_microusd: Some(45_000), ..Grant::default() };
    let requests = Grant { requests: Some(3), ..Grant::default() };
    for grant in [tokens, money, requests] {
        let mut room = running(Mode::Ask, Consent::Nobody, grant, &[may()]);
        let mut number = 0;
        while made(&room) == number && number < 16 {
            number += 1;
            room.hears(samples(u32::try_from(number).expect("few"), "Sum it up", 3000));
            assert!(room.thread.requests_left().is_none_or(|left| left >= 1), "a last word stays affordable");
            assert!(room.thread.tokens_left().is_none_or(|left| left > 0), "a last word stays affordable");
            room.hears(Input::SampleAnswered { number: number as u32, outcome: spoken("so", 10, 3000) });
        }
        assert!((2..16).contains(&number), "{number}");
        let why = handed(&room).pop().expect("it is told").expect_err("it is refused");
        assert!(why.contains("what the agent may spend does not reach for it"), "{why}");
        assert_eq!(ended(&room).last().expect("it is in the log").booked, Claim::default());
        room.returns("c1", "done");
        assert!(room.thread.run.is_some(), "the agent goes on, or has its last word");
    }
}

// T54
#[test]
fn no_call_lets_a_server_ask_without_end() {
    let mut room = running(Mode::Dangerous, Consent::Nobody, Grant::default(), &[]);
    for number in 1..100 {
        room.hears(samples(number, "more", 10));
        room.hears(Input::SampleAnswered { number, outcome: spoken("more", 1, 1) });
    }
    assert_eq!(made(&room), 16);
    assert!(handed(&room)[16].as_ref().is_err_and(|why| why.contains("16 times for this call")));
    let long = "x".repeat(200_000);
    room.hears(samples(100, &long, 10));
    assert!(handed(&room).pop().is_some_and(|last| last.is_err_and(|why| why.contains("too long"))));
}

#[test]
fn a_request_that_fails_is_booked_as_far_as_it_may_have_been_billed() {
    let fails = |kind, tokens: Option<Tokens>| {
        let mut room = running(Mode::Dangerous, Consent::Nobody, Grant::default(), &[]);
        room.hears(samples(1, "Sum it up", 100));
        let claim = room.thread.claim();
        let error = CallError { tokens: tokens.map(Box::new), ..CallError::new(kind, "broken") };
        room.hears(Input::SampleAnswered { number: 1, outcome: Err(error) });
        assert!(handed(&room)[0].as_ref().is_err_and(|why| why.contains("broken")));
        (ended(&room)[0].booked, claim)
    };
    let (booked, claim) = fails(CallErrorKind::Truncated, None);
    assert_eq!(booked, claim, "nobody knows what it used");
    let (booked, _) = fails(CallErrorKind::RateLimited, None);
    assert_eq!(booked, Claim { requests: 1, ..Claim::default() });
    let said = Tokens { input: 7, output: 2, ..Tokens::default() };
    let (booked, _) = fails(CallErrorKind::Truncated, Some(said));
    assert_eq!((booked.tokens, booked.requests), (9, 1));
}

// T54
#[test]
fn requests_end_with_their_call_however_it_ends_and_count_as_spent() {
    let mut room = running(Mode::Dangerous, Consent::Nobody, Grant::default(), &[]);
    room.hears(samples(1, "Sum it up", 100));
    let (claim, before) = (room.thread.claim(), room.thread.spending.used.counted_tokens);
    room.hears(Input::ToolFinished { call: CallId::new("c1"), result: ToolResult::error("the server died") });
    assert_eq!(room.thread.spending.used.counted_tokens - before, claim.tokens);
    assert_eq!(handed(&room).len(), 1);

    let mut room = running(Mode::Ask, Consent::Asked, Grant::default(), &[]);
    room.hears(samples(1, "Sum it up", 100));
    let input = Outside::stopped(Strength::Kill, "enough");
    room.thread.apply(room.now, &Event::InputArrived { id: InputId::new("stop"), input });
    room.hears(Input::Arrived);
    room.hears(samples(2, "And this?", 100));
    room.hears(Input::ToolFinished { call: CallId::new("c1"), result: ToolResult::error("stopped") });
    assert!(room.thread.approvals.open.is_empty() && room.thread.run.is_none());
    assert_eq!((made(&room), handed(&room).len()), (0, 2));
    // A call that is over waits for nothing.
    let events = room.events.len();
    room.hears(samples(3, "And now?", 100));
    assert_eq!(room.events.len(), events);
}

/// The thread as another process reads it.
fn reread(room: &mut Room, and: Option<Event>) {
    let first = Event::ThreadCreated(Box::new(room.thread.created.clone()));
    let said = Event::InputArrived { id: InputId::new("i1"), input: Outside::said("Go") };
    let log: Vec<Event> = [first, said].into_iter().chain(room.events.clone()).chain(and).collect();
    let now = room.now;
    room.thread = Thread::replay(log.iter().map(|event| (now, event))).expect("a log");
    room.effects.clear();
    room.hears(Input::Reopened);
}

// F3, T54
#[test]
fn after_a_crash_what_was_reserved_counts_as_spent_and_the_request_is_not_made_again() {
    let mut room = running(Mode::Dangerous, Consent::Nobody, Grant::default(), &[]);
    room.hears(samples(1, "Sum it up", 100));
    let (claim, before) = (room.thread.claim(), room.thread.spending.used);
    reread(&mut room, None);
    assert_eq!(ended(&room).len(), 1);
    assert_eq!(room.thread.spending.used.counted_tokens - before.counted_tokens, claim.tokens);
    assert_eq!(room.thread.spending.used.cost_microusd - before.cost_microusd, claim.cost_microusd);
    assert_eq!((made(&room), room.thread.claim().requests), (0, 1), "only the next turn of the agent is reserved");
}

// F3, T54
#[test]
fn a_decision_that_came_while_nobody_had_the_thread_begins_no_request_for_a_call_that_is_gone() {
    let mut room = running(Mode::Ask, Consent::Asked, Grant::default(), &[]);
    room.hears(samples(1, "Sum it up", 100));
    let before = room.thread.spending.used;
    let approval = open(&room);
    let decision = Decision::allow_always();
    let input = Outside::Decided { approval: approval.id, digest: approval.digest, decision };
    reread(&mut room, Some(Event::InputArrived { id: InputId::new("d1"), input }));
    assert_eq!((made(&room), room.thread.approvals.open.len()), (0, 0));
    assert_eq!(room.thread.spending.used, before, "nothing was asked, so that nothing is booked");
    let withdrawn =
        |event: &Event| matches!(event, Event::ApprovalResolved { resolution: Resolution::Withdrawn { .. }, .. });
    assert!(room.events.iter().any(withdrawn) && room.thread.approvals.granted.is_empty());
}
