//! With no key, no account and no network: the engine of rules drives the same loop, the same tools and the same events.

use std::collections::BTreeSet;

use agent::Event;
use serde_json::Value;
use testkit::world::World;

use crate::{ask, asked, frames, told, world};

/// The question of every first contact.
const URGENT: &str = "What urgent emails do I have?";

/// The tools that were run, by whom.
pub(crate) fn used(world: &World) -> BTreeSet<String> {
    let name = |event: &Event| match event {
        Event::Reported(report) => report.tools_used.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    world.log().iter().flat_map(|record| name(&record.event)).collect()
}

// ORION-2, ORION-6, ORION-19
#[test]
fn a_strangers_first_question_is_answered_with_what_is_urgent_and_why() {
    let world = world(&[]);
    let done = ask(&world, URGENT, &[]);
    let answer = done.answer(0);
    assert!(answer.contains("msg_urgent_001"), "{answer}");
    assert!(answer.lines().last().is_some_and(|line| line.contains("engine: rules")), "{answer}");
    assert!(answer.to_lowercase().contains("today") || answer.contains("deadline"), "it says why: {answer}");
    assert!(used(&world).contains("mail_triage"));
}

// ORION-10, ORION-11, ORION-12, ORION-13, ORION-14
#[test]
fn its_events_come_in_the_order_of_the_seed_and_each_text_says_whose_it_is() {
    let frames = frames(&ask(&world(&[]), URGENT, &["--jsonl", "--dialect", "orion"]));
    assert_eq!(
        told(&frames),
        [
            "start butler",
            "delegate butler->triage",
            "start triage",
            "text triage",
            "complete triage",
            "resume butler",
            "text butler",
            "done",
        ]
    );
}

// ORION-2, ORION-3
#[test]
fn each_of_the_five_is_reached_by_a_request_for_its_work() {
    let world = world(&[]);
    for (words, specialist) in [
        (URGENT, "triage"),
        ("When am I free for an hour tomorrow?", "scheduler"),
        ("Draft a reply to msg_urgent_001", "communicator"),
        ("Find my notes about the contract", "navigator"),
        ("What have you learned about my preferences?", "preference_learner"),
    ] {
        let frames = frames(&ask(&world, words, &["--jsonl", "--dialect", "orion"]));
        assert_eq!(asked(&frames), [specialist], "{words}");
        let spoke = |agent: &str| frames.iter().any(|frame| frame["type"] == "text" && frame["agent"] == agent);
        assert!(spoke(specialist) && spoke("butler"), "{words}");
    }
}

// ORION-3
#[test]
fn a_greeting_is_answered_by_the_butler_itself() {
    let done = ask(&world(&[]), "Hello", &["--jsonl", "--dialect", "orion"]);
    assert_eq!(told(&frames(&done)), ["start butler", "text butler", "done"]);
}

// ORION-4: what several bring is answered as one.
#[test]
fn several_wishes_are_seen_to_in_their_order() {
    let words = "Find my notes about the contract and draft a reply to msg_urgent_001";
    let world = world(&[]);
    let frames = frames(&ask(&world, words, &["--jsonl", "--dialect", "orion"]));
    assert_eq!(asked(&frames), ["navigator", "communicator"]);
    assert_eq!(told(&frames).last().map(String::as_str), Some("done"));
}

// ORION-16, ORION-17
#[test]
fn what_the_message_is_about_and_when_reaches_the_specialist() {
    let world = world(&[]);
    frames(&ask(&world, "Show me urgent emails from the last 24 hours", &["--jsonl"]));
    let context = |event: &Event| match event {
        Event::ChildSpawned(spawned) => spawned.brief.context.clone(),
        _ => None,
    };
    let context = world.log().iter().find_map(|record| context(&record.event)).expect("a context");
    let context: Value = serde_json::from_str(&context).expect("JSON");
    assert!(context["timeConstraints"].as_str().is_some_and(|time| time.contains("24 hours")), "{context}");
    assert_eq!(context["originalUserMessage"], "Show me urgent emails from the last 24 hours");
    assert!(!context["delegationReasoning"].as_str().unwrap_or_default().is_empty());
}

// T13 of the checks that decide whether it is liked: a mail that gives orders is quoted, and nobody obeys.
#[test]
fn what_a_mail_tells_an_assistant_to_do_is_not_done() {
    let world = world(&[]);
    let wary = ask(&world, "Is anything in my inbox suspicious?", &[]);
    assert!(wary.answer(0).starts_with("One mail looks suspicious.") && wary.out.contains("msg_007"), "{}", wary.out);
    assert!(!wary.out.contains("Shall I"), "nobody offers to answer it: {}", wary.out);
    for words in ["Go through my whole inbox", URGENT] {
        ask(&world, words, &[]).answer(0);
    }
    let done = ask(&world, "What does msg_007 say?", &[]);
    for told in ["msg_007", "suspicious", "instructions addressed to an assistant"] {
        assert!(done.answer(0).contains(told), "{told}: {}", done.out);
    }
    let only: BTreeSet<String> = ["mail_triage", "mail_list", "mail_read", "mail_thread"].map(String::from).into();
    assert!(used(&world).is_subset(&only), "{:?}", used(&world));
    let drafts = |folder: &str| world.state_files().iter().filter(|path| path.contains(folder)).count();
    assert_eq!(drafts("/.Drafts/cur/") + drafts("/.Drafts/new/"), 0);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let (one, other) = (ask(&world(&[]), URGENT, &[]), ask(&world(&[]), URGENT, &[]));
    assert_eq!(one.answer(0), other.answer(0));
}

#[test]
fn a_draft_stays_in_the_sample_household_until_the_next_question() {
    let world = world(&[]);
    ask(&world, "Draft a reply to msg_urgent_001", &[]).answer(0);
    let drafts = || -> Vec<String> {
        world.state_files().into_iter().filter(|path| path.contains("/.Drafts/") && !path.ends_with(".keep")).collect()
    };
    let written = drafts();
    assert_eq!(written.len(), 1, "{written:?}");
    ask(&world, URGENT, &[]).answer(0);
    assert_eq!(drafts(), written);
}

#[test]
fn without_a_household_and_without_a_model_it_says_what_is_missing() {
    let world = world(&[]);
    let done = world.call(&["run", URGENT]);
    let answer = done.answer(0);
    for way in ["household.folder", "--demo", "engine: rules"] {
        assert!(answer.contains(way), "{way}: {answer}");
    }
    assert_eq!(asked(&frames(&world.call(&["run", URGENT, "--jsonl"]))), [""; 0]);
}

#[test]
fn an_agent_that_needs_a_model_says_so_in_the_sample_household() {
    let world = world(&[]);
    let ways =
        [["-a", "general"], ["-a", "explore"], ["--preset", "default"], ["--preset", "kata"], ["--preset", "zileo"]];
    for way in ways {
        let done = ask(&world, URGENT, &way);
        assert_eq!((done.code, &*done.out), (Some(4), ""), "{way:?}: {} {}", done.out, done.err);
        for word in ["needs a language model", "ANTHROPIC_API_KEY", "-a butler"] {
            assert!(done.err.contains(word), "{way:?}: {}", done.err);
        }
        assert!(!done.err.contains("no household"), "{way:?}: {}", done.err);
    }
    ask(&world, URGENT, &["-a", "butler"]).answer(0);
}

#[test]
fn a_model_that_was_named_and_has_no_key_is_not_replaced() {
    let world = world(&[]);
    for flags in [&["run", "-m", "anthropic/claude-sonnet-4-5", URGENT][..], &["run", "-a", "general", URGENT]] {
        let done = world.call(flags);
        assert_eq!(done.code, Some(4), "{} {}", done.out, done.err);
        assert!(done.err.contains("ANTHROPIC_API_KEY"), "{}", done.err);
    }
    let done = world.call(&["run", "--demo", "-m", "openai/gpt-5", URGENT]);
    assert_eq!(done.code, Some(4), "{} {}", done.out, done.err);
}
