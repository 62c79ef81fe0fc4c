//! What an agent wants to know (`ask_user`): asked in the log, answered from any process, across a kill.

use agent::Event;
use agent::approval::Resolution;
use serde_json::Value;
use store::Record;
use testkit::scenes::{call, calls, says, scene, spawn};
use testkit::world::{World, until};

use crate::{question, questions, resolution, run, world};

/// A child that asks which database to use.
fn family() -> World {
    let ask = call("ask_user", r#"question = "Which database?", choices = ["SQLite", "PostgreSQL"]"#);
    world(&[
        scene("the whole", &[calls(&[spawn("a part")]), says("all is done")]),
        scene("a part", &[calls(&[ask]), says("the part is done")]),
    ])
}

/// The results of `ask_user` that the model read.
fn results(log: &[Record]) -> Vec<(String, bool)> {
    let asked: Vec<_> = questions(log).into_iter().map(|question| (question.id.thread(), question.call)).collect();
    let result = |record: &Record| match &*record.event {
        Event::ToolFinished { call, result, .. } if asked.contains(&(record.thread.clone(), call.clone())) => {
            Some((result.content.to_string(), result.is_error))
        }
        _ => None,
    };
    log.iter().filter_map(result).collect()
}

crate::also_on_postgres!(
    a_question_is_answered_from_another_process_and_the_answer_is_what_the_model_reads,
    a_question_survives_a_kill_and_is_answered_in_the_next_process,
    an_answer_to_a_run_that_no_process_drives_is_kept_until_it_is_resumed,
);

#[test]
fn a_question_is_answered_from_another_process_and_the_answer_is_what_the_model_reads() {
    let world = family();
    let running = run(&world, "the whole", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    let id = asked.id.as_str();
    until("the way to answer", || running.said().contains(&format!("majordomo approve answer {id}")).then_some(()));

    let listed: Value = serde_json::from_str(world.call(&["approve", "ls", "--json"]).answer(0)).expect("JSON");
    assert_eq!((&listed[0]["id"], &listed[0]["kind"]), (&id.into(), &"question".into()));
    assert_eq!(listed[0]["question"]["choices"][1], "PostgreSQL");
    assert!(world.call(&["approve", "ls"]).answer(0).contains("Which database?"));
    let shown = world.call(&["approve", "show", id]);
    for words in ["Which database?", "1. SQLite", "2. PostgreSQL", "is pending"] {
        assert!(shown.answer(0).contains(words), "{words}: {}", shown.out);
    }
    let wrong = world.call(&["approve", "yes", id]);
    wrong.answer(2);
    assert!(wrong.err.contains("is a question; answer with: majordomo approve answer"), "{}", wrong.err);
    world.call(&["approve", "answer", id, " "]).answer(2);

    let answered = world.call(&["approve", "answer", id, "2"]);
    answered.answer(0);
    assert!(answered.err.contains("is answered: PostgreSQL"), "{}", answered.err);
    assert_eq!(running.done().answer(0), "all is done");
    assert_eq!(results(&world.log()), [("PostgreSQL".to_owned(), false)]);
    let late = world.call(&["approve", "answer", id, "SQLite"]);
    late.answer(2);
    assert!(late.err.contains("is answered (PostgreSQL) already"), "{}", late.err);
    world.assert_at_rest(&world.root());
}

#[test]
fn a_question_survives_a_kill_and_is_answered_in_the_next_process() {
    // F32, promise 4
    let world = family();
    let mut running = run(&world, "the whole", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    running.kill();
    world.until_left();
    let root = world.root();
    let resumed = world.start(&["thread", "resume", root.as_str(), "--approvals", "wait"]);
    until("a reminder", || resumed.said().contains(&format!("approve answer {}", asked.id)).then_some(()));
    world.until_logged("the child is resumed", |log| testkit::world::count(log, &asked.id.thread(), "reopened") == 1);
    world.call(&["approve", "answer", asked.id.as_str(), "a spreadsheet"]).answer(0);
    assert_eq!(resumed.done().answer(0), "all is done");
    let log = world.log();
    assert_eq!(questions(&log).len(), 1, "it is asked once");
    assert_eq!(results(&log), [("a spreadsheet".to_owned(), false)]);
    world.assert_at_rest(&root);
}

#[test]
fn an_answer_to_a_run_that_no_process_drives_is_kept_until_it_is_resumed() {
    // F32
    let world = family();
    let mut running = run(&world, "the whole", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    running.kill();
    world.until_left();
    let kept = world.call(&["approve", "answer", asked.id.as_str(), "1"]);
    kept.answer(0);
    assert!(kept.err.contains("majordomo thread resume"), "{}", kept.err);
    // Also where nobody can be asked: this was asked, and answered.
    let resumed = world.call(&["thread", "resume", world.root().as_str(), "--approvals", "deny"]);
    assert_eq!(resumed.answer(0), "all is done");
    assert_eq!(results(&world.log()), [("SQLite".to_owned(), false)]);
}

#[test]
fn a_question_can_be_left_to_the_agent_and_is_where_nobody_can_answer() {
    let world = family();
    let running = run(&world, "the whole", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    world.call(&["approve", "no", asked.id.as_str(), "--reason", "you choose"]).answer(0);
    assert_eq!(running.done().answer(0), "all is done");
    let log = world.log();
    assert!(matches!(resolution(&log, &asked.id), Some(Resolution::Denied { .. })));
    assert!(results(&log)[0].0.starts_with("the person does not answer: you choose; decide yourself"), "{log:?}");

    let world = family();
    assert_eq!(run(&world, "the whole", &["--approvals", "deny"]).done().answer(0), "all is done");
    let log = world.log();
    assert_eq!(questions(&log).len(), 0, "nothing waits where nobody can answer");
    let told = log.iter().any(|record| match &*record.event {
        Event::ToolFinished { result, .. } => result.content.starts_with("nobody is there to answer"),
        _ => false,
    });
    assert!(told, "{log:?}");
}
