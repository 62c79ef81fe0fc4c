//! Yes, no, for the thread, for ever, with other arguments: what each of them does.

use agent::approval::{Resolution, Scope};
use serde_json::Value;
use testkit::scenes::{call, calls, says, scene};
use testkit::world::until;

use crate::{assert_only_what_was_approved_ran, question, questions, resolution, run, world, write};

crate::also_on_postgres!(
    what_a_second_process_allows_is_done_and_is_exactly_what_was_approved,
    what_a_person_refuses_is_not_done_and_the_agent_is_told_why,
    consent_for_ever_is_a_rule_that_the_next_run_obeys,
    consent_for_ever_is_listed_and_taken_back,
    consent_for_ever_counts_at_once_where_no_process_drives_the_run_that_asked,
    other_arguments_are_what_runs,
);

#[test]
fn what_a_second_process_allows_is_done_and_is_exactly_what_was_approved() {
    // T20, promise 4
    let world = world(&[scene("go", &[calls(&[write("new.txt", "written")]), says("done")])]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    until("the way to decide", || {
        running.said().contains(&format!("majordomo approve yes {}", asked.id)).then_some(())
    });
    assert!(!world.path("new.txt").exists(), "nothing is done before a person decides");

    let shown = world.call(&["approve", "ls", "--json"]);
    let listed: Value = serde_json::from_str(shown.answer(0)).expect("JSON");
    assert_eq!(listed[0]["id"], asked.id.as_str());
    assert_eq!((&listed[0]["status"], &listed[0]["tool"]), (&"pending".into(), &"write_file".into()));
    assert_eq!(listed[0]["input"]["path"], "new.txt");

    let after_the_date = asked.id.as_str().split_once('-').expect("a date").1;
    let decided = world.call(&["approve", "yes", after_the_date]);
    assert_eq!(decided.answer(0), "");
    assert!(decided.err.contains(&format!("{} is approved, once", asked.id)), "{}", decided.err);
    assert_eq!(running.done().answer(0), "done");
    assert_eq!(world.lines("new.txt"), ["written"]);
    assert_only_what_was_approved_ran(&world.log());
    assert_eq!(world.call(&["approve", "ls", "--json"]).answer(0), "[]");
    let past = world.call(&["approve", "ls", "--all"]);
    assert!(past.answer(0).contains("approved"), "{}", past.out);
    world.assert_at_rest(&world.root());
}

#[test]
fn what_a_person_refuses_is_not_done_and_the_agent_is_told_why() {
    let world = world(&[scene("go", &[calls(&[write("new.txt", "written")]), says("then not")])]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    let decided = world.call(&["approve", "no", asked.id.as_str(), "--reason", "not on a Friday"]);
    decided.answer(0);
    assert!(decided.err.contains("is denied: not on a Friday"), "{}", decided.err);
    assert_eq!(running.done().answer(0), "then not");
    assert!(!world.path("new.txt").exists());
    let told = world.call(&["thread", "show", world.root().as_str(), "--full"]);
    assert!(told.answer(0).contains("a person refused write_file: not on a Friday"), "{}", told.out);
    let shown = world.call(&["approve", "show", asked.id.as_str()]);
    assert!(shown.answer(0).contains("is denied (not on a Friday)"), "{}", shown.out);
    assert_only_what_was_approved_ran(&world.log());
}

#[test]
fn consent_for_a_thread_covers_what_was_shown_and_nothing_else() {
    // T26
    let world = world(&[scene(
        "go",
        &[
            calls(&[write("a.txt", "one")]),
            calls(&[write("a.txt", "two")]),
            calls(&[write("b.txt", "one")]),
            calls(&[call("edit_file", r#"path = "a.txt", old = "two", new = "three""#)]),
            says("done"),
        ],
    )]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let first = question(&world, 1);
    let decided = world.call(&["approve", "yes", first.id.as_str(), "--thread"]);
    decided.answer(0);
    assert!(decided.err.contains("allow write_file 'a.txt'"), "{}", decided.err);
    for (number, tool, input) in [(2, "write_file", "b.txt"), (3, "edit_file", "a.txt")] {
        let next = question(&world, number);
        assert_eq!(&*next.tool, tool);
        assert!(next.input.text().contains(input), "{:?}", next.input);
        world.call(&["approve", "no", next.id.as_str()]).answer(0);
    }
    assert_eq!(running.done().answer(0), "done");
    assert_eq!(world.lines("a.txt"), ["two"]);
    assert_eq!(questions(&world.log()).len(), 3);
    assert_only_what_was_approved_ran(&world.log());
}

#[test]
fn consent_for_ever_is_a_rule_that_the_next_run_obeys() {
    let world = world(&[scene("go", &[calls(&[write("a.txt", "one")]), says("done")])]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    let decided = world.call(&["approve", "yes", asked.id.as_str(), "--always"]);
    decided.answer(0);
    assert!(decided.err.contains("allow write_file 'a.txt'"), "{}", decided.err);
    assert!(decided.err.contains("kept as standing consent"), "{}", decided.err);
    assert_eq!(running.done().answer(0), "done");
    let again = run(&world, "go", &["--approvals", "deny"]).done();
    assert_eq!(again.answer(0), "done");
    assert_eq!(questions(&world.log()).len(), 1);
}

#[test]
fn consent_for_ever_is_listed_and_taken_back() {
    let world = world(&[scene("go", &[calls(&[write("a.txt", "one")]), says("done")])]);
    let listed = || -> Vec<serde_json::Value> {
        let listed = world.call(&["approve", "rules", "ls", "--json"]);
        serde_json::from_str(listed.answer(0)).expect("a list")
    };
    assert_eq!(listed(), Vec::<serde_json::Value>::new());
    let running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    world.call(&["approve", "yes", asked.id.as_str(), "--always"]).answer(0);
    running.done().answer(0);

    let consents = listed();
    let [consent] = consents.as_slice() else { panic!("one consent: {consents:?}") };
    assert_eq!((&consent["tool"], &consent["pattern"]), (&"write_file".into(), &"a.txt".into()), "{consent}");
    assert_eq!(consent["approval"], asked.id.as_str());
    let id = consent["id"].as_str().expect("an id");
    let shown = world.call(&["approve", "rules", "ls"]).answer(0).to_owned();
    assert!(shown.contains(id) && shown.contains("allow write_file 'a.txt'"), "{shown}");

    world.call(&["approve", "rules", "rm", "nothing"]).answer(2);
    world.call(&["approve", "rules", "rm", &id[..4]]).answer(0);
    assert_eq!(listed(), Vec::<serde_json::Value>::new());
    world.call(&["approve", "rules", "rm", id]).answer(2);
    let again = run(&world, "go", &["--approvals", "deny"]).done();
    assert_eq!(again.code, Some(5), "it is asked again: {}", again.err);
}

#[test]
fn consent_for_ever_counts_at_once_where_no_process_drives_the_run_that_asked() {
    let world = world(&[scene("go", &[calls(&[write("a.txt", "one")]), says("done")])]);
    let mut left = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    left.kill();
    world.until_left();
    let decided = world.call(&["approve", "yes", asked.id.as_str(), "--always"]);
    decided.answer(0);
    assert!(decided.err.contains("majordomo thread resume"), "{}", decided.err);
    let other = run(&world, "go", &["--approvals", "deny"]).done();
    assert_eq!(other.answer(0), "done");
    assert_eq!(questions(&world.log()).len(), 1, "the other run asks no question");
}

#[test]
fn rules_that_a_person_or_an_earlier_version_wrote_are_listed_and_only_changed_by_hand() {
    let world = world(&[scene("go", &[calls(&[write("a.txt", "one")]), says("done")])]);
    let file = world.path("../state/rules.toml");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    let text = "[[rules]]\ntool = \"write_file\"\npattern = \"a.txt\"\naction = \"allow\"\n";
    std::fs::write(&file, text).expect("a file");
    let shown = world.call(&["approve", "rules", "ls"]).answer(0).to_owned();
    assert!(shown.contains("allow write_file 'a.txt'") && shown.contains("rules.toml"), "{shown}");
    assert_eq!(run(&world, "go", &["--approvals", "deny"]).done().answer(0), "done");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), text);
}

#[test]
fn consent_beyond_the_call_is_refused_where_it_is_not_offered() {
    // T26: a protected place has no pattern.
    let world = world(&[scene("go", &[calls(&[write(".git/config", "x")]), says("done")])]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    assert_eq!(asked.standing, None);
    for flag in ["--thread", "--always"] {
        let refused = world.call(&["approve", "yes", asked.id.as_str(), flag]);
        refused.answer(2);
        assert!(refused.err.contains("can only be allowed once"), "{}", refused.err);
    }
    assert_eq!(resolution(&world.log(), &asked.id), None, "a wrong command decides nothing");
    world.call(&["approve", "no", asked.id.as_str()]).answer(0);
    running.done().answer(0);
}

#[test]
fn other_arguments_are_what_runs() {
    let world = world(&[scene("go", &[calls(&[write("new.txt", "written")]), says("done")])]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    for wrong in ["{\"path\"", "[1]"] {
        world.call(&["approve", "yes", asked.id.as_str(), "--input", wrong]).answer(2);
    }
    let input = r#"{"path": "other.txt", "content": "edited"}"#;
    let decided = world.call(&["approve", "yes", asked.id.as_str(), "--input", input]);
    decided.answer(0);
    assert_eq!(running.done().answer(0), "done");
    assert!(!world.path("new.txt").exists());
    assert_eq!(world.lines("other.txt"), ["edited"]);
    let log = world.log();
    match resolution(&log, &asked.id) {
        Some(Resolution::Allowed { scope: Scope::Once, input: Some(edited), .. }) => assert_eq!(edited.text(), input),
        other => panic!("{other:?}"),
    }
    assert_only_what_was_approved_ran(&log);
}
