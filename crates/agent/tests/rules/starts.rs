//! A person is asked before sub-agents are started: who is asked about, what is held meanwhile, and that no place leaks.

use std::sync::Arc;

use majordomo_agent::approval::{Approval, Decision, Scope};
use majordomo_agent::budget::Grant;
use majordomo_agent::event::VerdictKind;
use majordomo_agent::facts::Consent;
use majordomo_agent::permission::{Action, Rule};
use majordomo_agent::policy::{CountMode, Policy, StartApproval};
use majordomo_agent::tools::Risk;
use majordomo_agent::{Effect, Event, Input, Json, Mode, Outcome, Outside, Strength, Usage};
use serde_json::json;

use super::approvals::{decide, once, question, send};
use super::operations::{batch, policy, spawn};
use super::room::Room;

#[test]
fn every_start_asks_and_nothing_is_started_before_the_answer() {
    // ZILEO-1, ZILEO-25, ZILEO-26
    let mut room = asking(policy());
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a")), ("SpawnAgentTool", r#"{"operation":"list_children"}"#)]);
    assert_eq!((room.spawned().len(), room.results().len()), (0, 1), "looking is free");
    let asked = question(&room, 0);
    assert_eq!((&*asked.tool, asked.risk, asked.places), ("SpawnAgentTool", Risk::Medium, 1));
    assert_eq!(&*asked.effect, "starts the temporary sub-agent 'Ada'");
    assert_eq!(&*asked.why, "policy.approval = always: starting a sub-agent needs approval");
    assert_eq!(asked.input.text(), spawn("Ada", "a"), "what is shown is what was called");
    assert!(room.thread.is_paused(), "no clock runs while a person thinks");
    decide(&mut room, "d1", &asked, once());
    assert_eq!((room.spawned().len(), room.started()), (1, 1));
}

#[test]
fn a_delegation_is_a_medium_risk_and_a_batch_a_high_one() {
    // ZILEO-25
    let mut room = asking(policy());
    let delegate = json!({"operation": "delegate", "agent_id": "Explore", "prompt": "a"}).to_string();
    room.calls(&[("DelegateTaskTool", &delegate), ("ParallelTasksTool", &batch(&["explore", "scribe"], &json!({})))]);
    let (one, several) = (question(&room, 0), question(&room, 1));
    assert_eq!(
        (one.risk, &*one.effect, one.standing.as_deref()),
        (Risk::Medium, "starts the sub-agent explore", Some("explore"))
    );
    assert_eq!((several.risk, &*several.effect), (Risk::High, "starts 2 sub-agents: explore, scribe"));
    assert_eq!((several.places, several.standing), (2, None));
}

#[test]
fn fifty_spawns_race_for_three_places_and_three_questions_reach_the_person() {
    // ZILEO-5, ZILEO-14, ZILEO-30, and what went wrong there (j)
    let mut room = asking(policy());
    let calls: Vec<String> = (0..50).map(|number| spawn("Ada", &number.to_string())).collect();
    let calls: Vec<(&str, &str)> = calls.iter().map(|call| ("SpawnAgentTool", call.as_str())).collect();
    room.calls(&calls);
    assert_eq!((room.thread.approvals.open.len(), room.results().len()), (3, 47));
    let full = "ValidationFailed: Maximum 3 sub-agents reached. Cannot spawn more. Current sub-agents: 3 \
                (policy.max_children)";
    assert!(room.results().iter().all(|result| *result == (full, true)), "{:?}", room.results());
    for number in 0..3 {
        let asked = question(&room, number);
        decide(&mut room, &format!("d{number}"), &asked, once());
    }
    assert_eq!((room.spawned().len(), room.started()), (3, 3));
    for child in ["r.1", "r.2", "r.3"] {
        room.reports(child, Outcome::Completed, Usage::default());
    }
    room.calls(&[("SpawnAgentTool", &spawn("Eve", "a fourth"))]);
    assert_eq!(room.results().last(), Some(&(full, true)), "ZILEO-7: a 4th is invalid");
}

#[test]
fn one_count_is_shared_by_all_three_verbs() {
    // ZILEO-5, ZILEO-7, ZILEO-18, ZILEO-19
    let mut room = Room::new(policy());
    let delegate = json!({"operation": "delegate", "agent_id": "explore", "prompt": "a"}).to_string();
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a")), ("DelegateTaskTool", &delegate)]);
    room.reports("r.1", Outcome::Completed, Usage::default());
    room.reports("r.2", Outcome::Completed, Usage::default());
    room.calls(&[("ParallelTasksTool", &batch(&["explore", "scribe"], &json!({})))]);
    let two = "ValidationFailed: Maximum 3 sub-agents reached. Cannot spawn more. Current sub-agents: 2, \
               and this needs 2 places (policy.max_children)";
    assert_eq!(room.results().last(), Some(&(two, true)));
    room.calls(&[("ParallelTasksTool", &batch(&["explore"], &json!({})))]);
    assert_eq!(room.spawned().len(), 3);
}

#[test]
fn where_only_those_at_work_count_a_place_comes_back_with_the_report() {
    // C2
    let mut room = Room::new(Policy { count_mode: CountMode::Active, max_children: 1, ..policy() });
    for number in 1..=5 {
        room.calls(&[("SpawnAgentTool", &spawn("Ada", &number.to_string())), ("SpawnAgentTool", &spawn("Eve", "no"))]);
        assert_eq!((room.spawned().len(), room.thread.descendants_left()), (number, 0));
        room.reports(&format!("r.{number}"), Outcome::Error, Usage::default());
    }
    assert_eq!(room.thread.descendants_left(), 1);
}

#[test]
fn no_place_leaks_whatever_comes_of_the_question() {
    // ZILEO-14, ZILEO-26, ZILEO-32
    let refusals: [(&str, Refusal); 5] = [
        ("denied", |room, asked| {
            decide(room, "d", asked, Decision::Deny { reason: Some("too many cooks".into()) });
        }),
        ("expired", |room, asked| {
            room.now = asked.expires_at;
            room.hears(Input::TimePassed { heard: None });
        }),
        ("unanswered", |room, _| {
            room.world.consent = Consent::Nobody;
            room.hears(Input::Reopened);
        }),
        ("forbidden", |room, asked| {
            room.world.rules = vec![rule("SpawnAgentTool", Action::Deny)];
            decide(room, "d", asked, once());
        }),
        ("stopped", |room, _| {
            send(room, "s", Outside::stopped(Strength::Kill, "enough"));
        }),
    ];
    for (what, refuse) in refusals {
        let mut room = asking(policy());
        room.calls(&[("SpawnAgentTool", &spawn("Ada", "a"))]);
        assert_eq!(room.thread.descendants_left(), 2, "{what}: held while a person thinks");
        let asked = question(&room, 0);
        refuse(&mut room, &asked);
        assert_eq!((room.spawned().len(), room.thread.descendants_left()), (0, 3), "{what}");
        assert_eq!((room.thread.approvals.open.len(), room.results()[0].1), (0, true), "{what}");
        if what == "denied" {
            let words = "a person refused SpawnAgentTool: too many cooks.";
            assert!(room.results()[0].0.starts_with(words), "ZILEO-26: {:?}", room.results());
        }
    }
}

#[test]
fn a_decision_is_bound_to_verb_and_arguments() {
    // T20
    let mut room = asking(policy());
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a")), ("SpawnAgentTool", &spawn("Ada", "b"))]);
    let (first, second) = (question(&room, 0), question(&room, 1));
    assert_ne!(first.digest, second.digest);
    decide(&mut room, "d1", &Approval { digest: second.digest, ..first }, once());
    assert_eq!((room.spawned().len(), room.thread.approvals.open.len()), (0, 2));
}

#[test]
fn other_arguments_of_a_persons_are_what_is_started() {
    let mut room = asking(policy());
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "delete it all"))]);
    let asked = question(&room, 0);
    let input = Json::parse(&spawn("Ada", "only look")).ok();
    decide(&mut room, "d1", &asked, Decision::Allow { scope: Scope::Once, input });
    assert_eq!(room.spawned()[0].brief.text(), "only look");
    // A person cannot make places either.
    let mut room = asking(Policy { max_children: 1, ..policy() });
    room.calls(&[("ParallelTasksTool", &batch(&["explore"], &json!({})))]);
    let asked = question(&room, 0);
    let input = Json::parse(&batch(&["explore", "explore"], &json!({}))).ok();
    decide(&mut room, "d1", &asked, Decision::Allow { scope: Scope::Once, input });
    assert_eq!((room.spawned().len(), room.thread.descendants_left()), (0, 1));
    assert!(room.results()[0].0.contains("Maximum 1 sub-agents reached"), "{:?}", room.results());
}

#[test]
fn consent_for_an_agent_covers_that_agent_in_this_thread() {
    let mut room = asking(policy());
    let delegate =
        |prompt: &str, agent: &str| json!({"operation": "delegate", "agent_id": agent, "prompt": prompt}).to_string();
    room.calls(&[("DelegateTaskTool", &delegate("a", "explore"))]);
    let asked = question(&room, 0);
    decide(&mut room, "d1", &asked, Decision::Allow { scope: Scope::Thread, input: None });
    room.reports("r.1", Outcome::Completed, Usage::default());
    room.calls(&[("DelegateTaskTool", &delegate("b", "explore")), ("DelegateTaskTool", &delegate("c", "scribe"))]);
    assert_eq!((room.spawned().len(), room.thread.approvals.open.len()), (2, 1));
}

#[test]
fn tools_do_not_wait_for_a_question_about_a_sub_agent() {
    let mut room = asking(policy());
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a")), ("read_file", r#"{"path":"a"}"#)]);
    assert_eq!((room.run(), room.thread.approvals.open.len()), (1, 1));
}

#[test]
fn with_nobody_to_ask_the_policy_answers_at_once_and_says_what_would_allow_it() {
    // ZILEO-32, INV-5, and what went wrong there (n)
    let mut room = Room::with(always(policy()), Mode::Auto, Grant::default());
    let delegate = json!({"operation": "delegate", "agent_id": "explore", "prompt": "a"}).to_string();
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a")), ("DelegateTaskTool", &delegate)]);
    assert_eq!((room.spawned().len(), room.thread.descendants_left()), (0, 3));
    let rules: Vec<&str> = room.thread.findings.unanswered.iter().map(AsRef::as_ref).collect();
    let way = "allowed by --set policy.approval=never, or by the rule";
    let explore = r#"{tool = "DelegateTaskTool", pattern = "explore", action = "allow"}"#;
    assert_eq!(
        rules,
        [
            format!(r#"SpawnAgentTool: {way} {{tool = "SpawnAgentTool", action = "allow"}}"#),
            format!("DelegateTaskTool: {way} {explore}"),
        ]
    );
    // A rule that asks outranks one that allows, so that there is no other way than to take it away.
    let mut room = Room::new(policy());
    room.world.rules = vec![rule("SpawnAgentTool", Action::Ask)];
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a"))]);
    assert_eq!(
        room.thread.findings.unanswered,
        ["SpawnAgentTool: allowed without the rule: ask SpawnAgentTool (test)".into()]
    );
    // And the rule does allow it.
    let mut room = Room::with(always(policy()), Mode::Auto, Grant::default());
    let explore = Rule { pattern: Some("explore".into()), ..rule("DelegateTaskTool", Action::Allow) };
    room.world.rules = vec![rule("SpawnAgentTool", Action::Allow), explore];
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a")), ("DelegateTaskTool", &delegate)]);
    assert_eq!(room.spawned().len(), 2);
}

#[test]
fn rules_hold_whatever_the_policy_says_and_dangerous_asks_nobody() {
    // DESIGN section 4: in `dangerous` ask becomes allow, deny stays
    let asks = |mode, approval, rules: Vec<Rule>| {
        let mut room = Room::with(Policy { approval, ..policy() }, mode, Grant::default());
        room.world.consent = Consent::Asked;
        room.world.rules = rules;
        room.calls(&[("SpawnAgentTool", &spawn("Ada", "a"))]);
        verdict(&room)
    };
    use StartApproval::{Always, ByRisk, Never};
    assert_eq!(asks(Mode::Ask, Never, vec![]), "started");
    assert_eq!(asks(Mode::Ask, Never, vec![rule("SpawnAgentTool", Action::Ask)]), "asked");
    assert_eq!(asks(Mode::Ask, ByRisk, vec![rule("*", Action::Deny)]), "refused");
    assert_eq!(asks(Mode::Plan, Always, vec![]), "asked");
    assert_eq!(asks(Mode::Dangerous, Always, vec![]), "started");
    assert_eq!(asks(Mode::Dangerous, Always, vec![rule("SpawnAgentTool", Action::Deny)]), "refused");
    // What a temporary agent is called is the model's choice, so that no name of it is leave.
    let named = |action| Rule { pattern: Some("Ada".into()), ..rule("SpawnAgentTool", action) };
    assert_eq!(asks(Mode::Ask, Always, vec![named(Action::Allow)]), "asked");
    assert_eq!(asks(Mode::Ask, Never, vec![named(Action::Deny)]), "refused");
}

#[test]
fn by_risk_the_batch_asks_and_never_asks_for_none() {
    // ZILEO-35
    let seen = |approval| {
        let policy = Policy { approval, ..policy() };
        (super::policy::asked(&policy, false), super::policy::asked(&policy, true))
    };
    assert_eq!(seen(StartApproval::Always), ("asks", "asks"));
    assert_eq!(seen(StartApproval::ByRisk), ("is free", "asks"));
    assert_eq!(seen(StartApproval::Never), ("is free", "is free"));
}

#[test]
fn the_houses_own_verbs_are_asked_about_in_the_same_way() {
    let mut room = asking(Policy { max_children: 2, ..Policy::default() });
    let delegation = r#"{"subtasks":["a",{"task":"b","depends_on":0,"agent":"explore"}]}"#;
    room.calls(&[("delegate_task", delegation), ("spawn_agent", r#"{"task":"c"}"#), ("list_agents", "{}")]);
    assert_eq!((room.thread.approvals.open.len(), room.results().len()), (1, 2), "no place is left for the third");
    assert_eq!(&*question(&room, 0).effect, "starts 2 sub-agents: general, explore");
    let asked = question(&room, 0);
    decide(&mut room, "d1", &asked, once());
    assert_eq!((room.spawned().len(), room.thread.descendants_left()), (1, 0));
    room.reports("r.1", Outcome::Completed, Usage::default());
    assert_eq!(room.spawned().len(), 2, "the subtask that waited has its place");
}

#[test]
fn what_is_asked_about_keeps_its_share_of_the_tokens() {
    let grant = Grant { tokens: Some(100_000), ..Grant::default() };
    let mut room = Room::with(always(policy()), Mode::Auto, grant);
    room.world.consent = Consent::Asked;
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a")), ("SpawnAgentTool", &spawn("Eve", "b"))]);
    let (first, second) = (question(&room, 0), question(&room, 1));
    decide(&mut room, "d1", &first, once());
    decide(&mut room, "d2", &second, once());
    let tokens: Vec<u64> = room.spawned().iter().map(|child| child.grant.tokens.expect("a limit")).collect();
    assert!(tokens[0].abs_diff(tokens[1]) < 1000 && tokens[0] > 40_000, "{tokens:?}");
}

#[test]
fn a_question_about_a_sub_agent_survives_its_process() {
    // Promise 4
    let mut room = asking(policy());
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a"))]);
    let asked = question(&room, 0);
    room.hears(Input::Reopened);
    assert_eq!((room.thread.approvals.open.len(), room.thread.descendants_left()), (1, 2));
    decide(&mut room, "d1", &asked, once());
    decide(&mut room, "d2", &asked, once());
    let started = room.effects.iter().filter(|effect| matches!(effect, Effect::StartChild { .. })).count();
    assert_eq!((room.spawned().len(), started), (1, 1));
}

/// A way in which a question comes to nothing.
type Refusal = fn(&mut Room, &Approval);

fn always(policy: Policy) -> Policy {
    Policy { approval: StartApproval::Always, ..policy }
}

fn asking(policy: Policy) -> Room {
    let mut room = Room::with(always(policy), Mode::Auto, Grant::default());
    room.world.consent = Consent::Asked;
    room
}

fn rule(tool: &str, action: Action) -> Rule {
    Rule { tool: Arc::from(tool), pattern: None, agent: None, action, origin: "test".into() }
}

fn verdict(room: &Room) -> &'static str {
    let verdict = room.events.iter().find_map(|event| match event {
        Event::Answered(answered) => answered.verdicts.first(),
        _ => None,
    });
    match &verdict.expect("the model answered").what {
        VerdictKind::Verb => "started",
        VerdictKind::VerbAsked => "asked",
        VerdictKind::Refused { .. } => "refused",
        VerdictKind::Run { .. } | VerdictKind::Asked { .. } => "a tool",
    }
}
