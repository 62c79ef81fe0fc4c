//! The tests of the seed, by their names, with models whose replies are written down.

use agent::delegation::AgentResult;
use agent::{Event, Outside};
use majordomo::Work;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::{Kept, Options, Staff};
use serde_json::Value;
use testkit::scenes::{call, calls, fails, says, scene};
use testkit::world::World;
use view::{Entry, Logged, Transcript};

use crate::{asked, delegate, frames, told, world};

/// A butler that hands one task over, and a specialist that makes one call.
fn scenes(intent: &str, tool: &str) -> Vec<String> {
    vec![
        scene("See to it", &[calls(&[tool.to_owned()]), says("I have seen to it.")]),
        scene("", &[calls(&[delegate(intent, "See to it", "")]), says("It is seen to.")]),
    ]
}

fn run(world: &World, words: &str, flags: &[&str]) -> testkit::world::Done {
    let model = format!("scripted/{}", world.path("../script.toml").display());
    world.call(&[&["run", "--demo", "-m", &model, words], flags].concat())
}

/// What the butler was handed back.
fn results(world: &World) -> Vec<AgentResult> {
    let result = |event: &Event| match event {
        Event::ToolFinished { result, .. } => serde_json::from_str(&result.content).ok(),
        _ => None,
    };
    world.log().iter().filter_map(|record| result(&record.event)).collect()
}

/// The contexts that specialists were handed.
fn contexts(world: &World) -> Vec<Value> {
    let context = |event: &Event| match event {
        Event::ChildSpawned(spawned) => serde_json::from_str(spawned.brief.context.as_deref()?).ok(),
        _ => None,
    };
    world.log().iter().filter_map(|record| context(&record.event)).collect()
}

// ORION-4, ORION-5, ORION-6, ORION-9, ORION-25, ORION-27
#[test]
fn test_2_3_1_butler_spawns_triage_for_inbox_tasks() {
    let world = world(&scenes("delegate_triage", &call("mail_triage", "only = \"urgent\"")));
    let done = run(&world, "What urgent emails do I have?", &["--jsonl", "--dialect", "orion"]);
    assert_eq!(
        told(&frames(&done)),
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
    assert_eq!(contexts(&world)[0]["parentAgent"], "butler");
    let [result] = &results(&world)[..] else { panic!("one result") };
    assert_eq!((&*result.agent_type, result.success, &*result.summary), ("triage", true, "I have seen to it."));
    assert_eq!(result.tools_used, Some(vec!["mail_triage".into()]));
    assert!(result.tokens_used.is_some_and(|tokens| tokens > 0));
    // ORION-26: `batch_result`, out of real mail.
    let data = result.data.as_ref().expect("what the tool answered").value();
    let urgent = data["items"].as_array().expect("items").iter().find(|item| item["emailId"] == "msg_urgent_001");
    let urgent = urgent.expect("the contract is urgent");
    assert_eq!(urgent["category"], "urgent");
    assert!(urgent["priority"].as_f64().is_some_and(|priority| priority > 0.8), "{urgent}");
}

// ORION-26: `conflict_detected`, out of a real calendar.
#[test]
fn test_2_3_2_butler_spawns_scheduler_for_calendar_tasks() {
    let check = call("calendar_check", "start = \"2026-01-17T10:00\", end = \"2026-01-17T10:30\"");
    let world = world(&scenes("delegate_schedule", &check));
    let done = run(&world, "Am I free on Saturday at ten?", &["--jsonl"]);
    assert_eq!(asked(&frames(&done)), ["scheduler"]);
    let [result] = &results(&world)[..] else { panic!("one result") };
    let data = result.data.as_ref().expect("what the tool answered").value();
    assert_eq!(data["conflicts"][0]["title"], "Team Standup", "{data}");
}

// ORION-7, ORION-17
#[test]
fn test_2_3_3_context_is_passed_correctly_to_the_sub_agent() {
    let more = ", relevantEntities = [\"urgent emails\", \"today\"], timeConstraints = \"last 24 hours\"";
    let world = world(&[
        scene("See to it", &[says("Nothing.")]),
        scene("", &[calls(&[delegate("delegate_triage", "See to it", more)]), says("Nothing is urgent.")]),
    ]);
    frames(&run(&world, "Show urgent emails from today", &["--jsonl"]));
    let [context] = &contexts(&world)[..] else { panic!("one context") };
    assert_eq!(context["relevantEntities"], serde_json::json!(["urgent emails", "today"]));
    assert_eq!(context["timeConstraints"], "last 24 hours");
    assert_eq!(context["originalUserMessage"], "Show urgent emails from today");
    assert_eq!(context["targetAgent"], "triage");
}

// ORION-19, ORION-20
#[tokio::test(flavor = "multi_thread")]
async fn test_2_3_5_handoff_preserves_the_conversation() {
    let folder = tempfile::tempdir().expect("a passing folder");
    let script = folder.path().join("script.toml");
    let scenes = [
        scene("See to it", &[says("Two are urgent.")]),
        scene(
            "Hello",
            &[
                says("Good day."),
                calls(&[delegate("delegate_triage", "See to it", "")]),
                says("Two mails need you today."),
            ],
        ),
    ];
    std::fs::write(&script, scenes.concat()).expect("a script");
    let home = Some(folder.path().join("home"));
    let surroundings = Surroundings { cwd: folder.path().to_owned(), home, ..Surroundings::default() };
    let model = Some(format!("scripted/{}", script.display()));
    let flags = Flags { model, demo: true, ..Flags::default() };
    let config = Config::load(&surroundings, &flags).expect("a configuration");
    let options = Options { store: Kept::InMemory, ..Options::default() };
    let staff = Staff::open(&surroundings, config, options).await.expect("a staff");

    let handle = staff.stream(Work::new("Hello")).await.expect("a run");
    let root = handle.root().clone();
    handle.report().await.expect("a report");
    let runtime = staff.runtime();
    runtime.send(&root, Outside::said("Check my inbox")).await.expect("a second message");
    loop {
        match runtime.resume(&root).await {
            Ok(handle) => break drop(handle.report().await.expect("a report")),
            // The driver that ran until now took the message up as well.
            Err(runtime::Error::Idle(_)) => break,
            Err(runtime::Error::Alive(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
    let records = runtime.store().read(&root, 0, 1000).await.expect("a log");
    runtime.leave().await;

    let mut transcript = Transcript::new(root);
    for record in &records {
        transcript.push(&Logged { seq: record.seq, thread: &record.thread, at: record.at, event: &record.event });
    }
    let history: Vec<(&str, String)> = transcript
        .entries()
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Prompt { text, .. } => Some(("user", text.to_string())),
            Entry::Text { text, .. } => Some(("assistant", text.to_string())),
            Entry::Child(child) => Some(("delegation", child.agent.to_string())),
            _ => None,
        })
        .collect();
    let said: Vec<_> = history.iter().filter(|(role, _)| *role != "delegation").collect();
    assert_eq!(said.len(), 4, "{history:?}");
    assert_eq!(*said[0], ("user", "Hello".to_owned()));
    assert_eq!(*said[2], ("user", "Check my inbox".to_owned()));
    assert_eq!(history[3], ("delegation", "triage".to_owned()));
    let spawned = records.iter().find_map(|record| match &*record.event {
        Event::ChildSpawned(spawned) => spawned.brief.context.clone(),
        _ => None,
    });
    let context: Value = serde_json::from_str(&spawned.expect("a context")).expect("JSON");
    let history = &context["conversationHistory"];
    assert_eq!(history[0], serde_json::json!({ "role": "user", "content": "Hello" }));
    assert_eq!(history[1], serde_json::json!({ "role": "assistant", "content": "Good day." }));
}

// ORION-22
#[test]
fn a_specialist_that_fails_does_not_take_the_butler_down() {
    let world = world(&[
        scene("See to it", &[fails()]),
        scene("", &[calls(&[delegate("delegate_search", "See to it", "")]), says("I could not look.")]),
    ]);
    let done = run(&world, "Where is the contract?", &[]);
    assert_eq!(done.answer(0), "I could not look.");
    let [result] = &results(&world)[..] else { panic!("one result") };
    assert!(!result.success && !result.summary.is_empty(), "{result:?}");
}

// ORION-21
#[test]
fn two_specialists_work_one_after_the_other_and_know_nothing_of_each_other() {
    let world = world(&[
        scene("Find it", &[says("It is in Projects.")]),
        scene("Draft it", &[says("Drafted.")]),
        scene(
            "",
            &[
                calls(&[delegate("delegate_search", "Find it", ""), delegate("delegate_draft", "Draft it", "")]),
                says("Found and drafted."),
            ],
        ),
    ]);
    let done = run(&world, "Find the contract and draft a reply", &["--jsonl", "--dialect", "orion"]);
    assert_eq!(
        told(&frames(&done)),
        [
            "start butler",
            "delegate butler->navigator",
            "delegate butler->communicator",
            "start navigator",
            "text navigator",
            "complete navigator",
            "start communicator",
            "text communicator",
            "complete communicator",
            "resume butler",
            "text butler",
            "done",
        ]
    );
    assert!(!contexts(&world)[1].to_string().contains("Projects"));
}

// ORION-3
#[test]
fn an_intent_without_an_agent_is_told_and_no_agent_is_spawned() {
    let world = world(&[scene("", &[calls(&[delegate("delegate_music", "Play", "")]), says("I cannot play music.")])]);
    let done = run(&world, "Play something", &["--jsonl"]);
    assert_eq!(asked(&frames(&done)), [""; 0]);
    let told = |event: &Event| match event {
        Event::ToolFinished { result, .. } => Some(result.content.to_string()),
        _ => None,
    };
    let told: Vec<String> = world.log().iter().filter_map(|record| told(&record.event)).collect();
    assert!(told[0].contains("delegate_triage, delegate_schedule"), "{told:?}");
}

// Promise 5: an agent that only lends a tool cannot use it, and an agent that was lent it can.
#[test]
fn explain_knows_what_was_lent() {
    let world = world(&scenes("delegate_triage", &call("mail_triage", "")));
    run(&world, "Anything?", &[]).answer(0);
    let root = world.root();
    let verdict = |thread: &str, tool: &str| {
        let out = world.call(&["explain", thread, tool]).answer(0).to_owned();
        out.lines().last().expect("a verdict").to_owned()
    };
    assert_eq!(verdict(root.as_str(), "mail_list"), "verdict: deny, mail_list is none of its tools");
    let child = format!("{root}.1");
    assert!(verdict(&child, "mail_list").starts_with("verdict: allow"), "{}", verdict(&child, "mail_list"));
    assert!(verdict(&child, "mail_flag").starts_with("verdict: ask"), "{}", verdict(&child, "mail_flag"));
    assert_eq!(verdict(&child, "notes_read"), "verdict: deny, notes_read is none of its tools");
}

// ORION-29: consent goes through the butler to the person, from a specialist of its.
#[test]
fn what_a_specialist_would_change_a_person_is_asked_about() {
    let flag = || call("mail_flag", "id = \"msg_urgent_001\", flag = \"flagged\"");
    let world = world(&scenes("delegate_triage", &flag()));
    let refused = run(&world, "Flag the contract", &["--approvals", "deny"]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.err.contains("mail_flag: allowed by --mode auto"), "{}", refused.err);

    let model = format!("scripted/{}", world.path("../script.toml").display());
    let running = world.start(&["run", "--demo", "-m", &model, "Flag the contract", "--approvals", "wait"]);
    let question = |event: &Event| match event {
        Event::ApprovalRequested(question) => Some(question.clone()),
        _ => None,
    };
    let log = world.until_logged("a question", |log| log.iter().any(|record| question(&record.event).is_some()));
    let asked = log.iter().find_map(|record| question(&record.event)).expect("a question");
    assert_eq!(asked.path, ["butler".into(), "triage".into()]);
    world.call(&["approve", "yes", asked.id.as_str()]).answer(0);
    assert_eq!(running.done().answer(0), "It is seen to.");
    let flagged = |path: &String| path.contains("msg_urgent_001:2,") && path.ends_with('F');
    assert!(world.state_files().iter().any(flagged), "the flag is in the file's name, as other programs read it");
}
