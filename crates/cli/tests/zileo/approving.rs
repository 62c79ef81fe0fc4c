//! A person is asked before a sub-agent is started, from another process or by nobody at all.

use serde_json::{Value, json};
use testkit::scenes::{calls, says, scene};

use crate::{call, executions, question, questions, results, run, spawn, world};

#[test]
fn a_message_leads_to_a_question_the_question_to_a_sub_agent_and_that_to_a_record() {
    // ZILEO-1, ZILEO-21, ZILEO-25, ZILEO-26, ZILEO-39, ZILEO-40
    let world = world(&[
        scene("Analyse", &[calls(&[spawn("Ada", "List the fields")]), says("done")]),
        scene("List the fields", &[says("id, name")]),
    ]);
    let running = run(&world, "Analyse", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    assert_eq!(executions(&world), [], "no sub-agent is started before a person decides");
    let shown = world.call(&["approve", "show", asked.id.as_str()]);
    for words in ["starts the temporary sub-agent 'Ada'", "medium", "List the fields", "policy.approval = always"] {
        assert!(shown.answer(0).contains(words), "{words}: {}", shown.out);
    }
    world.call(&["approve", "yes", asked.id.as_str()]).answer(0);
    assert_eq!(running.done().answer(0), "done");
    assert_eq!(executions(&world), [("Ada".into(), "completed".into(), Some("id, name".into()), None)]);
    let told: Value = serde_json::from_str(&results(&world)[0].0).expect("JSON");
    assert_eq!(
        (&told["success"], told["child_id"].as_str()),
        (&json!(true), Some(format!("{}.1", world.root()).as_str()))
    );
    world.assert_at_rest(&world.root());
}

#[test]
fn a_refusal_cancels_the_spawn_and_its_reason_reaches_the_agent() {
    // ZILEO-26, ZILEO-40
    let world = world(&[scene("Analyse", &[calls(&[spawn("Ada", "List the fields")]), says("then not")])]);
    let running = run(&world, "Analyse", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    world.call(&["approve", "no", asked.id.as_str(), "--reason", "do it yourself"]).answer(0);
    assert_eq!(running.done().answer(0), "then not");
    assert!(
        results(&world)[0].0.starts_with("a person refused SpawnAgentTool: do it yourself."),
        "{:?}",
        results(&world)
    );
    assert_eq!(executions(&world), []);
    world.assert_at_rest(&world.root());
}

#[test]
fn what_a_person_changes_is_what_the_sub_agent_reads() {
    let world = world(&[
        scene("Analyse", &[calls(&[spawn("Ada", "Delete the fields")]), says("done")]),
        scene("Only look", &[says("looked")]),
    ]);
    let running = run(&world, "Analyse", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    let other = json!({"operation": "spawn", "name": "Ada", "prompt": "Only look"}).to_string();
    world.call(&["approve", "yes", asked.id.as_str(), "--input", &other]).answer(0);
    assert_eq!(running.done().answer(0), "done");
    assert_eq!(executions(&world)[0].2.as_deref(), Some("looked"));
}

#[test]
fn with_nobody_there_policy_answers_at_once_with_exit_5_and_the_rule_that_would_allow_it() {
    // ZILEO-32, INV-5
    let delegate = call("DelegateTaskTool", &json!({"operation": "delegate", "agent_id": "explore", "prompt": "Look"}));
    let scenes =
        [scene("Analyse", &[calls(&[delegate]), says("It was refused.")]), scene("Look", &[says("Nothing there.")])];
    let alone = world(&scenes);
    let done = run(&alone, "Analyse", &[]).done();
    assert_eq!(done.answer(5), "It was refused.");
    let rule = r#"{tool = "DelegateTaskTool", pattern = "explore", action = "allow"}"#;
    assert!(done.err.contains(rule), "{}", done.err);
    assert_eq!(executions(&alone), []);

    let ruled = world(&scenes);
    let folder = ruled.path("../home/.config/majordomo");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), format!("rules = [{rule}]\n")).expect("a file");
    assert_eq!(run(&ruled, "Analyse", &[]).done().answer(0), "It was refused.");
    assert_eq!(executions(&ruled)[0].1, "completed", "and that rule does allow it");
    assert_eq!(questions(&ruled.log()).len(), 0);
}

#[test]
fn explain_says_what_would_become_of_a_start_and_why() {
    let world = world(&[scene("Analyse", &[says("done")])]);
    run(&world, "Analyse", &[]).done().answer(0);
    let (root, batch) =
        (world.root(), r#"{"operation":"execute_batch","tasks":[{"agent_id":"explore","prompt":"a"}]}"#);
    let told = world.call(&["explain", root.as_str(), "ParallelTasksTool", batch]);
    for words in ["starts the sub-agent explore", "risk       high", "verdict: ask, policy.approval = always"] {
        assert!(told.answer(0).contains(words), "{words}: {}", told.out);
    }
    let listing = world.call(&["explain", root.as_str(), "SpawnAgentTool", r#"{"operation":"list_children"}"#]);
    assert!(listing.answer(0).contains("starts no sub-agent"), "{}", listing.out);
}
